"""Simulates a run repeatedly with changed values, in a separate process; `search_cures` chooses the values."""

import copy
import os
from collections.abc import Sequence
from dataclasses import asdict, dataclass, field, replace
from typing import Any

from ..assets import bundled_control
from ..engines.controller import Controller, no_control
from ..engines.controller_file import ControllerFile
from ..engines.registry import open_engine, open_log
from ..errors import LogEnd, SceneError, UnstableError
from ..mjmodel.model_changes import ModelChange, apply_changes, read_change
from ..mjmodel.types import MjModel
from ..mjmodel.variation import read_randomisation
from ..processes import Link, Message, run_child
from ..scene_files.run_file import SUFFIX as RUN_SUFFIX
from ..scene_files.safe_open import open_safely
from ..scene_files.scene import find_scene
from ..session.branch import Branch
from ..session.simulation import Simulation
from .branches import make_branch
from .ladders import Rung, make_ladders
from .unwanted import Measure, read_unwanted

_CHUNK, _FINE = 100, 20
"""Number of steps between two checks of the conditions; the second, for the run without a change until a condition
occurs."""
_BUDGET = 2**30
"""Memory for the history of a recorded run [bytes]."""


@dataclass(frozen=True)
class TrialOptions:
    """Options of a search for cures: the run, and the conditions to watch."""

    scene: str
    """File or bundled scene; a saved run (.cvrun) is continued from its first step with its inputs."""
    avoid: tuple[str, ...]
    """Texts for `read_unwanted`: things that must not happen."""
    vary: tuple[str, ...] = ()
    """Parameters to vary, as `make_ladders` takes them; if empty, the suggested ones."""
    duration: float | None = None
    """Simulated time [s]; if None, 5 s, or all of a saved run or log."""
    start: float = 0.0
    """Simulated time before which nothing is judged [s]."""
    key: str | None = None
    control: str | None = None
    params: dict[str, Any] = field(default_factory=dict)
    seed: int = 0
    noise: str | None = None
    log: str | None = None
    episode: str | None = None
    period: float | None = None

    def as_message(self) -> Message:
        """Return the options as a JSON object."""
        return {**asdict(self), "avoid": list(self.avoid), "vary": list(self.vary)}

    @classmethod
    def from_message(cls, message: Message) -> "TrialOptions":
        """Return the options of a message."""
        return cls(**{**message, "avoid": tuple(message["avoid"]), "vary": tuple(message["vary"])})


USUAL_SECONDS = 5.0


def change_start(controller: Controller, changes: Sequence[ModelChange], failures: list[SceneError]) -> None:
    """Make a controller change the model after its own variation; changes that are not possible are added to
    `failures`."""
    vary = controller.vary

    def change(model: MjModel, random: Any) -> None:
        if vary is not None:
            vary(model, random)
        try:
            apply_changes(model, changes)
        except SceneError as error:
            # Raised here it would be a failure of the controller.
            failures.append(error)

    controller.vary = change


class Trials:
    """Run of a scene, a log or a saved run, to be simulated with changed values."""

    def __init__(self, options: TrialOptions) -> None:
        """Prepare the run. Raises SceneError."""
        self.options = options
        self.unwanted = [read_unwanted(text) for text in options.avoid]
        self._path = find_scene(options.scene)
        self._scene = open_safely(self._path)
        self._base: Simulation | None = None
        recorded = options.log is not None or self._path.suffix.lower() == RUN_SUFFIX
        self.seconds = options.duration or USUAL_SECONDS
        if recorded:
            self._base = self._open_recorded()
        self.model = self._scene.model if self._base is None else self._base.engine.model
        # Names are looked up before anything is stepped.
        Measure(open_engine(replace(self._scene, model=copy.copy(self._scene.model), log=None)), self.unwanted)

    def _open_recorded(self) -> Simulation:
        options = self.options
        engine = open_engine(self._scene)
        if options.log is not None:
            open_log(engine, options.log, options.episode, options.period)
        base = Simulation(engine, history_bytes=_BUDGET)
        if options.duration is None and base.source.duration is not None:
            self.seconds = base.source.duration
        try:
            base.step(max(1, round(self.seconds / engine.timestep)))
        except LogEnd:
            self.seconds = base.shown.time - (base.history.time(base.history.first) if base.history else 0.0)
        if base.source.exactness is not None and base.source.exactness.unknown:
            raise SceneError(
                f"{base.source.summary()}: steps that were not reproduced cannot be simulated with changed values"
            )
        if base.history is not None and (changed := Branch(base, base.history.first).model_changes_at) is not None:
            raise SceneError(
                f"{base.source.name}: the model was changed at {changed:.3f} s, and would not be in a run with other "
                "values: give a --duration that ends before"
            )
        return base

    def run(self, changes: Sequence[ModelChange], link: Link | None = None, whole: bool = False) -> Message:
        """Simulate the run with changed values.

        Args:
            changes: Changed values.
            link: Link to the process that waits for the result; if that process has ended, this one ends too.
            whole: False to end the run as soon as an unwanted condition occurs.

        Returns:
            `values` of the conditions, in SI units; `iterations` of the solver and `steps` per simulated second;
            `pairs` that touched and `presence`, see `Measure`, until a condition occurred; `trouble`, the reason why
            the run ended early, empty if it did not.
        """
        file: ControllerFile | None = None
        try:
            if self._base is None:
                simulation, file = self._fresh(changes)
            else:
                assert self._base.history is not None
                simulation = make_branch(self._base, changes, self._base.history.first)
            return self._simulate(simulation, link, whole)
        except SceneError as error:
            # Also what a controller raised.
            return {"values": None, "iterations": 0.0, "steps": 0.0, "trouble": str(error)}
        finally:
            if file is not None:
                file.unload()

    def _fresh(self, changes: Sequence[ModelChange]) -> tuple[Simulation, ControllerFile | None]:
        options, file = self.options, None
        control = options.control or bundled_control(self._path)
        randomisation = read_randomisation((), options.noise)
        if control is not None:
            # Read again for each run: what a file keeps between two calls must not depend on the runs before.
            file = ControllerFile(str(control), options.params, options.seed, randomisation)
            controller = file.load()
        else:
            controller = Controller(no_control, seed=options.seed, randomisation=randomisation)
        failures: list[SceneError] = []
        change_start(controller, changes, failures)
        engine = open_engine(replace(self._scene, model=copy.copy(self._scene.model)), control=controller)
        if failures:
            raise failures[0]
        simulation = Simulation(engine)
        if options.key is not None:
            simulation.reset(options.key)
        return simulation, file

    def _simulate(self, simulation: Simulation, link: Link | None, whole: bool) -> Message:
        engine, trouble = simulation.shown, ""
        measure = Measure(engine, self.unwanted, self.options.start)
        simulation.observers.append(measure)
        left = max(1, round(self.seconds / engine.timestep))
        began, presence, pairs = engine.time, None, sorted(measure.pairs)
        while left > 0:
            count = min(left, _FINE if whole and presence is None else _CHUNK)
            try:
                simulation.step(count)
            except UnstableError as error:
                trouble = error.reason
                measure.fail()
                break
            left -= count
            if presence is None and measure.happens():
                presence, pairs = measure.presence(), sorted(measure.pairs)
                if not whole:
                    trouble = "ended early"
                    break
            if link is not None:
                link.receive()
                if not link.is_open:
                    os._exit(0)
        seconds = max(engine.time - began, engine.timestep)
        values = [value if value == value and abs(value) != float("inf") else None for value in measure.values()]
        counts = {"iterations": measure.iterations / seconds, "steps": measure.steps / seconds}
        if presence is None:
            presence, pairs = measure.presence(), sorted(measure.pairs)
        return {"values": values, **counts, "pairs": pairs, "presence": presence, "trouble": trouble}


def work(link: Link, message: Message) -> None:
    """Simulate runs, one after the other, as messages request them, until the link is closed."""
    # Controllers print, and the result of the command is on the standard output.
    nowhere = os.open(os.devnull, os.O_WRONLY)
    os.dup2(nowhere, 1)
    os.dup2(nowhere, 2)
    trials = Trials(TrialOptions.from_message(message))
    link.send({"ready": True, "seconds": trials.seconds}, wait=True)
    while link.is_open:
        link.wait()
        for wanted in link.receive():
            result = trials.run([read_change(text) for text in wanted["changes"]], link, bool(wanted["whole"]))
            if wanted["whole"] and result["values"] is not None:
                kinds = {each.kind for each in trials.unwanted}
                pairs = {(first, second) for first, second in result["pairs"]}
                ladders = make_ladders(trials.model, pairs, kinds, trials.options.vary)
                result["ladders"] = [
                    {"key": each.key, "rungs": [_texts(rung) for rung in each.rungs], "now": _texts(each.now)}
                    for each in ladders
                ]
            link.send(result, wait=True)


def _texts(rung: Rung) -> list[str]:
    return [str(change) for change in rung]


if __name__ == "__main__":
    run_child(work, "the trial of a change")
