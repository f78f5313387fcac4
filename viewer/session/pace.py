"""Turns wall-clock time into physics steps: real time at a chosen speed, within a time budget per frame."""

import time
from collections import deque
from collections.abc import Callable

_WINDOW = 1.0
"""Wall time over which the achieved speed is averaged [s]."""
_BATCH = 0.002
"""Wall time between two looks at the budget [s]."""
_LONGEST_FRAME = 0.25
"""Longest frame time that is simulated in full [s]: a dialog or a suspended machine makes no jump."""


class Pace:
    """Clock of a run: it decides how many steps are due, and measures the speed that is achieved."""

    def __init__(self, speed: float = 1.0, clock: Callable[[], float] = time.perf_counter) -> None:
        self.speed = speed
        """Wanted speed, as a multiple of real time."""
        self.behind = False
        """True if the last frame's budget did not suffice."""
        self._clock = clock
        self._last: float | None = None
        self._debt = 0.0
        self._step_cost = 0.0
        self._marks: deque[tuple[float, float]] = deque()

    def restart(self) -> None:
        """Forget elapsed time: after a pause, a reset or a load."""
        self._last = None
        self._debt = 0.0
        self.behind = False
        self._marks.clear()

    def advance(self, step: Callable[[int], None], timestep: float, budget: float) -> int:
        """Call `step(count)` for the time since the last call, for at most `budget` seconds; return the steps taken."""
        now = self._clock()
        elapsed = 0.0 if self._last is None else min(now - self._last, _LONGEST_FRAME)
        self._last = now
        self._debt += elapsed * self.speed
        due = int(self._debt / timestep + 1e-9) if timestep > 0 else 0
        taken = 0
        started = now
        while taken < due:
            batch = min(due - taken, max(1, int(_BATCH / self._step_cost)) if self._step_cost else 1)
            step(batch)
            taken += batch
            after = self._clock()
            self._step_cost = max((after - now) / batch, 1e-9)
            now = after
            if now - started > budget:
                break
        self.behind = taken < due
        # What could not be simulated in time is dropped; catching up later would only freeze the window.
        self._debt = 0.0 if self.behind else self._debt - taken * timestep
        self._marks.append((self._clock(), taken * timestep))
        while self._marks[-1][0] - self._marks[0][0] > _WINDOW:
            self._marks.popleft()
        return taken

    @property
    def achieved(self) -> float:
        """Simulated time per wall time over the last second; 0 before anything was measured."""
        if len(self._marks) < 2:
            return 0.0
        wall = self._marks[-1][0] - self._marks[0][0]
        return sum(simulated for _, simulated in list(self._marks)[1:]) / wall if wall > 0 else 0.0
