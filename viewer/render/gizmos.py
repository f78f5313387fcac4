"""Draws glyphs as instanced spheres, arrows and cones, with a constant number of draw calls."""

from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any

import numpy as np
from numpy.typing import NDArray

from .camera import CameraMatrices, Viewport
from .contexts import load_opengl
from .gl import InstancedMesh, Program, gl_floats, gl_integer, gl_supports, kept_state
from .glyphs import NO_OWNER, ArrowColumns, Glyphs

_HIDDEN_ARROWS, _HIDDEN_SPHERES, _HIDDEN_CONES = 0.45, 0.3, 0.7
"""Opacities of glyphs behind geometry. Spheres are many and tell little; hidden arrows must still be readable. Cones
are translucent anyway, and mostly inside the body that the contact carries."""
_IN_FRONT = 1.1
"""Factor from `ArrowColumns.NEARER` of arrows to that of contact spheres, which are drawn in front of them."""
_CONE_SIDES = 32
"""Number of sides of a cone, as in STEP of cone.vert."""


class _Kind:
    """Spheres, arrows or cones: the mesh, and the programs that draw visible and hidden parts of it."""

    def __init__(
        self,
        stem: str,
        instance_attributes: tuple[str, ...],
        mesh: tuple[NDArray[np.float32], NDArray[np.uint16]],
        hidden_opacity: float,
        solid: bool,
        own_vertex_array: bool | None,
    ) -> None:
        self.hidden_opacity = hidden_opacity
        self.solid = solid
        """True if the shape hides objects behind it, by depth; if not, all of its sides are drawn."""
        self._parts: list[Program | InstancedMesh] = []
        attributes = ("corner", *instance_attributes)
        try:
            self.visible = Program(stem, attributes)
            self._parts.append(self.visible)
            self.hidden = Program(stem, attributes, defines=("HIDDEN",))
            self._parts.append(self.hidden)
            vertices, indices = mesh
            sizes = [1 if name == "nearer" else 4 for name in instance_attributes]
            self.mesh = InstancedMesh(vertices, indices, [vertices.shape[1]], sizes, own_vertex_array=own_vertex_array)
            self._parts.append(self.mesh)
        except BaseException:
            self.close()
            raise

    def draw(self, program: Program, uniforms: dict[str, Any]) -> None:
        program.use()
        for name, value in uniforms.items():
            program.set(name, value)
        self.mesh.draw()

    def close(self) -> None:
        while self._parts:
            self._parts.pop().close()


class GizmoPass:
    """Renderer of glyphs into the bound framebuffer, depth-tested against its content."""

    def __init__(self, *, own_vertex_arrays: bool | None = None) -> None:
        """Compile the shaders. `own_vertex_arrays`: True to use vertex array objects; None if the context has them."""
        self._gl = load_opengl()
        self._kinds: list[_Kind] = []
        self._has_vertex_arrays = gl_supports((3, 0), "ARB_vertex_array_object")
        self._has_clip_control = gl_supports((4, 5), "ARB_clip_control")
        self.draw_calls = 0
        """Number of draw calls of the last `draw`."""
        try:
            with _restored(self._gl, self._has_vertex_arrays):
                # Cones come last: they blend over the arrows inside them.
                cone = ("apex", "axis", "tangent", "shape", "color")
                for stem, attributes, mesh, opacity, solid in (
                    ("arrow", ("origin", "span", "color"), _shaft_and_head(), _HIDDEN_ARROWS, True),
                    ("sphere", ("sphere", "color", "nearer"), _square(), _HIDDEN_SPHERES, True),
                    ("cone", cone, _side_and_rim(), _HIDDEN_CONES, False),
                ):
                    self._kinds.append(_Kind(stem, attributes, mesh, opacity, solid, own_vertex_arrays))
        except BaseException:
            self.close()
            raise

    def draw(self, glyphs: Glyphs, matrices: CameraMatrices, viewport: Viewport, see_through: bool = True) -> None:
        """Draw all glyphs; GL state is restored. `see_through`: True to draw the parts behind geometry first,
        dimmed."""
        self.draw_calls = 0
        kinds = [
            (kind, instances)
            for kind, instances in zip(self._kinds, (glyphs.arrows, _raised(glyphs), glyphs.cones), strict=True)
            if len(instances)
        ]
        if not kinds:
            return
        gl = self._gl
        nearer, farther, depth_map, depth_range = self._depth_convention()
        values = {
            "view": matrices.view,
            "projection": depth_map @ matrices.projection,
            "orthographic": float(matrices.orthographic),
            "pixel_size": 2.0 / (matrices.projection[1, 1] * viewport[3]),
            "depth_range": depth_range,
        }
        # Once for all programs.
        uniforms = {name: np.asarray(value, np.float32) for name, value in values.items()}
        with _restored(gl, self._has_vertex_arrays):
            self._set_state(viewport)
            for kind, instances in kinds:
                kind.mesh.upload(np.ascontiguousarray(instances, np.float32))
            # Hidden parts of all kinds come first: what is in front then covers them.
            if see_through:
                gl.glDepthFunc(farther)
                gl.glDepthMask(False)
                for kind, _ in kinds:
                    self._set_sides(kind)
                    kind.draw(kind.hidden, uniforms | {"opacity": kind.hidden_opacity})
            gl.glDepthFunc(nearer)
            for kind, _ in kinds:
                self._set_sides(kind)
                gl.glDepthMask(kind.solid)
                kind.draw(kind.visible, uniforms | {"opacity": 1.0})
        self.draw_calls = len(kinds) * (2 if see_through else 1)

    def _set_sides(self, kind: _Kind) -> None:
        switch = self._gl.glEnable if kind.solid else self._gl.glDisable
        switch(self._gl.GL_CULL_FACE)

    def close(self) -> None:
        """Free all GL objects; the context must be current."""
        while self._kinds:
            self._kinds.pop().close()

    def _depth_convention(self) -> tuple[int, int, NDArray[np.float64], tuple[float, float]]:
        """Return depth functions for nearer and farther, the matrix for clip coordinates, and scale and offset of
        window depth.

        MuJoCo draws with reversed depth (near 1, far 0), in the clip range 0 to 1 where ARB_clip_control exists and -1
        to 1 elsewhere, and leaves depth function and range set. These are read from GL, in case a version of MuJoCo
        changes its convention.
        """
        gl = self._gl
        reversed_depth = gl_integer(gl.GL_DEPTH_FUNC) in (gl.GL_GEQUAL, gl.GL_GREATER)
        zero_to_one = self._has_clip_control and gl_integer(gl.GL_CLIP_DEPTH_MODE) == gl.GL_ZERO_TO_ONE
        depth_map = np.eye(4)
        depth_map[2, 2] = -1.0 if reversed_depth else 1.0
        if zero_to_one:
            depth_map[2, 2] *= 0.5
            depth_map[2, 3] = 0.5
        near, far = gl_floats(gl.GL_DEPTH_RANGE)
        depth_range = (far - near, near) if zero_to_one else (0.5 * (far - near), 0.5 * (far + near))
        functions = (gl.GL_GEQUAL, gl.GL_LESS) if reversed_depth else (gl.GL_LEQUAL, gl.GL_GREATER)
        return *functions, depth_map, depth_range

    def _set_state(self, viewport: Viewport) -> None:
        gl = self._gl
        gl.glViewport(*viewport)
        gl.glScissor(*viewport)
        for feature in (gl.GL_DEPTH_TEST, gl.GL_BLEND, gl.GL_CULL_FACE, gl.GL_SCISSOR_TEST):
            gl.glEnable(feature)
        for feature in (gl.GL_ALPHA_TEST, gl.GL_STENCIL_TEST, gl.GL_POLYGON_OFFSET_FILL, gl.GL_COLOR_LOGIC_OP):
            gl.glDisable(feature)
        # The alpha of the window stays opaque: compositors show what is behind a translucent one.
        gl.glBlendFuncSeparate(gl.GL_SRC_ALPHA, gl.GL_ONE_MINUS_SRC_ALPHA, gl.GL_ZERO, gl.GL_ONE)
        gl.glBlendEquation(gl.GL_FUNC_ADD)
        gl.glColorMask(True, True, True, True)
        gl.glCullFace(gl.GL_BACK)
        gl.glFrontFace(gl.GL_CCW)
        gl.glPolygonMode(gl.GL_FRONT_AND_BACK, gl.GL_FILL)


@contextmanager
def _restored(gl: Any, has_vertex_arrays: bool) -> Iterator[None]:
    """Restore at the end all state that this module changes."""
    changed = (
        gl.GL_ENABLE_BIT | gl.GL_DEPTH_BUFFER_BIT | gl.GL_COLOR_BUFFER_BIT | gl.GL_VIEWPORT_BIT | gl.GL_SCISSOR_BIT
        | gl.GL_POLYGON_BIT
    )  # fmt: skip
    with kept_state(changed, has_vertex_arrays):
        gl.glPushClientAttrib(gl.GL_CLIENT_VERTEX_ARRAY_BIT)
        try:
            yield
        finally:
            gl.glPopClientAttrib()


def _raised(glyphs: Glyphs) -> NDArray[np.float32]:
    """Return rows of spheres, each with the distance by which it counts as nearer [m]: contact spheres are drawn in
    front of their arrows."""
    spheres, nearer = glyphs.spheres, _IN_FRONT * glyphs.arrows[:, ArrowColumns.NEARER].max(initial=0.0)
    return np.column_stack([spheres, (glyphs.sphere_owner[:, 0] != NO_OWNER) * np.float32(nearer)])


def _square() -> tuple[NDArray[np.float32], NDArray[np.uint16]]:
    corners = np.array([[-1, -1], [1, -1], [1, 1], [-1, 1]], np.float32)
    return corners, np.array([0, 1, 2, 0, 2, 3], np.uint16)


def _shaft_and_head() -> tuple[NDArray[np.float32], NDArray[np.uint16]]:
    """Return a rectangle and a triangle for arrow.vert. Triangles are few because software renderers are slow."""
    shaft = [[-1, 0, 0], [1, 0, 0], [1, 1, 0], [-1, 1, 0]]
    head = [[-1, 0, 1], [1, 0, 1], [0, 1, 1]]
    return np.array(shaft + head, np.float32), np.array([0, 1, 2, 0, 2, 3, 4, 5, 6], np.uint16)


def _side_and_rim() -> tuple[NDArray[np.float32], NDArray[np.uint16]]:
    """Return a cone's side, as triangles around the apex, and its rim, as a closed ribbon, for cone.vert."""
    step = 2 * np.pi / _CONE_SIDES
    angles = np.arange(_CONE_SIDES) * step
    zero, one, middle = np.zeros_like(angles), np.ones_like(angles), angles + 0.5 * step
    # Triangles share no corners: the faces of a pyramid are shaded each by itself.
    side = [[middle, zero, zero, middle], [angles, one, zero, middle], [angles + step, one, zero, middle]]
    ribbon = [[angles, one, -one, middle], [angles, one, one, middle]]
    vertices = np.concatenate([np.stack(corner, axis=1) for corner in side + ribbon])
    this, following = np.arange(_CONE_SIDES), np.roll(np.arange(_CONE_SIDES), -1)
    apex, left, right, inner, outer = (ring * _CONE_SIDES for ring in range(5))
    triangles = [
        [apex + this, left + this, right + this],
        [inner + this, outer + this, outer + following],
        [inner + this, outer + following, inner + following],
    ]
    indices = np.concatenate([np.stack(triangle, axis=1) for triangle in triangles])
    return vertices.astype(np.float32), indices.astype(np.uint16)
