"""Checks that the indices of a compiled model from a file stay within its arrays, because MuJoCo does not check
them."""

from itertools import pairwise
from typing import Any

import mujoco
import numpy as np

from ..errors import SceneError
from ..mjmodel.types import MjModel

_INDEX_ENDINGS = {
    "treeid": "ntree",
    "texid": "ntex",
    "_colind": "nv",
    "bvh_child": "nbvh",
    "oct_child": "noct",
    "flex_matid": "nmat",
    "flex_vertbodyid": "nbody",
    "flex_nodebodyid": "nbody",
}
"""Endings of the names of arrays of indices, each with the size of the model that limits them; -1 stands for no
index."""
_SPANS = (("flex_nodeadr", "flex_nodenum", "nflexnode"), ("mesh_octadr", "mesh_octnum", "noct"))
"""Arrays of the starts and lengths of ranges, each with the size of the model that limits the ranges."""
_KINDS = {
    "geom_type": mujoco.mjtGeom,
    "site_type": mujoco.mjtGeom,
    "sensor_needstage": mujoco.mjtStage,
    "tex_type": mujoco.mjtTexture,
    "wrap_type": mujoco.mjtWrap,
    "actuator_trntype": mujoco.mjtTrn,
    "cam_mode": mujoco.mjtCamLight,
    "light_mode": mujoco.mjtCamLight,
}
_TARGETS = {
    int(mujoco.mjtObj.mjOBJ_BODY): "nbody",
    int(mujoco.mjtObj.mjOBJ_XBODY): "nbody",
    int(mujoco.mjtObj.mjOBJ_GEOM): "ngeom",
    int(mujoco.mjtObj.mjOBJ_SITE): "nsite",
}
_MESHES = (int(mujoco.mjtGeom.mjGEOM_MESH), int(mujoco.mjtGeom.mjGEOM_SDF))
_HFIELD = int(mujoco.mjtGeom.mjGEOM_HFIELD)
_REDUCE_COUNT = 4


def check_references(model: MjModel) -> None:
    """Raise SceneError if an index of a model is out of range, because MuJoCo does not check it when it loads the
    model."""
    for name in dir(model):
        for ending, total in _INDEX_ENDINGS.items():
            if name.endswith(ending):
                _require(_within(getattr(model, name), getattr(model, total)), name)
    for start, length, total in _SPANS:
        _require(_spans_within(getattr(model, start), getattr(model, length), getattr(model, total)), start)
    for name, kind in _KINDS.items():
        _require(np.isin(getattr(model, name), [int(member) for member in kind.__members__.values()]).all(), name)
    for kinds, count in ((_MESHES, model.nmesh), ((_HFIELD,), model.nhfield)):
        shapes = model.geom_dataid[np.isin(model.geom_type, kinds)]
        _require(((shapes >= 0) & (shapes < count)).all(), "geom_dataid")
    for mesh in range(model.nmesh):
        _check_mesh(model, mesh)
    for flex in range(model.nflex):
        _check_flex(model, flex)
    _check_contact_sensors(model)
    _check_names(model)


def _require(true: Any, name: str) -> None:
    if not true:
        raise SceneError(f"damaged compiled model: {name} leads out of the model")


def _within(indices: Any, limit: int) -> bool:
    return indices.size == 0 or bool(indices.min() >= -1 and indices.max() < limit)


def _spans_within(starts: Any, lengths: Any, total: int) -> bool:
    starts, lengths = starts.astype(np.int64), lengths.astype(np.int64)
    used = lengths != 0
    return bool((lengths >= 0).all() and (starts[used] >= 0).all() and (starts + lengths)[used].max(initial=0) <= total)


def _check_mesh(model: MjModel, mesh: int) -> None:
    vertices = int(model.mesh_vertnum[mesh])
    start, count = int(model.mesh_faceadr[mesh]), int(model.mesh_facenum[mesh])
    faces = slice(start, start + count)
    _require(_within(model.mesh_face[faces], vertices), "mesh_face")
    _require(_within(model.mesh_facenormal[faces], int(model.mesh_normalnum[mesh])), "mesh_facenormal")
    if model.mesh_texcoordadr[mesh] >= 0:
        _require(_within(model.mesh_facetexcoord[faces], int(model.mesh_texcoordnum[mesh])), "mesh_facetexcoord")
    first = int(model.mesh_graphadr[mesh])
    if first < 0:
        return
    graph = model.mesh_graph[first:]
    _require(first <= model.nmeshgraph - 2, "mesh_graphadr")
    corners, sides = int(graph[0]), int(graph[1])
    _require(0 <= corners <= vertices and 0 <= sides <= 2 * corners, "mesh_graph")
    # The convex hull: first edge and vertex of each corner, neighbours by corner with -1 behind each list, faces.
    parts = np.cumsum([2, corners, corners, corners + 3 * sides, 3 * sides])
    _require(parts[-1] <= len(graph), "mesh_graph")
    edges, vertex, neighbours, hull = (graph[a:b] for a, b in pairwise(parts))
    _require(_within(edges, len(neighbours)) and _within(neighbours, corners), "mesh_graph")
    _require(_within(vertex, vertices) and _within(hull, vertices), "mesh_graph")
    _require(edges.size == 0 or (edges.min() >= 0 and neighbours[-1] == -1), "mesh_graph")


def _check_flex(model: MjModel, flex: int) -> None:
    dim, vertices = int(model.flex_dim[flex]), int(model.flex_vertnum[flex])
    _require(1 <= dim <= 3, "flex_dim")
    for name, limit, start, length in (
        ("flex_edge", vertices, model.flex_edgeadr[flex], model.flex_edgenum[flex]),
        ("flex_elem", vertices, model.flex_elemdataadr[flex], model.flex_elemnum[flex] * (dim + 1)),
        ("flex_shell", vertices, model.flex_shelldataadr[flex], model.flex_shellnum[flex] * dim),
    ):
        first, count, array = int(start), int(length), getattr(model, name)
        _require(count == 0 or (first >= 0 and count > 0 and first + count <= len(array)), name)
        _require(_within(array[first : first + count], limit), name)


def _check_contact_sensors(model: MjModel) -> None:
    contacts = model.sensor_type == int(mujoco.mjtSensor.mjSENS_CONTACT)
    bits, reduce, number = model.sensor_intprm[contacts, :3].T
    fields = 1 << int(mujoco.mjtConDataField.mjNCONDATA)
    _require(((bits > 0) & (bits < fields) & (reduce >= 0) & (reduce < _REDUCE_COUNT)).all(), "sensor_intprm")
    _require((number > 0).all() and (model.sensor_dim[contacts] > 0).all(), "sensor_intprm")
    for kind, index in zip(model.sensor_reftype[contacts], model.sensor_refid[contacts], strict=True):
        limit = getattr(model, _TARGETS[int(kind)]) if int(kind) in _TARGETS else None
        _require(limit is None or 0 <= index < limit, "sensor_refid")


def _check_names(model: MjModel) -> None:
    _require(model.names.endswith(b"\0"), "names")
    for name in dir(model):
        if name.startswith("name_") and name.endswith("adr"):
            starts = getattr(model, name)
            _require(starts.size == 0 or (starts.min() >= 0 and starts.max() < len(model.names)), name)
