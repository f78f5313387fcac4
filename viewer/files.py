"""Writes files that appear under their final name only when they are complete."""

import contextlib
import itertools
import os
import shutil
import stat
from pathlib import Path

from .errors import RecordingError, write_error

_numbers = itertools.count()


def save_text(path: Path, text: str) -> Path:
    """Write a small file, whole or not at all; returns its path."""
    return replace_file(path, text.encode())


def replace_file(path: Path, data: bytes) -> Path:
    """Write a file, whole or not at all; one that takes the place of another keeps its permissions and owner."""
    part = PartFile(path)
    try:
        with part.part.open("wb") as file:
            file.write(data)
            file.flush()
            os.fsync(file.fileno())
        _copy_owner(path, part.part)
    except OSError as error:
        part.discard()
        raise write_error(path, error) from None
    return part.commit()


class PartFile:
    """A file, or a folder, that is written under a hidden name beside its final one."""

    def __init__(self, path: str | Path) -> None:
        """Fails here, not after the work is done, where nothing can be written."""
        self.final = Path(path)
        folder = self.final.absolute().parent
        if not folder.is_dir():
            raise RecordingError(f"{path}: there is no folder {folder}")
        if self.final.exists() and not self.final.is_file() and not self.final.is_dir():
            raise RecordingError(f"{path}: not a regular file")
        self.part = folder / f".{self.final.name}.{os.getpid()}-{next(_numbers)}.part"
        """Where to write."""
        try:
            self.part.touch()
            self.part.unlink()
        except OSError as error:
            raise write_error(self.final, error) from None

    @property
    def size(self) -> int:
        """Bytes so far."""
        for path in (self.part, self.final):
            try:
                entries = list(path.iterdir()) if path.is_dir() else [path]
                return sum(entry.stat().st_size for entry in entries)
            except OSError:
                continue
        return 0

    def commit(self) -> Path:
        """Give the complete file its name, in place of what had it before."""
        try:
            if self.part.is_dir() and self.final.is_dir():
                # A folder cannot be replaced at once; the recorder has checked what is in it.
                shutil.rmtree(self.final)
            os.replace(self.part, self.final)
        except OSError as error:
            self.discard()
            raise write_error(self.final, error) from None
        return self.final

    def discard(self) -> None:
        """Remove what was written. Safe at any time."""
        if self.part.is_dir():
            shutil.rmtree(self.part, ignore_errors=True)
        else:
            self.part.unlink(missing_ok=True)


def free_path(folder: Path, stem: str, suffix: str) -> Path:
    """A path in a folder that is not taken: stem-001.mp4, stem-002.mp4, ..."""
    paths = (folder / f"{stem}-{number:03d}{suffix}" for number in itertools.count(1))
    return next(path for path in paths if not path.exists())


def size_text(size: float) -> str:
    """A number of bytes for a person, such as `52 kB`, `1.3 MB`, `100 MB`."""
    for unit in ("bytes", "kB", "MB", "GB"):
        if size < 1000 or unit == "GB":
            break
        size /= 1000
    return f"{size:.0f} {unit}" if size >= 100 or unit in ("bytes", "kB") else f"{size:.1f} {unit}"


def _copy_owner(path: Path, part: Path) -> None:
    try:
        status = path.stat()
    except FileNotFoundError:
        return
    part.chmod(stat.S_IMODE(status.st_mode))
    if hasattr(os, "chown"):
        with contextlib.suppress(OSError):
            os.chown(part, status.st_uid, status.st_gid)
