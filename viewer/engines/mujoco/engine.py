"""MuJoCo behind the engine contract."""

import os
from collections.abc import Callable, Mapping
from functools import cached_property
from pathlib import Path
from types import MappingProxyType
from typing import Any

import mujoco
import numpy as np

from ...errors import EngineError, SceneError
from ...mjmodel.distances import PairDistances
from ...mjmodel.names import find_key, key_names
from ...mjmodel.state_log import StateLog
from ...mjmodel.types import MjData, MjModel
from ...scene_files.safe_open import OpenedScene, open_safely
from ...scene_files.scene import LoadedScene
from ...touch.device import TouchSensor
from ...touch.touch_sensors import TouchSensors
from ..abilities import Diagnostics, Past, Substeps
from ..contract import Engine
from ..controller import Controller
from ..environment import Environment
from ..logged_steps import LoggedSteps
from .diagnostics import MujocoDiagnostics
from .failures import WarningWatch, divergence, failure
from .log_steps import LogSteps
from .model_versions import ModelVersions
from .past import MujocoPast, adopt, can_adopt
from .sensor_reader import SensorReader
from .substep import MujocoSubsteps
from .thread_pool import ThreadPool

_STATE = int(mujoco.mjtState.mjSTATE_INTEGRATION)


def open_scene(scene: Any, num_envs: int = 1, change: Callable[[MjModel], object] | None = None) -> "MujocoEngine":
    """A scene file, a scene that was opened before, or a compiled model, which is left as it is, but for `change`."""
    if isinstance(scene, mujoco.MjModel):
        scene = LoadedScene(None, scene, owned=False)
    scene = scene if isinstance(scene, LoadedScene) else open_safely(scene)
    if change is not None:
        change(scene.model)
    return MujocoEngine(scene, num_envs=num_envs)


class MujocoEngine(SensorReader):
    """A MuJoCo model and the data of its environments, which belong together: neither is ever replaced alone."""

    unread: Mapping[str, str] = MappingProxyType({})
    ignored: tuple[str, ...] = ()
    can_watch_all = can_edit_sensors = has_contact_list = True

    def __init__(self, scene: LoadedScene, data: MjData | None = None, num_envs: int = 1) -> None:
        """`data`: a user's own state, taken as it is."""
        self.name = f"MuJoCo {mujoco.__version__}"
        self.path = scene.path
        self.files: Mapping[Path, Any] = scene.survey.files if isinstance(scene, OpenedScene) and scene.survey else {}
        self.notes: tuple[str, ...] = scene.notes if isinstance(scene, OpenedScene) else ()
        # A data an environment, and not mujoco.rollout: that is up to twice as fast on a thousand small environments,
        # but it takes the steps of all of them in a few data, and so leaves no contacts of each to look at.
        datas = [mujoco.MjData(scene.model) for _ in range(num_envs)] if data is None else [data]
        super().__init__(scene, datas)
        self._options = scene.model.opt
        self.controller: Controller | None = None
        self._pool = ThreadPool(min(num_envs, os.cpu_count() or 1) - 1)
        self._warnings = WarningWatch()
        self.model_versions: ModelVersions | None = None
        """Values of the model at different times, where someone else changes them."""
        self._past: MujocoPast | None = None
        self._diagnostics: Diagnostics | None = None
        if data is None:
            self._pool.share(self._datas, self._forward)
        self.touch_sensors = TouchSensors(self)
        self.logged: LoggedSteps | None = None
        if scene.log is not None:
            self.take_again(scene.log)

    def take_again(self, log: StateLog) -> None:
        """Take the steps of a log again, instead of steps of its own."""
        if self.num_envs > 1:
            raise SceneError(f"{log.path}: a run is shown in one environment: leave out --envs")
        if log.versions:
            versions = self.allow_model_changes()
            if any(len(content) != versions.size for content in log.versions.values()):
                raise SceneError(f"{log.path}: the changes of its model are not those of this model")
            for number, content in log.versions.items():
                versions.add(number, content)
            versions.current = int(log.about.get("version", 0))
        self.logged = LogSteps(self, log, self.model_versions)

    @property
    def diagnostics(self) -> Diagnostics | None:
        if self._diagnostics is None and self.num_envs == 1:
            self._diagnostics = MujocoDiagnostics(self)
        return self._diagnostics

    @property
    def past(self) -> Past:
        if self._past is None:
            if self.num_envs > 1:
                raise ValueError("a past is of one environment")
            self._past = MujocoPast(self, lambda: self.touch_sensors.after_reset(self), self.model_versions)
        return self._past

    def allow_model_changes(self, versions: ModelVersions | None = None) -> ModelVersions:
        """Let the past know which values the model had at each step. `versions`: those that are known already."""
        if self.model_versions is None:
            if self._past is not None:
                raise ValueError("the past of this engine takes its model as fixed")
            self.model_versions = versions or ModelVersions(self.model)
        return self.model_versions

    @property
    def time(self) -> float:
        time: float = self._datas[0].time
        return time

    @property
    def timestep(self) -> float:
        return float(self._options.timestep)

    @cached_property
    def keys(self) -> tuple[str, ...]:
        return key_names(self.model)

    def step(self, count: int = 1) -> None:
        """Advance by a number of steps; raises UnstableError if MuJoCo had to reset a diverged state."""
        touch = self.touch_sensors
        drive = self.driver()
        if drive is not None:
            take = self.stepper(drive)
            for _ in range(count):
                take()
            return
        if not touch.sensors:
            self._advance(count)
            return
        for steps in [1] * count if touch.active else [count]:
            self._advance(steps)
            touch.after_step(self)

    def driver(self) -> Callable[[], object] | None:
        return None if self.controller is None else self.controller.driver(self.model, self._datas)

    def stepper(self, drive: Callable[[], object] | None) -> Callable[[], object]:
        step = self._step_observed if self.num_envs > 1 or self.touch_sensors.sensors else self._plain_stepper()
        if drive is None:
            return step

        def step_driven() -> None:
            drive()
            step()

        return step_driven

    def _step_observed(self) -> None:
        self._advance(1)
        self.touch_sensors.after_step(self)

    def _plain_stepper(self) -> Callable[[], object]:
        """Steps one environment without touch sensors."""
        model, data, mj_step = self.model, self.data, mujoco.mj_step

        before = data.time

        def step() -> None:
            nonlocal before
            try:
                mj_step(model, data)
            except mujoco.FatalError as error:
                raise self._failure(error, before) from None
            time = data.time
            if time <= before:
                raise divergence(model, data, before, "MuJoCo reset it")
            before = time

        return step

    def _advance(self, count: int) -> None:
        model, datas, before = self.model, self._datas, self.time
        try:
            if self.num_envs == 1:
                mujoco.mj_step(model, datas[0], count)
            else:
                self._pool.share(datas, lambda data: mujoco.mj_step(model, data, count))
        except mujoco.FatalError as error:
            raise self._failure(error, before) from None
        # The only sign of an automatic reset is time that went backwards.
        late = before + 0.5 * count * model.opt.timestep
        fallen = [env for env, data in enumerate(datas) if data.time < late]
        if fallen:
            where = "it" if self.num_envs == 1 else f"environment {', '.join(map(str, fallen))}"
            raise divergence(model, datas[fallen[0]], before, f"MuJoCo reset {where}")

    def _failure(self, error: mujoco.FatalError, time: float) -> EngineError:
        """For an error in a step that began at a time [s]. What the step took of MuJoCo's memory is given back."""
        for data in self._datas:
            mujoco.mj_resetData(self.model, data)
        return failure(error, time)

    def reset(self, key: str | int | None = None) -> None:
        key_id = None if key is None else find_key(self.model, key)

        def restart(data: MjData) -> None:
            if key_id is None:
                mujoco.mj_resetData(self.model, data)
            else:
                mujoco.mj_resetDataKeyframe(self.model, data, key_id)
            self._forward(data)

        self._pool.share(self._datas, restart)
        if self.controller is not None and self.controller.changes_start:
            self.controller.start(self.model, self._datas)
            self._pool.share(self._datas, self._forward)
        self._warnings.restart()
        self.touch_sensors.after_reset(self)

    def adopt_state(self, other: Engine) -> bool:
        """As in the contract; possible if the models have the same joints and as many environments."""
        if not isinstance(other, MujocoEngine) or self.num_envs != other.num_envs:
            return False
        if not can_adopt(self.model, other.model):
            return False
        if self.model_versions is not None and other.model_versions is not None:
            self.model_versions.use(other.model_versions.current)
        for data, old in zip(self._datas, other._datas, strict=True):
            adopt(self.model, data, other.model, old)
        self.touch_sensors.after_reset(self)
        return True

    def pose(self, env: int = 0) -> MjData:
        return self._datas[env]

    def take_pose(self, env: int = 0) -> None:
        model, data = self.model, self._datas[env]
        state = np.empty(mujoco.mj_stateSize(model, _STATE))
        mujoco.mj_getState(model, data, state, _STATE)
        mujoco.mj_fwdPosition(model, data)
        mujoco.mj_fwdVelocity(model, data)
        data.efc_force[:] = 0.0
        for compute in (mujoco.mj_sensorPos, mujoco.mj_sensorVel, mujoco.mj_sensorAcc):
            compute(model, data)
        # Delayed sensors have sampled what was no step.
        mujoco.mj_setState(model, data, state, _STATE)

    def substeps(self, distances: PairDistances) -> Substeps | None:
        return MujocoSubsteps(self.model, distances)

    def warning(self) -> str | None:
        """A kind of trouble that MuJoCo had since the last reset and went on with, once, for a person."""
        return next((found for data in self._datas if (found := self._warnings.news(self.model, data))), None)

    def environment(self, env: int) -> Engine:
        return self if self.num_envs == 1 and env == 0 else Environment(self, env)

    def touch(self, name: str) -> TouchSensor:
        return self.touch_sensors.device(name)

    def _forward(self, data: MjData) -> None:
        mujoco.mj_forward(self.model, data)
