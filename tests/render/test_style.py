"""Sizes of gizmos: what a weight draws, at any size of scene, in every mode; colours that stay apart."""

import colorsys
import dataclasses
import itertools
import math
from typing import Any

import mujoco
import numpy as np
import pytest
from contact_viewer.render.style import (
    BESIDE_COLOR,
    GlyphScale,
    arrow_length,
    nice_force,
    palette_colors,
    reference_force,
    sensor_color,
    torque_length,
)
from contact_viewer.settings import GizmoSettings, Palette, ScaleMode
from hypothesis import given
from hypothesis import strategies as st

from .pictures import usual_scale

SETTINGS = GizmoSettings()
LOG = GizmoSettings(log_length=True)


def boxes(masses: list[float], size: float = 0.1, gravity: str = "0 0 -9.81", extra: str = "") -> Any:
    bodies = "".join(
        f'<body pos="{3 * size * i} 0 {size}"><freejoint/>'
        f'<geom type="box" size="{size} {size} {size}" mass="{mass}"/></body>'
        for i, mass in enumerate(masses)
    )
    return mujoco.MjModel.from_xml_string(
        f'<mujoco><option gravity="{gravity}"/><worldbody><geom type="plane" size="{10 * size} {10 * size} 1"/>'
        f"{bodies}{extra}</worldbody></mujoco>"
    )


def glyph_scale(model: Any, settings: GizmoSettings) -> GlyphScale:
    return usual_scale(model, settings)


def test_before_forces_are_known_the_weight_sets_the_scale() -> None:
    """A quarter of the weight of one object draws 80 to 200 pixels across the view."""
    model = boxes([2.0])
    scale = glyph_scale(model, SETTINGS)
    assert scale.gauge is not None
    pixel = scale.gauge.eye.pixel_size([0, 0, 0.1])[0]
    assert 80 <= arrow_length(0.25 * 2.0 * 9.81, scale) / pixel <= 200


@pytest.mark.parametrize("mode", [ScaleMode.AUTO, ScaleMode.FIXED])
def test_a_scene_twice_as_large_draws_torques_like_its_forces(mode: ScaleMode) -> None:
    """A force at twice the arm is twice the torque: in the larger scene it has to be drawn as long as its arrow."""
    settings = dataclasses.replace(SETTINGS, scale_mode=mode)
    small, large = (glyph_scale(boxes([2.0], size=size), settings) for size in (0.1, 0.2))
    force = 7.0
    for arm in (0.05, 0.3):
        drawn = [torque_length(force * arm * size, scale) for size, scale in ((1, small), (2, large))]
        assert drawn[1] / drawn[0] == pytest.approx(arrow_length(force, large) / arrow_length(force, small))


def test_a_robot_counts_as_one_weight_however_many_bodies_it_has() -> None:
    hand = '<body pos="0.2 0 0"><joint/><geom size="0.1" mass="2"/></body>'
    arm = f'<body pos="0 0 1"><joint/><geom size="0.1" mass="3"/>{hand}</body>'
    assert reference_force(boxes([], extra=arm)) == pytest.approx(5 * 9.81)


def test_a_pile_lies_between_its_total_weight_and_one_object() -> None:
    reference = reference_force(boxes([0.5] * 16))
    assert 0.5 * 9.81 < reference < 16 * 0.5 * 9.81
    assert reference == pytest.approx(4 * 0.5 * 9.81)


def test_static_and_welded_bodies_have_no_weight() -> None:
    welded = '<body pos="0 0 5"><geom size="0.1" mass="1000"/></body>'
    assert reference_force(boxes([2.0], extra=welded)) == pytest.approx(2 * 9.81)


@pytest.mark.parametrize("gravity", ["0 0 0", "0 0 -9.81"])
def test_without_gravity_the_weight_on_earth_counts(gravity: str) -> None:
    assert reference_force(boxes([2.0], gravity=gravity)) == pytest.approx(2 * 9.81)


def test_gravity_counts_whatever_its_direction() -> None:
    assert reference_force(boxes([2.0], gravity="1 2 2")) == pytest.approx(6.0)


@pytest.mark.parametrize("mode", list(ScaleMode))
@pytest.mark.parametrize("masses", [[], [1e-6], [1e6]])
@pytest.mark.parametrize("size", [1e-4, 0.1, 1e3])
def test_sizes_are_finite_and_positive_in_any_scene(masses: list[float], size: float, mode: ScaleMode) -> None:
    scale = glyph_scale(boxes(masses, size), GizmoSettings(scale_mode=mode))
    for field in dataclasses.fields(GlyphScale):
        value = getattr(scale, field.name)
        assert not isinstance(value, float) or (0 < value < math.inf), field.name


def test_gizmos_grow_with_the_scene() -> None:
    small, large = (glyph_scale(boxes([1.0], size), SETTINGS) for size in (0.01, 10.0))
    for name in ("force", "radius", "width", "lift"):
        assert getattr(large, name) == pytest.approx(1000 * getattr(small, name), rel=1e-3)


def test_modes_follow_their_rules() -> None:
    model = boxes([2.0])
    model.vis.map.force = 0.02
    fixed = glyph_scale(model, GizmoSettings(scale_mode=ScaleMode.FIXED, fixed_scale=0.03))
    assert arrow_length(10.0, fixed) == pytest.approx(0.3)
    as_mujoco = glyph_scale(model, GizmoSettings(scale_mode=ScaleMode.MUJOCO))
    assert arrow_length(10.0, as_mujoco) == pytest.approx(10.0 * 0.02 / model.stat.meanmass)


def test_factors_multiply() -> None:
    model = boxes([1.0])
    plain = glyph_scale(model, SETTINGS)
    scaled = glyph_scale(model, GizmoSettings(length=3, width=2, point_size=5))
    assert scaled.force == pytest.approx(3 * plain.force)
    assert scaled.torque == pytest.approx(3 * plain.torque)
    assert scaled.width == pytest.approx(2 * plain.width)
    assert scaled.radius == pytest.approx(5 * plain.radius)


def test_log_length_is_odd_grows_and_meets_the_linear_one_at_the_reference() -> None:
    model = boxes([1.0])
    linear, logarithmic = glyph_scale(model, SETTINGS), glyph_scale(model, LOG)
    forces = np.array([0.001, 0.1, 1, 9.81, 100, 1e4])
    lengths = arrow_length(forces, logarithmic)
    assert (np.diff(lengths) > 0).all()
    assert arrow_length(-forces, logarithmic).tolist() == (-lengths).tolist()
    assert arrow_length(0.0, logarithmic) == 0
    reference = logarithmic.reference
    assert arrow_length(reference, logarithmic) == pytest.approx(arrow_length(reference, linear))
    # A thousand times the force draws a small multiple of the length.
    assert 1.5 < lengths[-1] / arrow_length(10.0, logarithmic) < 3
    assert torque_length(1.0, logarithmic) == pytest.approx(
        arrow_length(logarithmic.torque / logarithmic.force, logarithmic)
    )


@given(st.floats(1e-9, 1e9), st.floats(1e-6, 1e3), st.booleans())
def test_legend_forces_are_round_and_the_longest_that_fit(per_force: float, target: float, log: bool) -> None:
    scale = GlyphScale(per_force, 1.0, 1.0, 1.0, 1.0, reference=0.3 / per_force, log_length=log)
    force = nice_force(scale, target)
    mantissa = force / 10 ** math.floor(math.log10(force) + 1e-9)
    assert min(abs(mantissa - step) for step in (1, 2, 5)) < 1e-6
    # The logarithm's inverse overflows far beyond any force of this world.
    if force < 1e60 / per_force:
        assert arrow_length(force, scale) <= target * (1 + 1e-6)
        assert arrow_length(2.51 * force, scale) > target


def test_a_legend_for_nothing_still_has_a_number() -> None:
    scale = GlyphScale(0.01, 1.0, 1.0, 1.0, 1.0, reference=30.0)
    assert nice_force(scale, 0.0) > 0
    assert nice_force(scale, math.nan) > 0
    assert nice_force(scale, 0.1) == pytest.approx(10)


@pytest.mark.parametrize("palette", list(Palette))
def test_colours_of_a_palette_stay_apart(palette: Palette) -> None:
    colors = palette_colors(boxes([1.0]), palette)
    drawn = [colors.normal, colors.tangent0, colors.tangent1, colors.point, colors.torque]
    if palette is not Palette.MUJOCO:
        # MuJoCo has one colour for all forces.
        drawn.append(colors.total)
    distances = [math.dist(a[:3], b[:3]) for a, b in itertools.combinations(drawn, 2)]
    assert min(distances) > 0.2
    assert all(0 <= value <= 1 for color in drawn for value in color)


def test_the_mujoco_palette_is_the_models() -> None:
    model = boxes([1.0])
    model.vis.rgba.contactpoint[:] = 0.1, 0.2, 0.3, 1
    assert palette_colors(model, Palette.MUJOCO).point == pytest.approx((0.1, 0.2, 0.3, 1))


def test_sensor_colours_stay_apart_for_twelve_then_repeat() -> None:
    colors = [sensor_color(i) for i in range(12)]
    assert min(math.dist(a, b) for a, b in itertools.combinations(colors, 2)) > 0.25
    assert sensor_color(12) == colors[0]


def test_nothing_else_has_the_colour_of_a_run_beside() -> None:
    hue, _, value = colorsys.rgb_to_hsv(*BESIDE_COLOR[:3])
    palettes = [palette_colors(boxes([1.0]), palette) for palette in (Palette.STANDARD, Palette.COLORBLIND)]
    for color in [sensor_color(i) for i in range(12)] + [each for colors in palettes for each in vars(colors).values()]:
        other, saturation, light = colorsys.rgb_to_hsv(*color[:3])
        apart = abs((other - hue + 0.5) % 1 - 0.5)
        assert apart > 30 / 360 or saturation < 0.45 or light < 0.6 * value, color


def test_sensor_colours_are_not_those_of_normal_and_tangents() -> None:
    """A curve must not be read as a component: its hue is far from green, red and blue, or it is nearly grey."""
    colors = palette_colors(boxes([1.0]), Palette.STANDARD)
    components = [colorsys.rgb_to_hsv(*each[:3])[0] for each in (colors.normal, colors.tangent0, colors.tangent1)]
    for i in range(12):
        hue, saturation, _ = colorsys.rgb_to_hsv(*sensor_color(i)[:3])
        apart = min(abs((hue - other + 0.5) % 1 - 0.5) for other in components)
        assert saturation < 0.25 or apart > 20 / 360, i
