"""Turns the arrays that MotrixSim writes into contacts, and into the rows that history keeps."""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import replace
from functools import cache
from typing import Any

import numpy as np
from numpy.typing import NDArray

from ...errors import SceneError
from ...mjmodel.body_forces import BodyContacts
from ...sensors.contacts import Array, ContactBatch
from ...sensors.layout import ContactLayout, Style
from ...sensors.motrix_frames import PairOrder, complete_net, correct_contacts
from ...settings import Reduce
from ..contact_sensor import ContactDetails, ContactSensor, Row, SensorList
from .calls import running_calls
from .world import MotrixScene, MotrixSensor


class SensorReader:
    """The contact sensors of a MotrixSim scene, read from the state that `state` returns."""

    def __init__(self, scene: MotrixScene, num_envs: int, state: Callable[[], Any]) -> None:
        self._model = scene.model
        self._colliders = scene.colliders
        self._state = state
        self.num_envs = num_envs
        self._sources = {sensor.declared.name: sensor for sensor in scene.sensors}
        self.sensors = SensorList(
            [
                ContactSensor(sensor.declared.name, sensor.declared.label, sensor.layout, sensor.layout)
                for sensor in scene.sensors
            ]
        )
        self._row_starts: dict[str, int] = {}
        """First column of each sensor in a row."""
        self._row_size = 0
        for sensor in scene.sensors:
            self._row_starts[sensor.declared.name] = self._row_size
            # Contacts with all fields, then the array itself, which has fewer.
            self._row_size += 2 * _row_layout(sensor.declared.num, Reduce.NONE).size

    def array(self, name: str) -> Array:
        sensor, motrix = self.sensors[name], self._sources[name]
        if not sensor.modified:
            return self._values(name)
        key, layout = motrix.companions[sensor.reduce]
        return layout.take(self._values(key), sensor.layout)

    def contacts(self, name: str) -> ContactBatch:
        sensor, motrix = self.sensors[name], self._sources[name]
        if sensor.reduce is Reduce.NETFORCE:
            return self._net(motrix)
        return self._single(motrix, sensor.reduce).cut(0, sensor.slots)

    def row(self, env: int = 0) -> Row:
        row = np.zeros(self._row_size)
        for sensor in self.sensors:
            columns, layout = self.source(sensor)
            row[columns] = layout.encode(self._one(self.contacts(sensor.name), env))
            array = self.array(sensor.name)
            row[self._array_columns(sensor)] = array if self.num_envs == 1 else array[env]
        return row

    def source(self, sensor: ContactSensor) -> tuple[slice, ContactLayout]:
        layout = _row_layout(sensor.slots, sensor.reduce)
        start = self._row_starts[sensor.name]
        return slice(start, start + layout.size), layout

    def array_in(self, row: Row, sensor: ContactSensor) -> Array:
        return row[self._array_columns(sensor)].astype(np.float32)

    def _array_columns(self, sensor: ContactSensor) -> slice:
        """Return the columns of a sensor's own array in a row: they follow those of its contacts, from which the array
        cannot always be computed."""
        start = self._row_starts[sensor.name] + _row_layout(self._sources[sensor.name].declared.num, Reduce.NONE).size
        return slice(start, start + sensor.size)

    def dropped(self, name: str, env: int = 0) -> ContactBatch:
        sensor, motrix = self.sensors[name], self._sources[name]
        if sensor.reduce is Reduce.NETFORCE:
            none = ContactLayout(Style.MOTRIX.fields, 1, style=Style.MOTRIX)
            return none.decode(np.zeros(none.size, np.float32))
        batch = self._one(self._single(motrix, sensor.reduce), env)
        batch = batch.cut(sensor.slots, max(int(batch.filled.sum()), sensor.slots + 1))
        return replace(batch, found=batch.filled.sum(dtype=batch.found.dtype))

    def details(self, name: str, env: int = 0) -> ContactDetails:
        """Return the geoms of each slot; MotrixSim does not report their friction."""
        batch, motrix = self._one(self.contacts(name), env), self._sources[name]
        geoms = [("", "")] * len(batch.filled)
        if not batch.in_world_frame:
            filled = np.flatnonzero(batch.filled)
            pairs = motrix.geoms * len(filled) if len(motrix.geoms) == 1 else self._pairs_of(batch, filled, motrix)
            for slot, pair in zip(filled, pairs, strict=True):
                geoms[slot] = pair
        return ContactDetails(tuple(geoms), np.full((len(geoms), 5), np.nan))

    def set_reduce_modes(self, modes: Mapping[str, str]) -> None:
        changed = []
        for name, mode in modes.items():
            sensor, motrix = self.sensors[name], self._sources[name]
            order = motrix.layout.pair_order
            layout = ContactLayout(sensor.fields, motrix.declared.num, mode, Style.MOTRIX, order)
            changed.append(sensor._replace(layout=layout))
        self.sensors = self.sensors.changed(changed)

    def _values(self, name: str) -> Array:
        with running_calls(f"read {name}"):
            return self._model.get_sensor_value(name, self._state())

    def _single(self, motrix: MotrixSensor, mode: Reduce) -> ContactBatch:
        """Return the single contacts that a sensor matches, in the order of a reduce mode, with spare slots."""
        key, layout = motrix.companions[mode]
        batch = layout.decode(self._values(key))
        return self._turn(batch, motrix) if layout.pair_order is PairOrder.MIXED else batch

    def _turn(self, batch: ContactBatch, motrix: MotrixSensor) -> ContactBatch:
        """Return the contacts of pairs in both orders, corrected where a sensor of the reversed pairs reports them
        too."""
        reported = _identity(batch)[..., :, np.newaxis, :]
        turned = np.zeros_like(batch.filled)
        for key, layout in motrix.turned:
            others = replace(layout, pair_order=PairOrder.NATIVE).decode(self._values(key))
            same = (reported == _identity(others)[..., np.newaxis, :, :]).all(axis=-1)
            turned |= (same & others.filled[..., np.newaxis, :]).any(axis=-1)
        return correct_contacts(batch, turned)

    def _net(self, motrix: MotrixSensor) -> ContactBatch:
        """Return the net contact as a sum of single ones, if MotrixSim's own sum is not valid."""
        key, layout = motrix.companions[Reduce.NETFORCE]
        batch = layout.decode(self._values(key))
        if batch.force is not None and not np.isnan(batch.force).any():
            return batch
        return complete_net(batch, self._single(motrix, Reduce.NONE))

    def _one(self, batch: ContactBatch, env: int) -> ContactBatch:
        if not 0 <= env < self.num_envs:
            raise SceneError(f"no environment {env}; there are {self.num_envs}")
        return batch if self.num_envs == 1 else batch.at(env)

    def _pairs_of(self, batch: ContactBatch, slots: NDArray[np.intp], motrix: MotrixSensor) -> list[tuple[str, str]]:
        """Return the geoms of some slots, found in the engine's contact list by distance and normal.

        Empty where several pairs would fit, and with several environments, for which there is no such list.
        """
        if self.num_envs > 1:
            return [("", "")] * len(slots)
        assert batch.dist is not None
        assert batch.normal is not None
        contacts = self._state().low.get_contacts()
        distances = np.array([contact.depth for contact in contacts], np.float32)
        normals = np.array([contact.normal for contact in contacts], np.float32).reshape(-1, 3)
        pairs = []
        for slot in slots:
            along = np.abs(normals @ batch.normal[slot])
            fitting = np.flatnonzero((distances == batch.dist[slot]) & (along > 0.999))
            touching = {
                frozenset(
                    (self._colliders[contacts[i].collider_index_a], self._colliders[contacts[i].collider_index_b])
                )
                for i in fitting
            }
            known = [pair for pair in motrix.geoms if frozenset(pair) in touching]
            pairs.append(known[0] if len(known) == 1 else ("", ""))
        return pairs


@cache
def _row_layout(slots: int, reduce: Reduce) -> ContactLayout:
    """Return the layout of contacts in rows: all fields that MotrixSim knows, in double precision and MuJoCo's
    frames."""
    return ContactLayout(Style.MOTRIX.fields, slots, reduce)


def _identity(batch: ContactBatch) -> Array:
    """Return numbers that are equal for the same contact in the arrays of two sensors, (..., slots, 6)."""
    assert batch.pos is not None
    assert batch.force is not None
    return np.concatenate([batch.pos, batch.force], axis=-1)


class MotrixForces:
    """Contact forces on the links of the first environment. The force that a link passes to its parent is not known."""

    from_mujoco = False

    def __init__(self, motrix: Any, links: Sequence[str], state: Callable[[], Any], num_envs: int = 1) -> None:
        """`links`: name of each body's link in the MuJoCo model's order, empty where there is none; `state`: returns
        the engine's present state, which is another object after a reset."""
        self._motrix, self._state = motrix, state
        self._single = num_envs == 1
        self._links = list(links)
        reports = motrix.reports
        reports.contact_forces = reports.contacting_geoms = True
        self._places = [motrix.get_link_index(name) if name else None for name in links]
        self._geoms = [[geom.index for geom in motrix.get_link(name).geoms] if name else [] for name in links]
        self._forces: NDArray[np.float32] = np.zeros((len(motrix.link_names), 6), np.float32)
        self._query: Any = None

    def refusal(self, body: int, mount: bool) -> str | None:
        if mount:
            return "measure mount is known on MuJoCo only"
        return None if self._places[body] is not None else "MotrixSim does not report the forces on this body"

    def read(self) -> None:
        with running_calls("read contact forces"):
            forces = self._motrix.get_link_net_contact_forces(self._state())
            self._query = self._motrix.get_contact_query(self._state()) if self._single else None
        self._forces = forces if self._single else forces[0]

    def contacts(self, body: int) -> BodyContacts:
        force = self._forces[self._places[body], :3].astype(np.float64)
        if self._query is None:
            # Of several environments only the forces are known.
            return BodyContacts(force, int(force.any()))
        with running_calls("read contacts"):
            found = sum(len(self._query.contacting_geoms(geom)) for geom in self._geoms[body])
        return BodyContacts(force, found)

    def mount(self, body: int) -> NDArray[np.float64]:
        raise NotImplementedError("MotrixSim does not report the force that a link passes to its parent")

    def contact_points(self, body: int) -> NDArray[np.float64]:
        return np.zeros((0, 3))
