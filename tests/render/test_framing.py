"""The first view of a scene, framing and zooming, by where things are in the picture."""

import math
from typing import Any

import mujoco
import numpy as np
import pytest
from contact_viewer.render.camera import Eye, point_at_depth
from contact_viewer.render.glyphs import Glyphs
from contact_viewer.render.view import USUAL_PICTURE, View
from contact_viewer.settings import GizmoSettings

from .pictures import forwarded, is_blue, is_green, is_red, renderer_of

XML = """
<mujoco>
  <statistic extent="{extent}" center="{center}"/>
  <visual><global azimuth="120" elevation="-20" {wish}/></visual>
  <worldbody>
    <light pos="0 0 9"/>
    <geom name="floor" type="plane" size="50 50 1"/>
    <camera name="above" pos="0 0 3"/>
    <camera name="away" pos="0 0 6" euler="180 0 0"/>
    <body name="robot" pos="0.3 0.2 0.5">
      <freejoint/><geom type="box" size="0.1 0.2 0.3" rgba="1 0 0 1"/>
      <body name="hand" pos="0.2 0 0.2"><joint/><geom size="0.05" rgba="1 0 0 1"/></body>
    </body>
  </worldbody>
</mujoco>
"""


def shown(extent: float = 1.0, center: str = "0.3 0.2 0.5", wish: str = "") -> tuple[Any, Any, View]:
    model = mujoco.MjModel.from_xml_string(XML.format(extent=extent, center=center, wish=wish))
    data, view = forwarded(model), View(model)
    view.show_moving(model, data)
    return model, data, view


def eye_of(model: Any, data: Any, view: View) -> Eye:
    return Eye(view.matrices(model, data, USUAL_PICTURE), USUAL_PICTURE)


def share(model: Any, data: Any, view: View) -> float:
    """How much of the picture's height or width the red of a body takes, by its pixels."""
    assert eye_of(model, data, view).sees(data.geom_xpos[model.geom_bodyid > 0]).all()
    with renderer_of(model, 320, 180) as renderer:
        renderer.view = view
        renderer.draw(data)
        red = is_red(renderer.read())
    return float(max(np.ptp(np.flatnonzero(red.any(axis=axis))) / red.shape[1 - axis] for axis in (0, 1)))


def test_the_authors_view_stays_where_it_shows_what_moves() -> None:
    model, _, view = shown()
    camera = mujoco.MjvCamera()
    mujoco.mjv_defaultFreeCamera(model, camera)
    assert view.camera.lookat == pytest.approx(camera.lookat)
    assert view.camera.distance == pytest.approx(camera.distance)


@pytest.mark.parametrize(("extent", "center"), [(1.0, "40 0 0"), (0.05, "0.3 0.2 0.5"), (100.0, "0 0 0")])
def test_a_view_without_what_moves_is_framed_from_the_same_side(extent: float, center: str) -> None:
    model, data, view = shown(extent, center)
    assert (view.camera.azimuth, view.camera.elevation) == (120, -20)
    assert 0.2 < share(model, data, view) < 0.8


def test_the_cameras_wish_is_heeded_unless_it_sees_nothing() -> None:
    assert shown(wish='cameraid="0"')[2].camera_name == "above"
    model, data, view = shown(wish='cameraid="1"')
    assert view.camera_name is None
    assert share(model, data, view) < 0.8


def test_framed_bodies_fill_the_frame() -> None:
    model, data, view = shown(100.0, "0 0 0")
    view.frame(model, data, 16 / 9)
    whole = float(view.camera.distance)
    assert 0.5 < share(model, data, view) < 0.85
    view.perturb.select = model.body("hand").id
    view.frame(model, data, 16 / 9)
    assert view.camera.distance < 0.5 * whole
    assert view.camera.lookat == pytest.approx(data.geom_xpos[2], abs=1e-6)


def test_a_small_thing_in_a_large_scene_is_not_cut_by_the_near_plane() -> None:
    model, data, view = shown(1000.0, "0 0 0")
    with renderer_of(model) as renderer:
        renderer.view = view
        for _ in range(2):
            renderer.draw(data)
            # MuJoCo's near plane is 10 m away here.
            assert is_red(renderer.read()).mean() > 0.005
            view.zoom(0.2)


STANDING = """
<mujoco>
  <statistic extent="{extent}" center="0 0 0.5"/>
  <visual><headlight ambient="1 1 1" diffuse="0 0 0" specular="0 0 0"/></visual>
  <asset>
    <texture type="skybox" builtin="flat" rgb1="1 1 1" rgb2="1 1 1" width="8" height="48"/>
  </asset>
  <worldbody>
    <camera name="side" pos="-4 0 1.5" xyaxes="0 -1 0 0.3 0 1"/>
    <geom name="floor" type="plane" size="{floor} 1" rgba="0 0 1 1"/>
    <body name="robot" pos="0 0 1">
      <freejoint/><geom type="box" size="0.15 0.2 0.25" rgba="0.5 0.5 0.5 1"/>
      <geom name="right" type="capsule" size="0.06" fromto="0 0.1 -0.2 0 0.1 -0.6" rgba="0.5 0.5 0.5 1"/>
      <geom name="foot" type="box" size="0.15 0.06 0.04" pos="0 -0.1 -0.95" rgba="1 0 0 1"/>
    </body>
  </worldbody>
</mujoco>
"""


@pytest.mark.parametrize("floor", ["0 0", "60 60"], ids=["endless", "large"])
@pytest.mark.parametrize("extent", [0.01, 0.05, 300.0])
def test_floor_and_feet_are_in_the_picture_whatever_extent_a_scene_declares(extent: float, floor: str) -> None:
    """At every zoom, as in a scene that declares its size; picking and gizmos see the same."""
    pictures = []
    for declared in (extent, 1.5):
        model = mujoco.MjModel.from_xml_string(STANDING.format(extent=declared, floor=floor))
        data, view = forwarded(model), View(model)
        foot = data.geom_xpos[model.geom("foot").id]
        inside = Glyphs(
            spheres=np.array([[*foot, 0.02, 0, 1, 0, 1]], np.float32), sphere_owner=np.zeros((1, 2), np.int32)
        )
        with renderer_of(model, 160, 120) as renderer:
            renderer.view = view
            view.set_camera("side")
            shots: list[tuple[float | None, Glyphs | None]] = [(None, inside)]
            for place in (12.0, 6.0, 3.0, 1.0, 0.4):
                shots += [(place, None), (place, inside)]
            for distance, glyphs in shots:
                if distance is not None:
                    view.look_at(foot, distance, 120.0, -20.0)
                matrices = renderer.draw(data, glyphs, GizmoSettings(see_through=False))
                pictures.append(renderer.read().copy())
                pixels, _ = matrices.project(foot, (0, 0, 160, 120))
                x, y = pixels[0] / (160, 120)
                pick = view.pick(model, data, renderer.canvas.scene_pass, x, y, 160 / 120)
                assert pick is not None
                assert model.geom(pick.geom).name == "foot"
                assert view.matrices(model, data, (0, 0, 160, 120)).to_clip == pytest.approx(matrices.to_clip)
        assert model.stat.extent == declared
    for picture, expected in zip(pictures[: len(pictures) // 2], pictures[len(pictures) // 2 :], strict=True):
        assert is_red(expected).sum() >= 1
        assert is_blue(expected)[50:].mean() > 0.3
        for color in (is_red, is_green):
            assert (color(picture) != color(expected)).mean() < 0.002
        # Below the horizon, whose distance may differ.
        assert (is_blue(picture) != is_blue(expected))[50:].mean() < 0.002
    # A gizmo inside the foot is hidden by it.
    assert not is_green(pictures[-1]).any()


def test_a_thing_that_has_gone_far_away_stays_in_the_picture() -> None:
    model = mujoco.MjModel.from_xml_string(STANDING.format(extent=1.0, floor="0 0"))
    data, view = forwarded(model), View(model)
    data.qpos[:2] = 300.0, 0.0
    mujoco.mj_forward(model, data)
    view.look_at([0, 0, 1], 2.0, 0.0, 0.0)
    model.geom("foot").size[:] = 20.0
    with renderer_of(model) as renderer:
        renderer.view = view
        renderer.draw(data)
        assert is_red(renderer.read()).mean() > 0.005
        data.qpos[:3] = np.nan
        mujoco.mj_kinematics(model, data)
        renderer.draw(data)
        assert is_blue(renderer.read()).mean() > 0.3


@pytest.mark.parametrize("x", [0.3, 0.8])
def test_zooming_keeps_the_point_under_the_mouse(x: float) -> None:
    model, data, view = shown()
    point = point_at_depth(eye_of(model, data, view), x, 0.4, view.focus)
    for amount in (0.05, 0.4, -0.3):
        view.zoom(amount, point)
        pixels, _ = eye_of(model, data, view).matrices.project(point, USUAL_PICTURE)
        assert pixels[0] == pytest.approx((1280 * x, 720 * 0.4), abs=0.01)


def test_zooming_never_stalls() -> None:
    """Notch by notch, the eye gets on by a share of the distance, and through its centre."""
    model, data, view = shown()
    last = eye_of(model, data, view).matrices.position
    steps = []
    for _ in range(200):
        view.zoom(0.05)
        position = eye_of(model, data, view).matrices.position
        steps.append(math.dist(position, last))
        last = position
    assert min(steps) > 1e-6
    assert math.dist(view.focus, [0.3, 0.2, 0.5]) > 1e-4
