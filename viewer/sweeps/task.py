"""Simulates one run, a scene with a seed, and returns its metrics: the same result in whichever process."""

import copy
import math
import time
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field, replace
from pathlib import Path

from ..engines.contract import Engine
from ..engines.controller import Controller, no_control
from ..engines.controller_file import ControllerFile
from ..engines.registry import open_engine, open_log
from ..engines.steps import Step
from ..errors import ControlError, LogEnd, SceneError, UnstableError
from ..files import UnnamedPart, hash_of
from ..mjmodel.declarations import declared_sensors
from ..mjmodel.pairs import sensor_pairs
from ..recording.schedule import Schedule
from ..recording.table_files import ParquetFile, Table, TableWriter
from ..recording.tables import EventCollector
from ..scene_files.safe_open import OpenedScene
from ..session.session import Session
from ..session.simulation import Simulation
from ..settings import Options, ViewState
from .plan import Plan, Run
from .run_metrics import Pairs, RunMetrics

_PAIRS_MAX = 20_000
"""Largest number of pairs of a sensor whose friction is compared; with more, friction is read from every contact."""
READY = "ready"
"""Message of a process that is ready for its first run."""


@dataclass(frozen=True)
class RunResult:
    """Result of a run; of a failed run only the reason."""

    number: int
    failure: str | None = None
    """Reason of a failure, for a user; None if the run did not fail."""
    sensors: tuple[str, ...] = ()
    figures: tuple[Mapping[str, float], ...] = ()
    """Metrics of each sensor, by name."""
    parts: Mapping[str, bytes] = field(default_factory=dict)
    """Parquet files of contacts and events, by the names of the tables."""


class Task:
    """Simulator of runs, one after the other. Each result depends on its scene and seed alone."""

    def __init__(self, plan: Plan, open_scene: Callable[[int], OpenedScene]) -> None:
        """Prepare runs. `open_scene`: function that returns a compiled scene of the plan by its number."""
        self._plan = plan
        self._open_scene = open_scene
        self._number = -1
        """Number of the open scene."""
        self._scene: OpenedScene | None = None
        self._pairs: Mapping[str | None, Pairs] = {}
        self._engine: Engine | None = None

    def run(self, run: Run) -> RunResult:
        """Simulate a run from its start to its end, or until it becomes unstable."""
        began = time.perf_counter()
        file: ControllerFile | None = None
        try:
            if self._plan.control is not None:
                file = self._controller_file(run.seed)
            return self._simulate(run, self._prepare(run, file), began)
        except SceneError as error:
            # Also what a controller raised.
            return RunResult(run.number, str(error))
        except (OSError, MemoryError) as error:
            return RunResult(run.number, f"{type(error).__name__}: {error}")
        finally:
            if file is not None:
                file.unload()

    def _controller_file(self, seed: int) -> ControllerFile:
        # Read again for each run: what a file keeps between two calls must not depend on the runs before.
        plan = self._plan
        assert plan.control is not None
        file = ControllerFile(plan.control, plan.params, seed, plan.randomisation)
        if plan.control_hash is not None and hash_of(file.path) != plan.control_hash:
            raise ControlError(f"{file.path}: was changed during the sweep")
        return file

    def _prepare(self, run: Run, file: ControllerFile | None) -> Engine:
        """Return an engine at the start of a run."""
        plan, scene = self._plan, self._opened(run.scene)
        controller: Controller | None = None
        if file is not None:
            controller = file.load()
        elif plan.randomisation:
            controller = Controller(no_control, seed=run.seed, randomisation=plan.randomisation)
        if controller is not None and controller.changes_model:
            engine: Engine = open_engine(replace(scene, model=copy.copy(scene.model)), control=controller)
        else:
            # Nothing changes the model, and a reset leaves nothing of the run before.
            if self._engine is None:
                self._engine = open_engine(scene)
            engine = self._engine
            engine.controller = controller
            engine.reset()
        if plan.logs:
            # A log is re-simulated by an engine of its own.
            engine = open_engine(scene)
            open_log(engine, plan.logs[run.scene], str(run.seed) if run.seed else None)
        if plan.key is not None:
            engine.reset(plan.key)
        if not engine.timestep > 0:
            raise SceneError(f"the timestep is {engine.timestep:g} s: set <option timestep> above 0")
        return engine

    def _opened(self, number: int) -> OpenedScene:
        if self._scene is None or number != self._number:
            self._scene = self._engine = None
            scene = self._open_scene(number)
            self._pairs = _sensor_pairs(scene)
            self._scene, self._number = scene, number
        return self._scene

    def _simulate(self, run: Run, engine: Engine, began: float) -> RunResult:
        plan = self._plan
        if not len(engine.sensors):
            engine.watch_all()
        names = plan.sensors or engine.sensors.names
        # Without a declaration, of all contacts.
        metrics = RunMetrics(engine, names, [self._pairs.get(name, self._pairs[None]) for name in names])
        tables = _Tables(plan, engine, names) if plan.contacts or plan.events else None
        simulation = tables.simulation if tables is not None else Simulation(engine)
        simulation.observers.append(metrics)
        unstable_at = math.nan
        try:
            simulation.step(max(1, Schedule.every_step(engine.timestep, plan.duration).last_step))
        except UnstableError:
            unstable_at = metrics.time
        except LogEnd:
            pass
        source = simulation.source
        if source.exactness is not None and source.exactness.unknown:
            raise SceneError(source.summary())
        figures = metrics.finish()
        simulation.observers.remove(metrics)
        parts = {} if tables is None else tables.finish()
        more = {"unstable_at": unstable_at, "wall_time": time.perf_counter() - began}
        return RunResult(run.number, None, tuple(names), tuple(row | more for row in figures), parts)


def _sensor_pairs(scene: OpenedScene) -> Mapping[str | None, Pairs]:
    """Return the pairs of geoms that each declared sensor can match, by its name; under the key None, those of any
    contact."""
    model = scene.model
    found: dict[str | None, Pairs] = {}
    declared = declared_sensors(model, hidden=scene.companions.values())
    for name, sensor_id in [(None, None), *((each.name, each.sensor_id) for each in declared)]:
        pairs = sensor_pairs(model, sensor_id, _PAIRS_MAX)
        found[name] = pairs.possible if pairs.complete and not model.nflex else None
    return found


class _Tables:
    """Writer of the contacts and events of a run as Parquet files."""

    def __init__(self, plan: Plan, engine: Engine, names: tuple[str, ...]) -> None:
        path = engine.path or Path("scene")
        options = Options(scene=path, sensors=tuple(names) if plan.sensors else ())
        self._session = Session(engine, ViewState(), options, keeps_history=False)
        self.simulation = self._session.simulation
        self._plan = plan
        self._steps = 0
        self._origin = engine.time
        wanted = {Table.CONTACTS: plan.contacts, Table.EVENTS: plan.events}
        self._parts = {table: UnnamedPart() for table in wanted if wanted[table]}
        notes = {"engine": engine.name, "scene": path.name, "timestep": repr(engine.timestep)}
        self._writer = TableWriter(self._session, ParquetFile, self._parts, notes, has_video=False)
        self._collector = EventCollector(self._session) if plan.events else None
        if plan.contacts:
            self.simulation.observers.append(self)
            self._writer.write(0, engine.time)

    def after_step(self, step: Step) -> None:
        self._steps += 1
        self._writer.write(self._steps, step.time)

    def after_reset(self, engine: Engine) -> None:
        """Do nothing: runs only go forward."""

    def finish(self) -> dict[str, bytes]:
        """Return the files, by the names of their tables."""
        if self in self.simulation.observers:
            self.simulation.observers.remove(self)
        if self._collector is not None:
            self._writer.write_events(self._collector.finish(self._origin, math.inf))
        self._writer.close()
        return {str(table): part.read() for table, part in self._parts.items()}
