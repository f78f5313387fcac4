"""The memory that a user's loop and its window share: a header, and a ring of states.

Each place of the header is written by one side alone, except `PAUSED`. The loop writes a row, then the number of rows:
it never waits for the window, which notices rows that were overwritten before it had read them.
"""

import mmap
import os
import tempfile
from enum import IntEnum, auto

import numpy as np
from numpy.typing import NDArray

_HEADER_BYTES = 4096
_DOUBLES = 128
"""Where the header's floating point numbers begin, in words of 8 bytes."""
DEFAULT_RING = 64 * 2**20
"""Memory of the ring of states [bytes]; what is not used costs nothing."""
_MOST_ROWS, _FEWEST_ROWS = 65536, 64

MOST_GIZMOS = 5000
"""Most spheres, and most arrows, that a program draws at once."""
_GIZMO_BYTES = 4 * MOST_GIZMOS * (8 + 12)
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


class SharedMemory:
    """One block of memory in two processes."""

    def __init__(self, fd: int, state_size: int, rows: int) -> None:
        """`fd`: of a file with `block_bytes` bytes."""
        self._map = mmap.mmap(fd, block_bytes(state_size, rows))
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
        """What each row is, (rows,)."""
        self.states: Numbers = np.frombuffer(self._map, np.float64, rows * state_size, offset=start + 8 * rows).reshape(
            rows, state_size
        )
        """States, the next one in place of the oldest, (rows, state_size)."""
        self.rows = rows


def block_bytes(state_size: int, rows: int) -> int:
    """Memory that is shared [bytes]."""
    return _HEADER_BYTES + _GIZMO_BYTES + 8 * rows * (1 + state_size)


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
