"""Show the contacts of your own simulation loop in a window. Needs a display; 04 does the same without one."""

import mujoco
from contact_viewer import launch_passive, open_engine

model = open_engine("slope").model  # or mujoco.MjModel.from_xml_path("robot.xml")
data = mujoco.MjData(model)

with launch_passive(model, data) as viewer:
    while viewer.is_running() and data.time < 2.0:
        mujoco.mj_step(model, data)
        viewer.sync()
print(f"simulated {data.time:.2f} s")
