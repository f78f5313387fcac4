"""Read the tracked pairs of geoms and the forces between them from MuJoCo's contact list."""

from itertools import pairwise
from typing import Any, NamedTuple

import mujoco
import numpy as np
from numpy.typing import NDArray

from .pair_selection import Pairs
from .state import SLEEP
from .types import MjData, MjModel

_PYRAMIDAL = int(mujoco.mjtCone.mjCONE_PYRAMIDAL)
_NONE = frozenset[int]()
_MOST_LISTS = 1024
"""Most lookups of contact lists that are kept: a scene usually alternates between a few lists."""

Values = NDArray[np.float64]


class ContactList:
    """The pairs in a contact list, in which the contacts of one pair come one after the other."""

    def __init__(self, model: MjModel, geoms: Pairs) -> None:
        """`geoms`: ids of the geoms of the tracked pairs, (pairs, 2)."""
        self._options = model.opt
        self._adhesive = bool(getattr(model, "flg_adhesion", 0))
        # Contacts in the gap, and of bodies asleep, are in the list but have no constraint.
        gaps = max(model.geom_gap.max(initial=0.0), model.pair_gap.max(initial=0.0))
        self._usually_solved = gaps == 0 and not model.opt.enableflags & SLEEP and not self._adhesive
        """True if the contacts in a list are usually all solved."""
        orders = np.concatenate([geoms, geoms[:, ::-1]])
        # One number for the two geoms of a contact, in their order; the last one is that of no geoms.
        keys = np.append(np.frombuffer(orders.astype(np.int32).tobytes(), np.int64), np.iinfo(np.int64).max)
        order = keys.argsort()
        self._keys, self._pairs = keys[order], np.append(np.tile(np.arange(len(geoms)), 2), -1)[order]
        self._known: dict[bytes, tuple[NDArray[np.intp], NDArray[np.intp], frozenset[int]]] = {}
        self.forget()

    def forget(self) -> None:
        """Treat the next list as the first one."""
        self._geoms: bytes | None = None
        self.changed = True
        """True if the list that was read last differs from the one before."""
        self._starts = np.zeros(0, np.intp)
        self.pairs: NDArray[np.intp] = np.zeros(0, np.intp)
        """Tracked pairs in the list, (k,); -1 for a listed pair that is not tracked."""
        self.listed: frozenset[int] = frozenset()
        """Tracked pairs in the list."""

    def read(self, data: MjData) -> frozenset[int]:
        """Read a state's contact list; return the tracked pairs that have entered or left it."""
        geoms = data.contact.geom.tobytes()
        self.changed = geoms != self._geoms
        if not self.changed:
            return _NONE
        self._geoms = geoms
        if geoms not in self._known:
            if len(self._known) == _MOST_LISTS:
                self._known.clear()
            self._known[geoms] = self._look_up(geoms)
        before = self.listed
        self._starts, self.pairs, self.listed = self._known[geoms]
        return before ^ self.listed

    def has_same_pairs(self, data: MjData) -> bool:
        """Return True if a state's contact list has the tracked pairs that the list read last has."""
        geoms = data.contact.geom.tobytes()
        if geoms not in self._known:
            return False
        return self._known[geoms][2] == self.listed

    def _look_up(self, geoms: bytes) -> tuple[NDArray[np.intp], NDArray[np.intp], frozenset[int]]:
        """Return where the contacts of each pair in a list begin, the pairs, and those that are tracked."""
        keys = np.frombuffer(geoms, np.int64)
        edges = np.ones(len(keys), bool)
        np.not_equal(keys[1:], keys[:-1], out=edges[1:])
        starts = edges.nonzero()[0]
        keys = keys[starts]
        places = self._keys.searchsorted(keys)
        pairs = self._pairs[places]
        pairs[self._keys[places] != keys] = -1
        return starts, pairs, frozenset(pairs.tolist()) - {-1}

    def ranges(self) -> list[range]:
        """Return the indices in the list of the contacts of each of `pairs`."""
        ends = [*self._starts.tolist(), len(self._geoms or b"") // 8]
        return [range(start, stop) for start, stop in pairwise(ends)]

    def depths(self, data: MjData) -> Values:
        """Return the smallest distance of the contacts of each of `pairs` [m], (k,)."""
        return np.minimum.reduceat(data.contact.dist, self._starts) if len(self._starts) else np.zeros(0)

    def forces(self, data: MjData) -> Values:
        """Return the sum of the normal forces at the contacts of each of `pairs` [N], (k,); below 0 where adhesion
        pulls."""
        if not len(self._starts):
            return np.zeros(0)
        rows, address = data.efc_force, data.contact.efc_address
        pyramidal = self._options.cone == _PYRAMIDAL
        solved = address >= 0
        normal = np.zeros(len(address))
        if solved.any():
            normal[solved] = np.add.reduceat(rows, address[solved]) if pyramidal else rows[address[solved]]
        if self._adhesive:
            normal[solved] -= data.contact.adhesion[solved]
        return np.add.reduceat(normal, self._starts)

    def summation(self, data: MjData) -> "ForceSummation | None":
        """Return the computation of forces from `efc_force`, in this state and as long as the list is the same and
        as many constraints exist; None where they cannot be summed up later."""
        address = data.contact.efc_address
        # A contact that only just touches has no constraint, and the address -1.
        if not self._usually_solved or (len(address) and np.minimum.reduce(address) < 0):
            return None
        if self._options.cone == _PYRAMIDAL:
            # A normal force is the sum over the edges of its pyramid. Contacts are the last of the constraints.
            return ForceSummation(None, address[self._starts])
        return ForceSummation(address.copy(), self._starts)


class ForceSummation(NamedTuple):
    """Computation of the forces of pairs from those of constraints."""

    rows: NDArray[np.int32] | None
    """Indices of the constraints that are summed up, in order; None for all."""
    starts: NDArray[Any]
    """First constraint of each pair, (k,)."""

    def __call__(self, constraint_forces: Values) -> Values:
        """Return the forces of pairs [N], (..., k), from those of constraints, (..., nefc)."""
        if self.rows is not None:
            constraint_forces = constraint_forces[..., self.rows]
        return np.add.reduceat(constraint_forces, self.starts, axis=-1)
