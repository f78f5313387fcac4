"""The Record dialog, and what recordings and screenshots show."""

from pathlib import Path
from typing import Any

import av
import glfw
import numpy as np
from imgui_bundle import glfw_utils, imgui
from PIL import Image

from ..driver import drive, make_window, wait


def test_folder_size_and_rate_are_chosen_in_the_dialog(tmp_path: Path) -> None:
    window = make_window("slope", width=900, height=700, paused=False)
    app = window.app
    app.session.settings.record_folder = str(tmp_path)
    (tmp_path / "videos").mkdir()

    def test(ctx: Any) -> None:
        ctx.item_click("//**/###record")
        ctx.item_click("//$FOCUSED/###folder")
        ctx.yield_(3)
        ctx.item_double_click("//###files/##list/**/###videos")
        ctx.item_click("//###files/###accept")
        ctx.yield_(3)
        ctx.item_click("//$FOCUSED/size")
        ctx.item_click("//$FOCUSED/480p")
        ctx.item_click("//$FOCUSED/frames\\/s")
        ctx.item_click("//$FOCUSED/15")
        ctx.item_click("//$FOCUSED/style")
        ctx.item_click("//$FOCUSED/talk")
        ctx.item_click("//$FOCUSED/Start recording")
        wait(ctx, lambda: app.recorder.running is not None and app.recorder.running.frames > 3)
        assert app.session.settings.gizmos.cones
        assert str(tmp_path / "videos") in app.notices.items[-1].text
        app.recorder.stop()
        assert not app.session.settings.gizmos.cones
        wait(ctx, lambda: not app.recorder.is_busy)

    drive(window, test)
    (path,) = (tmp_path / "videos").iterdir()
    with av.open(str(path)) as video:
        stream = video.streams.video[0]
        assert stream.height == 480
        assert stream.average_rate == 15
        assert sum(1 for _ in video.decode(stream)) > 3


def test_the_whole_window_is_recorded_in_a_size_of_its_own_while_it_is_resized(tmp_path: Path) -> None:
    window = make_window("slope", width=900, height=700, paused=False)
    app = window.app
    settings = app.session.settings
    settings.record_folder, settings.record_panels, settings.record_height = str(tmp_path), True, 480.0

    def test(ctx: Any) -> None:
        ctx.key_press(imgui.Key.f9)
        wait(ctx, lambda: app.recorder.running is not None and app.recorder.running.frames > 3)
        glfw.set_window_size(glfw_utils.glfw_window_hello_imgui(), 640, 700)
        frames = app.recorder.running.frames if app.recorder.running is not None else 0
        wait(ctx, lambda: app.recorder.running is None or app.recorder.running.frames > frames + 3)
        ctx.key_press(imgui.Key.f9)
        wait(ctx, lambda: not app.recorder.is_busy)
        assert not [item.text for item in app.notices.items if "cannot" in item.text]

    # The driver's small framebuffer is no picture of a window.
    drive(window, test, drawn=True)
    (path,) = tmp_path.iterdir()
    with av.open(str(path)) as video:
        assert video.streams.video[0].height == 480
        pictures = [frame.to_ndarray(format="rgb24") for frame in video.decode(video=0)]
    # A narrower window has black borders at the sides.
    assert pictures[0][:, :8].max() > 60
    assert pictures[-1][:, :8].max() < 20


def test_a_screenshot_has_labels_legend_and_time(tmp_path: Path) -> None:
    window = make_window("slope", steps=300, width=900, height=700)
    app = window.app
    app.session.settings.record_folder = str(tmp_path)

    def take(ctx: Any) -> np.ndarray[Any, Any]:
        known = set(tmp_path.iterdir())
        app.save_screenshot()
        wait(ctx, lambda: set(tmp_path.glob("*.png")) - known)
        (path,) = set(tmp_path.glob("*.png")) - known
        assert str(path) in app.notices.items[-1].text
        return np.asarray(Image.open(path).convert("RGB")).astype(int)

    def test(ctx: Any) -> None:
        ctx.yield_(30)
        plain = take(ctx)
        assert plain.shape[:2] == app.scene_size[::-1]
        app.session.settings.gizmos.labels = True
        ctx.yield_(3)
        labelled = take(ctx)
        height, width = plain.shape[:2]
        changed = np.abs(labelled - plain).max(axis=-1) > 60
        # Four numbers beside the contacts, nothing in the legend's and the clock's corners.
        assert changed[: height - 60].sum() > 100
        dark = plain.max(axis=-1) < 70
        assert dark[height - 50 : height - 20, 30:120].mean() > 0.5
        assert dark[height - 60 :, width - 110 :].sum() > 500
        app.session.settings.record_panels = True
        assert take(ctx).shape[:2] == app.window_size[::-1]

    drive(window, test, drawn=True)
