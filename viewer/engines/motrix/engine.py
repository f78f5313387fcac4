"""MotrixSim behind the engine contract, drawn through a MuJoCo model of the same scene."""

from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property
from importlib.metadata import version
from pathlib import Path
from typing import Any
from xml.etree.ElementTree import ParseError

import mujoco
import numpy as np

from ...errors import SceneError, UnstableError
from ...mjmodel.declarations import Declaration, declared_sensors
from ...mjmodel.names import find_key, key_names
from ...mjmodel.state_log import StateLog
from ...mjmodel.types import MjData, MjModel
from ...scene_files.mjcf import count_contact_sensors, keep_contact_sensors, read_mjcf
from ...scene_files.safe_open import OpenedScene, open_safely
from ...sensors.contacts import ContactBatch
from ...touch.device import TouchSensor
from ...touch.touch_sensors import TouchSensors
from ..abilities import Diagnostics, Past, Verdict
from ..contact_sensor import ContactSensor, SensorList
from ..contract import Engine
from ..controller import Controller
from ..environment import Environment
from ..values import SensorValues, stack_contacts
from .calls import import_motrixsim, running_calls
from .picture import PictureCopy
from .portability import MOST_LOOKS, drop_look, predict
from .probe import Probe
from .sensor_reader import MotrixForces, SensorReader
from .world import MotrixScene, load_motrix


def open_scene(scene: Any, num_envs: int = 1, change: Callable[[MjModel], object] | None = None) -> "MotrixEngine":
    """Open a scene file in MotrixSim. It builds its own model, so `change` has no effect, and a note reports that."""
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
    log: StateLog | None = None
    can_resimulate = False

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
        self._copy = PictureCopy(scene, picture)
        if missing := ", ".join(self._copy.missing):
            self.notes = (f"MotrixSim has no actuator {missing}: its control does nothing",)
        if fixed := ", ".join(name or "without a name" for name in self._copy.fixed):
            self.notes += (f"MotrixSim cannot move the mocap body {fixed}: it stays where it is",)
        self._pictures: dict[int, MjData] = {}
        self._drawn: dict[int, int] = {}
        self._reader = reader = SensorReader(scene, num_envs, lambda: self._state)
        self.array, self.row, self.source, self.array_in = reader.array, reader.row, reader.source, reader.array_in
        self.dropped, self.details = reader.dropped, reader.details
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
        return self._reader.sensors

    @property
    def time(self) -> float:
        return self._start_time + self._step_count * self.timestep

    @cached_property
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
        if call is None:
            return None

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
            if self.model.nmocap:
                self._copy.write_mocap(self._state, self._pictures)
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
            self._copy.start_mocap(picture, key_id)
        if self.controller is not None and self.controller.changes_start:
            self.controller.start(self.model, [self.pose(env) for env in range(self.num_envs)])
            for env in self._pictures:
                self.adopt_pose(env)
        if self.touch_sensors is not None:
            self.touch_sensors.after_reset(self)

    def contact_data(self, env: int = 0) -> MjData:
        return self.pose(env)

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

    def adopt_pose(self, env: int = 0) -> None:
        """Use the pose that was written. MotrixSim finds contacts only in steps, so they stay those of the last
        step."""
        with running_calls("take a pose"):
            self._copy.write_pose(self._state, {env: self._pictures[env]})
            if self.model.nmocap:
                self._copy.write_mocap(self._state, self._pictures)
        self._copy.draw(self._state, self._one_of(env), self._pictures[env])

    def environment(self, env: int) -> Engine:
        return Environment(self, env)

    @property
    def past(self) -> Past:
        return self.environment(0).past

    def contacts(self, name: str) -> ContactBatch:
        return self._reader.contacts(name)

    def grouped_contacts(self) -> Iterator[tuple[tuple[str, ...], ContactBatch]]:
        return stack_contacts(self)

    def touch(self, name: str) -> TouchSensor:
        assert self.touch_sensors is not None
        return self.touch_sensors.device(name)

    def set_reduce_modes(self, modes: Mapping[str, str]) -> None:
        self._reader.set_reduce_modes(modes)

    def watch_all(self) -> ContactSensor:
        raise SceneError("MotrixSim has no sensor that matches every contact")

    def _one_of(self, env: int) -> int | None:
        """Return the index of an environment in MotrixSim's arrays; None where there is only one."""
        return None if self.num_envs == 1 else env

    def _push(self) -> None:
        """Apply the forces with which the user pushes; MotrixSim clears them after a step."""
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


@dataclass(frozen=True)
class Reduction:
    """Part of a scene that MotrixSim accepts."""

    text: str
    """MJCF of the part."""
    unread: dict[str, str]
    """Reasons why contact sensors were left out, by their names."""
    notes: tuple[str, ...]
    """Notes on further parts of the scene that were left out."""


def reduce_scene(path: Path, model: MjModel, declared: Sequence[Declaration], error: str) -> Reduction | None:
    """Return the part that MotrixSim accepts of a scene that it refused with an error; None if there is none. `model`:
    MuJoCo's model of the scene; `declared`: the contact sensors of that model."""
    verdicts = [predict(model, declaration) for declaration in declared]
    refused = [i for i, one in enumerate(verdicts) if one.verdict is Verdict.REFUSE]
    try:
        root = read_mjcf(path)
    except (OSError, ParseError):
        return None
    if count_contact_sensors(root) != len(declared):
        # Sensors that a replicate or an attached model multiplies cannot be taken out one by one.
        return None
    notes: list[str] = []
    kept = [i for i in range(len(declared)) if i not in refused]
    for attempt in range(MOST_LOOKS):
        if (look := drop_look(root, error)) is not None:
            notes.append(f"MotrixSim does not know {look}: it is left out")
        elif attempt or not refused:
            return None
        text = keep_contact_sensors(root, kept)
        answer = Probe([{"path": str(path), "text": text}]).results()[0]
        if answer.error is None:
            return Reduction(text, {declared[i].name: verdicts[i].reason for i in refused}, tuple(notes))
        error = answer.error
    return None
