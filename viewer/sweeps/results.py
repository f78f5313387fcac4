"""Turns the results of runs, in whatever order they come, into the folder of a sweep."""

import errno
import json
import os
import shutil
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import suppress
from pathlib import Path
from typing import Any

from ..errors import DiskFullError, SceneError, write_error
from ..files import PartFile, save_text
from ..recording.table_files import ParquetFile
from ..recording.tables import Block, Columns, Kind, as_column
from .place import JOURNAL, Place
from .plan import Plan, Run, SweepError
from .task import RunResult

try:
    import fcntl
except ImportError:  # Not on Windows: two sweeps into one folder are not told apart there.
    fcntl = None  # type: ignore[assignment]

METRICS: Columns = {
    "steps": Kind.INTEGER,
    "duration": Kind.NUMBER,
    "peak_force": Kind.NUMBER,
    "peak_time": Kind.NUMBER,
    "mean_force": Kind.NUMBER,
    "impulse": Kind.NUMBER,
    "impulse_x": Kind.NUMBER,
    "impulse_y": Kind.NUMBER,
    "impulse_z": Kind.NUMBER,
    "contact_time": Kind.NUMBER,
    "air_time": Kind.NUMBER,
    "longest_air_time": Kind.NUMBER,
    "duty_factor": Kind.NUMBER,
    "touchdowns": Kind.INTEGER,
    "slip_distance": Kind.NUMBER,
    "slip_time": Kind.NUMBER,
    "slip_start": Kind.NUMBER,
    "penetration": Kind.NUMBER,
    "penetration_time": Kind.NUMBER,
    "dropped_contacts": Kind.INTEGER,
    "dropped_time": Kind.NUMBER,
    "drop_start": Kind.NUMBER,
    "unstable_at": Kind.NUMBER,
    "wall_time": Kind.NUMBER,
}
"""Figures of a run and a sensor; SI units."""
METRICS_FILE, FAILURES_FILE, ABOUT_FILE = "metrics.parquet", "failures.parquet", "sweep.json"
_BUCKET = 1024
"""Runs of one file of it, and so rows that are in memory at once, a sensor."""
_FAILURE_COLUMNS: Columns = {"scene": Kind.TEXT, "seed": Kind.INTEGER, "reason": Kind.TEXT}
_FULL = (errno.ENOSPC, errno.EDQUOT)


class Results:
    """The folder of a sweep while it runs. Only what is in it at the end is in memory one part at a time."""

    def __init__(self, place: Place, plan: Plan, about: Mapping[str, Any], resume: bool) -> None:
        """`about`: what sweep.json says of the sweep; to resume one, "plan" and "files" have to be the same."""
        self.place = place
        self.folder = place.folder
        self.plan = plan
        self.finished = 0
        """Runs that came to their end."""
        self.failed = 0
        """Runs that did not."""
        self._about = dict(about)
        self._journal = self.folder / JOURNAL
        self._done = bytearray(plan.run_count)
        self._lock: int | None = None
        self._is_new = False
        self._was_complete = False
        try:
            self._open(resume)
        except OSError as error:
            self.close()
            raise write_error(self.folder, error) from None
        except BaseException:
            self.close()
            raise

    def pending(self) -> Iterator[Run]:
        """The runs that are not finished yet, in order."""
        return (run for run in self.plan.runs() if not self._done[run.number])

    def add(self, result: RunResult) -> None:
        """Keep a result: from now on it survives the end of the program. DiskFullError if there is no room for it."""
        if self._done[result.number]:
            return
        figures = [[row[name] for name in METRICS] for row in result.figures]
        entry = [result.number, result.failure, list(result.sensors), figures]
        line = json.dumps(entry, separators=(",", ":")).encode() + b"\n"
        run = self.plan.run(result.number)
        try:
            for table, data in result.parts.items():
                self.place.save(f"{table}/scene={self.plan.names[run.scene]}/seed={run.seed}/part.parquet", data)
            _append(self._bucket(result.number), line)
            self.place.note(line)
        except OSError as error:
            if error.errno in _FULL:
                raise DiskFullError(self.folder) from None
            raise write_error(self.folder, error) from None
        if result.failure is None:
            self._done[result.number] = 1
            self.finished += 1
        else:
            self.failed += 1

    def finish(self, more: Mapping[str, Any]) -> None:
        """Write the tables of all runs that have finished, whenever that was; `more` goes into sweep.json."""
        if self._was_complete:
            # There is nothing to add, and the journal that the tables were written from is gone.
            return
        columns = metric_columns(self.plan)
        try:
            self.place.flush()
            if self.finished:
                self._write_table(METRICS_FILE, columns, self._metric_rows)
            failures = self._write_table(FAILURES_FILE, _FAILURE_COLUMNS, self._failure_rows) if self.failed else 0
            if not failures:
                self._remove(FAILURES_FILE)
            self._save_about({**more, "finished": self.finished, "failed": failures})
        except OSError as error:
            if error.errno in _FULL:
                raise DiskFullError(self.folder) from None
            raise write_error(self.folder, error) from None
        if self.finished == self.plan.run_count:
            shutil.rmtree(self._journal, ignore_errors=True)
            self.place.remove(JOURNAL)

    def close(self) -> None:
        """Let other programs use the folder; one without a single result goes away. Safe twice."""
        with suppress(OSError, SceneError):
            self.place.flush()
        if self._is_new and not self.finished and not self.failed:
            shutil.rmtree(self._journal, ignore_errors=True)
            with suppress(OSError, SceneError):
                self._remove(ABOUT_FILE)
                self.folder.rmdir()
        if self._lock is not None:
            os.close(self._lock)
            self._lock = None

    def _open(self, resume: bool) -> None:
        place, about = self.place, self.folder / ABOUT_FILE
        place.bring(ABOUT_FILE)
        exists = about.exists()
        if self.folder.exists() and not self.folder.is_dir():
            raise SweepError(f"{place.name}: is not a folder")
        if exists and not resume:
            raise SweepError(f"{place.name}: holds a sweep already; --resume goes on with it")
        self._is_new = place.is_new
        self.folder.mkdir(parents=True, exist_ok=True)
        if exists:
            self._compare(json.loads(about.read_text(encoding="utf-8")))
            self._bring_journal()
        self._was_complete = exists and not self._journal.is_dir() and (self.folder / METRICS_FILE).exists()
        if self._was_complete:
            self._done = bytearray(b"\1") * self.plan.run_count
            self.finished = self.plan.run_count
            return
        self._journal.mkdir(exist_ok=True)
        self._take_lock()
        self._read_journal()
        self._save_about({})

    def _bring_journal(self) -> None:
        """Have here what another program, perhaps on another machine, has noted."""
        lines = self.place.journal()
        if not lines:
            # Then all runs have finished.
            self.place.bring(METRICS_FILE)
            return
        self._journal.mkdir(exist_ok=True)
        for line in lines:
            if line.endswith(b"\n"):
                _append(self._bucket(json.loads(line)[0]), line)

    def _bucket(self, number: int) -> Path:
        """The file that has the line of a run."""
        return self._journal / f"{number // _BUCKET:08d}.jsonl"

    def _remove(self, name: str) -> None:
        if (self.folder / name).exists():
            (self.folder / name).unlink()
        self.place.remove(name)

    def _take_lock(self) -> None:
        if fcntl is None:
            return
        self._lock = os.open(self._journal, os.O_RDONLY)
        try:
            fcntl.flock(self._lock, fcntl.LOCK_EX | fcntl.LOCK_NB)
        except BlockingIOError:
            raise SweepError(f"{self.place.name}: another program sweeps into it now") from None
        except OSError:  # Some network drives have no locks.
            pass

    def _compare(self, before: Mapping[str, Any]) -> None:
        """Refuse to go on with another sweep than the one that is there."""
        now = json.loads(json.dumps(self._about))
        for group in ("plan", "files"):
            old, new = before.get(group, {}), now.get(group, {})
            for name in sorted({*old, *new}):
                if old.get(name) != new.get(name):
                    raise SweepError(
                        f"{self.place.name}: holds another sweep: {name} was {_short(old.get(name))} "
                        f"and is {_short(new.get(name))}"
                    )

    def _read_journal(self) -> None:
        for path in self._journal.glob("*.jsonl"):
            _drop_incomplete_line(path)
        for bucket in self._buckets():
            for number, failure, _, _ in bucket.values():
                if failure is None:
                    self._done[number] = 1
                    self.finished += 1

    def _buckets(self) -> Iterator[dict[int, Sequence[Any]]]:
        """What is known of each run, some runs at a time, in the order of runs; what succeeded counts."""
        for path in sorted(self._journal.glob("*.jsonl")):
            known: dict[int, Sequence[Any]] = {}
            for line in path.read_bytes().split(b"\n"):
                if line:
                    entry = json.loads(line)
                    if known.get(entry[0], (0, ""))[1] is not None:
                        known[entry[0]] = entry
            yield dict(sorted(known.items()))

    def _metric_rows(self, entries: Sequence[Sequence[Any]]) -> Block:
        names, factors = self.plan.names, self.plan.randomisation
        rows: dict[str, list[Any]] = {name: [] for name in metric_columns(self.plan)}
        for number, failure, sensors, figures in entries:
            if failure is not None:
                continue
            run = self.plan.run(number)
            drawn = factors.factors(run.seed)
            for sensor, values in zip(sensors, figures, strict=True):
                row = {"scene": names[run.scene], "seed": run.seed, **drawn, "sensor": sensor}
                row.update(zip(METRICS, values, strict=True))
                for name, column in rows.items():
                    column.append(row[name])
        return _block(metric_columns(self.plan), rows)

    def _failure_rows(self, entries: Sequence[Sequence[Any]]) -> Block:
        names = self.plan.names
        failed = [(self.plan.run(number), failure) for number, failure, _, _ in entries if failure is not None]
        rows: dict[str, list[Any]] = {
            "scene": [names[run.scene] for run, _ in failed],
            "seed": [run.seed for run, _ in failed],
            "reason": [failure for _, failure in failed],
        }
        return _block(_FAILURE_COLUMNS, rows)

    def _write_table(self, name: str, columns: Columns, rows_of: Callable[[Sequence[Sequence[Any]]], Block]) -> int:
        """Write a table of all runs that are known; the number of its rows."""
        part, count = PartFile(self.folder / name), 0
        try:
            table = ParquetFile(part, columns, {"sweep": ABOUT_FILE})
            for bucket in self._buckets():
                block = rows_of(list(bucket.values()))
                size = len(next(iter(block.values())))
                if size:
                    table.write(block)
                count += size
            table.close()
        except BaseException:
            part.discard()
            raise
        part.commit()
        self.place.publish(name)
        return count

    def _save_about(self, more: Mapping[str, Any]) -> None:
        text = json.dumps({**self._about, **more}, indent=1, ensure_ascii=False)
        save_text(self.folder / ABOUT_FILE, text + "\n")
        self.place.publish(ABOUT_FILE)


def metric_columns(plan: Plan) -> Columns:
    """The columns of a sweep's metrics."""
    varied = {variation.key: Kind.NUMBER for variation in plan.randomisation.variations}
    return {"scene": Kind.TEXT, "seed": Kind.INTEGER, **varied, "sensor": Kind.TEXT, **METRICS}


def _block(columns: Columns, rows: Mapping[str, list[Any]]) -> Block:
    return {name: as_column(kind, rows[name]) for name, kind in columns.items()}


def _append(path: Path, line: bytes) -> None:
    """Add a line, whole or not at all."""
    file = os.open(path, os.O_WRONLY | os.O_CREAT | os.O_APPEND, 0o666)
    try:
        size = os.fstat(file).st_size
        try:
            left = memoryview(line)
            while left:
                left = left[os.write(file, left) :]
        except OSError:
            os.ftruncate(file, size)
            raise
    finally:
        os.close(file)


def _drop_incomplete_line(path: Path) -> None:
    """Remove what a program that was killed had not written whole."""
    data = path.read_bytes()
    if not data.endswith(b"\n"):
        os.truncate(path, data.rfind(b"\n") + 1)


def _short(value: Any) -> str:
    text = json.dumps(value)
    return text if len(text) <= 60 else f"{text[:57]}..."
