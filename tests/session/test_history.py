"""A simulation that returns to its past, against MuJoCo stepping straight on."""

import time
from collections.abc import Callable
from pathlib import Path
from typing import Any

import mujoco
import numpy as np
import psutil
import pytest
from contact_viewer import open_engine
from contact_viewer.assets import bundled_scenes
from contact_viewer.engines.abilities import ArrivedStep, StepKind
from contact_viewer.errors import UnstableError
from contact_viewer.session.simulation import Simulation
from contact_viewer.settings import Moment

from ..scenes import ROBOT
from .runs import BUDGET, Run

SETTINGS = {
    "newton": {"option": 'cone="elliptic"'},
    "pgs": {"option": 'solver="PGS" iterations="5" noslip_iterations="2"'},
    "cg": {"option": 'solver="CG" iterations="4"'},
    "rk4": {"option": 'integrator="RK4"'},
    "implicit": {"option": 'integrator="implicitfast"'},
    "delayed sensor": {"sensor": 'nsample="10" delay="0.01" interp="linear"'},
    "sampled sensor": {"sensor": 'nsample="4" interval="0.01 0"'},
    "delayed actuator": {"actuator": 'nsample="10" delay="0.01"'},
    "sleep": {"flag": 'sleep="enable"'},
}
"""Solvers stop before they converge, so that the warm start shows in the forces."""


def robot(tmp_path: Path, setting: str) -> Run:
    """A robot that writhes beside a heap."""
    path = tmp_path / "robot.xml"
    parts = dict.fromkeys(("option", "flag", "actuator", "sensor"), "") | SETTINGS[setting]
    path.write_text(ROBOT.format(**parts))
    engine = open_engine(path)
    engine.data.ctrl[:] = 0.4
    return Run(engine)


def shown(run: Run) -> bytes:
    """All that a user can see of the present step, to the last bit."""
    data = run.engine.data
    contact = data.contact
    arrays = [
        *(data.qpos, data.qvel, data.act, data.ctrl, data.qacc, data.xpos, data.sensordata, [data.time]),
        *(contact.pos, contact.frame, contact.dist, contact.geom, contact.friction, data.efc_force),
    ]
    return b"".join(np.asarray(array).tobytes() for array in arrays)


@pytest.mark.parametrize("setting", SETTINGS)
def test_playing_on_from_the_past_repeats_the_run_bit_for_bit(tmp_path: Path, setting: str) -> None:
    run = robot(tmp_path, setting)
    run.step(237)
    original = []
    while run.current < 1900:
        # The window steps in batches of any size.
        run.step(1 + run.current % 11)
        original.append((run.current, shown(run)))
    # From a deep, a recent and a very recent step, one of them in the middle of a batch.
    for back in (original[0][0], original[len(original) // 3][0] - 1, original[-3][0]):
        assert run.go_to(back)
        if back == original[0][0]:
            assert len(original) > 300
            assert original[-1][0] - back > 1000
        for step, instant in original:
            if step > back:
                run.step(step - run.current)
                assert shown(run) == instant, f"step {step} differs after going back to {back}"


@pytest.mark.parametrize("scene", [scene.name for scene in bundled_scenes()])
def test_every_step_of_every_bundled_scene_can_be_seen_again(scene: str) -> None:
    run = Run(open_engine(scene))
    instants = [shown(run)]
    for _ in range(150):
        run.step(1 + run.current % 3)
        instants.append(shown(run))
    steps = np.cumsum([0, *(1 + n % 3 for n in _currents(150))])
    order = np.random.default_rng(5).permutation(len(steps))
    for i in order:
        assert run.go_to(int(steps[i]))
        assert shown(run) == instants[i]
        assert run.engine.time == pytest.approx(run.history.time(run.current), abs=1e-12)
        assert run.history.step_at(run.engine.time) == run.current


def _currents(count: int) -> list[int]:
    currents = [0]
    for _ in range(count - 1):
        currents.append(currents[-1] + 1 + currents[-1] % 3)
    return currents


def test_rows_are_the_engines_arrays(tmp_path: Path) -> None:
    run = robot(tmp_path, "newton")
    arrays = {}
    for _ in range(400):
        run.step()
        arrays[run.current] = {name: run.engine.contacts(name) for name in ("robot", "floor")}
    for name in ("robot", "floor"):
        recorded: Any = run.contacts(name, 1, 401)
        for field in ("found", "filled", "force", "pos", "dist", "normal", "tangent0", "linvel"):
            wanted = np.stack([getattr(arrays[step][name], field) for step in range(1, 401)])
            np.testing.assert_array_equal(getattr(recorded, field), wanted)
    assert recorded.found.max() >= 8


def test_pushes_and_commands_are_part_of_the_past(tmp_path: Path) -> None:
    run = robot(tmp_path, "newton")
    data = run.engine.data
    body = run.engine.model.body("crate").id
    instants = {}
    for _ in range(60):
        data.xfrc_applied[body, :3] = [0, 0, 0.3 * run.current] if 100 < run.current < 300 else 0
        data.ctrl[0] = np.sin(0.02 * run.current)
        data.mocap_pos[0, 0] = 0.3 - 0.0002 * run.current
        if run.current > 400:
            # As by a user who drags it while the simulation is paused.
            data.qpos[9] += 1e-4
        run.step(8)
        instants[run.current] = shown(run)
    for step in sorted(instants, key=lambda step: (step * 7919) % 480):
        assert run.go_to(step)
        assert shown(run) == instants[step]
    run.go_to(200)
    assert data.xfrc_applied[body, 2] > 0
    run.step()
    assert not data.xfrc_applied.any()


def test_going_back_and_forth_changes_nothing_until_it_is_played_on(tmp_path: Path) -> None:
    run = robot(tmp_path, "newton")
    run.step(500)
    end = shown(run)
    for step in (0, 499, 17, 250):
        run.go_to(step)
    assert run.history.last == 500
    run.go_to(500)
    assert shown(run) == end
    run.go_to(123)
    run.step(2)
    assert run.history.last == run.current == 125


def test_inputs_that_led_to_forgotten_steps_are_forgotten_too(tmp_path: Path) -> None:
    run = robot(tmp_path, "newton")
    run.step(20)
    # As with a slider that is moved here; its steps are then given up for others without it.
    run.engine.data.ctrl[:] = -0.4
    run.step(20)
    assert run.go_to(20)
    run.step(5)
    instant = shown(run)
    run.step(5)
    assert run.go_to(25)
    assert shown(run) == instant


def test_a_changed_model_is_noticed(tmp_path: Path) -> None:
    run = robot(tmp_path, "newton")
    run.step(400)
    assert run.go_to(350)
    run.engine.model.opt.gravity[2] = -5.0
    assert not run.go_to(350)


def test_sensors_are_decoded_as_they_were_read_then(tmp_path: Path) -> None:
    run = robot(tmp_path, "newton")
    run.step(600)
    first: Any = run.engine.contacts("robot")
    run.engine.set_reduce("robot", "netforce")
    run.step(40)
    assert [step for step, _ in run.history.epochs] == [0, 601]
    then, now = run.contacts("robot", 600, 601), run.contacts("robot", 640, 641)
    assert then is not None
    assert now is not None
    np.testing.assert_array_equal(then.force, first.force[np.newaxis])
    assert (then.in_world_frame, now.in_world_frame) == (False, True)
    # Seen again, the sensor is read as it is read now.
    assert run.go_to(600)
    again: Any = run.engine.contacts("robot")
    np.testing.assert_allclose(again.net_force, first.net_force, atol=1e-9)


def test_moments_show_the_peak_between_two_frames() -> None:
    """The strongest of eight steps, read from the engine one by one."""
    run = Run(open_engine("bounce"))
    name = run.history.names[0]
    missed = 0
    for _ in range(250):
        forces = []
        run.history.begin_frame()
        for _ in range(8):
            run.step()
            now: Any = run.engine.contacts(name)
            forces.append(np.linalg.norm(now.net_force))
        shown: Any = run.history.moment(name, Moment.PEAK)
        assert np.linalg.norm(shown.net_force) == pytest.approx(max(forces), abs=1e-12)
        averaged: Any = run.history.moment(name, Moment.MEAN)
        assert np.linalg.norm(averaged.net_force) == pytest.approx(np.mean(forces), abs=1e-9)
        assert run.history.moment(name, Moment.INSTANT) is None
        missed += max(forces) > 2 * forces[-1] + 1
    # Or the test shows nothing: in many frames the last step alone would hide the impact.
    assert missed > 1
    run.history.begin_frame()
    run.step(8)
    run.engine.set_reduce(name, "netforce")
    run.step()
    assert run.history.moment(name, Moment.PEAK) is None
    run.step(2)
    after: Any = run.history.moment(name, Moment.MEAN)
    recorded: Any = run.contacts(name, run.current - 2, run.current + 1)
    assert after.in_world_frame
    np.testing.assert_allclose(after.net_force, recorded.net_force.mean(axis=0), atol=1e-9)
    assert run.history.moment("all contacts", Moment.PEAK) is None


def test_two_steps_since_the_last_picture_have_a_peak_and_one_has_none() -> None:
    run = Run(open_engine("bounce"))
    run.step(500)
    name, forces = run.history.names[0], []
    run.history.begin_frame()
    for expected in (1, 2):
        run.step()
        now: Any = run.engine.contacts(name)
        forces.append(float(np.linalg.norm(now.net_force)))
        peak: Any = run.history.moment(name, Moment.PEAK)
        assert (peak is None) == (expected == 1)
    assert np.linalg.norm(peak.net_force) == pytest.approx(max(forces), abs=1e-12)


def test_a_past_picture_shows_the_peak_since_the_picture_before_it() -> None:
    run = Run(open_engine("bounce"))
    run.step(160)
    name = run.history.names[0]
    # The ball lands at 0.286 s: the strongest step is between these pictures.
    run.go_to(160, since=140)
    assert run.history.frame_start == 140
    peak: Any = run.history.moment(name, Moment.PEAK)
    forces: Any = run.contacts(name, 141, 161)
    assert np.linalg.norm(peak.net_force) == np.linalg.norm(forces.net_force, axis=1).max() > 100
    # What is not there, or comes later, is not between them.
    for since, start in ((-5, -1), (180, 150)):
        run.go_to(150, since=since)
        assert run.history.frame_start == start


def test_a_picture_after_more_steps_than_are_kept_shows_the_peak_of_those() -> None:
    run = Run(open_engine("bounce"), budget=100_000)
    run.history.begin_frame()
    run.step(3 * run.history.capacity)
    assert run.history.first > 1
    name = run.history.names[0]
    peak: Any = run.history.moment(name, Moment.PEAK)
    kept: Any = run.contacts(name, run.history.first, run.history.last + 1)
    assert np.linalg.norm(peak.net_force) == np.linalg.norm(kept.net_force, axis=1).max()


def test_forces_that_are_not_known_in_the_first_state_are_not_shown() -> None:
    run = Run(open_engine("bounce"))
    run.step(5)
    for known in (True, False):
        run.history.starts_with_forces = known
        for step in (0, 1):
            run.go_to(step)
            forces = run.engine.data.efc_force
            assert len(forces) > 0
            assert np.isnan(forces).all() == np.isnan(forces).any() == (step == 0 and not known)


def test_what_a_history_says_of_itself() -> None:
    run = Run(open_engine("bounce"), budget=100_000)
    history, beginning = run.history, run.engine.row().copy()
    run.step(10)
    assert not history.full
    np.testing.assert_array_equal(history.first_row(), beginning)
    assert not np.array_equal(beginning, run.engine.row())
    run.step(3 * history.capacity)
    assert history.full
    assert history.first_row() is None
    assert history.seconds == pytest.approx(0.002 * (history.last - history.first))


def test_a_step_that_can_only_be_looked_at_is_shown_as_it_was() -> None:
    """The answer no would say that the model was changed since."""
    run = Run(open_engine("bounce", num_envs=2))
    run.step(5)
    assert not run.history.can_resume
    assert run.go_to(3) is True


def test_steps_between_which_nothing_changes_need_no_states_of_their_own(tmp_path: Path) -> None:
    run = robot(tmp_path, "newton")
    for _ in range(61):
        run.step()
    # One of eight, however few steps are taken at once.
    assert run.history.states_between(1, 61) == list(range(8, 61, 8))
    run.engine.data.ctrl[0] = -0.3
    run.step()
    assert run.history.states_between(60, 62) == [61]


def test_the_state_that_a_step_left_has_what_was_changed_in_it(tmp_path: Path) -> None:
    run = robot(tmp_path, "newton")
    run.step(20)
    run.engine.data.ctrl[:] = -0.4
    run.step(21)
    run.engine.data.ctrl[:] = 0.1
    run.step(2)
    timestep = run.engine.timestep
    # In two steps running.
    run.engine.data.ctrl[:] = 0.2
    run.step(1)
    run.engine.data.ctrl[:] = 0.3
    run.step(4)
    changes = ((19, 0.4), (20, -0.4), (21, -0.4), (41, 0.1), (42, 0.1), (43, 0.2), (44, 0.3), (48, 0.3))
    for step, ctrl in changes:
        run.history.show_left(step)
        assert run.engine.time == pytest.approx(step * timestep)
        assert run.engine.data.ctrl[0] == ctrl, step


def test_going_on_from_a_past_step_keeps_its_mark_and_those_before(tmp_path: Path) -> None:
    run = robot(tmp_path, "newton")
    history = run.history
    first, state = history.last + 1, np.empty(run.engine.past.state_size)
    for _ in range(8):
        run.engine.past.save(state)
        run.engine.step()
        history.append(ArrivedStep(state.copy(), StepKind.SOLVED))
    assert list(history.marks) == list(range(first, first + 8))
    history.go_to(first + 4)
    history.resume()
    assert list(history.marks) == list(range(first, first + 5))


def test_marks_of_steps_that_were_forgotten_are_forgotten(tmp_path: Path) -> None:
    run = robot(tmp_path, "newton")
    small = Run(run.engine, budget=200_000)
    state = np.empty(run.engine.past.state_size)
    for _ in range(2 * small.history.capacity):
        run.engine.past.save(state)
        run.engine.step()
        small.history.append(ArrivedStep(state.copy(), StepKind.SOLVED))
    marks = list(small.history.marks)
    assert marks[-1] == small.history.last
    assert marks == list(range(marks[0], marks[-1] + 1))
    assert small.history.first - 1 <= marks[0] <= small.history.first
    # Without a state of its own a step makes none be forgotten, so the oldest keeps its mark.
    first = small.history.first
    run.engine.step()
    small.history.append(ArrivedStep(None, StepKind.SOLVED))
    assert small.history.first == first
    assert set(small.history.marks) >= set(range(first, small.history.last + 1))
    assert small.history.time(small.history.last) == pytest.approx(run.engine.time)
    small.engine.set_reduce("robot", "netforce")
    run.engine.step()
    small.history.append(ArrivedStep())
    then, now = (small.contacts("robot", small.current + k, small.current + k + 1) for k in (-1, 0))
    assert then is not None
    assert now is not None
    assert (then.in_world_frame, now.in_world_frame) == (False, True)


@pytest.mark.parametrize("restarted", [False, True])
def test_steps_taken_elsewhere_after_driven_ones_are_shown_with_their_own_inputs(
    tmp_path: Path, restarted: bool
) -> None:
    run = robot(tmp_path, "newton")
    # What nobody has written there is never an input.
    run.history._inputs.fill(np.nan)
    run.step(50, lambda: None)
    if restarted:
        run.simulation.restart()
    first, pictures = run.history.last, []
    for k in range(300):
        state = None
        if k == 0 and not restarted:
            state = np.empty(run.engine.past.state_size)
            run.engine.past.save(state)
        mujoco.mj_step(run.engine.model, run.engine.data)
        run.simulation.observe(ArrivedStep(state))
        pictures.append(shown(run))
    for k in (0, 1, 63, 64, 65, 150, 299, 7):
        assert run.go_to(first + 1 + k)
        assert shown(run) == pictures[k]
        assert run.history.inputs(first + k, first + k + 1) is None


def test_ten_minutes_stay_within_the_budget() -> None:
    engine = open_engine("bounce")
    run = Run(engine, budget=16 * 2**20)
    process = psutil.Process()
    before = process.memory_info().rss
    for _ in range(300_000 // 50):
        run.step(50)
    assert engine.time > 599
    assert run.history.bytes <= 16 * 2**20
    assert process.memory_info().rss - before < 24 * 2**20
    assert run.history.seconds > 20


def test_a_reset_by_someone_else_begins_a_new_history(tmp_path: Path) -> None:
    run = robot(tmp_path, "newton")
    run.step(300)
    run.engine.reset()
    run.step(3)
    assert (run.history.first, run.current) == (0, 3)
    assert run.history.seconds == pytest.approx(0.006)


def test_divergence_stops_at_the_last_step_before_it(tmp_path: Path) -> None:
    path = tmp_path / "unstable.xml"
    path.write_text("""
    <mujoco><option timestep="0.002"/>
      <worldbody>
        <geom name="floor" type="plane" size="1 1 .1"/>
        <body pos="0 0 .2"><freejoint/><geom name="ball" size=".1"/></body>
        <body pos="0 1 1"><joint name="weak" axis="1 0 0" stiffness="-100"/><geom size=".1"/></body>
      </worldbody>
      <sensor><contact name="ball" geom1="floor" geom2="ball" data="found"/></sensor>
    </mujoco>""")
    engine = open_engine(path)
    engine.data.qpos[-1] = 1e-3
    mujoco.mj_forward(engine.model, engine.data)
    data, stable = mujoco.MjData(engine.model), 0
    data.qpos[-1] = 1e-3
    while data.time >= 0.002 * stable * 0.99:
        mujoco.mj_step(engine.model, data)
        stable += 1
    stable -= 1
    assert 100 < stable < 100_000
    run = Run(engine)
    with pytest.raises(UnstableError, match=rf"unstable after {0.002 * stable:.3f} s"):
        run.step(2 * stable)
    assert run.current == run.history.last == stable
    assert engine.time == pytest.approx(0.002 * stable)
    assert np.isfinite(engine.data.qpos).all()
    run.go_to(stable - 50)
    run.step(20)
    with pytest.raises(UnstableError):
        run.step(100)
    assert run.current == stable


def test_what_made_a_step_fail_is_undone_and_the_scene_plays_on_as_if_nobody_had_done_it(tmp_path: Path) -> None:
    run = robot(tmp_path, "newton")
    run.step(150)
    for _ in range(2):
        run.engine.data.qvel[:] = 1e12
        with pytest.raises(UnstableError):
            run.step(1)
        assert run.current == 150
    run.step(20)
    undisturbed = robot(tmp_path, "newton")
    undisturbed.step(170)
    assert shown(run) == shown(undisturbed)


def test_a_small_budget_forgets_the_oldest(tmp_path: Path) -> None:
    path = tmp_path / "robot.xml"
    path.write_text(ROBOT.format(**dict.fromkeys(("option", "flag", "actuator", "sensor"), "")))
    run = Run(open_engine(path), budget=2**20)
    instants = {}
    for _ in range(200):
        run.step(8)
        instants[run.current] = shown(run)
        assert run.history.bytes <= 2**20
    history = run.history
    assert 0 < history.first < history.last == 1600
    assert history.last - history.first > 200
    for step in (history.first, history.first + 1, history.last):
        assert run.go_to(step)
        if step in instants:
            assert shown(run) == instants[step]
    run.go_to(history.first - 1)
    assert run.current == history.first


@pytest.mark.alone
def test_keeping_history_costs_little() -> None:
    """At most 15 % of a step that is not kept, in the batches in which the window steps in real time."""
    kept, plain = Run(open_engine("bounce")), Simulation(open_engine("bounce"))
    for step in (kept.step, plain.step):
        step(304)
    batch, batches = 8, 60
    saved = np.empty(plain.shown.past.state_size)
    plain.shown.past.save(saved)

    def seconds(step: Callable[[int], None], rewind: Callable[[], object]) -> float:
        rewind()
        started = time.perf_counter()
        for _ in range(batches):
            step(batch)
        return time.perf_counter() - started

    # The fastest of many short runs of each in turn: a shared machine slows some of them down, and speeds none up.
    pairs = (plain.step, lambda: plain.shown.past.restore(saved)), (kept.step, lambda: kept.go_to(304))
    times = np.array([[seconds(*pair) for pair in pairs] for _ in range(600)]) / (batch * batches)
    bare, with_history = times.min(axis=0)
    print(f"a step {bare * 1e6:.2f} us, {with_history * 1e6:.2f} us kept: {with_history / bare - 1:.1%}")
    assert with_history / bare < 1.15


def test_a_users_model_is_kept_as_declared_however_its_sensors_are_read() -> None:
    xml = ROBOT.format(option="", flag="", actuator="", sensor="").replace(
        'data="found force pos"', 'data="found force pos normal tangent"'
    )
    model = mujoco.MjModel.from_xml_string(xml)
    plain, plain_data = mujoco.MjModel.from_xml_string(xml), mujoco.MjData(model)
    simulation = Simulation(open_engine(model), history_bytes=BUDGET)
    history, engine = simulation.history, simulation.engine
    assert history is not None
    simulation.step(400)
    engine.set_reduce("robot", "netforce")
    history.begin_frame()
    simulation.step(5)
    mujoco.mj_step(plain, plain_data, 405)
    written = plain_data.sensordata[: model.sensor_dim[0]]
    sensor = engine.sensors["robot"]
    declared = sensor.declared.decode(written)
    assert declared.filled.sum() > 1
    kept = history.contacts("robot", history.last, history.last + 1)
    assert kept is not None
    assert kept.force is not None
    assert not kept.in_world_frame
    np.testing.assert_array_equal(kept.force[0], declared.force)
    np.testing.assert_array_equal(kept.filled[0], declared.filled)
    np.testing.assert_array_equal(engine.array_in(engine.row(), sensor), written)
    # The last step is read from the contact list, in the new mode; its peak would be of the declared one.
    assert engine.contacts("robot").in_world_frame
    assert history.moment("robot", Moment.PEAK) is None
    engine.set_reduce("robot", "none")
    history.begin_frame()
    simulation.step(5)
    assert history.moment("robot", Moment.PEAK) is not None


def test_an_environment_of_a_users_model_shows_what_was_declared() -> None:
    model = mujoco.MjModel.from_xml_string(ROBOT.format(option="", flag="", actuator="", sensor=""))
    engine = open_engine(model, num_envs=2)
    engine.set_reduce("robot", "netforce")
    simulation = Simulation(engine, history_bytes=BUDGET)
    simulation.step(400)
    written = engine.pose(0).sensordata[: model.sensor_dim[0]].copy()
    simulation.step(5)
    simulation.go_to(400)
    batch = simulation.shown.contacts("robot")
    assert not batch.in_world_frame
    assert batch.filled.sum() > 1
    np.testing.assert_array_equal(simulation.shown.array("robot"), written)
