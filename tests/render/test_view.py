"""What a user does to the picture, against MuJoCo's own camera, selection and perturbation."""

from collections.abc import Iterator
from typing import Any

import mujoco
import numpy as np
import pytest
from contact_viewer.render.offscreen import OffscreenRenderer
from contact_viewer.render.view import RENDER_FLAGS, VISUAL_FLAGS, View
from contact_viewer.settings import Quality
from numpy.typing import NDArray

from .pictures import forwarded

SIZE = (200, 150)
WHOLE = (0, 0, *SIZE)
ASPECT = SIZE[0] / SIZE[1]
XML = """
<mujoco>
  <visual><global azimuth="120" elevation="-20"/></visual>
  <statistic extent="2" center="0 0 0.2"/>
  <worldbody>
    <light pos="0 0 3"/>
    <geom name="floor" type="plane" size="3 3 0.1"/>
    <camera name="side" pos="0 -3 0.6" xyaxes="1 0 0 0 0.2 1" fovy="{fovy}"/>
    <camera pos="0 0 4"/>
    <body name="ball" pos="0.5 0 0.2"><freejoint/><geom name="red" size="0.2" mass="1"/></body>
    <body name="arm" pos="-0.6 0 0.5">
      <joint axis="0 1 0"/><geom type="capsule" fromto="0 0 0 0 0 0.3" size="0.06" mass="1"/>
      <body name="hand" pos="0 0 0.4"><joint axis="0 1 0"/><geom size="0.08" mass="0.5"/></body>
    </body>
  </worldbody>
</mujoco>
"""


def make_model(fovy: float = 45) -> Any:
    return mujoco.MjModel.from_xml_string(XML.format(fovy=fovy))


class Scene:
    """A model with a view and a picture of it."""

    def __init__(self, fovy: float = 45) -> None:
        self.model = make_model(fovy)
        self.data = forwarded(self.model)
        self.renderer = OffscreenRenderer(self.model, *SIZE, Quality.LOW)
        self.view = self.renderer.view
        self.update()

    @property
    def scene_pass(self) -> Any:
        return self.renderer.canvas.scene_pass

    def update(self) -> None:
        self.scene_pass.update(self.model, self.data, self.view)

    def pixel(self, point: Any) -> NDArray[np.float64]:
        self.update()
        pixels, _ = self.scene_pass.matrices(WHOLE).project(point, WHOLE)
        return np.asarray(pixels[0], float)

    def fraction(self, point: Any) -> tuple[float, float]:
        x, y = self.pixel(point) / SIZE
        return float(x), float(y)

    def pick(self, point: Any) -> Any:
        x, y = self.fraction(point)
        return self.view.pick(self.model, self.data, self.scene_pass, x, y, ASPECT)


@pytest.fixture
def scene() -> Iterator[Scene]:
    made = Scene()
    yield made
    made.renderer.close()


def test_starts_as_the_model_declares_the_free_camera() -> None:
    view = View(make_model())
    assert (view.camera.azimuth, view.camera.elevation) == (120, -20)
    assert view.camera_name is None
    assert view.tracking is None


def test_cameras_are_named_and_cycle_through_the_free_one() -> None:
    view = View(make_model())
    assert view.cameras == ["side", "camera 1"]
    names = []
    for _ in range(3):
        view.next_camera()
        names.append(view.camera_name)
    assert names == ["side", "camera 1", None]
    view.previous_camera()
    assert view.camera_name == "camera 1"
    view.free_camera()
    assert view.camera_name is None
    with pytest.raises(ValueError, match="nobody"):
        view.set_camera("nobody")


@pytest.mark.parametrize(("dx", "dy"), [(0.1, 0.0), (0.0, 0.2), (-1.7, -0.3), (0.4, 3.0)])
def test_orbiting_is_mujocos(dx: float, dy: float) -> None:
    model = make_model()
    view, camera = View(model), mujoco.MjvCamera()
    mujoco.mjv_defaultFreeCamera(model, camera)
    arguments: list[Any] = [model, mujoco.mjtMouse.mjMOUSE_ROTATE_V, dx, dy]
    if "scn" in str(mujoco.mjv_moveCamera.__doc__):
        arguments.append(mujoco.MjvScene(model, 1))
    mujoco.mjv_moveCamera(*[*arguments, camera])
    view.orbit(dx, dy)
    assert np.cos(np.radians(view.camera.azimuth - camera.azimuth)) == pytest.approx(1)
    assert view.camera.elevation == pytest.approx(camera.elevation)


@pytest.mark.parametrize("elevation", [-89, -40, 0, 60])
def test_panning_moves_the_scene_with_the_mouse(scene: Scene, elevation: float) -> None:
    scene.view.look_at((0.1, 0.2, 0.3), 2.0, 30, elevation)
    before = scene.pixel((0.1, 0.2, 0.3))
    # To the right by a tenth of the height and down by a fifth.
    scene.view.pan(0.1, 0.2)
    moved = scene.pixel((0.1, 0.2, 0.3)) - before
    assert moved == pytest.approx([0.1 * SIZE[1], -0.2 * SIZE[1]], abs=0.5)


def test_panning_horizontally_keeps_the_height(scene: Scene) -> None:
    scene.view.look_at((0, 0, 0.3), 2.0, 90, -45)
    scene.view.pan(0.1, 0.2, horizontal=True)
    assert scene.view.camera.lookat[2] == 0.3
    # Down on the screen is towards the eye, so the centre goes away from it, along +y.
    assert scene.view.camera.lookat[1] > 0.1


def test_zooming_in_comes_nearer_and_never_through(scene: Scene) -> None:
    distance = scene.view.camera.distance
    scene.view.zoom(0.05)
    assert 0.8 * distance < scene.view.camera.distance < distance
    scene.view.zoom(-0.05)
    assert scene.view.camera.distance == pytest.approx(distance)
    scene.view.zoom(100)
    assert scene.view.camera.distance > 0
    scene.view.zoom(-100)
    assert scene.view.camera.distance < 1e3


@pytest.mark.parametrize("fovy", [45, 20])
def test_dragging_a_models_camera_continues_from_its_place(fovy: float) -> None:
    scene = Scene(fovy)
    center = scene.model.stat.center
    scene.view.set_camera("side")
    before = [scene.pixel(point) for point in (center, center + np.array([0.3, 0, 0]))]
    scene.view.orbit(0.0, 0.0)
    assert scene.view.camera_name is None
    after = [scene.pixel(point) for point in (center, center + np.array([0.3, 0, 0]))]
    assert after[0] == pytest.approx(before[0], abs=6)
    assert np.linalg.norm(after[1] - after[0]) == pytest.approx(np.linalg.norm(before[1] - before[0]), rel=0.05)
    scene.renderer.close()


def test_tracking_follows_a_body(scene: Scene) -> None:
    scene.view.track(1)
    assert scene.view.tracking == "ball"
    assert scene.view.camera_name is None
    start = scene.pixel(scene.data.xpos[1])
    scene.data.qpos[0] += 3.0
    mujoco.mj_forward(scene.model, scene.data)
    for _ in range(200):
        scene.update()
    assert scene.pixel(scene.data.xpos[1]) == pytest.approx(start, abs=3)
    scene.view.track(0)
    assert scene.view.tracking == "ball"
    scene.view.free_camera()
    assert scene.view.tracking is None


def test_centering_puts_a_point_in_the_middle(scene: Scene) -> None:
    scene.view.center((0.5, 0.1, 0.2))
    assert scene.pixel((0.5, 0.1, 0.2)) == pytest.approx([SIZE[0] / 2, SIZE[1] / 2], abs=0.1)
    scene.view.align()
    assert scene.view.camera.azimuth == 120


def test_picking_finds_what_is_drawn_there(scene: Scene) -> None:
    ball = scene.pick(scene.data.xpos[1])
    assert (ball.body, ball.geom) == (scene.model.body("ball").id, scene.model.geom("red").id)
    assert np.linalg.norm(ball.point - scene.data.xpos[1]) == pytest.approx(0.2, abs=2e-3)
    assert ball.local_point == pytest.approx(ball.point - scene.data.xpos[1])
    floor = scene.pick((-1.0, 1.0, 0.0))
    assert (floor.body, floor.geom) == (0, scene.model.geom("floor").id)
    assert floor.point == pytest.approx([-1, 1, 0], abs=0.02)
    # Into the sky.
    scene.view.look_at((0, 0, 0.5), 2, 0, 30)
    scene.update()
    assert scene.view.pick(scene.model, scene.data, scene.scene_pass, 0.02, 0.99, ASPECT) is None


def test_selection_and_its_parent(scene: Scene) -> None:
    view = scene.view
    assert view.selected_body == 0
    view.select(scene.pick(scene.data.xpos[3]))
    assert view.selected_body == 3
    view.select_parent(scene.model)
    assert view.selected_body == 2
    view.select_parent(scene.model)
    assert view.selected_body == 2
    view.select(None)
    assert view.selected_body == 0


def test_pulling_moves_the_body_and_leaves_no_force_behind(scene: Scene) -> None:
    view, model, data = scene.view, scene.model, scene.data
    data.xfrc_applied[2] = 1, 2, 3, 4, 5, 6
    data.xfrc_applied[1] = 0, 0, 0.5, 0, 0, 0
    before = data.xfrc_applied.copy()
    view.select(scene.pick(data.xpos[1]))
    view.begin_perturb(model, data, scene.scene_pass, translate=True)
    assert view.perturbing
    view.move_perturb(model, data, scene.scene_pass, 0.0, -0.4)
    start = data.xpos[1].copy()
    for _ in range(100):
        assert view.apply_perturb(model, data, paused=False) is False
        mujoco.mj_step(model, data)
    # The mouse went up, and so does the ball.
    assert data.xpos[1, 2] > start[2] + 0.1
    assert data.xfrc_applied[2].tolist() == before[2].tolist()
    assert np.abs(data.xfrc_applied[1]).max() > 0.5
    view.end_perturb()
    assert not view.perturbing
    view.apply_perturb(model, data, paused=False)
    assert data.xfrc_applied.tolist() == before.tolist()


def test_turning_spins_the_body(scene: Scene) -> None:
    view, model, data = scene.view, scene.model, scene.data
    model.opt.gravity[:] = 0
    view.select(scene.pick(data.xpos[1]))
    view.begin_perturb(model, data, scene.scene_pass, translate=False)
    view.move_perturb(model, data, scene.scene_pass, 0.1, 0.0)
    view.apply_perturb(model, data, paused=False)
    assert np.abs(data.xfrc_applied[1, 3:]).max() > 0
    assert data.xfrc_applied[1, :3].tolist() == [0, 0, 0]


def test_letting_go_by_selecting_something_else_takes_the_force_away(scene: Scene) -> None:
    view, model, data = scene.view, scene.model, scene.data
    view.select(scene.pick(data.xpos[1]))
    view.begin_perturb(model, data, scene.scene_pass, translate=True)
    view.move_perturb(model, data, scene.scene_pass, 0.3, 0.0)
    view.apply_perturb(model, data, paused=False)
    assert data.xfrc_applied[1].any()
    view.select(scene.pick(data.xpos[3]))
    view.apply_perturb(model, data, paused=False)
    assert not data.xfrc_applied.any()


def test_while_paused_the_body_follows_the_mouse(scene: Scene) -> None:
    view, model, data = scene.view, scene.model, scene.data
    view.select(scene.pick(data.xpos[1]))
    grabbed = data.xpos[1].copy()
    before = scene.pixel(grabbed)
    view.begin_perturb(model, data, scene.scene_pass, translate=True)
    view.move_perturb(model, data, scene.scene_pass, 0.1, 0.0)
    assert view.apply_perturb(model, data, paused=True) is True
    assert scene.pixel(data.xpos[1]) - before == pytest.approx([0.1 * SIZE[1], 0], abs=1.5)
    assert not data.xfrc_applied.any()


def test_nothing_selected_cannot_be_pulled(scene: Scene) -> None:
    scene.view.begin_perturb(scene.model, scene.data, scene.scene_pass, translate=True)
    assert not scene.view.perturbing
    assert scene.view.apply_perturb(scene.model, scene.data, paused=False) is False


@pytest.mark.parametrize("name", [*VISUAL_FLAGS, *RENDER_FLAGS])
def test_flags_toggle_and_reach_mujoco(scene: Scene, name: str) -> None:
    before = scene.view.flag(name)
    scene.view.toggle(name)
    assert scene.view.flag(name) is not before
    scene.update()
    if name in RENDER_FLAGS:
        assert bool(scene.scene_pass.scene.flags[RENDER_FLAGS[name]]) is not before
    else:
        assert bool(scene.view.option.flags[VISUAL_FLAGS[name]]) is not before
    scene.view.toggle(name)
    assert scene.view.flag(name) is before


def test_flags_start_as_mujocos_viewer_has_them() -> None:
    view, option = View(make_model()), mujoco.MjvOption()
    assert all(view.flag(name) == bool(option.flags[index]) for name, index in VISUAL_FLAGS.items())
    assert view.flag("shadow")
    assert view.flag("skybox")
    assert not view.flag("wireframe")


@pytest.mark.parametrize("kind", ["geom", "site"])
def test_groups_toggle(kind: str) -> None:
    view = View(make_model())
    shown = [view.group(kind, number) for number in range(6)]
    assert shown == [True, True, True, False, False, False]
    view.toggle_group(kind, 1)
    view.toggle_group(kind, 4)
    assert [view.group(kind, number) for number in range(6)] == [True, False, True, False, True, False]


def test_frames_and_labels_cycle_back_to_none() -> None:
    view = View(make_model())
    frames: list[str] = []
    labels: list[str] = []
    for _ in range(int(mujoco.mjtFrame.mjNFRAME)):
        view.cycle_frame()
        frames.append(mujoco.mjFRAMESTRING[view.option.frame].lower())
    while not labels or labels[-1] != "none":
        view.cycle_label()
        labels.append(mujoco.mjLABELSTRING[view.option.label].lower())
    assert frames[-1] == "none"
    assert {"body", "geom", "contact", "world"} <= set(frames)
    assert {"body", "geom", "joint"} <= set(labels)
    # They would label what MuJoCo does not draw here.
    assert not {"contact", "contactforce"} & set(labels)
    assert len(set(labels)) == len(labels)


def test_a_reloaded_scene_keeps_camera_selection_and_flags(scene: Scene) -> None:
    old = scene.view
    old.set_camera("side")
    old.toggle("transparent")
    old.toggle("shadow")
    old.toggle_group("geom", 3)
    old.select(scene.pick(scene.data.xpos[1]))
    model = mujoco.MjModel.from_xml_string(
        XML.format(fovy=45).replace('<body name="ball"', '<body name="new"><geom size="0.1"/></body><body name="ball"')
    )
    view = View(model)
    view.copy_from(old, model)
    assert view.camera_name == "side"
    assert view.flag("transparent")
    assert view.flag("shadow") == old.flag("shadow")
    assert view.group("geom", 3)
    assert view.selected_body == 2
    view.toggle("transparent")
    view.orbit(0.1, 0.1)
    assert old.flag("transparent")
    assert old.camera_name == "side"


def test_what_a_reloaded_scene_lacks_is_let_go(scene: Scene) -> None:
    old = scene.view
    old.select(scene.pick(scene.data.xpos[1]))
    old.track(1)
    old.camera.lookat[:] = 7, 8, 9
    other = mujoco.MjModel.from_xml_string("<mujoco><worldbody><geom size='1'/></worldbody></mujoco>")
    old.reattach(other)
    assert old.tracking is None
    assert old.camera_name is None
    assert old.camera.lookat.tolist() == [7, 8, 9]
    assert old.selected_body == 0
    assert old.cameras == []
    old.next_camera()
    assert old.camera_name is None
