"""MuJoCo's passive viewer on a scene, stepped in real time or, with --paused, left alone."""

import sys
import time

import mujoco
import mujoco.viewer

model = mujoco.MjModel.from_xml_path(sys.argv[1])
data = mujoco.MjData(model)
with mujoco.viewer.launch_passive(model, data) as viewer:
    while viewer.is_running():
        if "--paused" in sys.argv:
            time.sleep(1.0)
            continue
        begin = time.perf_counter()
        for _ in range(round(1 / 60 / model.opt.timestep)):
            mujoco.mj_step(model, data)
        viewer.sync()
        time.sleep(max(0.0, 1 / 60 - (time.perf_counter() - begin)))
