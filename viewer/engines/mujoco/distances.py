"""MuJoCo states, step by step, to the distances of followed pairs of geoms that meet or part, and to their forces."""

import math
from collections.abc import Collection, Iterable
from contextlib import suppress
from heapq import heappop, heappush
from typing import Any

import mujoco
import numpy as np
from numpy.typing import NDArray

from ...sensors.crossings import Sample, Trace
from ..following.watched_pairs import PairChoice, Pairs
from .sleeping import SLEEP

FARTHEST = 1e6
"""Beyond any scene [m]: where geoms are farther apart, this is their distance."""
_ACCELERATION = 10.0
"""How fast geoms that are apart may gather speed towards each other, for the choice of when to look again [m/s^2]."""
_REST = 0.02
"""Geoms that approach or part more slowly than this are taken to rest beside each other [m/s] ..."""
_PATIENCE = 8.0
"""... and, if they are close, not looked at for up to this many steps."""
_SLOW = 0.05
"""At less than this speed, the change from one step to the next tells the velocity well enough [m/s]."""
_MEMORY = 10.0
"""Steps after which the mean velocity since then tells nothing any more."""
_IMMINENT = 3.0
"""Pairs that may meet within this many steps have their velocities computed."""
_TOUCHING = 1e-9
"""Nearest points closer than this [m] have no direction from one to the other."""
_PYRAMIDAL = int(mujoco.mjtCone.mjCONE_PYRAMIDAL)
_NO_LIST = int(mujoco.mjtDisableBit.mjDSBL_CONTACT | mujoco.mjtDisableBit.mjDSBL_CONSTRAINT)

_NONE: set[int] = set()

Mask = NDArray[np.bool_]
Values = NDArray[np.float64]
Vector = tuple[float, float, float]


class ContactGroups:
    """The pairs in a contact list, in which the contacts of one pair come one after the other."""

    def __init__(self, model: Any, geoms: Pairs) -> None:
        """`geoms`: ids of the geoms of the followed pairs, (pairs, 2)."""
        self._options = model.opt
        self._adhesive = bool(getattr(model, "flg_adhesion", 0))
        # Contacts in the gap, and of bodies asleep, are in the list but have no constraint.
        gaps = max(model.geom_gap.max(initial=0.0), model.pair_gap.max(initial=0.0))
        self._usually_solved = gaps == 0 and not model.opt.enableflags & SLEEP and not self._adhesive
        orders = np.concatenate([geoms, geoms[:, ::-1]])
        # One number for the two geoms of a contact, in their order.
        keys = np.frombuffer(orders.astype(np.int32).tobytes(), np.int64)
        self._pairs_by_key = dict(zip(keys.tolist(), [*range(len(geoms))] * 2, strict=True))
        self.forget()

    def forget(self) -> None:
        """Take the next list for the first one."""
        self._geoms: bytes | None = None
        self.changed = True
        """Whether the list that was read last is not like the one before."""
        self._signature = b""
        self._starts = np.zeros(0, np.intp)
        self.pairs: NDArray[np.intp] = np.zeros(0, np.intp)
        """Followed pairs in the list, (k,); -1 for the others there."""
        self.listed: set[int] = set()
        """Followed pairs in the list."""

    def is_read(self, data: Any) -> bool:
        """Whether a state's contact list has the same geoms, as often and in the same order, as the one read last."""
        return bool(data.contact.geom.tobytes() == self._geoms)

    def read(self, data: Any) -> set[int]:
        """Take in a state's contact list; the followed pairs that have entered or left it."""
        geoms = data.contact.geom.tobytes()
        self.changed = geoms != self._geoms
        if not self.changed:
            return _NONE
        self._geoms = geoms
        keys = np.frombuffer(geoms, np.int64)
        edges = np.empty(len(keys), bool)
        edges[:1] = True
        np.not_equal(keys[1:], keys[:-1], out=edges[1:])
        self._starts = edges.nonzero()[0]
        keys = keys[self._starts]
        signature = keys.tobytes()
        if signature == self._signature:
            return _NONE
        self._signature = signature
        find = self._pairs_by_key.get
        pairs = [find(key, -1) for key in keys.tolist()]
        self.pairs = np.array(pairs, np.intp)
        before, self.listed = self.listed, set(pairs)
        self.listed.discard(-1)
        return before ^ self.listed

    def depths(self, data: Any) -> Values:
        """Smallest distance of the contacts of each of `pairs` [m], (k,)."""
        return np.minimum.reduceat(data.contact.dist, self._starts) if len(self._starts) else np.zeros(0)

    def forces(self, data: Any) -> Values:
        """Sum of the normal forces at the contacts of each of `pairs` [N], (k,); below 0 where adhesion pulls."""
        if not len(self._starts):
            return np.zeros(0)
        rows, address = data.efc_force, data.contact.efc_address
        pyramidal = self._options.cone == _PYRAMIDAL
        if pyramidal and self._usually_solved:
            # numpy refuses the address -1, that of a contact which only just touches: it has no constraint either.
            with suppress(IndexError):
                return self.sum_forces(rows, address)
        solved = address >= 0
        normal = np.zeros(len(address))
        if solved.any():
            normal[solved] = np.add.reduceat(rows, address[solved]) if pyramidal else rows[address[solved]]
        if self._adhesive:
            normal[solved] -= data.contact.adhesion[solved]
        return np.add.reduceat(normal, self._starts)

    def are_sums(self, address: NDArray[np.int32]) -> bool:
        """Whether `sum_forces` tells the forces, now and as long as the list is the same and as many constraints exist.

        `address`: the first row of each contact among the constraints, -1 without one.
        """
        return self._usually_solved and bool(np.minimum.reduce(address) >= 0)

    def sum_forces(self, rows: Values, address: NDArray[np.int32]) -> Values:
        """The forces in states with the list that was read last, (..., k).

        `rows`: `efc_force` of each state, (..., nefc); `address`: the first row of each contact, in all of them.
        """
        if self._options.cone == _PYRAMIDAL:
            # A normal force is the sum over the edges of its pyramid. Contacts are the last of the constraints.
            return np.add.reduceat(rows, address[self._starts], axis=-1)
        return np.add.reduceat(rows[..., address], self._starts, axis=-1)


class PairDistances:
    """Distances of pairs of geoms, followed step by step.

    As long as the same geoms touch, only pairs that may be about to meet are measured: a pair that is apart is looked
    at again shortly before it can have met, at its present speed and with some acceleration. Should it be faster, the
    contact list still tells that it has met, and only the instant before is not known.
    """

    def __init__(self, model: Any, choice: PairChoice, eps: float, has_velocities: bool = True) -> None:
        """`eps`: half the hysteresis band [m]. Without velocities, the distances of two steps have to tell them."""
        self._deep = -2 * eps
        self._has_velocities = has_velocities
        self._model = model
        self._options = model.opt
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
        self._unsure = (~choice.able | (margins > 0)).nonzero()[0].tolist()
        self._witness = np.zeros(6)
        self.reset()

    def reset(self) -> None:
        """Forget all distances: the state has jumped."""
        count = len(self._geoms)
        self.groups.forget()
        self._times = (math.nan, math.nan, math.nan)
        # Time [s], distance [m], its rate of change and the speed of approach [m/s] of each pair when it was last
        # looked at, and the two times before.
        self._samples = [[(-math.inf, math.nan, math.nan, 0.0)] * count for _ in range(3)]
        # When each pair is to be looked at again, and the same as a heap, in which former times may remain.
        self._due = [-math.inf] * count
        self._agenda = [(-math.inf, pair) for pair in range(count)]
        self._told: list[int] = []

    def follow(self, data: Any, time: float, in_contact: Mask) -> bool:
        """Take in a state whose positions, contacts and velocities belong together; whether pairs may meet or part.

        `time` is that of the state [s], `in_contact` the pairs that were in contact before it, (pairs,).
        """
        self._times = (time, *self._times[:2])
        pairs = self._choose(data, time, in_contact)
        self.measured_count = len(pairs)
        self._told.clear()
        self._look_at(data, time, pairs, in_contact)
        return bool(self._told)

    def skip(self, data: Any, time: float) -> bool:
        """As `follow`, if no pair has to be looked at in the state; whether that is so, else nothing is taken in."""
        agenda = self._agenda
        if (
            self._unsure
            or (agenda and agenda[0][0] <= time)
            or self._options.disableflags & _NO_LIST
            or not self.groups.is_read(data)
        ):
            return False
        self._times = (time, *self._times[:2])
        self.measured_count = 0
        self._told.clear()
        return True

    def start(self) -> tuple[float, Values, Values]:
        """Time [s], distances [m] and velocities [m/s], (pairs,) each, of the first state after a reset."""
        samples = np.array(self._samples[0]).reshape(-1, 4)
        return self._times[0], samples[:, 1], samples[:, 2]

    def traces(self) -> dict[int, Trace]:
        """The last three states of the pairs that may meet or part now."""
        traces = {}
        now, past, passed = self._times
        latest, before, earlier = self._samples
        for pair in self._told:
            _, distance, velocity, _ = latest[pair]
            samples = [Sample(now, distance, velocity)]
            known = (before[pair], earlier[pair])
            for time in (past, passed):
                # A state in which the pair was not looked at keeps the distance known last.
                _, distance, velocity, _ = next(
                    (each for each in known if each[0] == time), (0.0, known[0][1], math.nan, 0.0)
                )
                samples.append(Sample(time, distance, velocity))
            traces[pair] = (samples[0], samples[1], samples[2])
        return traces

    def gaps(self, data: Any, time: float, in_contact: Mask) -> tuple[float, float]:
        """Largest distance of the pairs in contact and smallest of the others, in the state followed last [m].

        -inf and inf where there are none.
        """
        times, distances, _, speeds = np.array(self._samples[0]).reshape(-1, 4).T
        listed = self.groups.pairs >= 0
        distances[self.groups.pairs[listed]] = self.groups.depths(data)[listed]
        largest = float(distances.max(where=in_contact, initial=-math.inf))
        elapsed = time - times
        bounds = np.where(in_contact, math.inf, distances - elapsed * (speeds + elapsed * _ACCELERATION / 2))
        nearest = math.inf
        while bounds.min(initial=math.inf) < nearest:
            pair = int(bounds.argmin())
            nearest = min(nearest, self.distance(data, pair))
            bounds[pair] = math.inf
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

    def _choose(self, data: Any, time: float, in_contact: Mask) -> Collection[int]:
        """The pairs to look at in a state."""
        # What the list says of a change is checked: contacts that MuJoCo adds around the deepest one of two convex
        # geoms can be off in depth.
        pairs = self.groups.read(data).union(self._unsure)
        listed, agenda = self.groups.listed, self._agenda
        # Without velocities, only a look at the step before tells how a pair parts.
        settles = self._has_velocities
        while agenda and agenda[0][0] <= time:
            due, pair = heappop(agenda)
            if due == self._due[pair] and not (settles and pair in listed and in_contact.item(pair)):
                pairs.add(pair)
        return range(len(self._geoms)) if self._options.disableflags & _NO_LIST else pairs

    def _look_at(self, data: Any, time: float, pairs: Iterable[int], in_contact: Mask) -> None:
        """Measure pairs, decide when to do so again, and note which of them may meet or part."""
        # This runs for many pairs after every step: what does not depend on the pair is fetched once.
        model, geoms, witness, measure = self._model, self._geoms, self._witness, mujoco.mj_geomDistance
        latest, before, earlier = self._samples
        step, deep, has_velocities = self._options.timestep, self._deep, self._has_velocities
        for pair in pairs:
            first, second = geoms[pair]
            distance = measure(model, data, first, second, FARTHEST, witness)
            last = latest[pair]
            # As long as the pair is not about to meet or part, the mean velocity since the last look tells enough.
            elapsed = time - last[0]
            velocity = (distance - last[1]) / elapsed
            rests = -_REST < velocity < _REST
            speed = -velocity if rests else _ACCELERATION * elapsed / 2 - velocity
            if not speed > 0:
                speed = 0.0
            if not (elapsed < 1.5 * step and (-_SLOW < velocity < _SLOW or not has_velocities)):
                certain = elapsed < _MEMORY * step and last[1] > 0 and distance > _IMMINENT * step * speed
                velocity = math.nan
                if has_velocities and not certain:
                    velocity = self.velocity(data, pair, distance)
                    speed = -velocity if velocity < 0 else 0.0
            earlier[pair] = before[pair]
            before[pair] = last
            latest[pair] = (time, distance, velocity, speed)
            due = time - 2 * step
            if distance > 0:
                # Two steps early, so that the states before a meeting are known.
                wait = (math.sqrt(speed * speed + 2 * _ACCELERATION * distance) - speed) / _ACCELERATION
                due += max(wait, min(4 * wait, _PATIENCE * step)) if rests else wait
            self._due[pair] = due
            heappush(self._agenda, (due, pair))
            if distance > 0 if in_contact.item(pair) else distance < deep:
                self._told.append(pair)


def _direction(nearest: list[float], distance: float) -> Vector | None:
    """Unit vector between the nearest points of two geoms, (6,), at a distance [m]; None where they touch."""
    ax, ay, az, bx, by, bz = nearest
    length = math.dist((ax, ay, az), (bx, by, bz))
    if length < _TOUCHING:
        return None
    # Nearest points of geoms that penetrate have changed places.
    scale = math.copysign(1 / length, distance)
    return (bx - ax) * scale, (by - ay) * scale, (bz - az) * scale
