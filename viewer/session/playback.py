"""Plays one open scene: at a pace, step by step, or back in its history, whoever takes the steps."""

from collections.abc import Callable

import numpy as np

from ..engines.contract import Engine
from ..engines.logged_steps import LoggedSteps
from ..errors import EngineError, UnstableError
from ..events.tracker import ContactTracker
from ..render.view import View
from ..settings import MAX_HISTORY_MEGABYTES, MAX_SPEED, MIN_SPEED, ViewState
from .drive import Drive
from .history import History
from .log_playback import LogPlayback
from .loop import Loop, LoopSteps
from .pace import Pace
from .simulation import Simulation

SPEEDS = (0.01, 0.02, 0.05, 0.1, 0.2, 0.5, 1.0, 2.0, 5.0, 10.0)
"""Speeds that the slower and faster keys walk through."""


class Playback:
    """A simulation that a person plays, pauses, steps and looks back in."""

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
        self.loop: Loop | None = None
        """The user's loop that takes the steps; None if the session takes them itself."""
        self._paused = False
        self._loop_steps = LoopSteps()
        self._log = LogPlayback()
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
    def ghost(self) -> Engine | None:
        """A second engine on the same scene, of which only the contacts are shown."""
        return self.simulation.ghost

    @property
    def history(self) -> History | None:
        """Every step so far; None where none are kept."""
        return self.simulation.history

    @property
    def logged(self) -> LoggedSteps | None:
        """The steps of a saved run or a log that are taken again; None if the session takes its own."""
        return self.simulation.engine.logged

    @property
    def num_envs(self) -> int:
        """Environments of which one is shown."""
        return self.simulation.engine.num_envs if self.loop is None else self.loop.environments

    @property
    def stepped_outside(self) -> bool:
        """True if a user's loop takes the steps."""
        return self.loop is not None

    @property
    def is_fixed(self) -> bool:
        """True if the steps are not ours to change: those of a user's loop, of a saved run or of a log."""
        return self.stepped_outside or self.logged is not None

    @property
    def paused(self) -> bool:
        """True if no steps are taken; a user's loop then waits."""
        return self._paused if self.loop is None else self.loop.paused

    @paused.setter
    def paused(self, paused: bool) -> None:
        if self.loop is None:
            self._paused = paused
        else:
            self.loop.paused = paused

    @property
    def live(self) -> bool:
        """True if the newest step is shown."""
        return self.history is None or self.history.at_end

    @property
    def shows_inexact_step(self) -> bool:
        """True if the step that is shown was taken elsewhere and could not be taken again exactly."""
        return self.history is not None and self.history.current in self.history.marks

    @property
    def log_verdict(self) -> tuple[str, bool] | None:
        """What is known of the step of a log that is shown, for a person, and True if its forces are in doubt; None if
        it is exact, or no log's."""
        history, logged = self.history, self.logged
        if history is None or logged is None:
            return None
        step = history.current + self.simulation.log_start
        verdicts = logged.verdicts
        return None if verdicts.is_exact(step) else (verdicts.describe(step), verdicts.is_doubtful(step))

    def advance(self, budget: float) -> None:
        """Physics up to real time, for at most `budget` seconds of wall time; or the steps of a user's loop."""
        if self.loop is not None:
            loop = self.loop
            self._attempt(lambda: self._loop_steps.advance(loop, self.simulation, self.view, budget))
            return
        if self.logged is not None and self.history is not None:
            self._advance_logged(self.logged, budget)
            return
        if self.paused:
            self.pace.restart()
            self.drive.drag(self.view)
            return
        self._begin_frame()
        self._attempt(lambda: self.pace.advance(self._step_on, self.engine.timestep, budget))

    def _advance_logged(self, logged: LoggedSteps, budget: float) -> None:
        """Play a log, and read it ahead."""
        if self.paused:
            self.pace.restart()
        else:
            breaks = self._has_breaks
            self._attempt(lambda: self._log.play(self.simulation, logged, self.pace, budget, breaks))
        if self.reads_ahead:
            self._log.read_ahead(self.simulation, logged)

    @property
    def reads_ahead(self) -> bool:
        """True if steps of a log are being read beyond the one that is shown."""
        history, logged = self.history, self.logged
        return history is not None and logged is not None and not (logged.done or self._has_breaks or history.full)

    @property
    def _has_breaks(self) -> bool:
        return self.events is not None and any(each.enabled for each in self.events.breaks)

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
        elif self.loop is not None:
            self._loop_steps.let_one_through(self.loop)
        else:
            self._begin_frame()
            self._attempt(lambda: self._step(1))

    def run_to(self, time: float) -> None:
        """Pause, and take steps at once up to a simulated time [s]."""
        self.paused = True
        count = round((time - self.engine.time) / self.engine.timestep)
        if count > 0:
            self._attempt(lambda: self._step(count))

    def step_back(self) -> None:
        """Pause and show the step before."""
        if self.history is not None:
            self.go_to(self.history.current - 1)

    def go_to(self, step: int, since: int | None = None) -> None:
        """Pause and show a step of the history. `since`: see `History.go_to`. A user's loop goes on meanwhile."""
        if self.history is not None:
            self.paused = self.paused or self.loop is None
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
        """Back to the start, to a keyframe, or to the one chosen last. A user's loop is never reset."""
        if self.loop is not None:
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
        if self.loop is not None:
            self.loop.show_environment(self.env)
        else:
            self.simulation.show(self.env)

    def toggle_paused(self) -> None:
        """Pause or go on. With a user's loop, from a past step, go on with the newest."""
        self.trouble = None
        if self.logged is not None and self.logged.done and self.live and self.paused:
            # Once more from the beginning.
            self.reset()
        if self.loop is None or self.live:
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

    def _begin_frame(self) -> None:
        if self.history is not None:
            self.history.begin_frame()

    def _step_on(self, count: int) -> None:
        """Take steps unless a break has paused the simulation in this frame."""
        if not self.paused:
            self._step(count)

    def _step(self, count: int) -> None:
        self.simulation.resume()
        self.view.apply_perturb(self.engine.model, self.engine.data, paused=False)
        self.simulation.step(count, self.drive.driver())

    def _break(self, reason: str) -> None:
        """Pause at the step that a break asks for."""
        if self.loop is not None and self.paused:
            # What the loop did before it came to wait.
            return
        self.simulation.halt()
        self.paused = True
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
