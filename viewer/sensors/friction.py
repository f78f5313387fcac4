"""Turns contact forces and friction coefficients into how near each contact is to slipping, and its cone."""

from dataclasses import dataclass
from enum import IntEnum, StrEnum

import numpy as np
from numpy.typing import ArrayLike, NDArray

from .contacts import Array, ContactBatch

SLIDING_USE = 0.999
"""Friction use from which a contact can slide. Solvers put sliding forces on the cone itself, to within their
tolerance; a contact inside sticks, however fast it creeps."""
SLIDING_SPEED = 2e-3
"""Tangential speed from which a contact on the cone slides [m/s]. Slower, it is a lightly loaded corner of something
that sticks as a whole: soft contacts creep at about 1 mm/s."""
OPEN_FORCE = 1e-9
"""Normal force up to which a contact is open [N]: in the gap zone, or touching without pressing."""


class Cone(StrEnum):
    """Which friction forces a contact can bear."""

    ELLIPTIC = "elliptic"
    PYRAMIDAL = "pyramidal"
    """The pyramid inside the elliptic cone, with its edges along the tangents."""


class ContactState(IntEnum):
    """How a contact bears its load."""

    OPEN = 0
    """It bears no force, or there is no contact."""
    STICKING = 1
    SLIDING = 2


def friction_use(force: Array, friction: ArrayLike, cone: Cone, adhesion: ArrayLike = 0.0) -> Array:
    """Share of the friction that the normal force allows, (...): 1 when sliding. NaN without normal force or friction.

    `force` [N], contact frame, (..., 3); `friction` coefficients along both tangents, (..., 2). For an elliptic cone
    with one coefficient this is |ft| / (mu fn). `adhesion` [N], (...), presses the surfaces together and is not in the
    normal force. Torsion and rolling can follow as further components with their coefficients: force and torque are
    then (..., 6) and friction is (..., 5); they share the cone, so that a contact that also twists slides earlier.
    """
    limits = np.asarray(friction, np.float64)
    tangential = np.abs(force[..., 1:])
    with np.errstate(divide="ignore", invalid="ignore"):
        # A direction without friction bears no force and does not count.
        shares = np.where(limits > 0, tangential / limits, 0.0)
        share = np.sqrt(np.square(shares).sum(axis=-1)) if cone is Cone.ELLIPTIC else shares.sum(axis=-1)
        normal = force[..., 0] + np.asarray(adhesion)
        return np.where((normal > OPEN_FORCE) & (limits > 0).any(axis=-1), share / normal, np.nan)


def slip_speed(batch: ContactBatch) -> Array:
    """Tangential speed of object 2 relative to object 1 at each contact [m/s], (..., slots); NaN where unknown."""
    if batch.linvel is None:
        return np.full(batch.filled.shape, np.nan)
    speed = np.sqrt(np.square(batch.linvel[..., 1:]).sum(axis=-1))
    return np.where(batch.filled, speed, np.nan)


def contact_states(normal_force: Array, use: Array, speed: Array) -> NDArray[np.int8]:
    """The state of each contact, as values of ContactState, (...).

    `normal_force` [N] with adhesion; `use` as from `friction_use`, best of all components; `speed` as from
    `slip_speed`. Without friction the speed alone decides, with an unknown speed the force.
    """
    with np.errstate(invalid="ignore"):
        sliding = (np.isnan(use) | (use >= SLIDING_USE)) & ~(speed <= SLIDING_SPEED)
        closed = normal_force > OPEN_FORCE
    states = np.where(sliding, ContactState.SLIDING, ContactState.STICKING)
    return np.where(closed, states, ContactState.OPEN).astype(np.int8)


@dataclass(frozen=True, eq=False)
class FrictionCones:
    """The cones of some contacts: the force on object 2 lies inside."""

    apex: Array
    """Contact positions [m], world, (k, 3)."""
    axis: Array
    """Unit normals, world, (k, 3)."""
    tangent0: Array
    """First unit tangents, world, (k, 3)."""
    friction: Array
    """Coefficients along both tangents, (k, 2): the half widths of the cone at height 1."""
    cone: Cone
    use: Array
    """Friction use of the sliding components, (k,)."""
    states: NDArray[np.int8]
    """Values of ContactState, (k,)."""


def friction_cones(batch: ContactBatch, friction: Array, cone: Cone, adhesion: ArrayLike = 0.0) -> FrictionCones | None:
    """The cones of one step's contacts, in the order of the filled slots; None for netforce and partial arrays.

    `friction` coefficients of each slot, (slots, 5): sliding along both tangents, torsion, rolling about both; 0 where
    the contact has no such friction. `adhesion` [N], (slots,).
    """
    if batch.in_world_frame or batch.force is None or batch.torque is None or batch.pos is None:
        return None
    if batch.normal is None or batch.tangent0 is None:
        return None
    filled = batch.filled
    sticky = np.broadcast_to(np.asarray(adhesion, np.float64), filled.shape)[filled]
    force, limits = batch.force[filled], friction[filled]
    whole_use = friction_use(np.concatenate([force, batch.torque[filled]], axis=-1), limits, cone, sticky)
    return FrictionCones(
        apex=batch.pos[filled],
        axis=batch.normal[filled],
        tangent0=batch.tangent0[filled],
        friction=limits[:, :2],
        cone=cone,
        use=friction_use(force, limits[:, :2], cone, sticky),
        states=contact_states(force[:, 0] + sticky, whole_use, slip_speed(batch)[filled]),
    )
