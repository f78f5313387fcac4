"""Values that a user's program plots, from its process to the window's."""

import math
from pathlib import Path
from time import perf_counter, sleep
from typing import Any

import mujoco
import numpy as np
import pytest
from contact_viewer.channels.channel import CAPACITY, Channel, ChannelName, Channels, Limit, Samples
from contact_viewer.scene_files.scene import find_scene
from contact_viewer.window.window import Window

from ..window.driver import screenshot, wait
from .loops import DrivenViewer, driven_argument

STEPS, RESET = 300, 200


def load(scene: str = "slope") -> tuple[mujoco.MjModel, mujoco.MjData]:
    model = mujoco.MjModel.from_xml_path(str(find_scene(scene)))
    return model, mujoco.MjData(model)


def read_channels(ctx: Any, window: Window) -> Any:
    """In the window's process: all channels of the last episode, and the times of its steps."""
    session = window.app.session
    steps = int(driven_argument())
    wait(ctx, lambda: session.history is not None and session.history.last == steps)
    ctx.yield_(3)
    assert session.history is not None
    times = session.history.times(np.arange(steps + 1)).tolist()
    return times, {c.name.name: (c.name.unit, c.times.tolist(), c.values.tolist()) for c in session.simulation.channels}


def wait_until_closed(viewer: Any) -> None:
    while viewer.is_running():
        sleep(0.01)


def test_values_travel_with_their_steps(tmp_path: Path) -> None:
    """What was plotted before a reset is gone with its steps; what was plotted before and after `sync` is there."""
    model, data = load()
    expected: dict[str, list[float]] = {"reward/late": [], "reward/early": []}
    driven = DrivenViewer(model, data, read_channels, tmp_path, str(STEPS - RESET), wait=True)
    with driven as viewer:
        for step in range(STEPS):
            if step == RESET:
                mujoco.mj_resetData(model, data)
                viewer.sync()
                expected = {name: [] for name in expected}
            mujoco.mj_step(model, data)
            viewer.plot("reward/early", math.sin(step), "N")
            viewer.sync()
            viewer.plot("reward/late", step)
            viewer.plot("flag", step % 2 == 0)
            expected["reward/early"].append(math.sin(step))
            expected["reward/late"].append(step)
        wait_until_closed(viewer)
    times, channels = driven.result
    for name, values in expected.items():
        unit, at, found = channels[name]
        assert unit == ("N" if name == "reward/early" else "")
        assert found == values
        assert at == pytest.approx(times[1:], abs=1e-12)
    assert set(channels["flag"][2]) == {0.0, 1.0}


def show_plots(ctx: Any, window: Window) -> Any:
    """In the window's process: a picture of the Plots panel."""
    wait(ctx, lambda: len(window.app.session.simulation.channels) == 3)
    wait(ctx, lambda: window.app.session.history is not None and window.app.session.history.last >= 500)
    screenshot(ctx, Path(driven_argument()))
    return list(window.app.session.simulation.channels.groups())


def test_channels_are_plotted_by_group_and_unit(tmp_path: Path) -> None:
    model, data = load("quadruped")
    picture = tmp_path / "plots.png"
    driven = DrivenViewer(model, data, show_plots, tmp_path, str(picture), wait=True)
    with driven as viewer:
        for _ in range(600):
            mujoco.mj_step(model, data)
            viewer.plot("reward/height", data.qpos[2])
            viewer.plot("reward/upright", 0.5 * math.cos(3 * data.time))
            viewer.plot("power", abs(data.qvel).sum(), "W")
            viewer.sync()
        wait_until_closed(viewer)
    assert driven.result == ["reward", "[W]"]


def pause_at_a_value(ctx: Any, window: Window) -> Any:
    """In the window's process: the step that is shown after a limit was passed, and the value of the channel there."""
    session = window.app.session
    session.add_limit(Limit("reward/feet_slip", -1.0, below=True))
    wait(ctx, lambda: session.paused)
    ctx.yield_(5)
    assert session.history is not None
    channel = session.simulation.channels["reward/feet_slip"]
    time = session.history.time(session.history.current)
    session.paused = False
    return (
        [notice.text for notice in window.app.notices.items],
        channel.value_at(time),
        channel.value_at(time - session.engine.timestep),
    )


def test_a_loop_is_held_when_a_value_passes_a_limit(tmp_path: Path) -> None:
    model, data = load()
    driven = DrivenViewer(model, data, pause_at_a_value, tmp_path, wait=True)
    with driven as viewer:
        step = 0
        while viewer.is_running():
            mujoco.mj_step(model, data)
            step += 1
            viewer.plot("reward/feet_slip", -0.01 * (step % 300))
            viewer.sync()
            sleep(0.001)
    notices, shown, before = driven.result
    assert any(text.startswith("paused: reward/feet_slip < -1: -1.01 at ") for text in notices)
    assert (shown, before) == pytest.approx((-1.01, -1.0))


def test_plot_refuses_what_is_no_number(tmp_path: Path) -> None:
    model, data = load()
    with DrivenViewer(model, data, close_at_once, tmp_path) as viewer:
        with pytest.raises(TypeError, match="plot takes a number, and reward is 'high'"):
            viewer.plot("reward", "high")  # type: ignore[arg-type]
        with pytest.raises(ValueError, match="at most 254 bytes"):
            viewer.plot("x" * 300, 1.0)
        for number in range(511):
            viewer.plot(f"c{number}", number)
        with pytest.raises(ValueError, match="plot takes at most 512 names"):
            viewer.plot("one more", 1.0)
        wait_until_closed(viewer)
    viewer.plot("after the end", 1.0)


def close_at_once(ctx: Any, window: Window) -> None:
    """In the window's process."""


def test_a_channel_keeps_the_last_value_of_a_time_and_forgets_what_is_old() -> None:
    channel = Channel(ChannelName("a/b", "N"))
    channel.extend(np.array([0.0, 0.1, 0.1, 0.05, 0.2]), np.array([1.0, 2.0, 3.0, 9.0, 4.0]))
    channel.extend(np.array([0.2, 0.3]), np.array([5.0, 6.0]))
    assert channel.times.tolist() == [0.0, 0.1, 0.2, 0.3]
    assert channel.values.tolist() == [1.0, 3.0, 5.0, 6.0]
    assert [channel.value_at(time) for time in (0.15, 0.2, 9.0)] == [3.0, 5.0, 6.0]
    assert math.isnan(channel.value_at(-1.0))
    channel.truncate(0.1)
    assert channel.values.tolist() == [1.0, 3.0]
    rng = np.random.default_rng(0)
    values = rng.normal(size=CAPACITY + 5000)
    channel = Channel(ChannelName("long"))
    for part in np.split(np.arange(len(values)), range(7000, len(values), 7000)):
        channel.extend(np.asarray(part * 0.002, np.float64), values[part])
    assert len(channel) == CAPACITY
    assert channel.values.tobytes() == values[-CAPACITY:].tobytes()
    times, reduced = channel.reduce(100.0, 1100.0, 300)
    starts = np.searchsorted(channel.times, times)
    stops = np.append(starts[1:], starts[-1] + 1)
    # The first and the last column reach beyond the part that was asked for.
    for low, high, start, stop in list(zip(reduced.low, reduced.high, starts, stops, strict=True))[1:-1]:
        assert low == np.float32(channel.values[start:stop].min())
        assert high == np.float32(channel.values[start:stop].max())
    assert 100 < len(times) <= 300


def test_groups_are_plots() -> None:
    channels = Channels()
    for name, unit in (("reward/a", ""), ("reward/b", ""), ("reward/c", "N"), ("loss", "")):
        channels.add(Samples(ChannelName(name, unit), np.zeros(1), np.ones(1)))
    assert {key: [c.name.label for c in group] for key, group in channels.groups().items()} == {
        "reward": ["a", "b"],
        "reward [N]": ["c"],
        "": ["loss"],
    }
    channels.clear()
    assert [len(channel) for channel in channels] == [0, 0, 0, 0]


@pytest.mark.alone
def test_a_value_costs_two_microseconds(tmp_path: Path) -> None:
    """In the user's thread, the least of several tries: other programs take time too."""
    model, data = load()
    with DrivenViewer(model, data, close_at_once, tmp_path) as viewer:
        least = math.inf
        for _ in range(20):
            began = perf_counter()
            for step in range(1000):
                viewer.plot("reward/feet_slip", step)
            least = min(least, (perf_counter() - began) / 1000)
        assert viewer.is_running()
        wait_until_closed(viewer)
    assert least < 2e-6
