"""Branches of the past: bit-equal without a change, and other steps after one."""

from typing import Any

import numpy as np
import pytest
from contact_viewer import open_engine
from contact_viewer.session.branch import Branch
from contact_viewer.session.simulation import Simulation

BUDGET = 2**26


def content(simulation: Simulation) -> bytes:
    state = np.empty(simulation.shown.past.state_size)
    simulation.shown.past.save(state)
    return state.tobytes()


def disturb(simulation: Simulation, step: int) -> None:
    """Move and push something between two steps, now and then."""
    data = simulation.engine.data
    if step % 70 == 35:
        data.qvel[0] += 0.01
    if step % 50 == 20:
        data.qpos[2] += 0.001
    data.xfrc_applied[1, 2] = 0.3 if step % 40 < 10 else 0.0


def run(name: str, steps: int, control: Any = None) -> tuple[Simulation, list[bytes]]:
    """Return a run that was disturbed, and its state after every step."""
    simulation = Simulation(open_engine(name, control=control), history_bytes=BUDGET)
    seen = [content(simulation)]
    for step in range(steps):
        disturb(simulation, step)
        simulation.step()
        seen.append(content(simulation))
    return simulation, seen


@pytest.mark.parametrize("start", [0, 20, 36, 117, 239])
def test_a_branch_without_a_change_is_the_same_run_bit_for_bit(start: int) -> None:
    first, seen = run("quadruped", 240)
    branch = Simulation(Branch(first, start), history_bytes=BUDGET)
    assert content(first) == seen[-1]
    for step in range(start + 1, 241):
        branch.step()
        assert content(branch) == seen[step], step
    assert branch.engine.row().tobytes() == first.engine.row().tobytes()


def test_controls_are_replayed_and_the_controller_is_not_called() -> None:
    rng, calls = np.random.default_rng(1), []

    def wander(model: Any, data: Any) -> None:
        calls.append(data.time)
        data.ctrl[:] += 0.01 * rng.standard_normal(model.nu)

    first, seen = run("gripper", 300, wander)
    branch = Simulation(Branch(first, 90), history_bytes=BUDGET)
    branch.step(210)
    assert len(calls) == 300
    assert content(branch) == seen[300]
    # Back in the branch's own history, and on from there; then from its start.
    branch.go_to(60)
    assert content(branch) == seen[150]
    branch.step(50)
    assert content(branch) == seen[200]
    branch.reset()
    branch.step(10)
    assert content(branch) == seen[100]


def test_a_changed_model_leads_elsewhere_with_the_same_inputs() -> None:
    first, seen = run("quadruped", 200)
    source = Branch(first, 50)
    source.engine.model.geom_friction[:, 0] *= 0.1
    branch = Simulation(source, history_bytes=BUDGET)
    branch.step(150)
    assert content(branch) != seen[200]
    assert branch.shown.time == first.shown.time
    np.testing.assert_array_equal(branch.shown.data.xfrc_applied, first.shown.data.xfrc_applied)
    assert content(first) == seen[200]
    first.go_to(40)
    assert content(first) == seen[40]


def test_a_branch_beside_its_run_shows_the_same_time_and_goes_on_after_the_recorded_inputs() -> None:
    first, seen = run("quadruped", 120)
    first.go_to(60)
    branch = Simulation(Branch(first), history_bytes=BUDGET)
    first.beside.append(branch)
    first.go_to(120)
    branch.keep_up(first.shown.time, 1000)
    assert content(branch) == seen[120]
    first.go_to(80)
    assert content(branch) == seen[80]
    first.go_to(120)
    first.step(30)
    assert content(branch) == content(first)


def test_a_branch_needs_a_past() -> None:
    with pytest.raises(ValueError, match="history"):
        Branch(Simulation(open_engine("quadruped")))
    pytest.importorskip("motrixsim")
    with pytest.raises(ValueError, match="past steps"):
        Branch(Simulation(open_engine("quadruped", engine="motrix"), history_bytes=BUDGET))
