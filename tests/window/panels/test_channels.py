"""Channels in the Plots panel of the real window."""

from pathlib import Path
from typing import Any

import numpy as np
import pytest
from contact_viewer.channels.channel import BOOLEAN, ChannelName, Samples
from contact_viewer.sensors.signals import Signal
from imgui_bundle import imgui

from ..driver import drive, make_window, screenshot, wait


def test_a_quantity_of_the_model_is_chosen_and_pauses_the_scene(tmp_path: Path) -> None:
    window = make_window("quadruped", channels=("control/*",))
    session = window.app.session
    session.settings.plots.signals = "magnitude"
    session.take_steps(300)
    times = np.arange(1.0, 301.0) * session.engine.timestep
    flags = {"in air": np.sin(20 * times) > 0, "done": times > 0.5, "never": times < 0}
    for name, values in flags.items():
        session.simulation.channels.add(Samples(ChannelName(f"flags/{name}", BOOLEAN), times, values.astype(float)))

    def test(ctx: Any) -> None:
        ctx.item_click("//Plots/**/###channel")
        ctx.yield_(2)
        ctx.item_input_value("//$FOCUSED/##names", "position trunk z")
        ctx.yield_(2)
        ctx.item_click("//**/###choice0")
        ctx.key_press(imgui.Key.escape)
        ctx.yield_(2)
        channel = session.simulation.channels["joint position/trunk z"]
        assert len(channel) > 290
        # Channels are shown also while every sensor is hidden.
        session.visible = dict.fromkeys(session.visible, False)
        ctx.yield_(3)
        assert not window.guard.failures
        session.visible = dict.fromkeys(session.visible, True)
        screenshot(ctx, tmp_path / "channels.png")
        # A click with the right button in its plot offers to pause at a value.
        plot = window.contents["Plots"]
        place = plot.channel_places["joint position [m]"]
        ctx.mouse_move_to_pos(place)
        ctx.mouse_click(1)
        ctx.yield_(2)
        ctx.item_input_value("//$FOCUSED/##limit", 10.0)
        screenshot(ctx, tmp_path / "menu.png")
        ctx.item_click("//$FOCUSED/Add")
        assert [limit.text for limit in session.simulation.channels.limits] == ["joint position/trunk z > 10"]
        ctx.yield_(2)
        session.model_channels.drop("joint position/trunk z")
        assert not session.simulation.channels.limits

    drive(window, test)


def test_measured_data_are_aligned_and_shown_beside_the_sensors(tmp_path: Path) -> None:
    window = make_window("bounce")
    app = window.app
    session = app.session
    rng = np.random.default_rng(0)
    for _ in range(12):
        session.engine.data.qvel[2] = rng.uniform(0.5, 2.0)
        session.take_steps(int(rng.integers(150, 300)))
    history = session.history
    assert history is not None
    while not history.curves.update():
        pass
    sensor = history.curves.names[0]
    steps = np.arange(history.curves.stop)
    truth = history.curves.values(sensor, Signal.MAGNITUDE, 0, len(steps))
    times = history.times(steps)
    rows = zip(times - 3.25, 2.0 * np.nan_to_num(truth), strict=True)
    data = tmp_path / "data.csv"
    data.write_text("time,raw\n" + "".join(f"{time!r},{value!r}\n" for time, value in np.array(list(rows)).tolist()))

    def test(ctx: Any) -> None:
        app.measured.open(data)
        wait(ctx, lambda: "measured/raw" in session.simulation.channels)
        ctx.item_click("//Plots/**/###measured")
        ctx.yield_(2)
        app.measured.choose(session, sensor, "raw")
        wait(ctx, lambda: f"measured/{sensor}" in session.simulation.channels)
        ctx.item_click("//**/Align")
        ctx.yield_(2)
        screenshot(ctx, tmp_path / "measured.png")
        assert app.measured.offset == pytest.approx(3.25, abs=0.002)
        channel = session.simulation.channels[f"measured/{sensor}"]
        assert channel.times[0] == pytest.approx(times[0], abs=0.003)
        assert any("correlation 1.00" in notice.text for notice in app.notices.items)
        app.measured.open(tmp_path / "none.csv")
        wait(ctx, lambda: any("no such file" in notice.text for notice in app.notices.items))

    drive(window, test)
