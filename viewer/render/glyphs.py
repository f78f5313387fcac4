"""Contacts to glyphs: the numbers of every sphere, arrow and cone, numpy only."""

from collections.abc import Callable, Sequence
from dataclasses import dataclass, field, replace
from functools import partial
from typing import Any

import numpy as np
from numpy.typing import ArrayLike, NDArray

from ..sensors.contacts import ContactBatch
from ..settings import ColorMode, GizmoSettings
from .camera import CameraMatrices, Viewport
from .scale import RGBA, GlyphScale, PaletteColors, arrow_length, torque_length

NORMAL, TANGENT0, TANGENT1, TOTAL, TORQUE = range(5)
"""Components in an arrow's owner."""
NO_OWNER = -1
"""In place of a sensor: drawn by a script."""

GHOST_ALPHA = 0.35
_GHOST_SIZE = 0.65
"""Thickness of ghosts and size of their points: what lies behind geometry is faint too, but not thin."""
_DIMMED_ALPHA = 0.3
_HIGHLIGHT_SIZE = 1.4
_HIGHLIGHT_LIGHT = 0.3
"""How far a highlighted colour moves towards white."""

_SMALLEST, LARGEST = 1e-15, 1e15
"""Bounds of what is drawn: shaders square 32-bit numbers. NaN lies outside."""

Floats = NDArray[np.float32]
Owners = NDArray[np.int32]


@dataclass(frozen=True, eq=False)
class Glyphs:
    """Spheres, arrows and cones to draw, a row each; in world coordinates [m]."""

    spheres: Floats
    """Center xyz, radius, RGBA, (n, 8)."""
    arrows: Floats
    """Start xyz, shaft diameter, vector xyz from start to tip, 0, RGBA, (m, 12)."""
    sphere_owner: Owners
    """Sensor, slot, (n, 2)."""
    arrow_owner: Owners
    """Sensor, slot, component, (m, 3)."""
    cones: Floats = field(default_factory=lambda: np.zeros((0, 20), np.float32))
    """Apex xyz, height, unit axis xyz, half width along tangent0 at the rim, unit tangent0 xyz, half width along
    tangent1 at the rim, 1 for a pyramid, 0, 0, 0, RGBA, (k, 20)."""
    cone_owner: Owners = field(default_factory=lambda: np.zeros((0, 2), np.int32))
    """Sensor, slot, (k, 2)."""

    @classmethod
    def empty(cls) -> "Glyphs":
        return cls(
            np.zeros((0, 8), np.float32),
            np.zeros((0, 12), np.float32),
            np.zeros((0, 2), np.int32),
            np.zeros((0, 3), np.int32),
        )

    @classmethod
    def concat(cls, parts: Sequence["Glyphs"]) -> "Glyphs":
        """All parts in one, opaque glyphs before translucent ones so that these blend over those."""
        if not parts:
            return cls.empty()
        spheres = np.concatenate([part.spheres for part in parts])
        arrows = np.concatenate([part.arrows for part in parts])
        sphere_owner = np.concatenate([part.sphere_owner for part in parts])
        arrow_owner = np.concatenate([part.arrow_owner for part in parts])
        sphere_order, arrow_order = _opaque_first(spheres[:, 7]), _opaque_first(arrows[:, 11])
        return cls(
            spheres[sphere_order],
            arrows[arrow_order],
            sphere_owner[sphere_order],
            arrow_owner[arrow_order],
            np.concatenate([part.cones for part in parts]),
            np.concatenate([part.cone_owner for part in parts]),
        )


@dataclass(frozen=True, eq=False)
class SensorGlyphs:
    """One sensor's contacts and how they are to look."""

    index: int
    """The sensor's number, given back as owner."""
    batch: ContactBatch
    """Contacts of one environment: arrays of shape (slots,) and (slots, 3)."""
    color: RGBA
    """For `ColorMode.SENSOR`."""
    ghost: bool = False
    """Draw faint and thin: contacts that the array does not report."""


def build_glyphs(
    sensors: Sequence[SensorGlyphs],
    settings: GizmoSettings,
    scale: GlyphScale,
    colors: PaletteColors,
    highlight: tuple[int, int, int | None] | None = None,
) -> Glyphs:
    """Spheres and arrows of the filled slots of all sensors; `highlight` as for `highlight_glyphs`."""
    glyphs = Glyphs.concat([_sensor_glyphs(sensor, settings, scale, colors) for sensor in sensors])
    return glyphs if highlight is None else highlight_glyphs(glyphs, highlight)


def highlight_glyphs(glyphs: Glyphs, highlight: tuple[int, int, int | None]) -> Glyphs:
    """The same with one contact drawn larger and brighter, all else dimmed.

    `highlight` is a sensor, a slot and a component, or None for the whole contact.
    """
    sensor, slot, component = highlight
    contact_spheres = (glyphs.sphere_owner == (sensor, slot)).all(axis=1)
    contact_arrows = (glyphs.arrow_owner[:, :2] == (sensor, slot)).all(axis=1)
    contact_cones = (glyphs.cone_owner == (sensor, slot)).all(axis=1)
    if not contact_spheres.any() and not contact_arrows.any():
        return glyphs
    bright_spheres, bright_arrows = contact_spheres, contact_arrows
    component_arrows = contact_arrows & (glyphs.arrow_owner[:, 2] == component)
    # A component without an arrow, too small or part of a net force, stands for its contact.
    if component_arrows.any():
        bright_spheres, bright_arrows = contact_spheres & False, component_arrows
    spheres, arrows, cones = glyphs.spheres.copy(), glyphs.arrows.copy(), glyphs.cones.copy()
    for rows, bright, kept, size_column, color in (
        (spheres, bright_spheres, contact_spheres, 3, slice(4, 7)),
        (arrows, bright_arrows, bright_arrows, 3, slice(8, 11)),
    ):
        rows[bright, size_column] *= _HIGHLIGHT_SIZE
        rows[bright, color] += _HIGHLIGHT_LIGHT * (1.0 - rows[bright, color])
        rows[~kept, -1] *= _DIMMED_ALPHA
    cones[~contact_cones, -1] *= _DIMMED_ALPHA
    owners = glyphs.sphere_owner, glyphs.arrow_owner
    return Glyphs.concat([Glyphs(spheres, arrows, *owners, cones, glyphs.cone_owner)])


class GizmoList:
    """Gizmos that a script draws for one frame."""

    def __init__(self, width: float = 0.01) -> None:
        self.width = width
        """Shaft diameter of the arrows [m]."""
        self._spheres: list[NDArray[np.float64]] = []
        self._arrows: list[NDArray[np.float64]] = []

    def draw_sphere(self, radius: float, pos: ArrayLike, color: ArrayLike) -> None:
        """A sphere at `pos` [m], world. `color` is 3 or 4 numbers from 0 to 1."""
        self._spheres.append(np.concatenate([_vector(pos), [float(radius)], _color(color)]))

    def draw_arrow(self, start: ArrayLike, end: ArrayLike, color: ArrayLike) -> None:
        """An arrow from `start` to `end` [m], world. `color` is 3 or 4 numbers from 0 to 1."""
        origin = _vector(start)
        self._arrows.append(np.concatenate([origin, [self.width], _vector(end) - origin, [0.0], _color(color)]))

    def take(self) -> Glyphs:
        """All that was drawn since the last call."""
        spheres = np.array(self._spheres, np.float32).reshape(-1, 8)
        arrows = np.array(self._arrows, np.float32).reshape(-1, 12)
        self._spheres, self._arrows = [], []
        spheres = spheres[(np.abs(spheres) < LARGEST).all(axis=1)]
        longest = np.abs(arrows[:, 4:7]).max(axis=1, initial=0.0)
        arrows = arrows[(np.abs(arrows) < LARGEST).all(axis=1) & (longest > _SMALLEST)]
        return Glyphs(
            spheres,
            arrows,
            np.full((len(spheres), 2), NO_OWNER, np.int32),
            np.full((len(arrows), 3), NO_OWNER, np.int32),
        )


def pick_glyph(
    glyphs: Glyphs, matrices: CameraMatrices, viewport: Viewport, x: float, y: float, tolerance_px: float
) -> tuple[int, ...] | None:
    """Owner of the sensor's glyph nearest to a pixel, counted from the window's lower left corner.

    Distances count from a glyph's edge; of several under the pixel the nearest to the eye wins.
    """
    point = np.array([x, y])
    candidates: list[tuple[float, float, tuple[int, ...]]] = []
    centers = glyphs.spheres[:, :3].astype(float)
    pixels, depths = matrices.project(centers, viewport)
    radii = glyphs.spheres[:, 3] / matrices.pixel_size(centers, viewport)
    gaps = np.linalg.norm(pixels - point, axis=1) - radii
    candidates += _nearest(gaps, depths, glyphs.sphere_owner, tolerance_px)
    starts = glyphs.arrows[:, :3].astype(float)
    ends = starts + glyphs.arrows[:, 4:7]
    pixels, depths = matrices.project(starts, viewport)
    tips, tip_depths = matrices.project(ends, viewport)
    along = tips - pixels
    squared = np.maximum((along**2).sum(axis=1), 1e-9)
    fraction = np.clip(((point - pixels) * along).sum(axis=1) / squared, 0.0, 1.0)
    nearest = pixels + along * fraction[:, None]
    half_widths = 0.5 * glyphs.arrows[:, 3] / matrices.pixel_size(starts, viewport)
    gaps = np.linalg.norm(nearest - point, axis=1) - half_widths
    candidates += _nearest(gaps, depths + fraction * (tip_depths - depths), glyphs.arrow_owner, tolerance_px)
    return min(candidates)[2] if candidates else None


def _sensor_glyphs(sensor: SensorGlyphs, settings: GizmoSettings, scale: GlyphScale, colors: PaletteColors) -> Glyphs:
    if sensor.batch.pos is None:
        return Glyphs.empty()
    slots = np.flatnonzero(_drawable(sensor.batch))
    batch = _taken(sensor.batch, slots)
    by_sensor = settings.color_mode is ColorMode.SENSOR
    alpha, size = (GHOST_ALPHA, _GHOST_SIZE) if sensor.ghost else (1.0, 1.0)

    drawn_slots = slots if settings.points else slots[:0]
    spheres = np.empty((len(drawn_slots), 8), np.float32)
    spheres[:, :3] = batch.pos[: len(drawn_slots)]
    spheres[:, 3] = size * scale.radius
    spheres[:, 4:] = _faded(sensor.color if by_sensor else colors.point, alpha)
    sphere_owner = np.empty((len(drawn_slots), 2), np.int32)
    sphere_owner[:, 0] = sensor.index
    sphere_owner[:, 1] = drawn_slots

    starts, vectors, components = _arrows(batch, settings, scale)
    palette = [colors.normal, colors.tangent0, colors.tangent1, colors.total, colors.torque]
    rgba = np.array([_faded(sensor.color if by_sensor else color, alpha) for color in palette], np.float32)
    longest = np.abs(vectors).max(axis=2, initial=0.0)
    rows, columns = np.nonzero((longest > _SMALLEST) & (longest < LARGEST))
    arrows = np.zeros((len(rows), 12), np.float32)
    arrows[:, :3] = starts[rows, columns]
    arrows[:, 3] = size * scale.width
    arrows[:, 4:7] = vectors[rows, columns]
    arrows[:, 8:] = rgba[components[columns]]
    arrow_owner = np.empty((len(rows), 3), np.int32)
    arrow_owner[:, 0] = sensor.index
    arrow_owner[:, 1] = slots[rows]
    arrow_owner[:, 2] = components[columns]
    return Glyphs(spheres, arrows, sphere_owner, arrow_owner)


def _drawable(batch: ContactBatch) -> NDArray[np.bool_]:
    """Filled slots whose values can all be drawn, (slots,)."""
    drawable = batch.filled.copy()
    for values in (batch.pos, batch.normal, batch.tangent0, batch.force, batch.torque):
        if values is not None:
            drawable &= (np.abs(values) < LARGEST).all(axis=-1)
    if batch.in_world_frame and batch.force is not None:
        # Without force a net contact has no position: the engine reports the origin.
        drawable &= (batch.force != 0).any(axis=-1)
    return drawable


def _taken(batch: ContactBatch, slots: NDArray[np.intp]) -> Any:
    """Those slots of a batch, so that nothing is computed from garbage in the others."""
    fields = ("filled", "force", "torque", "pos", "normal", "tangent0")
    values: dict[str, Any] = {name: getattr(batch, name) for name in fields}
    taken: dict[str, Any] = {name: None if value is None else value[slots] for name, value in values.items()}
    return replace(batch, **taken)


def _arrows(
    batch: Any, settings: GizmoSettings, scale: GlyphScale
) -> tuple[NDArray[np.float64], NDArray[np.float64], NDArray[np.intp]]:
    """Starts and vectors, (contacts, components, 3), and which components the columns are. No arrow: a zero vector."""
    pos = batch.pos
    drawn: list[tuple[int, NDArray[Any], NDArray[Any]]] = []
    if settings.forces and batch.force_world is not None:
        if not batch.in_world_frame:
            lifted = pos + scale.lift * batch.normal
            lengths = np.where(np.abs(batch.force) >= settings.min_force, arrow_length(batch.force, scale), 0.0)
            if settings.normal:
                drawn.append((NORMAL, pos, lengths[:, :1] * batch.normal))
            if settings.tangents:
                drawn.append((TANGENT0, lifted, lengths[:, 1:2] * batch.tangent0))
                drawn.append((TANGENT1, lifted, lengths[:, 2:] * batch.tangent1))
        # A net contact's components lie along the world's axes, not along a surface: only their sum says something.
        if settings.total or batch.in_world_frame:
            vectors = _scaled(batch.force_world, settings.min_force, partial(arrow_length, scale=scale))
            drawn.append((TOTAL, pos, vectors))
    if settings.forces and settings.torque and batch.torque_world is not None:
        # The smallest force, at the lever at which torques draw as long as forces.
        smallest = settings.min_force * scale.force / scale.torque
        drawn.append((TORQUE, pos, _scaled(batch.torque_world, smallest, partial(torque_length, scale=scale))))
    components = np.array([component for component, _, _ in drawn], np.intp)
    starts = np.empty((len(pos), len(drawn), 3))
    vectors = np.empty_like(starts)
    for column, (_, start, vector) in enumerate(drawn):
        starts[:, column] = start
        vectors[:, column] = vector
    return starts, vectors, components


def _scaled(
    vectors: NDArray[Any], smallest: float, length: Callable[[NDArray[Any]], NDArray[np.float64]]
) -> NDArray[np.float64]:
    size = np.linalg.norm(vectors, axis=1)
    lengths = np.where(size >= smallest, length(size), 0.0)
    return vectors * (lengths / np.maximum(size, 1e-300))[:, None]


def _nearest(
    gaps: NDArray[np.float64], depths: NDArray[np.float64], owners: Owners, tolerance: float
) -> list[tuple[float, float, tuple[int, ...]]]:
    """The nearest glyph within the tolerance, as gap, depth and owner; all that are under the pixel count as gap 0."""
    near = np.flatnonzero((gaps <= tolerance) & (depths > 0) & (owners[:, 0] != NO_OWNER))
    if not near.size:
        return []
    gaps = np.maximum(gaps[near], 0.0)
    best = np.lexsort((depths[near], gaps))[0]
    owner = tuple(int(value) for value in owners[near[best]])
    return [(float(gaps[best]), float(depths[near[best]]), owner)]


def _opaque_first(alpha: Floats) -> NDArray[np.intp] | slice:
    return np.argsort(-alpha, kind="stable") if (alpha < 1).any() else slice(None)


def _faded(color: RGBA, alpha: float) -> RGBA:
    return color[0], color[1], color[2], color[3] * alpha


def _vector(value: ArrayLike) -> NDArray[np.float64]:
    vector = np.asarray(value, float).reshape(-1)
    if vector.size != 3:
        raise ValueError(f"a point has 3 coordinates, not {vector.size}")
    return vector


def _color(value: ArrayLike) -> NDArray[np.float64]:
    color = np.asarray(value, float).reshape(-1)
    if color.size not in (3, 4):
        raise ValueError(f"a colour has 3 or 4 numbers, not {color.size}")
    return np.append(color, 1.0) if color.size == 3 else color
