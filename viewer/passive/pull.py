"""Applies a person's pull, which comes from the window, to the data of a program, and takes it away again."""

from typing import Any

import numpy as np

from ..mjmodel.types import MjData
from .shared_memory import SharedMemory, Word


class Pull:
    """The force with which a person pulls one body of a program's data."""

    def __init__(self, data: MjData, shared: SharedMemory) -> None:
        self._data, self._shared = data, shared
        self.now: tuple[int, Any, Any] | None = None
        """The body that is pulled, what it was pulled with before, and what it is now."""

    def apply(self) -> None:
        """Apply what the window asks for; nothing while it is being written: the next call has it."""
        words, applied = self._shared.words, self._data.xfrc_applied
        version, body = words[Word.PULL_VERSION], words[Word.PULLED]
        force = self._shared.pull.copy()
        if version % 2 or version != words[Word.PULL_VERSION]:
            return
        before = None
        if self.now is not None and self.now[0] == body:
            before = self.now[1]
        else:
            self.end()
        if body:
            self.now = body, applied[body].copy() if before is None else before, force
            applied[body] = force

    def end(self) -> None:
        """Take the pull away, unless the program has set another force since."""
        if self.now is not None:
            body, before, force = self.now
            applied = self._data.xfrc_applied
            if np.array_equal(applied[body], force):
                applied[body] = before
            self.now = None
