"""Keeps begins and ends of contacts in order of time, a bounded number, with the peak force of each contact."""

import json
import math
from bisect import bisect_right
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass, replace
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from .contact_events import ContactEvent, EventKind, Geoms, SensorEvent
from .friction_states import Motion
from .reasons import EventReason

LIMIT = 20_000
"""Number of events that are kept."""


@dataclass(eq=False, slots=True)
class LoggedContact:
    """Contact of a pair or a sensor; its begin and end events share it."""

    begin: float
    """Time at which the contact begins [s]; begin of the log if the contact existed before."""
    end: float = math.nan
    """Time at which the contact ends [s]; NaN while it lasts."""
    peak_force: float = math.nan
    """Largest force so far [N]: the normal forces between a pair, the force of a sensor. NaN if not known."""
    peak_time: float = math.nan
    """Time of the largest force [s]."""

    @property
    def lasting(self) -> bool:
        return math.isnan(self.end)

    def duration(self, now: float) -> float:
        """Return the time that the contact lasted, or has lasted up to `now` [s]."""
        return (now if self.lasting else self.end) - self.begin


class MotionEvent(NamedTuple):
    """Begin or end of a pair's slip or creep."""

    time: float
    """Simulation time of the event [s]."""
    pair_id: int
    """Index of the pair among those that are tracked."""
    geoms: Geoms
    bodies: tuple[str, str]
    sensors: tuple[str, ...]
    """Contact sensors that cover the pair."""
    kind: EventKind
    motion: Motion
    reason: EventReason | None = None
    """Reason of the motion; None where the motion ends."""

    @property
    def why(self) -> str:
        """Reason of the motion, in a sentence; empty where the motion ends."""
        return "" if self.reason is None else self.reason.text

    @property
    def distance(self) -> float:
        """Distance from begin to end, or so far [m]."""
        return self.motion.distance

    @property
    def speed(self) -> float:
        """Largest speed from begin to end, or so far [m/s]."""
        return self.motion.speed

    @property
    def duration(self) -> float:
        """Time since the motion began, at `time` [s]: 0 at its begin."""
        return self.time - self.motion.begin

    @property
    def use(self) -> float:
        """Friction use when the motion began; NaN if not known."""
        return self.motion.at[2] if self.motion.at else math.nan


class LogEntry(NamedTuple):
    """Event of a pair or of a sensor, as the log keeps it."""

    time: float
    """Simulation time of the event [s]."""
    seen: float
    """Simulation time of the first step that shows it [s]."""
    kind: EventKind
    subject: str
    """Name of the sensor, or of the two geoms."""
    event: ContactEvent | SensorEvent | MotionEvent
    contact: LoggedContact

    @property
    def pair_id(self) -> int | None:
        """Id of the pair; None for a sensor's event."""
        return None if isinstance(self.event, SensorEvent) else self.event.pair_id

    @property
    def motion(self) -> Motion | None:
        """Slip or creep; None where contact begins or ends."""
        return self.event.motion if isinstance(self.event, MotionEvent) else None

    @property
    def sensor(self) -> int | None:
        """Index of the sensor; None for a pair's event."""
        return self.event.sensor if isinstance(self.event, SensorEvent) else None

    @property
    def approach_speed(self) -> float:
        """Speed at which the surfaces of a pair closed in [m/s]; negative when they parted. NaN for a sensor."""
        return self.event.approach_speed if isinstance(self.event, ContactEvent) else math.nan


class PeakHold:
    """Largest force of each open contact."""

    def __init__(self, count: int) -> None:
        """Begin without contacts of `count` pairs or sensors."""
        # The last place is for forces of pairs that are not tracked.
        self._peaks = np.full(count + 1, math.inf)
        self._contacts: dict[int, LoggedContact] = {}

    def open(self, place: int, contact: LoggedContact) -> None:
        self._contacts[place] = contact
        self._peaks[place] = -math.inf if math.isnan(contact.peak_force) else contact.peak_force

    def close(self, place: int) -> LoggedContact:
        """Return the contact that was open at a place, and close it."""
        self._peaks[place] = math.inf
        return self._contacts.pop(place)

    def update(self, time: float, places: NDArray[np.intp], forces: NDArray[np.float64]) -> None:
        """Raise the peaks at some places to forces [N], (k,) each; place -1 for forces that belong to no peak."""
        higher = forces > self._peaks[places]
        if higher.any():
            for place, force in zip(places[higher].tolist(), forces[higher].tolist(), strict=True):
                self._raise(place, force, time)

    def update_steps(self, times: Sequence[float], places: NDArray[np.intp], forces: NDArray[np.float64]) -> None:
        """Raise peaks to the forces of several steps: times [s], (steps,), and forces [N], (steps, k)."""
        highest = np.fmax.reduce(forces)
        for i in (highest > self._peaks[places]).nonzero()[0].tolist():
            force = highest.item(i)
            self._raise(places.item(i), force, times[forces[:, i].tolist().index(force)])

    def _raise(self, place: int, force: float, time: float) -> None:
        self._peaks[place] = force
        contact = self._contacts[place]
        contact.peak_force, contact.peak_time = force, time


class EventLog:
    """Last events, in order of time."""

    def __init__(self, limit: int | None = LIMIT) -> None:
        """Begin an empty log. `limit`: number of events that are kept; None for all."""
        self.entries: list[LogEntry] = []
        self.dropped = 0
        """Number of oldest events that were dropped."""
        self.version = 0
        """Number that changes whenever the entries do."""
        self._limit = limit

    def add(self, entry: LogEntry) -> None:
        self.version += 1
        if not self.entries or self.entries[-1].time <= entry.time:
            self.entries.append(entry)
        else:
            # A sensor's event is confirmed some steps after it happened.
            self.entries.insert(bisect_right(self.entries, entry.time, key=_time), entry)
        if self._limit is not None and len(self.entries) > 1.1 * self._limit:
            self.dropped += len(self.entries) - self._limit
            del self.entries[: -self._limit]

    def clear(self) -> None:
        self.version += 1
        self.entries.clear()
        self.dropped = 0

    def truncate(self, time: float) -> list[LogEntry]:
        """Drop the events after a time [s]; return the last event of each pair and sensor before it, oldest first.

        Contacts that ended after that time last again; they keep a peak from before it.
        """
        self.version += 1
        del self.entries[bisect_right(self.entries, time, key=_time) :]
        self.dropped = self.dropped if self.entries else 0
        last = {(entry.pair_id, entry.sensor): entry for entry in self.entries if entry.motion is None}
        for entry in last.values():
            contact = entry.contact
            if entry.kind is EventKind.BEGIN:
                contact.end = math.nan
                if contact.peak_time > time:
                    contact.peak_force = contact.peak_time = math.nan
        return list(last.values())

    def following(self, now: float) -> LogEntry | None:
        """Return the first event that is seen after a time [s]."""
        return next((entry for entry in self.entries if entry.seen > now), None)

    def preceding(self, now: float) -> LogEntry | None:
        """Return the last event that was seen before a time [s]."""
        return next((entry for entry in reversed(self.entries) if entry.seen < now), None)

    def between(self, start: float, end: float) -> Sequence[LogEntry]:
        """Return the events in a span of time [s], for marks on a time axis."""
        first = bisect_right(self.entries, start, key=_time)
        return self.entries[first : bisect_right(self.entries, end, key=_time)]

    def __iter__(self) -> Iterator[LogEntry]:
        return iter(self.entries)

    def __len__(self) -> int:
        return len(self.entries)


def _time(entry: LogEntry) -> float:
    return entry.time


def event_record(entry: LogEntry) -> dict[str, Any]:
    """Return the fields of a pair's event by name, in SI units, for JSON: unknown values are None.

    Events of slip and creep have other fields than begins and ends of contact.
    """
    event = entry.event
    if isinstance(event, MotionEvent):
        return {
            "time": event.time,
            "pair_id": event.pair_id,
            "geoms": list(event.geoms),
            "kind": str(event.kind),
            "bodies": list(event.bodies),
            "sensors": list(event.sensors),
            "distance": event.distance,
            "speed": event.speed,
            "friction_use": _known(event.use),
            "duration": event.duration,
            "why": event.why,
            "normal_velocity": None,
            "approach_speed": None,
            "peak_force": None,
        }
    assert isinstance(event, ContactEvent)
    return {
        "time": event.time,
        "pair_id": event.pair_id,
        "geoms": list(event.geoms),
        "kind": str(event.kind),
        "distance": _known(event.distance),
        "normal_velocity": _known(event.normal_velocity),
        "approach_speed": _known(event.approach_speed),
        "duration": event.duration,
        "peak_force": _known(entry.contact.peak_force),
    }


def events_as_json(entries: Iterable[LogEntry]) -> str:
    """Return events as a JSON list of objects, one per line."""
    records = [json.dumps(event_record(entry)) for entry in entries if entry.pair_id is not None]
    return "[\n" + ",\n".join(records) + "\n]\n" if records else "[]\n"


def _known(value: float) -> float | None:
    return value if math.isfinite(value) else None


def merge_bodies(
    entries: Iterable[LogEntry], bodies: Sequence[tuple[str, str]], lasting: Iterable[int]
) -> list[LogEntry]:
    """Return the events of pairs of bodies: a foot of four geoms touches down once, and slips once.

    Args:
        entries: Events of pairs of geoms, in order of time.
        bodies: Names of the two bodies of each pair, or of other objects that share its events.
        lasting: Pairs in contact after the last of the events.

    Returns:
        The first begin and the last end of contacts that overlap, with their largest force, distance and speed.
    """
    kept = [entry for entry in entries if entry.pair_id is not None]
    known: dict[int, EventKind] = {}
    for entry in kept:
        if entry.motion is None:
            known.setdefault(entry.event.pair_id, entry.kind)  # type: ignore[union-attr]
    # A contact that ends without a begin, or lasts without any event, existed from the start.
    there = {pair for pair, kind in known.items() if kind is EventKind.END} | (set(lasting) - set(known))
    open_: dict[tuple[tuple[str, str], str], set[int]] = {}
    for pair in there:
        open_.setdefault((bodies[pair], ""), set()).add(pair)
    shared: dict[tuple[tuple[str, str], str], LogEntry] = {}
    merged = []
    for entry in kept:
        pair = entry.event.pair_id  # type: ignore[union-attr]
        what, _, edge = entry.kind.rpartition("_")
        key = bodies[pair], what
        touching, first = open_.setdefault(key, set()), shared.get(key)
        if edge == "begin":
            if not touching:
                merged.append(_of_bodies(entry, bodies[pair]))
                shared[key] = merged[-1]
            elif first is not None:
                _raise_to(first, entry)
            touching.add(pair)
        else:
            touching.discard(pair)
            if not touching:
                merged.append(_of_bodies(entry, bodies[pair], first))
    return merged


def _of_bodies(entry: LogEntry, bodies: tuple[str, str], begin: LogEntry | None = None) -> LogEntry:
    """Return an event with the names of bodies; an end shares contact or motion with its begin."""
    event: Any = entry.event
    if isinstance(event, MotionEvent):
        motion = replace(event.motion) if begin is None or begin.motion is None else begin.motion
        motion.end = max(motion.end, event.motion.end) if begin is not None else motion.end
        event = event._replace(geoms=bodies, motion=motion)
        return entry._replace(subject=" × ".join(bodies), event=event)
    contact = entry.contact if begin is None else begin.contact
    if begin is None:
        contact = replace(contact)
    else:
        _raise_to(begin, entry)
        contact.end = entry.contact.end
        event = event._replace(duration=entry.time - begin.time)
    return entry._replace(subject=" × ".join(bodies), event=event._replace(geoms=bodies), contact=contact)


def _raise_to(entry: LogEntry, other: LogEntry) -> None:
    """Raise the peaks of an event of bodies to those of a further pair of geoms."""
    if entry.motion is not None and other.motion is not None:
        entry.motion.distance = max(entry.motion.distance, other.motion.distance)
        entry.motion.speed = max(entry.motion.speed, other.motion.speed)
        return
    contact, peak = entry.contact, other.contact.peak_force
    if math.isnan(contact.peak_force) or peak > contact.peak_force:
        contact.peak_force, contact.peak_time = peak, other.contact.peak_time
