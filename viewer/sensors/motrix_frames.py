"""Turns MotrixSim's own frames and signs into forces on object 2 in the world, and back."""

import math
from dataclasses import replace
from enum import StrEnum
from typing import Any

from .array_library import namespace
from .contacts import Array, ContactBatch

# What MotrixSim 0.10 does, each measured against its own get_link_net_contact_forces:
#
# 1. It keeps one contact per pair of colliders, from the lower index to the higher. Where a sensor names them the
#    other way round, normal and tangent are turned to run from object 1 to object 2, but the third component of force
#    and torque keeps its sign, which should change with them.
# 2. Netforce is not in the world frame: force and torque are along the contacts' mean normal and its tangents, which
#    the same array reports as normal and tangent. Without both of these the direction cannot be known.
# 3. Netforce keeps the colliders' order whatever order the sensor has: reversed, it is the force on object 1.
# 4. Where a sensor has pairs in both orders, (1) holds for each contact by its own pair, and (3) adds up forces of
#    opposite sense: a sum of which not even the magnitude means anything.
# 5. Where the normals cancel, as on a clamped object, force, torque, normal and tangent of netforce are NaN, and the
#    array holds nothing to replace them with. An engine adds up the single contacts instead: `complete_net`.
#
# The torque of netforce is the sum of the contacts' own torques, without moment arms. It is passed on as it is.


class PairOrder(StrEnum):
    """Order of a MotrixSim sensor's objects, compared with the engine's colliders."""

    NATIVE = "native"
    REVERSED = "reversed"
    MIXED = "mixed"
    """Both orders, as pairs of geoms of two subtrees can have them."""

    @classmethod
    def of(cls, collider_pairs: list[tuple[int, int]]) -> "PairOrder":
        """Return the order of a sensor's `collider_pairs`."""
        turned = [first > second for first, second in collider_pairs]
        if not any(turned):
            return cls.NATIVE
        return cls.REVERSED if all(turned) else cls.MIXED


def correct(batch: ContactBatch, order: PairOrder, *, netforce: bool) -> ContactBatch:
    """Return a batch with forces on object 2 and netforce in the world frame; the given batch is as in the array."""
    if batch.force is None and batch.torque is None:
        return batch
    if not netforce:
        if order is PairOrder.MIXED:
            return replace(batch, frame_known=False)
        return batch if order is PairOrder.NATIVE else _mirrored_batch(batch, None)
    if order is PairOrder.MIXED:
        return replace(batch, force=None, torque=None, frame_known=False)
    if order is PairOrder.REVERSED:
        batch = replace(batch, force=_negative(batch.force), torque=_negative(batch.torque))
    if batch.normal is None or batch.tangent0 is None:
        return replace(batch, frame_known=False)
    x_axis, y_axis = _world_axes(batch.filled, batch.normal)
    return replace(
        batch,
        force=batch.to_world(batch.force),
        torque=batch.to_world(batch.torque),
        normal=x_axis,
        tangent0=y_axis,
        in_world_frame=True,
    )


def undo(batch: ContactBatch, order: PairOrder, *, netforce: bool) -> ContactBatch:
    """Return a batch as in the array: the inverse of `correct`, with the world axes as the mean frame of netforce."""
    if order is PairOrder.NATIVE:
        return batch
    if netforce:
        if order is PairOrder.MIXED:
            return replace(batch, force=None, torque=None)
        return replace(batch, force=_negative(batch.force), torque=_negative(batch.torque))
    return batch if order is PairOrder.MIXED else _mirrored_batch(batch, None)


def correct_contacts(batch: ContactBatch, turned: Any) -> ContactBatch:
    """Return single contacts with the signs of reversed pairs corrected; `turned`: True for those, (..., slots)."""
    return _mirrored_batch(batch, turned)


def complete_net(net: ContactBatch, contacts: ContactBatch) -> ContactBatch:
    """Return a decoded netforce with all fields, summed from single contacts if MotrixSim has no sum of its own.

    NaN remains where there are more contacts than `contacts` has slots for.
    """
    forces, torques = contacts.force_world, contacts.torque_world
    if forces is None or torques is None or net.normal is None:
        raise ValueError("a net force is added up from contacts with force, torque, normal and tangent")
    xp = namespace(forces)
    all_there = (contacts.found <= contacts.filled.shape[-1])[..., None, None]
    nothing = xp.zeros_like(forces[..., :1, :]) + math.nan
    force = xp.where(all_there, xp.sum(forces, axis=-2, keepdims=True), nothing)
    torque = xp.where(all_there, xp.sum(torques, axis=-2, keepdims=True), nothing)
    if net.force is not None and net.torque is not None:
        lost = xp.any(xp.isnan(net.force), axis=-1)[..., None]
        force, torque = xp.where(lost, force, net.force), xp.where(lost, torque, net.torque)
    x_axis, y_axis = _world_axes(net.filled, net.normal)
    return replace(
        net, force=force, torque=torque, normal=x_axis, tangent0=y_axis, in_world_frame=True, frame_known=True
    )


def _world_axes(filled: Any, like: Array) -> tuple[Array, Array]:
    """Return x and y of the world for each filled slot, (..., slots, 3) each."""
    xp = namespace(like)
    one = xp.astype(filled, like.dtype)
    zero = xp.zeros_like(one)
    return xp.stack([one, zero, zero], axis=-1), xp.stack([zero, one, zero], axis=-1)


def _negative(vectors: Array | None) -> Array | None:
    return None if vectors is None else -vectors


def _mirrored_batch(batch: ContactBatch, turned: Any) -> ContactBatch:
    return replace(
        batch, force=_mirrored(batch.force, turned), torque=_mirrored(batch.torque, turned), frame_known=True
    )


def _mirrored(components: Array | None, turned: Any) -> Array | None:
    """Return components with the third one negated where `turned`, (..., slots); everywhere if that is None."""
    if components is None:
        return None
    xp, third = namespace(components), components[..., 2]
    mirrored = -third if turned is None else xp.where(turned, -third, third)
    return xp.stack([components[..., 0], components[..., 1], mirrored], axis=-1)
