"""Draws the balance of the selected sensor's body: weight, contact forces and m·a at its centre of mass."""

import numpy as np
from numpy.typing import NDArray

from ...mjmodel.force_kinds import ForceKind, ForceTable
from ...render.glyphs import GizmoList, Glyphs
from ...render.style import GlyphScale, PaletteColors, arrow_length
from ...settings import GizmoSettings
from ..layer import DrawContext, Layer, LegendEntry

_WIDTH = 1.5
"""Shaft diameter relative to that of a contact's force: a sum should not look like a single force."""
_APART = 2.6
"""Distance of mass times acceleration from the other arrows, in shaft diameters."""


def balance_glyphs(balance: ForceTable, scale: GlyphScale, colors: PaletteColors, settings: GizmoSettings) -> Glyphs:
    """Return a sphere at the centre of mass and up to three arrows, as long as arrows of equal contact forces."""
    sizes = scale.sizes(balance.center)
    gizmos = GizmoList(_WIDTH * float(sizes.width[0]))
    gizmos.draw_sphere(1.2 * float(sizes.radius[0]), balance.center, colors.weight)
    # In free fall m·a equals the weight: side by side both arrows are seen.
    beside = balance.center + _APART * gizmos.width * np.array([0.6, 0.8, 0.0])
    starts, inks = (balance.center, balance.center, beside), (colors.weight, colors.contact_sum, colors.inertia)
    for start, force, color in zip(starts, _forces(balance), inks, strict=True):
        size = float(np.linalg.norm(force))
        if size >= max(settings.min_force, 1e-300):
            axis = force / size
            length = sizes.arrow_lengths(arrow_length([size], scale), axis[None])
            gizmos.draw_arrow(start, start + length[0] * axis, color)
    return gizmos.pop_glyphs()


def _selected_balance(context: DrawContext) -> Glyphs | None:
    balance = context.balance
    return None if balance is None else balance_glyphs(balance, context.scale, context.colors, context.gizmos)


def _strongest(context: DrawContext) -> float:
    balance = context.balance
    return 0.0 if balance is None else max(float(np.linalg.norm(force)) for force in _forces(balance))


def _forces(balance: ForceTable) -> tuple[NDArray[np.float64], ...]:
    """Return weight, sum of the contacts and mass times acceleration [N], world, (3,) each."""
    return balance.sum(ForceKind.GRAVITY), balance.sum(ForceKind.CONTACT), balance.inertia


def _legend(context: DrawContext) -> list[LegendEntry]:
    if context.session.diagnostics is None:
        return []
    return [
        LegendEntry(context.colors.weight, "weight", True),
        LegendEntry(context.colors.contact_sum, "sum of contacts", True),
        LegendEntry(context.colors.inertia, "m·a", True),
    ]


LAYERS = [
    Layer(
        "balance",
        "Balance",
        "Weight, sum of the contact forces and m·a of the selected sensor's body, at its centre of mass",
        glyphs=_selected_balance,
        strongest=_strongest,
        legend=_legend,
    )
]
