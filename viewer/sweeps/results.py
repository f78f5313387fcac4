"""Stores the results of runs, in whatever order they come, in the folder of a sweep."""

import errno
import io
import json
import os
import re
import shutil
import time
import uuid
import zlib
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from contextlib import contextmanager, suppress
from pathlib import Path
from typing import Any

from ..errors import DiskFullError, SceneError, write_error
from ..files import PartFile, save_text, sync
from ..recording.table_files import parquet_schema
from ..recording.tables import Columns, Kind
from .plan import Plan, Run, SweepError
from .result_store import JOURNAL, ResultStore
from .task import RunResult

try:
    import fcntl
except ImportError:  # Not on Windows: two sweeps into one folder are not told apart there.
    fcntl = None  # type: ignore[assignment]

METRIC_COLUMNS: Columns = {
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
    "creep_distance": Kind.NUMBER,
    "creep_speed": Kind.NUMBER,
    "creep_start": Kind.NUMBER,
    "penetration": Kind.NUMBER,
    "penetration_time": Kind.NUMBER,
    "dropped_contacts": Kind.INTEGER,
    "dropped_time": Kind.NUMBER,
    "drop_start": Kind.NUMBER,
    "unstable_at": Kind.NUMBER,
    "wall_time": Kind.NUMBER,
}
"""Columns of the metrics of a run and a sensor, in SI units, with their kinds."""
METRICS_FILE, FAILURES_FILE, ABOUT_FILE = "metrics.parquet", "failures.parquet", "sweep.json"
_RUNS = 1024
"""Largest number of runs whose rows are in memory at once."""
_BYTES = 16 * 2**20
"""Largest size of contacts and events that wait to be saved [bytes]."""
_FAILURE_COLUMNS: Columns = {"scene": Kind.TEXT, "seed": Kind.INTEGER, "reason": Kind.TEXT}
_JOURNAL_COLUMNS: Columns = {"run": Kind.INTEGER, "failure": Kind.TEXT}
"""Columns of a journal file in addition to the metrics: number of the run, and the reason of its failure or null."""
_JOURNAL_FILE = re.compile(r"(\d{10})-(\d{10})-\w+\.parquet")
"""Pattern of the names of journal files, which begin with the numbers of the first and the last run in the file."""
_FULL = (errno.ENOSPC, errno.EDQUOT)


class Results:
    """The folder of a sweep while it runs.

    Results are written to the journal: Parquet files of some runs each. At the end, the tables are made from the
    journal, in the order of the runs.
    """

    def __init__(self, store: ResultStore, plan: Plan, about: Mapping[str, Any], resume: bool) -> None:
        """Open results. `about`: content of sweep.json; to resume a sweep, its "plan" and "files" have to be the
        same."""
        self.store = store
        self.folder = store.folder
        self.plan = plan
        self.finished = 0
        """Number of runs that finished without a failure."""
        self.failed = 0
        """Number of runs that failed."""
        self.lost: list[str] = []
        """Sentences for the user about results of an earlier program that could not be used."""
        self._about = dict(about)
        self._names = plan.names
        self._tables = [table for table, wanted in (("contacts", plan.contacts), ("events", plan.events)) if wanted]
        self._journal = self.folder / JOURNAL
        # Files of another sweep have another schema.
        sweep = zlib.crc32(json.dumps([about["plan"], about["files"]], sort_keys=True).encode())
        self._schema = parquet_schema({**_JOURNAL_COLUMNS, **metric_columns(plan)}, {"sweep": str(sweep)})
        self._rows: list[dict[str, Any]] = []
        """Rows of the journal that wait to be saved."""
        self._parts: dict[str, bytes] = {}
        """Contacts and events of the runs in `_rows`, by the names of their files."""
        self._since = 0.0
        """Time at which the oldest waiting result arrived [s]."""
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
        """Return the runs that are not finished yet, in order."""
        return (run for run in self.plan.runs() if not self._done[run.number])

    def add(self, result: RunResult) -> None:
        """Keep a result until `flush` saves it. Raises DiskFullError if there is no room for it."""
        if self._done[result.number]:
            return
        run = self.plan.run(result.number)
        named: dict[str, Any] = {
            "run": run.number,
            "failure": result.failure,
            "scene": self._names[run.scene],
            "seed": run.seed,
        }
        if not self._rows:
            self._since = time.monotonic()
        if result.failure is None:
            named |= self.plan.randomisation.factors(run.seed)
            for sensor, figures in zip(result.sensors, result.figures, strict=True):
                self._rows.append({**named, "sensor": sensor, **figures})
            self._done[run.number] = 1
            self.finished += 1
        else:
            self._rows.append(named)
            self.failed += 1
        self._parts |= {self._part(table, run): data for table, data in result.parts.items()}
        self.flush(now=len(self._rows) >= _RUNS or sum(map(len, self._parts.values())) > _BYTES)

    def flush(self, now: bool = True) -> None:
        """Save the added results in the store: at once, or only if they have waited long enough."""
        if not self._rows or not (now or time.monotonic() - self._since > self.store.patience):
            return
        numbers = [row["run"] for row in self._rows]
        name = f"{JOURNAL}/{min(numbers):010d}-{max(numbers):010d}-{uuid.uuid4().hex}.parquet"
        with self._writing():
            # The journal last: a run has finished when its parts are there.
            self.store.save(self._parts)
            self.store.save({name: _parquet_bytes(_table(self._schema, self._rows))})
        self._rows, self._parts = [], {}

    def finish(self, more: Mapping[str, Any]) -> None:
        """Write the tables of all finished runs, those of earlier programs too. `more`: further entries of
        sweep.json."""
        if self._was_complete:
            # There is nothing to add, and the journal that the tables were written from is gone.
            return
        self.flush()
        with self._writing():
            if self.finished:
                self._write_table(METRICS_FILE, metric_columns(self.plan), self._metric_rows)
            failures = self._write_table(FAILURES_FILE, _FAILURE_COLUMNS, _failure_rows) if self.failed else 0
            if not failures:
                self._remove(FAILURES_FILE)
            self._save_about({**more, "finished": self.finished, "failed": failures})
        if self.finished == self.plan.run_count:
            with suppress(OSError):  # Not every file system can.
                sync(self.folder)
            self._remove_journal()

    def close(self) -> None:
        """Release the folder for other programs; remove a new one that has no result. Safe to call twice."""
        with suppress(OSError, SceneError):
            self.flush()
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
                raise SweepError(f"{self.store.name}: is not a folder") from None
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
                raise SweepError(f"{self.store.path(name)}: is a folder; remove it to continue")
        self.store.bring(*(f"{JOURNAL}/{name}" for name in self.store.names(JOURNAL) if _JOURNAL_FILE.fullmatch(name)))
        self._read_journal()
        self._save_about({})

    def _holds_sweep(self) -> bool:
        files = (self.folder / name for name in (ABOUT_FILE, METRICS_FILE))
        return any(file.exists() for file in files) or any(self._journal.glob("*.parquet"))

    def _find_complete(self, resume: bool) -> bool:
        """Return True if the folder has this sweep with all its runs. Raises SweepError if it has another sweep, or if
        `resume` is false."""
        self.store.bring(ABOUT_FILE)
        if not self._holds_sweep():
            return False
        if not resume:
            raise SweepError(f"{self.store.name}: has a sweep already: continue it with --resume")
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
        self.store.bring(METRICS_FILE)
        whole, columns = 0, list(metric_columns(self.plan))
        try:
            for count, table in read_table(self.folder / METRICS_FILE):
                whole += count if table is not None and table.column_names == columns else -self.plan.run_count
        except SweepError as error:
            self.lost.append(str(error))
            return False
        if whole < self.plan.run_count:
            self.lost.append(f"rows of {METRICS_FILE} are missing or damaged")
            return False
        partless = sum(not self._has_parts(run) for run in self.plan.runs())
        self._note_partless(partless)
        return not partless

    def _remove(self, name: str) -> None:
        if (self.folder / name).exists():
            (self.folder / name).unlink()
        self.store.remove(name)

    def _remove_journal(self) -> None:
        shutil.rmtree(self._journal, ignore_errors=True)
        self.store.remove(JOURNAL)

    def _take_lock(self) -> None:
        """Lock the journal. Only the program that has the lock changes anything in the folder. Raises SweepError."""
        while self._lock is None:
            try:
                self._journal.mkdir(parents=True, exist_ok=True)
                if fcntl is None:
                    return
                lock = os.open(self._journal, os.O_RDONLY | os.O_DIRECTORY)
            except FileNotFoundError:  # The program that had it has removed it meanwhile.
                continue
            except (FileExistsError, NotADirectoryError):
                raise SweepError(f"{self.store.path(JOURNAL)}: is not a folder; remove it to continue") from None
            try:
                fcntl.flock(lock, fcntl.LOCK_EX | fcntl.LOCK_NB)
                # Not one that was removed meanwhile: another program has the next.
                if os.path.samestat(os.fstat(lock), os.stat(self._journal)):
                    self._lock = lock
            except BlockingIOError:
                raise SweepError(f"{self.store.name}: another program is writing a sweep into it") from None
            except FileNotFoundError:
                continue
            except OSError:  # Some network drives have no locks.
                self._lock = lock
            finally:
                if self._lock is None:
                    os.close(lock)

    def _compare(self, before: Mapping[str, Any]) -> None:
        """Raise SweepError if the folder has another sweep than this one."""
        now = json.loads(json.dumps(self._about))
        for group in ("plan", "files"):
            old, new = before.get(group), now[group]
            if not isinstance(old, dict):
                raise ValueError(f"its {group} is missing")
            for name in sorted({*old, *new}):
                if old.get(name) != new.get(name):
                    raise SweepError(
                        f"{self.store.name}: holds another sweep: {name} was {_short(old.get(name))} "
                        f"and is {_short(new.get(name))}"
                    )

    def _read_journal(self) -> None:
        """Read from the journal which runs have finished."""
        damaged = partless = 0
        for _, _, path in self._journal_files():
            if (table := self._read(path)) is None:
                damaged += 1
                continue
            for row in table.select(list(_JOURNAL_COLUMNS)).to_pylist():
                if row["failure"] is None:
                    self._done[row["run"]] = 1
        for number in (number for number, is_done in enumerate(self._done) if is_done):
            if self._tables and not self._has_parts(self.plan.run(number)):
                self._done[number] = 0
                partless += 1
        self.finished = sum(self._done)
        if damaged:
            self.lost.append(f"files of the journal {JOURNAL} that could not be read: {damaged}")
        self._note_partless(partless)

    def _has_parts(self, run: Run) -> bool:
        """Return True if all wanted contacts and events of a run were saved."""
        return all(self.store.has(self._part(table, run)) for table in self._tables)

    def _note_partless(self, count: int) -> None:
        """Note how many runs have to be simulated again because their contacts or events are missing."""
        if count:
            self.lost.append(f"runs whose {' or '.join(self._tables)} are missing or damaged: {count}")

    def _journal_files(self) -> list[tuple[int, int, Path]]:
        """Return the first and the last run of each file of the journal, and its path."""
        found = [(_JOURNAL_FILE.fullmatch(path.name), path) for path in sorted(self._journal.glob("*.parquet"))]
        return [(int(match[1]), int(match[2]), path) for match, path in found if match is not None]

    def _read(self, path: Path) -> Any:
        """Return the rows of a file of the journal; None if the file is damaged or belongs to another sweep."""
        from pyarrow import parquet

        try:
            table = parquet.read_table(path, page_checksum_verification=True)
        except Exception:
            # Of damaged files the library raises whatever it meets.
            return None
        return table if table.schema.equals(self._schema, check_metadata=True) else None

    def _journal_rows(self) -> Iterator[list[dict[str, Any]]]:
        """Yield the rows of all known runs in their order, some runs at a time; of a repeated run, a success replaces a
        failure."""
        files = self._journal_files()
        for first in range(0, self.plan.run_count, _RUNS):
            known: dict[int, list[dict[str, Any]]] = {}
            for path in (path for low, high, path in files if low < first + _RUNS and high >= first):
                rows: dict[int, list[dict[str, Any]]] = {}
                for row in [] if (table := self._read(path)) is None else table.to_pylist():
                    if first <= row["run"] < first + _RUNS:
                        rows.setdefault(row["run"], []).append(row)
                known |= {
                    number: own for number, own in rows.items() if number not in known or own[0]["failure"] is None
                }
            yield [row for number in sorted(known) for row in known[number]]

    def _part(self, table: str, run: Run) -> str:
        """Return the name of the file with a run's contacts or events."""
        return f"{table}/scene={self._names[run.scene]}/seed={run.seed}/part.parquet"

    def _metric_rows(self, rows: Iterable[dict[str, Any]]) -> list[dict[str, Any]]:
        return [row for row in rows if row["failure"] is None and self._done[row["run"]]]

    def _write_table(
        self, name: str, columns: Columns, choose: Callable[[list[dict[str, Any]]], list[dict[str, Any]]]
    ) -> int:
        """Write a table of the rows that `choose` returns, and return their number."""
        from pyarrow import parquet

        part, count, schema = PartFile(self.folder / name), 0, parquet_schema(columns, {"sweep": ABOUT_FILE})
        try:
            with part.open() as file, parquet.ParquetWriter(file, schema) as writer:
                for rows in map(choose, self._journal_rows()):
                    if rows:
                        writer.write_table(_table(schema, rows))
                    count += len(rows)
            # Before the journal that it was written from is removed.
            sync(part.part)
        except BaseException:
            part.discard()
            raise
        part.commit()
        self.store.publish(name)
        return count

    @contextmanager
    def _writing(self) -> Iterator[None]:
        """Raise any error of the disk as an error of one line."""
        try:
            yield
        except OSError as error:
            if error.errno in _FULL:
                raise DiskFullError(self.folder) from None
            raise write_error(Path(error.filename2 or error.filename or self.folder), error) from None

    def _save_about(self, more: Mapping[str, Any]) -> None:
        text = json.dumps({**self._about, **more}, indent=1, ensure_ascii=False)
        save_text(self.folder / ABOUT_FILE, text + "\n")
        self.store.publish(ABOUT_FILE)


def metric_columns(plan: Plan) -> Columns:
    """Return the columns of a sweep's metrics."""
    varied = {variation.key: Kind.NUMBER for variation in plan.randomisation.variations}
    return {"scene": Kind.TEXT, "seed": Kind.INTEGER, **varied, "sensor": Kind.TEXT, **METRIC_COLUMNS}


def read_about(path: Path) -> dict[str, Any]:
    """Return the content of sweep.json. Raises OSError or ValueError if it cannot be read."""
    try:
        about = json.loads(path.read_bytes())
    except RecursionError:
        raise ValueError("it is nested too deeply") from None
    if not isinstance(about, dict):
        raise ValueError("it is not an object")
    return about


def read_table(path: Path) -> Iterator[tuple[int, Any]]:
    """Yield the row groups of a Parquet file, each with its number of rows: as a table, or None if it is damaged.

    Raises SweepError if nothing of the file can be read.
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


def _failure_rows(rows: Iterable[dict[str, Any]]) -> list[dict[str, Any]]:
    return [{**row, "reason": row["failure"]} for row in rows if row["failure"] is not None]


def _table(schema: Any, rows: Sequence[Mapping[str, Any]]) -> Any:
    """Return rows as a table of Arrow; missing values and NaN are null."""
    import pyarrow

    columns = [pyarrow.array([row.get(field.name) for row in rows], field.type, from_pandas=True) for field in schema]
    return pyarrow.Table.from_arrays(columns, schema=schema)


def _parquet_bytes(table: Any) -> bytes:
    from pyarrow import parquet

    file = io.BytesIO()
    parquet.write_table(table, file, write_page_checksum=True)
    return file.getvalue()


def _short(value: Any) -> str:
    text = json.dumps(value)
    return text if len(text) <= 60 else f"{text[:57]}..."
