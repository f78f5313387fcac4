"""Sensors added to compiled models, against sensors that MuJoCo itself has compiled."""

from dataclasses import replace

import mujoco
import numpy as np
import pytest
from contact_viewer import open_engine
from contact_viewer.assets import bundled_scenes
from contact_viewer.engines.mujoco.engine import MujocoEngine
from contact_viewer.errors import SceneError
from contact_viewer.mjmodel.names import COMPANION, read_names
from contact_viewer.scene_files import compiled_sensors
from contact_viewer.scene_files.compiled_sensors import companions_of, with_sensors
from contact_viewer.scene_files.scene import LoadedScene, compile_spec, find_scene
from contact_viewer.scene_files.spec_changes import SensorChange, read_declarations
from contact_viewer.sensors.contact_declaration import ContactDeclaration, ContactTarget, TargetKind


def load(scene: str) -> mujoco.MjModel:
    return mujoco.MjModel.from_xml_path(str(find_scene(scene)))


@pytest.mark.parametrize("scene", [scene.name for scene in bundled_scenes()])
def test_a_compiled_model_gets_the_companions_that_its_file_would_have(scene: str) -> None:
    model = load(scene)
    engine, bare = MujocoEngine(with_sensors(LoadedScene(None, model))), load(scene)
    # Nothing drives the compiled model either.
    compiled = open_engine(scene, control=lambda model, data: None)
    data = mujoco.MjData(bare)
    assert model.nsensor == bare.nsensor
    for _ in range(5):
        engine.step(20)
        compiled.step(20)
        mujoco.mj_step(bare, data, 20)
        assert engine.data.qpos.tobytes() == data.qpos.tobytes()
        assert engine.data.sensordata[: bare.nsensordata].tobytes() == data.sensordata.tobytes()
        assert engine.sensors.names == compiled.sensors.names
        for name in engine.sensors.names:
            assert not engine.sensors[name].reconstructed
            ours, theirs = engine.contacts(name), compiled.contacts(name)
            assert ours.force is not None
            assert theirs.force is not None
            np.testing.assert_array_equal(ours.force, theirs.force)
            np.testing.assert_array_equal(ours.found, theirs.found)


EVERY_KIND = """<mujoco><size nuser_sensor="2"/>
  <worldbody><geom name="floor" type="plane" size="5 5 1"/>
    <body name="a" pos="0 0 .3"><freejoint/><geom name="ball" size=".1"/><site name="here"/></body>
    <body name="b" pos="1 0 .3"><joint name="up" type="slide" axis="0 0 1"/><geom size=".1"/></body></worldbody>
  <actuator><motor name="push" joint="up" nsample="4" delay=".01"/></actuator>
  <sensor><contact name="f\N{LATIN SMALL LETTER U WITH DIAERESIS}" body1="a" data="found" user="1 2"/>
    <gyro name="turn" site="here"/><contact geom1="floor" subtree2="b" num="7" reduce="netforce" data="force"/>
    <contact name="late" body1="a" num="3" data="found force"{delay}/>
    <contact name="any" reduce="mindist" cutoff="3" noise="1"/></sensor>
  <custom><numeric name="n" data="1 2"/><text name="t" data="x"/>
    <tuple name="both"><element objtype="body" objname="a"/></tuple></custom>
  <keyframe><key name="start"/></keyframe></mujoco>"""


def test_appended_companions_are_those_that_mujoco_compiles() -> None:
    text = EVERY_KIND.format(delay="")
    compiled = compile_spec(mujoco.MjSpec.from_string(text), None)
    appended = with_sensors(LoadedScene(None, mujoco.MjModel.from_xml_string(text)))
    assert appended.companions == compiled.companions == {0: 5, 2: 6, 3: 7, 4: 8}
    ours, theirs = appended.model, compiled.model
    for field in theirs._all_fields:
        expected = getattr(theirs, field)
        # Where names are may differ.
        if isinstance(expected, int | np.ndarray) and not field.startswith("name"):
            np.testing.assert_array_equal(getattr(ours, field), expected, err_msg=field)
    for kind, table in (("SENSOR", "sensor"), ("BODY", "body"), ("TUPLE", "tuple"), ("KEY", "key")):
        names = read_names(ours, table)
        assert names == read_names(theirs, table)
        for i, name in enumerate(names):
            if name and not name.startswith(COMPANION):
                assert mujoco.mj_name2id(ours, getattr(mujoco.mjtObj, f"mjOBJ_{kind}"), name) == i


def test_a_sensor_with_a_delay_gets_no_companion_and_keeps_its_past() -> None:
    """A companion with a past of its own would make a state longer than those of the program that steps the model."""
    model = mujoco.MjModel.from_xml_string(EVERY_KIND.format(delay=' nsample="5" delay=".01" interval=".004"'))
    appended = with_sensors(LoadedScene(None, model))
    assert appended.companions == {0: 5, 2: 6, 4: 7}
    np.testing.assert_array_equal(appended.model.sensor_historyadr[:5], model.sensor_historyadr)
    kind = int(mujoco.mjtState.mjSTATE_INTEGRATION)
    assert mujoco.mj_stateSize(appended.model, kind) == mujoco.mj_stateSize(model, kind)


def test_names_of_many_sensors_are_found_by_mujoco() -> None:
    names = [f"s{i}" for i in range(3000)]
    sensors = "".join(f'<contact name="{name}"/>' for name in names)
    model = with_sensors(
        LoadedScene(None, mujoco.MjModel.from_xml_string(f"<mujoco><sensor>{sensors}</sensor></mujoco>"))
    ).model
    assert model.nsensor == 6000
    assert [mujoco.mj_name2id(model, mujoco.mjtObj.mjOBJ_SENSOR, name) for name in names] == list(range(3000))
    assert mujoco.mj_name2id(model, mujoco.mjtObj.mjOBJ_SENSOR, "s3000") == -1


def test_sensors_are_made_changed_and_refused() -> None:
    model = load("quadruped")
    foot = read_declarations(model)["foot_FL"]
    floor = ContactTarget(TargetKind.GEOM, "floor")
    nobody = ContactTarget(TargetKind.BODY, "nobody")
    scene = with_sensors(
        LoadedScene(None, model),
        [
            SensorChange(ContactDeclaration("ground", second=floor, num=8)),
            SensorChange(replace(foot, name="left", num=2), foot, "foot_FL"),
            SensorChange(ContactDeclaration("belly")),
            SensorChange(ContactDeclaration("lost", nobody)),
        ],
    )
    assert [str(refusal) for refusal in scene.refusals] == [
        "sensor 'belly' is left out: the scene has a sensor of that name",
        "sensor 'lost' is left out: the scene has no body named 'nobody'",
    ]
    engine, before = MujocoEngine(scene), open_engine("quadruped")
    engine.step(300)
    before.step(300)
    assert engine.sensors.names == ("foot_FR", "foot_RL", "foot_RR", "belly", "ground", "left")
    assert set(read_declarations(scene.model)) == set(engine.sensors.names)
    force = engine.contacts("left").force
    assert force is not None
    assert before.contacts("foot_FL").force is not None
    np.testing.assert_array_equal(force[0], before.contacts("foot_FL").force[0])  # type: ignore[index]
    forces = [np.empty(6) for _ in range(engine.data.ncon)]
    for i, each in enumerate(forces):
        mujoco.mj_contactForce(engine.model, engine.data, i, each)
    total = sum(each[0] for each in forces)
    net = engine.contacts("ground").net_force
    assert net is not None
    np.testing.assert_allclose(abs(net[2]), total)
    # Once more on top of it, as when a further sensor is made.
    again = with_sensors(LoadedScene(None, scene.model, scene.companions, hidden=scene.hidden))
    assert again.model is scene.model
    assert companions_of(with_sensors(LoadedScene(None, model)).model) == {0: 5, 1: 6, 2: 7, 3: 8, 4: 9}


def test_a_model_that_mujoco_reads_otherwise_than_it_was_written_is_refused(monkeypatch: pytest.MonkeyPatch) -> None:
    """As where a later MuJoCo stores models in another form."""
    parts_of, calls = compiled_sensors._parts, []

    def other_parts(model: mujoco.MjModel) -> dict[str, bytes | memoryview]:
        calls.append(model)
        return parts_of(model) | ({"qpos0": bytes(8 * model.nq)} if len(calls) > 1 else {})

    monkeypatch.setattr(compiled_sensors, "_parts", other_parts)
    with pytest.raises(SceneError, match=r"cannot be added to this compiled model \(qpos0 would change\)"):
        with_sensors(LoadedScene(None, load("quadruped")))
