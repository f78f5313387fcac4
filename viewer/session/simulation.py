"""Advances time, alone: steps an engine, or observes steps that were taken elsewhere."""

from collections.abc import Callable
from time import perf_counter
from typing import Protocol

from ..engines.abilities import ArrivedStep, StepKind
from ..engines.contract import Engine
from ..engines.logged_steps import LoggedSteps
from ..errors import ControlError, EngineError, LogEnd, UnstableError
from .history import History


class Observer(Protocol):
    """Is called after every physics step, taken here or elsewhere."""

    def after_step(self, engine: Engine) -> None:
        """A step was taken; the engine, or the environment that is shown of it, is at it."""
        ...

    def after_reset(self, engine: Engine) -> None:
        """The state jumped: to the start, a keyframe, or another step, from which the simulation continues."""
        ...


class Simulation:
    """An engine whose every step is kept in the history, if there is one, and shown to all observers.

    Touch sensors need no entry among the observers: they belong to the engine, which feeds them in every step.
    """

    def __init__(self, engine: Engine, ghost: Engine | None = None, history_bytes: int | None = None) -> None:
        """Of several environments the first is shown. Without `history_bytes` no history is kept."""
        self.engine = engine
        """Runs all environments."""
        self.shown = engine.environment(0)
        """The environment that is shown, kept and observed."""
        self.ghost = ghost
        """A second engine on the same scene that is stepped along."""
        self.observers: list[Observer] = []
        self.history: History | None = None
        self.halted = False
        """True if an observer called `halt` in the last `step`."""
        self.shown_env = 0
        """Number of that environment."""
        self.steps = 0
        """Counts the runs of steps that were taken, and the jumps to other states."""
        self.changes = 0
        """Counts how often another instant came to be shown: what was read before is then out of date."""
        self.log_start = 0
        """The step of a log with which the history begins."""
        if engine.logged is not None and not len(engine.logged.verdicts):
            engine.logged.take()
        self.keep_history(history_bytes)

    def keep_history(self, budget: int | None) -> None:
        """Keep the steps from now on, in `budget` bytes; none without a budget."""
        self.history = None if budget is None else History(self.shown, budget)
        logged = self.engine.logged
        if logged is not None:
            self.log_start = len(logged.verdicts) - 1
            if self.history is not None:
                self.history.starts_with_forces = logged.verdicts.forces_known(self.log_start)

    def step(self, count: int = 1, drive: Callable[[], object] | None = None) -> None:
        """Take steps from the one that is shown; fewer if an observer calls `halt`.

        `drive` sets the inputs of each step in place of the engine's controller. Raises UnstableError or EngineError
        where a step, or the controller, fails. The newest step is then shown again where the engine can
        return to it; else the engine has started again. The steps of a log are those that end within the time of
        `count` steps, at least one; raises LogEnd where there is none left.
        """
        if self.engine.logged is not None:
            self._step_logged(self.engine.logged, count)
            return
        history, engine, shown, ghost, observers = self.history, self.engine, self.shown, self.ghost, self.observers
        self.halted = False
        self.steps += 1
        if history is not None and not history.at_end:
            self.resume()
        drive = drive or engine.driver()
        if history is not None:
            drive = history.prepare(drive)
        take, record = engine.stepper(drive), _do_nothing if history is None else history.record
        try:
            for _ in range(count):
                take()
                record()
                if observers or ghost is not None:
                    self.changes += 1
                    if ghost is not None:
                        ghost.step()
                    for observer in observers:
                        observer.after_step(shown)
                    if self.halted:
                        break
        except (UnstableError, EngineError) as error:
            self._recover(error)
            raise
        finally:
            self.changes += 1
        if history is not None:
            history.finish()

    def observe(self, step: ArrivedStep) -> None:
        """Record and show to all observers a step that was taken elsewhere: the engine is at it.

        While a past step is shown, the history grows at its end, and whoever shows that step has to show it again.
        """
        self.changes += 1
        self.halted = False
        if step.kind is StepKind.START:
            self.restart()
        if step.kind in (StepKind.START, StepKind.MOVED):
            return
        touch = self.shown.touch_sensors
        if touch is not None:
            touch.after_step(self.shown)
        if self.history is not None:
            self.history.append(step)
        for observer in self.observers:
            observer.after_step(self.shown)

    def read_ahead(self, logged: LoggedSteps, until: float) -> bool:
        """Add steps of a log at the end of the history until a time of `perf_counter` [s], as many as it has room for.
        True if there were any: the step that was shown has to be shown again."""
        history = self.history
        assert history is not None
        added = False
        while not logged.done and not history.full and perf_counter() < until:
            step = logged.take()
            if step is not None:
                self.observe(step)
                added = True
        return added

    def halt(self) -> None:
        """Take no more steps in this call of `step`."""
        self.halted = True

    def reset(self, key: str | None = None) -> None:
        """Return to the start, or to a keyframe; of a log, to the oldest step that is kept."""
        if self.engine.logged is not None:
            if self.history is not None:
                self.go_to(self.history.first)
            return
        self.engine.reset(key)
        if self.ghost is not None:
            self.ghost.reset(key)
        self.restart()

    def restart(self) -> None:
        """Begin a history with the engine's present state, and let all observers know."""
        if self.history is not None:
            self.history.start()
        self.changes += 1
        self.steps += 1
        self._notify_reset()

    def go_to(self, step: int, since: int | None = None) -> None:
        """Show a step of the history; `step` continues from there, if the engine can. `since`: see `History.go_to`."""
        if self.history is not None:
            self.history.go_to(step, since)
            self.changes += 1
            self.steps += 1

    def resume(self) -> None:
        """Continue from the step that is shown and forget those after it; from the newest if the engine cannot."""
        history, logged = self.history, self.engine.logged
        if history is not None and not history.at_end:
            if logged is not None:
                step = logged.boundary(history.current + self.log_start) - self.log_start
                if step < history.first:
                    history.go_to(history.last)
                    return
                history.go_to(step)
                logged.go_back(step + self.log_start)
            history.resume()
            if history.can_resume:
                self._notify_reset()

    def show(self, env: int) -> None:
        """Show another environment. The history is then one of that environment, from now on."""
        if env == self.shown_env:
            # As in a scene that has only one: its past stays.
            return
        self.shown = self.engine.environment(env)
        self.shown_env = env
        self.changes += 1
        if self.history is not None:
            self.history = History(self.shown, self.history.budget)

    def _step_logged(self, logged: LoggedSteps, count: int) -> None:
        """Take steps of a log again, for the time of `count` steps."""
        self.halted = False
        self.steps += 1
        self.resume()
        until = self.shown.time + (count - 0.5) * self.shown.timestep
        while not self.halted and self.shown.time < until:
            step = logged.take()
            if step is None:
                raise LogEnd(f"{logged.path.name} ends here")
            self.observe(step)

    def _recover(self, error: UnstableError | EngineError) -> None:
        if self.history is None:
            return
        if self.history.can_resume:
            self.history.recover()
            if isinstance(error, UnstableError):
                error.outcome = "this is the last step before"
        elif not isinstance(error, ControlError):
            self.restart()

    def _notify_reset(self) -> None:
        for observer in self.observers:
            observer.after_reset(self.shown)


def _do_nothing() -> None:
    """Keeps no step."""
