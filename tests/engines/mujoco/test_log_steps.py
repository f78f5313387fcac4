"""Steps of logs, taken again: compared with the loop that wrote them, force by force."""

from pathlib import Path
from typing import Any

import mujoco
import numpy as np
import pytest
from contact_viewer import open_engine
from contact_viewer.engines.contract import Engine
from contact_viewer.engines.logged_steps import CLOSE, EXACT, UNKNOWN, LoggedSteps
from contact_viewer.engines.mujoco.engine import MujocoEngine
from contact_viewer.engines.registry import open_log
from contact_viewer.errors import LogEnd
from contact_viewer.session.session import Session
from contact_viewer.session.simulation import Simulation
from contact_viewer.settings import ViewState
from mujoco import rollout
from numpy.typing import NDArray

STEPS = 240
HELD = 10
"""Steps for which a control is held."""
Array = NDArray[Any]


class Run:
    """A loop on the bare scene, and what it logged."""

    def __init__(self, scene: str) -> None:
        path = open_engine(scene).path
        self.model = model = mujoco.MjModel.from_xml_path(str(path))
        data = mujoco.MjData(model)
        rng = np.random.default_rng(1)
        self.controls = np.repeat(rng.uniform(-1, 1, (STEPS // HELD, model.nu)) * _reach(model), HELD, axis=0)
        self.forces: dict[int, Array] = {}
        """Contact forces of each step by its number, (contacts, 6)."""
        rows: dict[str, list[Any]] = {"time": [], "qpos": [], "qvel": [], "ctrl": []}
        for step in range(STEPS):
            data.ctrl[:] = self.controls[step]
            for name, values in rows.items():
                values.append(np.copy(getattr(data, name)))
            mujoco.mj_step(model, data)
            self.forces[step + 1] = contact_forces(model, data)
        self.log = {name: np.array(values) for name, values in rows.items()}


def _reach(model: Any) -> Array:
    limited = model.actuator_ctrlrange[:, 1]
    return np.where(limited > 0, limited, 0.3)


def contact_forces(model: Any, data: Any) -> Array:
    forces = np.zeros((data.ncon, 6))
    for contact, force in enumerate(forces):
        mujoco.mj_contactForce(model, data, contact, force)
    return forces


@pytest.fixture(scope="module")
def run() -> Run:
    return Run("gripper")


class Look:
    """Contact forces after every step, by its number."""

    def __init__(self) -> None:
        self.forces: dict[int, Array] = {}

    def after_step(self, engine: Engine) -> None:
        self.forces[round(engine.time / engine.timestep)] = contact_forces(engine.model, engine.data)

    def after_reset(self, engine: Engine) -> None:
        """Nothing."""


def opened(path: Path, **arrays: Any) -> MujocoEngine:
    np.savez(path / "log.npz", **arrays)
    engine = open_engine("gripper")
    open_log(engine, path / "log.npz")
    return engine


def logged(engine: Engine) -> LoggedSteps:
    assert engine.logged is not None
    return engine.logged


def taken(engine: Engine) -> dict[int, Array]:
    simulation, look = Simulation(engine), Look()
    simulation.observers.append(look)
    with pytest.raises(LogEnd):
        simulation.step(10**6)
    return look.forces


def assert_same(forces: dict[int, Array], expected: dict[int, Array], steps: range) -> None:
    for step in steps:
        assert forces[step].tobytes() == expected[step].tobytes(), step


def test_states_and_controls_of_every_step_are_exact(run: Run, tmp_path: Path) -> None:
    engine = opened(tmp_path, **run.log)
    assert_same(taken(engine), run.forces, range(1, STEPS))
    assert logged(engine).summary() == f"all {STEPS - 1} steps are exact"


def test_controls_logged_after_their_step_are_exact_too(run: Run, tmp_path: Path) -> None:
    shifted = np.concatenate([run.log["ctrl"][:1], run.log["ctrl"][:-1]])
    engine = opened(tmp_path, **{**run.log, "ctrl": shifted})
    assert_same(taken(engine), run.forces, range(1, STEPS))
    assert logged(engine).summary() == f"all {STEPS - 1} steps are exact"


def test_a_rollout_is_exact(run: Run, tmp_path: Path) -> None:
    model = run.model
    kind = mujoco.mjtState.mjSTATE_FULLPHYSICS
    start = np.empty(mujoco.mj_stateSize(model, kind))
    mujoco.mj_getState(model, mujoco.MjData(model), start, kind)
    states, _ = rollout.rollout(model, mujoco.MjData(model), start, run.controls[None])
    engine = opened(tmp_path, state=states, control=run.controls[None], initial_state=start)
    assert_same(taken(engine), run.forces, range(1, STEPS + 1))
    assert logged(engine).summary() == f"all {STEPS} steps are exact"


def test_steps_that_a_log_leaves_out_are_exact(run: Run, tmp_path: Path) -> None:
    engine = opened(tmp_path, **{name: values[::HELD] for name, values in run.log.items()})
    assert_same(taken(engine), run.forces, range(1, STEPS - HELD))
    assert logged(engine).verdicts.first is None


def test_rounded_states_are_close_and_say_how_close(run: Run, tmp_path: Path) -> None:
    rounded = {name: values.astype(np.float32) for name, values in run.log.items()}
    engine = opened(tmp_path, **rounded)
    forces = taken(engine)
    verdicts = logged(engine).verdicts
    assert verdicts.close == STEPS - 1
    assert 0 < verdicts.largest < 1e-4
    for step in range(1, STEPS):
        if forces[step].shape == run.forces[step].shape:
            scale = max(1.0, float(np.abs(run.forces[step]).max(initial=0.0)))
            assert np.abs(forces[step] - run.forces[step]).max(initial=0.0) < 1e-3 * scale


@pytest.mark.parametrize("names", [("time", "qpos", "qvel"), ("time", "qpos")])
def test_forces_that_cannot_be_known_are_not_shown(names: tuple[str, ...], run: Run, tmp_path: Path) -> None:
    engine = opened(tmp_path, **{name: run.log[name] for name in names})
    session = Session(engine, ViewState())
    simulation, history = session.simulation, session.history
    assert history is not None
    touching: list[int] = []
    for _ in range(1, STEPS):
        simulation.step()
        batch = session.engine.contacts("block_on_pedestal")
        assert batch.force is not None
        if batch.filled.any():
            touching.append(history.last)
            assert np.isnan(batch.force[batch.filled]).all()
            assert batch.pos is not None
            assert np.isfinite(batch.pos[batch.filled]).all()
        assert session.engine.data.qpos.tobytes() == run.log["qpos"][history.last].tobytes()
    assert len(touching) > 50
    assert logged(engine).verdicts.unknown == STEPS - 1
    for step in touching[:: len(touching) // 5]:
        history.go_to(step)
        batch = session.engine.contacts("block_on_pedestal")
        assert batch.force is not None
        assert np.isnan(batch.force[batch.filled]).all()
        assert np.isnan(contact_forces(engine.model, engine.data)[:, 0]).all()


def test_a_log_that_was_edited_says_where(run: Run, tmp_path: Path) -> None:
    edited = {name: values.copy() for name, values in run.log.items()}
    edited["qpos"][100] = edited["qpos"][90]
    engine = opened(tmp_path, **edited)
    forces = taken(engine)
    verdicts = logged(engine).verdicts
    band = verdicts.band(0, len(verdicts), 10**6)
    assert np.flatnonzero(band == UNKNOWN).tolist() == [100, 101]
    assert "the first that is not exact is step 100, at 0.2 s" in logged(engine).summary()
    # What the solver started from is not in the log: a few steps are close, then all is exact again.
    assert not band[:100].any()
    assert not band[110:].any()
    assert_same(forces, run.forces, range(110, STEPS))


def test_the_band_shows_the_worst_of_a_column(run: Run, tmp_path: Path) -> None:
    mixed = {name: values.copy() for name, values in run.log.items()}
    mixed["qpos"][60:120] = mixed["qpos"][60:120].astype(np.float32)
    mixed["qpos"][180] = mixed["qpos"][170]
    engine = opened(tmp_path, **mixed)
    taken(engine)
    verdicts = logged(engine).verdicts
    assert verdicts.band(0, STEPS, 4).tolist() == [EXACT, CLOSE, CLOSE, UNKNOWN]
    assert "close: forces are right to about" in verdicts.describe(80)
    assert "not reached" in verdicts.describe(180)


def test_going_back_continues_with_the_same_steps(run: Run, tmp_path: Path) -> None:
    every_fourth = {name: values[:: HELD // 2] for name, values in run.log.items()}
    engine = opened(tmp_path, **every_fourth)
    session = Session(engine, ViewState())
    simulation, look = session.simulation, Look()
    simulation.step(100)
    simulation.observers.append(look)
    session.go_to(43)
    with pytest.raises(LogEnd):
        simulation.step(10**6)
    assert_same(look.forces, run.forces, range(44, STEPS - HELD // 2))
    assert logged(engine).verdicts.first is None


def test_read_ahead_leaves_the_shown_step_alone(run: Run, tmp_path: Path) -> None:
    engine = opened(tmp_path, **run.log)
    session = Session(engine, ViewState())
    history = session.history
    assert history is not None
    session.paused = True
    for _ in range(1000):
        session.advance(0.0)
        assert history.current == 0
        assert session.engine.time == 0.0
        if not session.reads_ahead:
            break
    assert logged(engine).done
    assert history.last == STEPS - 1
    session.go_to(77)
    assert contact_forces(engine.model, engine.data).tobytes() == run.forces[77].tobytes()
