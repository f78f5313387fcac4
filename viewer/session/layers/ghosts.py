"""Layers of contacts that the arrays do not report: those without a slot, and contacts and bodies of runs beside."""

from typing import Any

import numpy as np

from ...render.glyphs import NO_OWNER, Glyphs, SphereColumns
from ...render.shapes import add_bodies
from ...render.style import BESIDE_COLOR, sensor_color
from ..contact_glyphs import GHOST_ALPHA, SensorGlyphs
from ..layer import DrawContext, Layer, LegendEntry
from ..simulation import Simulation

_SMALL = 0.8
"""Size of the points of contacts that no sensor reports, as a multiple of the usual size."""


def _dropped(context: DrawContext) -> list[SensorGlyphs]:
    """Return the contacts that the visible sensors leave out. These contacts have no slot, and so no owner."""
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
    """Return faint points at contacts that no sensor reports, hidden sensors included."""
    points = context.session.unwatched_contacts if context.gizmos.dropped and context.gizmos.points else ()
    if not len(points):
        return None
    rows = np.empty((len(points), SphereColumns.COUNT), np.float32)
    rows[:, SphereColumns.CENTER] = points
    rows[:, SphereColumns.RADIUS] = _SMALL * context.scale.sizes(points).radius
    rows[:, SphereColumns.COLOR] = (*context.colors.point[:3], GHOST_ALPHA)
    return Glyphs(rows, sphere_owner=np.full((len(rows), 2), NO_OWNER, np.int32))


def _runs_beside(context: DrawContext) -> list[Simulation]:
    """Return the runs beside that are at the time of the shown run."""
    time = context.session.engine.time
    return [run for run in context.session.beside if run.is_at(time)]


def _beside(context: DrawContext) -> list[SensorGlyphs]:
    """Return the contacts of the runs beside: of the shown sensors, and of the sensors that the shown run lacks."""
    sensors, found = context.session.engine.sensors, []
    for run in _runs_beside(context):
        known = run.shown.sensors
        found += [(i, run, sensor.name) for i, sensor in context.shown if known.has(sensor.name)]
        found += [(NO_OWNER, run, name) for name in known.names if not sensors.has(name)]
    return [SensorGlyphs(i, run.shown.contacts(name), BESIDE_COLOR, tint=BESIDE_COLOR) for i, run, name in found]


def _bodies_beside(context: DrawContext, scene: Any) -> None:
    engine = context.session.engine
    for run in _runs_beside(context):
        groups = context.session.view.option.geomgroup
        add_bodies(scene, (run.shown.model, run.shown.data), (engine.model, engine.data), groups, BESIDE_COLOR)


def _beside_legend(context: DrawContext) -> list[LegendEntry]:
    runs = context.session.beside
    return [LegendEntry(BESIDE_COLOR, run.title, False) for run in runs if run.guest or len(run.engine.sensors)]


LAYERS = [
    Layer(
        "dropped",
        "Dropped",
        "Contacts that a sensor leaves out for lack of slots; as faint points, contacts that no sensor reports",
        contacts=_dropped,
    ),
    Layer(glyphs=_unwatched),
    Layer(
        "beside",
        "Runs beside",
        "Contacts of the run beside, in a colour of their own",
        applies=lambda session: bool(session.beside),
        contacts=_beside,
        legend=_beside_legend,
    ),
    Layer(
        "beside_bodies",
        "Its bodies",
        "Bodies of the run beside that are at another place",
        needs="beside",
        applies=lambda session: bool(session.beside),
        geoms=_bodies_beside,
    ),
    # The window draws labels, because text is no glyph.
    Layer("labels", "Labels", "Force of each contact [N] as a number"),
]
