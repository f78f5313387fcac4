"""An OpenGL context for each test that asks for one, clean of errors before and after."""

from collections.abc import Iterator

import pytest
from contact_viewer.render.contexts import OffscreenContext, open_context

from .gl_state import gl_error


@pytest.fixture
def context() -> Iterator[OffscreenContext]:
    with open_context() as opened:
        assert gl_error() is None
        yield opened
        opened.make_current()
        assert gl_error() is None
