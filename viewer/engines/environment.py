"""One environment of an engine, as an engine of its own that can also show its past steps."""

from collections.abc import Iterator, Sequence
from functools import cached_property
from typing import Any

import mujoco
import numpy as np

from ..errors import SceneError
from ..mjmodel.state_log import StateLog
from ..mjmodel.types import MjData, MjModel
from ..sensors.contacts import Array, ContactBatch
from ..sensors.layout import ContactLayout
from ..touch.touch_sensors import TouchSensors
from .abilities import Diagnostics, KeptSpan, KeptStep, Past, Retraced
from .contact_sensor import ContactDetails, ContactSensor, Row
from .contract import Engine
from .controller import Controller
from .values import SensorValues, emptied, stack_contacts, unknown_details

_POSE = ("qpos", "mocap_pos", "mocap_quat")
"""Arrays of an mjData from which the picture of a scene is computed."""


class Environment:
    """One environment of an engine, and its past steps.

    Methods that move or change the scene do so in all environments. While a past step is shown, `data`, `time`, arrays
    and contacts are those of that step.
    """

    num_envs = 1
    diagnostics: Diagnostics | None = None
    log: StateLog | None = None
    can_resimulate = False
    get_sensor_value = SensorValues.get_sensor_value
    get_contact_force_magnitude = SensorValues.get_contact_force_magnitude

    def __init__(self, engine: Engine, env: int) -> None:
        if not 0 <= env < engine.num_envs:
            raise SceneError(f"no environment {env}; there are {engine.num_envs}, from 0 to {engine.num_envs - 1}")
        self.engine = engine
        """Engine that runs all environments."""
        self.index = env
        """Number of this environment."""
        self._past: PicturePast | None = None

    def __getattr__(self, name: str) -> Any:
        return getattr(self.engine, name)

    @property
    def data(self) -> MjData:
        return self._shown.picture if self._shown is not None else self.live_data

    @property
    def live_data(self) -> MjData:
        """`data` of the newest step, even while a past step is shown."""
        return self.engine.pose(self.index)

    def contact_data(self, env: int = 0) -> MjData:
        return self.pose(env) if self._shown is not None else self.engine.contact_data(self.index)

    @property
    def controller(self) -> Controller | None:
        return self.engine.controller

    @controller.setter
    def controller(self, controller: Controller | None) -> None:
        self.engine.controller = controller

    @property
    def past(self) -> Past:
        if self._past is None:
            self._past = PicturePast(self)
        return self._past

    @property
    def time(self) -> float:
        past = self._past
        return past.kept.time if past is not None and past.kept is not None else self.engine.time

    def adopt_state(self, other: Engine) -> bool:
        return self.engine.adopt_state(other.engine if isinstance(other, Environment) else other)

    def pose(self, env: int = 0) -> MjData:
        return self.environment(env).data

    def adopt_pose(self, env: int = 0) -> None:
        self.environment(env)
        self.engine.adopt_pose(self.index)

    def environment(self, env: int) -> Engine:
        if env != 0:
            raise SceneError(f"no environment {env}: this is one environment alone")
        return self

    def array(self, name: str) -> Array:
        if self._shown is not None:
            return self._shown.array(name)
        array = self.engine.array(name)
        return array[self.index] if self.engine.num_envs > 1 else array

    def contacts(self, name: str) -> ContactBatch:
        return self._shown.contacts(name) if self._shown is not None else self.live_contacts(name)

    def live_contacts(self, name: str) -> ContactBatch:
        """Return the `contacts` of the newest step, even while a past step is shown."""
        batch = self.engine.contacts(name)
        return batch.at(self.index) if self.engine.num_envs > 1 else batch

    def row(self, env: int = 0) -> Row:
        self.environment(env)
        return self.engine.row(self.index)

    def grouped_contacts(self) -> Iterator[tuple[tuple[str, ...], ContactBatch]]:
        if self._shown is not None:
            yield from stack_contacts(self)
            return
        for names, batch in self.engine.grouped_contacts():
            yield names, batch.at(self.index) if self.engine.num_envs > 1 else batch

    @property
    def touch_sensors(self) -> TouchSensors | None:
        return self.engine.touch_sensors if self.index == 0 else None

    def dropped(self, name: str, env: int = 0) -> ContactBatch:
        self.environment(env)
        if self._shown is None:
            return self.engine.dropped(name, self.index)
        # The rows hold what the arrays report.
        return emptied(self.contacts(name).cut(0, 1))

    def details(self, name: str, env: int = 0) -> ContactDetails:
        self.environment(env)
        if self._shown is None:
            return self.engine.details(name, self.index)
        return unknown_details(self.contacts(name))

    @property
    def _shown(self) -> "PicturePast | None":
        return self._past if self._past is not None and self._past.kept is not None else None


class PicturePast:
    """Past of an environment that cannot return to a state: pictures and contacts of its steps.

    A row is the pose of the scene, then the contacts of every sensor with all fields that its engine reports.
    """

    state_size = 0
    spacing = 2**62
    inputs = np.empty(0)
    other_inputs: Sequence[memoryview] = ()

    def __init__(self, environment: Environment) -> None:
        self._environment = environment
        self.kept: KeptStep | None = None
        """The step that is shown; None for the newest."""
        self.names = tuple(sensor.name for sensor in environment.sensors if not sensor.virtual)
        self._pose_size = sum(getattr(environment.live_data, name).size for name in _POSE)
        self.width = self._pose_size + self._kept_row().size

    @cached_property
    def picture(self) -> MjData:
        """The mjData that draws the environment."""
        return mujoco.MjData(self._environment.model)

    def read(self) -> memoryview:
        data = self._environment.live_data
        row = np.concatenate([*(getattr(data, name).ravel() for name in _POSE), self._kept_row()])
        return row.data.cast("B")

    def _kept_row(self) -> Row:
        # The sensor that watches all contacts is not kept.
        return self._environment.row() if self.names else np.zeros(1)

    def source(self, sensor: ContactSensor) -> tuple[slice, ContactLayout]:
        columns, layout = self._environment.source(sensor)
        return slice(columns.start + self._pose_size, columns.stop + self._pose_size), layout

    def show(self, kept: KeptStep) -> None:
        self.kept = None if kept.newest else kept
        if kept.newest:
            return
        model = self._environment.model
        picture, start = self.picture, 0
        for name in _POSE:
            values = getattr(picture, name)
            values[:] = kept.row[start : start + values.size].reshape(values.shape)
            start += values.size
        picture.time = kept.time
        draw_pose(model, picture)

    def contacts(self, name: str) -> ContactBatch:
        """Return the contacts of a sensor after the step that is shown; no contacts for a sensor that is not in the
        rows."""
        assert self.kept is not None
        if name in self.names:
            columns, layout = self.source(self.kept.sensors[name])
            return layout.decode(self.kept.row[columns])
        return emptied(self._environment.live_contacts(name))

    def array(self, name: str) -> Array:
        """Return the declared array of a sensor after the step that is shown."""
        assert self.kept is not None
        if name in self.names:
            return self._environment.array_in(self.kept.row[self._pose_size :], self.kept.sensors[name])
        return self._environment.sensors[name].layout.encode(self.contacts(name))

    def save(self, state: Row) -> None:
        """Do nothing: there is no state to return to."""

    def restore(self, state: Row) -> None:
        raise SceneError("this engine cannot return to a state")

    def release(self) -> None:
        """Do nothing: the simulation was not moved."""

    def equals(self, other: Past) -> bool:
        return False

    def retrace(self, spans: Sequence[KeptSpan]) -> Retraced | None:
        return None


def draw_pose(model: MjModel, data: MjData) -> None:
    """Compute the values that a renderer reads, for an mjData whose positions were set."""
    mujoco.mj_kinematics(model, data)
    mujoco.mj_comPos(model, data)
    mujoco.mj_camlight(model, data)
    mujoco.mj_tendon(model, data)
