"""Draws faint what the arrays do not report: contacts without a slot, and those of a second engine."""

from ...render.glyphs import NO_OWNER
from ...render.style import sensor_color
from ..contact_glyphs import GHOST_ALPHA, SensorGlyphs
from ..layer import DrawContext, Layer, LegendEntry


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


def _other_engine(context: DrawContext) -> list[SensorGlyphs]:
    """The other engine's contacts, while both are at the same time."""
    session = context.session
    ghost, engine = session.ghost, session.engine
    if ghost is None or abs(ghost.time - engine.time) > 0.5 * engine.timestep:
        return []
    return [
        SensorGlyphs(i, ghost.contacts(sensor.name), sensor_color(i), ghost=True)
        for i, sensor in context.shown
        if ghost.sensors.has(sensor.name)
    ]


def _other_engine_legend(context: DrawContext) -> list[LegendEntry]:
    ghost = context.session.ghost
    if ghost is None or not len(ghost.sensors):
        return []
    return [LegendEntry((1.0, 1.0, 1.0, GHOST_ALPHA), f"{ghost.name}, faint", False)]


LAYERS = [
    Layer("dropped", "Dropped", "Ghosts of the contacts for which a sensor has no slot", contacts=_dropped),
    Layer(contacts=_other_engine, legend=_other_engine_legend),
]
