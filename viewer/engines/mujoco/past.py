"""Returns MuJoCo to its past steps, bit for bit."""

import copy
from collections.abc import Callable, Sequence

import mujoco
import numpy as np
from numpy.typing import NDArray

from ...mjmodel.names import read_names, sensor_names
from ...mjmodel.state import SLEEP, SLEEP_ARRAYS, SLEEP_COUNTS, STATE
from ...mjmodel.types import MjData, MjModel
from ...sensors.layout import ContactLayout
from ..abilities import KeptSpan, KeptStep, Past, Retraced
from ..contact_sensor import ContactSensor
from .model_versions import ModelVersions
from .resimulation import retrace
from .sensor_reader import SensorReader
from .states import States

_SPACING_LARGE, _SPACING_SMALL, _SPACING_SIZE = 32, 128, 4096
"""Most steps between two kept states: in large scenes; in small scenes, whose steps take less time; and, in scenes
between them, the dividend of the number of degrees of freedom."""
_CHANGEABLE = (
    "qpos",
    "qvel",
    "act",
    "qfrc_applied",
    "xfrc_applied",
    "mocap_pos",
    "mocap_quat",
    "eq_active",
    "userdata",
)
"""Arrays of an mjData that a controller may write besides `ctrl`."""


class MujocoPast:
    """The past of a MuJoCo engine with one environment. A state also has the version of a model that is changed while
    it runs."""

    def __init__(
        self, engine: SensorReader, after_show: Callable[[], object], versions: ModelVersions | None = None
    ) -> None:
        """`after_show`: called when the data shows another step. `versions`: values of a model that is changed during
        the run."""
        self._engine, self._after_show = engine, after_show
        self._model, self._data = engine.model, engine.data
        self.names = tuple(sensor.name for sensor in engine.sensors if not sensor.virtual)
        # The sensor that watches all contacts is not kept.
        self._row = engine.row() if self.names else np.zeros(1)
        self._bytes = self._row.data.cast("B")
        self.inputs = self._data.ctrl
        arrays = (getattr(self._data, name) for name in _CHANGEABLE)
        self.other_inputs: Sequence[memoryview] = [array.data.cast("B") for array in arrays if array.size]
        self.width = self._row.size
        self.spacing = min(max(_SPACING_LARGE, _SPACING_SIZE // max(self._model.nv, 1)), _SPACING_SMALL)
        self._versions = versions
        states = States(self._model, self._data, versions)
        self.state_size = states.size
        self.save, self.restore, self._hide_forces = states.save, states.restore, states.hide_forces

    def read(self) -> memoryview:
        return self._bytes

    def source(self, sensor: ContactSensor) -> tuple[slice, ContactLayout]:
        return self._engine.source(sensor)

    def show(self, kept: KeptStep) -> None:
        self.restore(kept.state)
        if kept.inputs is not None:
            for inputs in kept.inputs:
                self.inputs[:] = inputs
                self._engine.first_stages.step()
        elif kept.count:
            self._engine.first_stages.step(count=kept.count)
        else:
            mujoco.mj_forward(self._model, self._data)
            self._engine.first_stages.forget()
            if not kept.forces_known:
                self._hide_forces()
            self.restore(kept.state)
            if kept.sensors is self._engine.sensors:
                # Solved again, the forces would differ in their last digits.
                self._row[:] = kept.row
        self._after_show()

    def release(self) -> None:
        self._data.xfrc_applied[:] = 0.0

    def equals(self, other: Past) -> bool:
        if not isinstance(other, MujocoPast):
            return False
        ours, theirs = self._versions, other._versions
        if ours is not None and theirs is not None and ours.current != theirs.current:
            return False
        return is_same_state(self._model, self._data, other._model, other._data)

    def retrace(self, spans: Sequence[KeptSpan]) -> Retraced | None:
        # A copy: the engine's own model changes when a sensor is read in another way.
        return retrace(copy.deepcopy(self._model), self._engine, spans, self._versions)


_HISTORY = int(mujoco.mjtState.mjSTATE_HISTORY)
_CARRIED = STATE & ~_HISTORY
_MOTION = ("qpos", "qvel", "act", "ctrl", "qacc_warmstart")


def can_adopt(model: MjModel, before: MjModel) -> bool:
    """Return True if two models have the same joints and actuators."""
    same = all(np.array_equal(getattr(model, name), getattr(before, name)) for name in ("jnt_type", "jnt_bodyid"))
    named = read_names(model, "jnt") == read_names(before, "jnt")
    return same and named and model.na == before.na and model.nu == before.nu


def is_same_state(model: MjModel, data: MjData, before: MjModel, old: MjData) -> bool:
    """Return True if two states differ in nothing but the delay buffers of sensors."""
    return _state_of(model, data).tobytes() == _state_of(before, old).tobytes()


def adopt(model: MjModel, data: MjData, before: MjModel, old: MjData) -> None:
    """Copy a state between models that `can_adopt` it: all of it if possible, else time and motion.

    If the models differ in nothing but sensors, the run continues bit for bit as without the change.
    """
    if model.opt.enableflags & SLEEP:
        # What sleeps is not computed: all of it has to be awake until the end.
        mujoco.mj_resetData(model, data)
    data.time = old.time
    whole = mujoco.mj_stateSize(model, _CARRIED) == mujoco.mj_stateSize(before, _CARRIED)
    if whole:
        mujoco.mj_setState(model, data, _state_of(before, old), _CARRIED)
    else:
        for name in _MOTION:
            getattr(data, name)[:] = getattr(old, name)
    _adopt_history(model, data, before, old)
    mujoco.mj_forward(model, data)
    if whole and model.opt.enableflags & before.opt.enableflags & SLEEP and model.ntree == before.ntree:
        for name in SLEEP_ARRAYS:
            getattr(data, name)[:] = getattr(old, name)
        for name in SLEEP_COUNTS:
            setattr(data, name, getattr(old, name))


def _state_of(model: MjModel, data: MjData) -> NDArray[np.float64]:
    state = np.empty(mujoco.mj_stateSize(model, _CARRIED))
    mujoco.mj_getState(model, data, state, _CARRIED)
    return state


def _adopt_history(model: MjModel, data: MjData, before: MjModel, old: MjData) -> None:
    """Copy the delay buffers of actuators and of sensors that are the same in both models."""
    if not model.nhistory or not before.nhistory:
        return
    here, there = _buffers(model), _buffers(before)
    for owner, part in here.items():
        other = there.get(owner)
        if other is not None and other.stop - other.start == part.stop - part.start:
            data.history[part] = old.history[other]


def _buffers(model: MjModel) -> dict[tuple[str, str | int], slice]:
    """Return the columns of each delay buffer, by its owner: the number of an actuator, the name of a sensor."""
    starts: dict[tuple[str, str | int], int] = {
        ("actuator", i): int(start) for i, start in enumerate(model.actuator_historyadr)
    }
    starts |= {
        ("sensor", name): int(start) for name, start in zip(sensor_names(model), model.sensor_historyadr, strict=True)
    }
    owners = sorted((start, owner) for owner, start in starts.items() if start >= 0)
    ends = [start for start, _ in owners[1:]] + [int(model.nhistory)]
    return {owner: slice(start, end) for (start, owner), end in zip(owners, ends, strict=True)}
