"""Contact events against closed-form falls and the rules of the hysteresis."""

import math
from itertools import pairwise
from typing import Any

import numpy as np
import pytest
from contact_viewer.events.contact_events import ContactEvent, ContactEvents, ContactPair, EventRule
from contact_viewer.mjmodel.crossings import Sample, Trace
from hypothesis import given
from hypothesis import strategies as st
from numpy.typing import NDArray

EPS = 1e-8
G = 9.81
STEP = 0.002
PAIR = [("floor", "ball")]


def track(
    times: NDArray[np.floating[Any]], distances: NDArray[np.floating[Any]], eps: float = EPS, velocity: float = math.nan
) -> list[ContactEvent]:
    """Events of one pair whose distances are given, with one velocity throughout."""
    events = ContactEvents(PAIR, eps)
    return [
        event
        for time, distance in zip(times.tolist(), distances.tolist(), strict=True)
        for event in events.update(time, [distance], [velocity])
    ]


@pytest.mark.parametrize("height", [0.05, 1.0, 4.0])
@pytest.mark.parametrize(("known", "tolerance"), [(True, 1e-9), (False, 1e-5)])
def test_fall_is_timed_within_the_step(height: float, known: bool, tolerance: float) -> None:
    events = ContactEvents(PAIR)
    root, found = math.sqrt(2 * height / G), []
    for time in np.arange(0.0, root + 2 * STEP, STEP).tolist():
        velocity = -G * time if known else math.nan
        found += events.update(time, [height - G * time**2 / 2], [velocity])
    (event,) = found
    assert event.kind == "begin"
    assert event.time == pytest.approx(root, abs=tolerance)
    if known:
        assert event.approach_speed == pytest.approx(math.sqrt(2 * G * height), rel=1e-6)


@pytest.mark.parametrize(("distance", "contact"), [(1e-9, False), (0.0, False), (-1e-14, False), (-1e-6, True)])
def test_initial_cases(distance: float, contact: bool) -> None:
    events = ContactEvents(PAIR)
    assert events.update(0.0, [distance], [0.0]) == []
    assert events.in_contact.tolist() == [contact]
    assert events.distance_with_hysteresis.tolist() == [distance if contact else distance + 2 * EPS]
    # When it began, and how fast, is not known: it counts from here.
    assert events.contacts == ({0: ContactPair(0, PAIR[0], 0.0, 0.0)} if contact else {})


def test_thresholds() -> None:
    events = ContactEvents(PAIR)
    events.update(0.0, [1.0], [0.0])
    for distance in (0.0, -EPS, -1.5 * EPS, -2 * EPS):
        assert events.update(0.1, [distance], [0.0]) == []
    (begin,) = events.update(0.2, [math.nextafter(-2 * EPS, -1)], [0.0])
    assert begin.kind == "begin"
    for distance in (-EPS, -1e-12, 0.0):
        assert events.update(0.3, [distance], [0.0]) == []
        assert events.in_contact.all()
    (end,) = events.update(0.4, [math.nextafter(0.0, 1)], [0.0])
    assert end.kind == "end"
    assert end.duration == pytest.approx(0.2)
    assert not events.in_contact.any()


def test_a_slow_pair_begins_where_it_passes_the_threshold() -> None:
    # The surfaces meet at 0.5 s and the threshold is passed at 3.5 s, three steps later.
    (event,) = track(np.arange(5.0), np.array([0.1, -0.1, -0.3, -0.5, -0.7]), eps=0.3)
    assert [event.time, event.distance] == pytest.approx([3.5, -0.6])
    (fast,) = track(np.arange(2.0), np.array([1.0, -1.0]), eps=0.1)
    assert [fast.time, fast.distance] == pytest.approx([0.5, 0.0])


def test_velocities_that_do_not_fit_are_not_used() -> None:
    for velocity in (0.0, 3.0, -50.0, math.inf, math.nan):
        (event,) = track(np.arange(2.0), np.array([1.0, -3.0]), velocity=velocity)
        assert event.time == pytest.approx(0.25)
    events = ContactEvents(PAIR)
    events.update(0.0, [1.0], [-2.0])
    events.update(1.0, [math.nan], [-1.5])
    assert events.update(2.0, [-1.0], [-2.0])[0].time == 1.5


def test_forces_inside_the_step_do_not_count() -> None:
    # A fall from 1 m in uneven steps, the last one cut short by contact, as Runge-Kutta does.
    events, times = ContactEvents(PAIR), (0.1, 0.2, 0.4)
    for time in times:
        events.update(time, [1 - G * time**2 / 2], [-G * time])
    (event,) = events.update(0.5, [-0.05], [-1.0])
    assert event.time == pytest.approx(math.sqrt(2 / G), abs=1e-12)
    assert event.approach_speed == pytest.approx(math.sqrt(2 * G))
    # Straight after a contact there is no free step to go on from: 1 - u - u^2 = 0.
    events.reset()
    for time, distance, velocity in ((0.0, -1.0, 3.5), (1.0, 1.0, -1.0), (2.0, -1.0, 0.5)):
        found = events.update(time, [distance], [velocity])
    assert found[0].time == pytest.approx(1 + (math.sqrt(5) - 1) / 2)


def test_noise_makes_no_events() -> None:
    rng = np.random.default_rng(1)
    noise = rng.uniform(-3e-9, 3e-9, 5000)
    times = np.arange(len(noise)) * STEP
    assert np.count_nonzero(np.diff(np.sign(noise))) > 2000
    assert track(times, noise) == []
    assert len(track(times, noise, eps=1e-10)) > 1000


def test_contacts_keep_the_velocity_of_their_own_first_event() -> None:
    events = ContactEvents([("a", "b"), ("c", "d"), ("e", "f")])
    events.update(0.0, [1.0, 1.0, -1.0], [-2.0, -3.0, -7.0])
    initial = events.contacts[2]
    assert (initial.time, initial.normal_velocity) == (0.0, -7.0)
    events.update(1.0, [-1.0, 1.0, -1.0], [-2.0, -3.0, 0.0])
    first = events.contacts[0]
    assert (first.time, first.normal_velocity) == (0.5, -2.0)
    events.update(2.0, [-1.0, -1.0, -1.0], [0.0, -3.0, 0.0])
    assert events.contacts[0] is first
    assert events.contacts[1].normal_velocity == -3.0
    (end,) = events.update(3.0, [-1.0, -1.0, 1.0], [0.0, 0.0, 2.0])
    assert (end.pair_id, end.duration) == (2, 2.5)
    assert sorted(events.contacts) == [0, 1]
    assert events.contacts[0] is first


def test_many_pairs_in_one_step_come_in_order_of_time() -> None:
    count = 50
    events = ContactEvents([(f"a{i}", f"b{i}") for i in range(count)])
    depth = np.linspace(0.1, 0.9, count)
    events.update(0.0, 1 - depth, np.full(count, -1.0))
    found = events.update(1.0, -depth, np.full(count, -1.0))
    assert [event.pair_id for event in found] == list(range(count))[::-1]
    assert np.allclose([event.time for event in found], 1 - depth[::-1])
    ends = events.update(2.0, depth, np.full(count, math.nan))
    assert {event.time for event in ends} == {1.5}
    assert [event.pair_id for event in ends] == list(range(count))


def test_begin_and_end_in_neighbouring_steps() -> None:
    begin, end, again = track(np.arange(4.0), np.array([1.0, -1.0, 3.0, -1.0]))
    assert [event.kind for event in (begin, end, again)] == ["begin", "end", "begin"]
    assert [begin.time, end.time, again.time] == [0.5, 1.25, 2.75]
    assert end.duration == 0.75


def test_updates_at_one_time() -> None:
    events = ContactEvents(PAIR)
    for time, distance in ((0.0, 3.0), (1.0, 1.0), (1.0, 1.0)):
        assert events.update(time, [distance], [-2.0]) == []
    (begin,) = events.update(2.0, [-1.0], [-1.0])
    (end,) = events.update(2.0, [1.0], [1.0])
    assert [begin.time, end.time, end.duration] == pytest.approx([1.5, 2.0, 0.5])


def test_crossing_functions() -> None:
    events = ContactEvents([("a", "b"), ("c", "d"), ("e", "f")])
    assert (events.z1, events.z2) == (-math.inf, math.inf)
    events.update(0.0, [-0.3, -0.1, 0.2], [0.0] * 3)
    assert (events.z1, events.z2) == (-0.1, 0.2 + 2 * EPS)
    events.update(1.0, [-0.3, -0.1, -0.2], [0.0] * 3)
    assert (events.z1, events.z2) == (-0.1, math.inf)
    events.update(2.0, [0.3, 0.1, 0.2], [0.0] * 3)
    assert (events.z1, events.z2) == (-math.inf, 0.1 + 2 * EPS)


def test_time_running_backwards_drops_contacts() -> None:
    events = ContactEvents(PAIR)
    events.update(0.0, [1.0], [-1.0])
    assert len(events.update(1.0, [-1.0], [-1.0])) == 1
    assert events.update(0.5, [0.5], [-1.0]) == []
    assert not events.in_contact.any()
    assert events.contacts == {}
    (event,) = events.update(1.5, [-0.5], [-1.0])
    assert event.kind == "begin"
    assert event.time == 1.0
    events.reset()
    assert events.update(2.0, [-1.0], [0.0]) == []
    assert events.contacts[0].time == 2.0


def test_unknown_distances() -> None:
    events = ContactEvents([("a", "b"), ("c", "d")])
    events.update(0.0, [math.nan, -1.0], [math.nan, 0.0])
    assert events.in_contact.tolist() == [False, True]
    assert events.distance_with_hysteresis[0] == math.inf
    assert events.update(1.0, [math.nan, math.nan], [0.0, 0.0]) == []
    assert events.in_contact.tolist() == [False, True]
    assert events.z1 == -1.0
    (begin,) = events.update(2.0, [-0.5, math.nan], [-1.0, -1.5])
    assert (begin.pair_id, begin.time, begin.distance) == (0, 2.0, -0.5)
    # At 1 m/s it has come 1 m since 2 s, whatever it was long before.
    (end,) = events.update(3.0, [-0.5, 1.0], [0.0, 1.0])
    assert (end.pair_id, end.time, end.normal_velocity) == (1, 2.0, 1.0)


def test_a_pair_that_is_unknown_takes_no_velocity_from_another() -> None:
    events = ContactEvents([("a", "b"), ("c", "d")])
    events.update(0.0, [1.0, 1.0], [-2.0, -2.0])
    (event,) = events.update(1.0, [-1.0, math.nan], [-2.0, -2.0])
    assert (event.pair_id, event.time, event.normal_velocity) == (0, 0.5, -2.0)
    # Backwards from where the second step ends: with its mean velocity the pair would meet later.
    (event,) = events.update(2.0, [math.nan, -1.0], [math.nan, -4.0])
    assert (event.pair_id, event.normal_velocity) == (1, -4.0)


def test_bad_input() -> None:
    with pytest.raises(ValueError, match="eps"):
        ContactEvents(PAIR, 0.0)
    with pytest.raises(ValueError, match="1 pairs"):
        ContactEvents(PAIR).update(0.0, [1.0, 2.0], [0.0])
    with pytest.raises(ValueError, match="velocities"):
        ContactEvents(PAIR).update(0.0, [1.0], 0.0)
    empty = ContactEvents([])
    assert empty.update(0.0, [], []) == empty.update(1.0, [], []) == []


VALUES = st.one_of(
    st.sampled_from([0.0, -EPS, -2 * EPS, EPS, -1e-14, 3e-9, math.nan, math.inf]),
    st.floats(-5e-8, 5e-8),
    st.floats(-1.0, 1.0),
)
ROWS = st.integers(1, 4).flatmap(
    lambda count: st.lists(st.lists(VALUES, min_size=count, max_size=count), min_size=2, max_size=30)
)


@given(ROWS, st.floats(-3.0, 3.0))
def test_hysteresis_invariants(rows: list[list[float]], velocity: float) -> None:
    count = len(rows[0])
    events = ContactEvents([(i, i + 1) for i in range(count)])
    log: list[ContactEvent] = []
    known = np.full(count, math.inf)
    state = [False] * count
    for step, row in enumerate(rows):
        before, was = known.copy(), events.in_contact
        known = np.where(np.isnan(row), known, row)
        found = events.update(step * STEP, row, [velocity] * count)
        log += found
        contact, hysteresis = events.in_contact, events.distance_with_hysteresis
        assert np.array_equal(hysteresis, np.where(contact, known, known + 2 * EPS))
        assert sorted(events.contacts) == np.flatnonzero(contact).tolist()
        if step == 0:
            assert np.array_equal(contact, known < -EPS)
            state = contact.tolist()
            continue
        assert not np.any(hysteresis[contact] > 0)
        assert not np.any(hysteresis[~contact] < 0)
        if found:
            assert np.all(hysteresis != 0)
        else:
            assert np.array_equal(was, contact)
        assert [e.time for e in found] == sorted(e.time for e in found)
        for event in found:
            assert (step - 1) * STEP <= event.time <= step * STEP
            assert event.duration >= 0
            assert state[event.pair_id] == (event.kind == "end")
            state[event.pair_id] = not state[event.pair_id]
            end_of_step, start_of_step = known[event.pair_id], before[event.pair_id]
            if event.kind == "begin":
                assert end_of_step <= -2 * EPS <= start_of_step
            else:
                assert end_of_step >= 0 >= start_of_step
        assert state == contact.tolist()
    assert all(one.time <= other.time for one, other in pairwise(log))


@given(ROWS, st.sampled_from([1, 3, 8, 100]))
def test_the_list_does_not_depend_on_frames_or_on_reading(rows: list[list[float]], frame: int) -> None:
    pairs = [(i, i + 1) for i in range(len(rows[0]))]
    read, unread = ContactEvents(pairs), ContactEvents(pairs)
    buffer, zeros = np.empty(len(pairs)), np.zeros(len(pairs))
    shown: list[ContactEvent] = []
    for first in range(0, len(rows), frame):
        for step in range(first, min(first + frame, len(rows))):
            # As an engine does it: one buffer, written again every step.
            buffer[:] = rows[step]
            shown += read.update(step * STEP, buffer, zeros)
        read.in_contact[:] = True
        read.distance_with_hysteresis[:] = read.z1 + read.z2
    plain = [event for step, row in enumerate(rows) for event in unread.update(step * STEP, row, zeros)]
    assert shown == plain
    assert np.array_equal(read.in_contact, unread.in_contact)
    assert np.array_equal(read.distance_with_hysteresis, unread.distance_with_hysteresis)


@given(ROWS)
def test_a_pair_alone_has_the_events_it_has_among_others(rows: list[list[float]]) -> None:
    # On the thresholds themselves another pair's event decides: everywhere else each pair is on its own.
    values = np.array(rows)
    values[np.isin(values, [0.0, -2 * EPS])] = 1e-3
    together, zeros = ContactEvents([(i, i + 1) for i in range(values.shape[1])]), np.zeros(values.shape[1])
    log = [e for step, row in enumerate(values) for e in together.update(step * STEP, row, zeros)]
    alone = track(np.arange(len(rows)) * STEP, values[:, 0], velocity=0.0)
    assert [(e.time, e.kind) for e in log if e.pair_id == 0] == [(e.time, e.kind) for e in alone]


@given(st.integers(0, 2**32 - 1))
def test_telling_only_of_pairs_that_cross_gives_the_same_events(seed: int) -> None:
    rng = np.random.default_rng(seed)
    distances = rng.normal(size=(30, 4)) * rng.choice([1.0, 1e-8], size=(30, 4))
    velocities = rng.normal(size=(30, 4))
    dense, sparse = ContactEvents([(i, i + 1) for i in range(4)]), ContactEvents([(i, i + 1) for i in range(4)])
    for events in (dense, sparse):
        events.update(0.0, distances[0], velocities[0])
    for step in range(1, 30):
        times = [(step - age) * STEP if step >= age else math.nan for age in range(3)]
        expected = dense.update(times[0], distances[step], velocities[step])
        traces: dict[int, Trace] = {}
        for event in expected:
            pair = event.pair_id
            after, before, earlier = (
                Sample(times[age], distances[step - age, pair], velocities[step - age, pair])
                if step >= age
                else Sample(math.nan, math.nan, math.nan)
                for age in range(3)
            )
            traces[pair] = Trace(after, before, lambda known=earlier: known)  # type: ignore[misc]
        found = sparse.update_pairs(times[0], traces)
        for one, other in zip(found, expected, strict=True):
            assert one[:4] == other[:4]
            assert one[4:] == pytest.approx(other[4:], nan_ok=True)
        assert np.array_equal(sparse.in_contact, dense.in_contact)
        assert sparse.contacts.keys() == dense.contacts.keys()


def test_an_instant_that_was_returned_to_keeps_what_is_known_of_it() -> None:
    events = ContactEvents([("a", "b"), ("c", "d"), ("e", "f"), ("g", "h"), ("i", "j")])
    known = {i: ContactPair(i, events.pairs[i], 3.0, -2.0) for i in (0, 1)}
    events.resume({**known, 2: None, 3: None})
    # Within the band a state is kept: 0 in contact, 2 apart; the others have left it. Of 4 nothing is known.
    assert events.update(5.0, [-0.5 * EPS, EPS, -1.5 * EPS, -3 * EPS, -1.5 * EPS], [0.0] * 5) == []
    assert events.in_contact.tolist() == [True, False, False, True, True]
    assert events.contacts[0] is known[0]
    assert events.contacts[3].time == 5.0
    (end,) = events.update(6.0, [EPS, EPS, -1.5 * EPS, -3 * EPS, -1.5 * EPS], [0.0] * 5)
    assert end.pair_id == 0
    assert end.duration == pytest.approx(end.time - 3.0)
    # It was for that one instant.
    events.reset()
    events.update(7.0, [-0.5 * EPS] * 5, [0.0] * 5)
    assert not events.in_contact.any()
    # The thresholds themselves are still in the band.
    events.resume({0: known[0], 2: None})
    events.update(5.0, [0.0, 1.0, -2 * EPS, 1.0, 1.0], [0.0] * 5)
    assert events.in_contact.tolist() == [True, False, False, False, False]


def test_a_motion_is_traced_back_where_only_its_end_is_known() -> None:
    events = ContactEvents(PAIR)
    events.update(0.0, [5.0], [math.nan])
    for time in (1.0, 2.0, 3.0):
        events.update(time, [math.nan], [math.nan])
    (event,) = events.update(4.0, [-1.0], [-4.0])
    assert (event.time, event.normal_velocity) == (3.75, -4.0)
    # Where that leads out of the step, the distance known last has to do.
    (event,) = events.update(5.0, [1.0], [-0.5])
    assert event.time == 4.5


def test_velocities_that_lag_by_half_a_step_are_made_up_for() -> None:
    # Semi-implicit Euler from 1 m in steps of 10 ms: the velocity of each step is that of its middle.
    events, step, height, speed, time = ContactEvents(PAIR), 0.01, 1.0, 0.0, 0.0
    found = events.update(time, [height], [speed])
    while not found:
        speed -= G * step
        height += speed * step
        time += step
        found = events.update(time, [height], [speed])
    # As it stands, it would be 1 % off.
    assert found[0].approach_speed == pytest.approx(math.sqrt(2 * G), rel=2e-4)


def test_surfaces_that_only_touch_begin_contact_where_they_penetrate() -> None:
    """From a distance of exactly 0 there is no crossing of 0 left: the event is where the threshold is passed."""
    events = ContactEvents([("a", "b")], eps=1e-4)
    events.update(0.0, [0.0], [-1.0])
    (event,) = events.update(0.001, [-1e-3], [-1.0])
    assert event.kind == "begin"
    assert event.distance == pytest.approx(-2e-4)
    assert event.time == pytest.approx(0.0002)


@pytest.mark.parametrize("sparse", [False, True])
@pytest.mark.parametrize("rule", EventRule)
def test_modias_rule_decides_what_is_in_the_band_at_the_event_of_another_pair(rule: EventRule, sparse: bool) -> None:
    # The first meets, the second rises into the band, the third sinks into it, the next two stay where they are, and
    # the last sinks to the middle of the band, which is not yet contact.
    before = [1.0, -1.0, 1.0, -1.0, 1.0, 1.0]
    after = [-1.0, -0.5 * EPS, -1.5 * EPS, -1.0, 1.0, -EPS]
    unknown = [math.nan] * 6
    events = ContactEvents([(f"a{i}", f"b{i}") for i in range(6)], EPS, rule)
    events.update(0.0, before, unknown)
    assert events.update(1.0, before, unknown) == []
    assert events.in_contact.tolist() == [False, True, False, True, False, False]
    if sparse:
        first, last = Sample(1.0, 1.0, math.nan), Sample(2.0, -1.0, math.nan)
        near = {i: Sample(2.0, after[i], math.nan) for i in (1, 2, 3, 5)}
        found = events.update_pairs(2.0, {0: Trace(last, first, lambda: first)}, near=lambda: near)
    else:
        found = events.update(2.0, after, unknown)
    kinds = {event.pair_id: str(event.kind) for event in found}
    decided = {1: "end", 2: "begin"} if rule is EventRule.MODIA else {}
    assert kinds == {0: "begin"} | decided
    assert all(event.time == 2.0 for event in found if event.pair_id)
    expected = [True, rule is not EventRule.MODIA, rule is EventRule.MODIA, True, False, False]
    assert events.in_contact.tolist() == expected
    if not sparse or rule is EventRule.MODIA:
        # What was measured is shown, also of pairs that stay as they are.
        moved = [-1.0, -0.5 * EPS, -1.5 * EPS, -1.0, 1.0, -EPS]
        shown = [distance + (0.0 if contact else 2 * EPS) for distance, contact in zip(moved, expected, strict=True)]
        assert events.distance_with_hysteresis.tolist() == pytest.approx(shown, abs=1e-15)


def test_the_crossing_functions_are_current_for_all_that_modias_rule_measured() -> None:
    events = ContactEvents([("a", "b"), ("c", "d"), ("e", "f")], EPS, EventRule.MODIA)
    events.update(0.0, [1.0, -0.2, 0.5], [0.0] * 3)
    assert (events.z1, events.z2) == (-0.2, 0.5 + 2 * EPS)
    first, last = Sample(0.0, 1.0, math.nan), Sample(1.0, -0.3, math.nan)
    near = {1: Sample(1.0, -0.1, math.nan)}
    (event,) = events.update_pairs(1.0, {0: Trace(last, first, lambda: first)}, near=lambda: near)
    assert (event.pair_id, event.kind) == (0, "begin")
    assert (events.z1, events.z2) == (-0.1, 0.5 + 2 * EPS)
