"""Pictures without a window: the scene and its gizmos, drawn and read back."""

from typing import Any

import numpy as np
from numpy.typing import NDArray

from ..settings import GizmoSettings, Quality
from .camera import CameraMatrices
from .contexts import load_opengl, open_context
from .gizmos import GizmoPass
from .gl import gl_integer
from .glyphs import Glyphs
from .scene import ScenePass
from .view import View


class OffscreenRenderer:
    """Draws one model at one size in a context of its own."""

    def __init__(self, model: Any, width: int, height: int, quality: Quality = Quality.AUTO) -> None:
        if width < 1 or height < 1:
            raise ValueError(f"a picture of {width} x {height} pixels is empty")
        self._model = model
        self.size = width, height
        """Width and height [px]."""
        self.view = View(model)
        self._context = open_context(width, height)
        self.backend = self._context.backend
        """egl, osmesa, cgl or glfw."""
        self.renderer = self._context.renderer
        """GL_RENDERER."""
        self._scene_pass: ScenePass | None = None
        self._gizmo_pass: GizmoPass | None = None
        try:
            gl = load_opengl()
            largest = gl_integer(gl.GL_MAX_RENDERBUFFER_SIZE)
            if max(width, height) > largest:
                raise ValueError(
                    f"a picture of {width} x {height} pixels is too large: {self.renderer} draws at most {largest}"
                )
            self._scene_pass = ScenePass(model, quality, self.renderer, offscreen=(width, height))
            self._gizmo_pass = GizmoPass()
        except BaseException:
            self.close()
            raise

    @property
    def quality(self) -> Quality:
        """LOW or HIGH."""
        return self._open_scene().quality

    def draw(self, data: Any, glyphs: Glyphs | None = None, settings: GizmoSettings | None = None) -> CameraMatrices:
        """Draw the scene as `view` says, and glyphs over it; returns the picture's camera."""
        scene_pass = self._open_scene()
        assert self._gizmo_pass is not None
        self._context.make_current()
        viewport = (0, 0, *self.size)
        scene_pass.update(self._model, data, self.view)
        scene_pass.draw(viewport)
        matrices = scene_pass.matrices(viewport)
        if glyphs is not None:
            see_through = settings.see_through if settings is not None else True
            self._gizmo_pass.draw(glyphs, matrices, viewport, see_through)
        return matrices

    def read(self) -> NDArray[np.uint8]:
        """RGB of the last picture, (height, width, 3), top row first."""
        self._context.make_current()
        return self._open_scene().read_pixels((0, 0, *self.size))

    def close(self) -> None:
        if self._scene_pass is not None or self._gizmo_pass is not None:
            self._context.make_current()
        if self._gizmo_pass is not None:
            self._gizmo_pass.close()
            self._gizmo_pass = None
        if self._scene_pass is not None:
            self._scene_pass.close()
            self._scene_pass = None
        self._context.close()

    def __enter__(self) -> "OffscreenRenderer":
        return self

    def __exit__(self, *_: object) -> None:
        self.close()

    def _open_scene(self) -> ScenePass:
        if self._scene_pass is None:
            raise RuntimeError("the renderer is closed")
        return self._scene_pass
