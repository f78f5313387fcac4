"""Judges the re-simulated steps of a log by the forces that are missing to reach its next state."""

import mujoco
import numpy as np

from ...mjmodel.matching import contact_forces
from ...mjmodel.state import STATE, RowKind, state_parts
from ...mjmodel.state_log import StateLog
from ...mjmodel.types import MjData, MjModel
from ..abilities import ArrivedStep, StepKind
from ..contact_sensor import Row
from ..logged_steps import StepExactness
from .model_versions import ModelVersions
from .resimulation import ArrivedRow, Resimulator
from .sensor_reader import SensorReader

_SAFETY, _STIFFEST = 10.0, 50.0
"""Safety factor on estimated errors of forces, and largest factor by which stiff contacts enlarge a missing force: with
these, 99 of 100 close steps of random scenes and robots had every contact force within the stated error."""
_POSITION = 1e-4
"""Largest error of a position [m, rad]; relative to the largest position where that exceeds 1."""


class LogSteps:
    """Steps between the rows of a log or saved run. Implements `engines.logged_steps.LoggedSteps`."""

    def __init__(self, engine: SensorReader, log: StateLog, versions: ModelVersions | None = None) -> None:
        """`versions`: values of a model that was changed during the run."""
        self.path, self.is_run = log.path, bool(log.about)
        self.notes, self.channels = log.notes, log.channels
        self.watches_all = bool(log.about.get("watch_all"))
        self._log, self._sensor_row = log, engine.row()
        self.start, self.duration = float(log.times[0]), float(log.times[-1] - log.times[0])
        self.exactness = StepExactness(log.missing)
        self._resimulator = Resimulator(
            engine,
            self,
            versions,
            columns=log.columns,
            rest=log.rest,
            missing=log.missing,
            tolerance=_MissingForces(engine.model, engine.data, log),
        )
        self._rows_of: list[int] = []
        """Row to which each step so far leads."""
        self._next = 0

    @property
    def done(self) -> bool:
        return not self._resimulator.has_following and self._next >= len(self._log)

    def next_row(self) -> ArrivedRow | None:
        self._next += 1
        return self._row(self._next - 1) if self._next <= len(self._log) else None

    def is_model_known(self, row: ArrivedRow) -> bool:
        return True

    def summary(self) -> str:
        first = self.exactness.first
        time = 0.0 if first is None else float(self._log.times[self._rows_of[first]])
        words = self.exactness.summary(time)
        # Of a run that another version of MuJoCo has saved the first is of interest in any case.
        return (
            f"{words}; the first is step {first}, at {time:.6g} s"
            if self.is_run and first and not self.exactness.exact
            else words
        )

    def next_step(self) -> ArrivedStep | None:
        while not self.done:
            step = self._resimulator.next_step()
            if step is None:
                continue
            first_row = self._log.first_row
            if step.kind is StepKind.START and first_row is not None and first_row.shape == self._sensor_row.shape:
                # Solved again, the forces would differ in their last digits.
                self._sensor_row[:] = first_row
            if step.kind is not StepKind.MOVED:
                self._rows_of.append(self._next - 1)
                self.exactness.add(step.kind, step.difference)
            return step
        return None

    def boundary(self, step: int) -> int:
        step = min(step, len(self._rows_of) - 1)
        if step + 1 < len(self._rows_of) and self._rows_of[step + 1] == self._rows_of[step]:
            # Several steps lead to one row, and are only taken together.
            while step > 0 and self._rows_of[step - 1] == self._rows_of[step]:
                step -= 1
            step = max(step - 1, 0)
        return step

    def go_back(self, step: int) -> None:
        self._next = self._rows_of[step] + 1
        del self._rows_of[step + 1 :]
        self.exactness.truncate(step + 1)
        self._resimulator.go_back(self._row(self._next - 1))

    def _row(self, number: int) -> ArrivedRow:
        return ArrivedRow(self._log.values[number], RowKind.EITHER)


class _MissingForces:
    """Force that is missing to reach a row from the state that steps have reached, relative to the acting forces.
    Implements `resimulation.Tolerance`."""

    close, near, time = 0.01, 1e-6, 0.1

    def __init__(self, model: MjModel, data: MjData, log: StateLog) -> None:
        self._model, self._data, self._columns = model, data, log.columns
        parts = state_parts(model)
        self._qpos, self._qvel = parts["qpos"], parts["qvel"]
        self._inverse: MjData | None = None
        """Data for inverse dynamics, made when first needed."""

    def distance(self, reached: Row, row: ArrivedRow, count: int) -> float:
        """Return the missing force relative to the acting ones, both measured by their accelerations, weighted with the
        inertia."""
        model, data = self._model, self._data
        state = reached.copy()
        state[self._columns] = row.state
        apart = np.empty(model.nv)
        mujoco.mj_differentiatePos(model, apart, 1.0, data.qpos, state[self._qpos])
        if np.abs(apart).max(initial=0.0) > _POSITION * max(1.0, float(np.abs(data.qpos).max(initial=0.0))):
            return np.inf
        missing = (state[self._qvel] - data.qvel) / (count * model.opt.timestep)
        weighed = np.empty(model.nv)
        mujoco.mj_mulM(model, data, weighed, missing)
        forces = np.stack([data.qfrc_constraint, data.qfrc_bias, data.qfrc_actuator, data.qfrc_passive])
        caused = np.empty_like(forces)
        mujoco.mj_solveM(model, data, caused, forces)
        acting = float(np.sqrt(np.abs((forces * caused).sum(axis=1)).max(initial=0.0)))
        with np.errstate(over="ignore", invalid="ignore"):
            error = float(np.sqrt(abs(missing @ weighed)))
        if not np.isfinite(error):
            return np.inf
        # Equal velocities and other positions in their last digits are close, and not exact.
        return max(error / acting if acting > 0 else np.inf, 1e-16) if error > 0 else 1e-16

    def force_error(self, start: Row, reached: Row, row: ArrivedRow, distance: float) -> float:
        """Return the error of the contact forces, from inverse dynamics of the last step. The velocities in the row
        determine the forces that lead to the row, whatever the inputs; the reached velocities determine those of the
        re-simulated step."""
        model, timestep = self._model, self._model.opt.timestep
        if self._inverse is None:
            self._inverse = mujoco.MjData(model)
        data, flags, velocities = self._inverse, model.opt.enableflags, reached.copy()
        velocities[self._columns] = row.state
        mujoco.mj_setState(model, data, start, STATE)
        forces = []
        try:
            if model.opt.integrator != mujoco.mjtIntegrator.mjINT_RK4:
                model.opt.enableflags |= int(mujoco.mjtEnableBit.mjENBL_INVDISCRETE)
            for end, known in ((reached, mujoco.mjtStage.mjSTAGE_NONE), (velocities, mujoco.mjtStage.mjSTAGE_VEL)):
                data.qacc[:] = (end[self._qvel] - start[self._qvel]) / timestep
                mujoco.mj_inverseSkip(model, data, known, 1)
                forces.append(contact_forces(model, data, np.arange(data.ncon))[:, :3])
        finally:
            model.opt.enableflags = flags
        squares = np.square([*forces, forces[1] - forces[0]]).sum(axis=2).max(axis=1, initial=0.0)
        *largest, apart = np.sqrt(squares).tolist()
        error = min(max(distance, apart / max(largest) if any(largest) else 0.0), _STIFFEST * distance)
        return min(_SAFETY * error, 1.0)
