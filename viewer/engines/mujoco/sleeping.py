"""What MuJoCo keeps of bodies that sleep; versions without sleep keep nothing."""

import mujoco

SLEEP = int(getattr(mujoco.mjtEnableBit, "mjENBL_SLEEP", 0))
"""The bit of `opt.enableflags` that lets bodies sleep."""
SLEEP_ARRAYS = ("tree_asleep", "tree_awake", "body_awake", "body_awake_ind", "parent_awake_ind", "dof_awake_ind")
SLEEP_COUNTS = ("ntree_awake", "nbody_awake", "nparent_awake", "nv_awake")
"""Names in mjData of what is not part of mjSTATE_INTEGRATION, but decides what the next step computes."""
