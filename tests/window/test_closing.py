"""What is left of a window that was closed, in a process that goes on."""

import gc
import weakref
from pathlib import Path

from contact_viewer.app.application import open_application
from contact_viewer.settings import Options
from contact_viewer.window.window import Window, run_window


def test_a_closed_window_is_freed_with_its_scene() -> None:
    window = Window(open_application(Options(scene=Path("slope"), frames=3)))
    window.keeps_settings = False
    session = window.app.session
    left = [weakref.ref(each) for each in (window, session, session.engine, session.history)]
    run_window(window)
    del window, session
    gc.collect()
    assert [each() for each in left] == [None] * 4
