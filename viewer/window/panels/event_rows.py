"""Turns the log of events into rows: what a sensor and the pair of geoms that it watches report at once is one row."""

from collections.abc import Iterable, Sequence

import numpy as np

from ...events.contact_events import EventKind
from ...events.event_log import EventLog, LogEntry
from ...events.tracker import ContactTracker
from ...mjmodel.names import sensor_names
from ...mjmodel.pairs import possible_pairs
from ...mjmodel.types import MjModel

_TOGETHER = 0.05
"""Events of a sensor and of its pair are twins if they are seen within this time [s], and nothing else happens to
either between them: surfaces meet before a force is felt, and part after it has gone."""
_MOST_PAIRS = 256
"""A sensor that matches more pairs is of none of them."""
_ALONE = " (sensor)"
"""After the name of a sensor whose event is of no pair."""
_UNSETTLED = 100
"""Newest entries that may still be moved: a sensor's event is inserted when it is confirmed."""


class EventRow:
    """One line of the list: events of one contact."""

    __slots__ = ("entry", "events", "place")

    def __init__(self, entry: LogEntry, place: int) -> None:
        self.events = [(place, entry)]
        """The events, with their places in the log."""
        self.place = place
        """Of the first of them."""
        self.entry = entry
        """The pair's event if there is one, for it knows more."""

    def add(self, entry: LogEntry, place: int) -> None:
        self.events.append((place, entry))
        if entry.pair_id is not None:
            self.entry = entry

    def cut(self, place: int) -> None:
        """Remove events from a place in the log on; the first one is before it."""
        kept = [event for event in self.events if event[0] < place]
        if len(kept) < len(self.events):
            self.events = kept
            self.entry = next((entry for _, entry in kept if entry.pair_id is not None), kept[0][1])

    @property
    def text(self) -> str:
        """Whose event it is."""
        if self.entry.pair_id is None:
            return self.entry.subject + _ALONE
        return _row_text(self.entry.subject, [entry.subject for _, entry in self.events if entry.sensor is not None])


def _row_text(pair: str, sensors: Sequence[str]) -> str:
    return f"{pair}  ({', '.join(sensors)})" if sensors else pair


class EventRows:
    """Rows of a tracker's log, kept up with it."""

    def __init__(self) -> None:
        self.rows: list[EventRow] = []
        self.longest = 0
        """Letters of the longest text that a row can have."""
        self._log: EventLog | None = None
        self._known: list[LogEntry] = []
        """Entries that the rows are made of."""
        self._version = -1
        self._model: MjModel | None = None
        self._pairs: object = None
        self._by_sensor: dict[int, frozenset[int]] = {}
        """Tracked pairs that each sensor matches, by their places."""
        self._by_pair: dict[int, list[int]] = {}
        """Sensors that match each tracked pair."""
        self._newest: dict[int, EventRow] = {}
        """The last row that has an event of each pair and sensor, by `_subject`, as far back as twins can be."""

    def update(self, tracker: ContactTracker, model: MjModel) -> Sequence[EventRow]:
        """The rows of all events."""
        log = tracker.log
        if model is not self._model or tracker.pairs.choice is not self._pairs:
            self._model, self._pairs = model, tracker.pairs.choice
            self._by_sensor, self._by_pair = _pairs_by_sensor(tracker, model), {}
            for sensor, pairs in self._by_sensor.items():
                for pair in pairs:
                    self._by_pair.setdefault(pair, []).append(sensor)
            self.longest = self._longest(tracker)
            self._log = None
        if log is self._log and log.version == self._version:
            return self.rows
        kept = self._settled(log)
        entries = log.entries
        while self.rows and self.rows[-1].place >= kept:
            self.rows.pop()
        self._newest = {}
        for row in reversed(self.rows):
            if entries[kept - 1].seen - row.entry.seen > 2 * _TOGETHER:
                break
            row.cut(kept)
            for _, entry in row.events:
                self._newest.setdefault(_subject(entry), row)
        self._log, self._version, self._known = log, log.version, entries.copy()
        for place in range(kept, len(entries)):
            self._add(entries[place], place)
        return self.rows

    def _longest(self, tracker: ContactTracker) -> int:
        labels, names = tracker.pairs.labels, tracker.sensors.names
        alone = [len(label) for label in labels] + [len(name) + len(_ALONE) for name in names]
        watched = [
            len(_row_text(labels[pair], [names[sensor] for sensor in sensors]))
            for pair, sensors in self._by_pair.items()
        ]
        return max(alone + watched, default=0)

    def _settled(self, log: EventLog) -> int:
        """How many of the known entries are still where they were, and will stay there."""
        last = len(self._known) - _UNSETTLED
        entries = log.entries
        if log is not self._log or last <= 0 or len(entries) < last or entries[0] is not self._known[0]:
            return self._restart()
        return last if entries[last - 1] is self._known[last - 1] else self._restart()

    def _restart(self) -> int:
        self.rows.clear()
        return 0

    def _add(self, entry: LogEntry, place: int) -> None:
        row = self._twin(entry)
        if row is None:
            row = EventRow(entry, place)
            self.rows.append(row)
        else:
            row.add(entry, place)
        self._newest[_subject(entry)] = row

    def _twin(self, entry: LogEntry) -> EventRow | None:
        """The row that has the event of the pair if this one is that of its sensor, or the other way round."""
        if entry.sensor is not None:
            others: Iterable[int] = self._by_sensor.get(entry.sensor, ())
        else:
            others = map(_sensor_subject, self._by_pair.get(entry.pair_id or 0, ()))
        # What was before its own last event is of another contact.
        own = self._newest.get(_subject(entry))
        earliest = own.place if own is not None else -1
        rows = (self._newest.get(other) for other in others)
        twins = [row for row in rows if row is not None and row.place > earliest and self._are_twins(row, entry)]
        return max(twins, key=lambda row: row.place, default=None)

    def _are_twins(self, row: EventRow, entry: LogEntry) -> bool:
        if row.entry.kind is not entry.kind or entry.seen - row.entry.seen > _TOGETHER:
            return False
        known = {other.sensor for _, other in row.events}
        if entry.sensor is not None:
            return entry.sensor not in known and None in known
        # The pair of all sensors that are there, which has no event of its own yet.
        return None not in known and all(entry.pair_id in self._by_sensor.get(sensor or 0, ()) for sensor in known)


def _subject(entry: LogEntry) -> int:
    """A number for the pair or the sensor of an event."""
    return _sensor_subject(entry.sensor) if entry.sensor is not None else entry.pair_id or 0


def _sensor_subject(sensor: int) -> int:
    return ~sensor


def _pairs_by_sensor(tracker: ContactTracker, model: MjModel) -> dict[int, frozenset[int]]:
    names, tracked = tracker.sensors.declared_names, tracker.pairs.choice.geoms
    if not len(tracked):
        return {}
    ids = {name: sensor_id for sensor_id, name in enumerate(sensor_names(model))}
    # Those that the viewer made are not in the model.
    sensors = np.array([sensor for sensor, name in enumerate(names) if name in ids], int)
    pairs = possible_pairs(model, [ids[names[sensor]] for sensor in sensors], 4 * _MOST_PAIRS)
    keys, wanted = (np.sort(geoms, axis=1) @ [model.ngeom, 1] for geoms in (tracked, pairs.geoms))
    order = np.argsort(keys)
    places = order[np.minimum(np.searchsorted(keys[order], wanted), len(order) - 1)]
    kept = (keys[places] == wanted) & pairs.complete[pairs.sensors]
    found: dict[int, set[int]] = {}
    for sensor, place in zip(sensors[pairs.sensors[kept]].tolist(), places[kept].tolist(), strict=True):
        found.setdefault(sensor, set()).add(place)
    return {sensor: frozenset(those) for sensor, those in found.items() if len(those) <= _MOST_PAIRS}


def passes(row: EventRow, words: Sequence[str], kind: EventKind | None) -> bool:
    """True if a row is of a kind, and all words are in its names."""
    if kind is not None and row.entry.kind is not kind:
        return False
    text = row.text.lower()
    return all(word in text for word in words)
