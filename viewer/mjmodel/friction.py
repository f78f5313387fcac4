"""Turns MuJoCo's contact list into the friction of the contacts that a sensor reports."""

from collections.abc import Sequence
from dataclasses import replace

import mujoco
import numpy as np
from numpy.typing import NDArray

from ..sensors.contacts import Array, ContactBatch
from ..sensors.friction import Cone, FrictionCones, friction_cones
from .matching import find_rows, locate

Indices = NDArray[np.intp]
_DIRECTIONS = np.arange(1, 6)
_PYRAMIDAL = int(mujoco.mjtCone.mjCONE_PYRAMIDAL)


def contact_cones(model: mujoco.MjModel, data: mujoco.MjData, batch: ContactBatch) -> FrictionCones | None:
    """Return the friction cones of the contacts of one instant, in the order of the filled slots; None for netforce.

    Contacts that are no longer in the list, because the sensor is late, have friction NaN and an unknown use.
    """
    if batch.pos is None or batch.in_world_frame:
        return None
    slots = batch.filled.nonzero()[0]
    contacts = locate(data, batch.pos[slots])
    known = contacts >= 0
    slots, contacts = slots[known], contacts[known]
    friction = np.full((len(batch.filled), 5), np.nan)
    friction[slots] = contact_friction(data, contacts)
    adhesion = np.zeros(len(batch.filled))
    if hasattr(data.contact, "adhesion"):
        adhesion[slots] = data.contact.adhesion[contacts]
    cones = friction_cones(batch, friction, model_cone(model), adhesion)
    if cones is None:
        return None
    pairs = np.full(len(batch.filled), -1)
    geoms = np.sort(data.contact.geom[contacts].astype(np.int64), axis=1)
    pairs[slots] = np.where(geoms[:, 0] >= 0, geoms[:, 0] * model.ngeom + geoms[:, 1], -1)
    return replace(cones, pairs=pairs[batch.filled])


def contact_friction(data: mujoco.MjData, contacts: Indices) -> NDArray[np.float64]:
    """Return the coefficients of contacts in `mjData.contact`, (k, 5): sliding along both tangents, torsion, rolling
    about both.

    0 for directions that the contact's condim leaves without friction.
    """
    listed = data.contact
    return mask_friction(listed.friction[contacts], listed.dim[contacts])


def mask_friction(friction: NDArray[np.float64], dim: NDArray[np.generic]) -> NDArray[np.float64]:
    """Return the coefficients, (k, 5), with 0 for those that contacts of given dimensions do not use."""
    return np.where(np.asarray(dim)[:, np.newaxis] > _DIRECTIONS, friction, 0.0)


ListedFriction = tuple[bytes, ...] | None
"""Positions, friction coefficients, dimensions and adhesion of the contacts in a list; None for an empty list."""


def read_list(data: mujoco.MjData) -> ListedFriction:
    """Copy the values that decide the friction of the contacts in a list, for `listed_friction`."""
    if not data.ncon:
        return None
    contact = data.contact
    parts = contact.pos.tobytes(), contact.friction.tobytes(), contact.dim.tobytes()
    return (*parts, contact.adhesion.tobytes()) if hasattr(contact, "adhesion") else parts


def listed_friction(
    lists: Sequence[ListedFriction], steps: Indices, positions: Array
) -> tuple[NDArray[np.float64], NDArray[np.float64]]:
    """Return friction coefficients, (n, 5), and adhesion [N], (n,), of contacts at positions, (n, 3), in some steps,
    (n,).

    `lists`: results of `read_list` in all steps. NaN for a contact that is not in the list of its step, as where a
    sensor is late.
    """
    friction, adhesion = np.full((len(steps), 5), np.nan), np.zeros(len(steps))
    read = [(step, listed) for step in np.unique(steps).tolist() if (listed := lists[step]) is not None]
    if not read:
        return friction, adhesion
    points, coefficients, dims, *pulls = (b"".join(part) for part in zip(*(listed for _, listed in read), strict=True))
    dim = np.frombuffer(dims, np.int32)
    owners = np.repeat([float(step) for step, _ in read], [len(listed[2]) // dim.itemsize for _, listed in read])
    table = np.column_stack([owners, np.frombuffer(points).reshape(-1, 3)])
    found = find_rows(table, np.column_stack([steps, positions]))
    known, places = found >= 0, found[found >= 0]
    friction[known] = mask_friction(np.frombuffer(coefficients).reshape(-1, 5)[places], dim[places])
    if pulls:
        adhesion[known] = np.frombuffer(pulls[0])[places]
    return friction, adhesion


def model_cone(model: mujoco.MjModel) -> Cone:
    """Return the type of friction cone that a model's contacts have."""
    return Cone.PYRAMIDAL if model.opt.cone == _PYRAMIDAL else Cone.ELLIPTIC
