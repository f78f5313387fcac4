"""Touch sensors as a scene declares them and a user changes them."""

from functools import partial
from pathlib import Path

import mujoco
import numpy as np
import pytest
from contact_viewer import open_engine
from contact_viewer.errors import SceneError
from contact_viewer.touch.declaration import TouchDeclaration, parse_touch
from contact_viewer.touch.touch_sensors import TouchSensors

from .robots import Write, run, write_robot


@pytest.fixture
def robot(tmp_path: Path) -> Write:
    return partial(write_robot, tmp_path / "robot.xml")


WRONG = """<mujoco>
  <custom>
    <!-- <text name="touch:lost" data="site=sole"/> -->
    <text name="touch:good" data="type=force site=sole table=''"/>
    <text name="touch:typo" data="type=forse site=sole"/>
    <text name="other" data="not ours"/>
    <text
      name="touch:lost" data="site=heel"/><text name='touch:"q"' data="body=tail"/>
    <text name="touch:free" data="body=box measure=mount"/>
    <text name="touch:world" data="body=world measure=mount"/>
  </custom>
  <worldbody>
    <geom type="plane" size="1 1 1"/>
    <body name="box" pos="0 0 0.1"><freejoint/><geom type="box" size="0.1 0.1 0.1" mass="1"/>
      <site name="sole" xyaxes="0 0 -1 0 1 0"/><site name="side"/></body>
  </worldbody>
</mujoco>"""


def test_wrong_entries_are_named_with_their_line_and_the_rest_works(tmp_path: Path) -> None:
    path = tmp_path / "wrong.xml"
    path.write_text(WRONG)
    engine = open_engine(path)
    touch = TouchSensors(engine)
    assert touch.problems == [
        "wrong.xml:5: touch:typo: unknown type 'forse': choose from bumper, force, force-3d; taken as a bumper",
        "wrong.xml:7: touch:lost: no site named 'heel'; the scene has: sole, side",
        "wrong.xml:8: touch:\"q\": no body named 'tail'; the scene has: world, box",
        "wrong.xml:9: touch:free: measure mount needs a body that is attached to another one",
        "wrong.xml:10: touch:world: measure mount needs a body that is attached to another one",
    ]
    assert [sensor.name for sensor in touch] == ["good", "typo"]
    run(engine, touch, 1)
    assert touch.value("good") == pytest.approx([9.81], rel=1e-3)


def test_an_unknown_type_is_a_bumper_as_in_webots(robot: Write) -> None:
    engine = open_engine(robot("type=Force site=down", "type= body=foot", "type=forse site=nose"))
    touch = TouchSensors(engine)
    known = "choose from bumper, force, force-3d; taken as a bumper"
    assert touch.problems[:2] == [
        f"robot.xml:4: touch:0: unknown type 'Force': {known}",
        f"robot.xml:5: touch:1: unknown type '': {known}",
    ]
    # What is left out is no bumper either.
    assert [problem.split(";")[0] for problem in touch.problems[2:]] == ["robot.xml:6: touch:2: no site named 'nose'"]
    assert [sensor.device.type for sensor in touch] == ["bumper", "bumper"]
    run(engine, touch, 1)
    assert touch.value("0") == touch.value("1") == [1]


def test_wrong_entries_without_a_line(tmp_path: Path) -> None:
    message = "touch:typo: unknown type 'forse': choose from bumper, force, force-3d; taken as a bumper"
    model = mujoco.MjModel.from_xml_string(WRONG)
    assert message in TouchSensors(open_engine(model)).problems
    (tmp_path / "part.xml").write_text(WRONG)
    (tmp_path / "whole.xml").write_text('<mujoco><include file="part.xml"/></mujoco>')
    assert f"whole.xml: {message}" in TouchSensors(open_engine(tmp_path / "whole.xml")).problems
    binary = tmp_path / "scene.mjb"
    mujoco.mj_saveModel(model, str(binary), None)
    assert f"scene.mjb: {message}" in TouchSensors(open_engine(binary)).problems


def test_names_that_are_not_utf_8(tmp_path: Path) -> None:
    path = tmp_path / "latin.xml"
    path.write_bytes(WRONG.replace("touch:good", "touch:f\xfc\xdf").encode("latin-1"))
    touch = TouchSensors(open_engine(path))
    assert [sensor.name for sensor in touch] == ["f\ufffd\ufffd", "typo"]


def test_no_touch_sensor_of_that_name(robot: Write) -> None:
    with pytest.raises(SceneError, match="no touch sensor named 'hand'; the scene has: 0, 1"):
        TouchSensors(open_engine(robot("site=sole", "body=foot"))).device("hand")


def test_add_change_and_revert(robot: Write) -> None:
    engine = open_engine(robot("type=force site=down table=''", sensors='<touch name="native" site="sole"/>'))
    touch = TouchSensors(engine)
    run(engine, touch, 1)
    assert ("site", "sole") in touch.targets()
    assert ("body", "foot") in touch.targets()
    assert ("body", "world") not in touch.targets()
    added = touch.add(parse_touch("new", "type=force-3d body=foot table=''"))
    assert [sensor.name for sensor in touch] == ["0", "new", "native"]
    assert added.modified
    assert not touch["0"].modified
    with pytest.raises(SceneError, match="already a touch sensor named 'new'"):
        touch.add(TouchDeclaration("new", body="foot"))
    with pytest.raises(SceneError, match="no site named 'nose'"):
        touch.add(TouchDeclaration("newer", site="nose"))
    run(engine, touch, 0.01)
    assert touch.value("new") == pytest.approx([0, 0, 49.05], rel=1e-3, abs=0.05)

    touch.change("0", lookup_table=[[0, 0, 0], [100, 1, 0]])
    assert touch.value("0") == pytest.approx([0.4905], rel=1e-3)
    assert touch["0"].modified
    touch.change("0", measure="mount")
    assert np.isnan(touch.value("0")).all()
    run(engine, touch, 0.01)
    assert touch.value("0") == pytest.approx([0.3924], rel=1e-3)
    assert touch["0"].declaration == parse_touch("0", "type=force site=down table='0 0 0, 100 1 0' measure=mount")
    with pytest.raises(SceneError, match="larger force"):
        touch.change("0", lookup_table=[[1, 0, 0], [0, 1, 0]])
    touch.device("0").resolution = 5
    touch.device("0").enable(20)
    declaration = touch["0"].declaration
    assert declaration is not None
    assert (declaration.resolution, declaration.sampling_period) == (5, 20)
    touch.mark_saved("0")
    assert not touch["0"].modified
    touch.change("0", type="bumper", resolution=1)
    assert touch["0"].modified
    touch.revert("0")
    assert not touch["0"].modified
    assert touch["0"].declaration == declaration
    touch.revert("new")
    assert [sensor.name for sensor in touch] == ["0", "native"]
