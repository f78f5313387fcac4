"""Draws a scene and its gizmos as a picture, without a window."""

from collections.abc import Callable
from typing import Any

import numpy as np
from numpy.typing import NDArray

from ..mjmodel.types import MjData, MjModel
from ..settings import GizmoSettings, Quality
from .camera import CameraMatrices
from .canvas import Canvas
from .contexts import load_opengl, open_context
from .gl import gl_integer
from .glyphs import Glyphs
from .view import View


class OffscreenRenderer:
    """Renderer of one model at one size, in an OpenGL context of its own."""

    def __init__(self, model: MjModel, width: int, height: int, quality: Quality = Quality.AUTO) -> None:
        if width < 1 or height < 1:
            raise ValueError(f"a picture of {width} x {height} pixels is empty")
        self._model = model
        self.size = width, height
        """Width and height [px]."""
        self.view = View(model)
        self._context = open_context(width, height)
        self.backend = self._context.backend
        """Name of the backend: egl, osmesa, cgl or glfw."""
        self.renderer = self._context.renderer
        """Name of the renderer, as the driver reports it (GL_RENDERER)."""
        self._canvas: Canvas | None = None
        try:
            gl = load_opengl()
            largest = gl_integer(gl.GL_MAX_RENDERBUFFER_SIZE)
            if max(width, height) > largest:
                raise ValueError(
                    f"a picture of {width} x {height} pixels is too large: {self.renderer} draws at most {largest}"
                )
            self._canvas = Canvas(model, quality, self.renderer, offscreen=(width, height))
        except BaseException:
            self.close()
            raise

    @property
    def quality(self) -> Quality:
        """Quality in use: LOW or HIGH."""
        return self.canvas.quality

    def draw(
        self,
        data: MjData,
        glyphs: Glyphs | None = None,
        settings: GizmoSettings | None = None,
        add: Callable[[Any], None] | None = None,
    ) -> CameraMatrices:
        """Draw the scene with the camera and flags of `view`, and glyphs over it; return the picture's camera.

        `add` may add shapes to the updated `MjvScene`.
        """
        canvas = self.canvas
        self._context.make_current()
        viewport = (0, 0, *self.size)
        matrices = canvas.update(self._model, data, self.view, viewport)
        see_through = settings.see_through if settings is not None else True
        canvas.draw(Glyphs() if glyphs is None else glyphs, matrices, viewport, see_through=see_through, add=add)
        return matrices

    def read(self) -> NDArray[np.uint8]:
        """Return the pixels of the last frame, RGB, (height, width, 3), top row first."""
        self._context.make_current()
        return self.canvas.scene_pass.read_pixels((0, 0, *self.size))

    def close(self) -> None:
        if self._canvas is not None:
            self._context.make_current()
            self._canvas.close()
            self._canvas = None
        self._context.close()

    def __enter__(self) -> "OffscreenRenderer":
        return self

    def __exit__(self, *_: object) -> None:
        self.close()

    @property
    def canvas(self) -> Canvas:
        """Canvas on the graphics card."""
        if self._canvas is None:
            raise RuntimeError("the renderer is closed")
        return self._canvas
