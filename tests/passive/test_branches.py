"""Branches of the past of a user's own loop: same inputs from the same bits, and a note of what is not asked again."""

import copy
import time
from dataclasses import replace
from pathlib import Path
from typing import Any

import mujoco
import numpy as np
import pytest
from contact_viewer import SceneError
from contact_viewer.compare.trials import TrialOptions, Trials
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
    assert any("your program: it does not react to the change" in note for note in result["notes"])
    assert result["save"] == "The scene has no file to write into: copy the element"
    np.testing.assert_allclose(result["qpos"], expected.qpos, atol=1e-9)


KICK, HEAVIER = 300, 200
"""Steps before which the program below changes a velocity, and gravity."""


def branch_what_changes(ctx: Any, window: Window) -> Any:
    """In the window's process: branch from before and from after what the program has changed."""
    app = window.app
    wait(ctx, lambda: Path(driven_argument()).exists() and app.session.history, 100)
    history = app.session.history
    assert history is not None
    wait(ctx, lambda: history.last >= STEPS, 100)
    found = []
    for start in (100, 250, 350):
        entry = app.beside.branch([], start)
        wait(ctx, lambda: not app.beside.is_busy)
        run = entry.run
        assert run.history is not None
        same = 0
        while same < run.history.last:
            run.go_to(same + 1)
            app.session.go_to(start + same + 1)
            if run.shown.data.qpos.tobytes() != app.session.engine.data.qpos.tobytes():
                break
            same += 1
        run.go_to(run.history.last)
        found.append({"same": start + same, "notes": list(entry.notes), "qpos": run.shown.data.qpos.tolist()})
        app.session.go_to(history.last)
    app.save_run(Path(driven_argument()).with_name("loop.cvrun"))
    wait(ctx, Path(driven_argument()).with_name("loop.cvrun").exists)
    return found


def test_what_a_program_changes_in_a_branched_past_is_said(tmp_path: Path) -> None:
    model, data = load("gripper")
    light, expected = copy.copy(model), mujoco.MjData(model)
    driven = DrivenViewer(model, data, branch_what_changes, tmp_path, str(tmp_path / "done"), ring_bytes=2**22)
    with driven as viewer:
        for step in range(STEPS):
            if step == HEAVIER:
                model.opt.gravity[2] = -20
            if step == KICK:
                data.qvel[0] += 0.1
                expected.qvel[0] += 0.1
            data.ctrl[:] = expected.ctrl[:] = 0.02 * np.sin(0.05 * step)
            mujoco.mj_step(model, data)
            viewer.sync()
            mujoco.mj_step(light, expected)
        (tmp_path / "done").touch()
        while viewer.is_running():
            time.sleep(0.01)
            viewer.sync()
    first, second, third = driven.result
    notes = [" ".join(each["notes"]) for each in driven.result]
    assert ["your program changes its model at 0.400 s" in note.lower() for note in notes] == [True, False, False]
    assert ["1 past steps could not be re-simulated exactly" in note for note in notes] == [True, True, False]
    assert [each["same"] for each in (first, second, third)] == [HEAVIER, KICK, STEPS]
    # The first branch keeps its gravity, and has the kick, of which the step after it is known.
    np.testing.assert_allclose(first["qpos"], expected.qpos, atol=3e-3)
    assert np.abs(first["qpos"] - data.qpos).max() > 0.03
    np.testing.assert_allclose(third["qpos"], data.qpos, atol=0)
    # A cure would be searched with gravity as it was first.
    options = TrialOptions(str(tmp_path / "loop.cvrun"), ("unstable",), duration=0.5)
    with pytest.raises(SceneError, match=r"the model was changed at 0\.400 s.*--duration"):
        Trials(options)
    assert Trials(replace(options, duration=0.3)).run([])["values"] is not None
