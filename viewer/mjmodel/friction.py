"""Turns MuJoCo's contact list into the friction of the contacts that a sensor reports."""

import mujoco
import numpy as np
from numpy.typing import NDArray

from ..sensors.contacts import ContactBatch
from ..sensors.friction import Cone, FrictionCones, friction_cones
from .matching import locate

Indices = NDArray[np.intp]
_DIRECTIONS = np.arange(1, 6)
_PYRAMIDAL = int(mujoco.mjtCone.mjCONE_PYRAMIDAL)


def contact_cones(model: mujoco.MjModel, data: mujoco.MjData, batch: ContactBatch) -> FrictionCones | None:
    """The friction cones of one instant's contacts, in the order of the filled slots; None for netforce.

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
    return friction_cones(batch, friction, model_cone(model), adhesion)


def contact_friction(data: mujoco.MjData, contacts: Indices) -> NDArray[np.float64]:
    """Coefficients of contacts in `mjData.contact`, (k, 5): sliding along both tangents, torsion, rolling about both.

    0 for directions that the contact's condim leaves without friction.
    """
    listed = data.contact
    return mask_friction(listed.friction[contacts], listed.dim[contacts])


def mask_friction(friction: NDArray[np.float64], dim: NDArray[np.generic]) -> NDArray[np.float64]:
    """The coefficients, (k, 5), that contacts of these dimensions use, 0 for the others."""
    return np.where(np.asarray(dim)[:, np.newaxis] > _DIRECTIONS, friction, 0.0)


def model_cone(model: mujoco.MjModel) -> Cone:
    """The friction cone of a model's contacts."""
    return Cone.PYRAMIDAL if model.opt.cone == _PYRAMIDAL else Cone.ELLIPTIC
