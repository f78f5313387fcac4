"""Copies the geoms that a program puts into an MjvScene into memory, and from there into another MjvScene."""

import ctypes
from typing import Any

import mujoco
import numpy as np
from numpy.typing import NDArray

from ..errors import SceneError

MOST_GEOMS = 2000
"""Most geoms of a program's own that are drawn."""
GEOM_BYTES = 320
"""Room for an MjvGeom, which is plain numbers and a label [bytes]."""
_MOST_BEFORE = 64
"""Bytes of an MjvGeom before its size, at most."""
_MARK = -54321
_DECOR = int(mujoco.mjtCatBit.mjCAT_DECOR)
_OPAQUE = 0.999
Bytes = NDArray[np.uint8]


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
        if len(starts) != 1 or not 0 < self._size <= GEOM_BYTES:
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
