"""Reads the contact sensors of a MuJoCo model: arrays as they are, contacts with all fields."""

from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass, replace
from functools import cache, cached_property

import mujoco
import numpy as np
from numpy.typing import NDArray

from ...mjmodel.declarations import declared_sensors, delayed_sensors, join_declarations
from ...mjmodel.friction import contact_friction
from ...mjmodel.matching import (
    ContactMatcher,
    companion_layout,
    full_layout,
    locate,
    pressing_force,
    rebuild_contacts,
    select,
)
from ...mjmodel.names import WATCHER, flex_names, geom_names, read_names, with_kind
from ...mjmodel.state import SLEEP
from ...mjmodel.types import MjData, MjModel
from ...scene_files.scene import LoadedScene
from ...sensors.contacts import Array, ContactBatch
from ...sensors.layout import ContactLayout, Field, SpreadLayout
from ...settings import Reduce
from ..contact_sensor import ContactDetails, ContactSensor, Row, SensorList
from ..steps import SensorPlan
from ..values import SensorValues
from .states import FirstStages

_WATCH_ALL = "all contacts"
_WATCH_ALL_SLOTS = 1000
"""Initial number of slots of the sensor that watches all contacts; it grows with the number of contacts."""
_REDUCE_NUMBERS = {reduce: number for number, reduce in enumerate(Reduce)}
_ACC = int(mujoco.mjtStage.mjSTAGE_ACC)


@dataclass(frozen=True)
class _Readout:
    """Columns and matcher with which one sensor is read."""

    sensor_id: int | None
    """Id of the sensor in the model; None for virtual sensors."""
    companion_id: int | None
    model: MjModel
    delayed: bool = False
    """True if the array is older than the contact list."""
    joined: tuple[int, ...] = ()
    """Ids of the sensors that are joined into this one; empty if none are."""
    place: tuple[slice, SpreadLayout] | None = None
    """Columns of the contacts in `sensordata`, and their layout there."""

    # Made when first asked for: most sensors are never matched.
    @cached_property
    def matcher(self) -> ContactMatcher:
        return ContactMatcher(self.model, self.sensor_id)

    @property
    def sensor_ids(self) -> tuple[int, ...]:
        """Ids of the model's sensors that are read, the one with the most fields last."""
        own = self.joined or (self.sensor_id,)
        return tuple(i for i in (*own, self.companion_id) if i is not None)


class SensorReader(SensorValues):
    """The contact sensors of one model in one mjData or many, which are never replaced."""

    def __init__(self, scene: LoadedScene, datas: list[MjData]) -> None:
        self.model = scene.model
        self.num_envs = len(datas)
        self._datas = datas
        self.first_stages = FirstStages(self.model, datas)
        """Object that takes the steps, so that `contact_data` has the contacts that the arrays report."""
        self._owned = scene.owned
        self.companions: Mapping[int, int] = scene.companions
        """Id of a declared contact sensor -> id of its companion."""
        self.hidden = scene.hidden
        """Ids of further sensors that are not shown to the user."""
        self._geom_names, self._flex_names = geom_names(self.model), flex_names(self.model)
        self._starts, self._sizes = self.model.sensor_adr.tolist(), self.model.sensor_dim.tolist()
        # Views of sensors that were read, one an environment: they stay valid, and a new one takes 4 µs.
        self._views: dict[int, list[Array]] = {}
        self._readouts: dict[str, _Readout] = {}
        self._plan: SensorPlan | None = None
        self._row_bytes: list[memoryview] = []
        self._sensors = SensorList(list(self._declared_sensors()))
        span = self._span()
        self._row_start = span.start
        # Views: stepping changes them. A scene without contact sensors leaves rows without a meaning.
        self._rows: list[Row] = [data.sensordata[span] if self._sensors else np.zeros(1) for data in self._datas]
        self._watched: list[memoryview] = []
        """Number of contacts of each environment in the model's sensor of all contacts, if that sensor is read."""

    @property
    def data(self) -> MjData:
        return self._datas[0]

    @property
    def sensors(self) -> SensorList:
        for found in self._watched:
            if found[0] > self._watched_slots:
                self._fit(int(found[0]))
        return self._sensors

    def contact_data(self, env: int = 0) -> MjData:
        return self.first_stages.data(env)

    def row(self, env: int = 0) -> Row:
        return self._rows[env]

    def source(self, sensor: ContactSensor) -> tuple[slice, ContactLayout]:
        layout: ContactLayout
        readout = self._readouts[sensor.name]
        if readout.companion_id is not None:
            columns, layout = self._columns(readout.companion_id), companion_layout(sensor.slots, sensor.reduce)
        elif readout.place is not None:
            columns, layout = readout.place
        else:
            columns = self._columns(readout.sensor_ids[-1])
            # A user's model is left as it is: it writes the array as declared, however the sensor is read.
            layout = sensor.layout if self._owned else sensor.declared
        return slice(columns.start - self._row_start, columns.stop - self._row_start), layout

    def array_in(self, row: Row, sensor: ContactSensor) -> Array:
        columns, layout = self.source(sensor)
        readout = self._readouts[sensor.name]
        as_declared = readout.companion_id is None and readout.place is None
        return row[columns].copy() if as_declared else sensor.layout.encode(layout.decode(row[columns]))

    def array(self, name: str) -> Array:
        sensor, readout = self._fitted(name), self._readouts[name]
        if readout.sensor_id is None or (sensor.modified and not self._owned):
            return sensor.layout.encode(self.contacts(name))
        if readout.place is not None:
            columns, layout = readout.place
            joined = np.array([data.sensordata[columns][list(layout.places)] for data in self._datas])
            return joined if self.num_envs > 1 else joined[0]
        return self._values(readout.sensor_id)

    def contacts(self, name: str) -> ContactBatch:
        sensor, readout = self._fitted(name), self._readouts[name]
        if readout.companion_id is None:
            return self._reconstruct(sensor, readout)
        return companion_layout(sensor.slots, sensor.reduce).decode(self._values(readout.companion_id))

    def get_contact_force_magnitude(self, name: str) -> Array:
        sensor, readout = self.sensors[name], self._readouts[name]
        if readout.companion_id is not None:
            magnitude = self.contacts(name).force_magnitude(sensor.reduce)
            assert magnitude is not None
            return np.atleast_1d(magnitude)
        return np.array(
            [
                pressing_force(self.model, data, readout.matcher.match(data), sensor.reduce, sensor.slots)
                for data in map(self.contact_data, range(self.num_envs))
            ]
        )

    def grouped_contacts(self) -> Iterator[tuple[tuple[str, ...], ContactBatch]]:
        sensors, plan = self.sensors, self._plan
        if plan is None or plan.listed is not sensors:
            plan = self._plan = SensorPlan(sensors, self.source)
            self._row_bytes = [row.data.cast("B") for row in self._rows]
        if plan.groups:
            # Joined as bytes, which takes a quarter of the time.
            rows = np.frombuffer(bytearray().join(self._row_bytes))
            if self.num_envs > 1:
                rows = rows.reshape(self.num_envs, -1)
            for names, group in zip(plan.group_names, plan.groups, strict=True):
                yield names, group.decode(rows)
        for i in plan.alone:
            yield (plan.names[i],), ContactBatch.stack([self.contacts(plan.names[i])])

    def dropped(self, name: str, env: int = 0) -> ContactBatch:
        sensor, readout, data = self._fitted(name), self._readouts[name], self.contact_data(env)
        matches = readout.matcher.match(data)
        dropped = select(self.model, data, matches, sensor.reduce, sensor.slots).dropped
        return rebuild_contacts(self.model, data, dropped)

    def details(self, name: str, env: int = 0) -> ContactDetails:
        batch, data = self.contacts(name), self.contact_data(env)
        if self.num_envs > 1:
            batch = batch.at(env)
        indices = np.full(batch.filled.shape, -1)
        assert batch.pos is not None
        assert batch.normal is not None
        if not batch.in_world_frame:
            sensor, matches = self._sensors[name], self._readouts[name].matcher.match(data)
            reported = select(self.model, data, matches, sensor.reduce, sensor.slots).reported.contacts
            positions = batch.pos[batch.filled]
            # Two contacts can be at one place, where only their order tells them apart. A late sensor has another.
            in_order = np.array_equal(data.contact.pos[reported], positions)
            indices[batch.filled] = reported if in_order else locate(data, positions, matches.contacts)
        known = np.flatnonzero(indices >= 0)
        contact = data.contact
        friction = np.full((len(indices), 5), np.nan)
        friction[known] = contact_friction(data, indices[known])
        geoms = [("", "")] * len(indices)
        for slot in known:
            sides = zip(contact.geom[indices[slot]], contact.flex[indices[slot]], strict=True)
            pair = [
                self._geom_names[geom] if geom >= 0 else with_kind("flex", self._flex_names[flex])
                for geom, flex in sides
            ]
            # The sensor turns the contact so that its normal points from object 1 to object 2.
            if np.dot(batch.normal[slot], contact.frame[indices[slot], :3]) < 0:
                pair.reverse()
            geoms[slot] = (pair[0], pair[1])
        return ContactDetails(tuple(geoms), friction)

    def covered_geoms(self, name: str) -> tuple[NDArray[np.bool_], NDArray[np.bool_]] | None:
        return None if self.model.nflex else self._readouts[name].matcher.sides

    def preview(self, name: str, mode: str) -> ContactBatch:
        """Return the contacts that a sensor would report now in another reduce mode, with all fields."""
        sensor = self._fitted(name)
        layout = ContactLayout(sensor.fields, sensor.slots, mode)
        return self._reconstruct(sensor._replace(layout=layout), self._readouts[name])

    def sensor_id(self, name: str) -> int | None:
        """Return the id of the declared sensor in the model; None for a sensor that the viewer made."""
        self._sensors.position(name)
        return self._readouts[name].sensor_id

    def set_reduce_modes(self, modes: Mapping[str, str]) -> None:
        old = [(self._sensors[name], mode) for name, mode in modes.items()]
        new = [sensor._replace(layout=_layout(sensor.fields, sensor.slots, mode)) for sensor, mode in old]
        self._sensors = self._sensors.changed(new)
        if not self._owned:
            return
        written: list[tuple[ContactSensor, _Readout]] = []
        numbers, stages = self.model.sensor_intprm, self.model.sensor_needstage
        for sensor in new:
            readout = self._readouts[sensor.name]
            for i in readout.sensor_ids:
                numbers[i, 1] = _REDUCE_NUMBERS[sensor.reduce]
                # Without the later stage, forces of a sensor declared without them would stay stale.
                stages[i] = _ACC
            if readout.sensor_ids and not readout.delayed:
                written.append((sensor, readout))
        if written:
            self._sense_again([i for _, readout in written for i in readout.sensor_ids])
        if self.model.nflex:
            for sensor, readout in written:
                self._correct_velocities(sensor, readout)

    def watch_all(self) -> ContactSensor:
        if _WATCH_ALL not in self._readouts:
            watcher = self._watcher()
            slots = _WATCH_ALL_SLOTS
            if watcher is not None:
                columns = self._columns(watcher)
                slots, self._row_start = int(self.model.sensor_intprm[watcher, 2]), columns.start
                self._rows = [data.sensordata[columns] for data in self._datas]
                self._watched, self._watched_slots = [row[:1].data for row in self._rows], slots
            layout, listed = full_layout(slots), watcher is None
            sensor = ContactSensor(_WATCH_ALL, "any × any", layout, layout, reconstructed=listed, virtual=True)
            self._readouts[_WATCH_ALL] = _Readout(None, watcher, self.model)
            self._sensors = SensorList([*self._sensors, sensor])
        return self._sensors[_WATCH_ALL]

    def _watcher(self) -> int | None:
        """Return the model's sensor of all contacts, if there is one that is computed in every step."""
        options = self.model.opt
        off = options.enableflags & SLEEP or options.disableflags & mujoco.mjtDisableBit.mjDSBL_SENSOR
        names = read_names(self.model, "sensor")
        return names.index(WATCHER) if WATCHER in names and not len(self._sensors) and not off else None

    def _fitted(self, name: str) -> ContactSensor:
        """Return a sensor, with a slot for every contact if it is the one that watches all."""
        sensor = self.sensors[name]
        return self._fit(self._most_contacts()) if sensor.virtual and not self._watched else sensor

    def _fit(self, needed: int) -> ContactSensor:
        """Return the sensor that watches all, with slots for a number of contacts at least."""
        sensor = self._sensors[_WATCH_ALL]
        if needed > sensor.slots:
            # Twice as many at least, because contacts come one by one, and readers of sensors plan for the slots.
            slots = max(needed, 2 * sensor.slots)
            layout = _layout(sensor.fields, slots, sensor.reduce)
            sensor = sensor._replace(layout=layout, declared=full_layout(slots), reconstructed=True)
            # MuJoCo's own sensor has no more slots: from now on the contact list is read.
            self._watched, self._readouts[_WATCH_ALL] = [], _Readout(None, None, self.model)
            self._sensors = self._sensors.changed([sensor])
        return sensor

    def _most_contacts(self) -> int:
        return max(self.contact_data(env).ncon for env in range(self.num_envs))

    def _declared_sensors(self) -> Iterator[ContactSensor]:
        """Yield the sensors that the model declares, and note how each is read."""
        declarations = declared_sensors(self.model, hidden=[*self.companions.values(), *self.hidden])
        families, delayed = join_declarations(self.model, declarations), delayed_sensors(self.model)
        taken: set[int] = set()
        for i, name, _, label, layout, _ in declarations:
            if i in taken:
                continue
            companion = self.companions.get(i)
            readout, sources = _Readout(i, companion, self.model, i in delayed), tuple[str, ...]()
            if (family := families.get(i)) is not None:
                name, layout, sources = family.name, family.layout, family.sources
                readout = replace(readout, joined=family.ids, place=family.place)
                taken.update(family.ids)
            self._readouts[name] = readout
            yield ContactSensor(name, label, layout, layout, companion is None, sources=sources)

    def _span(self) -> slice:
        """Return the part of `sensordata` from which all sensors are read; empty without sensors."""
        # Without a companion, each of the sensors that another is joined of.
        ids = [
            i
            for readout in self._readouts.values()
            for i in (readout.sensor_ids if readout.companion_id is None else readout.sensor_ids[-1:])
        ]
        if not ids:
            return slice(0, 0)
        starts, sizes = self.model.sensor_adr[ids], self.model.sensor_dim[ids]
        return slice(int(starts.min()), int((starts + sizes).max()))

    def _columns(self, sensor_id: int) -> slice:
        """Return the columns of a sensor of the model in `sensordata`."""
        start = self._starts[sensor_id]
        return slice(start, start + self._sizes[sensor_id])

    def _sense_again(self, sensor_ids: Iterable[int]) -> None:
        """Let MuJoCo compute the arrays of some sensors again, from the present contacts and forces.

        MuJoCo does so in its next step; until then the arrays would hold values from before the sensors were changed.
        """
        options, columns = self.model.opt, [self._columns(i) for i in sensor_ids]
        flags = options.enableflags
        if flags & SLEEP:
            # Sensors of sleeping objects are skipped.
            options.enableflags = flags & ~SLEEP
        for env, data in enumerate(self._datas):
            sensed = self.contact_data(env)
            kept = data.sensordata.copy()
            mujoco.mj_sensorAcc(self.model, sensed)
            # Other sensors are written too, some of them from what the last step has changed since.
            for place in columns:
                kept[place] = sensed.sensordata[place]
            data.sensordata[:] = kept
        if flags & SLEEP:
            options.enableflags = flags

    def _correct_velocities(self, sensor: ContactSensor, readout: _Readout) -> None:
        """Replace velocities of a sensor's contacts by those before the step, as all else in the array. MuJoCo computes
        velocities of flexes from the joints, which the step has already moved."""
        for env, data in enumerate(self._datas):
            listed = self.contact_data(env)
            rebuilt = rebuild_contacts(self.model, listed, readout.matcher.match(listed), sensor.reduce, sensor.slots)
            for i in readout.sensor_ids:
                if i in readout.joined:
                    continue
                layout = sensor.layout if i == readout.sensor_id else companion_layout(sensor.slots, sensor.reduce)
                values = data.sensordata[self._columns(i)]
                batch = layout.decode(values)
                if batch.filled.any() and rebuilt.linvel is not None and not np.isnan(rebuilt.linvel).any():
                    values[:] = layout.encode(replace(batch, linvel=rebuilt.linvel, angvel=rebuilt.angvel))

    def _values(self, sensor_id: int) -> Array:
        """Return a sensor's values now, (size,) or (num_envs, size)."""
        views = self._views.get(sensor_id)
        if views is None:
            columns = self._columns(sensor_id)
            views = self._views[sensor_id] = [data.sensordata[columns] for data in self._datas]
        return np.concatenate(views).reshape(self.num_envs, -1) if self.num_envs > 1 else views[0].copy()

    def _reconstruct(self, sensor: ContactSensor, readout: _Readout) -> ContactBatch:
        batches = [
            rebuild_contacts(self.model, data, readout.matcher.match(data), sensor.reduce, sensor.slots)
            for data in map(self.contact_data, range(self.num_envs))
        ]
        return ContactBatch.stack(batches) if self.num_envs > 1 else batches[0]


@cache
def _layout(fields: tuple[Field, ...], slots: int, reduce: str) -> ContactLayout:
    """Return a layout from a cache: making one takes 72 µs."""
    return ContactLayout(fields, slots, reduce)
