"""Plots of long histories in the real window: what they cost, and what they show."""

import time
from pathlib import Path
from typing import Any
from unittest.mock import patch

import mujoco
import numpy as np
import pytest
from contact_viewer.session.history_curves import HistoryCurves
from contact_viewer.settings import ValueAxis
from contact_viewer.window.panels.plot_details import curve_color
from imgui_bundle import ImVec2, implot

from ..driver import drive, make_window, screenshot

BOXES = 10


def write_boxes(path: Path) -> Path:
    """Ten boxes that lie on a floor, a sensor each; 100 steps a second."""
    boxes = "".join(
        f'<body pos="{0.3 * i} 0 0.1"><freejoint/><geom name="box{i}" type="box" size="0.1 0.1 0.1" mass="1"/></body>'
        for i in range(BOXES)
    )
    sensors = "".join(f'<contact name="sensor{i}" geom1="floor" geom2="box{i}"/>' for i in range(BOXES))
    path.write_text(
        f'<mujoco><option timestep="0.01"/><worldbody><light pos="0 0 3"/><geom name="floor" type="plane"'
        f' size="3 3 0.1"/>{boxes}</worldbody><sensor>{sensors}</sensor></mujoco>'
    )
    return path


@pytest.mark.alone
def test_ten_minutes_of_ten_sensors_leave_two_thirds_of_the_frame(tmp_path: Path) -> None:
    window = make_window(write_boxes(tmp_path / "boxes.xml"), quality="low")
    app = window.app
    session = app.session
    assert session.history is not None
    session.take_steps(60_000)
    assert session.history.seconds == pytest.approx(600)
    assert isinstance(session.history.curves, HistoryCurves)
    while not session.history.curves.update(10_000):
        pass
    session.settings.plots.seconds = 600.0
    show, shares = window.contents["Plots"].show, []

    def timed_show(*arguments: Any) -> None:
        start = time.perf_counter()
        show(*arguments)
        shares.append(time.perf_counter() - start)

    window.contents["Plots"].show = timed_show

    def test(ctx: Any) -> None:
        ctx.yield_(10)
        session.paused = False
        shares.clear()
        start, first = time.perf_counter(), window.frame_count
        ctx.yield_(60)
        frame = (time.perf_counter() - start) / (window.frame_count - first)
        assert len(shares) >= 50
        assert np.median(shares) < frame / 3

    drive(window, test)


DROP = """
<mujoco>
  <worldbody>
    <light pos="0 0 3"/>
    <geom name="floor" type="plane" size="1 1 .1"/>
    <body pos="0 0 .3"><freejoint/><geom name="ball" size=".1" mass="1"/></body>
    <body pos=".5 0 .6"><freejoint/><geom name="late" size=".1" mass="2"/></body>
  </worldbody>
  <sensor>
    <contact name="ball" geom1="floor" geom2="ball" data="found"/>
    <contact name="late" geom1="floor" geom2="late" data="found"/>
  </sensor>
</mujoco>"""
STEPS = 600


@pytest.fixture
def drop(tmp_path: Path) -> Path:
    path = tmp_path / "drop.xml"
    path.write_text(DROP)
    return path


def bare_forces(path: Path) -> np.ndarray:
    """Upward force on each ball after every step, as bare MuJoCo has it, (steps + 1, 2)."""
    model = mujoco.MjModel.from_xml_path(str(path))
    data = mujoco.MjData(model)
    forces = np.zeros((STEPS + 1, 2))
    wrench = np.empty(6)
    for step in range(1, STEPS + 1):
        mujoco.mj_step(model, data)
        for i in range(data.ncon):
            mujoco.mj_contactForce(model, data, i, wrench)
            forces[step, max(data.contact[i].geom) - 1] += np.linalg.norm(wrench[:3])
    return forces


def plot_area(ctx: Any, title: str) -> tuple[float, float, float, float]:
    """Left, top, right, bottom of a plot with its axes [px]."""
    rect = ctx.item_info(f"//Plots/{title}").rect_full
    return rect.min.x, rect.min.y, rect.max.x, rect.max.y


def test_hovering_reads_every_curve_at_the_mouse_and_at_the_cursor(drop: Path) -> None:
    """The value of a curve at an instant takes no click."""
    window = make_window(drop)
    forces = bare_forces(drop)

    def test(ctx: Any) -> None:
        session = window.app.session
        session.take_steps(STEPS)
        session.settings.plots.seconds = 2.0
        ctx.yield_(4)
        assert window.contents["Plots"].readouts == []
        _, top, _, bottom = plot_area(ctx, "force##plot")
        impact = int(np.argmax(forces[:, 1]))
        ctx.mouse_move_to_pos(ImVec2(window.contents["Plots"].place_of(0.002 * impact, "late")[0], (top + bottom) / 2))
        ctx.yield_(3)
        assert [readout.line.name for readout in window.contents["Plots"].readouts] == ["ball", "late"]
        for i, readout in enumerate(window.contents["Plots"].readouts):
            assert readout.at_cursor == pytest.approx(forces[-1, i], rel=1e-5)
            assert readout.at_mouse == pytest.approx(
                forces[window.contents["Plots"].pointed_step, i], rel=1e-5, abs=1e-9
            )
        assert abs(window.contents["Plots"].pointed_step - impact) <= 2
        assert abs(window.contents["Plots"].readouts[1].at_mouse - window.contents["Plots"].readouts[1].at_cursor) > 5
        ctx.mouse_move_to_pos(ImVec2(3, 3))
        ctx.yield_(2)
        assert window.contents["Plots"].readouts == []

    drive(window, test)


def test_a_drag_zooms_and_a_double_click_fits(drop: Path) -> None:
    window = make_window(drop)

    def test(ctx: Any) -> None:
        session, plots = window.app.session, window.contents["Plots"]
        session.take_steps(STEPS)
        ctx.yield_(4)
        whole = plots.span
        left, top, right, bottom = plot_area(ctx, "force##plot")
        width = right - left
        ctx.mouse_move_to_pos(ImVec2(left + 0.2 * width, top + 0.3 * (bottom - top)))
        ctx.mouse_down(0)
        ctx.mouse_move_to_pos(ImVec2(left + 0.3 * width, bottom - 20))
        ctx.mouse_up(0)
        ctx.yield_(3)
        start, end = plots.span
        assert not session.settings.plots.follow
        assert 0.05 * (whole[1] - whole[0]) < end - start < 0.2 * (whole[1] - whole[0])
        assert session.history is not None
        assert session.history.at_end
        ctx.mouse_move_to_pos(ImVec2(left + 0.6 * width, (top + bottom) / 2))
        ctx.mouse_double_click(0)
        ctx.yield_(3)
        assert plots.span == pytest.approx(whole)
        assert session.settings.plots.follow

    drive(window, test)


def test_one_click_goes_back_to_where_a_contact_began(drop: Path) -> None:
    window = make_window(drop)
    began = int(np.argmax(bare_forces(drop)[:, 0] > 0))

    def test(ctx: Any) -> None:
        session = window.app.session
        session.take_steps(STEPS)
        session.settings.plots.seconds = 2.0
        ctx.yield_(4)
        assert session.history is not None
        place = window.contents["Plots"].place_of(session.history.time(began), "ball")
        # A few pixels beside it, as a hand would.
        ctx.mouse_move_to_pos(ImVec2(place[0] + 3, place[1]))
        ctx.mouse_click(0)
        ctx.yield_(2)
        assert session.paused
        assert session.history.current == began
        assert session.reading("ball").found == 1
        session.step_back()
        assert session.reading("ball").found == 0

    drive(window, test)


def test_the_value_axis_is_chosen(drop: Path) -> None:
    window = make_window(drop)

    def test(ctx: Any) -> None:
        settings = window.app.session.settings.plots
        window.app.session.take_steps(200)
        ctx.item_click("//Plots/###axis")
        ctx.item_click("//$FOCUSED/log")
        assert settings.axis is ValueAxis.LOG
        ctx.item_click("//$FOCUSED/cut rare impacts")
        assert not settings.fit_usual
        ctx.item_click("//$FOCUSED/fixed")
        ctx.item_input_value("//$FOCUSED/to", 55.0)
        assert (settings.axis, settings.value_high) == (ValueAxis.FIXED, 55.0)
        ctx.popup_close_all()
        ctx.yield_(2)

    drive(window, test)


def test_marks_of_what_is_above_are_in_sight_beside_the_names(drop: Path, tmp_path: Path) -> None:
    """Impacts soon after the start, where the curves' names stand."""
    window = make_window(drop, quality="low")
    session = window.app.session
    tops: list[tuple[float, float]] = []
    original = implot.end_plot

    def end_plot() -> None:
        tops.append((implot.get_plot_pos().x, implot.get_plot_pos().y))
        original()

    def test(ctx: Any) -> None:
        session.take_steps(STEPS)
        ctx.yield_(2)
        with patch.object(implot, "end_plot", end_plot):
            ctx.yield_(1)
        left, top = (round(value) for value in tops[0])
        picture = screenshot(ctx, tmp_path / "marks.png")[top + 2 : top + 6, left : left + 150].astype(int)
        for name in session.engine.sensors.names:
            color = curve_color(session, name)
            ink = np.array([255 * color.x, 255 * color.y, 255 * color.z])
            assert (np.abs(picture - ink).max(axis=-1) < 8).sum() > 4, name

    drive(window, test)


PULL = """
<mujoco>
  <option gravity="-3 0 -9.81"/>
  <worldbody>
    <light pos="0 0 3"/>
    <geom name="floor" type="plane" size="2 2 .1"/>
    <body pos="0 0 .6"><freejoint/><geom name="box" type="box" size=".1 .1 .1" mass="1"/></body>
  </worldbody>
  <sensor><contact name="box" geom1="floor" geom2="box" num="4" data="found force normal tangent"/></sensor>
</mujoco>"""


def test_an_impact_below_zero_is_cut_and_marked_at_the_plots_bottom(tmp_path: Path) -> None:
    """Friction along a tangent's other direction: -3 N, and far more in the impact."""
    (tmp_path / "pull.xml").write_text(PULL)
    window = make_window(tmp_path / "pull.xml", quality="low")
    session = window.app.session
    plots: list[tuple[float, float, float]] = []
    original = implot.end_plot

    def end_plot() -> None:
        corner, size = implot.get_plot_pos(), implot.get_plot_size()
        plots.append((corner.x, corner.y + size.y, implot.get_plot_limits().y.min))
        original()

    def test(ctx: Any) -> None:
        session.settings.plots.signals = "tangent force 1"
        session.take_steps(2000)
        ctx.yield_(2)
        with patch.object(implot, "end_plot", end_plot):
            ctx.yield_(1)
        left, bottom, lowest = plots[0]
        assert -6 < lowest < -3
        place = slice(round(bottom) - 5, round(bottom) - 1), slice(round(left), round(left) + 150)
        picture = screenshot(ctx, tmp_path / "marks.png")[place].astype(int)
        color = curve_color(session, "box")
        ink = np.array([255 * color.x, 255 * color.y, 255 * color.z])
        # A mark is wider towards the plot's inside; the curve is as wide as it is long.
        widths = (np.abs(picture - ink).max(axis=-1) < 30).sum(axis=1)
        assert widths[0] > widths[-1]
        assert widths[0] >= 5

    drive(window, test)


def test_numbers_of_one_impact_of_many_sensors_stay_inside_their_plot(tmp_path: Path) -> None:
    """Twelve boxes that fall alike: what is between plot and raster is grey."""
    boxes = "".join(
        f'<body pos="{0.3 * k} 0 .2"><freejoint/><geom name="box{k}" type="box" size=".1 .1 .1" mass="2"/></body>'
        for k in range(12)
    )
    sensors = "".join(f'<contact name="s{k}" geom1="floor" geom2="box{k}" num="4"/>' for k in range(12))
    world = f'<light pos="0 0 3"/><geom name="floor" type="plane" size="5 5 .1"/>{boxes}'
    path = tmp_path / "boxes.xml"
    path.write_text(f"<mujoco><worldbody>{world}</worldbody><sensor>{sensors}</sensor></mujoco>")
    window = make_window(path, quality="low", width=1280, height=716)

    def test(ctx: Any) -> None:
        window.app.session.take_steps(1800)
        ctx.yield_(4)
        strips = window.contents["Plots"]._strips
        left, top = round(strips.x), round(strips.y)
        picture = screenshot(ctx, tmp_path / "plots.png")[:, left : left + round(strips.z)].astype(int)
        colorful = (np.ptp(picture, axis=-1) > 60).any(axis=1)
        assert not colorful[top - 11 : top - 1].any()
        # Names and numbers above, strips below.
        assert colorful[top - 100 : top - 30].any()
        assert colorful[top + 2]

    drive(window, test)
