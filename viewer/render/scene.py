"""Draws the scene with MuJoCo, into a part of the window or into a framebuffer of its own."""

import statistics
from collections import deque
from collections.abc import Iterator
from contextlib import contextmanager, nullcontext
from typing import Any

import mujoco
import numpy as np
from numpy.typing import NDArray

from ..mjmodel.types import MjData, MjModel
from ..settings import Quality
from .camera import CameraMatrices, Viewport, scene_size
from .contexts import is_software_renderer, load_opengl
from .gl import gl_integer, gl_supports, kept_state
from .shadows import Shadows, map_size
from .view import View

_LOW_ROUNDNESS, _LOWEST_ROUNDNESS = (20, 10), (12, 6)
"""Slices and stacks of round shapes at low quality: usually, and in scenes with many geoms."""
_MANY_GEOMS = 100
_LOW_SHADOW_SIZE = 1024
"""Largest shadow map at low quality, at which shadows are off at first [px]."""
_WINDOW_HEIGHT = 1080
"""Height of a window's picture that is assumed when the size of the shadow map is chosen [px]."""
_SPARE_GEOMS = 1000
_LARGEST_SCENE = 1_000_000
_WINDOW, _OFFSCREEN = int(mujoco.mjtFramebuffer.mjFB_WINDOW), int(mujoco.mjtFramebuffer.mjFB_OFFSCREEN)
_ALL = int(mujoco.mjtCatBit.mjCAT_ALL)
_SHADOW = int(mujoco.mjtRndFlag.mjRND_SHADOW)
_SLOWEST = 1 / 30
"""Longest time between two pictures at which moving pictures of low quality have smooth edges [s]."""
_PAUSE = 2.0
"""Longest time between two pictures that counts as drawing time [s]; during a longer time nothing had to be drawn."""
_LOOKED_AT = 15
"""Number of pictures after which it is decided whether edges are smooth."""


class ScenePass:
    """Renderer of a model with `mjr_render`. Needs a current compatibility context, here and in every call."""

    def __init__(
        self, model: MjModel, quality: Quality, renderer: str, offscreen: tuple[int, int] | None = None
    ) -> None:
        """Prepare. `renderer`: GL_RENDERER; `offscreen`: size of a framebuffer [px] to use instead of the window's."""
        if quality is Quality.AUTO:
            quality = Quality.LOW if is_software_renderer(renderer) else Quality.HIGH
        self.quality = quality
        """Quality in use: LOW or HIGH."""
        self._gl = load_opengl()
        self._has_vertex_arrays = gl_supports((3, 0), "ARB_vertex_array_object")
        self._has_samplers = gl_supports((3, 3), "ARB_sampler_objects")
        self._buffer = _WINDOW if offscreen is None else _OFFSCREEN
        self.scene = mujoco.MjvScene(model, _scene_size(model))
        # Of a window the scene alone is multisampled, in a framebuffer of its own: panels would cost as much again.
        self._size = (1, 1) if offscreen is None else offscreen
        with _render_settings(model, quality, self._size):
            self._context: Any = mujoco.MjrContext(model, mujoco.mjtFontScale.mjFONTSCALE_100)
        self._can_copy = self._buffer == _WINDOW and self._context.offSamples > 0
        self._is_copied = self._can_copy and quality is Quality.HIGH
        """True if scene and gizmos are drawn into a framebuffer of their own, and then copied into the window."""
        self._times: deque[float] = deque(maxlen=_LOOKED_AT)
        self._before = 0.0
        if quality is Quality.LOW:
            self._simplify_textures()
        self._shadows = Shadows(self._gl, self._context, model) if self._context.shadowTex else None
        mujoco.mjr_setBuffer(self._buffer, self._context)

    def update(self, model: MjModel, data: MjData, view: View) -> None:
        """Copy bodies, camera and flags for the next picture."""
        view.set_quality(self.quality)
        self._update(model, data, view)
        # A full scene (status 1) has lost geoms: try again with room for twice as many.
        while self.scene.status and self.scene.maxgeom < _LARGEST_SCENE:
            self.scene = mujoco.MjvScene(model, 2 * self.scene.maxgeom)
            self._update(model, data, view)
        if self._shadows is not None and self.scene.flags[_SHADOW]:
            self._shadows.update(data)
        view.follow(self.scene)

    def spare_time(self, now: float, is_still: bool) -> None:
        """Decide whether a window's pictures have smooth edges: at low quality only as long as they are drawn quickly.

        Args:
            now: Monotonic time at which this picture is drawn [s].
            is_still: True if the next picture will be the same: this one may then take longer.
        """
        if self.quality is Quality.HIGH or not self._can_copy:
            return
        took, self._before = now - self._before, now
        if took < _PAUSE and not is_still and len(self._times) < _LOOKED_AT:
            self._times.append(took)
        is_slow = len(self._times) == _LOOKED_AT and statistics.median(self._times) > _SLOWEST
        self._is_copied = is_still or not is_slow
        if len(self._times) == _LOOKED_AT and not is_slow:
            self._times.popleft()

    def place(self, viewport: Viewport) -> Viewport:
        """Return the part of the framebuffer into which `draw` draws a viewport, and into which gizmos are drawn."""
        return (0, 0, *viewport[2:]) if self._is_copied else viewport

    def draw(self, viewport: Viewport) -> None:
        """Draw the scene for a part of the framebuffer, where `show` then shows it. The rest of the framebuffer is
        kept.

        GL state is restored, except for depth function and clip range, which stay as MuJoCo sets them: the gizmo pass
        reads them, and ImGui does not use them.
        """
        if self._is_copied and self._size != viewport[2:]:
            self._size = viewport[2:]
            mujoco.mjr_resizeOffscreen(*self._size, self._context)
        # Before the state is kept, which names a buffer of the framebuffer that is bound.
        mujoco.mjr_setBuffer(_OFFSCREEN if self._is_copied else self._buffer, self._context)
        shadows = self._shadows if self.scene.flags[_SHADOW] else None
        if shadows is not None:
            shadows.fit(self.scene, self.matrices(viewport), viewport)
        with self._clean_state(), shadows.drawn() if shadows is not None else nullcontext():
            mujoco.mjr_render(mujoco.MjrRect(*self.place(viewport)), self.scene, self._context)

    def show(self, viewport: Viewport) -> None:
        """Show the drawn scene and gizmos in a part of the framebuffer."""
        if self._is_copied:
            with self._clean_state():
                self._gl.glDisable(self._gl.GL_SCISSOR_TEST)
                source = mujoco.MjrRect(*self.place(viewport))
                mujoco.mjr_blitBuffer(source, mujoco.MjrRect(*viewport), 1, 0, self._context)
            mujoco.mjr_setBuffer(self._buffer, self._context)

    def read_pixels(self, viewport: Viewport) -> NDArray[np.uint8]:
        """Return the pixels of a part of the framebuffer, RGB, (height, width, 3), top row first, as a view of RGBA if
        this can be read.

        Pixels outside of it, as in a window that has become smaller during the frame, are black.
        """
        gl = self._gl
        left, bottom, width, height = viewport
        gl.glPushClientAttrib(gl.GL_CLIENT_PIXEL_STORE_BIT)
        try:
            gl.glPixelStorei(gl.GL_PACK_ALIGNMENT, 1)
            gl.glPixelStorei(gl.GL_PACK_ROW_LENGTH, 0)
            mujoco.mjr_setBuffer(self._buffer, self._context)
            if self._buffer == _OFFSCREEN and self._context.offSamples:
                # MuJoCo merges the samples first.
                pixels = np.empty((height, width, 3), np.uint8)
                mujoco.mjr_readPixels(pixels, None, mujoco.MjrRect(*viewport), self._context)
            else:
                # As they are stored: to leave out alpha takes four times as long.
                pixels = np.zeros((height, width, 4), np.uint8)
                gl.glReadPixels(left, bottom, width, height, gl.GL_RGBA, gl.GL_UNSIGNED_BYTE, pixels)
        finally:
            gl.glPopClientAttrib()
        return pixels[::-1, :, :3]

    def matrices(self, viewport: Viewport) -> CameraMatrices:
        """Return the camera of the last update."""
        return CameraMatrices.from_scene(self.scene, viewport)

    def close(self) -> None:
        """Free all GL objects; the context must be current."""
        if self._context is not None:
            self._context.free()
            self._context = None

    def _update(self, model: MjModel, data: MjData, view: View) -> None:
        mujoco.mjv_updateScene(model, data, view.option, view.perturb, view.camera, _ALL, self.scene)
        view.set_planes(model, data, self.scene)
        for flag, value in view.render_flags().items():
            self.scene.flags[flag] = value

    def _simplify_textures(self) -> None:
        """Use one mipmap level per pixel instead of two: a floor then takes a sixth less time on a software
        renderer."""
        gl, context = self._gl, self._context
        for texture, kind in zip(context.texture, context.textureType[: context.ntexture], strict=False):
            target = gl.GL_TEXTURE_2D if kind == mujoco.mjtTexture.mjTEXTURE_2D else gl.GL_TEXTURE_CUBE_MAP
            gl.glBindTexture(target, int(texture))
            gl.glTexParameteri(target, gl.GL_TEXTURE_MIN_FILTER, gl.GL_LINEAR_MIPMAP_NEAREST)
            gl.glBindTexture(target, 0)

    @contextmanager
    def _clean_state(self) -> Iterator[None]:
        """Set the GL state that fixed-function drawing expects; at the end restore the state before, except for
        depth."""
        gl, samplers = self._gl, []
        active_texture = gl_integer(gl.GL_ACTIVE_TEXTURE)
        # MuJoCo textures with units 0 and 1.
        for unit in (0, 1) if self._has_samplers else ():
            gl.glActiveTexture(gl.GL_TEXTURE0 + unit)
            samplers.append(gl_integer(gl.GL_SAMPLER_BINDING))
            gl.glBindSampler(unit, 0)
        gl.glActiveTexture(gl.GL_TEXTURE0)
        try:
            with kept_state(gl.GL_ALL_ATTRIB_BITS & ~gl.GL_DEPTH_BUFFER_BIT, self._has_vertex_arrays):
                gl.glUseProgram(0)
                gl.glBindBuffer(gl.GL_ARRAY_BUFFER, 0)
                # What MuJoCo assumes; the rest it sets itself.
                for feature in (gl.GL_STENCIL_TEST, gl.GL_ALPHA_TEST, gl.GL_COLOR_LOGIC_OP, gl.GL_POLYGON_OFFSET_FILL):
                    gl.glDisable(feature)
                gl.glCullFace(gl.GL_BACK)
                gl.glBlendEquation(gl.GL_FUNC_ADD)
                gl.glColorMask(True, True, True, True)
                yield
        finally:
            for unit, sampler in enumerate(samplers):
                gl.glBindSampler(unit, sampler)
            gl.glActiveTexture(active_texture)


@contextmanager
def _render_settings(model: MjModel, quality: Quality, offscreen: tuple[int, int]) -> Iterator[None]:
    """Change the model's visual settings while the context is made."""
    settings, size, extent = model.vis.quality, model.vis.global_, model.stat.extent
    names = ("numslices", "numstacks", "shadowsize", "offsamples")
    before = {name: getattr(settings, name) for name in names}
    size_before = size.offwidth, size.offheight
    try:
        # Without an offscreen size MuJoCo allocates none; the model's own may be hundreds of megabytes.
        size.offwidth, size.offheight = offscreen
        # It decides how far a floor without end reaches, and shadows.
        model.stat.extent = scene_size(model)
        if quality is Quality.LOW:
            slices, stacks = _LOW_ROUNDNESS if model.ngeom <= _MANY_GEOMS else _LOWEST_ROUNDNESS
            settings.numslices = min(settings.numslices, slices)
            settings.numstacks = min(settings.numstacks, stacks)
            if min(offscreen) > 1:
                settings.offsamples = 0
            settings.shadowsize = min(settings.shadowsize, _LOW_SHADOW_SIZE)
        settings.shadowsize = map_size(model, offscreen[1] if min(offscreen) > 1 else _WINDOW_HEIGHT)
        yield
    finally:
        for name, value in before.items():
            setattr(settings, name, value)
        size.offwidth, size.offheight = size_before
        model.stat.extent = extent


def _scene_size(model: MjModel) -> int:
    """Return the number of geoms to allocate for a scene with many decorations, with a wide margin."""
    return _SPARE_GEOMS + 4 * (model.ngeom + model.nsite + model.njnt + model.nu) + 12 * model.nbody
