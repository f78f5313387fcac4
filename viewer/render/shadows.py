"""Make MuJoCo's shadows fine and soft: their map covers the visible part of the scene, and their edges are blended."""

from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any

import mujoco
import numpy as np
from numpy.typing import NDArray

from ..mjmodel.types import MjData, MjModel
from .camera import CameraMatrices, Viewport

_SOFTNESS = 0.6
"""Least size of a pixel of the map, in pixels of the picture: smaller ones make hard and ragged edges."""
_REACH = 2.0
"""Largest distance of casters from the middle of the view, in heights of the view at their depth."""
_ROOM = 1.15
"""Factor on the size of the area that a map covers, so that the area can stay while casters move a little."""
_SHRINK = 0.6
"""Fraction of its area that a map must need, or the area shrinks."""
_BIAS = 1.2
"""Depth that is added so that a surface does not shade itself, in pixels of the map."""
_MAP_SIZES = 1024, 2048, 4096
_LINES = 480, 1400
"""Heights of pictures above which the next larger map is used [px]."""
_DIRECTIONAL, _SPOT = int(mujoco.mjtLightType.mjLIGHT_DIRECTIONAL), int(mujoco.mjtLightType.mjLIGHT_SPOT)
_Plane = tuple[NDArray[np.float64], float]
"""Square area across the direction of a light: its middle, (2,), and half of its width [m]."""


def map_size(model: MjModel, height: int) -> int:
    """Return the size of the shadow map for pictures of a height [px]: at most the model's own."""
    size = _MAP_SIZES[sum(height > lines for lines in _LINES)]
    if (model.light_castshadow.astype(bool) & (model.light_type == _SPOT)).any():
        # The map of a spotlight covers its cone, which does not follow the view.
        size = max(size, _MAP_SIZES[1])
    return min(int(model.vis.quality.shadowsize), size)


class Shadows:
    """Shadows of one `MjrContext`. Needs its OpenGL context to be current, in every call."""

    def __init__(self, gl: Any, context: Any, model: MjModel) -> None:
        self._gl, self._context = gl, context
        flat = [int(kind) for kind in (mujoco.mjtGeom.mjGEOM_PLANE, mujoco.mjtGeom.mjGEOM_HFIELD)]
        self._casters = np.flatnonzero(~np.isin(model.geom_type, flat))
        self._radii = np.asarray(model.geom_rbound[self._casters], float)
        self._points = np.zeros((0, 3))
        self._covered: dict[int, _Plane] = {}
        """Area that each light's map covered last, by the light's number."""
        self._bias = 0.0
        """Depth that is added to a surface before its depth is compared with the map, in the depth buffer's units."""
        gl.glBindTexture(gl.GL_TEXTURE_2D, int(context.shadowTex))
        for name in (gl.GL_TEXTURE_MIN_FILTER, gl.GL_TEXTURE_MAG_FILTER):
            gl.glTexParameteri(gl.GL_TEXTURE_2D, name, gl.GL_LINEAR)
        # Opaque wherever the light arrives in part: MuJoCo leaves out pixels that are not.
        gl.glTexParameteri(gl.GL_TEXTURE_2D, gl.GL_DEPTH_TEXTURE_MODE, gl.GL_LUMINANCE)
        gl.glBindTexture(gl.GL_TEXTURE_2D, 0)

    def update(self, data: MjData) -> None:
        """Remember the positions of the casters."""
        points = np.asarray(data.geom_xpos[self._casters], float)
        self._points = np.where(np.isfinite(points), points, 0.0)

    def fit(self, scene: Any, matrices: CameraMatrices, viewport: Viewport) -> None:
        """Fit the maps of an updated `MjvScene` to the objects that cast shadows into a frame."""
        lights = [(i, scene.lights[i]) for i in range(scene.nlight) if scene.lights[i].castshadow]
        self._bias = 0.0
        if not lights or not len(self._points):
            return
        middle, pixel = self._middle(matrices, viewport)
        height, size = pixel * viewport[3], max(int(self._context.shadowSize), 1)
        near, far = float(scene.camera[0].frustum_near), float(scene.camera[0].frustum_far)
        parallel = {i: light for i, light in lights if int(light.type) == _DIRECTIONAL}
        self._covered = {
            i: self._cover(i, light, middle, height, 0.5 * _SOFTNESS * pixel * size) for i, light in parallel.items()
        }
        # One width serves all lights.
        half = max((half for _, half in self._covered.values()), default=float(self._context.shadowClip))
        self._context.shadowClip = half
        for i, light in lights:
            if i not in parallel:
                distance = max(float(np.linalg.norm(light.pos - middle)), near)
                texel = 2.0 * np.tan(np.radians(light.cutoff * self._context.shadowScale)) * distance / size
                self._bias = max(self._bias, _BIAS * texel * near * far / ((far - near) * distance**2))
                continue
            across, along = _axes(light.dir), np.asarray(light.dir, float)
            place = self._covered[i][0] @ across + (middle @ along) * along
            light.pos[:] = place - min(10.0 * half, 0.5 * far) * along
            self._bias = max(self._bias, _BIAS * 2.0 * half / size / (far - near))

    @contextmanager
    def drawn(self) -> Iterator[None]:
        """Apply the bias while MuJoCo draws."""
        gl = self._gl
        self._set_bias(self._bias)
        try:
            yield
        finally:
            self._set_bias(0.0)
            gl.glActiveTexture(gl.GL_TEXTURE0)

    def _set_bias(self, bias: float) -> None:
        """Set the texture matrix, which adds the bias to depths before they are compared: MuJoCo does not change it."""
        gl = self._gl
        matrix = np.eye(4, dtype=np.float32)
        matrix[3, 2] = bias
        gl.glActiveTexture(gl.GL_TEXTURE1)
        gl.glMatrixMode(gl.GL_TEXTURE)
        gl.glLoadMatrixf(matrix)
        gl.glMatrixMode(gl.GL_MODELVIEW)

    def _middle(self, matrices: CameraMatrices, viewport: Viewport) -> tuple[NDArray[np.float64], float]:
        """Return the middle of the view at the depth of the casters [m], world, and the size of a pixel there [m]."""
        pixels, depths = matrices.project(self._points, viewport)
        width, height = viewport[2:]
        seen = (depths > 0.0) & (np.abs(pixels - (viewport[0] + 0.5 * width, viewport[1] + 0.5 * height)) < height).all(
            1
        )
        depth = float(np.median(depths[seen])) if seen.any() else max(float(np.median(depths)), 1e-3)
        middle = matrices.position + depth * matrices.forward
        return middle, float(matrices.pixel_size(middle, viewport)[0])

    def _cover(self, number: int, light: Any, middle: NDArray[np.float64], height: float, softest: float) -> _Plane:
        """Return the area that a light's map has to cover: the last area, as long as it still fits."""
        across = _axes(light.dir)
        center, places = across @ middle, self._points @ across.T
        near = (np.abs(places - center) < _REACH * height).all(axis=1)
        if not near.any():
            return center, softest
        radii = self._radii[near, None]
        low = np.maximum((places[near] - radii).min(axis=0), center - _REACH * height)
        high = np.minimum((places[near] + radii).max(axis=0), center + _REACH * height)
        half = max(0.5 * _ROOM * float((high - low).max()), softest)
        kept_center, kept_half = self._covered.get(number, (center, 0.0))
        if (
            _SHRINK * kept_half <= half <= 1.01 * kept_half
            and ((low >= kept_center - kept_half) & (high <= kept_center + kept_half)).all()
        ):
            return kept_center, kept_half
        return 0.5 * (low + high), _ROOM * half


def _axes(direction: Any) -> NDArray[np.float64]:
    """Return two unit vectors across a light's direction, (2, 3), which are the same in every picture."""
    along = np.asarray(direction, float)
    side = np.cross(along, np.eye(3)[int(np.argmin(np.abs(along)))])
    side /= max(float(np.linalg.norm(side)), 1e-12)
    return np.stack([side, np.cross(along, side)])
