"""Defines the plan of a sweep: every combination of a scene and a seed is a run with a number."""

import re
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from ..errors import SceneError
from ..mjmodel.variation import NOT_RANDOM, Randomisation

MAX_SEED = 2**63 - 1
MAX_RUNS = 10**9


class SweepError(SceneError):
    """Error of a sweep that cannot begin or continue; its message has one line."""


@dataclass(frozen=True)
class Run:
    """One run of a sweep: a scene and a seed."""

    number: int
    """Number of the run in the sweep."""
    scene: int
    """Number of the scene in the plan."""
    seed: int


@dataclass(frozen=True)
class Plan:
    """Runs of a sweep, and options that say which results are kept."""

    scenes: tuple[Path, ...]
    seeds: Sequence[int]
    duration: float
    """Simulated time of each run [s]; a log may end earlier."""
    control: str | None = None
    """File of a controller, with the name of its function if that is not `control`."""
    control_hash: str | None = None
    """Hash of the controller's file when the sweep began."""
    params: Mapping[str, Any] = field(default_factory=dict)
    """Values for constants of the controller's file, by name."""
    randomisation: Randomisation = NOT_RANDOM
    sensors: tuple[str, ...] = ()
    """Names of the sensors whose metrics are kept; all if empty."""
    key: str | None = None
    """Keyframe that runs start from."""
    watched: tuple[str, ...] = ()
    """Patterns of bodies and geoms that get contact sensors."""
    contacts: bool = False
    """True if the contacts of every step are kept."""
    events: bool = False
    """True if the contact events are kept."""
    logs: tuple[Path, ...] = ()
    """Logs to re-simulate, one for each of `scenes`; a seed is then the number of a run in its log. Empty to simulate
    the scenes."""

    @property
    def names(self) -> tuple[str, ...]:
        """Unique name of each scene, which can also be the name of a folder."""
        names: list[str] = []
        for path in self.logs or self.scenes:
            stem = re.sub(r"[^\w.+-]", "_", path.stem) or "scene"
            number = 1
            while (name := stem if number == 1 else f"{stem}-{number}") in names:
                number += 1
            names.append(name)
        return tuple(names)

    @property
    def run_count(self) -> int:
        return len(self.scenes) * len(self.seeds)

    def run(self, number: int) -> Run:
        """Return a run by its number."""
        scene, place = divmod(number, len(self.seeds))
        return Run(number, scene, self.seeds[place])

    def runs(self, first: int = 0) -> Iterator[Run]:
        """Yield the runs in order, beginning with the run number `first`."""
        return (self.run(number) for number in range(first, self.run_count))


def read_seeds(text: str) -> Sequence[int]:
    """Return the seeds in a text: `0:1000` (the last excluded), `0:1000:10`, `17`, or several of these with commas
    between."""
    parts = [_read_range(text, part.strip()) for part in text.split(",")]
    if len(parts) == 1:
        return parts[0]
    seeds = [seed for part in parts for seed in part]
    if len(set(seeds)) < len(seeds):
        raise SweepError(f"--seeds {text}: a seed is given twice")
    return tuple(seeds)


def check_seeds(seeds: Sequence[int]) -> Sequence[int]:
    """Return seeds from a program. Raises SweepError if they cannot be used."""
    if not len(seeds):
        raise SweepError("no seeds were given")
    if not isinstance(seeds, range):
        seeds = tuple(int(seed) for seed in seeds)
        if len(set(seeds)) < len(seeds):
            raise SweepError("a seed is given twice")
    if min(seeds[0], seeds[-1]) < 0 or (not isinstance(seeds, range) and min(seeds) < 0):
        raise SweepError("seeds must be whole numbers of at least 0")
    return seeds


def _read_range(whole: str, text: str) -> range:
    if not re.fullmatch(r"\d+(:\d+(:\d+)?)?", text):
        raise SweepError(f"--seeds {whole}: {text!r} is not a seed, nor a range such as 0:1000")
    first, *rest = map(int, text.split(":"))
    if rest[1:] == [0]:
        raise SweepError(f"--seeds {whole}: the step is 0; 0:1000:10 has every tenth seed")
    seeds = range(first, *rest) if rest else range(first, first + 1)
    if not seeds:
        raise SweepError(f"--seeds {whole}: the range is empty; 0:10 has the seeds 0 to 9")
    if seeds[-1] > MAX_SEED or len(seeds) > MAX_RUNS:
        raise SweepError(f"--seeds {whole}: too large")
    return seeds
