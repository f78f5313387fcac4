"""The real window, driven by Dear ImGui Test Engine and looked at through its pixels."""

import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager, nullcontext
from pathlib import Path
from typing import Any
from unittest.mock import patch

import imgui_bundle.immapp.testing as engine_testing
import numpy as np
from contact_viewer import open_engine
from contact_viewer.app.application import Application
from contact_viewer.render.canvas import Canvas
from contact_viewer.settings import Options
from contact_viewer.window.window import Window
from imgui_bundle import ImVec2, glfw_utils, hello_imgui, imgui
from numpy.typing import NDArray
from PIL import Image

import glfw  # isort: skip

Pixels = NDArray[np.uint8]
_drawing: list[bool] = []
"""Not empty if frames are to be drawn."""


def make_window(scene: str | Path, *, steps: int = 0, **options: Any) -> Window:
    """A window that is not yet open, small and paused unless options change that, some steps into its scene."""
    chosen = {"paused": True, "width": 1200, "height": 1000} | options
    window = Window(Application(open_engine(scene), Options(scene=Path(scene), **chosen)))
    window.keeps_settings = False
    window.app.session.engine.step(steps)
    window.app.session.forget()
    return window


def drive(window: Window, test: Callable[[Any], None], *, may_fail: bool = False, drawn: bool = False) -> None:
    """Run the window and a test inside it; failures of either surface here.

    `may_fail`: True if errors that the window has caught are expected.
    `drawn`: True if every frame is drawn, and not only those of a `screenshot`.
    """
    failures: list[BaseException] = []

    def guarded(ctx: Any) -> None:
        try:
            io = imgui.test_engine.get_io(hello_imgui.get_imgui_test_engine())
            # A busy machine takes longer than the engine's own limit of a minute; pytest has one too.
            io.config_watchdog_kill_test = 170.0
            # Two clicks are a double click however long a frame takes.
            io.config_fixed_delta_time = 1 / 60
            ctx.yield_(4)
            test(ctx)
        except BaseException as error:
            failures.append(error)

    params = window.runner_params()
    try:
        with nullcontext() if drawn else undrawn(params):
            run(params, guarded)
    finally:
        # What ended a window before its first frame is the cause of what Hello ImGui raises then.
        if window.error is not None:
            raise window.error
    if failures:
        raise failures[0]
    if window.guard.failures and not may_fail:
        raise window.guard.failures[0]


def run(params: hello_imgui.RunnerParams, test: Callable[[Any], None]) -> None:
    """Run a window and a test inside it."""
    try:
        engine_testing.run(runner_params=params, test_function=test)
    finally:
        # They hold window and test where Python cannot see it: neither would ever be freed.
        params.callbacks = hello_imgui.RunnerCallbacks()


def wait(ctx: Any, condition: Callable[[], object], seconds: float = 40.0) -> None:
    """Until something is so, in the frames that the window draws meanwhile: on a busy machine few of them are drawn."""
    end = time.monotonic() + seconds
    while not condition():
        assert time.monotonic() < end, "it did not happen in time"
        ctx.yield_(1)


def call_in_frame(window: Window, ctx: Any, call: Callable[[], Any]) -> Any:
    """Call something where the window's context is current."""
    results: list[Any] = []
    # A scene that is ready meanwhile brings a pass of its own.
    while not results:
        assert window.canvas is not None
        scene_pass = window.canvas.scene_pass
        draw = scene_pass.draw

        def draw_and_call(viewport: Any, draw: Callable[[Any], None] = draw) -> None:
            draw(viewport)
            results.append(call())

        scene_pass.draw = draw_and_call  # type: ignore[method-assign]
        ctx.yield_(1)
        scene_pass.draw = draw  # type: ignore[method-assign]
    return results[0]


def screenshot(ctx: Any, path: Path) -> Pixels:
    """The window's picture, (height, width, 3), which is also saved for those who look into a failure."""
    # The test engine draws a white mouse cursor: keep it out of the scene.
    ctx.mouse_move_to_pos(ImVec2(3, 3))
    ctx.yield_(3)
    callbacks: Any = hello_imgui.get_runner_params().callbacks
    finish = callbacks.before_swap or (lambda: None)
    pictures: list[Pixels] = []

    def read() -> None:
        finish()
        pictures.append(_read_window())

    callbacks.before_swap = read
    try:
        with drawing():
            # The rest of a frame whose panels were drawn small, and one that is drawn.
            ctx.yield_(2)
    finally:
        callbacks.before_swap = finish
    Image.fromarray(pictures[-1]).save(path, compress_level=1)
    return pictures[-1]


def _read_window() -> Pixels:
    """All that was drawn in the present frame."""
    # Not before there is a window: PyOpenGL binds itself to the first OpenGL platform that it sees.
    from OpenGL import GL

    width, height = glfw.get_framebuffer_size(glfw_utils.glfw_window_hello_imgui())
    GL.glBindFramebuffer(GL.GL_READ_FRAMEBUFFER, 0)
    GL.glReadBuffer(GL.GL_BACK)
    GL.glPixelStorei(GL.GL_PACK_ALIGNMENT, 1)
    pixels = GL.glReadPixels(0, 0, width, height, GL.GL_RGB, GL.GL_UNSIGNED_BYTE)
    return np.frombuffer(pixels, np.uint8).reshape(height, width, 3)[::-1].copy()


@contextmanager
def drawing() -> Iterator[None]:
    """Frames of a window that `drive` does not draw are drawn meanwhile."""
    _drawing.append(True)
    try:
        yield
    finally:
        _drawing.clear()


@contextmanager
def undrawn(params: hello_imgui.RunnerParams) -> Iterator[None]:
    """Panels are as ever, and next to nothing of them is drawn, nor the scene: drawing takes most of a frame."""
    draw = Canvas.draw
    drawn: list[Canvas] = []

    def draw_once(canvas: Canvas, *arguments: Any, **named: Any) -> None:
        if _drawing or not drawn:
            drawn.append(canvas)
            draw(canvas, *arguments, **named)

    def shrink() -> None:
        # After the panels have read it; the next frame begins with the true one.
        if not _drawing:
            imgui.get_io().display_framebuffer_scale = imgui.get_main_viewport().framebuffer_scale = ImVec2(0.02, 0.02)

    params.callbacks.before_imgui_render = shrink
    with patch.object(Canvas, "draw", draw_once):
        yield


def scene_part(window: Window, picture: Pixels) -> Pixels:
    """The middle of the picture, where the scene is, without the legend's corner."""
    left, top, right, bottom = (round(value) for value in window.viewport.rect)
    return picture[top : bottom - 170, left:right]


def count_green(picture: Pixels) -> int:
    red, green, blue = (picture[..., i].astype(int) for i in range(3))
    return int(((green > red + 50) & (green > blue + 50)).sum())


def count_red(picture: Pixels) -> int:
    red, green, blue = (picture[..., i].astype(int) for i in range(3))
    return int(((red > green + 90) & (red > blue + 90)).sum())


def count_amber(picture: Pixels) -> int:
    red, green, blue = (picture[..., i].astype(int) for i in range(3))
    return int(((red > 180) & (green > 110) & (green < 210) & (blue < 90)).sum())


def count_white(picture: Pixels) -> int:
    return int((picture.min(axis=-1) > 238).sum())
