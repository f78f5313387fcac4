"""Notices that a program has changed its model between steps, and hands over the values."""

from ..mjmodel.model_values import ModelValues
from ..mjmodel.types import MjModel
from .shared_memory import SharedMemory, Word

_LONGEST = 1 / 60
"""Between two looks at a model that stays as it is [s]."""
_SHORTEST = 1e-3
"""After a change the next step is looked at; then, without one, after this time, and twice as long each time [s]."""
_MODEL_VERSION, _CHECKED = int(Word.MODEL_VERSION), int(Word.CHECKED)


class ModelWatch:
    """The values of a model, as they were when someone last looked."""

    def __init__(self, model: MjModel) -> None:
        self._values = ModelValues(model)
        self._last, self._memory = self._values.read(), self._values.memory()
        self.size = self._values.size
        """Length of all values [bytes]."""
        self.version = 0
        """Counts the changes that were noticed."""
        self._wait = _LONGEST

    def look(self, shared: SharedMemory, written: int) -> float:
        """Hand over the values if they have changed; how long to wait until the next look [s].

        `written`: rows that were written so far.
        """
        memory = self._values.memory()
        if memory == self._memory or (now := self._values.read()) == self._last:
            self._wait = min(max(2 * self._wait, _SHORTEST), _LONGEST)
        else:
            self._last, self._wait = now, 0.0
            self.version += 1
            shared.write_model(self.version, now)
        self._memory = memory
        # The row that is written next is of this version.
        shared.words[_CHECKED] = written + 1
        return self._wait
