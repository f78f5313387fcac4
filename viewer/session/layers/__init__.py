"""Turns a session into glyphs, layer by layer: each module of this folder has a list of layers, `LAYERS`.

To add a layer, add a module and the flag that turns it on, in `GizmoSettings`.
"""

from importlib import import_module
from itertools import islice
from pkgutil import iter_modules
from typing import Any

import numpy as np
from numpy.typing import NDArray

from ...mjmodel.names import PAIR
from ...render.camera import Eye
from ...render.glyphs import NO_OWNER, Glyphs, cut_arrows, highlight_glyphs
from ...render.style import force_text, sensor_color
from ...settings import ColorMode, GizmoSettings
from ..contact_glyphs import GHOST_ALPHA, ContactParts, SensorGlyphs, build_glyphs, drawn_forces
from ..force_scale import CutArrows, ScaleBar
from ..layer import DrawContext, Layer, LegendEntry
from ..session import Session

_FIRST = ("contacts", "cones", "balance", "force_kinds", "support", "velocity", "ghosts", "touch")
"""Modules in the order of legends and of the Display panel; all others follow."""
_FAINT = {"see_through": "behind", "dropped": "not reported"}
"""Meaning of faint gizmos, by the setting that draws them."""
_LONGEST_NAME = 28
_NAMED_SENSORS = 12
"""Sensors that a legend names when their colours distinguish them."""


def find_layers() -> list[Layer]:
    """Return the layers of all modules."""
    others = sorted({module.name for module in iter_modules(__path__)} - set(_FIRST))
    modules = [import_module(f"{__name__}.{name}") for name in (*_FIRST, *others)]
    return [layer for module in modules for layer in module.LAYERS]


LAYERS = find_layers()


def follow_forces(context: DrawContext, eye: Eye) -> tuple[list[SensorGlyphs], float]:
    """Fit the scale to the forces of all layers that are on, also at an instant that is not drawn.

    Returns the contacts, and the strongest force that is drawn elsewhere [N].
    """
    layers, engine = _layers_on(context.gizmos), context.session.engine
    contacts = [each for layer in layers if layer.contacts is not None for each in layer.contacts(context)]
    elsewhere = max((layer.strongest(context) for layer in layers if layer.strongest is not None), default=0.0)
    context.session.force_scale.update(engine.time, engine.data, eye, drawn_forces(contacts), elsewhere)
    return contacts, elsewhere


def session_glyphs(session: Session, eye: Eye | None = None) -> Glyphs:
    """Return the glyphs of all layers that are on. `eye`: camera of the frame, which decides their sizes; by default
    that of a frame of the usual size."""
    context, eye = DrawContext(session), eye or session.usual_eye
    gizmos = context.gizmos
    layers = _layers_on(gizmos)
    contacts, elsewhere = follow_forces(context, eye)
    forces = [build_glyphs(contacts, contact_parts(gizmos), gizmos, context.scale, context.colors)]
    others: list[Glyphs] = []
    for layer in layers:
        part = None if layer.glyphs is None else layer.glyphs(context)
        if part is not None:
            (others if layer.strongest is None else forces).append(part)
    glyphs = Glyphs.concat(forces) if len(forces) > 1 else forces[0]
    # Axes of touch sensors are not counted: their length means nothing.
    marks, cut = cut_arrows(glyphs, eye)
    session.cut = CutArrows(len(cut), _cut_force(session, glyphs.arrow_owner[cut], elsewhere) if len(cut) else 0.0)
    if len(cut):
        others.append(marks)
    if others:
        glyphs = Glyphs.concat([glyphs, *others])
    pointed, sensors = session.highlight, session.engine.sensors
    if pointed is None or not sensors.has(pointed.sensor):
        return glyphs
    return highlight_glyphs(glyphs, (sensors.position(pointed.sensor), pointed.slot, pointed.component))


def contact_parts(gizmos: GizmoSettings) -> ContactParts:
    """Return the sphere and the arrows that the layers that are on draw at every contact."""
    layers = _layers_on(gizmos)
    point = next((layer.point for layer in layers if layer.point is not None), None)
    return ContactParts(point, [arrow for layer in layers for arrow in layer.arrows])


def add_volumes(session: Session, scene: Any) -> None:
    """Add the shapes of all layers that are on to an updated `MjvScene`."""
    context = DrawContext(session)
    for layer in _layers_on(context.gizmos):
        if layer.geoms is not None:
            layer.geoms(context, scene)


def legend_entries(session: Session) -> list[LegendEntry]:
    """Return the meaning of the colours of all layers that are on; empty if no sensor is shown."""
    context = DrawContext(session)
    if not len(context.visible):
        return []
    by_sensor = context.gizmos.color_mode is ColorMode.SENSOR
    named = islice(context.shown, _NAMED_SENSORS if by_sensor else 0)
    entries = [LegendEntry(sensor_color(i), sensor.name, False) for i, sensor in named]
    for layer in _layers_on(context.gizmos):
        if not (by_sensor and layer.colored_by_sensor):
            entries += layer.legend_entries(context)
    faint = [text for flag, text in _FAINT.items() if getattr(context.gizmos, flag)]
    if entries and faint:
        entries.append(LegendEntry((1.0, 1.0, 1.0, GHOST_ALPHA), " or ".join(faint), True))
    return entries


def legend_notes(session: Session) -> list[str]:
    """Return the notes of a legend: which objects the forces act on, and which arrows and contacts are out of view."""
    notes = []
    if session.settings.gizmos.forces and any(session.visible.values()):
        sensors, selected = session.engine.sensors, session.selected
        label = sensors[selected].label if selected is not None and sensors.has(selected) else ""
        first, _, second = label.partition(PAIR)
        named = second and (first, second) != ("any", "any")
        of_all = selected is not None and sensors.has(selected) and sensors[selected].virtual
        count = sum(session.visible.values())
        if count > 1:
            notes.append(f"{count} sensors: force on object 2")
        elif selected is not None and session.visible.get(selected) and named:
            notes += [f"force on 2: {_short(second)}", f"by 1: {_short(first)}"]
        else:
            notes.append("force on the moving body" if of_all else "force on object 2, from object 1")
    if session.cut.arrows:
        arrows = "1 arrow leaves" if session.cut.arrows == 1 else f"{session.cut.arrows} arrows leave"
        notes.append(f"{arrows} the view: {force_text(session.cut.strongest)}")
    if session.force_scale.misses_contacts and (session.settings.gizmos.points or session.settings.gizmos.forces):
        notes.append("most contacts are outside the view")
    beside = session.beside if session.settings.gizmos.beside else []
    for run in beside:
        if not len(run.engine.sensors):
            notes.append(f"{run.title} has no contact sensor to show")
        elif not run.is_at(session.engine.time):
            notes.append(f"{_short(run.title)}: {run.ending or 'not at this time'}")
    return notes


def _short(name: str) -> str:
    half = _LONGEST_NAME // 2
    return name if len(name) <= _LONGEST_NAME else f"{name[:half]}…{name[-half:]}"


def _cut_force(session: Session, owners: NDArray[np.int32], elsewhere: float) -> float:
    """Return the strongest force of some arrows [N], whose owners are rows of `Glyphs.arrow_owner`.

    `elsewhere`: strongest force that is not drawn at a contact [N].
    """
    sensors, strongest = session.engine.sensors, elsewhere if (owners[:, 0] == NO_OWNER).any() else 0.0
    for sensor, slot in {(int(row[0]), int(row[1])) for row in owners if row[0] != NO_OWNER}:
        force = session.reading(sensors[sensor].name).batch.force
        if force is not None and slot < len(force):
            strongest = max(strongest, float(np.linalg.norm(force[slot])))
    return strongest


def bar_text(bar: ScaleBar, gizmos: GizmoSettings) -> str:
    """Return the text of the scale bar; if the scale has just changed, with the scale before."""
    before = f", was {force_text(bar.before)}" if bar.before is not None else ""
    return f"{force_text(bar.force)}{' (log)' if gizmos.log_length else ''}{before}"


def display_layers(session: Session) -> list[Layer]:
    """Return the layers that a user can turn on and off, in the order of the Display panel."""
    return [layer for layer in LAYERS if layer.label and layer.applies(session)]


def _layers_on(gizmos: GizmoSettings) -> list[Layer]:
    return [layer for layer in LAYERS if layer.is_on(gizmos)]
