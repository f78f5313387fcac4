"""Moves a free camera: zooms, and looks at boxes."""

import math
from collections.abc import Sequence
from typing import Any

import mujoco
import numpy as np
from numpy.typing import NDArray

from .camera import Eye
from .framing import Box, corners

FREE, TRACKING, FIXED = (
    int(kind)
    for kind in (mujoco.mjtCamera.mjCAMERA_FREE, mujoco.mjtCamera.mjCAMERA_TRACKING, mujoco.mjtCamera.mjCAMERA_FIXED)
)
"""Kinds of cameras, as numbers: comparing one with a member of MuJoCo's enumeration takes twenty times as long."""
_NEAREST, _FARTHEST = 1e-4, 100.0
"""Distances from the centre, as fractions of the model's extent: at the first, zooming moves the centre itself."""
_NEAR_PLANE = 0.05
"""Largest distance of the near plane, as a fraction of that of the camera's centre."""

Vector = NDArray[np.float64]


def camera_axes(camera: Any) -> tuple[Vector, Vector, Vector]:
    """Unit vectors to the right, up and ahead of a free camera, world, (3,) each."""
    azimuth, elevation = math.radians(camera.azimuth), math.radians(camera.elevation)
    ahead, top = np.array([math.cos(azimuth), math.sin(azimuth), 0.0]), np.array([0.0, 0.0, 1.0])
    right = np.array([math.sin(azimuth), -math.cos(azimuth), 0.0])
    up = math.cos(elevation) * top - math.sin(elevation) * ahead
    return right, up, math.cos(elevation) * ahead + math.sin(elevation) * top


def look_at_box(camera: Any, box: Box, fill: float, aspect: float, fovy: float) -> None:
    """Look at a box from the same side, so that it fills a part of the picture. `fovy` [degrees]."""
    right, up, forward = camera_axes(camera)
    center = 0.5 * (box[0] + box[1])
    offsets = corners(box) - center
    half_height = math.tan(math.radians(0.5 * fovy))
    depths = np.abs(offsets @ np.stack([right / aspect, up], axis=1)).max(axis=1) / (fill * half_height)
    camera.lookat[:] = center
    camera.distance = max(float((depths - offsets @ forward).max()), 1e-6)


def zoom_camera(camera: Any, factor: float, extent: float, toward: Sequence[float] | Vector | None) -> None:
    """Multiply the distances from a point by a factor, or without one those from the camera's centre [m].

    `extent`: of the model [m].
    """
    before = float(camera.distance)
    distance = min(max(before * factor, _NEAREST * extent), _FARTHEST * extent)
    if camera.type != TRACKING:
        if toward is not None:
            # What is scaled about a point keeps it in its place.
            point = np.asarray(toward, float)
            camera.lookat[:] = point + distance / before * (camera.lookat - point)
        if factor < 1.0:
            # At its nearest, the centre moves ahead in place of the eye: nobody is held up in mid-air.
            camera.lookat[:] = camera.lookat + max(distance - before * factor, 0.0) * camera_axes(camera)[2]
    camera.distance = distance


def point_at_depth(eye: Eye, x: float, y: float, focus: Vector) -> Vector:
    """The point of a pixel at the depth of a focus [m], world, (3,).

    `x`, `y`: fractions of the picture from its lower left corner.
    """
    matrices = eye.matrices
    depth = max(float((focus - matrices.position) @ matrices.forward), 1e-9)
    inverse = np.linalg.inv(matrices.to_clip)
    near, far = (inverse @ np.array([2 * x - 1, 2 * y - 1, z, 1.0]) for z in (-1.0, 1.0))
    start = near[:3] / near[3]
    along = far[:3] / far[3] - start
    ahead = depth - float((start - matrices.position) @ matrices.forward)
    return np.asarray(start + along * (ahead / float(along @ matrices.forward)))


def bring_near_plane(scene: Any, distance: float) -> None:
    """Let an updated `MjvScene` show what is near a camera at this distance from its centre [m].

    MuJoCo's near plane is a fraction of the whole scene's size: in a large one it cuts what a person zooms into.
    """
    for camera in scene.camera:
        factor = _NEAR_PLANE * distance / max(float(camera.frustum_near), 1e-300)
        if camera.orthographic or not 0.0 < factor < 1.0:
            continue
        for name in ("center", "width", "bottom", "top", "near"):
            setattr(camera, f"frustum_{name}", factor * float(getattr(camera, f"frustum_{name}")))
