"""Chooses sizes and colours of gizmos for a model and a user's settings: metres per newton, metres and RGBA."""

import math
from dataclasses import dataclass, replace
from functools import cached_property
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import ArrayLike, NDArray

from ..mjmodel.types import MjModel
from ..settings import GizmoSettings, Palette, ScaleMode
from .camera import Eye

RGBA = tuple[float, float, float, float]

BAR = 100.0
"""Length of the scale bar, and of an arrow of the force `Gauge.newtons` [measures]."""
_SPHERE = 6.0, 15.0
"""Bounds of a sphere's diameter [measures]; in small pictures the lower bound is in pixels."""
_SHAFT = 3.2, 5.0
"""Bounds of a shaft's diameter [measures]; in small pictures the lower bound is in pixels."""
_SHAFT_PER_SPHERE = 0.44
_NEAREST_TO_ENDLESS = 0.3
"""Least divisor that lengthens arrows pointing away from the camera: without this limit, long arrows would need an
infinite length to reach their size on screen."""
_LIFT = 1.05
"""Distance along the normal from the contact to the start of its tangent arrows, in radii of its sphere."""
_REFERENCE_LENGTH = 0.35
"""Length of the reference force's arrow in fixed scales and in MuJoCo's, as a fraction of the scene's size."""
_SIZE_PER_BODY = 20.0
"""Largest size of a scene, in mean body sizes."""
_TORQUE_ARM = 0.2
"""Lever at which a torque is drawn as long as its force, as a fraction of the mean body size."""
_LOG_SPAN = 1000.0
"""Ratio of the reference force to the force at which logarithmic arrows begin to grow."""
_EARTH_GRAVITY = 9.81
_NO_WEIGHT = 10.0
"""Reference force of a scene in which nothing with mass moves [N]."""

_SENSOR_COLORS: tuple[RGBA, ...] = (
    # Oranges, cyans, violets and greys: green, red and blue belong to normal and tangents, pink to runs beside.
    (0.98, 0.60, 0.22, 1.0),
    (0.25, 0.80, 0.94, 1.0),
    (0.76, 0.60, 0.99, 1.0),
    (0.96, 0.86, 0.32, 1.0),
    (0.55, 0.95, 0.86, 1.0),
    (0.84, 0.86, 0.90, 1.0),
    (0.66, 0.42, 0.24, 1.0),
    (0.22, 0.62, 0.60, 1.0),
    (0.50, 0.36, 0.85, 1.0),
    (0.62, 0.70, 0.18, 1.0),
    (0.99, 0.79, 0.62, 1.0),
    (0.48, 0.54, 0.62, 1.0),
)


@dataclass(frozen=True, eq=False)
class Gauge:
    """Quantities of one frame that decide the sizes of gizmos."""

    eye: Eye
    anchor: NDArray[np.float64]
    """Centre of the contacts [m], world, (3,): lengths on screen are exact at its depth."""
    newtons: float
    """Force whose arrow is `BAR` long [N]."""
    longest: float
    """Largest length of the arrows of steady forces [measures]."""
    sphere: float
    """Diameter of a contact's sphere at the anchor [measures]."""
    reach: float = 0.0
    """Usual size of a body that contacts act on [m]: geometry that is nearer by less than this does not hide arrows."""

    @cached_property
    def measure(self) -> float:
        """Size of one measure at the anchor's depth [m]."""
        return max(self.pixel * self.eye.unit, 1e-12)

    @cached_property
    def pixel(self) -> float:
        """Size of a pixel at the anchor's depth [m]."""
        return float(self.eye.pixel_size(self.anchor)[0])


@dataclass(frozen=True)
class GlyphScale:
    """Sizes of the gizmos of one picture."""

    force: float
    """Arrow length per force, at the anchor [m/N]."""
    torque: float
    """Arrow length per torque, at the anchor [m/(N m)]."""
    radius: float
    """Radius of a contact's sphere, at the anchor [m]."""
    width: float
    """Diameter of an arrow's shaft, at the anchor [m]."""
    lift: float
    """Offset of the start of tangent arrows from the contact, along the normal, at the anchor [m]."""
    reference: float
    """Force whose arrow is equally long with logarithmic and with proportional lengths [N]."""
    log_length: bool = False
    gauge: Gauge | None = None
    """Gauge of the picture, which bounds the sizes of spheres and shafts; None if they have the same size
    everywhere."""
    point_size: float = 1.0
    """User's factor on spheres, which is part of `radius`."""
    shaft_size: float = 1.0
    """User's factor on shafts, which is part of `width`."""
    on_screen: bool = False
    """True if arrows of equal forces are equally long on screen, not in the world."""

    @property
    def depth(self) -> float:
        """Least distance by which arrows count as nearer than they are when geometry may hide them [m]."""
        return max(BAR * self.gauge.measure, self.gauge.reach) if self.gauge is not None else 0.0

    def sizes(self, points: ArrayLike) -> "Sizes":
        """Return the sizes of glyphs at world points (n, 3)."""
        points = np.atleast_2d(np.asarray(points, float))
        if self.gauge is None:
            each = np.ones(len(points))
            return Sizes(self.radius * each, self.width * each, self.lift * each, each, 0.0 * points)
        eye = self.gauge.eye
        pixel = eye.pixel_size(points)
        spheres = _bounded(2.0 * self.radius / self.point_size, pixel, eye.unit, _SPHERE)
        shafts = _bounded(_SHAFT_PER_SPHERE * spheres, pixel, eye.unit, _SHAFT)
        radii = 0.5 * self.point_size * spheres
        if self.on_screen:
            stretch, recession = pixel * (eye.unit / self.gauge.measure), eye.matrices.recession(points)
        else:
            stretch, recession = np.ones(len(points)), 0.0 * points
        return Sizes(radii, self.shaft_size * shafts, _LIFT * radii, stretch, recession)


class Sizes(NamedTuple):
    """Sizes of glyphs at n points: arrays of shape (n,), except for the last."""

    radius: NDArray[np.float64]
    """Radius of spheres [m]."""
    width: NDArray[np.float64]
    """Diameter of the shafts of arrows [m]."""
    lift: NDArray[np.float64]
    """Offset of the start of tangent arrows from the point, along the normal [m]."""
    stretch: NDArray[np.float64]
    """Factor on the lengths of arrows, which is larger farther from the eye, so that they look equally long."""
    recession: NDArray[np.float64]
    """Growth of depth along the world's axes, relative to depth [1/m], (n, 3); 0 if lengths are not corrected for
    perspective."""

    def arrow_lengths(self, lengths: NDArray[np.float64], axes: NDArray[np.floating]) -> NDArray[np.float64]:
        """Return the signed lengths [m], (n,), to draw arrows with: one at each point, along the unit vectors `axes`,
        (n, 3).

        `lengths`: lengths of arrows across the view, at the anchor [m]. Perspective shows arrows towards the eye
        longer, and arrows away from it shorter: this is corrected, so that on screen twice the force is twice as long.
        """
        lengths = lengths * self.stretch
        farther = lengths * np.einsum("ij,ij->i", axes, self.recession)
        return np.asarray(lengths / np.maximum(1.0 - farther, _NEAREST_TO_ENDLESS))


def _bounded(
    sizes: float | NDArray[np.float64], pixel: float | NDArray[np.float64], unit: float, bounds: tuple[float, float]
) -> NDArray[np.float64]:
    """Return sizes [m], limited to bounds [measures]; `pixel`: size of a pixel [m]; `unit`: pixels per measure."""
    low, high = bounds
    return np.minimum(np.maximum(sizes, max(low * unit, low) * pixel), max(high * unit, low) * pixel)


@dataclass(frozen=True)
class PaletteColors:
    """Colours of the glyphs of a contact."""

    normal: RGBA
    tangent0: RGBA
    tangent1: RGBA
    point: RGBA
    total: RGBA
    torque: RGBA
    sticking: RGBA
    """Colour of the friction cone of a contact that holds: unobtrusive, because this is the usual state."""
    sliding: RGBA
    """Colour of the friction cone of a contact that slips: conspicuous."""
    creeping: RGBA
    """Colour of the friction cone of a contact that creeps: distinct from both others."""
    open: RGBA
    """Colour of the ring around a contact that carries no force."""
    weight: RGBA
    """Colour of the weight in a body's balance, which is neutral because it is always shown."""
    contact_sum: RGBA
    """Colour of the sum of all contact forces in a body's balance."""
    inertia: RGBA
    """Colour of mass times acceleration in a body's balance."""


_STANDARD = PaletteColors(
    normal=(0.10, 0.78, 0.30, 1.0),
    tangent0=(0.90, 0.13, 0.11, 1.0),
    tangent1=(0.11, 0.36, 0.95, 1.0),
    point=(1.0, 1.0, 1.0, 1.0),
    total=(1.0, 0.70, 0.04, 1.0),
    torque=(0.62, 0.24, 0.88, 1.0),
    sticking=(0.82, 0.90, 0.97, 0.75),
    sliding=(1.0, 0.42, 0.05, 1.0),
    creeping=(0.68, 0.98, 0.22, 1.0),
    open=(0.62, 0.66, 0.70, 1.0),
    weight=(0.93, 0.94, 0.96, 1.0),
    contact_sum=(1.0, 0.70, 0.04, 1.0),
    inertia=(0.72, 0.42, 1.0, 1.0),
)
_COLORBLIND = PaletteColors(
    # Okabe and Ito's set: distinct with all common kinds of colour blindness.
    normal=(0.0, 0.62, 0.45, 1.0),
    tangent0=(0.84, 0.37, 0.0, 1.0),
    tangent1=(0.0, 0.45, 0.70, 1.0),
    point=(1.0, 1.0, 1.0, 1.0),
    total=(0.94, 0.89, 0.26, 1.0),
    torque=(0.80, 0.47, 0.65, 1.0),
    sticking=(0.34, 0.71, 0.91, 0.75),
    sliding=(0.90, 0.62, 0.0, 1.0),
    creeping=(0.55, 0.10, 0.45, 1.0),
    open=(0.62, 0.62, 0.62, 1.0),
    weight=(0.93, 0.93, 0.93, 1.0),
    contact_sum=(0.94, 0.89, 0.26, 1.0),
    inertia=(0.80, 0.47, 0.65, 1.0),
)


BESIDE_COLOR: RGBA = (1.0, 0.36, 0.88, 1.0)
"""Colour of a run beside the main one, which no palette has."""


def glyph_scale(model: MjModel, settings: GizmoSettings, gauge: Gauge) -> GlyphScale:
    """Return sizes for one picture of a model: fixed sizes on screen for spheres and shafts, and in `auto` mode for
    arrows."""
    size = scene_size(model)
    arm = _torque_arm(model, size)
    measure = gauge.measure
    if settings.scale_mode is ScaleMode.FIXED:
        force = settings.fixed_scale
        torque, reference = force / arm, _REFERENCE_LENGTH * size / force
    elif settings.scale_mode is ScaleMode.MUJOCO:
        mass = _positive(model.stat.meanmass, 1.0)
        force, torque = float(model.vis.map.force) / mass, float(model.vis.map.torque) / mass
        reference = _REFERENCE_LENGTH * size / _positive(force, 1e-12)
    else:
        force = BAR * measure / gauge.newtons
        torque, reference = force / arm, gauge.newtons * gauge.longest / BAR
    force = _positive(force, 1e-12)
    point_size, shaft_size = settings.point_size, settings.width
    # As they are at the anchor: bounds move them.
    unit, pixel = gauge.eye.unit, gauge.pixel
    sphere = float(_bounded(gauge.sphere * measure, pixel, unit, _SPHERE))
    radius = 0.5 * point_size * sphere
    return GlyphScale(
        force=force * settings.length,
        torque=_positive(torque, force / arm) * settings.length,
        radius=radius,
        width=shaft_size * float(_bounded(_SHAFT_PER_SPHERE * sphere, pixel, unit, _SHAFT)),
        lift=_LIFT * radius,
        reference=reference,
        log_length=settings.log_length,
        gauge=gauge,
        point_size=point_size,
        shaft_size=shaft_size,
        on_screen=settings.scale_mode is ScaleMode.AUTO,
    )


def _torque_arm(model: MjModel, size: float) -> float:
    """Return the lever at which a torque is drawn as long as its force [m]."""
    return _TORQUE_ARM * min(_positive(model.stat.meansize, size), size)


def scene_size(model: MjModel) -> float:
    """Return a length for objects whose size does not follow from a frame [m]: the extent, limited by the mean body
    size."""
    extent = _positive(model.stat.extent, 1.0)
    return min(extent, _SIZE_PER_BODY * _positive(model.stat.meansize, extent))


def reference_force(model: MjModel) -> float:
    """Return the typical contact force of a model, from its weight alone [N], until forces are known.

    The force is the geometric mean of two weights: of all moving trees, and of the heaviest one. For one robot or one
    object both are its weight. In a pile each contact carries a few objects: the total weight alone would make arrows
    far too short, and the weight of one object alone far too long.
    """
    weights = tree_weights(model)
    return _positive(math.sqrt(weights.sum() * weights.max(initial=0.0)), _NO_WEIGHT)


def tree_weights(model: MjModel) -> NDArray[np.float64]:
    """Return the weights of the kinematic trees that move [N], (trees,).

    Without gravity, return the weights on earth: forces of motion and actuators have the same order of magnitude.
    """
    moving = model.body_treeid >= 0
    gravity = float(np.linalg.norm(model.opt.gravity))
    masses = np.bincount(model.body_treeid[moving], model.body_mass[moving])
    return np.asarray(masses * (gravity if 1e-6 < gravity < math.inf else _EARTH_GRAVITY))


def arrow_length(force: ArrayLike, scale: GlyphScale) -> NDArray[np.float64]:
    """Return the signed lengths [m] of the arrows of signed force components [N], of any shape."""
    forces = np.asarray(force, float)
    if not scale.log_length:
        return forces * scale.force
    growth = np.log1p(np.abs(forces) * (_LOG_SPAN / scale.reference)) / math.log1p(_LOG_SPAN)
    return np.sign(forces) * growth * (scale.reference * scale.force)


def torque_length(torque: ArrayLike, scale: GlyphScale) -> NDArray[np.float64]:
    """Return the signed lengths [m] of the arrows of signed torque components [N m], of any shape."""
    # Where a torque draws as long as a force does, it also grows as that force does.
    return arrow_length(np.asarray(torque, float) * (scale.torque / scale.force), scale)


def nice_force(scale: GlyphScale, target_length: float) -> float:
    """Return the largest force [N] of the series 1, 2, 5, 10, ... whose arrow is at most `target_length` [m] long."""
    longest = max(target_length, 0.0) / scale.force
    if scale.log_length:
        steps = min(longest / scale.reference * math.log1p(_LOG_SPAN), 200.0)
        longest = math.expm1(steps) * scale.reference / _LOG_SPAN
    if not 0.0 < longest < math.inf:
        return 1.0
    decade = 10.0 ** math.floor(math.log10(longest))
    # A hair of tolerance: 10 N must not become 5 N because of rounding.
    return float(decade * max(step for step in (0.5, 1.0, 2.0, 5.0, 10.0) if step * decade <= longest * (1 + 1e-9)))


def force_text(force: float) -> str:
    """Return a force [N] as text with its unit: 50 mN, 2 kN."""
    units = (("kN", 1e3), ("N", 1.0), ("mN", 1e-3), ("µN", 1e-6))
    unit, size = next((each for each in units if abs(force) >= 0.9995 * each[1]), units[-1])
    return f"{force / size:.3g} {unit}" if force else "0 N"


def palette_colors(model: MjModel, palette: Palette) -> PaletteColors:
    """Return the colours of a palette; `mujoco` means the colours in the model's visual/rgba."""
    if palette is Palette.COLORBLIND:
        return _COLORBLIND
    if palette is Palette.MUJOCO:
        rgba = model.vis.rgba
        friction = _rgba(rgba.contactfriction)
        darker = (0.6 * friction[0], 0.6 * friction[1], 0.6 * friction[2], friction[3])
        return replace(
            _STANDARD,
            normal=_rgba(rgba.contactforce),
            tangent0=friction,
            # MuJoCo draws friction as one arrow; two need two shades.
            tangent1=darker,
            point=_rgba(rgba.contactpoint),
            total=_rgba(rgba.contactforce),
            torque=_rgba(rgba.contacttorque),
            open=_rgba(rgba.contactgap),
        )
    return _STANDARD


def sensor_color(index: int) -> RGBA:
    """Return the colour of a sensor: twelve colours, which repeat."""
    return _SENSOR_COLORS[index % len(_SENSOR_COLORS)]


def _positive(value: float, otherwise: float) -> float:
    value = float(value)
    return value if 0.0 < value < math.inf else otherwise


def _rgba(values: Any) -> RGBA:
    red, green, blue, alpha = (float(value) for value in values)
    return red, green, blue, alpha
