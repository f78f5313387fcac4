"""Branches of the past of a user's own loop: same inputs from the same bits, and a note of what is not asked again."""

import copy
import time
from pathlib import Path
from typing import Any

import mujoco
import numpy as np
from contact_viewer.mjmodel.model_changes import read_change
from contact_viewer.passive.loop_steps import LoopSteps
from contact_viewer.window.window import Window

from ..window.driver import wait
from .loops import DrivenViewer, driven_argument, load

STEPS = 400


def branch_twice(ctx: Any, window: Window) -> Any:
    """In the window's process."""
    app = window.app
    session = app.session
    assert isinstance(session.source, LoopSteps)
    wait(ctx, lambda: Path(driven_argument()).exists() and session.history and session.history.last >= STEPS, 100)
    history = session.history
    assert history is not None
    same = app.beside.branch([], 50)
    wait(ctx, lambda: not app.beside.is_busy)
    assert same.run.history is not None
    same.run.go_to(same.run.history.last)
    session.go_to(history.last)
    equal = same.run.shown.data.qpos.tobytes() == session.engine.data.qpos.tobytes()
    other = app.beside.branch([read_change("gravity=0 0 -5")], 50)
    wait(ctx, lambda: not app.beside.is_busy)
    assert other.run.history is not None
    other.run.go_to(other.run.history.last)
    app.go_on_with(other)
    # Else the program would wait for a window that no longer looks at it.
    assert app.session is session
    return {
        "equal": equal,
        "times": [same.run.newest_time, other.run.newest_time, session.simulation.newest_time],
        "qpos": other.run.shown.data.qpos.tolist(),
        "notes": list(other.notes),
        "save": app.beside.why_not_save(other),
    }


def test_a_loop_is_branched_with_the_inputs_that_were_seen(tmp_path: Path) -> None:
    model, data = load("gripper")
    lighter, expected = copy.copy(model), mujoco.MjData(model)
    for step in range(STEPS):
        if step == 50:
            lighter.opt.gravity[2] = -5
        expected.ctrl[:] = 0.02 * np.sin(0.05 * step)
        mujoco.mj_step(lighter, expected)
    driven = DrivenViewer(model, data, branch_twice, tmp_path, str(tmp_path / "done"), ring_bytes=2**22)
    with driven as viewer:
        for step in range(STEPS):
            data.ctrl[:] = 0.02 * np.sin(0.05 * step)
            mujoco.mj_step(model, data)
            viewer.sync()
        (tmp_path / "done").touch()
        while viewer.is_running():
            time.sleep(0.01)
            viewer.sync()
    result = driven.result
    assert result["equal"]
    assert max(result["times"]) - min(result["times"]) < 1e-9
    assert any("your program: it is not asked again" in note for note in result["notes"])
    assert result["save"] == "There is no scene file to write into"
    np.testing.assert_allclose(result["qpos"], expected.qpos, atol=1e-9)
