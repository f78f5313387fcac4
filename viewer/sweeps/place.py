"""Turns what a person names for results, a folder or an address, into a folder of this machine and back."""

import itertools
import os
import re
import tempfile
import time
import uuid
from collections.abc import Iterator, Mapping
from concurrent.futures import ThreadPoolExecutor
from contextlib import contextmanager, suppress
from pathlib import Path

from ..errors import SceneError
from ..files import sync
from ..processes import import_extra
from .plan import SweepError

JOURNAL = ".runs"
"""Folder of what has finished so far: lines of JSON, which survive whatever ends the program."""
_ADDRESS = re.compile(r"[A-Za-z][\w+.-]*(::[\w+.-]+)*://.*", re.DOTALL)
_SECRET = re.compile("://[^/@]*@")
_HERE = re.compile("(file|local)://")
"""An address of this machine."""
_WHOLE = {"abfs", "abfss", "adl", "az", "gcs", "gs", "memory", "oci", "oss", "r2", "s3", "s3a"}
"""Protocols of stores without folders, where a file appears when all of it is there. Elsewhere it is renamed then."""
_SECONDS = 5.0
"""Longest time that results wait to be written to an address [s] ..."""
_BYTES = 16 * 2**20
"""... and how many of them, so that one request has something to carry."""
_SYNC_SECONDS = 1.0
"""Longest time that a loss of power takes back [s]: a disk needs milliseconds each time."""
_SYNC_THREADS = 8
"""Files that a disk is asked to keep at once: it takes about as long as one."""
_MAGIC = b"PAR1"
"""First and last bytes of a Parquet file."""


class Place:
    """A folder of this machine."""

    def __init__(self, folder: Path) -> None:
        self.folder = folder
        self.name = str(folder)
        """As a person has it."""
        self._unsynced: dict[Path, None] = {}
        self._since = 0.0

    def path(self, name: str) -> str:
        """The path of a file in it, as a person has it."""
        return str(self.folder / name)

    def names(self, folder: str) -> set[str]:
        """What is in a folder of it."""
        with suppress(OSError):
            return set(os.listdir(self.folder / folder))
        return set()

    def bring(self, *names: str) -> None:
        """Have files in `folder` that are there."""

    def journal(self) -> list[bytes]:
        """Lines of runs that have finished, which are not in the journal of `folder` yet."""
        return []

    def save(self, name: str, data: bytes) -> None:
        """Keep a part of a run, a Parquet file, whole or not at all, before the run's line is noted."""
        path = self.folder / name
        path.parent.mkdir(parents=True, exist_ok=True)
        part = path.with_name(f".{path.name}.tmp")
        try:
            part.write_bytes(data)
            part.replace(path)
        except OSError:
            part.unlink(missing_ok=True)
            raise
        self._wait(path)

    def has(self, name: str) -> bool:
        """True if a part is there, from its first bytes to its last."""
        with suppress(OSError), (self.folder / name).open("rb") as file:
            first = file.read(len(_MAGIC))
            file.seek(-len(_MAGIC), os.SEEK_END)
            return first == file.read() == _MAGIC
        return False

    def note(self, line: bytes, path: Path) -> None:
        """A run has finished: its line is in the journal of `folder`, in the file at `path`."""
        self._wait(path)

    def flush(self, now: bool = True) -> None:
        """Let nothing wait: at once, or if it has waited long enough."""
        if self._unsynced and (now or time.monotonic() - self._since > _SYNC_SECONDS):
            # In any order: a run whose line is on the disk and whose part is not is simulated again.
            with ThreadPoolExecutor(_SYNC_THREADS) as threads:
                list(threads.map(sync, self._unsynced))
            self._unsynced.clear()

    def publish(self, *names: str) -> None:
        """Files of `folder` are complete."""

    def remove(self, *names: str) -> None:
        """Files of `folder` are not needed any more; JOURNAL for all of it."""

    def _wait(self, path: Path) -> None:
        if not self._unsynced:
            self._since = time.monotonic()
        self._unsynced[path] = None


class _Address(Place):
    """A folder that fsspec reaches, and a copy here of what is worked on."""

    def __init__(self, address: str, folder: Path) -> None:
        super().__init__(folder)
        self.name = without_password(address).rstrip("/")
        core = import_extra("fsspec.core", "fsspec", f"{self.name}: needs", SweepError)
        with self._named("opened"):
            self._files, self._root = core.url_to_fs(address)
            self._files.invalidate_cache()
        protocol = self._files.protocol
        self._is_whole = bool(_WHOLE & {protocol} if isinstance(protocol, str) else _WHOLE & set(protocol))
        self._lines: list[bytes] = []
        self._parts: dict[str, bytes] = {}
        self._count = itertools.count()

    def path(self, name: str) -> str:
        return f"{self.name}/{name}"

    def names(self, folder: str) -> set[str]:
        with self._named("read"):
            try:
                found = self._files.ls(self._there(folder), detail=False)
            except FileNotFoundError:
                return set()
            return {str(path).rstrip("/").rpartition("/")[2] for path in found}

    def bring(self, *names: str) -> None:
        for name in names:
            with self._named("read"):
                if self._files.exists(self._there(name)):
                    self._files.get_file(self._there(name), str(self.folder / name))

    def journal(self) -> list[bytes]:
        paths = [self._there(f"{JOURNAL}/{name}") for name in sorted(self.names(JOURNAL)) if name.endswith(".jsonl")]
        with self._named("read"):
            # Many at once, where the store can.
            found = self._files.cat(paths) if paths else {}
        return [line for path in paths for line in found[path].splitlines(keepends=True)]

    def save(self, name: str, data: bytes) -> None:
        self._begin()
        self._parts[name] = data

    def has(self, name: str) -> bool:
        # It was written, whole, before the line that tells of it.
        return True

    def note(self, line: bytes, path: Path) -> None:
        self._begin()
        self._lines.append(line)
        self.flush(now=sum(map(len, self._parts.values())) > _BYTES)

    def flush(self, now: bool = True) -> None:
        if not self._lines or not (now or time.monotonic() - self._since > _SECONDS):
            return
        # Lines last: a run is finished when its parts are there.
        self._write(self._parts)
        name = f"{time.time_ns()}-{uuid.uuid4().hex[:8]}-{next(self._count)}.jsonl"
        self._write({f"{JOURNAL}/{name}": b"".join(self._lines)})
        self._lines, self._parts = [], {}

    def publish(self, *names: str) -> None:
        for name in names:
            with self._named("written"), self._renamed(name) as target:
                self._files.put_file(str(self.folder / name), target)

    def remove(self, *names: str) -> None:
        for name in names:
            with self._named("written"):
                if self._files.exists(self._there(name)):
                    self._files.rm(self._there(name), recursive=name == JOURNAL)

    def _begin(self) -> None:
        if not self._lines and not self._parts:
            self._since = time.monotonic()

    def _write(self, files: Mapping[str, bytes]) -> None:
        with self._named("written"):
            if self._is_whole:
                self._files.pipe({self._there(name): data for name, data in files.items()})
                return
            for name, data in files.items():
                with self._renamed(name) as target:
                    self._files.pipe_file(target, data)

    @contextmanager
    def _renamed(self, name: str) -> Iterator[str]:
        """Where to write a file, so that its name is there when all of it is."""
        path = self._there(name)
        if self._is_whole:
            yield path
            return
        folder, _, last = path.rpartition("/")
        self._files.makedirs(folder, exist_ok=True)
        target = f"{folder}/.{last}.{uuid.uuid4().hex[:8]}.tmp"
        try:
            yield target
            try:
                self._files.mv(target, path)
            except Exception:
                # Some rename nothing onto a file that is there.
                self._files.rm_file(path)
                self._files.mv(target, path)
        except BaseException:
            with suppress(Exception):
                self._files.rm_file(target)
            raise

    def _there(self, name: str) -> str:
        return f"{self._root.rstrip('/')}/{name}"

    @contextmanager
    def _named(self, what: str) -> Iterator[None]:
        """Whatever goes wrong at an address, each kind in its own way, as one line."""
        try:
            yield
        except SceneError:
            raise
        except Exception as error:
            reason = (str(error).strip() or type(error).__name__).splitlines()[0]
            raise SweepError(f"{self.name}: cannot be {what} ({reason})") from None


def without_password(text: str) -> str:
    """An address without what is only for the server to know."""
    return _SECRET.sub("://", text) if _ADDRESS.fullmatch(text) else text


@contextmanager
def find_place(output: str | Path) -> Iterator[Place]:
    """Where results are, by what a person named: a folder, or an address such as s3://bucket/folder."""
    text = str(output)
    if isinstance(output, Path) or not _ADDRESS.fullmatch(text):
        yield Place(Path(output))
    elif here := _HERE.match(text):
        yield Place(Path(text[here.end() :]))
    else:
        with tempfile.TemporaryDirectory(prefix="contact-viewer-") as folder:
            yield _Address(text, Path(folder))
