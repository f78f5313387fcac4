"""What a window shows to a video of constant rate, on the wall clock."""

import time
from collections.abc import Callable
from fractions import Fraction
from pathlib import Path

from .encoders import Picture
from .recorder import Recorder

_PATIENCE = 0.1
"""Longest that the window waits for the encoder [s]: longer, and the simulation would lose its pace."""


class LiveRecorder(Recorder):
    """Records a window while it runs.

    Call `add_now` after each displayed frame. Of a window that is faster than the video, frames are left out; the
    pictures of a slower one are shown longer. If the encoder falls behind, the window waits for it, up to a limit:
    the display loses frames first. Beyond the limit a picture is lost (`missed`), but not the time it stands for.
    """

    def __init__(
        self,
        path: str | Path,
        size: tuple[int, int],
        fps: float | Fraction = 60,
        clock: Callable[[], float] = time.perf_counter,
    ) -> None:
        super().__init__(path, size, fps)
        self.missed = 0
        """Pictures that the encoder had no time for."""
        self._clock = clock
        self._recorded = 0.0
        """Time up to the last pause [s]."""
        self._resumed: float | None = clock()

    @property
    def paused(self) -> bool:
        return self._resumed is None

    def pause(self) -> None:
        """Let time pass that the video does not show."""
        if self._resumed is not None:
            self._recorded += self._clock() - self._resumed
            self._resumed = None

    def resume(self) -> None:
        if self._resumed is None:
            self._resumed = self._clock()

    @property
    def due(self) -> int:
        """Frames that the video lacks now: without any, the window need not read its pixels."""
        if self._resumed is None:
            return 0
        elapsed = self._recorded + self._clock() - self._resumed
        return max(0, int(elapsed * self.fps + 1e-6) + 1 - self.frames)

    def add_now(self, picture: Picture) -> None:
        """Add what the window shows now, for as many frames as are due."""
        due = self.due
        if due and not self.add(picture, due, timeout=_PATIENCE):
            self.missed += 1
