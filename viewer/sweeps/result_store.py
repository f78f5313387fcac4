"""Stores the results of a sweep: in a folder of this machine, or at an address that fsspec reaches."""

import os
import re
import tempfile
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
"""Folder with the runs that have finished so far; it survives a crash."""
_ADDRESS = re.compile(r"[A-Za-z][\w+.-]*(::[\w+.-]+)*://.*", re.DOTALL)
_SECRET = re.compile("://[^/@]*@")
_HERE = re.compile("(file|local)://")
"""Pattern of the beginning of an address on this machine."""
_WHOLE = {"abfs", "abfss", "adl", "az", "gcs", "gs", "memory", "oci", "oss", "r2", "s3", "s3a"}
"""Protocols of stores without folders, where a file appears when it is complete. Elsewhere a complete file is
renamed."""
_SYNC_THREADS = 8
"""Number of files that are synced to the disk at once, which takes about as long as one file."""
_MAGIC = b"PAR1"
"""First and last bytes of a Parquet file."""


class ResultStore:
    """Folder of this machine with the results of a sweep."""

    patience = 1.0
    """Longest time that results wait to be saved [s]; a crash of the program loses the results of that time."""

    def __init__(self, folder: Path) -> None:
        self.folder = folder
        self.name = str(folder)
        """Path or address of the store, as the user wrote it."""

    def path(self, name: str) -> str:
        """Return the path or address of a file, for the user."""
        return str(self.folder / name)

    def names(self, folder: str) -> set[str]:
        """Return the names of the files in a folder."""
        with suppress(OSError):
            return set(os.listdir(self.folder / folder))
        return set()

    def bring(self, *names: str) -> None:
        """Copy files from the store into `folder`, as far as they exist."""

    def save(self, files: Mapping[str, bytes]) -> None:
        """Write files, each whole or not at all, and wait until they would survive a loss of power."""
        paths = [self.folder / name for name in files]
        for path, data in zip(paths, files.values(), strict=True):
            path.parent.mkdir(parents=True, exist_ok=True)
            part = path.with_name(f".{path.name}.tmp")
            try:
                part.write_bytes(data)
                part.replace(path)
            except OSError:
                part.unlink(missing_ok=True)
                raise
        with ThreadPoolExecutor(_SYNC_THREADS) as threads:
            list(threads.map(sync, paths))

    def has(self, name: str) -> bool:
        """Return True if a complete Parquet file is in the store."""
        with suppress(OSError), (self.folder / name).open("rb") as file:
            first = file.read(len(_MAGIC))
            file.seek(-len(_MAGIC), os.SEEK_END)
            return first == file.read() == _MAGIC
        return False

    def publish(self, *names: str) -> None:
        """Copy complete files of `folder` into the store."""

    def remove(self, *names: str) -> None:
        """Remove files from the store; JOURNAL removes the whole folder."""


class _RemoteStore(ResultStore):
    """Folder at an address that fsspec reaches, with a local copy of the files in use."""

    patience = 5.0

    def __init__(self, address: str, folder: Path) -> None:
        super().__init__(folder)
        self.name = without_password(address).rstrip("/")
        core = import_extra("fsspec.core", "fsspec", f"{self.name}: needs", SweepError)
        with self._named("opened"):
            self._files, self._root = core.url_to_fs(address)
            self._files.invalidate_cache()
        protocol = self._files.protocol
        self._is_whole = bool(_WHOLE & {protocol} if isinstance(protocol, str) else _WHOLE & set(protocol))

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
        with self._named("read"):
            found = [name for name in names if self._files.exists(self._there(name))]
            for name in found:
                (self.folder / name).parent.mkdir(exist_ok=True)
            if found:
                # Some stores copy many at once.
                self._files.get([self._there(name) for name in found], [str(self.folder / name) for name in found])

    def save(self, files: Mapping[str, bytes]) -> None:
        # The tables are made from the local journal.
        super().save({name: data for name, data in files.items() if name.startswith(JOURNAL)})
        with self._named("written"):
            if self._is_whole:
                self._files.pipe({self._there(name): data for name, data in files.items()})
                return
            for name, data in files.items():
                with self._renamed(name) as target:
                    self._files.pipe_file(target, data)

    def has(self, name: str) -> bool:
        # A table was completely written before the journal that names its run.
        return True

    def publish(self, *names: str) -> None:
        for name in names:
            with self._named("written"), self._renamed(name) as target:
                self._files.put_file(str(self.folder / name), target)

    def remove(self, *names: str) -> None:
        for name in names:
            with self._named("written"):
                if self._files.exists(self._there(name)):
                    self._files.rm(self._there(name), recursive=name == JOURNAL)

    @contextmanager
    def _renamed(self, name: str) -> Iterator[str]:
        """Yield a path to write a file to; the file gets its final name when the block ends."""
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
                # Some stores do not rename onto an existing file.
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
        """Raise any error at an address as a SweepError of one line."""
        try:
            yield
        except SceneError:
            raise
        except Exception as error:
            reason = (str(error).strip() or type(error).__name__).splitlines()[0]
            raise SweepError(f"{self.name}: cannot be {what} ({reason})") from None


def without_password(text: str) -> str:
    """Return an address without user name and password."""
    return _SECRET.sub("://", text) if _ADDRESS.fullmatch(text) else text


def is_remote(output: str | Path) -> bool:
    """Return True for an address that fsspec has to reach; False for a folder of this machine."""
    text = str(output)
    return not isinstance(output, Path) and bool(_ADDRESS.fullmatch(text)) and not _HERE.match(text)


@contextmanager
def open_store(output: str | Path) -> Iterator[ResultStore]:
    """Open the store of a folder, or of an address such as s3://bucket/folder."""
    text = str(output)
    if is_remote(output):
        with tempfile.TemporaryDirectory(prefix="contact-viewer-") as folder:
            yield _RemoteStore(text, Path(folder))
    elif not isinstance(output, Path) and (here := _HERE.match(text)):
        yield ResultStore(Path(text[here.end() :]))
    else:
        yield ResultStore(Path(output))
