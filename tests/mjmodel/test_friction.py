"""Sticking, sliding and friction use, against what a box on tilted ground does."""

import mujoco
import numpy as np
import pytest
from contact_viewer import open_engine
from contact_viewer.mjmodel.friction import contact_cones
from contact_viewer.mjmodel.matching import ContactMatcher, rebuild_contacts
from contact_viewer.sensors.friction import ContactState, FrictionCones

from ..sensors.cone_outline import cone_outline

MU = 0.5
BOX = """
<mujoco>
  <option cone="{cone}" impratio="10" gravity="{gravity}"/>
  <worldbody>
    <geom name="floor" type="plane" size="99 99 .1"/>
    <body pos="0 0 .0099"><freejoint/><geom name="box" type="box" size=".3 .3 .01"/></body>
  </worldbody>
  <contact>{pair}</contact>
</mujoco>"""


def tilted(
    slope: float,
    direction: float = 0.0,
    cone: str = "elliptic",
    condim: int = 3,
    torsion: float = 0.005,
    pair: str = "",
) -> tuple[mujoco.MjModel, mujoco.MjData]:
    """A flat box under gravity that pulls sideways with `slope` times its weight."""
    sideways = 9.81 * slope * np.array([np.cos(direction), np.sin(direction)])
    pair = pair or f'<pair geom1="floor" geom2="box" condim="{condim}" friction="{MU} {MU} {torsion} .0001 .0001"/>'
    model = mujoco.MjModel.from_xml_string(
        BOX.format(cone=cone, pair=pair, gravity=f"{sideways[0]} {sideways[1]} -9.81")
    )
    return model, mujoco.MjData(model)


def cones_of(model: mujoco.MjModel, data: mujoco.MjData) -> FrictionCones:
    batch = rebuild_contacts(model, data, ContactMatcher(model, None).match(data))
    cones = contact_cones(model, data, batch)
    assert cones is not None
    return cones


def states_of(cones: FrictionCones) -> set[ContactState]:
    return {ContactState(int(state)) for state in cones.states}


@pytest.mark.parametrize("direction", [0.0, 0.6, np.pi / 4])
@pytest.mark.parametrize("share", [0.2, 0.5, 0.9])
def test_below_the_limit_it_sticks(direction: float, share: float) -> None:
    model, data = tilted(share * MU, direction)
    mujoco.mj_step(model, data, 300)
    cones = cones_of(model, data)
    assert states_of(cones) == {ContactState.STICKING}
    assert np.hypot(*data.qvel[:2]) < 2e-3
    # Corners may share friction unevenly, but none bears more than it can.
    assert (cones.use < 1).all()
    assert cones.use.min() <= share * 1.01
    assert cones.use.max() >= share * 0.99


@pytest.mark.parametrize("cone", ["elliptic", "pyramidal"])
@pytest.mark.parametrize("direction", [0.0, 0.6])
def test_above_the_limit_it_slides(cone: str, direction: float) -> None:
    model, data = tilted(1.6 * MU, direction, cone)
    seen = set()
    for _ in range(40):
        mujoco.mj_step(model, data, 5)
        cones = cones_of(model, data)
        seen |= states_of(cones)
        pressed = cones.states != ContactState.OPEN
        np.testing.assert_allclose(cones.use[pressed], 1.0, rtol=1e-6)
    assert data.qvel[0] > 0.5
    assert ContactState.SLIDING in seen
    assert ContactState.STICKING not in seen


def test_a_pyramid_bears_less_across_than_along_its_edges() -> None:
    """At 45 degrees the pyramid's face is nearer than the cone: the box slides at 0.71 mu."""
    for slope, slides in ((0.68, False), (0.74, True)):
        model, data = tilted(slope * MU, np.pi / 4, "pyramidal")
        mujoco.mj_step(model, data, 500)
        assert (np.hypot(*data.qvel[:2]) > 0.05) == slides
        if slides:
            assert states_of(cones_of(model, data)) <= {ContactState.SLIDING, ContactState.OPEN}


def test_friction_can_differ_along_the_tangents() -> None:
    pair = '<pair geom1="floor" geom2="box" condim="3" friction="0.2 0.8 .005 .0001 .0001"/>'
    for direction in (0.0, np.pi / 2):
        model, data = tilted(0.5, direction, pair=pair)
        mujoco.mj_step(model, data, 200)
        cones = cones_of(model, data)
        along = abs(cones.tangent0[0] @ [np.cos(direction), np.sin(direction), 0])
        slides = along > 0.5
        assert (np.hypot(*data.qvel[:2]) > 0.05) == slides
        np.testing.assert_array_equal(cones.friction[0], [0.2, 0.8])
        if not slides:
            assert np.median(cones.use) == pytest.approx(0.5 / 0.8, rel=0.05)


def test_without_friction_motion_decides() -> None:
    model, data = tilted(0.1, condim=1)
    mujoco.mj_step(model, data)
    assert np.isnan(cones_of(model, data).use).all()
    assert states_of(cones_of(model, data)) <= {ContactState.STICKING, ContactState.OPEN}
    mujoco.mj_step(model, data, 100)
    assert states_of(cones_of(model, data)) <= {ContactState.SLIDING, ContactState.OPEN}
    assert (cones_of(model, data).states == ContactState.SLIDING).any()


def test_a_contact_that_presses_nothing_is_open() -> None:
    model, data = tilted(0.0)
    model.opt.gravity[2] = 60.0
    mujoco.mj_step(model, data)
    assert data.ncon > 0
    assert states_of(cones_of(model, data)) == {ContactState.OPEN}


def test_torsion_uses_up_the_cone_too() -> None:
    """A spinning ball slides though its sideways force is well below the limit."""
    model = mujoco.MjModel.from_xml_string("""
    <mujoco><option cone="elliptic" impratio="10"/>
      <worldbody><geom type="plane" size="9 9 .1"/>
        <body pos="0 0 .0999"><freejoint/><geom size=".1" condim="4" friction=".5 .05 .0001"/></body></worldbody>
    </mujoco>""")
    data = mujoco.MjData(model)
    mujoco.mj_step(model, data, 500)
    data.qvel[:] = [0.05, 0, 0, 0, 0.05 / 0.1 * 0.6, 40]
    pressed = 0
    for _ in range(100):
        mujoco.mj_step(model, data)
        cones = cones_of(model, data)
        closed = cones.states != ContactState.OPEN
        pressed += closed.any()
        assert (cones.use[closed] < 0.9).all()
        assert (cones.states[closed] == ContactState.SLIDING).all()
    # It hops; whenever it touches, it slides.
    assert pressed > 5


@pytest.mark.parametrize("scene", ["slope", "quadruped", "pile", "gripper"])
def test_forces_lie_inside_their_cones(scene: str) -> None:
    engine = open_engine(scene)
    model, data = engine.model, engine.data
    counted = 0
    for _ in range(60):
        engine.step(10)
        matches = ContactMatcher(model, None).match(data)
        if not len(matches.contacts):
            continue
        batch = rebuild_contacts(model, data, matches)
        cones = cones_of(model, data)
        assert batch.force_world is not None
        force = batch.force_world[batch.filled]
        for i in np.flatnonzero(cones.states != ContactState.OPEN):
            outline = cone_outline(cones, 64)[i] * (force[i] @ cones.axis[i])
            # Inside a convex cone: on the inner side of every face from the apex to the outline.
            sides = np.einsum("ki,i->k", np.cross(outline, np.roll(outline, -1, axis=0)), force[i])
            scale = np.linalg.norm(force[i]) ** 3 * np.prod(np.maximum(cones.friction[i], 1e-9))
            assert sides.min() > -0.01 * scale
            counted += 1
    assert counted > 50
    use = cones.use[~np.isnan(cones.use)]
    assert (use < 1.02).all()
