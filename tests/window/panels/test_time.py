"""Going back in time in the real window: scrub, step back, plots and what they save."""

import csv
import io
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from contact_viewer.sensors.signals import Signal
from imgui_bundle import ImVec2, imgui

from ..driver import drive, make_window, scene_part, screenshot

DROP = """
<mujoco>
  <worldbody>
    <light pos="0 0 3"/>
    <geom name="floor" type="plane" size="1 1 .1" rgba=".5 .5 .5 1"/>
    <body pos="0 0 .3"><freejoint/><geom name="ball" size=".1" mass="1" rgba=".4 .4 .4 .2"/></body>
  </worldbody>
  <sensor><contact name="c" geom1="floor" geom2="ball" data="found"/></sensor>
</mujoco>"""


@pytest.fixture
def drop(tmp_path: Path) -> Path:
    path = tmp_path / "drop.xml"
    path.write_text(DROP)
    return path


def test_step_back_and_forth(drop: Path) -> None:
    window = make_window(drop)
    app = window.app

    def test(ctx: Any) -> None:
        session = app.session
        session.take_steps(200)
        states = {}
        for _ in range(5):
            states[session.engine.time] = session.engine.data.qpos.copy(), session.engine.array("c")
            ctx.key_press(imgui.Key.left_arrow)
        for time, (qpos, array) in reversed(states.items()):
            ctx.key_press(imgui.Key.right_arrow)
            assert session.engine.time == time
            np.testing.assert_array_equal(session.engine.data.qpos, qpos)
            np.testing.assert_array_equal(session.engine.array("c"), array)
        assert session.history is not None
        assert session.history.at_end

    drive(window, test)


def test_the_scrubber_goes_back_and_playing_on_is_bit_for_bit(drop: Path, tmp_path: Path) -> None:
    window = make_window(drop)
    app = window.app

    def test(ctx: Any) -> None:
        session = app.session
        session.take_steps(1000)
        end = session.engine.data.qpos.copy(), session.engine.data.qvel.copy()
        late = scene_part(window, screenshot(ctx, tmp_path / "late.png"))
        slider = ctx.item_info("//**/##scrub").rect_full
        ctx.mouse_move_to_pos(slider.get_center())
        ctx.mouse_down(0)
        ctx.mouse_move_to_pos(ImVec2(slider.min.x + 0.1 * slider.get_width(), slider.get_center().y))
        ctx.mouse_up(0)
        ctx.yield_(2)
        assert session.paused
        assert 0.16 < session.engine.time < 0.24
        session.go_to(100)
        assert session.engine.time == pytest.approx(0.2)
        early = scene_part(window, screenshot(ctx, tmp_path / "early.png"))
        assert not np.array_equal(early, late)
        session.take_steps(900)
        np.testing.assert_array_equal(session.engine.data.qpos, end[0])
        np.testing.assert_array_equal(session.engine.data.qvel, end[1])

    drive(window, test)


def test_an_impact_of_one_step_shows_in_peak_mode_and_in_the_plot(drop: Path) -> None:
    window = make_window(drop)
    app = window.app

    def test(ctx: Any) -> None:
        session = app.session
        session.settings.plots.seconds = 600.0
        ctx.yield_(2)
        strongest = 0.0
        for _ in range(300):
            session.take_steps(1)
            strongest = max(strongest, float(np.linalg.norm(session.reading("c").net_force)))
        session.reset()
        session.settings.gizmos.moment = type(session.settings.gizmos.moment)("peak")
        assert session.history is not None
        session.history.begin_frame()
        session.take_steps(300)
        assert np.linalg.norm(session.reading("c").net_force) == pytest.approx(strongest)
        curves = session.history.curves
        while not curves.update():
            pass
        for columns in (3, 30, 300):
            high = curves.reduce(["c"], [Signal.MAGNITUDE], 0, 301, columns).high
            assert np.nanmax(high) == pytest.approx(strongest, rel=1e-6)

    drive(window, test)


def test_signals_are_chosen_and_saved_as_csv(drop: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    window = make_window(drop)
    app = window.app

    def test(ctx: Any) -> None:
        session = app.session
        session.take_steps(500)
        ctx.yield_(2)
        ctx.item_click("//Plots/##signals")
        ctx.item_click("//$FOCUSED/normal force")
        ctx.popup_close_all()
        assert session.settings.plots.signals == "normal force,force"
        ctx.item_click("//Plots/###copy")
        copied = imgui.get_clipboard_text()
        rows = list(csv.reader(io.StringIO(copied)))
        assert rows[0] == ["time [s]", "c: normal force [N]", "c: force [N]"]
        table = np.array([[float(value or "nan") for value in row] for row in rows[1:]])
        assert len(table) == 501
        np.testing.assert_allclose(np.diff(table[:, 0]), 0.002, atol=1e-9)
        assert table[-1, 1] == pytest.approx(session.reading("c").net_force[2], rel=1e-4)
        ctx.item_click("//Plots/###save")
        assert (tmp_path / "drop-001.csv").read_text() == copied
        assert "drop-001.csv" in app.notices.items[-1].text
        ctx.item_click("//Plots/by sensor")
        ctx.yield_(3)
        assert session.settings.plots.by_sensor

    drive(window, test)


def test_a_time_is_typed_and_the_budget_changed(drop: Path) -> None:
    window = make_window(drop)
    app = window.app

    def test(ctx: Any) -> None:
        session = app.session
        session.take_steps(1000)
        ctx.item_click("//**/###time")
        ctx.yield_(3)
        ctx.item_input("//**/go to [s]")
        ctx.key_chars_replace_enter("0.5")
        ctx.yield_(2)
        assert session.paused
        assert session.engine.time == pytest.approx(0.5)
        ctx.item_click("//**/###time")
        ctx.yield_(3)
        ctx.item_input("//**/MB for the history")
        ctx.key_chars_replace_enter("2")
        ctx.yield_(2)
        assert session.settings.history_megabytes == 2.0
        session.take_steps(20_000)
        assert session.history is not None
        assert session.history.bytes < 2.1 * 2**20
        assert 0 < session.history.seconds < 40

    drive(window, test)
