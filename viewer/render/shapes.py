"""Adds shapes that are no part of a model to the scene that MuJoCo draws."""

from collections.abc import Sequence
from functools import lru_cache
from typing import Any

import mujoco
import numpy as np
from numpy.typing import NDArray

from ..mjmodel.names import body_names
from ..mjmodel.types import MjData, MjModel

_GHOST_ALPHA = 0.45
_SAME_PLACE, _SAME_TURN = 4e-3, 5e-5
"""Distance, as a fraction of the scene's extent, and rotation, as 1 minus the product of quaternions, below which
bodies of two runs count as being at the same place: drawn over each other they would show in patches."""
_MESH, _BOX = mujoco.mjtGeom.mjGEOM_MESH, mujoco.mjtGeom.mjGEOM_BOX


def add_polygon(scene: Any, corners: NDArray[np.float64], width: float, color: Sequence[float]) -> None:
    """Add the edges of a closed polygon to an updated `MjvScene`.

    Args:
        scene: The scene; edges for which it has no room are left out.
        corners: Corners in order [m], world, (k, 3).
        width: Diameter of the edges [m].
        color: Red, green, blue and opacity, 0 to 1.
    """
    kind = mujoco.mjtGeom.mjGEOM_CAPSULE
    for start, end in zip(corners, np.roll(corners, -1, axis=0), strict=True):
        if scene.ngeom >= scene.maxgeom:
            return
        geom = scene.geoms[scene.ngeom]
        scene.ngeom += 1
        mujoco.mjv_initGeom(geom, kind, np.zeros(3), np.zeros(3), np.eye(3).ravel(), np.array(color, np.float32))
        mujoco.mjv_connector(geom, kind, 0.5 * width, start, end)
        geom.category = mujoco.mjtCatBit.mjCAT_DECOR
        geom.emission = 0.6


def add_bodies(
    scene: Any,
    other: tuple[MjModel, MjData],
    shown: tuple[MjModel, MjData],
    groups: NDArray[np.uint8],
    color: Sequence[float],
) -> None:
    """Add moving bodies of another model, translucent, if they are not at the place of the shown body of the same name.

    Args:
        scene: An updated `MjvScene` of the model that is shown.
        other: The other model and its data. A mesh that the shown model lacks is drawn as its box.
        shown: The model that is shown and its data.
        groups: 1 for each group of geoms that is drawn.
        color: Red, green and blue, 0 to 1; opacity is ignored.
    """
    model, data = other
    bodies, meshes = _counterparts(model, shown[0])
    known = bodies >= 0
    apart = np.linalg.norm(data.xpos - shown[1].xpos[bodies], axis=1) > _SAME_PLACE * shown[0].stat.extent
    turned = np.abs((data.xquat * shown[1].xquat[bodies]).sum(axis=1)) < 1.0 - _SAME_TURN
    is_elsewhere = ~known | apart | turned
    if scene.ngeom + model.ngeom > scene.maxgeom or not is_elsewhere.any():
        return
    option = mujoco.MjvOption()
    option.flags[:] = option.sitegroup[:] = 0
    option.geomgroup[:] = groups
    first, kinds = scene.ngeom, mujoco.mjtCatBit
    mujoco.mjv_addGeoms(model, data, option, mujoco.MjvPerturb(), kinds.mjCAT_DYNAMIC, scene)
    count = first
    for place in range(first, scene.ngeom):
        geom = scene.geoms[place]
        if geom.objtype != mujoco.mjtObj.mjOBJ_GEOM or not is_elsewhere[model.geom_bodyid[geom.objid]]:
            continue
        if geom.type == _MESH:
            mesh = int(meshes[geom.dataid // 2])
            if mesh < 0:
                geom.type, geom.dataid = _BOX, -1
                geom.size[:] = model.geom_aabb[geom.objid, 3:]
                geom.pos[:] += geom.mat @ model.geom_aabb[geom.objid, :3]
            else:
                geom.dataid = 2 * mesh + geom.dataid % 2
        geom.rgba[:] = (*color[:3], _GHOST_ALPHA)
        geom.matid, geom.emission, geom.category = -1, 0.4, kinds.mjCAT_DECOR
        if count != place:
            _copy_geom(geom, scene.geoms[count])
        count += 1
    scene.ngeom = count


def _copy_geom(geom: Any, into: Any) -> None:
    into.type, into.dataid, into.objtype, into.objid = geom.type, geom.dataid, geom.objtype, geom.objid
    into.matid, into.category, into.emission = geom.matid, geom.category, geom.emission
    into.size[:], into.pos[:], into.mat[:], into.rgba[:] = geom.size, geom.pos, geom.mat, geom.rgba


@lru_cache(1)
def _counterparts(model: MjModel, shown: MjModel) -> tuple[NDArray[np.intp], NDArray[np.intp]]:
    """Return for each body the shown model's body of the same name, and for each mesh its mesh of the same shape; -1 if
    there is none."""
    names = {name: number for number, name in enumerate(body_names(shown))}
    bodies = np.array([names.get(name, -1) for name in body_names(model)], np.intp)
    shapes = {_shape(shown, mesh): mesh for mesh in range(shown.nmesh)}
    return bodies, np.array([shapes.get(_shape(model, mesh), -1) for mesh in range(model.nmesh)], np.intp)


def _shape(model: MjModel, mesh: int) -> bytes:
    start, count = int(model.mesh_vertadr[mesh]), int(model.mesh_vertnum[mesh])
    return bytes(model.mesh_vert[start : start + count].tobytes())
