"""A body's balance to glyphs: weight, contact forces and mass times acceleration as arrows at its centre of mass."""

import numpy as np

from ..engines.mujoco.balance import Balance
from ..settings import GizmoSettings
from .glyphs import GizmoList, Glyphs
from .scale import GlyphScale, PaletteColors, arrow_length

_WIDTH = 1.5
"""Shaft diameter, in those of a contact's force: a sum is not to be taken for one of them."""
_APART = 2.6
"""Distance of mass times acceleration from the other arrows, in shaft diameters."""


def balance_glyphs(balance: Balance, scale: GlyphScale, colors: PaletteColors, settings: GizmoSettings) -> Glyphs:
    """A sphere at the centre of mass and up to three arrows, as long as contact forces of that size."""
    gizmos = GizmoList(_WIDTH * scale.width)
    gizmos.draw_sphere(1.2 * scale.radius, balance.center, colors.weight)
    # In free fall it is the weight: beside it both are seen.
    beside = balance.center + _APART * gizmos.width * np.array([0.6, 0.8, 0.0])
    for start, force, color in (
        (balance.center, balance.weight, colors.weight),
        (balance.center, balance.contact, colors.contact_sum),
        (beside, balance.inertia, colors.inertia),
    ):
        size = float(np.linalg.norm(force))
        if size >= max(settings.min_force, 1e-300):
            gizmos.draw_arrow(start, start + force * (float(arrow_length(size, scale)) / size), color)
    return gizmos.take()
