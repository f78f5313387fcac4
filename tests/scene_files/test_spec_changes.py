"""Sensors made in the viewer: MuJoCo sees them as if the file had declared them, and the run goes on as it was."""

import json
from contextlib import closing
from dataclasses import replace
from pathlib import Path

import mujoco
import numpy as np
import pytest
from contact_viewer.engines.mujoco.engine import MujocoEngine
from contact_viewer.scene_files.compile_worker import Compilation, compile_scene
from contact_viewer.scene_files.preflight import survey_scene
from contact_viewer.scene_files.safe_open import open_safely
from contact_viewer.scene_files.spec_changes import SensorChange, read_declarations, target_names
from contact_viewer.scene_files.xml_edits import contact_element
from contact_viewer.sensors.contact_declaration import NUM_MAX, ContactDeclaration, ContactTarget, TargetKind
from contact_viewer.sensors.layout import Field
from contact_viewer.settings import Reduce

SCENE = """<mujoco>
  <option gravity="1.5 0 -9.81"/>
  <worldbody>
    <geom name="floor" type="plane" size="5 5 .1"/>
    <body name="cart" pos="0 0 .31">
      <freejoint/>
      <geom name="deck" type="box" size=".3 .2 .05"/>
      <site name="zone" type="box" size="1 1 1" pos=".6 0 0"/>
      <body name="front" pos=".25 0 -.15"><geom name="wheel" size=".15"/></body>
      <body name="back" pos="-.25 0 -.15"><joint axis="0 1 0" damping=".1"/><geom name="roller" size=".15"/></body>
    </body>
    <body name="load" pos="0 0 .5"><freejoint/><geom name="load" type="box" size=".1 .1 .1"/></body>
    {bodies}
  </worldbody>
  <sensor>
    <jointpos joint="{joint}"/>
    <contact name="floor_any" geom1="floor" num="6" data="found force"/>
    <contact geom1="deck" geom2="load"/>
    {sensors}
  </sensor>
</mujoco>"""
GEOM, BODY, SUBTREE, SITE = TargetKind.GEOM, TargetKind.BODY, TargetKind.SUBTREE, TargetKind.SITE
ANY = ContactTarget()
ALL = tuple(Field)[:7]
TARGETS = {
    "geoms": (ContactTarget(GEOM, "floor"), ContactTarget(GEOM, "wheel")),
    "bodies": (ContactTarget(BODY, "world"), ContactTarget(BODY, "back")),
    "subtree": (ContactTarget(BODY, "world"), ContactTarget(SUBTREE, "cart")),
    "mixed": (ContactTarget(SUBTREE, "cart"), ContactTarget(GEOM, "load")),
    "one-sided": (ANY, ContactTarget(SUBTREE, "load")),
    "site": (ContactTarget(SITE, "zone"), ANY),
    "site and geom": (ContactTarget(SITE, "zone"), ContactTarget(GEOM, "floor")),
    "everything": (ANY, ANY),
}


def write(path: Path, sensors: str = "", bodies: str = "") -> Path:
    text = SCENE.format(sensors=sensors, bodies=bodies, joint="spring" if "spring" in bodies else "free")
    path.write_text(text.replace("<freejoint/>", '<freejoint name="free"/>', 1).replace('<jointpos joint="free"/>', ""))
    return path


@pytest.fixture
def scene(tmp_path: Path) -> Path:
    return write(tmp_path / "scene.xml")


def opened(path: Path, *changes: SensorChange) -> MujocoEngine:
    return MujocoEngine(open_safely(path, changes=changes))


@pytest.mark.parametrize("reduce", list(Reduce))
@pytest.mark.parametrize("targets", TARGETS.values(), ids=list(TARGETS))
def test_a_made_sensor_reads_as_a_declared_one(
    scene: Path, tmp_path: Path, targets: tuple[ContactTarget, ContactTarget], reduce: Reduce
) -> None:
    made = ContactDeclaration("made", *targets, fields=ALL, num=5, reduce=reduce)
    engine = opened(scene, SensorChange(made))
    declared = write(tmp_path / "declared.xml", sensors=contact_element(made.attributes))
    model = mujoco.MjModel.from_xml_path(str(declared))
    data = mujoco.MjData(model)
    seen = 0
    for _ in range(60):
        mujoco.mj_step(model, data, 5)
        engine.step(5)
        array = engine.array("made")
        np.testing.assert_array_equal(array, data.sensor("made").data)
        seen += int(array[0] > 0)
    assert seen > 10
    assert read_declarations(engine.model)["made"] == made


def test_a_changed_sensor_keeps_its_place_and_what_is_not_changed(tmp_path: Path) -> None:
    sensors = '<contact name="late" geom1="floor" interval=".1" nsample="3" num="2"/>'
    path = write(tmp_path / "scene.xml", sensors)
    before = read_declarations(opened(path).model)["late"]
    after = replace(before, name="later", num=7, first=ContactTarget(SUBTREE, "cart"), fields=(Field.DIST, Field.POS))
    engine = opened(path, SensorChange(after, before, "late"))
    assert [sensor.name for sensor in engine.sensors] == ["floor_any", "sensor-1", "later"]
    assert engine.sensors["later"].slots == 7
    assert engine.sensors["later"].label == "subtree cart × any"
    assert engine.array("later").shape == (28,)
    index = engine.sensor_id("later")
    assert engine.model.sensor_history[index].max() == 3
    assert engine.model.sensor_interval[index].max() == pytest.approx(0.1)


def test_unnamed_sensors_can_be_changed(scene: Path) -> None:
    before = read_declarations(opened(scene).model)["sensor-1"]
    assert before.name == ""
    engine = opened(scene, SensorChange(replace(before, num=9), before, "sensor-1"))
    assert engine.sensors["sensor-1"].slots == 9
    engine = opened(scene, SensorChange(replace(before, name="load", num=9), before, "sensor-1"))
    assert [sensor.name for sensor in engine.sensors] == ["floor_any", "load"]


@pytest.mark.parametrize(
    "more",
    [
        "",
        '<body pos="2 0 1"><joint name="spring" stiffness="9" damping=".1" axis="0 0 1"/><geom size=".1"/></body>',
    ],
)
def test_the_run_goes_on_bit_for_bit(tmp_path: Path, more: str) -> None:
    path = write(tmp_path / "scene.xml", bodies=more)
    untouched, running = opened(path), opened(path)
    for engine in (untouched, running):
        engine.data.xfrc_applied[1, 0] = 3.0
        engine.step(137)
    changed = opened(path, SensorChange(ContactDeclaration("everything", num=20)))
    assert changed.adopt_state(running)
    assert changed.time == running.time
    assert changed.data.xfrc_applied[1, 0] == 3.0
    for _ in range(500):
        untouched.step()
        changed.step()
        assert changed.data.qpos.tobytes() == untouched.data.qpos.tobytes()
        assert changed.data.qvel.tobytes() == untouched.data.qvel.tobytes()
    np.testing.assert_array_equal(changed.array("floor_any"), untouched.array("floor_any"))


def test_delay_buffers_of_actuators_and_sensors_go_along(tmp_path: Path) -> None:
    text = write(tmp_path / "scene.xml", '<contact name="late" geom1="floor" nsample="40" delay=".05"/>').read_text()
    text = text.replace('<joint axis="0 1 0" damping=".1"/>', '<joint name="turn" axis="0 1 0" damping=".1"/>')
    actuator = '<actuator><motor joint="turn" nsample="40" delay=".06"/></actuator></mujoco>'
    path = tmp_path / "delayed.xml"
    path.write_text(text.replace("</mujoco>", actuator))
    untouched, running = opened(path), opened(path)
    before = read_declarations(running.model)["floor_any"]
    for engine in (untouched, running):
        for step in range(100):
            engine.data.ctrl[0] = np.sin(0.3 * step)
            engine.step()
    changes = [SensorChange(replace(before, num=30), before, "floor_any"), SensorChange(ContactDeclaration("more"))]
    changed = opened(path, *changes)
    assert changed.adopt_state(running)
    for step in range(200):
        for engine in (untouched, changed):
            engine.data.ctrl[0] = np.cos(0.2 * step)
            engine.step()
        assert changed.data.qpos.tobytes() == untouched.data.qpos.tobytes()
        np.testing.assert_array_equal(changed.array("late"), untouched.array("late"))


def test_what_sleeps_sleeps_on(tmp_path: Path) -> None:
    path = tmp_path / "scene.xml"
    text = write(path).read_text().replace("<option gravity", '<option><flag sleep="enable"/></option><option gravity')
    path.write_text(text.replace("1.5 0 -9.81", "0 0 -9.81"))
    untouched, running = opened(path), opened(path)
    for engine in (untouched, running):
        engine.step(3000)
    assert untouched.data.ntree_awake == 0
    changed = opened(path, SensorChange(ContactDeclaration("everything", num=20)))
    assert changed.adopt_state(running)
    assert changed.data.ntree_awake == 0
    for engine in (untouched, changed):
        engine.data.xfrc_applied[1, 0] = 40.0
        engine.step(200)
    assert untouched.data.ntree_awake > 0
    assert changed.data.qpos.tobytes() == untouched.data.qpos.tobytes()


def test_changes_that_do_not_fit_are_left_out_and_reported(scene: Path) -> None:
    good = SensorChange(ContactDeclaration("good", second=ContactTarget(BODY, "load")))
    before = ContactDeclaration("gone")
    bad = {
        "no geom named 'nose'": SensorChange(ContactDeclaration("a", ContactTarget(GEOM, "nose"))),
        "no body named 'nose'": SensorChange(ContactDeclaration("b", ContactTarget(SUBTREE, "nose"))),
        "a sensor of that name": SensorChange(ContactDeclaration("floor_any")),
        "no sensor 'gone'": SensorChange(replace(before, num=2), before, "gone"),
        "only object 1 can be a site": SensorChange(ContactDeclaration("c", second=ContactTarget(SITE, "zone"))),
        "has no velocity": SensorChange(ContactDeclaration("d", fields=(Field.LINVEL,), reduce=Reduce.NETFORCE)),
        "num goes from 1": SensorChange(ContactDeclaration("e", num=NUM_MAX + 1)),
        "at least one field": SensorChange(ContactDeclaration("f", fields=())),
    }
    found = open_safely(scene, changes=[*bad.values(), good])
    assert [refusal.change for refusal in found.refusals] == list(bad.values())
    for words, note in zip(bad, found.notes, strict=True):
        assert words in note
    assert "good" in MujocoEngine(found).sensors.names


def test_a_sensor_that_the_file_has_by_now_is_not_doubled(tmp_path: Path) -> None:
    made = ContactDeclaration("made", *TARGETS["site and geom"], fields=ALL, num=5, reduce=Reduce.MAXFORCE)
    path = write(tmp_path / "scene.xml", contact_element(made.attributes))
    found = open_safely(path, changes=[SensorChange(made)])
    assert found.notes == ()
    assert [refusal.reason for refusal in found.refusals] == [None]
    assert MujocoEngine(found).sensors.names.count("made") == 1


def test_what_only_the_compiler_refuses_is_left_out_alone(scene: Path) -> None:
    # Twenty of them pass what can be shown.
    many = [SensorChange(ContactDeclaration(f"many{i}", num=NUM_MAX)) for i in range(20)]
    good = SensorChange(ContactDeclaration("good"))
    found = compile_scene(survey_scene(scene), [good, *many])
    assert [refusal.change.name for refusal in found.refusals] == ["many19"]
    assert "200,000" in str(found.refusals[0])
    assert "good" in MujocoEngine(found).sensors.names


def test_a_process_of_its_own_makes_them_too(scene: Path) -> None:
    made = SensorChange(ContactDeclaration("made", *TARGETS["mixed"], num=3))
    missing = SensorChange(ContactDeclaration("missing", ContactTarget(GEOM, "nose")))
    with closing(Compilation(scene, changes=[missing, made])) as compilation:
        apart = compilation.result()
    here = compile_scene(survey_scene(scene), [missing, made])
    assert apart.refusals == here.refusals
    assert apart.companions == here.companions
    one, other = MujocoEngine(apart), MujocoEngine(here)
    one.step(100)
    other.step(100)
    np.testing.assert_array_equal(one.array("made"), other.array("made"))
    assert one.array("made")[0] > 0
    assert SensorChange.from_json(json.loads(json.dumps(made.to_json()))) == made


def test_compiled_models_and_odd_names_refuse_all(scene: Path, tmp_path: Path) -> None:
    change = SensorChange(ContactDeclaration("made"))
    binary = tmp_path / "scene.mjb"
    mujoco.mj_saveModel(mujoco.MjModel.from_xml_path(str(scene)), str(binary), None)
    assert "compiled model" in open_safely(binary, changes=[change]).notes[-1]
    odd = tmp_path / "odd.xml"
    odd.write_bytes(scene.read_bytes().replace(b'"deck"', b'"de\xffk"'))
    assert "not UTF-8" in open_safely(odd, changes=[change]).notes[-1]


def test_a_broken_file_is_at_fault_itself(scene: Path) -> None:
    scene.write_text(scene.read_text().replace('size=".3 .2 .05"', 'size="-1 .2 .05"'))
    with pytest.raises(Exception, match="size"):
        open_safely(scene, changes=[SensorChange(ContactDeclaration("made"))])


def test_targets_are_those_with_names(tmp_path: Path) -> None:
    path = write(tmp_path / "scene.xml", bodies='<body pos="2 0 1"><geom size=".1"/></body>')
    model = opened(path).model
    assert target_names(model, GEOM) == ["floor", "deck", "wheel", "roller", "load"]
    assert target_names(model, SUBTREE) == target_names(model, BODY) == ["world", "cart", "front", "back", "load"]
    assert target_names(model, SITE) == ["zone"]
    assert target_names(model, TargetKind.ANY) == []
    assert list(read_declarations(model)) == ["floor_any", "sensor-1"]
