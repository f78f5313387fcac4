"""Turns the results of runs, in whatever order they come, into the folder of a sweep."""

import errno
import json
import os
import re
import shutil
import zlib
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager, suppress
from pathlib import Path
from typing import Any

from ..errors import DiskFullError, SceneError, write_error
from ..files import PartFile, save_text, sync
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
_LINE = re.compile(rb"\[(\d{1,10}),(.*)\]", re.DOTALL)
"""Of the journal: a checksum, and what is known of a run."""
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
        self.lost: list[str] = []
        """What of an earlier program could not be used, for a user."""
        self._about = dict(about)
        self._names = plan.names
        self._tables = [table for table, wanted in (("contacts", plan.contacts), ("events", plan.events)) if wanted]
        self._journal = self.folder / JOURNAL
        # Lines of another sweep have another checksum.
        self._checksum = zlib.crc32(json.dumps([about["plan"], about["files"]], sort_keys=True).encode())
        self._damaged = 0
        self._done = bytearray(plan.run_count)
        self._lock: int | None = None
        self._made_folder = False
        self._is_new = False
        """True if this program began the sweep that is in the folder."""
        self._was_complete = False
        try:
            with self._writing():
                self._open(resume)
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
        text = json.dumps(entry, separators=(",", ":")).encode()
        line, bucket = b"[%d,%s]\n" % (zlib.crc32(text, self._checksum), text), self._bucket(result.number)
        with self._writing():
            for table, data in result.parts.items():
                self.place.save(self._part(table, self.plan.run(result.number)), data)
            _append(bucket, line)
            self.place.note(line, bucket)
        if result.failure is None:
            self._done[result.number] = 1
            self.finished += 1
        else:
            self.failed += 1

    def flush(self, now: bool = True) -> None:
        """Have what was added on the disk, or at its address: at once, or if it has waited long enough."""
        with self._writing():
            self.place.flush(now)

    def finish(self, more: Mapping[str, Any]) -> None:
        """Write the tables of all runs that have finished, whenever that was; `more` goes into sweep.json."""
        if self._was_complete:
            # There is nothing to add, and the journal that the tables were written from is gone.
            return
        columns = metric_columns(self.plan)
        with self._writing():
            self.place.flush()
            if self.finished:
                self._write_table(METRICS_FILE, columns, self._metric_rows)
            failures = self._write_table(FAILURES_FILE, _FAILURE_COLUMNS, self._failure_rows) if self.failed else 0
            if not failures:
                self._remove(FAILURES_FILE)
            self._save_about({**more, "finished": self.finished, "failed": failures})
        if self.finished == self.plan.run_count:
            with suppress(OSError):  # Not every file system can.
                sync(self.folder)
            self._remove_journal()

    def close(self) -> None:
        """Let other programs use the folder; one without a single result goes away. Safe twice."""
        with suppress(OSError, SceneError):
            self.place.flush()
        if self._is_new and not self.finished and not self.failed:
            # The journal goes last: as long as it is there, its lock keeps others from beginning.
            with suppress(OSError, SceneError):
                self._remove(ABOUT_FILE)
            shutil.rmtree(self._journal, ignore_errors=True)
        self._is_new = False
        # What was made, as long as it is empty.
        for folder, is_ours in ((self._journal, self._lock is not None), (self.folder, self._made_folder)):
            if is_ours:
                with suppress(OSError):
                    folder.rmdir()
        if self._lock is not None:
            os.close(self._lock)
            self._lock = None

    def _open(self, resume: bool) -> None:
        try:
            self.folder.mkdir(parents=True)
            self._made_folder = True
        except FileExistsError:
            if not self.folder.is_dir():
                raise SweepError(f"{self.place.name}: is not a folder") from None
        self._was_complete = self._find_complete(resume)
        if not self._was_complete:
            self._take_lock()
            # Once more: another program may have begun, or finished, before this one had the lock.
            self._was_complete = self._find_complete(resume)
        if self._was_complete:
            self._done = bytearray(b"\1") * self.plan.run_count
            self.finished = self.plan.run_count
            self._remove_journal()
            return
        self._is_new = not self._holds_sweep()
        for name in (ABOUT_FILE, METRICS_FILE, FAILURES_FILE):
            if (self.folder / name).is_dir():
                raise SweepError(f"{self.place.path(name)}: is a folder; remove it to go on")
        self._bring_journal()
        self._read_journal()
        self._save_about({})

    def _holds_sweep(self) -> bool:
        files = (self.folder / name for name in (ABOUT_FILE, METRICS_FILE))
        return any(file.exists() for file in files) or any(self._journal.glob("*.jsonl"))

    def _find_complete(self, resume: bool) -> bool:
        """True if the folder holds this sweep with all its runs. Refuse one that holds another, or is not to resume."""
        self.place.bring(ABOUT_FILE)
        if not self._holds_sweep():
            return False
        if not resume:
            raise SweepError(f"{self.place.name}: holds a sweep already; --resume goes on with it")
        self.lost = []
        try:
            before = read_about(self.folder / ABOUT_FILE)
            self._compare(before)
        except SweepError:
            raise
        except (OSError, ValueError) as error:
            # Which runs have finished is in the journal, and so is of which sweep they are.
            self.lost.append(f"{ABOUT_FILE} could not be read ({error})")
            return False
        if before.get("finished") != self.plan.run_count:
            return False
        self.place.bring(METRICS_FILE)
        whole, columns = 0, list(metric_columns(self.plan))
        try:
            for count, table in read_table(self.folder / METRICS_FILE):
                whole += count if table is not None and table.column_names == columns else -self.plan.run_count
        except SweepError as error:
            self.lost.append(str(error))
            return False
        if whole < self.plan.run_count:
            self.lost.append(f"rows of {METRICS_FILE} are missing or damaged")
        return whole >= self.plan.run_count

    def _bring_journal(self) -> None:
        """Have here what another program, perhaps on another machine, has noted."""
        for line in self.place.journal():
            entry = self._entry(line.rstrip(b"\n"))
            if entry is not None:
                _append(self._bucket(entry[0]), line.rstrip(b"\n") + b"\n")
            self._damaged += entry is None

    def _bucket(self, number: int) -> Path:
        """The file that has the line of a run."""
        return self._journal / f"{number // _BUCKET:08d}.jsonl"

    def _remove(self, name: str) -> None:
        if (self.folder / name).exists():
            (self.folder / name).unlink()
        self.place.remove(name)

    def _remove_journal(self) -> None:
        shutil.rmtree(self._journal, ignore_errors=True)
        self.place.remove(JOURNAL)

    def _take_lock(self) -> None:
        """Have the journal, or be refused. Only the program that has it changes anything in the folder."""
        while self._lock is None:
            try:
                self._journal.mkdir(parents=True, exist_ok=True)
                if fcntl is None:
                    return
                lock = os.open(self._journal, os.O_RDONLY | os.O_DIRECTORY)
            except FileNotFoundError:  # The program that had it has removed it meanwhile.
                continue
            except (FileExistsError, NotADirectoryError):
                raise SweepError(f"{self.place.path(JOURNAL)}: is not a folder; remove it to go on") from None
            try:
                fcntl.flock(lock, fcntl.LOCK_EX | fcntl.LOCK_NB)
                # Not one that was removed meanwhile: another program has the next.
                if os.path.samestat(os.fstat(lock), os.stat(self._journal)):
                    self._lock = lock
            except BlockingIOError:
                raise SweepError(f"{self.place.name}: another program sweeps into it now") from None
            except FileNotFoundError:
                continue
            except OSError:  # Some network drives have no locks.
                self._lock = lock
            finally:
                if self._lock is None:
                    os.close(lock)

    def _compare(self, before: Mapping[str, Any]) -> None:
        """Refuse to go on with another sweep than the one that is there."""
        now = json.loads(json.dumps(self._about))
        for group in ("plan", "files"):
            old, new = before.get(group), now[group]
            if not isinstance(old, dict):
                raise ValueError(f"its {group} is missing")
            for name in sorted({*old, *new}):
                if old.get(name) != new.get(name):
                    raise SweepError(
                        f"{self.place.name}: holds another sweep: {name} was {_short(old.get(name))} "
                        f"and is {_short(new.get(name))}"
                    )

    def _read_journal(self) -> None:
        for path in self._journal.glob("*.jsonl"):
            _drop_incomplete_line(path)
        partless = 0
        for bucket in self._buckets():
            for number, failure, _, _ in bucket.values():
                if failure is None:
                    run = self.plan.run(number)
                    whole = all(self.place.has(self._part(table, run)) for table in self._tables)
                    self._done[number] = whole
                    self.finished += whole
                    partless += not whole
        if self._damaged:
            self.lost.append(f"lines of the journal {JOURNAL} that could not be read: {self._damaged}")
        if partless:
            self.lost.append(f"runs whose {' or '.join(self._tables)} are missing or damaged: {partless}")

    def _buckets(self) -> Iterator[dict[int, Sequence[Any]]]:
        """What is known of each run, some runs at a time, in the order of runs; what succeeded counts."""
        for path in sorted(self._journal.glob("*.jsonl")):
            known: dict[int, Sequence[Any]] = {}
            for line in _read(path).split(b"\n"):
                entry = self._entry(line)
                if entry is None or self._bucket(entry[0]) != path:
                    self._damaged += bool(line)
                elif known.get(entry[0], (0, ""))[1] is not None:
                    known[entry[0]] = entry
            yield dict(sorted(known.items()))

    def _entry(self, line: bytes) -> Sequence[Any] | None:
        """Number, failure, sensors and figures of a run; None for a line that this sweep has not written so."""
        match = _LINE.fullmatch(line)
        if match is None or zlib.crc32(match[2], self._checksum) != int(match[1]):
            return None
        entry: Sequence[Any] = json.loads(match[2])
        return entry

    def _part(self, table: str, run: Run) -> str:
        """The file of a run's contacts or events."""
        return f"{table}/scene={self._names[run.scene]}/seed={run.seed}/part.parquet"

    def _metric_rows(self, entries: Sequence[Sequence[Any]]) -> Block:
        names, factors = self._names, self.plan.randomisation
        rows: dict[str, list[Any]] = {name: [] for name in metric_columns(self.plan)}
        for number, failure, sensors, figures in entries:
            if failure is not None or not self._done[number]:
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
        names = self._names
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
            # Before the journal that it was written from is removed.
            sync(part.part)
        except BaseException:
            part.discard()
            raise
        part.commit()
        self.place.publish(name)
        return count

    @contextmanager
    def _writing(self) -> Iterator[None]:
        """Turn what a disk refuses into one line."""
        try:
            yield
        except OSError as error:
            if error.errno in _FULL:
                raise DiskFullError(self.folder) from None
            raise write_error(Path(error.filename2 or error.filename or self.folder), error) from None

    def _save_about(self, more: Mapping[str, Any]) -> None:
        text = json.dumps({**self._about, **more}, indent=1, ensure_ascii=False)
        save_text(self.folder / ABOUT_FILE, text + "\n")
        self.place.publish(ABOUT_FILE)


def metric_columns(plan: Plan) -> Columns:
    """The columns of a sweep's metrics."""
    varied = {variation.key: Kind.NUMBER for variation in plan.randomisation.variations}
    return {"scene": Kind.TEXT, "seed": Kind.INTEGER, **varied, "sensor": Kind.TEXT, **METRICS}


def read_about(path: Path) -> dict[str, Any]:
    """What sweep.json says. OSError or ValueError if it cannot be read."""
    try:
        about = json.loads(path.read_bytes())
    except RecursionError:
        raise ValueError("it is nested too deeply") from None
    if not isinstance(about, dict):
        raise ValueError("it is not an object")
    return about


def read_table(path: Path) -> Iterator[tuple[int, Any]]:
    """The row groups of a Parquet file, each with the number of its rows: as a table, or None if it is damaged.

    SweepError if nothing of the file can be read.
    """
    from pyarrow import parquet

    try:
        file = parquet.ParquetFile(path)
    except Exception as error:
        # Of damaged files the library raises whatever it meets.
        raise SweepError(f"{path}: cannot be read ({_reason(error)})") from None
    with file:
        for number in range(file.num_row_groups):
            try:
                table = file.read_row_group(number)
                table.validate(full=True)
            except Exception:
                table = None
            yield file.metadata.row_group(number).num_rows, table


def _reason(error: BaseException) -> str:
    return (str(error).strip() or type(error).__name__).splitlines()[0]


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


def _read(path: Path) -> bytes:
    try:
        return path.read_bytes()
    except OSError as error:
        raise SweepError(f"{path}: cannot be read ({error.strerror}); remove it to go on") from None


def _drop_incomplete_line(path: Path) -> None:
    """Remove what a program that was killed had not written whole."""
    data = _read(path)
    if not data.endswith(b"\n"):
        os.truncate(path, data.rfind(b"\n") + 1)


def _short(value: Any) -> str:
    text = json.dumps(value)
    return text if len(text) <= 60 else f"{text[:57]}..."
