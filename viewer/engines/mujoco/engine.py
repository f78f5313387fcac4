"""MuJoCo behind the engine contract."""

import copy
import os
import weakref
from collections.abc import Callable, Iterable, Iterator, Mapping
from functools import cached_property
from pathlib import Path
from queue import SimpleQueue
from threading import Thread
from types import MappingProxyType
from typing import Any

import mujoco
import numpy as np

from ...errors import EngineError, SceneError
from ...mjmodel.balance import sensor_body, tree_root
from ...mjmodel.diagnosis import Diagnosis
from ...mjmodel.distances import PairDistances
from ...mjmodel.force_kinds import ForceTable, measure_forces
from ...mjmodel.friction import contact_cones
from ...mjmodel.mixing import Mixing, explain_mixing, side_names
from ...mjmodel.names import body_names, find_key, key_names
from ...mjmodel.sleep import is_sensor_asleep, sleeping_bodies
from ...mjmodel.state import STATE
from ...mjmodel.state_log import StateLog
from ...mjmodel.support import Support, measure_support
from ...mjmodel.types import MjData, MjModel
from ...scene_files.safe_open import OpenedScene, open_safely
from ...scene_files.scene import LoadedScene
from ...sensors.contacts import ContactBatch
from ...sensors.friction import FrictionCones
from ...settings import Reduce
from ...touch.device import TouchSensor
from ...touch.touch_sensors import TouchSensors
from ..abilities import Diagnostics, Past, Substeps
from ..contract import Engine
from ..controller import Controller
from ..environment import Environment
from ..logged_steps import LoggedSteps
from .failures import WarningWatch, divergence, failure
from .log_steps import LogSteps
from .model_versions import ModelVersions, check_versions
from .past import MujocoPast, adopt, can_adopt
from .sensor_reader import SensorReader
from .substep import MujocoSubsteps

_RK4 = int(mujoco.mjtIntegrator.mjINT_RK4)


def open_scene(scene: Any, num_envs: int = 1, change: Callable[[MjModel], object] | None = None) -> "MujocoEngine":
    """Return an engine for a scene: a file, an opened scene, or a compiled model, which nothing but `change`
    changes."""
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
    can_watch_all = can_edit_sensors = has_contact_list = can_resimulate = True

    def __init__(self, scene: LoadedScene, data: MjData | None = None, num_envs: int = 1) -> None:
        """`data`: a user's own mjData, used as it is."""
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
        """Values of the model at different times, where another program changes them."""
        self._past: MujocoPast | None = None
        self._diagnostics: Diagnostics | None = None
        if data is None:
            self._pool.share(range(num_envs), self._forward)
        self.touch_sensors = TouchSensors(self)
        self.log = scene.log

    @property
    def log(self) -> StateLog | None:
        return self._log

    @log.setter
    def log(self, log: StateLog | None) -> None:
        if log is not None and self.num_envs > 1:
            raise SceneError(f"{log.path}: a run is shown in one environment: leave out --envs")
        self._log = log

    def resimulate(self, log: StateLog) -> LoggedSteps:
        if log.versions:
            versions = self.allow_model_changes()
            try:
                check_versions(self.model, log.versions)
            except (ValueError, OverflowError, TypeError):
                raise SceneError(f"{log.path}: the changes of its model are not those of this model") from None
            for number, content in log.versions.items():
                versions.add(number, content)
            versions.current = int(log.about.get("version", 0))
        return LogSteps(self, log, self.model_versions)

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
        """Keep the model's values at each step for the past. `versions`: values that are known already."""
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
            take_step = self.stepper(drive)
            for _ in range(count):
                take_step()
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
        """Return a function that steps one environment without touch sensors."""
        model, data, mj_step = self.model, self.data, mujoco.mj_step
        options, runge_kutta, step_in_stages = self._options, _RK4, self.first_stages.step
        before = data.time

        def step() -> None:
            nonlocal before
            try:
                if options.integrator == runge_kutta:
                    step_in_stages()
                else:
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
                self.first_stages.step(0, count)
            else:
                self._pool.share(range(self.num_envs), lambda env: self.first_stages.step(env, count))
        except mujoco.FatalError as error:
            raise self._failure(error, before) from None
        # The only sign of an automatic reset is time that went backwards.
        late = before + 0.5 * count * model.opt.timestep
        fallen = [env for env, data in enumerate(datas) if data.time < late]
        if fallen:
            where = "it" if self.num_envs == 1 else f"environment {', '.join(map(str, fallen))}"
            raise divergence(model, datas[fallen[0]], before, f"MuJoCo reset {where}")

    def _failure(self, error: mujoco.FatalError, time: float) -> EngineError:
        """Return the exception for an error in a step that began at a time [s]. Memory that the step allocated in
        MuJoCo is freed."""
        for data in self._datas:
            mujoco.mj_resetData(self.model, data)
        return failure(error, time)

    def reset(self, key: str | int | None = None) -> None:
        key_id = None if key is None else find_key(self.model, key)

        def restart(env: int) -> None:
            if key_id is None:
                mujoco.mj_resetData(self.model, self._datas[env])
            else:
                mujoco.mj_resetDataKeyframe(self.model, self._datas[env], key_id)
            self._forward(env)

        self._pool.share(range(self.num_envs), restart)
        if self.controller is not None and self.controller.changes_start:
            self.controller.start(self.model, self._datas)
            self._pool.share(range(self.num_envs), self._forward)
        self._warnings.restart()
        self.touch_sensors.after_reset(self)

    def adopt_state(self, other: Engine) -> bool:
        """Adopt the state of another engine; possible if the models have the same joints and number of environments."""
        if not isinstance(other, MujocoEngine) or self.num_envs != other.num_envs:
            return False
        if not can_adopt(self.model, other.model):
            return False
        if self.model_versions is not None and other.model_versions is not None:
            self.model_versions.use(other.model_versions.current)
        for env, (data, old) in enumerate(zip(self._datas, other._datas, strict=True)):
            adopt(self.model, data, other.model, old)
            self.first_stages.forget(env)
        self.touch_sensors.after_reset(self)
        return True

    def pose(self, env: int = 0) -> MjData:
        return self._datas[env]

    def adopt_pose(self, env: int = 0) -> None:
        model, data = self.model, self._datas[env]
        state = np.empty(mujoco.mj_stateSize(model, STATE))
        mujoco.mj_getState(model, data, state, STATE)
        mujoco.mj_fwdPosition(model, data)
        mujoco.mj_fwdVelocity(model, data)
        data.efc_force[:] = 0.0
        for compute in (mujoco.mj_sensorPos, mujoco.mj_sensorVel, mujoco.mj_sensorAcc):
            compute(model, data)
        # This restores the buffers of delayed sensors, which have sampled the pose.
        mujoco.mj_setState(model, data, state, STATE)
        self.first_stages.forget(env)

    def substeps(self, distances: PairDistances) -> Substeps | None:
        return MujocoSubsteps(self.model, distances)

    def warning(self) -> str | None:
        """Return a warning for the user about trouble in MuJoCo since the last reset that did not stop it; each warning
        once."""
        return next((found for data in self._datas if (found := self._warnings.news(self.model, data))), None)

    def copy(self) -> Engine:
        scene = LoadedScene(self.path, copy.deepcopy(self.model), dict(self.companions), hidden=self.hidden)
        return MujocoEngine(scene, num_envs=self.num_envs)

    def environment(self, env: int) -> Engine:
        return self if self.num_envs == 1 and env == 0 else Environment(self, env)

    def touch(self, name: str) -> TouchSensor:
        return self.touch_sensors.device(name)

    def _forward(self, env: int) -> None:
        mujoco.mj_forward(self.model, self._datas[env])
        self.first_stages.forget(env)


_ASLEEP = "Asleep: MuJoCo does not compute the sensor while its bodies sleep, and it keeps the values of before."
_UNLISTED = "{}: MuJoCo does not list contacts of what sleeps."


class MujocoDiagnostics:
    """Diagnostics of a MuJoCo engine with one environment."""

    def __init__(self, engine: SensorReader) -> None:
        self._engine = engine
        self._diagnoses: dict[str, Diagnosis] = {}
        self._bodies = body_names(engine.model)
        self._sides = {name: i for i, name in enumerate(side_names(engine.model))}

    def why_zero(self, name: str, batch: ContactBatch) -> str | None:
        if name not in self._diagnoses:
            self._diagnoses[name] = Diagnosis(self._engine.model, self._engine.sensor_id(name))
        return self._diagnoses[name].explain(self._engine.contact_data(), batch)

    def asleep(self, name: str) -> str | None:
        model, data, sensor_id = self._engine.model, self._engine.data, self._engine.sensor_id(name)
        if sensor_id is not None:
            return _ASLEEP if is_sensor_asleep(model, data, sensor_id) else None
        count = sleeping_bodies(model, data)
        return _UNLISTED.format(f"{count} bodies sleep" if count > 1 else "A body sleeps") if count else None

    def balanced_body(self, name: str) -> int | None:
        model, sensor_id = self._engine.model, self._engine.sensor_id(name)
        body = sensor_body(model, sensor_id) if sensor_id is not None else None
        return tree_root(model, body) if body is not None else None

    def forces(self, body: int, alone: bool = False) -> ForceTable | None:
        return measure_forces(self._engine.model, self._engine.contact_data(), body, alone)

    def support(self, body: int) -> Support | None:
        return measure_support(self._engine.model, self._engine.contact_data(), body)

    def mixing(self, first: str, second: str) -> Mixing | None:
        if first not in self._sides or second not in self._sides:
            return None
        return explain_mixing(self._engine.model, self._sides[first], self._sides[second])

    def in_each_mode(self, name: str) -> dict[Reduce, ContactBatch]:
        return {mode: self._engine.preview(name, mode) for mode in Reduce}

    def body_name(self, body: int) -> str:
        return self._bodies[body]

    def cones(self, batch: ContactBatch) -> FrictionCones | None:
        return contact_cones(self._engine.model, self._engine.contact_data(), batch)


Work = Callable[[Any], object]
"""Function that processes one item."""
_Job = tuple[Work, Iterator[Any]] | None


class ThreadPool:
    """Threads beside the calling one. MuJoCo releases Python's lock while it steps.

    An executor is not used: waking its threads takes three times as long, in every step.
    """

    def __init__(self, count: int) -> None:
        self._count = count
        self._jobs: SimpleQueue[_Job] = SimpleQueue()
        self._done: SimpleQueue[BaseException | None] = SimpleQueue()
        for _ in range(count):
            Thread(target=_help, args=(self._jobs, self._done), daemon=True).start()
        weakref.finalize(self, _dismiss, self._jobs, count)

    def share(self, items: Iterable[Any], work: Work) -> None:
        """Let all threads process items. Each takes the next item when it is done, because some items take longer."""
        waiting = iter(items)
        for _ in range(self._count):
            self._jobs.put((work, waiting))
        try:
            for item in waiting:
                work(item)
        finally:
            failures = [self._done.get() for _ in range(self._count)]
        for raised in failures:
            if raised is not None:
                raise raised


def _help(jobs: SimpleQueue[_Job], done: SimpleQueue[BaseException | None]) -> None:
    while (job := jobs.get()) is not None:
        done.put(_work_through(*job))
        # What was worked on may go while this thread waits.
        del job


def _work_through(work: Work, waiting: Iterator[Any]) -> BaseException | None:
    """Process items until there are none left; return the error that ended it, or None."""
    try:
        for item in waiting:
            work(item)
    except BaseException as error:
        return error
    return None


def _dismiss(jobs: SimpleQueue[_Job], count: int) -> None:
    for _ in range(count):
        jobs.put(None)
