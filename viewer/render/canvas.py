"""Draws the scene with gizmos over it, into a part of the window or into a framebuffer of its own."""

from collections.abc import Callable
from typing import Any

import mujoco
import numpy as np

from ..mjmodel.types import MjData, MjModel
from ..settings import Quality
from .camera import CameraMatrices, Viewport
from .contexts import OpenGLError
from .gizmos import GizmoPass
from .glyphs import ArrowColumns, Glyphs, SphereColumns
from .scene import ScenePass
from .view import View


class Canvas:
    """Owner of the objects on the graphics card. Needs a current compatibility context, here and in every call."""

    def __init__(
        self, model: MjModel, quality: Quality, renderer: str, offscreen: tuple[int, int] | None = None
    ) -> None:
        """Prepare drawing. `renderer`: GL_RENDERER; `offscreen`: size of a framebuffer [px] to use instead of the
        window's."""
        self.trouble: str | None = None
        """Reason, for the user, why gizmos are drawn as MuJoCo's own shapes; None if they are not."""
        self._wanted, self._renderer, self._offscreen = quality, renderer, offscreen
        self.scene_pass = self._open_scene(model)
        self.gizmo_pass: GizmoPass | None = None
        try:
            self.gizmo_pass = GizmoPass()
        except OpenGLError as error:
            self.trouble = f"{error}; gizmos are drawn by MuJoCo instead"
        except BaseException:
            self.close()
            raise

    @property
    def quality(self) -> Quality:
        """Quality in use: LOW or HIGH."""
        return self.scene_pass.quality

    def replace_model(self, model: MjModel) -> None:
        """Draw another model from now on."""
        self.scene_pass.close()
        self.scene_pass = self._open_scene(model)

    def update(self, model: MjModel, data: MjData, view: View, viewport: Viewport) -> CameraMatrices:
        """Copy the scene for the next frame; return its camera."""
        self.scene_pass.update(model, data, view)
        return self.scene_pass.matrices(viewport)

    def draw(
        self,
        glyphs: Glyphs,
        matrices: CameraMatrices,
        viewport: Viewport,
        *,
        see_through: bool = True,
        add: Callable[[Any], None] | None = None,
    ) -> None:
        """Draw the scene as of the last `update`, and glyphs over it. `add` may add shapes to the `MjvScene`."""
        scene_pass = self.scene_pass
        if add is not None:
            add(scene_pass.scene)
        if self.gizmo_pass is None:
            add_shapes(scene_pass.scene, glyphs)
        scene_pass.draw(viewport)
        if self.gizmo_pass is not None:
            self.gizmo_pass.draw(glyphs, matrices, scene_pass.place(viewport), see_through)
        scene_pass.show(viewport)

    def close(self) -> None:
        """Free all GL objects; the context must be current. Calling it twice is safe."""
        if self.gizmo_pass is not None:
            self.gizmo_pass.close()
            self.gizmo_pass = None
        self.scene_pass.close()

    def _open_scene(self, model: MjModel) -> ScenePass:
        return ScenePass(model, self._wanted, self._renderer, offscreen=self._offscreen)


def add_shapes(scene: Any, glyphs: Glyphs) -> None:
    """Add spheres and arrows to an updated `MjvScene`, as many as fit. This is slow, needs no shader, and draws no
    cones."""
    shapes, upright = mujoco.mjtGeom, np.eye(3).ravel()
    room = scene.maxgeom - scene.ngeom
    for row in glyphs.spheres[:room]:
        geom = scene.geoms[scene.ngeom]
        scene.ngeom += 1
        center, size = row[SphereColumns.CENTER].astype(float), np.full(3, row[SphereColumns.RADIUS])
        mujoco.mjv_initGeom(geom, shapes.mjGEOM_SPHERE, size, center, upright, row[SphereColumns.COLOR])
        geom.category = mujoco.mjtCatBit.mjCAT_DECOR
    for row in glyphs.arrows[: max(0, room - len(glyphs.spheres))]:
        geom, start = scene.geoms[scene.ngeom], row[ArrowColumns.START].astype(float)
        scene.ngeom += 1
        mujoco.mjv_initGeom(geom, shapes.mjGEOM_ARROW, np.zeros(3), np.zeros(3), upright, row[ArrowColumns.COLOR])
        # MuJoCo draws an arrow half as long as its connector.
        end = start + 2 * row[ArrowColumns.VECTOR]
        mujoco.mjv_connector(geom, shapes.mjGEOM_ARROW, 0.5 * row[ArrowColumns.WIDTH], start, end)
        geom.category = mujoco.mjtCatBit.mjCAT_DECOR
