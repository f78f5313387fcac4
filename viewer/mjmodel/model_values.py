"""Convert the values of a model that a program may change while it runs to bytes, and back."""

import ctypes
from itertools import accumulate
from typing import Any

import numpy as np

from .types import MjModel

_PREFIXES = (
    "actuator_",
    "body_",
    "cam_",
    "dof_",
    "eq_",
    "exclude_",
    "flex_",
    "flexedge_",
    "geom_",
    "hfield_",
    "jnt_",
    "light_",
    "mat_",
    "pair_",
    "site_",
    "tendon_",
    "wrap_",
)
_OTHERS = ("qpos0", "qpos_spring")
"""Arrays without a prefix of `_PREFIXES` that are read. Physics and pictures depend on no others, except for meshes,
textures, skins and the declarations of sensors."""
_LARGEST = 512 * 1024
"""Size beyond which an array counts as fixed [bytes]."""
_GAP = 4096
"""Largest distance of arrays in memory that are read as one [bytes]."""


class ModelValues:
    """The values of one model, always in the same order."""

    def __init__(self, model: MjModel) -> None:
        fields = [name for name in dir(model) if name.startswith(_PREFIXES) or name in _OTHERS]
        arrays = [getattr(model, name) for name in fields]
        self._numbers: list[tuple[object, str]] = []
        """Owner and name of each value that is not an array."""
        for owner in (model.opt, model.stat):
            for name in (name for name in dir(owner) if not name.startswith("_")):
                value = getattr(owner, name)
                if isinstance(value, np.ndarray):
                    arrays.append(value)
                elif isinstance(value, (int, float)):
                    self._numbers.append((owner, name))
        arrays = [array for array in arrays if isinstance(array, np.ndarray) and 0 < array.nbytes <= _LARGEST]
        self.integers = frozenset(place for place, array in enumerate(arrays) if array.dtype.kind in "iu")
        """Indices in the result of `split` of arrays that may hold indices."""
        # The arrays are part of the model: what changes there is seen here.
        self._views = [array.reshape(-1).view(np.uint8).data for array in arrays]
        self._numbers_now = np.empty(len(self._numbers))
        sizes = [view.nbytes for view in self._views] + [self._numbers_now.nbytes]
        self.size = sum(sizes)
        """Number of bytes that are read."""
        self._memory = _memory(model, arrays)
        self._parts = [slice(end - size, end) for size, end in zip(sizes, accumulate(sizes), strict=True)]

    def read(self) -> bytes:
        """Return all present values, (size,)."""
        now = self._numbers_now
        for place, (owner, name) in enumerate(self._numbers):
            now[place] = getattr(owner, name)
        return b"".join([*self._views, now.data.cast("B")])

    def memory(self) -> bytes:
        """Return the memory that contains all values, and gaps between them; takes a quarter of the time of `read`."""
        return b"".join(self._memory)

    def split(self, content: bytes) -> list[bytes]:
        """Split the bytes that were read into those of each array."""
        return [content[part] for part in self._parts]

    def write(self, place: int, content: bytes) -> None:
        """Set one of the arrays of `split`."""
        if place < len(self._views):
            self._views[place][:] = content
            return
        for (owner, name), value in zip(self._numbers, np.frombuffer(content), strict=True):
            kind = type(getattr(owner, name))
            setattr(owner, name, kind(value))


def _memory(model: MjModel, arrays: list[Any]) -> list[Any]:
    """Return the memory of a model's arrays, options and statistics, as few buffers."""
    # The options, and the statistics which end with the centre, are in the structure itself.
    centre = model.stat.center
    places = [(model._address, centre.ctypes.data + centre.nbytes)]
    places += [(array.ctypes.data, array.ctypes.data + array.nbytes) for array in arrays]
    spans: list[tuple[int, int]] = []
    for start, end in sorted(places):
        if spans and start <= spans[-1][1] + _GAP:
            spans[-1] = spans[-1][0], max(end, spans[-1][1])
        else:
            spans.append((start, end))
    return [(ctypes.c_char * (end - start)).from_address(start) for start, end in spans]
