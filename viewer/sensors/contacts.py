"""Holds the decoded contacts of one sensor, for one environment or many."""

from collections.abc import Callable, Sequence
from dataclasses import dataclass, fields
from functools import cached_property
from typing import Any

import numpy as np
from numpy.typing import NDArray

from ..settings import Reduce

Array = NDArray[np.floating[Any]]

_LARGE = 64
"""First dimension of a batch from which on its vectors are worth reordering."""


@dataclass(frozen=True, eq=False)
class ContactBatch:
    """What a contact sensor reports. `...` stands for any batch dimensions, `slots` for places in the array.

    Fields are views of the decoded array and None where the sensor does not request them. Forces act on object 2.
    """

    found: Array
    """Number of matching contacts, (...). May exceed the slots, and be fractional for interpolated sensors.
    Where `found` is not requested: the number of filled slots."""
    filled: NDArray[np.bool_]
    """Slots that hold a contact, (..., slots)."""
    force: Array | None = None
    """Force components [N], (..., slots, 3): along normal, tangent0, tangent1; along x, y, z if `in_world_frame`."""
    torque: Array | None = None
    """Torque components [N m], (..., slots, 3), in the same frame as `force`."""
    dist: Array | None = None
    """Distance between the surfaces [m], (..., slots); negative when they penetrate."""
    pos: Array | None = None
    """Contact position [m], world, (..., slots, 3)."""
    normal: Array | None = None
    """Unit normal, world, (..., slots, 3); points from object 1 to object 2."""
    tangent0: Array | None = None
    """First unit tangent, world, (..., slots, 3)."""
    linvel: Array | None = None
    """Relative linear velocity [m/s], contact frame, (..., slots, 3)."""
    angvel: Array | None = None
    """Relative angular velocity [rad/s], contact frame, (..., slots, 3)."""
    in_world_frame: bool = False
    """True if force and torque are along the world axes (netforce), not in contact frames."""
    frame_known: bool = True
    """False where the array does not determine the frame of force and torque (see `motrix_frames`)."""

    @cached_property
    def tangent1(self) -> Array | None:
        """Second unit tangent, cross(normal, tangent0), world, (..., slots, 3)."""
        if self.normal is None or self.tangent0 is None:
            return None
        return cross(self.normal, self.tangent0)

    @cached_property
    def force_world(self) -> Array | None:
        """Force on object 2 [N], world, (..., slots, 3). None where the frame cannot be known."""
        return self.to_world(self.force)

    @cached_property
    def torque_world(self) -> Array | None:
        """Torque on object 2 [N m], world, (..., slots, 3). None where the frame cannot be known."""
        return self.to_world(self.torque)

    @cached_property
    def net_force(self) -> Array | None:
        """Sum of the reported contacts' forces on object 2 [N], world, (..., 3)."""
        force_world = self.force_world
        return None if force_world is None else force_world.sum(axis=-2)

    def force_magnitude(self, reduce: Reduce) -> Array | None:
        """How hard the sensor is pressed [N], (...), as its reduce mode means it. None where it cannot be known.

        netforce: the norm of the net force; maxforce: the strongest contact; none and mindist: the norm of the sum of
        the reported contacts' forces.
        """
        if self.force is None:
            return None
        if reduce in (Reduce.MAXFORCE, Reduce.NETFORCE) or self.filled.shape[-1] == 1:
            # The norm of one force is the same in every frame.
            norms = _norm(self.force)
            return norms[..., 0] if norms.shape[-1] == 1 else norms.max(axis=-1)
        net_force = self.net_force
        return None if net_force is None else _norm(net_force)

    @classmethod
    def stack(cls, batches: "Sequence[ContactBatch]") -> "ContactBatch":
        """Batches of the same shapes and fields as one, (..., batches, slots)."""
        first = batches[0]
        return first.mapped(
            lambda name, array: np.stack([getattr(batch, name) for batch in batches], axis=first.found.ndim)
        )

    def at(self, index: int) -> "ContactBatch":
        """The contacts of one environment: one index into the first batch dimension."""
        return self.mapped(lambda name, array: array[index, ...])

    def cut(self, start: int, stop: int) -> "ContactBatch":
        """The contacts of some slots; `found` stays."""
        return self.mapped(
            lambda name, array: (
                array if name == "found" else array[(*[slice(None)] * self.found.ndim, slice(start, stop))]
            )
        )

    def to_world(self, components: Array | None) -> Array | None:
        """Components in the sensor's frame, (..., slots, 3), turned into world vectors of the same shape."""
        if not self.frame_known:
            return None
        if components is None or self.in_world_frame:
            return components
        if self.normal is None or self.tangent0 is None:
            return None
        # Numpy is fastest along long rows, so that in a large batch the first dimension is made the innermost one.
        is_large = components.ndim > 2 and len(components) >= _LARGE
        components, normal, tangent0 = (
            np.asarray(vectors, order="F" if is_large else "K") for vectors in (components, self.normal, self.tangent0)
        )
        world = components[..., 0:1] * normal
        world += components[..., 1:2] * tangent0
        world += components[..., 2:3] * cross(normal, tangent0)
        return world

    def mapped(self, change: Callable[[str, Any], Any]) -> "ContactBatch":
        """The batch with a function of name and array applied to each of its arrays."""
        values: dict[str, Any] = {field.name: getattr(self, field.name) for field in fields(self)}
        arrays = {name: change(name, value) for name, value in values.items() if isinstance(value, np.ndarray)}
        return ContactBatch(**(values | arrays))


def cross(a: Array, b: Array) -> Array:
    """Cross product along the last axis; several times faster than numpy.cross on large batches."""
    shape = a.shape if a.shape == b.shape else np.broadcast_shapes(a.shape, b.shape)
    product = np.empty_like(a, np.result_type(a, b), shape=shape)
    ax, ay, az = a[..., 0], a[..., 1], a[..., 2]
    bx, by, bz = b[..., 0], b[..., 1], b[..., 2]
    np.subtract(ay * bz, az * by, out=product[..., 0])
    np.subtract(az * bx, ax * bz, out=product[..., 1])
    np.subtract(ax * by, ay * bx, out=product[..., 2])
    return product


def _norm(vectors: Array) -> Array:
    """Lengths of vectors, (...), of (..., 3); several times faster than a sum along the last axis."""
    x, y, z = vectors[..., 0], vectors[..., 1], vectors[..., 2]
    norm: Array = np.sqrt(x * x + y * y + z * z)
    return norm
