"""Turns a model's geoms into Rerun's shapes."""

from collections.abc import Callable
from typing import Any

import numpy as np

from ..mjmodel.names import shape_name
from ..mjmodel.types import MjModel
from .overlay_shapes import Color, rgba

_DEFAULT_RGBA = (0.5, 0.5, 0.5, 1.0)
_TEXTURED: Color = (110, 112, 114, 255)
_HIDDEN_GROUP = 3
"""Geoms of this group and above are not drawn by default, in MuJoCo and here."""


def drawn_geoms(model: MjModel) -> list[int]:
    """Geoms that are shown and that Rerun has shapes for."""
    return [
        geom
        for geom in range(model.ngeom)
        if model.geom_group[geom] < _HIDDEN_GROUP and shape_name(model.geom_type[geom]) in _SHAPES
    ]


def geom_shape(rerun: Any, model: MjModel, geom: int) -> Any:
    """One of the `drawn_geoms` in its own frame, centred."""
    return _SHAPES[shape_name(model.geom_type[geom])](rerun, model, geom)


def _plane(rerun: Any, model: MjModel, geom: int) -> Any:
    # A size of 0 means an infinite side.
    half = [float(side) if side > 0 else 0.7 * float(model.stat.extent) for side in model.geom_size[geom, :2]]
    return rerun.Boxes3D(half_sizes=[[*half, 0.0]], **_solid(model, geom))


def _sphere(rerun: Any, model: MjModel, geom: int) -> Any:
    return rerun.Ellipsoids3D(half_sizes=[np.full(3, model.geom_size[geom, 0])], **_solid(model, geom))


def _ellipsoid(rerun: Any, model: MjModel, geom: int) -> Any:
    return rerun.Ellipsoids3D(half_sizes=[model.geom_size[geom]], **_solid(model, geom))


def _capsule(rerun: Any, model: MjModel, geom: int) -> Any:
    radius, half_length, _ = model.geom_size[geom]
    # Rerun's capsules begin at their frame's origin.
    start = [[0.0, 0.0, -half_length]]
    return rerun.Capsules3D(radii=[radius], lengths=[2 * half_length], translations=start, **_solid(model, geom))


def _cylinder(rerun: Any, model: MjModel, geom: int) -> Any:
    radius, half_length, _ = model.geom_size[geom]
    return rerun.Cylinders3D(lengths=[2 * half_length], radii=[radius], **_solid(model, geom))


def _box(rerun: Any, model: MjModel, geom: int) -> Any:
    return rerun.Boxes3D(half_sizes=[model.geom_size[geom]], **_solid(model, geom))


def _mesh(rerun: Any, model: MjModel, geom: int) -> Any:
    mesh = int(model.geom_dataid[geom])
    first, count = int(model.mesh_vertadr[mesh]), int(model.mesh_vertnum[mesh])
    face, faces = int(model.mesh_faceadr[mesh]), int(model.mesh_facenum[mesh])
    return rerun.Mesh3D(
        vertex_positions=model.mesh_vert[first : first + count],
        triangle_indices=model.mesh_face[face : face + faces],
        albedo_factor=_color(model, geom),
    )


_SHAPES: dict[str, Callable[[Any, Any, int], Any]] = {
    "plane": _plane,
    "sphere": _sphere,
    "ellipsoid": _ellipsoid,
    "capsule": _capsule,
    "cylinder": _cylinder,
    "box": _box,
    "mesh": _mesh,
}


def _solid(model: MjModel, geom: int) -> dict[str, Any]:
    return {"colors": [_color(model, geom)], "fill_mode": "solid"}


def _color(model: MjModel, geom: int) -> Color:
    """As MuJoCo has it: a geom's own colour, unless that is the default and it has a material."""
    material, own = int(model.geom_matid[geom]), model.geom_rgba[geom]
    if material < 0 or not np.allclose(own, _DEFAULT_RGBA):
        return rgba(own)
    # A texture's colours are in its pixels, which are not shown here.
    textured = bool((model.mat_texid[material] >= 0).any())
    return _TEXTURED if textured else rgba(model.mat_rgba[material])
