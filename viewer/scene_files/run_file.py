"""Reads and writes saved runs: a model, and the states of every step, in one file of NumPy arrays."""

import csv
import json
import re
import zipfile
from collections.abc import Callable, Iterable, Mapping, Sequence
from pathlib import Path
from typing import Any

import mujoco
import numpy as np
from numpy.lib import format as npy
from numpy.typing import NDArray

from ..channels.channel import ChannelName, Samples
from ..errors import SceneError, write_error
from ..files import PartFile, PartStream, size_text
from ..mjmodel.state import SLEEP, Values, state_parts
from ..mjmodel.state_log import StateLog, check_times, sleeps_fit
from ..mjmodel.types import MjModel
from ..version import __version__

SUFFIX = ".cvrun"
_FORMAT = 1
_ABOUT, _MODEL, _SOURCES, _STATES, _VERSION = "about", "model", "source", "states", "version"
_CHANNEL = "channel"
_FAST = 1
"""Compression of models and their files: half as large in a fifth of the time."""
_BYTES_MAX = 8 * 2**30
"""Most bytes that are read of a file."""
_UNPACKED_MAX = 2**29
"""Most that a small file may unpack to [bytes]; a larger one to `_RATIO_MAX` times its own size."""
_RATIO_MAX = 50


class RunWriter:
    """Writer of a run: it adds rows one after another, then completes the file. A file that is not finished is
    removed."""

    def __init__(
        self,
        path: Path,
        model: MjModel,
        about: Mapping[str, Any],
        columns: NDArray[np.intp],
        rest: Values,
        first_row: Values | None = None,
        sources: Mapping[str, bytes] | None = None,
        versions: Mapping[int, bytes] | None = None,
        channels: Sequence[Samples] = (),
    ) -> None:
        """`sources`: files from which other versions of MuJoCo can compile the model, the scene first, by their paths
        from a common folder. `versions`: values of a model that was changed. Raises RecordingError where it cannot be
        written."""
        self._part = PartFile(path)
        self._blocks = 0
        self._file: zipfile.ZipFile | None = None
        sources = sources or {}
        sizes = {name: part.stop - part.start for name, part in state_parts(model).items()}
        text = {
            **about,
            "format": _FORMAT,
            "mujoco": mujoco.__version__,
            "contact_viewer": __version__,
            "parts": sizes,
            "sources": list(sources),
            "channels": [each.channel for each in channels],
        }
        try:
            self._stream: PartStream = self._part.open()
            self._file = zipfile.ZipFile(self._stream, "w", compresslevel=_FAST)
            self._add(_ABOUT, np.array(json.dumps(text)))
            self._add(_MODEL, model_bytes(model))
            self._add("columns", columns.astype(np.int64))
            self._add("rest", rest)
            if first_row is not None:
                self._add("first_row", first_row)
            for version, content in (versions or {}).items():
                self._add(f"{_VERSION}_{version}", np.frombuffer(content, np.uint8))
            for number, each in enumerate(channels):
                self._add(f"{_CHANNEL}_{number}", np.stack([each.times, each.values]))
            for number, content in enumerate(sources.values()):
                self._add(f"{_SOURCES}_{number}", np.frombuffer(content, np.uint8))
        except BaseException as error:
            self._fail(error)

    def add(self, states: Values) -> None:
        """Write some rows, (n, columns)."""
        try:
            self._add(f"{_STATES}_{self._blocks}", np.ascontiguousarray(states, np.float64))
            self._blocks += 1
        except BaseException as error:
            self._fail(error)

    def finish(self) -> Path:
        """Complete the file."""
        assert self._file is not None
        try:
            self._file.close()
            self._stream.close()
        except BaseException as error:
            self._fail(error)
        return self._part.commit()

    def discard(self) -> None:
        """Remove the unfinished file."""
        self._part.discard()

    def _add(self, name: str, array: NDArray[Any]) -> None:
        assert self._file is not None
        self._file.compression = zipfile.ZIP_DEFLATED if name.startswith((_MODEL, _SOURCES)) else zipfile.ZIP_STORED
        with self._file.open(f"{name}.npy", "w", force_zip64=True) as member:
            npy.write_array(member, array, allow_pickle=False)

    def _fail(self, error: BaseException) -> None:
        self._part.discard()
        if isinstance(error, OSError):
            raise write_error(self._part.path, error) from None
        raise error


class RunFile:
    """A saved run as it is on disk. All methods raise SceneError, one line, where the file is not valid."""

    def __init__(self, path: Path) -> None:
        self.path = path
        about = self._read([_ABOUT])[_ABOUT]
        try:
            self.about: dict[str, Any] = json.loads(str(about[()]))
            known = self.about["format"] == _FORMAT
            self.mujoco = str(self.about["mujoco"])
            """The version of MuJoCo that took the steps."""
            self._sources = [str(name) for name in self.about["sources"]]
            self._parts = {str(name): _index(size) for name, size in self.about["parts"].items()}
            self.companions = {_index(sensor): _index(companion) for sensor, companion in self.about["companions"]}
            self.hidden = tuple(_index(sensor) for sensor in self.about["hidden"])
            self._channels = [ChannelName(str(name), str(unit)) for name, unit in self.about.pop("channels", ())]
            self.about["version"] = _index(self.about.get("version", 0))
        except (ValueError, KeyError, TypeError, AttributeError, IndexError, RecursionError):
            raise SceneError(f"{path}: not a saved run of this program, or damaged") from None
        if not known:
            raise SceneError(f"{path}: saved by another version of this program, in a format that this one cannot read")

    def model(self) -> bytes:
        """Return the compiled model, as .mjb."""
        return self._bytes(_MODEL)

    def sources(self) -> dict[str, bytes]:
        """Return the files that the model was compiled from, the scene first, by their paths from a common folder."""
        return {name: self._bytes(f"{_SOURCES}_{number}") for number, name in enumerate(self._sources)}

    def log(self, model: MjModel) -> StateLog:
        """Return the states of the run's steps for a model that may differ by the version of MuJoCo alone."""
        arrays = self._read(
            ["columns", "rest", f"{_STATES}_0"],
            lambda name: name.startswith((_STATES, _VERSION, _CHANNEL, "first_row")),
        )
        columns, rest = arrays["columns"], arrays["rest"]
        blocks = [arrays.get(f"{_STATES}_{number}") for number in range(sum(_STATES in name for name in arrays))]
        fitting = all(
            block is not None and block.dtype == np.float64 and block.ndim == 2 and block.shape[1:] == columns.shape
            for block in blocks
        )
        if not (fitting and columns.ndim == 1 and columns.dtype.kind == "i"):
            raise SceneError(f"{self.path}: damaged: its arrays do not fit each other")
        states = np.concatenate([block for block in blocks if block is not None])
        if not (len(states) and rest.ndim == 1 and rest.dtype == np.float64):
            raise SceneError(f"{self.path}: damaged: its arrays do not fit each other")
        if not (np.isfinite(states).all() and np.isfinite(rest).all()):
            raise SceneError(f"{self.path}: damaged: its states have values that are not numbers")
        versions = {
            int(match[1]): array.tobytes()
            for name, array in arrays.items()
            if (match := re.fullmatch(rf"{_VERSION}_(\d{{1,18}})", name)) and array.dtype == np.uint8
        }
        places = self._places(model, len(rest), bool(versions))
        if not (0 in columns and columns.min() >= 0 and columns.max() < len(rest)):
            raise SceneError(f"{self.path}: damaged: its columns are not those of a state")
        if (np.diff(states[:, np.flatnonzero(columns == 0)[0]]) < 0).any():
            raise SceneError(f"{self.path}: damaged: its time runs backwards")
        kept = places[columns] >= 0
        whole = np.zeros(max(int(places.max(initial=-1)) + 1, *(part.stop for part in state_parts(model).values())))
        whole[places[places >= 0]] = rest[places >= 0]
        first = arrays.get("first_row")
        known = first is not None and first.dtype == np.float64 and first.ndim == 1
        log = StateLog(
            self.path,
            places[columns][kept],
            states if kept.all() else states[:, kept],
            whole,
            first_row=first if known else None,
            versions=versions,
            about=self.about,
            channels=[self._samples(name, arrays.get(f"{_CHANNEL}_{k}")) for k, name in enumerate(self._channels)],
        )
        if not sleeps_fit(model, log):
            raise SceneError(f"{self.path}: its states do not fit its model (what sleeps)")
        check_times(model, log)
        return log

    def _samples(self, channel: ChannelName, array: NDArray[Any] | None) -> Samples:
        """Return the values of a channel, with their times in ascending order."""
        if array is None or array.dtype != np.float64 or array.ndim != 2 or len(array) != 2:
            raise SceneError(f"{self.path}: damaged: its arrays do not fit each other")
        if not (np.isfinite(array[0]).all() and (np.diff(array[0]) >= 0).all()):
            raise SceneError(f"{self.path}: damaged: the times of {channel.name} run backwards")
        return Samples(channel, array[0], array[1])

    def _places(self, model: MjModel, size: int, has_versions: bool) -> NDArray[np.intp]:
        """Return the column of each value of a saved state in a state of a model, (size,); -1 for those without one."""
        parts = state_parts(model)
        found, start = np.full(size, -1, np.intp), 0
        for name, length in self._parts.items():
            part = parts.get(name, slice(0, 0))
            if part.stop - part.start == length and start + length <= size:
                found[start : start + length] = np.arange(part.start, part.stop)
            elif length and name != "history":
                raise SceneError(f"{self.path}: its states do not fit its model ({name})")
            start += length
        if has_versions or model.opt.enableflags & SLEEP:
            # What sleeps, and the version of the model, come after all parts.
            end = max((part.stop for part in parts.values()), default=0)
            found[start:] = np.arange(end, end + max(0, size - start))
        return found

    def _bytes(self, name: str) -> bytes:
        array = self._read([name])[name]
        if array.dtype != np.uint8:
            raise SceneError(f"{self.path}: damaged: {name} is not valid")
        return array.tobytes()

    def _read(self, names: Iterable[str], also: Callable[[str], bool] = lambda name: False) -> dict[str, NDArray[Any]]:
        """Return some arrays of the file, and others for whose name `also` returns True."""

        wanted = set(names)
        return read_arrays(self.path, lambda name: name in wanted or also(name), wanted)


def read_arrays(path: Path, wanted: Callable[[str], bool], needed: Iterable[str] = ()) -> dict[str, NDArray[Any]]:
    """Return the wanted arrays of an .npz file, of which some must exist. Nothing pickled is loaded."""

    def read() -> dict[str, NDArray[Any]]:
        with zipfile.ZipFile(path) as file:
            members = {info.filename.removesuffix(".npy"): info for info in file.infolist()}
            found = {name: members[name] for name in [*needed, *members] if wanted(name)}
            check_unpacked(path, sum(info.file_size for info in found.values()))
            arrays = {}
            for name, info in found.items():
                with file.open(info) as member:
                    arrays[name] = npy.read_array(member, allow_pickle=False)
            return arrays

    arrays: dict[str, NDArray[Any]] = attempt_reading(path, read)
    return arrays


def check_unpacked(path: Path, size: int) -> None:
    """Raise SceneError for a file whose arrays are too large, before they are read."""
    limit = min(_BYTES_MAX, max(_UNPACKED_MAX, _RATIO_MAX * path.stat().st_size))
    if size > limit:
        raise SceneError(f"{path}: its arrays take {size_text(size)}, and at most {size_text(limit)} is read of it")


def attempt_reading(path: Path, read: Callable[[], Any]) -> Any:
    """Return the result of `read`; SceneError, one line, for a file that is damaged or of another kind. `read` calls a
    library that parses the file. What NumPy, zipfile, csv and h5py raise for a damaged one is not documented, so any
    exception counts as damage: check the result outside of `read`."""
    try:
        return read()
    except FileNotFoundError:
        raise SceneError(f"{path}: no such file") from None
    except MemoryError:
        raise SceneError(f"{path}: needs more memory than there is") from None
    except SceneError:
        raise
    except csv.Error as error:
        raise SceneError(f"{path}: cannot be read ({error})") from None
    except Exception as error:
        if "Object arrays" in str(error):
            raise SceneError(f"{path}: holds pickled Python objects, which are never loaded") from None
        if isinstance(error, OSError) and error.errno is not None:
            raise SceneError(f"{path}: cannot be read ({error.strerror})") from None
        raise SceneError(f"{path}: cannot be read: it is damaged, cut off, or of another kind") from None


def _index(value: Any) -> int:
    """Return a whole number of at least 0. Raises ValueError for others."""
    if not isinstance(value, int) or value < 0 or value >= 2**31:
        raise ValueError("not an index or a count")
    return value


def model_bytes(model: MjModel) -> NDArray[np.uint8]:
    """Return a compiled model as .mjb."""
    buffer = np.empty(mujoco.mj_sizeModel(model), np.uint8)
    mujoco.mj_saveModel(model, None, buffer)
    return buffer
