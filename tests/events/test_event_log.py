"""The log of events: order, bounds, peaks, and going back; and the rows that it is written as."""

import csv
import json
import math

import numpy as np
import pytest
from contact_viewer.events.contact_events import ContactEvent, EventKind, SensorEvent
from contact_viewer.events.event_log import (
    EventLog,
    LogEntry,
    LoggedContact,
    PeakHold,
    events_as_json,
)
from contact_viewer.recording.table_files import events_as_csv

COLUMNS = [
    "time",
    "pair_id",
    "geom1",
    "geom2",
    "kind",
    "distance",
    "normal_velocity",
    "approach_speed",
    "duration",
    "peak_force",
    "body1",
    "body2",
    "slip_speed",
]


def pair_entry(time: float, kind: str, contact: LoggedContact | None = None, pair: int = 0) -> LogEntry:
    event = ContactEvent(time, pair, ("a", 'b "x", y'), EventKind(kind), 0.0, -1.5, 0.0 if kind == "begin" else 2.0)
    return LogEntry(time, time + 0.1, event.kind, f"pair {pair}", event, contact or LoggedContact(time))


def sensor_entry(time: float, kind: str, contact: LoggedContact | None = None) -> LogEntry:
    event = SensorEvent(time, 0, EventKind(kind), 3.0, 0.0)
    return LogEntry(time, time + 0.1, event.kind, "foot", event, contact or LoggedContact(time))


def test_entries_are_in_order_of_time() -> None:
    log = EventLog()
    for time in (1.0, 2.0, 1.5, 2.0, 0.5):
        log.add(pair_entry(time, "begin"))
    assert [entry.time for entry in log] == [0.5, 1.0, 1.5, 2.0, 2.0]
    assert [entry.time for entry in log.between(1.0, 2.0)] == [1.5, 2.0, 2.0]


def test_an_empty_log_has_dropped_nothing() -> None:
    log = EventLog(limit=10)
    for i in range(100):
        log.add(pair_entry(float(i), "begin"))
    assert log.dropped > 0
    log.clear()
    assert (len(log), log.dropped) == (0, 0)


def test_contacts_that_look_alike_are_two_contacts() -> None:
    one, other = pair_entry(1.0, "begin"), pair_entry(1.0, "begin")
    assert one.contact != other.contact
    assert len({one.contact, other.contact}) == 2


def test_the_oldest_are_dropped_and_counted() -> None:
    log = EventLog(limit=100)
    for i in range(1000):
        log.add(pair_entry(float(i), "begin"))
        assert len(log) <= 110
        assert log.dropped + len(log) == i + 1
    assert [entry.time for entry in log][-100:] == list(range(900, 1000))
    everything = EventLog(limit=None)
    for i in range(50_000):
        everything.add(pair_entry(float(i), "begin"))
    assert len(everything) == 50_000


def test_those_that_were_dropped_count_until_everything_is_forgotten() -> None:
    log = EventLog(limit=10)
    for i in range(30):
        log.add(pair_entry(float(i), "begin"))
    dropped = log.dropped
    assert dropped > 0
    log.truncate(25.0)
    assert (log.dropped, log.entries[-1].time) == (dropped, 25.0)
    # Back before all that is left, it is a new list.
    log.truncate(1.0)
    assert (log.dropped, len(log)) == (0, 0)


def test_the_version_of_a_log_changes_with_it() -> None:
    log, versions = EventLog(limit=2), [0]

    def changed() -> bool:
        versions.append(log.version)
        return versions[-1] not in versions[:-1]

    for i in range(5):
        log.add(pair_entry(float(i), "begin"))
        assert changed()
    log.truncate(3.0)
    assert changed()
    log.clear()
    assert changed()
    assert (len(log), log.dropped) == (0, 0)


def test_next_and_previous_go_by_what_is_seen() -> None:
    log = EventLog()
    for time in (1.0, 2.0, 3.0):
        log.add(pair_entry(time, "begin"))
    following, preceding = log.following(1.1), log.preceding(2.1)
    assert following is not None
    assert preceding is not None
    assert (following.time, preceding.time) == (2.0, 1.0)
    assert log.following(3.1) is None
    assert log.preceding(1.1) is None


def test_going_back_forgets_what_followed() -> None:
    log = EventLog()
    lasting = LoggedContact(1.0, end=5.0, peak_force=9.0, peak_time=4.0)
    over = LoggedContact(1.5, end=2.0, peak_force=7.0, peak_time=1.7)
    # A peak of the very instant that is returned to has been.
    felt = LoggedContact(2.5, end=6.0, peak_force=4.0, peak_time=3.0)
    for entry in (
        pair_entry(1.0, "begin", lasting),
        pair_entry(1.5, "begin", over, pair=1),
        pair_entry(2.0, "end", over, pair=1),
        sensor_entry(2.5, "begin", felt),
        pair_entry(5.0, "end", lasting),
        sensor_entry(6.0, "end", felt),
    ):
        log.add(entry)
    last = log.truncate(3.0)
    assert [entry.time for entry in log] == [1.0, 1.5, 2.0, 2.5]
    assert [(entry.pair_id, entry.sensor, entry.kind) for entry in last] == [
        (0, None, "begin"),
        (1, None, "end"),
        (None, 0, "begin"),
    ]
    # They last again; a peak that is yet to come is not known.
    assert lasting.lasting
    assert math.isnan(lasting.peak_force)
    assert (felt.lasting, felt.peak_force) == (True, 4.0)
    assert (over.end, over.peak_force) == (2.0, 7.0)
    assert lasting.duration(3.0) == 2.0
    assert over.duration(3.0) == 0.5


def test_peaks_are_held_while_a_contact_is_open() -> None:
    hold, contact = PeakHold(3), LoggedContact(0.0)
    places = np.array([2, 1, -1])
    hold.update(0.0, places, np.array([50.0, 60.0, 70.0]))
    assert math.isnan(contact.peak_force)
    hold.open(1, contact)
    for time, force in ((1.0, 3.0), (2.0, 5.0), (3.0, 4.0), (4.0, math.nan)):
        hold.update(time, places, np.array([99.0, force, 99.0]))
    assert (contact.peak_force, contact.peak_time) == (5.0, 2.0)
    assert hold.close(1) is contact
    with pytest.raises(KeyError):
        hold.close(1)
    hold.update(5.0, places, np.array([99.0, 99.0, 99.0]))
    assert contact.peak_force == 5.0
    hold.open(0, contact)
    hold.update(6.0, np.array([0]), np.array([4.5]))
    assert contact.peak_force == 5.0


def test_peaks_of_several_steps_are_those_of_each() -> None:
    random = np.random.default_rng(3)
    places = np.array([2, -1, 0])
    for _ in range(50):
        # Few values, so that the highest is often there twice.
        forces = random.choice([0.0, 1.0, 2.0, 5.0, math.nan], (random.integers(1, 6), 3))
        times = np.arange(len(forces)).tolist()
        single, together = PeakHold(3), PeakHold(3)
        contacts = [[LoggedContact(0.0, peak_force=peak, peak_time=-1.0) for peak in (1.0, math.nan)] for _ in range(2)]
        for hold, (first, last) in zip((single, together), contacts, strict=True):
            hold.open(0, first)
            hold.open(2, last)
        for time, row in zip(times, forces, strict=True):
            single.update(time, places, row)
        together.update_steps(times, places, forces)
        assert repr(contacts[0]) == repr(contacts[1])


def test_rows_can_be_read_back() -> None:
    contact = LoggedContact(1.0, end=3.0, peak_force=12.5, peak_time=2.0)
    entries = [pair_entry(1.0 / 3.0, "begin"), sensor_entry(1.0, "begin"), pair_entry(3.0, "end", contact)]
    records = json.loads(events_as_json(entries))
    assert [record["kind"] for record in records] == ["begin", "end"]
    assert records[0] == {
        "time": 1.0 / 3.0,
        "pair_id": 0,
        "geoms": ["a", 'b "x", y'],
        "kind": "begin",
        "distance": 0.0,
        "normal_velocity": -1.5,
        "approach_speed": 1.5,
        "duration": 0.0,
        "peak_force": None,
    }
    rows = list(csv.DictReader(events_as_csv(entries).splitlines()))
    assert list(rows[0]) == COLUMNS
    assert [float(row["time"]) for row in rows] == [1.0 / 3.0, 3.0]
    assert (rows[1]["geom2"], rows[0]["peak_force"], float(rows[1]["peak_force"])) == ('b "x", y', "NaN", 12.5)
    assert json.loads(events_as_json([])) == []
    assert events_as_csv([]).strip() == ",".join(COLUMNS)


def test_values_that_are_not_known_are_null() -> None:
    event = ContactEvent(1.0, 0, ("a", "b"), EventKind.BEGIN, math.inf, math.nan, 0.0)
    (record,) = json.loads(events_as_json([LogEntry(1.0, 1.0, event.kind, "a × b", event, LoggedContact(1.0))]))
    assert (record["distance"], record["normal_velocity"], record["approach_speed"]) == (None, None, None)
    assert pytest.approx(1.0) == record["time"]
