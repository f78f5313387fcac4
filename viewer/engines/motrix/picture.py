"""Copies positions, velocities and controls between MotrixSim and the MuJoCo data that draws it."""

from collections.abc import Mapping
from typing import Any

import mujoco
import numpy as np
from numpy.typing import NDArray

from ...errors import EngineError
from ...mjmodel.names import read_names
from ...mjmodel.types import MjData, MjModel
from ..environment import draw_pose
from .world import MotrixScene

_JOINTS = mujoco.mjtJoint
_QUATERNION = (3, 0, 1, 2)
"""Places of MuJoCo's w, x, y, z in MotrixSim's quaternion x, y, z, w."""
_PLACES = {
    _JOINTS.mjJNT_FREE: (0, 1, 2, *(3 + place for place in _QUATERNION)),
    _JOINTS.mjJNT_BALL: _QUATERNION,
    _JOINTS.mjJNT_SLIDE: (0,),
    _JOINTS.mjJNT_HINGE: (0,),
}
"""Place in MotrixSim of each number of a MuJoCo joint's position, counted from the joint's first."""
_VELOCITIES = {_JOINTS.mjJNT_FREE: 6, _JOINTS.mjJNT_BALL: 3, _JOINTS.mjJNT_SLIDE: 1, _JOINTS.mjJNT_HINGE: 1}
"""Numbers of a joint's velocity, which both engines have in the same order and frame."""


class PictureCopy:
    """Copy between MotrixSim and MuJoCo, joint by joint and actuator by actuator. Other values are not changed."""

    def __init__(self, scene: MotrixScene, model: MjModel) -> None:
        motrix = scene.model
        positions = dict(zip(motrix.joint_names, motrix.joint_dof_pos_indices, strict=True))
        positions |= {base.name: base.dof_pos_start for base in motrix.floating_bases}
        velocities = dict(zip(motrix.joint_names, motrix.joint_dof_vel_indices, strict=True))
        velocities |= {base.name: base.dof_vel_start for base in motrix.floating_bases}
        pairs: list[tuple[int, int]] = []
        speeds: list[tuple[int, int]] = []
        joints = zip(scene.joints, model.jnt_type, model.jnt_qposadr, model.jnt_dofadr, strict=True)
        for name, kind, place, speed in joints:
            if name in positions:
                pairs += [(place + k, positions[name] + at) for k, at in enumerate(_PLACES[_JOINTS(kind)])]
                speeds += [(speed + k, velocities[name] + k) for k in range(_VELOCITIES[_JOINTS(kind)])]
        names = read_names(model, "actuator")
        known = dict(zip(motrix.actuator_names, range(motrix.num_actuators), strict=True))
        in_order = len(names) == motrix.num_actuators
        places = [
            known.get(name, i if in_order else None) if name else (i if in_order else None)
            for i, name in enumerate(names)
        ]
        self._model, self._motrix = model, motrix
        self._qpos, self._dof_pos = _columns(pairs)
        self._qvel, self._dof_vel = _columns(speeds)
        self._ctrl, self._actuators = _columns([(i, place) for i, place in enumerate(places) if place is not None])
        self.missing = tuple(name for name, place in zip(names, places, strict=True) if place is None)
        """Actuators that MotrixSim does not have."""
        body_names = read_names(model, "body")
        mocaps = {body.name: body.mocap for body in motrix.bodies if body.is_mocap}
        bodies = {int(index): body for body, index in enumerate(model.body_mocapid) if index >= 0}
        self._mocaps = [mocaps.get(body_names[bodies[index]]) for index in range(model.nmocap)]
        self._mocap_starts = [(model.body_pos[body], model.body_quat[body]) for _, body in sorted(bodies.items())]
        self._mocap_poses: tuple[Any, bytes] = (None, b"")
        """MotrixSim's state that mocap bodies were last written into, and their poses."""
        self.fixed = tuple(body_names[bodies[index]] for index, mocap in enumerate(self._mocaps) if mocap is None)
        """Names of mocap bodies that cannot be moved, because MotrixSim has no such name."""

    def draw(self, state: Any, env: int | None, picture: MjData) -> None:
        """Write an environment's positions and velocities into an mjData, and compute what a renderer reads.

        `env`: None where there is only one.
        """
        positions, velocities = state.dof_pos, state.dof_vel
        picture.qpos[self._qpos] = (positions if env is None else positions[env])[self._dof_pos]
        picture.qvel[self._qvel] = (velocities if env is None else velocities[env])[self._dof_vel]
        draw_pose(self._model, picture)

    def read_controls(self, state: Any, env: int | None, picture: MjData) -> None:
        """Put an environment's controls into an mjData."""
        controls = state.actuator_ctrls
        picture.ctrl[self._ctrl] = (controls if env is None else controls[env])[self._actuators]

    def write_controls(self, state: Any, pictures: Mapping[int, MjData]) -> None:
        """Put the controls of pictures into MotrixSim, where they stay until they change."""
        if any(picture.qfrc_applied.any() for picture in pictures.values()):
            raise EngineError("MotrixSim takes no qfrc_applied: set ctrl or xfrc_applied")
        if not self._actuators.size:
            return
        before = np.array(state.actuator_ctrls)
        controls = before.copy()
        rows = controls.reshape(-1, controls.shape[-1])
        for env, picture in pictures.items():
            rows[env, self._actuators] = picture.ctrl[self._ctrl]
        if (controls != before).any():
            state.actuator_ctrls = controls

    def start_mocap(self, picture: MjData, key: int | None) -> None:
        """Put the mocap bodies of a picture where the scene, or one of its keyframes, has them."""
        for index, (position, quaternion) in enumerate(self._mocap_starts):
            if key is not None:
                position = self._model.key_mpos[key, 3 * index : 3 * index + 3]
                quaternion = self._model.key_mquat[key, 4 * index : 4 * index + 4]
            picture.mocap_pos[index], picture.mocap_quat[index] = position, quaternion

    def write_mocap(self, state: Any, pictures: Mapping[int, MjData]) -> None:
        """Put the mocap bodies of pictures into MotrixSim; those without a picture stay where the scene has them."""
        batch = state.dof_pos.shape[:-1]
        poses = np.empty((len(self._mocaps), *(batch or (1,)), 7), np.float32)
        for index, start in enumerate(self._mocap_starts):
            poses[index] = _motrix_pose(*start)
            for env, picture in pictures.items():
                poses[index, env] = _motrix_pose(picture.mocap_pos[index], picture.mocap_quat[index])
        if self._mocap_poses[0] is state and self._mocap_poses[1] == poses.tobytes():
            return
        self._mocap_poses = state, poses.tobytes()
        for mocap, pose in zip(self._mocaps, poses, strict=True):
            if mocap is not None:
                mocap.set_pose(state, pose if batch else pose[0])

    def write_pose(self, state: Any, pictures: Mapping[int, MjData]) -> None:
        """Put the positions and velocities of pictures into MotrixSim."""
        positions, velocities = np.array(state.dof_pos), np.array(state.dof_vel)
        for env, picture in pictures.items():
            positions.reshape(-1, positions.shape[-1])[env, self._dof_pos] = picture.qpos[self._qpos]
            velocities.reshape(-1, velocities.shape[-1])[env, self._dof_vel] = picture.qvel[self._qvel]
        state.set_dof_pos(positions, self._motrix)
        state.set_dof_vel(velocities)


def _motrix_pose(position: NDArray[np.float64], quaternion: NDArray[np.float64]) -> NDArray[np.float64]:
    """Return position and quaternion in MotrixSim's order, (7,)."""
    return np.concatenate([position, np.roll(quaternion, -1)])


def _columns(pairs: list[tuple[int, int]]) -> tuple[NDArray[np.intp], NDArray[np.intp]]:
    """Return the indices of joints in MuJoCo and in MotrixSim."""
    table = np.array(pairs, np.intp).reshape(-1, 2)
    return table[:, 0], table[:, 1]
