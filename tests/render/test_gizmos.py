"""The gizmo pass by pixels: colours, directions, lengths, occlusion, depth conventions, state and leaks."""

from typing import Any

import numpy as np
import pytest
from contact_viewer.render.contexts import OffscreenContext, load_opengl
from contact_viewer.render.gizmos import GizmoPass
from contact_viewer.render.glyphs import GizmoList, Glyphs
from contact_viewer.render.style import GlyphScale, palette_colors
from contact_viewer.settings import GizmoSettings, Palette, Quality
from numpy.typing import NDArray

from .gl_state import gl_error, read_state, set_unusual_state
from .pictures import (
    PIXEL,
    SIDE,
    Image,
    changed,
    count_objects,
    flat_model,
    forwarded,
    is_blue,
    is_green,
    is_red,
    is_white,
    make_contacts,
    make_glyphs,
    places,
    renderer_of,
    take_picture,
)

SCALE = GlyphScale(force=0.1, torque=1.0, radius=0.02, width=0.03, lift=0.0, reference=10.0)
CENTER = np.array([SIDE / 2, SIDE / 2])


def picture_of(glyphs: Glyphs, more: str = "", see_through: bool = True, quality: Quality = Quality.LOW) -> Image:
    model = flat_model(more)
    with renderer_of(model, quality=quality) as renderer:
        return take_picture(renderer, forwarded(model), glyphs, see_through)


def contact_picture(force: Any, **more: Any) -> Image:
    batch = make_contacts([[0, 0, 0]], force, **more)
    return picture_of(make_glyphs(flat_model(), batch, scale=SCALE))


def reach(mask: NDArray[np.bool_], direction: tuple[float, float]) -> float:
    """How far from the centre the mask goes in a direction [px]."""
    unit = np.array(direction) / np.linalg.norm(direction)
    return float(((places(mask) - CENTER) @ unit).max())


def test_a_contact_shows_all_four_colours_in_their_directions() -> None:
    # Tangent1 = normal x tangent0 points along +y, away from the eye: turn the frame so that it shows.
    image = contact_picture([3.0, 2.0, 2.5], normal=[0, 0, 1], tangent0=[1, 0, 0])
    assert is_white(image).sum() > 20
    assert is_green(image).sum() > 100
    assert is_red(image).sum() > 100
    assert reach(is_green(image), (0, 1)) == pytest.approx(0.3 / PIXEL, abs=2)
    assert reach(is_red(image), (1, 0)) == pytest.approx(0.2 / PIXEL, abs=2)
    turned = contact_picture([3.0, 0.0, -2.5], normal=[0, 0, 1], tangent0=[0, 1, 0])
    # Tangent1 = (0,0,1) x (0,1,0) = (-1,0,0), and the force is negative: to the right.
    assert reach(is_blue(turned), (1, 0)) == pytest.approx(0.25 / PIXEL, abs=2)
    assert reach(is_blue(turned), (-1, 0)) < 5


@pytest.mark.parametrize("angle", [0, 30, 75, 120, 200, 310])
def test_an_arrow_points_along_its_force(angle: float) -> None:
    direction = np.array([np.cos(np.radians(angle)), np.sin(np.radians(angle))])
    image = contact_picture([3.0, 0, 0], normal=[direction[0], 0, direction[1]], tangent0=[0, 1, 0])
    green = places(is_green(image)) - CENTER
    assert (green @ direction).max() == pytest.approx(60, abs=2)
    sideways = green @ [-direction[1], direction[0]]
    assert abs(sideways.mean()) < 0.7
    assert np.abs(sideways).max() < 10


def test_lengths_are_proportional_to_forces() -> None:
    lengths = [reach(is_green(contact_picture([force, 0, 0])), (0, 1)) for force in (1.0, 2.0, 4.0)]
    assert np.diff(lengths) == pytest.approx([20, 40], abs=1.5)


def test_a_sphere_covers_the_disk_of_its_radius() -> None:
    image = picture_of(make_glyphs(flat_model(), make_contacts([[0, 0, 0]], [0, 0, 0]), scale=SCALE))
    background = picture_of(Glyphs())
    covered = changed(image, background)
    radius = SCALE.radius / PIXEL
    assert covered.sum() == pytest.approx(np.pi * radius**2, rel=0.35)
    assert np.abs(places(covered) - CENTER).max() <= radius + 1.1
    assert places(covered).mean(axis=0) == pytest.approx(CENTER, abs=0.3)


def test_a_white_sphere_has_a_dark_rim_so_that_it_shows_on_white() -> None:
    white_wall = '<geom type="box" pos="0 1 0" size="3 0.1 3" rgba="1 1 1 1"/>'
    scale = GlyphScale(0.1, 1.0, radius=0.05, width=0.03, lift=0.0, reference=10.0)
    glyphs = make_glyphs(flat_model(), make_contacts([[0, 0, 0]], [0, 0, 0]), scale=scale)
    image = picture_of(glyphs, white_wall)
    rim = places(image.max(axis=2) < 150) - CENTER
    assert len(rim) > 30
    assert np.linalg.norm(rim, axis=1) == pytest.approx(np.full(len(rim), 10), abs=2)


def test_a_short_arrow_is_a_small_arrow() -> None:
    def outline(length: float) -> tuple[float, float, float]:
        gizmos = GizmoList(width=0.08)
        gizmos.draw_arrow((0, 0, 0), (0, 0, length), (0, 1, 0))
        points = places(is_green(picture_of(gizmos.pop_glyphs()))) - CENTER
        low = points[points[:, 1] < 0.15 * length / PIXEL]
        return float(points[:, 1].max()), float(np.ptp(points[:, 0]) + 1), float(np.ptp(low[:, 0]) + 1)

    height, width, shaft = outline(0.2)
    # Shorter than its head would be: all of it shrinks together.
    assert height == pytest.approx(40, abs=2)
    assert width < 0.7 * height
    assert shaft < 0.6 * width
    smaller = outline(0.1)
    assert smaller[0] == pytest.approx(20, abs=2)
    assert smaller[1] == pytest.approx(width / 2, abs=2)


@pytest.mark.parametrize("toward", [-1, 1])
def test_an_arrow_along_the_view_shows_its_round_end(toward: int) -> None:
    gizmos = GizmoList(width=0.06)
    gizmos.draw_arrow((0, 0, 0), (0, -0.5 * toward, 0), (0, 1, 0))
    image = picture_of(gizmos.pop_glyphs())
    points = places(changed(image, picture_of(Glyphs()))) - CENTER
    extent = np.ptp(points, axis=0) + 1
    # The head's base, 2.6 shafts wide, and its outline.
    assert extent == pytest.approx(np.full(2, 2.6 * 0.06 / PIXEL + 2 * 1.5), abs=2.5)
    assert len(points) == pytest.approx(np.pi / 4 * extent[0] * extent[1], rel=0.1)


@pytest.mark.parametrize("shade", [0.0, 0.5, 1.0])
def test_an_arrow_has_a_dark_outline_on_any_ground(shade: float) -> None:
    wall = f'<geom type="box" pos="0 1 0" size="3 0.1 3" rgba="{shade} {shade} {shade} 1"/>'
    gizmos = GizmoList(width=0.03)
    gizmos.draw_arrow((0, 0, -0.2), (0, 0, 0.25), (0.05, 0.7, 0.22))
    image = picture_of(gizmos.pop_glyphs(), wall)
    # Across the shaft: ground, outline, colour, outline, ground; either the colour or its outline stands out by 3.
    row = image[SIDE // 2 + 10].astype(float)
    ground, core = luminance(row[5]), luminance(row[SIDE // 2])
    edges = [min(luminance(pixel) for pixel in row[side]) for side in (slice(90, 97), slice(103, 110))]
    assert max(edges) < 0.02
    assert max(contrast(core, ground), contrast(max(edges), ground)) > 3.0
    assert contrast(core, max(edges)) > 3.0


@pytest.mark.parametrize("shade", [0.0, 0.25, 0.5])
@pytest.mark.parametrize("palette", [Palette.STANDARD, Palette.COLORBLIND])
@pytest.mark.parametrize("name", ["normal", "tangent0", "tangent1", "total"])
def test_every_arrow_stands_out_against_its_outline(name: str, palette: Palette, shade: float) -> None:
    wall = f'<geom type="box" pos="0 1 0" size="3 0.1 3" rgba="{shade} {shade} {shade} 1"/>'
    gizmos = GizmoList(width=0.03)
    gizmos.draw_arrow((0, 0, -0.2), (0, 0, 0.25), getattr(palette_colors(flat_model(), palette), name))
    row = picture_of(gizmos.pop_glyphs(), wall)[SIDE // 2 + 10].astype(float)
    for edge in (row[90:97], row[103:110]):
        assert contrast(luminance(row[SIDE // 2]), min(luminance(pixel) for pixel in edge)) > 3.0


def luminance(pixel: Any) -> float:
    """As the contrast rule for texts defines it."""
    part = np.asarray(pixel, float) / 255
    return float(np.where(part <= 0.04045, part / 12.92, ((part + 0.055) / 1.055) ** 2.4) @ [0.2126, 0.7152, 0.0722])


def contrast(one: float, other: float) -> float:
    return (max(one, other) + 0.05) / (min(one, other) + 0.05)


def test_the_body_that_a_force_acts_on_does_not_hide_its_arrow() -> None:
    glyphs = make_glyphs(flat_model(), make_contacts([[0, 0, 0]], [3.0, 0, 0]), scale=SCALE)
    free = is_green(picture_of(glyphs))
    for distance, is_hidden in ((0.2, False), (0.6, True)):
        wall = f'<geom type="box" pos="0 -{distance} 0" size="0.4 0.05 0.4" rgba="0.2 0.2 0.2 1"/>'
        raised = make_glyphs(flat_model(wall), make_contacts([[0, 0, 0]], [3.0, 0, 0]), scale=SCALE)
        seen = is_green(picture_of(raised, wall, see_through=False))
        assert bool((seen & free).sum() < 0.5 * free.sum()) is is_hidden


WALL = '<geom type="box" pos="0 -0.5 0" size="0.2 0.05 0.2" rgba="0.2 0.2 0.2 1"/>'


def test_geometry_hides_gizmos_unless_they_are_seen_through() -> None:
    glyphs = make_glyphs(flat_model(), make_contacts([[0, 0, 0]], [1.5, 1.0, 0]), scale=SCALE)
    wall, hidden = picture_of(Glyphs(), WALL), picture_of(glyphs, WALL, see_through=False)
    assert not changed(hidden, wall).any()
    seen, free = picture_of(glyphs, WALL), picture_of(glyphs)
    shown = is_green(free)
    assert shown.sum() > 40
    assert (seen[shown, 1] > wall[shown, 1]).all()
    # Dimmed: between the wall and the gizmo, nearer to neither by far.
    share = (seen[shown, 1].astype(float) - wall[shown, 1]) / (free[shown, 1].astype(float) - wall[shown, 1])
    assert 0.3 < np.median(share) < 0.6


def test_what_is_in_front_looks_the_same_with_and_without_see_through() -> None:
    batch = make_contacts([[0, -1, 0]], [1.5, 1.0, 0.5], tangent0=[0.8, 0.6, 0])
    glyphs = make_glyphs(flat_model(), batch, scale=SCALE)
    with_it, without = (picture_of(glyphs, WALL, see_through=see_through) for see_through in (True, False))
    assert is_green(without).sum() > 40
    assert not changed(with_it, without).any()


def test_an_arrow_half_behind_a_wall_is_hidden_just_there() -> None:
    gizmos = GizmoList(width=0.05)
    gizmos.draw_arrow((-0.4, 0, 0), (0.4, 0, 0), (0, 1, 0))
    green = places(is_green(picture_of(gizmos.pop_glyphs(), WALL, see_through=False)))
    behind = np.abs(green[:, 0] - CENTER[0]) < 0.2 / PIXEL - 1
    assert not behind.any()
    assert len(green) > 200


def test_nearer_gizmos_cover_farther_ones_whatever_their_order() -> None:
    for order in ([0, 1], [1, 0]):
        gizmos = GizmoList()
        for index in order:
            place, color = [((0, -0.5, 0), (1, 0, 0)), ((0.05, 0.5, 0), (0, 0, 1))][index]
            gizmos.draw_sphere(0.1, place, color)
        image = picture_of(gizmos.pop_glyphs())
        assert is_red(image)[SIDE // 2, SIDE // 2]
        assert is_blue(image).sum() > 50


def test_spheres_cut_each_other_where_their_surfaces_meet() -> None:
    gizmos = GizmoList()
    gizmos.draw_sphere(0.2, (-0.1, 0, 0), (1, 0, 0))
    gizmos.draw_sphere(0.2, (0.1, 0, 0), (0, 0, 1))
    image = picture_of(gizmos.pop_glyphs())
    # Equal depth in the middle: each owns its half.
    assert np.abs(places(is_red(image))[:, 0].max() - CENTER[0]) < 2
    assert np.abs(places(is_blue(image))[:, 0].min() - CENTER[0]) < 2


def test_translucent_gizmos_blend() -> None:
    gizmos = GizmoList()
    gizmos.draw_sphere(0.2, (0, 0, 0), (1, 0, 0, 0.35))
    center = picture_of(gizmos.pop_glyphs())[SIDE // 2, SIDE // 2]
    # Over grey 0.5: red rises by 0.35 of the way to 1, the others fall by 0.35 of the way to 0.
    assert center / 255 == pytest.approx([0.675, 0.325, 0.325], abs=0.03)


def test_gizmos_show_in_multisampled_pictures() -> None:
    glyphs = make_glyphs(flat_model(), make_contacts([[0, 0, 0]], [3.0, 2.0, 0]), scale=SCALE)
    smooth, plain = picture_of(glyphs, quality=Quality.HIGH), picture_of(glyphs, quality=Quality.LOW)
    assert is_green(smooth).sum() == pytest.approx(is_green(plain).sum(), rel=0.1)
    assert reach(is_red(smooth), (1, 0)) == pytest.approx(40, abs=2)


def test_perspective_and_orthographic_cameras_agree_on_the_tip() -> None:
    model = flat_model()
    glyphs = make_glyphs(model, make_contacts([[0.1, 0.1, 0]], [3.0, 0, 0]), scale=SCALE)
    for orthographic in (0, 1):
        model.vis.global_.orthographic = orthographic
        model.vis.global_.fovy = 1 if orthographic else 45
        with renderer_of(model) as renderer:
            matrices = renderer.draw(forwarded(model), glyphs, GizmoSettings())
            green = places(is_green(renderer.read()))
        assert matrices.orthographic == bool(orthographic)
        tip, _ = matrices.project([0.1, 0.1, 0.3], (0, 0, SIDE, SIDE))
        assert np.linalg.norm(green - tip, axis=1).min() < 2
        assert green[:, 1].max() == pytest.approx(tip[0, 1], abs=2)


@pytest.mark.parametrize("see_through", [True, False])
def test_draw_calls_do_not_grow(see_through: bool, monkeypatch: pytest.MonkeyPatch) -> None:
    model = flat_model()
    with renderer_of(model) as first:
        first.draw(forwarded(model))
    gl = load_opengl()
    calls: list[tuple[Any, ...]] = []
    uploads: list[tuple[Any, ...]] = []

    def spy(name: str, seen: list[tuple[Any, ...]]) -> None:
        original = getattr(gl, name)

        def call(*args: Any) -> Any:
            seen.append(args)
            return original(*args)

        monkeypatch.setattr(gl, name, call)

    spy("glDrawElementsInstanced", calls)
    spy("glBufferData", uploads)
    counts = set()
    with renderer_of(model) as renderer:
        for contacts in (1, 500):
            spots = np.random.default_rng(0).uniform(-0.4, 0.4, (contacts, 3))
            glyphs = make_glyphs(model, make_contacts(spots, [1.0, 0.5, 0.5]), scale=SCALE)
            calls.clear()
            uploads.clear()
            take_picture(renderer, forwarded(model), glyphs, see_through)
            assert sorted({int(args[4]) for args in calls}) == sorted({contacts, 3 * contacts})
            assert len(uploads) == 2
            counts.add((len(calls), renderer.canvas.gizmo_pass.draw_calls if renderer.canvas.gizmo_pass else -1))
    assert counts == {(4, 4) if see_through else (2, 2)}


def test_nothing_to_draw_makes_no_call(context: OffscreenContext) -> None:
    assert context.renderer
    gizmos = GizmoPass()
    model = flat_model()
    with renderer_of(model) as renderer:
        matrices = renderer.draw(forwarded(model))
    context.make_current()
    gizmos.draw(Glyphs(), matrices, (0, 0, 8, 8))
    assert gizmos.draw_calls == 0
    gizmos.close()


@pytest.mark.parametrize("convention", ["reversed, 0 to 1", "reversed, -1 to 1", "usual", "usual, 0 to 1"])
def test_depth_is_right_in_every_convention(convention: str) -> None:
    # MuJoCo uses the first where it can and the second elsewhere; the others are what it may use one day.
    model = flat_model()
    gizmos = GizmoList()
    gizmos.draw_sphere(0.1, (0, 1, 0), (0, 0, 1))
    gizmos.draw_sphere(0.1, (0.05, 0, 0), (1, 0, 0))
    gizmos.draw_arrow((-0.4, 0.5, 0), (0.4, 0.5, 0), (0, 1, 0))
    glyphs = gizmos.pop_glyphs()
    with renderer_of(model) as renderer:
        matrices = renderer.draw(forwarded(model))
        gl = load_opengl()
        is_reversed, zero_to_one = convention.startswith("reversed"), convention.endswith("0 to 1")
        gl.glClipControl(gl.GL_LOWER_LEFT, gl.GL_ZERO_TO_ONE if zero_to_one else gl.GL_NEGATIVE_ONE_TO_ONE)
        gl.glDepthFunc(gl.GL_GEQUAL if is_reversed else gl.GL_LESS)
        gl.glClearDepth(0.0 if is_reversed else 1.0)
        gl.glClearColor(0, 0, 0, 1)
        gl.glDepthMask(True)
        gl.glClear(gl.GL_COLOR_BUFFER_BIT | gl.GL_DEPTH_BUFFER_BIT)
        assert renderer.canvas.gizmo_pass is not None
        renderer.canvas.gizmo_pass.draw(glyphs, matrices, (0, 0, SIDE, SIDE), see_through=False)
        image = renderer.read()
    middle = image[SIDE // 2, SIDE // 2]
    assert middle[0] > 150
    assert middle[2] < 60
    # The arrow lies between the spheres: over the blue one, under the red one.
    assert is_green(image)[SIDE // 2, SIDE // 2 - 17]
    assert is_red(image)[SIDE // 2, SIDE // 2 + 10]


def test_a_viewport_is_kept_to() -> None:
    model = flat_model()
    gizmos = GizmoList(width=0.2)
    gizmos.draw_arrow((-3, 0, 0), (3, 0, 0), (0, 1, 0))
    with renderer_of(model) as renderer:
        before = take_picture(renderer, forwarded(model), None)
        matrices = renderer.draw(forwarded(model))
        assert renderer.canvas.gizmo_pass is not None
        renderer.canvas.gizmo_pass.draw(gizmos.pop_glyphs(), matrices, (50, 20, 60, 80))
        touched = places(changed(renderer.read(), before))
    assert touched.min(axis=0).tolist() >= [50, 20]
    assert (touched.max(axis=0) <= (110, 100)).all()
    assert np.ptp(touched[:, 0]) > 55


@pytest.mark.parametrize("own_vertex_arrays", [True, False])
def test_gl_state_is_left_as_it_was(own_vertex_arrays: bool) -> None:
    model = flat_model()
    glyphs = make_glyphs(model, make_contacts([[0, 0, 0]], [3.0, 2.0, 0]), scale=SCALE)
    with renderer_of(model) as renderer:
        matrices = renderer.draw(forwarded(model))
        gl = load_opengl()
        gizmo_pass = GizmoPass(own_vertex_arrays=own_vertex_arrays)
        set_unusual_state(gl)
        before = read_state(gl)
        gizmo_pass.draw(glyphs, matrices, (0, 0, SIDE, SIDE))
        assert gl_error() is None
        assert read_state(gl) == before
        second = GizmoPass(own_vertex_arrays=own_vertex_arrays)
        assert read_state(gl) == before
        gl.glUseProgram(0)
        gl.glBindVertexArray(0)
        second.close()
        gizmo_pass.close()


def test_pictures_are_the_same_without_vertex_array_objects() -> None:
    model = flat_model()
    glyphs = make_glyphs(model, make_contacts([[0, 0, 0]], [3.0, 2.0, 0]), scale=SCALE)
    images = []
    with renderer_of(model) as renderer:
        for own_vertex_arrays in (True, False):
            gizmo_pass = GizmoPass(own_vertex_arrays=own_vertex_arrays)
            matrices = renderer.draw(forwarded(model))
            gizmo_pass.draw(glyphs, matrices, (0, 0, SIDE, SIDE))
            images.append(renderer.read())
            gizmo_pass.close()
    assert is_green(images[0]).any()
    assert (images[0] == images[1]).all()


@pytest.mark.usefixtures("context")
def test_opening_and_closing_leaves_no_objects() -> None:
    before = count_objects()
    for _ in range(10):
        gizmos = GizmoPass()
        assert count_objects() != before
        gizmos.close()
        gizmos.close()
    assert count_objects() == before
