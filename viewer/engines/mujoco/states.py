"""Reads and writes everything from which MuJoCo takes the following steps."""

import mujoco
import numpy as np

from ...mjmodel.state import SLEEP, SLEEP_ARRAYS, SLEEP_COUNTS
from ...mjmodel.types import MjData, MjModel
from ..contact_sensor import Row
from .model_versions import ModelVersions

_STATE = int(mujoco.mjtState.mjSTATE_INTEGRATION)


class States:
    """The states of an mjData: mjSTATE_INTEGRATION, where bodies may sleep what sleeps, and the version of a model that
    is changed while it runs."""

    def __init__(self, model: MjModel, data: MjData, versions: ModelVersions | None = None) -> None:
        self._model, self._data, self._versions = model, data, versions
        self._get_state = mujoco.mj_getState
        self._sleeps = bool(model.opt.enableflags & SLEEP)
        self._physics_size = mujoco.mj_stateSize(model, _STATE)
        self._sleep_stop = self._physics_size + (self._sleep_state().size if self._sleeps else 0)
        self.size = self._sleep_stop + (versions is not None)
        """Values of a state."""

    def save(self, state: Row) -> None:
        """Write the present state into an array, (size,)."""
        if self._versions is not None:
            state[-1] = self._versions.current
        if self._sleeps:
            state[self._physics_size : self._sleep_stop] = self._sleep_state()
        if state.size > self._physics_size:
            state = state[: self._physics_size]
        self._get_state(self._model, self._data, state, _STATE)

    def restore(self, state: Row) -> None:
        """Return to a state; its contacts and forces come with the next step."""
        if self._versions is not None:
            self._versions.use(int(state[-1]))
        physics = state[: self._physics_size]
        if self._sleeps:
            # What is asleep is not computed again: compute all of it awake, then put to sleep what slept.
            mujoco.mj_resetData(self._model, self._data)
            mujoco.mj_setState(self._model, self._data, physics, _STATE)
            mujoco.mj_forward(self._model, self._data)
            self._set_sleep_state(state[self._physics_size : self._sleep_stop])
        mujoco.mj_setState(self._model, self._data, physics, _STATE)

    def _sleep_state(self) -> Row:
        data = self._data
        counts = [getattr(data, name) for name in SLEEP_COUNTS]
        return np.concatenate([data.sensordata, *(getattr(data, name) for name in SLEEP_ARRAYS), counts])

    def _set_sleep_state(self, values: Row) -> None:
        data: MjData = self._data
        start = data.sensordata.size
        data.sensordata[:] = values[:start]
        for name in SLEEP_ARRAYS:
            array = getattr(data, name)
            array[:] = values[start : start + array.size]
            start += array.size
        for name, value in zip(SLEEP_COUNTS, values[start:], strict=True):
            setattr(data, name, int(value))


def hide_forces(model: MjModel, data: MjData) -> None:
    """Make the contact forces of an mjData unknown: NaN, in its contacts and in the arrays of its sensors."""
    before = data.sensordata.copy()
    data.efc_force[:] = np.nan
    mujoco.mj_sensorAcc(model, data)
    # Other sensors are written too, some of them from what a step has changed since.
    before[np.isnan(data.sensordata)] = np.nan
    data.sensordata[:] = before
