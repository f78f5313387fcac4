"""The MuJoCo engine: what it reads, completes and switches, judged by physics and MuJoCo's own functions."""

from pathlib import Path

import mujoco
import numpy as np
import pytest
from contact_viewer import open_engine
from contact_viewer.errors import SceneError, UnstableError

BOX = """
<mujoco>
  <option gravity="1.3 -2.1 -9.81"/>
  <worldbody>
    <geom name="floor" type="plane" size="2 2 .1" friction="1.5"/>
    <body name="box" pos="0 0 .0999"><freejoint/><geom name="box" type="box" size=".1 .1 .1" mass="2"/></body>
  </worldbody>
  <sensor>
    {sensors}
  </sensor>
  <keyframe><key name="high" qpos="0 0 1 1 0 0 0"/><key qpos="0 0 2 1 0 0 0"/></keyframe>
</mujoco>"""
WEIGHT = 2 * np.array([1.3, -2.1, -9.81])
REDUCES = ["none", "mindist", "maxforce", "netforce"]


@pytest.fixture
def scene(tmp_path: Path):  # type: ignore[no-untyped-def]
    def write(sensors: str) -> Path:
        path = tmp_path / "box.xml"
        path.write_text(BOX.format(sensors=sensors))
        return path

    return write


def known(array: np.ndarray | None) -> np.ndarray:
    assert array is not None
    return array


def native_net_force(engine, name: str) -> np.ndarray:  # type: ignore[no-untyped-def]
    """Sum over mjData.contact with mj_contactForce, turned into the world by the contact's own frame."""
    total = np.zeros(3)
    wrench = np.zeros(6)
    for i in range(engine.data.ncon):
        mujoco.mj_contactForce(engine.model, engine.data, i, wrench)
        total += engine.data.contact[i].frame.reshape(3, 3).T @ wrench[:3]
    return total


@pytest.mark.parametrize("reduce", REDUCES)
@pytest.mark.parametrize("data", ["found", "force", "found force pos normal tangent", "dist"])
@pytest.mark.parametrize(("first", "second", "sign"), [("floor", "box", 1), ("box", "floor", -1)])
def test_contacts_are_complete_whatever_is_requested(scene, data, reduce, first, second, sign) -> None:  # type: ignore[no-untyped-def]
    engine = open_engine(
        scene(f'<contact name="c" geom1="{first}" geom2="{second}" data="{data}" num="6" reduce="{reduce}"/>')
    )
    engine.step(2000)
    batch = engine.contacts("c")
    for field in ("force", "torque", "dist", "pos", "normal", "tangent0", "tangent1"):
        assert getattr(batch, field) is not None
    np.testing.assert_allclose(known(batch.net_force), -sign * WEIGHT, rtol=1e-4)
    np.testing.assert_allclose(known(batch.net_force), sign * native_net_force(engine, "c"), atol=1e-9)
    assert batch.found == 4


def test_array_is_the_engines_own(scene) -> None:  # type: ignore[no-untyped-def]
    path = scene('<clock/><contact name="c" geom1="floor" geom2="box" data="found force" num="2"/>')
    engine = open_engine(path)
    model = mujoco.MjModel.from_xml_path(str(path))
    data = mujoco.MjData(model)
    engine.step(100)
    mujoco.mj_step(model, data, 100)
    np.testing.assert_array_equal(engine.array("c"), data.sensordata[1:9])
    assert engine.sensors["c"].size == 8
    np.testing.assert_array_equal(engine.data.qpos, data.qpos)


@pytest.mark.parametrize("reduce", REDUCES)
@pytest.mark.parametrize("data", ["found", "found force", "found force torque dist pos normal tangent"])
@pytest.mark.parametrize("stepped", [False, True])
def test_set_reduce_is_what_the_engine_would_report(scene, data, reduce, stepped) -> None:  # type: ignore[no-untyped-def]
    """Switched at once, without a step, the array is that of a sensor declared so; and it stays so."""
    element = '<contact name="{}" geom1="floor" geom2="box" data="' + data + '" num="3" reduce="{}"/>'
    engine = open_engine(
        scene("".join(element.format(mode, mode) for mode in REDUCES) + element.format("c", "mindist"))
    )
    engine.step(37)
    engine.set_reduce("c", reduce)
    if stepped:
        engine.step(5)
    np.testing.assert_allclose(engine.array("c"), engine.array(reduce), atol=1e-9)
    for field in ("force", "pos", "normal", "torque"):
        switched, declared = getattr(engine.contacts("c"), field), getattr(engine.contacts(reduce), field)
        np.testing.assert_allclose(switched, declared, atol=1e-9)
    assert engine.sensors["c"].reduce == reduce
    assert engine.sensors["c"].modified == (reduce != "mindist")


def test_set_reduce_survives_a_force_that_changes(scene) -> None:  # type: ignore[no-untyped-def]
    """A sensor declared without forces is computed before forces exist; switched, it must not lag behind."""
    engine = open_engine(scene('<contact name="c" geom1="floor" geom2="box" data="found dist pos" num="3"/>'))
    engine.set_reduce("c", "netforce")
    for _ in range(50):
        engine.step()
        centroid = engine.contacts("c").pos
        assert centroid is not None
        np.testing.assert_array_equal(engine.array("c")[2:5], centroid[0])


def test_dropped_contacts_are_the_rest(scene) -> None:  # type: ignore[no-untyped-def]
    engine = open_engine(scene('<contact name="c" geom1="floor" geom2="box" data="found" num="1" reduce="maxforce"/>'))
    engine.step(2000)
    dropped = engine.dropped("c")
    assert dropped.filled.sum() == 3
    total = known(engine.contacts("c").net_force) + known(dropped.net_force)
    np.testing.assert_allclose(total, -WEIGHT, rtol=1e-4)


def test_details_name_the_geoms_in_the_sensors_order(scene) -> None:  # type: ignore[no-untyped-def]
    engine = open_engine(
        scene(
            '<contact name="a" geom1="floor" geom2="box" num="5"/><contact name="b" geom1="box" geom2="floor" num="5"/>'
            '<contact name="net" geom1="box" geom2="floor" reduce="netforce"/>'
        )
    )
    engine.step(10)
    assert engine.details("a").geoms == (("floor", "box"),) * 4 + (("", ""),)
    assert engine.details("b").geoms == (("box", "floor"),) * 4 + (("", ""),)
    assert engine.details("net").geoms == (("", ""),)
    friction = engine.details("a").friction
    # condim 3 slides along two tangents and does not resist turning.
    np.testing.assert_array_equal(friction[:4], [[1.5, 1.5, 0, 0, 0]] * 4)
    assert np.isnan(friction[4]).all()


def test_labels_and_names(scene) -> None:  # type: ignore[no-untyped-def]
    engine = open_engine(
        scene('<contact geom1="floor" geom2="box"/><contact name="n" body1="box"/><contact subtree2="box"/><contact/>')
    )
    assert [sensor.label for sensor in engine.sensors] == [
        "geom floor × geom box",
        "body box × any",
        "any × subtree box",
        "any × any",
    ]
    assert engine.sensors.names == ("sensor-0", "n", "sensor-2", "sensor-3")
    assert engine.sensors["n"] is engine.sensors[1]


def test_delayed_sensors_keep_their_delay(scene) -> None:  # type: ignore[no-untyped-def]
    delay = 'nsample="20" delay="0.02"'
    engine = open_engine(
        scene(
            f'<contact name="c" geom1="floor" geom2="box" data="found pos" {delay}/>'
            '<contact name="now" data="found pos"/>'
        )
    )
    history = []
    for _ in range(60):
        engine.step()
        batch = engine.contacts("c")
        assert batch.pos is not None
        np.testing.assert_array_equal(batch.pos[0], engine.array("c")[1:])
        history.append(engine.array("now"))
        if len(history) > 11:
            np.testing.assert_array_equal(engine.array("c"), history[-11])


def test_a_users_model_is_left_as_it_is() -> None:
    model = mujoco.MjModel.from_xml_string(
        BOX.format(sensors='<contact name="c" geom1="floor" geom2="box" data="found force" num="4"/>')
    )
    before = model.sensor_intprm.copy(), model.sensor_needstage.copy(), model.nsensor
    engine = open_engine(model)
    assert engine.model is model
    assert engine.sensors["c"].reconstructed
    engine.step(2000)
    np.testing.assert_allclose(known(engine.contacts("c").net_force), -WEIGHT, rtol=1e-4)
    engine.set_reduce("c", "netforce")
    np.testing.assert_allclose(known(engine.contacts("c").net_force), -WEIGHT, rtol=1e-4)
    np.testing.assert_allclose(engine.array("c")[1:4], -WEIGHT, rtol=1e-4)
    np.testing.assert_array_equal(model.sensor_intprm, before[0])
    np.testing.assert_array_equal(model.sensor_needstage, before[1])
    assert model.nsensor == before[2]


def test_mjb_files_open(tmp_path: Path) -> None:
    model = mujoco.MjModel.from_xml_string(BOX.format(sensors='<contact name="c" geom1="floor" num="4"/>'))
    mujoco.mj_saveModel(model, str(tmp_path / "box.mjb"))
    engine = open_engine(tmp_path / "box.mjb")
    engine.step(2000)
    np.testing.assert_allclose(known(engine.contacts("c").net_force), -WEIGHT, rtol=1e-4)


def test_urdf_files_open(tmp_path: Path) -> None:
    path = tmp_path / "robot.urdf"
    path.write_text(
        '<robot name="r"><link name="base"><inertial><mass value="1"/>'
        '<inertia ixx="1" iyy="1" izz="1" ixy="0" ixz="0" iyz="0"/></inertial>'
        '<collision><geometry><box size="1 1 1"/></geometry></collision></link></robot>'
    )
    assert len(open_engine(path).sensors) == 0


def test_watch_all_matches_every_contact(scene) -> None:  # type: ignore[no-untyped-def]
    engine = open_engine(scene(""))
    assert len(engine.sensors) == 0
    sensor = engine.watch_all()
    assert sensor.virtual
    assert engine.watch_all() is sensor
    engine.step(2000)
    np.testing.assert_allclose(known(engine.contacts(sensor.name).net_force), -WEIGHT, rtol=1e-4)
    assert engine.array(sensor.name).shape == (sensor.size,)
    engine.set_reduce(sensor.name, "netforce")
    assert engine.contacts(sensor.name).filled.sum() == 1


@pytest.mark.parametrize("num_envs", [1, 2])
def test_watch_all_has_a_slot_for_every_contact(scene, num_envs: int) -> None:  # type: ignore[no-untyped-def]
    boxes = "".join(
        f'<body pos="{0.25 * (i % 20)} {0.25 * (i // 20)} .0999"><freejoint/><geom type="box" size=".1 .1 .1"/></body>'
        for i in range(300)
    )
    path = scene("")
    path.write_text(path.read_text().replace("</worldbody>", f"{boxes}</worldbody>"))
    engine = open_engine(path, num_envs=num_envs)
    name = engine.watch_all().name
    engine.step()
    pose, expected, wrench = engine.pose(num_envs - 1), np.zeros(3), np.zeros(6)
    for i, contact in enumerate(pose.contact):
        mujoco.mj_contactForce(engine.model, pose, i, wrench)
        expected += contact.frame.reshape(3, 3).T @ wrench[:3]
    batch = engine.contacts(name)
    assert pose.ncon > 1200
    assert (batch.found == pose.ncon).all()
    assert (batch.filled.sum(axis=-1) == pose.ncon).all()
    np.testing.assert_allclose(np.atleast_2d(known(batch.net_force))[-1], expected, rtol=1e-12)
    assert engine.array(name).shape[-1] == engine.sensors[name].size
    assert not engine.sensors[name].modified
    assert not engine.dropped(name, num_envs - 1).filled.any()


def test_reset_and_keys(scene) -> None:  # type: ignore[no-untyped-def]
    engine = open_engine(scene('<contact name="c"/>'))
    assert engine.keys == ("high", "key 1")
    start = engine.data.qpos.copy()
    engine.step(10)
    for key, height in (("high", 1.0), ("0", 1.0), (1, 2.0), ("key 1", 2.0)):
        engine.reset(key)
        assert engine.data.qpos[2] == height
        assert engine.contacts("c").found == 0
    engine.reset()
    np.testing.assert_array_equal(engine.data.qpos, start)
    assert engine.contacts("c").found == 4
    with pytest.raises(SceneError, match=r"no keyframe 'low'.*high \(0\)"):
        engine.reset("low")
    with pytest.raises(SceneError, match="no keyframe '2'"):
        engine.reset("2")


def test_unknown_sensor_names_those_there_are(scene) -> None:  # type: ignore[no-untyped-def]
    engine = open_engine(scene('<contact name="c"/>'))
    for call in (engine.contacts, engine.array, engine.details, engine.dropped):
        with pytest.raises(SceneError, match="no contact sensor named 'x'; the scene has: c"):
            call("x")
    with pytest.raises(SceneError, match="no contact sensor named 'x'"):
        engine.set_reduce("x", "none")
    with pytest.raises(ValueError, match="unknown reduce mode 'most'"):
        engine.set_reduce("c", "most")


def test_divergence_is_reported(tmp_path: Path) -> None:
    path = tmp_path / "bad.xml"
    path.write_text(
        '<mujoco><option timestep="0.1"/><worldbody><body><joint name="j" type="slide" stiffness="-1e7"/>'
        '<geom size=".1"/></body></worldbody><keyframe><key qpos="1"/></keyframe></mujoco>'
    )
    engine = open_engine(path)
    engine.reset(0)

    def run() -> None:
        for _ in range(1000):
            engine.step(10)

    with pytest.raises(UnstableError, match="unstable"):
        run()


@pytest.mark.parametrize(
    ("content", "words"),
    [
        ("<mujoco><worldbody></mujoco>", "XML"),
        ("", "empty"),
        ("<mujoco><nonsense/></mujoco>", "nonsense"),
        ('<mujoco><sensor><contact geom1="nobody"/></sensor></mujoco>', "nobody"),
    ],
)
def test_bad_files_are_one_line(tmp_path: Path, content: str, words: str) -> None:
    path = tmp_path / "bad.xml"
    path.write_text(content)
    with pytest.raises(SceneError, match=words) as error:
        open_engine(path)
    assert "\n" not in str(error.value)
    assert str(error.value).startswith(str(path))


def test_bad_paths_are_distinguished(tmp_path: Path) -> None:
    with pytest.raises(SceneError, match="no such file"):
        open_engine(tmp_path / "nothing.xml")
    with pytest.raises(SceneError, match="bundled scenes: slope"):
        open_engine("nothing")
    with pytest.raises(SceneError, match="folder"):
        open_engine(tmp_path)
    (tmp_path / "notes.txt").write_text("hello")
    with pytest.raises(SceneError, match="unknown kind"):
        open_engine(tmp_path / "notes.txt")
