"""Changes of sensors as a user makes, saves and takes them back, judged by MuJoCo and by the file's bytes."""

import difflib
from dataclasses import replace
from pathlib import Path

import mujoco
import pytest
from contact_viewer.errors import SceneError
from contact_viewer.mjmodel.names import read_names
from contact_viewer.scene_files.safe_open import open_safely
from contact_viewer.scene_files.sensor_edits import SensorEdits
from contact_viewer.scene_files.spec_changes import Exclusion, SensorChange, change_from_json, read_declarations
from contact_viewer.sensors.contact_declaration import ContactDeclaration, ContactTarget, TargetKind
from contact_viewer.sensors.layout import Field
from contact_viewer.settings import Reduce

SCENE = """<mujoco>
  <worldbody>
    <geom name="floor" type="plane" size="1 1 .1"/>
    <body name="ball" pos="0 0 .1"><freejoint/><geom name="ball" size=".1"/></body>
  </worldbody>
  <include file="part.xml"/>
  <sensor>
    <clock name="now"/>
    <contact   name = 'first'  geom1="floor"   data="found  force"/> <!-- odd spaces -->
    <contact geom2="ball"/>
  </sensor>
</mujoco>
"""
PART = "<mujocoinclude>\n  <sensor>\n    <contact name='part' reduce=\"netforce\"/>\n  </sensor>\n</mujocoinclude>\n"
NEW = SensorChange(ContactDeclaration("new", ContactTarget(TargetKind.GEOM, "floor"), num=3))
BAD = SensorChange(ContactDeclaration("bad", ContactTarget(TargetKind.GEOM, "nose")))
OTHER = SensorChange(ContactDeclaration("other", fields=(Field.DIST,)))


@pytest.fixture
def scene(tmp_path: Path) -> Path:
    path = tmp_path / "scene.xml"
    path.write_text(SCENE)
    (tmp_path / "part.xml").write_text(PART)
    return path


def running(path: Path, sensor_edits: SensorEdits) -> mujoco.MjModel:
    """The scene as the window would open it again."""
    found = open_safely(path, changes=sensor_edits.changes)
    sensor_edits.drop_refused(found.refusals)
    return found.model


def changed_lines(before: str, after: str) -> list[str]:
    lines = difflib.ndiff(before.splitlines(keepends=True), after.splitlines(keepends=True))
    return [line.rstrip("\n") for line in lines if line[0] in "+-"]


def changed(model: mujoco.MjModel, sensor: str, **values: object) -> SensorChange:
    before = read_declarations(model)[sensor]
    return SensorChange(replace(before, **values), before, sensor)  # type: ignore[arg-type]


def test_making_and_undoing(scene: Path) -> None:
    sensor_edits = SensorEdits()
    assert sensor_edits.undo_stack.undo() is None
    sensor_edits.make([NEW, OTHER])
    assert list(sensor_edits.unsaved) == ["new", "other"]
    assert sensor_edits.undo_stack.last == "make new, other"
    model = running(scene, sensor_edits)
    sensor_edits.make([changed(model, "new", name="newer", num=7)])
    assert list(sensor_edits.unsaved) == ["newer", "other"]
    assert read_declarations(running(scene, sensor_edits))["newer"].num == 7
    sensor_edits.undo_stack.undo()
    assert list(sensor_edits.changes) == [NEW, OTHER]
    sensor_edits.revert("new")
    assert list(sensor_edits.changes) == [OTHER]
    sensor_edits.undo_stack.undo()
    sensor_edits.undo_stack.undo()
    assert list(sensor_edits.changes) == []
    assert scene.read_text() == SCENE


def test_changing_back_leaves_nothing_to_save(scene: Path) -> None:
    sensor_edits = SensorEdits()
    model = running(scene, sensor_edits)
    sensor_edits.make([changed(model, "first", num=9)])
    model = running(scene, sensor_edits)
    sensor_edits.make([changed(model, "first", num=1)])
    assert list(sensor_edits.changes) == []


def test_saving_touches_nothing_else_and_undo_restores_the_bytes(scene: Path) -> None:
    sensor_edits = SensorEdits()
    model = running(scene, sensor_edits)
    sensor_edits.make([NEW])
    sensor_edits.make([changed(model, "first", num=5, reduce=Reduce.MAXFORCE)])
    sensor_edits.make([changed(model, "part", name="renamed", reduce=Reduce.NONE)])
    unnamed = next(name for name in read_declarations(model) if name.startswith("sensor-"))
    sensor_edits.make([changed(model, unnamed, first=ContactTarget(TargetKind.BODY, "world"))])
    made = sensor_edits.changes
    before = read_declarations(running(scene, sensor_edits))
    sensor_edits.save(scene, running(scene, sensor_edits), sensor_edits.changes)
    assert list(sensor_edits.changes) == []
    assert changed_lines(SCENE, scene.read_text()) == [
        "-     <contact   name = 'first'  geom1=\"floor\"   data=\"found  force\"/> <!-- odd spaces -->",
        "+     <contact   name = 'first'  geom1=\"floor\"   data=\"found  force\" num=\"5\" reduce=\"maxforce\"/>"
        " <!-- odd spaces -->",
        "-     <contact geom2=\"ball\"/>",
        "+     <contact geom2=\"ball\" body1=\"world\"/>",
        "+     <contact name=\"new\" geom1=\"floor\" num=\"3\" data=\"found force dist pos normal tangent\"/>",
    ]  # fmt: skip
    assert (scene.parent / "part.xml").read_text() == PART.replace("'part' reduce=\"netforce\"", "'renamed'")
    # What the file says now is what ran before.
    assert read_declarations(running(scene, sensor_edits)) == before
    assert sensor_edits.undo_stack.undo() == "save into scene.xml"
    assert scene.read_text() == SCENE
    assert (scene.parent / "part.xml").read_text() == PART
    assert sensor_edits.changes == made


def test_one_of_several_is_saved(scene: Path) -> None:
    sensor_edits = SensorEdits()
    sensor_edits.make([NEW])
    sensor_edits.make([OTHER])
    sensor_edits.save(scene, running(scene, sensor_edits), [NEW])
    assert list(sensor_edits.changes) == [OTHER]
    names = [name for name in read_names(running(scene, sensor_edits), "sensor") if "companion" not in name]
    assert names.count("new") == names.count("other") == 1


def test_a_save_that_fails_half_way_leaves_the_files_alone(scene: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    sensor_edits = SensorEdits()
    model = running(scene, sensor_edits)
    sensor_edits.make([changed(model, "first", num=5), NEW])
    model = running(scene, sensor_edits)

    def fail(*_: object) -> None:
        raise SceneError("no room")

    monkeypatch.setattr("contact_viewer.scene_files.sensor_edits.insert_elements", fail)
    with pytest.raises(SceneError, match="no room"):
        sensor_edits.save(scene, model, sensor_edits.changes)
    assert scene.read_text() == SCENE
    assert len(sensor_edits.changes) == 2


def test_changes_by_another_program_are_not_undone(scene: Path) -> None:
    sensor_edits = SensorEdits()
    sensor_edits.make([NEW])
    sensor_edits.save(scene, running(scene, sensor_edits), sensor_edits.changes)
    text = scene.read_text().replace("0 0 .1", "0 0 .2")
    scene.write_text(text)
    with pytest.raises(SceneError, match="changed by another program"):
        sensor_edits.undo_stack.undo()
    assert scene.read_text() == text
    assert sensor_edits.undo_stack.undo() == "make new"


def test_refused_changes_leave_no_step_behind(scene: Path) -> None:
    sensor_edits = SensorEdits()
    sensor_edits.make([NEW])
    sensor_edits.make([BAD])
    running(scene, sensor_edits)
    assert list(sensor_edits.changes) == [NEW]
    assert sensor_edits.undo_stack.last == "make new"
    # Made once more it is tried once more: the file may have changed.
    sensor_edits.make([BAD])
    sensor_edits.drop_refused([])
    assert list(sensor_edits.changes) == [NEW, BAD]


def test_every_change_asks_for_the_scene_to_be_opened_again(scene: Path) -> None:
    sensor_edits = SensorEdits()
    states = [sensor_edits.state]
    sensor_edits.make([NEW])
    states.append(sensor_edits.state)
    sensor_edits.save(scene, running(scene, sensor_edits), sensor_edits.changes)
    states.append(sensor_edits.state)
    sensor_edits.undo_stack.undo()
    states.append(sensor_edits.state)
    assert len(set(states)) == 4
    sensor_edits.clear()
    assert sensor_edits.undo_stack.last is None


PAIRS = """<mujoco>
  <worldbody>
    <geom name="floor" type="plane" size="1 1 .1"/>
    <body name="a &amp; b" pos="0 0 .1"><freejoint/><geom size=".1"/></body>
    <body name="c" pos="0 0 .29"><freejoint/><geom size=".1"/></body>
  </worldbody>
  <sensor>
    <contact name="all"/>
  </sensor>
</mujoco>
"""


@pytest.fixture
def pairs(tmp_path: Path) -> Path:
    path = tmp_path / "pairs.xml"
    path.write_text(PAIRS)
    return path


def touching(model: mujoco.MjModel) -> set[tuple[int, ...]]:
    """Pairs of bodies that touch at the start, by MuJoCo."""
    data = mujoco.MjData(model)
    mujoco.mj_forward(model, data)
    return {tuple(sorted(model.geom_bodyid[contact.geom].tolist())) for contact in data.contact}


def test_an_excluded_pair_does_not_collide_until_it_is_undone(pairs: Path) -> None:
    sensor_edits = SensorEdits()
    assert touching(running(pairs, sensor_edits)) == {(0, 1), (1, 2)}
    sensor_edits.exclude(Exclusion(("a & b", "c")))
    sensor_edits.exclude(Exclusion(("a & b", "c")))
    assert touching(running(pairs, sensor_edits)) == {(0, 1)}
    sensor_edits.exclude(Exclusion(("world", "a & b")))
    sensor_edits.make([NEW])
    model = running(pairs, sensor_edits)
    assert touching(model) == set()
    assert "new" in read_names(model, "sensor")
    assert set(sensor_edits.unsaved) == {"new"}
    sensor_edits.undo_stack.undo()
    assert sensor_edits.undo_stack.undo() == "exclude world x a & b"
    sensor_edits.undo_stack.undo()
    assert touching(running(pairs, sensor_edits)) == {(0, 1), (1, 2)}
    assert sensor_edits.undo_stack.last is None
    assert pairs.read_text() == PAIRS


def test_an_excluded_pair_is_saved_as_one_line_and_undo_restores_the_bytes(pairs: Path) -> None:
    sensor_edits, pair = SensorEdits(), Exclusion(("a & b", "c"))
    sensor_edits.exclude(pair)
    sensor_edits.save(pairs, running(pairs, sensor_edits), [pair])
    lines = changed_lines(PAIRS, pairs.read_text())
    assert lines == ["+   <contact>", '+     <exclude body1="a &amp; b" body2="c"/>', "+   </contact>"]
    assert not sensor_edits.exclusions
    assert touching(running(pairs, SensorEdits())) == {(0, 1)}
    before = pairs.read_text()
    other = Exclusion(("world", "c"))
    sensor_edits.save(pairs, running(pairs, sensor_edits), [other])
    assert changed_lines(before, pairs.read_text()) == ['+     <exclude body1="world" body2="c"/>']
    sensor_edits.undo_stack.undo()
    sensor_edits.undo_stack.undo()
    assert pairs.read_text() == PAIRS
    assert sensor_edits.exclusions == (pair,)


def test_exclusions_that_do_not_fit_are_refused(pairs: Path) -> None:
    sensor_edits = SensorEdits()
    sensor_edits.exclude(Exclusion(("a & b", "nobody")))
    found = open_safely(pairs, changes=sensor_edits.changes)
    assert [str(refusal) for refusal in found.refusals] == [
        "<exclude> of 'a & b x nobody' is left out: the scene has no body named 'nobody'"
    ]
    sensor_edits.drop_refused(found.refusals)
    assert not sensor_edits.changes
    # What the file has by now needs no change.
    pair = Exclusion(("c", "a & b"))
    sensor_edits.exclude(pair)
    pairs.write_text(PAIRS.replace("<sensor>", '<contact><exclude body1="a &amp; b" body2="c"/></contact><sensor>'))
    refusals = open_safely(pairs, changes=sensor_edits.changes).refusals
    assert [(refusal.change, refusal.reason) for refusal in refusals] == [(pair, None)]
    assert change_from_json(pair.to_json()) == pair
