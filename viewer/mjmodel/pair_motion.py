"""Copies MuJoCo's contacts from time to time, and finds how the surfaces of geom pairs have moved in between."""

import ctypes
from typing import Any, NamedTuple

import mujoco
import numpy as np
from numpy.typing import NDArray

from ..sensors.contacts import cross
from ..sensors.friction import OPEN_FORCE, SLIDING_USE
from .types import MjData, MjModel

_PYRAMIDAL = int(mujoco.mjtCone.mjCONE_PYRAMIDAL)
_FIELDS = ("pos", "frame", "friction", "dim", "geom", "efc_address")
_FEW = 300
"""Number of matrices up to which numpy multiplies them fastest."""
_MOST = 2**40
"""Size that no contact list reaches [bytes]."""

_Sample = tuple[int, int, bytes, bytes, bytes]
"""Number of contacts, number of constraint forces, then contacts, constraint forces and poses as bytes."""
_NOTHING: _Sample = (0, 0, b"", b"", b"")

Values = NDArray[np.float64]
Indices = NDArray[np.intp]

LOAD, SHEAR, USED, SLIDING, POINTS = range(5)
"""Columns of `PairSamples.values`: normal force [N]; norm of the sum of the friction forces [N]; load times friction
use [N]; load on contacts whose friction is used up [N]; number of contacts that press."""


class PairSamples(NamedTuple):
    """Geom pairs that press: one row for each pair in each sample, sorted by pair and then by sample."""

    sample: Indices
    """Number of the sample, (k,)."""
    key: NDArray[np.int64]
    """Geoms of the pair as one number: see `pair_key`, (k,)."""
    values: Values
    """Load and friction: see `LOAD`, (k, 5)."""
    normal: Values
    """Unit normal, in the frame of the carrying body, (k, 3)."""
    lever: Values
    """Lever of friction against spin about the normal [m], (k,): distance of the contacts from their centre, at least
    the coefficient of torsional friction."""
    places: Values
    """Centre of the contacts, weighted by load [m], in the frames of the carrying and the carried body, (k, 2, 3)."""
    position: Values
    """Centre of mass of the carried body in the frame of the carrying one [m], (k, 3)."""
    rotation: Values
    """Orientation of the carrying body, (k, 3, 3)."""

    def take(self, rows: Indices | NDArray[np.bool_] | slice) -> "PairSamples":
        """Return some rows."""
        return PairSamples._make(part[rows] for part in self)


class PairMoves(NamedTuple):
    """Motion of the carried body relative to the carrying one at the contacts between two samples, in the carrying
    one's frame, (k, ...)."""

    slip: Values
    """Tangential displacement [m], (k, 3)."""
    spin: Values
    """Turn about the normal [rad], (k,)."""
    tilt: Values
    """Turn about the tangents [rad], (k, 3)."""


def moves_between(before: PairSamples, after: PairSamples) -> PairMoves:
    """Return how pairs moved between two samples of each, (k,) rows that belong to each other.

    The motion is the difference of poses, not a sum of velocities: motion to and fro adds nothing at any sampling rate.
    """

    turned = _product(after.rotation, before.rotation.transpose(0, 2, 1))
    turn = 0.5 * (turned[:, [2, 0, 1], [1, 2, 0]] - turned[:, [1, 2, 0], [2, 0, 1]])
    sine, cosine = np.sqrt((turn * turn).sum(axis=1)), (turned.trace(axis1=1, axis2=2) - 1) / 2
    turn *= np.where(sine > 1e-6, np.arctan2(sine, cosine) / np.where(sine > 1e-6, sine, 1.0), 1.0)[:, np.newaxis]
    # The way of the centre of mass, and of the contact around it: exact also for what rolls fast.
    arm = (before.places[:, 0] - before.position + after.places[:, 0] - after.position) / 2
    moved = after.position - before.position + cross(turn, arm)
    normal = after.normal
    moved -= (moved * normal).sum(axis=1, keepdims=True) * normal
    spin = (turn * normal).sum(axis=1)
    return PairMoves(moved, spin, turn - spin[:, np.newaxis] * normal)


def _product(first: Values, second: Values) -> Values:
    """Return products of matrices, (k, rows, 3) and (k, 3, columns), as (k, rows, columns).

    Many small ones are multiplied element by element: numpy takes twice as long for them. For few matrices numpy is
    faster.
    """
    if len(first) < _FEW:
        return first @ second
    a, b = (np.ascontiguousarray(each.transpose(1, 2, 0)) for each in (first, second))
    rows = [
        np.stack([row[0] * b[0, j] + row[1] * b[1, j] + row[2] * b[2, j] for j in range(b.shape[1])], 1) for row in a
    ]
    return np.stack(rows, axis=1)


def pair_key(model: MjModel, geoms: NDArray[np.integer[Any]]) -> NDArray[np.int64]:
    """Return pairs of geoms, (..., 2), as one number each: the smaller id times the number of geoms plus the other."""
    ordered = np.sort(np.asarray(geoms, np.int64), axis=-1)
    return np.asarray(ordered[..., 0] * model.ngeom + ordered[..., 1])


class MotionReader:
    """Copy the values that decide the motion of contacts after every step; decode many steps together."""

    def __init__(self, model: MjModel) -> None:
        self._model = model
        self._data: MjData | None = None
        # What never moves carries what does; else the larger geom carries the smaller one.
        size = np.where(model.geom_rbound > 0, model.geom_rbound, 1e6)
        self._rank = np.where(model.body_weldid[model.geom_bodyid] == 0, 1e9, 1.0) * size
        self.clear()

    def clear(self) -> None:
        """Forget the samples that were added."""
        self._samples: list[_Sample] = []
        self.size = 0
        """Size of the samples that are kept [bytes]."""

    def add(self, data: MjData) -> None:
        """Copy a step: contacts, forces and poses of the state from which it started."""
        count = data.ncon
        if not count:
            self._samples.append(_NOTHING)
            return
        if data is not self._data:
            self._data = data
            self._bodies = [array.data.cast("B") for array in (data.xipos, data.xmat)]
            self._listed, self._type = _listed_in(data)
        contacts, forces = self._listed[: count * self._type.itemsize].tobytes(), data.efc_force.tobytes()
        poses = b"".join(self._bodies)
        self.size += len(contacts) + len(forces) + len(poses)
        self._samples.append((count, len(forces) // 8, contacts, forces, poses))

    def pop_samples(self, keep: int = 0) -> PairSamples | None:
        """Decode the added samples, and keep only the last `keep`, which are decoded again with the next ones; None if
        there is no contact in them."""
        samples = self._samples
        self.clear()
        self._samples = samples[max(len(samples) - keep, 0) :]
        counts, sizes, contacts, forces, poses = zip(*samples, strict=True)
        listed_counts = np.array(counts)
        touching = np.flatnonzero(listed_counts)
        if not len(touching):
            return None
        listed = np.frombuffer(b"".join(contacts), self._type)
        rows = np.repeat(np.arange(len(touching)), listed_counts[touching])
        starts = (np.cumsum(sizes) - sizes)[touching]
        geoms, address = listed["geom"], listed["efc_address"]
        pressed = (address >= 0) & (geoms[:, 0] >= 0) & (geoms[:, 1] >= 0)
        if not pressed.all():
            listed, rows, geoms, address = listed[pressed], rows[pressed], geoms[pressed], address[pressed]
        if not len(listed):
            return None
        dim, friction, frame = listed["dim"], listed["friction"], listed["frame"]
        load, along, use = _cone_forces(
            self._model, np.frombuffer(b"".join(forces)), starts[rows] + address, dim, friction
        )
        # Contacts of one pair come one after the other.
        keys = pair_key(self._model, geoms)
        edges = np.flatnonzero(np.append(True, (keys[1:] != keys[:-1]) | (rows[1:] != rows[:-1])))
        columns = np.zeros((len(load), 14))
        columns[:, LOAD], columns[:, USED], columns[:, SLIDING] = load, load * use, load * (use >= SLIDING_USE)
        columns[:, POINTS] = load > 0
        columns[:, 5:8] = along[:, :1] * frame[:, 3:6] + along[:, 1:] * frame[:, 6:]
        columns[:, 8:11], columns[:, 11:14] = load[:, np.newaxis] * listed["pos"], load[:, np.newaxis] * frame[:, :3]
        sums = np.add.reduceat(columns, edges)
        total = np.where(sums[:, LOAD] > 0, sums[:, LOAD], 1.0)
        place = sums[:, 8:11] / total[:, np.newaxis]
        owner = np.repeat(np.arange(len(edges)), np.diff(np.append(edges, len(load))))
        apart = ((listed["pos"] - place[owner]) ** 2).sum(axis=1) * load
        lever = np.maximum(
            np.sqrt(np.add.reduceat(apart, edges) / total), np.where(dim > 3, friction[:, 2], 0.0)[edges]
        )
        values = np.column_stack(
            [sums[:, 0], np.sqrt((sums[:, 5:8] ** 2).sum(axis=1)), sums[:, USED], sums[:, SLIDING], sums[:, POINTS]]
        )
        kinematics = np.frombuffer(b"".join(poses)).reshape(len(touching), -1)
        pairs = self._located(rows[edges], geoms[edges], keys[edges], values, place, sums[:, 11:14], lever, kinematics)
        loaded = np.flatnonzero(values[:, LOAD] > 0)
        if not len(loaded):
            return None
        order = loaded[np.argsort(pairs.key[loaded], kind="stable")]
        return pairs._replace(sample=touching[pairs.sample]).take(order)

    def _located(
        self,
        rows: Indices,
        geoms: NDArray[np.int32],
        keys: NDArray[np.int64],
        values: Values,
        place: Values,
        normal: Values,
        lever: Values,
        kinematics: Values,
    ) -> PairSamples:
        """Return samples of pairs from places and normals of any length, world: `rows`: number of each pair's sample;
        `kinematics`: poses of the bodies in all samples."""
        model, bodies = self._model, self._model.nbody
        swapped = self._rank[geoms[:, 1]] > self._rank[geoms[:, 0]]
        first, second = (model.geom_bodyid[np.where(swapped, geoms[:, 1 - i], geoms[:, i])] for i in (0, 1))
        xpos = kinematics[:, : 3 * bodies].reshape(-1, bodies, 3)
        xmat = kinematics[:, 3 * bodies :].reshape(-1, bodies, 3, 3)
        origin1, origin2, turn1, turn2 = xpos[rows, first], xpos[rows, second], xmat[rows, first], xmat[rows, second]
        vectors = np.stack([normal, place - origin1, origin2 - origin1], axis=1)
        local = _product(vectors, turn1)
        own = _product((place - origin2)[:, np.newaxis], turn2)
        length = np.sqrt((local[:, 0] ** 2).sum(axis=1, keepdims=True))
        return PairSamples(
            rows,
            keys,
            values,
            local[:, 0] / np.where(length > 0, length, 1.0),
            lever,
            np.concatenate([local[:, 1:2], own], axis=1),
            local[:, 2],
            _product(turn1.transpose(0, 2, 1), turn2),
        )


def _listed_in(data: MjData) -> tuple[memoryview, np.dtype[Any]]:
    """Return the memory of the contact list of data, and the layout of a contact there.

    MuJoCo has the list at the start of an mjData's arena. One copy of it costs less than one of each field.
    """
    listed = data.contact
    start = listed.dist.__array_interface__["data"][0]
    fields = {name: getattr(listed, name) for name in _FIELDS}
    contact: dict[str, Any] = {
        "names": list(fields),
        "formats": [(array.dtype, array.shape[1:]) for array in fields.values()],
        "offsets": [array.__array_interface__["data"][0] - start for array in fields.values()],
        "itemsize": listed.dist.strides[0],
    }
    return memoryview((ctypes.c_char * _MOST).from_address(start)).cast("B"), np.dtype(contact)  # type: ignore[call-overload]


def _cone_forces(
    model: MjModel, rows: Values, addresses: Indices, dim: NDArray[np.int32], friction: Values
) -> tuple[Values, Values, Values]:
    """Return normal forces [N], (k,), friction forces along the tangents [N], (k, 2), and friction use, (k,): those
    within the friction cones, without the pull of adhesion. 0 where there is no friction.

    `rows`: constraint forces; `addresses`: where those of each contact begin.
    """
    pyramidal = model.opt.cone == _PYRAMIDAL
    counts = np.where(dim > 1, 2 * (dim - 1), 1) if pyramidal else dim
    width = np.arange(int(counts.max()))
    forces = rows[np.minimum(addresses[:, np.newaxis] + width, len(rows) - 1)]
    if (counts != len(width)).any():
        forces = np.where(width < counts[:, np.newaxis], forces, 0.0)
    along = np.zeros((len(dim), 2))
    if pyramidal:
        # Opposite edges of the pyramid: their sum presses, their difference is friction.
        normal = forces.sum(axis=1)
        sides = forces[:, 0 : len(width) - 1 : 2] - forces[:, 1::2]
        share = np.where(dim > 1, np.abs(sides).sum(axis=1), 0.0)
        along[:, : sides.shape[1]] = (sides[:, :2] * friction[:, : sides.shape[1]][:, :2]) * (dim > 1)[:, np.newaxis]
    else:
        normal = forces[:, 0]
        along[:, : len(width) - 1] = forces[:, 1:3]
        share = np.sqrt(((forces[:, 1:] / friction[:, : len(width) - 1]) ** 2).sum(axis=1))
    normal = np.maximum(normal, 0.0)
    return normal, along, share / np.where(normal > OPEN_FORCE, normal, np.inf)
