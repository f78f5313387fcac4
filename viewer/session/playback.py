"""Plays one open scene: at a pace, step by step, or back in its history, whichever source its steps come from."""

from collections.abc import Callable

import numpy as np

from ..engines.contract import Engine
from ..errors import EngineError, UnstableError
from ..events.tracker import ContactTracker
from ..render.view import View
from ..settings import MAX_HISTORY_MEGABYTES, MAX_SPEED, MIN_SPEED, ViewState
from .drive import Drive
from .history import History
from .pace import Pace
from .simulation import Change, Simulation, StepSource

SPEEDS = (0.01, 0.02, 0.05, 0.1, 0.2, 0.5, 1.0, 2.0, 5.0, 10.0)
"""Speeds that the slower and faster keys walk through."""


class Playback:
    """A run that a user plays, pauses, steps and looks back in. Fulfils `simulation.Player`."""

    def __init__(self, simulation: Simulation, settings: ViewState) -> None:
        self.simulation = simulation
        self.settings = settings
        self.view = View(simulation.engine.model)
        """The camera, and the body that a hand pulls."""
        self.drive = Drive(simulation)
        """Controls and poses, as far as a person changes them."""
        self.env = 0
        """Number of the environment that is shown."""
        self.pace = Pace()
        self.trouble: str | None = None
        """Why the simulation was stopped, to show to a person."""
        self.events: ContactTracker | None = None
        """When contacts begin and end, once `track_events` was called."""
        self.key: str | None = None
        """Keyframe that a reset returns to; the scene's start without one."""

    @property
    def engine(self) -> Engine:
        """Reads the environment that is shown."""
        return self.simulation.shown

    @property
    def history(self) -> History | None:
        """Every step so far; None where none are kept."""
        return self.simulation.history

    @property
    def source(self) -> StepSource:
        """Where the steps come from."""
        return self.simulation.source

    @property
    def beside(self) -> list[Simulation]:
        """Further runs of the same scene, of which only the contacts are shown."""
        return self.simulation.beside

    def why_not(self, change: Change) -> str | None:
        """Return why something cannot be changed in this run or in those beside it, as a sentence; None if it can."""
        reasons = (run.source.why_not(change) for run in (self.simulation, *self.beside))
        return next((reason for reason in reasons if reason is not None), None)

    @property
    def num_envs(self) -> int:
        """Number of environments, of which one is shown."""
        return self.source.environments

    @property
    def paused(self) -> bool:
        """True if no steps are taken; a user's loop then waits."""
        return self.source.paused

    @paused.setter
    def paused(self, paused: bool) -> None:
        self.source.paused = paused

    @property
    def live(self) -> bool:
        """True if the newest step is shown."""
        return self.history is None or self.history.at_end

    @property
    def shows_inexact_step(self) -> bool:
        """True if the step that is shown was taken elsewhere and could not be re-simulated exactly."""
        return self.history is not None and self.history.current in self.history.marks

    @property
    def verdict(self) -> tuple[str, bool] | None:
        """How exactly the step of a log that is shown was re-simulated, in words, and True if its forces are in doubt;
        None if it is exact, or no log's."""
        return self.source.verdict(self.history.current) if self.history is not None else None

    @property
    def is_posed(self) -> bool:
        """True if the user has set the pose that is shown by hand."""
        return self.drive.is_posed

    @property
    def has_breaks(self) -> bool:
        """True if a break may stop the run at a step."""
        return self.events is not None and any(each.enabled for each in self.events.breaks)

    def advance(self, budget: float) -> None:
        """Take or show the steps that are due, for at most `budget` seconds of wall time."""
        self._attempt(lambda: self.source.advance(self, budget))

    def drag(self) -> None:
        """Let what the user drags in the paused scene follow the mouse."""
        self.drive.drag(self.view)

    def track_events(self) -> None:
        """Find contact events from now on, after every step."""
        self.events = ContactTracker(self.engine)
        self.events.on_break = self._break
        self.simulation.observers.append(self.events)

    def keep_history(self) -> None:
        """Keep every step from now on, within the memory that the settings allow."""
        self.simulation.keep_history(round(self.settings.history_megabytes * 2**20))

    def set_history(self, megabytes: float) -> None:
        """Allow the history another amount of memory; it starts again."""
        self.settings.history_megabytes = min(max(megabytes, 1.0), MAX_HISTORY_MEGABYTES)
        self.keep_history()

    def step_once(self) -> None:
        """Pause and take one step, or show the next one of the history. Of a user's loop, let one step through."""
        self.paused = True
        if self.history is not None and not self.history.at_end:
            self.go_to(self.history.current + 1)
        else:
            self._attempt(lambda: self.source.step_once(self))

    def run_to(self, time: float) -> None:
        """Pause, and take steps at once up to a simulated time [s]."""
        self.paused = True
        count = round((time - self.engine.time) / self.engine.timestep)
        if count > 0:
            self._attempt(lambda: self.take_steps(count))

    def step_back(self) -> None:
        """Pause and show the step before."""
        if self.history is not None:
            self.go_to(self.history.current - 1)

    def go_to(self, step: int, since: int | None = None) -> None:
        """Pause and show a step of the history. `since`: see `History.go_to`. A user's loop goes on meanwhile."""
        if self.history is not None:
            self.paused = self.paused or self.source.continues_from_shown
            self.simulation.go_to(step, since)

    def go_to_event(self, direction: int) -> None:
        """Pause and show the next (1) or the previous (-1) event."""
        if self.events is None or self.history is None:
            return
        time, half = self.engine.time, 0.5 * self.engine.timestep
        log = self.events.log
        entry = log.following(time + half) if direction > 0 else log.preceding(time - half)
        if entry is not None:
            self.go_to_time(entry.seen)

    def go_to_time(self, time: float) -> None:
        """Pause and show the step of a simulated time."""
        if self.history is not None:
            self.go_to(self.history.step_at(time))

    def reset(self, key: str | None = None) -> None:
        """Return to the start, to a keyframe, or to the one chosen last, where the source can be reset."""
        if self.why_not(Change.RESET) is not None:
            return
        self.key = key if key is not None else self.key
        self.simulation.reset(self.key)
        self.drive.after_reset()
        self.view.end_perturb()
        self.trouble = None
        self.pace.restart()

    def show_environment(self, env: int) -> None:
        """Show another environment; past the last comes the first."""
        self.view.end_perturb()
        self.env = env % self.num_envs
        self.source.show_environment(self.simulation, self.env)

    def toggle_paused(self) -> None:
        """Pause or play on: from the step that is shown, or from the newest where the source has gone on."""
        self.trouble = None
        if self.source.finished and self.live and self.paused:
            # Once more from the beginning.
            self.reset()
        if self.live or self.source.continues_from_shown:
            self.paused = not self.paused
            return
        self.paused = False
        assert self.history is not None
        self.simulation.go_to(self.history.last)

    def set_speed(self, speed: float) -> None:
        self.pace.speed = min(max(speed, MIN_SPEED), MAX_SPEED)

    def change_speed(self, direction: int) -> None:
        """To the next slower (-1) or faster (+1) of SPEEDS."""
        nearest = int(np.argmin(np.abs(np.log(np.array(SPEEDS) / self.pace.speed))))
        self.set_speed(SPEEDS[min(max(nearest + direction, 0), len(SPEEDS) - 1)])

    def take_steps(self, count: int = 1) -> None:
        """Take steps at once with the inputs that the user has set, from the step that is shown."""
        self.simulation.resume()
        self.view.apply_perturb(self.engine.model, self.engine.data, paused=False)
        self.simulation.step(count, self.drive.driver())

    def _break(self, reason: str) -> None:
        """Pause at the step that a break asks for."""
        if self.source.hold(self.simulation):
            self.trouble = f"paused: {reason}"

    def _attempt(self, action: Callable[[], object]) -> None:
        try:
            action()
            trouble = self.simulation.engine.warning()
        except (UnstableError, EngineError) as error:
            trouble = str(error)
        if trouble is not None:
            self.paused = True
            self.trouble = trouble
