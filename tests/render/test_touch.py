"""Axes and volumes of touch sensors, by the pixels they cover."""

from typing import Any

import mujoco
import numpy as np
import pytest
from contact_viewer import open_engine
from contact_viewer.render.contexts import OffscreenContext
from contact_viewer.render.glyphs import NO_OWNER
from contact_viewer.render.scene import ScenePass
from contact_viewer.render.style import GlyphScale, palette_colors
from contact_viewer.render.touch import AXIS_COLORS, add_touch_volumes, touch_axes
from contact_viewer.render.view import View
from contact_viewer.settings import GizmoSettings, Palette, Quality
from contact_viewer.touch.declaration import TouchDeclaration
from contact_viewer.touch.touch_sensors import TouchSensors

from .pictures import SIDE, Image, Mask, flat_model, renderer_of, usual_scale

SITE = '<site name="s" pos="0.1 0 -0.15" {shape} {turn} rgba="1 0 1 0" group="4"/>'
SHAPES = {
    "box": 'type="box" size="0.12 0.05 0.08"',
    "sphere": 'type="sphere" size="0.1"',
    "capsule": 'type="capsule" size="0.05 0.1"',
    "cylinder": 'type="cylinder" size="0.09 0.05"',
    "ellipsoid": 'type="ellipsoid" size="0.15 0.05 0.08"',
    "mesh": 'type="mesh" mesh="wedge"',
}
MESH = '<mujoco><asset><mesh name="wedge" vertex="0 0 0 .2 0 0 0 .1 0 0 0 .3"/></asset>'


def make(shape: str = "box", turn: str = "") -> tuple[Any, TouchSensors]:
    site = SITE.format(shape=SHAPES[shape], turn=turn)
    if shape == "mesh":
        from .pictures import FLAT_XML

        text = FLAT_XML.format(more=site).replace("<mujoco>", MESH)
        engine = open_engine(mujoco.MjModel.from_xml_string(text))
    else:
        engine = open_engine(flat_model(site))
    touch = TouchSensors(engine)
    touch.add(TouchDeclaration("t", site="s"))
    return engine, touch


def at(image: Image, x: float, z: float) -> Image:
    """The pixel at a place, as a picture of one."""
    row, column = round(SIDE * (0.5 - z)), round(SIDE * (0.5 + x))
    return image[row : row + 1, column : column + 1]


def is_axis(image: Image, axis: int) -> bool:
    """True for pixels in the colour of an axis, lit or in its own shade."""
    pixel = image[0, 0] / max(image[0, 0].max(), 1)
    color = np.array(AXIS_COLORS[axis][:3])
    return bool(np.abs(pixel - color / color.max()).max() < 0.12)


def test_axes_have_colours_of_their_own_where_the_site_points() -> None:
    engine, touch = make(turn='xyaxes="0 0 1 1 0 0"')
    scale = GlyphScale(force=0.1, torque=1.0, radius=0.01, width=0.02, lift=0.01, reference=10.0)
    glyphs = touch_axes(touch, scale)
    vectors = glyphs.arrows[:, 4:7]
    axes = engine.data.site_xmat[0].reshape(3, 3)
    assert vectors / np.linalg.norm(vectors, axis=1, keepdims=True) == pytest.approx(axes.T, abs=1e-6)
    assert glyphs.arrows[:, :3] == pytest.approx(np.tile(engine.data.site_xpos[0], (3, 1)))
    forces = palette_colors(engine.model, Palette.STANDARD)
    for color in glyphs.arrows[:, 8:11]:
        for force in (forces.normal, forces.tangent0, forces.tangent1, forces.total, forces.torque):
            assert np.linalg.norm(color - force[:3]) > 0.3
    assert (glyphs.arrow_owner == NO_OWNER).all()
    with renderer_of(engine.model) as renderer:
        renderer.draw(engine.data, glyphs)
        image = renderer.read()
    # Out of the volume, whose half sizes are 0.12 along x and 0.05 along y.
    assert is_axis(at(image, 0.1, -0.15 + 0.15), 0)
    assert is_axis(at(image, 0.1 + 0.08, -0.15), 1)
    assert not is_axis(at(image, 0.1, -0.15 - 0.1), 0)
    touch["t"].visible = False
    assert not len(touch_axes(touch, usual_scale(engine.model, GizmoSettings())).arrows)


def test_axes_of_a_body() -> None:
    engine = open_engine(flat_model())
    touch = TouchSensors(engine)
    touch.add(TouchDeclaration("t", body="mover"))
    arrows = touch_axes(touch, usual_scale(engine.model, GizmoSettings())).arrows
    lengths = np.diag(arrows[:, 4:7])
    assert arrows[:, 4:7] == pytest.approx(np.diag(lengths))
    # As long in any scene, on screen: here a metre is as high as the picture.
    assert 20 / 720 < lengths.min() <= lengths.max() < 60 / 720
    assert arrows[:, :3] == pytest.approx(np.tile([0, 1, 0], (3, 1)))


def changed(context: OffscreenContext, engine: Any, touch: TouchSensors) -> tuple[Mask, Image]:
    """Where volumes change the picture, and the picture with them."""
    scene_pass = ScenePass(engine.model, Quality.LOW, context.renderer, offscreen=(SIDE, SIDE))
    view = View(engine.model)
    images = []
    for added in (False, True):
        scene_pass.update(engine.model, engine.data, view)
        if added:
            add_touch_volumes(scene_pass.scene, touch)
        scene_pass.draw((0, 0, SIDE, SIDE))
        images.append(scene_pass.read_pixels((0, 0, SIDE, SIDE)).astype(int))
    scene_pass.close()
    return np.abs(images[1] - images[0]).max(axis=2) > 3, images[1].astype(np.uint8)


@pytest.mark.parametrize("shape", SHAPES)
@pytest.mark.parametrize("turn", ["", 'euler="20 30 40"'])
def test_volumes_cover_the_site(context: OffscreenContext, shape: str, turn: str) -> None:
    engine, touch = make(shape, turn)
    covered, _ = changed(context, engine, touch)
    # What lies behind a pixel, along y: MuJoCo says where the site is.
    expected = np.zeros((SIDE, SIDE), bool)
    depths = np.linspace(-0.35, 0.35, 71)
    for row in range(0, SIDE, 4):
        for column in range(0, SIDE, 4):
            x, z = (column + 0.5) / SIDE - 0.5, 0.5 - (row + 0.5) / SIDE
            points = np.stack([np.full(71, x), depths, np.full(71, z)], axis=1)
            expected[row, column] = any(mujoco.mj_insideSite(engine.model, engine.data, 0, point) for point in points)
    differs = (covered != expected)[::4, ::4]
    assert expected.sum() > 40
    # Round shapes have corners in the picture, and thin edges fall between the points.
    assert differs.sum() < 0.15 * expected.sum()


def test_touched_volumes_are_brighter_and_hidden_ones_gone(context: OffscreenContext) -> None:
    engine, touch = make()
    covered, idle = changed(context, engine, touch)
    touch["t"].found = 1
    _, lit = changed(context, engine, touch)
    assert lit[covered].mean() > idle[covered].mean() + 10
    touch["t"].visible = False
    assert not changed(context, engine, touch)[0].any()


def test_a_full_scene_takes_no_more() -> None:
    engine, touch = make()
    scene = mujoco.MjvScene(engine.model, 3)
    scene.ngeom = 3
    add_touch_volumes(scene, touch)
    assert scene.ngeom == 3
