"""Sensors proposed for what touches: MuJoCo's own contact forces say whether they are right."""

from pathlib import Path

import mujoco
import numpy as np
import pytest
from contact_viewer import open_engine
from contact_viewer.engines.mujoco.engine import MujocoEngine
from contact_viewer.mjmodel.sensor_suggestions import SensorSuggestions
from contact_viewer.scene_files.safe_open import open_safely
from contact_viewer.scene_files.spec_changes import SensorChange
from contact_viewer.sensors.contact_declaration import ContactDeclaration, ContactTarget, TargetKind

SCENE = """<mujoco>
  <worldbody>
    <body name="cart" pos="0 0 .3">
      <freejoint/>
      <geom name="deck" type="box" size=".3 .3 .1"/>
      <geom name="left" size=".1" pos="0 .2 -.2"/>
      <geom size=".1" pos="0.2 -.2 -.2"/>
      <geom name="right" size=".1" pos="-0.2 -.2 -.2"/>
      <geom name="paint" size=".4" contype="0" conaffinity="0" mass="0"/>
      <body name="arm"><geom name="hand" size=".05" pos="0 0 .5"/></body>
    </body>
    <body name="load" pos="0 0 .5"><freejoint/><geom name="load" type="box" size=".1 .1 .1"/></body>
    <geom name="floor" type="plane" size="3 3 .1"/>
    <body pos="2 0 .05"><freejoint/><geom size=".05"/></body>
    <body pos="2 0 .0"><geom type="box" size=".2 .2 .001"/></body>
  </worldbody>
</mujoco>"""


@pytest.fixture
def path(tmp_path: Path) -> Path:
    path = tmp_path / "scene.xml"
    path.write_text(SCENE)
    return path


def test_pairs_are_those_of_mujoco_with_what_moves_second(path: Path) -> None:
    engine = open_engine(path)
    engine.step(300)
    model, data = engine.model, engine.data
    expected: dict[frozenset[int], list[float]] = {}
    force = np.empty(6)
    for i in range(data.ncon):
        mujoco.mj_contactForce(model, data, i, force)
        expected.setdefault(frozenset(map(int, data.contact[i].geom)), []).append(float(force[0]))
    found = SensorSuggestions(model).touching(data)
    assert {frozenset(pair.geoms) for pair in found} == set(expected)
    for pair in found:
        assert pair.count == len(expected[frozenset(pair.geoms)])
        assert pair.force == pytest.approx(sum(expected[frozenset(pair.geoms)]))
    labels = [pair.labels for pair in found]
    # The plate is the later geom of the two, but stands still: forces are to act on the ball.
    assert ("floor", "left") in labels
    assert ("geom 9 of body 5", "geom 8 of body 4") in labels
    assert ("deck", "load") in labels
    assert ("floor", "geom 3 of cart") in labels
    assert SensorSuggestions(model).touching(mujoco.MjData(model)) == []


def test_a_sensor_for_each_pair_reports_its_contacts(path: Path) -> None:
    engine = open_engine(path)
    engine.step(300)
    suggestions = SensorSuggestions(engine.model)
    pairs = suggestions.touching(engine.data)
    taken: set[str] = set()
    proposed = {}
    for pair in pairs:
        sensor = suggestions.for_pair(pair, taken)
        if sensor is None:
            assert not any(engine.model.geom(geom).name for geom in pair.geoms)
            continue
        assert sensor.name not in taken
        taken.add(sensor.name)
        proposed[pair] = sensor
    assert "left_floor" in taken
    made = MujocoEngine(open_safely(path, changes=[SensorChange(sensor) for sensor in proposed.values()]))
    assert len(made.sensors) == len(proposed) >= 4
    made.step(300)
    for pair, sensor in proposed.items():
        batch = made.contacts(sensor.name)
        if "geom" not in pair.labels[1]:
            assert batch.found == pair.count <= sensor.num
            assert batch.force is not None
            assert float(batch.force[batch.filled, 0].sum()) == pytest.approx(pair.force)
    # Of the geom without a name its body stands in.
    nameless = next(sensor for pair, sensor in proposed.items() if pair.labels[1] == "geom 3 of cart")
    assert nameless.second == ContactTarget(TargetKind.BODY, "cart")
    net = made.contacts("load_deck").net_force
    assert net is not None
    np.testing.assert_allclose(net, [0, 0, 8 * 9.81], rtol=0.02, atol=0.1)


def test_one_sensor_per_geom_of_a_body(path: Path) -> None:
    engine = open_engine(path)
    suggestions = SensorSuggestions(engine.model)
    assert suggestions.bodies == ("world", "cart", "arm", "load")
    found = suggestions.for_body("cart", {"left"})
    assert [(sensor.name, sensor.second.name) for sensor in found] == [
        ("deck", "deck"),
        ("left_2", "left"),
        ("right", "right"),
    ]
    assert all(sensor.first.kind is TargetKind.ANY for sensor in found)
    assert suggestions.unnamed_of_body("cart") == 1


def test_all_contacts_have_room(path: Path) -> None:
    engine = open_engine("pile")
    engine.step(200)
    assert engine.data.ncon > 60
    sensor = SensorSuggestions(engine.model).for_everything(engine.data, {"all_contacts"})
    assert sensor.name == "all_contacts_2"
    assert sensor.num == 2 * engine.data.ncon
    assert sensor.attributes.keys() == {"name", "num", "data"}


@pytest.mark.parametrize(
    ("first", "second", "possible"),
    [
        (("geom", "floor"), ("geom", "left"), True),
        (("geom", "deck"), ("geom", "left"), False),
        (("body", "cart"), ("body", "arm"), False),
        (("subtree", "cart"), ("body", "load"), True),
        (("geom", "paint"), ("any", ""), False),
        (("any", ""), ("any", ""), True),
    ],
)
def test_what_can_never_touch_is_known(
    path: Path, first: tuple[str, str], second: tuple[str, str], possible: bool
) -> None:
    one, other = (ContactTarget(TargetKind(kind), name) for kind, name in (first, second))
    suggestions = SensorSuggestions(open_engine(path).model)
    assert suggestions.can_touch(ContactDeclaration("s", one, other)) == possible
    assert suggestions.can_touch(ContactDeclaration("s", other, one)) == possible


@pytest.mark.timeout(30)
@pytest.mark.parametrize("kind", [TargetKind.GEOM, TargetKind.BODY, TargetKind.SUBTREE])
def test_a_name_of_another_scene_can_never_touch(kind: TargetKind) -> None:
    # The form keeps it while another scene is opened.
    suggestions = SensorSuggestions(mujoco.MjModel.from_xml_string(SCENE))
    assert not suggestions.can_touch(ContactDeclaration("s", ContactTarget(kind, "gone"), ContactTarget()))
