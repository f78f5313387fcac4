"""The balance of forces against Newton's second law and MuJoCo's own accelerations."""

import mujoco
import numpy as np
import pytest
from contact_viewer import open_engine
from contact_viewer.assets import bundled_scenes
from contact_viewer.engines.mujoco.engine import MujocoEngine
from contact_viewer.mjmodel.balance import sensor_body, tree_root
from contact_viewer.mjmodel.force_kinds import ForceKind, ForceTable, measure_forces
from contact_viewer.mjmodel.matching import Matches, rebuild_contacts
from contact_viewer.scene_files.scene import LoadedScene
from numpy.typing import NDArray

OPTIONS = [
    'cone="elliptic"',
    'solver="CG" iterations="500"',
    'integrator="implicitfast"',
    'noslip_iterations="10" cone="elliptic"',
]
THROWN = """
<mujoco>
  <option timestep=".002" tolerance="1e-14" ls_tolerance="1e-8" gravity="1.3 -2.1 -9.81" {}/>
  <worldbody>
    <geom name="floor" type="plane" size="9 9 .1"/>
    <body name="robot" pos="0 0 .4"><freejoint/>
      <geom type="box" size=".2 .1 .05" pos=".05 .02 .01"/>
      <body name="arm" pos=".25 0 0"><joint name="shoulder" axis="0 1 0"/><joint axis="0 0 1"/>
        <geom name="arm" type="capsule" fromto="0 0 0 .3 0 0" size=".03"/>
        <body name="hand" pos=".3 0 0"><joint type="ball"/>
          <geom name="hand" type="box" size=".05 .08 .02" pos=".06 0 0"/></body>
      </body>
    </body>
    <body name="crate" pos=".2 0 .65"><freejoint/><geom name="crate" type="box" size=".1 .1 .1" pos=".01 0 .02"/></body>
    <body name="door" pos="1 0 .5"><joint axis="0 0 1"/>
      <geom name="door" type="box" size=".3 .02 .4" pos=".3 0 0"/></body>
  </worldbody>
  <sensor>
    <contact name="hand" geom1="floor" geom2="hand"/>
    <contact name="floor" geom1="hand" geom2="floor"/>
    <contact name="crate" subtree1="robot" body2="crate"/>
    <contact name="any" geom2="floor"/>
  </sensor>
</mujoco>"""


def thrown(option: str = "") -> tuple[mujoco.MjModel, mujoco.MjData]:
    """A robot and a crate that tumble onto the floor and each other."""
    model = mujoco.MjModel.from_xml_string(THROWN.format(option))
    data = mujoco.MjData(model)
    data.qvel = np.random.default_rng(8).normal(scale=2.0, size=model.nv)
    return model, data


def balance_of(model: mujoco.MjModel, data: mujoco.MjData, body: int) -> ForceTable:
    table = measure_forces(model, data, body)
    assert table is not None
    return table


def contact(balance: ForceTable) -> NDArray[np.float64]:
    """Sum of the contact forces [N], (3,)."""
    return balance.sum(ForceKind.CONTACT)


def other(balance: ForceTable) -> NDArray[np.float64]:
    """Force that gravity, contacts and pushes do not explain [N], (3,)."""
    return balance.inertia - balance.sum(ForceKind.GRAVITY, ForceKind.CONTACT, ForceKind.APPLIED)


def size(balance: ForceTable) -> float:
    """Largest component of a force [N]."""
    return float(np.abs([contact(balance), balance.sum(ForceKind.GRAVITY), balance.inertia]).max())


def is_free(model: mujoco.MjModel, root: int) -> bool:
    """Return True if gravity and contacts alone act on a tree from outside."""
    joint = model.body_jntadr[root]
    others = model.neq, model.opt.density, model.opt.viscosity, model.body_gravcomp.any(), model.nflex, model.ntendon
    return bool(model.jnt_type[joint] == mujoco.mjtJoint.mjJNT_FREE) and not any(others)


def unsolved(model: mujoco.MjModel, data: mujoco.MjData, body: int) -> NDArray[np.float64]:
    """Force that the solver left over along a free joint's three axes when it stopped [N], (3,)."""
    momentum_rate = np.empty(model.nv)
    mujoco.mj_mulM(model, data, momentum_rate, data.qacc)
    first = model.body_dofadr[body]
    return np.asarray((momentum_rate - data.qfrc_smooth - data.qfrc_constraint)[first : first + 3])


@pytest.mark.parametrize("option", OPTIONS)
@pytest.mark.parametrize("body", ["robot", "crate"])
def test_free_bodies_are_in_balance(option: str, body: str) -> None:
    model, data = thrown(option)
    index = model.body(body).id
    touched = 0
    for _ in range(600):
        mujoco.mj_step(model, data)
        balance = balance_of(model, data, index)
        scale = size(balance)
        np.testing.assert_allclose(other(balance), unsolved(model, data, balance.body), atol=1e-9 * scale)
        assert np.abs(other(balance)).max() < 1e-6 * scale
        touched += bool(contact(balance).any())
    assert touched > 100


def test_free_bodies_are_in_balance_in_the_first_stage_of_a_runge_kutta_step() -> None:
    model, data = thrown('integrator="RK4"')
    engine = MujocoEngine(LoadedScene(None, model, owned=False), data)
    touched = 0
    for _ in range(600):
        engine.step()
        balance = balance_of(model, engine.contact_data(), model.body("robot").id)
        scale = size(balance)
        assert np.abs(other(balance)).max() < 1e-6 * scale
        touched += bool(contact(balance).any())
    assert touched > 100


def test_the_acceleration_is_that_of_the_motion() -> None:
    """Against the velocities of the centre of mass a short step apart, of which the balance knows nothing."""
    model, data = thrown()
    model.opt.timestep = 1e-6
    index = model.body("robot").id
    data.qpos[2] = 5.0
    mujoco.mj_forward(model, data)
    for _ in range(5):
        data.qvel = np.random.default_rng(8).normal(scale=2.0, size=model.nv)
        data.ctrl[:] = 0
        mujoco.mj_subtreeVel(model, data)
        before = None
        for _ in range(2):
            mujoco.mj_step(model, data)
            balance = balance_of(model, data, index)
            mujoco.mj_forward(model, data)
            mujoco.mj_subtreeVel(model, data)
            velocity = data.subtree_linvel[index].copy()
            if before is not None:
                np.testing.assert_allclose(
                    balance.inertia / balance.mass, (velocity - before) / 1e-6, rtol=1e-4, atol=1e-3
                )
            before = velocity


@pytest.mark.parametrize("body", ["robot", "arm", "hand", "door"])
def test_accelerations_are_mujocos(body: str) -> None:
    model, data = thrown()
    index = model.body(body).id
    inside = [i for i in range(1, model.nbody) if index in _ancestors(model, i)]
    for _ in range(30):
        mujoco.mj_step(model, data, 10)
        mujoco.mj_forward(model, data)
        balance = balance_of(model, data, index)
        mujoco.mj_rnePostConstraint(model, data)
        total, acceleration = np.zeros(3), np.zeros(6)
        for i in inside:
            mujoco.mj_objectAcceleration(model, data, mujoco.mjtObj.mjOBJ_BODY, i, acceleration, 0)
            # MuJoCo's accelerations are those that an accelerometer feels.
            total += model.body_mass[i] * (acceleration[3:] + model.opt.gravity)
        np.testing.assert_allclose(balance.inertia, total, rtol=1e-9, atol=1e-9)
        assert balance.mass == pytest.approx(model.body_subtreemass[index])
        np.testing.assert_allclose(balance.center, data.subtree_com[index], atol=1e-12)


def _ancestors(model: mujoco.MjModel, body: int) -> list[int]:
    ancestors = [body]
    while body:
        body = int(model.body_parentid[body])
        ancestors.append(body)
    return ancestors


def test_contacts_inside_the_subtree_do_not_count() -> None:
    model, data = thrown()
    mujoco.mj_step(model, data, 400)
    everything = balance_of(model, data, 0)
    robot, crate = (balance_of(model, data, model.body(name).id) for name in ("robot", "crate"))
    assert contact(crate).any()
    total = contact(robot) + contact(crate) + contact(balance_of(model, data, model.body("door").id))
    np.testing.assert_allclose(contact(everything), total, atol=1e-9)


@pytest.mark.parametrize(
    ("sensor", "body", "root"), [("hand", "hand", "robot"), ("floor", "hand", "robot"), ("crate", "crate", "crate")]
)
def test_the_body_is_the_one_that_the_sensor_feels_for(sensor: str, body: str, root: str) -> None:
    model, _ = thrown()
    found = sensor_body(model, model.sensor(sensor).id)
    assert found is not None
    assert found == model.body(body).id
    assert tree_root(model, found) == model.body(root).id


def test_sensors_without_a_moving_body_have_none() -> None:
    model, _ = thrown()
    assert sensor_body(model, model.sensor("any").id) is None


@pytest.mark.parametrize("scene", [scene.name for scene in bundled_scenes()])
def test_bundled_scenes_leave_nothing_but_what_the_solver_left(scene: str) -> None:
    engine = open_engine(scene)
    model, data = engine.model, engine.data
    roots = [body for body in range(1, model.nbody) if tree_root(model, body) == body]
    for _ in range(40):
        engine.step(10)
        for root in roots:
            balance = balance_of(model, data, root)
            if is_free(model, root):
                scale = size(balance)
                np.testing.assert_allclose(other(balance), unsolved(model, data, balance.body), atol=1e-9 * scale)


def test_netforce_sensors_agree_with_the_contacts() -> None:
    """The sum of a sensor that matches all contacts of the body, read through the sensor's own matching."""
    engine = open_engine("quadruped")
    engine.step(500)
    model, data = engine.model, engine.data
    trunk = model.body("trunk").id
    batch = rebuild_contacts(model, data, _all_matches(data))
    assert batch.net_force is not None
    np.testing.assert_allclose(contact(balance_of(model, data, trunk)), batch.net_force, atol=1e-9)
    np.testing.assert_allclose(batch.net_force[2], model.body_subtreemass[trunk] * 9.81, rtol=0.05)


def _all_matches(data: mujoco.MjData) -> Matches:
    return Matches(np.arange(data.ncon), np.zeros(data.ncon, bool))
