"""Contacts of sensors at a step to rows of named columns, the same for every data file."""

from collections.abc import Iterable, Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from ..engines.contract import ContactSensor
from ..sensors.contacts import Array, ContactBatch
from ..session import Session

NO_FRAME = -1
"""In place of a video frame's number: no frame shows this step."""
_XYZ = ("x", "y", "z")
_COMPONENTS = ("normal", "tangent0", "tangent1")
INTEGERS = ("step", "video_frame", "slot")
NUMBERS = (
    "time",
    "found",
    *(f"force_{name}" for name in _COMPONENTS),
    *(f"force_{name}" for name in _XYZ),
    *(f"torque_{name}" for name in _COMPONENTS),
    *(f"torque_{name}" for name in _XYZ),
    "dist",
    *(f"{vector}_{name}" for vector in ("pos", "normal", "tangent0", "tangent1") for name in _XYZ),
)
TEXTS = ("sensor", "geom1", "geom2")
COLUMNS = ("step", "time", "video_frame", "sensor", "slot", *NUMBERS[1:], "geom1", "geom2")
"""In the order of a row. SI units. Forces and torques act on object 2 (`geom2`), during the step that ends at `time`:
along the contact's normal and tangents (NaN for netforce sensors, which have none), and along the world's axes."""


@dataclass(frozen=True)
class Sample:
    """One sensor at one step."""

    step: int
    time: float
    """Simulated time [s]."""
    video_frame: int
    """The first video frame that shows this step, or NO_FRAME."""
    sensor: ContactSensor
    batch: ContactBatch
    geoms: Sequence[tuple[str, str]]
    """Names of the two geoms of each slot; empty strings where unknown."""


@dataclass(frozen=True)
class Block:
    """Some rows, column by column."""

    integers: NDArray[np.int64]
    """(rows, INTEGERS)."""
    numbers: NDArray[np.float64]
    """(rows, NUMBERS); NaN where there is no value."""
    texts: list[tuple[str, str, str]]
    """(rows, TEXTS)."""

    def column(self, name: str) -> NDArray[np.int64] | NDArray[np.float64] | list[str]:
        if name in INTEGERS:
            return self.integers[:, INTEGERS.index(name)]
        if name in NUMBERS:
            return self.numbers[:, NUMBERS.index(name)]
        place = TEXTS.index(name)
        return [row[place] for row in self.texts]


def take_samples(session: Session, step: int, time: float, video_frame: int = NO_FRAME) -> list[Sample]:
    """All shown sensors now."""
    return [
        Sample(
            step, time, video_frame, sensor, session.engine.contacts(sensor.name), session.details(sensor.name).geoms
        )
        for sensor in session.engine.sensors
        if session.visible[sensor.name]
    ]


def rows(samples: Iterable[Sample]) -> Block:
    """A row for each filled slot. A sensor that finds nothing has one row: `found` is 0, its values are NaN.

    So every sensor has a row at every step, and sums over rows are sums over contacts.
    """
    blocks = [_sensor_rows(sample) for sample in samples]
    return Block(
        np.concatenate([integers for integers, _, _ in blocks] or [np.zeros((0, len(INTEGERS)), np.int64)]),
        np.concatenate([numbers for _, numbers, _ in blocks] or [np.zeros((0, len(NUMBERS)))]),
        [text for _, _, texts in blocks for text in texts],
    )


def _sensor_rows(sample: Sample) -> tuple[NDArray[np.int64], NDArray[np.float64], list[tuple[str, str, str]]]:
    batch = sample.batch
    slots = np.flatnonzero(batch.filled)
    empty = not slots.size
    slots = np.zeros(1, np.intp) if empty else slots
    integers = np.empty((len(slots), len(INTEGERS)), np.int64)
    integers[:] = sample.step, sample.video_frame, 0
    integers[:, 2] = slots
    numbers = np.full((len(slots), len(NUMBERS)), np.nan)
    numbers[:, 0] = sample.time
    numbers[:, 1] = batch.found
    name = sample.sensor.name
    if empty:
        return integers, numbers, [(name, "", "")]
    local = not batch.in_world_frame
    vectors = (
        batch.force if local else None,
        batch.force_world,
        batch.torque if local else None,
        batch.torque_world,
        batch.pos,
        batch.normal if local else None,
        batch.tangent0 if local else None,
        batch.tangent1 if local else None,
    )
    at = 2
    for i, vector in enumerate(vectors):
        if i == 4:
            if batch.dist is not None:
                numbers[:, at] = batch.dist[slots]
            at += 1
        _put(numbers[:, at : at + 3], vector, slots)
        at += 3
    return integers, numbers, [(name, *sample.geoms[slot]) for slot in slots.tolist()]


def _put(place: NDArray[np.float64], values: Array | None, slots: NDArray[np.intp]) -> None:
    if values is not None:
        place[:] = values[slots]
