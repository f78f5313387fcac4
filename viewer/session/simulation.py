"""Advances simulated time, and nothing else: a run is a simulation with a source of steps and, if wanted, a history."""

from collections.abc import Callable, Sequence
from enum import Enum, auto
from math import ceil, inf
from time import perf_counter
from typing import NamedTuple, Protocol

from ..assets import is_bundled
from ..channels.channel import Channels, Samples
from ..engines.abilities import ArrivedStep, StepKind
from ..engines.contract import Engine
from ..engines.logged_steps import LoggedSteps, StepExactness
from ..engines.steps import Step
from ..errors import ControlError, EngineError, LogEnd, SceneError, UnstableError
from ..render.view import View
from ..scene_files.scene import COMPILED
from .episodes import Episode, Episodes
from .history import History
from .pace import Pace

_READING = 0.015
"""Longest wall time in a frame for reading a log ahead [s]."""
FOREIGN_MODEL = "This model belongs to another program and is not changed: copy the element into its scene."
_BATCH = 20
"""Number of steps between two checks of the time budget."""


class Observer(Protocol):
    """Callbacks after every physics step, whichever source the step comes from."""

    def after_step(self, step: Step) -> None:
        """Handle a step of the shown environment. All observers get the same object, so that values are read once."""
        ...

    def after_reset(self, engine: Engine) -> None:
        """Handle a jump of the state: to the start, a keyframe, or another step, from which the run continues."""
        ...


class Player(Protocol):
    """Interface through which a source sees the session that plays its run."""

    @property
    def simulation(self) -> "Simulation": ...
    @property
    def pace(self) -> Pace: ...
    @property
    def view(self) -> View: ...
    @property
    def has_breaks(self) -> bool:
        """True if a break may stop the run at a step."""
        ...

    def take_steps(self, count: int) -> None:
        """Take steps with the inputs that the user has set."""
        ...

    def drag(self) -> None:
        """Move the body that the user drags in the paused scene along with the mouse."""
        ...

    @property
    def is_posed(self) -> bool:
        """True if the user has set the pose that is shown by hand."""
        ...


class Change(Enum):
    """Change that a user may want to make to a run."""

    SCENE = auto()
    """Another scene in place of the run's scene."""
    RESET = auto()
    SPEED = auto()
    KEYFRAME = auto()
    """Start from a keyframe."""
    CONTROLS = auto()
    """Controls, poses and mocap bodies."""
    ENGINE = auto()
    """Another engine that steps the same scene."""
    PULL = auto()
    """Pull a body with the mouse."""
    SENSORS = auto()
    """Contact sensors of the running scene."""
    PAIRS = auto()
    """Pairs of bodies of the running scene that collide."""
    FILE = auto()
    """The scene's file."""


class StatusPart(NamedTuple):
    """A part of the status line."""

    text: str
    tooltip: str = ""
    is_warning: bool = False


class StepSource:
    """Source of the steps of a run. This one steps an engine, driven by its controller or by a user."""

    exactness: StepExactness | None = None
    """Exactness of each re-simulated step; None where steps are taken here or arrive from a loop."""
    first_number = 0
    """Index in `exactness` of the first step of the history."""
    continues_from_shown = True
    """True if playing on continues from the shown step, False if from the newest, as steps come meanwhile."""
    replays = False
    """True if the same steps come again when the scene is opened again."""
    watches_all = False
    """True if the run was saved while all contacts were watched."""
    duration: float | None = None
    """Simulated time from the first state to the last [s]; None for a run without an end."""
    channels: Sequence[Samples] = ()
    """Values of the channels in the file."""
    notes: tuple[str, ...] = ()
    """Notices for the user about the file that the steps come from."""
    reads_ahead = False
    """True if steps beyond the shown one are being read."""
    finished = False
    """True if there are no more steps."""

    name = ""
    """Name of the file that the steps come from; empty if they come from no file."""

    def __init__(self, engine: Engine) -> None:
        self.engine = engine
        """Engine with the data of all environments after each step."""
        self._paused = False

    @property
    def paused(self) -> bool:
        """True if no steps are taken; a user's loop then waits."""
        return self._paused

    @paused.setter
    def paused(self, paused: bool) -> None:
        self._paused = paused

    def stop(self) -> None:
        """Pause because a step failed."""
        self.paused = True

    @property
    def quiet(self) -> bool:
        """True if no step will come until the user does something."""
        return self.paused

    @property
    def environments(self) -> int:
        """Number of environments, of which one is shown."""
        return self.engine.num_envs

    def why_not(self, change: Change) -> str | None:
        """Return why something cannot be changed in this run, as a sentence; None if it can."""
        path = self.engine.path
        if change in (Change.SENSORS, Change.PAIRS):
            if path is None:
                return FOREIGN_MODEL
            if path.suffix.lower() in COMPILED:
                return "A compiled model cannot be changed: copy the element into its MJCF."
            if not self.engine.can_edit_sensors:
                name, what = (
                    self.engine.name.split()[0],
                    "sensors" if change is Change.SENSORS else "<exclude> elements",
                )
                return f"{name} reads {what} only from the file: save them, and the scene is reloaded."
        elif change is Change.FILE:
            if path is None or path.suffix.lower() in COMPILED:
                return "The scene has no file to write into: copy the element"
            if path.suffix.lower() == ".urdf":
                return "URDF has no sensors: copy the element into an MJCF file"
            if is_bundled(path):
                return "Bundled scenes are not changed: copy the element into your own scene"
        return None

    def exactness_of(self, step: int) -> tuple[str, bool] | None:
        """Return the exactness of a step in words, and whether its forces are in doubt; None if exact or taken here."""
        return None

    def summary(self) -> str:
        """Return in words how exactly the steps so far were re-simulated; empty where none were."""
        return ""

    def status(self, player: Player) -> list[StatusPart]:
        """Return who takes the steps now and how fast, for the status line."""
        pace = player.pace
        if self.paused and player.is_posed:
            return [StatusPart(posed_text(player.simulation.shown), is_warning=True)]
        if self.paused:
            return [StatusPart("paused")]
        if pace.behind or pace.achieved < 0.9 * pace.speed:
            slow = "The simulation is slower than this speed; steps are dropped so that the window stays responsive"
            return [StatusPart(f"{pace.achieved:.2f}x real time, cannot keep up", slow, is_warning=True)]
        return [StatusPart(f"{pace.achieved:.2f}x real time")]

    def begin(self, history: History | None) -> None:
        """Begin a history with the engine's present state."""

    def advance(self, player: Player, budget: float) -> None:
        """Bring the steps that are due in a frame to the simulation, for at most `budget` seconds of wall time."""
        if self.paused:
            player.pace.restart()
            player.drag()
            return
        player.simulation.begin_frame()

        def take_steps(count: int) -> None:
            # A break may have paused the run in this frame.
            if not self.paused:
                player.take_steps(count)

        player.pace.advance(take_steps, self.engine.timestep, budget)

    def step_once(self, player: Player) -> None:
        """Take the next step of a paused run."""
        player.simulation.begin_frame()
        player.take_steps(1)

    def step(self, simulation: "Simulation", count: int, drive: Callable[[], object] | None) -> None:
        """Take steps at once: see `Simulation.step`."""
        if simulation.history is not None and not simulation.history.at_end:
            simulation.resume()
        engine, history, observers = self.engine, simulation.live_history, simulation.observers
        drive = drive or engine.driver()
        if history is not None:
            drive = history.prepare(drive)
            simulation.count = history.last
        take_step, record = engine.stepper(drive), _do_nothing if history is None else history.record
        try:
            for _ in range(count):
                take_step()
                record()
                simulation.count += 1
                if observers:
                    simulation.changes += 1
                    simulation.hand_over()
                    if simulation.halted:
                        break
        except (UnstableError, EngineError) as error:
            simulation.recover(error)
            raise
        finally:
            simulation.changes += 1
        if history is not None:
            history.finish()

    def hold(self, simulation: "Simulation") -> bool:
        """Stop at the step of a break; return False if the run was stopped before."""
        simulation.halt()
        self.paused = True
        return True

    def resume(self, history: History) -> bool:
        """Continue from the shown step, which is not the newest; return True if the state jumped to that step."""
        history.resume()
        return history.can_resume

    def reset(self, simulation: "Simulation", key: str | None) -> None:
        """Return to the start, or to a keyframe."""
        self.engine.reset(key)
        simulation.restart()

    def environment(self, simulation: "Simulation") -> int:
        """Return the number of the environment that is shown."""
        return simulation.shown_env

    def show_environment(self, simulation: "Simulation", env: int) -> None:
        """Show another environment."""
        simulation.show(env)

    def successor(self, engine: Engine) -> "StepSource":
        """Return a source of the run for another engine, on the same scene or on another scene."""
        return source_of(engine)

    def attach(self) -> None:
        """Start to receive steps: this source has replaced another one, and its run is ready."""


class LogSteps(StepSource):
    """Steps of a saved run or a log, re-simulated once, ahead of what is shown.

    While there are breaks nothing is read ahead: each step is then re-simulated when it is played, so that a break
    stops at it.
    """

    replays = True

    def __init__(self, engine: Engine, logged: LoggedSteps) -> None:
        super().__init__(engine)
        self.recorded = logged
        """Steps of the file, with the exactness of each."""
        self.name = logged.path.name
        self.exactness = logged.exactness
        self.watches_all = logged.watches_all
        self.channels = logged.channels
        self.duration, self.notes = logged.duration, logged.notes
        self._time = 0.0
        """Simulated time that is due to be shown [s]; the log may have no step at that time."""
        self._shown: tuple[int, float] | None = None
        """Step and time that were shown last."""
        self.reads_ahead = True
        logged.next_step()

    @property
    def finished(self) -> bool:  # type: ignore[override]
        return self.recorded.done

    def why_not(self, change: Change) -> str | None:
        if change is Change.KEYFRAME:
            return f"{self.name} replays recorded steps: it cannot start from a keyframe"
        if change is Change.PAIRS:
            return f"{self.name} replays recorded steps: its contacts cannot be changed."
        if change in (Change.CONTROLS, Change.PULL, Change.ENGINE):
            return f"{self.name} drives the scene: values can be seen, but not changed."
        return super().why_not(change)

    def exactness_of(self, step: int) -> tuple[str, bool] | None:
        exactness, number = self.recorded.exactness, step + self.first_number
        return None if exactness.is_exact(number) else (exactness.describe(number), exactness.is_doubtful(number))

    def summary(self) -> str:
        return f"{self.name}: {self.recorded.summary()}"

    def status(self, player: Player) -> list[StatusPart]:
        logged, history, text = self.recorded, player.simulation.history, self.name
        if not self.finished:
            read = 0.0 if history is None else history.time(history.last) - logged.start
            text += f", {100 * read / max(logged.duration, 1e-12):.0f} % read"
        state = "paused" if self.paused else f"{player.pace.achieved:.2f}x real time"
        parts = [StatusPart(f"{text}, {state}", "Steps of this file, re-simulated and compared with it")]
        exactness = logged.exactness
        if exactness.first is not None:
            inexact = [f"{exactness.close} steps close"] if exactness.close else []
            inexact += [f"{exactness.unknown} not reached"] if exactness.unknown else []
            parts.append(StatusPart(f", {', '.join(inexact)}", self.recorded.summary(), is_warning=True))
        return parts

    def begin(self, history: History | None) -> None:
        self.first_number = len(self.recorded.exactness) - 1
        if history is not None:
            history.starts_with_forces = self.recorded.exactness.forces_known(self.first_number)

    def advance(self, player: Player, budget: float) -> None:
        simulation = player.simulation
        history = simulation.history
        if history is None:
            super().advance(player, budget)
            return
        try:
            if self.paused:
                player.pace.restart()
            else:
                self._play(simulation, history, player, budget)
        finally:
            self.reads_ahead = not (self.finished or player.has_breaks or history.full)
            if self.reads_ahead:
                self._read_ahead(simulation, history)

    def step(self, simulation: "Simulation", count: int, drive: Callable[[], object] | None) -> None:
        """Re-simulate the steps within the time of `count` steps, at least one. Raises LogEnd if none is left."""
        simulation.resume()
        until = simulation.shown.time + (count - 0.5) * simulation.shown.timestep
        while not simulation.halted and simulation.shown.time < until:
            step = self.recorded.next_step()
            if step is None:
                raise LogEnd(f"{self.name} ends here")
            simulation.observe(step)

    def resume(self, history: History) -> bool:
        step = self.recorded.boundary(history.current + self.first_number) - self.first_number
        if step < history.first:
            history.go_to(history.last)
            return False
        history.go_to(step)
        self.recorded.go_back(step + self.first_number)
        return super().resume(history)

    def reset(self, simulation: "Simulation", key: str | None) -> None:
        """Return to the oldest step that is kept."""
        if simulation.history is not None:
            simulation.go_to(simulation.history.first)

    def _play(self, simulation: "Simulation", history: History, player: Player, budget: float) -> None:
        """Show the step that is due. Raises LogEnd after the last."""
        shown = simulation.shown
        if self._shown != (history.current, shown.time):
            self._time = shown.time
        timestep = shown.timestep
        self._time += timestep * player.pace.advance(lambda count: None, timestep, budget)
        if self._time - shown.time > 0.5 * timestep:
            if history.at_end and self.finished:
                raise LogEnd(f"{self.name} ends here")
            breaks = player.has_breaks
            if not breaks and (step := history.step_at(self._time)) > history.current:
                simulation.go_to(step, history.current)
            if breaks or (history.at_end and not self.finished):
                self._resimulate_due(simulation, history, budget)
        self._shown = history.current, shown.time

    def _resimulate_due(self, simulation: "Simulation", history: History, budget: float) -> None:
        """Re-simulate the steps that are due."""
        shown, until = simulation.shown, perf_counter() + budget
        if history.at_end:
            history.begin_frame()
        while (due := round((self._time - shown.time) / shown.timestep)) > 0:
            simulation.step(min(due, _BATCH))
            if simulation.halted or perf_counter() > until:
                self._time = shown.time

    def _read_ahead(self, simulation: "Simulation", history: History) -> None:
        """Add steps beyond the shown one to the end of the history, for `_READING` seconds or until it is full."""
        shown, since, until = history.current, history.frame_start, perf_counter() + _READING
        added = False
        while not self.finished and not history.full and perf_counter() < until:
            if (step := self.recorded.next_step()) is not None:
                simulation.observe(step)
                added = True
        if added:
            simulation.go_to(shown, since)


def source_of(engine: Engine) -> StepSource:
    """Return the source of an engine: the saved run or log that it was opened with, else the engine's own steps."""
    return StepSource(engine) if engine.log is None else LogSteps(engine, engine.resimulate(engine.log))


def posed_text(engine: Engine) -> str:
    """Return the status text of a pose that was set by hand."""
    if engine.has_contact_list:
        return "Posed: forces appear after the next step"
    return f"Posed: {engine.name.split()[0]} finds contacts in steps only; shown are those of the last step"


class Simulation:
    """Run: a source whose every step is kept in the history, if there is one, and handed to all observers.

    Touch sensors need no entry among the observers: they belong to the engine, which feeds them in every step.
    """

    def __init__(
        self, source: StepSource | Engine, history_bytes: int | None = None, beside: Sequence["Simulation"] = ()
    ) -> None:
        """Show the first environment. Without `history_bytes` no history is kept."""
        self.source = source if isinstance(source, StepSource) else source_of(source)
        self.engine = self.source.engine
        """Engine with the data of all environments."""
        self.shown = self.engine.environment(0)
        """Engine of the environment that is shown, kept and observed."""
        self.beside = list(beside)
        """Runs beside, which are kept at the simulated time of this run."""
        self.guest = False
        """True for a run beside that has another scene or other values: changes to the shown run do not apply to it."""
        self.label = ""
        """Name of a run beside; if empty, the name of its engine is shown."""
        self.lag = 0.0
        """Simulated time of this run beside when the shown run is at 0 [s]."""
        self.until = inf
        """Simulated time at which this run beside stops [s]."""
        self.ending = ""
        """Reason why this run has no more steps, in words; empty while it has some."""
        self.live_channels = Channels()
        """Channels of the present episode: of the run's program, of its model, and of files."""
        for samples in self.source.channels:
            self.live_channels.open(samples.channel, is_whole=True).extend(samples.times, samples.values)
        self.observers: list[Observer] = []
        self.live_history: History | None = None
        """Steps of the present episode; None where none are kept."""
        self.episodes = Episodes()
        """Episodes that have ended."""
        self.keeps_episodes = False
        """True if a reset keeps the episode that ends."""
        self.episode: Episode | None = None
        """Ended episode of which a step is shown; None for the present one."""
        self.halted = False
        """True if an observer called `halt` in the last `step`."""
        self.halted_at: float | None = None
        """Simulated time at which a channel passed a limit, maybe before the newest step [s]; None without a pause."""
        self.shown_env = 0
        """Number of the environment that is shown."""
        self.steps = 0
        """Number of calls that took steps and of jumps to other states."""
        self.changes = 0
        """Number of changes of the shown instant: values that were read before the last change are stale."""
        self.count = 0
        """Number of the newest step in the history; without one, the number of steps since the run began."""
        self._step: Step | None = None
        """Step that was last handed over or requested."""
        self._step_changes = 0
        """Value of `changes` when `_step` was made."""
        self.keep_history(history_bytes)

    def keep_history(self, budget: int | None) -> None:
        """Keep the steps from now on, in `budget` bytes; none without a budget."""
        share = budget if budget is None or not self.beside else budget // 2
        self.episode = None
        self.episodes.clear()
        self.live_history = None if share is None else History(self.shown, share)
        self.source.begin(self.live_history)
        for run in self.beside:
            run.keep_history(None if share is None else share // len(self.beside))

    def limit_history(self, budget: int) -> None:
        """Keep only the newest steps that fit into `budget` bytes, from now on."""
        history = self.live_history
        if history is not None and history.budget > budget and history.shrink(budget):
            self.changes += 1

    @property
    def history(self) -> History | None:
        """Steps of the episode that is shown; None where none are kept."""
        return self.live_history if self.episode is None else self.episode.history

    @property
    def channels(self) -> Channels:
        """Channels of the episode that is shown."""
        return self.live_channels if self.episode is None else self.episode.channels

    @property
    def newest_episode(self) -> Episode | None:
        """Present episode; None where no steps are kept."""
        history = self.live_history
        return None if history is None else Episode(self.episodes.count + 1, history, self.live_channels)

    def show_episode(self, episode: Episode | None, step: int | None = None) -> None:
        """Show a step, by default the last, of an ended episode; for None of the present episode."""
        self.episode = episode
        if (history := self.history) is not None:
            self.go_to(history.last if step is None else step)

    def step(self, count: int = 1, drive: Callable[[], object] | None = None) -> None:
        """Take steps from the one that is shown; fewer if an observer calls `halt`.

        `drive` sets the inputs of each step in place of the engine's controller. Raises UnstableError or EngineError
        where a step, or the controller, fails. The newest step is then shown again where the engine can
        return to it; else the engine has restarted. For a log, see `LogSteps.step`.
        """
        self.halted = False
        self.steps += 1
        self.source.step(self, count, drive)
        for run in self.beside:
            run.keep_up(self.shown.time, ceil(count * self.shown.timestep / run.shown.timestep))

    def keep_up(self, time: float, most: int = 0) -> None:
        """Show the step of this run beside that belongs to a simulated time of the shown run [s]: a step of the
        history, or a new one after at most `most` steps. A run that fails or ends stays at its last step, with the
        reason in `ending`."""
        history, half, time = self.history, 0.5 * self.shown.timestep, time + self.lag
        if history is not None and history.time(history.last) > time + half:
            if (step := history.step_at(time)) != history.current:
                self.go_to(step)
            return
        if history is not None and not history.at_end:
            self.go_to(history.last)
        due = min(round((min(time, self.until) - self.shown.time) / self.shown.timestep), most)
        if due > 0 and not self.ending:
            try:
                self.step(due)
            except (UnstableError, SceneError) as error:
                ends = "ends" if isinstance(error, LogEnd) else "fails"
                self.ending = f"{ends} at {self.shown.time:.6g} s" + (f": {error}" if ends == "fails" else "")

    @property
    def title(self) -> str:
        """Name of this run beside."""
        return self.label or self.engine.name

    def is_at(self, time: float) -> bool:
        """Return True if this run beside is at the step that belongs to a simulated time of the shown run [s]."""
        return abs(self.shown.time - self.lag - time) <= 0.5 * self.shown.timestep

    @property
    def newest_time(self) -> float:
        """Simulated time of the newest step [s]."""
        return self.shown.time if self.history is None else self.history.time(self.history.last)

    def _is_behind(self, time: float) -> bool:
        """Return True if this run beside lacks steps up to a simulated time of the shown run [s], and can take them."""
        return not self.ending and min(time + self.lag, self.until) - self.newest_time > 0.5 * self.shown.timestep

    @property
    def has_late_runs(self) -> bool:
        """True if runs beside have not reached the time of this one."""
        return any(run._is_behind(self.newest_time) for run in self.beside)

    def catch_up(self, budget: float) -> None:
        """Step the runs beside up to the newest step of this one, for at most `budget` seconds of wall time, and let
        them show the time that this one shows."""
        newest, time, end = self.newest_time, self.shown.time, perf_counter() + budget
        for run in self.beside:
            while run._is_behind(newest) and perf_counter() < end:
                run.keep_up(newest, _BATCH)
            if not run.is_at(time):
                before = run.changes
                run.keep_up(time)
                self.changes += run.changes != before

    def observe(self, step: ArrivedStep) -> None:
        """Record a step that was taken elsewhere, and hand it to all observers: the engine is at that step.

        While a past step is shown, the history grows at its end; the caller then has to show that step again.
        """
        self.changes += 1
        self.halted = False
        history = self.live_history
        if history is not None and not history.can_resume and not (history.at_end and self.episode is None):
            # The environment otherwise reads the past step that it shows.
            history.go_to(history.last)
        if step.kind is StepKind.START:
            stays, known = history is not None and self.episode is None and not history.at_end, self.episodes.count
            self.restart(reason=step.trouble)
            if stays and self.episodes.count > known:
                self.episode = self.episodes[-1]
            history = self.live_history
        if step.kind in (StepKind.START, StepKind.MOVED):
            return
        touch = self.shown.touch_sensors
        if touch is not None:
            touch.after_step(self.shown)
        if history is not None:
            history.append(step)
        self.count = self.count + 1 if history is None else history.last
        self.hand_over()

    def hand_over(self) -> None:
        """Hand the newest step to all observers: the shown environment is at that step."""
        step = self._step = Step(self.shown, self.count)
        self._step_changes = self.changes
        for observer in self.observers:
            observer.after_step(step)

    @property
    def shown_step(self) -> Step:
        """Step that is shown: the object that observers got, as long as it is valid."""
        if self._step is None or self._step_changes != self.changes or self._step.time != self.shown.time:
            self._step = Step(self.shown, self.count if self.history is None else self.history.current)
            self._step_changes = self.changes
        return self._step

    def halt(self) -> None:
        """Take no more steps in this call of `step`."""
        self.halted = True

    def reset(self, key: str | None = None) -> None:
        """Return to the start, or to a keyframe; in a log, to the oldest step that is kept."""
        self.source.reset(self, key)
        for run in self.beside:
            if not run.guest:
                run.reset(key)
            elif run.source.why_not(Change.KEYFRAME) is None:
                run.reset(key if key in run.engine.keys else None)
            else:
                run.keep_up(self.shown.time)

    def restart(self, after: tuple[History, int] | None = None, reason: str = "") -> None:
        """Begin an episode with the engine's present state, and notify all observers.

        The episode before is kept if `keeps_episodes` is set. `after`: see `History.start`. `reason`: why the episode
        before ended, if not by a reset.
        """
        history = self.live_history
        if history is not None:
            if self.keeps_episodes and after is None and history.last > history.first:
                self.episodes.end(history, self.live_channels, reason)
            history.start(after)
        self.count = 0 if history is None else history.last
        self.ending = ""
        self.live_channels.clear()
        self.changes += 1
        self.steps += 1
        self._notify_reset()

    def begin_frame(self) -> None:
        """Count the steps from now on as those of the next frame."""
        if self.history is not None:
            self.history.begin_frame()

    def go_to(self, step: int, since: int | None = None) -> None:
        """Show a step of the history; `step` continues from there, if the engine can. `since`: see `History.go_to`."""
        if self.history is not None:
            self.history.go_to(step, since)
            self.changes += 1
            self.steps += 1
            for run in self.beside:
                run.keep_up(self.shown.time)

    def resume(self) -> None:
        """Continue from the step that is shown and forget those after it; from the newest if the engine cannot."""
        if self.episode is not None:
            self._resume_ended()
            return
        history = self.history
        if history is not None and not history.at_end and self.source.resume(history):
            self.channels.truncate(self.shown.time)
            self._notify_reset()

    def _resume_ended(self) -> None:
        """Begin an episode with the shown state of an ended one, if the engine can return to it; else continue with the
        newest step."""
        history, live = self.history, self.live_history
        assert history is not None
        assert live is not None
        self.episode = None
        if not (history.can_resume and self.source.continues_from_shown):
            self.go_to(live.last)
            return
        # Applied forces come from a drag with the mouse, which has ended since.
        self.shown.past.release()
        self.restart()

    def show(self, env: int) -> None:
        """Show another environment. A new history begins, of that environment."""
        if env == self.shown_env:
            # Also in a scene with one environment: its past stays.
            return
        self.shown = self.engine.environment(env)
        self.shown_env = env
        self.changes += 1
        if self.live_history is not None:
            self.episode = None
            self.episodes.clear()
            self.live_history = History(self.shown, self.live_history.budget)

    def recover(self, error: UnstableError | EngineError) -> None:
        """Return to the newest step after a failed step, if the engine can."""
        if self.live_history is None:
            return
        if self.live_history.can_resume:
            self.live_history.recover()
            if isinstance(error, UnstableError):
                error.outcome = "this is the last step before"
        elif not isinstance(error, ControlError):
            self.restart()

    def _notify_reset(self) -> None:
        for observer in self.observers:
            observer.after_reset(self.shown)


def _do_nothing() -> None:
    """Do nothing, in place of keeping a step."""
