"""Steps of logs, re-simulated and compared with the loop that wrote them, force by force."""

import re
from pathlib import Path
from typing import Any

import mujoco
import numpy as np
import pytest
from contact_viewer import open_engine
from contact_viewer.engines.contract import Engine
from contact_viewer.engines.logged_steps import CLOSE, EXACT, UNKNOWN, LoggedSteps
from contact_viewer.engines.registry import open_log
from contact_viewer.engines.steps import Step
from contact_viewer.errors import LogEnd
from contact_viewer.recording.tables import NO_FRAME, ContactRows
from contact_viewer.sensors.signals import Signal
from contact_viewer.session.session import Session
from contact_viewer.session.simulation import LogSteps, Simulation
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

    def after_step(self, step: Step) -> None:
        engine = step.engine
        self.forces[round(engine.time / engine.timestep)] = contact_forces(engine.model, engine.data)

    def after_reset(self, engine: Engine) -> None:
        """Nothing."""


def opened(path: Path, scene: Any = "gripper", **arrays: Any) -> Simulation:
    np.savez(path / "log.npz", **arrays)
    engine = open_engine(scene)
    open_log(engine, path / "log.npz")
    return Simulation(engine)


def logged(simulation: Simulation) -> LoggedSteps:
    assert isinstance(simulation.source, LogSteps)
    return simulation.source.recorded


def taken(simulation: Simulation) -> dict[int, Array]:
    look = Look()
    simulation.observers.append(look)
    with pytest.raises(LogEnd):
        simulation.step(10**6)
    return look.forces


def assert_same(forces: dict[int, Array], expected: dict[int, Array], steps: range) -> None:
    for step in steps:
        assert forces[step].tobytes() == expected[step].tobytes(), step


def test_states_and_controls_of_every_step_are_exact(run: Run, tmp_path: Path) -> None:
    simulation = opened(tmp_path, **run.log)
    assert_same(taken(simulation), run.forces, range(1, STEPS))
    assert logged(simulation).summary() == f"all {STEPS - 1} steps are exact"


def test_controls_logged_after_their_step_are_exact_too(run: Run, tmp_path: Path) -> None:
    shifted = np.concatenate([run.log["ctrl"][:1], run.log["ctrl"][:-1]])
    simulation = opened(tmp_path, **{**run.log, "ctrl": shifted})
    assert_same(taken(simulation), run.forces, range(1, STEPS))
    assert logged(simulation).summary() == f"all {STEPS - 1} steps are exact"


def test_a_rollout_is_exact(run: Run, tmp_path: Path) -> None:
    model = run.model
    kind = mujoco.mjtState.mjSTATE_FULLPHYSICS
    start = np.empty(mujoco.mj_stateSize(model, kind))
    mujoco.mj_getState(model, mujoco.MjData(model), start, kind)
    states, _ = rollout.rollout(model, mujoco.MjData(model), start, run.controls[None])
    simulation = opened(tmp_path, state=states, control=run.controls[None], initial_state=start)
    assert_same(taken(simulation), run.forces, range(1, STEPS + 1))
    assert logged(simulation).summary() == f"all {STEPS} steps are exact"


def test_steps_that_a_log_leaves_out_are_exact(run: Run, tmp_path: Path) -> None:
    simulation = opened(tmp_path, **{name: values[::HELD] for name, values in run.log.items()})
    assert_same(taken(simulation), run.forces, range(1, STEPS - HELD))
    assert logged(simulation).exactness.first is None


def test_rounded_states_are_close_and_say_how_close(run: Run, tmp_path: Path) -> None:
    rounded = {name: values.astype(np.float32) for name, values in run.log.items()}
    simulation = opened(tmp_path, **rounded)
    forces = taken(simulation)
    exactness = logged(simulation).exactness
    assert exactness.close == STEPS - 1
    assert 0 < exactness.largest < 1e-3
    for step in range(1, STEPS):
        if forces[step].shape == run.forces[step].shape:
            scale = max(1.0, float(np.abs(run.forces[step]).max(initial=0.0)))
            assert np.abs(forces[step] - run.forces[step]).max(initial=0.0) < 1e-3 * scale


@pytest.mark.parametrize("scene", ["gripper", "hand", "quadruped"])
def test_contact_forces_of_close_steps_are_as_right_as_is_said(scene: str, tmp_path: Path) -> None:
    """Every contact force of a step is within what is said of it, in 99 of 100 steps."""
    run, rng = Run(scene), np.random.default_rng(2)
    rounded = {name: values.astype(np.float32) for name, values in run.log.items()}
    logs: list[dict[str, Any]] = [rounded, {name: values[::HELD] for name, values in rounded.items()}]
    for noise in (1e-4, 1e-3, 1e-2):
        controls = run.log["ctrl"] * rng.normal(1.0, noise, run.log["ctrl"].shape)
        logs.append({**run.log, "ctrl": controls})
    within: list[bool] = []
    for log in logs:
        simulation = opened(tmp_path, scene, **log)
        forces, exactness = taken(simulation), logged(simulation).exactness
        for step in range(1, len(exactness)):
            said = re.search(r"about (.*) % of the step's largest", exactness.describe(step))
            if said and len(run.forces[step]) == len(forces[step]) > 0:
                largest = np.linalg.norm(run.forces[step][:, :3], axis=1).max()
                error = np.linalg.norm((forces[step] - run.forces[step])[:, :3], axis=1).max()
                within.append(bool(100 * error <= float(said[1]) * largest))
    assert len(within) > STEPS
    assert np.mean(within) > 0.99


@pytest.mark.parametrize("names", [("time", "qpos", "qvel"), ("time", "qpos")])
def test_forces_that_cannot_be_known_are_not_shown(names: tuple[str, ...], run: Run, tmp_path: Path) -> None:
    simulation = opened(tmp_path, **{name: run.log[name] for name in names})
    session = Session(simulation.source, ViewState())
    simulation, history, engine = session.simulation, session.history, session.engine
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
    assert logged(simulation).exactness.unknown == STEPS - 1
    for step in touching[:: len(touching) // 5]:
        history.go_to(step)
        batch = session.engine.contacts("block_on_pedestal")
        assert batch.force is not None
        assert np.isnan(batch.force[batch.filled]).all()
        assert np.isnan(contact_forces(engine.model, engine.data)[:, 0]).all()


@pytest.mark.parametrize("compiled", [False, True])
def test_a_sensor_that_has_lifted_off_reads_unknown_where_steps_are_not_reached(compiled: bool, tmp_path: Path) -> None:
    """Forces are of the step that led to a state, in which nothing touches any more."""
    path = open_engine("bounce").path
    model = mujoco.MjModel.from_xml_path(str(path))
    data, rows = mujoco.MjData(model), []
    for _ in range(400):
        rows.append((data.time, data.qpos.copy(), data.qvel.copy()))
        mujoco.mj_step(model, data)
    names = ("time", "qpos", "qvel")
    log: dict[str, Any] = {name: np.array(values) for name, values in zip(names, zip(*rows, strict=True), strict=True)}
    # From there on nothing leads to the next state.
    log["qvel"][200:] *= 1.5
    np.savez(tmp_path / "log.npz", **log)
    engine = open_engine(model if compiled else "bounce")
    open_log(engine, tmp_path / "log.npz")
    engine.watch_all()
    session = Session(engine, ViewState())
    history, lifted = session.history, 0
    assert history is not None
    for step in range(1, 400):
        session.simulation.step()
        known = logged(session.simulation).exactness.forces_known(step)
        for name in engine.sensors.names:
            assert np.isfinite(engine.get_contact_force_magnitude(name)).all() == known, (step, name)
            assert np.isfinite(session.reading(name).net_force).all() == known
            lifted += not known and not engine.contacts(name).filled.any()
    assert lifted > 100
    history.curves.update()
    for name in history.names[:-1]:
        force = history.curves.values(name, Signal.MAGNITUDE, 0, 400)
        assert np.isfinite(force).tolist() == [
            logged(session.simulation).exactness.forces_known(step) for step in range(400)
        ]
    for step, known in ((60, True), (250, False)):
        session.simulation.go_to(step)
        table = ContactRows(session, 1)
        found: Any = (table.add(step, NO_FRAME) or table.pop_block() or {})["found"]
        touches = [bool(engine.contacts(name).filled.any()) for name in engine.sensors.names]
        assert not all(touches)
        for name, touch in zip(engine.sensors.names, touches, strict=True):
            assert np.isfinite(engine.get_contact_force_magnitude(name)).all() == known
            if not touch and engine.diagnostics is not None:
                why = str(engine.diagnostics.why_zero(name, engine.contacts(name)))
                assert ("its forces are not known" in why) is not known
        assert np.isnan(found).sum() == (0 if known else touches.count(False))


def test_a_log_that_was_edited_says_where(run: Run, tmp_path: Path) -> None:
    edited = {name: values.copy() for name, values in run.log.items()}
    edited["qpos"][100] = edited["qpos"][90]
    simulation = opened(tmp_path, **edited)
    forces = taken(simulation)
    exactness = logged(simulation).exactness
    band = exactness.band(0, len(exactness), 10**6)
    assert np.flatnonzero(band == UNKNOWN).tolist() == [100, 101]
    assert "the first that is not exact is step 100, at 0.2 s" in logged(simulation).summary()
    # What the solver started from is not in the log: a few steps are close, then all is exact again.
    assert not band[:100].any()
    assert not band[110:].any()
    assert_same(forces, run.forces, range(110, STEPS))


def test_the_band_shows_the_worst_of_a_column(run: Run, tmp_path: Path) -> None:
    mixed = {name: values.copy() for name, values in run.log.items()}
    mixed["qpos"][60:120] = mixed["qpos"][60:120].astype(np.float32)
    mixed["qpos"][180] = mixed["qpos"][170]
    simulation = opened(tmp_path, **mixed)
    taken(simulation)
    exactness = logged(simulation).exactness
    assert exactness.band(0, STEPS, 4).tolist() == [EXACT, CLOSE, CLOSE, UNKNOWN]
    assert "close: contact forces are right to about" in exactness.describe(80)
    assert "not reached" in exactness.describe(180)


def test_going_back_continues_with_the_same_steps(run: Run, tmp_path: Path) -> None:
    every_fourth = {name: values[:: HELD // 2] for name, values in run.log.items()}
    simulation = opened(tmp_path, **every_fourth)
    session = Session(simulation.source, ViewState())
    simulation, look = session.simulation, Look()
    simulation.step(100)
    simulation.observers.append(look)
    session.go_to(43)
    with pytest.raises(LogEnd):
        simulation.step(10**6)
    assert_same(look.forces, run.forces, range(44, STEPS - HELD // 2))
    assert logged(simulation).exactness.first is None


def test_read_ahead_leaves_the_shown_step_alone(run: Run, tmp_path: Path) -> None:
    simulation = opened(tmp_path, **run.log)
    session = Session(simulation.source, ViewState())
    history, engine = session.history, session.engine
    assert history is not None
    session.paused = True
    for _ in range(1000):
        session.advance(0.0)
        assert history.current == 0
        assert session.engine.time == 0.0
        if not session.source.reads_ahead:
            break
    assert logged(simulation).done
    assert history.last == STEPS - 1
    session.go_to(77)
    assert contact_forces(engine.model, engine.data).tobytes() == run.forces[77].tobytes()
