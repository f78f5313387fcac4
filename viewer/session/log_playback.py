"""Plays a saved run or a log: reads its steps ahead into the history, and shows them at the pace of the session."""

from time import perf_counter

from ..engines.logged_steps import LoggedSteps
from ..errors import LogEnd
from .pace import Pace
from .simulation import Simulation

_READING = 0.015
"""Longest that reading ahead holds up a frame [s]."""
_BATCH = 20
"""Steps between two looks at the budget."""


class LogPlayback:
    """Moves through the steps of a log, which are taken again once, ahead of what is shown.

    While there are breaks nothing is read ahead: each step is then taken when it is played, as a simulation would, so
    that a break stops at it.
    """

    def __init__(self) -> None:
        self._time = 0.0
        """Simulated time that is due to be shown [s]; a log may have no step at it."""
        self._shown: tuple[int, float] | None = None
        """Step and time that were shown last."""

    def play(self, simulation: Simulation, logged: LoggedSteps, pace: Pace, budget: float, breaks: bool) -> None:
        """Show the step that is due, for at most `budget` seconds. Raises LogEnd after the last."""
        history, shown = simulation.history, simulation.shown
        assert history is not None
        if self._shown != (history.current, shown.time):
            self._time = shown.time
        timestep = shown.timestep
        self._time += timestep * pace.advance(lambda count: None, timestep, budget)
        if self._time - shown.time > 0.5 * timestep:
            if history.at_end and logged.done:
                raise LogEnd(f"{logged.path.name} ends here")
            if not breaks and (step := history.step_at(self._time)) > history.current:
                simulation.go_to(step, history.current)
            if breaks or (history.at_end and not logged.done):
                self._take(simulation, budget)
        self._shown = history.current, shown.time

    def _take(self, simulation: Simulation, budget: float) -> None:
        """Take the steps that are due."""
        history, shown, until = simulation.history, simulation.shown, perf_counter() + budget
        assert history is not None
        if history.at_end:
            history.begin_frame()
        while (due := round((self._time - shown.time) / shown.timestep)) > 0:
            simulation.step(min(due, _BATCH))
            if simulation.halted or perf_counter() > until:
                self._time = shown.time

    @staticmethod
    def read_ahead(simulation: Simulation, logged: LoggedSteps) -> None:
        """Read more steps than are shown, for a moment."""
        history = simulation.history
        if history is not None and not logged.done:
            shown, since = history.current, history.frame_start
            if simulation.read_ahead(logged, perf_counter() + _READING):
                simulation.go_to(shown, since)
