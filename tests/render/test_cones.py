"""Friction cones: their numbers against simulated contacts, their pixels against the projected outline."""

import dataclasses
from typing import Any

import mujoco
import numpy as np
import pytest
from contact_viewer import open_engine
from contact_viewer.mjmodel.friction import contact_cones
from contact_viewer.render.camera import CameraMatrices
from contact_viewer.render.contexts import load_opengl
from contact_viewer.render.gizmos import GizmoPass
from contact_viewer.render.glyphs import TOTAL, GizmoList, Glyphs, highlight_glyphs
from contact_viewer.render.style import GlyphScale, arrow_length, palette_colors
from contact_viewer.sensors.friction import Cone, ContactState, FrictionCones
from contact_viewer.session.layers.cones import build_cones, unique_cones
from contact_viewer.settings import GizmoSettings, Palette
from numpy.typing import ArrayLike, NDArray

from ..sensors.cone_outline import cone_outline
from .gl_state import gl_error, read_state, set_unusual_state
from .pictures import (
    SIDE,
    Image,
    Mask,
    changed,
    flat_model,
    forwarded,
    is_red,
    make_glyphs,
    places,
    renderer_of,
    take_picture,
)

SCALE = GlyphScale(force=0.1, torque=1.0, radius=0.02, width=0.03, lift=0.0, reference=10.0)
COLORS = palette_colors(mujoco.MjSpec().compile(), Palette.STANDARD)
VIEWPORT = (0, 0, SIDE, SIDE)
STATE_COLORS = {
    ContactState.OPEN: COLORS.open,
    ContactState.STICKING: COLORS.sticking,
    ContactState.SLIDING: COLORS.sliding,
}


def make_cones(
    axis: ArrayLike = (0, 0, 1),
    tangent0: ArrayLike = (1, 0, 0),
    friction: ArrayLike = (0.8, 0.8),
    cone: Cone = Cone.ELLIPTIC,
    state: ContactState = ContactState.SLIDING,
    apex: ArrayLike = (0, 0, 0),
) -> FrictionCones:
    """One contact's cone; axis and tangent are made unit and perpendicular."""
    apexes = np.atleast_2d(np.asarray(apex, float))
    normal = np.asarray(axis, float) / np.linalg.norm(axis)
    tangent = np.asarray(tangent0, float) - normal * (normal @ np.asarray(tangent0, float))
    shape = apexes.shape
    return FrictionCones(
        apex=apexes,
        axis=np.broadcast_to(normal, shape),
        tangent0=np.broadcast_to(tangent / np.linalg.norm(tangent), shape),
        friction=np.broadcast_to(np.asarray(friction, float), (len(apexes), 2)),
        cone=cone,
        use=np.ones(len(apexes)),
        states=np.full(len(apexes), state, np.int8),
    )


def build(cones: FrictionCones, force: float = 3.0, settings: GizmoSettings | None = None, index: int = 0) -> Glyphs:
    forces = np.full(len(cones.apex), force)
    return build_cones(index, cones, forces, settings or GizmoSettings(), SCALE, COLORS)


def photograph(glyphs: Glyphs, perspective: bool = False) -> tuple[Image, Mask, CameraMatrices]:
    """The picture, what of it glyphs changed, and its camera."""
    model = flat_model()
    if perspective:
        model.vis.global_.orthographic, model.vis.global_.fovy = 0, 45
    with renderer_of(model) as renderer:
        before = take_picture(renderer, forwarded(model), None)
        matrices = renderer.draw(forwarded(model), glyphs, GizmoSettings())
        image = renderer.read()
    return image, changed(image, before), matrices


def outline_pixels(cones: FrictionCones, height: float, matrices: CameraMatrices) -> NDArray[np.float64]:
    """The rim's points as they are seen, (64, 2) [px]."""
    pixels, _ = matrices.project(cones.apex[0] + height * cone_outline(cones, 64)[0], VIEWPORT)
    return np.asarray(pixels, float)


def inside_hull(points: NDArray[np.float64], margin: float) -> Mask:
    """Pixels within the convex hull of points, grown by a margin [px]."""
    rows, columns = np.mgrid[:SIDE, :SIDE]
    centers = np.stack([columns + 0.5, SIDE - rows - 0.5], axis=-1)
    angles = np.radians(np.arange(0, 360, 2))
    directions = np.stack([np.cos(angles), np.sin(angles)])
    reach = (points @ directions).max(axis=0)
    return np.asarray((centers @ directions <= reach + margin).all(axis=-1), bool)


@pytest.mark.parametrize("cone", list(Cone))
@pytest.mark.parametrize("perspective", [False, True])
@pytest.mark.parametrize(
    ("axis", "tangent0", "friction"),
    [
        ((0, 0, 1), (1, 0, 0), (0.8, 0.8)),
        ((0.4, -0.6, 0.7), (1, 0.2, 0), (0.9, 0.3)),
        ((-0.3, 0.7, 0.5), (0, 0.3, 1), (0.4, 1.1)),
        ((0, -1, 0), (1, 0, 0.5), (0.7, 0.5)),
        ((0.5, 1, -0.4), (0.2, 0.1, 1), (0.6, 0.6)),
    ],
)
def test_a_cone_covers_what_its_outline_encloses(
    cone: Cone, perspective: bool, axis: ArrayLike, tangent0: ArrayLike, friction: ArrayLike
) -> None:
    cones = make_cones(axis, tangent0, friction, cone)
    _, covered, matrices = photograph(build(cones), perspective)
    apex, _ = matrices.project(cones.apex, VIEWPORT)
    corners = np.concatenate([apex, outline_pixels(cones, 0.3, matrices)])
    assert inside_hull(corners, 0.0).sum() > 500
    assert not (inside_hull(corners, -1.5) & ~covered).any()
    # The rim's line is 2.4 pixels wide on either side; where it turns sharply its corner reaches twice as far.
    assert (covered & ~inside_hull(corners, 3.0)).sum() <= 4
    assert not (covered & ~inside_hull(corners, 4.8)).any()


def test_a_pyramid_has_its_corners_on_the_tangents() -> None:
    # Seen along the axis: half of the ellipse's box is a diamond, and pi / 4 of it an ellipse.
    areas = {}
    for cone in Cone:
        _, covered, _ = photograph(build(make_cones((0, -1, 0), (1, 0, 0), (1.0, 0.5), cone)))
        points = places(covered) - SIDE / 2
        # The rim's line adds a little over two pixels on each side.
        assert np.ptp(points, axis=0) == pytest.approx([2 * 60, 2 * 30], abs=9)
        areas[cone] = covered.sum()
    assert areas[Cone.ELLIPTIC] == pytest.approx(np.pi * 62 * 32, rel=0.03)
    assert areas[Cone.PYRAMIDAL] == pytest.approx(2 * 63 * 33, rel=0.06)


@pytest.mark.parametrize("state", [ContactState.STICKING, ContactState.SLIDING])
@pytest.mark.parametrize("cone", list(Cone))
def test_the_rim_is_a_clear_line_in_the_colour_of_the_state(state: ContactState, cone: Cone) -> None:
    cones = make_cones((0.3, -0.6, 0.7), (1, 0, 0), (0.9, 0.9), cone, state)
    image, _, matrices = photograph(build(cones))
    color = np.array(STATE_COLORS[state])
    expected = 0.5 + color[3] * (color[:3] - 0.5)
    rim = np.floor(outline_pixels(cones, 0.3, matrices)).astype(int)
    on_rim = image[SIDE - 1 - rim[:, 1], rim[:, 0]] / 255
    assert np.median(np.abs(on_rim - expected).max(axis=1)) < 0.12
    apex, _ = matrices.project(cones.apex, VIEWPORT)
    middle, _ = matrices.project(cones.apex + 0.3 * cones.axis, VIEWPORT)
    column, row = np.floor(0.4 * apex[0] + 0.6 * middle[0]).astype(int)
    # Glass, over grey 0.5: tinted, but far from opaque.
    tint = np.abs(image[SIDE - 1 - row, column] / 255 - 0.5).max()
    assert 0.02 < tint < 0.6 * np.abs(expected - 0.5).max()


def test_states_have_colours_that_stay_apart() -> None:
    for palette in (Palette.STANDARD, Palette.COLORBLIND):
        colors = palette_colors(mujoco.MjSpec().compile(), palette)
        sticking, sliding, still = (np.array(color[:3]) for color in (colors.sticking, colors.sliding, colors.open))
        assert np.abs(sticking - sliding).max() > 0.4
        # Warm: more red than blue. Calm: not.
        assert sliding[0] - sliding[2] > 0.5
        assert sticking[0] <= sticking[2]
        assert np.ptp(still) < 0.1


def test_an_open_contact_is_a_flat_ring_of_fixed_size() -> None:
    cones = make_cones((0, -1, 0), (1, 0, 0), (np.nan, np.nan), Cone.PYRAMIDAL, ContactState.OPEN)
    few, many = build(cones, 0.0), build(cones, 5.0)
    assert few.cones.tolist() == many.cones.tolist()
    assert few.cones[0, 3] == 0
    assert few.cones[0, 16:].tolist() == pytest.approx(COLORS.open)
    _, covered, _ = photograph(few)
    radius = np.linalg.norm(places(covered) - SIDE / 2, axis=1).max()
    assert SCALE.radius * SIDE < radius < 4 * SCALE.radius * SIDE


@pytest.mark.parametrize("friction", [(np.nan, np.nan), (0.0, 0.0), (np.inf, 0.5)])
def test_without_known_friction_there_is_no_cone(friction: ArrayLike) -> None:
    assert len(build(make_cones(friction=friction)).cones) == 0


def test_small_forces_draw_no_cone() -> None:
    assert len(build(make_cones(), 0.4, GizmoSettings(min_force=0.5)).cones) == 0
    assert len(build(make_cones(), 0.5, GizmoSettings(min_force=0.5)).cones) == 1


def test_cones_know_their_contact() -> None:
    cones = make_cones(apex=[[0, 0, 0], [1, 0, 0], [2, 0, 0]])
    friction = cones.friction.copy()
    friction[1] = np.nan
    glyphs = build(dataclasses.replace(cones, friction=friction), index=5)
    assert glyphs.cone_owner.tolist() == [[5, 0], [5, 2]]
    assert glyphs.cones[:, 0].tolist() == [0, 2]


def slope_glyphs(seconds: float, log_length: bool = False) -> tuple[Glyphs, GlyphScale, FrictionCones]:
    """Total force arrows and cones of the box on the slope."""
    engine = open_engine("slope")
    engine.step(round(seconds / engine.timestep))
    scale = dataclasses.replace(SCALE, log_length=log_length)
    settings = GizmoSettings(total=True)
    batch = engine.contacts("box_on_slope")
    cones = contact_cones(engine.model, engine.data, batch)
    assert cones is not None
    assert batch.force is not None
    arrows = make_glyphs(engine.model, batch, settings, scale)
    shapes = build_cones(0, cones, batch.force[batch.filled, 0], settings, scale, COLORS)
    return Glyphs.concat([arrows, shapes]), scale, cones


@pytest.mark.parametrize(("seconds", "state"), [(1.0, ContactState.SLIDING), (1.84, ContactState.STICKING)])
def test_the_whole_force_ends_inside_the_rim_or_on_it(seconds: float, state: ContactState) -> None:
    glyphs, _, cones = slope_glyphs(seconds)
    assert cones.states.tolist() == [state] * 4
    assert len(glyphs.cones) == 4
    for row, owner in zip(glyphs.cones.astype(float), glyphs.cone_owner, strict=True):
        (arrow,) = glyphs.arrows[(glyphs.arrow_owner == [*owner, TOTAL]).all(axis=1)].astype(float)
        assert row[:3] == pytest.approx(arrow[:3])
        axis, tangent0 = row[4:7], row[8:11]
        along = [arrow[4:7] @ direction for direction in (axis, tangent0, np.cross(axis, tangent0))]
        assert along[0] == pytest.approx(row[3], rel=1e-5)
        reach = np.hypot(along[1] / row[7], along[2] / row[11])
        assert reach == pytest.approx(1.0, abs=2e-3) if state is ContactState.SLIDING else reach < 0.5
        assert row[16:] == pytest.approx(STATE_COLORS[state])


def test_a_cone_is_as_high_as_its_normal_arrow_is_long() -> None:
    for log_length in (False, True):
        glyphs, _, _ = slope_glyphs(1.0, log_length)
        for row, owner in zip(glyphs.cones, glyphs.cone_owner, strict=True):
            (arrow,) = glyphs.arrows[(glyphs.arrow_owner == [*owner, 0]).all(axis=1)]
            assert row[3] == pytest.approx(np.linalg.norm(arrow[4:7]), rel=1e-5)
    assert arrow_length(3.0, SCALE) == pytest.approx(0.3)


def test_a_contact_of_two_sensors_draws_one_cone() -> None:
    first, second = build(make_cones(), index=0), build(make_cones(apex=[[0, 0, 0], [1, 0, 0]]), index=1)
    turned = build(make_cones(axis=(0, 0, -1)), index=2)
    glyphs = unique_cones(Glyphs.concat([first, second, turned]))
    assert glyphs.cone_owner.tolist() == [[0, 0], [1, 1], [2, 0]]


def test_highlight_dims_the_other_cones() -> None:
    cones = build(make_cones(apex=[[0, 0, 0], [1, 0, 0]]), index=3)
    point = np.array([[0, 0, 0, 0.1, 1, 1, 1, 1]], np.float32)
    spot = dataclasses.replace(Glyphs(), spheres=point, sphere_owner=np.array([[3, 1]], np.int32))
    glyphs = highlight_glyphs(Glyphs.concat([cones, spot]), (3, 1, None))
    assert glyphs.cones[1, 19] == 1
    assert glyphs.cones[0, 19] < 0.5
    assert cones.cones[0, 19] == 1


WALL = '<geom type="box" pos="0 -0.5 0" size="0.4 0.05 0.4" rgba="0.2 0.2 0.2 1"/>'


def test_geometry_hides_cones_unless_they_are_seen_through() -> None:
    glyphs, model = build(make_cones()), flat_model(WALL)
    with renderer_of(model) as renderer:
        wall = take_picture(renderer, forwarded(model), None)
        hidden = take_picture(renderer, forwarded(model), glyphs, see_through=False)
        seen = take_picture(renderer, forwarded(model), glyphs, see_through=True)
    assert not changed(hidden, wall).any()
    assert changed(seen, wall).sum() > 500
    assert is_red(seen).sum() > 20


def test_a_cone_covers_nothing() -> None:
    # It stands before the sphere, and is drawn first.
    gizmos = GizmoList()
    gizmos.draw_sphere(0.1, (0, 1, 0.2), (0, 0, 1))
    sphere = gizmos.pop_glyphs()
    model = flat_model()
    with renderer_of(model) as renderer:
        matrices = renderer.draw(forwarded(model), sphere, GizmoSettings(see_through=False))
        alone = renderer.read()
        renderer.draw(forwarded(model), build(make_cones()), GizmoSettings(see_through=False))
        assert renderer.canvas.gizmo_pass is not None
        renderer.canvas.gizmo_pass.draw(sphere, matrices, VIEWPORT, see_through=False)
        after = renderer.read()
    center = SIDE // 2 - 40, SIDE // 2
    assert alone[center].tolist() == after[center].tolist()


def test_arrows_inside_a_cone_show_through_it() -> None:
    gizmos = GizmoList(width=0.05)
    gizmos.draw_arrow((0, 0, 0), (0, 0, 0.3), (0, 0, 1))
    arrow = gizmos.pop_glyphs()
    plain, _, _ = photograph(arrow)
    image, _, _ = photograph(Glyphs.concat([arrow, build(make_cones(friction=(0.5, 0.5)))]))
    row, column = SIDE // 2 - 20, SIDE // 2
    assert plain[row, column, 2] > 200
    assert image[row, column, 2] > 0.75 * plain[row, column, 2]
    assert image[row, column, 0] > plain[row, column, 0]


@pytest.mark.parametrize(("see_through", "expected"), [(True, 6), (False, 3)])
def test_cones_add_one_draw_call_a_pass(see_through: bool, expected: int) -> None:
    model, gizmos = flat_model(), GizmoList()
    gizmos.draw_sphere(0.1, (0, 0, 0), (1, 1, 1))
    gizmos.draw_arrow((0, 0, 0), (0, 0, 1), (1, 1, 1))
    others = gizmos.pop_glyphs()
    with renderer_of(model) as renderer:
        for count in (1, 300):
            spots = np.random.default_rng(0).uniform(-0.4, 0.4, (count, 3))
            glyphs = Glyphs.concat([others, build(make_cones(apex=spots))])
            take_picture(renderer, forwarded(model), glyphs, see_through)
            assert renderer.canvas.gizmo_pass is not None
            assert renderer.canvas.gizmo_pass.draw_calls == expected


@pytest.mark.parametrize("own_vertex_arrays", [True, False])
def test_gl_state_is_left_as_it_was(own_vertex_arrays: bool) -> None:
    model, glyphs = flat_model(), build(make_cones())
    with renderer_of(model) as renderer:
        matrices = renderer.draw(forwarded(model))
        gl: Any = load_opengl()
        gizmo_pass = GizmoPass(own_vertex_arrays=own_vertex_arrays)
        set_unusual_state(gl)
        before = read_state(gl)
        gizmo_pass.draw(glyphs, matrices, VIEWPORT)
        assert gl_error() is None
        assert read_state(gl) == before
        gl.glUseProgram(0)
        gl.glBindVertexArray(0)
        gizmo_pass.close()


def test_small_cones_are_small() -> None:
    # Of a few pixels: the rim's line must not grow over it.
    _, covered, _ = photograph(build(make_cones((0, -1, 0)), force=0.2))
    points = places(covered) - SIDE / 2
    assert 0 < np.abs(points).max() < 0.8 * 0.02 * SIDE + 2.5
