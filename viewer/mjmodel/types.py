"""Names the model and data of MuJoCo, also for modules that do not import MuJoCo."""

import mujoco

MjModel = mujoco.MjModel
MjData = mujoco.MjData
