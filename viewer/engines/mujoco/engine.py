"""MuJoCo behind the engine contract."""

import os
from collections.abc import Callable, Iterable, Iterator, Mapping
from dataclasses import dataclass
from functools import cache
from pathlib import Path
from types import MappingProxyType
from typing import Any

import mujoco
import numpy as np
from numpy.typing import NDArray

from ...sensors.contacts import Array, ContactBatch
from ...sensors.layout import ContactLayout, Field
from ...sensors.touch import TouchSensor
from ...settings import Reduce
from ..contract import ContactDetails, ContactSensor, Engine, SensorList
from ..environments import Environment
from ..files.loading import LoadedScene
from ..files.vetting import OpenedScene
from ..grouping import LayoutGroup, group_by_layout
from ..touch import TouchSensors
from ..values import documented_value, force_magnitudes
from .adopting import adopt, can_adopt
from .cones import contact_friction
from .declarations import declared_sensors, is_delayed
from .helpers import Helpers
from .keyframes import find_key, key_names
from .matching import ContactMatcher, companion_layout, full_layout, locate, rebuild, rebuild_contacts, select
from .mishaps import WarningWatch, divergence, failure
from .names import geom_names
from .sleeping import SLEEP

_WATCH_ALL = "all contacts"
_WATCH_ALL_SLOTS = 1000
_REDUCE_NUMBERS = {reduce: number for number, reduce in enumerate(Reduce)}
_ACC = int(mujoco.mjtStage.mjSTAGE_ACC)


@dataclass(frozen=True)
class _Reading:
    """How one sensor is read."""

    sensor_id: int | None
    """None for virtual sensors."""
    companion_id: int | None
    matcher: ContactMatcher
    delayed: bool = False
    """The array is older than the contact list."""

    @property
    def sensor_ids(self) -> tuple[int, ...]:
        """Sensors in the model that this is read from."""
        return tuple(i for i in (self.sensor_id, self.companion_id) if i is not None)


@dataclass(frozen=True)
class _Grouping:
    """How all sensors are read together."""

    sensors: SensorList | None = None
    """Those that it is made for."""
    rows: tuple[memoryview, ...] = ()
    """The part of `sensordata` that holds their companions, of each environment, as bytes."""
    groups: tuple[tuple[tuple[str, ...], LayoutGroup], ...] = ()
    others: tuple[str, ...] = ()
    """Sensors without a companion."""


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
        # A data an environment, and not mujoco.rollout: that is up to twice as fast on a thousand small environments,
        # but it takes the steps of all of them in a few data, and so leaves no contacts of each to look at.
        self._datas = [mujoco.MjData(scene.model) for _ in range(num_envs)] if data is None else [data]
        self._helpers = Helpers(min(num_envs, os.cpu_count() or 1) - 1)
        self._geom_names = geom_names(self.model)
        starts, sizes = self.model.sensor_adr.tolist(), self.model.sensor_dim.tolist()
        self._columns = [slice(start, start + size) for start, size in zip(starts, sizes, strict=True)]
        # Views of sensors that were read, one an environment: they stay valid, and to make them takes longest.
        self._views: dict[int, list[Array]] = {}
        self._readings: dict[str, _Reading] = {}
        self._grouping = _Grouping()
        self._warnings = WarningWatch()
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
        model, before, step = self.model, self.time, mujoco.mj_step

        def advance(waiting: Iterator[Any]) -> None:
            for data in waiting:
                step(model, data, count)

        try:
            self._helpers.share(self._datas, advance)
        except mujoco.FatalError as error:
            raise failure(error, before) from None
        # The only sign of an automatic reset is time that went backwards.
        late = before + 0.5 * count * self.timestep
        fallen = [env for env, data in enumerate(self._datas) if data.time < late]
        if fallen:
            where = "" if self.num_envs == 1 else f" environment {', '.join(map(str, fallen))}"
            raise divergence(model, self._datas[fallen[0]], before, f"MuJoCo reset{where or ' it'}")

    def reset(self, key: str | int | None = None) -> None:
        key_id = None if key is None else find_key(self.model, key)

        def restart(data: Any) -> None:
            if key_id is None:
                mujoco.mj_resetData(self.model, data)
            else:
                mujoco.mj_resetDataKeyframe(self.model, data, key_id)
            self._forward(data)

        self._for_each(restart)
        self._warnings.restart()
        self.touch_sensors.after_reset(self)

    def adopt_state(self, other: "MujocoEngine") -> bool:
        """Take over the state of another engine if the models have the same joints; whether they have."""
        if not can_adopt(self.model, other.model) or self.num_envs != other.num_envs:
            return False
        for data, old in zip(self._datas, other._datas, strict=True):
            adopt(self.model, data, other.model, old)
        self.touch_sensors.after_reset(self)
        return True

    def pose(self, env: int = 0) -> Any:
        return self._datas[env]

    def warning(self) -> str | None:
        """A kind of trouble that MuJoCo had since the last reset and went on with, once, for a person."""
        return next((told for data in self._datas if (told := self._warnings.news(self.model, data))), None)

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
        return companion_layout(sensor.slots, sensor.reduce).decode(self._values(reading.companion_id))

    def grouped_contacts(self) -> Iterator[tuple[tuple[str, ...], ContactBatch]]:
        plan = self._grouping
        if plan.sensors is not self._sensors:
            plan = self._grouping = self._group()
        if plan.groups:
            # Joined as bytes, which takes a quarter of the time.
            rows = np.frombuffer(bytearray().join(plan.rows))
            if self.num_envs > 1:
                rows = rows.reshape(self.num_envs, -1)
            for names, group in plan.groups:
                yield names, group.decode(rows)
        for name in plan.others:
            yield (name,), ContactBatch.stack([self.contacts(name)])

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
        return self._reconstruct(sensor.reread(layout), self._readings[name])

    def sensor_id(self, name: str) -> int | None:
        """Number of the declared sensor in the model; None for one that the viewer made."""
        self._sensors.position(name)
        return self._readings[name].sensor_id

    def set_reduce(self, name: str, mode: str) -> None:
        sensor, reading = self._sensors[name], self._readings[name]
        layout = _layout(sensor.fields, sensor.slots, mode)
        self._replace_sensor(sensor.reread(layout))
        if reading.sensor_id is None or not self._owned:
            return
        sensor_ids = reading.sensor_ids
        for i in sensor_ids:
            self.model.sensor_intprm[i, 1] = _REDUCE_NUMBERS[layout.reduce]
            # Without the later stage, forces of a sensor declared without them would stay stale.
            self.model.sensor_needstage[i] = _ACC
        if not reading.delayed:
            self._sense_again(sensor_ids)

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
                i, companion, ContactMatcher(self.model, i), delayed=is_delayed(self.model, i)
            )
        return SensorList(sensors)

    def _group(self) -> _Grouping:
        companions = {
            sensor.name: self._columns[companion]
            for sensor in self._sensors
            if (companion := self._readings[sensor.name].companion_id) is not None
        }
        others = tuple(name for name in self._sensors.names if name not in companions)
        if not companions:
            return _Grouping(self._sensors, others=others)
        first = min(columns.start for columns in companions.values())
        stop = max(columns.stop for columns in companions.values())
        names = tuple(companions)
        sensors = [self._sensors[name] for name in names]
        groups = group_by_layout(
            (columns.start - first, companion_layout(sensor.slots, sensor.reduce))
            for columns, sensor in zip(companions.values(), sensors, strict=True)
        )
        return _Grouping(
            self._sensors,
            tuple(data.sensordata[first:stop].data.cast("B") for data in self._datas),
            tuple((tuple(names[member] for member in group.members), group) for group in groups),
            others,
        )

    def _replace_sensor(self, changed: ContactSensor) -> None:
        self._sensors = SensorList([changed if old.name == changed.name else old for old in self._sensors])

    def _sense_again(self, sensor_ids: Iterable[int]) -> None:
        """Let MuJoCo write the arrays of some sensors anew, from the contacts and forces at hand.

        It does so in its next step; until then they would hold what they reported before they were changed.
        """
        options, columns = self.model.opt, [self._columns[i] for i in sensor_ids]
        flags = options.enableflags
        if flags & SLEEP:
            # Sensors of sleeping objects are passed over.
            options.enableflags = flags & ~SLEEP
        for data in self._datas:
            values = data.sensordata
            kept = values.copy()
            mujoco.mj_sensorAcc(self.model, data)
            # Other sensors are written too, some of them from what the last step has changed since.
            for place in columns:
                kept[place] = values[place]
            values[:] = kept
        if flags & SLEEP:
            options.enableflags = flags

    def _values(self, sensor_id: int) -> Array:
        """A sensor's values now, (size,) or (num_envs, size)."""
        views = self._views.get(sensor_id)
        if views is None:
            columns = self._columns[sensor_id]
            views = self._views[sensor_id] = [data.sensordata[columns] for data in self._datas]
        return np.concatenate(views).reshape(self.num_envs, -1) if self.num_envs > 1 else views[0].copy()

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

    def _for_each(self, work: Callable[[Any], object]) -> None:
        """Do some work on every environment's data."""

        def work_through(waiting: Iterator[Any]) -> None:
            for data in waiting:
                work(data)

        self._helpers.share(self._datas, work_through)


@cache
def _layout(fields: tuple[Field, ...], slots: int, reduce: str) -> ContactLayout:
    return ContactLayout(fields, slots, reduce)
