"""A program's own loop with `sync` after every step: what that costs its thread, with one viewer or without."""

import json
import statistics
import sys
import time

import mujoco
import numpy as np

viewer_name, path, count = sys.argv[1], sys.argv[2], int(sys.argv[3])
model = mujoco.MjModel.from_xml_path(path)
data = mujoco.MjData(model)


def take(steps: int, sync: object = None) -> tuple[float, float]:
    """Processor time of this thread a step [us], and steps a second."""
    began, used = time.perf_counter(), time.thread_time()
    if callable(sync):
        for _ in range(steps):
            mujoco.mj_step(model, data)
            sync()
    else:
        for _ in range(steps):
            mujoco.mj_step(model, data)
    return 1e6 * (time.thread_time() - used) / steps, steps / (time.perf_counter() - began)


def start() -> None:
    """The same motion each time."""
    if model.nkey:
        mujoco.mj_resetDataKeyframe(model, data, 0)
    else:
        mujoco.mj_resetData(model, data)


def measure(sync: object = None) -> dict[str, float]:
    """The medians of five runs over the same motion."""
    runs = []
    for _ in range(5):
        start()
        runs.append(take(count, sync))
    return {
        "processor": statistics.median(used for used, _ in runs),
        "speed": statistics.median(speed for _, speed in runs),
    }


start()
take(count)
result = {"bare": measure()}
if viewer_name == "ours":
    from contact_viewer import launch_passive
else:
    from mujoco.viewer import launch_passive
with launch_passive(model, data) as viewer:
    until = time.monotonic() + float(sys.argv[4])
    while time.monotonic() < until:
        mujoco.mj_step(model, data)
        viewer.sync()
        time.sleep(model.opt.timestep)
    result["synced"] = measure(viewer.sync)
    start()
    times = np.empty(count)
    for k in range(count):
        mujoco.mj_step(model, data)
        began = time.perf_counter()
        viewer.sync()
        times[k] = time.perf_counter() - began
    result["sync"] = {"median": 1e6 * float(np.median(times)), "99 %": 1e6 * float(np.quantile(times, 0.99))}
print(json.dumps(result))
