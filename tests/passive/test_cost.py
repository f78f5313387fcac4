"""What a window that draws costs the thread of a user's loop, against the same loop without one in the same run."""

import os
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any

import gymnasium
import mujoco
import numpy as np
import pytest
from contact_viewer.gymnasium import ContactViewer
from contact_viewer.passive.launch import launch_passive
from contact_viewer.passive.shared_memory import Word
from contact_viewer.passive.viewer import PassiveViewer

from .loops import load

MOST = 1.25
"""Processor time of the loop's thread, in times of that of the bare loop."""
ROUNDS, TRIES = 60, 3
Round = Callable[[], object]


def processor_time(work: Round) -> float:
    """Of this thread [s]."""
    began = time.thread_time()
    work()
    return time.thread_time() - began


def ratio(bare: Round, shown: Round, viewer: PassiveViewer) -> float:
    """How much longer a round takes with a window: the best of some tries, because other programs only ever add to it.

    The two take turns, because the speed of a processor changes.
    """
    ratios: list[float] = []
    while len(ratios) < TRIES and min(ratios, default=MOST) >= MOST:
        times: list[list[float]] = []
        frames = viewer._words[Word.FRAMES]
        # It must have drawn meanwhile.
        while len(times) < ROUNDS or viewer._words[Word.FRAMES] < frames + 3:
            times.append([processor_time(bare), processor_time(shown)])
        without, with_window = np.quantile(times, 0.25, axis=0)
        ratios.append(with_window / without)
    print(f"processor time of the loop's thread: {', '.join(f'{r:.3f}' for r in ratios)} of bare")
    return min(ratios)


@pytest.mark.alone
def test_ant_with_every_physics_step_seen() -> None:
    def make() -> Any:
        return gymnasium.make("Ant-v5", terminate_when_unhealthy=False)

    def take(env: Any) -> None:
        for action in actions:
            env.step(action)

    def take_bare() -> None:
        # The callback is called for all data.
        ours = mujoco.get_mjcb_control()
        assert ours is not None
        mujoco.set_mjcb_control(None)
        take(bare)
        mujoco.set_mjcb_control(ours)

    # Ten channels.
    bare, shown = make(), ContactViewer(make(), channels=("reward", "action/*", "observation/0"))
    bare.action_space.seed(7)
    actions = [bare.action_space.sample() for _ in range(40)]
    bare.reset(seed=3)
    shown.reset(seed=3)
    assert shown.viewer is not None
    take(shown)
    measured = ratio(take_bare, lambda: take(shown), shown.viewer)
    assert np.array_equal(bare.unwrapped.data.ctrl, shown.unwrapped.data.ctrl)  # type: ignore[attr-defined]
    shown.close()
    assert measured < MOST


@pytest.mark.alone
def test_a_loop_that_syncs_after_every_step() -> None:
    """Of a robot whose steps take a third of those of a humanoid with meshes: a `sync` counts three times."""
    model, data = load("quadruped")
    calls: list[float] = []

    def start() -> None:
        # The same motion each time.
        mujoco.mj_resetDataKeyframe(model, data, 0) if model.nkey else mujoco.mj_resetData(model, data)

    def take_bare() -> None:
        start()
        for _ in range(300):
            mujoco.mj_step(model, data)

    def take() -> None:
        start()
        for _ in range(300):
            mujoco.mj_step(model, data)
            viewer.sync()

    with launch_passive(model, data) as viewer:
        take()
        assert ratio(take_bare, take, viewer) < MOST
        slow = []
        for _ in range(TRIES):
            calls.clear()
            for _ in range(2000):
                mujoco.mj_step(model, data)
                began = time.perf_counter()
                viewer.sync()
                calls.append(time.perf_counter() - began)
            slow.append(np.quantile(calls, [0.5, 0.99]) / [10e-6, 1e-3])
        print(f"sync, of what it may take: {np.min(slow, axis=0)}")
        assert (np.min(slow, axis=0) < 1).all()


def large_model(megabytes: float) -> mujoco.MjModel:
    """Three boxes on a floor, with contact sensors, and pictures that take some memory."""
    width = round((megabytes * 1e6 / 9) ** 0.5)
    spec = mujoco.MjSpec()
    spec.worldbody.add_geom(name="floor", type=mujoco.mjtGeom.mjGEOM_PLANE, size=[5, 5, 0.1])
    for k in range(3):
        spec.add_texture(
            name=f"texture {k}",
            type=mujoco.mjtTexture.mjTEXTURE_2D,
            builtin=mujoco.mjtBuiltin.mjBUILTIN_CHECKER,
            width=width,
            height=width,
        )
        spec.add_material(name=f"material {k}").textures[mujoco.mjtTextureRole.mjTEXROLE_RGB] = f"texture {k}"
        body = spec.worldbody.add_body(pos=[k, 0, 0.2])
        body.add_freejoint()
        body.add_geom(name=f"box {k}", type=mujoco.mjtGeom.mjGEOM_BOX, size=[0.1] * 3, material=f"material {k}")
        spec.add_sensor(
            name=f"contact {k}",
            type=mujoco.mjtSensor.mjSENS_CONTACT,
            objtype=mujoco.mjtObj.mjOBJ_GEOM,
            objname="floor",
            reftype=mujoco.mjtObj.mjOBJ_GEOM,
            refname=f"box {k}",
            intprm=[0b11, 0, 4],
        )
    return spec.compile()


@pytest.mark.alone
def test_a_large_model_opens_in_five_seconds() -> None:
    """Of processor time, all of it in both processes, which is more than what passes on an idle machine."""
    model = large_model(megabytes=101)
    assert mujoco.mj_sizeModel(model) > 100e6
    data, began = mujoco.MjData(model), time.process_time()
    with launch_passive(model, data) as viewer:
        ours = time.process_time() - began
        fields = Path(f"/proc/{viewer._process.pid}/stat").read_text().rpartition(")")[2].split()
        theirs = sum(map(int, fields[11:13])) / os.sysconf("SC_CLK_TCK")
        mujoco.mj_step(model, data)
        viewer.sync()
    print(f"processor time until a model of 100 MB is shown: {ours:.2f} s here, {theirs:.2f} s of the window")
    assert ours + theirs < 5
