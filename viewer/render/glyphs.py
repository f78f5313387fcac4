"""Holds the numbers of all spheres, arrows and cones, finds the glyph under a pixel, and marks arrows that are cut."""

from collections.abc import Sequence
from dataclasses import dataclass, field, fields, replace

import numpy as np
from numpy.typing import ArrayLike, NDArray

from .camera import CameraMatrices, Eye, Viewport

NORMAL, TANGENT0, TANGENT1, TOTAL, TORQUE, OTHER = range(6)
"""Components of a contact, as the third number of an arrow's owner."""
NO_OWNER = -1
"""Owner of glyphs that a script has drawn."""

_DIMMED_ALPHA = 0.3
_HIGHLIGHT_SIZE = 1.4
_HIGHLIGHT_LIGHT = 0.3
"""Fraction by which a highlighted colour moves towards white."""

SMALLEST, LARGEST = 1e-15, 1e15
"""Bounds of the coordinates that are drawn: shaders square 32-bit numbers. NaN is not drawn either."""

Floats = NDArray[np.float32]
Owners = NDArray[np.int32]
_INSET = 6.0
"""Distance of a mark's tip from the edge of the picture [measures]."""
_MARK, _STEP = 15.0, 9.0
"""Length of the two heads that make a mark, and distance between them [measures]."""
_IN_FRONT = 1.1
"""Factor from `ArrowColumns.NEARER` of an arrow to that of its mark, which is drawn in front of it."""
_WHITE = (1.0, 1.0, 1.0, 1.0)


class SphereColumns:
    """Columns of `Glyphs.spheres`: centre, radius [m], RGBA."""

    COUNT = 8
    CENTER, RADIUS, COLOR, RGB = slice(0, 3), 3, slice(4, 8), slice(4, 7)


class ArrowColumns:
    """Columns of `Glyphs.arrows`: start, shaft diameter, vector from start to tip [m], RGBA."""

    COUNT = 12
    START, WIDTH, VECTOR, COLOR, RGB = slice(0, 3), 3, slice(4, 7), slice(8, 12), slice(8, 11)
    NEARER = 7
    """Distance by which the arrow counts as nearer when its depth is compared with that of geometry [m]."""


class ConeColumns:
    """Columns of `Glyphs.cones`: apex, height [m], unit axis, half widths at the rim along both tangents [m], RGBA."""

    COUNT = 20
    APEX, HEIGHT, AXIS, TANGENT0, COLOR = slice(0, 3), 3, slice(4, 7), slice(8, 11), slice(16, 20)
    HALF_WIDTH0, HALF_WIDTH1 = 7, 11
    IS_PYRAMID = 12


@dataclass(frozen=True, eq=False)
class Glyphs:
    """Spheres, arrows and cones to draw, with a row for each, in world coordinates [m]."""

    spheres: Floats = field(default_factory=lambda: np.zeros((0, SphereColumns.COUNT), np.float32))
    """Spheres, (n, 8): see `SphereColumns`."""
    arrows: Floats = field(default_factory=lambda: np.zeros((0, ArrowColumns.COUNT), np.float32))
    """Arrows, (m, 12): see `ArrowColumns`."""
    sphere_owner: Owners = field(default_factory=lambda: np.zeros((0, 2), np.int32))
    """Sensor and slot of each sphere, (n, 2)."""
    arrow_owner: Owners = field(default_factory=lambda: np.zeros((0, 3), np.int32))
    """Sensor, slot and component of each arrow, (m, 3)."""
    cones: Floats = field(default_factory=lambda: np.zeros((0, ConeColumns.COUNT), np.float32))
    """Cones, (k, 20): see `ConeColumns`."""
    cone_owner: Owners = field(default_factory=lambda: np.zeros((0, 2), np.int32))
    """Sensor and slot of each cone, (k, 2)."""

    @classmethod
    def concat(cls, parts: Sequence["Glyphs"]) -> "Glyphs":
        """Return all parts in one, opaque glyphs before translucent ones so that these blend over them."""
        parts = [part for part in parts if len(part.spheres) or len(part.arrows) or len(part.cones)]
        if not parts:
            return cls()
        # Mostly there is one, and all of it is opaque.
        whole = parts[0] if len(parts) == 1 else cls(*map(np.concatenate, zip(*map(_arrays, parts), strict=True)))
        if not ((whole.spheres[:, -1] < 1).any() or (whole.arrows[:, -1] < 1).any()):
            return whole
        spheres, arrows = (np.argsort(-rows[:, -1], kind="stable") for rows in (whole.spheres, whole.arrows))
        return replace(
            whole,
            spheres=whole.spheres[spheres],
            sphere_owner=whole.sphere_owner[spheres],
            arrows=whole.arrows[arrows],
            arrow_owner=whole.arrow_owner[arrows],
        )


def _arrays(glyphs: Glyphs) -> tuple[Floats | Owners, ...]:
    return tuple(getattr(glyphs, name) for name in _FIELDS)


_FIELDS = tuple(each.name for each in fields(Glyphs))


def highlight_glyphs(glyphs: Glyphs, highlight: tuple[int, int, int | None]) -> Glyphs:
    """Return the glyphs with one contact drawn larger and brighter, and the others dimmed.

    `highlight`: sensor, slot and component; None in place of the component means the whole contact.
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
        (spheres, bright_spheres, contact_spheres, SphereColumns.RADIUS, SphereColumns.RGB),
        (arrows, bright_arrows, bright_arrows, ArrowColumns.WIDTH, ArrowColumns.RGB),
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

    def __bool__(self) -> bool:
        """Return True if something was drawn since the last `pop_glyphs`."""
        return bool(self._spheres or self._arrows)

    def draw_sphere(self, radius: float, pos: ArrayLike, color: ArrayLike) -> None:
        """Draw a sphere at `pos` [m], world. `color` is 3 or 4 numbers from 0 to 1."""
        self._spheres.append(np.concatenate([_vector(pos), [float(radius)], _color(color)]))

    def draw_arrow(self, start: ArrayLike, end: ArrayLike, color: ArrayLike) -> None:
        """Draw an arrow from `start` to `end` [m], world. `color` is 3 or 4 numbers from 0 to 1."""
        origin = _vector(start)
        self._arrows.append(np.concatenate([origin, [self.width], _vector(end) - origin, [0.0], _color(color)]))

    def extend(self, spheres: Floats, arrows: Floats) -> None:
        """Append rows as in `Glyphs`, (n, 8) and (m, 12); arrows without a diameter get `width`."""
        arrows = arrows.copy()
        arrows[arrows[:, ArrowColumns.WIDTH] == 0, ArrowColumns.WIDTH] = self.width
        self._spheres += list(spheres)
        self._arrows += list(arrows)

    def pop_glyphs(self) -> Glyphs:
        """Return the glyphs that were drawn since the last call, and clear them."""
        if not self._spheres and not self._arrows:
            return Glyphs()
        spheres = np.array(self._spheres, np.float32).reshape(-1, SphereColumns.COUNT)
        arrows = np.array(self._arrows, np.float32).reshape(-1, ArrowColumns.COUNT)
        self._spheres, self._arrows = [], []
        spheres = spheres[(np.abs(spheres) < LARGEST).all(axis=1)]
        longest = np.abs(arrows[:, ArrowColumns.VECTOR]).max(axis=1, initial=0.0)
        arrows = arrows[(np.abs(arrows) < LARGEST).all(axis=1) & (longest > SMALLEST)]
        return Glyphs(
            spheres,
            arrows,
            np.full((len(spheres), 2), NO_OWNER, np.int32),
            np.full((len(arrows), 3), NO_OWNER, np.int32),
        )


def pick_glyph(
    glyphs: Glyphs, matrices: CameraMatrices, viewport: Viewport, x: float, y: float, tolerance_px: float
) -> tuple[int, ...] | None:
    """Return the owner of the contact glyph nearest to a pixel; `x`, `y`: from the window's lower left corner [px].

    Distances count from a glyph's edge. Of several glyphs under the pixel, the nearest to the eye is chosen.
    """
    point = np.array([x, y])
    candidates: list[tuple[float, float, tuple[int, ...]]] = []
    centers = glyphs.spheres[:, SphereColumns.CENTER].astype(float)
    pixels, depths = matrices.project(centers, viewport)
    radii = glyphs.spheres[:, SphereColumns.RADIUS] / matrices.pixel_size(centers, viewport)
    gaps = np.linalg.norm(pixels - point, axis=1) - radii
    candidates += _nearest(gaps, depths, glyphs.sphere_owner, tolerance_px)
    starts = glyphs.arrows[:, ArrowColumns.START].astype(float)
    ends = starts + glyphs.arrows[:, ArrowColumns.VECTOR]
    pixels, depths = matrices.project(starts, viewport)
    tips, tip_depths = matrices.project(ends, viewport)
    along = tips - pixels
    squared = np.maximum((along**2).sum(axis=1), 1e-9)
    fraction = np.clip(((point - pixels) * along).sum(axis=1) / squared, 0.0, 1.0)
    nearest = pixels + along * fraction[:, None]
    half_widths = 0.5 * glyphs.arrows[:, ArrowColumns.WIDTH] / matrices.pixel_size(starts, viewport)
    gaps = np.linalg.norm(nearest - point, axis=1) - half_widths
    candidates += _nearest(gaps, depths + fraction * (tip_depths - depths), glyphs.arrow_owner, tolerance_px)
    return min(candidates)[2] if candidates else None


def _nearest(
    gaps: NDArray[np.float64], depths: NDArray[np.float64], owners: Owners, tolerance: float
) -> list[tuple[float, float, tuple[int, ...]]]:
    """Return the nearest glyph within the tolerance, as gap [px], depth [m] and owner; the gap of a glyph under the
    pixel is 0."""
    near = np.flatnonzero((gaps <= tolerance) & (depths > 0) & (owners[:, 0] != NO_OWNER))
    if not near.size:
        return []
    gaps = np.maximum(gaps[near], 0.0)
    best = np.lexsort((depths[near], gaps))[0]
    owner = tuple(int(value) for value in owners[near[best]])
    return [(float(gaps[best]), float(depths[near[best]]), owner)]


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


def cut_arrows(glyphs: Glyphs, eye: Eye) -> tuple[Glyphs, NDArray[np.intp]]:
    """Return marks for the arrows that begin in the frame and end outside of it, and the indices of these arrows.

    A mark is a pair of white heads at the edge, to show that the arrow continues.
    """
    starts = glyphs.arrows[:, ArrowColumns.START].astype(float)
    vectors = glyphs.arrows[:, ArrowColumns.VECTOR].astype(float)
    rest = _to_edges(starts + vectors, eye)
    leaving = (rest < 0).any(axis=1)
    # Mostly none does.
    inside = _to_edges(starts, eye) if leaving.any() else rest
    cut = np.flatnonzero(leaving & (inside > 0).all(axis=1))
    if not len(cut):
        return Glyphs(), cut
    inside, rest = inside[cut], rest[cut]
    leaves = rest < 0
    share = np.where(leaves, inside / np.where(leaves, inside - rest, 1.0), 1.0).min(axis=1)
    tips = starts[cut] + share[:, None] * vectors[cut]
    measure = eye.pixel_size(tips) * eye.unit
    along = vectors[cut] / np.linalg.norm(vectors[cut], axis=1, keepdims=True) * measure[:, None]
    rows = np.zeros((2, len(cut), ArrowColumns.COUNT), np.float32)
    for row, back in zip(rows, (_MARK, _MARK + _STEP), strict=True):
        row[:, ArrowColumns.START] = tips - back * along
        row[:, ArrowColumns.WIDTH] = _MARK * measure
        row[:, ArrowColumns.VECTOR] = _MARK * along
        row[:, ArrowColumns.NEARER] = _IN_FRONT * glyphs.arrows[cut, ArrowColumns.NEARER]
        row[:, ArrowColumns.COLOR] = _WHITE
    marks = rows.reshape(-1, ArrowColumns.COUNT)
    return Glyphs(arrows=marks, arrow_owner=np.full((len(marks), 3), NO_OWNER, np.int32)), cut


def _to_edges(points: NDArray[np.float64], eye: Eye) -> NDArray[np.float64]:
    """Return measures of how far world points (n, 3) are inside the left, right, lower and upper edge, and in front of
    the eye, (n, 5): negative outside, and linear along a straight line."""
    across, up = (1.0 - 2.0 * _INSET * eye.unit / size for size in eye.viewport[2:])
    edges = np.array([[1, 0, 0, across], [-1, 0, 0, across], [0, 1, 0, up], [0, -1, 0, up], [0, 0, 0, 1]])
    to_edges = edges @ eye.matrices.to_clip
    distances: NDArray[np.float64] = points @ to_edges[:, :3].T + to_edges[:, 3]
    distances[:, 4] -= 1e-9
    return distances
