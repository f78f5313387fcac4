"""Takes again, in an engine of our own, the steps of a user's loop, from states that arrive one after another."""

from dataclasses import dataclass
from enum import IntEnum
from typing import Protocol

import mujoco
import numpy as np

from ..abilities import ArrivedStep, StepKind
from ..contact_sensor import Row
from .engine import MujocoEngine

STATE = int(mujoco.mjtState.mjSTATE_INTEGRATION)
_INPUTS = int(mujoco.mjtState.mjSTATE_USER)
_WARMSTART = int(mujoco.mjtState.mjSTATE_WARMSTART)
_MOST_STEPS = 1000
"""Most steps between two states that are taken again."""

_MOST_ROWS = 256
"""Rows without a step that are looked at before someone else gets a turn."""


class RowKind(IntEnum):
    """When the state of a row was read."""

    AFTER = 0
    """After a step. What was put in before that step is still there; what the next one gets is not known yet."""
    BEFORE = 1
    """Inside a step, before anything was moved: with what was put in for this step."""


@dataclass(frozen=True)
class ArrivedRow:
    """A state of the user's loop."""

    state: Row
    """mjSTATE_INTEGRATION, (state_size,)."""
    kind: RowKind
    skipped: bool = False
    """True if rows before this one were lost."""
    version: int = 0
    """Of the loop's model, when it was last looked at before the row was written. It may have changed since."""
    number: int = 0
    """Counts all rows."""


class RowSource(Protocol):
    """Where rows arrive."""

    def next_row(self) -> ArrivedRow | None:
        """The oldest row that was not taken; None if there is none. The engine knows the row's version then."""
        ...

    def is_model_known(self, row: ArrivedRow) -> bool:
        """True if the engine knows which values the model had up to a row: someone has looked since."""
        ...


class Arrivals:
    """The steps between states that arrive, taken again in the engine's data and compared with the next state.

    MuJoCo's steps are exact when they start from the same state with the same inputs and the same model. Of a state
    that was read after a step the inputs of the next one are not known: those of the following state are tried, then
    its own; and so are the versions of the model that the loop may have had.
    """

    def __init__(self, engine: MujocoEngine, rows: RowSource) -> None:
        self._engine, self._rows = engine, rows
        self._versions = engine.allow_model_changes()
        model = engine.model
        self._moved = slice(0, mujoco.mj_stateSize(model, _WARMSTART - 1))
        """Time, positions, velocities, activations and delays: what a step changes, in a state."""
        start = self._moved.stop + mujoco.mj_stateSize(model, _WARMSTART)
        self._inputs = slice(start, start + mujoco.mj_stateSize(model, _INPUTS))
        """Controls, applied forces and the like, in a state."""
        self._positions = slice(1, 1 + model.nq)
        size = mujoco.mj_stateSize(model, STATE)
        self._now: Row = np.empty(size)
        self._row: ArrivedRow | None = None
        """The last row that was taken."""
        self._waiting: ArrivedRow | None = None
        """A row that no known model explains, until it is known that there is no other."""
        self._version = self._versions.current
        """Of the model with which the last step was taken."""
        self._left: bytes | None = None
        """What the engine's last step has left, if that is known."""
        self._following: list[Row | None] = []
        """Steps that are known to lead to the last row and were not taken yet: the states from which they start."""

    @property
    def waiting(self) -> bool:
        """True if it is not known yet whether the next step can be taken exactly; the data are of no step then."""
        return self._waiting is not None

    def take(self) -> ArrivedStep | None:
        """Take the next step that arrived: the engine's data are then those after it. None if there is none."""
        for _ in range(_MOST_ROWS):
            if self._following:
                break
            row, self._waiting = self._waiting or self._rows.next_row(), None
            if row is None:
                break
            before = self._row
            step = self._begin(row) if before is None else self._continue(before, row)
            if self._waiting is not None:
                return None
            self._row = row
            if step is not None:
                return step
        return self._step(self._following.pop(0)) if self._following else None

    @property
    def waits(self) -> bool:
        """True if a row has arrived whose model is not known yet."""
        return self._waiting is not None

    def restart(self) -> None:
        """Begin with the next row, whatever came before."""
        self._row = self._waiting = self._left = None
        self._following.clear()

    def _continue(self, before: ArrivedRow, row: ArrivedRow) -> ArrivedStep | None:
        """The step from a row to the next one, or what else happened between them; None if nothing did."""
        passed = row.state[0] - before.state[0]
        if passed < 0:
            return self._begin(row)
        if row.skipped:
            # What led here is not known; the steps from here on are.
            self._version = max(self._version, row.version)
            return None
        if passed == 0:
            same = before.state[self._moved].tobytes() == row.state[self._moved].tobytes()
            return None if same and row.version <= self._version else self._solve(row, StepKind.MOVED)
        return self._take(before, row, passed)

    def _take(self, before: ArrivedRow, row: ArrivedRow, passed: float) -> ArrivedStep | None:
        """Take the steps between two rows with the model and the inputs that lead from one to the other."""
        own, other = before.state, before.state.copy()
        other[self._inputs] = row.state[self._inputs]
        starts = [own, other] if before.kind is RowKind.BEFORE else [other, own]
        if starts[0].tobytes() == starts[1].tobytes():
            starts.pop()
        unproven = None
        # Whoever looks at a model finds one version more at most: that may be found after this row.
        for version in range(max(self._version, before.version), row.version + 2):
            count = self._count(version, passed)
            for start in starts if count else ():
                state = self._load(start, version)
                if self._leads_to(row.state, count):
                    if count == 1:
                        return ArrivedStep(state)
                    self._left = None
                    self._following = [self._load(start, version), *[None] * (count - 1)]
                    return None
                if count == 1 and self._now[self._positions].tobytes() == row.state[self._positions].tobytes():
                    unproven = start, version
        if not self._rows.is_model_known(row):
            self._waiting, self._left = row, None
            return None
        if unproven is not None:
            # The forces are those of the step; what was changed after it is not known.
            state = self._load(*unproven)
            self._leads_to(row.state, 1)
            return ArrivedStep(state, StepKind.UNPROVEN)
        return self._solve(row, StepKind.SOLVED)

    def _count(self, version: int, passed: float) -> int:
        """How many steps of a version of the model take a time [s]; 0 if that is not known."""
        if not self._versions.knows(version):
            return 0
        self._versions.use(version)
        timestep = float(self._engine.model.opt.timestep)
        count = max(1, round(passed / timestep))
        return 0 if count > _MOST_STEPS or abs(passed - count * timestep) > 1e-3 * timestep else count

    def _load(self, start: Row, version: int) -> Row | None:
        """Make the data those from which a step starts; the state, unless the last step has left just that."""
        engine, wanted = self._engine, start.tobytes()
        is_left = wanted == self._left and version == self._version
        self._versions.use(version)
        self._version = version
        mujoco.mj_getState(engine.model, engine.data, self._now, STATE)
        now = self._now.tobytes()
        if now != wanted:
            if now[: 8 * self._moved.stop] == wanted[: 8 * self._moved.stop]:
                # What sleeps goes on sleeping: that is in no state.
                mujoco.mj_setState(engine.model, engine.data, start, STATE)
            else:
                engine.past.restore(self._whole(start))
        return None if is_left else self._whole(start)

    def _leads_to(self, state: Row, count: int) -> bool:
        """Take steps; True if they lead to where the loop's did."""
        engine = self._engine
        try:
            mujoco.mj_step(engine.model, engine.data, count)
        except mujoco.FatalError:
            mujoco.mj_resetData(engine.model, engine.data)
            self._left = None
            return False
        self._remember()
        return self._now[self._moved].tobytes() == state[self._moved].tobytes()

    def continued_in(self, engine: MujocoEngine) -> "Arrivals":
        """The same in another engine of the loop's model, from the next step on."""
        other = Arrivals(engine, self._rows)
        other._row, other._waiting, other._version = self._row, self._waiting, self._version
        if self._following:
            first = self._following[0]
            start = np.frombuffer(self._left or b"") if first is None else first[: self._now.size]
            other._versions.use(self._version)
            other._following = [other._whole(start), *self._following[1:]]
        return other

    def _step(self, start: Row | None) -> ArrivedStep:
        """Take a step that is known to lead to the last row."""
        engine = self._engine
        mujoco.mj_getState(engine.model, engine.data, self._now, STATE)
        wanted = self._left if start is None else start[: self._now.size].tobytes()
        if wanted is not None and (self._now.tobytes() != wanted or self._versions.current != self._version):
            # Another step was shown meanwhile.
            self._versions.use(self._version)
            engine.past.restore(self._whole(np.frombuffer(wanted)))
        mujoco.mj_step(engine.model, engine.data)
        self._remember()
        return ArrivedStep(start)

    def _begin(self, row: ArrivedRow) -> ArrivedStep:
        return self._solve(row, StepKind.START)

    def _solve(self, row: ArrivedRow, kind: StepKind) -> ArrivedStep:
        """Show a state to which no known step leads, with contacts solved in it."""
        engine = self._engine
        self._version = max(self._version, row.version)
        self._versions.use(self._version)
        whole = self._whole(row.state)
        engine.past.restore(whole)
        mujoco.mj_forward(engine.model, engine.data)
        engine.past.restore(whole)
        # No step leads here: only a history that begins with this state has it.
        self._left = row.state.tobytes() if kind is StepKind.START else None
        return ArrivedStep(whole, kind)

    def _remember(self) -> None:
        mujoco.mj_getState(self._engine.model, self._engine.data, self._now, STATE)
        self._left = self._now.tobytes()

    def _whole(self, state: Row) -> Row:
        """A state as the engine's past keeps it: with the version of the model, and where bodies may sleep, all of them
        awake."""
        past = self._engine.past
        whole = np.empty(past.state_size)
        if past.state_size > state.size + 1:
            mujoco.mj_resetData(self._engine.model, self._engine.data)
            past.save(whole)
        whole[: state.size], whole[-1] = state, self._versions.current
        return whole
