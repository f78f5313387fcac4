"""Physics steps by their number, seen by whoever needs each one."""

from collections.abc import Callable, Sequence

from ..session import Session
from .schedule import Schedule

Observer = Callable[[int, float], None]
"""Told the number of a physics step and its simulated time [s], while the session is at it."""


class Stepper:
    """Takes a session forward along a schedule."""

    def __init__(self, session: Session, schedule: Schedule, observers: Sequence[Observer] = ()) -> None:
        """`observers` see every step from that of the schedule's first frame on; the session's watchers, all steps."""
        self._session = session
        # A recording goes forward only: its steps need no room in the session's history.
        session.timeline = None
        self._schedule = schedule
        self._observers = observers
        self._origin = session.engine.time
        """A keyframe may begin at another time than 0 [s]."""
        self._step = 0
        self._observe()

    @property
    def step(self) -> int:
        """Steps taken."""
        return self._step

    @property
    def time(self) -> float:
        """Simulated time [s]: steps times their length, free of the rounding of a sum."""
        return self._origin + self._schedule.time(self._step)

    def advance(self, count: int) -> None:
        """Take steps. Raises UnstableError if they diverge."""
        # One by one also where nobody looks: an error then names the right time, at a microsecond a step.
        for _ in range(count):
            self._session.engine.step()
            for watcher in self._session.watchers:
                watcher.after_step(self._session.engine)
            if self._session.ghost is not None:
                self._session.ghost.step()
            self._session.forget()
            self._step += 1
            self._observe()

    def _observe(self) -> None:
        if self._step >= self._schedule.first_step:
            for observe in self._observers:
                observe(self._step, self.time)
