"""Many environments that another engine steps, and a window on one of them."""

import time
from functools import partial
from pathlib import Path
from typing import Any

import mujoco
import numpy as np
import pytest
from contact_viewer import ContactLayout, launch_batch
from contact_viewer.events.contact_events import EventKind
from contact_viewer.passive.batch import BatchViewer
from contact_viewer.window.window import Window
from imgui_bundle import imgui

from ..window.driver import wait
from .loops import DrivenBatch, load, press

ENVS = 6
COMPLETE = "found force dist pos normal tangent"


class OtherEngine:
    """Steps boxes on a floor, and says other forces than MuJoCo does."""

    def __init__(self, fields: str = COMPLETE) -> None:
        self.model = mujoco.MjModel.from_xml_string(f"""
            <mujoco>
              <option timestep=".004"/>
              <worldbody>
                <light pos="0 0 3"/>
                <geom name="floor" type="plane" size="2 2 .1"/>
                <body name="box" pos="0 0 .1"><freejoint/><geom name="box" type="box" size=".1 .1 .1" mass="2"/></body>
              </worldbody>
              <sensor>
                <contact name="all" geom1="floor" geom2="box" num="4" data="{fields}"/>
                <contact name="force alone" geom1="floor" geom2="box" num="4" data="found force"/>
                <contact name="net" geom1="floor" geom2="box" reduce="netforce" data="found force"/>
              </sensor>
            </mujoco>""")
        self.datas = [mujoco.MjData(self.model) for _ in range(ENVS)]
        for env, data in enumerate(self.datas):
            data.qpos[0] = 0.1 * env

    def step(self) -> None:
        for data in self.datas:
            mujoco.mj_step(self.model, data)

    def batch(self, name: str) -> Any:
        return np.array([getattr(data, name) for data in self.datas])

    @property
    def sensordata(self) -> Any:
        """Every force is larger than MuJoCo's, by another factor in each environment."""
        rows = self.batch("sensordata")
        for sensor in ("all", "force alone", "net"):
            layout = ContactLayout.from_mujoco(self.model, sensor)
            start = int(self.model.sensor(sensor).adr[0])
            for env, row in enumerate(rows):
                for slot in range(layout.slots):
                    at = start + slot * layout.slot_size + 1
                    row[at : at + 3] *= 2.0 + env
        return rows

    def sync(self, viewer: BatchViewer, **arrays: Any) -> None:
        given = {name: self.batch(name) for name in ("qpos", "qvel", "time")}
        viewer.sync(**given, **arrays)


def net_forces(window: Window) -> dict[str, list[float]]:
    session = window.app.session
    return {name: list(session.reading(name).net_force) for name in session.engine.sensors.names}


def look_around(ctx: Any, window: Window) -> Any:
    session = window.app.session
    assert session.num_envs == ENVS

    def shown(env: int) -> bool:
        return bool(abs(session.engine.data.qpos[0] - 0.1 * env) < 1e-3) and session.history.last > 5  # type: ignore[union-attr]

    wait(ctx, lambda: shown(0))
    marks = {sensor.name: (sensor.solved_again, sensor.placed_again) for sensor in session.engine.sensors}
    net = session.engine.contacts("net")
    assert net.pos is not None
    place = net.pos[net.filled].tolist()
    first = net_forces(window)
    assert session.history is not None
    # A past step has what was said then.
    session.go_to(3)
    past = net_forces(window)
    session.go_to(session.history.last)
    press(ctx, imgui.Key.period)
    assert session.env == 1
    wait(ctx, lambda: shown(1))
    second = net_forces(window)
    session.show_environment(ENVS - 1)
    wait(ctx, lambda: shown(ENVS - 1))
    last = net_forces(window)
    session.set_reduce("all", "maxforce")
    switched = session.engine.sensors["all"].solved_again
    return {
        "place": place,
        "first": first,
        "past": past,
        "second": second,
        "last": last,
        "marks": marks,
        "switched": switched,
    }


def test_the_window_shows_what_the_engine_says_of_the_chosen_environment(tmp_path: Path) -> None:
    theirs = OtherEngine()
    driven = DrivenBatch(theirs.model, look_around, tmp_path)
    while driven.viewer.is_running():
        theirs.step()
        theirs.sync(driven.viewer, sensordata=theirs.sensordata)
        time.sleep(0.005)
    result = driven.finish()
    weight = 2.0 * 9.81
    # At rest a box presses with its weight; its engine says twice that, three times, seven times.
    for seen, factor in (("first", 2), ("second", 3), ("last", 7)):
        np.testing.assert_allclose(result[seen]["all"], [0, 0, factor * weight], atol=0.05 * weight)
        # Where contacts are is not said: solved again, and marked.
        np.testing.assert_allclose(result[seen]["force alone"], [0, 0, weight], atol=0.05 * weight)
    assert result["past"]["all"][2] > 1.5 * weight
    for seen, factor in (("first", 2), ("second", 3), ("last", 7)):
        # Nor where a net force acts: it is the engine's own, drawn where the contacts are.
        np.testing.assert_allclose(result[seen]["net"], [0, 0, factor * weight], atol=0.05 * weight)
    np.testing.assert_allclose(result["place"], [[0, 0, 0]], atol=2e-3)
    assert result["marks"] == {"all": [False, False], "force alone": [True, False], "net": [False, True]}
    assert result["switched"]


def read_channel(ctx: Any, window: Window) -> Any:
    """In the window's process: a channel of two environments, one after the other."""
    session = window.app.session
    seen = []

    def arrived(place: float) -> bool:
        return bool(abs(session.engine.data.qpos[0] - place) < 1e-3)

    for env in (0, 2):
        session.show_environment(env)
        wait(ctx, partial(arrived, 0.1 * env))
        wait(ctx, lambda: session.history is not None and session.history.last > 20)
        wait(ctx, lambda: "reward" in session.simulation.channels and len(session.simulation.channels["reward"]) > 0)
        seen.append(set(session.simulation.channels["reward"].values.tolist()))
    return [sorted(values) for values in seen]


def test_of_an_array_of_values_that_of_the_shown_environment_is_plotted(tmp_path: Path) -> None:
    theirs = OtherEngine()
    driven = DrivenBatch(theirs.model, read_channel, tmp_path)
    while driven.viewer.is_running():
        theirs.step()
        theirs.sync(driven.viewer)
        driven.viewer.plot("reward", 10.0 * np.arange(ENVS))
        driven.viewer.plot("loss", 0.5)
        time.sleep(0.005)
    assert driven.finish() == [[0.0], [20.0]]


def see_all_marked(ctx: Any, window: Window) -> Any:
    session = window.app.session
    wait(ctx, lambda: session.history is not None and session.history.last > 3)
    return [sensor.solved_again for sensor in session.engine.sensors], net_forces(window)


def test_without_sensordata_all_is_solved_again_and_marked(tmp_path: Path) -> None:
    theirs = OtherEngine()
    driven = DrivenBatch(theirs.model, see_all_marked, tmp_path)
    while driven.viewer.is_running():
        theirs.step()
        theirs.sync(driven.viewer)
        time.sleep(0.005)
    marks, forces = driven.finish()
    assert marks == [True, True, True]
    np.testing.assert_allclose(forces["all"][2], 2 * 9.81, rtol=0.05)


def see_times(ctx: Any, window: Window) -> Any:
    session = window.app.session
    history, events = session.history, session.events
    assert history is not None
    assert events is not None
    wait(ctx, lambda: history.last > 40)
    session.go_to(20)
    past = session.engine.time
    # Steps arrive also while another one is looked at.
    wait(ctx, lambda: history.last > 60)
    times, seconds = history.times(np.arange(history.first, history.last + 1)), history.seconds
    at = history.step_at(float(times[20]))
    landed = [entry.time for entry in events.log if entry.sensor == 0 and entry.kind is EventKind.BEGIN]
    air = float(events.sensors.timing.last_air_time[0])
    return {"times": times.tolist(), "at": at, "seconds": seconds, "landed": landed, "air": air, "past": past}


@pytest.mark.parametrize("uneven", [False, True])
def test_curves_history_and_events_use_the_times_that_were_handed_over(uneven: bool, tmp_path: Path) -> None:
    """Several steps a sync, as frameworks with decimation do."""
    theirs, given = OtherEngine(), []
    for data in theirs.datas:
        data.qpos[2] = 0.3
    driven = DrivenBatch(theirs.model, see_times, tmp_path)
    while driven.viewer.is_running():
        theirs.sync(driven.viewer)
        given.append(theirs.datas[0].time)
        for _ in range(5 + len(given) % 3 if uneven else 5):
            theirs.step()
        time.sleep(0.005)
    seen = driven.finish()
    times = seen["times"]
    np.testing.assert_allclose(times, given[: len(times)], atol=1e-6)
    assert seen["seconds"] == pytest.approx(times[-1] - times[0])
    assert (seen["at"], seen["past"]) == (20, pytest.approx(given[20]))
    # Dropped from 0.2 m.
    falling = np.sqrt(2 * 0.2 / 9.81)
    assert seen["landed"][0] == pytest.approx(falling, abs=0.03)
    if not uneven:
        assert seen["air"] == pytest.approx(falling, abs=0.03)


def test_arrays_that_do_not_fit_are_refused() -> None:
    model, _ = load("bounce")
    with launch_batch(model, 4) as viewer:
        qpos = np.zeros((4, model.nq))
        viewer.sync(qpos=qpos, time=0.5)
        for name, array in (("qpos", qpos[0]), ("qpos", qpos[:3]), ("qpos", qpos[:, 1:]), ("sensordata", qpos)):
            with pytest.raises(ValueError, match=rf"{name} is \(4, \d+\), not"):
                viewer.sync(**{"qpos": qpos, name: array})
        with pytest.raises(TypeError, match="sync takes no 'qfrc'"):
            viewer.sync(qpos=qpos, qfrc=qpos)
        with pytest.raises(ValueError, match="no environment 4"):
            viewer.env = 4
    with pytest.raises(ValueError, match="at least 1"):
        launch_batch(model, 0)


def see_bad_environments(ctx: Any, window: Window) -> Any:
    session = window.app.session
    wait(ctx, lambda: session.history is not None and session.history.last > 20)
    wait(ctx, lambda: session.paused)
    ctx.yield_(3)
    assert session.history is not None
    notices = [notice.text for notice in window.app.notices.items]
    finite = bool(np.isfinite(session.engine.data.qpos).all())
    session.paused = False
    return notices, session.history.last, finite


def test_environments_that_went_bad_are_named(tmp_path: Path) -> None:
    theirs = OtherEngine()
    driven = DrivenBatch(theirs.model, see_bad_environments, tmp_path)
    step = 0
    while driven.viewer.is_running():
        theirs.step()
        step += 1
        qpos = theirs.batch("qpos")
        if step > 400:
            qpos[[0, 2], 2] = np.nan
        driven.viewer.sync(qpos=qpos, qvel=theirs.batch("qvel"), time=theirs.batch("time"))
        time.sleep(0.002)
    notices, last, finite = driven.finish()
    assert any("the positions of environments 0, 2 are no numbers" in text for text in notices)
    assert finite
    assert last >= 20
