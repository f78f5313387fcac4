"""Precise instants of events: against falls in closed form, and against steps that this test takes itself."""

import math
from typing import Any

import mujoco
import numpy as np
import pytest
from contact_viewer.engines.mujoco.engine import MujocoEngine
from contact_viewer.engines.mujoco.substep import MujocoSubsteps
from contact_viewer.engines.registry import open_engine
from contact_viewer.engines.steps import Step
from contact_viewer.events.event_log import LogEntry
from contact_viewer.events.tracker import ContactTracker, TrackingOptions
from contact_viewer.mjmodel.distances import PairDistances
from contact_viewer.mjmodel.pair_selection import all_pairs

G = 9.81
STEP = 0.002
SCENE = """
<mujoco>
  <option timestep="0.002" integrator="{integrator}" gravity="0 0 -9.81"/>
  <worldbody>
    <geom name="floor" type="plane" size="2 2 .1"/>
    <body name="body" pos="0 0 {height}" {turn}><freejoint/><geom name="body" {geom} solref=".004 .2"/></body>
  </worldbody>
  <actuator><motor name="lift" site="s" gear="0 0 1 0 0 0"/></actuator>
</mujoco>
"""
BALL = 'size=".1"'
BOX = 'type="box" size=".1 .06 .04"'


def open_scene(height: float, integrator: str = "Euler", geom: str = BALL, turn: str = "") -> Any:
    text = SCENE.format(height=height, integrator=integrator, geom=geom, turn=turn)
    text = text.replace("</body>", '<site name="s"/></body>')
    return open_engine(mujoco.MjModel.from_xml_string(text))


def track(engine: Any, steps: int, precise: bool = True, eps: float = 1e-8) -> list[LogEntry]:
    tracker = ContactTracker(engine, options=TrackingOptions(eps=eps, precise=precise))
    for _ in range(steps):
        engine.step()
        tracker.after_step(Step(engine))
    return [entry for entry in tracker.log if entry.pair_id is not None]


def euler_root(height: float) -> float:
    """When Euler's discrete fall, with a last step cut short, has come a height."""
    n = math.floor((math.sqrt(1 + 8 * height / (G * STEP**2)) - 1) / 2)
    left, speed = height - G * STEP**2 * n * (n + 1) / 2, G * n * STEP
    return n * STEP + (-speed + math.sqrt(speed**2 + 4 * G * left)) / (2 * G)


@pytest.mark.parametrize("height", [0.05, 0.4, 1.0, 3.0])
@pytest.mark.parametrize("integrator", ["Euler", "implicitfast", "RK4"])
def test_ball_drop(height: float, integrator: str) -> None:
    root = math.sqrt(2 * height / G) if integrator == "RK4" else euler_root(height)
    steps = round(root / STEP) + 5
    exact = track(open_scene(height + 0.1, integrator), steps)[0]
    assert exact.kind == "begin"
    assert exact.time == pytest.approx(root, abs=1e-9)
    assert 0 < exact.event.distance < 1e-12  # type: ignore[union-attr]
    assert exact.approach_speed == pytest.approx(math.sqrt(2 * G * height), rel=1e-3)
    interpolated = track(open_scene(height + 0.1, integrator), steps, precise=False)[0]
    assert interpolated.time == pytest.approx(root, abs=1e-9)
    assert interpolated.approach_speed == pytest.approx(math.sqrt(2 * G * height), rel=1e-3)


@pytest.mark.parametrize("integrator", ["Euler", "RK4"])
def test_the_simulation_is_left_bit_for_bit(integrator: str) -> None:
    plain, followed, precise = (open_scene(0.6, integrator, BOX, 'euler="20 35 10"') for _ in range(3))
    plain.step(1000)
    coarse, fine = track(followed, 1000, precise=False), track(precise, 1000)
    assert len(fine) == len(coarse) > 4
    for engine in (followed, precise):
        for name in ("qpos", "qvel", "qacc_warmstart", "sensordata", "efc_force", "geom_xpos"):
            assert getattr(engine.data, name).tobytes() == getattr(plain.data, name).tobytes(), name
        assert engine.model.opt.timestep == plain.model.opt.timestep


def test_a_tumbling_box_is_located_where_a_cut_step_just_touches() -> None:
    engine = open_scene(0.6, geom=BOX, turn='euler="20 35 10"')
    engine.data.qvel[3:] = 4.0, -7.0, 3.0
    model = engine.model
    tracker = ContactTracker(engine, options=TrackingOptions(precise=True))
    size = mujoco.mj_stateSize(model, mujoco.mjtState.mjSTATE_INTEGRATION)
    states = []
    while not tracker.log.entries:
        states.append((engine.time, np.empty(size)))
        mujoco.mj_getState(model, engine.data, states[-1][1], mujoco.mjtState.mjSTATE_INTEGRATION)
        engine.step()
        tracker.after_step(Step(engine))
    entry = tracker.log.entries[0]
    before, state = max((pair for pair in states if pair[0] < entry.time), key=lambda pair: pair[0])
    data = mujoco.MjData(model)

    def distance_at(time: float) -> float:
        mujoco.mj_setState(model, data, state, mujoco.mjtState.mjSTATE_INTEGRATION)
        model.opt.timestep = time - before
        mujoco.mj_step(model, data)
        mujoco.mj_kinematics(model, data)
        model.opt.timestep = STEP
        return float(mujoco.mj_geomDistance(model, data, 0, 1, 1.0, None))

    low, high = before, before + STEP
    for _ in range(60):
        middle = (low + high) / 2
        low, high = (middle, high) if distance_at(middle) > 0 else (low, middle)
    assert entry.time == pytest.approx(low, abs=1e-12)
    assert 0 <= entry.event.distance < 1e-12  # type: ignore[union-attr]
    # The rate of change of the motion between whole steps, which does not jump from step to step.
    mean = (distance_at(before + STEP) - tracker_distance(model, data, states, before)) / STEP
    assert -entry.approach_speed == pytest.approx(mean, rel=0.05)


def tracker_distance(model: Any, data: Any, states: list[Any], time: float) -> float:
    state = next(state for at, state in states if at == time)
    mujoco.mj_setState(model, data, state, mujoco.mjtState.mjSTATE_INTEGRATION)
    mujoco.mj_kinematics(model, data)
    return float(mujoco.mj_geomDistance(model, data, 0, 1, 1.0, None))


def test_what_was_put_in_before_the_step_counts() -> None:
    times = []
    for lift in (0.0, 60.0):
        engine = open_scene(0.3)
        tracker = ContactTracker(engine, options=TrackingOptions(precise=True))
        while not tracker.log.entries:
            # Changed between the watcher's call and the step, as a hand or a controller does.
            engine.data.xfrc_applied[1, 2] = lift * math.sin(200 * engine.time)
            engine.data.ctrl[0] = lift * math.cos(90 * engine.time)
            engine.step()
            tracker.after_step(Step(engine))
        event: Any = tracker.log.entries[0].event
        # Interpolation would say 0 without having looked.
        assert 0 < event.distance < 1e-12
        times.append(event.time)
    assert abs(times[0] - times[1]) > 1e-3


def test_a_state_changed_by_hand_is_interpolated() -> None:
    engine = open_scene(0.5)
    tracker = ContactTracker(engine, options=TrackingOptions(precise=True))
    for _ in range(20):
        engine.step()
        tracker.after_step(Step(engine))
    engine.data.qpos[2], engine.data.qvel[2] = 0.105, -5.0
    for _ in range(3):
        engine.step()
        tracker.after_step(Step(engine))
    event: Any = tracker.log.entries[0].event
    assert event.distance == 0.0
    # The step from which it falls: 5 mm at 5 m/s.
    assert event.time == pytest.approx(0.04 + 0.001, abs=1e-5)


def test_a_hand_that_moves_a_falling_ball_is_noticed() -> None:
    engine = open_scene(0.5)
    tracker = ContactTracker(engine, options=TrackingOptions(precise=True))
    while True:
        gap, speed = engine.data.qpos[2] - 0.1, -engine.data.qvel[2]
        if gap < 0.5 * speed * STEP:
            break
        engine.step()
        tracker.after_step(Step(engine))
    # Moved within the last step before it lands: the saved state would land too, but earlier.
    moved, start = 0.3 * speed * STEP, engine.time
    engine.data.qpos[2] += moved
    for _ in range(3):
        engine.step()
        tracker.after_step(Step(engine))
    event: Any = tracker.log.entries[0].event
    assert event.time == pytest.approx(start + (gap + moved) / speed, abs=1e-5)


def test_the_first_step_is_located_too() -> None:
    engine = open_scene(0.1 + 1e-5)
    engine.data.qvel[2] = -1.0
    entries = track(engine, 5)
    assert entries[0].time == pytest.approx(1e-5, abs=1e-8)
    assert 0 <= entries[0].event.distance < 1e-12  # type: ignore[union-attr]


def test_ends_are_located_too() -> None:
    fine, coarse = (track(open_scene(0.5), 800, precise) for precise in (True, False))
    ends = [(one, other) for one, other in zip(fine, coarse, strict=True) if one.kind == "end"]
    assert len(ends) >= 2
    for exact, near in ends:
        assert -1e-12 < exact.event.distance <= 0  # type: ignore[union-attr]
        # The contact force still acts in that step: a straight line misses a parabola by a quarter of it at most.
        assert near.time == pytest.approx(exact.time, abs=STEP / 4)
        assert exact.contact.duration(math.nan) == pytest.approx(exact.event.duration, abs=1e-12)


def test_a_wide_band_is_located_at_its_own_threshold() -> None:
    # Laid down so softly that it sinks through the band of 2 eps over many steps.
    model = mujoco.MjModel.from_xml_string("""
        <mujoco>
          <option gravity="0 0 -.01"/>
          <worldbody>
            <geom name="floor" type="plane" size="2 2 .1"/>
            <body pos="0 0 .1001"><freejoint/><geom name="ball" size=".1" solref="1 1" solimp="0 .01 .1"/></body>
          </worldbody>
        </mujoco>""")
    (entry, *_) = track(open_engine(model), 2000, eps=1e-4)
    assert entry.event.distance == pytest.approx(-2e-4, abs=1e-12)  # type: ignore[union-attr]


def test_unknown_steps_are_not_located() -> None:
    engine = open_scene(0.5)
    assert isinstance(engine, MujocoEngine)
    choice = all_pairs(engine.model)
    replay = MujocoSubsteps(engine.model, PairDistances(engine.model, choice, 1e-8))
    assert replay.locate(0, 0.0, STEP, 0.0) is None
    replay.save(engine.data)
    engine.step()
    replay.save(engine.data)
    # Both known, but nothing crosses in between.
    assert replay.locate(0, 0.0, STEP, 0.0) is None
    replay.reset()
    assert replay.locate(0, 0.0, STEP, 0.0) is None
