"""Draws faint what the arrays do not report: contacts without a slot, and those of runs beside this one."""

import numpy as np

from ...render.glyphs import NO_OWNER, Glyphs
from ...render.style import sensor_color
from ..contact_glyphs import GHOST_ALPHA, SensorGlyphs
from ..layer import DrawContext, Layer, LegendEntry

_SMALL = 0.8
"""Size of the points of contacts that no sensor reports, by that of the others."""


def _dropped(context: DrawContext) -> list[SensorGlyphs]:
    """Contacts that the visible sensors leave out. They have no slot, and so no owner."""
    session = context.session
    sensors = session.engine.sensors
    short = [numbers[batch.found > batch.filled.sum(axis=-1)] for numbers, batch in session.shown_groups]
    return [
        SensorGlyphs(NO_OWNER, session.engine.dropped(sensors[i].name), sensor_color(i), ghost=True)
        for numbers in short
        for i in numbers.tolist()
        if session.reading(sensors[i].name).dropped
    ]


def _unwatched(context: DrawContext) -> Glyphs | None:
    """Faint points at contacts that no sensor reports, hidden ones included."""
    points = context.session.unwatched_contacts if context.gizmos.dropped and context.gizmos.points else ()
    if not len(points):
        return None
    rows = np.empty((len(points), 8), np.float32)
    rows[:, :3], rows[:, 3] = points, _SMALL * context.scale.sizes(points).radius
    rows[:, 4:] = (*context.colors.point[:3], GHOST_ALPHA)
    return Glyphs(rows, sphere_owner=np.full((len(rows), 2), NO_OWNER, np.int32))


def _beside(context: DrawContext) -> list[SensorGlyphs]:
    """Contacts of the runs beside this one that are at the same time."""
    session = context.session
    time, half = session.engine.time, 0.5 * session.engine.timestep
    return [
        SensorGlyphs(i, run.shown.contacts(sensor.name), sensor_color(i), ghost=True)
        for run in session.beside
        if abs(run.shown.time - time) <= half
        for i, sensor in context.shown
        if run.shown.sensors.has(sensor.name)
    ]


def _beside_legend(context: DrawContext) -> list[LegendEntry]:
    return [
        LegendEntry((1.0, 1.0, 1.0, GHOST_ALPHA), f"{run.engine.name}, faint", False)
        for run in context.session.beside
        if len(run.engine.sensors)
    ]


LAYERS = [
    Layer(
        "dropped", "Dropped", "Ghosts of contacts without a slot, points of those without a sensor", contacts=_dropped
    ),
    Layer(glyphs=_unwatched),
    Layer(
        "beside",
        "Runs beside",
        "Faint contacts of the runs beside this one",
        applies=lambda session: bool(session.beside),
        contacts=_beside,
        legend=_beside_legend,
    ),
    # The window draws it: text is no glyph.
    Layer("labels", "Labels", "The force of each contact in newtons beside it"),
]
