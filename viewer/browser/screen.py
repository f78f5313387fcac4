"""Hands the window's newest picture from the thread that draws to those who send it."""

import threading
import time

import numpy as np

from ..recording.encoders import Picture, with_alpha


class Screen:
    """The newest picture; older ones are not kept. Each that differs from the one before has a number of its own."""

    def __init__(self) -> None:
        self._lock = threading.Lock()
        self._picture: Picture | None = None
        self._number = 0
        self._changed = 0.0
        self.interval = 0.0
        """Time between the last two pictures [s]."""

    @property
    def number(self) -> int:
        """Number of the newest picture; 0 before the first."""
        return self._number

    def show(self, picture: Picture) -> bool:
        """Replace the picture; False if it is the same. The caller does not write into it any more."""
        # The same picture twice is common, and comparing costs less than a tenth of encoding.
        if self._picture is not None and _is_same(self._picture, picture):
            return False
        with self._lock:
            self._picture = picture
            self._number += 1
            now = time.monotonic()
            self.interval, self._changed = now - self._changed, now
        return True

    def newest(self) -> tuple[int, Picture | None]:
        """The newest picture and its number."""
        with self._lock:
            return self._number, self._picture


def _is_same(first: Picture, second: Picture) -> bool:
    one, other = with_alpha(first), with_alpha(second)
    if one is None or other is None:
        return np.array_equal(first, second)
    # Whole pixels, alpha and all: a twentieth of the time.
    return np.array_equal(one.view(np.uint32), other.view(np.uint32))
