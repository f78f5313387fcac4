"""Names the parts of a MuJoCo model's state, and their places in an array."""

from enum import IntEnum

import mujoco
import numpy as np
from numpy.typing import NDArray

from .types import MjData, MjModel

Values = NDArray[np.float64]
STATE = int(mujoco.mjtState.mjSTATE_INTEGRATION)
"""Parts of the state from which MuJoCo takes the following steps, except for sleep."""
_MEMBERS = {
    "time": "TIME",
    "qpos": "QPOS",
    "qvel": "QVEL",
    "act": "ACT",
    "history": "HISTORY",
    "qacc_warmstart": "WARMSTART",
    "ctrl": "CTRL",
    "qfrc_applied": "QFRC_APPLIED",
    "xfrc_applied": "XFRC_APPLIED",
    "eq_active": "EQ_ACTIVE",
    "mocap_pos": "MOCAP_POS",
    "mocap_quat": "MOCAP_QUAT",
    "userdata": "USERDATA",
    "plugin_state": "PLUGIN",
    "plastic": "PLASTIC",
}
"""Names of the parts of a state in mjData, and in mjtState; a version of MuJoCo may lack some parts."""
INPUTS = ("ctrl", "qfrc_applied", "xfrc_applied", "eq_active", "mocap_pos", "mocap_quat", "userdata")
"""Parts that a step starts from and leaves as they are."""
MOVED = ("time", "qpos", "qvel", "act", "history", "plugin_state", "plastic")
"""Parts that a step changes, except for the solver's warm start."""
SLEEP = int(mujoco.mjtEnableBit.mjENBL_SLEEP)
"""The bit of `opt.enableflags` that lets bodies sleep."""
SLEEP_ARRAYS = ("tree_asleep", "tree_awake", "body_awake", "body_awake_ind", "parent_awake_ind", "dof_awake_ind")
SLEEP_COUNTS = ("ntree_awake", "nbody_awake", "nparent_awake", "nv_awake")
"""Names in mjData of values that are not part of mjSTATE_INTEGRATION, but that the next step depends on."""


class RowKind(IntEnum):
    """Time at which the state of a row was read, and so the step that its inputs belong to."""

    AFTER = 0
    """Read after a step. The inputs of that step are still there; those of the next one are not known yet."""
    BEFORE = 1
    """Read inside a step, before anything was moved. The inputs are those of this step."""
    START = 2
    """First row of other data: no step leads to it."""
    EITHER = 3
    """Not known from the file: the kind that was right for the last step is tried first."""


def state_parts(model: MjModel) -> dict[str, slice]:
    """Return where each part is in mjSTATE_INTEGRATION, by its name in mjData."""
    parts, start = {}, 0
    for name in parts_of(STATE):
        size = mujoco.mj_stateSize(model, int(getattr(mujoco.mjtState, f"mjSTATE_{_MEMBERS[name]}")))
        parts[name] = slice(start, start + size)
        start += size
    return parts


def parts_of(spec: int) -> tuple[str, ...]:
    """Return the parts of a kind of state, such as mjSTATE_FULLPHYSICS, in its order."""
    bits = {name: int(getattr(mujoco.mjtState, f"mjSTATE_{member}", 0)) for name, member in _MEMBERS.items()}
    return tuple(sorted((name for name, bit in bits.items() if bit & spec), key=bits.__getitem__))


def places(model: MjModel, *names: str) -> NDArray[np.intp]:
    """Return where the values of some parts are in mjSTATE_INTEGRATION, in the order of the names."""
    parts = state_parts(model)
    found = [np.arange(parts[name].start, parts[name].stop) for name in names if name in parts]
    return np.concatenate(found) if found else np.empty(0, np.intp)


class ComputedPositions:
    """Positions, contacts and velocities of states, computed in an mjData of its own."""

    def __init__(self, model: MjModel) -> None:
        self._model = model
        self._data: MjData | None = None

    def compute(self, data: MjData) -> MjData:
        """Return an mjData with the state of another one, valid until the next call."""
        if self._data is None:
            self._data = mujoco.MjData(self._model)
        scratch = self._data
        scratch.qpos[:], scratch.qvel[:] = data.qpos, data.qvel
        scratch.mocap_pos[:], scratch.mocap_quat[:] = data.mocap_pos, data.mocap_quat
        mujoco.mj_fwdPosition(self._model, scratch)
        mujoco.mj_fwdVelocity(self._model, scratch)
        return scratch
