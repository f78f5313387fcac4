"""Turns the scene's camera into matrices, and world points into pixels."""

import math
from dataclasses import dataclass
from functools import cached_property
from typing import Any

import numpy as np
from numpy.typing import NDArray

Viewport = tuple[int, int, int, int]
"""x, y, width, height [px]; the origin is the window's lower left corner."""
Points = NDArray[np.float64]
_Vector = tuple[float, float, float]


@dataclass(frozen=True, eq=False)
class CameraMatrices:
    """View and projection of one picture, for column vectors."""

    view: NDArray[np.float64]
    """World to eye, (4, 4); the eye looks along -z."""
    projection: NDArray[np.float64]
    """Eye to clip, (4, 4); near is z = -1, far is z = +1, whatever the depth buffer's convention is."""
    position: NDArray[np.float64]
    """The eye [m], world, (3,)."""
    forward: NDArray[np.float64]
    """Unit vector of the view, world, (3,)."""

    @classmethod
    def from_scene(cls, scene: Any, viewport: Viewport) -> "CameraMatrices":
        """The camera that MuJoCo draws an updated `MjvScene` with: the mean of its two eyes."""
        left, right = scene.camera[0], scene.camera[1]

        def mean(name: str) -> float:
            return 0.5 * (float(getattr(left, name)) + float(getattr(right, name)))

        def mean_vector(name: str) -> _Vector:
            (ax, ay, az), (bx, by, bz) = getattr(left, name).tolist(), getattr(right, name).tolist()
            return 0.5 * (ax + bx), 0.5 * (ay + by), 0.5 * (az + bz)

        # Plain numbers: for three of them numpy takes many times as long.
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
        """World to clip, (4, 4)."""
        return self.projection @ self.view

    def project(self, points: Any, viewport: Viewport) -> tuple[Points, Points]:
        """Pixels (n, 2) and depths along the view (n,) [m] of world points (n, 3).

        What is not in front of the eye gets NaN pixels.
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
        """Size of one pixel [m] at the depth of world points (n, 3)."""
        unit = 2.0 / (float(self.projection[1, 1]) * viewport[3])
        places = np.asarray(points, float).reshape(-1, 3)
        if self.orthographic:
            return np.full(len(places), unit)
        return np.abs((places - self.position) @ self.forward) * unit

    def recession(self, points: Any) -> Points:
        """How fast depth grows along the world's axes, as a part of the depth of world points [1/m], (n, 3).

        Zero for a camera without perspective, and for what is not in front of the eye.
        """
        places = np.asarray(points, float).reshape(-1, 3)
        depths = (places - self.position) @ self.forward
        if self.orthographic:
            return np.zeros_like(places)
        return np.where(depths > 1e-12, 1.0 / np.maximum(depths, 1e-12), 0.0)[:, None] * self.forward


@dataclass(frozen=True, eq=False)
class Eye:
    """A camera and the picture that it takes."""

    matrices: CameraMatrices
    viewport: Viewport
    unit: float = 1.0
    """Pixels per measure of what keeps its size on screen: 1 in a picture that is 720 pixels high."""

    @property
    def aspect(self) -> float:
        """Width of the picture by its height."""
        return self.viewport[2] / self.viewport[3]

    def pixel_size(self, points: Any) -> Points:
        """Size of one pixel [m] at the depth of world points (n, 3)."""
        return self.matrices.pixel_size(points, self.viewport)

    def sees(self, points: Any) -> NDArray[np.bool_]:
        """True for those of the world points (n, 3) that lie in the picture, (n,)."""
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
