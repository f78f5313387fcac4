"""Turns an mjData after a step into one whose positions, contacts and velocities belong together."""

from typing import Any

import mujoco

from .types import MjData, MjModel

_RK4 = int(mujoco.mjtIntegrator.mjINT_RK4)


def leaves_intermediate(options: Any) -> bool:
    """True if a step with these options leaves the contacts of an intermediate state behind, as Runge-Kutta does."""
    return bool(options.integrator == _RK4)


class ComputedPositions:
    """Positions, contacts and velocities of states, computed in an mjData of its own."""

    def __init__(self, model: MjModel) -> None:
        self._model = model
        self._data: MjData | None = None

    def compute(self, data: MjData) -> MjData:
        """An mjData with the state of another one; the next call changes it."""
        if self._data is None:
            self._data = mujoco.MjData(self._model)
        scratch = self._data
        scratch.qpos[:], scratch.qvel[:] = data.qpos, data.qvel
        scratch.mocap_pos[:], scratch.mocap_quat[:] = data.mocap_pos, data.mocap_quat
        mujoco.mj_fwdPosition(self._model, scratch)
        mujoco.mj_fwdVelocity(self._model, scratch)
        return scratch


SLEEP = int(getattr(mujoco.mjtEnableBit, "mjENBL_SLEEP", 0))
"""The bit of `opt.enableflags` that lets bodies sleep."""
SLEEP_ARRAYS = ("tree_asleep", "tree_awake", "body_awake", "body_awake_ind", "parent_awake_ind", "dof_awake_ind")
SLEEP_COUNTS = ("ntree_awake", "nbody_awake", "nparent_awake", "nv_awake")
"""Names in mjData of what is not part of mjSTATE_INTEGRATION, but decides what the next step computes."""
