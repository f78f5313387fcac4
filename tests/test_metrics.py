"""Metrics against physics, against brute force, and against what the window shows."""

from itertools import groupby
from typing import Any

import mujoco
import numpy as np
import pytest
from contact_viewer import ContactLayout, metrics, open_engine
from contact_viewer.engines.steps import Step
from contact_viewer.events.sensor_contacts import ForceTrigger, SensorContacts
from contact_viewer.sensors.contacts import ContactBatch
from contact_viewer.sensors.signals import Signal, measure_signals
from contact_viewer.session.session import Session
from contact_viewer.settings import ViewState
from hypothesis import given
from hypothesis import strategies as st

from .array_libraries import Library, assert_close, each_library, each_type

STEP = 0.002
TIMES = ("contact_time", "air_time", "last_contact_time", "last_air_time", "duty_factor", "contact_count")
FORCES = np.random.default_rng(3).choice([0.0, 0.4, 0.7, 1.2, 9.0, np.nan], size=(60, 4, 2))
BALL = """
<mujoco>
  <option timestep="0.001" cone="elliptic"/>
  <worldbody>
    <geom name="floor" type="plane" size="9 9 .1" friction="{friction}"/>
    <body name="b" pos="0 0 {height}">
      {joint}<geom name="b" type="{shape}" size="{size}" mass="2" solref="{solref}" friction="{friction}"/>
    </body>
  </worldbody>
  <sensor><contact name="c" geom1="floor" geom2="b" num="{num}" data="found force pos normal tangent linvel"/></sensor>
</mujoco>"""


def record(steps: int, speed: float = 0.0, **options: Any) -> tuple[ContactLayout, np.ndarray, np.ndarray, np.ndarray]:
    """Layout, arrays, positions and velocities of the body, (steps, ...); each step's before it was taken."""
    settings = {
        "friction": "0.5",
        "height": ".6",
        "shape": "sphere",
        "solref": ".01 .3",
        "num": "4",
        "size": ".1",
        "joint": "<freejoint/>",
    } | options
    model = mujoco.MjModel.from_xml_string(BALL.format(**settings))
    data = mujoco.MjData(model)
    data.qvel[0] = speed
    arrays, positions, velocities = [], [], []
    for _ in range(steps):
        positions.append(data.qpos[:3].copy())
        velocities.append(data.qvel[:3].copy())
        mujoco.mj_step(model, data)
        arrays.append(data.sensordata.copy())
    return ContactLayout.from_mujoco(model, "c"), np.array(arrays), np.array(positions), np.array(velocities)


def check_window(forces: np.ndarray, min_steps: int) -> tuple[np.ndarray, metrics.ContactTimes]:
    """What the window makes of forces: debounced contact in each step, and the times after the last."""
    trigger = ForceTrigger(forces.shape[1], 1.0, 0.5, min_steps * STEP, STEP)
    states = []
    for step, row in enumerate(forces):
        trigger.update(step * STEP, row)
        states.append(trigger.debounced)
    timing = metrics.start_times(states[0], STEP)
    for state in states[1:]:
        timing = timing.next(state)
    return np.array(states), timing


@given(st.lists(st.sampled_from([0.0, 0.4, 0.5, 0.7, 1.0, 1.2, np.nan]), min_size=1, max_size=60), st.integers(0, 5))
def test_contact_is_the_windows(forces: list[float], min_steps: int) -> None:
    column = np.array(forces)[:, np.newaxis]
    states, timing = check_window(column, min_steps)
    contact = metrics.in_contact(column, 1.0, 0.5, min_steps)
    np.testing.assert_array_equal(contact, states)
    times = metrics.contact_times(contact, STEP)
    for name in TIMES:
        np.testing.assert_array_equal(getattr(times, name)[-1], getattr(timing, name), err_msg=name)
    runs = [(value, len(list(run))) for value, run in groupby(contact[:, 0].tolist())]
    assert times.first_contact.sum() == sum(value for value, _ in runs[1:])
    assert times.first_air.sum() == sum(not value for value, _ in runs[1:])


@each_type
def test_times_in_every_library(library: Library, dtype: str) -> None:
    forces = library.array(FORCES, dtype)

    def measure(forces: Any) -> list[Any]:
        contact = metrics.in_contact(forces, min_steps=2)
        times = metrics.contact_times(contact, STEP, like=forces)
        return [contact, *(getattr(times, name) for name in TIMES), times.first_contact, times.first_air]

    for ours, expected in zip(library.run(measure, forces), measure(FORCES), strict=True):
        assert_close(library, ours, expected, dtype)


@each_library
def test_step_by_step_is_the_same(library: Library) -> None:
    whole_contact = metrics.in_contact(FORCES)
    whole = metrics.contact_times(whole_contact, STEP)

    def advance(contact: Any, times: Any, forces: Any) -> Any:
        contact = metrics.next_in_contact(contact, forces)
        return contact, times.next(contact)

    step = library.load().jit(advance) if library.name == "jax" else advance
    forces = library.array(FORCES)
    contact = forces[0, ...] > metrics.ON
    times = metrics.start_times(contact, STEP, like=forces)
    for k in range(1, len(FORCES)):
        contact, times = step(contact, times, forces[k, ...])
        np.testing.assert_array_equal(library.numpy(contact), whole_contact[k])
        for name in (*TIMES, "first_contact", "first_air"):
            np.testing.assert_array_equal(library.numpy(getattr(times, name)), getattr(whole, name)[k], err_msg=name)
    # An environment that is reset begins again; the others go on.
    done = np.array([True, False, False, True])[:, np.newaxis] & np.ones((4, 2), bool)
    again = times.restarted(library.array(done, "bool"))
    np.testing.assert_array_equal(library.numpy(again.steps), np.where(done, 1, len(FORCES)))
    np.testing.assert_array_equal(library.numpy(again.last_air_time)[1], whole.last_air_time[-1, 1])
    assert not library.numpy(again.last_air_time)[0].any()


@each_library
def test_impulse_and_air_times_of_a_bouncing_ball(library: Library) -> None:
    layout, arrays, positions, velocities = record(1500)
    batch = layout.decode(library.array(arrays))
    # Newton: what the floor gave is the change of momentum, and what gravity took.
    impulse = library.numpy(metrics.impulse(batch.net_force, 0.001))
    # The last velocity is that before the last step, whose impulse is not in it.
    gained = 2.0 * (velocities[-1] - velocities[0]) + 2.0 * np.array([0, 0, 9.81]) * 0.001 * (len(arrays) - 1)
    last = library.numpy(batch.net_force)[-1] * 0.001
    np.testing.assert_allclose(impulse - last, gained, atol=1e-9)
    forces = metrics.force(batch)
    times = metrics.contact_times(metrics.in_contact(forces), 0.001)
    landed = library.numpy(times.first_contact).nonzero()[0]
    assert len(landed) >= 3
    # The first flight is the fall from 0.5 m, the second a throw with the speed of the rebound.
    air = library.numpy(times.last_air_time)
    assert air[landed[0]] == pytest.approx(np.sqrt(2 * 0.5 / 9.81), abs=0.002)
    lifted = library.numpy(times.first_air).nonzero()[0]
    start, end = lifted[0], landed[1]
    speed, height = velocities[start, 2], positions[start, 2] - positions[end, 2]
    assert air[end] == pytest.approx((speed + np.sqrt(speed**2 + 2 * 9.81 * height)) / 9.81, abs=0.0015)
    duty = library.numpy(times.duty_factor)[-1]
    assert duty == pytest.approx((library.numpy(forces) > 0.5).mean(), abs=0.01)
    assert library.numpy(metrics.peak(forces)) == library.numpy(forces).max()


@each_library
def test_slip_of_a_sliding_box(library: Library) -> None:
    # On a rail just below the floor, or it would hop.
    joint = '<joint type="slide" axis="1 0 0"/>'
    layout, arrays, positions, velocities = record(
        800, speed=1.0, shape="box", size=".3 .3 .01", height=".0099", solref=".1 1", friction="0.4", joint=joint
    )
    batch = layout.decode(library.array(arrays))
    speed = metrics.slip_speed(batch)
    way = library.numpy(metrics.slip_distance(speed, 0.001))
    # Friction takes all of its momentum.
    assert library.numpy(metrics.impulse(batch.net_force, 0.001))[0] == pytest.approx(-2.0, rel=1e-6)
    # Speeds are those before a step, which begins with 1 m/s and ends with 0.
    assert way[-1] - 0.001 == pytest.approx(positions[-1, 0] - positions[0, 0], rel=1e-3)
    stop = int((velocities[:, 0] > 0.1).sum())
    middle = slice(5, stop)
    np.testing.assert_allclose(library.numpy(speed)[middle], velocities[middle, 0], rtol=1e-6)
    slides = library.numpy(metrics.sliding(batch, 0.4))
    assert slides[middle].any(axis=-1).all()
    assert not slides[-100:].any()
    only = library.numpy(metrics.slip_speed(batch, library.array(slides, "bool")))
    assert np.nansum(only) * 0.001 == pytest.approx(way[-1], rel=0.02)
    assert not np.nansum(only[-100:])


@each_library
def test_dropped_contacts(library: Library) -> None:
    layout, arrays, _, _ = record(300, shape="box", size=".1 .1 .1", height=".0999", solref=".02 1", num="3")
    batch = layout.decode(library.array(arrays))
    assert library.numpy(metrics.dropped(batch))[-1] == 1
    assert not library.numpy(metrics.dropped(batch, "netforce")).any()


@pytest.mark.parametrize("scene", ["bounce", "targets"])
def test_equal_to_what_the_window_shows(scene: str) -> None:
    """Times, peaks, slip and dropped contacts of the window's own tables, curves and log."""
    engine = open_engine(scene)
    session = Session(engine, ViewState(), keeps_history=False)
    tracked = SensorContacts(engine, metrics.ON, metrics.OFF, 0.0)
    batches: dict[str, list[Any]] = {name: [] for name in engine.sensors.names}
    entries = []
    for _ in range(600):
        start = engine.time
        engine.step(1)
        entries += tracked.add(Step(engine), start)
        for name in batches:
            batches[name].append(engine.contacts(name))
    entries += tracked.flush()
    for i, (name, steps) in enumerate(batches.items()):
        reduce = engine.sensors[name].reduce
        batch = type(steps[0]).stack(steps)
        forces = metrics.force(batch, reduce)
        contact = metrics.in_contact(forces)
        times = metrics.contact_times(contact, engine.timestep)
        for quantity in TIMES:
            assert getattr(times, quantity)[-1] == getattr(tracked.timing, quantity)[i], quantity
        if not batch.in_world_frame:
            shown = measure_signals(batch)[list(Signal).index(Signal.SLIP)]
            np.testing.assert_allclose(metrics.slip_speed(batch), shown)
        assert metrics.dropped(batch, reduce)[-1] == session.reading(name).dropped
        begun = [entry for entry in entries if entry.sensor == i and not entry.contact.lasting]
        for entry in begun:
            first, last = (round(time / engine.timestep) for time in (entry.contact.begin, entry.contact.end))
            assert metrics.peak(forces[first:last], contact[first:last]) == entry.contact.peak_force
    assert any(entry.contact.peak_force > 0 for entry in entries)


def test_what_is_missing_is_named() -> None:
    batch = ContactLayout("found force", 2).decode(np.zeros((4, 8)))
    with pytest.raises(ValueError, match="normal and tangent"):
        metrics.force(batch)
    with pytest.raises(ValueError, match="off must be above 0"):
        metrics.in_contact(np.zeros(3), 1.0, 2.0)
    with pytest.raises(ValueError, match="single contacts"):
        metrics.sliding(ContactLayout("force", 1, "netforce").decode(np.zeros(3)), 1.0)
    with pytest.raises(ValueError, match="unknown reduce mode"):
        metrics.dropped(batch, "some")


def test_slip_speed_without_velocities_says_why() -> None:
    batch = ContactLayout("found force", 2).decode(np.ones((4, 8)))
    with pytest.raises(ValueError, match="slip speed needs velocities: add linvel to the sensor's data"):
        metrics.slip_speed(batch)
    with pytest.raises(ValueError, match="slip speed needs single contacts"):
        metrics.slip_speed(ContactLayout("force", 1, "netforce").decode(np.ones(3)))


def test_creep_adds_up_to_the_way_that_held_things_move_and_sway_to_nothing() -> None:
    steps, timestep = 200, 0.01
    times = np.arange(steps) * timestep
    speed = np.stack([np.full(steps, 0.002), 0.05 * np.cos(2 * np.pi * times)], axis=1)
    zero = np.zeros((steps, 2, 1, 1))
    batch = ContactBatch(
        found=np.ones((steps, 2)),
        filled=np.ones((steps, 2, 1), bool),
        force=np.concatenate([zero + 5.0, zero, zero], axis=-1),
        normal=np.concatenate([zero, zero, zero + 1], axis=-1),
        tangent0=np.concatenate([zero + 1, zero, zero], axis=-1),
        linvel=np.concatenate([zero + 9.0, zero + speed[:, :, None, None], zero], axis=-1),
    )
    held, slides = np.zeros((steps, 2, 1), bool), np.ones((steps, 2, 1), bool)
    assert metrics.creep_speed(batch, held) == pytest.approx(np.abs(speed))
    way = metrics.creep_distance(metrics.creep_velocity(batch, held), timestep)
    assert way[-1] == pytest.approx([0.004, 0.0], abs=1e-9)
    assert metrics.creep_speed(batch, slides).max() == 0.0


@pytest.mark.parametrize("mode", ["none", "mindist", "maxforce", "netforce"])
def test_the_force_on_a_sensor_knows_its_reduce_mode(mode: str) -> None:
    """Two slopes press a ball from both sides: what the modes make of its contacts differs."""
    groove = """
<mujoco>
  <worldbody>
    <geom name="g1" type="plane" size="5 5 .1" zaxis="1 0 1"/>
    <geom name="g2" type="plane" size="5 5 .1" zaxis="-1 0 1.5"/>
    <body name="b" pos="0 0 .15"><freejoint/><geom name="b" type="sphere" size=".1" mass="2"/></body>
  </worldbody>
  <sensor><contact name="c" body2="b" num="3" reduce="{}" data="found force pos normal tangent"/></sensor>
</mujoco>"""
    model = mujoco.MjModel.from_xml_string(groove.format(mode))
    data = mujoco.MjData(model)
    mujoco.mj_step(model, data, 2000)
    batch = ContactLayout.from_mujoco(model, "c").decode(data.sensordata)
    forces, wrench = [], np.zeros(6)
    for i, contact in enumerate(data.contact):
        mujoco.mj_contactForce(model, data, i, wrench)
        forces.append(contact.frame.reshape(3, 3).T @ wrench[:3] * (1 if contact.geom[1] == 2 else -1))
    assert len(forces) == 2
    sizes = np.linalg.norm(forces, axis=1)
    expected = sizes.max() if mode == "maxforce" else np.linalg.norm(np.sum(forces, axis=0))
    assert metrics.force(batch) == pytest.approx(expected)
    assert metrics.force(batch.cut(0, 3)) == pytest.approx(expected)
    assert not metrics.dropped(batch).any()
    assert sizes.max() < 0.9 * np.linalg.norm(np.sum(forces, axis=0))
