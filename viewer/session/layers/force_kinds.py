"""Draws the forces on a body by kind, at its centre of mass: gravity, each contact, actuators, springs, limits, ..."""

import numpy as np

from ...mjmodel.force_kinds import ForceKind
from ...render.glyphs import GizmoList, Glyphs
from ...render.style import RGBA, arrow_length
from ..layer import DrawContext, Layer, LegendEntry

_COLORS: dict[ForceKind, RGBA] = {
    ForceKind.GRAVITY: (0.93, 0.94, 0.96, 1.0),
    ForceKind.CONTACT: (1.0, 0.70, 0.04, 1.0),
    ForceKind.APPLIED: (0.95, 0.40, 0.70, 1.0),
    ForceKind.ACTUATORS: (0.20, 0.75, 0.90, 1.0),
    ForceKind.PASSIVE: (0.55, 0.80, 0.35, 1.0),
    ForceKind.CONSTRAINTS: (0.72, 0.42, 1.0, 1.0),
    ForceKind.JOINTS: (0.65, 0.55, 0.42, 1.0),
    ForceKind.SOLVER: (0.5, 0.5, 0.5, 1.0),
}
_APART = 1.8
"""Distance between the starts of arrows, in shaft diameters: opposite arrows would cover each other."""


def _arrows(context: DrawContext) -> Glyphs | None:
    table = context.forces
    if table is None:
        return None
    sizes = context.scale.sizes(table.center)
    gizmos = GizmoList(1.3 * float(sizes.width[0]))
    gizmos.draw_sphere(1.2 * float(sizes.radius[0]), table.center, _COLORS[ForceKind.GRAVITY])
    for i, row in enumerate(table.rows):
        size = float(np.linalg.norm(row.force))
        if size >= max(context.gizmos.min_force, 1e-300):
            axis = row.force / size
            start = table.center + _APART * gizmos.width * i * np.array([0.6, 0.8, 0.0])
            length = sizes.arrow_lengths(arrow_length([size], context.scale), axis[None])
            gizmos.draw_arrow(start, start + length[0] * axis, _COLORS[row.kind])
    return gizmos.pop_glyphs()


def _strongest(context: DrawContext) -> float:
    table = context.forces
    return 0.0 if table is None else max((float(np.linalg.norm(row.force)) for row in table.rows), default=0.0)


def _legend(context: DrawContext) -> list[LegendEntry]:
    table = context.forces
    kinds = dict.fromkeys(row.kind for row in table.rows) if table is not None else {}
    return [LegendEntry(_COLORS[kind], str(kind), True) for kind in kinds]


LAYERS = [
    Layer(
        "force_kinds",
        "Forces by kind",
        "Gravity, contacts, actuators, springs, limits and other forces on the selected body, else on\nthe heaviest "
        "robot, at its centre of mass: they sum to m·a",
        own_row=True,
        glyphs=_arrows,
        strongest=_strongest,
        legend=_legend,
    )
]
