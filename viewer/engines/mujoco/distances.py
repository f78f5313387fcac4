"""MuJoCo states, step by step, to the distances of followed pairs of geoms that meet or part."""

import math
from collections import deque
from collections.abc import Collection, Iterable
from functools import partial
from typing import Any, NamedTuple

import mujoco
import numpy as np
from numpy.typing import NDArray

from ...sensors.crossings import Sample, Trace
from ..following.watched_pairs import PairChoice
from .contact_groups import ContactGroups, Values

FARTHEST = 1e6
"""Beyond any scene [m]: where geoms are farther apart, this is their distance."""
NO_LIST = int(mujoco.mjtDisableBit.mjDSBL_CONTACT | mujoco.mjtDisableBit.mjDSBL_CONSTRAINT)
"""Flags that leave the contact list empty whatever touches."""
_TOUCHING = 1e-9
"""Nearest points closer than this [m] have no direction from one to the other."""
_PLANE = int(mujoco.mjtGeom.mjGEOM_PLANE)
_UNKNOWN = Sample(math.nan, math.nan, math.nan)

Mask = NDArray[np.bool_]
Vector = tuple[float, float, float]
Poses = tuple[float, bytes, bytes, bytes, bytes]
"""Time of a state [s], positions and orientations of its geoms, centres of mass and velocities of its bodies."""


class Motion(NamedTuple):
    """A state from which the poses follow."""

    time: float
    """[s]"""
    state: Values
    """The time again, positions and velocities, as in a `StepBlock`."""
    mocap: tuple[Values, Values]
    """Positions and orientations of the bodies that the simulation does not move."""


class PairDistances:
    """Distances of pairs of geoms, followed step by step.

    The contact list tells which pairs touch. A pair that enters or leaves it is measured, and measured again in the
    states before, whose poses are kept: nobody has to look at pairs that are only near.
    """

    def __init__(self, model: Any, choice: PairChoice, eps: float, has_velocities: bool = True) -> None:
        """`eps`: half the hysteresis band [m]. Without velocities, the distances of two steps have to tell them."""
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
        self.groups = ContactGroups(model, choice.geoms)
        """The pairs in the contact list of the state followed last."""
        self.measured_count = 0
        """Pairs that were measured in that state."""
        # The list cannot be relied on for pairs that never collide, nor for those that enter it before they touch.
        margins = model.geom_margin[choice.geoms].max(axis=1, initial=0.0)
        margins = np.maximum(margins, model.pair_margin.max(initial=0.0))
        self._unsure = frozenset((~choice.able | (margins > 0)).nonzero()[0].tolist())
        self._witness = np.zeros(6)
        self.states: deque[Poses | Motion] = deque(maxlen=3)
        """The last three states, the latest first. Those in which no pair has to be looked at may be added."""
        self._past: Any = None
        """A state of our own, for those before the last one; made when it is first needed."""
        self.reset()

    def reset(self) -> None:
        """Forget all distances: the state has jumped."""
        self.groups.forget()
        self.states.clear()
        self._looked_at: Collection[int] = range(len(self._geoms))
        self._restless: set[int] = set()
        self._samples: dict[int, Sample] = {}
        self._told: list[int] = []
        self._meeting: list[int] = []
        self._earlier: dict[int, Sample] | None = None

    def follow(self, data: Any, time: float, in_contact: Mask) -> bool:
        """Take in a state whose positions, contacts and velocities belong together; whether pairs may meet or part.

        `time` is that of the state [s], `in_contact` the pairs that were in contact before it, (pairs,).
        """
        poses = (time, *(array.tobytes() for array in poses_of(data)))
        return self._look(data, poses, self.groups.read(data), in_contact)

    def follow_motion(self, motion: Motion, listed: set[int], in_contact: Mask) -> bool:
        """As `follow`, of a state whose contact list is known by the followed pairs in it."""
        return self._look(self._show(motion), motion, self.groups.tell(listed), in_contact)

    def _look(self, data: Any, state: Poses | Motion, changed: set[int], in_contact: Mask) -> bool:
        """Measure the pairs that entered or left the contact list, and those that are not at rest."""
        started, time = bool(self.states), state[0]
        self.states.appendleft(state)
        # What the list says of a change is checked: contacts that MuJoCo adds around the deepest one of two convex
        # geoms can be off in depth.
        if started and not self._options.disableflags & NO_LIST:
            self._looked_at = changed | self._restless | self._unsure
        else:
            self._looked_at = range(len(self._geoms))
        self.measured_count = len(self._looked_at)
        self._told.clear()
        self._samples.clear()
        for pair in self._looked_at:
            distance = self.distance(data, pair)
            if distance > 0 if in_contact.item(pair) else distance < self._deep:
                self._told.append(pair)
            elif started:
                continue
            self._samples[pair] = self._sample(data, time, pair, distance)
        return bool(self._told)

    def rest(self, in_contact: Mask) -> bool:
        """Whether, as long as the contact list stays the same, no pair has to be looked at in the next states.

        `in_contact`: the pairs that are in contact after the state followed last, (pairs,).
        """
        listed = self.groups.listed
        self._restless = {pair for pair in self._looked_at if (pair in listed) != in_contact.item(pair)}
        return not (self._restless or self._unsure)

    def start(self) -> tuple[float, Values, Values]:
        """Time [s], distances [m] and velocities [m/s], (pairs,) each, of the first state after a reset."""
        samples = np.array([self._samples[pair] for pair in range(len(self._geoms))]).reshape(-1, 3)
        return self.states[0][0], samples[:, 1], samples[:, 2]

    def traces(self) -> dict[int, Trace]:
        """The last three states of the pairs that may meet or part now."""
        before = self._recall(1, self._told)
        self._meeting = [pair for pair in self._told if before[pair].distance > 0]
        self._earlier = None
        return {
            pair: Trace(self._samples[pair], before[pair], partial(self._recall_earlier, pair)) for pair in self._told
        }

    def gaps(self, data: Any, in_contact: Mask) -> tuple[float, float]:
        """Largest distance of the pairs in contact and smallest of the others, in the state followed last [m].

        -inf and inf where there are none.
        """
        depths = dict(zip(self.groups.pairs.tolist(), self.groups.depths(data).tolist(), strict=True))
        touching = in_contact.nonzero()[0].tolist()
        largest = max(
            (depths[pair] if pair in depths else self.distance(data, pair) for pair in touching), default=-math.inf
        )
        bounds = np.where(in_contact, math.inf, self._least_distances(data))
        nearest = math.inf
        for pair in bounds.argsort().tolist():
            if bounds[pair] >= nearest:
                break
            nearest = min(nearest, self.distance(data, pair))
        return largest, nearest

    def distance(self, data: Any, pair: int) -> float:
        """Distance of a pair [m], in any state that has positions."""
        first, second = self._geoms[pair]
        distance: float = mujoco.mj_geomDistance(self._model, data, first, second, FARTHEST, self._witness)
        return distance

    def distance_apart(self, data: Any, pair: int, way: float, direction: Vector) -> float:
        """Distance with the second geom moved a way along a direction [m]; `data` is left so."""
        data.geom_xpos[self._geoms[pair][1]] += way * np.array(direction)
        return self.distance(data, pair)

    def direction(self, distance: float) -> Vector | None:
        """Unit vector from the first geom to the second where they are nearest, for the distance measured last [m].

        World frame; None where they touch.
        """
        return _direction(self._witness.tolist(), distance)

    def velocity(self, data: Any, pair: int, distance: float) -> float:
        """Rate of change of the distance measured last [m/s], in a state that has velocities; NaN where geoms touch."""
        nearest = self._witness.tolist()
        direction = _direction(nearest, distance)
        if direction is None:
            return math.nan
        nx, ny, nz = direction
        ax, ay, az, bx, by, bz = nearest
        px, py, pz = (ax + bx) / 2, (ay + by) / 2, (az + bz) / 2
        velocity, centers, velocities = 0.0, data.subtree_com, data.cvel
        for body, root, sign in self._movers[pair]:
            # cvel is taken at the centre of mass of the body's tree.
            cx, cy, cz = centers[root].tolist()
            rx, ry, rz = px - cx, py - cy, pz - cz
            wx, wy, wz, vx, vy, vz = velocities[body].tolist()
            velocity += sign * (
                nx * (vx + wy * rz - wz * ry) + ny * (vy + wz * rx - wx * rz) + nz * (vz + wx * ry - wy * rx)
            )
        return velocity

    def _sample(self, data: Any, time: float, pair: int, distance: float) -> Sample:
        """A pair in a state, for the distance measured last [m]."""
        velocity = self.velocity(data, pair, distance) if self._has_velocities else math.nan
        return Sample(time, distance, velocity)

    def _recall(self, age: int, pairs: Iterable[int]) -> dict[int, Sample]:
        """Pairs as they were some states ago."""
        past, time = self._show(self.states[age]), self.states[age][0]
        return {pair: self._sample(past, time, pair, self.distance(past, pair)) for pair in pairs}

    def _show(self, state: Poses | Motion) -> Any:
        """Data of our own with the poses and velocities of a state."""
        if self._past is None:
            self._past = mujoco.MjData(self._model)
        past = self._past
        if isinstance(state, Motion):
            end = 1 + self._model.nq
            past.qpos[:], past.qvel[:] = state.state[1:end], state.state[end : end + self._model.nv]
            past.mocap_pos[:], past.mocap_quat[:] = state.mocap
            mujoco.mj_kinematics(self._model, past)
            mujoco.mj_comPos(self._model, past)
            mujoco.mj_comVel(self._model, past)
        else:
            for array, kept in zip(poses_of(past), state[1:], strict=True):
                array.reshape(-1)[:] = np.frombuffer(kept)
        return past

    def _recall_earlier(self, pair: int) -> Sample:
        """A pair two states ago. Seldom needed, but then of several pairs that meet."""
        if self._earlier is None:
            self._earlier = self._recall(2, self._meeting) if len(self.states) > 2 else {}
        return self._earlier.get(pair, _UNKNOWN)

    def _least_distances(self, data: Any) -> Values:
        """What the distances are at least [m], (pairs,): those of spheres and planes around the geoms."""
        model, first, second = self._model, self._pairs[:, 0], self._pairs[:, 1]
        between = data.geom_xpos[second] - data.geom_xpos[first]
        least = np.linalg.norm(between, axis=1)
        for plane, way in ((first, between), (second, -between)):
            normal = data.geom_xmat.reshape(-1, 3, 3)[plane, :, 2]
            least = np.where(model.geom_type[plane] == _PLANE, np.einsum("ij,ij->i", way, normal), least)
        return least - model.geom_rbound[first] - model.geom_rbound[second]


def poses_of(data: Any) -> tuple[Any, Any, Any, Any]:
    """Where the geoms of a state are, and what their velocities follow from: views."""
    return data.geom_xpos, data.geom_xmat, data.subtree_com, data.cvel


def _direction(nearest: list[float], distance: float) -> Vector | None:
    """Unit vector between the nearest points of two geoms, (6,), at a distance [m]; None where they touch."""
    ax, ay, az, bx, by, bz = nearest
    length = math.dist((ax, ay, az), (bx, by, bz))
    if length < _TOUCHING:
        return None
    # Nearest points of geoms that penetrate have changed places.
    scale = math.copysign(1 / length, distance)
    return (bx - ax) * scale, (by - ay) * scale, (bz - az) * scale
