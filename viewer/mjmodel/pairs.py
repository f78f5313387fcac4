"""Turns a contact sensor into the pairs of geoms that it matches: which pairs can collide, and their friction."""

from collections.abc import Sequence
from dataclasses import dataclass
from enum import IntEnum
from typing import NamedTuple

import mujoco
import numpy as np
from numpy.typing import NDArray

from .friction import mask_friction
from .matching import Target
from .mixing import find_declared_pairs, mix_friction
from .names import sensor_targets

Indices = NDArray[np.intp]
PAIRS_MAX = 1_000_000
"""Most pairs that are examined; a sensor that matches anything in a large scene has more."""


class Obstacle(IntEnum):
    """Reason why MuJoCo never tests a pair of geoms, in the order of MuJoCo's filters."""

    NONE = 0
    SAME_BODY = 1
    WELDED = 2
    """There is no joint between the bodies."""
    UNMOVED = 3
    """The simulation moves neither body."""
    PARENT = 4
    """One body is the other's parent, and filterparent is on."""
    EXCLUDE = 5
    BITMASK = 6
    """The values of contype and conaffinity do not match."""
    NO_FUNCTION = 7
    """MuJoCo cannot collide these two types."""


@dataclass(frozen=True, eq=False)
class GeomPairs:
    """Pairs of geoms, one of each side of a sensor."""

    geoms: Indices
    """Geom of object 1 and geom of object 2, (k, 2); a pair that fits in both orders is there once."""
    obstacles: NDArray[np.int8]
    """Values of Obstacle, (k,)."""
    complete: bool
    """True if these are all pairs."""

    @property
    def possible(self) -> Indices:
        """Pairs that can collide, (n, 2)."""
        return self.geoms[self.obstacles == Obstacle.NONE]


def sensor_pairs(model: mujoco.MjModel, sensor_id: int | None, limit: int = PAIRS_MAX) -> GeomPairs:
    """Return the pairs of geoms that a sensor matches, about `limit` at most; all pairs without a sensor."""
    first, second = sensor_sides(model, sensor_id)
    ones, others = np.flatnonzero(first), np.flatnonzero(second)
    complete = len(ones) * len(others) <= limit
    if not complete:
        ones = ones[: limit // len(others) + 1]
    geom1, geom2 = (side.ravel() for side in np.meshgrid(ones, others, indexing="ij"))
    # Where both sides hold both geoms, one order is enough; a geom is no pair with itself.
    both_ways = first[geom2] & second[geom1]
    kept = (geom1 != geom2) & ~(both_ways & (geom1 > geom2))
    geoms = np.stack([geom1[kept], geom2[kept]], axis=1)
    return GeomPairs(geoms, find_obstacles(model, geoms), complete)


class SensorsPairs(NamedTuple):
    """Pairs of geoms that can collide and that many sensors match."""

    sensors: Indices
    """Number of the sensor that matches each pair, in the order of the sensors, (n,)."""
    geoms: Indices
    """The pairs, (n, 2); one that fits in both orders is there twice."""
    complete: NDArray[np.bool_]
    """True for the sensors all of whose pairs are there, (sensors,)."""


def possible_pairs(model: mujoco.MjModel, sensor_ids: Sequence[int], limit: int = PAIRS_MAX) -> SensorsPairs:
    """Return `sensor_pairs(...).possible` of many sensors, in a fraction of the time."""
    ids = np.asarray(sensor_ids, int)
    firsts = np.stack([model.sensor_objtype[ids], model.sensor_objid[ids]], axis=1)
    seconds = np.stack([model.sensor_reftype[ids], model.sensor_refid[ids]], axis=1)
    sides, places = np.unique(np.concatenate([firsts, seconds]), axis=0, return_inverse=True)
    geoms = [np.flatnonzero(Target(model, *side).geoms[:-1]) for side in sides.tolist()]
    counts, all_geoms = np.array([len(each) for each in geoms], int), np.concatenate([*geoms, np.zeros(0, int)])
    starts = np.cumsum(counts) - counts
    one, other = places.reshape(2, -1)
    columns = counts[other]
    numbers = np.minimum(counts[one], limit // np.maximum(columns, 1) + 1) * columns
    ends = np.cumsum(numbers)
    owners, found, begin = [np.zeros(0, np.intp)], [np.zeros((0, 2), np.intp)], 0
    while begin < len(ids):
        # As many sensors at once as memory allows.
        stop = max(begin + 1, int(np.searchsorted(ends, ends[begin] - numbers[begin] + PAIRS_MAX, side="right")))
        many = numbers[begin:stop]
        sensors = np.repeat(np.arange(begin, stop), many)
        row, column = np.divmod(np.arange(len(sensors)) - np.repeat(np.cumsum(many) - many, many), columns[sensors])
        pairs = np.stack([all_geoms[starts[one[sensors]] + row], all_geoms[starts[other[sensors]] + column]], axis=1)
        kept = (pairs[:, 0] != pairs[:, 1]) & (find_obstacles(model, pairs) == Obstacle.NONE)
        owners.append(sensors[kept])
        found.append(pairs[kept])
        begin = stop
    return SensorsPairs(np.concatenate(owners), np.concatenate(found), counts[one] * columns <= limit)


def sensor_sides(model: mujoco.MjModel, sensor_id: int | None) -> tuple[NDArray[np.bool_], NDArray[np.bool_]]:
    """Return masks of the geoms that each side of a sensor covers, (ngeom,) each."""
    first, second = sensor_targets(model, sensor_id)
    return Target(model, *first).geoms[:-1], Target(model, *second).geoms[:-1]


def find_obstacles(model: mujoco.MjModel, geoms: Indices) -> NDArray[np.int8]:
    """Return the obstacle that keeps each pair, (k, 2), from ever colliding: values of Obstacle, (k,)."""
    one, other = geoms.T
    body1, body2 = model.geom_bodyid[one], model.geom_bodyid[other]
    weld1, weld2 = model.body_weldid[body1], model.body_weldid[body2]
    above1, above2 = (model.body_weldid[model.body_parentid[weld]] for weld in (weld1, weld2))
    filters_parents = not model.opt.disableflags & mujoco.mjtDisableBit.mjDSBL_FILTERPARENT
    on_parent = (weld1 != 0) & (weld2 != 0) & ((weld1 == above2) | (weld2 == above1))
    matching = (model.geom_contype[one] & model.geom_conaffinity[other]) | (
        model.geom_contype[other] & model.geom_conaffinity[one]
    )
    unmoved = ~_is_moved(model)
    obstacles = np.zeros(len(geoms), np.int8)
    # Later ones are overwritten by earlier ones.
    obstacles[matching == 0] = Obstacle.BITMASK
    obstacles[_is_excluded(model, body1, body2)] = Obstacle.EXCLUDE
    if filters_parents:
        obstacles[on_parent] = Obstacle.PARENT
    obstacles[unmoved[body1] & unmoved[body2]] = Obstacle.UNMOVED
    obstacles[(weld1 == weld2) & (weld1 != 0)] = Obstacle.WELDED
    obstacles[body1 == body2] = Obstacle.SAME_BODY
    # A <pair> is tested whatever the filters say.
    obstacles[find_declared_pairs(model, geoms) >= 0] = Obstacle.NONE
    types = np.sort(np.stack([model.geom_type[one], model.geom_type[other]], axis=1), axis=1)
    flat = int(mujoco.mjtGeom.mjGEOM_HFIELD)
    # Planes and height fields bound half of space: they meet solids only.
    obstacles[(types <= flat).all(axis=1) & (obstacles == Obstacle.NONE)] = Obstacle.NO_FUNCTION
    return obstacles


def pair_friction(model: mujoco.MjModel, geoms: NDArray[np.integer]) -> NDArray[np.float64]:
    """Return the friction coefficients of each pair, (k, 5), as `contact_friction` does."""
    condim, friction = mix_friction(model, geoms)
    return mask_friction(friction, condim)


def common_friction(model: mujoco.MjModel, geoms: Indices) -> NDArray[np.float64] | None:
    """Return the coefficients that the contacts of all pairs, (k, 2), have, (5,), 0 without pairs; None where they
    differ. None also where adhesion may take part: no coefficient includes it."""
    if (model.actuator_trntype == int(mujoco.mjtTrn.mjTRN_BODY)).any():
        return None
    friction = pair_friction(model, geoms) if len(geoms) else np.zeros((1, 5))
    return friction[0] if (friction == friction[0]).all() else None


def sensor_friction(model: mujoco.MjModel, sensor_ids: Sequence[int], limit: int = PAIRS_MAX) -> NDArray[np.float64]:
    """Return the sliding coefficients along both tangents that all contacts of a sensor have, (sensors, 2).

    NaN if the coefficients differ, if the sensor has no pairs, and if it has more than `limit` pairs.
    """
    found, friction = possible_pairs(model, sensor_ids, limit), np.full((len(sensor_ids), 2), np.nan)
    sensors, starts = np.unique(found.sensors, return_index=True)
    if len(sensors):
        sliding = pair_friction(model, found.geoms)[:, :2]
        least, most = np.minimum.reduceat(sliding, starts), np.maximum.reduceat(sliding, starts)
        known = (least == most).all(axis=1) & found.complete[sensors]
        friction[sensors[known]] = most[known]
    return friction


def _is_moved(model: mujoco.MjModel) -> NDArray[np.bool_]:
    """Return the mask of the bodies that the simulation moves, (nbody,): those with a joint on the way to the world."""
    # A body is welded to the nearest one above it that has joints; to a mocap body or to the world where none has.
    moved: NDArray[np.bool_] = model.body_dofnum[model.body_weldid] > 0
    return moved


def _is_excluded(model: mujoco.MjModel, body1: Indices, body2: Indices) -> NDArray[np.bool_]:
    low, high = np.minimum(body1, body2).astype(np.int64), np.maximum(body1, body2)
    return np.isin((low << 16) + high, model.exclude_signature)
