"""Contacts at every step to a data file, in the format of its suffix."""

from contextlib import suppress
from importlib.util import find_spec
from pathlib import Path
from types import TracebackType
from typing import Protocol, Self

from ..session import Session
from .errors import RecordingError, write_error
from .files import PartFile
from .schedule import Schedule
from .table import COLUMNS, NO_FRAME, Sample, take_samples
from .tablefiles import CsvWriter, NpzWriter, ParquetWriter

SUFFIXES = (".csv", ".npz", ".parquet", ".rrd")
_EXTRAS = {".parquet": ("parquet", "pyarrow"), ".rrd": ("rerun", "rerun")}
"""Suffix to the extra of this package, and the module that it brings."""


class Writer(Protocol):
    """Writes samples to one file."""

    def write(self, samples: list[Sample]) -> None:
        """Take all sensors at one step."""
        ...

    def close(self) -> None:
        """Complete the file."""
        ...

    def abort(self) -> None:
        """Let go of the file as it is."""
        ...


class DataFile:
    """The contacts of a session's shown sensors. Under its final name from `finish` on; without it, nothing is left."""

    def __init__(self, path: str | Path, session: Session, video: Schedule | None = None) -> None:
        """`video`: of a video whose frames the rows are to name."""
        suffix = check_data_path(path)
        self.path = Path(path)
        if self.path.is_dir():
            raise RecordingError(f"{path}: is a folder")
        self.steps = 0
        """Steps written so far."""
        self._session = session
        self._video = video
        self._file = PartFile(path)
        self._closed = False
        columns = tuple(name for name in COLUMNS if video or name != "video_frame")
        try:
            self._writer = _open_writer(suffix, self._file.part, session, columns)
        except BaseException as error:
            self._file.discard()
            if isinstance(error, OSError):
                raise write_error(self.path, error) from None
            raise

    def write(self, step: int, time: float) -> None:
        """Write the sensors as they are now, at a step and a simulated time [s]."""
        frame = self._video.frame(step) if self._video is not None else None
        try:
            self._writer.write(take_samples(self._session, step, time, NO_FRAME if frame is None else frame))
        except OSError as error:
            raise write_error(self.path, error) from None
        self.steps += 1

    def finish(self) -> Path:
        """Complete the file and give it its name; returns its path."""
        if not self._closed:
            self._closed = True
            try:
                self._writer.close()
            except OSError as error:
                self._discard()
                raise write_error(self.path, error) from None
            self._file.commit()
        return self.path

    def abort(self) -> None:
        """Stop and leave nothing behind. Safe at any time, also after `finish`."""
        if not self._closed:
            self._closed = True
            self._discard()

    def __enter__(self) -> Self:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self.abort()

    def _discard(self) -> None:
        # What cannot be written is not wanted any more.
        with suppress(OSError):
            self._writer.abort()
        self._file.discard()


def check_data_path(path: str | Path) -> str:
    """The suffix of a data file, if such files can be written here."""
    suffix = Path(path).suffix.lower()
    if suffix not in SUFFIXES:
        raise RecordingError(f"{path}: unknown suffix {suffix!r}; data files are {', '.join(SUFFIXES)}")
    extra, module = _EXTRAS.get(suffix, ("", ""))
    if module and find_spec(module) is None:
        raise RecordingError(f"{path}: {suffix} files need an extra: pip install 'contact-viewer[{extra}]'")
    return suffix


def _open_writer(suffix: str, path: Path, session: Session, columns: tuple[str, ...]) -> Writer:
    if suffix == ".rrd":
        from .rerunfile import RerunWriter

        return RerunWriter(path, session)
    notes = {
        "engine": session.engine.name,
        "scene": str(getattr(session.engine, "path", None) or ""),
        "timestep": repr(session.engine.timestep),
    }
    writers = {".csv": CsvWriter, ".npz": NpzWriter, ".parquet": ParquetWriter}
    return writers[suffix](path, columns, notes)
