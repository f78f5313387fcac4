"""Collects rows for the tables of a data file from the steps of a session: contacts, touch values and events."""

from collections.abc import Iterable, Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass
from enum import Enum, auto
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from ..channels.channel import Samples
from ..engines.steps import StepBlock, StepBuffer
from ..errors import EngineError, UnstableError
from ..events.event_log import LogEntry, event_record
from ..events.tracker import ContactTracker
from ..mjmodel.matching import GeomReader, ListedContacts, ReportedContacts
from ..mjmodel.names import geom_names
from ..sensors.contacts import Array, ContactBatch
from ..session.session import Session
from ..settings import Reduce
from ..touch.touch_sensors import SceneTouch
from .schedule import Schedule

NO_FRAME = -1
"""Number of the video frame for steps that no frame shows."""


@dataclass(frozen=True)
class TouchSample:
    """Sample of one touch sensor."""

    name: str
    values: Array
    """Output of the device, (1,), or (3,) along its x, y, z; NaN before its first sample."""
    force: Array
    """Output of an ideal device [N], of the same shape."""
    found: int
    """Number of contacts of the sensor's body."""


def running_touches(session: Session) -> list[SceneTouch]:
    """Return the touch sensors that go into a file: those that are enabled."""
    return [touch for touch in session.engine.touch_sensors or () if touch.enabled]


def touch_samples(session: Session) -> list[TouchSample]:
    """Return the values of the touch sensors now."""
    sensors = session.engine.touch_sensors
    if sensors is None:
        return []
    return [
        # No negative zeros.
        TouchSample(touch.name, sensors.value(touch.name), sensors.true(touch.name) + 0.0, touch.found)
        for touch in running_touches(session)
    ]


class Kind(Enum):
    """Kind of values in a column."""

    INTEGER = auto()
    """Whole numbers; a negative number means that there is no value."""
    NUMBER = auto()
    """Floating point numbers; NaN means that the value is unknown."""
    TEXT = auto()


Columns = Mapping[str, Kind]
"""Kinds of the columns, in the order of a row."""


class Texts(NamedTuple):
    """A column of texts with few different ones."""

    codes: NDArray[np.intp]
    """Index of each row's text in `names`, (rows,)."""
    names: list[str]


Values = NDArray[np.int64] | NDArray[np.float64] | Texts
Block = Mapping[str, Values]
"""Some rows, column by column."""


def shown_columns(columns: Columns, has_video: bool) -> Columns:
    """Return the columns of a file, without `video_frame` if there is no video."""
    return {name: kind for name, kind in columns.items() if has_video or name != "video_frame"}


_UNITS = {
    "time": "s",
    "force": "N",
    "torque": "N m",
    "dist": "m",
    "pos": "m",
    "distance": "m",
    "normal_velocity": "m/s",
    "approach_speed": "m/s",
    "duration": "s",
    "peak_force": "N",
    "peak_time": "s",
    "mean_force": "N",
    "impulse": "N s",
    "contact_time": "s",
    "air_time": "s",
    "longest_air_time": "s",
    "slip_distance": "m",
    "slip_time": "s",
    "slip_start": "s",
    "creep_distance": "m",
    "creep_speed": "m/s",
    "creep_start": "s",
    "slip_speed": "m/s",
    "penetration": "m",
    "penetration_time": "s",
    "dropped_time": "s",
    "drop_start": "s",
    "unstable_at": "s",
    "wall_time": "s",
}


def unit_of(column: str) -> str:
    """Return the SI unit of a column, by its name or the name of its vector. Empty for names, counts, directions, and
    values of touch sensors, which have the unit of their device's table."""
    return _UNITS.get(column) or _UNITS.get(column.partition("_")[0], "")


def as_column(kind: Kind, values: list[Any]) -> Values:
    """Return the values of rows as a column; None becomes NaN."""
    if kind is Kind.TEXT:
        names = list(dict.fromkeys(values))
        places = {name: place for place, name in enumerate(names)}
        return Texts(np.array([places[value] for value in values], np.intp), names)
    return np.array(values, np.int64) if kind is Kind.INTEGER else np.array(values, np.float64)


_XYZ = ("x", "y", "z")
_COMPONENTS = ("normal", "tangent0", "tangent1")
_NUMBERS = (
    "time",
    "found",
    *(f"force_{name}" for name in _COMPONENTS),
    *(f"force_{name}" for name in _XYZ),
    *(f"torque_{name}" for name in _COMPONENTS),
    *(f"torque_{name}" for name in _XYZ),
    "dist",
    *(f"{vector}_{name}" for vector in ("pos", "normal", "tangent0", "tangent1") for name in _XYZ),
)
_DIST = _NUMBERS.index("dist")
_VECTORS = (*range(2, _DIST, 3), *range(_DIST + 1, len(_NUMBERS), 3))
"""Index in `_NUMBERS` of the first component of each vector."""
CONTACT_COLUMNS: Columns = {
    "step": Kind.INTEGER,
    "time": Kind.NUMBER,
    "video_frame": Kind.INTEGER,
    "sensor": Kind.TEXT,
    "slot": Kind.INTEGER,
    # Not always whole: MuJoCo interpolates it for a sensor with a delay.
    "found": Kind.NUMBER,
    **dict.fromkeys(_NUMBERS[2:], Kind.NUMBER),
    "geom1": Kind.TEXT,
    "geom2": Kind.TEXT,
}
"""Columns of contacts, in SI units. Forces and torques act on object 2 (`geom2`), during the step that ends at `time`:
along the contact's normal and tangents (NaN for netforce sensors, which have none), and along the world's axes."""


class ContactRows:
    """Collector of a session's contacts as rows, for many steps at once.

    Each filled slot has a row. A sensor that finds nothing has one row: `found` is 0, other values are NaN. So every
    sensor has a row at every step, and sums over rows are sums over contacts.
    """

    def __init__(self, session: Session, readings: int) -> None:
        """Begin with the sensors that are shown now. Blocks have about `readings` readings, one for each sensor and
        step."""
        engine, self._simulation = session.engine, session.simulation
        names = [sensor.name for sensor in session.shown_sensors]
        sides = [engine.covered_geoms(name) for name in names]
        by_geoms = engine.has_contact_list and None not in sides
        self._sides = sides
        self._geom_names = ["", *geom_names(engine.model)]
        """Names by code: first the empty name of an unknown geom, then the names of geoms by id."""
        self._geom_codes = {name: code for code, name in enumerate(self._geom_names)}

        def details(name: str, batch: ContactBatch) -> Any:
            return engine.details(name).geoms if batch.filled.any() else ()

        read_geoms = GeomReader()
        self._buffer = StepBuffer(
            engine,
            names,
            (lambda: read_geoms(engine.contact_data())) if by_geoms else None,
            details,
            most_steps=max(1, -(-readings // max(1, len(names)))),
            from_rows=by_geoms,
        )
        self._steps: list[int] = []
        self._frames: list[int] = []

    def add(self, step: int, video_frame: int) -> Block | None:
        """Add the session's present step. Return the rows of a block if it is now complete, else None."""
        done = self._buffer.add(self._simulation.shown_step)
        self._steps.append(step)
        self._frames.append(video_frame)
        return None if done is None else self._rows(done)

    def pop_block(self) -> Block | None:
        """Return the rows of the steps since the last block; None if there are none."""
        done = self._buffer.pop_block()
        return None if done is None else self._rows(done)

    def _rows(self, block: StepBlock) -> Block:
        count = len(block)
        parts = [self._group_rows(block, *group) for group in block.groups()]
        if parts:
            steps, places, slots, numbers, geoms1, geoms2 = (np.concatenate(part) for part in zip(*parts, strict=True))
        else:
            steps = places = slots = np.zeros(0, np.intp)
            numbers, geoms1, geoms2 = np.zeros((0, len(_NUMBERS))), slots, slots
        if len(parts) > 1:
            order = np.lexsort((slots, places, steps))
            steps, places, slots, numbers = steps[order], places[order], slots[order], numbers[order]
            geoms1, geoms2 = geoms1[order], geoms2[order]
        numbers[:, 0] = block.times[steps]
        of_steps = {"step": self._steps[:count], "video_frame": self._frames[:count]}
        del self._steps[:count], self._frames[:count]
        rows: dict[str, Values] = {name: np.array(values, np.int64)[steps] for name, values in of_steps.items()}
        rows["slot"] = slots.astype(np.int64)
        rows |= {name: numbers[:, i] for i, name in enumerate(_NUMBERS)}
        rows["sensor"] = Texts(places, list(block.names))
        rows |= {name: Texts(codes, self._geom_names) for name, codes in (("geom1", geoms1), ("geom2", geoms2))}
        return rows

    def _code(self, name: str) -> int:
        """Return the code of the name of a geom or flex; a new name gets a new code."""
        if name not in self._geom_codes:
            self._geom_codes[name] = len(self._geom_names)
            self._geom_names.append(name)
        return self._geom_codes[name]

    def _group_rows(self, block: StepBlock, places: NDArray[np.intp], reduce: Reduce, batch: ContactBatch) -> Any:
        """Return step, index of the sensor, slot, numbers without the time and codes of both geoms of each row."""
        rows = batch.filled.copy()
        rows[~rows.any(axis=-1), 0] = True
        steps, members, slots = rows.nonzero()
        numbers = np.full((len(steps), len(_NUMBERS)), np.nan)
        numbers[:, 1] = batch.found[steps, members]
        filled = batch.filled[steps, members, slots]
        if batch.force is not None:
            # Nothing touches here, but which forces led here is not known.
            numbers[~filled & np.isnan(batch.force[steps, members, slots, 0]), 1] = np.nan
        # What they all hold, (contacts, ...): of many sensors, few have any.
        contacts = batch.mapped(lambda name, array: array if name == "found" else array[batch.filled])
        local = not batch.in_world_frame
        vectors = (
            contacts.force if local else None,
            contacts.force_world,
            contacts.torque if local else None,
            contacts.torque_world,
            contacts.pos,
            contacts.normal if local else None,
            contacts.tangent0 if local else None,
            contacts.tangent1 if local else None,
        )
        if contacts.dist is not None:
            numbers[filled, _DIST] = contacts.dist
        for at, vector in zip(_VECTORS, vectors, strict=True):
            if vector is not None:
                numbers[filled, at : at + 3] = vector
        geoms = np.zeros((len(steps), 2), np.intp)
        if (read := block.read_alone.get(int(places[0]))) is not None:
            for row in np.flatnonzero(filled).tolist():
                geoms[row] = [self._code(name) for name in read[steps[row]][slots[row]]]
        elif local and filled.any():
            assert contacts.pos is not None
            assert contacts.normal is not None
            owners = members[filled]
            present = [(member, self._sides[places[member]]) for member in np.unique(owners).tolist()]
            matches = [(np.flatnonzero(owners == member), *sides) for member, sides in present if sides is not None]
            assert contacts.dist is not None
            reported = ReportedContacts(steps[filled], contacts.pos, contacts.dist, contacts.normal)
            ids = ListedContacts(block.lists).geoms(reported, matches)
            geoms[filled] = ids + 1
        return steps, places[members], slots, numbers, geoms[:, 0], geoms[:, 1]


TOUCH_COLUMNS: Columns = {
    "step": Kind.INTEGER,
    "time": Kind.NUMBER,
    "video_frame": Kind.INTEGER,
    "sensor": Kind.TEXT,
    "component": Kind.INTEGER,
    "value": Kind.NUMBER,
    "force": Kind.NUMBER,
    "found": Kind.INTEGER,
}
"""Columns of touch values. `component` is 0, or 0, 1, 2 for the x, y, z of force-3d. `value` is in units of the
device's table; `force` is what an ideal device would report [N]."""


TouchStep = tuple[int, float, int, list[TouchSample]]
"""Step, simulated time [s], video frame and touch sensors."""


def touch_rows(samples: Iterable[TouchStep]) -> Block:
    """Return a row for each value of each touch sensor."""
    rows = [
        (step, time, frame, touch.name, component, value, force, touch.found)
        for step, time, frame, touches in samples
        for touch in touches
        for component, (value, force) in enumerate(zip(touch.values.tolist(), touch.force.tolist(), strict=True))
    ]
    columns = {name: [row[i] for row in rows] for i, name in enumerate(TOUCH_COLUMNS)}
    return {name: as_column(TOUCH_COLUMNS[name], values) for name, values in columns.items()}


EVENT_COLUMNS: Columns = {
    "step": Kind.INTEGER,
    "time": Kind.NUMBER,
    "video_frame": Kind.INTEGER,
    "pair_id": Kind.INTEGER,
    "geom1": Kind.TEXT,
    "geom2": Kind.TEXT,
    "kind": Kind.TEXT,
    "distance": Kind.NUMBER,
    "normal_velocity": Kind.NUMBER,
    "approach_speed": Kind.NUMBER,
    "duration": Kind.NUMBER,
    "peak_force": Kind.NUMBER,
    "body1": Kind.TEXT,
    "body2": Kind.TEXT,
    "slip_speed": Kind.NUMBER,
}
"""Columns of events, in SI units. `time` is inside a step; `step` and `video_frame` are the first that show the event.
`peak_force` is the largest normal force of the contact so far. For slip and creep, `distance` is how far the surfaces
moved, and `slip_speed` the largest speed."""


@dataclass(frozen=True)
class SeenEvent:
    """Contact event with the frame that shows it first."""

    step: int
    video_frame: int
    """Number of the frame; NO_FRAME without a video, and after its last frame."""
    entry: LogEntry


class EventCollector:
    """Collector of contact events of the contact sensors' pairs of geoms, or of all pairs if there are no sensors."""

    def __init__(self, session: Session, video: Schedule | None = None) -> None:
        """Begin to collect. `video`: schedule of the video whose frame numbers the events get."""
        self._session = session
        self._video = video
        self._origin = session.engine.time
        self._tracker = ContactTracker(session.engine, limit=None)
        session.simulation.observers.append(self._tracker)

    @property
    def pair_count(self) -> int:
        """Number of pairs that are followed."""
        return len(self._tracker.pairs.labels)

    @property
    def pair_total(self) -> int:
        """Number of pairs that should be followed; a limit may leave some out."""
        return self._tracker.pairs.choice.total

    @property
    def untracked(self) -> str:
        """Return, for the user, the contacts of the scene that make no events; empty if there are none."""
        return self._tracker.pairs.choice.untracked

    def finish(self, start: float, end: float) -> list[SeenEvent]:
        """Return the events in a span of time [s] that ends now, in order. Simulates one more step and stops observing.

        MuJoCo computes the contacts of the state after a step only when the next step starts from it.
        """
        simulation, tracker = self._session.simulation, self._tracker
        # Not after a simulation that diverged, and is back at its start.
        if simulation.shown.time == tracker.time:
            with suppress(UnstableError, EngineError):
                # Without a controller: it may be what ended the simulation.
                simulation.step(1, lambda: None)
        self.close()
        return [self._seen(entry) for entry in tracker.log if entry.pair_id is not None and start <= entry.time <= end]

    def close(self) -> None:
        """Stop observing the session. Calling it twice is safe."""
        if self._tracker in self._session.simulation.observers:
            self._session.simulation.observers.remove(self._tracker)

    def _seen(self, entry: LogEntry) -> SeenEvent:
        step = round((entry.seen - self._origin) / self._session.engine.timestep)
        if self._video is None:
            return SeenEvent(step, NO_FRAME, entry)
        later = range(step, self._video.last_step + 1)
        frames = (frame for frame in map(self._video.frame, later) if frame is not None)
        return SeenEvent(step, next(frames, NO_FRAME), entry)


CHANNEL_COLUMNS: Columns = {
    "step": Kind.INTEGER,
    "time": Kind.NUMBER,
    "video_frame": Kind.INTEGER,
    "channel": Kind.TEXT,
    "value": Kind.NUMBER,
    "unit": Kind.TEXT,
}
"""Columns of channels. `step` and `video_frame` are those of the first written step at or after `time`; negative if
there is none."""


def channel_rows(channels: Sequence[Samples], written: Sequence[tuple[int, float, int]]) -> Block:
    """Return a row for each value; `written`: step, time [s] and video frame of the steps of the file."""
    steps, times, frames = (np.array(column) for column in zip(*written, strict=True))
    counts = [len(each.times) for each in channels]
    time = np.concatenate([each.times for each in channels])
    places = np.searchsorted(times, time - 1e-9)
    known = places < len(times)
    places = np.minimum(places, len(times) - 1)
    owners = np.repeat(np.arange(len(channels)), counts)
    return {
        "step": np.where(known, steps[places], -1).astype(np.int64),
        "time": time,
        "video_frame": np.where(known, frames[places], NO_FRAME).astype(np.int64),
        "channel": Texts(owners, [each.channel.name for each in channels]),
        "value": np.concatenate([each.values for each in channels]),
        "unit": Texts(owners, [each.channel.unit for each in channels]),
    }


def event_rows(events: Iterable[SeenEvent]) -> Block:
    """Return a row for each event."""
    records: list[dict[str, Any]] = []
    for event in events:
        record: dict[str, Any] = dict.fromkeys(EVENT_COLUMNS) | {"body1": "", "body2": ""} | event_record(event.entry)
        record["geom1"], record["geom2"] = record.pop("geoms")
        if event.entry.motion is not None:
            record["body1"], record["body2"] = record.pop("bodies")
            record["slip_speed"] = record["speed"]
        records.append(record | {"step": event.step, "video_frame": event.video_frame})
    return {name: as_column(kind, [record[name] for record in records]) for name, kind in EVENT_COLUMNS.items()}
