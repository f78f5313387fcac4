"""Matrices of a scene's camera, pixels of world points, and a free camera that shows the moving geoms."""

import math
from collections.abc import Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import Any

import mujoco
import numpy as np
from numpy.typing import NDArray

from ..mjmodel.types import MjModel

Viewport = tuple[int, int, int, int]
"""x, y, width, height [px]; the origin is the window's lower left corner."""
Points = NDArray[np.float64]
_Vector = tuple[float, float, float]
_LEAST_SEEN = 0.6
"""Least fraction of the moving geoms that a view has to show to be kept."""
_FRAMED = 0.75
"""Fraction of the frame that the moving geoms fill in a view that replaces the author's."""
_OUTSIDE = 0.1
"""Fraction of a frame by which boxes around geoms may reach out of it: a box is larger than its geom."""
_SMALLEST, _LARGEST = 0.12, 2.0
"""Smallest and largest size of the box around the moving geoms, as a fraction of the frame, for a view to be kept."""

Box = tuple[NDArray[np.float64], NDArray[np.float64]]
"""Lower and upper corner [m], world, (3,) each."""
FREE, TRACKING, FIXED = (
    int(kind)
    for kind in (mujoco.mjtCamera.mjCAMERA_FREE, mujoco.mjtCamera.mjCAMERA_TRACKING, mujoco.mjtCamera.mjCAMERA_FIXED)
)
"""Kinds of cameras, as numbers: comparing one with a member of MuJoCo's enumeration takes twenty times as long."""
_NEAREST, _FARTHEST = 1e-4, 40.0
"""Nearest and farthest distance from the camera's centre, as fractions of the scene's size: zooming nearer moves the
centre ahead; at the farthest distance, an infinite floor still reaches below the camera."""
_NEAR_PLANE = 0.002, 0.05
"""Bounds of the near plane's distance, as fractions of the distance of the camera's centre: with a nearer plane the
depth buffer would be too coarse."""
_SKY = 0.5
"""Distance at which haze begins to cover objects, as a fraction of the far plane's distance."""

Vector = NDArray[np.float64]


@dataclass(frozen=True, eq=False)
class CameraMatrices:
    """View and projection matrices of one picture, for column vectors."""

    view: NDArray[np.float64]
    """Matrix from world to eye coordinates, (4, 4); the eye looks along -z."""
    projection: NDArray[np.float64]
    """Matrix from eye to clip coordinates, (4, 4); near is z = -1, far is z = +1, whatever the depth buffer's
    convention is."""
    position: NDArray[np.float64]
    """Position of the eye [m], world, (3,)."""
    forward: NDArray[np.float64]
    """Unit vector in the direction of the view, world, (3,)."""

    @classmethod
    def from_scene(cls, scene: Any, viewport: Viewport) -> "CameraMatrices":
        """Return the camera that MuJoCo uses for an updated `MjvScene`: the mean of its two eyes."""
        left, right = scene.camera[0], scene.camera[1]

        def mean(name: str) -> float:
            return 0.5 * (float(getattr(left, name)) + float(getattr(right, name)))

        def mean_vector(name: str) -> _Vector:
            (ax, ay, az), (bx, by, bz) = getattr(left, name).tolist(), getattr(right, name).tolist()
            return 0.5 * (ax + bx), 0.5 * (ay + by), 0.5 * (az + bz)

        # Plain numbers: a cross product takes 0.4 µs, numpy.cross 50 µs.
        eye, forward = mean_vector("pos"), _unit(mean_vector("forward"))
        side = _unit(_cross(forward, mean_vector("up")))
        back = -forward[0], -forward[1], -forward[2]
        rows = (side, _cross(side, forward), back)
        view = np.array([*((*row, -_dot(row, eye)) for row in rows), (0.0, 0.0, 0.0, 1.0)])
        position = np.array(eye)
        bottom, top = mean("frustum_bottom"), mean("frustum_top")
        # MuJoCo gives a half width where a model's camera has intrinsics, else the viewport decides.
        half_width = mean("frustum_width") or 0.5 * viewport[2] / viewport[3] * (top - bottom)
        center = mean("frustum_center")
        box = (center - half_width, center + half_width, bottom, top, mean("frustum_near"), mean("frustum_far"))
        projection = _orthographic(*box) if left.orthographic else _perspective(*box)
        return cls(view, projection, position, np.array(forward))

    @property
    def orthographic(self) -> bool:
        return bool(self.projection[3, 3] == 1.0)

    @cached_property
    def to_clip(self) -> NDArray[np.float64]:
        """Matrix from world to clip coordinates, (4, 4)."""
        return self.projection @ self.view

    def project(self, points: Any, viewport: Viewport) -> tuple[Points, Points]:
        """Return pixels (n, 2) and depths along the view (n,) [m] of world points (n, 3).

        Points that are not in front of the eye get NaN pixels.
        """
        eye = np.asarray(points, float).reshape(-1, 3) @ self.view[:3, :3].T + self.view[:3, 3]
        clip = eye @ self.projection[:, :3].T + self.projection[:, 3]
        in_front = clip[:, 3] > 1e-12
        ndc = np.full((len(eye), 2), np.nan)
        np.divide(clip[:, :2], clip[:, 3:], out=ndc, where=in_front[:, None])
        x, y, width, height = viewport
        pixels = (ndc * 0.5 + 0.5) * (width, height) + (x, y)
        return pixels, -eye[:, 2]

    def pixel_size(self, points: Any, viewport: Viewport) -> Points:
        """Return the size of one pixel [m] at the depth of world points (n, 3)."""
        unit = 2.0 / (float(self.projection[1, 1]) * viewport[3])
        places = np.asarray(points, float).reshape(-1, 3)
        if self.orthographic:
            return np.full(len(places), unit)
        return np.abs((places - self.position) @ self.forward) * unit

    def recession(self, points: Any) -> Points:
        """Return the growth of depth along the world's axes, relative to the depth of world points [1/m], (n, 3). Zero
        for a camera without perspective, and for points that are not in front of it."""
        places = np.asarray(points, float).reshape(-1, 3)
        depths = (places - self.position) @ self.forward
        if self.orthographic:
            return np.zeros_like(places)
        return np.where(depths > 1e-12, 1.0 / np.maximum(depths, 1e-12), 0.0)[:, None] * self.forward


@dataclass(frozen=True, eq=False)
class Eye:
    """Camera with the size of its frame."""

    matrices: CameraMatrices
    viewport: Viewport
    unit: float = 1.0
    """Pixels per measure of glyphs with a fixed size on screen: 1 in a frame that is 720 pixels high."""

    @property
    def aspect(self) -> float:
        """Width of the picture divided by its height."""
        return self.viewport[2] / self.viewport[3]

    def pixel_size(self, points: Any) -> Points:
        """Return the size of one pixel [m] at the depth of world points (n, 3)."""
        return self.matrices.pixel_size(points, self.viewport)

    def sees(self, points: Any) -> NDArray[np.bool_]:
        """Return whether each world point (n, 3) lies in the picture, (n,)."""
        to_clip = self.matrices.to_clip
        clip = np.asarray(points, float).reshape(-1, 3) @ to_clip[:, :3].T + to_clip[:, 3]
        # False for NaN, and behind the eye, too.
        return np.asarray((np.abs(clip[:, :2]) < clip[:, 3:]).all(axis=1), bool)


def _perspective(left: float, right: float, bottom: float, top: float, near: float, far: float) -> NDArray[np.float64]:
    width, height, depth = right - left, top - bottom, far - near
    return np.array(
        [
            [2 * near / width, 0, (right + left) / width, 0],
            [0, 2 * near / height, (top + bottom) / height, 0],
            [0, 0, -(far + near) / depth, -2 * far * near / depth],
            [0, 0, -1, 0],
        ]
    )


def _orthographic(left: float, right: float, bottom: float, top: float, near: float, far: float) -> NDArray[np.float64]:
    width, height, depth = right - left, top - bottom, far - near
    return np.array(
        [
            [2 / width, 0, 0, -(right + left) / width],
            [0, 2 / height, 0, -(top + bottom) / height],
            [0, 0, -2 / depth, -(far + near) / depth],
            [0, 0, 0, 1],
        ]
    )


def _dot(a: _Vector, b: _Vector) -> float:
    return a[0] * b[0] + a[1] * b[1] + a[2] * b[2]


def _cross(a: _Vector, b: _Vector) -> _Vector:
    return a[1] * b[2] - a[2] * b[1], a[2] * b[0] - a[0] * b[2], a[0] * b[1] - a[1] * b[0]


def _unit(vector: _Vector) -> _Vector:
    length = math.sqrt(_dot(vector, vector))
    return vector[0] / length, vector[1] / length, vector[2] / length


def scene_size(model: MjModel) -> float:
    """Return the size of a scene [m]: the larger of its declared extent and the extent of its largest moving tree."""
    reach = np.zeros(model.nbody)
    steps, trees, parents = np.linalg.norm(model.body_pos, axis=1), model.body_treeid, model.body_parentid
    for body in range(1, model.nbody):
        # From the tree's first body, stretched out.
        if trees[body] >= 0 and trees[parents[body]] == trees[body]:
            reach[body] = reach[parents[body]] + steps[body]
    geoms = moving_geoms(model)
    tips = reach[model.geom_bodyid[geoms]] + np.linalg.norm(model.geom_pos[geoms], axis=1) + model.geom_rbound[geoms]
    return max(float(model.stat.extent), float(reach.max()), float(tips.max(initial=0.0)))


def scenery(model: MjModel) -> tuple[NDArray[np.intp], NDArray[np.float64]]:
    """Return the geoms that never move and their radii [m]; no geoms if the scene has an infinite floor."""
    planes = model.geom_type == int(mujoco.mjtGeom.mjGEOM_PLANE)
    if (model.geom_size[planes, :2] <= 0.0).any():
        return np.zeros(0, np.intp), np.zeros(0)
    still = np.flatnonzero(model.body_treeid[model.geom_bodyid] < 0)
    reach = np.where(planes, np.linalg.norm(model.geom_size[:, :2], axis=1), model.geom_rbound)
    return still, reach[still]


def tree_sizes(model: MjModel, data: Any) -> tuple[NDArray[np.float64], NDArray[np.float64]]:
    """Return centres (n, 3) and longest sides (n,) of the boxes around the moving trees of bodies [m]."""
    geoms = moving_geoms(model)
    trees, index = np.unique(model.body_treeid[model.geom_bodyid[geoms]], return_inverse=True)
    low, high = _reach(model, data, geoms)
    lower, upper = np.full((len(trees), 3), np.inf), np.full((len(trees), 3), -np.inf)
    np.minimum.at(lower, index, low)
    np.maximum.at(upper, index, high)
    return 0.5 * (lower + upper), (upper - lower).max(axis=1, initial=0.0)


def moving_geoms(model: MjModel) -> NDArray[np.intp]:
    """Return the geoms of bodies that can move."""
    return np.flatnonzero(model.body_treeid[model.geom_bodyid] >= 0)


def body_geoms(model: MjModel, body: int) -> NDArray[np.intp]:
    """Return the geoms of a body and of all bodies below it."""
    belongs = np.zeros(model.nbody, bool)
    belongs[body] = True
    for child in range(body + 1, model.nbody):
        # Parents come before their children.
        belongs[child] = belongs[model.body_parentid[child]]
    return np.flatnonzero(belongs[model.geom_bodyid])


def box_around(model: MjModel, data: Any, geoms: NDArray[np.intp]) -> Box | None:
    """Return the box around geoms; None if there are none, or their positions are not finite."""
    low, high = _reach(model, data, geoms)
    if not len(low) or not (np.abs(low) < 1e9).all() or not (np.abs(high) < 1e9).all():
        return None
    return low.min(axis=0), high.max(axis=0)


def shown_badly(model: MjModel, data: Any, eye: Eye, box: Box, may_be_detail: bool = True) -> float | None:
    """Return None if the frame shows the moving geoms well; else the fraction of the frame that they should fill.

    `may_be_detail`: True if the view may show a part of the moving geoms, False if it has to show all of them.
    """
    geoms = moving_geoms(model)
    seen = float(eye.sees(data.geom_xpos[geoms]).mean())
    pixels, _ = eye.matrices.project(corners(box), eye.viewport)
    share = float((np.ptp(pixels, axis=0) / eye.viewport[2:]).max())
    whole = share <= _LARGEST if may_be_detail else _holds(eye, *_reach(model, data, geoms))
    if seen >= _LEAST_SEEN and share >= _SMALLEST and whole:
        return None
    # What is merely small may move about: it keeps room.
    return 0.3 if seen >= _LEAST_SEEN and share < _SMALLEST else _FRAMED


def _holds(eye: Eye, low: NDArray[np.float64], high: NDArray[np.float64]) -> bool:
    """Return True if a frame contains boxes with corners, (n, 3), within a small tolerance."""
    ends = np.stack([low, high])
    boxes = [[ends[i][:, 0], ends[j][:, 1], ends[k][:, 2]] for i in (0, 1) for j in (0, 1) for k in (0, 1)]
    pixels, _ = eye.matrices.project(np.stack(boxes).transpose(0, 2, 1).reshape(-1, 3), eye.viewport)
    size = np.array(eye.viewport[2:])
    return bool((pixels >= -_OUTSIDE * size).all() and (pixels <= (1.0 + _OUTSIDE) * size).all())


def corners(box: Box) -> NDArray[np.float64]:
    """Return the eight corners of a box [m], (8, 3)."""
    return np.array([[box[i][0], box[j][1], box[k][2]] for i in (0, 1) for j in (0, 1) for k in (0, 1)])


def _reach(model: MjModel, data: Any, geoms: NDArray[np.intp]) -> Box:
    """Return the corners of the boxes around geoms [m], world, (n, 3) each."""
    turn, own = data.geom_xmat[geoms].reshape(-1, 3, 3), model.geom_aabb[geoms]
    centers = data.geom_xpos[geoms] + np.einsum("nij,nj->ni", turn, own[:, :3])
    halves = np.einsum("nij,nj->ni", np.abs(turn), own[:, 3:])
    return centers - halves, centers + halves


def camera_axes(camera: Any) -> tuple[Vector, Vector, Vector]:
    """Return unit vectors to the right, up and ahead of a free camera, world, (3,) each."""
    azimuth, elevation = math.radians(camera.azimuth), math.radians(camera.elevation)
    ahead, top = np.array([math.cos(azimuth), math.sin(azimuth), 0.0]), np.array([0.0, 0.0, 1.0])
    right = np.array([math.sin(azimuth), -math.cos(azimuth), 0.0])
    up = math.cos(elevation) * top - math.sin(elevation) * ahead
    return right, up, math.cos(elevation) * ahead + math.sin(elevation) * top


def look_at_box(camera: Any, box: Box, fill: float, aspect: float, fovy: float) -> None:
    """Look at a box from the same side, so that it fills the fraction `fill` of the picture. `fovy` [degrees]."""
    right, up, forward = camera_axes(camera)
    center = 0.5 * (box[0] + box[1])
    offsets = corners(box) - center
    half_height = math.tan(math.radians(0.5 * fovy))
    depths = np.abs(offsets @ np.stack([right / aspect, up], axis=1)).max(axis=1) / (fill * half_height)
    camera.lookat[:] = center
    camera.distance = max(float((depths - offsets @ forward).max()), 1e-6)


def zoom_camera(camera: Any, factor: float, size: float, toward: Sequence[float] | Vector | None) -> None:
    """Multiply the camera's distance from a point, or from its centre if there is none, by a factor.

    `size`: size of the scene [m]. `toward`: the point [m], world, which keeps its place in the picture; or None.
    """
    before = float(camera.distance)
    distance = min(max(before * factor, _NEAREST * size), max(_FARTHEST * size, before))
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
    """Return the point [m], world, (3,), that a pixel shows at the depth of the point `focus`.

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


def set_planes(scene: Any, factor: float, farthest: float, distance: float, is_fixed: bool) -> None:
    """Move the clipping planes of an updated `MjvScene`, to show what its camera looks at and everything up to
    `farthest`.

    `factor`: applied to the distance of MuJoCo's far plane. `farthest`: distance from the camera [m]. `distance`:
    distance of the objects that it looks at [m]. `is_fixed`: True for a camera of the model, which may have to show
    very near objects.
    """
    for camera in scene.camera:
        camera.frustum_far = max(factor * float(camera.frustum_far), farthest / _SKY)
        near = float(camera.frustum_near)
        if camera.orthographic or near <= 0.0 or not distance > 0.0:
            continue
        least, most = (0.0 if is_fixed else _NEAR_PLANE[0] * distance), _NEAR_PLANE[1] * distance
        scale = min(max(near, least), most) / near
        for name in ("center", "width", "bottom", "top", "near"):
            setattr(camera, f"frustum_{name}", scale * float(getattr(camera, f"frustum_{name}")))
