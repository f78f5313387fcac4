"""Describes a model's actuators and joints for the user: names, units, ranges and limbs."""

import math
from dataclasses import dataclass
from enum import StrEnum

import mujoco
import numpy as np

from .names import body_names, read_names
from .types import MjModel

_JOINT_TRANSMISSIONS = (int(mujoco.mjtTrn.mjTRN_JOINT), int(mujoco.mjtTrn.mjTRN_JOINTINPARENT))
_TENDON = int(mujoco.mjtTrn.mjTRN_TENDON)
_AFFINE, _NO_BIAS = int(mujoco.mjtBias.mjBIAS_AFFINE), int(mujoco.mjtBias.mjBIAS_NONE)
_FIXED_GAIN, _NO_DYNAMICS = int(mujoco.mjtGain.mjGAIN_FIXED), int(mujoco.mjtDyn.mjDYN_NONE)
_HINGE, _SLIDE = int(mujoco.mjtJoint.mjJNT_HINGE), int(mujoco.mjtJoint.mjJNT_SLIDE)
_FREE, _BALL = int(mujoco.mjtJoint.mjJNT_FREE), int(mujoco.mjtJoint.mjJNT_BALL)
_LENGTHS = {_HINGE: "rad", _SLIDE: "m"}
_FORCES = {_HINGE: "N·m", _SLIDE: "N"}


class Servo(StrEnum):
    """Quantity that an actuator's control sets."""

    FORCE = "force"
    POSITION = "position"
    VELOCITY = "velocity"
    OTHER = "other"


@dataclass(frozen=True)
class Actuator:
    """Actuator of a model."""

    index: int
    name: str
    limb: str
    """Body at which the limb of the actuator begins; empty if it moves no joint."""
    servo: Servo
    unit: str
    """Unit of the control; empty if the control has no unit."""
    force_unit: str
    low: float
    high: float
    """Range of the control, from `low` to `high`: as declared, or a sensible one."""
    joint: int | None
    """Index of the hinge or slide joint that the actuator moves; None for none."""
    ratio: float
    """Force on the joint per unit of control, without the feedback of a servo: gain times gear."""
    gear: float
    balance: tuple[float, float]
    """(a, b): a position servo exerts no force at the control a + b * length, with the length of its transmission: for
    a hinge with gear 1, the joint angle."""
    force_low: float
    force_high: float
    """Range of the force, from `force_low` to `force_high`; infinite where the force is not limited."""

    @property
    def middle(self) -> float:
        return (self.low + self.high) / 2


@dataclass(frozen=True)
class Joint:
    """Joint of a model."""

    index: int
    name: str
    limb: str
    unit: str
    """Unit of the position, "" for joints with several numbers."""
    low: float
    high: float
    place: int
    """Place of the joint's first number in `qpos`."""
    size: int
    """Numbers in `qpos`: 1 hinge or slide, 4 ball, 7 free."""


def read_actuators(model: MjModel) -> list[Actuator]:
    """Return all actuators, in order."""
    limbs, names = limb_names(model), read_names(model, "actuator")
    actuators = []
    for i in range(model.nu):
        target, kind = int(model.actuator_trnid[i, 0]), int(model.actuator_trntype[i])
        body = _moved_body(model, kind, target)
        joint = target if kind in _JOINT_TRANSMISSIONS and int(model.jnt_type[target]) in _LENGTHS else None
        moved = _moved_kind(model, kind, target) if joint is None else int(model.jnt_type[joint])
        servo = _servo(model, i)
        gear, gain = float(model.actuator_gear[i, 0]), float(model.actuator_gainprm[i, 0])
        balance = _balance(model, i, servo)
        low, high = _range(model, i, servo, joint, balance)
        actuators.append(
            Actuator(
                index=i,
                name=names[i] or f"actuator {i}",
                limb=limbs[body] if body is not None else "",
                servo=servo,
                unit=_unit(servo, moved, gear * gain, balance),
                force_unit=_FORCES.get(moved, ""),
                low=low,
                high=high,
                joint=joint,
                ratio=gear * gain,
                gear=gear,
                balance=balance,
                force_low=float(model.actuator_forcerange[i, 0]) if model.actuator_forcelimited[i] else -math.inf,
                force_high=float(model.actuator_forcerange[i, 1]) if model.actuator_forcelimited[i] else math.inf,
            )
        )
    return actuators


def read_joints(model: MjModel) -> list[Joint]:
    """Return all joints, in order."""
    limbs, names, bodies = limb_names(model), read_names(model, "jnt"), body_names(model)
    joints = []
    for i in range(model.njnt):
        kind = int(model.jnt_type[i])
        low, high = _joint_range(model, i)
        joints.append(
            Joint(
                index=i,
                name=names[i] or (bodies[int(model.jnt_bodyid[i])] if kind in (_FREE, _BALL) else f"joint {i}"),
                limb=limbs[int(model.jnt_bodyid[i])],
                unit=_LENGTHS.get(kind, ""),
                low=low,
                high=high,
                place=int(model.jnt_qposadr[i]),
                size={_FREE: 7, _BALL: 4}.get(kind, 1),
            )
        )
    return joints


def limb_names(model: MjModel) -> list[str]:
    """Return for every body the name of the first body of its limb. A limb begins below the world, or below a body with
    several moving children."""
    names, parents = body_names(model), model.body_parentid.tolist()
    moving = (model.body_dofnum > 0).tolist()
    for body in range(model.nbody - 1, 0, -1):
        # A body moves with what it carries.
        moving[parents[body]] = moving[parents[body]] or moving[body]
    branches = [0] * model.nbody
    for body in range(1, model.nbody):
        branches[parents[body]] += moving[body]
    tops = [0] * model.nbody
    for body in range(1, model.nbody):
        parent = parents[body]
        tops[body] = body if parent == 0 or (branches[parent] > 1 and moving[body]) else tops[parent]
    return [names[top] for top in tops]


def _moved_body(model: MjModel, kind: int, target: int) -> int | None:
    if kind in _JOINT_TRANSMISSIONS:
        return int(model.jnt_bodyid[target])
    if kind != _TENDON:
        return None
    if joints := _tendon_joints(model, target):
        return int(model.jnt_bodyid[joints[0]])
    end = int(model.tendon_adr[target] + model.tendon_num[target]) - 1
    return int(model.site_bodyid[model.wrap_objid[end]]) if model.wrap_type[end] == mujoco.mjtWrap.mjWRAP_SITE else None


def _moved_kind(model: MjModel, kind: int, target: int) -> int:
    """Return the type of joint whose units an actuator has that moves no joint directly; -1 for none. A tendon has the
    type of the joints that it is a sum of, or of a slide if it is a length in space."""
    if kind != _TENDON:
        return -1
    kinds = {int(model.jnt_type[joint]) for joint in _tendon_joints(model, target)} or {_SLIDE}
    return kinds.pop() if len(kinds) == 1 else -1


def _tendon_joints(model: MjModel, tendon: int) -> list[int]:
    """Return the joints that a tendon is a sum of; none if it is a length in space."""
    start = int(model.tendon_adr[tendon])
    wraps = slice(start, start + int(model.tendon_num[tendon]))
    joints: list[int] = model.wrap_objid[wraps][model.wrap_type[wraps] == int(mujoco.mjtWrap.mjWRAP_JOINT)].tolist()
    return joints


def _servo(model: MjModel, i: int) -> Servo:
    bias = model.actuator_biasprm[i]
    if int(model.actuator_gaintype[i]) != _FIXED_GAIN or model.actuator_gainprm[i, 0] == 0:
        return Servo.OTHER
    if int(model.actuator_biastype[i]) == _AFFINE and bias[1] != 0:
        return Servo.POSITION
    if int(model.actuator_biastype[i]) == _AFFINE and bias[2] != 0:
        return Servo.VELOCITY
    plain = int(model.actuator_biastype[i]) == _NO_BIAS and int(model.actuator_dyntype[i]) == _NO_DYNAMICS
    return Servo.FORCE if plain else Servo.OTHER


def _balance(model: MjModel, i: int, servo: Servo) -> tuple[float, float]:
    gain, bias = float(model.actuator_gainprm[i, 0]), model.actuator_biasprm[i]
    return (-float(bias[0]) / gain, -float(bias[1]) / gain) if servo is Servo.POSITION else (0.0, 1.0)


def _unit(servo: Servo, joint_kind: int, ratio: float, balance: tuple[float, float]) -> str:
    length = _LENGTHS.get(joint_kind)
    if length is None:
        return ""
    if servo is Servo.POSITION:
        # Others, such as grippers from 0 to 255, count in steps of their own.
        return length if math.isclose(balance[1], 1.0, rel_tol=1e-6) and balance[0] == 0 else ""
    if servo is Servo.VELOCITY:
        return f"{length}/s"
    return _FORCES[joint_kind] if servo is Servo.FORCE and ratio == 1.0 else ""


def _range(
    model: MjModel, i: int, servo: Servo, joint: int | None, balance: tuple[float, float]
) -> tuple[float, float]:
    low, high = (float(value) for value in model.actuator_ctrlrange[i])
    if model.actuator_ctrllimited[i] and low < high:
        return low, high
    if servo is Servo.POSITION and joint is not None:
        lengths = (float(model.actuator_gear[i, 0]) * end for end in _joint_range(model, joint))
        ends = sorted(balance[0] + balance[1] * length for length in lengths)
        return ends[0], ends[1]
    force = np.abs(model.actuator_forcerange[i]).max()
    gain = abs(float(model.actuator_gainprm[i, 0]))
    if servo is Servo.FORCE and model.actuator_forcelimited[i] and force > 0 and gain > 0:
        return -float(force) / gain, float(force) / gain
    return -1.0, 1.0


def _joint_range(model: MjModel, joint: int) -> tuple[float, float]:
    low, high = (float(value) for value in model.jnt_range[joint])
    if model.jnt_limited[joint] and low < high:
        return low, high
    return (-math.pi, math.pi) if int(model.jnt_type[joint]) == _HINGE else (-1.0, 1.0)
