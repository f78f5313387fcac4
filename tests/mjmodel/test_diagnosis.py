"""A scene for every reason why a sensor reads nothing, and the sentence that a user gets."""

from dataclasses import dataclass
from pathlib import Path
from typing import Any

import mujoco
import numpy as np
import pytest
from contact_viewer import open_engine
from contact_viewer.mjmodel.diagnosis import Diagnosis

GAP = 'margin="0.001" gap="0.01"' if mujoco.mj_version() >= 3_009_000 else 'margin="0.011" gap="0.01"'
BOX = '<body name="box" pos="0 0 {}"><freejoint/><geom name="box" type="box" size=".1 .1 .1" {}/></body>'
ARM = """
    <body name="base" pos="0 0 1"><freejoint/><geom name="base" size=".1"/>
      <body name="arm"><joint axis="1 0 0"/><geom name="arm" size=".1"/>
        <body name="plate"><geom name="plate" size=".1"/></body>
      </body>
    </body>"""

FLEX = """<flexcomp name="cloth" type="grid" dim="2" count="3 3 1" spacing=".1 .1 .1" radius=".01" mass=".3"
    pos="0 0 .05"><edge equality="true"/></flexcomp>"""


@dataclass(frozen=True)
class Case:
    """A scene whose sensor reads nothing."""

    sentence: str
    bodies: str
    target: str
    sensor: str = ""
    flag: str = ""
    contact: str = ""
    steps: int = 1
    option: str = ""


CASES = {
    "apart": Case("Geom floor is 0.4 m away from geom box.", BOX.format(0.5, ""), 'geom1="floor" geom2="box"'),
    "apart, of several": Case(
        "Geom low is 0.2 m away from geom floor (the nearest of subtree tower).",
        """<body name="tower" pos="0 0 1"><freejoint/><geom name="high" size=".1"/>
           <body pos="0 0 -.6"><joint/><geom name="low" size=".2"/></body></body>""",
        'subtree1="tower" geom2="floor"',
    ),
    "apart, a little": Case(
        "Geom floor is 0.5 mm away from geom box.", BOX.format(0.1005, ""), 'geom1="floor" geom2="box"'
    ),
    "apart, from anything": Case("Geom box is 0.4 m away from geom floor.", BOX.format(0.5, ""), 'geom1="box"'),
    "gap": Case(
        "Geom floor and geom box are 5 mm apart, in the gap zone: forces begin below 1 mm.",
        BOX.format(0.105, GAP),
        'geom1="floor" geom2="box"',
    ),
    "lifted": Case(
        "Geom floor and geom box touch (0.1 mm deep), but nothing presses them.",
        BOX.format(0.0999, ""),
        'geom1="floor" geom2="box"',
        option='gravity="0 0 50"',
    ),
    "bits": Case(
        "Geom floor and geom box can never collide: floor has contype 1, conaffinity 1 and "
        "box has contype 2, conaffinity 4, which have no common bit.",
        BOX.format(0.05, 'contype="2" conaffinity="4"'),
        'geom1="floor" geom2="box"',
    ),
    "bits, with anything": Case(
        "Geom box and other geoms can never collide: box has contype 0, conaffinity 0 and "
        "floor has contype 1, conaffinity 1, which have no common bit.",
        BOX.format(0.05, 'contype="0" conaffinity="0"'),
        'geom1="box"',
    ),
    "exclude": Case(
        "Geom floor and geom box can never collide: <exclude> leaves out body world with body box.",
        BOX.format(0.05, ""),
        'geom1="floor" geom2="box"',
        contact='<exclude body1="world" body2="box"/>',
    ),
    "parent": Case(
        "Geom base and geom arm can never collide: body base and body arm are parent and child, "
        "which filterparent leaves out.",
        ARM,
        'geom1="base" geom2="arm"',
    ),
    "parent of a welded child": Case(
        "Geom base and geom plate can never collide: body base and body plate are parent and child, "
        "which filterparent leaves out.",
        ARM,
        'geom1="base" geom2="plate"',
    ),
    "welded": Case(
        "Geom arm and geom plate can never collide: there is no joint between body arm and body plate.",
        ARM,
        'geom1="arm" geom2="plate"',
    ),
    "same body": Case(
        "Geom left and geom right can never collide: left and right belong to the same body pair.",
        '<body name="pair"><freejoint/><geom name="left" size=".1"/><geom name="right" size=".1"/></body>',
        'geom1="left" geom2="right"',
    ),
    "unmoved": Case(
        "Geom floor and geom pillar can never collide: neither floor nor pillar is moved by the simulation.",
        '<body name="pillar"><geom name="pillar" size=".1"/></body>',
        'geom1="floor" geom2="pillar"',
    ),
    "mocap": Case(
        "Geom floor and geom hand can never collide: neither floor nor hand is moved by the simulation.",
        '<body name="hand" mocap="true"><geom name="hand" size=".1"/></body>',
        'geom1="floor" geom2="hand"',
    ),
    "planes": Case(
        "Geom floor and geom wall can never collide: floor and wall are planes or height fields, "
        "which meet only solids.",
        '<geom name="wall" type="plane" size="1 1 .1" euler="0 90 0"/>',
        'geom1="floor" geom2="wall"',
        contact='<pair geom1="floor" geom2="wall"/>',
    ),
    "several obstacles": Case(
        "Body base and subtree arm can never collide: 2 of 3 pairs of geoms: body base and body arm are parent and "
        "child, which filterparent leaves out; 1 of 3 pairs of geoms: <exclude> leaves out body base with body end.",
        """<body name="base" pos="0 0 1"><freejoint/><geom name="base" size=".1"/>
             <body name="arm"><joint axis="1 0 0"/><geom name="arm" size=".1"/><geom name="elbow" size=".1"/>
               <body name="end"><joint axis="0 1 0"/><geom name="end" size=".1"/></body></body></body>""",
        'body1="base" subtree2="arm"',
        contact='<exclude body1="base" body2="end"/>',
    ),
    "no geoms": Case(
        "Body mount has no geoms that could touch anything.",
        """<body name="mount" pos="0 0 1"><freejoint/><inertial pos="0 0 0" mass="1" diaginertia="1 1 1"/>
           <body><joint/><geom size=".1"/></body></body>""",
        'body1="mount"',
    ),
    "outside the site": Case(
        "4 contacts lie outside the volume of site pad; the nearest is 0.616 m from its centre.",
        BOX.format(0.0999, "") + '<site name="pad" pos="0 0 .6" size=".3"/>',
        'site="pad"',
    ),
    "outside the site, of a body": Case(
        "A contact lies outside the volume of site pad; the nearest is 0.5 m from its centre.",
        """<body name="ball" pos="0 0 .0999"><freejoint/><geom size=".1"/></body>
           <site name="pad" pos="0 0 .5" size=".3"/>""",
        'site="pad" body2="ball"',
    ),
    "outside the site, of a flex that is not the last geom": Case(
        "Nothing that it matches touches now.",
        FLEX + '<geom name="last" size=".1" pos="0 0 5"/><site name="pad" pos="0 0 5" size=".3"/>',
        'site="pad" geom2="last"',
        steps=300,
    ),
    "outside the site, of a flex": Case(
        "9 contacts lie outside the volume of site pad; the nearest is 5 m from its centre.",
        FLEX + '<site name="pad" pos="0 0 5" size=".3"/>',
        'site="pad" geom2="floor"',
        steps=300,
    ),
    "delay": Case(
        "Geom floor touches geom box now, but the sensor reports 0.1 s late.",
        BOX.format(0.0999, ""),
        'geom1="floor" geom2="box"',
        sensor='nsample="60" delay="0.1"',
        steps=10,
    ),
    "delay, of a flex that is not the last geom": Case(
        "Geom floor touches flex cloth now, but the sensor reports 0.1 s late.",
        FLEX + '<geom name="last" size=".1" pos="0 0 5"/>',
        'geom1="floor"',
        sensor='nsample="60" delay="0.1"',
        steps=60,
    ),
    "contacts disabled": Case(
        'Contacts are switched off: <flag contact="disable"/>.',
        BOX.format(0.05, ""),
        'geom1="floor" geom2="box"',
        flag='contact="disable"',
    ),
    "constraints disabled": Case(
        'All constraints are, and contacts with them, switched off: <flag constraint="disable"/>.',
        BOX.format(0.05, ""),
        'geom1="floor" geom2="box"',
        flag='constraint="disable"',
    ),
    "sensors disabled": Case(
        'Sensors are switched off: <flag sensor="disable"/>.',
        BOX.format(0.0999, ""),
        'geom1="floor" geom2="box"',
        flag='sensor="disable"',
    ),
}


def explained(tmp_path: Path, case: Case) -> str | None:
    path = tmp_path / "scene.xml"
    path.write_text(f"""
    <mujoco>
      <option {case.option}><flag {case.flag}/></option>
      <worldbody><geom name="floor" type="plane" size="5 5 .1"/>{case.bodies}</worldbody>
      <contact>{case.contact}</contact>
      <sensor><contact name="c" {case.target} data="found force" {case.sensor}/></sensor>
    </mujoco>""")
    engine = open_engine(path)
    engine.step(case.steps)
    return Diagnosis(engine.model, 0).explain(engine.data, engine.contacts("c"))


@pytest.mark.parametrize("case", CASES.values(), ids=CASES)
def test_every_reason_has_its_sentence(tmp_path: Path, case: Case) -> None:
    assert explained(tmp_path, case) == case.sentence


@pytest.mark.parametrize("contact", ["", '<pair geom1="base" geom2="arm"/>'])
@pytest.mark.parametrize("flag", ["enable", "disable"])
def test_what_lets_parent_and_child_collide_is_known(tmp_path: Path, contact: str, flag: str) -> None:
    case = Case("", ARM, 'geom1="base" geom2="arm"', flag=f'filterparent="{flag}"', contact=contact)
    reason = explained(tmp_path, case)
    assert (reason is None) == bool(contact or flag == "disable")


def test_a_sensor_that_feels_something_needs_no_reason(tmp_path: Path) -> None:
    case = Case("", BOX.format(0.0999, ""), 'geom1="floor" geom2="box"', steps=200)
    assert explained(tmp_path, case) is None


def test_an_interval_is_reported_until_the_first_sample(tmp_path: Path) -> None:
    path = tmp_path / "scene.xml"
    path.write_text(f"""
    <mujoco><worldbody><geom name="floor" type="plane" size="5 5 .1"/>{BOX.format(0.101, "")}</worldbody>
      <sensor><contact name="c" geom1="floor" geom2="box" data="found" nsample="2" interval="0.2 0"/></sensor>
    </mujoco>""")
    engine = open_engine(path)
    diagnosis = Diagnosis(engine.model, 0)
    engine.step(40)
    assert diagnosis.explain(engine.data, engine.contacts("c")) == (
        "Geom floor touches geom box now, but the sensor samples every 0.2 s."
    )
    engine.step(120)
    assert diagnosis.explain(engine.data, engine.contacts("c")) is None


def test_forces_that_cancel_differ_from_none(tmp_path: Path) -> None:
    path = tmp_path / "scene.xml"
    path.write_text("""
    <mujoco><option gravity="0 0 0"/>
      <worldbody>
        <geom name="left" type="box" size=".1 .1 .1" pos="-.199 0 0"/>
        <geom name="right" type="box" size=".1 .1 .1" pos=".199 0 0"/>
        <body><freejoint/><geom name="ball" size=".1"/></body>
      </worldbody>
      <sensor><contact name="c" geom1="ball" data="found force" reduce="netforce"/></sensor>
    </mujoco>""")
    engine = open_engine(path)
    engine.step()
    batch: Any = engine.contacts("c")
    assert batch.found == 2
    batch.force[:] = np.round(batch.force, 9)
    reason = Diagnosis(engine.model, 0).explain(engine.data, batch)
    assert reason == "The forces of its 2 contacts cancel out."


def test_the_nearest_of_many_pairs_is_found(tmp_path: Path) -> None:
    """Against the distances of all pairs."""
    random = np.random.default_rng(4)
    shapes = ['type="sphere" size=".05"', 'type="box" size=".05 .2 .03"', 'type="capsule" size=".03 .2"']
    left, right = (
        "".join(
            f"""<body pos="{x + offset} {y} {z}" euler="{90 * x} {90 * y} 0"><joint type="free"/>
                <geom name="{side}{i}" {shapes[i % 3]}/></body>"""
            for i, (x, y, z) in enumerate(random.uniform(0, 3, (12, 3)))
        )
        for side, offset in (("l", 0.0), ("r", 3.5))
    )
    path = tmp_path / "scene.xml"
    names = "".join(f'<contact name="c{i}" geom1="l{i}" data="found"/>' for i in range(12))
    path.write_text(f"<mujoco><worldbody>{left}{right}</worldbody><sensor>{names}</sensor></mujoco>")
    engine = open_engine(path)
    model, data = engine.model, engine.data
    for i in range(12):
        reason = Diagnosis(model, i).explain(data, engine.contacts(f"c{i}"))
        distances = [
            mujoco.mj_geomDistance(model, data, i, other, 100.0, None) if other != i else np.inf for other in range(24)
        ]
        nearest = model.geom(int(np.argmin(distances))).name
        assert reason is not None
        assert reason.startswith(f"Geom l{i} is ")
        assert reason.endswith(f"away from geom {nearest}.")


def test_contacts_that_do_not_fit_into_memory_are_reported(tmp_path: Path) -> None:
    boxes = "".join(
        f'<body pos="{0.3 * i} 0 .0999"><freejoint/><geom type="box" size=".1 .1 .1"/></body>' for i in range(60)
    )
    path = tmp_path / "scene.xml"
    path.write_text(f"""
    <mujoco><size memory="60K"/>
      <worldbody><geom name="floor" type="plane" size="50 50 .1"/>{boxes}
        <body pos="-1 0 .0999"><freejoint/><geom name="last" type="box" size=".1 .1 .1"/></body></worldbody>
      <sensor><contact name="c" geom1="floor" geom2="last" data="found force"/></sensor>
    </mujoco>""")
    engine = open_engine(path)
    engine.step()
    reason = Diagnosis(engine.model, 0).explain(engine.data, engine.contacts("c"))
    assert reason is not None
    assert "no memory left" in reason
