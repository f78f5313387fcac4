"""Each rule of the linter: a scene that breaks it, one that nearly does, and the mended one, judged by physics."""

from pathlib import Path

import mujoco
import numpy as np
import pytest
from contact_viewer.checks.check import NAMES, RULES, explain
from contact_viewer.checks.finding import Severity

from .scenes import FLOOR, findings, mend, one, report, scene

BALL = '<body name="ball" pos="0 0 {z}"><freejoint/><geom name="ball" size=".05" {more}/></body>'


def ball(z: float = 0.05, more: str = "") -> str:
    return BALL.format(z=z, more=more)


def steps(path: Path, seconds: float, key: int | None = None) -> tuple[mujoco.MjModel, mujoco.MjData]:
    """Run a scene with MuJoCo alone."""
    model = mujoco.MjModel.from_xml_path(str(path))
    data = mujoco.MjData(model)
    if key is not None:
        mujoco.mj_resetDataKeyframe(model, data, key)
    while data.time < seconds:
        mujoco.mj_step(model, data)
    return model, data


NEVER = '<sensor><contact name="hit" geom1="floor" geom2="ball" data="found force"/></sensor>'


def test_sensor_whose_geoms_share_no_bit_is_an_error(tmp_path: Path) -> None:
    broken = scene(ball(more='contype="2" conaffinity="2"'), NEVER)
    found = one(tmp_path, broken, "never-collides")
    assert found.severity is Severity.ERROR
    assert found.objects == ("hit",)
    assert "no common bit" in found.message
    _, data = steps(tmp_path / "scene.xml", 0.5)
    assert data.sensordata[0] == 0
    # One common bit is enough, and so is a <pair>.
    assert not findings(tmp_path, scene(ball(more='contype="2" conaffinity="3"'), NEVER), "never-collides")
    pair = f'<contact><pair geom1="floor" geom2="ball"/></contact>{NEVER}'
    assert not findings(tmp_path, scene(ball(more='contype="2" conaffinity="2"'), pair), "never-collides")


def test_left_and_right_are_one_finding(tmp_path: Path) -> None:
    feet = "".join(
        f'<body name="{side}" pos="{x} 0 .05"><freejoint/>'
        f'<geom name="{side}_foot" size=".05" contype="0" conaffinity="0"/></body>'
        for side, x in (("left", 0), ("right", 1))
    )
    sensors = "".join(f'<contact name="{s}_down" geom1="floor" geom2="{s}_foot"/>' for s in ("left", "right"))
    found = one(tmp_path, scene(feet, f"<sensor>{sensors}</sensor>"), "never-collides")
    assert found.objects == ("left_down", "right_down")


TOUCH = """
<body name="box" pos="0 0 .05"><freejoint/><geom name="box" type="box" size=".05 .05 .05" mass="1"/>
  <site name="s" type="sphere" size="{size}" pos="0 0 {z}"/></body>"""
SENSE = '<sensor><touch name="press" site="s"/></sensor>'


def test_touch_site_inside_a_box_reads_nothing(tmp_path: Path) -> None:
    found = one(tmp_path, scene(TOUCH.format(size=0.02, z=0), SENSE), "touch-misses-body")
    assert found.severity is Severity.WARNING
    assert found.numbers["read"].value < 0.01
    assert found.numbers["load"].value == pytest.approx(9.81, rel=0.05)
    # A site that holds the contacts reads all of them.
    assert not findings(tmp_path, scene(TOUCH.format(size=0.2, z=0), SENSE), "touch-misses-body")
    _, data = steps(tmp_path / "scene.xml", 0.5)
    assert data.sensordata[0] == pytest.approx(9.81, rel=0.05)


def test_touch_sensor_on_a_body_without_colliding_geoms_is_an_error(tmp_path: Path) -> None:
    text = """<body name="leg" pos="0 0 .05"><freejoint/><geom size=".02" contype="0" conaffinity="0"/>
      <site name="s" size=".2"/><body name="foot"><geom name="foot" size=".05"/></body></body>"""
    assert one(tmp_path, scene(text, SENSE), "touch-misses-body", static=True).severity is Severity.ERROR
    both = text.replace(' contype="0" conaffinity="0"', "")
    found = one(tmp_path, scene(both, SENSE), "touch-misses-body", static=True)
    assert found.severity is Severity.WARNING
    assert "foot" in found.message
    inside = text.replace('contype="0" conaffinity="0"', "").replace('<geom name="foot" size=".05"/>', "<site/>")
    assert not findings(tmp_path, scene(inside, SENSE), "touch-misses-body", static=True)


def test_touch_sensor_of_a_palm_misses_what_fingers_carry(tmp_path: Path) -> None:
    hand = """<body name="palm" pos="0 0 .05"><freejoint/><geom type="box" size=".05 .05 .05" mass="1"/>
      <site name="s" type="sphere" size=".3"/>
      <body name="finger" pos=".1 0 0"><joint axis="0 1 0" range="-5 5"/>
        <geom type="box" size=".04 .05 .0499" mass="1"/></body></body>"""
    found = one(tmp_path, scene(hand, f"<sensor>{SENSE[8:-9]}</sensor>"), "touch-misses-body")
    assert "finger" in found.message


ARM = """
<body name="base" pos="0 0 1">{root}<geom name="base" type="box" size=".1 .1 .1" mass="5"/>
  <body name="link" pos="0 0 {gap}"><joint name="j" axis="0 1 0"/>
    <geom name="link" type="box" size=".08 .08 .1" mass="1"/></body></body>"""


def test_fixed_base_that_jams_its_first_link(tmp_path: Path) -> None:
    found = one(tmp_path, scene(ARM.format(root="", gap=0.19)), "self-contact-at-rest")
    assert found.objects == ("base", "link")
    assert found.numbers["normal force"].value > 100
    assert found.fix is not None
    assert found.fix.safe
    assert found.fix.after == "0 N"
    mend(found)
    path = tmp_path / "scene.xml"
    assert '<exclude body1="base" body2="link"/>' in path.read_text()
    assert not report(tmp_path, path.read_text()).findings
    assert steps(path, 0.1)[1].ncon == 0
    # Parent and child of a moving base do not collide, and neither do links with room between them.
    free = ARM.format(root="<freejoint/>", gap=0.19).replace("0 0 1", "0 0 .1", 1)
    assert not findings(tmp_path, scene(free), "self-contact-at-rest")
    assert not findings(tmp_path, scene(ARM.format(root="", gap=0.21)), "self-contact-at-rest")


@pytest.mark.parametrize(("depth", "expected"), [(0.02, 1), (0.0005, 0), (0.0, 0)])
def test_keyframe_inside_the_floor(tmp_path: Path, depth: float, expected: int) -> None:
    box = '<body name="box" pos="0 0 .1"><freejoint/><geom name="box" type="box" size=".1 .1 .1" mass="1"/></body>'
    key = f'<keyframe><key name="low" qpos="0 0 {0.1 - depth} 1 0 0 0"/></keyframe>'
    found = findings(tmp_path, scene(box, key), "overlap-at-start")
    assert len(found) == expected
    if found:
        assert found[0].start == "key low"
        assert found[0].numbers["overlap"].value == pytest.approx(depth, rel=0.01)
        assert found[0].place is not None


def test_loose_things_that_begin_inside_each_other_are_a_note(tmp_path: Path) -> None:
    box = '<body name="box" pos="0 0 .05">{}<geom name="box" type="box" size=".1 .1 .1" mass="1"/></body>'
    loose = one(tmp_path, scene(box.format("<freejoint/>")), "overlap-at-start")
    assert loose.severity is Severity.NOTE
    motor = '<actuator><motor joint="j"/></actuator>'
    robot = one(tmp_path, scene(box.format('<joint name="j" type="slide" axis="0 0 1"/>'), motor), "overlap-at-start")
    assert robot.severity is Severity.WARNING
    keyed = "<keyframe><key qpos='0 0 .05 1 0 0 0'/></keyframe>"
    assert one(tmp_path, scene(box.format("<freejoint/>"), keyed), "overlap-at-start").severity is Severity.WARNING


def test_soft_feet_that_rest_deep_are_no_overlap(tmp_path: Path) -> None:
    soft = 'solref=".1 1" solimp=".5 .9 .05" mass="1"'
    _, data = _settled(tmp_path, scene(ball(0.05, soft)))
    assert data.contact.dist[0] < -2e-3
    assert not findings(tmp_path, scene(ball(float(data.qpos[2]), soft)), "overlap-at-start")


def _settled(folder: Path, text: str) -> tuple[mujoco.MjModel, mujoco.MjData]:
    path = folder / "settle.xml"
    path.write_text(text)
    return steps(path, 2.0)


GRASP = """
<body name="left" pos="-.06 0 .5"><joint type="slide" axis="1 0 0"/>
  <geom name="left" type="box" size=".01 .03 .03" mass=".2"/></body>
<body name="right" pos=".06 0 .5"><joint type="slide" axis="-1 0 0"/>
  <geom name="right" type="box" size=".01 .03 .03" mass=".2"/></body>
<body name="box" pos="0 0 .5"><freejoint/><geom name="box" type="box" size=".05 .05 .05" mass=".5"/></body>"""
GRIP = """<actuator><motor joint="l"/><motor joint="r"/></actuator>
<keyframe><key name="held" qpos="0 0 0 0 .5 1 0 0 0" ctrl="20 20"/></keyframe>"""


def grasp(option: str) -> str:
    text = GRASP.replace('<joint type="slide" axis="1', '<joint name="l" type="slide" axis="1')
    text = text.replace('<joint type="slide" axis="-1', '<joint name="r" type="slide" axis="-1')
    return scene(text, GRIP, f"<option {option}/>")


def _drop(path: Path) -> float:
    """How far the box sinks in the second half of two seconds [m]."""
    _, early = steps(path, 1.0, 0)
    _, late = steps(path, 2.0, 0)
    return float(early.qpos[4] - late.qpos[4])


def test_held_box_creeps_and_the_fix_holds_it(tmp_path: Path) -> None:
    found = one(tmp_path, grasp('timestep=".002"'), "friction-creep")
    path = tmp_path / "scene.xml"
    before = _drop(path)
    # The speed that is told is the speed at which MuJoCo lets it sink.
    assert found.numbers["slip"].value == pytest.approx(before, rel=0.2)
    assert found.numbers["friction use"].value < 0.5
    assert found.fix is not None
    assert not found.fix.safe
    mend(found)
    assert _drop(path) < before / 3
    assert not findings(tmp_path, path.read_text(), "friction-creep")


def test_firm_grasp_and_sliding_box_do_not_creep(tmp_path: Path) -> None:
    assert not findings(tmp_path, grasp('timestep=".002" noslip_iterations="10"'), "friction-creep")
    sliding = scene(
        '<body name="box" pos="0 0 .1"><freejoint/><geom type="box" size=".1 .1 .1" friction=".1"/></body>',
        head='<option gravity="5 0 -8"/>',
    ).replace('size="3 3 .1"', 'size="3 3 .1" friction=".1"')
    assert not findings(tmp_path, sliding, "friction-creep")


def test_friction_below_that_of_the_floor_has_no_effect(tmp_path: Path) -> None:
    box = '<body name="box" pos="0 0 .1"><freejoint/><geom name="box" type="box" size=".1 .1 .1" friction="{}"/></body>'
    tilted = '<option gravity="5 0 -8"/>'
    found = one(tmp_path, scene(box.format(".2"), head=tilted), "friction-mixing")
    assert found.severity is Severity.WARNING
    path = tmp_path / "scene.xml"
    held = steps(path, 0.5)[1].qpos[0]
    mend(found)
    slid = steps(path, 0.5)[1].qpos[0]
    assert abs(held) < 0.01
    assert slid > 0.1
    assert not findings(tmp_path, path.read_text(), "friction-mixing")
    assert not findings(tmp_path, scene(box.format(".95"), head=tilted), "friction-mixing")
    assert not findings(tmp_path, scene(box.format("1.5"), head=tilted), "friction-mixing")
    # Without a run nobody knows what stands on the floor.
    assert one(tmp_path, scene(box.format(".2")), "friction-mixing", static=True).severity is Severity.NOTE


TWINS = """<body name="box" pos="0 0 .1"><freejoint/><geom name="a" type="box" size=".1 .1 .1"/>
  <geom name="b" type="box" size=".1 .1 {}"/></body>"""


def test_geom_that_is_there_twice_doubles_contacts(tmp_path: Path) -> None:
    found = one(tmp_path, scene(TWINS.format(".1")), "duplicate-geoms")
    path = tmp_path / "scene.xml"
    assert steps(path, 0.2)[1].ncon == 8
    mend(found)
    assert steps(path, 0.2)[1].ncon == 4
    assert not findings(tmp_path, path.read_text(), "duplicate-geoms")
    assert not findings(tmp_path, scene(TWINS.format(".1001")), "duplicate-geoms")


def test_visual_geom_that_collides(tmp_path: Path) -> None:
    head = '<default><default class="visual"><geom group="2" {}/></default></default>'
    box = """<body pos="0 0 .1"><freejoint/><geom type="box" size=".1 .1 .1" group="3"/>
      <geom class="visual" size=".1"/></body>"""
    found = one(tmp_path, scene(box, head=head.format("")), "visual-geom-collides", static=True)
    mend(found)
    assert not findings(tmp_path, (tmp_path / "scene.xml").read_text(), "visual-geom-collides")
    off = scene(box, head=head.format('contype="0" conaffinity="0"'))
    assert not findings(tmp_path, off, "visual-geom-collides")


MESH = '<asset><mesh name="m" vertex="{}"/></asset>'
CUBE = " ".join(f"{x} {y} {z}" for x in (-0.05, 0.05) for y in (-0.05, 0.05) for z in (-0.05, 0.05))


def test_visual_mesh_that_adds_its_mass(tmp_path: Path) -> None:
    body = """<body name="mug" pos="0 0 .05"><freejoint/>{}<geom type="box" size=".05 .05 .05" mass=".2"/>
      <geom type="mesh" mesh="m" contype="0" conaffinity="0" {}/></body>"""
    head = MESH.format(CUBE)
    found = one(tmp_path, scene(body.format("", ""), head=head), "mass-counted-twice", static=True)
    assert found.numbers["mass"].value == pytest.approx(1.2, rel=1e-3)
    assert found.numbers["without"].value == pytest.approx(0.2, rel=1e-3)
    mend(found)
    assert steps(tmp_path / "scene.xml", 0.01)[0].body_mass[1] == pytest.approx(0.2)
    given = '<inertial pos="0 0 0" mass=".2" diaginertia=".001 .001 .001"/>'
    assert not findings(tmp_path, scene(body.format(given, ""), head=head), "mass-counted-twice", static=True)
    for meant in ('mass=".05"', 'density="1100"'):
        assert not findings(tmp_path, scene(body.format("", meant), head=head), "mass-counted-twice", static=True)


@pytest.mark.parametrize(
    ("friction", "cone", "expected"), [(8, "pyramidal", 1), (2, "pyramidal", 0), (8, "elliptic", 0)]
)
def test_friction_that_makes_pyramids_soft(tmp_path: Path, friction: float, cone: str, expected: int) -> None:
    box = f"""<body name="box" pos="0 0 .05"><freejoint/>
      <geom name="box" type="box" size=".05 .05 .05" mass="1" friction="{friction}"/></body>"""
    text = scene(box, head=f'<option cone="{cone}"/>')
    found = findings(tmp_path, text, "friction-too-large")
    assert len(found) == expected
    sunk = 0.05 - steps(tmp_path / "scene.xml", 1.0)[1].qpos[2]
    assert (sunk > 0.01) == bool(expected)
    if found:
        mend(found[0])
        assert 0.05 - steps(tmp_path / "scene.xml", 1.0)[1].qpos[2] < 0.001


def test_impratio_with_pyramids_is_a_note(tmp_path: Path) -> None:
    text = scene(ball(), head='<option impratio="{}" cone="{}"/>')
    assert one(tmp_path, text.format(10, "pyramidal"), "impratio-with-pyramids", static=True).severity is Severity.NOTE
    assert not findings(tmp_path, text.format(1, "pyramidal"), "impratio-with-pyramids", static=True)
    assert not findings(tmp_path, text.format(10, "elliptic"), "impratio-with-pyramids", static=True)


@pytest.mark.parametrize(
    ("solref", "flag", "expected"), [(0.002, "enable", 0), (0.002, "disable", 1), (0.004, "enable", None)]
)
def test_contacts_stiffer_than_the_step_allows(tmp_path: Path, solref: float, flag: str, expected: int | None) -> None:
    head = f'<option timestep=".002"><flag refsafe="{flag}"/></option>'
    found = findings(
        tmp_path, scene(ball(more=f'solref="{solref} 1"'), head=head), "stiff-for-the-timestep", static=True
    )
    assert [int(each.severity) for each in found] == ([] if expected is None else [expected])


def test_value_that_acts_is_two_steps(tmp_path: Path) -> None:
    states = []
    for solref in (0.002, 0.004):
        path = tmp_path / f"{solref}.xml"
        both = scene(ball(0.2, f'solref="{solref} 1"')).replace('size="3 3 .1"', f'size="3 3 .1" solref="{solref} 1"')
        path.write_text(both)
        states.append(steps(path, 1.0)[1].qpos.copy())
    assert np.array_equal(states[0], states[1])


def test_slots_that_do_not_suffice(tmp_path: Path) -> None:
    box = '<body name="box" pos="0 0 .1"><freejoint/><geom name="box" type="box" size=".1 .1 .1"/></body>'
    sensor = '<sensor><contact name="c" geom2="box" data="{}" num="{}" reduce="{}"/></sensor>'
    found = one(tmp_path, scene(box, sensor.format("force", 2, "none")), "contacts-lost")
    assert found.severity is Severity.WARNING
    assert found.numbers["matched"].value == 4
    mend(found)
    assert not findings(tmp_path, (tmp_path / "scene.xml").read_text(), "contacts-lost")
    assert one(tmp_path, scene(box, sensor.format("force", 2, "maxforce")), "contacts-lost").severity is Severity.NOTE
    # Only counted, none is lost; and enough slots lose none.
    assert not findings(tmp_path, scene(box, sensor.format("found", 1, "none")), "contacts-lost")
    assert not findings(tmp_path, scene(box, sensor.format("force", 4, "none")), "contacts-lost")


def test_gap_lists_what_does_not_touch(tmp_path: Path) -> None:
    sensor = '<sensor><contact name="near" geom2="ball" data="found force" num="4"/></sensor>'
    floating = '<option gravity="0 0 0"/>'
    near = one(tmp_path, scene(ball(0.08, 'gap=".05"'), sensor, floating), "proximity-is-not-contact")
    assert near.severity is Severity.WARNING
    assert near.numbers["distance"].value == pytest.approx(0.03, rel=1e-3)
    assert (
        one(tmp_path, scene(ball(0.08, 'gap=".05"'), "", floating), "proximity-is-not-contact").severity
        is Severity.NOTE
    )
    assert not findings(tmp_path, scene(ball(0.08), sensor, floating), "proximity-is-not-contact")


def test_run_that_diverges_is_an_error(tmp_path: Path) -> None:
    light = """<body pos="0 0 1"><joint name="j" axis="0 1 0"/><geom name="rod" type="capsule" fromto="0 0 0 .1 0 0"
      size=".01" mass=".001"/></body>"""
    drive = '<actuator><position joint="j" kp="{}"/></actuator><keyframe><key name="k" ctrl="{}"/></keyframe>'
    text = scene(light, drive.format("1e7", 1), '<option timestep=".02"/>')
    found = one(tmp_path, text, "unstable")
    assert found.severity is Severity.ERROR
    assert not findings(tmp_path, scene(light, drive.format(".01", 0), '<option timestep=".002"/>'), "unstable")


CUP = """<asset><mesh name="cup" vertex="{v}" face="{f}"/></asset>"""


def _cup(height: float) -> str:
    """A square cup of one mesh, open above: outer and inner walls with a floor."""
    outer = [(x, y, z) for z in (0.0, height) for x, y in ((-0.1, -0.1), (0.1, -0.1), (0.1, 0.1), (-0.1, 0.1))]
    inner = [(0.9 * x, 0.9 * y, 0.02 if z == 0 else z) for x, y, z in outer]
    quads = [(3, 2, 1, 0), (8, 9, 10, 11)]
    for i in range(4):
        j = (i + 1) % 4
        quads += [(i, j, 4 + j, 4 + i), (8 + j, 8 + i, 12 + i, 12 + j), (4 + i, 4 + j, 12 + j, 12 + i)]
    vertices = " ".join(f"{c:g}" for p in (*outer, *inner) for c in p)
    faces = " ".join(f"{a} {b} {c} {a} {c} {d}" for a, b, c, d in quads)
    return CUP.format(v=vertices, f=faces)


def test_ball_on_the_lid_of_a_cup_that_has_none(tmp_path: Path) -> None:
    cup = '<geom name="cup" type="mesh" mesh="cup"/>' + ball(0.26)
    text = scene(cup, head=_cup(0.2))
    ghost = one(tmp_path, text, "ghost-contact")
    assert ghost.numbers["distance"].value > 0.02
    assert steps(tmp_path / "scene.xml", 1.0)[1].qpos[2] > 0.2
    hull = one(tmp_path, text, "hull-is-not-the-mesh")
    assert hull.severity is Severity.NOTE
    # The cup as five boxes has nothing to complain about, and the ball falls in.
    walls = "".join(
        f'<geom type="box" pos="{x} {y} .1" size="{sx} {sy} .1"/>'
        for x, y, sx, sy in (
            (0.095, 0, 0.005, 0.1),
            (-0.095, 0, 0.005, 0.1),
            (0, 0.095, 0.1, 0.005),
            (0, -0.095, 0.1, 0.005),
        )
    )
    text = scene(walls + ball(0.26))
    assert not report(tmp_path, text).findings
    assert steps(tmp_path / "scene.xml", 1.0)[1].qpos[2] < 0.1


def test_solid_mesh_is_its_hull(tmp_path: Path) -> None:
    text = scene('<body pos="0 0 .05"><freejoint/><geom type="mesh" mesh="m"/></body>', head=MESH.format(CUBE))
    assert not report(tmp_path, text).findings


def test_solver_that_stops_after_one_iteration(tmp_path: Path) -> None:
    pile = "".join(
        f'<body pos="{0.03 * (i % 2)} 0 {0.1 + 0.19 * i}"><freejoint/>'
        f'<geom type="box" size=".1 .1 .1" mass="{1 + i}"/></body>'
        for i in range(4)
    )
    option = '<option iterations="{}" solver="{}"/>'
    found = one(tmp_path, scene(pile, head=option.format(1, "PGS")), "solver-stops-early")
    assert found.severity is Severity.NOTE
    assert found.numbers["worst"].value > 0.05
    mend(found)
    assert not findings(tmp_path, (tmp_path / "scene.xml").read_text(), "solver-stops-early")
    assert not findings(tmp_path, scene(pile, head=option.format(100, "PGS")), "solver-stops-early")


def test_sensor_of_a_body_that_carries_another(tmp_path: Path) -> None:
    leg = """<body name="leg" pos="0 0 .05"><freejoint/><geom size=".05"/>
      <body name="sole"><geom type="box" size=".05 .05 .01"/></body></body>"""
    sensor = '<sensor><contact name="c" {}="leg"/></sensor>'
    assert one(tmp_path, scene(leg, sensor.format("body2")), "wrong-target", static=True).severity is Severity.NOTE
    assert not findings(tmp_path, scene(leg, sensor.format("subtree2")), "wrong-target", static=True)


def test_versions_are_compared_only_when_asked_for(tmp_path: Path) -> None:
    text = scene(ball(more='gap=".01" margin=".01"'))
    assert not findings(tmp_path, text, "version-changes-contact")
    assert "gap" in one(tmp_path, text, "version-changes-contact", versions=("3.3", "4.0")).message
    assert not findings(tmp_path, text, "version-changes-contact", versions=("3.9", "3.11"))


@pytest.mark.parametrize(
    ("engine", "reduce", "expected"), [("mjx", "none", 1), ("mjx", "mindist", 0), ("warp", "none", 1)]
)
def test_other_engines_are_noted_only_when_asked_for(tmp_path: Path, engine: str, reduce: str, expected: int) -> None:
    sensor = f'<sensor><contact name="c" geom2="ball" num="100" reduce="{reduce}"/></sensor>'
    rule = "sensor-unreadable-elsewhere"
    assert len(findings(tmp_path, scene(ball(), sensor), rule, engine=engine, static=True)) == expected
    assert not findings(tmp_path, scene(ball(), sensor), rule, static=True)


def test_nothing_is_said_where_contacts_are_off(tmp_path: Path) -> None:
    text = scene(ball(0.01), NEVER, '<option><flag contact="disable"/></option>')
    found = report(tmp_path, text)
    assert not found.findings
    assert "switched off" in found.unchecked[0]


def test_every_rule_has_a_page() -> None:
    for name in NAMES:
        page = explain(name)
        assert page.startswith(f"# {name}\n"), name
        for heading in ("## Cause", "## How to see it", "## Cure", "## When to ignore it"):
            assert heading in page, (name, heading)
    assert len(RULES) == len(set(NAMES))
    assert FLOOR
