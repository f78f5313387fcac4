"""What a user's loop and its window share: memory with a header and a ring of states, and how values get into it.

Each place of the header is written by one side alone, except `PAUSED`. The loop writes a row, then the number of rows:
it does not wait for the window, which notices rows that were overwritten before it had read them, unless no step may be
left out: then the loop waits for room.
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
"""Where the header's floating point numbers begin, in words of 8 bytes."""
DEFAULT_RING = 64 * 2**20
"""Memory of the ring of states [bytes]."""
_MOST_ROWS, _FEWEST_ROWS = 65536, 64

MOST_GEOMS = 2000
"""Most geoms of a program's own that are drawn."""
_GEOM_SIZE = 320
"""Room for an MjvGeom, which is plain numbers and a label [bytes]."""
_MOST_BEFORE = 64
"""Bytes of an MjvGeom before its size, at most."""
_MARK = -54321
_DECOR = int(mujoco.mjtCatBit.mjCAT_DECOR)
_OPAQUE = 0.999
Bytes = NDArray[np.uint8]
MOST_GIZMOS = 5000
"""Most spheres, and most arrows, that a program draws at once."""
_GIZMO_BYTES = 4 * MOST_GIZMOS * (8 + 12)
_GEOM_BYTES = MOST_GEOMS * _GEOM_SIZE
_MODELS = 64
"""Versions of the loop's model that wait to be read."""
_KIND_BITS = 8
"""A row's kind is in the lowest bits of a word, the version of its model in the others."""
MOST_CHANNELS = 512
_NAME_BYTES = 256
"""Room for the name and the unit of a channel [bytes]."""
MOST_VALUES = 2**17
"""Values of channels that wait to be read; newer ones take the place of the oldest."""
VALUE = struct.Struct("=qqdd")
"""A value of a channel: rows written before it, number of the channel, time [s] and value."""
EXTRA = 2
"""Values of a batch's row after the state and before `sensordata`: the environment, and 1 if its sensors are known."""
CAMERA = ("type", "fixedcamid", "trackbodyid", "lookat", "distance", "azimuth", "elevation")
_GROUPS = tuple(f"{kind}group" for kind in ("geom", "site", "joint", "tendon", "actuator", "skin", "flex"))
OPTIONS = ("label", "frame", *_GROUPS, "flags", "bvh_depth")
"""Fields of an MjvCamera and of an MjvOption that a program may set."""
Numbers = NDArray[np.float64]


class Word(IntEnum):
    """Whole numbers in the header, by their place."""

    WRITTEN = 0
    """Rows that the loop has written."""
    PAUSED = auto()
    """1 if the loop is to wait in `sync`. Both sides write it."""
    PERMITS = auto()
    """How often the window has let one `sync` of a waiting loop through."""
    SLEEPING = auto()
    """1 if the window sleeps until it is woken through the socket."""
    CLOSED = auto()
    """1 once the window is closed."""
    PULLED = auto()
    """The body that a person pulls; 0 if none."""
    PULL_VERSION = auto()
    """Counts changes of the pull; odd while it is written."""
    GIZMO_VERSION = auto()
    """Counts changes of the program's own gizmos; odd while they are written."""
    SPHERES = auto()
    ARROWS = auto()
    """How many of them there are."""
    GEOM_VERSION = auto()
    """Counts changes of the program's own geoms; odd while they are written."""
    GEOMS = auto()
    """How many there are."""
    MODEL_VERSION = auto()
    """Counts the changes of the loop's model."""
    CHECKED = auto()
    """Rows before this one were written before someone last looked at the loop's model."""
    ENVIRONMENT = auto()
    """The environment that is shown, where the loop steps many. Both sides write it."""
    ENVIRONMENTS = auto()
    """How many there are."""
    FRAMES = auto()
    """Counts the window's frames: what it says to the loop, it says in them."""
    TAKEN = auto()
    """Rows that were read."""
    LOSSLESS = auto()
    """1 if the loop waits until there is room for its rows, so that none is left out. The window writes it."""
    CHANNELS = auto()
    """Number of channels that the loop has named."""
    VALUES = auto()
    """Values of channels that the loop has written."""
    TROUBLE = auto()
    """Why MuJoCo reset the loop's data last, as `trouble_word` has it; 0 if the program did."""
    TROUBLE_ROW = auto()
    """Number of the first row after that."""


class SharedMemory:
    """One block of memory in two processes."""

    def __init__(self, fd: int, state_size: int, rows: int, model_size: int) -> None:
        """`fd`: of a file with `block_bytes` bytes."""
        self._map = mmap.mmap(fd, block_bytes(state_size, rows, model_size))
        buffer = memoryview(self._map)
        self.words = buffer[:_HEADER_BYTES].cast("q")
        """See `Word`."""
        self.pull = np.frombuffer(self._map, np.float64, 6, offset=8 * _DOUBLES)
        """Force and torque on the pulled body [N, N m], world."""
        start = _HEADER_BYTES
        self.spheres = np.frombuffer(self._map, np.float32, MOST_GIZMOS * 8, offset=start).reshape(-1, 8)
        """The program's own gizmos, as in `render.glyphs.Glyphs`."""
        start += self.spheres.nbytes
        self.arrows = np.frombuffer(self._map, np.float32, MOST_GIZMOS * 12, offset=start).reshape(-1, 12)
        start += self.arrows.nbytes
        self.kinds = buffer[start : start + 8 * rows].cast("q")
        """What each row is, as `row_word` has it, (rows,)."""
        start += 8 * rows
        self.states: Numbers = np.frombuffer(self._map, np.float64, rows * state_size, offset=start)
        self.states = self.states.reshape(rows, state_size)
        """States, the next one in place of the oldest, (rows, state_size)."""
        start += self.states.nbytes
        self.geoms = np.frombuffer(self._map, np.uint8, _GEOM_BYTES, offset=start)
        """The program's own geoms, as `GeomMemory` reads them."""
        start += self.geoms.nbytes
        self.values = buffer[start : start + MOST_VALUES * VALUE.size]
        """Values of channels, as `VALUE` has them, the next one in place of the oldest."""
        start += MOST_VALUES * VALUE.size
        self._names = buffer[start : start + MOST_CHANNELS * _NAME_BYTES]
        start += MOST_CHANNELS * _NAME_BYTES
        self._models = buffer[start : start + _MODELS * model_size]
        self._model_size = model_size
        self.rows = rows

    def allocate(self) -> None:
        """Have the operating system provide all memory of the states now."""
        self.states.reshape(-1)[self.states.shape[1] :: mmap.PAGESIZE // 8] = 0.0

    def add_channel(self, name: ChannelName) -> int:
        """Hand over the name of a channel, and return its number. Raises ValueError for one that has no room."""
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
        """Return the name of a channel that was handed over."""
        name, unit, *_ = bytes(self._names[number * _NAME_BYTES :][:_NAME_BYTES]).decode().split("\0")
        return ChannelName(name, unit)

    def write_model(self, version: int, values: bytes) -> None:
        """Hand over the values of a model, as `ModelValues` reads them."""
        place = version % _MODELS * self._model_size
        self._models[place : place + self._model_size] = values
        self.words[Word.MODEL_VERSION] = version

    def read_model(self, version: int) -> bytes | None:
        """Values that were handed over; None if others have taken their place."""
        place = version % _MODELS * self._model_size
        values = bytes(self._models[place : place + self._model_size])
        return values if self.words[Word.MODEL_VERSION] - version < _MODELS - 1 else None


def row_word(kind: int, version: int) -> int:
    """What a row is, and the version of the model with it, as one number."""
    return version << _KIND_BITS | kind


def trouble_word(warning: int, place: int) -> int:
    """A warning of MuJoCo, and the number in `qpos` or `qvel` that it is about, as one number that is not 0."""
    return warning + 1 << 32 | max(place, 0)


def split_trouble(word: int) -> tuple[int, int] | None:
    """Warning and place of a `trouble_word`; None for 0."""
    return ((word >> 32) - 1, word & 0xFFFFFFFF) if word else None


def split_word(word: int) -> tuple[int, int]:
    """Kind and version of a `row_word`."""
    return word & (1 << _KIND_BITS) - 1, word >> _KIND_BITS


def block_bytes(state_size: int, rows: int, model_size: int) -> int:
    """Memory that is shared [bytes]."""
    channels = MOST_VALUES * VALUE.size + MOST_CHANNELS * _NAME_BYTES
    return _HEADER_BYTES + _GIZMO_BYTES + 8 * rows * (1 + state_size) + _GEOM_BYTES + channels + _MODELS * model_size


def row_count(state_size: int, ring_bytes: int) -> int:
    """Rows that fit into a ring."""
    return min(max(ring_bytes // (8 * (state_size + 1)), _FEWEST_ROWS), _MOST_ROWS)


def shared_file(name: str, size: int) -> int:
    """Descriptor of a file of `size` bytes in memory, which is gone with the processes that have it."""
    if hasattr(os, "memfd_create"):
        fd = os.memfd_create(name)
    else:
        handle, path = tempfile.mkstemp(prefix=f"{name}-")
        os.unlink(path)
        fd = handle
    os.ftruncate(fd, size)
    return fd


def model_file(model: MjModel) -> int:
    """Descriptor of a file in memory with the compiled model."""
    size = mujoco.mj_sizeModel(model)
    fd = shared_file("contact-viewer-model", size)
    with mmap.mmap(fd, size) as memory:
        buffer = np.frombuffer(memory, np.uint8)
        mujoco.mj_saveModel(model, None, buffer)
        # The memory cannot be unmapped while it is in use.
        del buffer
    return fd


class GeomMemory:
    """The geoms of an MjvScene as memory: to read them one by one takes a hundred times as long."""

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
        """Copy the geoms of the scene; how many it were, at most MOST_GEOMS."""
        count = min(int(self._scene.ngeom), MOST_GEOMS)
        ctypes.memmove(target.ctypes.data, self._start, count * self._size)
        return count

    def add(self, source: Bytes, count: int) -> None:
        """Put geoms that `read` has copied into the scene after those that it has, as many as fit."""
        scene = self._scene
        start = int(scene.ngeom)
        count = min(count, scene.maxgeom - start)
        ctypes.memmove(self._start + start * self._size, source.ctypes.data, count * self._size)
        scene.ngeom = start + count
        for geom in scene.geoms[start : start + count]:
            # What `mjv_initGeom` leaves open, and mjv_updateScene sets of geoms of its own.
            geom.category, geom.segid = _DECOR, -1
            geom.transparent = int(geom.rgba[3] < _OPAQUE)


def _word(address: int) -> int:
    return ctypes.c_int32.from_address(address).value


def read_values(owner: Any, fields: tuple[str, ...]) -> dict[str, Any]:
    """Fields as numbers and lists of them."""
    values = {name: getattr(owner, name) for name in fields if hasattr(owner, name)}
    return {name: value.tolist() if isinstance(value, np.ndarray) else value for name, value in values.items()}


def write_values(owner: Any, values: dict[str, Any]) -> None:
    """Set fields that `read_values` has read of another owner."""
    for name, value in values.items():
        if isinstance(value, list):
            getattr(owner, name)[:] = value
        else:
            setattr(owner, name, value)
