"""Every step of a loop that takes several at once, against a loop that takes them one by one."""

import ctypes
import gc
import subprocess
import sys
from collections.abc import Iterator
from typing import Any

import mujoco
import mujoco.rollout
import numpy as np
import pytest
from contact_viewer.engines.abilities import StepKind
from contact_viewer.mjmodel.state import RowKind
from contact_viewer.passive.tap import TAP

from ..engines.mujoco.arriving import Theirs, forces

RK4 = int(mujoco.mjtIntegrator.mjINT_RK4)


@pytest.fixture(autouse=True)
def no_callback() -> Iterator[None]:
    yield
    assert mujoco.get_mjcb_control() is None


class Tapped(Theirs):
    """A loop whose steps are seen from inside."""

    def record(self, time: float) -> None:
        self.hand_over(RowKind.BEFORE)


@pytest.mark.parametrize("integrator", [0, RK4])
def test_steps_inside_one_call_are_seen_bit_for_bit(integrator: int) -> None:
    loop = Tapped("quadruped", lambda model: setattr(model.opt, "integrator", integrator))
    judge = mujoco.MjData(loop.model)
    rng = np.random.default_rng(4)
    kinds = [step.kind for step in loop.arrived()]
    TAP.add(loop.model, loop.data, loop.record)
    for _ in range(40):
        force = 0.02 * rng.standard_normal(loop.model.nv)
        loop.data.qfrc_applied[:] = judge.qfrc_applied[:] = force
        mujoco.mj_step(loop.model, loop.data, 5)
        # As environments do for their observations.
        mujoco.mj_forward(loop.model, loop.data)
        loop.hand_over()
        TAP.remove(loop.record)
        seen = []
        for step in loop.arrived():
            kinds.append(step.kind)
            engine = loop.simulation.engine
            seen.append(forces(engine.model, engine.data))
        expected = []
        for _ in range(5):
            mujoco.mj_step(loop.model, judge)
            expected.append(forces(loop.model, judge))
        assert seen == expected
        TAP.add(loop.model, loop.data, loop.record)
    TAP.remove(loop.record)
    assert kinds == [StepKind.START] + [StepKind.EXACT] * 200


def test_a_callback_of_the_users_stays_in_force_whenever_it_was_set() -> None:
    loop = Tapped("quadruped")
    other = mujoco.MjData(loop.model)
    called = []

    def first(model: Any, data: Any) -> None:
        called.append("first")

    def push(model: Any, data: Any) -> None:
        data.qfrc_applied[2] = 3.0 * np.sin(10 * data.time)

    mujoco.set_mjcb_control(first)
    TAP.add(loop.model, loop.data, loop.record)
    mujoco.mj_step(loop.model, loop.data)
    assert called == ["first"]
    mujoco.set_mjcb_control(push)
    TAP.renew(loop.data)
    # Data of others are none of ours.
    rows = len(loop.rows.waiting)
    mujoco.mj_step(loop.model, other, 3)
    assert len(loop.rows.waiting) == rows
    mujoco.mj_step(loop.model, loop.data, 20)
    loop.hand_over()
    assert loop.data.qfrc_applied[2] != 0
    assert [step.kind for step in loop.arrived()] == [StepKind.START] + [StepKind.EXACT] * 21
    TAP.remove(loop.record)
    assert mujoco.get_mjcb_control() is push
    mujoco.set_mjcb_control(None)


def test_a_callback_in_c_stays_in_force() -> None:
    loop, called = Tapped("quadruped"), []

    def note(model: int, data: int) -> None:
        called.append((model, data))

    theirs = ctypes.CFUNCTYPE(None, ctypes.c_void_p, ctypes.c_void_p)(note)
    mujoco.set_mjcb_control(theirs)
    TAP.add(loop.model, loop.data, loop.record)
    mujoco.mj_step(loop.model, loop.data, 3)
    assert called == [(loop.model._address, loop.data._address)] * 3
    loop.hand_over()
    assert [step.kind for step in loop.arrived()] == [StepKind.START] + [StepKind.EXACT] * 3
    TAP.remove(loop.record)
    assert mujoco.get_mjcb_control() is theirs
    mujoco.set_mjcb_control(None)


XML = "<mujoco><worldbody><body><freejoint/><geom size='0.1'/></body></worldbody></mujoco>"
CALLBACK_IN_C = ctypes.CFUNCTYPE(None, ctypes.c_void_p, ctypes.c_void_p)


@pytest.mark.parametrize("theirs", [None, CALLBACK_IN_C(lambda model, data: None)])
def test_models_can_be_compiled_while_steps_are_seen(theirs: Any) -> None:
    loop = Tapped("quadruped")
    mujoco.set_mjcb_control(theirs)
    TAP.add(loop.model, loop.data, loop.record)
    for compiled in (mujoco.MjModel.from_xml_string(XML), mujoco.MjSpec.from_string(XML).compile()):
        mujoco.mj_step(compiled, mujoco.MjData(compiled), 3)
    mujoco.mj_step(loop.model, loop.data, 3)
    loop.hand_over()
    assert [step.kind for step in loop.arrived()] == [StepKind.START] + [StepKind.EXACT] * 3
    TAP.remove(loop.record)
    assert mujoco.get_mjcb_control() is theirs
    mujoco.set_mjcb_control(None)


def test_a_callback_that_is_put_aside_and_set_again_is_called_once_a_step() -> None:
    """As programs do that want to compile a model: ours and theirs are then set again as they were."""
    loop, called = Tapped("quadruped"), []

    def count(model: Any, data: Any) -> None:
        called.append(data.time)

    mujoco.set_mjcb_control(count)
    TAP.add(loop.model, loop.data, loop.record)
    before = mujoco.get_mjcb_control()
    mujoco.set_mjcb_control(None)
    mujoco.MjModel.from_xml_string(XML)
    TAP.renew(loop.data)
    mujoco.MjModel.from_xml_string(XML)
    mujoco.set_mjcb_control(count)
    TAP.renew(loop.data)
    mujoco.set_mjcb_control(before)
    TAP.renew(loop.data)
    mujoco.mj_step(loop.model, loop.data, 3)
    assert len(called) == 3
    loop.hand_over()
    assert [step.kind for step in loop.arrived()] == [StepKind.START] + [StepKind.EXACT] * 3
    TAP.remove(loop.record)
    assert mujoco.get_mjcb_control() is count
    mujoco.set_mjcb_control(None)


def test_ctrl_c_inside_a_callback_is_not_lost() -> None:
    loop = Tapped("quadruped")

    class Interrupted:
        def record(self, time: float) -> None:
            raise KeyboardInterrupt

    interrupted = Interrupted()
    TAP.add(loop.model, loop.data, interrupted.record)
    # An exception cannot pass through C.
    mujoco.mj_step(loop.model, loop.data)
    with pytest.raises(KeyboardInterrupt):
        TAP.renew(loop.data)
    TAP.renew(loop.data)
    TAP.remove(interrupted.record)


def test_the_callback_may_be_taken_back_inside_a_step() -> None:
    """As when the window ends while a step is handed over."""
    loop, seen = Tapped("quadruped"), []

    class Once:
        def record(self, time: float) -> None:
            seen.append(time)
            TAP.remove(self.record)

    once = Once()
    for _ in range(50):
        TAP.add(loop.model, loop.data, once.record)
        mujoco.mj_step(loop.model, loop.data, 3)
        gc.collect()
    assert len(seen) == 50


def test_rollouts_on_threads_go_on_while_steps_are_seen() -> None:
    loop = Tapped("quadruped")
    model, threads = loop.model, 4
    size = mujoco.mj_stateSize(model, mujoco.mjtState.mjSTATE_FULLPHYSICS)
    start = np.empty((8, size))
    for row in start:
        mujoco.mj_getState(model, loop.data, row, mujoco.mjtState.mjSTATE_FULLPHYSICS)

    def roll_out() -> Any:
        data = [mujoco.MjData(model) for _ in range(threads)]
        return mujoco.rollout.rollout(model, data, start, nstep=20)[0]

    expected = roll_out()
    TAP.add(loop.model, loop.data, loop.record)
    rows = len(loop.rows.waiting)
    assert np.array_equal(roll_out(), expected)
    assert len(loop.rows.waiting) == rows
    mujoco.mj_step(loop.model, loop.data, 2)
    assert len(loop.rows.waiting) == rows + 2
    TAP.remove(loop.record)


ENDS_WHILE_SEEN = """
import sys, mujoco
from contact_viewer.passive.tap import TAP
model = mujoco.MjModel.from_xml_string(sys.argv[1])
data = mujoco.MjData(model)

class Owner:
    def record(self, time):
        pass

owner = Owner()
TAP.add(model, data, owner.record)
mujoco.mj_step(model, data, 1000)
"""


def test_a_program_can_end_while_its_steps_are_seen() -> None:
    ended = subprocess.run([sys.executable, "-c", ENDS_WHILE_SEEN, XML], capture_output=True, timeout=60)
    assert (ended.returncode, ended.stderr) == (0, b"")


def test_a_forgotten_owner_releases_callback_and_data() -> None:
    loop = Tapped("quadruped")
    data, model = loop.data, loop.model
    TAP.add(model, data, loop.record)
    assert mujoco.get_mjcb_control() is not None
    held = sys.getrefcount(data)
    del loop
    gc.collect()
    assert mujoco.get_mjcb_control() is None
    assert sys.getrefcount(data) < held
    mujoco.mj_step(model, data)


@pytest.mark.parametrize("call", range(1, 5))
def test_a_step_that_ends_in_the_middle_is_not_waited_for(call: int) -> None:
    """As by Ctrl-C in any of the four calls of a Runge-Kutta step."""
    loop, calls = Tapped("quadruped", lambda model: setattr(model.opt, "integrator", RK4)), []

    def interrupt(model: Any, data: Any) -> None:
        calls.append(data.time)
        if len(calls) == call:
            raise KeyboardInterrupt

    mujoco.set_mjcb_control(interrupt)
    TAP.add(loop.model, loop.data, loop.record)
    with pytest.raises(KeyboardInterrupt):
        mujoco.mj_step(loop.model, loop.data)
    mujoco.mj_resetData(loop.model, loop.data)
    TAP.renew(loop.data)
    loop.hand_over()
    list(loop.arrived())
    mujoco.mj_step(loop.model, loop.data, 5)
    loop.hand_over()
    assert [step.kind for step in loop.arrived()] == [StepKind.EXACT] * 5
    TAP.remove(loop.record)
    mujoco.set_mjcb_control(None)


def test_several_viewers_see_the_steps_of_the_same_data() -> None:
    loop, seen = Tapped("quadruped"), []

    class Other:
        def record(self, time: float) -> None:
            seen.append(time)

    other = Other()
    TAP.add(loop.model, loop.data, loop.record)
    TAP.add(loop.model, loop.data, other.record)
    mujoco.mj_step(loop.model, loop.data, 3)
    TAP.remove(loop.record)
    rows = len(loop.rows.waiting)
    mujoco.mj_step(loop.model, loop.data, 2)
    assert len(seen) == 5
    assert len(loop.rows.waiting) == rows
    TAP.remove(other.record)
