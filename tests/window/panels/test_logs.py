"""Runs and logs in the real window: saved by the menu, opened, played, scrubbed, and the band under the timeline."""

from pathlib import Path
from typing import Any

import mujoco
import numpy as np
import pytest
from contact_viewer.app.application import open_application
from contact_viewer.events.breaks import Break, BreakWhen
from contact_viewer.settings import Options
from contact_viewer.window.window import Window
from imgui_bundle import imgui

from ..driver import drive, make_window, screenshot, wait

DROP = """
<mujoco>
  <worldbody>
    <light pos="0 0 3"/>
    <geom name="floor" type="plane" size="1 1 .1" rgba=".5 .5 .5 1"/>
    <body pos="0 0 .6"><freejoint/><geom name="ball" size=".1" mass="1" rgba=".4 .4 .4 .2"/></body>
  </worldbody>
  <sensor><contact name="c" geom1="floor" geom2="ball"/></sensor>
</mujoco>"""
STEPS = 300


@pytest.fixture
def scene(tmp_path: Path) -> Path:
    path = tmp_path / "drop.xml"
    path.write_text(DROP)
    return path


@pytest.fixture
def log(scene: Path, tmp_path: Path) -> Path:
    """Exact but for some states of the fall, which are rounded, and one near its end that leads nowhere."""
    model = mujoco.MjModel.from_xml_path(str(scene))
    data = mujoco.MjData(model)
    rows: dict[str, list[Any]] = {"time": [], "qpos": [], "qvel": []}
    for _ in range(STEPS + 1):
        for name, values in rows.items():
            values.append(np.copy(getattr(data, name)))
        mujoco.mj_step(model, data)
    arrays = {name: np.array(values) for name, values in rows.items()}
    arrays["qpos"][50:100] = arrays["qpos"][50:100].astype(np.float32)
    arrays["qpos"][280, 2] += 0.5
    np.savez(tmp_path / "run.npz", **arrays)  # type: ignore[arg-type]
    return tmp_path / "run.npz"


def log_window(scene: Path, log: Path, **options: Any) -> Window:
    window = Window(open_application(Options(scene=scene, log=log, width=1200, height=900, **options)))
    window.keeps_settings = False
    return window


def test_the_menu_saves_a_run_that_opens_with_the_same_steps(scene: Path, tmp_path: Path) -> None:
    window = make_window(scene, width=900, height=700)
    app = window.app
    heights: list[float] = []

    def test(ctx: Any) -> None:
        app.session.take_steps(120)
        heights.append(float(app.session.engine.data.qpos[2]))
        ctx.item_click("//##MainMenuBar/##MenuBar/File")
        ctx.item_click("//$FOCUSED/Save run...")
        ctx.yield_(3)
        ctx.item_input_value("//###files/##name", str(tmp_path / "mine.cvrun"))
        wait(ctx, lambda: any("saved" in notice.text and "120 steps" in notice.text for notice in app.notices.items))
        app.open_scene(str(tmp_path / "mine.cvrun"))
        wait(ctx, lambda: app.session.source.replays)
        session = app.session
        session.paused = True
        wait(ctx, lambda: session.source.finished)
        assert session.history is not None
        session.go_to(session.history.last)
        heights.append(float(session.engine.data.qpos[2]))

    drive(window, test)
    assert heights[0] == heights[1]


def amber(picture: Any) -> Any:
    """How much colour of warnings a picture has; 0 where it is grey."""
    red, green, blue = (picture[..., channel].astype(int) for channel in range(3))
    return np.where((red > green + 5) & (green > blue + 5), red - blue, 0)


def test_the_band_shows_where_a_log_is_close_or_not_reached(scene: Path, log: Path, tmp_path: Path) -> None:
    window = log_window(scene, log, paused=True)
    app = window.app

    def test(ctx: Any) -> None:
        session = app.session
        wait(ctx, lambda: session.source.finished)
        wait(ctx, lambda: any("not reached" in notice.text for notice in app.notices.items))
        app.notices.items.clear()
        item = ctx.item_info("**/##scrub")
        low, high = item.rect_full.min, item.rect_full.max
        picture = screenshot(ctx, tmp_path / "band.png")
        rows = picture[round(low.y) : round(high.y), round(low.x) : round(high.x)]
        marked = amber(rows).sum(axis=0)
        width = len(marked)
        parts = {name: marked[round(a * width) : round(b * width)] for name, (a, b) in PARTS.items()}
        assert parts["exact"].max() == 0
        assert parts["exact again"].max() == 0
        assert (parts["close"] > 0).all()
        # What is not reached stands out from what is close.
        assert parts["not reached"].max() > 2 * parts["close"].max()
        session.go_to(281)
        assert session.shown_exactness is not None
        assert "not reached" in session.shown_exactness[0]
        session.go_to(20)
        assert session.shown_exactness is None

    drive(window, test)


PARTS = {"exact": (0.02, 0.14), "close": (0.19, 0.31), "exact again": (0.38, 0.88), "not reached": (0.9, 0.96)}
"""Where in the band each is, as parts of its width."""


def test_a_log_is_played_paused_and_played_again_from_its_start(scene: Path, log: Path) -> None:
    window = log_window(scene, log)
    app = window.app

    def test(ctx: Any) -> None:
        session = app.session
        history = session.history
        assert history is not None
        wait(ctx, lambda: any("ends here" in notice.text for notice in app.notices.items))
        assert session.paused
        assert history.current == history.last == STEPS
        session.set_speed(0.02)
        ctx.key_press(imgui.Key.space)
        wait(ctx, lambda: 0 < history.current < STEPS // 2)
        ctx.key_press(imgui.Key.space)
        shown = history.current
        ctx.key_press(imgui.Key.left_arrow)
        assert history.current == shown - 1
        ctx.key_press(imgui.Key.backspace)
        assert history.current == 0
        assert history.last == STEPS

    drive(window, test)


def test_a_break_stops_a_log_that_was_read_before(scene: Path, log: Path) -> None:
    window = log_window(scene, log, paused=True)
    app = window.app

    def test(ctx: Any) -> None:
        session = app.session
        assert session.events is not None
        wait(ctx, lambda: session.source.finished)
        begins = session.events.log.following(0.0)
        assert begins is not None
        session.events.breaks.append(Break(BreakWhen.BEGIN))
        session.go_to(3)
        session.toggle_paused()
        wait(ctx, lambda: session.paused)
        assert abs(session.engine.time - begins.seen) <= session.engine.timestep
        session.events.breaks.clear()
        wait(ctx, lambda: session.source.finished)
        assert session.history is not None
        assert session.history.last == STEPS

    drive(window, test)
