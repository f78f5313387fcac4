"""A session to what is drawn of it, in the window and in recordings alike."""

from typing import Any

from .reasons import Reasons
from .render.balance import balance_glyphs
from .render.cones import build_cones, unique_cones
from .render.glyphs import NO_OWNER, Glyphs, SensorGlyphs, build_glyphs, highlight_glyphs
from .render.scale import GlyphScale, PaletteColors, palette_colors, sensor_color
from .render.touch import add_touch_volumes, touch_axes
from .session import Session


def session_glyphs(session: Session) -> Glyphs:
    """Glyphs of all visible sensors now, and what the settings add to them."""
    engine, sensors, gizmos, scale = session.engine, session.engine.sensors, session.settings.gizmos, session.scale
    shown = [
        SensorGlyphs(i, session.reading(sensor.name).batch, sensor_color(i))
        for i, sensor in enumerate(sensors)
        if session.visible[sensor.name]
    ]
    shown += _dropped_glyphs(session) if gizmos.dropped else []
    shown += _ghost_glyphs(session)
    colors = palette_colors(engine.model, gizmos.palette)
    parts = [build_glyphs(shown, gizmos, scale, colors)]
    if gizmos.cones and session.reasons is not None:
        parts.append(_cone_glyphs(session, session.reasons, scale, colors))
    if gizmos.balance and session.reasons is not None and session.selected is not None:
        balance = session.reasons.balance(session.selected)
        parts += [balance_glyphs(balance, scale, colors, gizmos)] if balance is not None else []
    if engine.touch_sensors is not None and len(engine.touch_sensors):
        parts.append(touch_axes(engine.touch_sensors, scale))
    glyphs = Glyphs.concat(parts) if len(parts) > 1 else parts[0]
    pointed = session.highlight
    if pointed is None or pointed.sensor not in sensors.names:
        return glyphs
    return highlight_glyphs(glyphs, (sensors.position(pointed.sensor), pointed.slot, pointed.component))


def add_volumes(session: Session, scene: Any) -> None:
    """Put the volumes of touch sensors into an updated `MjvScene`."""
    if session.engine.touch_sensors is not None:
        add_touch_volumes(scene, session.engine.touch_sensors)


def _dropped_glyphs(session: Session) -> list[SensorGlyphs]:
    """Contacts that the visible sensors leave out. They have no slot, and so no owner."""
    return [
        SensorGlyphs(NO_OWNER, session.engine.dropped(sensor.name), sensor_color(i), ghost=True)
        for i, sensor in enumerate(session.engine.sensors)
        if session.visible[sensor.name] and session.reading(sensor.name).dropped
    ]


def _cone_glyphs(session: Session, reasons: Reasons, scale: GlyphScale, colors: PaletteColors) -> Glyphs:
    """Friction cones of the visible sensors' contacts."""
    parts = []
    for i, sensor in enumerate(session.engine.sensors):
        # Friction is known of the newest step only, whichever moment the arrows show.
        batch = session.engine.contacts(sensor.name)
        cones = reasons.cones(batch) if session.visible[sensor.name] else None
        if cones is not None and batch.force is not None:
            normal_forces = batch.force[batch.filled, 0]
            parts.append(build_cones(i, cones, normal_forces, session.settings.gizmos, scale, colors))
    return unique_cones(Glyphs.concat(parts))


def _ghost_glyphs(session: Session) -> list[SensorGlyphs]:
    """The other engine's contacts, while both are at the same time."""
    ghost, sensors = session.ghost, session.engine.sensors
    if ghost is None or abs(ghost.time - session.engine.time) > 0.5 * session.engine.timestep:
        return []
    names = [name for name in ghost.sensors.names if session.visible.get(name)]
    positions = [sensors.position(name) for name in names]
    return [
        SensorGlyphs(i, ghost.contacts(name), sensor_color(i), ghost=True)
        for i, name in zip(positions, names, strict=True)
    ]
