"""Steps of a user's loop, re-simulated from the states that it sends, against that loop's own data."""

from collections.abc import Callable

import mujoco
import numpy as np
import pytest
from contact_viewer.engines.abilities import StepKind
from contact_viewer.mjmodel.state import RowKind
from contact_viewer.session.session import Session
from contact_viewer.settings import ViewState

from .arriving import Theirs, forces

AFTER, BEFORE = RowKind.AFTER, RowKind.BEFORE


@pytest.mark.parametrize("integrator", ["EULER", "RK4", "IMPLICITFAST"])
@pytest.mark.parametrize("scene", ["quadruped", "gripper"])
def test_every_step_is_seen_bit_for_bit(scene: str, integrator: str) -> None:
    number = int(getattr(mujoco.mjtIntegrator, f"mjINT_{integrator}"))
    loop = Theirs(scene, lambda model: setattr(model.opt, "integrator", number))
    assert [step.kind for step in loop.arrived()] == [StepKind.START]
    rng = np.random.default_rng(1)
    touched = 0
    for _ in range(250):
        loop.data.qfrc_applied[:] = 0.02 * rng.standard_normal(loop.model.nv)
        mujoco.mj_step(loop.model, loop.data)
        loop.hand_over()
        assert [step.kind for step in loop.arrived()] == [StepKind.EXACT]
        loop.is_seen()
        touched += loop.data.ncon > 0
    assert touched > 50


def test_steps_that_nothing_changes_between_need_no_states() -> None:
    """So that a long history fits into memory."""
    loop = Theirs("quadruped")
    list(loop.arrived())
    for _ in range(20):
        mujoco.mj_step(loop.model, loop.data)
        loop.hand_over()
    assert [step.state for step in loop.arrived()] == [None] * 20


@pytest.mark.parametrize("case", ["inputs after the step", "two halves", "several at once", "before each step"])
def test_loops_of_other_shapes_are_exact_too(case: str) -> None:
    loop = Theirs("quadruped")
    rng = np.random.default_rng(2)
    kinds = [step.kind for step in loop.arrived()]
    for _ in range(100):
        put_in, force = loop.data.qfrc_applied, 0.02 * rng.standard_normal(loop.model.nv)
        if case == "inputs after the step":
            mujoco.mj_step(loop.model, loop.data)
            put_in[:] = force
        elif case == "two halves":
            mujoco.mj_step1(loop.model, loop.data)
            put_in[:] = force
            mujoco.mj_step2(loop.model, loop.data)
        elif case == "several at once":
            put_in[:] = force
            mujoco.mj_step(loop.model, loop.data, 7)
        else:
            put_in[:] = force
            loop.hand_over(BEFORE)
            mujoco.mj_step(loop.model, loop.data)
            put_in[:] = 0
        loop.hand_over()
        kinds += [step.kind for step in loop.arrived()]
        loop.is_seen()
    steps = 700 if case == "several at once" else 100
    assert kinds == [StepKind.START] + [StepKind.EXACT] * steps


def test_steps_that_cannot_be_resimulated_are_marked_and_never_shown_as_exact() -> None:
    loop = Theirs("quadruped")
    list(loop.arrived())
    mujoco.mj_step(loop.model, loop.data)
    loop.data.qvel[0] += 0.1
    loop.hand_over()
    assert [step.kind for step in loop.arrived()] == [StepKind.UNPROVEN]
    loop.is_seen()
    mujoco.mj_step(loop.model, loop.data)
    loop.hand_over()
    assert [step.kind for step in loop.arrived()] == [StepKind.EXACT]
    # Several steps with other forces each.
    for k in range(10):
        loop.data.xfrc_applied[1, 2] = 10 * k
        mujoco.mj_step(loop.model, loop.data)
    loop.hand_over()
    assert [step.kind for step in loop.arrived()] == [StepKind.SOLVED]
    np.testing.assert_array_equal(loop.simulation.engine.data.qpos, loop.data.qpos)
    mujoco.mj_step(loop.model, loop.data)
    loop.hand_over()
    assert [step.kind for step in loop.arrived()] == [StepKind.EXACT]
    history = loop.simulation.history
    assert history is not None
    assert dict(history.marks) == {1: StepKind.UNPROVEN, 3: StepKind.SOLVED}
    times = [history.time(step) for step in range(5)]
    np.testing.assert_allclose(times, np.array([0, 1, 2, 12, 13]) * loop.model.opt.timestep)


def test_a_session_knows_which_of_its_steps_are_not_exact() -> None:
    loop = Theirs("quadruped")
    session = Session(loop.simulation.engine, ViewState())
    session.simulation = loop.simulation
    list(loop.arrived())
    for edit in (0.0, 0.1, 0.0):
        mujoco.mj_step(loop.model, loop.data)
        loop.data.qvel[0] += edit
        loop.hand_over()
    list(loop.arrived())
    shown = []
    for step in range(4):
        session.go_to(step)
        shown.append(session.shows_inexact_step)
    assert shown == [False, False, True, False]


def test_a_reset_begins_a_history_and_moving_things_adds_no_step() -> None:
    loop = Theirs("quadruped")
    for _ in range(5):
        mujoco.mj_step(loop.model, loop.data)
        loop.hand_over()
    list(loop.arrived())
    loop.hand_over()
    assert list(loop.arrived()) == []
    loop.data.qpos[2] += 0.5
    loop.hand_over()
    assert [step.kind for step in loop.arrived()] == [StepKind.MOVED]
    assert loop.simulation.engine.data.qpos[2] == loop.data.qpos[2]
    history = loop.simulation.history
    assert history is not None
    assert history.last == 5
    mujoco.mj_step(loop.model, loop.data)
    loop.hand_over()
    assert [step.kind for step in loop.arrived()] == [StepKind.EXACT]
    mujoco.mj_resetData(loop.model, loop.data)
    loop.hand_over()
    assert [step.kind for step in loop.arrived()] == [StepKind.START]
    assert (history.first, history.last) == (0, 0)


def test_past_steps_are_shown_as_they_were_whatever_happened_between_steps() -> None:
    loop = Theirs("quadruped")
    rng = np.random.default_rng(3)
    seen = []
    for k in range(120):
        if k % 3 == 0:
            loop.data.qfrc_applied[:] = 0.3 * rng.standard_normal(loop.model.nv)
        if k % 25 == 0:
            loop.data.qvel[:] += 0.1
        mujoco.mj_step(loop.model, loop.data)
        if k % 10 == 9:
            loop.data.qpos[2] += 0.001
        loop.hand_over()
        list(loop.arrived())
        data = loop.simulation.engine.data
        seen.append((forces(loop.model, data), data.qpos.copy(), loop.simulation.engine.row().copy()))
    history = loop.simulation.history
    assert history is not None
    assert history.last == 120
    for step in (1, 10, 11, 40, 76, 77, 120):
        loop.simulation.go_to(step)
        contacts, qpos, row = seen[step - 1]
        data = loop.simulation.engine.data
        np.testing.assert_array_equal(data.qpos, qpos, err_msg=str(step))
        np.testing.assert_array_equal(loop.simulation.engine.row(), row)
        assert len(forces(loop.model, data)) == len(contacts)


def test_new_steps_arrive_while_a_past_one_is_shown() -> None:
    loop = Theirs("quadruped")
    for k in range(60):
        loop.data.xfrc_applied[1, 2] = 0.1 * k
        mujoco.mj_step(loop.model, loop.data)
        loop.hand_over()
        kinds = [step.kind for step in loop.arrived()]
        assert kinds[-1] is StepKind.EXACT
        loop.is_seen()
        loop.simulation.go_to(k // 2)
    history = loop.simulation.history
    assert history is not None
    assert history.last == 60
    assert history.current == 29


def sleep(model: mujoco.MjModel) -> None:
    model.opt.enableflags |= int(mujoco.mjtEnableBit.mjENBL_SLEEP)


def test_inputs_that_change_are_exact_where_bodies_may_sleep() -> None:
    loop = Theirs("pile", sleep)
    rng = np.random.default_rng(2)
    kinds = [step.kind for step in loop.arrived()]
    asleep, seen = 0, []
    for k in range(300):
        if 220 < k < 260:
            loop.data.qfrc_applied[:6] = 0.5 * rng.standard_normal(6)
        mujoco.mj_step(loop.model, loop.data)
        loop.hand_over(AFTER)
        kinds += [step.kind for step in loop.arrived()]
        loop.is_seen()
        seen.append(forces(loop.model, loop.data))
        asleep += loop.data.ntree_awake < loop.model.ntree
    assert kinds == [StepKind.START] + [StepKind.EXACT] * 300
    assert 0 < asleep < 300
    for step in (300, 200, 221, 240, 259, 270):
        loop.simulation.go_to(step)
        assert forces(loop.simulation.engine.model, loop.simulation.engine.data) == seen[step - 1], step


def test_bodies_that_sleep_stay_asleep() -> None:
    loop = Theirs("quadruped", sleep)
    for _ in range(50):
        mujoco.mj_step(loop.model, loop.data)
        loop.hand_over()
    assert {step.kind for step in loop.arrived()} == {StepKind.START, StepKind.EXACT}
    loop.is_seen()


def heavier(model: mujoco.MjModel, factor: float) -> None:
    model.body_mass[1] *= factor
    mujoco.mj_setConst(model, mujoco.MjData(model))


CHANGES: dict[str, Callable[[mujoco.MjModel, float], object]] = {
    "friction": lambda model, factor: model.geom_friction.__imul__(factor),
    "mass": heavier,
    "gravity": lambda model, factor: model.opt.gravity.__imul__(factor),
    "size": lambda model, factor: model.geom_size.__imul__(factor),
    "timestep": lambda model, factor: setattr(model.opt, "timestep", 0.001 * factor),
    "cone": lambda model, factor: setattr(model.opt, "cone", int(factor > 1)),
}


@pytest.mark.parametrize("change", CHANGES)
@pytest.mark.parametrize("after_the_step", [False, True])
def test_a_model_that_changes_between_steps_is_taken_over_with_the_step_it_belongs_to(
    change: str, after_the_step: bool
) -> None:
    """Someone looks at the model every seventh step: steps before that wait, or are known to be of the model before."""
    loop = Theirs("quadruped")
    loop.rows.looked_at = 0
    rng = np.random.default_rng(7)
    seen, kinds = [], []
    for k in range(150):
        if k % 20 == 10 and not after_the_step:
            CHANGES[change](loop.model, 1.25 if k % 40 == 10 else 0.8)
        loop.data.qfrc_applied[:] = 0.02 * rng.standard_normal(loop.model.nv)
        mujoco.mj_step(loop.model, loop.data)
        seen.append(forces(loop.model, loop.data))
        if k % 20 == 10 and after_the_step:
            CHANGES[change](loop.model, 1.25 if k % 40 == 10 else 0.8)
        loop.hand_over(look=k % 7 == 6)
        kinds += [step.kind for step in loop.arrived()]
        engine = loop.simulation.engine
        if not loop.arrivals.waiting:
            assert forces(engine.model, engine.data) == seen[-1]
    loop.hand_over(look=True)
    kinds += [step.kind for step in loop.arrived()]
    assert kinds == [StepKind.START] + [StepKind.EXACT] * 150
    assert loop.version >= 6
    for step in (150, 8, 11, 30, 31, 75, 149, 12):
        loop.simulation.go_to(step)
        assert forces(engine.model, engine.data) == seen[step - 1], step


def test_a_model_that_changes_while_time_stands_still_is_shown() -> None:
    loop = Theirs("quadruped")
    mujoco.mj_step(loop.model, loop.data)
    loop.hand_over()
    list(loop.arrived())
    loop.model.geom_rgba[:] = 0.25
    loop.hand_over(look=True)
    assert [step.kind for step in loop.arrived()] == [StepKind.MOVED]
    assert (loop.simulation.engine.model.geom_rgba == 0.25).all()
