"""Glyphs of contacts: positions, directions and lengths against physics; filters, highlight and picking."""

import dataclasses
from typing import Any

import mujoco
import numpy as np
import pytest
from contact_viewer import ContactLayout
from contact_viewer.render.camera import CameraMatrices
from contact_viewer.render.glyphs import (
    NORMAL,
    TANGENT0,
    TANGENT1,
    TORQUE,
    TOTAL,
    GizmoList,
    Glyphs,
    highlight_glyphs,
    pick_glyph,
)
from contact_viewer.render.style import GlyphScale, PaletteColors, palette_colors, sensor_color
from contact_viewer.sensors.contacts import ContactBatch
from contact_viewer.session.contact_glyphs import SensorGlyphs, build_glyphs
from contact_viewer.session.layers import contact_parts
from contact_viewer.settings import ColorMode, GizmoSettings, Palette
from hypothesis import given
from hypothesis import strategies as st
from numpy.typing import NDArray

from .pictures import make_contacts

SCALE = GlyphScale(force=0.1, torque=2.0, radius=0.02, width=0.01, lift=0.03, reference=10.0)
COLORS = palette_colors(mujoco.MjSpec().compile(), Palette.STANDARD)
EVERYTHING = GizmoSettings(total=True, torque=True)
AT_ORIGIN = make_contacts([[0.0, 0.0, 0.0]], [3.0, 2.0, -1.0], torque=[0.1, 0.0, 0.2])
COLOR_OF: dict[int, str] = {
    NORMAL: "normal",
    TANGENT0: "tangent0",
    TANGENT1: "tangent1",
    TOTAL: "total",
    TORQUE: "torque",
}


def build(batch: ContactBatch, settings: GizmoSettings | None = None, colors: PaletteColors = COLORS) -> Glyphs:
    return build_all([SensorGlyphs(7, batch, sensor_color(7))], settings, colors=colors)


def build_all(
    sensors: list[SensorGlyphs],
    settings: GizmoSettings | None = None,
    scale: GlyphScale = SCALE,
    colors: PaletteColors = COLORS,
) -> Glyphs:
    settings = settings or GizmoSettings()
    return build_glyphs(sensors, contact_parts(settings), settings, scale, colors)


def arrow(glyphs: Glyphs, component: int) -> NDArray[np.float32]:
    (row,) = np.flatnonzero(glyphs.arrow_owner[:, 2] == component)
    return np.asarray(glyphs.arrows[row], np.float32)


def test_a_contact_has_a_sphere_and_an_arrow_along_each_axis() -> None:
    glyphs = build(AT_ORIGIN)
    assert glyphs.spheres.tolist() == [pytest.approx([0, 0, 0, 0.02, 1, 1, 1, 1])]
    assert glyphs.sphere_owner.tolist() == [[7, 0]]
    assert glyphs.arrow_owner.tolist() == [[7, 0, NORMAL], [7, 0, TANGENT0], [7, 0, TANGENT1]]
    # Normal up, tangent0 along x, so tangent1 along y, and its force is negative.
    assert arrow(glyphs, NORMAL)[4:7] == pytest.approx([0, 0, 0.3])
    assert arrow(glyphs, TANGENT0)[4:7] == pytest.approx([0.2, 0, 0])
    assert arrow(glyphs, TANGENT1)[4:7] == pytest.approx([0, -0.1, 0])


def test_tangents_start_above_the_surface_and_the_normal_on_it() -> None:
    glyphs = build(AT_ORIGIN, EVERYTHING)
    assert arrow(glyphs, NORMAL)[:3] == pytest.approx([0, 0, 0])
    assert arrow(glyphs, TOTAL)[:3] == pytest.approx([0, 0, 0])
    for component in (TANGENT0, TANGENT1):
        assert arrow(glyphs, component)[:3] == pytest.approx([0, 0, 0.03])


def test_total_and_torque_are_world_vectors() -> None:
    glyphs = build(AT_ORIGIN, EVERYTHING)
    assert arrow(glyphs, TOTAL)[4:7] == pytest.approx([0.2, -0.1, 0.3])
    assert arrow(glyphs, TORQUE)[4:7] == pytest.approx([0, 0.4, 0.2])


@pytest.mark.parametrize("palette", [Palette.STANDARD, Palette.COLORBLIND])
def test_components_have_their_colours(palette: Palette) -> None:
    colors = palette_colors(mujoco.MjSpec().compile(), palette)
    glyphs = build(AT_ORIGIN, EVERYTHING, colors)
    for component, name in COLOR_OF.items():
        assert arrow(glyphs, component)[8:] == pytest.approx(getattr(colors, name))


def test_by_sensor_everything_has_the_sensors_colour() -> None:
    glyphs = build(AT_ORIGIN, dataclasses.replace(EVERYTHING, color_mode=ColorMode.SENSOR))
    for color in (*glyphs.spheres[:, 4:], *glyphs.arrows[:, 8:]):
        assert color == pytest.approx(sensor_color(7))


@pytest.mark.parametrize(
    ("off", "left"),
    [
        ({"forces": False}, set()),
        ({"normal": False}, {TANGENT0, TANGENT1, TOTAL, TORQUE}),
        ({"tangents": False}, {NORMAL, TOTAL, TORQUE}),
        ({"total": False}, {NORMAL, TANGENT0, TANGENT1, TORQUE}),
        ({"torque": False}, {NORMAL, TANGENT0, TANGENT1, TOTAL}),
    ],
)
def test_switches_remove_their_arrows(off: dict[str, bool], left: set[int]) -> None:
    glyphs = build(AT_ORIGIN, dataclasses.replace(EVERYTHING, **off))  # type: ignore[arg-type]
    assert set(glyphs.arrow_owner[:, 2].tolist()) == left
    assert len(glyphs.spheres) == 1


def test_points_can_be_switched_off() -> None:
    glyphs = build(AT_ORIGIN, GizmoSettings(points=False))
    assert len(glyphs.spheres) == len(glyphs.sphere_owner) == 0
    assert len(glyphs.arrows) == 3


def test_small_components_draw_no_arrow() -> None:
    batch = make_contacts([[0, 0, 0]], [3.0, 0.5, -0.4])
    assert build(batch, GizmoSettings(min_force=0.5)).arrow_owner[:, 2].tolist() == [NORMAL, TANGENT0]
    assert build(make_contacts([[0, 0, 0]], [0, 0, 0]), GizmoSettings(min_force=0)).arrow_owner.size == 0


def test_empty_slots_draw_nothing() -> None:
    batch = make_contacts(np.ones((3, 3)), [1, 1, 1], filled=[True, False, True])
    glyphs = build(batch)
    assert glyphs.sphere_owner[:, 1].tolist() == [0, 2]
    assert sorted(set(glyphs.arrow_owner[:, 1].tolist())) == [0, 2]


@pytest.mark.parametrize("field", ["pos", "normal", "tangent0", "force", "torque"])
@pytest.mark.parametrize("value", [np.nan, np.inf, -np.inf, 1e300, -1e16])
def test_a_contact_that_is_not_finite_is_dropped_and_the_others_stay(field: str, value: float) -> None:
    batch = make_contacts(np.ones((3, 3)), [1, 1, 1])
    values = np.array(getattr(batch, field))
    values[1, 2] = value
    broken: dict[str, Any] = {field: values}
    glyphs = build(dataclasses.replace(batch, **broken), EVERYTHING)
    # A force that is not known leaves the contact where it is, without the arrow.
    unknown = np.isnan(value) and field in ("force", "torque")
    assert glyphs.sphere_owner[:, 1].tolist() == ([0, 1, 2] if unknown else [0, 2])
    assert np.isfinite(glyphs.arrows).all()
    assert len(glyphs.arrows) > 0


def test_a_net_contact_draws_its_force_as_one_total_arrow() -> None:
    batch = make_contacts(
        [[1, 2, 3], [0, 0, 0]],
        [3.0, -2.0, 1.0],
        normal=[1, 0, 0],
        tangent0=[0, 1, 0],
        filled=[True, False],
        in_world_frame=True,
    )
    glyphs = build(batch)
    assert glyphs.arrow_owner.tolist() == [[7, 0, TOTAL]]
    assert glyphs.arrows[0, :3] == pytest.approx([1, 2, 3])
    assert glyphs.arrows[0, 4:7] == pytest.approx([0.3, -0.2, 0.1])
    assert glyphs.arrows[0, 8:] == pytest.approx(COLORS.total)


def test_a_net_contact_without_force_has_no_place() -> None:
    glyphs = build(make_contacts([[0, 0, 0]], [0, 0, 0], in_world_frame=True))
    assert len(glyphs.spheres) == len(glyphs.arrows) == 0


def test_ghosts_are_faint_and_blend_over_the_rest() -> None:
    sensors = [SensorGlyphs(0, AT_ORIGIN, sensor_color(0), ghost=True), SensorGlyphs(1, AT_ORIGIN, sensor_color(1))]
    glyphs = build_all(sensors)
    assert glyphs.sphere_owner[:, 0].tolist() == [1, 0]
    assert glyphs.spheres[:, 7].tolist() == pytest.approx([1, 0.35])
    assert glyphs.arrow_owner[:, 0].tolist() == [1, 1, 1, 0, 0, 0]
    assert glyphs.arrows[:, 11].tolist() == pytest.approx([1, 1, 1, 0.35, 0.35, 0.35])


def test_highlight_of_a_contact_enlarges_it_and_dims_the_others() -> None:
    batch = make_contacts(np.ones((2, 3)), [1, 1, 1])
    sensors = [SensorGlyphs(3, batch, sensor_color(3))]
    plain = build_all(sensors)
    bright = highlight_glyphs(plain, (3, 1, None))
    of_contact = bright.sphere_owner[:, 1] == 1
    assert bright.spheres[of_contact, 3] > plain.spheres[0, 3]
    assert bright.spheres[of_contact, 7] == 1
    assert bright.spheres[~of_contact, 7] < 0.5
    arrows_of_contact = bright.arrow_owner[:, 1] == 1
    assert (bright.arrows[arrows_of_contact, 3] > SCALE.width).all()
    assert (bright.arrows[~arrows_of_contact, 11] < 0.5).all()
    # Lengths are forces: they never change.
    lengths = np.linalg.norm(bright.arrows[:, 4:7], axis=1)
    assert lengths == pytest.approx(np.full(6, 0.1))


def test_highlight_of_a_component_keeps_its_contact_visible() -> None:
    glyphs = highlight_glyphs(build_all([SensorGlyphs(0, AT_ORIGIN, sensor_color(0))]), (0, 0, TANGENT0))
    alpha = {
        int(component): float(row[11]) for component, row in zip(glyphs.arrow_owner[:, 2], glyphs.arrows, strict=True)
    }
    assert alpha[TANGENT0] == 1
    assert alpha[NORMAL] < 0.5
    assert glyphs.spheres[0, 7] == 1


def test_highlight_of_a_component_without_an_arrow_is_that_of_its_contact() -> None:
    net = make_contacts([[1, 2, 3]], [3.0, -2.0, 1.0], in_world_frame=True)
    sensors = [SensorGlyphs(0, net, sensor_color(0)), SensorGlyphs(1, AT_ORIGIN, sensor_color(1))]
    glyphs = highlight_glyphs(build_all(sensors), (0, 0, 2))
    of_net = glyphs.arrow_owner[:, 0] == 0
    assert (glyphs.arrows[of_net, 11] == 1).all()
    assert (glyphs.arrows[of_net, 3] > SCALE.width).all()
    assert (glyphs.arrows[~of_net, 11] < 0.5).all()
    assert glyphs.spheres[glyphs.sphere_owner[:, 0] == 0, 3] > SCALE.radius


def test_highlight_of_something_that_is_not_drawn_changes_nothing() -> None:
    sensors = [SensorGlyphs(0, AT_ORIGIN, sensor_color(0))]
    plain = build_all(sensors)
    same = highlight_glyphs(plain, (0, 5, None))
    assert same.spheres.tolist() == plain.spheres.tolist()
    assert same.arrows.tolist() == plain.arrows.tolist()


def test_arrows_of_a_resting_box_add_up_to_its_weight() -> None:
    model = mujoco.MjModel.from_xml_string("""
    <mujoco>
      <option gravity="2 -1 -9" cone="elliptic"/>
      <worldbody>
        <geom name="floor" type="plane" size="3 3 1" friction="1"/>
        <body pos="0 0 0.1"><freejoint/><geom name="box" type="box" size="0.2 0.2 0.1" mass="1.5" friction="1"/></body>
      </worldbody>
      <sensor><contact geom1="floor" geom2="box" num="4" data="found force torque dist pos normal tangent"/></sensor>
    </mujoco>""")
    data = mujoco.MjData(model)
    for _ in range(2000):
        mujoco.mj_step(model, data)
    batch = ContactLayout("found force torque dist pos normal tangent", 4).decode(data.sensordata)
    glyphs = build(batch, GizmoSettings(total=True, min_force=0))
    components = glyphs.arrow_owner[:, 2]
    for parts in ([NORMAL, TANGENT0, TANGENT1], [TOTAL]):
        total = glyphs.arrows[np.isin(components, parts), 4:7].sum(axis=0) / SCALE.force
        assert total == pytest.approx([-3.0, 1.5, 13.5], rel=1e-3)
    # The corners of the box.
    assert np.abs(glyphs.spheres[:, 0]) == pytest.approx(np.full(4, 0.2), abs=5e-3)


@given(
    st.lists(st.tuples(*[st.floats(-1e6, 1e6)] * 3), min_size=1, max_size=8),
    st.floats(0, 1e3),
    st.booleans(),
)
def test_rows_and_owners_always_match(forces: list[tuple[float, float, float]], smallest: float, log: bool) -> None:
    settings = dataclasses.replace(EVERYTHING, min_force=smallest)
    scale = dataclasses.replace(SCALE, log_length=log)
    batch = make_contacts(np.zeros((len(forces), 3)), forces)
    glyphs = build_all([SensorGlyphs(0, batch, sensor_color(0))], settings, scale)
    assert len(glyphs.arrows) == len(glyphs.arrow_owner)
    assert len(glyphs.spheres) == len(glyphs.sphere_owner) == len(forces)
    assert np.isfinite(glyphs.arrows).all()
    assert (np.linalg.norm(glyphs.arrows[:, 4:7], axis=1) > 0).all()
    drawn = int((np.abs(np.array(forces)) >= max(smallest, 1e-30)).sum())
    assert np.isin(glyphs.arrow_owner[:, 2], [NORMAL, TANGENT0, TANGENT1]).sum() <= drawn


def test_script_gizmos_are_taken_once() -> None:
    gizmos = GizmoList(width=0.02)
    gizmos.draw_sphere(0.5, (1, 2, 3), (1, 0, 0))
    gizmos.draw_arrow((1, 1, 1), (1, 1, 3), (0, 1, 0, 0.5))
    gizmos.draw_arrow((1, 1, np.nan), (1, 1, 3), (0, 1, 0))
    gizmos.draw_arrow((1, 1, 1), (1, 1, 1), (0, 1, 0))
    gizmos.draw_sphere(np.inf, (1, 2, 3), (1, 0, 0))
    glyphs = gizmos.pop_glyphs()
    assert glyphs.spheres.tolist() == [[1, 2, 3, 0.5, 1, 0, 0, 1]]
    assert glyphs.arrows.tolist() == [pytest.approx([1, 1, 1, 0.02, 0, 0, 2, 0, 0, 1, 0, 0.5])]
    empty = gizmos.pop_glyphs()
    assert len(empty.spheres) == len(empty.arrows) == 0


def test_script_gizmos_refuse_what_is_no_point_or_colour() -> None:
    gizmos = GizmoList()
    with pytest.raises(ValueError, match="3 coordinates"):
        gizmos.draw_sphere(1.0, (1, 2), (1, 1, 1))
    with pytest.raises(ValueError, match="3 or 4 numbers"):
        gizmos.draw_arrow((0, 0, 0), (1, 1, 1), (1, 1))


def test_concat_of_nothing_is_empty() -> None:
    for glyphs in (Glyphs.concat([]), Glyphs(), Glyphs.concat([Glyphs()])):
        assert glyphs.spheres.shape == (0, 8)
        assert glyphs.arrows.shape == (0, 12)


VIEWPORT = (10, 20, 200, 200)


def eye(orthographic: bool = True) -> CameraMatrices:
    """Looks along +y from y = -5; x is right and z is up; two metres high, or as high at the origin."""
    view = np.eye(4)
    view[:3, :3] = [[1, 0, 0], [0, 0, 1], [0, -1, 0]]
    view[:3, 3] = [0, 0, -5]
    projection = np.diag([1, 1, -0.1, 1.0])
    if not orthographic:
        projection = np.array([[5.0, 0, 0, 0], [0, 5.0, 0, 0], [0, 0, -1.2, -2.2], [0, 0, -1, 0]])
    return CameraMatrices(view, projection, np.array([0.0, -5, 0]), np.array([0.0, 1, 0]))


@pytest.mark.parametrize("orthographic", [True, False])
def test_picking_finds_the_glyph_under_a_pixel(orthographic: bool) -> None:
    glyphs = build(make_contacts([[0.0, 0.0, 0.0], [0.6, 0.0, 0.0]], [[5, 2, 0], [0, 0, 0]]))
    matrices = eye(orthographic)
    # A metre is 100 pixels, and the origin at (110, 120).
    assert pick_glyph(glyphs, matrices, VIEWPORT, 110, 119, 3) == (7, 0)
    assert pick_glyph(glyphs, matrices, VIEWPORT, 111, 150, 3) == (7, 0, NORMAL)
    assert pick_glyph(glyphs, matrices, VIEWPORT, 122, 124, 3) == (7, 0, TANGENT0)
    assert pick_glyph(glyphs, matrices, VIEWPORT, 171, 120, 3) == (7, 1)
    assert pick_glyph(glyphs, matrices, VIEWPORT, 110, 180, 3) is None
    assert pick_glyph(glyphs, matrices, VIEWPORT, 116, 150, 3) is None
    assert pick_glyph(glyphs, matrices, VIEWPORT, 116, 150, 8) == (7, 0, NORMAL)


def test_picking_prefers_the_nearer_of_two_under_the_pixel() -> None:
    glyphs = build(make_contacts([[0, 1, 0], [0, -1, 0], [0, 2, 0]], [0, 0, 0]))
    assert pick_glyph(glyphs, eye(), VIEWPORT, 110, 120, 3) == (7, 1)


def test_picking_ignores_script_gizmos_and_what_is_behind_the_eye() -> None:
    gizmos = GizmoList()
    gizmos.draw_sphere(0.1, (0, 0, 0), (1, 1, 1))
    assert pick_glyph(gizmos.pop_glyphs(), eye(), VIEWPORT, 110, 120, 5) is None
    behind = build(make_contacts([[0, -8, 0]], [1, 1, 1]))
    assert pick_glyph(behind, eye(orthographic=False), VIEWPORT, 110, 120, 50) is None
    assert pick_glyph(Glyphs(), eye(), VIEWPORT, 110, 120, 5) is None
