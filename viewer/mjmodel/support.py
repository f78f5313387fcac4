"""Support of a robot from its contacts with static objects: polygon and centre of pressure."""

from dataclasses import dataclass

import mujoco
import numpy as np
from numpy.typing import NDArray

from .balance import tree_root, world_forces
from .force_kinds import contact_bodies
from .matching import are_forces_hidden, subtree
from .types import MjData, MjModel

Vector = NDArray[np.float64]


@dataclass(frozen=True, eq=False)
class Support:
    """Ground that a robot stands on, in a plane perpendicular to gravity through its centre of pressure."""

    body: int
    """Root of the robot."""
    pressure: Vector
    """Centre of pressure: mean of the contact points, weighted by the forces against gravity [m], world, (3,)."""
    force: float
    """Sum of the contact forces against gravity [N]."""
    center: Vector
    """Centre of mass [m], world, (3,)."""
    below: Vector
    """The centre of mass, projected along gravity [m], world, (3,)."""
    polygon: Vector
    """Corners of the convex hull of the contact points in the plane, in order around it [m], world, (k, 3)."""
    margin: float
    """Distance of the projected centre of mass from the polygon's edge [m]: negative outside; NaN without an area."""


def heaviest_root(model: MjModel) -> int | None:
    """Return the root body of the heaviest tree that moves; None if nothing does."""
    roots = [body for body in range(1, model.nbody) if tree_root(model, body) == body]
    return max(roots, key=lambda body: float(model.body_subtreemass[body]), default=None)


def measure_support(model: MjModel, data: MjData, body: int) -> Support | None:
    """Return the support of the tree that a body belongs to; None in the air, without gravity, or with unknown forces.

    Args:
        model: The compiled scene.
        data: State after a step.
        body: Id of a body of the robot.
    """
    root, weight = tree_root(model, body), float(np.linalg.norm(model.opt.gravity))
    if root is None or are_forces_hidden(data) or weight < mujoco.mjMINVAL:
        return None
    up = -model.opt.gravity / weight
    inside = subtree(model, root)
    sides = contact_bodies(model, data)
    own = inside[np.maximum(sides, 0)] & (sides >= 0)
    # Fingers that hold a thing are no ground that it could stand on.
    ground = (sides >= 0) & (model.body_dofnum[model.body_weldid[np.maximum(sides, 0)]] == 0)
    standing = (own & ground[:, ::-1]).any(axis=1)
    outer = np.flatnonzero(standing & (data.contact.efc_address >= 0))
    lifting = np.where(own[outer, 1], 1.0, -1.0) * (world_forces(model, data, outer) @ up)
    outer, lifting = outer[lifting > 0], lifting[lifting > 0]
    if not len(outer):
        return None
    points = data.contact.pos[outer]
    pressure = lifting @ points / lifting.sum()
    mass = model.body_mass[inside]
    center = mass @ data.xipos[inside] / max(float(mass.sum()), mujoco.mjMINVAL)
    across = _basis(up)
    flat, mass_point = (points - pressure) @ across.T, (center - pressure) @ across.T
    corners = convex_hull(flat)
    return Support(
        body=root,
        pressure=pressure,
        force=float(lifting.sum()),
        center=center,
        below=pressure + mass_point @ across,
        polygon=pressure + corners @ across,
        margin=distance_inside(corners, mass_point),
    )


def _basis(up: Vector) -> Vector:
    """Return two axes perpendicular to a direction, (2, 3), that form a right-handed frame with it."""
    first = np.cross(up, np.eye(3)[np.argmin(np.abs(up))])
    first /= np.linalg.norm(first)
    return np.stack([first, np.cross(up, first)])


def convex_hull(points: Vector) -> Vector:
    """Return the corners of the convex hull of points, (n, 2), counterclockwise, (k, 2)."""
    ordered = np.unique(points, axis=0).tolist()
    if len(ordered) < 3:
        return np.array(ordered).reshape(-1, 2)

    def chain(points: list[list[float]]) -> list[list[float]]:
        kept: list[list[float]] = []
        for point in points:
            while len(kept) > 1 and _turn(kept[-2], kept[-1], point) <= 0:
                kept.pop()
            kept.append(point)
        return kept[:-1]

    return np.array(chain(ordered) + chain(ordered[::-1]))


def _turn(first: list[float], second: list[float], third: list[float]) -> float:
    """Return a positive number if three points turn left."""
    (ax, ay), (bx, by), (cx, cy) = first, second, third
    return (bx - ax) * (cy - ay) - (by - ay) * (cx - ax)


def distance_inside(corners: Vector, point: Vector) -> float:
    """Return the distance of a point, (2,), from the edge of a convex polygon, (k, 2); negative outside, NaN without an
    area."""
    if len(corners) < 3:
        return float("nan")
    edges = np.roll(corners, -1, axis=0) - corners
    lengths = np.linalg.norm(edges, axis=1)
    arms = point - corners
    sides = (edges[:, 0] * arms[:, 1] - edges[:, 1] * arms[:, 0]) / lengths
    if (sides >= 0).all():
        return float(sides.min())
    along = np.clip(np.einsum("ki,ki->k", arms, edges) / lengths**2, 0.0, 1.0)
    return -float(np.linalg.norm(arms - along[:, None] * edges, axis=1).min())
