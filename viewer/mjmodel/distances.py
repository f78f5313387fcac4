"""Tracks the distances of pairs of geoms that meet or part, in MuJoCo's states, step by step."""

import math
from collections import deque
from collections.abc import Collection, Iterable
from functools import partial
from typing import Any

import mujoco
import numpy as np
from numpy.typing import NDArray

from .contact_list import ContactList, Values
from .crossings import Sample, Trace
from .pair_selection import Pairs, PairSelection
from .types import MjData, MjModel

FARTHEST = 1e6
"""Distance of geoms that are farther apart than any scene is large [m]."""
NO_LIST = int(mujoco.mjtDisableBit.mjDSBL_CONTACT | mujoco.mjtDisableBit.mjDSBL_CONSTRAINT)
"""Flags with which the contact list is always empty."""
OVERRIDE = int(mujoco.mjtEnableBit.mjENBL_OVERRIDE)
"""The flag that gives all contacts the margin `o_margin`."""
_TOUCHING = 1e-9
"""Distance of two nearest points below which the direction from one to the other is not defined [m]."""
_PLANE = int(mujoco.mjtGeom.mjGEOM_PLANE)
_ROUND = tuple(int(kind) for kind in (_PLANE, mujoco.mjtGeom.mjGEOM_SPHERE, mujoco.mjtGeom.mjGEOM_CAPSULE))
"""Types of geoms whose distance from each other is the one in the contact list."""
CLEAR = 1e-6
"""Distance from which on the contact list alone decides whether geoms of these types touch [m]."""
_UNKNOWN = Sample(math.nan, math.nan, math.nan)

Mask = NDArray[np.bool_]
Vector = tuple[float, float, float]
Poses = tuple[float, bytes]
"""Time of a state [s], and the arrays of `poses_of`, joined."""


class PairDistances:
    """Distances of pairs of geoms, tracked step by step.

    The contact list shows which pairs touch. A pair that enters or leaves it is measured, and measured again in the
    states before, whose poses are kept: pairs that are only near need not be measured.
    """

    def __init__(self, model: MjModel, choice: PairSelection, eps: float, has_velocities: bool = True) -> None:
        """`eps`: half the hysteresis band [m]. `has_velocities`: False to compute velocities from the distances of two
        steps."""
        self._deep = -2 * eps
        self._has_velocities = has_velocities
        self._model = model
        self._options = model.opt
        self._pairs = choice.geoms
        self._geoms: list[tuple[int, int]] = [(a, b) for a, b in choice.geoms.tolist()]
        # Bodies of each pair that can move, with the root of their tree and the sign of their part in the velocity.
        roots = model.body_rootid.tolist()
        self._movers = [
            [(body, roots[body], sign) for body, sign in zip(bodies, (-1.0, 1.0), strict=True) if body]
            for bodies in model.geom_bodyid[choice.geoms].tolist()
        ]
        self.groups = ContactList(model, choice.geoms)
        """The pairs in the contact list of the latest state."""
        self._able = choice.able
        self._exact = np.isin(model.geom_type[choice.geoms], _ROUND).all(axis=1)
        self._margin_arrays = (model.geom_margin, model.geom_gap, model.pair_margin, model.pair_gap)
        self.margin_views = [array.data.cast("B") for array in self._margin_arrays if array.size]
        """Margins and gaps, as bytes: with some options, they decide from which distance on pairs are listed."""
        self._find_unsure()
        self._witness = np.zeros(6)
        self.states: deque[Poses] = deque(maxlen=3)
        """The last three states, the latest first. The caller may add those in which no pair has to be measured."""
        self._past: Any = None
        """Separate mjData for the states before the last one; made when first needed."""
        self.reset()

    def reset(self) -> None:
        """Forget all distances: the state has jumped."""
        self.groups.forget()
        self.states.clear()
        self._measured: Collection[int] = range(len(self._geoms))
        self._undecided: set[int] = set()
        self._samples: dict[int, Sample] = {}
        self._crossing: list[int] = []
        self._meeting: list[int] = []
        self._earlier: dict[int, Sample] | None = None

    def update(self, data: MjData, time: float, in_contact: Mask) -> bool:
        """Read a state whose positions, contacts and velocities belong together; True if pairs may meet or part.

        `time` is that of the state [s], `in_contact` the pairs that were in contact before it, (pairs,).
        """
        changed = self.groups.read(data)
        if self._read_margins() != self._margins:
            self._find_unsure()
        started = bool(self.states)
        self.states.appendleft((time, b"".join(array.tobytes() for array in poses_of(data))))
        # What the list says of a change is checked: contacts that MuJoCo adds around the deepest one of two convex
        # geoms can be off in depth.
        if started and not self._options.disableflags & NO_LIST:
            self._measured = changed | self._undecided | self._unsure
            if early := self._early & self.groups.listed:
                self._measured = self._measured | early - self._clear(data, early, in_contact)
        else:
            self._measured = range(len(self._geoms))
        self._crossing.clear()
        self._samples.clear()
        for pair in self._measured:
            distance = self.distance(data, pair)
            if distance > 0 if in_contact.item(pair) else distance < self._deep:
                self._crossing.append(pair)
            elif started:
                continue
            self._samples[pair] = self._sample(data, time, pair, distance)
        return bool(self._crossing)

    def _clear(self, data: MjData, pairs: frozenset[int], in_contact: Mask) -> set[int]:
        """Return the listed pairs that, by the depths in the list alone, cannot have met or parted."""
        depths = zip(self.groups.pairs.tolist(), self.groups.depths(data).tolist(), strict=True)
        return {
            pair
            for pair, depth in depths
            if pair in pairs and self._exact.item(pair) and (-depth if in_contact.item(pair) else depth) > CLEAR
        }

    def rest(self, in_contact: Mask) -> bool:
        """Return True if no pair has to be measured in the next states, as long as the contact list stays the same and
        the pairs of `early_contacts` neither meet nor part.

        `in_contact`: the pairs that are in contact after the latest state, (pairs,).
        """
        listed = self.groups.listed
        early = self._early & listed
        undecided = {pair for pair in self._measured if (pair in listed) != in_contact.item(pair)}
        self._undecided = undecided - early
        return not (self._undecided or self._unsure) and all(map(self._exact.item, early))

    def early_contacts(self, in_contact: Mask) -> list[tuple[range, float]]:
        """Return the contacts of each pair that is listed before it touches, with 1 if it touches and -1 if not.

        Such a pair neither meets nor parts while the smallest of the contacts' distances times that number is below
        -`CLEAR`.
        """
        return [
            (contacts, 1.0 if in_contact.item(pair) else -1.0)
            for pair, contacts in zip(self.groups.pairs.tolist(), self.groups.ranges(), strict=True)
            if pair in self._early
        ]

    def start(self) -> tuple[float, Values, Values]:
        """Return the time [s], and distances [m] and velocities [m/s], (pairs,) each, in the first state after a
        reset."""
        samples = np.array([self._samples[pair] for pair in range(len(self._geoms))]).reshape(-1, 3)
        return self.states[0][0], samples[:, 1], samples[:, 2]

    def traces(self) -> dict[int, Trace]:
        """Return the last three states of the pairs that may meet or part now."""
        before = self._recall(1, self._crossing)
        self._meeting = [pair for pair in self._crossing if before[pair].distance > 0]
        self._earlier = None
        return {
            pair: Trace(self._samples[pair], before[pair], partial(self._recall_earlier, pair))
            for pair in self._crossing
        }

    def near(self, data: MjData, in_contact: Mask) -> dict[int, Sample]:
        """Return all pairs that are in contact or penetrate, measured in the latest state.

        `in_contact`: the pairs that were in contact before it, (pairs,).
        """
        # The last digits of a bound are uncertain.
        may_touch = in_contact | (distance_bounds(self._model, data, self._pairs) < _TOUCHING)
        time, pairs = self.states[0][0], may_touch.nonzero()[0].tolist()
        self._measured = {*self._measured, *pairs}
        return {pair: self._sample(data, time, pair, self.distance(data, pair)) for pair in pairs}

    def gaps(self, data: MjData, in_contact: Mask) -> tuple[float, float]:
        """Return the largest distance of the pairs in contact and the smallest of the others, in the latest state [m].

        -inf and inf where there are none.
        """
        depths = dict(zip(self.groups.pairs.tolist(), self.groups.depths(data).tolist(), strict=True))
        touching = in_contact.nonzero()[0].tolist()
        largest = max(
            (depths[pair] if pair in depths else self.distance(data, pair) for pair in touching), default=-math.inf
        )
        bounds = np.where(in_contact, math.inf, distance_bounds(self._model, data, self._pairs))
        nearest = math.inf
        for pair in bounds.argsort().tolist():
            if bounds[pair] >= nearest:
                break
            nearest = min(nearest, self.distance(data, pair))
        return largest, nearest

    def distance(self, data: MjData, pair: int) -> float:
        """Return the distance of a pair [m], in any state with positions."""
        first, second = self._geoms[pair]
        distance: float = mujoco.mj_geomDistance(self._model, data, first, second, FARTHEST, self._witness)
        return distance

    def distance_apart(self, data: MjData, pair: int, way: float, direction: Vector) -> float:
        """Return the distance with the second geom moved along a direction [m]; `data` stays changed."""
        data.geom_xpos[self._geoms[pair][1]] += way * np.array(direction)
        return self.distance(data, pair)

    def direction(self, distance: float) -> Vector | None:
        """Return the unit vector from the first geom to the second at their nearest points, for the distance measured
        last [m].

        World frame; None where they touch.
        """
        return _direction(self._witness.tolist(), distance)

    def velocity(self, data: MjData, pair: int, distance: float) -> float:
        """Return the rate of change of the distance measured last [m/s], in a state with velocities; NaN if the geoms
        touch."""
        nearest = self._witness.tolist()
        direction = _direction(nearest, distance)
        if direction is None:
            return math.nan
        nx, ny, nz = direction
        ax, ay, az, bx, by, bz = nearest
        px, py, pz = (ax + bx) / 2, (ay + by) / 2, (az + bz) / 2
        velocity, centers, velocities = 0.0, data.subtree_com, data.cvel
        for body, root, sign in self._movers[pair]:
            # cvel is the velocity at the centre of mass of the body's tree.
            cx, cy, cz = centers[root].tolist()
            rx, ry, rz = px - cx, py - cy, pz - cz
            wx, wy, wz, vx, vy, vz = velocities[body].tolist()
            velocity += sign * (
                nx * (vx + wy * rz - wz * ry) + ny * (vy + wz * rx - wx * rz) + nz * (vz + wx * ry - wy * rx)
            )
        return velocity

    def _read_margins(self) -> tuple[int, float, bytes]:
        """Read the values that decide from which distance on pairs are listed; the observed program may change them."""
        return self._options.enableflags, self._options.o_margin, b"".join(self.margin_views)

    def _find_unsure(self) -> None:
        """Find the pairs for which the list cannot be relied on: pairs that never collide, and pairs that enter it
        before they touch, by a margin, or by a gap, within which they are listed without a force."""
        self._margins = self._read_margins()
        margins, gaps, pair_margins, pair_gaps = self._margin_arrays
        largest = np.maximum(margins, gaps)[self._pairs].max(axis=1, initial=0.0)
        overridden = self._options.o_margin if self._options.enableflags & OVERRIDE else 0.0
        largest = np.maximum(largest, max(overridden, pair_margins.max(initial=0.0), pair_gaps.max(initial=0.0)))
        self._unsure = frozenset((~self._able).nonzero()[0].tolist())
        self._early = frozenset((self._able & (largest > 0)).nonzero()[0].tolist())

    def _sample(self, data: MjData, time: float, pair: int, distance: float) -> Sample:
        """Return the sample of a pair in a state, with the distance measured last [m]."""
        velocity = self.velocity(data, pair, distance) if self._has_velocities else math.nan
        return Sample(time, distance, velocity)

    def _recall(self, age: int, pairs: Iterable[int]) -> dict[int, Sample]:
        """Return the samples of pairs some states ago."""
        past, time = self._show(self.states[age]), self.states[age][0]
        return {pair: self._sample(past, time, pair, self.distance(past, pair)) for pair in pairs}

    def _show(self, state: Poses) -> Any:
        """Return the separate mjData, with the poses and velocities of a state."""
        if self._past is None:
            self._past = mujoco.MjData(self._model)
        values, start = np.frombuffer(state[1]), 0
        for array in poses_of(self._past):
            array.reshape(-1)[:] = values[start : start + array.size]
            start += array.size
        return self._past

    def _recall_earlier(self, pair: int) -> Sample:
        """Return the sample of a pair two states ago. It is seldom needed, but then for all pairs that meet."""
        if self._earlier is None:
            self._earlier = self._recall(2, self._meeting) if len(self.states) > 2 else {}
        return self._earlier.get(pair, _UNKNOWN)


def distance_bounds(model: MjModel, data: MjData, pairs: Pairs) -> Values:
    """Return lower bounds of the distances of pairs of geoms, (k, 2), from spheres and planes around them [m], (k,)."""
    first, second = pairs.T
    between = data.geom_xpos[second] - data.geom_xpos[first]
    bounds = np.linalg.norm(between, axis=1)
    for plane, way in ((first, between), (second, -between)):
        normal = data.geom_xmat.reshape(-1, 3, 3)[plane, :, 2]
        bounds = np.where(model.geom_type[plane] == _PLANE, np.einsum("ij,ij->i", way, normal), bounds)
    # The bounding radius of a plane is 0.
    return bounds - model.geom_rbound[first] - model.geom_rbound[second]


def poses_of(data: MjData) -> tuple[Any, Any, Any, Any]:
    """Return positions and orientations of a state's geoms, centres of mass and velocities of its bodies, as views."""
    return data.geom_xpos, data.geom_xmat, data.subtree_com, data.cvel


def _direction(nearest: list[float], distance: float) -> Vector | None:
    """Return the unit vector between the nearest points of two geoms, (6,), at a distance [m]; None if they touch."""
    ax, ay, az, bx, by, bz = nearest
    length = math.dist((ax, ay, az), (bx, by, bz))
    if length < _TOUCHING:
        return None
    # Nearest points of geoms that penetrate have changed places.
    scale = math.copysign(1 / length, distance)
    return (bx - ax) * scale, (by - ay) * scale, (bz - az) * scale
