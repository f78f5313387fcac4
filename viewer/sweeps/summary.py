"""Turns the folder of a sweep into what a report shows: distributions, the worst runs, samples, failures."""

import heapq
import json
import math
import shlex
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from ..assets import is_bundled
from .place import Place
from .plan import SweepError
from .results import ABOUT_FILE, FAILURES_FILE, METRICS_FILE

VIDEOS = "videos"
"""Folder of runs that were filmed."""
BINS = 40
"""Of a histogram."""
_FINE = 4096
"""Bins from which quantiles are read."""
_SAMPLED = 1500
"""Runs, of those of a scene, whose values are shown one by one."""
_WORST = 60
"""Rows in which a metric is largest; several of them may be of one run."""
_FAILURES = 200
"""Failures that are listed; all are counted."""


@dataclass(frozen=True)
class Metric:
    """A figure that a report shows."""

    name: str
    """Of its column."""
    label: str
    unit: str
    scale: float = 1.0
    """Units per SI unit."""
    instant: str = ""
    """Column with the time at which there is something to see; empty for none."""


METRICS = (
    Metric("peak_force", "Peak force", "N", instant="peak_time"),
    Metric("mean_force", "Mean force in contact", "N", instant="peak_time"),
    Metric("impulse", "Impulse", "N s", instant="peak_time"),
    Metric("slip_distance", "Slip distance", "mm", 1e3, instant="slip_start"),
    Metric("slip_time", "Slip time", "s", instant="slip_start"),
    Metric("penetration", "Penetration", "mm", 1e3, instant="penetration_time"),
    Metric("contact_time", "Contact time", "s"),
    Metric("longest_air_time", "Longest air time", "s"),
    Metric("duty_factor", "Duty factor", ""),
    Metric("touchdowns", "Touchdowns", ""),
    Metric("dropped_contacts", "Dropped contacts", "", instant="drop_start"),
)
"""The largest value is the worst."""
BY_NAME = {metric.name: metric for metric in METRICS}


@dataclass
class Distribution:
    """A metric of one sensor over all runs of its scene; in the metric's unit."""

    count: int = 0
    low: float = math.inf
    high: float = -math.inf
    fine: NDArray[np.int64] = field(default_factory=lambda: np.zeros(_FINE, np.int64))

    def quantile(self, share: float) -> float:
        """The value below which a share of the runs lies, to a 4096th of the range; NaN without runs."""
        if not self.count:
            return math.nan
        place = int(np.searchsorted(np.cumsum(self.fine), share * self.count))
        return self._value(min(place, _FINE - 1))

    def histogram(self, low: float, high: float) -> list[int]:
        """Runs in each of BINS parts of a range that holds all of them."""
        bins = [0] * BINS
        for place in np.flatnonzero(self.fine).tolist():
            part = (self._value(place) - low) / (high - low) if high > low else 0.0
            bins[min(BINS - 1, int(part * BINS))] += int(self.fine[place])
        return bins

    def _value(self, place: int) -> float:
        """What stands for all values of a fine part: exact for the lowest and the highest."""
        return self.low + (self.high - self.low) * place / (_FINE - 1)


@dataclass
class Summary:
    """What a report shows of a sweep."""

    about: Mapping[str, Any]
    """What sweep.json says."""
    varied: tuple[str, ...]
    """Names of the columns of varied values."""
    rows: int = 0
    runs: int = 0
    sensors: dict[str, list[str]] = field(default_factory=dict)
    """Of each scene."""
    distributions: dict[tuple[str, str, str], Distribution] = field(default_factory=dict)
    """By scene, sensor and metric."""
    worst: dict[str, list[dict[str, Any]]] = field(default_factory=dict)
    """Rows in which each metric is largest, the largest first."""
    samples: list[dict[str, Any]] = field(default_factory=list)
    """Rows of some runs, evenly chosen; of all where there are few."""
    unstable: list[dict[str, Any]] = field(default_factory=list)
    """Rows of unstable runs, one a run, as many as there are worst ones ..."""
    unstable_count: int = 0
    """... and how many there are."""
    dropping_count: int = 0
    """Runs in which a sensor dropped contacts."""
    failures: list[dict[str, Any]] = field(default_factory=list)
    failure_count: int = 0
    videos: frozenset[str] = frozenset()
    """Names of the files of runs that were filmed."""

    def command(self, row: Mapping[str, Any], instant: float | None = None, name: str = "contact-viewer") -> list[str]:
        """The command that opens a run in the window, paused at an instant [s]."""
        plan = self.about["plan"]
        scene = Path(plan["scenes"][row["scene"]])
        words = [name, scene.stem if is_bundled(scene) else str(scene), "--seed", str(row["seed"])]
        if plan["key"] is not None:
            words += ["--key", plan["key"]]
        if plan["control"] is not None:
            words += ["--control", plan["control"].removesuffix(":control")]
        for param, value in plan["params"].items():
            words += ["--param", f"{param}={value}"]
        for text in plan["vary"]:
            words += ["--vary", text]
        if plan["noise"] is not None:
            words += ["--noise", plan["noise"]]
        if plan.get("logs"):
            words += ["--log", plan["logs"][list(plan["scenes"]).index(row["scene"])]]
            words += ["--demo", str(row["seed"])] if row["seed"] else []
            words[2:4] = []
        if instant is not None and not math.isnan(instant):
            words += ["--go-to", f"{instant:.6g}"]
        return words

    def shell(self, row: Mapping[str, Any], metric: Metric) -> str:
        """That command as a line for a shell, at the instant at which there is something to see of a metric."""
        instant = row.get("unstable_at") or row.get(metric.instant)
        return shlex.join(self.command(row, instant))


def summarise(place: Place) -> Summary:
    """Read a sweep, in bounded memory however many runs it has. SweepError if there is none."""
    place.bring(ABOUT_FILE, METRICS_FILE, FAILURES_FILE)
    about_path, metrics, failures = (place.folder / name for name in (ABOUT_FILE, METRICS_FILE, FAILURES_FILE))
    try:
        about = json.loads(about_path.read_text(encoding="utf-8"))
    except FileNotFoundError:
        raise SweepError(f"{place.name}: holds no sweep ({ABOUT_FILE} is missing)") from None
    except (OSError, ValueError) as error:
        raise SweepError(f"{place.path(ABOUT_FILE)}: cannot be read ({error})") from None
    summary = Summary(about, tuple(text.rpartition("=")[0] for text in about["plan"]["vary"]))
    summary.videos = frozenset(place.names(VIDEOS))
    if metrics.exists():
        every = max(1, math.ceil(about.get("finished", 0) / _SAMPLED / max(1, len(about["plan"]["scenes"]))))
        _first_pass(summary, metrics, every)
        _second_pass(summary, metrics)
    if failures.exists():
        for rows in _batches(failures):
            summary.failure_count += len(rows)
            summary.failures += rows[: _FAILURES - len(summary.failures)]
    if not summary.rows and not summary.failure_count:
        raise SweepError(f"{place.name}: no run of this sweep has finished yet")
    return summary


def _batches(path: Path) -> Iterator[list[dict[str, Any]]]:
    from pyarrow import lib, parquet

    try:
        with parquet.ParquetFile(path) as file:
            for batch in file.iter_batches(8192):
                yield batch.to_pylist()
    except (OSError, lib.ArrowException) as error:
        raise SweepError(f"{path}: cannot be read ({str(error).splitlines()[0]})") from None


def _first_pass(summary: Summary, path: Path, every: int) -> None:
    """Ranges, the worst rows, samples."""
    heaps: dict[str, list[tuple[float, int, dict[str, Any]]]] = {metric.name: [] for metric in METRICS}
    last: tuple[str, int] | None = None
    dropping: tuple[str, int] | None = None
    for rows in _batches(path):
        for row in rows:
            run = row["scene"], row["seed"]
            if run != last:
                last = run
                summary.runs += 1
                if row["unstable_at"] is not None:
                    summary.unstable_count += 1
                    if len(summary.unstable) < _WORST:
                        summary.unstable.append(row)
            if row["dropped_contacts"] and run != dropping:
                dropping = run
                summary.dropping_count += 1
            sensors = summary.sensors.setdefault(row["scene"], [])
            if row["sensor"] not in sensors:
                sensors.append(row["sensor"])
            if summary.runs % every == 0:
                summary.samples.append(row)
            summary.rows += 1
            for metric in METRICS:
                value = row[metric.name]
                if value is None:
                    continue
                value *= metric.scale
                key = row["scene"], row["sensor"], metric.name
                each = summary.distributions.setdefault(key, Distribution())
                each.count += 1
                each.low, each.high = min(each.low, value), max(each.high, value)
                heap = heaps[metric.name]
                if value > 0 and (len(heap) < _WORST or value > heap[0][0]):
                    # Of equals the first, whatever they hold.
                    heapq.heappush(heap, (value, -summary.rows, row))
                    if len(heap) > _WORST:
                        heapq.heappop(heap)
    summary.worst = {name: [row for _, _, row in sorted(heap, reverse=True)] for name, heap in heaps.items()}


def _second_pass(summary: Summary, path: Path) -> None:
    """How many runs there are at each value."""
    for rows in _batches(path):
        values: dict[tuple[str, str, str], list[float]] = {}
        for row in rows:
            for metric in METRICS:
                if row[metric.name] is not None:
                    key = row["scene"], row["sensor"], metric.name
                    values.setdefault(key, []).append(row[metric.name] * metric.scale)
        for key, column in values.items():
            each = summary.distributions[key]
            width = each.high - each.low
            places = (np.array(column) - each.low) / width * (_FINE - 1) if width else np.zeros(len(column))
            each.fine += np.bincount(np.rint(places).astype(int), minlength=_FINE)


def worst_runs(summary: Summary, metric: str, count: int) -> Sequence[dict[str, Any]]:
    """The runs in which a metric is largest in any sensor, each once, the worst first."""
    found: dict[tuple[str, int], dict[str, Any]] = {}
    for row in summary.worst.get(metric, ()):
        found.setdefault((row["scene"], row["seed"]), row)
    return list(found.values())[:count]


def video_name(row: Mapping[str, Any]) -> str:
    """The name of a run's film."""
    return f"{row['scene']}-{row['seed']}.mp4"
