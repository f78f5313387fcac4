"""A MuJoCo state to distances, normal velocities and forces of watched pairs of geoms, computing as few as it can."""

from typing import Any

import mujoco
import numpy as np
from numpy.typing import NDArray

from ..sensors.contacts import cross
from .pairs import Mask, Pairs

FARTHEST = 1e6
"""Beyond any scene [m]: where geoms are farther apart, this is their distance."""
_AHEAD = 3.0
"""Pairs that could meet within this many steps like the last one are measured, not bounded."""
_TOUCHING = 1e-9
"""Nearest points closer than this [m] have no direction from one to the other."""

Indices = NDArray[np.intp]
Values = NDArray[np.float64]


class PairDistances:
    """Distances of pairs of geoms, followed step by step.

    A pair that stays in contact has the distance of its deepest contact in the engine's list. Of the others only
    those are measured that could be close: no distance changes by more than its two geoms move. The rest get that
    lower bound, which is positive. The nearest pair that is apart is always measured, so that it is known how near.
    """

    def __init__(self, model: Any, pairs: Pairs) -> None:
        """`pairs`: ids of two geoms each, (pairs, 2)."""
        self._model = model
        self.geoms = np.array(pairs, np.intp).reshape(-1, 2)
        count = len(self.geoms)
        self.distances: Values = np.empty(count)
        """Between the surfaces [m], (pairs,); negative when they penetrate."""
        self.velocities: Values = np.empty(count)
        """Rate of change of the distance [m/s], (pairs,); NaN where not measured."""
        self.forces: Values = np.zeros(count)
        """Sum of the normal forces at a pair's contacts [N], (pairs,); below 0 where adhesion pulls."""
        self.measured = 0
        """Pairs that were measured in the last state."""
        self._first, self._second = self.geoms[:, 0].copy(), self.geoms[:, 1].copy()
        keys = np.concatenate([self._keys(self.geoms), self._keys(self.geoms[:, ::-1])])
        order = np.argsort(keys)
        # The last key is larger than any, so that no search ends past it.
        self._sorted_keys = np.append(keys[order], np.iinfo(np.int64).max)
        self._sorted_pairs = np.append(order % max(count, 1), 0)
        # By how much a geom's farthest point moves when its rotation changes. A plane has no farthest point.
        arms = np.where(model.geom_type == mujoco.mjtGeom.mjGEOM_PLANE, FARTHEST, model.geom_rbound)
        self._weights = np.ones((model.ngeom, 12))
        self._weights[:, 3:] = arms[:, np.newaxis] / np.sqrt(2)
        self._poses, self._last_poses = np.zeros((2, model.ngeom, 12))
        self._paths = np.zeros(model.ngeom)
        self._travels, self._last_travels = np.zeros((2, count))
        self._limits = np.empty(count)
        self._witness = np.zeros(6)
        self.reset()

    def reset(self) -> None:
        """Forget all distances: the state has jumped."""
        self._paths[:] = 0.0
        self._travels[:] = 0.0
        self._last_poses[:] = self._poses[:] = np.nan
        self._limits[:] = -np.inf

    def measure(self, data: Any, in_contact: Mask, pressed: Any = None) -> None:
        """Take in a state whose positions, contacts and velocities belong together.

        `in_contact`: the pairs that were in contact before, (pairs,). Where that has changed, the distance is
        measured: contacts that MuJoCo adds around the deepest one of a convex pair can be off in depth.
        `pressed`: the state that holds the forces, if it is another one.
        """
        self._move(data)
        bounds = np.subtract(self._limits, self._travels, out=self.distances)
        close = ~(bounds >= _AHEAD * (self._travels - self._last_travels))
        self.velocities.fill(np.nan)
        pairs, contacts = self._listed(data)
        if len(pairs):
            close[pairs] = True
            close[self._take_listed(data, pairs, contacts, in_contact)] = False
        if pressed is not None:
            data_pressed, (pairs, contacts) = pressed, self._listed(pressed)
        else:
            data_pressed = data
        self._press(data_pressed, pairs, contacts)
        self._measure(data, close.nonzero()[0])
        self._measure_nearest(data, close, in_contact)

    def distance(self, data: Any, pair: int) -> float:
        """Distance of a pair [m], measured in any state that has positions."""
        return float(
            mujoco.mj_geomDistance(
                self._model, data, self._first.item(pair), self._second.item(pair), FARTHEST, self._witness
            )
        )

    def velocity(self, data: Any, pair: int, distance: float) -> float:
        """Rate of change of the distance that was measured last [m/s], in a state that has velocities too."""
        return float(self._closing(data, np.array([pair]), np.array([distance]), self._witness[np.newaxis])[0])

    def _keys(self, geoms: NDArray[Any]) -> NDArray[np.int64]:
        """One number for two geoms in their order. The -1 that stands for a flex makes a number that is no pair's."""
        return (geoms[:, 0] + np.int64(1)) * (self._model.ngeom + 1) + (geoms[:, 1] + 1)

    def _move(self, data: Any) -> None:
        """Add up how far each geom, and so each pair, has moved at most."""
        self._poses, self._last_poses = self._last_poses, self._poses
        self._travels, self._last_travels = self._last_travels, self._travels
        self._poses[:, :3] = data.geom_xpos
        self._poses[:, 3:] = data.geom_xmat
        change = self._poses - self._last_poses
        change *= self._weights
        # A point moves with its geom's centre, and about it by the spectral norm of the rotation's change at most.
        path = np.sqrt(2 * np.einsum("ij,ij->i", change, change))
        if not np.isnan(path[0]):
            self._paths += path
        np.add(self._paths[self._first], self._paths[self._second], out=self._travels)

    def _listed(self, data: Any) -> tuple[Indices, Indices]:
        """Watched pairs in the contact list, one for each of their contacts, and those contacts' indices, (k,) each.

        Contacts without a constraint, such as those in the gap, are left out.
        """
        contact = data.contact
        keys = self._keys(contact.geom)
        places = self._sorted_keys.searchsorted(keys)
        contacts = ((self._sorted_keys[places] == keys) & (contact.efc_address >= 0)).nonzero()[0]
        return self._sorted_pairs[places[contacts]], contacts

    def _take_listed(self, data: Any, pairs: Indices, contacts: Indices, in_contact: Mask) -> Indices:
        """Set distances and velocities of listed pairs that stay in contact; returns which these are."""
        contact = data.contact
        depths = contact.dist[contacts]
        stays = in_contact[pairs] & (depths < 0)
        pairs, contacts, depths = pairs[stays], contacts[stays], depths[stays]
        self.distances[pairs] = 0.0
        np.minimum.at(self.distances, pairs, depths)
        deepest = depths == self.distances[pairs]
        pairs, contacts = pairs[deepest], contacts[deepest]
        address = contact.efc_address[contacts]
        speeds = data.efc_vel[address]
        if self._model.opt.cone == mujoco.mjtCone.mjCONE_PYRAMIDAL:
            # Two opposite edges lean to either side of the normal.
            speeds = (speeds + data.efc_vel[address + (contact.dim[contacts] > 1)]) / 2
        self.velocities[pairs] = speeds
        self._limits[pairs] = self.distances[pairs] + self._travels[pairs]
        return pairs

    def _press(self, data: Any, pairs: Indices, contacts: Indices) -> None:
        """Set the forces of listed pairs."""
        if not len(pairs):
            self.forces.fill(0.0)
            return
        contact, force = data.contact, data.efc_force
        address = contact.efc_address
        if self._model.opt.cone == mujoco.mjtCone.mjCONE_PYRAMIDAL:
            # The normal force is the sum over the pyramid's edges. Contacts are the last of the constraints.
            solved = address >= 0
            normal = np.add.reduceat(force, address[solved])[np.cumsum(solved)[contacts] - 1]
        else:
            normal = force[address[contacts]]
        if hasattr(contact, "adhesion"):
            normal = normal - contact.adhesion[contacts]
        self.forces = np.bincount(pairs, normal, len(self.geoms))

    def _measure(self, data: Any, pairs: Indices) -> None:
        """Set distances and velocities of pairs by the shapes of their geoms."""
        self.measured = len(pairs)
        if not len(pairs):
            return
        distances, witnesses = np.empty(len(pairs)), np.empty((len(pairs), 6))
        for i, pair in enumerate(pairs.tolist()):
            distances[i] = self.distance(data, pair)
            witnesses[i] = self._witness
        self.distances[pairs] = distances
        self._limits[pairs] = distances + self._travels[pairs]
        self.velocities[pairs] = self._closing(data, pairs, distances, witnesses)

    def _measure_nearest(self, data: Any, measured: Mask, in_contact: Mask) -> None:
        """Measure further pairs until the nearest of those apart is among them."""
        apart = ~in_contact
        nearest = self.distances.min(where=measured & apart, initial=np.inf)
        bounds = np.where(apart & ~measured, self.distances, np.inf)
        while bounds.min(initial=np.inf) < nearest:
            pair = int(bounds.argmin())
            distance = self.distance(data, pair)
            self.distances[pair] = distance
            self._limits[pair] = distance + self._travels[pair]
            nearest = min(nearest, distance)
            bounds[pair] = np.inf
            self.measured += 1

    def _closing(self, data: Any, pairs: Indices, distances: Values, witnesses: Values) -> Values:
        """Rates of change of distances [m/s], (k,), by the nearest points of both geoms, (k, 6)."""
        start, end = witnesses[:, :3], witnesses[:, 3:]
        offset = end - start
        length = np.sqrt(np.square(offset).sum(axis=1))
        length[length < _TOUCHING] = np.nan
        # From the first geom to the second; the nearest points of geoms that penetrate have changed places.
        normal = offset * (np.sign(distances) / length)[:, np.newaxis]
        bodies = self._model.geom_bodyid[self.geoms[pairs]]
        arms = ((start + end) / 2)[:, np.newaxis] - data.subtree_com[self._model.body_rootid[bodies]]
        velocities = data.cvel[bodies, 3:] + cross(data.cvel[bodies, :3], arms)
        closing: Values = ((velocities[:, 1] - velocities[:, 0]) * normal).sum(axis=1)
        return closing
