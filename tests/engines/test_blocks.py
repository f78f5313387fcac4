"""Steps that are taken together, against MuJoCo taking them one by one."""

import math
from pathlib import Path
from typing import Any

import mujoco
import numpy as np
import pytest
from contact_viewer import open_engine
from contact_viewer.assets import bundled_scenes
from contact_viewer.engines.errors import EngineError, UnstableError
from contact_viewer.engines.mujoco.blocks import BlockStepper, StepBlock
from contact_viewer.engines.mujoco.run import MujocoRun

from .test_mishaps import FALLING
from .test_run import SETTINGS, robot, shown

SIZES = (1, 20, 3, 137, 15, 16, 17, 200, 31, 64)
"""As the window, a recording and a script ask for steps."""
WILD = """
<mujoco>
  <option timestep=".002"/>
  <worldbody>
    <geom name="floor" type="plane" size="5 5 .1"/>
    <body name="calm" pos="0 0 .1"><freejoint/><geom name="calm" type="box" size=".1 .1 .1"/></body>
    <body name="wild" pos="1 0 1"><joint name="up" type="slide" axis="0 0 1"/>
      <geom size=".1" contype="0" conaffinity="0"/></body>
  </worldbody>
  <actuator><general joint="up" biastype="affine" biasprm="0 3e4 0"/></actuator>
  <sensor><contact name="c" geom1="floor" geom2="calm" num="4"/></sensor>
</mujoco>"""


def meddle(data: Any, step: int) -> None:
    """What a person and a controller do between batches."""
    data.ctrl[:] = np.sin(step)
    data.xfrc_applied[1, 2] = step % 7
    data.qfrc_applied[:] = 0.01 * (step % 5)
    data.mocap_pos[:] += 0.01


def write_full(folder: Path, memory: str) -> Path:
    """A scene whose contacts, as they become more, do not fit into so much memory."""
    path = folder / "full.xml"
    path.write_text(f"""
        <mujoco><size memory="{memory}"/><worldbody><geom type="plane" size="9 9 1"/>{FALLING}</worldbody></mujoco>""")
    return path


@pytest.mark.parametrize("setting", SETTINGS)
def test_they_are_the_same_steps_to_the_last_bit(tmp_path: Path, setting: str) -> None:
    run, single = (robot(tmp_path, setting) for _ in range(2))
    model, data = single.engine.model, single.engine.data
    for size in SIZES * 2:
        for each in (run, single):
            meddle(each.engine.data, each.engine.data.time)
        run.step(size)
        for step in range(run.current - size + 1, run.current + 1):
            mujoco.mj_step(model, data)
            assert run.history.row(step).tobytes() == data.sensordata[run._columns].tobytes(), step
        assert shown(run) == shown(single)
    # What sleeps is not taken together.
    assert (run._stepper is None) == (setting == "sleep")


@pytest.mark.parametrize("scene", [scene.name for scene in bundled_scenes()])
def test_bundled_scenes_run_as_in_mujoco(scene: str) -> None:
    run, engine = MujocoRun(open_engine(scene)), open_engine(scene)
    run.step(237)
    mujoco.mj_step(engine.model, engine.data, 237)
    # The arrays of the pile may be so large that few steps are taken at once.
    assert run._stepper is not None or scene == "pile"
    for name in ("time", "qpos", "qvel", "sensordata", "efc_force", "qacc_warmstart"):
        np.testing.assert_array_equal(getattr(run.engine.data, name), getattr(engine.data, name))


def test_what_a_block_tells_of_states() -> None:
    engine = open_engine("bounce")
    model, data = engine.model, engine.data
    expected = []
    twin = open_engine("bounce").data
    for _ in range(30):
        expected.append(np.array([twin.time, *twin.qpos, *twin.qvel]))
        mujoco.mj_step(model, twin)
    block = BlockStepper(model, data, 64).take(30)
    assert block is not None
    assert block.rows.shape == (30, model.nsensordata)
    np.testing.assert_array_equal(block.states[:-1, : 1 + model.nq + model.nv], expected)
    assert block.states[-1, 0] == data.time == twin.time


def test_a_state_that_diverges_in_a_block_is_found_as_singly(tmp_path: Path) -> None:
    path = tmp_path / "wild.xml"
    path.write_text(WILD)
    outcomes = []
    for after_step in (None, lambda: None):
        run = MujocoRun(open_engine(path))
        run.engine.data.qpos[7] = 1e-3
        run.step(5)
        with pytest.raises(UnstableError) as error:
            run.step(500, after_step)
        outcomes.append((str(error.value), run.current, run.history.last, shown(run)))
    assert outcomes[0] == outcomes[1]
    assert 20 < outcomes[0][1] < 400
    assert "of wild" in outcomes[0][0]


def test_warnings_that_mujoco_survives_are_counted_as_singly(tmp_path: Path) -> None:
    path = write_full(tmp_path, "100K")
    outcomes = []
    for after_step in (None, lambda: None):
        run = MujocoRun(open_engine(path))
        try:
            run.step(600, after_step)
            failed = ""
        except EngineError as error:
            failed = str(error)
        data = run.engine.data
        outcomes.append((failed, run.current, data.time, data.qpos.tobytes(), data.warning.number.tolist()))
    assert outcomes[0] == outcomes[1]
    assert outcomes[0][0] or any(outcomes[0][4])


def test_after_a_warning_no_steps_are_taken_twice(tmp_path: Path) -> None:
    path = tmp_path / "wild.xml"
    path.write_text(WILD)
    run = MujocoRun(open_engine(path))
    run.step(40)
    assert run._stepper is not None
    run.engine.data.ctrl[0] = math.nan
    run.step(40)
    assert any(run.engine.data.warning.number)
    assert not run._stepper.ready
    run._stepper.take = None  # type: ignore[assignment, method-assign]
    run.step(30)
    assert run.current == 110


class Refusing:
    """Wants blocks, and then not."""

    def can_take_block(self, count: int) -> bool:
        return True

    def take_block(self, block: StepBlock) -> bool:
        return False


@pytest.mark.parametrize("setting", SETTINGS)
def test_steps_that_were_refused_are_taken_as_if_they_had_not_been(tmp_path: Path, setting: str) -> None:
    run, single = (robot(tmp_path, setting) for _ in range(2))
    for size in SIZES:
        for each in (run, single):
            data = each.engine.data
            meddle(data, data.time)
            # A push and a kick that no step has seen yet.
            data.qvel[:3] += 0.1
        run.step(size, lambda: None, Refusing())
        single.step(size, lambda: None)
        assert shown(run) == shown(single)


def test_a_failure_in_a_block_leaves_the_step_before(tmp_path: Path) -> None:
    path = write_full(tmp_path, "64K")
    outcomes = []
    for after_step in (None, lambda: None):
        run = MujocoRun(open_engine(path))
        with pytest.raises(EngineError) as error:
            run.step(1600, after_step)
        outcomes.append((str(error.value), run.current, shown(run)))
    assert outcomes[0] == outcomes[1]
    assert outcomes[0][1] > 0


def test_large_arrays_do_not_take_memory_for_many_steps(tmp_path: Path) -> None:
    path = tmp_path / "large.xml"
    path.write_text("""
        <mujoco><worldbody><geom type="plane" size="1 1 1"/><body pos="0 0 .1"><freejoint/><geom size=".1"/></body>
        </worldbody><sensor><contact num="20000" data="found force"/></sensor></mujoco>""")
    run = MujocoRun(open_engine(path))
    run.step(40)
    assert run.current == 40
    assert run._block_size == 1
