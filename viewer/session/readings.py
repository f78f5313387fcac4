"""Turns sensors into what they say now, read once a step however many ask."""

from dataclasses import dataclass
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from ..engines.contact_sensor import ContactDetails, ContactSensor, SensorList
from ..sensors.contacts import Array, ContactBatch
from ..settings import Moment, Reduce
from .simulation import Simulation

_MANY = 64
"""Sensors from which on it pays to look for those that nothing touches."""


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


class Readings:
    """What the sensors of the shown environment say; dropped when the simulation has changed."""

    def __init__(self, simulation: Simulation) -> None:
        self._simulation = simulation
        self._readings: dict[str, SensorReading] = {}
        self._groups: list[SensorGroup] | None = None
        self._touched: list[SensorGroup] | None = None
        """Those of the groups that match a contact; of a small group all."""
        self._visible: tuple[NDArray[np.bool_], list[SensorGroup]] | None = None
        """Which sensors were visible, and those of `_touched` among them."""
        self._numbers: dict[tuple[str, ...], NDArray[np.intp]] = {}
        """Places of sensors that are read together."""
        self._sensors: SensorList | None = None
        """Those that have these places."""
        self._totals: SensorTotals | None = None
        self._details: dict[str, ContactDetails] = {}
        self._changes = 0
        """`Simulation.changes` when sensors were read last."""
        self._moment = Moment.INSTANT
        """Moment that the cached readings belong to."""

    def forget(self) -> None:
        """Drop what was read: the engine's state has changed."""
        self._readings.clear()
        self._details.clear()
        self._groups = self._touched = self._visible = self._totals = None

    def reading(self, name: str, moment: Moment) -> SensorReading:
        """A sensor's contacts. `moment`: which of the steps since the last picture."""
        self._refresh(moment)
        if name not in self._readings:
            engine, history = self._simulation.shown, self._simulation.history
            past = history.moment(name, moment) if history is not None else None
            batch = past or self._contacts_now(name)
            net_force = batch.net_force
            self._readings[name] = SensorReading(
                sensor=engine.sensors[name],
                batch=batch,
                array=engine.array(name),
                found=round(float(batch.found)),
                reported=int(batch.filled.sum()),
                net_force=np.zeros(3) if net_force is None else net_force,
            )
        return self._readings[name]

    def _contacts_now(self, name: str) -> ContactBatch:
        """A sensor's contacts, from those of its group if these were read."""
        engine = self._simulation.shown
        position = engine.sensors.position(name)
        for numbers, batch in self._groups or () if self._moment is Moment.INSTANT else ():
            if len(place := (numbers == position).nonzero()[0]):
                return batch.at(int(place[0]))
        return engine.contacts(name)

    def details(self, name: str) -> ContactDetails:
        """Geom names and friction of a sensor's contacts."""
        self._refresh(self._moment)
        if name not in self._details:
            self._details[name] = self._simulation.shown.details(name)
        return self._details[name]

    def groups(self, moment: Moment) -> list[SensorGroup]:
        """The contacts of all sensors, those that are laid out alike in one batch."""
        self._refresh(moment)
        if self._groups is None:
            if moment is Moment.INSTANT:
                self._groups = self._read()
            else:
                self._groups = [
                    SensorGroup(np.array([i]), ContactBatch.stack([self.reading(sensor.name, moment).batch]))
                    for i, sensor in enumerate(self._simulation.shown.sensors)
                ]
        return self._groups

    def groups_now(self, visible: NDArray[np.bool_]) -> list[SensorGroup]:
        """The visible sensors, (sensors,), as they are now, whichever moment is shown. Read for the caller alone."""
        groups = self._read()
        return _kept(groups, [visible[numbers] for numbers, _ in groups])

    def totals(self, moment: Moment) -> SensorTotals:
        """What every sensor reports in all."""
        groups, touched = self.groups(moment), self._touched_groups(moment)
        if self._totals is None:
            self._totals = SensorTotals.of(groups, touched, len(self._simulation.shown.sensors))
        return self._totals

    def touched_groups(self, moment: Moment, visible: NDArray[np.bool_]) -> list[SensorGroup]:
        """The visible sensors, (sensors,); of many, those that match a contact. Found once a step.

        `visible` is another array whenever it has changed.
        """
        touched = self._touched_groups(moment)
        if self._visible is None or self._visible[0] is not visible:
            self._visible = visible, _kept(touched, [visible[numbers] for numbers, _ in touched])
        return self._visible[1]

    def _touched_groups(self, moment: Moment) -> list[SensorGroup]:
        """The sensors that match a contact: of ten thousand, a few. Of a small group all."""
        groups = self.groups(moment)
        if self._touched is None:
            self._touched = [touched for group in groups for touched in _touched_of(group)]
        return self._touched

    def _read(self) -> list[SensorGroup]:
        grouped = self._simulation.shown.grouped_contacts()
        return [SensorGroup(self._places(names), batch) for names, batch in grouped]

    def _places(self, names: tuple[str, ...]) -> NDArray[np.intp]:
        sensors = self._simulation.shown.sensors
        if sensors is not self._sensors:
            self._sensors = sensors
            self._numbers.clear()
        if names not in self._numbers:
            self._numbers[names] = np.array([sensors.position(name) for name in names])
        return self._numbers[names]

    def _refresh(self, moment: Moment) -> None:
        """Drop what was read before the simulation changed, or of another moment."""
        if self._changes != self._simulation.changes or self._moment is not moment:
            self._changes, self._moment = self._simulation.changes, moment
            self.forget()


def _touched_of(group: SensorGroup) -> list[SensorGroup]:
    """The sensors of a large group that match a contact, if any does; a small one as it is."""
    return _kept([group], [np.asarray(group.batch.filled.any(axis=-1))]) if len(group.numbers) > _MANY else [group]


def _kept(groups: list[SensorGroup], keep: list[NDArray[np.bool_]]) -> list[SensorGroup]:
    """Some of the sensors of each group; without groups of which nothing is left."""
    return [group.kept(some) for group, some in zip(groups, keep, strict=True) if some.any()]
