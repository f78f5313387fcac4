"""MuJoCo behind the engine contract."""

from dataclasses import dataclass, replace
from functools import cache
from pathlib import Path
from typing import Any

import mujoco
import numpy as np

from ..sensors.contacts import Array, ContactBatch
from ..sensors.layout import ContactLayout, Field
from ..settings import Reduce
from .contract import ContactDetails, ContactSensor, SensorList
from .errors import SceneError, UnstableError
from .loading import LoadedScene, find_scene, load_scene
from .matching import ContactMatcher, full_layout, locate, rebuild, rebuild_contacts, select
from .names import geom_names, read_names, sensor_names, target_label

_WATCH_ALL = "all contacts"
_WATCH_ALL_SLOTS = 1000


@dataclass(frozen=True)
class _Reading:
    """How one sensor is read."""

    sensor_id: int | None
    """None for virtual sensors."""
    companion_id: int | None
    matcher: ContactMatcher
    delayed: bool = False
    """The array is older than the contact list."""


class MujocoEngine:
    """A MuJoCo model and its data, which belong together: neither is ever replaced alone."""

    def __init__(self, scene: LoadedScene, data: Any = None) -> None:
        """`data`: a user's own state, taken as it is."""
        self.name = f"MuJoCo {mujoco.__version__}"
        self.path = scene.path
        self.model = scene.model
        self._owned = scene.owned
        self.data = mujoco.MjData(scene.model) if data is None else data
        self._geom_names = geom_names(self.model)
        self._readings: dict[str, _Reading] = {}
        self._sensors = self._declared_sensors(scene.companions)
        if data is None:
            mujoco.mj_forward(self.model, self.data)

    @property
    def sensors(self) -> SensorList:
        return self._sensors

    @property
    def time(self) -> float:
        return float(self.data.time)

    @property
    def timestep(self) -> float:
        return float(self.model.opt.timestep)

    @property
    def keys(self) -> tuple[str, ...]:
        return tuple(name or f"key {i}" for i, name in enumerate(read_names(self.model, "key")))

    def step(self, count: int = 1) -> None:
        """Advance by a number of steps; raises UnstableError if MuJoCo had to reset a diverged state."""
        before = self.data.time
        mujoco.mj_step(self.model, self.data, count)
        # The only sign of an automatic reset is time that went backwards.
        if self.data.time < before + 0.5 * count * self.model.opt.timestep:
            raise UnstableError(f"the simulation became unstable after {before:.3f} s and MuJoCo reset it")

    def reset(self, key: str | int | None = None) -> None:
        if key is None:
            mujoco.mj_resetData(self.model, self.data)
        else:
            mujoco.mj_resetDataKeyframe(self.model, self.data, self._key_id(key))
        mujoco.mj_forward(self.model, self.data)

    def array(self, name: str) -> Array:
        sensor, reading = self._sensors[name], self._readings[name]
        if reading.sensor_id is None or (sensor.modified and not self._owned):
            return sensor.layout.encode(self.contacts(name))
        return self._values(reading.sensor_id).copy()

    def contacts(self, name: str) -> ContactBatch:
        sensor, reading = self._sensors[name], self._readings[name]
        if reading.companion_id is None:
            return self._reconstruct(sensor, reading)
        return _companion_layout(sensor.slots, sensor.reduce).decode(self._values(reading.companion_id).copy())

    def dropped(self, name: str) -> ContactBatch:
        sensor, reading = self._sensors[name], self._readings[name]
        matches = reading.matcher.match(self.data)
        dropped = select(self.model, self.data, matches, sensor.reduce, sensor.slots).dropped
        return rebuild_contacts(self.model, self.data, dropped)

    def details(self, name: str) -> ContactDetails:
        batch = self.contacts(name)
        indices = np.full(batch.filled.shape, -1)
        assert batch.pos is not None
        assert batch.normal is not None
        if not batch.in_world_frame:
            indices[batch.filled] = locate(self.data, batch.pos[batch.filled])
        known = np.flatnonzero(indices >= 0)
        contact = self.data.contact
        friction = np.full(len(indices), np.nan)
        friction[known] = contact.friction[indices[known], 0]
        geoms = [("", "")] * len(indices)
        for slot in known:
            pair = [self._geom_names[geom] if geom >= 0 else "flex" for geom in contact.geom[indices[slot]]]
            # The sensor turns the contact so that its normal points from object 1 to object 2.
            if np.dot(batch.normal[slot], contact.frame[indices[slot], :3]) < 0:
                pair.reverse()
            geoms[slot] = (pair[0], pair[1])
        return ContactDetails(tuple(geoms), friction)

    def set_reduce(self, name: str, mode: str) -> None:
        sensor, reading = self._sensors[name], self._readings[name]
        layout = ContactLayout(sensor.fields, sensor.slots, mode)
        changed = replace(sensor, layout=layout)
        self._replace_sensor(changed)
        if reading.sensor_id is None or not self._owned:
            return
        batch = self._reconstruct(changed, reading)
        for sensor_id, sensor_layout in (
            (reading.sensor_id, layout),
            (reading.companion_id, _companion_layout(layout.slots, layout.reduce)),
        ):
            if sensor_id is None:
                continue
            self.model.sensor_intprm[sensor_id, 1] = list(Reduce).index(layout.reduce)
            # Without the later stage, forces of a sensor declared without them would stay stale.
            self.model.sensor_needstage[sensor_id] = mujoco.mjtStage.mjSTAGE_ACC
            if not reading.delayed:
                # The engine writes the array in its next step; until then it holds what that mode would report.
                self._values(sensor_id)[:] = sensor_layout.encode(batch)

    def watch_all(self) -> ContactSensor:
        if _WATCH_ALL not in self._readings:
            layout = full_layout(_WATCH_ALL_SLOTS)
            sensor = ContactSensor(_WATCH_ALL, "any x any", layout, layout, reconstructed=True, virtual=True)
            self._readings[_WATCH_ALL] = _Reading(None, None, ContactMatcher(self.model, None))
            self._sensors = SensorList([*self._sensors, sensor])
        return self._sensors[_WATCH_ALL]

    def _declared_sensors(self, companions: dict[int, int]) -> SensorList:
        model = self.model
        names = sensor_names(model)
        hidden = set(companions.values())
        sensors = []
        for i in np.flatnonzero(model.sensor_type == mujoco.mjtSensor.mjSENS_CONTACT):
            if i in hidden:
                continue
            bits, reduce, _ = (int(value) for value in model.sensor_intprm[i, :3])
            fields = [field for bit, field in enumerate(Field) if bits >> bit & 1]
            layout = ContactLayout(fields, 1, list(Reduce)[reduce])
            layout = ContactLayout(fields, int(model.sensor_dim[i]) // layout.slot_size, layout.reduce)
            label = " x ".join(
                (
                    target_label(model, model.sensor_objtype[i], model.sensor_objid[i]),
                    target_label(model, model.sensor_reftype[i], model.sensor_refid[i]),
                )
            )
            companion = companions.get(int(i))
            sensors.append(ContactSensor(names[i], label, layout, layout, reconstructed=companion is None))
            self._readings[names[i]] = _Reading(
                int(i), companion, ContactMatcher(model, int(i)), delayed=_has_history(model, int(i))
            )
        return SensorList(sensors)

    def _replace_sensor(self, changed: ContactSensor) -> None:
        self._sensors = SensorList([changed if old.name == changed.name else old for old in self._sensors])

    def _values(self, sensor_id: int) -> Array:
        start = self.model.sensor_adr[sensor_id]
        return self.data.sensordata[start : start + self.model.sensor_dim[sensor_id]]

    def _reconstruct(self, sensor: ContactSensor, reading: _Reading) -> ContactBatch:
        matches = reading.matcher.match(self.data)
        array = rebuild(self.model, self.data, matches, sensor.reduce, sensor.slots)
        return full_layout(sensor.slots, sensor.reduce).decode(array)

    def _key_id(self, key: str | int) -> int:
        keys = self.keys
        if key in keys:
            return keys.index(str(key))
        try:
            index = int(key)
        except ValueError:
            index = -1
        if not 0 <= index < len(keys):
            known = ", ".join(f"{name} ({i})" for i, name in enumerate(keys)) or "none"
            raise SceneError(f"no keyframe {key!r}; the scene has: {known}")
        return index


def open_engine(scene: str | Path | Any = None) -> MujocoEngine:
    """An engine for a scene file, a bundled scene's name, or a compiled model, which is then left as it is."""
    if isinstance(scene, mujoco.MjModel):
        return MujocoEngine(LoadedScene(None, scene, owned=False))
    return MujocoEngine(load_scene(find_scene(scene)))


@cache
def _companion_layout(slots: int, reduce: Reduce) -> ContactLayout:
    return ContactLayout(full_layout(slots).fields, slots, reduce)


def _has_history(model: Any, sensor_id: int) -> bool:
    history = getattr(model, "sensor_history", None)
    return history is not None and int(history[sensor_id].max()) > 0
