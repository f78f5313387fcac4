"""Runs beside the shown run: another scene, run, log or engine, and branches of its past; and their comparison."""

from collections.abc import Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, field
from pathlib import Path
from time import perf_counter
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np

from ..assets import bundled_control
from ..compare.branches import describe, edits_of, make_branch
from ..compare.comparison import Comparison, find_events, match_events
from ..compare.sides import HistorySide
from ..engines.contract import Engine
from ..engines.controller import Controller
from ..engines.controller_file import ControllerFile
from ..engines.registry import DEFAULT, ENGINES, open_engine, open_log
from ..errors import SceneError, did_you_mean
from ..files import printable
from ..metrics import OFF, ON, in_contact
from ..mjmodel.model_changes import CONSTANT, QUANTITIES, ModelChange
from ..scene_files.file_watch import FileWatch
from ..scene_files.log_files import LOG_SUFFIXES
from ..scene_files.run_file import SUFFIX as RUN_SUFFIX
from ..scene_files.safe_open import OpenedScene, Opening
from ..scene_files.scene import find_scene
from ..sensors.signals import Signal
from ..session.branch import Branch, follow, visiting
from ..session.session import Session
from ..session.simulation import Change, Simulation
from .controllers import Controllers
from .notices import Notices

if TYPE_CHECKING:
    from collections.abc import Iterator

    from ..scene_files.sensor_edits import SensorEdits

_MOST = 8
"""Largest number of runs and branches that are kept: they share the memory of one history."""
_OTHER_ENGINE = 1e-3
"""Tolerance between two engines: they never agree in every bit."""
_PAST = "the run before"
"""Name of the run that a branch has replaced."""
_LOOKS = 9
"""Number of past steps that are re-simulated to check that the model is still the same."""
_SLICE, _PART = 0.012, 0.3
"""Time that a comparison takes in a frame [s]; in longer frames, the part of the frame that it takes instead."""


class Source(NamedTuple):
    """Scene, engine and log of a run beside."""

    scene: Path
    engine: str
    log: Path | None = None


def read_source(text: str, shown: Path | None) -> Source:
    """Return the source that `scene`, `run.cvrun`, `log.npz`, `scene@motrix` or `motrix` names; a log or an engine
    alone uses the `shown` scene. Raises SceneError."""
    name, engine = text.strip(), DEFAULT
    if "@" in name and not Path(name).expanduser().exists():
        name, _, engine = name.rpartition("@")
    elif name in ENGINES:
        name, engine = "", name
    if not text.strip():
        raise SceneError("nothing to show beside: name a scene, saved run, log or engine")
    if engine.partition("==")[0] in ENGINES and "==" in engine:
        raise SceneError(f"{text}: a window has one version of MuJoCo: use `contact-viewer compare` for others")
    if engine not in ENGINES:
        raise SceneError(f"{text}: unknown engine {engine!r}: choose from {', '.join(ENGINES)}")
    log = Path(name).expanduser()
    is_log = log.suffix.lower() in LOG_SUFFIXES and log.suffix.lower() != RUN_SUFFIX
    if (is_log or not name) and shown is None:
        raise SceneError(f"{text}: the shown run has no scene file, which a log needs")
    if is_log and not log.is_file():
        raise SceneError(f"{log}: no such file")
    if is_log or not name:
        assert shown is not None
        return Source(shown, engine, log if is_log else None)
    return Source(find_scene(name), engine)


def open_source(
    source: Source, shown: Path | None, controllers: Controllers, scene: OpenedScene | None = None
) -> Engine:
    """Open a source to show beside a run; `scene`: the compiled scene, if it is compiled already. Raises SceneError."""
    path, is_own = source.scene, source.scene == shown
    control = None
    if source.log is None and path.suffix.lower() != RUN_SUFFIX and (is_own or bundled_control(path) is None):
        control = controllers.another()
    engine = open_engine(scene if scene is not None and source.engine == DEFAULT else path, source.engine, 1, control)
    if source.log is not None:
        open_log(engine, source.log)
    return engine


def make_guest(session: Session, engine: Engine, label: str) -> Simulation:
    """Return a run on an engine, without a history, that can be shown beside a session's run."""
    _watch_as(session, engine)
    shown = session.engine.path
    if shown is not None and engine.path not in (None, shown) and label == shown.name:
        label = f"{engine.path.parent.name}/{label}"
    run = Simulation(engine)
    run.guest, run.label = True, label
    if session.key is not None and session.key in engine.keys and run.source.why_not(Change.KEYFRAME) is None:
        run.reset(session.key)
    return run


def _watch_as(session: Session, engine: Engine) -> None:
    """Let an engine watch all contacts if the session does, and use the session's reduce modes."""
    watches = [any(sensor.virtual for sensor in each.sensors) for each in (session.engine, engine)]
    if watches == [True, False] and engine.can_watch_all:
        engine.watch_all()
    known = engine.sensors
    modes = {sensor.name: sensor.reduce for sensor in session.engine.sensors if known.has(sensor.name)}
    engine.set_reduce_modes({name: mode for name, mode in modes.items() if known[name].reduce is not mode})


@dataclass(eq=False)
class RunBeside:
    """Run that can be shown beside the session's run."""

    run: Simulation
    text: str = ""
    """Name of the source, as the user gave it; empty for a branch, and for the second engine of `--engine both`."""
    changes: tuple[ModelChange, ...] = ()
    """Values that a branch changes."""
    is_branch: bool = False
    start: float = 0.0
    """Simulated time at which a branch begins [s]."""
    link: tuple[str, int] | None = None
    """Sensor and number, from 1, of the touchdown by which both runs are aligned; None to align them by time."""
    notes: tuple[str, ...] = ()
    """Limits of a branch, as sentences: inexact steps, inputs that do not react."""
    watch: FileWatch | None = field(default=None, repr=False)

    @property
    def title(self) -> str:
        return self.run.title


class RunsBeside:
    """Runs and branches that can be shown beside the session's run, one at a time, and their comparison."""

    def __init__(
        self,
        session: Session,
        notices: Notices,
        edits: "SensorEdits",
        controllers: Controllers,
        watches: bool = True,
    ) -> None:
        """Prepare runs beside. `edits`: undo stack for changes saved into the scene. `watches`: True to reload changed
        files."""
        self._watches = watches
        self._session, self._notices, self._edits, self._controllers = session, notices, edits, controllers
        self.entries: list[RunBeside] = []
        self.shown: RunBeside | None = None
        """Run beside that is shown in the scene and in plots; None for none."""
        self.comparison: Comparison | None = None
        """Comparison of the steps that both runs have, as far as it has progressed."""
        self.trouble = ""
        """Reason why there is no comparison; empty if there is one."""
        self.tolerance: float | None = None
        """Largest ignored difference, as in `Judge`; None to compare bit for bit on one engine, within `_OTHER_ENGINE`
        on two."""
        self._opening: Opening[Engine] | None = None
        self._text = ""
        self._replaces: RunBeside | None = None
        self._work: Iterator[int] | None = None
        self._sides: tuple[HistorySide, HistorySide] | None = None
        self._compared: tuple[object, ...] = ()
        """State of both runs when the comparison was started."""
        self._rows: tuple[Comparison, tuple[int, int], list[dict[str, Any]]] | None = None
        self._wanted = self._jumps = False
        self._told: set[Simulation] = set()
        self._polled = perf_counter()

    # What is there

    def attach(self, session: Session, controllers: Controllers, same: bool) -> None:
        """Continue beside a session that replaces the previous one; `same`: True if both have the same scene."""
        self._session, self._controllers = session, controllers
        twins = [RunBeside(run) for run in session.twins]
        self.entries = [*twins, *(entry for entry in self.entries if entry.run.guest and same)]
        for entry in self.entries:
            _watch_as(session, entry.run.engine)
        self._share()
        kept = self.shown if self.shown in self.entries else None
        self.show(kept or next(iter(self.entries), None))

    @property
    def is_busy(self) -> bool:
        """True while a run is being opened, compared, or stepped to the time of the shown run."""
        late = self._session.simulation.has_late_runs
        return (
            self._opening is not None
            or self._work is not None
            or late
            or ((self._wanted or self._jumps) and self._is_due)
        )

    @property
    def progress(self) -> str | None:
        """Progress of the file that is being opened, as text; None for none."""
        opening = self._opening
        return None if opening is None or opening.elapsed < 0.3 else f"Opening {printable(opening.path.name)} beside"

    def show(self, entry: RunBeside | None) -> None:
        """Show an entry in the scene and in plots, or None to hide it."""
        self.shown = entry
        if entry is not None:
            _watch_as(self._session, entry.run.engine)
        self._session.simulation.beside[:] = [] if entry is None else [entry.run]
        self._session.simulation.changes += 1
        self.drop_comparison()

    def add(self, entry: RunBeside) -> None:
        """Add an entry and show it. Raises SceneError if there are too many."""
        if len(self.entries) >= _MOST:
            raise SceneError(f"{_MOST} runs and branches are beside this one already: remove one first")
        self.entries.append(entry)
        self._share()
        entry.run.label = self._distinct(entry)
        self.show(entry)

    def remove(self, entry: RunBeside) -> None:
        """Remove an entry."""
        self.entries.remove(entry)
        if entry is self.shown:
            self.show(self.entries[-1] if self.entries else None)

    def replace_by_past(self, entry: RunBeside, past: Simulation) -> None:
        """Replace a branch that continues as the shown run by the run that was shown before."""
        past.beside, past.guest, past.label, past.until = [], True, _PAST, past.newest_time
        past.observers.clear()
        self.entries = [each for each in self.entries if each.title != _PAST]
        self.entries[self.entries.index(entry)] = RunBeside(past, _PAST)

    def _distinct(self, entry: RunBeside) -> str:
        """Return the name of an entry, with its start time if another entry has the same name."""
        label, others = entry.run.label, {each.run.label for each in self.entries if each is not entry}
        if label in others and entry.is_branch:
            label = f"{label} from {entry.start:.3f} s"
        return next(name for name in (label, *(f"{label} ({k})" for k in range(2, 99))) if name not in others)

    def _share(self) -> None:
        """Share the memory of the history: half for the shown run, the rest for all others."""
        simulation, megabytes = self._session.simulation, self._session.settings.history_megabytes
        if simulation.history is None or not self.entries:
            return
        half = round(megabytes * 2**19)
        simulation.limit_history(half)
        for entry in self.entries:
            if entry.run.history is None:
                entry.run.keep_history(half // len(self.entries))
            else:
                entry.run.limit_history(half // len(self.entries))

    # Opening

    def open(self, text: str, replaces: RunBeside | None = None) -> None:
        """Open a scene, run, log or engine beside; the window continues until it is ready. Raises SceneError."""
        shown = self._session.simulation.engine
        source = read_source(text, shown.path)
        if self._opening is not None:
            self._opening.cancel()
        controllers, path = self._controllers, shown.path
        self._text, self._replaces = text, replaces

        def build(scene: OpenedScene) -> Engine:
            return open_source(source, path, controllers, scene)

        self._opening = Opening(source.scene, build, known=shown.files)

    def open_now(self, text: str) -> None:
        """Open a scene, run, log or engine beside before there is a window. Raises SceneError."""
        path = self._session.simulation.engine.path
        self._add_engine(open_source(read_source(text, path), path, self._controllers), text)

    def _add_engine(self, engine: Engine, text: str) -> None:
        entry = RunBeside(make_guest(self._session, engine, run_label(text)), text)
        entry.watch = FileWatch(engine.files) if engine.files and self._watches else None
        if self._replaces in self.entries:
            self.remove(self._replaces)
        for note in engine.notes:
            self._notices.add(f"{entry.title}: {note}")
        self.add(entry)
        if not self._has_common(entry):
            self._notices.add(f"{entry.title} has no sensor in common with this scene: showing its own sensors")

    def _has_common(self, entry: RunBeside) -> bool:
        return any(self._session.engine.sensors.has(name) for name in entry.run.engine.sensors.names)

    # Each frame

    def poll(self) -> None:
        """Show a run that was opened, report runs that failed, and continue the comparison for a moment."""
        if self._opening is not None and self._opening.poll():
            opening, self._opening = self._opening, None
            engine = self._notices.attempt(opening.result)
            if engine is not None:
                self._notices.attempt(lambda: self._add_engine(engine, self._text))
        for entry in self.entries:
            if entry.run.ending.startswith("fails") and entry.run not in self._told:
                self._told.add(entry.run)
                self._notices.add(f"{entry.title} {entry.run.ending}", warning=True)
            if entry.watch is not None and entry.watch.poll() and self._opening is None:
                self._notices.attempt(lambda text=entry.text, old=entry: self.open(text, old))  # type: ignore[misc]
        if (self._wanted or self._jumps) and self._is_due:
            self._begin()
        if self._work is not None:
            self._go_on()
        self._wanted = False

    def close(self) -> None:
        """Stop opening. Calling it twice is safe."""
        if self._opening is not None:
            self._opening.cancel()

    # Time

    def link_by_time(self) -> None:
        """Link the runs by simulated time."""
        self._set_lag(None, 0.0)

    def link_by_touchdown(self, sensor: str, number: int) -> None:
        """Link the runs at the n-th touchdown of a sensor. Raises SceneError."""
        if self.shown is None:
            return
        times = []
        for run, title in ((self._session.simulation, "this run"), (self.shown.run, self.shown.title)):
            found = touchdowns(run, sensor)
            if len(found) < number:
                raise SceneError(f"{sensor} has {len(found)} touchdowns in {title}: choose another sensor or number")
            times.append(float(found[number - 1]))
        self._set_lag((sensor, number), times[1] - times[0])

    def _set_lag(self, link: tuple[str, int] | None, lag: float) -> None:
        if self.shown is None:
            return
        self.shown.link = link
        if self.shown.run.lag != lag:
            self.shown.run.lag = lag
            self._session.simulation.changes += 1
            self.drop_comparison()

    # Comparing

    def want_comparison(self) -> None:
        """Compare in the next frame if there is no comparison yet. Call it in every frame that shows a comparison."""
        self._wanted = True

    def jump(self) -> None:
        """Pause and show the first step that differs, once it is found."""
        self._session.paused = self._jumps = True
        if self._work is None and not self._is_due:
            self._arrive()

    @property
    def tolerance_used(self) -> float:
        """Largest difference that is ignored, as in `Judge`."""
        if self.tolerance is not None or self.shown is None:
            return self.tolerance or 0.0
        names = {run.engine.name.split()[0] for run in (self._session.simulation, self.shown.run)}
        return _OTHER_ENGINE if len(names) > 1 else 0.0

    def set_tolerance(self, tolerance: float | None) -> None:
        """Compare again with another tolerance."""
        self.tolerance = tolerance
        self.drop_comparison()

    @property
    def is_comparing(self) -> bool:
        return self._work is not None

    @property
    def part(self) -> float:
        """Part of the steps that was compared, 0 to 1."""
        history = self._session.history
        if self._sides is None or history is None or history.seconds <= 0:
            return 0.0
        return min(max((self._sides[0].time - history.time(history.first)) / history.seconds, 0.0), 1.0)

    @property
    def sensor_rows(self) -> list[dict[str, Any]]:
        """Values of each sensor in both runs: see `Comparison.sensors`."""
        if self.comparison is None:
            return []
        if self._rows is None or self._rows[0] is not self.comparison or self._rows[1] != self.comparison.taken:
            rows = self.comparison.sensors() or self._body_rows()
            self._rows = self.comparison, self.comparison.taken, rows
        return self._rows[2]

    def _body_rows(self) -> list[dict[str, Any]]:
        """Values of the bodies that touch in both runs, for scenes without sensors; forces by magnitude."""
        assert self.shown is not None
        rows: list[dict[str, Any]] = []
        own, other, lag = self._session.history, self.shown.run.history, self.shown.run.lag
        if own is None or other is None:
            return rows
        for history in (own, other):
            history.curves.update()
        times = own.times(np.arange(max(own.first, own.curves.first), own.last + 1))
        times = times[(times + lag > other.time(other.first) - 1e-9) & (times + lag < other.time(other.last) + 1e-9)]
        for name in (name for name in own.curves.names if name in other.curves.names):
            found = []
            for history, shift in ((own, 0.0), (other, lag)):
                first = max(history.first, history.curves.first)
                values = history.curves.values(name, Signal.MAGNITUDE, first, history.last + 1)
                places = np.array([history.step_at(time + shift) - first for time in times.tolist()], np.intp)
                found.append(np.nan_to_num(values.astype(float))[np.clip(places, 0, max(len(values) - 1, 0))])
            if not len(times):
                continue
            sides = [{"force_mean": float(each.mean()), "force_max": float(each.max())} for each in found]
            apart = np.abs(found[1] - found[0])
            row: dict[str, Any] = {
                "name": name,
                "label": "net force, by magnitude",
                "metrics_a": {},
                "metrics_b": {},
                "unread": None,
            }
            row |= {"a": sides[0], "b": sides[1]} | match_events(
                find_events(found[0], times), find_events(found[1], times)
            )
            row["difference"] = {key: sides[1][key] - value for key, value in sides[0].items()}
            rows.append(row | {"force_difference": {"max": float(apart.max()), "mean": float(apart.mean())}})
        return rows

    def drop_comparison(self) -> None:
        """Drop the comparison, because it belongs to other steps."""
        self.comparison, self._work, self._sides, self._compared, self.trouble = None, None, None, (), ""
        self._jumps = False

    @property
    def _is_due(self) -> bool:
        """True if there are new steps to compare, and no more will come for now."""
        session = self._session
        if self.shown is None or session.history is None or self.shown.run.history is None or self._work is not None:
            return False
        return session.paused and not session.simulation.has_late_runs and self._state() != self._compared

    def _state(self) -> tuple[object, ...]:
        assert self.shown is not None
        runs = (self._session.simulation, self.shown.run)
        return (*((each.history, each.history.last, each.newest_time) for each in runs if each.history), runs[1].lag)

    def _begin(self) -> None:
        assert self.shown is not None
        self._compared, self.trouble = self._state(), ""
        run = self.shown.run
        try:
            self._sides = HistorySide(self._session.simulation, "this run"), HistorySide(run, run.title, lag=run.lag)
            self.comparison = Comparison(*self._sides, tolerance=self.tolerance_used)
            begin = max(side.time for side in self._sides)
            end = min(self._session.simulation.newest_time, run.newest_time - run.lag)
            self._work = self.comparison.steps(max(end - begin, 0.0))
        except SceneError as error:
            self.trouble = str(error)

    def _go_on(self) -> None:
        """Compare further steps, for the time that a frame allows."""
        assert self._work is not None
        assert self._sides is not None
        if any(side.is_stale for side in self._sides):
            self.drop_comparison()
            return
        now = perf_counter()
        until, self._polled = now + max(_SLICE, _PART * min(now - self._polled, 1.0)), now
        try:
            with _visiting_both(*(side.simulation for side in self._sides)):
                for _ in self._work:
                    if perf_counter() > until:
                        break
                else:
                    self._work = None
        except SceneError as error:
            self._work, self.trouble = None, str(error)
        if self._work is None or (self.comparison is not None and self.comparison.first is not None):
            self._arrive()

    def _arrive(self) -> None:
        """Show the first step that differs, if that was requested."""
        if not self._jumps or self.comparison is None:
            return
        self._jumps = False
        if (first := self.comparison.first) is not None:
            self._session.go_to_time(first.time)
        else:
            self._notices.add("no difference in the steps that both runs have")

    # Branches

    def why_not_branch(self) -> str | None:
        """Return the reason why this run cannot be branched, as a sentence; None if it can."""
        session = self._session
        if session.history is None or not session.history.can_resume:
            return f"{session.engine.name.split()[0]} cannot return to past steps, which a branch needs"
        if session.num_envs > 1:
            return "Branches need a run with one environment"
        return None

    def branch(self, changes: Sequence[ModelChange], step: int | None = None) -> RunBeside:
        """Start a branch at a past step, by default the shown one, and show it. Raises SceneError."""
        session = self._session
        if (reason := self.why_not_branch()) is not None:
            raise SceneError(reason)
        history = session.history
        assert history is not None
        step = history.current if step is None else step
        constants = {each.name: each.value[0] for each in changes if each.quantity == CONSTANT}
        controller = self._follow(step, constants) if constants else None
        run = make_branch(session.simulation, [each for each in changes if each.quantity != CONSTANT], step)
        if controller is not None:
            assert isinstance(run.source, Branch)
            run.engine.controller, run.source.asks = controller, True
        _watch_as(session, run.engine)
        run.guest, run.label = True, describe(changes)
        if self._is_driven and controller is None:
            run.until = history.time(history.last)
        entry = RunBeside(run, "", tuple(changes), True, run.shown.time, notes=tuple(self._limits(step, run)))
        self.add(entry)
        return entry

    @property
    def constants(self) -> dict[str, float]:
        """Constants of the controller that a branch can change, by name."""
        source = self._session.source
        return {} if source.name or not source.continues_from_shown else self._controllers.constants

    def _follow(self, step: int, constants: Mapping[str, float]) -> Controller:
        """Return a controller with changed constants and its state at a past step. Raises SceneError."""
        known, controller = self.constants, self._controllers.another()
        for name in constants:
            if name not in known:
                raise SceneError(
                    f"no constant {name!r} of a controller that drives this run{did_you_mean(name, known)}"
                )
        assert controller is not None
        assert isinstance(controller.file, ControllerFile)
        follow(self._session.simulation, controller, step)
        for name, value in constants.items():
            controller.file.set_constant(name, value)
        return controller

    @property
    def _is_driven(self) -> bool:
        """True if something sets the inputs of each step, so that inputs of future steps are not known."""
        session = self._session
        return (
            session.simulation.engine.driver() is not None
            or session.drive.driver() is not None
            or bool(session.source.name or not session.source.continues_from_shown)
        )

    def _limits(self, step: int, run: Simulation) -> "Iterator[str]":
        session, history = self._session, self._session.history
        assert history is not None
        if session.source.name:
            yield f"The inputs are those of {session.source.name}: its controller does not react to the change."
        elif not session.source.continues_from_shown:
            yield "The inputs are those of your program: it does not react to the change."
        elif run.engine.controller is not None:
            yield "The controller is called again, from its state at this step; inputs set by hand are not repeated."
            if history.first:
                yield f"It starts at {history.time(history.first):.3f} s, because earlier steps are not in the history."
        elif self._is_driven:
            yield "The inputs are the recorded ones: the controller does not react to the change."
        exactness, first = session.source.exactness, session.source.first_number
        if exactness is not None:
            inexact = sum(not exactness.is_exact(each + first) for each in range(step + 1, history.last + 1))
        else:
            inexact = sum(mark > step for mark in history.marks)
        if isinstance(run.source, Branch) and (changed := run.source.model_changes_at) is not None:
            yield f"Your program changes its model at {changed:.3f} s: the branch keeps the values that it has here."
        elif exactness is None and session.source.continues_from_shown and not self._is_as_then(step):
            yield "The model was changed since: the branch has its values of now, and is not exact."
        if inexact:
            yield f"{inexact} past steps could not be re-simulated exactly: the branch is not exact there either."

    def _is_as_then(self, step: int) -> bool:
        """Return True if a sample of the steps after a past step gives the same results when re-simulated now."""
        history = self._session.history
        assert history is not None
        with visiting(self._session.simulation):
            return all(map(history.go_to, np.linspace(step, history.last, _LOOKS, dtype=int)[1:].tolist()))

    def why_not_save(self, entry: RunBeside) -> str | None:
        """Return the reason why the changes of a branch cannot be written into the scene, as a sentence; None if they
        can."""
        if (reason := self._session.why_not(Change.FILE)) is not None:
            return reason
        if not entry.changes:
            return "This run has no changes to save"
        unsaved = [each.key for each in entry.changes if QUANTITIES.get(each.quantity) not in ("", "geom or pair")]
        return f"{unsaved[0]} cannot be saved from here: edit the file" if unsaved else None

    def save(self, entry: RunBeside) -> None:
        """Write the changed values of a branch into the scene's files, with undo. Raises SceneError."""
        if (reason := self.why_not_save(entry)) is not None:
            raise SceneError(reason)
        engine = self._session.simulation.engine
        assert engine.path is not None
        edits = edits_of(engine, engine.model, entry.changes)
        self._edits.save_edits(f"save {entry.title} into {engine.path.name}", edits)
        self._notices.add(f"saved {describe(entry.changes)} into {engine.path.name}")


@contextmanager
def _visiting_both(one: Simulation, other: Simulation) -> "Iterator[None]":
    with visiting(one), visiting(other):
        yield


def touchdowns(run: Simulation, sensor: str) -> "np.ndarray[tuple[int], np.dtype[np.float64]]":
    """Return the times at which a sensor began to touch [s], by force with hysteresis, in the steps of a run's
    history."""
    history = run.history
    if history is None or sensor not in history.curves.names:
        return np.empty(0)
    while history.curves.stop <= history.last and not history.curves.update():
        pass
    first, stop = history.curves.first, history.curves.stop
    if stop - first < 2:
        return np.empty(0)
    forces = np.nan_to_num(history.curves.values(sensor, Signal.MAGNITUDE, first, stop).astype(float))
    touching = in_contact(forces, ON, OFF)
    return history.times(first + 1 + np.flatnonzero(touching[1:] & ~touching[:-1]))


def run_label(text: str) -> str:
    """Return the name of a source without its folder."""
    name, at, engine = text.rpartition("@")
    if at and not name:
        text = engine
    name = Path(name if at else text).name or text
    return f"{name}@{engine}" if at and name else ENGINES[text].label if text in ENGINES else name
