"""Measures what moves in a scene, and whether a picture shows it."""

from typing import Any

import numpy as np
from numpy.typing import NDArray

from ..mjmodel.types import MjModel
from .camera import Eye

_LEAST_SEEN = 0.6
"""Share of the moving geoms that a picture shows, at least, if it is to be kept."""
_SMALLEST, _LARGEST = 0.12, 2.0
"""Size of the box around them, as a fraction of the picture, likewise."""

Box = tuple[NDArray[np.float64], NDArray[np.float64]]
"""Lower and upper corner [m], world, (3,) each."""


def tree_sizes(model: MjModel, data: Any) -> tuple[NDArray[np.float64], NDArray[np.float64]]:
    """Centres (n, 3) and longest sides (n,) of the boxes around the trees of bodies that move [m]."""
    geoms = moving_geoms(model)
    trees, index = np.unique(model.body_treeid[model.geom_bodyid[geoms]], return_inverse=True)
    low, high = _reach(model, data, geoms)
    lower, upper = np.full((len(trees), 3), np.inf), np.full((len(trees), 3), -np.inf)
    np.minimum.at(lower, index, low)
    np.maximum.at(upper, index, high)
    return 0.5 * (lower + upper), (upper - lower).max(axis=1, initial=0.0)


def moving_geoms(model: MjModel) -> NDArray[np.intp]:
    """Geoms of bodies that can move."""
    return np.flatnonzero(model.body_treeid[model.geom_bodyid] >= 0)


def body_geoms(model: MjModel, body: int) -> NDArray[np.intp]:
    """Geoms of a body and of those that hang from it."""
    belongs = np.zeros(model.nbody, bool)
    belongs[body] = True
    for child in range(body + 1, model.nbody):
        # Parents come before their children.
        belongs[child] = belongs[model.body_parentid[child]]
    return np.flatnonzero(belongs[model.geom_bodyid])


def box_around(model: MjModel, data: Any, geoms: NDArray[np.intp]) -> Box | None:
    """The box around geoms; None without any, or where they are nowhere."""
    low, high = _reach(model, data, geoms)
    if not len(low) or not (np.abs(low) < 1e9).all() or not (np.abs(high) < 1e9).all():
        return None
    return low.min(axis=0), high.max(axis=0)


def shown_badly(model: MjModel, data: Any, eye: Eye, box: Box) -> float | None:
    """None if a picture shows what moves; else the part of the picture that it should fill."""
    seen = float(eye.sees(data.geom_xpos[moving_geoms(model)]).mean())
    pixels, _ = eye.matrices.project(corners(box), eye.viewport)
    share = float((np.ptp(pixels, axis=0) / eye.viewport[2:]).max())
    if seen >= _LEAST_SEEN and _SMALLEST <= share <= _LARGEST:
        return None
    # What is merely small may move about: it keeps room.
    return 0.3 if seen >= _LEAST_SEEN and share < _SMALLEST else 0.6


def corners(box: Box) -> NDArray[np.float64]:
    """The eight corners of a box [m], (8, 3)."""
    return np.array([[box[i][0], box[j][1], box[k][2]] for i in (0, 1) for j in (0, 1) for k in (0, 1)])


def _reach(model: MjModel, data: Any, geoms: NDArray[np.intp]) -> Box:
    """Corners of the boxes around geoms [m], world, (n, 3) each."""
    turn, own = data.geom_xmat[geoms].reshape(-1, 3, 3), model.geom_aabb[geoms]
    centers = data.geom_xpos[geoms] + np.einsum("nij,nj->ni", turn, own[:, :3])
    halves = np.einsum("nij,nj->ni", np.abs(turn), own[:, 3:])
    return centers - halves, centers + halves
