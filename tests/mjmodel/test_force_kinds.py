"""The table of forces by kind, against MuJoCo's own accelerations, contact forces and force sensors, and physics."""

import mujoco
import numpy as np
import pytest
from contact_viewer.assets import bundled_scene
from contact_viewer.mjmodel.force_kinds import ForceKind, ForceTable, measure_forces
from numpy.typing import NDArray

JOINTS = """
<mujoco>
  <option timestep=".002"/>
  <worldbody>
    <body name="upper" pos="0 0 1">
      <joint name="a" axis="0 1 0" range="-40 40" limited="true" frictionloss=".3" damping=".2"/>
      <geom type="capsule" fromto="0 0 0 .4 0 0" size=".04"/>
      <body name="sled" pos=".4 0 0">
        <joint type="slide" axis="0 0 1" range="-.05 .05" limited="true" stiffness="50" springref=".1"/>
        <geom type="box" size=".1 .05 .05"/>
        <body name="ball" pos=".1 0 0"><joint type="ball" stiffness="3" damping=".1" range="0 40" limited="true"/>
          <geom type="capsule" fromto="0 0 0 .3 0 0" size=".04"/></body>
      </body>
    </body>
  </worldbody>
  <actuator><motor joint="a"/></actuator>
</mujoco>"""
PILE = """
<mujoco>
  <option cone="elliptic" gravity="1.3 -2.1 -9.81"/>
  <worldbody>
    <geom name="floor" type="plane" size="9 9 .1"/>
    <body name="robot" pos="0 0 .1"><freejoint/>
      <geom type="box" size=".2 .1 .05" pos=".05 .02 .01"/>
      <body name="arm" pos=".25 0 0"><joint axis="0 1 0" damping=".1"/><joint axis="0 0 1"/>
        <geom type="capsule" fromto="0 0 0 .3 0 0" size=".03"/></body>
    </body>
    <body name="crate" pos=".2 0 .25"><freejoint/><geom type="box" size=".1 .1 .1" condim="6"/></body>
    <body name="post" mocap="true" pos=".2 -.19 .2"><geom type="box" size=".1 .1 .1"/></body>
  </worldbody>
</mujoco>"""
EQUALITY = """
<mujoco>
  <option integrator="implicitfast" solver="CG" iterations="200" tolerance="1e-12"/>
  <default><geom contype="0" conaffinity="0"/></default>
  <worldbody>
    <body name="hook" mocap="true" pos="0 0 1"/>
    <body name="load" pos="0 0 .8"><freejoint/><geom type="box" size=".1 .05 .02"/></body>
    <body name="left" pos="1 0 1"><joint name="l" axis="0 1 0"/><geom type="capsule" fromto="0 0 0 0 0 -.4" size=".02"/>
      <body name="low" pos="0 0 -.4"><joint axis="0 1 0"/><geom type="capsule" fromto="0 0 0 .5 0 0" size=".02"/></body>
    </body>
    <body name="right" pos="1.5 0 1"><joint name="r" axis="0 1 0"/>
      <geom type="capsule" fromto="0 0 0 0 0 -.4" size=".02"/></body>
  </worldbody>
  <equality>
    <weld body1="load" body2="hook"/><connect body1="low" body2="right" anchor=".5 0 0"/>
    <joint joint1="l" joint2="r"/>
  </equality>
</mujoco>"""
TENDONS = """
<mujoco>
  <option jacobian="sparse"/>
  <worldbody>
    <site name="roof" pos="0 0 2"/>
    <body name="bob" pos="0 0 1"><freejoint/><geom type="sphere" size=".1"/><site name="bob"/></body>
    <body name="crank" pos="1 0 1"><joint name="c" axis="0 1 0"/><geom type="capsule" fromto="0 0 0 .3 0 0" size=".03"/>
      <body name="tip" pos=".3 0 0"><joint name="t" axis="0 1 0"/><geom type="box" size=".1 .02 .02" pos=".1 0 0"/>
        <site name="tip" pos=".2 0 0"/></body></body>
  </worldbody>
  <tendon>
    <spatial name="rope" range="0 .9" limited="true" stiffness="20" damping="1" frictionloss=".5">
      <site site="roof"/><site site="bob"/></spatial>
    <spatial name="pull"><site site="roof"/><site site="tip"/></spatial>
    <fixed name="both" range="-.1 .1" limited="true"><joint joint="c" coef="1"/><joint joint="t" coef="-1"/></fixed>
  </tendon>
  <actuator><motor tendon="pull"/><motor site="tip" gear="1 0 0 0 1 0"/></actuator>
</mujoco>"""
FLUID = """
<mujoco>
  <option density="1.2" viscosity="2" wind="3 1 0" integrator="implicit"/>
  <worldbody>
    <geom type="plane" size="9 9 .1"/>
    <body name="balloon" pos="0 0 .1" gravcomp=".9"><freejoint/><geom type="ellipsoid" size=".2 .1 .1" adhesion="3"/>
      <body name="flap" pos=".2 0 0" gravcomp=".5">
        <joint name="flap" axis="0 1 0" damping=".05" actuatorgravcomp="true"/>
        <geom type="box" size=".1 .1 .005" pos=".1 0 0"/></body></body>
  </worldbody>
  <actuator><motor joint="flap"/></actuator>
</mujoco>"""
if not hasattr(mujoco.MjModel, "geom_adhesion"):
    FLUID = FLUID.replace(' adhesion="3"', "")
SCENES = {"joints": JOINTS, "pile": PILE, "equality": EQUALITY, "tendons": TENDONS, "fluid": FLUID, "quadruped": ""}


def load(name: str) -> mujoco.MjModel:
    if SCENES[name]:
        return mujoco.MjModel.from_xml_string(SCENES[name])
    scene = bundled_scene(name)
    assert scene is not None
    return mujoco.MjModel.from_xml_path(str(scene.path))


def shake(model: mujoco.MjModel, data: mujoco.MjData, random: np.random.Generator, size: float = 0.1) -> None:
    """Give a scene another state, controls and pushes."""
    mujoco.mj_integratePos(model, data.qpos, random.normal(size=model.nv), size)
    data.qvel[:] = random.normal(size=model.nv)
    data.ctrl[:] = random.uniform(-1, 1, model.nu)
    data.qfrc_applied[:] = random.normal(size=model.nv)
    data.xfrc_applied[1:] = random.normal(size=(model.nbody - 1, 6))


def subtree(model: mujoco.MjModel, body: int) -> list[int]:
    found = [body]
    for other in range(body + 1, model.nbody):
        if model.body_parentid[other] in found:
            found.append(other)
    return found


def inertia(model: mujoco.MjModel, data: mujoco.MjData, bodies: list[int]) -> NDArray[np.float64]:
    """Mass times acceleration of bodies in an mjData that was forwarded, by MuJoCo [N], world, (3,)."""
    mujoco.mj_rnePostConstraint(model, data)
    total, acceleration = np.zeros(3), np.zeros(6)
    for body in bodies:
        mujoco.mj_objectAcceleration(model, data, mujoco.mjtObj.mjOBJ_BODY, body, acceleration, 0)
        # MuJoCo's accelerations are those that an accelerometer feels.
        total += model.body_mass[body] * (acceleration[3:] + model.opt.gravity)
    return total


def measured(model: mujoco.MjModel, data: mujoco.MjData, body: int, alone: bool = False) -> ForceTable:
    table = measure_forces(model, data, body, alone)
    assert table is not None
    return table


def force(table: ForceTable, label: str) -> NDArray[np.float64]:
    return sum((row.force for row in table.rows if row.label == label), np.zeros(3))


@pytest.mark.parametrize("scene", SCENES)
def test_the_rows_sum_to_mass_times_acceleration(scene: str) -> None:
    """In 100 random states, after a step, of every body alone or with what hangs on it; MuJoCo says how they move."""
    model, random, seen = load(scene), np.random.default_rng(5), set[str]()
    data, before = mujoco.MjData(model), mujoco.MjData(model)
    for i in range(100):
        if i % 10 == 0:
            mujoco.mj_resetDataKeyframe(model, data, 0) if model.nkey else mujoco.mj_resetData(model, data)
        shake(model, data, random, 0.05)
        mujoco.mj_copyData(before, model, data)
        mujoco.mj_step(model, data)
        mujoco.mj_forward(model, before)
        body, alone = int(random.integers(1, model.nbody)), bool(i % 2)
        table = measured(model, data, body, alone)
        truth = inertia(model, before, [body] if alone else subtree(model, body))
        scale = max(float(np.abs(row.force).max()) for row in table.rows)
        np.testing.assert_allclose(table.sum(), truth, rtol=0, atol=1e-9 * scale)
        np.testing.assert_allclose(table.inertia, truth, rtol=0, atol=1e-9 * scale)
        assert np.abs(table.sum(ForceKind.SOLVER)).max() < 1e-4 * scale
        seen |= {row.label for row in table.rows}
    expected = {
        "joints": {"joint limits", "springs", "damping", "friction loss", "actuators", "applied", "applied to joints"},
        "pile": {"contact with floor", "contact with crate", "contact with post", "joint reactions"},
        "equality": {"equality", "joint reactions"},
        "tendons": {"tendon limits", "springs", "damping", "friction loss", "actuators"},
        "fluid": {"fluid", "gravity compensation", "actuators", "contact with geom 0 of world"},
        "quadruped": {"contact with floor", "actuators", "applied"},
    }
    assert expected[scene] <= seen


def test_gravity_contacts_and_pushes_are_those_that_act() -> None:
    """Each against MuJoCo's own: the weight, the sum of `mj_contactForce` by counterpart, `xfrc_applied`."""
    model, random = load("pile"), np.random.default_rng(2)
    data, crate, touched = mujoco.MjData(model), model.body("crate").id, 0
    for _ in range(200):
        data.xfrc_applied[crate, :3] = random.normal(size=3)
        mujoco.mj_step(model, data)
        table, expected = measured(model, data, crate), dict[str, NDArray[np.float64]]()
        for i, contact in enumerate(data.contact):
            bodies = model.geom_bodyid[contact.geom].tolist()
            if crate not in bodies or contact.efc_address < 0:
                continue
            wrench = np.zeros(6)
            mujoco.mj_contactForce(model, data, i, wrench)
            sign = 1 if bodies[1] == crate else -1
            other = bodies[0] if bodies[1] == crate else bodies[1]
            name = "contact with " + (model.body(other).name if other else "floor")
            expected[name] = expected.get(name, 0) + sign * contact.frame.reshape(3, 3).T @ wrench[:3]
        for name, value in expected.items():
            np.testing.assert_allclose(force(table, name), value, atol=1e-9)
        touched += len(expected) > 1
        weight = model.body_mass[crate] * model.opt.gravity
        np.testing.assert_allclose(table.sum(ForceKind.CONTACT), sum(expected.values(), np.zeros(3)), atol=1e-9)
        np.testing.assert_allclose(force(table, "gravity"), weight)
        np.testing.assert_allclose(force(table, "applied"), data.xfrc_applied[crate, :3])
        assert {row.kind for row in table.rows} <= {"gravity", "contact", "applied", "solver", "joint reactions"}
        assert np.abs(table.sum(ForceKind.JOINTS)).max() < 1e-9 * np.abs(weight).max() + 1e-9
    assert touched > 10


def test_what_joints_pass_on_is_what_a_force_sensor_measures() -> None:
    model, random = load("joints"), np.random.default_rng(4)
    data = mujoco.MjData(model)
    for _ in range(20):
        shake(model, data, random)
        mujoco.mj_forward(model, data)
        mujoco.mj_rnePostConstraint(model, data)
        for body in range(1, model.nbody):
            table = measured(model, data, body)
            joints = table.sum(
                ForceKind.ACTUATORS, ForceKind.PASSIVE, ForceKind.CONSTRAINTS, ForceKind.JOINTS, ForceKind.SOLVER
            ) + force(table, "applied to joints")
            scale = np.abs(data.cfrc_int).max()
            np.testing.assert_allclose(joints, data.cfrc_int[body, 3:], atol=1e-9 * scale)


@pytest.mark.parametrize(
    ("label", "switch"),
    [
        ("springs", lambda model, data: model.jnt_stiffness.fill(0)),
        ("damping", lambda model, data: model.dof_damping.fill(0)),
        ("actuators", lambda model, data: data.ctrl.fill(0)),
        ("applied to joints", lambda model, data: data.qfrc_applied.fill(0)),
    ],
)
def test_a_row_is_the_difference_that_its_cause_makes(label: str, switch: object) -> None:
    """Without limits and friction everything is linear: switched off, a cause leaves m·a smaller by its row."""
    model = load("joints")
    model.opt.disableflags |= int(mujoco.mjtDisableBit.mjDSBL_LIMIT | mujoco.mjtDisableBit.mjDSBL_FRICTIONLOSS)
    data = mujoco.MjData(model)
    shake(model, data, np.random.default_rng(1), 0.5)
    mujoco.mj_forward(model, data)
    rows = [force(measured(model, data, body, alone=True), label) for body in range(1, model.nbody)]
    before = [inertia(model, data, [body]) for body in range(1, model.nbody)]
    assert callable(switch)
    switch(model, data)
    mujoco.mj_forward(model, data)
    after = [inertia(model, data, [body]) for body in range(1, model.nbody)]
    assert np.abs(rows).max() > 0.1
    np.testing.assert_allclose(np.subtract(before, after), rows, atol=1e-9)


def test_a_hanging_load_hangs_on_its_weld_and_a_pendulum_on_its_joint() -> None:
    model = load("equality")
    data = mujoco.MjData(model)
    mujoco.mj_step(model, data, 3000)
    load_table, left = measured(model, data, model.body("load").id), measured(model, data, model.body("right").id)
    weight = model.body("load").mass[0] * 9.81
    assert force(load_table, "equality")[2] == pytest.approx(weight, rel=1e-3)
    assert not any(row.kind is ForceKind.JOINTS for row in load_table.rows)
    assert force(left, "joint reactions")[2] > 0.5 * left.mass * 9.81


def test_a_push_that_is_set_for_the_next_step_did_not_act() -> None:
    model = load("pile")
    data = mujoco.MjData(model)
    crate = model.body("crate").id
    mujoco.mj_step(model, data, 10)
    data.xfrc_applied[crate, :3] = 3, -2, 7
    table = measured(model, data, crate)
    assert not any(row.kind is ForceKind.APPLIED for row in table.rows)
    np.testing.assert_allclose(table.sum(), table.inertia, atol=1e-9)
    mujoco.mj_step(model, data)
    np.testing.assert_allclose(force(measured(model, data, crate), "applied"), [3, -2, 7])


def test_all_that_moves_has_its_weight_and_the_floor() -> None:
    model = load("pile")
    data = mujoco.MjData(model)
    mujoco.mj_step(model, data, 500)
    table = measured(model, data, 0)
    assert [row.label for row in table.rows if row.kind is not ForceKind.SOLVER][:2] == [
        "gravity",
        "contact with floor",
    ]
    assert table.mass == pytest.approx(model.body_mass.sum())
