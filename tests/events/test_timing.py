"""Debounced contact, air times and counts against runs of equal states."""

import math
from itertools import groupby

import mujoco
import numpy as np
import pytest
from contact_viewer import metrics, open_engine
from contact_viewer.events.contact_events import SensorEvent
from contact_viewer.events.sensor_contacts import ForceTrigger
from contact_viewer.events.tracker import ContactTracker
from hypothesis import given
from hypothesis import strategies as st

STEP = 0.002


def count_times(states: list[list[bool]], timestep: float = STEP) -> metrics.ContactTimes:
    """Count step by step, as the window does."""
    first, *others = map(np.array, states)
    times = metrics.start_times(first, timestep)
    for state in others:
        times = times.next(state)
    return times


def feed(trigger: ForceTrigger, forces: list[float]) -> list[SensorEvent]:
    return [event for i, force in enumerate(forces) for event in trigger.update(i * STEP, [force])]


def test_thresholds() -> None:
    trigger = ForceTrigger(1, on=5.0, off=2.0)
    forces = [0.0, 5.0, 5.1, 3.0, 2.0, math.nan, 1.9, math.nan, 4.0, 6.0]
    events = feed(trigger, forces)
    assert [(round(e.time / STEP), e.kind, e.force) for e in events] == [
        (2, "begin", 5.1),
        (6, "end", 1.9),
        (9, "begin", 6.0),
    ]
    assert events[1].duration == pytest.approx(4 * STEP)


@pytest.mark.parametrize(
    ("duration", "timestep", "steps"),
    [(0.0, STEP, 0), (0.001, STEP, 1), (0.002, STEP, 1), (0.006, STEP, 3), (0.0061, STEP, 4), (0.035, 0.005, 7)],
)
def test_minimum_duration_in_steps(duration: float, timestep: float, steps: int) -> None:
    trigger = ForceTrigger(1, 1.0, 1.0, duration, timestep)
    assert trigger.min_steps == steps
    trigger.update(0.0, [0.0])
    at = 0
    while not trigger.debounced[0]:
        at += 1
        events = trigger.update(at * timestep, [2.0])
        assert trigger.raw[0]
    assert at == 1 + steps
    assert events[0].time == timestep


def test_spikes_and_dropouts_shorter_than_the_minimum_do_not_show() -> None:
    trigger = ForceTrigger(1, 1.0, 0.5, 3 * STEP, STEP)
    states = [0] * 3 + [1] * 3 + [0] * 5 + [1] * 10 + [0] * 2 + [1] * 5 + [0] * 6
    events = feed(trigger, [2.0 * state for state in states])
    assert [(round(e.time / STEP), e.kind) for e in events] == [(11, "begin"), (28, "end")]
    assert events[1].duration == pytest.approx(17 * STEP)


def test_bad_thresholds_and_durations() -> None:
    trigger = ForceTrigger(2, on=1.0, off=0.5)
    for on, off in ((1.0, 2.0), (0.0, 0.0), (1.0, math.nan)):
        with pytest.raises(ValueError, match="off"):
            ForceTrigger(1, on, off)
    with pytest.raises(ValueError, match="steps"):
        ForceTrigger(1, 1.0, 1.0, -1.0)
    for duration, timestep in ((0.0, 0.0), (0.1, -1.0), (0.1, math.inf), (math.inf, STEP), (0.1, math.nan)):
        with pytest.raises(ValueError, match="steps"):
            ForceTrigger(1, 1.0, 1.0, duration, timestep)
    with pytest.raises(ValueError, match="2 sensors"):
        trigger.update(1.0, [0.0])


FORCES = st.lists(st.sampled_from([0.0, 0.4, 0.7, 1.2, 9.0]), min_size=1, max_size=60)


@given(FORCES, st.integers(0, 5))
def test_debouncing(forces: list[float], min_steps: int) -> None:
    trigger = ForceTrigger(1, 1.0, 0.5, min_steps * STEP, STEP)
    raw, debounced = [], []
    for i, force in enumerate(forces):
        trigger.update(i * STEP, [force])
        raw.append(bool(trigger.raw[0]))
        debounced.append(bool(trigger.debounced[0]))
    # A run of equal raw states shows if it is longer than the minimum, that many steps after its start.
    expected, state = [], raw[0]
    for value, run in groupby(raw):
        length = len(list(run))
        waiting = min(length, min_steps)
        expected += [state] * waiting
        if length > min_steps or value == state:
            state = value
        expected += [state] * (length - waiting)
    assert debounced == expected


def test_timing_of_a_gait() -> None:
    # One foot is down for 3 and up for 2 steps; the other is never down.
    timing = count_times([[i % 5 < 3, False] for i in range(13)])
    assert timing.contact_time == pytest.approx([3 * STEP, 0])
    assert timing.air_time == pytest.approx([0, 13 * STEP])
    assert timing.last_contact_time == pytest.approx([3 * STEP, 0])
    assert timing.last_air_time == pytest.approx([2 * STEP, 0])
    assert timing.contact_count.tolist() == [3, 0]
    assert timing.duty_factor == pytest.approx([9 / 13, 0])


def test_before_the_first_step_nothing_was_counted() -> None:
    timing = ContactTracker(open_engine("bounce")).sensors.timing
    assert not timing.in_contact.any()
    assert not timing.contact_count.any()
    for column in (timing.air_time, timing.contact_time, timing.last_air_time, timing.last_contact_time):
        assert not column.any()
    assert not timing.duty_factor.any()


def test_times_do_not_drift() -> None:
    timing = metrics.start_times(np.array([True]), 0.001)
    for _ in range(9_999):
        timing = timing.next(timing.in_contact)
    assert timing.held(90_000).contact_time[0] == 100.0


@given(st.lists(st.booleans(), min_size=1, max_size=80))
def test_timing_against_runs(states: list[bool]) -> None:
    timing = count_times([[state] for state in states])
    runs = [(value, len(list(run))) for value, run in groupby(states)]
    closed = runs[:-1]
    assert timing.contact_count[0] == sum(value for value, _ in runs)
    assert timing.duty_factor[0] == pytest.approx(sum(states) / len(states))
    assert timing.contact_time[0] + timing.air_time[0] == pytest.approx(runs[-1][1] * STEP)
    assert timing.last_contact_time[0] == pytest.approx(next((n for v, n in closed[::-1] if v), 0) * STEP)
    assert timing.last_air_time[0] == pytest.approx(next((n for v, n in closed[::-1] if not v), 0) * STEP)


def test_a_bouncing_ball_felt_by_a_touch_sensor() -> None:
    model = mujoco.MjModel.from_xml_string("""
        <mujoco>
          <worldbody>
            <geom type="plane" size="1 1 .1"/>
            <body pos="0 0 .6">
              <freejoint/>
              <geom size=".1" mass="1" solref=".01 .3"/>
              <site name="s" size=".2"/>
            </body>
          </worldbody>
          <sensor><touch site="s"/></sensor>
        </mujoco>""")
    data = mujoco.MjData(model)
    trigger = ForceTrigger(1, 2.0, 1.0, 0.004, model.opt.timestep)
    loads, events, states = [], [], []
    for _ in range(1000):
        mujoco.mj_step(model, data)
        loads.append(float(data.sensordata[0]))
        events += trigger.update(data.time, data.sensordata)
        states.append(trigger.debounced.tolist())
    timing = count_times(states, model.opt.timestep)
    first = next(i for i, load in enumerate(loads) if load > 2.0)
    assert events[0].time == pytest.approx((first + 1) * model.opt.timestep)
    assert events[0].time == pytest.approx(math.sqrt(2 * 0.5 / 9.81), abs=0.005)
    assert [event.kind for event in events[:2]] == ["begin", "end"]
    assert timing.contact_count[0] == sum(event.kind == "begin" for event in events) >= 2
    # At rest at the end: the floor carries the weight.
    assert np.mean(loads[-50:]) == pytest.approx(9.81, rel=0.05)
    assert timing.contact_time[0] > 0.1


def test_an_instant_that_was_returned_to_keeps_its_contacts() -> None:
    trigger = ForceTrigger(4, 5.0, 2.0, 0.01, STEP, begin_times={0: 1.0, 1: 1.5})
    # Between the thresholds a state is kept; of the last two nothing is known.
    assert trigger.update(3.0, [3.0, 1.0, 3.0, 6.0]) == []
    assert trigger.debounced.tolist() == trigger.raw.tolist() == [True, False, False, True]
    ends = [event for i in range(1, 8) for event in trigger.update(3.0 + i * STEP, [0.0, 0.0, 3.0, 0.0])]
    assert [(event.sensor, event.kind) for event in ends] == [(0, "end"), (3, "end")]
    assert [event.duration for event in ends] == pytest.approx([2.0 + STEP, STEP])


@given(
    st.lists(st.lists(st.sampled_from([0.0, 1.0, 3.0, 6.0, math.nan]), min_size=2, max_size=2), min_size=1),
    st.sampled_from([0.0, 2 * STEP]),
    st.integers(1, 9),
)
def test_quiet_steps_can_be_skipped(forces: list[list[float]], min_duration: float, block: int) -> None:
    """Whatever is skipped as quiet, in blocks of any size, all that can be asked is as if it had been updated."""
    triggers = [ForceTrigger(2, 5.0, 2.0, min_duration, STEP) for _ in range(2)]
    events: list[list[SensorEvent]] = [[], []]
    states = []
    for i, force in enumerate(forces):
        events[0] += triggers[0].update(i * STEP, force)
        states.append(triggers[0].debounced.tolist())
    i, skipped = 0, metrics.start_times(np.array(states[0]), STEP).held(-1)
    while i < len(forces):
        quiet = triggers[1].quiet_steps(np.array(forces[i : i + block]))
        if quiet:
            i += quiet
            triggers[1].skip(quiet)
            skipped = skipped.held(quiet)
        else:
            events[1] += triggers[1].update(i * STEP, forces[i])
            state = triggers[1].debounced
            skipped = skipped.next(state) if i else metrics.start_times(state, STEP)
            i += 1
    assert events[1] == events[0]
    for name in ("raw", "debounced"):
        np.testing.assert_array_equal(getattr(triggers[1], name), getattr(triggers[0], name))
    counted = count_times(states)
    for name in ("air_time", "contact_time", "last_air_time", "last_contact_time", "duty_factor", "contact_count"):
        np.testing.assert_array_equal(getattr(skipped, name), getattr(counted, name))


def test_steady_forces_are_quiet() -> None:
    trigger = ForceTrigger(2, 5.0, 2.0)
    steps = np.array([[6.0, 0.0], [3.0, 4.9], [2.0, 5.0], [1.9, 0.0], [6.0, 0.0]])
    assert trigger.quiet_steps(steps) == 0
    trigger.update(0.0, steps[0])
    assert trigger.quiet_steps(steps) == 3
    assert trigger.quiet_steps(steps[:2]) == 2
    # What is not known changes nothing.
    assert trigger.quiet_steps(np.array([[math.nan, 0.0]])) == 1


def test_a_begin_has_lasted_no_time_and_an_end_as_long_as_the_contact() -> None:
    trigger = ForceTrigger(1, 1.0, 0.5)
    events = [event for i in range(10) for event in trigger.update(0.1 * i, [5.0 if 3 <= i < 7 else 0.0])]
    assert [(str(event.kind), event.duration) for event in events] == [("begin", 0.0), ("end", pytest.approx(0.4))]
