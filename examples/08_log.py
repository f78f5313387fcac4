"""See the contacts of a log of states: written with bare MuJoCo, re-simulated and compared here."""

import tempfile
from pathlib import Path

import mujoco
import numpy as np
from contact_viewer import open_engine
from contact_viewer.cli import main

model = open_engine("slope").model
data = mujoco.MjData(model)
rows = {"time": [], "qpos": [], "qvel": [], "ctrl": []}
for _ in range(500):
    mujoco.mj_step(model, data)
    for name, values in rows.items():
        values.append(np.copy(getattr(data, name)))

with tempfile.TemporaryDirectory() as folder:
    log, table = Path(folder, "log.npz"), Path(folder, "contacts.csv")
    np.savez(log, **{name: np.array(values) for name, values in rows.items()})
    code = main(["export", "slope", "--log", str(log), "-o", str(table)])
    print("exit code", code, "-", len(table.read_text().splitlines()) - 1, "contacts")
