"""The order of tests in one process."""

from pathlib import Path

import pytest
from hypothesis import settings

# How long an example takes says more of the machine than of the code.
settings.register_profile("project", deadline=None)
settings.load_profile("project")
RENDER = Path(__file__).parent / "render"


def pytest_collection_modifyitems(items: list[pytest.Item]) -> None:
    # PyOpenGL binds itself to the first OpenGL platform that it sees: headless contexts do after that, and windows
    # work on theirs, but not the other way round.
    items.sort(key=lambda item: not item.path.is_relative_to(RENDER))
