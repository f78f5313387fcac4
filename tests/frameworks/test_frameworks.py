"""Frameworks themselves, as users call them: `make test-frameworks` installs them, with two releases of MuJoCo."""

import importlib.util
import os
from collections.abc import Callable
from functools import partial
from pathlib import Path
from typing import Any

import av
import gymnasium
import mujoco
import numpy as np
import pytest
from contact_viewer import launch_passive, open_engine
from contact_viewer.errors import SceneError
from contact_viewer.gymnasium import ContactViewer, show_one

if not os.environ.get("FRAMEWORKS"):
    pytest.skip("run by make test-frameworks", allow_module_level=True)

import stable_baselines3
from stable_baselines3.common.vec_env import DummyVecEnv, SubprocVecEnv, VecNormalize


def make(name: str = "Hopper-v5", **options: Any) -> gymnasium.Env[Any, Any]:
    return gymnasium.make(name, **options)


def makers(count: int, **options: Any) -> list[Callable[[], gymnasium.Env[Any, Any]]]:
    return [partial(make, **options)] * count


def positions_at_end(path: Path) -> Any:
    """Re-simulate a saved run; the positions with which it ends."""
    engine = open_engine(path)
    assert engine.log is not None
    logged = engine.resimulate(engine.log)
    while not logged.done:
        logged.next_step()
    return engine.data.qpos.copy()


def test_the_release_of_mujoco_is_the_one_that_was_asked_for() -> None:
    assert mujoco.__version__.startswith(os.environ["FRAMEWORKS"])


@pytest.mark.parametrize("name", ["Ant-v5", "Hopper-v5", "Humanoid-v5"])
def test_gymnasium_is_not_changed_by_events(name: str) -> None:
    bare, seen = make(name), ContactViewer(make(name), events=True, window=False)
    bare.action_space.seed(7)
    kinds = set()
    first = [env.reset(seed=3)[0] for env in (bare, seen)]
    assert np.array_equal(*first)
    for _ in range(150):
        action = bare.action_space.sample()
        steps = [env.step(action) for env in (bare, seen)]
        assert np.array_equal(steps[0][0], steps[1][0])
        assert steps[0][1:4] == steps[1][1:4]
        kinds |= {event["kind"] for event in steps[1][-1]["contacts"]}
        if steps[0][2]:
            assert np.array_equal(bare.reset(seed=5)[0], seen.reset(seed=5)[0])
    seen.close()
    assert {"begin", "end"} <= kinds


def test_of_a_vector_environment_the_chosen_one_is_saved(tmp_path: Path) -> None:
    bare = gymnasium.vector.SyncVectorEnv(makers(3))
    envs = ContactViewer(bare, serve=True, wait=True, environment=1)
    envs.reset(seed=3)
    for _ in range(5):
        envs.step(envs.action_space.sample())
    inner: Any = bare.envs[1]
    saved = inner.viewer.save_run(tmp_path / "one.cvrun")
    assert np.array_equal(positions_at_end(tmp_path / "one.cvrun"), inner.unwrapped.data.qpos)
    assert saved.steps == 5 * inner.unwrapped.frame_skip
    inner.viewer.env = 2
    for _ in range(4):
        envs.step(envs.action_space.sample())
    other: Any = bare.envs[2]
    assert inner.viewer is None
    saved = other.viewer.save_run(tmp_path / "two.cvrun")
    assert np.array_equal(positions_at_end(tmp_path / "two.cvrun"), other.unwrapped.data.qpos)
    # It is shown from its first step after the choice on.
    assert saved.steps == 3 * other.unwrapped.frame_skip
    envs.close()


def trained(show: Callable[[Any], Any]) -> list[Any]:
    """Train a policy; its parameters."""
    envs = VecNormalize(show(DummyVecEnv(makers(2))))
    learner = stable_baselines3.PPO("MlpPolicy", envs, n_steps=64, batch_size=64, seed=3, device="cpu")
    learner.learn(256)
    envs.close()
    return [value.detach().numpy() for value in learner.policy.parameters()]


def test_stable_baselines3_learns_the_same_with_a_window_and_events() -> None:
    bare = trained(lambda envs: envs)
    shown = trained(lambda envs: ContactViewer(envs, serve=True, wait=False, events=True))
    assert all(np.array_equal(*pair) for pair in zip(bare, shown, strict=True))


def test_one_environment_of_a_subproc_vec_env_is_filmed(tmp_path: Path) -> None:
    with pytest.raises(SceneError, match=r"SubprocVecEnv: .* in other processes"):
        ContactViewer(SubprocVecEnv(makers(2)))
    pattern = tmp_path / "episode-{}.webm"
    envs = SubprocVecEnv(show_one(makers(2), 1, record=pattern, size=(160, 90), fps=20, events=True))
    envs.reset()
    for _ in range(10):
        info = envs.step(np.array([envs.action_space.sample()] * 2))[-1]
    envs.close()
    assert ["contacts" in each for each in info] == [False, True]
    with av.open(str(tmp_path / "episode-0.webm")) as video:
        assert sum(1 for _ in video.decode(video=0)) >= 2


def dm_control_suite() -> Any:
    """Return dm_control's tasks, if they start on this release of MuJoCo."""
    if importlib.util.find_spec("dm_control") is None:
        pytest.skip("dm_control is not installed")
    from dm_control import suite

    try:
        suite.load("walker", "walk")
    except AttributeError as error:
        # Each of its releases pins one of MuJoCo; none that there is starts with 4.0.0.
        if mujoco.__version__ < "4":
            raise
        pytest.skip(f"dm_control does not start with MuJoCo {mujoco.__version__}: {error}")
    return suite


def test_dm_control_is_shown_with_every_physics_step(tmp_path: Path) -> None:
    env = dm_control_suite().load("walker", "walk", task_kwargs={"random": 3})
    env.reset()
    physics, steps = env.physics, 0
    with launch_passive(physics.model, physics.data, every_step=True, serve=True, wait=True) as viewer:
        for _ in range(30):
            before = physics.data.time
            env.step(np.full(env.action_spec().shape, 0.3))
            viewer.sync()
            steps += round((physics.data.time - before) / physics.model.opt.timestep)
        saved = viewer.save_run(tmp_path / "walk.cvrun")
        qpos = physics.data.ptr.qpos.copy()
    assert (saved.steps, saved.skipped) == (steps, 0)
    assert np.array_equal(positions_at_end(tmp_path / "walk.cvrun"), qpos)
