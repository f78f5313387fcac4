"""Episodes of a user's loop in its window: what ended them, and what stays of each."""

from pathlib import Path
from time import monotonic, sleep
from typing import Any

import gymnasium
import mujoco
import numpy as np
import pytest
from contact_viewer import launch_passive, open_engine
from contact_viewer.gymnasium import ContactViewer
from contact_viewer.window.window import Window

from ..window.driver import screenshot, wait
from .loops import DrivenViewer, driven_argument

BOX = """
<mujoco><option timestep="0.005"><flag autoreset="{reset}"/></option><worldbody>
  <geom name="floor" type="plane" size="3 3 0.1"/>
  <body name="box" pos="0 0 0.1"><freejoint name="root"/><geom name="box" type="box" size=".1 .1 .1" mass="1"/></body>
</worldbody><sensor><contact name="touch" geom1="floor" geom2="box"/></sensor></mujoco>"""


def read_episodes(ctx: Any, window: Window) -> Any:
    """In the window's process: number, steps, return and end of each episode, and what is shown."""
    session = window.app.session
    wait(ctx, lambda: [each.ending for each in session.episodes][-2:-1] != [] and len(session.episodes) >= 4)
    ctx.yield_(3)
    screenshot(ctx, Path(driven_argument()).with_suffix(".png"))
    return [(each.number, each.steps, each.total, each.ending) for each in session.episodes]


def test_episodes_of_gymnasium_have_their_length_return_and_end(tmp_path: Path) -> None:
    env = gymnasium.make("Hopper-v5", max_episode_steps=20)
    wrapper = ContactViewer(env, window=False)
    inner: Any = env.unwrapped
    driven = DrivenViewer(
        inner.model, inner.data, read_episodes, tmp_path, str(tmp_path / "e.png"), every_step=True, wait=True
    )
    wrapper.viewer = driven.viewer
    expected = []
    with driven:
        for seed in range(3):
            wrapper.reset(seed=seed)
            steps, total, ended = 0, 0.0, "truncated"
            while True:
                action = np.full(3, 1.0) if seed != 1 else np.zeros(3)
                _, reward, terminated, truncated, _ = wrapper.step(action)
                steps, total = steps + 4, total + float(reward)
                if terminated or truncated:
                    ended = "terminated" if terminated else "truncated"
                    break
            expected.append((steps, pytest.approx(total), ended))
        wrapper.reset(seed=9)
        while driven.viewer.is_running():
            pass
    found = [tuple(each[1:]) for each in driven.result if each[1] > 1][:3]
    assert found == expected
    assert {"truncated", "terminated"} >= {each[2] for each in expected}


def see_trouble(ctx: Any, window: Window) -> Any:
    """In the window's process: what is said and shown when the loop's simulation goes bad."""
    session = window.app.session
    wait(ctx, lambda: session.paused)
    ctx.yield_(3)
    history = session.history
    assert history is not None
    shown = (history.current, history.last, float(session.engine.data.qpos[2]), session.episode_number)
    notices = [notice.text for notice in window.app.notices.items]
    session.paused = False
    return shown, notices


@pytest.mark.parametrize("reset", ["enable", "disable"])
def test_steps_before_an_explosion_stay_and_its_cause_is_named(tmp_path: Path, reset: str) -> None:
    model = mujoco.MjModel.from_xml_string(BOX.format(reset=reset))
    data = mujoco.MjData(model)
    heights = []
    driven = DrivenViewer(model, data, see_trouble, tmp_path, every_step=True, wait=True)
    with driven as viewer:
        step = 0
        while viewer.is_running():
            if step == 100:
                data.qvel[1] = np.nan if reset == "disable" else 1e12
            mujoco.mj_step(model, data)
            viewer.sync()
            heights.append(float(data.qpos[2]))
            step += 1
    (current, last, height, number), notices = driven.result
    assert (current, last, number) == (100, 100, 1)
    assert height == heights[99]
    assert len(notices) == 1
    assert "the velocity of box (joint root)" in notices[0]
    assert "0.500 s" in notices[0]
    assert "floor × box" in notices[0]


@pytest.mark.parametrize("wait", [True, False])
def test_a_loop_that_nobody_watches_goes_on_after_an_explosion(tmp_path: Path, wait: bool) -> None:
    model = mujoco.MjModel.from_xml_string(BOX.format(reset="enable"))
    data = mujoco.MjData(model)
    with launch_passive(model, data, serve=True, wait=wait, every_step=True) as viewer:
        for step in range(20):
            if step == 10:
                data.qvel[1] = 1e12
            mujoco.mj_step(model, data)
            viewer.sync()
        until = monotonic() + 1.0
        while monotonic() < until:
            assert not viewer.is_paused
            sleep(0.02)
        for _ in range(30):
            mujoco.mj_step(model, data)
            viewer.sync()
        viewer.save_run(tmp_path / "run.cvrun")
    log = open_engine(tmp_path / "run.cvrun").log
    assert log is not None
    assert log.times[-1] == pytest.approx(data.time)


def test_the_last_episodes_are_saved(tmp_path: Path) -> None:
    model = mujoco.MjModel.from_xml_string(BOX.format(reset="enable"))
    data = mujoco.MjData(model)
    driven = DrivenViewer(model, data, wait_for_the_file, tmp_path, str(tmp_path / "run.cvrun"), wait=True)
    with driven as viewer:
        for length in (10, 20, 30):
            mujoco.mj_resetData(model, data)
            viewer.sync()
            for _ in range(length):
                mujoco.mj_step(model, data)
                viewer.sync()
        saved = viewer.save_run(tmp_path / "run.cvrun", episodes=3)
        assert saved.steps == 30
        while viewer.is_running():
            pass
    names = sorted(tmp_path.glob("*.cvrun"))
    assert [path.name for path in names] == ["run.cvrun", "run.episode1.cvrun", "run.episode2.cvrun"]
    logs = [open_engine(name).log for name in names]
    lengths = [round((log.times[-1] - log.times[0]) / 0.005) for log in logs if log is not None]
    assert lengths == [30, 10, 20]


def wait_for_the_file(ctx: Any, window: Window) -> None:
    """In the window's process."""
    wait(ctx, Path(driven_argument()).exists)
    ctx.yield_(20)
