"""MotrixSim behind the engine contract, drawn through a MuJoCo model of the same scene."""

from collections.abc import Callable, Iterator, Mapping
from dataclasses import replace
from functools import cache
from importlib.metadata import version
from pathlib import Path
from typing import Any

import mujoco
import numpy as np
from numpy.typing import NDArray

from ...errors import SceneError, UnstableError
from ...mjmodel.declarations import declared_sensors
from ...mjmodel.distances import PairDistances
from ...mjmodel.names import find_key, key_names
from ...mjmodel.types import MjData, MjModel
from ...scene_files.safe_open import OpenedScene, open_safely
from ...sensors.contacts import Array, ContactBatch
from ...sensors.layout import ContactLayout, Style
from ...sensors.motrix_frames import PairOrder, complete_net, correct_contacts
from ...settings import Reduce
from ...touch.device import TouchSensor
from ...touch.touch_sensors import TouchSensors
from ..abilities import Diagnostics, Past, Substeps
from ..contact_sensor import ContactDetails, ContactSensor, Row, SensorList
from ..contract import Engine
from ..controller import Controller
from ..environment import Environment
from ..values import SensorValues, stack_contacts
from .calls import import_motrixsim, running_calls
from .forces import MotrixForces
from .picture import PictureCopy
from .probe import Probe
from .reduction import reduce_scene
from .world import MotrixScene, MotrixSensor, load_motrix


def open_scene(scene: Any, num_envs: int = 1, change: Callable[[MjModel], object] | None = None) -> "MotrixEngine":
    """A scene file in MotrixSim. It builds a model of its own, which `change` cannot reach: a note says so."""
    path = scene.path if isinstance(scene, OpenedScene) else scene
    if not isinstance(path, Path):
        raise SceneError("MotrixSim needs a scene file: it cannot run a compiled MuJoCo model")
    import_motrixsim()
    if path.suffix.lower() == ".mjb":
        raise SceneError(f"{path}: MotrixSim reads MJCF and URDF, not compiled MuJoCo models")
    # Some scenes kill the process that loads them, so another one tries first, while MuJoCo loads the picture.
    probe = Probe([{"path": str(path)}])
    try:
        picture = open_safely(path, any_order=True)
        error = probe.results()[0].error
    finally:
        probe.cancel()
    declared = declared_sensors(picture.model, hidden=picture.companions.values())
    reduced = None if error is None else reduce_scene(path, picture.model, declared, error)
    if error is not None and reduced is None:
        raise SceneError(f"MotrixSim cannot run {path}: {error}")
    loaded = load_motrix(path, picture.model, declared, num_envs, reduced.text if reduced else None)
    engine = MotrixEngine(path, picture.model, loaded, num_envs)
    engine.files = picture.survey.files if picture.survey else {}
    engine.notes += picture.notes
    if reduced is not None:
        engine.unread = {**loaded.unread, **reduced.unread}
        engine.notes += reduced.notes
    if change is not None:
        engine.notes += ("MotrixSim reads the scene's file: what vary changes of the model has no effect there",)
    return engine


class MotrixEngine(SensorValues):
    """A MotrixSim model and the state of its environments.

    Before the first step, and after a reset, no sensor has reported anything: arrays are zero and there are no
    contacts. Velocities of contacts are not known.
    """

    can_watch_all = can_edit_sensors = has_contact_list = False
    diagnostics: Diagnostics | None = None

    def __init__(self, path: Path, picture: MjModel, scene: MotrixScene, num_envs: int = 1) -> None:
        self.name = f"MotrixSim {version('motrixsim')}"
        self.path: Path | None = path
        self.model = picture
        self.num_envs = num_envs
        self.ignored = scene.ignored
        self.files: Mapping[Path, Any] = {}
        self.notes: tuple[str, ...] = ()
        self.unread: Mapping[str, str] = scene.unread
        self._motrix = scene.model
        self._links = scene.links
        self._colliders = scene.colliders
        self._copy = PictureCopy(scene, picture)
        if missing := ", ".join(self._copy.missing):
            self.notes = (f"MotrixSim has no actuator {missing}: its control does nothing",)
        self._pictures: dict[int, Any] = {}
        self._drawn: dict[int, int] = {}
        self._readings = {sensor.declared.name: sensor for sensor in scene.sensors}
        self._sensors = SensorList(
            [
                ContactSensor(sensor.declared.name, sensor.declared.label, sensor.layout, sensor.layout)
                for sensor in scene.sensors
            ]
        )
        self._row_starts: dict[str, int] = {}
        """Where each sensor begins in a row."""
        self._row_size = 0
        for sensor in scene.sensors:
            self._row_starts[sensor.declared.name] = self._row_size
            # Contacts with all fields, then the array itself, which has fewer.
            self._row_size += 2 * _row_layout(sensor.declared.num, Reduce.NONE).size
        # MotrixSim rounds to single precision; times should not show it.
        step = float(scene.model.options.timestep)
        self.timestep = float(picture.opt.timestep) if np.float32(picture.opt.timestep) == np.float32(step) else step
        self.touch_sensors: TouchSensors | None = None
        self.controller: Controller | None = None
        self.reset()
        forces = MotrixForces(self._motrix, self._links, lambda: self._state, num_envs)
        self.touch_sensors = TouchSensors(self, forces=forces)

    @property
    def data(self) -> MjData:
        return self.pose(0)

    @property
    def sensors(self) -> SensorList:
        return self._sensors

    @property
    def time(self) -> float:
        return self._start_time + self._step_count * self.timestep

    @property
    def keys(self) -> tuple[str, ...]:
        return key_names(self.model)

    def step(self, count: int = 1) -> None:
        """Advance by a number of steps; raises UnstableError, after a reset, if the state diverged."""
        touch, drive = self.touch_sensors, self.driver()
        one_by_one = drive is not None or (touch is not None and touch.active)
        for steps in [1] * count if one_by_one else [count]:
            if drive is not None:
                drive()
            self._step_observed(steps)

    def driver(self) -> Callable[[], object] | None:
        if self.controller is None:
            return None
        envs = range(self.num_envs)
        call = self.controller.driver(self.model, [self.pose(env) for env in envs])

        def drive() -> None:
            for env in envs:
                self.pose(env)
            call()

        return drive

    def stepper(self, drive: Callable[[], object] | None) -> Callable[[], object]:
        def step() -> None:
            if drive is not None:
                drive()
            self._step_observed(1)

        return step

    def _step_observed(self, count: int) -> None:
        self._advance(count)
        if self.touch_sensors is not None:
            self.touch_sensors.after_step(self)

    def _advance(self, count: int) -> None:
        before = self.time
        with running_calls("step"):
            self._copy.write_controls(self._state, self._pictures)
            if any(picture.xfrc_applied.any() for picture in self._pictures.values()):
                for _ in range(count):
                    self._push()
                    self._motrix.step(self._state)
            else:
                self._motrix.step_n(self._state, count)
        self._step_count += count
        if not np.isfinite(self._state.dof_pos).all():
            self.reset()
            raise UnstableError(f"the simulation became unstable after {before:.3f} s", "it was reset")

    def reset(self, key: str | int | None = None) -> None:
        key_id = None if key is None else find_key(self.model, key)
        motrixsim = import_motrixsim()
        with running_calls("reset"):
            # A new state, because the engine's own reset keeps the last step's sensor values and solver state.
            batch = [self.num_envs] if self.num_envs > 1 else []
            self._state = motrixsim.SceneData(self._motrix, batch=batch)
            if key_id is not None:
                self._motrix.keyframes[key_id].apply(self._state)
        self._start_time = 0.0 if key_id is None else float(self.model.key_time[key_id])
        self._step_count = 0
        self._drawn.clear()
        for env, picture in self._pictures.items():
            self._copy.read_controls(self._state, self._one_of(env), picture)
        if self.controller is not None and self.controller.reset is not None:
            self.controller.start(self.model, [self.pose(env) for env in range(self.num_envs)])
            for env in self._pictures:
                self.take_pose(env)
        if self.touch_sensors is not None:
            self.touch_sensors.after_reset(self)

    def pose(self, env: int = 0) -> MjData:
        if env not in self._pictures:
            self.environment(env)
            self._pictures[env] = mujoco.MjData(self.model)
            self._copy.read_controls(self._state, self._one_of(env), self._pictures[env])
        picture = self._pictures[env]
        if self._drawn.get(env) != self._step_count:
            self._copy.draw(self._state, self._one_of(env), picture)
            picture.time = self.time
            self._drawn[env] = self._step_count
        return picture

    def take_pose(self, env: int = 0) -> None:
        """Contacts and arrays stay those of the last step: MotrixSim finds contacts in steps alone."""
        with running_calls("take a pose"):
            self._copy.write_pose(self._state, {env: self._pictures[env]})
        self._copy.draw(self._state, self._one_of(env), self._pictures[env])

    def environment(self, env: int) -> Engine:
        return Environment(self, env)

    @property
    def past(self) -> Past:
        return self.environment(0).past

    def adopt_state(self, other: Engine) -> bool:
        return False

    def substeps(self, distances: PairDistances) -> Substeps | None:
        return None

    def warning(self) -> str | None:
        return None

    def array(self, name: str) -> Array:
        sensor, reading = self._sensors[name], self._readings[name]
        if not sensor.modified:
            return self._values(name)
        key, layout = reading.companions[sensor.reduce]
        return layout.take(self._values(key), sensor.layout)

    def contacts(self, name: str) -> ContactBatch:
        sensor, reading = self._sensors[name], self._readings[name]
        if sensor.reduce is Reduce.NETFORCE:
            return self._net(reading)
        return self._single(reading, sensor.reduce).cut(0, sensor.slots)

    def row(self, env: int = 0) -> Row:
        row = np.zeros(self._row_size)
        for sensor in self._sensors:
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
        """Where a sensor's own array is in a row: after its contacts, from which it does not always follow."""
        start = self._row_starts[sensor.name] + _row_layout(self._readings[sensor.name].declared.num, Reduce.NONE).size
        return slice(start, start + sensor.size)

    def grouped_contacts(self) -> Iterator[tuple[tuple[str, ...], ContactBatch]]:
        return stack_contacts(self)

    def touch(self, name: str) -> TouchSensor:
        assert self.touch_sensors is not None
        return self.touch_sensors.device(name)

    def dropped(self, name: str, env: int = 0) -> ContactBatch:
        sensor, reading = self._sensors[name], self._readings[name]
        if sensor.reduce is Reduce.NETFORCE:
            none = ContactLayout(Style.MOTRIX.fields, 1, style=Style.MOTRIX)
            return none.decode(np.zeros(none.size, np.float32))
        batch = self._one(self._single(reading, sensor.reduce), env)
        batch = batch.cut(sensor.slots, max(int(batch.filled.sum()), sensor.slots + 1))
        return replace(batch, found=batch.filled.sum(dtype=batch.found.dtype))

    def details(self, name: str, env: int = 0) -> ContactDetails:
        """The geoms of each slot; MotrixSim does not report with which friction they touch."""
        batch, reading = self._one(self.contacts(name), env), self._readings[name]
        geoms = [("", "")] * len(batch.filled)
        if not batch.in_world_frame:
            filled = np.flatnonzero(batch.filled)
            pairs = reading.geoms * len(filled) if len(reading.geoms) == 1 else self._pairs_of(batch, filled, reading)
            for slot, pair in zip(filled, pairs, strict=True):
                geoms[slot] = pair
        return ContactDetails(tuple(geoms), np.full((len(geoms), 5), np.nan))

    def set_reduce(self, name: str, mode: str) -> None:
        sensor, reading = self._sensors[name], self._readings[name]
        order = reading.layout.pair_order
        layout = ContactLayout(sensor.fields, reading.declared.num, mode, Style.MOTRIX, order)
        changed = replace(sensor, layout=layout)
        self._sensors = SensorList([changed if old.name == name else old for old in self._sensors])

    def watch_all(self) -> ContactSensor:
        raise SceneError("MotrixSim has no sensor that matches every contact")

    def _values(self, name: str) -> Array:
        with running_calls(f"read {name}"):
            return self._motrix.get_sensor_value(name, self._state)

    def _single(self, reading: MotrixSensor, mode: Reduce) -> ContactBatch:
        """The contacts that a sensor matches, as one of the other modes ranks them, with slots to spare."""
        key, layout = reading.companions[mode]
        batch = layout.decode(self._values(key))
        return self._turn(batch, reading) if layout.pair_order is PairOrder.MIXED else batch

    def _turn(self, batch: ContactBatch, reading: MotrixSensor) -> ContactBatch:
        """Contacts of pairs in both orders, with those corrected that the reversed pairs' own sensors report too."""
        reported = _identity(batch)[..., :, np.newaxis, :]
        turned = np.zeros_like(batch.filled)
        for key, layout in reading.turned:
            others = replace(layout, pair_order=PairOrder.NATIVE).decode(self._values(key))
            same = (reported == _identity(others)[..., np.newaxis, :, :]).all(axis=-1)
            turned |= (same & others.filled[..., np.newaxis, :]).any(axis=-1)
        return correct_contacts(batch, turned)

    def _net(self, reading: MotrixSensor) -> ContactBatch:
        """The net contact, added up from single ones where MotrixSim's own sum means nothing."""
        key, layout = reading.companions[Reduce.NETFORCE]
        batch = layout.decode(self._values(key))
        if batch.force is not None and not np.isnan(batch.force).any():
            return batch
        return complete_net(batch, self._single(reading, Reduce.NONE))

    def _one(self, batch: ContactBatch, env: int) -> ContactBatch:
        if not 0 <= env < self.num_envs:
            raise SceneError(f"no environment {env}; there are {self.num_envs}")
        return batch if self.num_envs == 1 else batch.at(env)

    def _pairs_of(self, batch: ContactBatch, slots: NDArray[np.intp], reading: MotrixSensor) -> list[tuple[str, str]]:
        """The geoms of some slots, joined with the engine's contact list by distance and normal.

        Empty where several pairs would fit, and with several environments, for which there is no such list.
        """
        if self.num_envs > 1:
            return [("", "")] * len(slots)
        assert batch.dist is not None
        assert batch.normal is not None
        contacts = self._state.low.get_contacts()
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
            known = [pair for pair in reading.geoms if frozenset(pair) in touching]
            pairs.append(known[0] if len(known) == 1 else ("", ""))
        return pairs

    def _one_of(self, env: int) -> int | None:
        """Where an environment is in MotrixSim's arrays; None where there is only one."""
        return None if self.num_envs == 1 else env

    def _push(self) -> None:
        """Apply the forces that a person put into the pictures; MotrixSim forgets them after a step."""
        shape = (self.num_envs, len(self._links), 6)
        wrenches = np.zeros(shape, np.float32)
        for env, picture in self._pictures.items():
            wrenches[env] = picture.xfrc_applied
        for body in np.flatnonzero(wrenches.any(axis=(0, 2))):
            link = self._motrix.get_link(self._links[body]) if self._links[body] else None
            if link is not None:
                wrench = wrenches[:, body] if self.num_envs > 1 else wrenches[0, body]
                force, torque = (np.ascontiguousarray(part) for part in (wrench[..., :3], wrench[..., 3:]))
                link.add_external_force(self._state, force, local=False)
                link.add_external_torque(self._state, torque, local=False)


@cache
def _row_layout(slots: int, reduce: Reduce) -> ContactLayout:
    """How contacts with all fields that MotrixSim knows are kept in rows, in double precision and MuJoCo's frames."""
    return ContactLayout(Style.MOTRIX.fields, slots, reduce)


def _identity(batch: ContactBatch) -> Array:
    """Numbers by which two sensors' reports of one contact are known to be of the same, (..., slots, 6)."""
    assert batch.pos is not None
    assert batch.force is not None
    return np.concatenate([batch.pos, batch.force], axis=-1)
