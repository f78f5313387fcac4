"""Reads the sensors of the shown environment once a step, and keeps the values for every caller."""

from collections.abc import Callable
from dataclasses import dataclass, replace
from typing import Any, NamedTuple, TypeVar

import numpy as np
from numpy.typing import NDArray

from ..engines.contact_sensor import ContactDetails, ContactSensor, SensorList
from ..engines.contract import Engine
from ..mjmodel.matching import find_rows
from ..render.style import tree_weights
from ..sensors.contacts import Array, ContactBatch
from ..settings import Moment, Reduce
from .simulation import Simulation

T = TypeVar("T")
_MANY = 64
"""Number of sensors above which it saves time to leave out those that nothing touches."""


@dataclass(frozen=True)
class SensorReading:
    """Values of one sensor at one step."""

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
    """Totals of all sensors of an engine at one step, in the engine's order."""

    found: NDArray[np.int64]
    """Numbers of matching contacts, (sensors,)."""
    reported: NDArray[np.int64]
    """Numbers of filled slots, (sensors,)."""
    force: NDArray[np.float64]
    """Norms of the sums of the reported contacts' forces [N], (sensors,)."""

    @classmethod
    def of(cls, groups: "list[SensorGroup]", touched: "list[SensorGroup]", sensors: int) -> "SensorTotals":
        """Return the totals of all sensors, each of which is in one group. `touched`: sensors that match a contact."""
        found, reported, force = np.zeros(sensors, np.int64), np.zeros(sensors, np.int64), np.zeros(sensors)
        for numbers, batch in groups:
            found[numbers] = np.rint(batch.found)
        for numbers, batch in touched:
            reported[numbers] = batch.filled.sum(axis=-1)
            if batch.net_force is not None:
                force[numbers] = np.sqrt((batch.net_force**2).sum(axis=-1))
        return cls(found, reported, force)


class SensorGroup(NamedTuple):
    """Sensors with the same layout, at one step."""

    numbers: NDArray[np.intp]
    """Indices of these sensors among the engine's, (sensors,)."""
    batch: ContactBatch
    """Contacts of these sensors, in arrays of shape (sensors, slots, ...)."""

    def kept(self, keep: NDArray[np.bool_]) -> "SensorGroup":
        """Return a group of some of the sensors. `keep`: True for each that stays, (sensors,)."""
        if keep.all():
            return self
        return SensorGroup(self.numbers[keep], self.batch.mapped(lambda name, array: array[keep]))


def dropped_contacts(sensor: ContactSensor, found: int, reported: int) -> int:
    """Return the number of matching contacts that did not fit into a sensor's slots."""
    return 0 if sensor.reduce is Reduce.NETFORCE else max(0, found - reported)


def distinct_contacts(groups: list[SensorGroup]) -> tuple[int, int]:
    """Return the number of contacts that sensors report, each counted once, and the number of net contacts."""
    places: set[bytes] = set()
    net = 0
    for _, batch in groups:
        if batch.in_world_frame or batch.pos is None:
            net += int(batch.filled.sum())
        else:
            # Two sensors report a contact with the same position, bit for bit.
            places.update(row.tobytes() for row in batch.pos[batch.filled])
    return len(places), net


class ReadingCache:
    """Cache of the values of the shown environment's sensors; it is cleared when the simulation has changed."""

    def __init__(self, simulation: Simulation) -> None:
        self._simulation = simulation
        self._known: dict[object, Any] = {}
        """Cached values of this instant, by kind and name."""
        self._visible: tuple[NDArray[np.bool_], list[SensorGroup]] | None = None
        """Mask of the visible sensors, and the groups of visible sensors that match a contact."""
        self._numbers: dict[tuple[str, ...], NDArray[np.intp]] = {}
        """Indices of sensors that are read together, by their names."""
        self._sensors: SensorList | None = None
        """List of sensors in which `_numbers` are indices."""
        self._changes = 0
        """Value of `Simulation.changes` when sensors were read last."""
        self._moment = Moment.INSTANT
        """Moment that the cached readings belong to."""

    def forget(self) -> None:
        """Clear the cached values: the engine's state has changed."""
        self._known.clear()
        self._visible = None

    def reading(self, name: str, moment: Moment) -> SensorReading:
        """Return a sensor's contacts. `moment`: newest step, or peak or mean of the steps since the last frame."""
        return self._once((SensorReading, name), moment, lambda: self._read_one(name, moment))

    def details(self, name: str) -> ContactDetails:
        """Return geom names and friction of a sensor's contacts."""
        return self._once((ContactDetails, name), self._moment, lambda: self._read_details(name))

    def groups(self, moment: Moment) -> list[SensorGroup]:
        """Return the contacts of all sensors, one batch for the sensors that share a layout."""
        return self._once("groups", moment, lambda: self._read_all(moment))

    def groups_now(self, visible: NDArray[np.bool_]) -> list[SensorGroup]:
        """Return the contacts of the visible sensors, a mask (sensors,), at the step of the engine, without a cache."""
        groups = self._read_all(Moment.INSTANT)
        return _kept(groups, [visible[numbers] for numbers, _ in groups])

    def totals(self, moment: Moment) -> SensorTotals:
        """Return the totals of every sensor."""
        sensors = len(self._simulation.shown.sensors)
        groups, touched = self.groups(moment), self._touched_groups(moment)
        return self._once(SensorTotals, moment, lambda: SensorTotals.of(groups, touched, sensors))

    def unwatched(self) -> NDArray[np.float64]:
        """Return positions of the contacts that no sensor reports or has dropped [m], world, (n, 3)."""
        return self._once("unwatched", self._moment, self._find_unwatched)

    def _find_unwatched(self) -> NDArray[np.float64]:
        engine = self._simulation.shown
        sensors, virtual = engine.sensors, any(sensor.virtual for sensor in engine.sensors[:1])
        if not engine.has_contact_list or not len(sensors) or virtual or self._moment is not Moment.INSTANT:
            return np.zeros((0, 3))
        listed = engine.contact_data().contact
        is_active = np.flatnonzero(listed.efc_address >= 0)
        points, geoms = np.asarray(listed.pos[is_active], float), listed.geom[is_active]
        totals, batches = self.totals(self._moment), [batch for _, batch in self.groups(self._moment)]
        whole = [each.pos[each.filled] for each in batches if each.pos is not None and not each.in_world_frame]
        seen = find_rows(np.concatenate([*whole, np.zeros((0, 3))]), points) >= 0
        # The arrays do not show which contacts make up a net force, and which were dropped.
        for i in np.flatnonzero((totals.found > totals.reported) | (sensors.is_net & (totals.found > 0))).tolist():
            sides = engine.covered_geoms(sensors[i].name) if not seen.all() else None
            if sides is not None:
                first, second = (side[geoms] for side in sides)
                seen |= (first[:, 0] & second[:, 1]) | (first[:, 1] & second[:, 0])
        return points[~seen]

    def touched_groups(self, moment: Moment, visible: NDArray[np.bool_]) -> list[SensorGroup]:
        """Return contacts of the visible sensors, a mask (sensors,); in large groups only of sensors in contact.

        `visible` must be a new array whenever it changes.
        """
        touched = self._touched_groups(moment)
        if self._visible is None or self._visible[0] is not visible:
            self._visible = visible, _kept(touched, [visible[numbers] for numbers, _ in touched])
        return self._visible[1]

    def _touched_groups(self, moment: Moment) -> list[SensorGroup]:
        """Return the groups without sensors that match no contact, usually most of them; small groups as they are."""
        groups = self.groups(moment)
        return self._once("touched", moment, lambda: [touched for group in groups for touched in _touched_of(group)])

    def _once(self, what: object, moment: Moment, read: Callable[[], T]) -> T:
        """Return the cached value of a moment; read it if the simulation has changed since."""
        if self._changes != self._simulation.changes or self._moment is not moment:
            self._changes, self._moment = self._simulation.changes, moment
            self.forget()
        if what not in self._known:
            self._known[what] = read()
        known: T = self._known[what]
        return known

    def _read_one(self, name: str, moment: Moment) -> SensorReading:
        engine, history = self._simulation.shown, self._simulation.history
        past = history.moment(name, moment) if history is not None else None
        batch = past or self._contacts_now(name)
        net_force = batch.net_force
        return SensorReading(
            sensor=engine.sensors[name],
            batch=batch,
            array=engine.array(name),
            found=round(float(batch.found)),
            reported=int(batch.filled.sum()),
            net_force=np.zeros(3) if net_force is None else net_force,
        )

    def _contacts_now(self, name: str) -> ContactBatch:
        """Return a sensor's contacts at the newest step, from its group if that is cached."""
        engine = self._simulation.shown
        position = engine.sensors.position(name)
        for numbers, batch in self._known.get("groups", ()) if self._moment is Moment.INSTANT else ():
            if len(place := (numbers == position).nonzero()[0]):
                at: ContactBatch = batch.at(int(place[0]))
                return at
        batch = engine.contacts(name)
        return turn_contacts(batch, turned_slots(engine, batch)) if engine.sensors[name].virtual else batch

    def _read_details(self, name: str) -> ContactDetails:
        engine = self._simulation.shown
        details = engine.details(name)
        if not engine.sensors[name].virtual:
            return details
        turned = turned_slots(engine, engine.contacts(name)).tolist()
        geoms = tuple(pair[::-1] if turn else pair for pair, turn in zip(details.geoms, turned, strict=True))
        return replace(details, geoms=geoms)

    def _read_all(self, moment: Moment) -> list[SensorGroup]:
        engine = self._simulation.shown
        if moment is not Moment.INSTANT:
            batches = [self.reading(sensor.name, moment).batch for sensor in engine.sensors]
            return [SensorGroup(np.array([i]), ContactBatch.stack([batch])) for i, batch in enumerate(batches)]
        groups = []
        for names, batch in engine.grouped_contacts():
            if len(names) == 1 and engine.sensors[names[0]].virtual:
                batch = turn_contacts(batch, turned_slots(engine, batch))
            groups.append(SensorGroup(self._places(names), batch))
        return groups

    def _places(self, names: tuple[str, ...]) -> NDArray[np.intp]:
        sensors = self._simulation.shown.sensors
        if sensors is not self._sensors:
            self._sensors = sensors
            self._numbers.clear()
        if names not in self._numbers:
            self._numbers[names] = np.array([sensors.position(name) for name in names])
        return self._numbers[names]


def turned_slots(engine: Engine, batch: ContactBatch) -> NDArray[np.bool_]:
    """Return True for slots of the sensor of all contacts whose objects 1 and 2 have to be exchanged, (..., slots).

    This sensor orders objects as the engine orders its geoms, which has no meaning. The force that is shown has to act
    on the object that moves, and if both move, on the object of the lighter kinematic tree.
    """
    turned = np.zeros(batch.filled.shape, bool)
    if batch.in_world_frame or batch.pos is None or not engine.has_contact_list or not batch.filled.any():
        return turned
    model, listed = engine.model, engine.contact_data().contact
    trees, weights = model.body_treeid, tree_weights(model)
    by_body = np.where(trees >= 0, weights[trees], np.inf) if len(weights) else np.full(len(trees), np.inf)
    # The last value is for unknown geoms, whose index is -1.
    by_geom = np.append(by_body[model.geom_bodyid], np.nan)
    found = find_rows(listed.pos, np.asarray(batch.pos[batch.filled], float))
    geoms = np.full((len(found), 2), -1)
    geoms[found >= 0] = listed.geom[found[found >= 0]]
    first, second = by_geom[geoms].T
    turned[batch.filled] = first < second
    return turned


def turn_contacts(batch: ContactBatch, turned: NDArray[np.bool_]) -> ContactBatch:
    """Return contacts with objects 1 and 2 exchanged in some slots, (..., slots)."""
    if not turned.any():
        return batch
    signs = np.where(turned, -1.0, 1.0)[..., np.newaxis]
    third = np.concatenate([np.ones((*turned.shape, 2)), signs], axis=-1)
    factors = dict.fromkeys(("force", "torque", "linvel", "angvel"), third) | {"normal": signs, "tangent0": signs}
    # The second tangent is the cross product of both axes and stays: along it force and velocity change their signs.
    return batch.mapped(lambda name, array: array * factors[name] if name in factors else array)


def _touched_of(group: SensorGroup) -> list[SensorGroup]:
    """Return a list of a large group's sensors that match a contact, or of none; of a small group as it is."""
    return _kept([group], [np.asarray(group.batch.filled.any(axis=-1))]) if len(group.numbers) > _MANY else [group]


def _kept(groups: list[SensorGroup], keep: list[NDArray[np.bool_]]) -> list[SensorGroup]:
    """Return some of the sensors of each group, without groups that become empty."""
    return [group.kept(some) for group, some in zip(groups, keep, strict=True) if some.any()]
