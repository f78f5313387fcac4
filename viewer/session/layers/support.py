"""Layer of a robot's support: support polygon, centres of pressure, and the projected centre of mass."""

from typing import Any

import numpy as np

from ...render.glyphs import GizmoList, Glyphs
from ...render.shapes import add_polygon
from ..layer import DrawContext, Layer, LegendEntry

_PRESSURE = (1.0, 0.70, 0.04, 1.0)
_INSIDE, _OUTSIDE = (0.28, 0.84, 0.92, 1.0), (1.0, 0.30, 0.20, 1.0)
_EDGE = 0.8
"""Width of an edge of the polygon, in radii of a contact's sphere."""


def _points(context: DrawContext) -> Glyphs | None:
    """Return spheres at the pressure centre and the projected centre of mass, and an arrow from the true one."""
    support = context.support
    if support is None:
        return None
    radius = float(context.scale.sizes(support.pressure).radius[0])
    gizmos = GizmoList(0.6 * radius)
    gizmos.draw_sphere(2.0 * radius, support.pressure, _PRESSURE)
    color = _INSIDE if not support.margin < 0 else _OUTSIDE
    gizmos.draw_sphere(1.4 * radius, support.below, color)
    gizmos.draw_arrow(support.center, support.below, color)
    return gizmos.pop_glyphs()


def _polygon(context: DrawContext, scene: Any) -> None:
    support = context.support
    if support is not None and len(support.polygon) > 1:
        radius = float(context.scale.sizes(support.pressure).radius[0])
        add_polygon(scene, support.polygon, _EDGE * radius, _INSIDE if not support.margin < 0 else _OUTSIDE)


def _legend(context: DrawContext) -> list[LegendEntry]:
    if context.support is None:
        return []
    margin = context.support.margin
    where = "outside the support" if margin < 0 else "over the support" if margin >= 0 else "projected"
    color = _OUTSIDE if margin < 0 else _INSIDE
    return [LegendEntry(_PRESSURE, "centre of pressure", False), LegendEntry(color, f"centre of mass, {where}", True)]


def _pressures(context: DrawContext) -> Glyphs | None:
    """Return a sphere at each visible sensor's mean contact position, weighted by normal force."""
    centers = []
    for group in context.session.shown_groups:
        batch = group.batch
        if batch.force is None or batch.pos is None or batch.in_world_frame:
            continue
        load = np.where(batch.filled, np.maximum(batch.force[..., 0], 0.0), 0.0)
        load = np.where(np.isfinite(batch.pos).all(axis=-1), load, 0.0)
        total = load.sum(axis=-1)
        pressed = total > 0
        places = np.einsum("ks,ksi->ki", load[pressed], np.nan_to_num(batch.pos[pressed]))
        centers.append(places / total[pressed][:, np.newaxis])
    found = np.concatenate(centers) if centers else np.zeros((0, 3))
    if not len(found):
        return None
    radius = context.scale.sizes(found).radius
    gizmos = GizmoList(float(radius[0]))
    for place, size in zip(found, radius.tolist(), strict=True):
        gizmos.draw_sphere(1.6 * size, place, _PRESSURE)
    return gizmos.pop_glyphs()


def _pressure_legend(context: DrawContext) -> list[LegendEntry]:
    if context.gizmos.support and context.support is not None:
        return []
    return [LegendEntry(_PRESSURE, "centre of pressure", False)] if False in context.nets else []


LAYERS = [
    Layer(
        "support",
        "Support",
        "Support polygon and centre of pressure of the selected body's robot, else of the heaviest,\n"
        "with its centre of mass projected: red when that is outside",
        own_row=True,
        glyphs=_points,
        geoms=_polygon,
        legend=_legend,
    ),
    Layer(
        "pressure",
        "Pressure centre",
        "Centre of pressure of each sensor: mean position of its contacts, weighted by normal force",
        glyphs=_pressures,
        legend=_pressure_legend,
    ),
]
