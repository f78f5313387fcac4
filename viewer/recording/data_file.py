"""Writes contacts, touch values and contact events of every step to a data file; its suffix decides the format."""

import math
import os
from collections.abc import Callable
from contextlib import suppress
from functools import partial
from pathlib import Path
from time import monotonic
from typing import TYPE_CHECKING, Self

from ..errors import DiskFullError, RecordingError, write_error
from ..files import PartFile
from ..processes import import_extra
from ..session.session import Session
from .schedule import Schedule
from .table_files import SPARE, CsvFile, NpzFile, ParquetFile, Table, TableFile, TableWriter, csv_schema
from .tables import NO_FRAME, EventCollector, running_touches

if TYPE_CHECKING:
    from .rerun_file import RerunWriter

_FILES: dict[str, type[TableFile]] = {".csv": CsvFile, ".npz": NpzFile, ".parquet": ParquetFile}
_ONE_TABLE = (".csv", ".parquet")
"""Suffixes of files that cannot hold several tables."""
SUFFIXES = (*_FILES, ".rrd")


_CHECK_SECONDS = 0.1
"""Time between two checks whether the files can still get their names [s]."""


class DataFile:
    """The shown contact sensors, touch sensors and contact events of a session.

    A CSV or Parquet file holds one table: events and touch values are then in files of their own beside it, such as
    contacts.events.csv. CSV has no room for units: they are in contacts.schema.json. The files get their final names in
    `finish`; without `finish`, no file is left.
    """

    def __init__(self, path: str | Path, session: Session, video: Schedule | None = None) -> None:
        """Begin a data file. `video`: schedule of the video whose frame numbers the rows contain."""
        suffix = check_data_path(path)
        self.path = Path(path)
        self.steps = 0
        """Number of steps written so far."""
        self.event_count = 0
        """Number of events that were written; known after `finish`."""
        self.touch_count = len(running_touches(session))
        """Number of touch sensors whose values are written."""
        self.paths = {Table.CONTACTS: self.path, Table.EVENTS: self.path, Table.TOUCH: self.path}
        """Path of the file of each table."""
        self.channel_count = len(session.simulation.channels)
        """Number of channels whose values are written."""
        if self.channel_count:
            self.paths[Table.CHANNELS] = self.path
        if not self.touch_count:
            del self.paths[Table.TOUCH]
        if suffix in _ONE_TABLE:
            names = {table: f"{self.path.stem}.{table}{self.path.suffix}" for table in self.paths}
            names[Table.CONTACTS] = self.path.name
            self.paths = {table: self.path.with_name(name) for table, name in names.items()}
        for each in self.paths.values():
            if os.path.isdir(each):
                raise RecordingError(f"{each}: is a folder")
        self._session = session
        self._video = video
        self._span = (math.inf, -math.inf)
        self._closed = False
        self._next_check = 0.0
        """Time of the next check that the files can still get their names, by `time.monotonic` [s]."""
        self.schema_path = self.path.with_name(f"{self.path.stem}.schema.json") if suffix == ".csv" else None
        """Path for types and units of the columns, if the file itself has no room for them."""
        self._schema: PartFile | None = None
        self._files: dict[Path, PartFile] = {}
        try:
            self._schema = PartFile(self.schema_path) if self.schema_path is not None else None
            for each in self.paths.values():
                if each not in self._files:
                    self._files[each] = PartFile(each, spare=SPARE)
            self._writer = self._open_writer(suffix)
            self.events = EventCollector(session, video)
            """Observer of every step from now on, also of steps that are not written."""
        except BaseException as error:
            self._discard_files()
            if isinstance(error, OSError):
                raise write_error(self.path, error) from None
            raise

    @property
    def full(self) -> bool:
        """True if the disk is full: nothing more is written, and the files can be completed."""
        return any(file.full for file in self._files.values())

    def write(self, step: int, time: float) -> None:
        """Write the sensors' readings at a step and a simulated time [s]; do nothing once the file is complete.

        Raises DiskFullError if the disk is full: `finish` then completes the rows that were written before.
        """
        if self._closed:
            return
        if (now := monotonic()) >= self._next_check:
            # A folder that was removed is noticed soon, not after the last step.
            self._next_check = now + _CHECK_SECONDS
            for file in self._files.values():
                file.check()
        if self.full:
            raise DiskFullError(self.path)
        frame = self._video.frame(step) if self._video is not None else None
        try:
            self._writer.write(step, time, NO_FRAME if frame is None else frame)
        except OSError as error:
            raise write_error(self.path, error) from None
        self._span = min(self._span[0], time), time
        self.steps += 1

    def finish(self) -> Path:
        """Complete the files under their final names, and return the path of the contacts. Simulates one more step."""
        if not self._closed:
            self._closed = True
            try:
                events = self.events.finish(*self._span)
                self.event_count = len(events)
                self._writer.write_events(events)
                if self.channel_count:
                    self._writer.write_channels()
                self._writer.close()
            except BaseException as error:
                self._discard()
                if isinstance(error, OSError):
                    raise write_error(self.path, error) from None
                raise
            self._commit()
        return self.path

    def abort(self) -> None:
        """Stop, and leave no file behind. Safe at any time, also after `finish`."""
        if not self._closed:
            self._closed = True
            self._discard()

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: object) -> None:
        self.abort()

    def _open_writer(self, suffix: str) -> "TableWriter | RerunWriter":
        session = self._session
        if suffix == ".rrd":
            from .rerun_file import RerunWriter

            return RerunWriter(self._files[self.path], session)
        notes = {
            "engine": session.engine.name,
            "scene": str(session.engine.path or ""),
            "timestep": repr(session.engine.timestep),
        }
        parts = {table: self._files[path] for table, path in self.paths.items()}
        return TableWriter(session, _FILES[suffix], parts, notes, has_video=self._video is not None)

    def _commit(self) -> None:
        """Give the complete files their final names, even if some fail."""
        commits: list[Callable[[], Path]] = []
        if self._schema is not None:
            names = {table: path.name for table, path in self.paths.items()}
            commits.append(partial(self._schema.write, csv_schema(names, self._video is not None).encode()))
        # The contacts come last: where they are, the other files are too.
        commits += [file.commit for file in reversed(self._files.values())]
        failure: RecordingError | None = None
        for commit in commits:
            try:
                commit()
            except RecordingError as error:
                failure = error
        if failure is not None:
            raise failure

    def _discard(self) -> None:
        self.events.close()
        # A file that is discarded need not be complete.
        with suppress(OSError):
            self._writer.abort()
        self._discard_files()

    def _discard_files(self) -> None:
        if self._schema is not None:
            self._schema.discard()
        for file in self._files.values():
            file.discard()


def check_data_path(path: str | Path) -> str:
    """Return the suffix of a data file. Raises RecordingError if such files cannot be written here."""
    if not str(path).strip():
        raise RecordingError("the name of the file to write is empty")
    suffix = Path(path).suffix.lower()
    if Path(path).name.lower() in SUFFIXES:
        raise RecordingError(f"{path}: a name is missing before the suffix")
    if suffix not in SUFFIXES:
        raise RecordingError(f"{path}: unknown suffix {suffix!r}; data files are {', '.join(SUFFIXES)}")
    need = f"{path}: {suffix} files need"
    if suffix == ".parquet":
        import_extra("pyarrow.parquet", "parquet", need, RecordingError)
    elif suffix == ".rrd":
        from .rerun_file import import_rerun

        import_rerun(need)
    return suffix
