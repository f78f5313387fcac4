"""Steps of a loop in a real window's process: bit for bit what the loop had, and none lost."""

import time
from pathlib import Path
from typing import Any

import contact_viewer
import mujoco
import numpy as np
import pytest
from contact_viewer.errors import SceneError
from contact_viewer.passive.loop_steps import LoopSteps
from contact_viewer.passive.viewer import PassiveViewer
from contact_viewer.scene_files.scene import find_scene
from contact_viewer.session.session import Session
from contact_viewer.settings import ViewState
from contact_viewer.window.window import Window

from ..engines.mujoco.arriving import Theirs
from ..window.driver import wait
from .loops import DrivenViewer, driven_argument, load

STEPS = 500


def contact_forces(model: mujoco.MjModel, data: mujoco.MjData) -> np.ndarray[Any, Any]:
    """Geoms, position and force of each contact, (n, 11)."""
    rows = np.empty((data.ncon, 11))
    for i, contact in enumerate(data.contact):
        rows[i, :2], rows[i, 2:5] = contact.geom, contact.pos
        mujoco.mj_contactForce(model, data, i, rows[i, 5:])
    return rows


def compare_steps(ctx: Any, window: Window) -> Any:
    session = window.app.session
    session.watch_all()
    history, engine = session.history, session.engine
    assert history is not None
    wait(ctx, lambda: history.last >= STEPS, 2000)
    ctx.yield_(5)
    contacts = 0
    with np.load(Path(driven_argument())) as theirs:
        for step in range(1, STEPS + 1):
            session.go_to(step)
            expected = theirs[str(step)]
            np.testing.assert_array_equal(contact_forces(engine.model, engine.data), expected, err_msg=str(step))
            # In the engine's order of geoms; the picture turns them towards what moves.
            shown = session.simulation.shown.contacts("all contacts")
            assert shown.force is not None
            np.testing.assert_array_equal(shown.force[shown.filled], expected[:, 5:8], err_msg=str(step))
            contacts += len(expected)
    return {"contacts": contacts, "inexact": len(history.marks), "path": str(engine.path)}


@pytest.mark.parametrize("scene", ["walker", "quadruped", "gripper"])
def test_contacts_of_random_steps_are_those_of_the_loop_to_the_last_bit(scene: str, tmp_path: Path) -> None:
    model, data = load(scene)
    rng = np.random.default_rng(11)
    seen = {}
    driven = DrivenViewer(model, data, compare_steps, tmp_path, str(tmp_path / "theirs.npz"), scene=scene)
    with driven as viewer:
        low, high = model.actuator_ctrlrange.T
        for step in range(1, STEPS + 1):
            data.ctrl[:] = rng.uniform(low, high) if (high > low).all() else rng.standard_normal(model.nu)
            data.qfrc_applied[:] = 0.01 * rng.standard_normal(model.nv)
            mujoco.mj_step(model, data)
            seen[str(step)] = contact_forces(model, data)
            if step == STEPS:
                np.savez(tmp_path / "theirs.npz", **seen)  # type: ignore[arg-type]
            viewer.sync()
        while viewer.is_running():
            viewer.sync()
            time.sleep(0.01)
    assert driven.result["contacts"] > 200
    assert driven.result["inexact"] == 0
    assert driven.result["path"] == str(find_scene(scene))


def count_steps(ctx: Any, window: Window) -> Any:
    session = window.app.session
    history, source = session.history, session.source
    assert history is not None
    assert isinstance(source, LoopSteps)
    loop = source.loop
    wait(ctx, lambda: history.last > 100, 1000)
    wait(ctx, lambda: Path(driven_argument()).exists() and loop.pending == 0, 5000)
    ctx.yield_(5)
    return {"kept": history.last, "skipped": loop.skipped, "marks": len(history.marks)}


def test_of_a_hundred_thousand_steps_each_is_kept_or_counted(tmp_path: Path) -> None:
    model, data = load("bounce")
    driven = DrivenViewer(model, data, count_steps, tmp_path, str(tmp_path / "done"), ring_bytes=2**21)
    with driven as viewer:
        for _ in range(100_000):
            mujoco.mj_step(model, data)
            viewer.sync()
        (tmp_path / "done").touch()
        while viewer.is_running():
            viewer.sync()
            time.sleep(0.01)
    assert driven.result["kept"] + driven.result["skipped"] == 100_000
    assert driven.result["kept"] > 1000
    assert driven.result["marks"] == 0


def look_slowly(ctx: Any, window: Window) -> Any:
    """In the window's process: as on a machine that is loaded."""
    source = window.app.session.source
    assert isinstance(source, LoopSteps)
    loop = source.loop
    while not Path(driven_argument()).exists():
        ctx.yield_(1)
        time.sleep(0.3)
    return {"skipped": loop.skipped}


FAST = 20_000
"""Steps of a loop that is faster than its window."""


@pytest.mark.parametrize("every_step", [False, True])
def test_a_loop_that_waits_saves_every_step(every_step: bool, tmp_path: Path) -> None:
    model, data = load("bounce")
    options: dict[str, Any] = {"ring_bytes": 2**17, "wait": True, "every_step": every_step}
    with (driven := DrivenViewer(model, data, look_slowly, tmp_path, str(tmp_path / "done"), **options)) as viewer:
        for _ in range(FAST // 5):
            for _ in range(5):
                mujoco.mj_step(model, data)
                if not every_step:
                    viewer.sync()
            viewer.sync()
        saved = viewer.save_run(tmp_path / "run.cvrun")
        (tmp_path / "done").touch()
        while viewer.is_running():
            time.sleep(0.01)
    assert (saved.steps, saved.skipped, saved.forgotten) == (FAST, 0, 0)
    assert driven.result["skipped"] == 0


def test_a_run_with_steps_left_out_says_how_many(tmp_path: Path, capfd: pytest.CaptureFixture[str]) -> None:
    model, data = load("bounce")
    options: dict[str, Any] = {"ring_bytes": 2**17, "wait": False}
    with DrivenViewer(model, data, look_slowly, tmp_path, str(tmp_path / "done"), **options) as viewer:
        for _ in range(FAST):
            mujoco.mj_step(model, data)
            viewer.sync()
        saved = viewer.save_run(tmp_path / "run.cvrun")
        (tmp_path / "done").touch()
        while viewer.is_running():
            time.sleep(0.01)
    assert saved.skipped > FAST // 4
    assert saved.steps + saved.skipped == FAST
    (line,) = capfd.readouterr().err.splitlines()
    assert f"{saved.steps} steps; missing: {saved.skipped}" in line
    assert "wait=True" in line


def test_a_served_loop_that_nobody_looks_at_saves_every_step(tmp_path: Path) -> None:
    model, data = load("bounce")
    with contact_viewer.launch_passive(model, data, serve=True, ring_megabytes=0.1) as viewer:
        for _ in range(FAST):
            mujoco.mj_step(model, data)
            viewer.sync()
        saved = viewer.save_run(tmp_path / "run.cvrun")
    assert (saved.steps, saved.skipped, saved.forgotten) == (FAST, 0, 0)


def stay_with_it(ctx: Any, window: Window) -> Any:
    session = window.app.session
    assert session.events is not None
    result = count_steps(ctx, window)
    return result | {"events": len(session.events.log)}


@pytest.mark.long
def test_five_thousand_steps_a_second_are_all_kept_with_events(tmp_path: Path) -> None:
    model, data = load("quadruped")
    driven = DrivenViewer(model, data, stay_with_it, tmp_path, str(tmp_path / "done"))
    with driven as viewer:
        began = time.monotonic()
        for k in range(15_000):
            # It jumps now and then.
            data.xfrc_applied[1, 2] = 400.0 * (k % 1000 < 40)
            mujoco.mj_step(model, data)
            viewer.sync()
            if k % 50 == 49:
                time.sleep(max(0.0, began + k / 5000 - time.monotonic()))
        assert time.monotonic() - began < 4.0, "the loop itself was not as fast"
        (tmp_path / "done").touch()
        while viewer.is_running():
            viewer.sync()
            time.sleep(0.01)
    assert driven.result["skipped"] == 0
    assert driven.result["kept"] == 15_000
    assert driven.result["events"] > 4


@pytest.mark.alone
def test_steps_are_resimulated_with_events_twice_as_fast_as_five_thousand_a_second() -> None:
    """In processor time, whatever else the machine does: a window has half of it for steps while it draws."""
    loop = Theirs("quadruped")
    session = Session(loop.simulation.engine, ViewState())
    session.track_events()
    for k in range(10_000):
        # It jumps now and then.
        loop.data.xfrc_applied[1, 2] = 400.0 * (k % 1000 < 40)
        mujoco.mj_step(loop.model, loop.data)
        loop.hand_over()
    steps, began = 0, time.thread_time()
    while (step := loop.arrivals.next_step()) is not None:
        session.simulation.observe(step)
        steps += 1
    rate = steps / (time.thread_time() - began)
    print(f"{rate:.0f} steps/s")
    assert steps == 10_001
    assert session.events is not None
    assert len(session.events.log) > 50
    assert rate > 10_000


def test_a_scene_of_another_model_is_refused() -> None:
    model, data = load("quadruped")
    with pytest.raises(SceneError, match=r"gripper.xml is not the scene of this model: nq is"):
        PassiveViewer(model, data, scene="gripper")
    spec = mujoco.MjSpec.from_file(str(find_scene("quadruped")))
    spec.geoms[-1].name = "renamed"
    with pytest.raises(SceneError, match=r"the specification is not the scene .* a geom named 'renamed'"):
        PassiveViewer(model, data, scene=spec)


def name_sensors(ctx: Any, window: Window) -> Any:
    session = window.app.session
    assert session.history is not None
    wait(ctx, lambda: session.history.last > 50)  # type: ignore[union-attr]
    sensors = session.engine.sensors
    return [sensor.name for sensor in sensors if not sensor.reconstructed], len(session.history.marks)


def test_a_specification_gives_the_window_a_model_of_its_own(tmp_path: Path) -> None:
    spec = mujoco.MjSpec.from_file(str(find_scene("quadruped")))
    model = spec.compile()
    # As programs do that vary their models.
    model.geom_friction[:, 0] = 0.31
    data = mujoco.MjData(model)
    driven = DrivenViewer(model, data, name_sensors, tmp_path, scene=spec)
    with driven as viewer:
        while viewer.is_running():
            mujoco.mj_step(model, data)
            viewer.sync()
            time.sleep(0.001)
    assert driven.result == [["foot_FL", "foot_FR", "foot_RL", "foot_RR", "belly"], 0]
    assert len(spec.sensors) == model.nsensor
