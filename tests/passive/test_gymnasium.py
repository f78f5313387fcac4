"""Gymnasium's own environments in the wrapper, against the same environments stepped bare."""

import copy
import pickle
import subprocess
import sys
import time
from collections.abc import Callable, Iterator
from functools import partial
from pathlib import Path
from typing import Any

import av
import contact_viewer
import gymnasium
import mujoco
import numpy as np
import pytest
from contact_viewer import open_engine
from contact_viewer.errors import RecordingError, SceneError
from contact_viewer.gymnasium import ContactViewer, show_one
from contact_viewer.passive.loop_steps import LoopSteps
from contact_viewer.passive.viewer import PassiveViewer
from contact_viewer.window.window import Window
from imgui_bundle import imgui

from ..engines.mujoco.arriving import forces
from ..window.driver import count_green, wait
from .loops import DrivenViewer, driven_argument, press

STEPS = 100
"""Of an environment; five of the physics each."""


def make(name: str) -> gymnasium.Env[Any, Any]:
    return gymnasium.make(name, terminate_when_unhealthy=False)


def actions(env: gymnasium.Env[Any, Any], count: int = STEPS) -> Iterator[Any]:
    env.action_space.seed(7)
    for _ in range(count):
        yield env.action_space.sample()


def stepped_bare(name: str, after_step: Callable[[Any, Any], Any], steps: int = STEPS) -> list[list[Any]]:
    """What is seen in the loop after each physics step, by step of the environment; the first is that of the reset."""
    env = make(name)
    inner: Any = env.unwrapped
    seen: list[list[Any]] = []

    def step_one_by_one(ctrl: Any, count: int) -> None:
        inner.data.ctrl[:] = ctrl
        for _ in range(count):
            mujoco.mj_step(inner.model, inner.data)
            seen[-1].append(after_step(inner.model, inner.data))
        mujoco.mj_rnePostConstraint(inner.model, inner.data)

    inner._step_mujoco_simulation = step_one_by_one
    env.reset(seed=3)
    seen.append([after_step(inner.model, inner.data)])
    for action in actions(env, steps):
        seen.append([])
        env.step(action)
    return seen


def see_each_step(ctx: Any, window: Window) -> Any:
    """In the window's process: every step of the history, compared with what the loop had."""
    session = window.app.session
    history = session.history
    assert history is not None
    expected = pickle.loads(Path(driven_argument()).read_bytes())
    wait(ctx, lambda: history.last >= len(expected), 2000)
    assert isinstance(session.source, LoopSteps)
    assert session.source.loop.skipped == 0
    assert session.view.tracking == "torso"
    touching = 0
    for step, contacts in enumerate(expected, 1):
        session.go_to(step)
        assert forces(session.engine.model, session.engine.data) == contacts, step
        touching += bool(contacts)
    return {"steps": history.last, "inexact": len(history.marks), "touching": touching}


@pytest.mark.parametrize("name", ["Ant-v5", "Humanoid-v5"])
def test_a_window_shows_the_contacts_of_every_physics_step(
    name: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    expected = [contacts for step in stepped_bare(name, forces)[1:] for contacts in step]
    (tmp_path / "expected").write_bytes(pickle.dumps(expected))
    driven: list[DrivenViewer] = []

    def launch(model: Any, data: Any, **options: Any) -> PassiveViewer:
        driven.append(DrivenViewer(model, data, see_each_step, tmp_path, str(tmp_path / "expected"), **options))
        return driven[0].viewer

    monkeypatch.setattr("contact_viewer.passive.gymnasium.launch_passive", launch)
    env = ContactViewer(make(name))
    env.reset(seed=3)
    for action in actions(env):
        env.step(action)
        # The window is on the same processor; it would leave steps out.
        time.sleep(0.002)
    with driven[0] as viewer:
        while viewer.is_running():
            time.sleep(0.01)
    env.close()
    assert driven[0].result["steps"] == 5 * STEPS
    assert driven[0].result["inexact"] == 0
    assert driven[0].result["touching"] > 50
    assert mujoco.get_mjcb_control() is None


def see_channels(ctx: Any, window: Window) -> Any:
    """In the window's process: times and values of all channels."""
    channels = window.app.session.simulation.channels
    wait(ctx, lambda: "reward" in channels and len(channels["reward"]) == STEPS)
    return {channel.name.name: (channel.times.tolist(), channel.values.tolist()) for channel in channels}


def test_rewards_info_and_actions_have_curves(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    driven: list[DrivenViewer] = []

    def launch(model: Any, data: Any, **options: Any) -> Any:
        driven.append(DrivenViewer(model, data, see_channels, tmp_path, **options))
        return driven[0].viewer

    monkeypatch.setattr("contact_viewer.passive.gymnasium.launch_passive", launch)
    env = ContactViewer(make("Ant-v5"), channels=("reward", "info/*_position", "action/[01]"), wait=True)
    env.reset(seed=3)
    expected: dict[str, list[float]] = {}
    for action in actions(env):
        _, reward, _, _, info = env.step(action)
        values = {"reward": reward, "action/0": action[0], "action/1": action[1]}
        for name, value in (values | {f"info/{axis}_position": info[f"{axis}_position"] for axis in "xy"}).items():
            expected.setdefault(name, []).append(float(value))
    while env.viewer is not None and env.viewer.is_running():
        time.sleep(0.01)
    with driven[0]:
        env.close()
    assert {name: values for name, (_, values) in driven[0].result.items()} == expected
    times = 0.05 * np.arange(1, STEPS + 1)
    assert all(np.allclose(at, times) for at, _ in driven[0].result.values())


def choose_environments(ctx: Any, window: Window) -> Any:
    """In the window's process: numbers of the environments chosen by key, with a time and the positions seen then."""
    app, seen = window.app, []

    def replaced(before: Any) -> bool:
        return app.session is not before

    for key in (None, imgui.Key.period, imgui.Key.period, imgui.Key.comma):
        before = app.session
        if key is not None:
            press(ctx, key)
            wait(ctx, partial(replaced, before), 2000)
        wait(ctx, lambda: app.session.history is not None and app.session.history.last > 10, 2000)
        engine, session = app.session.engine, app.session
        seen.append((session.env, session.num_envs, session.view.tracking, engine.time, engine.data.qpos.tolist()))
    return seen


@pytest.mark.parametrize("wrapped", [False, True])
def test_environments_of_a_vector_environment_share_a_window(
    wrapped: bool, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    driven: list[DrivenViewer] = []

    def launch(model: Any, data: Any, **options: Any) -> Any:
        driven.append(DrivenViewer(model, data, choose_environments, tmp_path, **options))
        return driven[0].viewer

    monkeypatch.setattr("contact_viewer.passive.gymnasium.launch_passive", launch)
    bare = gymnasium.vector.SyncVectorEnv([lambda: make("Ant-v5")] * 3)
    vector = gymnasium.wrappers.vector.RecordEpisodeStatistics(bare) if wrapped else bare
    envs: Any = ContactViewer(vector, wait=True)
    assert envs is vector
    envs.reset(seed=3)
    envs.action_space.seed(7)
    states: list[set[tuple[float, ...]]] = [set(), set(), set()]

    def after(member: Any, seen: set[tuple[float, ...]]) -> Callable[[Any, int], None]:
        def steps(ctrl: Any, count: int) -> None:
            member.data.ctrl[:] = ctrl
            for _ in range(count):
                mujoco.mj_step(member.model, member.data)
                seen.add((round(member.data.time, 4), *member.data.qpos.tolist()))

        return steps

    for member, seen in zip(bare.envs, states, strict=True):
        inner: Any = member.unwrapped
        inner._step_mujoco_simulation = after(inner, seen)
    viewer = driven[0].viewer
    while viewer.is_running():
        envs.step(envs.action_space.sample())
        time.sleep(0.002)
    with driven[0]:
        envs.close()
    chosen = driven[0].result
    assert [each[:3] for each in chosen] == [[env, 3, "torso"] for env in (0, 1, 2, 1)]
    for env, _, _, now, qpos in chosen:
        assert (round(now, 4), *qpos) in states[env]
    assert len(driven) == 1
    assert mujoco.get_mjcb_control() is None


def test_one_environment_of_those_in_other_processes_is_shown(tmp_path: Path) -> None:
    fns: list[Any] = [lambda: make("Ant-v5")] * 2
    with pytest.raises(
        SceneError, match=r"AsyncVectorEnv: .* in other processes.*AsyncVectorEnv\(show_one\(env_fns, 0\)\)"
    ):
        ContactViewer(gymnasium.vector.AsyncVectorEnv(fns))
    with pytest.raises(SceneError, match="no environment 2; there are 2, from 0 to 1"):
        show_one(fns, 2)
    pattern = tmp_path / "episode-{}.webm"
    envs = gymnasium.vector.AsyncVectorEnv(show_one(fns, 1, record=pattern, size=(160, 90), fps=20, events=True))
    envs.reset(seed=3)
    for _ in range(10):
        info = envs.step(envs.action_space.sample())[-1]
    envs.close()
    assert info["_contacts"].tolist() == [False, True]
    with av.open(str(tmp_path / "episode-0.webm")) as video:
        assert sum(1 for _ in video.decode(video=0)) >= 10


def test_episodes_are_filmed_without_a_display(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    for name in ("DISPLAY", "WAYLAND_DISPLAY"):
        monkeypatch.delenv(name, raising=False)
    env = ContactViewer(
        make("Ant-v5"),
        record=tmp_path / "episode-{}.mp4",
        episode_trigger=lambda episode: episode != 1,
        size=(320, 180),
        fps=25,
    )
    for _ in range(3):
        env.reset(seed=3)
        for action in actions(env, 30):
            env.step(action)
    # The last episode was not over.
    env.close()
    assert {path.name for path in tmp_path.iterdir()} == {"episode-0.mp4", "episode-2.mp4"}
    green = []
    with av.open(str(tmp_path / "episode-0.mp4")) as video:
        for frame in video.decode(video=0):
            green.append(count_green(np.asarray(frame.to_image())[:, 60:]))
    # 30 steps of 0.05 s, the first and the last instant included.
    assert len(green) == 38
    touching = [any(len(contacts) for contacts in step) for step in stepped_bare("Ant-v5", forces, 30)]
    first = touching.index(True)
    assert max(green[: max(1, int(25 * 0.05 * (first - 1)))]) < 10
    assert max(green) > 40
    assert (tmp_path / "episode-2.mp4").stat().st_size > 10_000


KILLED = """
import gymnasium, os, sys, signal
from contact_viewer.gymnasium import ContactViewer
ant = gymnasium.make("Ant-v5", terminate_when_unhealthy=False)
env = ContactViewer(ant, record=sys.argv[1] + "/episode-{}.webm", size=(160, 90), fps=20)
env.reset(seed=3)
for _ in range(20):
    env.step(env.action_space.sample())
os.kill(os.getpid(), signal.SIGKILL)
"""


def test_a_film_is_completed_when_its_program_is_killed(tmp_path: Path) -> None:
    subprocess.run([sys.executable, "-c", KILLED, str(tmp_path)], check=False)
    path, end = tmp_path / "episode-0.webm", time.monotonic() + 90
    while not path.exists():
        assert time.monotonic() < end
        time.sleep(0.05)
    with av.open(str(path)) as video:
        # All of the 20 steps of 0.05 s that were taken.
        assert sum(1 for _ in video.decode(video=0)) >= 20


def touching_pairs(model: Any, data: Any) -> set[frozenset[str]]:
    """Pairs of geoms that touch in the positions after a step: a Runge-Kutta step leaves others in its contact list."""
    scratch = mujoco.MjData(model)
    scratch.qpos[:] = data.qpos
    mujoco.mj_fwdPosition(model, scratch)
    names = [model.geom(i).name or f"geom {i}" for i in range(model.ngeom)]
    return {frozenset(names[geom] for geom in contact.geom) for contact in scratch.contact if contact.dist < -2e-8}


def test_events_of_the_steps_are_in_the_info() -> None:
    """A step shows the contacts of the positions from which it starts, as contact sensors do."""
    expected: list[set[tuple[str, frozenset[str]]]] = []
    before: set[frozenset[str]] = set()
    start: set[frozenset[str]] = set()
    for step in stepped_bare("Ant-v5", touching_pairs):
        expected.append(set())
        for pairs in step:
            expected[-1] |= {("begin", pair) for pair in start - before} | {("end", pair) for pair in before - start}
            before, start = start, pairs
    env = ContactViewer(make("Ant-v5"), events=True, window=False)
    _, info = env.reset(seed=3)
    assert info["contacts"] == []
    seen, moves = [], list[str]()
    for action in actions(env):
        info = env.step(action)[-1]
        assert "reward_forward" in info
        touches = [event for event in info["contacts"] if event["kind"] in ("begin", "end")]
        moves += [event["kind"] for event in info["contacts"] if event not in touches]
        seen.append({(event["kind"], frozenset(event["geoms"])) for event in touches})
        assert all(event["time"] <= env.unwrapped.data.time for event in info["contacts"])  # type: ignore[attr-defined]
    env.close()
    assert seen == expected[1:]
    assert "slip_begin" in moves
    assert sum(map(len, seen)) > 15


def test_a_second_environment_can_be_made_while_the_first_is_shown() -> None:
    env = ContactViewer(make("Ant-v5"), events=True, window=False)
    env.reset(seed=3)
    env.step(env.action_space.sample())
    evaluation = make("Hopper-v5")
    evaluation.reset(seed=1)
    copied = copy.deepcopy(env.unwrapped)
    copied.reset(seed=3)
    spec = mujoco.MjSpec.from_string(
        "<mujoco><worldbody><body><freejoint/><geom size='0.1'/></body></worldbody></mujoco>"
    )
    assert spec.compile().nq == 7
    open_engine("quadruped").step(1)
    # As when a cell of a notebook is run again: the first one is still there.
    again = ContactViewer(make("Ant-v5"), events=True, window=False)
    observations = []
    for each in (env, again):
        each.reset(seed=3)
        for action in actions(each, 20):
            observations.append(each.step(action)[0])
            evaluation.step(evaluation.action_space.sample())
            copied.step(action)
        each.close()
    assert np.array_equal(observations[:20], observations[20:])
    assert mujoco.get_mjcb_control() is None


class MakesAgain(gymnasium.Wrapper[Any, Any, Any, Any]):
    """Makes its data again in every second reset, and its model and data in the others."""

    def reset(self, **options: Any) -> tuple[Any, dict[str, Any]]:
        inner: Any = self.unwrapped
        self.resets = getattr(self, "resets", 0) + 1
        if self.resets % 2:
            inner.model = mujoco.MjModel.from_xml_path(inner.fullpath)
        inner.data = mujoco.MjData(inner.model)
        return self.env.reset(**options)


@pytest.mark.parametrize("serve", [False, True])
def test_an_environment_that_makes_its_data_again_keeps_its_window(serve: bool, tmp_path: Path) -> None:
    env = ContactViewer(MakesAgain(make("Ant-v5")), serve=serve, wait=True)
    seen = set()
    for episode in range(4):
        env.reset(seed=episode)
        assert env.viewer is not None
        seen.add((id(env.viewer), env.viewer._process.pid, env.viewer.url))
        for action in actions(env, 12):
            env.step(action)
        # All physics steps of this episode, and only those.
        saved = env.viewer.save_run(tmp_path / f"{episode}.cvrun")
        assert (saved.steps, saved.skipped, saved.forgotten) == (60, 0, 0)
        states = open_run(tmp_path / f"{episode}.cvrun")
        assert states == pytest.approx(env.unwrapped.data.qpos, abs=0)  # type: ignore[attr-defined]
    assert len(seen) == 1
    env.close()
    assert mujoco.get_mjcb_control() is None


def open_run(path: Path) -> Any:
    """The positions with which a saved run ends."""
    engine = open_engine(path)
    assert engine.log is not None
    logged = engine.resimulate(engine.log)
    while not logged.done:
        logged.next_step()
    return engine.data.qpos


@pytest.mark.parametrize("wrapped", ["before the first reset", "while it is shown"])
def test_a_wrapper_can_be_pickled_and_copied(wrapped: str) -> None:
    env = ContactViewer(make("Ant-v5"), events=True, window=False)
    if wrapped == "while it is shown":
        env.reset(seed=3)
    for other in (pickle.loads(pickle.dumps(env)), copy.deepcopy(env)):
        other.reset(seed=3)
        assert "contacts" in other.step(other.action_space.sample())[-1]
        other.close()
    env.close()


def test_a_misspelt_option_is_refused_at_construction() -> None:
    with pytest.raises(TypeError, match=r"ContactViewer takes no 'sreve'; .*serve"):
        ContactViewer(make("Ant-v5"), sreve=True)
    with pytest.raises(TypeError, match="takes no 'every_step'"):
        ContactViewer(make("Ant-v5"), every_step=False)


def test_it_is_a_standard_wrapper() -> None:
    env = ContactViewer(make("Ant-v5"), window=False, events=True)
    assert env.spec is not None
    again = gymnasium.make(env.spec)
    again.reset(seed=0)
    assert again.step(again.action_space.sample())[-1]["contacts"] == []
    again.close()
    assert contact_viewer.gymnasium.ContactViewer is ContactViewer


def test_what_cannot_be_shown_or_filmed_is_refused_at_once(tmp_path: Path) -> None:
    with pytest.raises(SceneError, match="not a MuJoCo environment"):
        ContactViewer(gymnasium.make("CartPole-v1"))
    for record, message in (
        ("episode.mp4", "put {} where its number goes"),
        ("episode-{}.avi", "unknown suffix"),
        ("nowhere/episode-{}.mp4", "no such folder"),
    ):
        with pytest.raises(RecordingError, match=message):
            ContactViewer(make("Ant-v5"), record=tmp_path / record)
    with pytest.raises(SceneError, match="no camera named 'side'; the model has: track"):
        ContactViewer(make("Ant-v5"), camera="side")
