"""Turns the geoms that a program puts into an MjvScene into rows of memory, and back."""

from typing import Any

import mujoco
import numpy as np
from numpy.typing import NDArray

MOST_GEOMS = 2000
"""Most geoms of a program's own that are drawn."""
_NUMBERS = (
    "type",
    "dataid",
    "objtype",
    "objid",
    "category",
    "matid",
    "texcoord",
    "segid",
    "emission",
    "specular",
    "shininess",
    "reflectance",
    "modelrbound",
    "transparent",
)
_ARRAYS = {"size": 3, "pos": 3, "mat": 9, "rgba": 4}
_LABEL = 100
GEOM = np.dtype(
    [(name, np.float32) for name in _NUMBERS]
    + [(name, np.float32, (length,)) for name, length in _ARRAYS.items()]
    + [("label", f"S{_LABEL}")]
)
"""What is drawn of an MjvGeom. Its whole numbers fit into floating point ones."""
_WHOLE = frozenset(_NUMBERS[:8]) | {"transparent"}


def read_geoms(scene: Any, rows: NDArray[Any]) -> int:
    """Write the geoms of an MjvScene into rows, as many as there are; how many it were."""
    count = min(int(scene.ngeom), len(rows))
    for row, geom in zip(rows[:count], scene.geoms, strict=False):
        for name in _NUMBERS:
            row[name] = getattr(geom, name)
        for name in _ARRAYS:
            row[name] = np.reshape(getattr(geom, name), -1)
        label = geom.label
        row["label"] = label.encode() if isinstance(label, str) else bytes(label)
    return count


def add_geoms(scene: Any, rows: NDArray[Any]) -> None:
    """Put geoms into an MjvScene, as many as it holds."""
    for row in rows[: scene.maxgeom - scene.ngeom]:
        geom = scene.geoms[scene.ngeom]
        scene.ngeom += 1
        arrays = [row[name].astype(np.float64) for name in ("size", "pos", "mat")]
        mujoco.mjv_initGeom(geom, int(row["type"]), *arrays, row["rgba"])
        for name in _NUMBERS:
            setattr(geom, name, int(row[name]) if name in _WHOLE else float(row[name]))
        # As it was set by hand or by mjv_connector.
        geom.size[:] = row["size"]
        geom.label = row["label"].decode(errors="replace")
