"""MotrixSim's joint positions to a MuJoCo picture."""

from typing import Any

import mujoco
import numpy as np
from numpy.typing import NDArray

from .world import MotrixScene

_JOINTS = mujoco.mjtJoint
_QUATERNION = (3, 0, 1, 2)
"""Where MotrixSim, with x, y, z, w, has MuJoCo's w, x, y, z."""
_PLACES = {
    _JOINTS.mjJNT_FREE: (0, 1, 2, *(3 + place for place in _QUATERNION)),
    _JOINTS.mjJNT_BALL: _QUATERNION,
    _JOINTS.mjJNT_SLIDE: (0,),
    _JOINTS.mjJNT_HINGE: (0,),
}
"""Where MotrixSim has each number of a MuJoCo joint's position, counted from the joint's first."""


class PoseCopy:
    """Copies positions joint by joint. A joint that MotrixSim does not have stays as it is."""

    def __init__(self, scene: MotrixScene, model: Any) -> None:
        bases = {base.name: base.dof_pos_start for base in scene.model.floating_bases}
        joints = dict(zip(scene.model.joint_names, scene.model.joint_dof_pos_indices, strict=True))
        starts = joints | bases
        targets: list[int] = []
        sources: list[int] = []
        for name, kind, target in zip(scene.joints, model.jnt_type, model.jnt_qposadr, strict=True):
            if name in starts:
                places = _PLACES[_JOINTS(kind)]
                targets += range(int(target), int(target) + len(places))
                sources += [starts[name] + place for place in places]
        self._model = model
        self._targets = np.array(targets, np.intp)
        self._sources = np.array(sources, np.intp)

    def write(self, positions: NDArray[np.float32], picture: Any) -> None:
        """Put an environment's `dof_pos` into an mjData, as far as a renderer looks at it."""
        picture.qpos[self._targets] = positions[self._sources]
        mujoco.mj_kinematics(self._model, picture)
        mujoco.mj_comPos(self._model, picture)
        mujoco.mj_camlight(self._model, picture)
        mujoco.mj_tendon(self._model, picture)
