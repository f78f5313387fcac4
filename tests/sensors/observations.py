"""What a reward may want of an array, for every kind of layout."""

from typing import Any

import numpy as np
from contact_viewer import ContactLayout, metrics
from contact_viewer.sensors.friction import Cone, friction_use

FIELDS = "found force torque dist pos normal tangent"
LAYOUTS = [
    ContactLayout(FIELDS + " linvel angvel", 3),
    ContactLayout(FIELDS, 3, "netforce"),
    ContactLayout(FIELDS, 3, style="motrix", pair_order="reversed"),
    ContactLayout(FIELDS, 3, "netforce", "motrix"),
    ContactLayout("force normal tangent", 2, style="motrix"),
    ContactLayout(FIELDS, 3, style="documented"),
]


def values(layout: ContactLayout, *shape: int) -> np.ndarray:
    array = np.random.default_rng(2).normal(size=(*shape, layout.size)) + 2.0
    if layout.head_size:
        array[..., 0] = layout.slots
    return array


def observe(layout: ContactLayout, array: Any) -> tuple[Any, ...]:
    """All that a reward may want of an array."""
    batch = layout.decode(array)
    use = None if batch.in_world_frame else friction_use(batch.force, 0.8, Cone.ELLIPTIC)  # type: ignore[arg-type]
    again = layout.encode(batch) if layout.frame != "mean contact" else array
    kinds = batch.force_world, batch.torque_world, batch.net_force, batch.tangent1, use, again
    return tuple(kind for kind in kinds if kind is not None), metrics.force(batch, layout.reduce), batch


def close(given: Any, expected: Any) -> None:
    np.testing.assert_allclose(np.asarray(given), np.asarray(expected), rtol=1e-9, atol=1e-12)
