"""A batch on mujoco_warp, on the processor: `make test-warp` runs it. Its kernels take minutes to compile."""

import time
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from contact_viewer import ContactLayout
from contact_viewer.window.window import Window

from ..array_libraries import NAMES
from ..window.driver import wait
from .loops import DrivenBatch, load

if "warp" not in NAMES:
    pytest.skip("mujoco_warp has an environment of its own: make test-warp", allow_module_level=True)

WORLDS, STEPS = 16, 150
CHOSEN = 11


def see_forces(ctx: Any, window: Window) -> Any:
    """The forces that are shown of a chosen world, step by step."""
    session = window.app.session
    assert session.num_envs == WORLDS
    session.show_environment(CHOSEN)
    wait(ctx, lambda: session.env == CHOSEN and session.engine.time > 0)
    history = session.history
    assert history is not None
    wait(ctx, lambda: history.last >= 60, 20_000)
    names = [sensor.name for sensor in session.engine.sensors if not sensor.solved_again]
    seen = {}
    for step in range(history.first, history.last + 1):
        session.go_to(step)
        forces = {name: session.reading(name).batch.force.tolist() for name in names}  # type: ignore[union-attr]
        seen[f"{history.time(step):.6f}"] = forces
    return names, seen


@pytest.mark.timeout(3000)
def test_forces_on_screen_are_those_of_warps_sensordata(tmp_path: Path) -> None:
    import mujoco_warp  # type: ignore[import-not-found,unused-ignore]
    import warp  # type: ignore[import-not-found,unused-ignore]

    model, start = load("quadruped")
    warp.config.quiet = True
    with warp.ScopedDevice("cpu"):
        there = mujoco_warp.put_model(model)
        worlds = mujoco_warp.put_data(model, start, nworld=WORLDS)
        # Each falls from another height.
        qpos = worlds.qpos.numpy()
        qpos[:, 2] += 0.005 * np.arange(WORLDS)
        worlds.qpos.assign(qpos)
        began = time.monotonic()
        mujoco_warp.step(there, worlds)
        print(f"compiled in {time.monotonic() - began:.0f} s")
        driven = DrivenBatch(model, see_forces, tmp_path, WORLDS)
        theirs: dict[str, np.ndarray[Any, Any]] = {}
        for _ in range(20 * STEPS):
            mujoco_warp.step(there, worlds)
            now = float(worlds.time.numpy()[CHOSEN])
            theirs[f"{now:.6f}"] = worlds.sensordata.numpy()[CHOSEN].copy()
            driven.viewer.sync(
                qpos=worlds.qpos, qvel=worlds.qvel, ctrl=worlds.ctrl, sensordata=worlds.sensordata, time=worlds.time
            )
            if not driven.viewer.is_running():
                break
    names, seen = driven.finish()
    assert names == ["foot_FL", "foot_FR", "foot_RL", "foot_RR"]
    layouts, touching = ContactLayout.for_model(model), 0
    for instant, forces in list(seen.items())[1:]:
        for name in names:
            expected = layouts.decode_one(name, theirs[instant]).force
            # float32 in doubles: the same number, not a near one.
            np.testing.assert_array_equal(forces[name], expected)
            touching += bool(np.abs(forces[name]).max() > 1.0)
    print(f"{len(seen)} steps, {touching} readings of feet that touch")
    assert touching > 50
