"""Writes the states of a program's data into the memory that it shares with the window."""

import mujoco
from mujoco import mj_getState

from ..mjmodel.types import MjData, MjModel
from .shared_memory import SharedMemory, Word

STATE = int(mujoco.mjtState.mjSTATE_INTEGRATION)
AFTER, BEFORE = 0, 1
"""Kinds of rows: read after a step, and inside one before it has moved anything."""
_WRITTEN = int(Word.WRITTEN)
"""A plain number takes half the time."""


class RowWriter:
    """Writes rows, one after the other. Small: little of it stays in a processor's cache."""

    __slots__ = (
        "__weakref__", "_data", "_kinds", "_model", "_states", "_words", "count", "is_changed", "rows", "time", "word"
    )  # fmt: skip

    def __init__(self, model: MjModel, data: MjData, shared: SharedMemory) -> None:
        self._model, self._data = model, data
        self._words, self._kinds, self.rows = shared.words, shared.kinds, shared.rows
        self._states = list(shared.states[:, : mujoco.mj_stateSize(model, STATE)])
        self.count, self.time = 0, 0.0
        """Rows that were written, and the time of the last one [s]."""
        self.word, self.is_changed = 0, False
        """The version of the model as in `row_word`; True if the next row is written even if it repeats the last."""

    def write(self, kind: int, time: float) -> None:
        """Hand over the state, which is that of a time [s]."""
        count = self.count
        place = count % self.rows
        mj_getState(self._model, self._data, self._states[place], STATE)
        if time == self.time and self._is_same(place):
            # The same once more, such as from a program that waits.
            return
        self.time, self.is_changed = time, False
        self._kinds[place] = self.word | kind
        # Last, so that the window never sees a row that is not complete.
        self.count = self._words[_WRITTEN] = count + 1

    def write_start(self, time: float) -> None:
        """Hand over the state before a step that is being taken."""
        self.write(BEFORE, time)

    def _is_same(self, place: int) -> bool:
        """True if a row repeats the one before it."""
        states = self._states
        return self.count > 0 and not self.is_changed and states[place].tobytes() == states[place - 1].tobytes()
