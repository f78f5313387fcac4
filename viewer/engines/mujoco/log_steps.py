"""Takes the steps of a log again, one after another, and compares each with the next state of the log."""

from typing import Protocol

import mujoco
import numpy as np

from ...mjmodel.state_log import INPUTS, StateLog, Values, places, state_parts
from ...mjmodel.types import MjData, MjModel
from ..abilities import ArrivedStep, StepKind
from ..logged_steps import Verdicts
from .model_versions import ModelVersions
from .states import States, hide_forces

_MOST_STEPS = 1000
"""Most steps between two rows that are taken again."""
_CLOSE = 0.01
"""Largest part of the forces that may be missing to reach a state that counts as close."""
_NEAR = 1e-6
"""Below it the inputs that were tried first are the right ones."""
_POSITION = 1e-4
"""Largest error of a position, with the position itself as a scale beyond 1 [m, rad]."""


class _Stepped(Protocol):
    """What is asked of an engine."""

    model: MjModel

    @property
    def data(self) -> MjData: ...
    def row(self, env: int = 0) -> Values: ...


class LogSteps:
    """The steps between the rows of a log. Fulfils `engines.abilities.LoggedSteps`.

    MuJoCo's steps are exact when they start from the same state with the same inputs. Logs hold with a state the
    inputs of the step to come, or those of the step before: both are tried. What a log does not have, such as what the
    solver starts from, is carried along from step to step.
    """

    def __init__(self, engine: _Stepped, log: StateLog, versions: ModelVersions | None = None) -> None:
        """`versions`: of a model that is changed."""
        self.path, self.is_run = log.path, bool(log.about)
        self.notes = log.notes
        self.watches_all = bool(log.about.get("watch_all"))
        self._log, self._model, self._data = log, engine.model, engine.data
        self._first_row = engine.row()
        self._states = States(self._model, self._data, versions)
        parts = state_parts(self._model)
        inputs = places(self._model, *INPUTS)
        is_input = np.isin(log.columns, inputs)
        self._input_columns, self._input_places = np.flatnonzero(is_input), log.columns[is_input]
        follows = np.isin(log.columns, places(self._model, "qpos", "qvel", "act", "history", "plugin_state", "plastic"))
        self._followed_columns, self._followed_places = np.flatnonzero(follows), log.columns[follows]
        self._qpos, self._qvel = parts["qpos"], parts["qvel"]
        self._time_place = 0
        mujoco.mj_resetData(self._model, self._data)
        self._initial: Values = np.empty(self._states.size)
        self._states.save(self._initial)
        self._end = self._initial.copy()
        """The state after the last step; the data may be shown at another one meanwhile."""
        self._now = np.empty_like(self._initial)
        times = log.times
        self.start, self.duration = float(times[0]), float(times[-1] - times[0])
        self._forces_known = "qvel" not in log.missing
        """False if no step can be taken again: it is not known how fast anything moves."""
        self._swapped = False
        """True if the inputs of a row are those of the step that ended there."""
        self.verdicts = Verdicts(log.missing)
        self._rows_of: list[int] = []
        """The row to which each step so far leads."""
        self._next = 0
        self._left: bytes | None = None
        """What the last step has left, if that is known."""
        self._following: list[tuple[Values | None, float]] = []
        """Steps that are known to lead to the last row and were not taken yet: the states from which they start, and
        how close they come."""

    @property
    def done(self) -> bool:
        return not self._following and self._next >= len(self._log)

    def summary(self) -> str:
        first = self.verdicts.first
        time = 0.0 if first is None else float(self._log.times[self._rows_of[first]])
        words = self.verdicts.summary(time)
        # Of a run that another version of MuJoCo has saved the first is of interest in any case.
        return (
            f"{words}; the first is step {first}, at {time:.6g} s"
            if self.is_run and first and not self.verdicts.exact
            else words
        )

    def take(self) -> ArrivedStep | None:
        while not self._following and self._next < len(self._log):
            row = self._next
            self._next += 1
            step = self._begin() if row == 0 else self._continue(row)
            if step is not None:
                return self._note(step)
        if not self._following:
            return None
        state, difference = self._following.pop(0)
        self._load(self._end if state is None else state)
        mujoco.mj_step(self._model, self._data)
        self._remember()
        return self._note(ArrivedStep(state, StepKind.CLOSE if difference else StepKind.EXACT, difference))

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
        self.verdicts.truncate(step + 1)
        self._following.clear()
        self._states.save(self._end)
        self._left = None

    def _note(self, step: ArrivedStep) -> ArrivedStep:
        if step.kind is not StepKind.MOVED:
            self._rows_of.append(self._next - 1)
            self.verdicts.add(step.kind, step.difference)
        return step

    def _begin(self) -> ArrivedStep:
        rest = self._log.rest
        state = (self._initial if rest is None else rest).copy()
        state[self._log.columns] = self._log.values[0]
        self._solve(state, forces_known=not self._log.missing)
        if self._log.first_row is not None and self._log.first_row.shape == self._first_row.shape:
            # Solved again, the forces would differ in their last digits.
            self._first_row[:] = self._log.first_row
        self._end, self._left = state, state.tobytes()
        return ArrivedStep(state, StepKind.START)

    def _continue(self, row: int) -> ArrivedStep | None:
        """The step from the row before, or what else happened between them; None if nothing did, or if several
        steps follow."""
        values, times, timestep = self._log.values, self._log.times, float(self._model.opt.timestep)
        passed = float(times[row] - times[row - 1])
        if passed == 0.0:
            followed = values[row - 1 : row + 1, self._followed_columns]
            if followed[0].tobytes() == followed[1].tobytes():
                return None
            state = self._state_of(row, row)
            self._solve(state)
            self._end, self._left = state, None
            return ArrivedStep(state, StepKind.MOVED)
        count = max(1, round(min(passed / timestep, _MOST_STEPS + 1) if timestep > 0 else 1))
        if not self._forces_known or count > _MOST_STEPS or abs(passed - count * timestep) > 0.1 * timestep:
            return self._show(row)
        return self._take(row, count)

    def _take(self, row: int, count: int) -> ArrivedStep | None:
        """Take the steps to a row, with the inputs that come closest to it."""
        found: tuple[float, Values] | None = None
        before = self._end
        for swapped in (self._swapped, not self._swapped):
            self._end = before
            start = self._state_of(row - 1, row if swapped else row - 1)
            if found is not None and start.tobytes() == found[1].tobytes():
                break
            tried, state = swapped, self._load(start)
            difference = self._try(row, count)
            if found is None or difference < found[0]:
                found = difference, start
                best, best_swapped = state, swapped
            if found[0] <= _NEAR or not len(self._input_columns):
                break
        assert found is not None
        difference, start = found
        if difference > _CLOSE:
            self._end = before
            return self._show(row)
        self._swapped = best_swapped
        if count == 1 and best_swapped is tried:
            return ArrivedStep(best, StepKind.CLOSE if difference else StepKind.EXACT, difference)
        self._end, self._left = start, None
        self._following = [(start, difference), *[(None, difference)] * (count - 1)]
        return None

    def _state_of(self, row: int, input_row: int) -> Values:
        """The state of a row, with the inputs of a row."""
        log = self._log
        state = self._end.copy() if log.rest is None else log.rest.copy()
        before = state[self._time_place]
        state[log.columns] = log.values[row]
        if log.rest is None and abs(before - state[self._time_place]) < 1e-3 * self._model.opt.timestep:
            # Nothing depends on the last digits of the time, and a state that goes on need not be kept.
            state[self._time_place] = before
        state[self._input_places] = log.values[input_row, self._input_columns]
        return state

    def _load(self, start: Values) -> Values | None:
        """Make the data those from which a step starts; the state, unless the last step has left just that."""
        self._states.save(self._now)
        wanted = start.tobytes()
        if self._now.tobytes() != wanted:
            self._states.restore(start)
        return None if wanted == self._left else start

    def _try(self, row: int, count: int) -> float:
        """Take steps; returns how far they end from a row: 0 if they lead there bit for bit."""
        try:
            mujoco.mj_step(self._model, self._data, count)
        except mujoco.FatalError:
            mujoco.mj_resetData(self._model, self._data)
            self._left = None
            return np.inf
        self._remember()
        wanted = self._log.values[row, self._followed_columns]
        if self._end[self._followed_places].tobytes() == wanted.tobytes():
            return 0.0
        return self._difference(row, count)

    def _difference(self, row: int, count: int) -> float:
        """The force that is missing to reach a row from what steps have reached, as a part of the forces that act.

        Forces are compared by the accelerations that they cause, weighed with the inertia.
        """
        model, data = self._model, self._data
        state = self._end.copy()
        state[self._log.columns] = self._log.values[row]
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
        error = float(np.sqrt(abs(missing @ weighed)))
        # Equal velocities and other positions in their last digits are close, and not exact.
        return max(error / acting if acting > 0 else np.inf, 1e-16) if error > 0 else 1e-16

    def _show(self, row: int) -> ArrivedStep:
        """Show a row to which no known step leads: where things are, without forces."""
        state = self._state_of(row, row)
        self._solve(state, forces_known=False)
        self._end, self._left = state, None
        return ArrivedStep(state, StepKind.UNKNOWN)

    def _solve(self, state: Values, forces_known: bool = True) -> None:
        """Make the data those of a state, with contacts found in it."""
        self._states.restore(state)
        mujoco.mj_forward(self._model, self._data)
        if not forces_known:
            hide_forces(self._model, self._data)
        self._states.restore(state)

    def _remember(self) -> None:
        self._end = np.empty_like(self._now)
        self._states.save(self._end)
        self._left = self._end.tobytes()
