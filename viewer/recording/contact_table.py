"""Contacts of sensors at a step to rows of named columns, the same for every data file."""

from collections.abc import Iterable

import numpy as np
from numpy.typing import NDArray

from ..sensors.contacts import Array
from .columns import Block, Columns, Kind, Values
from .instants import ContactSample, Instant

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
_TEXTS = ("sensor", "geom1", "geom2")
COLUMNS: Columns = {
    "step": Kind.INTEGER,
    "time": Kind.NUMBER,
    "video_frame": Kind.INTEGER,
    "sensor": Kind.TEXT,
    "slot": Kind.INTEGER,
    "found": Kind.COUNT,
    **dict.fromkeys(_NUMBERS[2:], Kind.NUMBER),
    "geom1": Kind.TEXT,
    "geom2": Kind.TEXT,
}
"""SI units. Forces and torques act on object 2 (`geom2`), during the step that ends at `time`: along the contact's
normal and tangents (NaN for netforce sensors, which have none), and along the world's axes."""


def contact_rows(instants: Iterable[Instant]) -> Block:
    """A row for each filled slot. A sensor that finds nothing has one row: `found` is 0, its values are NaN.

    So every sensor has a row at every step, and sums over rows are sums over contacts.
    """
    blocks = [_sensor_rows(instant, sample) for instant in instants for sample in instant.contacts]
    integers = np.concatenate([part for part, _, _ in blocks] or [np.zeros((0, len(_INTEGERS)), np.int64)])
    numbers = np.concatenate([part for _, part, _ in blocks] or [np.zeros((0, len(_NUMBERS)))])
    texts = [row for _, _, part in blocks for row in part]
    block: dict[str, Values] = {name: integers[:, i] for i, name in enumerate(_INTEGERS)}
    block |= {name: numbers[:, i] for i, name in enumerate(_NUMBERS)}
    block |= {name: [row[i] for row in texts] for i, name in enumerate(_TEXTS)}
    return block


def _sensor_rows(
    instant: Instant, sample: ContactSample
) -> tuple[NDArray[np.int64], NDArray[np.float64], list[tuple[str, str, str]]]:
    batch = sample.batch
    slots = np.flatnonzero(batch.filled)
    empty = not slots.size
    slots = np.zeros(1, np.intp) if empty else slots
    integers = np.empty((len(slots), len(_INTEGERS)), np.int64)
    integers[:] = instant.step, instant.video_frame, 0
    integers[:, 2] = slots
    numbers = np.full((len(slots), len(_NUMBERS)), np.nan)
    numbers[:, 0] = instant.time
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
