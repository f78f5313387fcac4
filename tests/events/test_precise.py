"""Instants that are found by taking steps again in parts, against a bisection with MuJoCo alone."""

import mujoco
import numpy as np
import pytest
from contact_viewer import open_engine
from contact_viewer.engines.steps import Step
from contact_viewer.events.tracker import ContactTracker, TrackingOptions

TUMBLE = """
<mujoco>
  <option timestep="0.005"/>
  <worldbody>
    <geom name="floor" type="plane" size="5 5 .1"/>
    <body pos="0 0 .6" euler="20 10 0"><freejoint/>
      <geom name="rod" type="capsule" size=".03 .25" solref="-8000 -5"/></body>
  </worldbody>
</mujoco>"""
STATE = int(mujoco.mjtState.mjSTATE_INTEGRATION)


def distance_after(model: mujoco.MjModel, state: np.ndarray, part: float) -> float:
    """Distance of the two geoms after a part of a step from a state [m]."""
    data, step = mujoco.MjData(model), model.opt.timestep
    mujoco.mj_setState(model, data, state, STATE)
    if part > 0:
        model.opt.timestep = part
        mujoco.mj_step(model, data)
        model.opt.timestep = step
    mujoco.mj_kinematics(model, data)
    return float(mujoco.mj_geomDistance(model, data, 0, 1, 10.0, None))


def crossings(spin: list[float], count: int) -> list[float]:
    """Instants at which the distance changes its sign, by halving the step [s]."""
    model = mujoco.MjModel.from_xml_string(TUMBLE)
    data = mujoco.MjData(model)
    data.qvel[3:] = spin
    found, state = [], np.empty(mujoco.mj_stateSize(model, STATE))
    for _ in range(count):
        mujoco.mj_getState(model, data, state, STATE)
        low, high = 0.0, model.opt.timestep
        first, last = distance_after(model, state, low), distance_after(model, state, high)
        if first * last < 0:
            for _ in range(60):
                middle = (low + high) / 2
                low, high = (middle, high) if distance_after(model, state, middle) * first > 0 else (low, middle)
            found.append(data.time + low)
        mujoco.mj_step(model, data)
    return found


def test_a_tumbling_rod_meets_and_leaves_the_floor_to_the_nanosecond() -> None:
    spin = [9.0, -4.0, 2.0]
    expected = crossings(spin, 199)
    assert len(expected) >= 4

    def times(precise: bool) -> np.ndarray:
        engine = open_engine(mujoco.MjModel.from_xml_string(TUMBLE))
        engine.data.qvel[3:] = spin
        tracker = ContactTracker(engine, options=TrackingOptions(precise=precise))
        for _ in range(200):
            engine.step()
            tracker.after_step(Step(engine))
        return np.array([entry.time for entry in tracker.log if entry.pair_id is not None])

    assert times(precise=True) == pytest.approx(expected, abs=1e-9)
    # Between steps of 5 ms the motion is not that simple: this test can tell.
    assert np.abs(times(precise=False) - expected).max() > 1e-7


def test_without_taking_parts_of_steps_instants_in_a_stirred_pile_are_nearly_the_same() -> None:
    """Most pairs that meet there parted a moment ago, and turn round within the step in which they meet again."""
    events: list[dict[tuple[int | None, str, float], tuple[float, float]]] = []
    for precise in (False, True):
        engine = open_engine("pile")
        engine.step(200)
        tracker = ContactTracker(engine, options=TrackingOptions(precise=precise), limit=None)
        for _ in range(100):
            engine.step()
            tracker.after_step(Step(engine))
        # Slips are not located inside a step.
        begins_and_ends = [entry for entry in tracker.log if entry.kind in ("begin", "end")]
        entries = [entry for entry in begins_and_ends if entry.pair_id is not None]
        events.append({(e.pair_id, e.kind, e.seen): (e.time, e.approach_speed) for e in entries})
        assert all((entry.approach_speed > 0) == (entry.kind == "begin") for entry in entries)
    quick, exact = events
    assert quick.keys() == exact.keys()
    assert len(exact) > 300
    times, speeds = np.abs([np.subtract(quick[key], exact[key]) for key in exact]).T
    assert np.quantile(times, 0.95) < 0.02 * engine.timestep
    assert np.quantile(speeds, 0.95) < 0.02


@pytest.mark.parametrize("step", [23, 24, 25])
def test_rounded_times_of_steps_make_no_instant_less_precise(step: int) -> None:
    """0.005 s added up 25 times, less 0.005 s, is not the sum of 24: the state before a step is found all the same."""
    # It turns, and falls faster than its ends do by turning.
    velocity = [0.0, 0.0, -4.0, 9.0, -4.0, 2.0]

    def model_with(floor: float) -> mujoco.MjModel:
        return mujoco.MjModel.from_xml_string(TUMBLE.replace('type="plane"', f'type="plane" pos="0 0 {floor}"'))

    # The floor is where the rod comes in the middle of this step.
    model = model_with(floor=-9.0)
    data, state = mujoco.MjData(model), np.empty(mujoco.mj_stateSize(model, STATE))
    data.qvel[:] = velocity
    mujoco.mj_step(model, data, step)
    mujoco.mj_getState(model, data, state, STATE)
    model = model_with(floor=distance_after(model, state, model.opt.timestep / 2) - 9.0)
    low, high = 0.0, model.opt.timestep
    for _ in range(60):
        middle = (low + high) / 2
        low, high = (middle, high) if distance_after(model, state, middle) > 0 else (low, middle)
    engine = open_engine(model)
    engine.data.qvel[:] = velocity
    tracker = ContactTracker(engine, options=TrackingOptions(precise=True))
    while not tracker.log and engine.time < 1:
        engine.step()
        tracker.after_step(Step(engine))
    assert next(iter(tracker.log)).time == pytest.approx(data.time + low, abs=1e-11)
