"""Searches, in separate processes, for the smallest change of a scene that prevents an unwanted condition."""

import math
import os
import time
from collections import deque
from collections.abc import Generator, Iterable, Sequence
from dataclasses import dataclass, field, replace
from itertools import combinations
from pathlib import Path
from typing import Any

from ..errors import SceneError
from ..mjmodel.model_changes import read_change
from ..processes import Child, Message
from .ladders import Ladder, Rung, middle, read_parameter
from .trials import TrialOptions
from .unwanted import Unwanted, read_unwanted

_REFINEMENTS = 3
"""Number of bisections between the last value without effect and the first one that helps."""
_DESCENTS = 6
"""Largest number of times that a pair of changes is made smaller."""
_PAIRS_SHOWN = 3
_PATIENCE = 10.0
"""Longest wall time of a run, as a multiple of the first run's; see `_LEAST_PATIENCE`."""
_LEAST_PATIENCE = 30.0
"""Wall time that every run may take at least [s]."""
_LASTING, _KEPT = 0.3, 0.5
"""Share of a run in contact from which a pair of bodies has to stay in contact, and part of that share which a change
has to keep: an object that has fallen out of a grip does not creep."""
_ATTEMPTS = 2
"""Number of processes that a change has to end to count as one that does not help."""


@dataclass(frozen=True)
class Cure:
    """Change that was tried, with its result."""

    changes: Rung
    values: tuple[float, ...]
    """Measured values, one for each condition, in SI units; NaN where one is not known."""
    iterations: float
    """Iterations of the solver per simulated second."""
    steps: float
    """Time steps per simulated second."""
    helps: bool
    """True if no unwanted condition occurred in the whole run."""
    trouble: str = ""
    """Reason why the run ended early or does not count; empty if there is none."""
    size: float = 0.0
    """Number of the rung on its ladder, from 1 on; for a pair of changes the sum of both."""

    @property
    def text(self) -> str:
        """Return the changes as text, such as `cone=elliptic, impratio=10`; a value shared by several objects once."""
        groups: dict[tuple[str, str], list[str]] = {}
        for change in self.changes:
            groups.setdefault((change.quantity, change.text), []).append(change.name)
        return ", ".join(
            f"{quantity}{names[0] and ':'}{'|'.join(names)}={value}" for (quantity, value), names in groups.items()
        )


@dataclass
class Cures:
    """Results of a search so far."""

    unwanted: tuple[Unwanted, ...]
    seconds: float = 0.0
    """Simulated time of each run [s]."""
    before: Cure | None = None
    """Run without a change."""
    singles: list[Cure] = field(default_factory=list)
    """Smallest change of each parameter that helps alone, the cheapest first."""
    pairs: list[Cure] = field(default_factory=list)
    """Smaller changes that help together, the cheapest first."""
    tried: int = 0
    """Number of runs."""
    complete: bool = False
    """False if the search was ended early."""
    parameters: tuple[str, ...] = ()
    """Names of the parameters that were varied."""
    touched: bool = True
    """False if no watched bodies pressed on each other in the run without a change."""

    @property
    def happens(self) -> bool:
        """True if an unwanted condition occurs without a change."""
        return self.before is not None and not self.before.helps

    def cost(self, cure: Cure) -> float:
        """Return the cost of a change relative to the run without one: a step counts as one iteration of the solver."""
        assert self.before is not None
        return (cure.iterations + cure.steps) / max(self.before.iterations + self.before.steps, 1e-9)


@dataclass(frozen=True)
class SearchProgress:
    """Progress of a search."""

    done: int
    """Number of runs so far."""
    planned: int
    """Number of runs that are known to be needed so far."""
    cures: Cures
    """Results so far."""


Search = Generator[SearchProgress, None, Cures]


def find_cure(
    scene: str | Path, avoid: str | Sequence[str], vary: str | Sequence[str] = (), jobs: int = 0, **options: Any
) -> Cures:
    """Find the smallest changes of a scene that prevent unwanted conditions; each change was simulated.

    Args:
        scene: Path, bundled scene, or saved run, which is continued from its first step with its recorded inputs.
        avoid: Unwanted conditions, one or several of `slip:left_finger>1mm`, `creep:box>10um/s`, `lost:ball`,
            `force:tip>20N`, `drop:box<0.1m` and `unstable`.
        vary: Parameters to vary, such as `friction:box`, `solref` or `timestep=0.0005:0.002`; if empty, friction, cone,
            impratio, solref, timestep and noslip_iterations.
        jobs: Number of processes; 0 for one per core.
        options: Fields of `TrialOptions`: `duration` [s], `start` [s], `key`, `control`, `params`, `seed`, `noise`,
            `log`.

    Returns:
        The changes that help, the cheapest first, and the run without a change.

    Raises:
        SceneError: The scene cannot be simulated, or lacks a name.

    Example:
        ```python
        cures = contact_viewer.find_cure("grasp.xml", "creep:box>100um/s", key="held", duration=2)
        print(cures.singles[0].text)  # impratio=41
        ```
    """
    texts = ((each,) if isinstance(each, str) else tuple(each) for each in (avoid, vary))
    unwanted, varied = texts
    search = search_cures(TrialOptions(str(scene), unwanted, varied, **options), jobs)
    while True:
        try:
            next(search)
        except StopIteration as end:
            cures: Cures = end.value
            return cures


def search_cures(options: TrialOptions, jobs: int = 0, wait: float = 0.2) -> Search:
    """Search for cures; yield the progress at least every `wait` seconds, and return the results.

    Closing the generator ends the processes at once. Raises SceneError if the run cannot be simulated.
    """
    cures = Cures(tuple(read_unwanted(text) for text in options.avoid))
    if not cures.unwanted:
        raise SceneError("nothing is to be avoided: give for example slip:left_finger>1mm")
    for text in options.vary:
        read_parameter(text)
    pool = _Pool(options, jobs or _cores(), cures, wait)
    try:
        begun = yield from pool.begin()
        ladders = [Ladder(each["key"], tuple(map(_rung, each["rungs"])), _rung(each["now"])) for each in begun]
        cures.parameters = tuple(dict.fromkeys(ladder.key for ladder in ladders))
        if cures.happens:
            yield from _search(pool, ladders, cures)
        cures.complete = True
        return cures
    finally:
        pool.close()


def _search(pool: "_Pool", ladders: Sequence[Ladder], cures: Cures) -> Generator[SearchProgress, None, None]:
    firsts: dict[int, int] = {}
    """Index of the first rung that helps, by the index of its ladder."""
    for height in range(max((len(ladder.rungs) for ladder in ladders), default=0)):
        level = {
            i: ladder.rungs[height]
            for i, ladder in enumerate(ladders)
            if i not in firsts and height < len(ladder.rungs)
        }
        yield from pool.evaluate(level.values())
        firsts |= {i: height for i, rung in level.items() if pool.known[rung].helps}
        _rank(cures, pool, ladders, {i: ladders[i].rungs[height] for i, height in firsts.items()})
    found = {i: ladders[i].rungs[height] for i, height in firsts.items()}
    bounds = {
        i: (ladders[i].rungs[height - 1] if height else ladders[i].now, found[i])
        for i, height in firsts.items()
        if ladders[i].now
    }
    for _ in range(_REFINEMENTS):
        level = {}
        for i, (low, high) in bounds.items():
            between = middle(low, high)
            if between is not None:
                level[i] = between
        yield from pool.evaluate(level.values())
        for i, between in level.items():
            low, high = bounds[i]
            bounds[i] = (low, between) if pool.known[between].helps else (between, high)
            found[i] = bounds[i][1]
        _rank(cures, pool, ladders, found)
    yield from _search_pairs(pool, ladders, firsts, cures)


def _search_pairs(
    pool: "_Pool", ladders: Sequence[Ladder], firsts: dict[int, int], cures: Cures
) -> Generator[SearchProgress, None, None]:
    """Search for pairs of changes that are each too small to help alone."""
    tops = {i: firsts.get(i, len(ladder.rungs)) - 1 for i, ladder in enumerate(ladders)}
    places = {
        (i, j): (tops[i], tops[j])
        for i, j in combinations(range(len(ladders)), 2)
        if tops[i] >= 0 and tops[j] >= 0 and ladders[i].key != ladders[j].key
    }

    def together(pair: tuple[int, int], at: tuple[int, int]) -> Rung:
        return ladders[pair[0]].rungs[at[0]] + ladders[pair[1]].rungs[at[1]]

    yield from pool.evaluate(together(pair, at) for pair, at in places.items())
    places = {pair: at for pair, at in places.items() if pool.known[together(pair, at)].helps}
    for _ in range(_DESCENTS):
        cures.pairs = _cheapest(
            cures, [replace(pool.known[together(pair, at)], size=sum(at) + 2.0) for pair, at in places.items()]
        )[:_PAIRS_SHOWN]
        lower = {
            pair: [each for each in ((at[0] - 1, at[1]), (at[0], at[1] - 1)) if min(each) >= 0]
            for pair, at in places.items()
        }
        lower = {pair: options for pair, options in lower.items() if options}
        yield from pool.evaluate(together(pair, at) for pair, options in lower.items() for at in options)
        before = dict(places)
        for pair, options in lower.items():
            helping = [at for at in options if pool.known[together(pair, at)].helps]
            if helping:
                places[pair] = min(helping, key=lambda at: pool.known[together(pair, at)].iterations)
        if places == before:
            break
    cures.pairs = _cheapest(
        cures, [replace(pool.known[together(pair, at)], size=sum(at) + 2.0) for pair, at in places.items()]
    )[:_PAIRS_SHOWN]


def _rank(cures: Cures, pool: "_Pool", ladders: Sequence[Ladder], found: dict[int, Rung]) -> None:
    """Keep the best change of each parameter."""
    best: dict[str, Cure] = {}
    for i, rung in found.items():
        place = ladders[i].rungs.index(rung) + 1.0 if rung in ladders[i].rungs else 0.5
        best_now = _cheapest(cures, [replace(pool.known[rung], size=place), *filter(None, [best.get(ladders[i].key)])])
        best[ladders[i].key] = best_now[0]
    cures.singles = _cheapest(cures, best.values())


def _cheapest(cures: Cures, found: Iterable[Cure]) -> list[Cure]:
    """Return changes sorted by cost, rounded to tenths, and then by their distance from the present value."""
    return sorted(found, key=lambda cure: (round(cures.cost(cure), 1), cure.size))


def _rung(texts: Iterable[str]) -> Rung:
    return tuple(map(read_change, texts))


def _cores() -> int:
    return len(os.sched_getaffinity(0)) if hasattr(os, "sched_getaffinity") else os.cpu_count() or 1


class _Pool:
    """Processes that simulate runs, and the results."""

    def __init__(self, options: TrialOptions, count: int, cures: Cures, wait: float) -> None:
        self.known: dict[Rung, Cure] = {}
        self._options, self._count, self._cures, self._wait = options, count, cures, wait
        self._workers: list[_Worker] = []
        self._planned = 1
        self._presence: dict[str, float] = {}
        self._patience = math.inf

    def begin(self) -> Generator[SearchProgress, None, list[Message]]:
        """Simulate the run without a change; return the ladders of values to try."""
        began = time.monotonic()
        found = yield from self._collect([()], whole=True)
        message = found[()]
        self._patience = max(_LEAST_PATIENCE, _PATIENCE * (time.monotonic() - began))
        self._presence = {pair: part for pair, part in message["presence"].items() if part >= _LASTING}
        self._cures.before = self._cure((), message)
        self._cures.seconds, self._cures.touched = self._workers[0].seconds, bool(message["pairs"])
        return list(message["ladders"])

    def evaluate(self, rungs: Iterable[Rung]) -> Generator[SearchProgress, None, None]:
        """Simulate the rungs whose results are not known yet."""
        new = [rung for rung in dict.fromkeys(rungs) if rung not in self.known]
        self._planned += len(new)
        found = yield from self._collect(new, whole=False)
        for rung, message in found.items():
            self.known[rung] = self._cure(rung, message)

    def close(self) -> None:
        """End all processes at once."""
        for worker in self._workers:
            worker.end()
        self._workers = []

    def _cure(self, rung: Rung, message: Message) -> Cure:
        values = tuple(math.nan if value is None else value for value in message["values"] or ())
        trouble = str(message["trouble"])
        if values and not trouble:
            present = message["presence"]
            lost = [pair for pair, part in self._presence.items() if present.get(pair, 0.0) < _KEPT * part]
            trouble = f"{lost[0]} no longer touch" if lost else ""
        unwanted = any(each.happens(value) for each, value in zip(self._cures.unwanted, values, strict=False))
        # What is not known without a change may stay unknown.
        known = self._cures.before.values if self._cures.before is not None else values
        lost_sight = any(math.isnan(now) and not math.isnan(then) for now, then in zip(values, known, strict=False))
        helps = bool(values) and not unwanted and not trouble and not lost_sight
        counts = float(message["iterations"]), float(message["steps"])
        return Cure(rung, values, *counts, helps, trouble)

    def _progress(self) -> SearchProgress:
        return SearchProgress(self._cures.tried, self._planned, self._cures)

    def _collect(self, rungs: Sequence[Rung], whole: bool) -> Generator[SearchProgress, None, dict[Rung, Message]]:
        waiting, found = deque((rung, 0) for rung in rungs), dict[Rung, Message]()
        while len(found) < len(rungs):
            while len(self._workers) < min(self._count, len(rungs)):
                self._workers.append(_Worker(self._options))
            for place, worker in enumerate(self._workers):
                if worker.task is None and waiting:
                    rung, attempt = waiting.popleft()
                    worker.give(rung, attempt, whole)
                message = worker.receive(self._patience)
                if message is None:
                    continue
                task, worker.task = worker.task, None
                if "error" in message:
                    raise SceneError(str(message["error"]))
                assert task is not None
                rung, attempt = task
                if "ended" in message:
                    worker.end()
                    self._workers[place] = _Worker(self._options)
                    if attempt + 1 < _ATTEMPTS and not message["slow"]:
                        waiting.append((rung, attempt + 1))
                        continue
                    if whole:
                        raise SceneError(f"{self._options.scene}: {message['ended']}")
                    message = {"values": None, "iterations": 0.0, "steps": 0.0, "trouble": message["ended"]}
                if whole and message["values"] is None:
                    raise SceneError(str(message["trouble"]))
                self._cures.tried += 1
                found[rung] = message
                yield self._progress()
            busy = [worker for worker in self._workers if worker.task is not None]
            if len(found) < len(rungs) and busy:
                busy[0].child.link.wait(min(self._wait, 0.02) if len(busy) > 1 else self._wait)
                yield self._progress()
        return found


class _Worker:
    """Process that simulates one run at a time."""

    def __init__(self, options: TrialOptions) -> None:
        self.child = Child("contact_viewer.compare.trials", options.as_message())
        self.task: tuple[Rung, int] | None = None
        """Change that the process works on, and the number of attempts before this one."""
        self.seconds = 0.0
        """Simulated time of a run [s]."""
        self._since = time.monotonic()

    def give(self, rung: Rung, attempt: int, whole: bool) -> None:
        """Start a run with a change."""
        self.task, self._since = (rung, attempt), time.monotonic()
        self.child.link.send({"changes": [str(change) for change in rung], "whole": whole}, wait=True)

    def receive(self, patience: float) -> Message | None:
        """Return the next message: a result, `error`, or `ended`; None if there is none yet."""
        link = self.child.link
        for message in link.receive():
            if "ready" in message:
                self.seconds, self._since = float(message["seconds"]), time.monotonic()
            elif self.task is not None or "error" in message:
                return message
        if self.task is None:
            return None
        if not link.is_open:
            return {"ended": "its process has ended", "slow": False}
        if time.monotonic() - self._since > patience:
            return {"ended": f"took longer than {patience:.0f} s", "slow": True}
        return None

    def end(self) -> None:
        """End the process at once."""
        self.child.process.kill()
        self.child.end()
