"""Timings of ours and of a peer, taken in turns, to figures that can be compared."""

import statistics
import time
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass

Work = Callable[[], float]
"""Does some work once and returns what was measured."""
OURS = "ours"


class Unavailable(Exception):
    """A peer that cannot be measured here; the message says why."""


@dataclass(frozen=True)
class Figure:
    """What was measured, over all repeats."""

    values: tuple[float, ...]

    @property
    def median(self) -> float:
        return statistics.median(self.values)

    @property
    def range(self) -> tuple[float, float]:
        """Lowest and highest."""
        return min(self.values), max(self.values)


@dataclass(frozen=True)
class Row:
    """One comparison."""

    name: str
    """Of the benchmark."""
    case: str
    """What ours did, for a person."""
    peer_name: str
    unit: str
    ours: Figure
    peer: Figure | None
    """None where the peer cannot be measured; `note` says why."""
    goal: float | None = None
    """The least ratio that is aimed at."""
    higher_is_better: bool = False
    note: str = ""

    @property
    def ratio(self) -> float | None:
        """How many times better ours is: above 1 it is ahead, whatever is measured."""
        if self.peer is None or not self.ours.median or not self.peer.median:
            return None
        ratio = self.ours.median / self.peer.median
        return ratio if self.higher_is_better else 1 / ratio


@dataclass(frozen=True)
class Measured:
    """What came of several works that were done in turns."""

    figures: Mapping[str, Figure]
    failures: Mapping[str, str]
    """Why the others have no figure."""

    def row(
        self,
        name: str,
        case: str,
        peer_name: str,
        unit: str,
        *,
        goal: float | None = None,
        higher_is_better: bool = False,
        note: str = "",
    ) -> Row:
        """Ours against the peer of that name; `note` only if there is such a peer."""
        ours, peer = self.figures[OURS], self.figures.get(peer_name)
        note = self.failures.get(peer_name, note)
        return Row(name, case, peer_name, unit, ours, peer, goal, higher_is_better, note)


def take_turns(works: Mapping[str, Work], repeats: int) -> Measured:
    """Do each work once, then each again, so that a machine that slows down slows them all down.

    A work that is Unavailable is not tried again; OURS has to work.
    """
    values: dict[str, list[float]] = {name: [] for name in works}
    failures: dict[str, str] = {}
    for _ in range(repeats):
        for name, work in works.items():
            if name in failures:
                continue
            try:
                values[name].append(work())
            except Unavailable as reason:
                if name == OURS:
                    raise
                failures[name] = str(reason)
    figures = {name: Figure(tuple(series)) for name, series in values.items() if name not in failures}
    return Measured(figures, failures)


def seconds(work: Callable[[], object], times: int = 1) -> float:
    """Time of one call, over so many of them."""
    start = time.perf_counter()
    for _ in range(times):
        work()
    return (time.perf_counter() - start) / times


def constant(value: float) -> Figure:
    """A peer that is a number, not a program."""
    return Figure((value,))


def per_repeat(combine: Callable[..., float], *figures: Figure) -> Figure:
    """A figure made of several that were measured in the same turns."""
    columns: Sequence[tuple[float, ...]] = list(zip(*(figure.values for figure in figures), strict=True))
    return Figure(tuple(combine(*column) for column in columns))
