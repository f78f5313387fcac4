"""Memory that a user's loop shares with its window: a header, a ring of states, geoms, and values of channels.

Each word of the header is written by one side alone, except for words whose description says otherwise. The loop writes
a row, then the number of rows. It does not wait for the window, which notices rows that were overwritten before it had
read them, unless no step may be left out: then the loop waits for room.
"""

import ctypes
import mmap
import os
import struct
import tempfile
from enum import IntEnum, auto
from typing import Any

import mujoco
import numpy as np
from numpy.typing import NDArray

from ..channels.channel import ChannelName
from ..errors import SceneError
from ..mjmodel.types import MjModel

_HEADER_BYTES = 4096
_DOUBLES = 128
"""Index of the first floating point number in the header, in words of 8 bytes."""
DEFAULT_RING = 64 * 2**20
"""Memory of the ring of states [bytes]."""
_MOST_ROWS, _FEWEST_ROWS = 65536, 64

MOST_GEOMS = 2000
"""Largest number of geoms that a program draws."""
_GEOM_SIZE = 320
"""Memory for an MjvGeom, which is plain numbers and a label [bytes]."""
_MOST_BEFORE = 64
"""Largest offset of `size` in an MjvGeom [bytes]."""
_MARK = -54321
_DECOR = int(mujoco.mjtCatBit.mjCAT_DECOR)
_OPAQUE = 0.999
Bytes = NDArray[np.uint8]
MOST_GIZMOS = 5000
"""Largest number of spheres, and of arrows, that a program draws at once."""
_GIZMO_BYTES = 4 * MOST_GIZMOS * (8 + 12)
_GEOM_BYTES = MOST_GEOMS * _GEOM_SIZE
_MODELS = 64
"""Number of versions of the loop's model that are kept until they are read."""
_KIND_BITS = 8
"""Number of lowest bits of a row's word that hold its kind; the other bits hold the version of its model."""
MOST_CHANNELS = 512
_NAME_BYTES = 256
"""Memory for the name and the unit of a channel [bytes]."""
MOST_VALUES = 2**17
"""Number of channel values that are kept until they are read; newer ones overwrite the oldest."""
VALUE = struct.Struct("=qqdd")
"""Layout of a channel value: rows written before it, number of the channel, time [s] and value."""
EXTRA = 2
"""Number of values of a batch's row between state and `sensordata`: environment, and 1 if its sensors are known."""
CAMERA = ("type", "fixedcamid", "trackbodyid", "lookat", "distance", "azimuth", "elevation")
_GROUPS = tuple(f"{kind}group" for kind in ("geom", "site", "joint", "tendon", "actuator", "skin", "flex"))
OPTIONS = ("label", "frame", *_GROUPS, "flags", "bvh_depth")
"""Fields of an MjvCamera and of an MjvOption that a program may set."""
Numbers = NDArray[np.float64]


class Word(IntEnum):
    """Indices of the whole numbers in the header."""

    WRITTEN = 0
    """Number of rows that the loop has written."""
    PAUSED = auto()
    """1 if the loop has to wait in `sync`. Both sides write it."""
    PERMITS = auto()
    """Number of times that the window has let one `sync` of a waiting loop through."""
    SLEEPING = auto()
    """1 while the window sleeps until a message wakes it. Both sides write it."""
    CLOSED = auto()
    """1 after the window was closed."""
    PULLED = auto()
    """Number of the body that the user pulls; 0 if none."""
    PULL_VERSION = auto()
    """Number of changes of the pull; odd while it is written."""
    GIZMO_VERSION = auto()
    """Number of changes of the program's gizmos; odd while they are written."""
    SPHERES = auto()
    """Number of spheres of the program."""
    ARROWS = auto()
    """Number of arrows of the program."""
    GEOM_VERSION = auto()
    """Number of changes of the program's geoms; odd while they are written."""
    GEOMS = auto()
    """Number of geoms of the program."""
    MODEL_VERSION = auto()
    """Number of changes of the loop's model."""
    CHECKED_ROWS = auto()
    """Number of rows with a known version of the model: those before its last check, and the next one."""
    ENVIRONMENT = auto()
    """Number of the environment that is shown, if the loop steps many. Both sides write it."""
    ENVIRONMENTS = auto()
    """Number of environments."""
    FRAMES = auto()
    """Number of the window's frames: the window sends its messages in them."""
    TAKEN = auto()
    """Number of rows that the window has read or skipped."""
    LOSSLESS = auto()
    """1 if the loop waits for room, so that no row is left out. The window writes it, and the loop at the start."""
    CHANNELS = auto()
    """Number of channels that the loop has named."""
    VALUES = auto()
    """Number of channel values that the loop has written."""
    TROUBLE = auto()
    """Reason of the last reset of the loop's data by MuJoCo, as a `trouble_word`; 0 if the program reset it."""
    TROUBLE_ROW = auto()
    """Number of the first row after that reset."""


class SharedMemory:
    """Block of memory that two processes share."""

    def __init__(self, fd: int, state_size: int, rows: int, model_size: int) -> None:
        """`fd`: descriptor of a file with `block_bytes` bytes."""
        self._map = mmap.mmap(fd, block_bytes(state_size, rows, model_size))
        buffer = memoryview(self._map)
        self.words = buffer[:_HEADER_BYTES].cast("q")
        """Whole numbers of the header, by `Word`."""
        self.pull = np.frombuffer(self._map, np.float64, 6, offset=8 * _DOUBLES)
        """Force and torque on the pulled body [N, N m], world."""
        start = _HEADER_BYTES
        self.spheres = np.frombuffer(self._map, np.float32, MOST_GIZMOS * 8, offset=start).reshape(-1, 8)
        """Spheres of the program, as in `render.glyphs.Glyphs`."""
        start += self.spheres.nbytes
        self.arrows = np.frombuffer(self._map, np.float32, MOST_GIZMOS * 12, offset=start).reshape(-1, 12)
        start += self.arrows.nbytes
        self.kinds = buffer[start : start + 8 * rows].cast("q")
        """Kind and model version of each row, as a `row_word`, (rows,)."""
        start += 8 * rows
        self.states: Numbers = np.frombuffer(self._map, np.float64, rows * state_size, offset=start)
        self.states = self.states.reshape(rows, state_size)
        """Ring of states, (rows, state_size)."""
        start += self.states.nbytes
        self.geoms = np.frombuffer(self._map, np.uint8, _GEOM_BYTES, offset=start)
        """Geoms of the program, as `GeomMemory` copies them."""
        start += self.geoms.nbytes
        self.values = buffer[start : start + MOST_VALUES * VALUE.size]
        """Ring of channel values, in the layout of `VALUE`."""
        start += MOST_VALUES * VALUE.size
        self._names = buffer[start : start + MOST_CHANNELS * _NAME_BYTES]
        start += MOST_CHANNELS * _NAME_BYTES
        self._models = buffer[start : start + _MODELS * model_size]
        self._model_size = model_size
        self.rows = rows

    def allocate(self) -> None:
        """Let the operating system provide the memory of all states now."""
        self.states.reshape(-1)[self.states.shape[1] :: mmap.PAGESIZE // 8] = 0.0

    def add_channel(self, name: ChannelName) -> int:
        """Write the name of a channel, and return its number. Raises ValueError if there is no room."""
        number = self.words[Word.CHANNELS]
        text = "\0".join(name).encode()
        if number >= MOST_CHANNELS:
            raise ValueError(f"plot takes at most {MOST_CHANNELS} names, and {name.name!r} is one more")
        if len(text) >= _NAME_BYTES:
            raise ValueError(f"the name and the unit of a channel take at most {_NAME_BYTES - 2} bytes: {name.name!r}")
        self._names[number * _NAME_BYTES :][:_NAME_BYTES] = text.ljust(_NAME_BYTES, b"\0")
        self.words[Word.CHANNELS] = number + 1
        return number

    def channel(self, number: int) -> ChannelName:
        """Return the name of a channel."""
        name, unit, *_ = bytes(self._names[number * _NAME_BYTES :][:_NAME_BYTES]).decode().split("\0")
        return ChannelName(name, unit)

    def write_model(self, version: int, values: bytes) -> None:
        """Write a version of the model's values, as `ModelValues` reads them."""
        place = version % _MODELS * self._model_size
        self._models[place : place + self._model_size] = values
        self.words[Word.MODEL_VERSION] = version

    def read_model(self, version: int) -> bytes | None:
        """Return a version of the model's values; None if a newer one has overwritten it."""
        place = version % _MODELS * self._model_size
        values = bytes(self._models[place : place + self._model_size])
        return values if self.words[Word.MODEL_VERSION] - version < _MODELS - 1 else None


def row_word(kind: int, version: int) -> int:
    """Return the kind of a row and the version of its model as one number."""
    return version << _KIND_BITS | kind


def trouble_word(warning: int, place: int) -> int:
    """Return a warning of MuJoCo, and the index in `qpos` or `qvel` that it concerns, as one number that is not 0."""
    return warning + 1 << 32 | max(place, 0)


def split_trouble(word: int) -> tuple[int, int] | None:
    """Return warning and index of a `trouble_word`; None for 0."""
    return ((word >> 32) - 1, word & 0xFFFFFFFF) if word else None


def split_word(word: int) -> tuple[int, int]:
    """Return kind and version of a `row_word`."""
    return word & (1 << _KIND_BITS) - 1, word >> _KIND_BITS


def block_bytes(state_size: int, rows: int, model_size: int) -> int:
    """Return the size of the shared memory [bytes]."""
    channels = MOST_VALUES * VALUE.size + MOST_CHANNELS * _NAME_BYTES
    return _HEADER_BYTES + _GIZMO_BYTES + 8 * rows * (1 + state_size) + _GEOM_BYTES + channels + _MODELS * model_size


def row_count(state_size: int, ring_bytes: int) -> int:
    """Return the number of rows that fit into a ring."""
    return min(max(ring_bytes // (8 * (state_size + 1)), _FEWEST_ROWS), _MOST_ROWS)


def shared_file(name: str, size: int) -> int:
    """Return a descriptor of a file of `size` bytes in memory, which exists as long as a process has it open."""
    if hasattr(os, "memfd_create"):
        fd = os.memfd_create(name)
    else:
        handle, path = tempfile.mkstemp(prefix=f"{name}-")
        os.unlink(path)
        fd = handle
    os.ftruncate(fd, size)
    return fd


def model_file(model: MjModel) -> int:
    """Return a descriptor of a file in memory with the compiled model."""
    size = mujoco.mj_sizeModel(model)
    fd = shared_file("contact-viewer-model", size)
    with mmap.mmap(fd, size) as memory:
        buffer = np.frombuffer(memory, np.uint8)
        mujoco.mj_saveModel(model, None, buffer)
        # The memory cannot be unmapped while it is in use.
        del buffer
    return fd


class GeomMemory:
    """Geoms of an MjvScene as memory: to read them one by one takes a hundred times as long."""

    def __init__(self, scene: Any) -> None:
        self._scene = scene
        first, second = scene.geoms[0], scene.geoms[1]
        self._size = second.pos.ctypes.data - first.pos.ctypes.data
        # A geom begins with its type, some whole numbers before its size.
        size, kind = first.size.ctypes.data, first.type
        first.type = _MARK
        starts = [size - back for back in range(4, _MOST_BEFORE, 4) if _word(size - back) == _MARK]
        first.type = kind
        if len(starts) != 1 or not 0 < self._size <= _GEOM_SIZE:
            raise SceneError(f"geoms of MuJoCo {mujoco.__version__} are laid out in a way that is not known here")
        self._start = starts[0]

    def read(self, target: Bytes) -> int:
        """Copy the geoms of the scene, at most MOST_GEOMS, and return their number."""
        count = min(int(self._scene.ngeom), MOST_GEOMS)
        ctypes.memmove(target.ctypes.data, self._start, count * self._size)
        return count

    def add(self, source: Bytes, count: int) -> None:
        """Append geoms that `read` has copied to the scene, as many as fit."""
        scene = self._scene
        start = int(scene.ngeom)
        count = min(count, scene.maxgeom - start)
        ctypes.memmove(self._start + start * self._size, source.ctypes.data, count * self._size)
        scene.ngeom = start + count
        for geom in scene.geoms[start : start + count]:
            # Fields that `mjv_initGeom` does not set, as mjv_updateScene sets them.
            geom.category, geom.segid = _DECOR, -1
            geom.transparent = int(geom.rgba[3] < _OPAQUE)


def _word(address: int) -> int:
    return ctypes.c_int32.from_address(address).value


def read_values(owner: Any, fields: tuple[str, ...]) -> dict[str, Any]:
    """Return fields of an object as numbers and lists of numbers."""
    values = {name: getattr(owner, name) for name in fields if hasattr(owner, name)}
    return {name: value.tolist() if isinstance(value, np.ndarray) else value for name, value in values.items()}


def write_values(owner: Any, values: dict[str, Any]) -> None:
    """Set fields of an object to values from `read_values`."""
    for name, value in values.items():
        if isinstance(value, list):
            getattr(owner, name)[:] = value
        else:
            setattr(owner, name, value)
