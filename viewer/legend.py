"""What the colours of a session's gizmos mean: one list for the window and for recordings."""

from typing import NamedTuple

from .render.glyphs import GHOST_ALPHA
from .render.scale import RGBA, palette_colors, sensor_color
from .session import Session
from .settings import ColorMode, Reduce

_SENSORS_MAX = 12
"""Sensors that are named when colours tell them apart."""


class LegendEntry(NamedTuple):
    """A colour and its meaning."""

    color: RGBA
    text: str
    is_arrow: bool


def legend_entries(session: Session) -> list[LegendEntry]:
    """All that the shown sensors may draw, in the order of a legend."""
    gizmos = session.settings.gizmos
    shown = [(i, sensor) for i, sensor in enumerate(session.engine.sensors) if session.visible[sensor.name]]
    if not shown:
        return []
    colors = palette_colors(session.engine.model, gizmos.palette)
    net = any(sensor.reduce is Reduce.NETFORCE for _, sensor in shown)
    single = any(sensor.reduce is not Reduce.NETFORCE for _, sensor in shown)
    entries = []
    if gizmos.color_mode is ColorMode.SENSOR:
        entries += [LegendEntry(sensor_color(i), sensor.name, False) for i, sensor in shown[:_SENSORS_MAX]]
    else:
        if gizmos.points:
            entries.append(LegendEntry(colors.point, "contact", False))
        if gizmos.forces and single and gizmos.normal:
            entries.append(LegendEntry(colors.normal, "normal force", True))
        if gizmos.forces and single and gizmos.tangents:
            entries.append(LegendEntry(colors.tangent0, "tangent 0", True))
            entries.append(LegendEntry(colors.tangent1, "tangent 1", True))
        if gizmos.forces and (gizmos.total or net):
            entries.append(LegendEntry(colors.total, "total force" if gizmos.total else "net force", True))
        if gizmos.forces and gizmos.torque:
            entries.append(LegendEntry(colors.torque, "torque", True))
    if gizmos.cones and single and session.reasons:
        entries += [
            LegendEntry(colors.sticking, "sticking", False),
            LegendEntry(colors.sliding, "sliding", False),
            LegendEntry(colors.open, "open", False),
        ]
    if gizmos.balance and session.reasons:
        entries += [
            LegendEntry(colors.weight, "weight", True),
            LegendEntry(colors.contact_sum, "sum of contacts", True),
            LegendEntry(colors.inertia, "m·a", True),
        ]
    if session.ghost is not None:
        entries.append(LegendEntry((1.0, 1.0, 1.0, GHOST_ALPHA), f"{session.ghost.name}, faint", False))
    return entries
