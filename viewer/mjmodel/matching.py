"""Turns `mjData.contact` into the contacts that a sensor matches, and into its array."""

import math
from collections.abc import Sequence
from dataclasses import dataclass
from functools import cache, cached_property
from typing import Any, NamedTuple

import mujoco
import numpy as np
from numpy.typing import NDArray

from ..sensors.contacts import Array, ContactBatch, cross
from ..sensors.layout import ContactLayout, Field
from ..settings import Reduce
from .flexes import flex_bodies, flex_velocities
from .names import sensor_targets

Indices = NDArray[np.intp]
Mask = NDArray[np.bool_]

# Two rules that differ between versions, which no symbol shows.
_FLEX_HAS_BODIES = mujoco.mj_version() >= 3_010_000
"""True if a contact of a flex matches the bodies of its vertices; in older releases of MuJoCo it matches only sensors
without targets."""
_FEW = 1024
"""Number of comparisons up to which doing all of them is faster than sorting."""
_NETFORCE_CAN_BE_EMPTY = mujoco.mj_version() >= 3_016_000
"""True if the slot of netforce is zero without matches; older releases left normal and tangent in it."""


@dataclass(frozen=True, eq=False)
class Matches:
    """Contacts that a sensor matches, and which of them it reverses."""

    contacts: Indices
    """Indices into `mjData.contact`, (k,)."""
    flipped: Mask
    """True for contacts reported with the normal reversed, so that it points from object 1 to object 2, (k,)."""

    def take(self, index: Indices | slice) -> "Matches":
        """Return a part of the contacts, or all in another order."""
        return Matches(self.contacts[index], self.flipped[index])


@dataclass(frozen=True, eq=False)
class Selection:
    """Division of a sensor's matches into reported and dropped ones."""

    reported: Matches
    """Matches in the order of the sensor's slots; for netforce, the contacts that are merged."""
    dropped: Matches
    """Matches without a slot, in the order in which further slots would hold them."""


class ContactMatcher:
    """Finds the contacts that one sensor matches, for the targets that the sensor has when the matcher is made."""

    def __init__(self, model: mujoco.MjModel, sensor_id: int | None) -> None:
        """If `sensor_id` is None, every contact matches, as for a sensor without targets."""
        self._model = model
        if sensor_id is not None and model.sensor_type[sensor_id] != mujoco.mjtSensor.mjSENS_CONTACT:
            raise ValueError(f"sensor {sensor_id} is not a contact sensor")
        self._targets = first, _ = sensor_targets(model, sensor_id)
        self._site = first[1] if first[0] == mujoco.mjtObj.mjOBJ_SITE else None
        self._by_geoms = self._site is None and not model.nflex
        """True if the geoms of a contact alone decide whether it matches."""
        self._last: tuple[bytes, Matches] | None = None
        """Geoms of the contacts that were matched last, and the result."""

    # Made when first asked for: each holds a value for every geom and body, and most sensors are never matched.
    @cached_property
    def _first(self) -> "Target":
        return Target(self._model, *self._targets[0])

    @cached_property
    def _second(self) -> "Target":
        return Target(self._model, *self._targets[1])

    @property
    def has_site(self) -> bool:
        """True if only contacts within a site match."""
        return self._site is not None

    @property
    def sides(self) -> tuple[Mask, Mask]:
        """Masks of the geoms that each side of the sensor covers, (ngeom + 1,) each; the last value is for a flex."""
        return self._first.geoms, self._second.geoms

    def match(self, data: mujoco.MjData, anywhere: bool = False) -> Matches:
        """Return every matching contact in the engine's order, also those without force (in the gap).

        `anywhere`: also contacts outside the site of a sensor that has one.
        """
        contact = data.contact
        geoms = contact.geom
        key = geoms.tobytes() if self._by_geoms else None
        if key is not None and self._last is not None and key == self._last[0]:
            # From one step to the next the same geoms touch nearly always.
            return self._last[1]
        first, second = self._first.geoms[geoms], self._second.geoms[geoms]
        if self._model.nflex and _FLEX_HAS_BODIES:
            for side in (0, 1):
                flexes = np.flatnonzero(contact.geom[:, side] < 0)
                bodies = flex_bodies(self._model, data, flexes, side)
                first[flexes, side], second[flexes, side] = self._first.bodies[bodies], self._second.bodies[bodies]
        # A missing target and a site cover both sides, so these two lines hold for every combination.
        in_order = first[:, 0] & second[:, 1]
        in_reverse = first[:, 1] & second[:, 0]
        contacts = np.flatnonzero(in_order | in_reverse)
        if self._site is not None and not anywhere:
            contacts = contacts[inside_site(self._model, data, self._site, contact.pos[contacts])]
        # Where both orders fit (one subtree, overlapping targets), the native direction stays.
        matches = Matches(contacts, ~in_order[contacts])
        if key is not None:
            self._last = key, matches
        return matches


ListedGeoms = tuple[bytes, bytes, bytes, bytes] | None
"""Positions, distances, normals and geoms of the contacts in a list, as bytes; None for an empty list."""


class GeomReader:
    """Copies the parts of the contact list that `ListedContacts` needs: which geoms touch, and where."""

    def __init__(self) -> None:
        self._data: mujoco.MjData | None = None
        self._count = -1
        self._copies: tuple[Any, ...] = ()
        """Functions that copy positions, distances, normals and geoms of `_count` contacts. MuJoCo keeps its list in
        one place, so views of it stay valid: to copy one takes 0.6 µs, with a new view 4.5 µs."""

    def __call__(self, data: mujoco.MjData) -> ListedGeoms:
        count = data.ncon
        if not count:
            return None
        if data is not self._data or count != self._count:
            contact = data.contact
            self._data, self._count = data, count
            arrays = contact.pos, contact.dist, contact.frame[:, :3], contact.geom
            self._copies = tuple(array.tobytes for array in arrays)
        positions, distances, normals, geoms = self._copies
        return positions(), distances(), normals(), geoms()


class ReportedContacts(NamedTuple):
    """Contacts that sensors report in some steps."""

    steps: Indices
    """Number of the step, (n,)."""
    pos: Array
    """Position [m], world, (n, 3)."""
    dist: Array
    """Distance [m], (n,)."""
    normal: Array
    """Normal, world, (n, 3)."""

    def take(self, index: Indices) -> "ReportedContacts":
        """Return some of the matches."""
        return ReportedContacts(self.steps[index], self.pos[index], self.dist[index], self.normal[index])

    @property
    def places(self) -> Array:
        """Step and position, (n, 4)."""
        return np.column_stack([self.steps, self.pos])


class ListedContacts:
    """The contact lists of some steps, in which the contacts that sensors report are found by their positions."""

    def __init__(self, lists: Sequence[ListedGeoms]) -> None:
        """`lists`: as a `GeomReader` copied them in each step."""
        read = [(step, listed) for step, listed in enumerate(lists) if listed is not None]
        parts = [b"".join(part) for part in zip(*(listed for _, listed in read), strict=True)] or [b""] * 4
        points, self._normals = (np.frombuffer(parts[i]).reshape(-1, 3) for i in (0, 2))
        self._distances = np.frombuffer(parts[1])
        self._geoms = np.frombuffer(parts[3], np.int32).reshape(-1, 2)
        steps = np.repeat([float(step) for step, _ in read], [len(listed[1]) // 8 for _, listed in read])
        self._places = np.column_stack([steps, points])
        """Step and position of each contact, (m, 4)."""

    def geoms(self, contacts: ReportedContacts, sensors: Sequence[tuple[Indices, Mask, Mask]]) -> Indices:
        """Return the ids of the two geoms of each reported contact, (n, 2), that on the sensor's side 1 first; -1
        where the list of the step has no such contact.

        `sensors`: for each sensor, the indices of its contacts, and a mask of geoms for each side, (ngeom + 1,).
        """
        if not len(self._places):
            return np.full((len(contacts.steps), 2), -1)
        found = find_rows(self._places, contacts.places)
        if _has_twins(self._places):
            for members, first, second in sensors:
                mine = np.flatnonzero(_covered(self._geoms, first, second))
                place = self._find_twins(mine, contacts.take(members))
                found[members] = np.where(place >= 0, mine[place], -1) if len(mine) else -1
        geoms = np.where((found >= 0)[:, np.newaxis], self._geoms[found], -1)
        for members, first, second in sensors:
            # A late sensor may report a place at which others touch now.
            geoms[members[~_covered(geoms[members], first, second)]] = -1
        # A sensor turns a contact so that its normal points from object 1 to object 2.
        turned = (contacts.normal * self._normals[found]).sum(axis=1) < 0
        geoms[turned] = geoms[turned, ::-1]
        return geoms

    def _find_twins(self, listed: Indices, contacts: ReportedContacts) -> Indices:
        """Return the indices in the lists of one sensor's contacts, where several contacts are at one position."""
        table = _numbered(np.column_stack([self._places[listed], self._distances[listed]]))
        return find_rows(table, _numbered(np.column_stack([contacts.places, contacts.dist])))


def _has_twins(rows: Array) -> bool:
    """Return True if any two rows are equal."""
    ordered = rows[np.lexsort(rows.T)]
    return bool((ordered[1:] == ordered[:-1]).all(axis=1).any())


def _numbered(rows: Array) -> Array:
    """Return rows with one more column: the number of equal rows before each row."""
    order = np.lexsort(rows.T)
    ordered = rows[order]
    starts = np.ones(len(rows), bool)
    starts[1:] = (ordered[1:] != ordered[:-1]).any(axis=1)
    counts = np.arange(len(rows))
    ranks = np.empty(len(rows))
    ranks[order] = counts - np.maximum.accumulate(np.where(starts, counts, 0))
    return np.column_stack([rows, ranks])


def _covered(geoms: NDArray[Any], first: Mask, second: Mask) -> Mask:
    """Return True for pairs of geoms, (n, 2), of which each side of a sensor covers one, (n,)."""
    return (first[geoms[:, 0]] & second[geoms[:, 1]]) | (first[geoms[:, 1]] & second[geoms[:, 0]])


def subtree(model: mujoco.MjModel, body: int) -> Mask:
    """Return True for the bodies of a subtree, (nbody,); body -1 has none."""
    ancestors = np.arange(model.nbody)
    # Parents come before their children: climb until nothing is beyond the body. Nothing climbs beyond the world.
    while (below := ancestors > max(body, 0)).any():
        ancestors[below] = model.body_parentid[ancestors[below]]
    return ancestors == body


class Target:
    """Objects that one side of a sensor covers."""

    geoms: Mask
    """Mask of geoms, (ngeom + 1,); the last value is for the -1 of a flex."""
    bodies: Mask
    """Mask of bodies, for flexes, (nbody,)."""

    def __init__(self, model: mujoco.MjModel, kind: int, target: int) -> None:
        self.geoms = np.zeros(model.ngeom + 1, dtype=bool)
        self.bodies = np.zeros(model.nbody, dtype=bool)
        if kind in (mujoco.mjtObj.mjOBJ_UNKNOWN, mujoco.mjtObj.mjOBJ_SITE):
            self.geoms[:] = self.bodies[:] = True
        elif kind == mujoco.mjtObj.mjOBJ_GEOM:
            self.geoms[target] = True
        else:
            is_subtree = kind == mujoco.mjtObj.mjOBJ_XBODY
            self.bodies = subtree(model, target) if is_subtree else np.arange(model.nbody) == target
            self.geoms[:-1] = self.bodies[model.geom_bodyid]


def select(model: mujoco.MjModel, data: mujoco.MjData, matches: Matches, reduce: Reduce, slots: int) -> Selection:
    """Divide the matches into those that a sensor with this many slots reports and those that it drops."""
    if reduce is Reduce.NETFORCE:
        return Selection(reported=matches, dropped=matches.take(slice(0, 0)))
    if reduce is Reduce.MINDIST:
        ranked = matches.take(np.argsort(data.contact.dist[matches.contacts], kind="stable"))
    elif reduce is Reduce.MAXFORCE:
        normal, tangent0, tangent1 = contact_forces(model, data, matches.contacts)[:, :3].T
        # The engine's own expression: contacts that tie there must tie here, and then keep their order.
        ranked = matches.take(np.argsort(-(normal * normal + tangent0 * tangent0 + tangent1 * tangent1), kind="stable"))
    else:
        ranked = matches
    return Selection(reported=ranked.take(slice(slots)), dropped=ranked.take(slice(slots, None)))


def locate(data: mujoco.MjData, positions: Array, among: Indices | None = None) -> Indices:
    """Return the index in `mjData.contact` of the contact at exactly each position (n, 3); -1 if there is none.

    `among` are the contacts to search, all by default; of several at one position it is the first.
    A sensor's array can be of another state than `mjData.contact`: with a delay or an interval, while its objects
    sleep, and after a step with RK4, which leaves the contacts of its last stage.
    """
    if among is None:
        among = np.arange(data.ncon)
    found = find_rows(data.contact.pos[among], positions)
    return np.where(found >= 0, among[found], -1) if len(among) else found


def find_rows(table: Array, wanted: Array) -> Indices:
    """Return the index of the first row of a table, (m, c), that equals each wanted row, (n, c); -1 if there is none,
    (n,)."""
    if len(table) * len(wanted) <= _FEW:
        same = (table == np.asarray(wanted)[:, np.newaxis]).all(axis=2)
        return np.where(same.any(axis=1), same.argmax(axis=1), -1) if len(table) else np.full(len(wanted), -1)
    points = np.concatenate([table, wanted])
    order = np.lexsort(points.T)
    ordered = points[order]
    starts = np.ones(len(points), dtype=bool)
    starts[1:] = (ordered[1:] != ordered[:-1]).any(axis=1)
    # The sort is stable: a run of equal points begins with the first one of the table, if it has one.
    first = np.empty(len(points), dtype=np.intp)
    first[order] = order[np.flatnonzero(starts)[np.cumsum(starts) - 1]]
    found = first[len(table) :]
    return np.where(found < len(table), found, -1)


@cache
def full_layout(slots: int, reduce: Reduce = Reduce.NONE) -> ContactLayout:
    """Return the layout with all fields that the installed MuJoCo has for a reduce mode."""
    known = mujoco.mjtConDataField.__members__
    fields = [field for field in Field if f"mjCONDATA_{field.name}" in known]
    if reduce is Reduce.NETFORCE:
        fields = [field for field in fields if field not in (Field.LINVEL, Field.ANGVEL)]
    return ContactLayout(fields, slots, reduce)


@cache
def companion_layout(slots: int, reduce: Reduce) -> ContactLayout:
    """Return the layout of a companion's array: every field, also those that the compiler refuses with a reduce
    mode."""
    return ContactLayout(full_layout(slots).fields, slots, reduce)


def rebuild_contacts(
    model: mujoco.MjModel,
    data: mujoco.MjData,
    matches: Matches,
    reduce: Reduce = Reduce.NONE,
    slots: int | None = None,
) -> ContactBatch:
    """Return the contacts that a sensor with `full_layout(slots, reduce)` would report of its matches; by default with
    a slot for each match. One empty slot if there are no matches."""
    found = len(matches.contacts)
    slots = slots or max(1, found)
    if reduce is not Reduce.NETFORCE:
        reported = select(model, data, matches, reduce, slots).reported
        count = len(reported.contacts)
        values = _fields(model, data, reported)
    else:
        count = min(found, 1)
        values = _merged(model, data, matches)
        if not found and _NETFORCE_CAN_BE_EMPTY:
            values = {name: value[:0] for name, value in values.items()}
    padded: dict[str, Any] = {name: _padded(value, slots) for name, value in values.items()}
    if are_forces_hidden(data):
        padded["force"][:] = padded["torque"][:] = np.nan
    return ContactBatch(
        found=np.array(float(found)),
        filled=np.arange(slots) < count,
        in_world_frame=reduce is Reduce.NETFORCE,
        **padded,
    )


def pressing_force(model: mujoco.MjModel, data: mujoco.MjData, matches: Matches, reduce: Reduce, slots: int) -> float:
    """Return `ContactBatch.force_magnitude` of the contacts that a sensor would report [N], without its other
    fields."""
    if not len(matches.contacts):
        return math.nan if are_forces_hidden(data) else 0.0
    if reduce is not Reduce.NETFORCE and (len(matches.contacts) > slots or reduce is Reduce.MAXFORCE):
        matches = select(model, data, matches, reduce, slots).reported
    if reduce is Reduce.MAXFORCE or len(matches.contacts) == 1:
        # The strongest comes first, and the norm of one force is the same in every frame.
        one = np.empty(6)
        mujoco.mj_contactForce(model, data, int(matches.contacts[0]), one)
        return math.hypot(*one[:3].tolist())
    forces = contact_forces(model, data, matches.contacts)[:, :3]
    frames = data.contact.frame[matches.contacts].reshape(-1, 3, 3)
    sign = np.where(matches.flipped, -1.0, 1.0)
    return float(np.linalg.norm(np.einsum("k,kji,kj->i", sign, frames, forces)))


def are_forces_hidden(data: mujoco.MjData) -> bool:
    """Return True if it is not known which forces led to the state of an mjData."""
    return bool(np.isnan(data.qfrc_constraint[:1]).any())


def contact_forces(model: mujoco.MjModel, data: mujoco.MjData, contacts: Indices) -> NDArray[np.float64]:
    """Return force [N] and torque [N m] on the second geom, native contact frame, (k, 6); as `mj_contactForce`."""
    contact = data.contact
    address, dim = contact.efc_address[contacts], contact.dim[contacts]
    solved = address >= 0
    forces = np.zeros((len(address), 6))
    if not solved.any():
        return forces
    pyramidal = model.opt.cone == mujoco.mjtCone.mjCONE_PYRAMIDAL
    # Two opposite edges of the pyramid for each direction of friction; else a row for each component.
    row_count = np.where(dim > 1, 2 * (dim - 1), 1) if pyramidal else dim
    row = np.arange(row_count.max())[:, np.newaxis]
    used = solved & (row < row_count)
    rows = np.where(used, data.efc_force[np.where(used, address + row, 0)], 0.0)
    if pyramidal:
        # Over the first axis numpy adds row by row, as the engine does: the sums agree to the last bit.
        forces[:, 0] = rows.sum(axis=0)
        edges = rows[: len(rows) // 2 * 2].reshape(-1, 2, len(address))
        components = (edges[:, 0] - edges[:, 1]).T * contact.friction[contacts, : len(edges)]
        forces[:, 1 : 1 + len(edges)] = np.where(dim[:, np.newaxis] > 1, components, 0.0)
    else:
        forces[:, : len(rows)] = rows.T
    if hasattr(contact, "adhesion"):
        # The rows hold what the cone carries; the surfaces also feel the pull of adhesion.
        forces[:, 0] -= np.where(solved, contact.adhesion[contacts], 0.0)
    return forces


def _fields(model: mujoco.MjModel, data: mujoco.MjData, matches: Matches) -> dict[str, NDArray[np.float64]]:
    """Return the fields of contacts, (k, ...) each, by their names in a ContactBatch."""
    contact, contacts = data.contact, matches.contacts
    frames = contact.frame[contacts].reshape(-1, 3, 3)
    forces = contact_forces(model, data, contacts)
    # Exchanging the objects turns the frame by half a turn about its second tangent and reverses the vectors:
    # normal and tangent change sign, of the components in the frame only the third one does.
    sign = np.where(matches.flipped, -1.0, 1.0)[:, np.newaxis]
    mirror = np.hstack([np.ones((len(sign), 2)), sign])
    fields = {
        "force": mirror * forces[:, :3],
        "torque": mirror * forces[:, 3:],
        "dist": contact.dist[contacts],
        "pos": contact.pos[contacts],
        "normal": sign * frames[:, 0],
        "tangent0": sign * frames[:, 1],
    }
    if Field.LINVEL in full_layout(1).fields:
        linear, angular = relative_velocities(model, data, contacts)
        fields["linvel"] = mirror * np.einsum("kij,kj->ki", frames, linear)
        fields["angvel"] = mirror * np.einsum("kij,kj->ki", frames, angular)
    return fields


def _merged(model: mujoco.MjModel, data: mujoco.MjData, matches: Matches) -> dict[str, NDArray[np.float64]]:
    """Return the fields of the net contact of all matches, (1, ...) each, by their names in a ContactBatch."""
    contacts = matches.contacts
    frames, positions = data.contact.frame[contacts].reshape(-1, 3, 3), data.contact.pos[contacts]
    forces = np.where(matches.flipped, -1.0, 1.0)[:, np.newaxis] * contact_forces(model, data, contacts)
    world_forces = np.einsum("kij,ki->kj", frames, forces[:, :3])
    world_torques = np.einsum("kij,ki->kj", frames, forces[:, 3:])
    weights = np.sqrt(np.square(forces[:, :3]).sum(axis=1))
    center = weights @ positions / max(weights.sum(), mujoco.mjMINVAL)
    torque = (world_torques + cross(positions - center, world_forces)).sum(axis=0)
    return {
        "force": world_forces.sum(axis=0, keepdims=True),
        "torque": torque[np.newaxis],
        "dist": np.zeros(1),
        "pos": center[np.newaxis],
        "normal": np.array([[1.0, 0.0, 0.0]]),
        "tangent0": np.array([[0.0, 1.0, 0.0]]),
    }


def _padded(values: NDArray[np.float64], slots: int) -> NDArray[np.float64]:
    """Return the values of contacts, (k, ...), padded with empty slots to (slots, ...)."""
    padded = np.zeros((slots, *values.shape[1:]))
    padded[: len(values)] = values
    return padded


def relative_velocities(
    model: mujoco.MjModel, data: mujoco.MjData, contacts: Indices
) -> tuple[NDArray[np.float64], NDArray[np.float64]]:
    """Return linear and angular velocity of the second geom's body relative to the first's, world, (k, 3) each.

    They are velocities of the material at the contact position, without the geoms' surface velocities.
    """
    geoms = data.contact.geom[contacts]
    linear, angular = np.zeros((2, len(contacts), 3))
    for side, sign in ((0, -1.0), (1, 1.0)):
        rigid = geoms[:, side] >= 0
        bodies = model.geom_bodyid[geoms[rigid, side]]
        # cvel is the velocity at the centre of mass of the body's tree.
        arms = data.contact.pos[contacts[rigid]] - data.subtree_com[model.body_rootid[bodies]]
        spin, drift = data.cvel[bodies, :3], data.cvel[bodies, 3:]
        linear[rigid] += sign * (drift + cross(spin, arms))
        angular[rigid] += sign * spin
        if not rigid.all():
            flex_linear, flex_angular = flex_velocities(model, data, contacts[~rigid], side)
            linear[~rigid] += sign * flex_linear
            angular[~rigid] += sign * flex_angular
    return linear, angular


def inside_site(model: mujoco.MjModel, data: mujoco.MjData, site: int, points: Array) -> Mask:
    """Return True for points, (n, 3), inside a site's volume, (n,); its surface is outside."""
    shape, size = int(model.site_type[site]), model.site_size[site]
    local = (points - data.site_xpos[site]) @ data.site_xmat[site].reshape(3, 3)
    height = np.abs(local[:, 2])
    radius_squared = np.square(local[:, :2]).sum(axis=1)
    if shape == mujoco.mjtGeom.mjGEOM_SPHERE:
        return radius_squared + np.square(height) < size[0] ** 2
    if shape == mujoco.mjtGeom.mjGEOM_CAPSULE:
        return radius_squared + np.square(np.maximum(height - size[1], 0.0)) < size[0] ** 2
    if shape == mujoco.mjtGeom.mjGEOM_ELLIPSOID:
        return np.square(local / size).sum(axis=1) < 1.0
    if shape == mujoco.mjtGeom.mjGEOM_CYLINDER:
        return (height < size[1]) & (radius_squared < size[0] ** 2)
    if shape == mujoco.mjtGeom.mjGEOM_BOX:
        return (np.abs(local) < size).all(axis=1)
    # A mesh, of which only the engine knows the hull; it tests one point at a time.
    return np.array([mujoco.mj_insideSite(model, data, site, point) for point in points], dtype=bool)
