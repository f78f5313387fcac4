"""Show the contacts of your own simulation loop in a browser: over SSH, on a machine without a display."""

import mujoco
from contact_viewer import launch_passive, open_engine

model = open_engine("slope").model
data = mujoco.MjData(model)

with launch_passive(model, data, serve=True) as viewer:
    print("open", viewer.url.split("?")[0], "with the token that the program printed")
    while viewer.is_running() and data.time < 2.0:
        mujoco.mj_step(model, data)
        viewer.sync()
print(f"simulated {data.time:.2f} s")
