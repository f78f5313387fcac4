"""Holds what sensors say at one step."""

from dataclasses import dataclass
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from ..engines.contact_sensor import ContactSensor
from ..sensors.contacts import Array, ContactBatch
from ..settings import Reduce


@dataclass(frozen=True)
class SensorReading:
    """One sensor at one step."""

    sensor: ContactSensor
    batch: ContactBatch
    array: Array
    """The declared sensor's array."""
    found: int
    """Number of matching contacts."""
    reported: int
    """Number of filled slots."""
    net_force: Array
    """Sum of the reported contacts' forces on object 2 [N], world, (3,)."""

    @property
    def dropped(self) -> int:
        """Matching contacts that did not fit into the slots."""
        return dropped_contacts(self.sensor, self.found, self.reported)


class SensorTotals(NamedTuple):
    """All sensors of an engine at one step, in its order."""

    found: NDArray[np.int64]
    """Numbers of matching contacts, (sensors,)."""
    reported: NDArray[np.int64]
    """Numbers of filled slots, (sensors,)."""
    force: NDArray[np.float64]
    """Norms of the sums of the reported contacts' forces [N], (sensors,)."""

    @classmethod
    def of(cls, groups: "list[SensorGroup]", touched: "list[SensorGroup]", sensors: int) -> "SensorTotals":
        """Of all sensors, each of which is in one group. `touched`: those that match a contact."""
        found, reported, force = np.zeros(sensors, np.int64), np.zeros(sensors, np.int64), np.zeros(sensors)
        for numbers, batch in groups:
            found[numbers] = np.rint(batch.found)
        for numbers, batch in touched:
            reported[numbers] = batch.filled.sum(axis=-1)
            if batch.net_force is not None:
                force[numbers] = np.sqrt((batch.net_force**2).sum(axis=-1))
        return cls(found, reported, force)


class SensorGroup(NamedTuple):
    """Sensors that are laid out alike, at one step."""

    numbers: NDArray[np.intp]
    """Their places among the engine's sensors, (sensors,)."""
    batch: ContactBatch
    """Arrays of shape (sensors, slots, ...)."""

    def kept(self, keep: NDArray[np.bool_]) -> "SensorGroup":
        """Some of them; `keep`: True for those, (sensors,)."""
        if keep.all():
            return self
        return SensorGroup(self.numbers[keep], self.batch.mapped(lambda name, array: array[keep]))


def dropped_contacts(sensor: ContactSensor, found: int, reported: int) -> int:
    """Matching contacts that did not fit into a sensor's slots."""
    return 0 if sensor.reduce is Reduce.NETFORCE else max(0, found - reported)


def distinct_contacts(groups: list[SensorGroup]) -> tuple[int, int]:
    """Contacts that sensors report, each counted once; and their net contacts."""
    places: set[bytes] = set()
    net = 0
    for _, batch in groups:
        if batch.in_world_frame or batch.pos is None:
            net += int(batch.filled.sum())
        else:
            # The same contact has the same position, to the last bit.
            places.update(row.tobytes() for row in batch.pos[batch.filled])
    return len(places), net
