"""The MotrixSim engine: what it reads, completes, switches and draws."""

from functools import partial
from pathlib import Path
from typing import Any

import mujoco
import numpy as np
import pytest
from contact_viewer import open_engine
from contact_viewer.errors import SceneError, UnstableError

from .scenes import BOX, write_scene

WEIGHT = 2 * np.array([1.3, -2.1, -9.81])
REDUCES = ("none", "mindist", "maxforce", "netforce")
FULL = "found force torque dist pos normal tangent"


@pytest.fixture
def scene(tmp_path: Path) -> Any:
    return partial(write_scene, tmp_path)


def net_forces(engine: Any) -> dict[str, np.ndarray]:
    """The engine's own account: the net contact force on each link, world."""
    forces = engine._motrix.get_link_net_contact_forces(engine._state)
    return dict(zip(engine._motrix.link_names, forces[..., :3].swapaxes(0, -2), strict=True))


def reporting(path: Path, num_envs: int = 1) -> Any:
    engine: Any = open_engine(path, "motrix", num_envs)
    engine._motrix.reports.contact_forces = True
    return engine


def test_it_is_what_it_says(scene: Any) -> None:
    engine = open_engine(scene('<contact name="c" geom1="floor" geom2="box" num="4"/>'), "motrix")
    assert engine.name.startswith("MotrixSim 0.10")
    assert engine.timestep == 0.002
    assert isinstance(engine.model, mujoco.MjModel)
    assert engine.sensors["c"].label == "geom floor × geom box"
    assert engine.sensors["c"].layout.style == "motrix"


@pytest.mark.parametrize("reduce", REDUCES)
def test_arrays_are_the_engines_own(scene: Any, reduce: str) -> None:
    motrixsim = pytest.importorskip("motrixsim")
    path = scene(f'<contact name="c" geom1="floor" geom2="box" data="{FULL}" num="3" reduce="{reduce}"/>')
    engine = open_engine(path, "motrix")
    engine.step(100)
    model = motrixsim.load_model(str(path))
    state = motrixsim.SceneData(model)
    model.step_n(state, 100)
    own = model.get_sensor_value("c", state)
    array = engine.array("c")
    assert array.dtype == np.float32
    # Companions change nothing: the engine writes, bit for bit, what it writes without them.
    np.testing.assert_array_equal(array, own)


@pytest.mark.parametrize("data", ["found", "force", "dist", FULL])
@pytest.mark.parametrize("reduce", REDUCES)
@pytest.mark.parametrize(("first", "second", "sign"), [("floor", "box", 1), ("box", "floor", -1)])
def test_contacts_are_complete_whatever_is_requested(
    scene: Any, data: str, reduce: str, first: str, second: str, sign: int
) -> None:
    engine = open_engine(
        scene(f'<contact name="c" geom1="{first}" geom2="{second}" data="{data}" num="6" reduce="{reduce}"/>'), "motrix"
    )
    engine.step(2000)
    batch = engine.contacts("c")
    for field in ("force", "torque", "dist", "pos", "normal", "tangent0", "tangent1"):
        assert getattr(batch, field) is not None
    assert batch.found == 4
    assert batch.net_force is not None
    np.testing.assert_allclose(batch.net_force, -sign * WEIGHT, rtol=1e-3)


@pytest.mark.parametrize("reduce", REDUCES)
@pytest.mark.parametrize("declared", ["none", "netforce"])
@pytest.mark.parametrize("objects", ['geom1="floor" geom2="box"', 'geom1="box" geom2="floor"'])
def test_a_switched_sensor_reads_like_a_declared_one(scene: Any, reduce: str, declared: str, objects: str) -> None:
    data = 'data="found force normal tangent" num="3"'
    engine = open_engine(
        scene(
            f'<contact name="c" {objects} {data} reduce="{declared}"/>'
            f'<contact name="other" {objects} {data} reduce="{reduce}"/>'
        ),
        "motrix",
    )
    engine.step(37)
    engine.set_reduce("c", reduce)
    for _ in range(2):
        np.testing.assert_array_equal(engine.array("c"), engine.array("other"))
        for field in ("found", "filled", "force", "pos", "normal"):
            np.testing.assert_array_equal(
                getattr(engine.contacts("c"), field), getattr(engine.contacts("other"), field)
            )
        engine.step(5)
    assert engine.sensors["c"].layout == engine.sensors["other"].layout
    assert engine.sensors["c"].modified == (reduce != declared)


CLAMP = """
<mujoco>
  <worldbody>
    <body name="jaws">
      <geom name="left" type="box" size=".1 .5 .5" pos="-.1999 0 0"/>
      <geom name="right" type="box" size=".1 .5 .5" pos=".1999 0 0"/>
    </body>
    <body name="part"><freejoint/><geom name="part" type="box" size=".1 .1 .1" mass="2"/></body>
  </worldbody>
  <sensor>{sensors}</sensor>
</mujoco>"""


@pytest.mark.parametrize(("first", "second", "sign"), [("jaws", "part", 1), ("part", "jaws", -1)])
@pytest.mark.parametrize("data", ["force", FULL])
@pytest.mark.parametrize("num_envs", [1, 3])
def test_a_clamped_object_has_a_net_force(
    scene: Any, first: str, second: str, sign: int, data: str, num_envs: int
) -> None:
    sensor = f'<contact name="c" body1="{first}" body2="{second}" data="{data}" reduce="netforce"/>'
    engine = reporting(scene(sensor, CLAMP), num_envs)
    engine.step(20)
    own = engine.array("c")
    assert np.isnan(own[..., 0 if data == "force" else 1]).all()
    force = engine.contacts("c").net_force
    expected = sign * net_forces(engine)["part"]
    np.testing.assert_allclose(force, expected, rtol=0, atol=1e-5 * float(np.linalg.norm(expected)))
    magnitude = engine.get_contact_force_magnitude("c")
    np.testing.assert_allclose(magnitude, np.linalg.norm(force.reshape(num_envs, 3), axis=1))
    assert np.isfinite(engine.get_sensor_value("c")).all()


MIXED = """
<mujoco>
  <option gravity="1.3 -2.1 -9.81"/>
  <default><geom friction="2"/></default>
  <worldbody>
    <body name="load" pos="0 0 .0999"><freejoint/><geom type="box" size=".4 .1 .1" mass="2"/></body>
    <body name="base"><geom type="box" size=".15 .5 .05" pos="0 0 -.05"/>
      <body name="arm" pos=".3 0 0">
        <joint type="slide" axis="0 0 1" stiffness="1000" damping="100"/>
        <geom type="box" size=".1 .5 .05" pos="0 0 -.05" mass=".01"/>
      </body>
    </body>
  </worldbody>
  <sensor>{sensors}</sensor>
</mujoco>"""


@pytest.mark.parametrize("num_envs", [1, 2])
@pytest.mark.parametrize("reduce", REDUCES)
@pytest.mark.parametrize(("first", "second", "sign"), [("base", "load", 1), ("load", "base", -1)])
def test_pairs_in_both_orders(scene: Any, reduce: str, first: str, second: str, sign: int, num_envs: int) -> None:
    # The base is fixed and so comes before the load among the engine's colliders, its moving arm after it.
    sensor = f'<contact name="c" subtree1="{first}" subtree2="{second}" data="{FULL}" num="8" reduce="{reduce}"/>'
    engine = reporting(scene(sensor, MIXED), num_envs)
    engine.step(30)
    assert engine.sensors["c"].layout.pair_order == "mixed"
    expected = sign * net_forces(engine)["load"]
    batch = engine.contacts("c")
    assert (batch.found == 6).all()
    np.testing.assert_allclose(batch.net_force, expected, rtol=0, atol=1e-5 * float(np.linalg.norm(expected)))
    # The array alone cannot say as much.
    assert engine.sensors["c"].layout.decode(engine.array("c")).force_world is None
    if reduce != "netforce" and num_envs == 1:
        names = {("geom 1 of base", "geom 0 of load"), ("geom 2 of arm", "geom 0 of load")}
        assert {frozenset(pair) for pair in engine.details("c").geoms[:6]} == {frozenset(pair) for pair in names}


def test_details_name_the_geoms(scene: Any) -> None:
    engine = open_engine(scene('<contact name="c" geom1="box" geom2="floor" num="5"/>'), "motrix")
    engine.step(20)
    assert engine.details("c").geoms == (("box", "floor"),) * 4 + (("", ""),)
    assert np.isnan(engine.details("c").friction).all()


def test_sensors_without_a_name_are_read_too(scene: Any) -> None:
    engine = open_engine(
        scene('<contact/><contact geom1="floor" geom2="box" num="4"/><contact name="n" geom1="box" geom2="floor"/>'),
        "motrix",
    )
    assert engine.sensors.names == ("sensor-1", "n")
    assert list(engine.unread) == ["sensor-0"]
    engine.step(20)
    assert engine.contacts("sensor-1").found == 4


def test_time_keyframes_and_reset(scene: Any) -> None:
    engine: Any = open_engine(scene('<contact name="c" geom1="floor" geom2="box" num="4"/>'), "motrix")
    start = engine.data.qpos.copy()
    engine.step(50)
    assert engine.time == pytest.approx(0.1)
    assert engine.contacts("c").found == 4
    moved = engine.data.qpos.copy()
    engine.reset()
    assert engine.time == 0
    np.testing.assert_array_equal(engine.data.qpos, start)
    # What the last step reported is not what is there now.
    assert engine.contacts("c").found == 0
    engine.step(50)
    np.testing.assert_array_equal(engine.data.qpos, moved)
    for key, height in (("high", 1), ("1", 2), (0, 1)):
        engine.reset(key)
        assert engine.data.qpos[2] == pytest.approx(height)
    assert engine.data.qpos[7] == pytest.approx(0.5)
    assert engine.time == 2
    assert engine._state.actuator_ctrls[0] == pytest.approx(0.7)
    with pytest.raises(SceneError, match="no keyframe 'low'"):
        engine.reset("low")


JOINTS = """
<mujoco>
  <worldbody>
    <geom type="plane" size="1 1 1" pos="0 0 -9"/>
    <body pos="0 0 .5"><freejoint/><geom size=".1"/>
      <body pos=".1 .2 .3" euler="10 20 30">
        <joint ref="30" axis="0 1 1"/><joint type="slide" axis="1 0 0" ref=".1" pos=".1 0 0"/>
        <geom size=".1" pos="0 0 1"/>
        <body pos="0 0 1" euler="5 5 5"><joint type="ball" pos="0 .1 0"/><geom type="box" size=".1 .2 .1"/></body>
      </body>
    </body>
    <body name="named" pos="2 0 1"><geom size=".2"/>
      <body pos="0 0 .5"><joint name="elbow" axis="0 1 0"/><geom size=".1" pos=".3 0 0"/></body>
    </body>
    <body pos="3 0 1"><joint type="free"/><geom size=".1"/></body>
    <frame pos="0 0 3" euler="0 45 0"><body><joint/><geom size=".1" pos=".2 0 0"/></body></frame>
    <body mocap="true" pos="5 5 1"><geom size=".1"/></body>
  </worldbody>
</mujoco>"""


SCENES = ("bounce", "clamp", "gripper", "quadruped", "rolling", "slope", "stack", "turntable")
"""Bundled scenes that MotrixSim runs."""


@pytest.mark.parametrize("name", [None, *SCENES])
def test_the_picture_has_the_engines_pose(scene: Any, name: str | None) -> None:
    engine: Any = open_engine(scene("", JOINTS) if name is None else name, "motrix")
    links = [link for link in engine._links if link]
    assert len(links) == engine.model.nbody - 1
    for _ in range(3):
        engine._motrix.forward_kinematic(engine._state)
        poses = np.array([engine._motrix.get_link(link).get_pose(engine._state) for link in links])
        np.testing.assert_allclose(engine.data.xpos[1:], poses[:, :3], atol=1e-5)
        quaternions = poses[:, [6, 3, 4, 5]]
        along = np.abs((engine.data.xquat[1:] * quaternions).sum(axis=1))
        np.testing.assert_allclose(along, 1, atol=1e-5)
        engine.step(150)


def test_a_user_can_push(scene: Any) -> None:
    engine: Any = open_engine(scene(""), "motrix")
    box = engine.model.body("box").id
    start = float(engine.data.qpos[0])
    engine.data.xfrc_applied[box, 0] = 200.0
    engine.step(20)
    pushed = float(engine.data.qpos[0])
    assert pushed > start + 0.01
    engine.data.xfrc_applied[:] = 0
    arm = engine.model.body("arm").id
    before = float(engine.data.qpos[7])
    engine.data.xfrc_applied[arm, 4] = -500.0
    engine.step(20)
    assert engine.data.qpos[7] < before - 0.1


def test_there_is_no_watching_all(scene: Any) -> None:
    engine = open_engine(scene(""), "motrix")
    assert not engine.can_watch_all
    with pytest.raises(SceneError, match="every contact"):
        engine.watch_all()


def test_settings_it_ignores_are_named(scene: Any) -> None:
    text = BOX.replace("<option ", '<option cone="elliptic" impratio="10" ')
    assert open_engine(scene("", text), "motrix").ignored == ("option@cone", "option@impratio")


def test_a_diverged_state_is_reset(scene: Any) -> None:
    engine: Any = open_engine(scene(""), "motrix")
    engine.step(10)
    engine._motrix.options.gravity = np.array([0, 0, np.nan], np.float32)
    with pytest.raises(UnstableError, match=r"after 0\.020 s"):
        engine.step(10)
    assert engine.time == 0
    assert np.isfinite(engine.data.qpos).all()


@pytest.mark.parametrize("included", [False, True])
def test_data_may_be_requested_in_any_order(scene: Any, tmp_path: Path, included: bool) -> None:
    """MotrixSim takes any order and writes its own; MuJoCo, which draws the picture, insists on one."""
    sensor = '<contact name="c" geom1="floor" geom2="box" num="4" data="{}"/>'
    element = sensor.format("pos force  found")
    if included:
        (tmp_path / "sensors.xml").write_text(f"<mujoco><sensor>{element}</sensor></mujoco>")
        path = write_scene(tmp_path, '</sensor><include file="sensors.xml"/><sensor>')
    else:
        path = scene(element)
    engine = open_engine(path, "motrix")
    engine.step(100)
    value = engine.get_sensor_value("c")
    ordered = open_engine(scene(sensor.format("found force pos")), "motrix")
    ordered.step(100)
    np.testing.assert_array_equal(value, ordered.get_sensor_value("c"))
    assert value[0] == 4


@pytest.mark.parametrize("engine", ["mujoco", "motrix"])
def test_sensors_are_read_as_the_manual_calls_it(scene: Any, engine: str) -> None:
    model = open_engine(scene('<contact name="c" geom1="floor" geom2="box" num="4"/>'), engine)
    model.step(10)
    data = model.data
    np.testing.assert_array_equal(model.get_sensor_value("c", data), model.get_sensor_value("c"))
    with pytest.raises(SceneError, match=r"give engine\.data"):
        model.get_sensor_value("c", mujoco.MjData(model.model))
