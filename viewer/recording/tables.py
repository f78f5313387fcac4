"""Turns a session at a physics step into rows of the tables of a data file: contacts and touch values."""

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from enum import Enum, auto
from typing import Any

import numpy as np
from numpy.typing import NDArray

from ..sensors.contacts import Array, ContactBatch
from ..session.sensor_reading import SensorGroup
from ..session.session import Session
from ..touch.touch_sensors import SceneTouch

NO_FRAME = -1
"""In place of a video frame's number: no frame shows this step."""


@dataclass(frozen=True)
class TouchSample:
    """One touch sensor."""

    name: str
    values: Array
    """What the device reports, (1,), or (3,) along its x, y, z; NaN before its first sample."""
    force: Array
    """What an ideal device would report [N], of the same shape."""
    found: int
    """Contacts of its body."""


@dataclass(frozen=True)
class StepSample:
    """All sensors at one step."""

    step: int
    time: float
    """Simulated time [s]."""
    video_frame: int
    """The first video frame that shows this step, or NO_FRAME."""
    names: tuple[str, ...]
    """Of all contact sensors of the engine."""
    groups: list[SensorGroup]
    """Contacts of the shown sensors, each of which is in one group."""
    geoms: Mapping[int, Sequence[tuple[str, str]]]
    """Names of the two geoms of each slot, empty strings where unknown: of the sensors that report contacts, by their
    places in `names`."""
    touches: list[TouchSample]

    @property
    def reading_count(self) -> int:
        """How many sensors were read."""
        return sum(len(numbers) for numbers, _ in self.groups) + len(self.touches)

    def batches(self) -> dict[str, ContactBatch]:
        """The contacts of each shown sensor, by its name."""
        return {self.names[number]: batch.at(i) for numbers, batch in self.groups for i, number in enumerate(numbers)}


def running_touches(session: Session) -> list[SceneTouch]:
    """Touch sensors that go into a file: those that are enabled."""
    return [touch for touch in session.engine.touch_sensors or () if touch.enabled]


def take_sample(session: Session, step: int, time: float, video_frame: int = NO_FRAME) -> StepSample:
    """The values of the sensors now."""
    groups = session.groups_now()
    names = session.engine.sensors.names
    # Most of many touch nothing.
    touched = [number for numbers, batch in groups for number in numbers[batch.filled.any(axis=-1)].tolist()]
    geoms = {number: session.details(names[number]).geoms for number in touched}
    touches: list[TouchSample] = []
    sensors = session.engine.touch_sensors
    if sensors is not None:
        touches = [
            # No negative zeros.
            TouchSample(touch.name, sensors.value(touch.name), sensors.true(touch.name) + 0.0, touch.found)
            for touch in running_touches(session)
        ]
    return StepSample(step, time, video_frame, names, groups, geoms, touches)


class Kind(Enum):
    """What a column holds."""

    INTEGER = auto()
    """A whole number; negative where there is none."""
    NUMBER = auto()
    """NaN where it is not known."""
    TEXT = auto()


Columns = Mapping[str, Kind]
"""In the order of a row."""
Values = NDArray[np.int64] | NDArray[np.float64] | list[str]
Block = Mapping[str, Values]
"""Some rows, column by column."""


def shown_columns(columns: Columns, has_video: bool) -> Columns:
    """Those of a file that stands alone, or beside a video."""
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
    "penetration": "m",
    "penetration_time": "s",
    "dropped_time": "s",
    "drop_start": "s",
    "unstable_at": "s",
    "wall_time": "s",
}


def unit_of(column: str) -> str:
    """The SI unit of a column, by its name or that of its vector; empty for names, counts, directions and the values of
    touch sensors, whose unit is that of their tables."""
    return _UNITS.get(column) or _UNITS.get(column.partition("_")[0], "")


def as_column(kind: Kind, values: list[Any]) -> Values:
    """Values of rows as a column; None is a number that is not known."""
    if kind is Kind.TEXT:
        return values
    return np.array(values, np.int64) if kind is Kind.INTEGER else np.array(values, np.float64)


_XYZ = ("x", "y", "z")
_COMPONENTS = ("normal", "tangent0", "tangent1")
_INTEGERS = ("step", "video_frame", "slot")
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
"""Where the vectors of a contact begin among the numbers."""
_TEXTS = ("sensor", "geom1", "geom2")
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
"""SI units. Forces and torques act on object 2 (`geom2`), during the step that ends at `time`: along the contact's
normal and tangents (NaN for netforce sensors, which have none), and along the world's axes."""


def contact_rows(samples: Iterable[StepSample]) -> Block:
    """A row for each filled slot. A sensor that finds nothing has one row: `found` is 0, its values are NaN.

    So every sensor has a row at every step, and sums over rows are sums over contacts.
    """
    blocks = [_step_rows(sample) for sample in samples if sample.groups]
    integers = np.concatenate([part for part, _, _ in blocks] or [np.zeros((0, len(_INTEGERS)), np.int64)])
    numbers = np.concatenate([part for _, part, _ in blocks] or [np.zeros((0, len(_NUMBERS)))])
    texts = [row for _, _, part in blocks for row in part]
    block: dict[str, Values] = {name: integers[:, i] for i, name in enumerate(_INTEGERS)}
    block |= {name: numbers[:, i] for i, name in enumerate(_NUMBERS)}
    block |= {name: [row[i] for row in texts] for i, name in enumerate(_TEXTS)}
    return block


def _step_rows(sample: StepSample) -> tuple[NDArray[np.int64], NDArray[np.float64], list[tuple[str, str, str]]]:
    """Integers, numbers and texts of the rows of a step, in the order of the sensors."""
    places, slots, numbers = (np.concatenate(part) for part in zip(*map(_group_rows, sample.groups), strict=True))
    order = np.argsort(places, kind="stable")
    places, slots, numbers = places[order], slots[order], numbers[order]
    integers = np.empty((len(slots), len(_INTEGERS)), np.int64)
    integers[:] = sample.step, sample.video_frame, 0
    integers[:, 2] = slots
    numbers[:, 0] = sample.time
    texts = [
        (sample.names[place], *(sample.geoms[place][slot] if place in sample.geoms else ("", "")))
        for place, slot in zip(places.tolist(), slots.tolist(), strict=True)
    ]
    return integers, numbers, texts


def _group_rows(group: SensorGroup) -> tuple[NDArray[np.intp], NDArray[np.intp], NDArray[np.float64]]:
    """Place of the sensor, slot and numbers of each row; without the time."""
    batch = group.batch
    rows = batch.filled.copy()
    rows[~rows.any(axis=-1), 0] = True
    members, slots = rows.nonzero()
    numbers = np.full((len(members), len(_NUMBERS)), np.nan)
    numbers[:, 1] = batch.found[members]
    filled = batch.filled[members, slots]
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
    return group.numbers[members], slots, numbers


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
"""`component` is 0, or 0, 1, 2 for the x, y, z of force-3d. `value` is in units of the device's table; `force` is what
an ideal device would report [N]."""


def touch_rows(samples: Iterable[StepSample]) -> Block:
    """A row for each value of each touch sensor."""
    rows = [
        (sample.step, sample.time, sample.video_frame, touch.name, component, value, force, touch.found)
        for sample in samples
        for touch in sample.touches
        for component, (value, force) in enumerate(zip(touch.values.tolist(), touch.force.tolist(), strict=True))
    ]
    columns = {name: [row[i] for row in rows] for i, name in enumerate(TOUCH_COLUMNS)}
    return {name: as_column(TOUCH_COLUMNS[name], values) for name, values in columns.items()}
