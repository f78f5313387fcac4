"""Friction use of contacts, from their forces and friction coefficients, and friction cones."""

import math
from collections.abc import Collection
from dataclasses import dataclass, replace
from enum import IntEnum, StrEnum
from typing import Any

import numpy as np
from numpy.typing import ArrayLike, NDArray

from .array_library import as_array_like, components, namespace, root
from .contacts import Array, ContactBatch

SLIDING_USE = 0.999
"""Friction use from which a contact can slide. Solvers put sliding forces on the cone itself, to within their
tolerance; a contact inside sticks, however fast it creeps."""
SLIDING_SPEED = 2e-3
"""Tangential speed from which a contact on the cone slides [m/s]. A slower contact is a lightly loaded corner of an
object that sticks as a whole: soft contacts creep at about 1 mm/s."""
OPEN_FORCE = 1e-9
"""Normal force up to which a contact is open [N]: in the gap zone, or touching without pressing."""


class Cone(StrEnum):
    """Friction forces that a contact can bear."""

    ELLIPTIC = "elliptic"
    PYRAMIDAL = "pyramidal"
    """The pyramid inside the elliptic cone, with its edges along the tangents."""


class ContactState(IntEnum):
    """Motion of the surfaces at a contact."""

    OPEN = 0
    """No force acts, or there is no contact."""
    STICKING = 1
    SLIDING = 2
    UNKNOWN = 3
    """A force acts and the contact moves fast enough to slide, but its friction is not known."""
    CREEPING = 4
    """Friction holds, but the surfaces move steadily against each other: MuJoCo's friction is a damper. This shows only
    over some time, in the motion of a pair of geoms."""


def friction_use(force: Array, friction: Any, cone: Cone, adhesion: Any = 0.0) -> Array:
    """Return the used share of the friction limit, (...): 1 when sliding. NaN without normal force or friction.

    `force` [N], contact frame, (..., 3); `friction` coefficients along both tangents, (..., 2). For an elliptic cone
    with one coefficient this is |ft| / (mu fn). `adhesion` [N], (...), presses the surfaces together and is not in the
    normal force. Torsion and rolling can follow as further components with their coefficients: force and torque are
    then (..., 6) and friction is (..., 5); they share the cone, so that a contact that also twists slides earlier.
    """
    xp, limits = namespace(force), as_array_like(friction, force)
    tangential = xp.abs(force[..., 1:])
    if limits.ndim == 0:
        limits = limits + xp.zeros_like(tangential)
    limited = limits > 0
    # A direction without friction bears no force and does not count. Divisors are never 0: a gradient would be spoilt.
    shares = xp.where(limited, tangential, xp.zeros_like(tangential)) / xp.where(limited, limits, xp.ones_like(limits))
    share = root(xp.sum(shares * shares, axis=-1)) if cone is Cone.ELLIPTIC else xp.sum(shares, axis=-1)
    normal = force[..., 0] + as_array_like(adhesion, force)
    known = (normal > OPEN_FORCE) & xp.any(limited, axis=-1)
    use = share / xp.where(known, normal, xp.ones_like(normal))
    return xp.where(known, use, xp.zeros_like(use) + math.nan)


def slip_speed(batch: ContactBatch) -> Array:
    """Return the tangential speed of object 2 relative to object 1 at each contact [m/s], (..., slots); NaN where
    unknown."""
    xp = namespace(batch.found)
    if batch.linvel is None:
        return xp.zeros_like(xp.astype(batch.filled, batch.found.dtype)) + math.nan
    _, along0, along1 = components(batch.linvel)
    speed = root(along0 * along0 + along1 * along1)
    return xp.where(batch.filled, speed, xp.zeros_like(speed) + math.nan)


def is_sliding(normal_force: Array, use: Array, speed: Array) -> NDArray[np.bool_]:
    """Return True for contacts that press and slide, (...); arguments as for `contact_states`."""
    xp = namespace(use)
    sliding = (xp.isnan(use) | (use >= SLIDING_USE)) & ~(speed <= SLIDING_SPEED)
    return sliding & (normal_force > OPEN_FORCE)


def contact_states(normal_force: Array, use: Array, speed: Array) -> NDArray[np.int8]:
    """Return the state of each contact, as values of ContactState, (...).

    `normal_force` [N] includes adhesion; `use` is from `friction_use`, preferably of all components; `speed` is from
    `slip_speed`. If `use` is NaN, the speed alone decides; if `speed` is NaN, the friction use alone.
    """
    states = np.where(is_sliding(normal_force, use, speed), ContactState.SLIDING, ContactState.STICKING)
    return np.where(normal_force > OPEN_FORCE, states, ContactState.OPEN).astype(np.int8)


@dataclass(frozen=True, eq=False)
class FrictionCones:
    """Friction cones of some contacts; the force on object 2 lies inside its cone."""

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
    pairs: NDArray[np.int64] | None = None
    """The two geoms of each contact as one number, -1 where they are unknown, (k,); None where they are not
    reported."""

    def with_creep(self, creeping: Collection[int]) -> "FrictionCones":
        """Return the cones with sticking contacts of the pairs `creeping` marked as creeping."""
        if not creeping or self.pairs is None:
            return self
        creeps = (self.states == ContactState.STICKING) & np.isin(self.pairs, list(creeping))
        return replace(self, states=np.where(creeps, ContactState.CREEPING, self.states).astype(np.int8))


def friction_cones(batch: ContactBatch, friction: Array, cone: Cone, adhesion: ArrayLike = 0.0) -> FrictionCones | None:
    """Return the friction cones of one step's contacts, in the order of the filled slots; None for netforce and partial
    arrays.

    `friction` coefficients of each slot, (slots, 5): sliding along both tangents, torsion, rolling about both; 0 where
    the contact has no such friction, NaN where it is not known. `adhesion` [N], (slots,).
    """
    if batch.in_world_frame or batch.force is None or batch.torque is None or batch.pos is None:
        return None
    if batch.normal is None or batch.tangent0 is None:
        return None
    filled = batch.filled
    sticky = np.asarray(adhesion, np.float64)
    if sticky.ndim:
        sticky = sticky[filled]
    force, limits = batch.force[filled], friction[filled]
    use = whole_use = friction_use(force, limits[:, :2], cone, sticky)
    if limits[:, 2:].any():
        whole_use = friction_use(np.concatenate([force, batch.torque[filled]], axis=-1), limits, cone, sticky)
    states = contact_states(force[:, 0] + sticky, whole_use, slip_speed(batch)[filled])
    # A use that is NaN for lack of knowledge is not that of a contact without friction, which slides at any speed.
    states[np.isnan(limits).any(axis=1) & (states == ContactState.SLIDING)] = ContactState.UNKNOWN
    return FrictionCones(
        apex=batch.pos[filled],
        axis=batch.normal[filled],
        tangent0=batch.tangent0[filled],
        friction=limits[:, :2],
        cone=cone,
        use=use,
        states=states,
    )
