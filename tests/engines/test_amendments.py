"""Changes of sensors as a person makes, saves and takes them back, judged by MuJoCo and by the file's bytes."""

import difflib
from dataclasses import replace
from pathlib import Path

import mujoco
import pytest
from contact_viewer.engines.errors import SceneError
from contact_viewer.engines.files.amending import SensorChange, read_declarations
from contact_viewer.engines.files.amendments import Amendments
from contact_viewer.engines.files.vetting import open_safely
from contact_viewer.engines.mujoco.names import read_names
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
OTHER = SensorChange(ContactDeclaration("other", fields=(Field.DIST,)))


@pytest.fixture
def scene(tmp_path: Path) -> Path:
    path = tmp_path / "scene.xml"
    path.write_text(SCENE)
    (tmp_path / "part.xml").write_text(PART)
    return path


def running(path: Path, amendments: Amendments) -> mujoco.MjModel:
    """The scene as the window would open it again."""
    found = open_safely(path, changes=amendments.changes)
    amendments.settle(found.refusals)
    return found.model


def changed_lines(before: str, after: str) -> list[str]:
    lines = difflib.ndiff(before.splitlines(keepends=True), after.splitlines(keepends=True))
    return [line.rstrip("\n") for line in lines if line[0] in "+-"]


def changed(model: mujoco.MjModel, sensor: str, **values: object) -> SensorChange:
    before = read_declarations(model)[sensor]
    return SensorChange(replace(before, **values), before, sensor)  # type: ignore[arg-type]


def test_making_and_undoing(scene: Path) -> None:
    amendments = Amendments()
    assert amendments.undo() is None
    amendments.make([NEW, OTHER])
    assert list(amendments.unsaved) == ["new", "other"]
    assert amendments.last == "make new, other"
    model = running(scene, amendments)
    amendments.make([changed(model, "new", name="newer", num=7)])
    assert list(amendments.unsaved) == ["newer", "other"]
    assert read_declarations(running(scene, amendments))["newer"].num == 7
    amendments.undo()
    assert list(amendments.changes) == [NEW, OTHER]
    amendments.revert("new")
    assert list(amendments.changes) == [OTHER]
    amendments.undo()
    amendments.undo()
    assert list(amendments.changes) == []
    assert scene.read_text() == SCENE


def test_changing_back_leaves_nothing_to_save(scene: Path) -> None:
    amendments = Amendments()
    model = running(scene, amendments)
    amendments.make([changed(model, "first", num=9)])
    model = running(scene, amendments)
    amendments.make([changed(model, "first", num=1)])
    assert list(amendments.changes) == []


def test_saving_touches_nothing_else_and_undo_restores_the_bytes(scene: Path) -> None:
    amendments = Amendments()
    model = running(scene, amendments)
    amendments.make([NEW])
    amendments.make([changed(model, "first", num=5, reduce=Reduce.MAXFORCE)])
    amendments.make([changed(model, "part", name="renamed", reduce=Reduce.NONE)])
    unnamed = next(name for name in read_declarations(model) if name.startswith("sensor-"))
    amendments.make([changed(model, unnamed, first=ContactTarget(TargetKind.BODY, "world"))])
    made = amendments.changes
    before = read_declarations(running(scene, amendments))
    amendments.save(scene, running(scene, amendments), amendments.changes)
    assert list(amendments.changes) == []
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
    assert read_declarations(running(scene, amendments)) == before
    assert amendments.undo() == "save into scene.xml"
    assert scene.read_text() == SCENE
    assert (scene.parent / "part.xml").read_text() == PART
    assert amendments.changes == made


def test_one_of_several_is_saved(scene: Path) -> None:
    amendments = Amendments()
    amendments.make([NEW])
    amendments.make([OTHER])
    amendments.save(scene, running(scene, amendments), [NEW])
    assert list(amendments.changes) == [OTHER]
    names = [name for name in read_names(running(scene, amendments), "sensor") if "companion" not in name]
    assert names.count("new") == names.count("other") == 1


def test_a_save_that_fails_half_way_leaves_the_files_alone(scene: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    amendments = Amendments()
    model = running(scene, amendments)
    amendments.make([changed(model, "first", num=5), NEW])
    model = running(scene, amendments)

    def fail(*_: object) -> None:
        raise SceneError("no room")

    monkeypatch.setattr("contact_viewer.engines.files.amendments.insert_sensors", fail)
    with pytest.raises(SceneError, match="no room"):
        amendments.save(scene, model, amendments.changes)
    assert scene.read_text() == SCENE
    assert len(amendments.changes) == 2


def test_what_somebody_else_has_changed_is_not_undone(scene: Path) -> None:
    amendments = Amendments()
    amendments.make([NEW])
    amendments.save(scene, running(scene, amendments), amendments.changes)
    text = scene.read_text().replace("0 0 .1", "0 0 .2")
    scene.write_text(text)
    with pytest.raises(SceneError, match="changed by someone else"):
        amendments.undo()
    assert scene.read_text() == text
    assert amendments.undo() == "make new"


def test_refused_changes_leave_no_step_behind(scene: Path) -> None:
    amendments = Amendments()
    amendments.make([NEW])
    amendments.make([SensorChange(ContactDeclaration("bad", ContactTarget(TargetKind.GEOM, "nose")))])
    running(scene, amendments)
    assert list(amendments.changes) == [NEW]
    assert amendments.last == "make new"


def test_every_change_asks_for_the_scene_to_be_opened_again(scene: Path) -> None:
    amendments = Amendments()
    states = [amendments.state]
    amendments.make([NEW])
    states.append(amendments.state)
    amendments.save(scene, running(scene, amendments), amendments.changes)
    states.append(amendments.state)
    amendments.undo()
    states.append(amendments.state)
    assert len(set(states)) == 4
    amendments.clear()
    assert amendments.last is None
