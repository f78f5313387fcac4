"""Channels in the Plots panel of the real window."""

from pathlib import Path
from typing import Any

import numpy as np
from contact_viewer.channels.channel import BOOLEAN, ChannelName, Samples
from imgui_bundle import imgui

from ..driver import drive, make_window, screenshot


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
