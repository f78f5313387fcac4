"""Writes files that appear under their final name only when they are complete."""

import contextlib
import errno
import hashlib
import io
import itertools
import os
import re
import shutil
import stat
import tempfile
import threading
import time
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import IO, Any

from .errors import RecordingError, write_error

try:
    import fcntl
except ImportError:  # Not on Windows: whose parts are whose is not known there.
    fcntl = None  # type: ignore[assignment]

_numbers = itertools.count()
_naming = threading.local()
"""The folders in which this thread chooses names."""
_PART = re.compile(r"\.(?P<name>.+)\.\d+-\d+\.part", re.DOTALL)
"""Pattern of the name of a part: name of the file, then process id and number of its writer."""
_FULL = (errno.ENOSPC, errno.EDQUOT)
_PATIENCE = 1.0
"""Longest wait for another program that is choosing a name in the same folder [s]."""


_CONTROLS = re.compile("[\x00-\x08\x0b-\x1f\x7f-\x9f\u202a-\u202e\u2066-\u2069]")
"""Characters that would drive a terminal, or reorder text: all control characters but tabs and ends of lines."""


def printable(text: str) -> str:
    """Return a text with a file name, which may contain any bytes, so that it can be shown."""
    return without_controls(text.encode("utf-8", "surrogateescape").decode("utf-8", "replace"))


def without_controls(text: str) -> str:
    """Return a text for a terminal without control characters: `\\x1b` stands for an escape."""
    return _CONTROLS.sub(lambda match: match[0].encode("unicode_escape").decode(), text)


def folder_of(path: Path) -> Path:
    """Return the folder of a file, absolute. Raises RecordingError for a relative path once the working folder is
    removed."""
    try:
        return path.absolute().parent
    except FileNotFoundError:
        raise RecordingError(f"{path}: cannot be written (the working folder was removed)") from None


def save_text(path: Path, text: str) -> Path:
    """Write a small file, whole or not at all; returns its path."""
    return replace_file(path, text.encode())


def hash_of(path: Path) -> str:
    """Return the SHA-256 of a file, in hexadecimal digits."""
    with path.open("rb") as file:
        return hashlib.file_digest(file, "sha256").hexdigest()


def sync(path: Path) -> None:
    """Flush a file, or the names in a folder, to the disk, so that they survive a loss of power."""
    file = os.open(path, os.O_RDONLY)
    try:
        os.fsync(file)
    finally:
        os.close(file)


def replace_file(path: Path, data: bytes) -> Path:
    """Write a file completely or not at all; a replaced file keeps its permissions and owner."""
    return PartFile(path).write(data)


class PartFile:
    """File, or folder, that is written under a hidden name beside its final one.

    Its name is reserved from the beginning: see `free_path`. It can reserve room on the disk, so that the file can
    still be completed when the disk is full.
    """

    def __init__(self, path: str | Path, *, is_folder: bool = False, spare: int = 0) -> None:
        """Raise RecordingError if nothing can be written there, before any work is done. `spare`: see `reserve`."""
        self.path = Path(path)
        """Path as it was given; a link stays, and its target is written."""
        self.final = Path(os.path.realpath(self.path)) if os.path.islink(self.path) else self.path
        self.full = False
        """True if the disk is full: the file must be completed now, in the room that was reserved for that."""
        self._folder = folder_of(self.final)
        self._is_folder = is_folder
        self._spare: IO[bytes] | None = None
        self._lock: int | None = None
        self.part = self._folder / f".{self.final.name}.{os.getpid()}-{next(_numbers)}.part"
        """Path to write to."""
        try:
            with naming(self._folder):
                self._check_target()
                self._create()
            if spare:
                self._spare = tempfile.TemporaryFile(dir=self._folder)  # noqa: SIM115
                self._allocate(spare)
        except OSError as error:
            self.discard()
            raise write_error(self.path, error) from None

    @property
    def size(self) -> int:
        """Size of the file so far [bytes]."""
        for path in (self.part, self.final):
            try:
                entries = list(path.iterdir()) if path.is_dir() else [path]
                return sum(entry.stat().st_size for entry in entries)
            except OSError:
                continue
        return 0

    def open(self, suffix: str = "") -> "PartStream":
        """Return a stream that writes the part, or a file at its path with a suffix, and ignores a full disk."""
        return PartStream(f"{self.part}{suffix}", self)

    def open_unnamed(self) -> "PartStream":
        """Return a stream like that of `open`, into a file that is deleted when the stream is closed."""
        with tempfile.TemporaryFile(dir=self._folder) as file:
            return PartStream(os.dup(file.fileno()), self)

    def reserve(self, size: int) -> None:
        """Keep `size` bytes in all free for completing the file; set `full` if the disk does not have them."""
        if not self.full:
            try:
                self._allocate(size)
            except OSError as error:
                if error.errno not in _FULL:
                    raise
                self.release()

    def lend(self, size: int) -> None:
        """Keep only `size` bytes reserved while a library writes, because the library cannot ask for the rest."""
        if self._spare is not None:
            self._spare.truncate(size)

    def release(self) -> bool:
        """Give up the reserved room, because the disk is full; return False if there is none left."""
        self.full = True
        if self._spare is None:
            return False
        self._spare.close()
        self._spare = None
        return True

    def check(self) -> None:
        """Fail if the part was removed meanwhile, or its folder."""
        if not self.part.exists():
            what = "the unfinished file" if self._folder.is_dir() else f"the folder {self._folder}"
            raise RecordingError(f"{self.path}: cannot be written ({what} was removed)")

    def write(self, data: bytes) -> Path:
        """Write all of the file, and commit it."""
        try:
            with self.part.open("wb") as file:
                file.write(data)
                file.flush()
                os.fsync(file.fileno())
            self._replace()
        except OSError as error:
            self.discard()
            raise write_error(self.path, error) from None
        self._let_go()
        return self.path

    def commit(self) -> Path:
        """Give the complete file its final name, replacing an existing file; returns the path as it was given.

        Where that is not possible, as in a folder that has become read-only, the part stays, and the error names it.
        """
        try:
            self._replace()
        except OSError as error:
            kept = f"; what was recorded is complete in {self.part}" if os.path.lexists(self.part) else ""
            raise RecordingError(f"{write_error(self.path, error)}{kept}") from None
        finally:
            self._let_go()
        return self.path

    def discard(self) -> None:
        """Remove the unfinished file. Safe at any time."""
        if os.path.isdir(self.part):
            shutil.rmtree(self.part, ignore_errors=True)
        else:
            with contextlib.suppress(OSError):
                self.part.unlink()
        self._let_go()

    def _replace(self) -> None:
        if not self._is_folder:
            _copy_owner(self.final, self.part)
        elif self.final.is_dir():
            # A folder cannot be replaced at once; the recorder has checked what is in it.
            shutil.rmtree(self.final)
        os.replace(self.part, self.final)

    def _check_target(self) -> None:
        if not self.final.name:
            raise RecordingError(f"{str(self.path)!r} is not the name of a file")
        if self.final.is_symlink():
            raise RecordingError(f"{self.path}: the link has no target: remove it, or choose another path")
        if not self._folder.is_dir():
            raise RecordingError(f"{self.path}: there is no folder {self._folder}")
        if self.final.exists():
            if not self.final.is_file() and not self.final.is_dir():
                raise RecordingError(f"{self.path}: not a regular file")
            if not os.access(self.final, os.W_OK):
                raise RecordingError(f"{self.path}: cannot be written (it is there already, and read-only)")
        if any(_is_live(part) for part in _parts(self._folder) if _final_name(part) == self.final.name):
            raise RecordingError(f"{self.path}: is being written already, here or by another program")

    def _create(self) -> None:
        if self._is_folder:
            self.part.mkdir()
        else:
            self.part.touch(exist_ok=False)
        if fcntl is not None:
            # The lock shows to others that the program of the part still runs; the system removes it in any case.
            self._lock = os.open(self.part, os.O_RDONLY)
            with contextlib.suppress(OSError):
                fcntl.flock(self._lock, fcntl.LOCK_EX)

    def _allocate(self, size: int) -> None:
        if self._spare is None:
            return
        if hasattr(os, "posix_fallocate"):
            os.posix_fallocate(self._spare.fileno(), 0, size)
        else:
            self._spare.write(bytes(max(0, size - self._spare.tell())))
            self._spare.flush()

    def _let_go(self) -> None:
        if self._spare is not None:
            self._spare.close()
            self._spare = None
        if self._lock is not None:
            os.close(self._lock)
            self._lock = None


class UnnamedPart(PartFile):
    """Part that never has a name, so that nothing is left behind when the process ends in any way."""

    def __init__(self) -> None:
        self.full = False
        self._spare = self._lock = None
        self._file = tempfile.TemporaryFile()  # noqa: SIM115

    def open(self, suffix: str = "") -> "PartStream":
        """Return a stream that writes the file."""
        return PartStream(os.dup(self._file.fileno()), self)

    def read(self) -> bytes:
        """Return everything that was written."""
        self._file.seek(0)
        return self._file.read()


class PartStream(io.FileIO):
    """Stream of a part. On a full disk it uses the reserved room once, and `PartFile.full` becomes True."""

    def __init__(self, file: str | int, part: PartFile) -> None:
        super().__init__(file, "w+")
        self._part = part

    def write(self, data: Any) -> int:
        """Write all of the data. Raises OSError."""
        left = memoryview(data).cast("B")
        size = len(left)
        while left:
            try:
                left = left[super().write(left) or 0 :]
            except OSError as error:
                if error.errno not in _FULL or not self._part.release():
                    raise
        return size


@contextmanager
def naming(folder: Path) -> Iterator[None]:
    """Let one program at a time choose names in a folder, for `free_path` and the PartFile that uses the path.

    A PartFile calls this itself, and may be made inside the block.
    """
    held: set[str] = _naming.__dict__.setdefault("folders", set())
    key = os.path.realpath(folder)
    if key in held:
        yield
        return
    try:
        lock = os.open(folder, os.O_RDONLY)
    except OSError:  # The writer will report the reason.
        yield
        return
    held.add(key)
    try:
        deadline = time.monotonic() + _PATIENCE
        while fcntl is not None and time.monotonic() < deadline:
            try:
                fcntl.flock(lock, fcntl.LOCK_EX | fcntl.LOCK_NB)
                break
            except BlockingIOError:
                time.sleep(0.01)
            except OSError:  # Some network drives have no locks.
                break
        yield
    finally:
        held.remove(key)
        os.close(lock)


def free_path(folder: Path, stem: str, suffix: str) -> Path:
    """Return a path in a folder that does not exist and is not being written: stem-001.mp4, stem-002.mp4, ..."""
    names = {_final_name(part) for part in _parts(folder)}
    paths = (folder / f"{stem}-{number:03d}{suffix}" for number in itertools.count(1))
    return next(path for path in paths if path.name not in names and not os.path.lexists(path))


def describe_strays(folder: Path) -> str | None:
    """Return, for the user, the unfinished files of killed programs in a folder; None if there are none."""
    strays = [part for part in _parts(folder) if not _is_live(part) and part.exists()]
    if not strays or fcntl is None:
        return None
    names = ", ".join(part.name for part in strays[:3]) + (", ..." if len(strays) > 3 else "")
    some = "a file" if len(strays) == 1 else f"{len(strays)} files"
    return f"{folder}: {some} left unfinished by a program that was killed: {names}"


def size_text(size: float) -> str:
    """Return a number of bytes as text, such as `52 kB`, `1.3 MB`, `100 MB`."""
    for unit in ("bytes", "kB", "MB", "GB"):
        if size < 1000 or unit == "GB":
            break
        size /= 1000
    return f"{size:.0f} {unit}" if size >= 100 or unit in ("bytes", "kB") else f"{size:.1f} {unit}"


def _parts(folder: Path) -> list[Path]:
    try:
        with os.scandir(folder) as entries:
            return sorted(Path(entry.path) for entry in entries if _PART.fullmatch(entry.name))
    except OSError:
        return []


def _final_name(part: Path) -> str:
    match = _PART.fullmatch(part.name)
    return match["name"] if match else ""


def _is_live(part: Path) -> bool:
    """Return True if a running program writes a part file."""
    if fcntl is None:
        return False
    try:
        file = os.open(part, os.O_RDONLY | os.O_NONBLOCK)
    except OSError:  # It was completed meanwhile, or belongs to another user.
        return False
    try:
        fcntl.flock(file, fcntl.LOCK_SH | fcntl.LOCK_NB)
    except BlockingIOError:
        return True
    except OSError:
        return False
    finally:
        os.close(file)
    return False


def _copy_owner(path: Path, part: Path) -> None:
    try:
        status = path.stat()
    except FileNotFoundError:
        return
    part.chmod(stat.S_IMODE(status.st_mode))
    if hasattr(os, "chown"):
        with contextlib.suppress(OSError):
            os.chown(part, status.st_uid, status.st_gid)
