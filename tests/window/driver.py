"""The real window, driven by Dear ImGui Test Engine and looked at through its pixels."""

import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager, nullcontext
from pathlib import Path
from typing import Any

import imgui_bundle.immapp.testing as engine_testing
import numpy as np
from contact_viewer import open_engine
from contact_viewer.app.application import Application
from contact_viewer.settings import Options
from contact_viewer.window.window import Window
from imgui_bundle import ImVec2, hello_imgui, imgui
from numpy.typing import NDArray
from PIL import Image

Pixels = NDArray[np.uint8]
_wanted: list[Path] = []
"""The screenshot that is being taken, if there is one."""


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
            with nullcontext() if drawn else undrawn(window):
                test(ctx)
        except BaseException as error:
            failures.append(error)

    engine_testing.run(runner_params=window.runner_params(), test_function=guarded)
    if window.error is not None:
        raise window.error
    if failures:
        raise failures[0]
    if window.guard.failures and not may_fail:
        raise window.guard.failures[0]


def wait(ctx: Any, condition: Callable[[], object], seconds: float = 40.0) -> None:
    """Until something is so, in the frames that the window draws meanwhile: on a busy machine few of them are drawn."""
    end = time.monotonic() + seconds
    while not condition():
        assert time.monotonic() < end, "it did not happen in time"
        ctx.yield_(1)


def screenshot(ctx: Any, path: Path) -> Pixels:
    """The window's picture, (height, width, 3)."""
    # The test engine draws a white mouse cursor: keep it out of the scene.
    ctx.mouse_move_to_pos(ImVec2(3, 3))
    _wanted.append(path)
    try:
        ctx.yield_(3)
        engine_testing.capture(ctx, str(path))
    finally:
        _wanted.clear()
    return np.asarray(Image.open(path).convert("RGB"))


@contextmanager
def undrawn(window: Window) -> Iterator[None]:
    """Panels are as ever, and next to nothing of them is drawn, nor the scene: drawing takes most of a frame."""
    assert window.canvas is not None
    assert window._params is not None
    canvas, callbacks, draw = window.canvas, window._params.callbacks, window.canvas.draw
    before = callbacks.before_imgui_render
    drawn: list[Any] = []

    def draw_once(*arguments: Any, **named: Any) -> None:
        if _wanted or not drawn:
            drawn.append(draw(*arguments, **named))

    def shrink() -> None:
        # After the panels have read it; the next frame begins with the true one.
        if not _wanted:
            imgui.get_io().display_framebuffer_scale = imgui.get_main_viewport().framebuffer_scale = ImVec2(0.02, 0.02)

    canvas.draw = draw_once  # type: ignore[method-assign]
    callbacks.before_imgui_render = shrink
    try:
        yield
    finally:
        canvas.draw = draw  # type: ignore[method-assign]
        callbacks.before_imgui_render = before


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
