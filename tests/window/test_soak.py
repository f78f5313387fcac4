"""Many scenes and many frames: nothing on the graphics card or in memory is left behind."""

import subprocess
import sys
from typing import Any

import pytest
from contact_viewer.assets import bundled_scenes
from contact_viewer.render.contexts import load_opengl

from ..render.gl_state import gl_error
from .driver import call_in_frame, drive, make_window

OBJECTS = ("Buffer", "Texture", "Program", "Shader", "Framebuffer", "Renderbuffer", "VertexArray", "List")


def count_gl_objects() -> dict[str, int]:
    """Live objects by kind, found by asking for every low name. MuJoCo never reuses the names of lists."""
    gl = load_opengl()
    return {
        kind: sum(bool(getattr(gl, f"glIs{kind}")(name)) for name in range(1, 40_000 if kind == "List" else 1000))
        for kind in OBJECTS
    }


def test_ten_scenes_leave_no_gl_objects_and_no_errors() -> None:
    window = make_window("slope", width=500, height=400)
    app = window.app

    def test(ctx: Any) -> None:
        ctx.yield_(3)
        before = call_in_frame(window, ctx, count_gl_objects)
        assert before["Buffer"] > 0
        assert before["Texture"] > 0
        for scene in bundled_scenes():
            app.open_scene(scene.name)
            app.session.paused = False
            ctx.yield_(4)
            assert call_in_frame(window, ctx, gl_error) is None
        app.open_scene("slope")
        ctx.yield_(4)
        assert call_in_frame(window, ctx, count_gl_objects) == before

    drive(window, test, drawn=True)


RUN = """
import gc
from pathlib import Path
import psutil
from contact_viewer import open_engine
from contact_viewer.app.application import Application
from contact_viewer.window.main_loop import run_window
from contact_viewer.window.window import Window
from contact_viewer.settings import Options

options = Options(Path("turntable"), width=320, height=240, frames={frames})
window = Window(Application(open_engine("turntable"), options))
app = window.app
window.keeps_settings = False
# A history that is full before the first look, so that all else is what is measured.
app.session.settings.history_megabytes = 1.0
app.session.keep_history()
advance = window._advance

def advance_and_measure():
    advance()
    if window.frame_count in (2 * {frames} // 3, {frames}):
        gc.collect()
        print(psutil.Process().memory_info().rss)

window._advance = advance_and_measure
run_window(window)
"""


@pytest.mark.timeout(900)
@pytest.mark.parametrize("frames", [3000, pytest.param(20_000, marks=pytest.mark.long)])
def test_memory_does_not_grow_over_thousands_of_frames(frames: int) -> None:
    """In a process of its own, as a user's window is."""
    run = RUN.format(frames=frames)
    result = subprocess.run([sys.executable, "-c", run], capture_output=True, text=True, check=True)
    early, late = (int(line) for line in result.stdout.split())
    # Less than a kilobyte a frame, once buffers have grown to their size: the last of them after some 20 s.
    assert late - early < 0.9 * 2**10 * (frames // 3)
