"""Computes the content of a report from the folder of a sweep: distributions, the worst runs, samples, failures."""

import heapq
import math
import shlex
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from ..assets import is_bundled
from ..processes import import_extra
from ..recording.tables import Columns, Kind
from .plan import SweepError
from .result_store import ResultStore
from .results import ABOUT_FILE, FAILURES_FILE, METRIC_COLUMNS, METRICS_FILE, read_about, read_table

VIDEOS = "videos"
PAGES = "pages"
"""Folder of the pages of runs."""
BINS = 40
"""Number of bins of a histogram."""
_FINE = 4096
"""Number of bins from which quantiles are read."""
_SAMPLED = 1500
"""Largest number of runs of a scene whose values are shown one by one."""
_WORST = 60
"""Number of rows that are kept as the worst of each metric; several may belong to one run."""
_FAILURES = 200
"""Largest number of failures that are listed; all are counted."""
_BATCH = 8192
"""Largest number of rows that are in memory at once."""
_LARGEST = 1e300
"""Limit above which a number counts as unknown, because sums would overflow."""
_SAMPLES = {Kind.TEXT: "", Kind.NUMBER: 0.0, Kind.INTEGER: 0}
"""Example value of each kind of column."""
_RUN: Columns = {"scene": Kind.TEXT, "seed": Kind.INTEGER}


_ABOUT: dict[str, Any] = {"command": [], "began": "", "runs": 0, "finished": 0, "runs_per_second": 0.0, "versions": {}}
"""Entries of sweep.json that the report uses, with defaults of the same type for damaged ones."""
_PLAN: dict[str, Any] = {
    "scenes": {},
    "duration": 0.0,
    "control": None,
    "params": {},
    "vary": [],
    "noise": None,
    "logs": [],
    "key": None,
}
"""Entries of the plan in sweep.json, with defaults; an entry whose default is None may also be a text."""


@dataclass(frozen=True)
class Metric:
    """Metric that a report shows."""

    name: str
    """Name of the metric's column."""
    label: str
    unit: str
    scale: float = 1.0
    """Factor from the SI unit to the unit shown."""
    instant: str = ""
    """Column with the time at which the run should be shown for this metric; empty for none."""


METRICS = (
    Metric("peak_force", "Peak force", "N", instant="peak_time"),
    Metric("mean_force", "Mean force in contact", "N", instant="peak_time"),
    Metric("impulse", "Impulse", "N s", instant="peak_time"),
    Metric("slip_distance", "Slip distance", "mm", 1e3, instant="slip_start"),
    Metric("slip_time", "Slip time", "s", instant="slip_start"),
    Metric("creep_distance", "Creep distance", "mm", 1e3, instant="creep_start"),
    Metric("creep_speed", "Creep speed", "mm/s", 1e3, instant="creep_start"),
    Metric("penetration", "Penetration", "mm", 1e3, instant="penetration_time"),
    Metric("contact_time", "Contact time", "s"),
    Metric("longest_air_time", "Longest air time", "s"),
    Metric("duty_factor", "Duty factor", ""),
    Metric("touchdowns", "Touchdowns", ""),
    Metric("dropped_contacts", "Dropped contacts", "", instant="drop_start"),
)
"""Metrics that a report shows; the largest value of each is the worst."""
BY_NAME = {metric.name: metric for metric in METRICS}


@dataclass
class Distribution:
    """Values of a metric of one sensor over all runs of its scene, in the metric's unit."""

    count: int = 0
    low: float = math.inf
    high: float = -math.inf
    fine: NDArray[np.int64] = field(default_factory=lambda: np.zeros(_FINE, np.int64))

    def quantile(self, share: float) -> float:
        """Return the value below which a share of the runs lies, to 1/4096 of the range; NaN without runs."""
        if not self.count:
            return math.nan
        place = int(np.searchsorted(np.cumsum(self.fine), share * self.count))
        return self._value(min(place, _FINE - 1))

    def histogram(self, low: float, high: float) -> list[int]:
        """Return the number of runs in each of BINS equal parts of a range that contains all values."""
        bins = [0] * BINS
        for place in np.flatnonzero(self.fine).tolist():
            part = (self._value(place) - low) / (high - low) if high > low else 0.0
            bins[min(BINS - 1, int(part * BINS))] += int(self.fine[place])
        return bins

    def _value(self, place: int) -> float:
        """Return a value that stands for all values of a fine bin; it is exact for the lowest and the highest bin."""
        return self.low + (self.high - self.low) * place / (_FINE - 1)


@dataclass
class Summary:
    """Content of the report of a sweep."""

    about: Mapping[str, Any]
    """Content of sweep.json."""
    varied: tuple[str, ...]
    """Names of the columns of varied values."""
    rows: int = 0
    runs: int = 0
    sensors: dict[str, list[str]] = field(default_factory=dict)
    """Sensors of each scene."""
    distributions: dict[tuple[str, str, str], Distribution] = field(default_factory=dict)
    """Distributions by scene, sensor and metric."""
    worst: dict[str, list[dict[str, Any]]] = field(default_factory=dict)
    """Rows in which each metric is largest, the largest first, by metric."""
    samples: list[dict[str, Any]] = field(default_factory=list)
    """Rows of some runs, evenly chosen; of all runs if there are few."""
    unstable: list[dict[str, Any]] = field(default_factory=list)
    """First rows of unstable runs, one row per run, at most `_WORST`."""
    unstable_count: int = 0
    """Number of unstable runs."""
    dropping_count: int = 0
    """Number of runs in which a sensor dropped contacts."""
    failures: list[dict[str, Any]] = field(default_factory=list)
    failure_count: int = 0
    videos: frozenset[str] = frozenset()
    """Names of the files of runs that were filmed."""
    pages: frozenset[str] = frozenset()
    """Names of the files of runs that were written as pages."""
    lost: list[str] = field(default_factory=list)
    """Sentences for the user about results that could not be read."""

    def command(self, row: Mapping[str, Any], instant: float | None = None, name: str = "contact-viewer") -> list[str]:
        """Return the command that opens a run in the window, paused at an instant [s]."""
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
            words += ["--episode", str(row["seed"])] if row["seed"] else []
            words[2:4] = []
        if instant is not None and not math.isnan(instant):
            words += ["--go-to", f"{instant:.6g}"]
        return words

    def shell(self, row: Mapping[str, Any], metric: Metric) -> str:
        """Return the result of `command` as a line for a shell, at the instant that shows a metric. Empty if sweep.json
        lacks the command of the run."""
        instant = row.get("unstable_at") or row.get(metric.instant)
        try:
            return shlex.join(self.command(row, instant))
        except LookupError:
            return ""


def summarise(store: ResultStore) -> Summary:
    """Read a sweep, in bounded memory for any number of runs. Raises SweepError if nothing of it can be read."""
    import_extra("pyarrow.parquet", "parquet", "reports need", SweepError)
    store.bring(ABOUT_FILE, METRICS_FILE, FAILURES_FILE)
    lost: list[str] = []
    about = _known_about(store, lost)
    summary = Summary(about, tuple(text.rpartition("=")[0] for text in about["plan"]["vary"]), lost=lost)
    summary.videos, summary.pages = frozenset(store.names(VIDEOS)), frozenset(store.names(PAGES))
    kinds: Columns = {**dict.fromkeys(summary.varied, Kind.NUMBER), **_RUN, "sensor": Kind.TEXT, **METRIC_COLUMNS}
    every = max(1, math.ceil(about["finished"] / _SAMPLED / max(1, len(about["plan"]["scenes"]))))
    _first_pass(summary, _batches(store, METRICS_FILE, kinds, lost), every)
    _second_pass(summary, _batches(store, METRICS_FILE, kinds, []))
    for rows in _batches(store, FAILURES_FILE, {**_RUN, "reason": Kind.TEXT}, lost):
        summary.failure_count += len(rows)
        summary.failures += rows[: _FAILURES - len(summary.failures)]
    if not summary.rows and not summary.failure_count:
        raise SweepError("; ".join(lost) or f"{store.name}: no run of this sweep has finished yet")
    return summary


def _known_about(store: ResultStore, lost: list[str]) -> dict[str, Any]:
    """Return the content of sweep.json, with defaults in place of damaged entries."""
    found: Any = {}
    try:
        found = read_about(store.folder / ABOUT_FILE)
    except FileNotFoundError:
        if not (store.folder / METRICS_FILE).exists():
            raise SweepError(f"{store.name}: holds no sweep ({ABOUT_FILE} is missing)") from None
        lost.append(f"{store.path(ABOUT_FILE)}: is missing")
    except (OSError, ValueError) as error:
        lost.append(f"{store.path(ABOUT_FILE)}: cannot be read ({error})")
    plan = found.get("plan")
    damaged = [] if isinstance(plan, dict) else ["plan"]
    known = _known(found, _ABOUT, damaged)
    known["plan"] = _known(plan if isinstance(plan, dict) else {}, _PLAN, damaged)
    if damaged and not lost:
        lost.append(f"{store.path(ABOUT_FILE)}: is damaged ({', '.join(damaged)})")
    return known


def _known(found: Any, wanted: Mapping[str, Any], damaged: list[str]) -> dict[str, Any]:
    known = dict(found)
    for name, default in wanted.items():
        if not _fits(known.setdefault(name, default), default):
            known[name] = default
            damaged.append(name)
    return known


def _fits(value: Any, default: Any) -> bool:
    """Return True if a value is of the type of a default: a collection of texts, a text or a finite number."""
    if isinstance(default, list | dict):
        texts = value.values() if isinstance(value, dict) else value
        return type(value) is type(default) and all(isinstance(text, str) for text in texts)
    if isinstance(default, int | float):
        kind = int if isinstance(default, int) else int | float
        return isinstance(value, kind) and abs(value) < _LARGEST
    return isinstance(value, str) or (default is None and value is None)


def _batches(store: ResultStore, name: str, kinds: Columns, lost: list[str]) -> Iterator[list[dict[str, Any]]]:
    """Yield rows of a table of a sweep, some at a time; unknown numbers are None. Unreadable rows are left out and
    noted in `lost`."""
    if not (store.folder / name).exists():
        return
    missing = 0
    try:
        for count, table in read_table(store.folder / name):
            for batch in () if table is None else table.to_batches(_BATCH):
                rows = _rows(batch, kinds)
                count -= len(rows)
                yield rows
            missing += count
    except SweepError as error:
        lost.append(str(error))
    if missing:
        lost.append(f"{store.path(name)}: rows that are damaged: {missing}")


def _rows(batch: Any, kinds: Columns) -> list[dict[str, Any]]:
    """Return the rows of a batch that name their run, and their sensor or failure."""
    columns: dict[str, list[Any]] = {}
    for name, kind in kinds.items():
        values = batch.column(name).to_pylist() if batch.schema.names.count(name) == 1 else [None] * len(batch)
        columns[name] = [value if _fits(value, _SAMPLES[kind]) else None for value in values]
    rows = [dict(zip(columns, row, strict=True)) for row in zip(*columns.values(), strict=True)]
    texts = [name for name, kind in kinds.items() if kind is Kind.TEXT or name == "seed"]
    return [row for row in rows if all(row[name] is not None for name in texts)]


def _first_pass(summary: Summary, batches: Iterator[list[dict[str, Any]]], every: int) -> None:
    """Read ranges, the worst rows, and samples into the summary."""
    heaps: dict[str, list[tuple[float, int, dict[str, Any]]]] = {metric.name: [] for metric in METRICS}
    last: tuple[str, int] | None = None
    dropping: tuple[str, int] | None = None
    for rows in batches:
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


def _second_pass(summary: Summary, batches: Iterator[list[dict[str, Any]]]) -> None:
    """Count the runs in each fine bin of the distributions."""
    for rows in batches:
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
    """Return the runs in which a metric is largest in any sensor, each once, the worst first."""
    found: dict[tuple[str, int], dict[str, Any]] = {}
    for row in summary.worst.get(metric, ()):
        found.setdefault((row["scene"], row["seed"]), row)
    return list(found.values())[:count]


def video_name(row: Mapping[str, Any]) -> str:
    """Return the file name of a run's video."""
    return f"{row['scene']}-{row['seed']}.mp4"


def page_name(row: Mapping[str, Any]) -> str:
    """Return the file name of a run's page."""
    return f"{row['scene']}-{row['seed']}.html"
