"""What is left of a window that was closed, in a process that goes on."""

import gc
import subprocess
import sys
import weakref
from pathlib import Path
from unittest.mock import patch

import av
import pytest
from contact_viewer.app.application import open_application
from contact_viewer.settings import Options
from contact_viewer.window.main_loop import run_window
from contact_viewer.window.opening import DisplayError
from contact_viewer.window.window import Window
from imgui_bundle import ImVec2, hello_imgui, imgui


def test_a_closed_window_is_freed_with_its_scene() -> None:
    window = Window(open_application(Options(scene=Path("slope"), frames=3)))
    window.keeps_settings = False
    session = window.app.session
    left = [weakref.ref(each) for each in (window, session, session.engine, session.history)]
    run_window(window)
    del window, session
    gc.collect()
    assert [each() for each in left] == [None] * 4


RESIZED = """
import ctypes, sys
from pathlib import Path
from contact_viewer.window.main_loop import run_window
from contact_viewer.window.window import Window
from contact_viewer.app.application import open_application
from contact_viewer.settings import Options
from imgui_bundle import glfw_utils
import glfw

x11 = ctypes.CDLL("libX11.so.6")
x11.XOpenDisplay.restype = ctypes.c_void_p
# A client of its own, as a window manager is.
display = ctypes.c_void_p(x11.XOpenDisplay(None))
window = Window(open_application(Options(scene=Path("slope"), width=640, height=480)))
window.keeps_settings = False
finish = window._finish_frame

def finish_and_resize():
    finish()
    if window.frame_count == 8:
        number = glfw.get_x11_window(glfw_utils.glfw_window_hello_imgui())
        x11.XResizeWindow(display, ctypes.c_ulong(number), int(sys.argv[1]), int(sys.argv[2]))
        x11.XSync(display, 0)
        window.quit()

window._finish_frame = finish_and_resize
run_window(window)
print("closed")
"""


@pytest.mark.parametrize("size", [("100", "100"), ("300", "2"), ("1", "1")])
def test_a_window_that_is_made_small_while_it_closes_does_not_crash(size: tuple[str, str]) -> None:
    result = subprocess.run(
        [sys.executable, "-c", RESIZED, *size], capture_output=True, text=True, check=False, timeout=60
    )
    assert (result.returncode, result.stdout, result.stderr) == (0, "closed\n", "")


def test_a_resize_in_the_middle_of_a_frame_does_not_change_the_scale() -> None:
    """ImGui divides the new size by the old one; the picture and the text would have that scale."""
    window = Window(open_application(Options(scene=Path("slope"), width=640, height=480, frames=6)))
    window.keeps_settings = False
    advance, draw = window._advance, window._draw
    sizes = []

    def advance_odd() -> None:
        imgui.get_io().display_framebuffer_scale = imgui.get_main_viewport().framebuffer_scale = ImVec2(0.3, 7.0)
        advance()

    def draw_and_look() -> None:
        draw()
        sizes.append(window.app.window_size)

    window._advance, window._draw = advance_odd, draw_and_look  # type: ignore[method-assign]
    run_window(window)
    assert set(sizes) == {(640, 480)}


def test_a_window_that_fails_in_a_frame_keeps_its_recording(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    path = tmp_path / "clip.mp4"
    window = Window(open_application(Options(scene=Path("slope"), width=480, height=360)))
    window.keeps_settings = False
    render = hello_imgui.manual_render.render

    def fail_later() -> None:
        render()
        if window.frame_count == 5:
            window.app.start_recording(path)
        if window.frame_count == 40:
            raise RuntimeError('IM_ASSERT( id != -1 && "Out of texture memory." )   ---   imgui_freetype.cpp:532')

    with patch.object(hello_imgui.manual_render, "render", fail_later), pytest.raises(DisplayError) as raised:
        run_window(window)
    assert str(raised.value) == "the window failed (Out of texture memory.)"
    assert capsys.readouterr().out.startswith(f"recorded {path}")
    with av.open(str(path)) as video:
        assert sum(1 for _ in video.decode(video=0)) >= 10
