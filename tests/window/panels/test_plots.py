"""Plots of long histories in the real window: what they cost, and what their axes show."""

import time
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from contact_viewer.sensors.curves import Reduced
from contact_viewer.window.panels.plots import _value_range

from ..driver import drive, make_window

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
    session._step(60_000)
    assert session.history.seconds == pytest.approx(600)
    while not session.history.curves.update(10_000):
        pass
    session.settings.plots.seconds = 600.0
    show, shares = window.plots.show, []

    def timed_show(*arguments: Any) -> None:
        start = time.perf_counter()
        show(*arguments)
        shares.append(time.perf_counter() - start)

    window.plots.show = timed_show  # type: ignore[method-assign, assignment]

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


def reduced(*values: float) -> Reduced:
    array = np.array(values, np.float32)
    return Reduced(np.arange(len(values) + 1), array, array)


def test_value_axes_hold_zero_and_every_value() -> None:
    # Noise on a constant force must not fill the plot.
    low, high = _value_range([reduced(2.4525, 2.45250001, 2.4525)])
    assert low == 0.0
    assert 2.46 < high < 3
    low, high = _value_range([reduced(-3, 1), reduced(np.nan, 8)])
    assert -4 < low < -3
    assert 8 < high < 9
    assert _value_range([]) == _value_range([reduced(0, 0)]) == _value_range([reduced()]) == (0.0, 1.0)
    low, high = _value_range([reduced(-1e-4, -2e-4)])
    assert low < -2e-4
    assert high == 0.0
    assert _value_range([reduced(np.nan, np.nan)]) == (0.0, 1.0)
