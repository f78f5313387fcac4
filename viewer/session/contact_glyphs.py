"""Turns contacts into the glyphs at each of them: a sphere, and any number of arrows."""

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from ..render.glyphs import LARGEST, OTHER, SMALLEST, ArrowColumns, Floats, Glyphs, Owners, SphereColumns
from ..render.style import RGBA, GlyphScale, PaletteColors, Sizes, arrow_length
from ..sensors.contacts import Array, ContactBatch
from ..settings import ColorMode, GizmoSettings
from .force_scale import NO_FORCES, DrawnForces

GHOST_ALPHA = 0.35
_GHOST_SIZE = 0.65
"""Factor on the thickness of ghosts and the size of their points: hidden glyphs are faint too, but not thin."""

_SHORTEST = 0.5
"""Length below which an arrow is not drawn [measures]."""

ColorOf = Callable[[PaletteColors], RGBA]
"""Function from a palette to a colour, of the palette or a fixed one."""


@dataclass(frozen=True, eq=False)
class SensorGlyphs:
    """Contacts of a sensor, or of several with the same layout, and their look."""

    index: int | NDArray[np.intp]
    """Number of the sensor, which is stored as the owner of its glyphs; (sensors,) for several sensors."""
    batch: ContactBatch
    """Contacts of one environment: arrays (slots,) and (slots, 3); (sensors, slots, ...) for several sensors."""
    color: RGBA | Floats
    """Colour in `ColorMode.SENSOR`; (sensors, 4) for several sensors."""
    ghost: bool = False
    """True for contacts that the array does not report: they are drawn faint and thin."""
    tint: RGBA | None = None
    """Colour of all glyphs of another run's contacts, which are drawn thin; None for the usual colours."""

    @cached_property
    def drawn(self) -> "DrawnSlots":
        """Slots whose values can all be drawn, and the contacts in them."""
        batch = self.batch
        places = np.nonzero(_drawable(batch))
        # The other slots hold garbage.
        batch = batch.mapped(lambda name, array: array if name == "found" else array[places])
        slots = places[-1]
        sensors = np.zeros(len(slots), np.intp) if len(places) == 1 else places[0]
        return DrawnSlots(np.atleast_1d(self.index)[sensors], slots, sensors, batch)


class DrawnSlots(NamedTuple):
    """Contacts that can be drawn, one after the other."""

    owners: NDArray[np.intp]
    """Number of the sensor of each contact, (contacts,)."""
    slots: NDArray[np.intp]
    """Slot of each contact in its sensor, (contacts,)."""
    rows: NDArray[np.intp]
    """Index of the contact's sensor among those of the batch, (contacts,)."""
    batch: ContactBatch
    """Values of the contacts: arrays of shape (contacts,) and (contacts, 3)."""


@dataclass(frozen=True, eq=False)
class DrawnContacts:
    """Contacts with a position, and the sizes at which they are drawn."""

    batch: ContactBatch
    pos: Array
    """Positions of the contacts [m], world, (contacts, 3)."""
    settings: GizmoSettings
    scale: GlyphScale

    @cached_property
    def sizes(self) -> Sizes:
        """Sizes of spheres and arrows at each contact [m]."""
        return self.scale.sizes(self.pos)

    @property
    def smallest(self) -> float:
        """Force below which no arrow is drawn [N]: the user's choice, or more if arrows would be too short to see."""
        gauge = self.scale.gauge if self.scale.on_screen else None
        return max(self.settings.min_force, _SHORTEST * gauge.measure / self.scale.force if gauge is not None else 0.0)

    @cached_property
    def axis_arrows(self) -> tuple[Array, Array, Array] | None:
        """Arrows of the force along normal, tangent0 and tangent1 [m], world, (contacts, 3) each.

        None for net contacts, whose components lie along the world's axes, and where the contact frame is not known.
        """
        batch = self.batch
        force, axes = batch.force, (batch.normal, batch.tangent0, batch.tangent1)
        if batch.in_world_frame or not batch.frame_known or force is None:
            return None
        normal, tangent0, tangent1 = axes
        if normal is None or tangent0 is None or tangent1 is None:
            return None
        lengths = np.where(np.abs(force) >= self.smallest, arrow_length(force, self.scale), 0.0)

        def arrows(component: int, axes: Array) -> Array:
            return np.asarray(self.sizes.arrow_lengths(lengths[:, component], axes)[:, None] * axes)

        return arrows(0, normal), arrows(1, tangent0), arrows(2, tangent1)

    @cached_property
    def lifted(self) -> Array:
        """Positions a little off the surface, along the normal [m], world, (contacts, 3)."""
        if self.batch.normal is None:
            return self.pos
        return np.asarray(self.pos + self.sizes.lift[:, None] * self.batch.normal)


Arrows = tuple[Array, Array]
"""Starts, and vectors from start to tip [m], world, (contacts, 3) each; a zero vector draws nothing."""


@dataclass(frozen=True)
class ContactArrow:
    """An arrow at every contact."""

    name: str
    """Name in data files, such as `tangent0`."""
    text: str
    """Name in legends."""
    color: ColorOf
    build: Callable[[DrawnContacts], Arrows | None]
    """Function that makes the arrows; None where the contacts lack the values that they show."""
    net: bool | None = None
    """True if only net contacts have the arrow, False if only other contacts have it; None for all."""
    component: int = OTHER
    """Number of the component, which is stored in the owner of each arrow."""


class ContactParts(NamedTuple):
    """Sphere and arrows that are drawn at every contact."""

    point: ColorOf | None
    """Colour of the sphere; None for no sphere."""
    arrows: Sequence[ContactArrow]


def build_glyphs(
    sensors: Sequence[SensorGlyphs],
    parts: ContactParts,
    settings: GizmoSettings,
    scale: GlyphScale,
    colors: PaletteColors,
) -> Glyphs:
    """Return spheres and arrows of the filled slots of all sensors."""
    return Glyphs.concat([_sensor_glyphs(sensor, parts, settings, scale, colors) for sensor in sensors])


def drawn_forces(sensors: Sequence[SensorGlyphs]) -> DrawnForces:
    """Return positions and force magnitudes of the contacts of all sensors."""
    parts = []
    for sensor in sensors:
        _, slots, _, batch = sensor.drawn
        if batch.pos is not None and len(slots):
            forces = np.zeros(len(slots)) if batch.force is None else np.sqrt((batch.force * batch.force).sum(axis=1))
            known = ~np.isnan(forces)
            parts.append(DrawnForces(np.asarray(batch.pos, float)[known], np.asarray(forces, float)[known]))
    if len(parts) < 2:
        return parts[0] if parts else NO_FORCES
    return DrawnForces(*(np.concatenate(arrays) for arrays in zip(*parts, strict=True)))


def scaled_vectors(
    vectors: Array, smallest: float, length: Callable[[Array], NDArray[np.float64]], sizes: Sizes
) -> NDArray[np.float64]:
    """Return arrows (n, 3) [m] along vectors (n, 3), as long as `length` of their norms; zero below `smallest`."""
    size = np.linalg.norm(vectors, axis=1)
    axes = vectors / np.where(size > 0, size, 1.0)[:, None]
    lengths = np.where(size >= smallest, length(size), 0.0)
    return np.asarray(axes * sizes.arrow_lengths(lengths, axes)[:, None])


def _sensor_glyphs(
    sensor: SensorGlyphs, parts: ContactParts, settings: GizmoSettings, scale: GlyphScale, colors: PaletteColors
) -> Glyphs:
    owners, slots, rows, batch = sensor.drawn
    if batch.pos is None or not len(slots):
        return Glyphs()
    alpha, size = GHOST_ALPHA if sensor.ghost else 1.0, _GHOST_SIZE if sensor.ghost or sensor.tint else 1.0
    own_colors = np.reshape(np.asarray(sensor.color, np.float32), (-1, 4))

    def color(of: ColorOf) -> RGBA | Floats:
        """Return one colour for all contacts, or one of each, (contacts, 4)."""
        if sensor.tint is not None:
            return sensor.tint
        if settings.color_mode is ColorMode.SENSOR:
            return np.asarray(own_colors[rows] * np.array((1.0, 1.0, 1.0, alpha), np.float32))
        red, green, blue, own_alpha = of(colors)
        return red, green, blue, own_alpha * alpha

    drawn = DrawnContacts(batch, batch.pos, settings, scale)
    built = [(arrow, arrow.build(drawn)) for arrow in parts.arrows if arrow.net in (None, batch.in_world_frame)]
    columns = [(color(arrow.color), arrow.component, arrows) for arrow, arrows in built if arrows is not None]
    arrows, arrow_owner = _arrow_rows(owners, slots, columns, size * drawn.sizes.width)
    # The contact may be on the far side of the body that the force acts on, which must not hide the arrow.
    arrows[:, ArrowColumns.NEARER] = np.maximum(np.linalg.norm(arrows[:, ArrowColumns.VECTOR], axis=1), scale.depth)
    if parts.point is None:
        owners, slots = owners[:0], slots[:0]
    spheres = np.empty((len(slots), SphereColumns.COUNT), np.float32)
    spheres[:, SphereColumns.CENTER] = batch.pos[: len(slots)]
    spheres[:, SphereColumns.RADIUS] = size * drawn.sizes.radius[: len(slots)]
    if parts.point is not None:
        spheres[:, SphereColumns.COLOR] = color(parts.point)
    sphere_owner = np.empty((len(slots), 2), np.int32)
    sphere_owner[:, 0] = owners
    sphere_owner[:, 1] = slots
    return Glyphs(spheres, arrows, sphere_owner, arrow_owner)


def _arrow_rows(
    owners: NDArray[np.intp],
    slots: NDArray[np.intp],
    columns: Sequence[tuple[RGBA | Floats, int, Arrows]],
    widths: NDArray[np.float64],
) -> tuple[Floats, Owners]:
    """Return rows of `Glyphs.arrows` and their owners, all arrows of a contact before those of the next.

    `columns`: colour, component, and the arrows at all contacts; `widths`: diameters of the shafts, by contact [m].
    """
    starts = np.empty((len(slots), len(columns), 3))
    vectors = np.empty_like(starts)
    rgba = np.empty((len(slots), len(columns), 4), np.float32)
    for column, (color, _, (start, vector)) in enumerate(columns):
        starts[:, column] = start
        vectors[:, column] = vector
        rgba[:, column] = color
    longest = np.abs(vectors).max(axis=2, initial=0.0)
    contact, column_of = np.nonzero((longest > SMALLEST) & (longest < LARGEST))
    components = np.array([component for _, component, _ in columns], np.intp)
    rows = np.zeros((len(contact), ArrowColumns.COUNT), np.float32)
    rows[:, ArrowColumns.START] = starts[contact, column_of]
    rows[:, ArrowColumns.WIDTH] = widths[contact]
    rows[:, ArrowColumns.VECTOR] = vectors[contact, column_of]
    rows[:, ArrowColumns.COLOR] = rgba[contact, column_of]
    owner = np.empty((len(contact), 3), np.int32)
    owner[:, 0] = owners[contact]
    owner[:, 1] = slots[contact]
    owner[:, 2] = components[column_of]
    return rows, owner


def _drawable(batch: ContactBatch) -> NDArray[np.bool_]:
    """Return which slots are filled with values that can all be drawn, (..., slots)."""
    drawable = batch.filled.copy()
    # Mostly all of them can: for 200 the sum of their squares shows it in 2 µs, a test of each in 15 µs.
    for values in (batch.pos, batch.normal, batch.tangent0):
        if values is not None and not np.vdot(values, values) < LARGEST:
            drawable &= (np.abs(values) < LARGEST).all(axis=-1)
    for values in (batch.force, batch.torque):
        if values is not None and not np.vdot(values, values) < LARGEST:
            # A NaN force is not known: the contact is drawn without an arrow.
            drawable &= ~(np.abs(values) >= LARGEST).any(axis=-1)
    if batch.in_world_frame and batch.force is not None:
        # Without force a net contact has no position: the engine reports the origin.
        drawable &= (batch.force != 0).any(axis=-1)
    return drawable
