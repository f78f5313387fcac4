"""Bodies that carry the flexes in contacts: the representative body of a flex, and its velocity."""

from itertools import combinations, product

import mujoco
import numpy as np
from numpy.typing import NDArray

from ..sensors.contacts import cross

Indices = NDArray[np.intp]
Values = NDArray[np.float64]

# Two rules that differ between versions, which no symbol shows.
_PREFERS_MOVING = mujoco.mj_version() >= 3_017_000
"""True if an element is represented by its first vertex that can move; older releases of MuJoCo use the first vertex
even if it is pinned."""
_NEAREST_POINT = mujoco.mj_version() >= 4_000_000
"""True if an element's vertices are weighted by the element's point that is nearest to the contact; older releases of
MuJoCo weight them by their own distances from the contact."""


def flex_bodies(model: mujoco.MjModel, data: mujoco.MjData, contacts: Indices, side: int) -> Indices:
    """Return the body that represents the flex on a side, 0 or 1, of each contact, (k,)."""
    contact = data.contact
    flexes, vertices = contact.flex[contacts, side], contact.vert[contacts, side]
    bodies = np.zeros(len(contacts), np.intp)
    for flex in np.unique(flexes).tolist():
        of_flex = np.flatnonzero(flexes == flex)
        if model.flex_interp[flex]:
            start = model.flex_nodeadr[flex]
            nodes = model.flex_nodebodyid[start : start + model.flex_nodenum[flex]]
            bodies[of_flex] = _representatives(model, nodes[np.newaxis])
            continue
        owners = model.flex_vertbodyid[model.flex_vertadr[flex] :]
        single = vertices[of_flex] >= 0
        bodies[of_flex[single]] = owners[vertices[of_flex[single]]]
        elements = contact.elem[contacts[of_flex[~single]], side]
        bodies[of_flex[~single]] = _representatives(model, owners[_corners(model, flex)[elements]])
    return bodies


def flex_velocities(model: mujoco.MjModel, data: mujoco.MjData, contacts: Indices, side: int) -> tuple[Values, Values]:
    """Return linear and angular velocity of the flex on a side, 0 or 1, of contacts, world, (k, 3) each.

    They are velocities at the contact position: the mean of the element's vertices, weighted by the place of the
    element's nearest point. NaN with a MuJoCo older than 4.0, which has other weights.
    """
    if not _NEAREST_POINT:
        linear, angular = np.full((2, len(contacts), 3), np.nan)
        return linear, angular
    contact = data.contact
    flexes = contact.flex[contacts, side]
    linear, angular = np.zeros((2, len(contacts), 3))
    for flex in np.unique(flexes).tolist():
        of_flex = np.flatnonzero(flexes == flex)
        vertices, weights = _vertex_weights(model, data, contacts[of_flex], side, flex)
        if model.flex_interp[flex]:
            bodies, weights = _node_weights(model, flex, vertices, weights)
        else:
            bodies = model.flex_vertbodyid[model.flex_vertadr[flex] + vertices]
        arms = contact.pos[contacts[of_flex], np.newaxis] - data.subtree_com[model.body_rootid[bodies]]
        spin, drift = data.cvel[bodies, :3], data.cvel[bodies, 3:]
        linear[of_flex] = np.einsum("kn,kni->ki", weights, drift + cross(spin, arms))
        angular[of_flex] = np.einsum("kn,kni->ki", weights, spin)
    return linear, angular


def closest_weights(corners: Values, points: Values, allowed: NDArray[np.bool_]) -> Values:
    """Return the barycentric weights, (k, n), of the point of each simplex that is nearest to a point.

    `corners` are the simplices (k, n, 3), `points` (k, 3); `allowed` the corners that may have a weight, (k, n).
    """
    count, size = allowed.shape
    best, weights = np.full(count, np.inf), np.zeros((count, size))
    # The nearest point lies inside one of the simplex' faces, edges and corners: of those that have it, the nearest.
    for face in (list(some) for number in range(1, size + 1) for some in combinations(range(size), number)):
        origin, others = corners[:, face[0]], corners[:, face[1:]] - corners[:, face[:1]]
        parts = np.einsum("kin,ki->kn", np.linalg.pinv(others), points - origin)
        trial = np.zeros((count, size))
        trial[:, face[1:]], trial[:, face[0]] = parts, 1 - parts.sum(axis=1)
        distance = np.linalg.norm(np.einsum("kn,kni->ki", trial, corners) - points, axis=1)
        better = (distance < best) & (trial >= 0).all(axis=1) & allowed[:, face].all(axis=1)
        best[better], weights[better] = distance[better], trial[better]
    return weights


def _representatives(model: mujoco.MjModel, bodies: NDArray[np.int32]) -> Indices:
    """Return, for groups of bodies, (k, n), the first body that can move, or else the first, (k,)."""
    movable = model.body_treeid[bodies] >= 0
    first = movable.argmax(axis=1) if _PREFERS_MOVING else np.zeros(len(bodies), np.intp)
    chosen: Indices = np.take_along_axis(bodies, first[:, np.newaxis], axis=1)[:, 0].astype(np.intp)
    return chosen


def _corners(model: mujoco.MjModel, flex: int) -> NDArray[np.int32]:
    """Return the vertices of each element of a flex, (elements, dim + 1), counted within the flex."""
    size, start = model.flex_dim[flex] + 1, model.flex_elemdataadr[flex]
    corners: NDArray[np.int32] = model.flex_elem[start : start + size * model.flex_elemnum[flex]].reshape(-1, size)
    return corners


def _vertex_weights(
    model: mujoco.MjModel, data: mujoco.MjData, contacts: Indices, side: int, flex: int
) -> tuple[Indices, Values]:
    """Return the vertices of a flex on a side of each contact, counted within the flex, and their weights, (k, n)."""
    contact = data.contact
    single = contact.vert[contacts, side]
    # Without an element, -1, whichever vertices are found are replaced.
    vertices = _corners(model, flex)[contact.elem[contacts, side]].astype(np.intp)
    vertices[single >= 0] = single[single >= 0, np.newaxis]
    # A vertex is no part of an element that it touches.
    allowed = vertices != contact.vert[contacts, 1 - side, np.newaxis]
    places = data.flexvert_xpos[model.flex_vertadr[flex] + vertices]
    return vertices, closest_weights(places, contact.pos[contacts], allowed)


def _node_weights(
    model: mujoco.MjModel, flex: int, vertices: Indices, vertex_weights: Values
) -> tuple[Indices, Values]:
    """Return the bodies of the nodes of a flex whose cells carry these vertices, (k, n), and their weights."""
    rest = model.flex_vert0[model.flex_vertadr[flex] + vertices]
    coordinates = np.einsum("kn,kni->ki", vertex_weights, rest)
    cells, order = model.flex_cellnum[flex].astype(np.intp), abs(int(model.flex_interp[flex]))
    cell = np.clip(np.floor(coordinates * cells).astype(np.intp), 0, cells - 1)
    local = np.clip(coordinates * cells - cell, 0.0, 1.0)
    along = np.stack(_shape_functions(local, order))
    places = np.array(list(product(range(order + 1), repeat=3)))
    nodes = cell[:, np.newaxis] * order + places
    weights = np.prod([along[places[:, axis], :, axis] for axis in range(3)], axis=0).T
    if model.flex_interp[flex] < 0:
        nodes, weights = _on_shell(nodes, weights, cells * order)
    numbers = np.ravel_multi_index(tuple(np.moveaxis(nodes, -1, 0)), tuple(cells * order + 1))
    return model.flex_nodebodyid[model.flex_nodeadr[flex] + numbers], weights


def _on_shell(nodes: Indices, weights: Values, last: Indices) -> tuple[Indices, Values]:
    """Replace nodes inside a grid, which a shell does not have, by nodes on its faces: (k, m, 3) and (k, m).

    By transfinite interpolation: f = f - (1 - Px)(1 - Py)(1 - Pz) f, where Px interpolates between the two faces
    across x and leaves the rest as it is. `last`: the highest number of a node along each axis, (3,).
    """
    inside = ((nodes > 0) & (nodes < last)).all(axis=-1)
    share = nodes / last
    found_nodes, found_weights = [], []
    for ends in product(("here", "low", "high"), repeat=3):
        at = np.array(ends)
        factor = np.where(at == "here", 1.0, np.where(at == "low", share - 1, -share)).prod(axis=-1)
        is_itself = (at == "here").all()
        found_nodes.append(np.where(at == "here", nodes, np.where(at == "low", 0, last)))
        found_weights.append(weights * np.where(inside, 0.0 if is_itself else -factor, 1.0 if is_itself else 0.0))
    return np.concatenate(found_nodes, axis=1), np.concatenate(found_weights, axis=1)


def _shape_functions(local: Values, order: int) -> list[Values]:
    """Return the weight of each of the order + 1 nodes along an axis at a place from 0 to 1 in a cell."""
    if order == 1:
        return [1 - local, local]
    return [2 * (local - 0.5) * (local - 1), 4 * local * (1 - local), 2 * local * (local - 0.5)]
