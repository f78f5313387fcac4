"""MuJoCo behind the engine contract."""

import os
from collections.abc import Callable, Iterable, Mapping
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass, replace
from functools import cache
from pathlib import Path
from types import MappingProxyType
from typing import Any

import mujoco
import numpy as np
from numpy.typing import NDArray

from ...sensors.contacts import Array, ContactBatch
from ...sensors.layout import ContactLayout
from ...sensors.touch import TouchSensor
from ...settings import Reduce
from ..contract import ContactDetails, ContactSensor, Engine, SensorList
from ..environments import Environment
from ..errors import EngineError, UnstableError
from ..files.loading import LoadedScene, one_line
from ..files.vetting import OpenedScene
from ..touch import TouchSensors
from ..values import documented_value, force_magnitudes
from .cones import contact_friction
from .declarations import declared_sensors
from .keyframes import find_key, key_names
from .matching import ContactMatcher, full_layout, locate, rebuild, rebuild_contacts, select
from .names import geom_names, read_names

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
    """A MuJoCo model and the data of its environments, which belong together: neither is ever replaced alone."""

    unread: Mapping[str, str] = MappingProxyType({})
    ignored: tuple[str, ...] = ()
    can_watch_all = True

    def __init__(self, scene: LoadedScene, data: Any = None, num_envs: int = 1) -> None:
        """`data`: a user's own state, taken as it is."""
        self.name = f"MuJoCo {mujoco.__version__}"
        self.path = scene.path
        self.files: Mapping[Path, Any] = scene.survey.files if isinstance(scene, OpenedScene) and scene.survey else {}
        self.notes: tuple[str, ...] = scene.notes if isinstance(scene, OpenedScene) else ()
        self.model = scene.model
        self.num_envs = num_envs
        self._owned = scene.owned
        # A data a environment, and not mujoco.rollout: that is up to twice as fast on a thousand small environments,
        # but it forgets the solver's warm start between calls, so that environments would not repeat what one alone
        # does, and it leaves no contacts to look at.
        self._datas = [mujoco.MjData(scene.model) for _ in range(num_envs)] if data is None else [data]
        self._pool = ThreadPoolExecutor(min(num_envs, os.cpu_count() or 1)) if num_envs > 1 else None
        self._geom_names = geom_names(self.model)
        self._readings: dict[str, _Reading] = {}
        self._sensors = self._declared_sensors(scene.companions)
        if data is None:
            self._for_each(self._forward)
        self.touch_sensors = TouchSensors(self)

    @property
    def data(self) -> Any:
        return self._datas[0]

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
        return key_names(self.model)

    def step(self, count: int = 1) -> None:
        """Advance by a number of steps; raises UnstableError if MuJoCo had to reset a diverged state."""
        for steps in [1] * count if self.touch_sensors.active else [count]:
            self._advance(steps)
            self.touch_sensors.after_step(self)

    def _advance(self, count: int) -> None:
        before = self.time
        # The only sign of an automatic reset is time that went backwards.
        late = before + 0.5 * count * self.timestep

        def advance(data: Any) -> bool:
            try:
                mujoco.mj_step(self.model, data, count)
            except mujoco.FatalError as error:
                raise EngineError(f"MuJoCo failed at {before:.3f} s: {one_line(error)}") from None
            return bool(data.time < late)

        fallen = np.flatnonzero(self._for_each(advance))
        if len(fallen):
            where = "" if self.num_envs == 1 else f" in environment {', '.join(map(str, fallen))}"
            raise UnstableError(f"the simulation became unstable after {before:.3f} s{where} and MuJoCo reset it")

    def reset(self, key: str | int | None = None) -> None:
        key_id = None if key is None else find_key(self.model, key)

        def restart(data: Any) -> None:
            if key_id is None:
                mujoco.mj_resetData(self.model, data)
            else:
                mujoco.mj_resetDataKeyframe(self.model, data, key_id)
            self._forward(data)

        self._for_each(restart)
        self.touch_sensors.after_reset(self)

    def adopt_state(self, other: "MujocoEngine") -> bool:
        """Take over time and motion of another engine if the models have the same joints; whether they have."""
        model, before = self.model, other.model
        same = all(np.array_equal(getattr(model, name), getattr(before, name)) for name in ("jnt_type", "jnt_bodyid"))
        named = read_names(model, "jnt") == read_names(before, "jnt")
        if not same or not named or model.na != before.na or model.nu != before.nu or self.num_envs != other.num_envs:
            return False
        for data, old in zip(self._datas, other._datas, strict=True):
            data.time = old.time
            for name in ("qpos", "qvel", "act", "ctrl", "qacc_warmstart"):
                getattr(data, name)[:] = getattr(old, name)
            self._forward(data)
        self.touch_sensors.after_reset(self)
        return True

    def pose(self, env: int = 0) -> Any:
        return self._datas[env]

    def environment(self, env: int) -> Engine:
        return self if self.num_envs == 1 and env == 0 else Environment(self, env)

    def array(self, name: str) -> Array:
        sensor, reading = self._sensors[name], self._readings[name]
        if reading.sensor_id is None or (sensor.modified and not self._owned):
            return sensor.layout.encode(self.contacts(name))
        return self._values(reading.sensor_id)

    def contacts(self, name: str) -> ContactBatch:
        sensor, reading = self._sensors[name], self._readings[name]
        if reading.companion_id is None:
            return self._reconstruct(sensor, reading)
        return _companion_layout(sensor.slots, sensor.reduce).decode(self._values(reading.companion_id))

    def get_sensor_value(self, name: str) -> NDArray[np.float32]:
        return documented_value(self._sensors[name], self.contacts(name))

    def get_contact_force_magnitude(self, name: str) -> Array:
        return force_magnitudes(self._sensors[name], self.contacts(name))

    def touch(self, name: str) -> TouchSensor:
        return self.touch_sensors.device(name)

    def dropped(self, name: str, env: int = 0) -> ContactBatch:
        sensor, reading, data = self._sensors[name], self._readings[name], self._datas[env]
        matches = reading.matcher.match(data)
        dropped = select(self.model, data, matches, sensor.reduce, sensor.slots).dropped
        return rebuild_contacts(self.model, data, dropped)

    def details(self, name: str, env: int = 0) -> ContactDetails:
        batch, data = self.contacts(name), self._datas[env]
        if self.num_envs > 1:
            batch = batch.at(env)
        indices = np.full(batch.filled.shape, -1)
        assert batch.pos is not None
        assert batch.normal is not None
        if not batch.in_world_frame:
            matches = self._readings[name].matcher.match(data)
            indices[batch.filled] = locate(data, batch.pos[batch.filled], matches.contacts)
        known = np.flatnonzero(indices >= 0)
        contact = data.contact
        friction = np.full((len(indices), 5), np.nan)
        friction[known] = contact_friction(data, indices[known])
        geoms = [("", "")] * len(indices)
        for slot in known:
            pair = [self._geom_names[geom] if geom >= 0 else "flex" for geom in contact.geom[indices[slot]]]
            # The sensor turns the contact so that its normal points from object 1 to object 2.
            if np.dot(batch.normal[slot], contact.frame[indices[slot], :3]) < 0:
                pair.reverse()
            geoms[slot] = (pair[0], pair[1])
        return ContactDetails(tuple(geoms), friction)

    def preview(self, name: str, mode: str) -> ContactBatch:
        """What a sensor would report now in another reduce mode, with all fields."""
        sensor = self._sensors[name]
        layout = ContactLayout(sensor.fields, sensor.slots, mode)
        return self._reconstruct(replace(sensor, layout=layout), self._readings[name])

    def sensor_id(self, name: str) -> int | None:
        """Number of the declared sensor in the model; None for one that the viewer made."""
        self._sensors.position(name)
        return self._readings[name].sensor_id

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
                for data, values in zip(self._datas, np.atleast_2d(sensor_layout.encode(batch)), strict=True):
                    self._slice(data, sensor_id)[:] = values

    def watch_all(self) -> ContactSensor:
        if _WATCH_ALL not in self._readings:
            layout = full_layout(_WATCH_ALL_SLOTS)
            sensor = ContactSensor(_WATCH_ALL, "any x any", layout, layout, reconstructed=True, virtual=True)
            self._readings[_WATCH_ALL] = _Reading(None, None, ContactMatcher(self.model, None))
            self._sensors = SensorList([*self._sensors, sensor])
        return self._sensors[_WATCH_ALL]

    def _declared_sensors(self, companions: dict[int, int]) -> SensorList:
        sensors = []
        for declared in declared_sensors(self.model, hidden=companions.values()):
            i, layout = declared.sensor_id, declared.layout
            companion = companions.get(i)
            sensors.append(
                ContactSensor(declared.name, declared.label, layout, layout, reconstructed=companion is None)
            )
            self._readings[declared.name] = _Reading(
                i, companion, ContactMatcher(self.model, i), delayed=_has_history(self.model, i)
            )
        return SensorList(sensors)

    def _replace_sensor(self, changed: ContactSensor) -> None:
        self._sensors = SensorList([changed if old.name == changed.name else old for old in self._sensors])

    def _values(self, sensor_id: int) -> Array:
        """A sensor's values now, (size,) or (num_envs, size)."""
        rows = np.stack([self._slice(data, sensor_id) for data in self._datas])
        return rows if self.num_envs > 1 else rows[0]

    def _slice(self, data: Any, sensor_id: int) -> Array:
        start = self.model.sensor_adr[sensor_id]
        return data.sensordata[start : start + self.model.sensor_dim[sensor_id]]

    def _reconstruct(self, sensor: ContactSensor, reading: _Reading) -> ContactBatch:
        rows = np.stack(
            [
                rebuild(self.model, data, reading.matcher.match(data), sensor.reduce, sensor.slots)
                for data in self._datas
            ]
        )
        return full_layout(sensor.slots, sensor.reduce).decode(rows if self.num_envs > 1 else rows[0])

    def _forward(self, data: Any) -> None:
        mujoco.mj_forward(self.model, data)

    def _for_each(self, work: Callable[[Any], Any]) -> list[Any]:
        """The results of some work on every environment's data, done by several threads."""
        if self._pool is None:
            return [work(data) for data in self._datas]

        def work_through(datas: Iterable[Any]) -> list[Any]:
            return [work(data) for data in datas]

        # Several parts a thread: environments in contact cost more than others.
        size = -(-self.num_envs // (4 * (os.cpu_count() or 1)))
        parts = [self._datas[start : start + size] for start in range(0, self.num_envs, size)]
        return [result for results in self._pool.map(work_through, parts) for result in results]


@cache
def _companion_layout(slots: int, reduce: Reduce) -> ContactLayout:
    return ContactLayout(full_layout(slots).fields, slots, reduce)


def _has_history(model: Any, sensor_id: int) -> bool:
    history = getattr(model, "sensor_history", None)
    return history is not None and int(history[sensor_id].max()) > 0
