"""Re-simulates steps from states: those of a user's loop, of logs and saved runs, and of a run's history."""

import copy
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from typing import NamedTuple, Protocol

import mujoco
import numpy as np
from numpy.typing import NDArray

from ...mjmodel.state import INPUTS, MOVED, STATE, RowKind, places, state_parts
from ...mjmodel.types import MjData, MjModel
from ..abilities import ArrivedStep, KeptSpan, Retraced, StepKind
from ..contact_sensor import Row
from .failures import contacts_text, divergence_text, first_bad
from .model_versions import ModelVersions
from .sensor_reader import SensorReader
from .states import FirstStages, States

_MOST_STEPS = 1000
"""Most steps between two states that are re-simulated."""
_MOST_ROWS = 256
"""Most rows without a step that are read in one call."""
_UNPROVEN = 1e300
"""Distance that stands for a step that leads to the right positions, but to other velocities or inputs."""


@dataclass(frozen=True)
class ArrivedRow:
    """State that was seen in a user's loop, or that is in a log."""

    state: Row
    """Values of the source's columns, (columns,): of a loop, the whole of mjSTATE_INTEGRATION."""
    kind: RowKind
    skipped: bool = False
    """True if rows before this one were lost."""
    version: int = 0
    """Version of the loop's model when it was last checked before the row was written. It may have changed since."""
    number: int = 0
    """Number of the row, counted from the first one."""
    trouble: tuple[int, int] | None = None
    """Warning and index in the state, for the first row after MuJoCo reset the loop's data; None for other rows."""


class RowSource(Protocol):
    """Source of rows."""

    def next_row(self) -> ArrivedRow | None:
        """Return the oldest row that was not read; None if there is none. The engine then knows the model's version of
        the row."""
        ...

    def is_model_known(self, row: ArrivedRow) -> bool:
        """Return True if all versions that the model had up to a row are known."""
        ...


class Tolerance(Protocol):
    """Distance to the next row within which a step counts as close. Without a tolerance, only exact steps count."""

    close: float
    """Largest distance of a step that counts as close."""
    near: float
    """Distance up to which a step is accepted without trying other inputs."""
    time: float
    """Largest error of the times of rows, relative to a time step."""

    def distance(self, reached: Row, row: ArrivedRow, count: int) -> float:
        """Return the distance of a row from the state that the engine's data have reached after `count` steps."""
        ...

    def force_error(self, start: Row, reached: Row, row: ArrivedRow, distance: float) -> float:
        """Return the estimated error of the contact forces of a step, relative to the largest force of the step."""
        ...


class SteppedEngine(Protocol):
    """Parts of an engine that re-simulation needs."""

    model: MjModel
    first_stages: FirstStages

    @property
    def data(self) -> MjData: ...


class ResimulatingEngine(SteppedEngine, Protocol):
    """Engine that re-simulates a user's loop: one with `can_resimulate`."""

    def allow_model_changes(self) -> ModelVersions:
        """Keep the values that the model had at each step for the past."""
        ...


class _Trial(NamedTuple):
    """Steps that were tried from a row to the next one."""

    distance: float
    """Distance of the reached state from the next row; 0 if it is equal bit for bit."""
    start: Row
    kept: Row | None
    """`start`; None if the step before ended in exactly that state."""
    is_swapped: bool
    steps: int
    last_start: Row
    end: Row


class Resimulator:
    """Steps between states, re-simulated in an engine's data and compared with the next state.

    MuJoCo's steps are exact when they start from the same state with the same inputs and the same model. Rows may
    have the inputs of the step to come or those of the step before: both are tried, and so are the versions of the
    model that a loop may have had. Values that rows lack are carried along from step to step.
    """

    def __init__(
        self,
        engine: SteppedEngine,
        rows: RowSource,
        versions: ModelVersions | None = None,
        *,
        columns: NDArray[np.intp] | None = None,
        rest: Row | None = None,
        missing: Sequence[str] = (),
        tolerance: Tolerance | None = None,
    ) -> None:
        """`versions`: values of a model that changes. `columns`: indices of the rows' values in a state as a history
        keeps it; None for mjSTATE_INTEGRATION. `rest`: state with the values that rows lack; None to carry these along.
        `missing`: parts of a state that steps depend on and rows lack."""
        self._engine, self._rows, self._versions, self._tolerance = engine, rows, versions, tolerance
        self._model, self._data = engine.model, engine.data
        self._states = States(self._model, self._data, versions)
        physics = mujoco.mj_stateSize(self._model, STATE)
        columns = np.arange(physics) if columns is None else columns
        self._columns = _narrow(columns)
        self._rest = rest
        self._carries_sleep = tolerance is None and self._states.size > physics + 1
        """True if rows have everything of a state except which bodies sleep."""
        is_input = np.isin(columns, places(self._model, *INPUTS))
        self._input_columns, self._input_places = _narrow(np.flatnonzero(is_input)), _narrow(columns[is_input])
        # The times in a log may have rounding errors, and are compared on their own.
        followed = np.isin(columns, places(self._model, *(MOVED[1:] if tolerance else MOVED)))
        self._followed_columns, self._followed_places = _narrow(np.flatnonzero(followed)), _narrow(columns[followed])
        self._positions = slice(1, 1 + self._model.nq)
        self._moved = slice(0, state_parts(self._model)["qacc_warmstart"].start)
        self._physics, self._time_column = slice(0, physics), int(np.argmin(columns))
        self._has_forces, self._can_step = not missing, "qvel" not in missing
        self._initial: Row = np.zeros(self._states.size)
        States(self._model, mujoco.MjData(self._model), versions).save(self._initial)
        self._end = self._initial
        """State after the last step; the data may be shown at another one meanwhile."""
        self._now = np.empty_like(self._initial)
        self._last_start: Row = np.empty(physics)
        """State from which the last step was tried, if there is a tolerance."""
        self._row: ArrivedRow | None = None
        """The last row that was read."""
        self._waiting: ArrivedRow | None = None
        """Row that no known version of the model explains, until all versions are known."""
        self._version = 0 if versions is None else versions.current
        """Version of the model with which the last step was taken."""
        self._left: bytes | None = None
        """State in which the last step ended, as bytes, if it is known."""
        self._swapped = False
        """True if the inputs of the last row belonged to the step that ended there."""
        self._following: list[tuple[Row | None, StepKind, float]] = []
        """Steps that are known to lead to the last row and were not taken yet: the states from which they start, their
        kinds, and the estimated errors of their forces."""
        self.trouble = ""
        """Reason why rows that are not finite are left out; a source empties it after reporting it."""
        self._velocities = slice(1 + self._model.nq, 1 + self._model.nq + self._model.nv)
        self._is_bad = False
        """True if the last row was not finite."""
        self.lost = 0
        """Number of steps lost since the loop's last reset, estimated from the simulated time that they span."""

    @property
    def waiting(self) -> bool:
        """True if it is not known yet whether the next step can be re-simulated exactly; the data then belong to no
        step."""
        return self._waiting is not None

    @property
    def has_following(self) -> bool:
        """True if more steps are known to lead to the last row."""
        return bool(self._following)

    def next_step(self) -> ArrivedStep | None:
        """Re-simulate and return the next step; the engine's data are then at its end. None if no step has arrived."""
        for _ in range(_MOST_ROWS):
            if self._following:
                return self._next_following()
            row, self._waiting = self._waiting or self._rows.next_row(), None
            if row is None:
                return None
            if self._tolerance is None and self._is_no_state(row):
                continue
            before = self._row
            step = self._begin(row) if before is None else self._continue(before, row)
            if self._waiting is not None:
                return None
            self._row = row
            if step is not None:
                return step
        return None

    def restart(self) -> None:
        """Begin with the next row, independent of those before."""
        self._row = self._waiting = self._left = None
        self._following.clear()

    def go_back(self, row: ArrivedRow) -> None:
        """Continue after a row; the caller has set the engine's data to it."""
        self.restart()
        self._row = row
        self._end = np.empty_like(self._now)
        self._states.save(self._end)

    def continued_in(self, engine: SteppedEngine, versions: ModelVersions) -> "Resimulator":
        """Return a resimulator on another engine of the loop's model that continues with the next step."""
        other = Resimulator(engine, self._rows, versions)
        other._row, other._waiting, other._version = self._row, self._waiting, self._version
        other.lost = self.lost
        if self._following:
            (start, kind, difference), *rest = self._following
            whole = other._initial.copy()
            whole[self._physics] = (self._end if start is None else start)[self._physics]
            whole[-1] = self._version
            other._following = [(whole, kind, difference), *rest]
        return other

    def _begin(self, row: ArrivedRow) -> ArrivedStep:
        self.lost = self._steps_in(float(row.state[self._time_column])) if row.skipped else 0
        if self._row is None:
            # The loop may have begun at any time.
            self.lost = min(self.lost, row.number)
        self._end = self._initial
        return self._show(row, StepKind.START)

    def _continue(self, before: ArrivedRow, row: ArrivedRow) -> ArrivedStep | None:
        """Return the step from a row to the next one, or the event between them; None if there is none, or if several
        steps follow."""
        passed = float(row.state[self._time_column] - before.state[self._time_column])
        if passed < 0 or row.kind is RowKind.START:
            trouble = self._divergence(before, row) if passed < 0 and self._tolerance is None else ""
            return replace(self._begin(row), trouble=trouble)
        if row.skipped:
            # The steps that led here are not known; those from here on are.
            self._version = max(self._version, row.version)
            self.lost += self._steps_in(passed)
            return None
        if passed == 0:
            followed = self._followed_columns
            same = before.state[followed].tobytes() == row.state[followed].tobytes()
            return None if same and row.version <= self._version else self._show(row, StepKind.MOVED)
        end, best = self._end, self._best_trial(before, row, passed)
        distance = None if best is None else best.distance
        if distance != 0 and not self._rows.is_model_known(row):
            self._waiting, self._left, self._end = row, None, end
            return None
        if best is None or distance is None:
            self._end = end
            return self._show(row, StepKind.UNKNOWN if self._tolerance else StepKind.SOLVED)
        kind, difference = StepKind.EXACT if not distance else StepKind.UNPROVEN, 0.0
        if distance and self._tolerance is not None:
            # Of several steps, one may lack all of it.
            difference = self._tolerance.force_error(best.last_start, best.end, row, best.steps * distance)
            kind = StepKind.CLOSE if difference else StepKind.EXACT
        self._swapped = best.is_swapped
        if best.steps == 1 and self._end is best.end:
            return ArrivedStep(best.kept, kind, difference)
        self._end, self._left = best.start, None
        self._following = [(best.start, kind, difference), *[(None, kind, difference)] * (best.steps - 1)]
        return None

    def _is_no_state(self, row: ArrivedRow) -> bool:
        """Return True for a row whose positions or velocities are not finite, which is left out."""
        qpos, qvel = row.state[self._positions], row.state[self._velocities]
        if np.isfinite(qpos.sum() + qvel.sum()):
            self._is_bad = False
            return False
        if not self._is_bad:
            self._is_bad = True
            bad = first_bad(self._model, qpos, qvel) or "the state is not finite"
            if self._row is not None:
                self._states.restore(self._end)
                mujoco.mj_forward(self._model, self._data)
            self.trouble = f"{bad} after {self._end[0]:.3f} s{contacts_text(self._model, self._data)}"
        return True

    def _divergence(self, before: ArrivedRow, row: ArrivedRow) -> str:
        """Return the reason why the step from a row became unstable, as text; empty if the program has reset its
        data."""
        if row.trouble is None:
            return ""
        start = self._state_of(before, before)
        self._states.restore(start)
        mujoco.mj_forward(self._model, self._data)
        return divergence_text(self._model, *row.trouble, float(start[0])) + contacts_text(self._model, self._data)

    def _best_trial(self, before: ArrivedRow, row: ArrivedRow, passed: float) -> _Trial | None:
        """Take the steps between two rows with the model and the inputs that come closest to the second row; the data
        are then at the end of the last trial. None if no trial comes close."""
        best: _Trial | None = None
        end = reached = self._end
        near = self._tolerance.near if self._tolerance else 0.0
        most = self._tolerance.close if self._tolerance else _UNPROVEN
        swapped = self._swapped if before.kind is RowKind.EITHER else before.kind is not RowKind.BEFORE
        for version in self._possible_versions(before, row):
            count, tried = self._count(passed, version), b""
            for is_swapped in (swapped, not swapped) if count else ():
                self._end = end
                start = self._state_of(before, row if is_swapped else before, version)
                content = start.tobytes()
                if content == tried:
                    self._end = reached
                    break
                tried, kept = content, self._load(start, content)
                distance, reached = self._try(row, count), self._end
                last_start = self._last_start.copy() if distance else self._last_start
                if distance <= most and (best is None or distance < best.distance or distance == _UNPROVEN):
                    best = _Trial(distance, start, kept, is_swapped, count, last_start, self._end)
                if distance <= near:
                    return best
        return best

    def _possible_versions(self, before: ArrivedRow, row: ArrivedRow) -> Sequence[int | None]:
        """Return the versions of the model that may lead from a row to the next; None stands for the version in the
        row."""
        if self._versions is None or self._tolerance is not None:
            return (None,)
        # Each check of a model finds one version more at most: that may be found after this row.
        return range(max(self._version, before.version), row.version + 2)

    def _count(self, passed: float, version: int | None) -> int:
        """Return how many steps of a version of the model take a time [s]; 0 if none can be taken."""
        if version is not None and self._versions is not None:
            if not self._versions.knows(version):
                return 0
            self._versions.use(version)
        timestep = float(self._model.opt.timestep)
        count = max(1, round(min(passed / timestep, _MOST_STEPS + 1) if timestep > 0 else 1))
        error = timestep * (self._tolerance.time if self._tolerance else 1e-3)
        return 0 if not self._can_step or count > _MOST_STEPS or abs(passed - count * timestep) > error else count

    def _steps_in(self, passed: float) -> int:
        """Return about how many steps of the present model take a time [s]."""
        return max(1, round(passed / float(self._model.opt.timestep)))

    def _state_of(self, row: ArrivedRow, input_row: ArrivedRow, version: int | None = None) -> Row:
        """Return the state of a row, with the inputs of `input_row`."""
        if self._rest is not None:
            state = self._rest.copy()
        elif self._carries_sleep and self._end[self._moved].tobytes() != row.state[self._moved].tobytes():
            # Which bodies sleep is not known.
            state = self._initial.copy()
        else:
            state = self._end.copy()
        before = state[0]
        state[self._columns] = row.state
        if self._rest is None and self._tolerance and abs(before - state[0]) < 1e-3 * self._model.opt.timestep:
            # Nothing depends on the last digits of the time, and a state that goes on need not be kept.
            state[0] = before
        if input_row is not row:
            state[self._input_places] = input_row.state[self._input_columns]
        if version is not None:
            state[-1] = version
        return state

    def _load(self, start: Row, content: bytes) -> Row | None:
        """Set the data to the start of a step; return that state, or None if the step before ended in it."""
        now = self._now
        self._states.save(now)
        if now.tobytes() != content:
            self._restore(start)
        if self._versions is not None:
            self._version = int(start[-1])
        return None if content == self._left else start

    def _restore(self, start: Row) -> None:
        now, beyond = self._now, slice(self._physics.stop, None)
        if (
            self._carries_sleep
            and now[self._moved].tobytes() == start[self._moved].tobytes()
            and now[beyond].tobytes() == start[beyond].tobytes()
        ):
            # Sleeping bodies go on sleeping, without being computed.
            mujoco.mj_setState(self._model, self._data, start[self._physics], STATE)
        else:
            self._states.restore(start)

    def _try(self, row: ArrivedRow, count: int) -> float:
        """Run steps; return the distance of the reached state from a row: 0 if it is equal bit for bit."""
        try:
            if count > 1:
                mujoco.mj_step(self._model, self._data, count - 1)
            if self._tolerance is not None:
                mujoco.mj_getState(self._model, self._data, self._last_start, STATE)
            self._engine.first_stages.step()
        except mujoco.FatalError:
            mujoco.mj_resetData(self._model, self._data)
            self._left = None
            return np.inf
        self._remember()
        if self._end[self._followed_places].tobytes() == row.state[self._followed_columns].tobytes():
            return 0.0
        if self._tolerance is not None:
            return self._tolerance.distance(self._end, row, count)
        same = count == 1 and self._end[self._positions].tobytes() == row.state[self._positions].tobytes()
        return _UNPROVEN if same else np.inf

    def _next_following(self) -> ArrivedStep:
        """Take a step that is known to lead to the last row."""
        state, kind, difference = self._following.pop(0)
        # Another step may have been shown meanwhile.
        start = self._end if state is None else state
        self._load(start, start.tobytes())
        self._engine.first_stages.step()
        self._remember()
        return ArrivedStep(state, kind, difference)

    def _show(self, row: ArrivedRow, kind: StepKind) -> ArrivedStep:
        """Show a row to which no known step leads, with contacts found in it."""
        self._version = max(self._version, row.version)
        version = None if self._tolerance or self._versions is None else self._version
        state = self._state_of(row, row, version)
        self._states.restore(state)
        mujoco.mj_forward(self._model, self._data)
        self._engine.first_stages.forget()
        if kind is StepKind.UNKNOWN or (kind is StepKind.START and not self._has_forces):
            self._states.hide_forces()
        self._states.restore(state)
        # No step leads here: only a history that begins with this state has it.
        self._end, self._left = state, state.tobytes() if kind is StepKind.START else None
        return ArrivedStep(state, kind)

    def _remember(self) -> None:
        self._end = np.empty_like(self._now)
        self._states.save(self._end)
        self._left = self._end.tobytes()


def _narrow(indices: NDArray[np.intp]) -> slice | NDArray[np.intp]:
    """Return a slice where indices follow each other: it takes a tenth of the time."""
    if len(indices) and (np.diff(indices) == 1).all():
        return slice(int(indices[0]), int(indices[-1]) + 1)
    return indices


def retrace(
    model: MjModel, reader: SensorReader, spans: Sequence[KeptSpan], versions: ModelVersions | None = None
) -> Retraced:
    """Re-simulate the states of a history while they are read, with a copy of a reader's model that nothing else
    changes."""
    states = np.stack([span.state for span in spans])
    numbers = [] if versions is None else sorted({int(number) for number in states[:, -1]})
    changes = versions is not None and (len(numbers) > 1 or numbers != [versions.current])
    if versions is not None and not changes:
        states = states[:, :-1]
    kept = {number: versions.content(number) for number in numbers if versions.knows(number)} if versions else {}
    # Inputs but for the controls change only where a state is kept, and what moves nearly always does.
    fixed = np.append(places(model, *INPUTS[1:]), [states.shape[1] - 1] if changes else []).astype(np.intp)
    constant = np.zeros(states.shape[1], bool)
    constant[fixed] = (states[:, fixed] == states[0, fixed]).all(axis=0)
    columns = np.flatnonzero(~constant)
    stepped = model if versions is None else copy.deepcopy(model)
    if versions is not None:
        current, versions = versions.current, versions.for_model(stepped)
        versions.current = current
    number = versions.current if versions is not None else 0
    recorded = _recorded_states(stepped, spans, versions)
    return Retraced(
        model, reader.companions, reader.hidden, columns, states[0], recorded, kept if changes else {}, number
    )


def _recorded_states(model: MjModel, spans: Sequence[KeptSpan], versions: ModelVersions | None) -> Iterator[Row]:
    """Yield each state from which a step of some spans starts, then the last state, all in the same array. Two states
    have the same time where something was moved by hand."""
    data = mujoco.MjData(model)
    states = States(model, data, versions)
    now = np.empty(states.size)
    controls = state_parts(model)["ctrl"]
    moved = places(model, *MOVED)
    for number, span in enumerate(spans):
        if number:
            states.save(now)
            if span.from_itself or now[moved].tobytes() != span.state[moved].tobytes():
                # Where the last step has led, before something was moved by hand.
                yield now
        start = span.state
        if span.inputs is not None:
            start = start.copy()
            start[controls] = span.inputs[0]
        states.restore(start)
        if span.from_itself:
            continue
        if not span.count and len(spans) > 1:
            # The state that was shown first, before anything was put in.
            yield span.state
        for step in range(span.count):
            if span.inputs is not None:
                data.ctrl[:] = span.inputs[step]
            states.save(now)
            yield now
            mujoco.mj_step(model, data)
    states.save(now)
    yield now
