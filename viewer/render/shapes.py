"""Adds shapes that are no part of a model to the scene that MuJoCo draws."""

from collections.abc import Sequence
from typing import Any

import mujoco
import numpy as np
from numpy.typing import NDArray


def add_polygon(scene: Any, corners: NDArray[np.float64], width: float, color: Sequence[float]) -> None:
    """Add the edges of a closed polygon to an updated `MjvScene`.

    Args:
        scene: The scene; edges that find no room in it are left out.
        corners: Corners in turn [m], world, (k, 3).
        width: Diameter of the edges [m].
        color: Red, green, blue and opacity, 0 to 1.
    """
    kind = mujoco.mjtGeom.mjGEOM_CAPSULE
    for start, end in zip(corners, np.roll(corners, -1, axis=0), strict=True):
        if scene.ngeom >= scene.maxgeom:
            return
        geom = scene.geoms[scene.ngeom]
        scene.ngeom += 1
        mujoco.mjv_initGeom(geom, kind, np.zeros(3), np.zeros(3), np.eye(3).ravel(), np.array(color, np.float32))
        mujoco.mjv_connector(geom, kind, 0.5 * width, start, end)
        geom.category = mujoco.mjtCatBit.mjCAT_DECOR
        geom.emission = 0.6
