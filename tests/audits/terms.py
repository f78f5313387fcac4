"""Contact functions with mistakes that were published, rebuilt from their descriptions, each beside a repaired one."""

# Terms as users write them: without annotations.
# mypy: disable-error-code="no-untyped-def,operator"

from dataclasses import dataclass, field
from typing import Any

import mujoco
import numpy as np

BIPED = """
<mujoco>
  <option timestep=".002" cone="elliptic" impratio="10"/>
  <worldbody>
    <geom name="floor" type="plane" size="5 5 .1"/>
    <body name="trunk" pos="0 0 .5"><freejoint/>
      <geom name="trunk" type="box" size=".1 .12 .1" mass="6"/>
      <body name="left_leg" pos="0 .09 -.1">
        <joint name="left_hip" axis="0 1 0" range="-60 60" damping="1" armature=".02"/>
        <geom type="capsule" fromto="0 0 0 0 0 -.25" size=".025" mass=".6"/>
        <body name="left_foot" pos="0 0 -.3">
          <joint name="left_ankle" axis="0 1 0" range="-40 40" damping="1" armature=".02"/>
          <geom name="left_foot" type="box" size=".09 .04 .015" mass=".3" {geom}/>
        </body>
      </body>
      <body name="right_leg" pos="0 -.09 -.1">
        <joint name="right_hip" axis="0 1 0" range="-60 60" damping="1" armature=".02"/>
        <geom type="capsule" fromto="0 0 0 0 0 -.25" size=".025" mass=".6"/>
        <body name="right_foot" pos="0 0 -.3">
          <joint name="right_ankle" axis="0 1 0" range="-40 40" damping="1" armature=".02"/>
          <geom name="right_foot" type="box" size=".09 .04 .015" mass=".3" {geom}/>
        </body>
      </body>
    </body>
  </worldbody>
  <actuator>
    <position joint="left_hip" kp="80"/><position joint="left_ankle" kp="80"/>
    <position joint="right_hip" kp="80"/><position joint="right_ankle" kp="80"/>
  </actuator>
  <sensor>
    <contact name="left" geom1="floor" geom2="left_foot" num="4" data="found force normal tangent"/>
    <contact name="right" geom1="floor" geom2="right_foot" num="4" data="found force normal tangent"/>
    <contact name="left_net" geom1="floor" geom2="left_foot" reduce="netforce" data="found force"/>
    <contact name="right_net" geom1="floor" geom2="right_foot" reduce="netforce" data="found force"/>
  </sensor>
</mujoco>"""
"""A biped with box feet; the whole arrays of its contact sensors, and their sums."""
GRIPPER = """
<mujoco>
  <option timestep=".002" cone="elliptic" impratio="10"/>
  <worldbody>
    <geom name="floor" type="plane" size="2 2 .1"/>
    <body name="hand" pos="0 0 .4">
      <geom name="palm" type="box" size=".02 .09 .01" contype="0" conaffinity="0"/>
      <body name="left_finger" pos="0 -.07 -.06">
        <joint name="left" type="slide" axis="0 1 0" range="-.02 .06" damping="20" armature=".1"/>
        <geom name="left_finger" type="box" size=".015 .008 .05" mass=".05" {geom}/>
      </body>
      <body name="right_finger" pos="0 .07 -.06">
        <joint name="right" type="slide" axis="0 -1 0" range="-.02 .06" damping="20" armature=".1"/>
        <geom name="right_finger" type="box" size=".015 .008 .05" mass=".05" {geom}/>
      </body>
    </body>
    <body name="cube" pos="0 0 .2"><freejoint/><geom name="cube" type="box" size=".025 .03 .025" mass=".2"/></body>
  </worldbody>
  <actuator>
    <position joint="left" kp="300" ctrlrange="-.02 .06"/><position joint="right" kp="300" ctrlrange="-.02 .06"/>
  </actuator>
  <sensor>
    <contact name="left_touch" geom1="left_finger" geom2="cube" num="1" reduce="netforce" data="found force"/>
    <contact name="right_touch" geom1="right_finger" geom2="cube" num="1" reduce="netforce" data="found force"/>
  </sensor>
</mujoco>"""
"""Two fingers on slides, and a cube."""
SLOT = 10
"""Values of a slot of the biped's sensors: found, force, normal, tangent."""
LEFT, RIGHT, LEFT_NET, RIGHT_NET = 0, 4 * SLOT, 8 * SLOT, 8 * SLOT + 4


def make_model(text: str, geom: str = "") -> mujoco.MjModel:
    """Compile one of the scenes above, with more attributes of its feet or fingers."""
    return mujoco.MjModel.from_xml_string(text.format(geom=geom))


@dataclass(frozen=True)
class Case:
    """A published mistake, and its repair."""

    name: str
    wrong: Any
    right: Any
    cause: str
    role: str
    scene: str = BIPED
    options: dict[str, Any] = field(default_factory=dict)
    geom: str = ""


def _slots(sensordata, start, part):
    return sensordata[..., [start + SLOT * slot + part for slot in range(4)]]


# A contact sensor's force has the normal first; the third value was used as on another simulator.
def third_column(sensordata):
    return np.stack([_slots(sensordata, start, 3).sum(-1) > 1.0 for start in (LEFT, RIGHT)], -1)


def first_column(sensordata):
    return np.stack([_slots(sensordata, start, 1).sum(-1) > 1.0 for start in (LEFT, RIGHT)], -1)


# Contact forces were turned into the world's frame as if they came in the order tangent, tangent, normal.
def _world_force(sensordata, order):
    forces = []
    for start in (LEFT, RIGHT):
        total = np.zeros((*sensordata.shape[:-1], 3))
        for slot in range(4):
            values = sensordata[..., start + SLOT * slot : start + SLOT * (slot + 1)]
            normal, tangent = values[..., 4:7], values[..., 7:10]
            axes = [normal, tangent, np.cross(normal, tangent)]
            for column in range(3):
                total += values[..., 1 + column, None] * axes[order[column]]
        forces.append(total)
    return np.stack(forces, -2)


def shifted_frame(sensordata):
    return _world_force(sensordata, (1, 2, 0))


def whole_frame(sensordata):
    return _world_force(sensordata, (0, 1, 2))


# cfrc_ext has the torque first, then the force.
def foot_force_from_torque(model, data):
    return np.array([data.cfrc_ext[model.body(name).id][2] for name in ("left_foot", "right_foot")])


def foot_force_from_force(model, data):
    return np.array([data.cfrc_ext[model.body(name).id][5] for name in ("left_foot", "right_foot")])


class _AirTime:
    def __init__(self, model, dt):
        self.dt = dt
        self.air = np.zeros(2)

    def reset(self):
        self.air[:] = 0.0

    def contact(self, data):
        return np.array([_slots(data.sensordata, start, 1).sum() > 1.0 for start in (LEFT, RIGHT)])


class AirTimeBeforeContact(_AirTime):
    """Time was added before the first contact was looked for, so that every step of contact is a first one."""

    def __call__(self, data):
        contact = self.contact(data)
        self.air += self.dt
        first = (self.air > 0) & contact
        reward = self.air * first
        self.air *= ~contact
        return reward


class AirTimeAfterContact(_AirTime):
    def __call__(self, data):
        contact = self.contact(data)
        first = (self.air > 0) & contact
        reward = self.air * first
        self.air += self.dt
        self.air *= ~contact
        return reward


class LazyForce:
    """The buffer is cleared in the very step that contact is lost, and read more seldom."""

    def __init__(self, model):
        self.buffer = np.zeros(2)
        self.before = np.zeros(2, bool)
        self.lost = np.zeros(2, bool)

    def physics_step(self, data):
        force = np.array([_slots(data.sensordata, start, 1).sum() for start in (LEFT, RIGHT)])
        self.lost = self.before & (force == 0)
        self.before = force > 0
        self.force = force

    def __call__(self, data):
        self.buffer = np.where(self.force > 0, self.force, np.where(self.lost, 0.0, self.buffer))
        return self.buffer


class FreshForce(LazyForce):
    def __call__(self, data):
        return self.force


# A grasp was decided by the distance between the hand and the object.
def grasp_by_distance(model, data):
    return np.linalg.norm(data.xpos[model.body("cube").id] - data.xpos[model.body("hand").id] - [0, 0, -0.07]) < 0.08


def _finger_forces(model, data):
    cube, sums = model.geom("cube").id, []
    for name in ("left_finger", "right_finger"):
        finger, total, normals = model.geom(name).id, 0.0, np.zeros(3)
        for i in range(data.ncon):
            contact = data.contact[i]
            if {contact.geom1, contact.geom2} == {finger, cube}:
                force = np.zeros(6)
                mujoco.mj_contactForce(model, data, i, force)
                total += force[0]
                normals += force[0] * contact.frame[:3] * (1 if contact.geom2 == cube else -1)
        sums.append((total, normals / max(np.linalg.norm(normals), 1e-9)))
    return sums


# Any two-sided contact counted, also of an object that the fingers merely rest on.
def grasp_by_two_contacts(model, data):
    return all(total > 1.0 for total, _ in _finger_forces(model, data))


def grasp_by_opposing_normals(model, data):
    (one, first), (other, second) = _finger_forces(model, data)
    return one > 1.0 and other > 1.0 and first @ second < -0.3


# `found` counts pairs that a gap lists and that nothing presses.
def found_is_contact(sensordata):
    return np.stack([sensordata[..., start] > 0 for start in (LEFT_NET, RIGHT_NET)], -1)


def net_force_is_contact(sensordata):
    forces = [np.linalg.norm(sensordata[..., start + 1 : start + 4], axis=-1) > 1.0 for start in (LEFT_NET, RIGHT_NET)]
    return np.stack(forces, -1)


def swapped_sides(sensordata):
    return net_force_is_contact(sensordata)[..., ::-1]


FINGERS = {"of": ["left_finger", "right_finger"], "against": "cube"}
FEET: dict[str, Any] = {"of": {"left": "left_foot", "right": "right_foot"}}
CASES = (
    Case("third column", third_column, first_column, "column", "contact", options=FEET),
    Case("shifted frame", shifted_frame, whole_frame, "column", "force-world", options=FEET),
    Case("torque", foot_force_from_torque, foot_force_from_force, "torque", "force", options=FEET),
    Case("pays while standing", AirTimeBeforeContact, AirTimeAfterContact, "standing", "air-time", options=FEET),
    Case("stale", LazyForce, FreshForce, "stale", "force", options={**FEET, "control_steps": 4}),
    Case("by distance", grasp_by_distance, grasp_by_opposing_normals, "position", "grasp", GRIPPER, FINGERS),
    Case("no opposing normals", grasp_by_two_contacts, grasp_by_opposing_normals, "normals", "grasp", GRIPPER, FINGERS),
    Case(
        "listed",
        found_is_contact,
        net_force_is_contact,
        "listed",
        "contact",
        options=FEET,
        geom='gap=".02"',
    ),
    Case("swapped sides", swapped_sides, net_force_is_contact, "side", "contact", options=FEET),
)
