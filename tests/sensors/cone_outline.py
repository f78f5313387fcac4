"""Where the surface of a friction cone is, written down apart from what draws it."""

import numpy as np
from contact_viewer.sensors.contacts import Array, cross
from contact_viewer.sensors.friction import Cone, FrictionCones


def cone_outline(cones: FrictionCones, sides: int) -> Array:
    """Points on the surface at height 1 from the apex, relative to it, world, (k, sides, 3).

    Counter-clockwise about the axis from the first tangent. A pyramid has its corners on the tangents: `sides` should
    be a multiple of 4.
    """
    angles = np.arange(sides) * (2 * np.pi / sides)
    directions = np.stack([np.cos(angles), np.sin(angles)], axis=-1)
    if cones.cone is Cone.PYRAMIDAL:
        directions /= np.abs(directions).sum(axis=-1, keepdims=True)
    along = directions * cones.friction[:, np.newaxis]
    return (
        cones.axis[:, np.newaxis]
        + along[..., 0:1] * cones.tangent0[:, np.newaxis]
        + along[..., 1:2] * cross(cones.axis, cones.tangent0)[:, np.newaxis]
    )
