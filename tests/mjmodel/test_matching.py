"""Matches and rebuilt arrays against MuJoCo's own contact sensors."""

from collections.abc import Iterator
from functools import cache

import mujoco
import numpy as np
import pytest
from contact_viewer.mjmodel import matching
from contact_viewer.mjmodel.matching import (
    ContactMatcher,
    Matches,
    contact_forces,
    full_layout,
    inside_site,
    locate,
    rebuild_contacts,
    select,
)
from contact_viewer.sensors.layout import Field
from contact_viewer.settings import Reduce
from numpy.typing import NDArray

WIDE = 150
"""More slots than any scene here has contacts."""
NEWTON = 'cone="pyramidal" solver="Newton"'
PGS = 'cone="pyramidal" solver="PGS" noslip_iterations="2"'
CG = 'cone="elliptic" solver="CG" integrator="implicitfast"'
LOCATED = pytest.mark.parametrize("few", [0, 1_000_000], ids=["sorting", "comparing"])
CONES = pytest.mark.parametrize("cone", ["pyramidal", "elliptic"])

# Contacts in this zone carry no force; version 3.9 gave both words another meaning.
GAP = 'gap=".05"' if mujoco.mj_version() >= 3_009_000 else 'margin=".05" gap=".05"'
# What only newer versions have is used where it exists: it changes forces, and must not change velocities.
CONVEYOR = 'surfacevel="0.4 0.2 0 0 0 0.5"' if hasattr(mujoco.MjModel, "geom_surfacevel") else ""
STICKY = 'adhesion="3"' if hasattr(mujoco.MjModel, "geom_adhesion") else ""

# Targets with contacts in both directions, in the one that the target says, in the native one, and without.
TWO_WAY = ['geom1="torso"', 'geom2="torso"', 'subtree1="robot"', 'subtree2="robot"', 'body1="world"']
TWO_WAY += ['body2="world"', 'subtree1="world" subtree2="robot"']
ONE_WAY = ['body1="arm"', 'body2="arm"', 'body1="paddle"', 'geom1="floor" geom2="torso"']
ONE_WAY += ['geom1="torso" geom2="floor"', 'body1="world" body2="robot"', 'body1="robot" body2="world"']
ONE_WAY += ['subtree1="robot" subtree2="thing0"', 'subtree1="thing0" subtree2="robot"']
ONE_WAY += ['geom1="torso" body2="thing0"', 'subtree1="robot" geom2="floor"', 'body1="world" subtree2="robot"']
ONE_WAY += ['subtree1="robot" subtree2="leg0"', 'body1="leg0" subtree2="robot"', 'site="box" geom2="floor"']
ONE_WAY += ['site="aura" body2="robot"', 'site="ellipsoid" subtree2="robot"']
SITES = ["sphere", "capsule", "ellipsoid", "cylinder", "box", "aura"]
NATIVE = ["", 'subtree1="robot" subtree2="robot"', 'subtree1="world"', 'subtree1="world" subtree2="world"']
NATIVE += [f'site="{site}"' for site in SITES]
UNMATCHED = ['body1="arm" body2="arm"', 'body1="ghost"']
TARGETS = TWO_WAY + ONE_WAY + NATIVE + UNMATCHED
SLOTS = (1, 3, WIDE)
SENSORS_PER_TARGET = len(Reduce) * len(SLOTS)


def compiled(objects: str, sensors: str = "", options: str = "") -> mujoco.MjModel:
    """These objects above a floor."""
    return mujoco.MjModel.from_xml_string(f"""
    <mujoco>{options}
      <worldbody><geom name="floor" type="plane" size="5 5 .1" {CONVEYOR}/>{objects}</worldbody>
      <sensor>{sensors}</sensor>
    </mujoco>""")


def contact_sensors(target: str, slots: tuple[int, ...] = SLOTS) -> str:
    """A sensor with all fields for each reduce mode and number of slots."""
    sensor = f'<contact {target} num="{{}}" reduce="{{}}" data="{{}}"/>'
    combinations = [(num, reduce) for reduce in Reduce for num in slots]
    return "".join(sensor.format(*both, " ".join(full_layout(*both).fields)) for both in combinations)


def things() -> str:
    """Loose objects of every shape and condim."""
    generator = np.random.default_rng(7)
    box, sphere, capsule = 'type="box" size=".09 .07 .06"', 'size=".08"', 'type="capsule" size=".05 .09"'
    shapes = (box, sphere, capsule, 'type="cylinder" size=".07 .06"', 'type="ellipsoid" size=".1 .07 .06"')
    bodies = ""
    for i in range(15):
        # The first one lies on the robot, the others are above.
        x, y, z = (*generator.uniform(-0.25, 0.25, 2), 0.3 + 0.05 * i) if i else (0.05, 0.0, 0.165)
        bodies += f"""
        <body name="thing{i}" pos="{x} {y} {z}" euler="{10 * i} {7 * i} {25 * i}"><freejoint/>
          <geom {shapes[i % 5]} condim="{(3, 1, 4, 6)[i % 4]}" friction="{0.3 + 0.1 * (i % 5)} .02 .01"
            {("", GAP, STICKY)[i % 3]}/></body>"""
    return bodies


@cache
def crowd(option: str) -> mujoco.MjModel:
    """A robot on a conveyor under a heap of falling things, with every kind of sensor."""
    objects = f"""
        <geom type="box" size=".02 .5 .3" pos="-.5 0 .3"/>
        <site name="sphere" size=".3" pos=".1 .1 .1"/>
        <site name="capsule" type="capsule" size=".2 .1" pos="-.1 .1 .1" euler="40 20 0"/>
        <site name="ellipsoid" type="ellipsoid" size=".5 .4 .3" pos="0 -.1 0" euler="0 30 50"/>
        <site name="cylinder" type="cylinder" size=".4 .1" pos="0 0 .02" euler="5 8 0"/>
        <site name="box" type="box" size=".3 .2 .15" pos="0 .1 .1" euler="10 0 30"/>
        <body name="robot" pos="0 0 .06"><freejoint/>
          <geom name="torso" type="box" size=".2 .15 .05" condim="4"/>
          <site name="aura" type="ellipsoid" size=".3 .3 .2"/>
          <body name="arm" pos=".22 0 0"><joint axis="0 1 0"/>
            <geom type="capsule" fromto="0 0 0 .2 0 0" size=".04" condim="6"/><geom pos=".2 0 0" size=".06"/>
            <body pos=".3 0 0"><joint axis="0 0 1"/><geom type="box" size=".06 .08 .02"/></body>
          </body>
          <body name="leg0" pos="-.1 .05 .05"><joint axis="1 0 0" damping=".1"/>
            <geom type="capsule" fromto="0 0 .05 0 -.1 .15" size=".03" condim="1"/></body>
          <body name="leg1" pos="-.1 -.05 .05"><joint axis="1 0 0" damping=".1"/>
            <geom type="capsule" fromto="0 0 .05 0 .1 .15" size=".03"/></body>
        </body>
        <body name="paddle" mocap="true" pos=".3 .2 .09"><geom type="box" size=".1 .02 .1"/></body>
        <body name="ghost" pos="0 0 2"><geom size=".1"/></body>
        {things()}"""
    sensors = "".join(contact_sensors(target) for target in TARGETS)
    return compiled(objects, sensors, f'<option timestep="0.004" {option}/>')


def run(model: mujoco.MjModel, steps: int, every: int, speed: float = 1.0) -> Iterator[mujoco.MjData]:
    """States after a plain step, every other time followed by mj_forward."""
    data = mujoco.MjData(model)
    data.qvel = np.random.default_rng(3).normal(scale=speed, size=model.nv)
    for i in range(steps):
        mujoco.mj_step(model, data)
        if i % every == 0:
            if i % (2 * every) == 0:
                mujoco.mj_forward(model, data)
            assert data.ncon < WIDE
            yield data


def declared(model: mujoco.MjModel, sensor: int) -> tuple[Reduce, int]:
    """Reduce mode and slots."""
    _, reduce, slots = model.sensor_intprm[sensor]
    return list(Reduce)[reduce], int(slots)


def sensor_array(model: mujoco.MjModel, data: mujoco.MjData, sensor: int) -> NDArray[np.float64]:
    start = model.sensor_adr[sensor]
    array: NDArray[np.float64] = data.sensordata[start : start + model.sensor_dim[sensor]]
    return array


def assert_rebuilt(model: mujoco.MjModel, data: mujoco.MjData, sensors: range) -> Matches:
    """Compare sensors of one target; returns what they match."""
    matches = ContactMatcher(model, sensors[0]).match(data)
    for sensor in sensors:
        reduce, slots = declared(model, sensor)
        expected = sensor_array(model, data, sensor).reshape(slots, -1)
        batch = rebuild_contacts(model, data, matches, reduce, slots)
        actual = full_layout(slots, reduce).encode(batch).reshape(slots, -1)
        if mujoco.mj_version() < 4_000_000:
            # Velocities come after 17 values; those of flexes are not known.
            expected = np.where(np.isnan(actual), np.nan, expected)
            assert not np.isnan(actual[:, :17]).any()
        # What is close is found in a tenth of the time that the words for what is not take.
        if not (np.abs(actual - expected) <= 1e-9 * (1 + np.abs(expected))).all():
            np.testing.assert_allclose(actual, expected, rtol=1e-9, atol=1e-9, err_msg=f"sensor {sensor}")
        assert (actual[:, 0] == expected[:, 0]).all()
    return matches


@pytest.mark.parametrize("option", [NEWTON, 'cone="elliptic" solver="Newton"', PGS, CG])
def test_rebuilt_array_equals_the_sensor(option: str) -> None:
    model = crowd(option)
    flips: dict[str, list[bool]] = {target: [] for target in TARGETS}
    for data in run(model, steps=240, every=12):
        for i, target in enumerate(TARGETS):
            sensors = range(i * SENSORS_PER_TARGET, (i + 1) * SENSORS_PER_TARGET)
            flips[target] += assert_rebuilt(model, data, sensors).flipped.tolist()
    # The scene must put every kind of target to the test, and both directions.
    assert {target for target in TARGETS if not flips[target]} == set(UNMATCHED)
    assert all(set(flips[target]) == {False, True} for target in TWO_WAY)
    assert all(set(flips[target]) == {False} for target in NATIVE)
    assert set(flips['geom1="floor" geom2="torso"']) == {False}
    assert set(flips['geom1="torso" geom2="floor"']) == {True}
    assert all(len(flips[f'site="{site}"']) < len(flips[""]) for site in SITES)


def test_without_a_sensor_every_contact_matches() -> None:
    model = crowd(NEWTON)
    *_, data = run(model, steps=100, every=10)
    matches = ContactMatcher(model, None).match(data)
    np.testing.assert_array_equal(matches.contacts, np.arange(data.ncon))
    assert not matches.flipped.any()


@CONES
def test_forces_are_those_of_mujoco(cone: str) -> None:
    model = crowd(f'cone="{cone}" solver="Newton"')
    dims, unsolved = set(), 0
    for data in run(model, steps=120, every=3):
        expected = np.zeros((data.ncon, 6))
        for i in range(data.ncon):
            mujoco.mj_contactForce(model, data, i, expected[i])
        backwards = np.arange(data.ncon)[::-2]
        np.testing.assert_array_equal(contact_forces(model, data, np.arange(data.ncon)), expected)
        np.testing.assert_array_equal(contact_forces(model, data, backwards), expected[backwards])
        dims |= set(data.contact.dim.tolist())
        unsolved += int((data.contact.efc_address < 0).sum())
    assert dims == {1, 3, 4, 6}
    assert unsolved > 0


@CONES
@pytest.mark.parametrize("condim", [1, 3, 4, 6])
def test_forces_where_all_contacts_are_of_one_kind(cone: str, condim: int) -> None:
    model = compiled(
        '<body pos="0 0 .05"><freejoint/><geom type="ellipsoid" size=".1 .08 .06"/></body>',
        options=f"""<option cone="{cone}" gravity="2 1 -9.81"/>
          <default><geom condim="{condim}" friction="1 .05 .05"/></default>""",
    )
    data = mujoco.MjData(model)
    data.qvel[3:] = 1, 2, 3
    mujoco.mj_step(model, data, 20)
    expected = np.zeros(6)
    mujoco.mj_contactForce(model, data, 0, expected)
    assert np.count_nonzero(expected) == condim
    np.testing.assert_allclose(contact_forces(model, data, np.array([0])), expected[np.newaxis], rtol=1e-14)


def test_nothing_to_rebuild() -> None:
    model = crowd(NEWTON)
    data = mujoco.MjData(model)
    nothing = ContactMatcher(model, 0).match(data)
    assert contact_forces(model, data, nothing.contacts).shape == (0, 6)
    batch = rebuild_contacts(model, data, nothing)
    assert batch.filled.tolist() == [False]
    assert batch.found == 0


@CONES
def test_ties_keep_the_order_of_the_engine(cone: str) -> None:
    """A row of equal boxes at rest: many contacts differ in the last bit or not at all."""
    box = '<body pos="{} 0 .1"><freejoint/><geom type="box" size=".1 .1 .1"/></body>'
    boxes = "".join(box.format(0.3 * i) for i in range(-4, 5))
    model = compiled(boxes, contact_sensors(""), f'<option cone="{cone}"/>')
    ties = np.zeros(2, dtype=int)
    for data in run(model, steps=60, every=1, speed=0.0):
        matches = assert_rebuilt(model, data, range(model.nsensor))
        norms = np.linalg.norm(contact_forces(model, data, matches.contacts)[:, :3], axis=1)
        ties += [data.ncon - len(np.unique(ranks)) for ranks in (data.contact.dist, norms)]
    assert ties.all()


@pytest.mark.parametrize("reduce", list(Reduce))
@pytest.mark.parametrize("target", ["", 'subtree2="robot"', 'site="box"'])
def test_reported_and_dropped_are_what_a_wider_sensor_reports(target: str, reduce: Reduce) -> None:
    model = crowd(NEWTON)
    first = TARGETS.index(target) * SENSORS_PER_TARGET
    wide = first + list(Reduce).index(reduce) * len(SLOTS) + SLOTS.index(WIDE)
    assert declared(model, wide) == (reduce, WIDE)
    dropped_count = 0
    for data in run(model, steps=240, every=24):
        matches = ContactMatcher(model, first).match(data)
        selection = select(model, data, matches, reduce, slots=3)
        count = len(selection.dropped.contacts)
        together = np.concatenate([selection.reported.contacts, selection.dropped.contacts])
        assert sorted(together) == matches.contacts.tolist()
        dropped_count += count
        if reduce is Reduce.NETFORCE:
            continue
        assert len(selection.reported.contacts) == min(3, len(matches.contacts))
        dropped = rebuild_contacts(model, data, selection.dropped)
        expected = full_layout(WIDE, reduce).decode(sensor_array(model, data, wide))
        assert dropped.filled.sum() == dropped.found == count
        for name in ("pos", "normal", "tangent0", "force", "torque", "dist"):
            rest = getattr(expected, name)[3 : 3 + count]
            np.testing.assert_allclose(getattr(dropped, name)[:count], rest, rtol=1e-9, atol=1e-9)
    assert (dropped_count > 0) == (reduce is not Reduce.NETFORCE)


def test_netforce_without_force() -> None:
    """Contacts in the gap count, but have no centroid."""
    box = f'<body pos=".4 .3 .11"><freejoint/><geom type="box" size=".1 .1 .1" {GAP}/></body>'
    model = compiled(box, contact_sensors(""))
    data = mujoco.MjData(model)
    mujoco.mj_forward(model, data)
    matches = assert_rebuilt(model, data, range(model.nsensor))
    assert len(matches.contacts) == 4
    assert not contact_forces(model, data, matches.contacts).any()


CLOTH = 'type="grid" dim="2" count="5 5 1" spacing=".08 .08 .08" radius=".01" mass=".3"'
ROPE = 'type="grid" dim="1" count="9 1 1" spacing=".05 .05 .05" pos="0 0 .25" radius=".01" mass=".3"'
SOLID = 'type="grid" dim="3" count="4 4 3" spacing=".08 .08 .08" pos="0 0 .3" radius=".01" mass=".3"'
FLEXES = {
    "cloths": f"""
        <flexcomp name="flex" pos="0 0 .25" {CLOTH}><edge equality="true"/></flexcomp>
        <flexcomp name="other" pos=".03 .02 .29" {CLOTH}><edge equality="true"/></flexcomp>""",
    "pinned cloth": f"""
        <body name="flex_holder" pos="0 0 .25"><freejoint/>
          <geom type="box" size=".02 .02 .02" contype="0" conaffinity="0"/>
          <flexcomp name="flex" {CLOTH}><edge equality="true"/><pin id="12 13 7"/></flexcomp></body>""",
    "cloth pinned to the world": f"""
        <flexcomp name="flex" pos="0 0 .25" {CLOTH}><edge equality="true"/><pin id="0 1 12 13 7 11"/></flexcomp>""",
    "cloth pinned to a body moved by mocap": f"""
        <body name="flex_holder" mocap="true" pos="0 0 .25"><geom size=".01" contype="0" conaffinity="0"/>
          <flexcomp name="flex" {CLOTH}><edge equality="true"/><pin id="0 1 12 13 7 11"/></flexcomp></body>""",
    "cloth on edge": f"""
        <flexcomp name="flex" pos="0 0 .25" euler="80 10 0" {CLOTH}><edge equality="true"/></flexcomp>""",
    "rope": f'<flexcomp name="flex" {ROPE}><edge equality="true"/></flexcomp>',
    "solid": f'<flexcomp name="flex" {SOLID}><edge equality="true"/></flexcomp>',
    "interpolated solid": f"""
        <flexcomp name="flex" dof="trilinear" {SOLID}>
          <contact selfcollide="none"/><elasticity young="1e3" poisson=".2" damping=".01"/></flexcomp>""",
    "interpolated solid, pinned": f"""
        <flexcomp name="flex" dof="trilinear" {SOLID}><pin id="0 1"/>
          <contact selfcollide="none"/><elasticity young="1e3" poisson=".2" damping=".01"/></flexcomp>""",
    "shell": f"""
        <flexcomp name="flex" dof="quadratic" cellcount="2 2 2" {SOLID}><contact selfcollide="none"/>
          <elasticity young="1e3" poisson=".2" thickness=".01" elastic2d="both"/></flexcomp>""",
    "quadratic solid": f"""
        <flexcomp name="flex" dof="quadratic" {SOLID}>
          <contact selfcollide="none"/><elasticity young="1e3" poisson=".2" damping=".01"/></flexcomp>""",
}
FLEX_OPTION = '<option timestep="0.001"/>'
if hasattr(mujoco.mjtIntegrator, "mjINT_DISCRETE"):
    FLEX_OPTION = '<option timestep="0.001" integrator="discrete" solver="CG"/>'
    # Its contacts are springs, outside of the constraint solver.
    FLEXES["passive cloth"] = f"""
        <flexcomp name="flex" pos="0 0 .25" {CLOTH}><contact passive="true"/>
          <elasticity young="1e3" poisson=".2" thickness=".01" elastic2d="both"/></flexcomp>"""


@pytest.mark.parametrize("flex", FLEXES)
def test_flexes_match_as_in_the_engine(flex: str) -> None:
    objects = f"""
        <geom name="ball" size=".1" pos="0 0 .1" {STICKY}/>
        <body name="mover" pos=".1 .1 .42"><freejoint/><geom type="box" size=".05 .05 .05"/></body>
        <site name="site" size=".15" pos="0 0 .2"/>{FLEXES[flex]}"""
    names = (
        body.name for body in mujoco.MjSpec.from_string(f"<mujoco><worldbody>{objects}</worldbody></mujoco>").bodies
    )
    vertices = [name for name in names if name.startswith(("flex", "other"))]
    targets = ["", 'geom1="ball"', 'body1="world"', 'body2="mover"', 'subtree1="world"', 'site="site"']
    # Vertices are alike: each stands in for its neighbours.
    targets += [f'body1="{name}"' for name in vertices[::3]]
    targets += [f'body1="world" subtree2="{name}"' for name in vertices[1::3]]
    sensors = "".join(contact_sensors(target, (WIDE,)) for target in targets)
    model = compiled(objects, sensors, FLEX_OPTION)
    matched = dict.fromkeys(targets, 0)
    for data in run(model, steps=400, every=50, speed=0.1):
        for i, target in enumerate(targets):
            matches = assert_rebuilt(model, data, range(len(Reduce) * i, len(Reduce) * (i + 1)))
            matched[target] += int((data.contact.geom[matches.contacts] < 0).any(axis=1).sum())
    assert matched[""] > 0
    by_vertex = [count for target, count in matched.items() if "flex" in target]
    assert any(by_vertex) == (mujoco.mj_version() >= 3_010_000)


def test_the_first_vertex_of_a_flex_moves_as_the_engine_says() -> None:
    """A plane touches vertices, not elements: here all of a small cloth, the one with number 0 among them."""
    cloth = '<flexcomp name="flex" type="grid" dim="2" count="2 2 1" spacing=".1 .1 .1" radius=".01" pos="0 0 .005"/>'
    model = compiled(cloth, contact_sensors("", (WIDE,)))
    (data,) = run(model, steps=1, every=1)
    matches = assert_rebuilt(model, data, range(model.nsensor))
    assert sorted(data.contact.vert[matches.contacts].max(axis=1)) == [0, 1, 2, 3]


@pytest.mark.skipif(not hasattr(mujoco, "mj_insideSite"), reason="this MuJoCo has no mesh sites")
def test_mesh_site() -> None:
    ball = '<body pos="{} {} .095"><freejoint/><geom size=".1"/></body>'
    grid = np.arange(-0.9, 1, 0.3)
    balls = "".join(ball.format(x, y) for x in grid for y in grid)
    model = compiled(
        '<site name="site" type="mesh" mesh="mesh" pos=".2 .1 -.5" euler="5 10 20"/>' + balls,
        contact_sensors('site="site"'),
        '<asset><mesh name="mesh" vertex="-1 -1 -1  3 -1 -1  -1 3 -1  -1 -1 3"/></asset>',
    )
    data = mujoco.MjData(model)
    mujoco.mj_step(model, data)
    matches = assert_rebuilt(model, data, range(model.nsensor))
    assert 0 < len(matches.contacts) < data.ncon


@LOCATED
def test_locate(few: int, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(matching, "_FEW", few)
    model = crowd(NEWTON)
    *_, data = run(model, steps=100, every=10)
    positions = data.contact.pos.copy()
    np.testing.assert_array_equal(locate(data, positions[::-1]), np.arange(data.ncon)[::-1])
    np.testing.assert_array_equal(locate(data, positions[[2, 2, 0]]), [2, 2, 0])
    for axis in np.eye(3, dtype=bool):
        beside = np.where(axis, np.nextafter(positions, 1), positions)
        np.testing.assert_array_equal(locate(data, beside), np.full(data.ncon, -1))
    np.testing.assert_array_equal(locate(data, np.full((2, 3), np.nan)), [-1, -1])
    np.testing.assert_array_equal(locate(data, positions[[0, 1, 2]], among=np.array([2, 0])), [0, -1, 2])
    assert locate(data, np.zeros((0, 3))).shape == (0,)
    assert locate(mujoco.MjData(model), positions[:2]).tolist() == [-1, -1]


@LOCATED
def test_locate_among_contacts_at_one_position(few: int, monkeypatch: pytest.MonkeyPatch) -> None:
    """Two geoms in the same place: the sensor's matches decide which of them is meant."""
    monkeypatch.setattr(matching, "_FEW", few)
    geoms = '<geom name="skin" size=".1"/><geom name="bone" size=".1"/>'
    model = compiled(f'<body pos="0 0 .09"><freejoint/>{geoms}</body>', contact_sensors('geom1="bone"'))
    data = mujoco.MjData(model)
    mujoco.mj_forward(model, data)
    matches = ContactMatcher(model, 0).match(data)
    pos = full_layout(1).decode(sensor_array(model, data, 0)).pos
    assert pos is not None
    assert locate(data, pos).tolist() == [0]
    (contact,) = locate(data, pos, matches.contacts)
    assert model.geom("bone").id in data.contact.geom[contact]


@pytest.mark.parametrize(("integrator", "index"), [("Euler", 0), ("implicitfast", 0), ("RK4", -1)])
def test_arrays_older_than_the_contacts_are_not_located(integrator: str, index: int) -> None:
    """A step with RK4 leaves the contacts of its last stage, the array is of the state before the step."""
    ball = '<body pos="0 0 .09"><freejoint/><geom size=".1"/></body>'
    model = compiled(ball, '<contact data="pos"/>', f'<option integrator="{integrator}"/>')
    data = mujoco.MjData(model)
    mujoco.mj_step(model, data)
    assert data.ncon == 1
    assert locate(data, data.sensordata[np.newaxis]).tolist() == [index]


@pytest.mark.parametrize("reduce", list(Reduce))
def test_full_layout_is_the_widest_that_compiles(reduce: Reduce) -> None:
    layout = full_layout(3, reduce)
    scene = '<mujoco><sensor><contact num="3" reduce="{}" data="{}"/></sensor></mujoco>'
    model = mujoco.MjModel.from_xml_string(scene.format(reduce, " ".join(layout.fields)))
    assert model.sensor_dim[0] == layout.size
    for field in set(Field) - set(layout.fields):
        with pytest.raises(ValueError, match=r"netforce|keyword"):
            mujoco.MjModel.from_xml_string(scene.format(reduce, field))


def test_other_sensors_are_refused() -> None:
    model = mujoco.MjModel.from_xml_string("<mujoco><sensor><clock/></sensor></mujoco>")
    with pytest.raises(ValueError, match="not a contact sensor"):
        ContactMatcher(model, 0)


@pytest.mark.parametrize(
    ("shape", "size"),
    [
        ("sphere", "0.5"),
        ("capsule", "0.25 0.5"),
        ("ellipsoid", "0.25 0.5 1"),
        ("cylinder", "0.25 0.5"),
        ("box", "0.25 0.5 1"),
    ],
)
def test_the_inside_of_a_site_is_mujocos_also_on_its_surface(shape: str, size: str) -> None:
    model = mujoco.MjModel.from_xml_string(
        f'<mujoco><worldbody><site name="s" type="{shape}" size="{size}"/></worldbody></mujoco>'
    )
    data = mujoco.MjData(model)
    mujoco.mj_forward(model, data)
    # Halves and quarters are exact: many of these points lie on the surface itself.
    steps = np.arange(-1.25, 1.5, 0.25)
    points = np.array(np.meshgrid(steps, steps, steps)).reshape(3, -1).T
    judged = [bool(mujoco.mj_insideSite(model, data, 0, point)) for point in points]
    assert 0 < sum(judged) < len(judged)
    assert inside_site(model, data, 0, points).tolist() == judged


def test_a_contact_that_leaves_a_site_is_no_longer_matched_though_the_same_geoms_touch() -> None:
    model = mujoco.MjModel.from_xml_string(
        '<mujoco><worldbody><geom type="plane" size="9 9 1"/><site name="zone" type="box" size=".2 .2 .2"/>'
        '<body pos="0 0 .099"><joint type="slide" axis="1 0 0"/><geom size=".1"/></body></worldbody>'
        '<sensor><contact site="zone"/></sensor></mujoco>'
    )
    data, matcher = mujoco.MjData(model), ContactMatcher(model, 0)
    for place, count in ((0.0, 1), (1.0, 0), (0.1, 1), (-1.0, 0)):
        data.qpos[0] = place
        mujoco.mj_forward(model, data)
        assert data.ncon == 1
        assert len(matcher.match(data).contacts) == count == data.sensordata[0]
