"""What stops a run, and what does not: another pair, a force that stays, a break that is switched off."""

import math

import pytest
from contact_viewer.events.breaks import Break, BreakWhen
from contact_viewer.events.contact_events import ContactEvent, EventKind, SensorEvent
from contact_viewer.events.event_log import LogEntry, LoggedContact


def pair_event(pair: int, kind: EventKind) -> LogEntry:
    event = ContactEvent(1.0, pair, ("a", "b"), kind, 0.0, -1.0, 0.0)
    return LogEntry(1.0, 1.0, kind, "a × b", event, LoggedContact(1.0))


def sensor_event(sensor: int, kind: EventKind) -> LogEntry:
    event = SensorEvent(1.0, sensor, kind, 2.0, 0.0)
    return LogEntry(1.0, 1.0, kind, "foot", event, LoggedContact(1.0))


EVENTS = {
    (what, number, kind): make(number, kind)
    for what, make in (("pair", pair_event), ("sensor", sensor_event))
    for number in (0, 1)
    for kind in EventKind
}


@pytest.mark.parametrize(
    ("each", "stops"),
    [
        (Break(BreakWhen.BEGIN), [("pair", 0, "begin"), ("pair", 1, "begin")]),
        (Break(BreakWhen.END), [("pair", 0, "end"), ("pair", 1, "end")]),
        (Break(BreakWhen.BEGIN, pair_id=0), [("pair", 0, "begin")]),
        (Break(BreakWhen.END, pair_id=1), [("pair", 1, "end")]),
        (Break(BreakWhen.BEGIN, sensor=0), [("sensor", 0, "begin")]),
        (Break(BreakWhen.END, sensor=1), [("sensor", 1, "end")]),
        (Break(BreakWhen.BEGIN, enabled=False), []),
        (Break(BreakWhen.FORCE), []),
        (Break(BreakWhen.SLIP), []),
    ],
)
def test_a_break_stops_at_its_own_events_alone(each: Break, stops: list[tuple[str, int, str]]) -> None:
    assert [key for key, entry in EVENTS.items() if each.is_event(entry)] == stops


def test_a_force_stops_a_run_when_it_rises_above_the_limit() -> None:
    each = Break(BreakWhen.FORCE, force=10.0)
    # From the first step on it may have been above for long: that is no rise.
    steps: list[list[float]] = [[11.0], [3.0, 10.0], [10.1], [12.0], [], [1.0, 20.0], [20.0, 1.0], [9.0], [11.0]]
    assert [each.is_exceeded(forces) for forces in steps] == [
        False,
        False,
        True,
        False,
        False,
        True,
        False,
        False,
        True,
    ]
    # After going back, the same holds again.
    each.is_exceeded([1.0])
    each.restart()
    assert [each.is_exceeded([force]) for force in (11.0, 1.0, 11.0)] == [False, False, True]
    # Without contact there is no force, which a limit of 0 is not exceeded by.
    touch = Break(BreakWhen.FORCE)
    assert [touch.is_exceeded(forces) for forces in ([], [0.0], [1e-3], [math.nan])] == [False, False, True, False]


def test_a_force_break_that_is_switched_off_knows_where_the_force_is() -> None:
    each = Break(BreakWhen.FORCE, force=10.0, enabled=False)
    assert not any(each.is_exceeded([force]) for force in (1.0, 11.0, 1.0, 11.0))
    each.enabled = True
    assert [each.is_exceeded([force]) for force in (12.0, 1.0, 12.0)] == [False, False, True]


def test_a_contact_that_slides_stops_a_run_once_until_it_has_stuck() -> None:
    each, none = Break(BreakWhen.SLIP), frozenset[int]()
    one, two = frozenset({1}), frozenset({2})
    # Contact 1 slides from the start; 2 joins; both lift off and slide on; 1 sticks and slips again.
    both = one | two
    steps = [(one, none), (one, none), (both, none), (none, none), (both, none), (two, one), (both, none)]
    assert [each.is_slip(*step) for step in steps] == [False, False, True, False, False, False, True]
    each.restart()
    assert [each.is_slip(*step) for step in ((one, none), (one | two, none))] == [False, True]
    off = Break(BreakWhen.SLIP, enabled=False)
    assert not any(off.is_slip(*step) for step in steps)
