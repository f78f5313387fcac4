"""Reads and writes the whole state from which MuJoCo takes the next steps, and the state where the last step
started."""

from collections.abc import Sequence
from functools import cached_property

import mujoco
import numpy as np
from numpy.typing import NDArray

from ...mjmodel.state import SLEEP, SLEEP_ARRAYS, SLEEP_COUNTS, STATE
from ...mjmodel.types import MjData, MjModel
from ...sensors.layout import Field, read_layout
from ..contact_sensor import Row
from .model_versions import ModelVersions

_RK4 = int(mujoco.mjtIntegrator.mjINT_RK4)


class States:
    """States of an mjData: mjSTATE_INTEGRATION, the sleep of bodies where they may sleep, and the version of a model
    that is changed while it runs."""

    def __init__(self, model: MjModel, data: MjData, versions: ModelVersions | None = None) -> None:
        self._model, self._data, self._versions = model, data, versions
        self._get_state = mujoco.mj_getState
        self._sleeps = bool(model.opt.enableflags & SLEEP)
        self._physics_size = mujoco.mj_stateSize(model, STATE)
        self._sleep_stop = self._physics_size + (self._sleep_state().size if self._sleeps else 0)
        self.size = self._sleep_stop + (versions is not None)
        """Number of values in a state."""

    def save(self, state: Row) -> None:
        """Write the present state into an array, (size,)."""
        if self._versions is not None:
            state[-1] = self._versions.current
        if self._sleeps:
            state[self._physics_size : self._sleep_stop] = self._sleep_state()
        if state.size > self._physics_size:
            state = state[: self._physics_size]
        self._get_state(self._model, self._data, state, STATE)

    def restore(self, state: Row) -> None:
        """Return to a state; its contacts and forces come with the next step."""
        if self._versions is not None:
            self._versions.use(int(state[-1]))
        physics = state[: self._physics_size]
        if self._sleeps:
            # What is asleep is not computed again: compute all of it awake, then put to sleep what slept.
            mujoco.mj_resetData(self._model, self._data)
            mujoco.mj_setState(self._model, self._data, physics, STATE)
            mujoco.mj_forward(self._model, self._data)
            self._set_sleep_state(state[self._physics_size : self._sleep_stop])
        mujoco.mj_setState(self._model, self._data, physics, STATE)

    def hide_forces(self) -> None:
        """Set the contact forces to NaN, because they are unknown, in the contacts and in the arrays of all sensors.
        Sensors that touch nothing in this state are included: forces are those of the step that led here."""
        model, data = self._model, self._data
        before = data.sensordata.copy()
        data.efc_force[:] = data.qfrc_constraint[:] = np.nan
        mujoco.mj_sensorAcc(model, data)
        # Other sensors are written too, some of them from what a step has changed since.
        before[np.isnan(data.sensordata)] = np.nan
        before[self._force_places] = np.nan
        data.sensordata[:] = before

    @cached_property
    def _force_places(self) -> NDArray[np.intp]:
        """Return the columns of forces and torques of contact sensors in `sensordata`, (n,)."""
        model, places = self._model, [np.empty(0, np.intp)]
        for sensor in np.flatnonzero(model.sensor_type == mujoco.mjtSensor.mjSENS_CONTACT).tolist():
            layout = read_layout(model, sensor)
            columns = () if layout is None else layout.described_columns
            found = [i for i, column in enumerate(columns) if column.field in (Field.FORCE, Field.TORQUE)]
            places.append(int(model.sensor_adr[sensor]) + np.array(found, np.intp))
        return np.concatenate(places)

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


class FirstStages:
    """Contacts and forces of the last step of each mjData, at the step's first stage: the state from which it started.

    Sensors report that stage. Runge-Kutta leaves the contacts of its last stage in the mjData, so the state before each
    such step is kept, and its contacts are computed again, beside the simulation, when they are asked for. All other
    integrators leave the contacts of the first stage: nothing is kept or computed for them.
    """

    def __init__(self, model: MjModel, datas: Sequence[MjData]) -> None:
        self._model, self._datas, self._options = model, datas, model.opt
        self._ends: list[float | None] = [None] * len(datas)
        """Times after the last steps [s], if these started from `_starts` and left contacts of a later stage; else
        None."""
        self._starts: dict[int, tuple[States, Row]] = {}
        self._computed: dict[int, tuple[MjData, States]] = {}
        self._stale = [True] * len(datas)
        """True for each environment whose first stage was not computed since the last step."""

    def step(self, env: int = 0, count: int = 1) -> None:
        """Take steps with the mjData of an environment, as `mj_step` does."""
        data = self._datas[env]
        if self._options.integrator != _RK4:
            mujoco.mj_step(self._model, data, count)
            return
        if count > 1:
            mujoco.mj_step(self._model, data, count - 1)
        if env not in self._starts:
            states = States(self._model, data)
            self._starts[env] = states, np.empty(states.size)
        states, start = self._starts[env]
        states.save(start)
        self._ends[env], self._stale[env] = None, True
        mujoco.mj_step(self._model, data)
        self._ends[env] = data.time

    def forget(self, env: int = 0) -> None:
        """Use the contacts in an mjData: they were computed in its present state, not in a step."""
        self._ends[env] = None

    def data(self, env: int = 0) -> MjData:
        """Return the mjData of an environment, or one with recomputed contacts, which is valid until the next step."""
        data = self._datas[env]
        # The start of a step that another program took is not known.
        if self._ends[env] is None or self._ends[env] != data.time:
            return data
        if env not in self._computed:
            scratch = mujoco.MjData(self._model)
            self._computed[env] = scratch, States(self._model, scratch)
        scratch, states = self._computed[env]
        if self._stale[env]:
            states.restore(self._starts[env][1])
            mujoco.mj_forward(self._model, scratch)
            scratch.time = data.time
            self._stale[env] = False
        return scratch
