"""Contact sensors for bodies and geoms of scenes that declare none, against MuJoCo's own contact list."""

import subprocess
import sys
import time
from collections.abc import Callable
from pathlib import Path

import gymnasium
import mujoco
import numpy as np
import pyarrow.parquet as pq
import pytest
from contact_viewer import open_engine
from contact_viewer.errors import SceneError
from contact_viewer.mjmodel.types import MjModel
from contact_viewer.scene_files.compiled_sensors import watch
from contact_viewer.scene_files.safe_open import open_safely
from contact_viewer.sweeps.plan import Run
from contact_viewer.sweeps.scene_store import SceneStore, unpack_scene
from contact_viewer.sweeps.sweep import make_plan, sweep
from contact_viewer.sweeps.task import Task
from numpy.typing import NDArray

ASSETS = Path(gymnasium.__file__).parent / "envs/mujoco/assets"
STEPS = 500


def forces_on_bodies(path: Path) -> tuple[MjModel, NDArray[np.float64]]:
    """Step a scene bare; the model, and the force that contacts exert on each body in each step [N], world."""
    model = mujoco.MjModel.from_xml_path(str(path))
    # The contact list is then that of the sensors.
    model.opt.integrator = mujoco.mjtIntegrator.mjINT_EULER
    data, forces, wrench = mujoco.MjData(model), np.zeros((STEPS, model.nbody, 3)), np.zeros(6)
    for step in range(STEPS):
        mujoco.mj_step(model, data)
        for i, contact in enumerate(data.contact):
            mujoco.mj_contactForce(model, data, i, wrench)
            world = contact.frame.reshape(3, 3).T @ wrench[:3]
            first, second = model.geom_bodyid[contact.geom]
            forces[step, second] += world
            forces[step, first] -= world
    return model, forces


def test_each_body_has_the_forces_that_act_on_it(tmp_path: Path) -> None:
    path = tmp_path / "ant.xml"
    path.write_text((ASSETS / "ant.xml").read_text().replace('integrator="RK4"', 'integrator="Euler"'))
    model, forces = forces_on_bodies(path)
    table = sweep(path, 1, STEPS * model.opt.timestep, watch="each-body").to_pylist()
    names = [model.body(i).name or f"body {i}" for i in range(model.nbody)]
    assert sorted(row["sensor"] for row in table) == sorted(names[1:])
    impulses = forces.sum(axis=0) * model.opt.timestep
    for row in table:
        body = names.index(row["sensor"])
        seen = [row[f"impulse_{axis}"] for axis in "xyz"]
        np.testing.assert_allclose(seen, impulses[body], atol=1e-9)
        touches = np.linalg.norm(forces[:, body], axis=1) > 1.0
        assert row["contact_time"] == pytest.approx(touches.sum() * model.opt.timestep, abs=0.1)
    assert sum(row["impulse_z"] > 1 for row in table) == 4


def test_patterns_choose_bodies_and_geoms() -> None:
    scene = open_safely(ASSETS / "ant.xml")
    names = watch(scene, ["geom:*ankle*", "body:torso", "geom:*ankle*"])
    assert sorted(open_engine(names).sensors.names) == sorted(
        ["torso", *(f"{side}_ankle_geom" for side in ("left", "right", "third", "fourth"))]
    )
    assert watch(scene, []) is scene
    for pattern, message in (
        ("geom:*paw*", r"geom:\*paw\*: fits nothing that can touch; there are: floor, torso_geom"),
        ("feet", "is not each-body, body:PATTERN or geom:PATTERN"),
    ):
        with pytest.raises(SceneError, match=message):
            watch(scene, [pattern])


def test_sensors_that_the_scene_declares_stay() -> None:
    scene = open_safely(Path("scenes/quadruped.xml").absolute())
    before = open_engine(scene).sensors.names
    after = open_engine(watch(scene, ["each-body"])).sensors.names
    assert after[: len(before)] == before
    assert len(after) > len(before)


@pytest.mark.parametrize("command", ["export", "record"])
def test_commands_watch(command: str, tmp_path: Path) -> None:
    output = tmp_path / ("contacts.csv" if command == "export" else "film.mp4")
    data = [] if command == "export" else ["--data", str(tmp_path / "contacts.csv"), "--size", "160x90"]
    words = [command, str(ASSETS / "ant.xml"), "--watch", "geom:*ankle*", "--duration", "1", "-o", str(output), *data]
    done = subprocess.run([sys.executable, "-m", "contact_viewer", *words], capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stderr
    rows = (tmp_path / "contacts.csv").read_text().splitlines()
    place = rows[0].split(",").index("sensor")
    assert {row.split(",")[place] for row in rows[1:]} == {
        f"{side}_ankle_geom" for side in ("left", "right", "third", "fourth")
    }
    words[words.index("geom:*ankle*")] = "geom:*paw*"
    done = subprocess.run([sys.executable, "-m", "contact_viewer", *words], capture_output=True, text=True, check=False)
    assert (done.returncode, done.stderr.count("\n")) == (2, 1)
    assert "fits nothing that can touch" in done.stderr


def processor_time(action: Callable[[], object]) -> float:
    start = time.thread_time()
    action()
    return time.thread_time() - start


@pytest.mark.alone
@pytest.mark.parametrize("name", ["ant", "hopper", "humanoid"])
def test_a_row_for_each_body_costs_at_most_two_times_the_steps(name: str) -> None:
    path = ASSETS / f"{name}.xml"
    plan = make_plan([path], [0], 20.0, watched=("each-body",))
    scene = unpack_scene(SceneStore(plan).packed(0))
    task = Task(plan, lambda number: scene)
    model = mujoco.MjModel.from_xml_path(str(path))

    def bare() -> None:
        data = mujoco.MjData(model)
        for _ in range(round(20.0 / model.opt.timestep)):
            mujoco.mj_step(model, data)

    def ours() -> None:
        assert task.run(Run(0, 0, 0)).failure is None

    ours()
    ratios = [processor_time(ours) / processor_time(bare) for _ in range(3)]
    print(f"{name}: a row for each body costs {min(ratios):.2f} times the steps")
    assert min(ratios) < 2.0


def test_a_saved_run_is_swept_as_it_is(tmp_path: Path) -> None:
    """Without seeds and duration: its own figures, which are those of the scene that was stepped."""

    def call(*words: str) -> None:
        subprocess.run([sys.executable, "-m", "contact_viewer", *words], check=True, capture_output=True, cwd=tmp_path)

    call("export", "slope", "--duration", "1", "--save-run", "run.cvrun", "-o", "run.csv")
    call("sweep", "run.cvrun", "-o", "saved")
    call("sweep", "slope", "-o", "stepped", "--seeds", "0", "--duration", "1")
    saved, stepped = (pq.read_table(tmp_path / name / "metrics.parquet").to_pylist() for name in ("saved", "stepped"))
    assert [row["steps"] for row in saved] == [500] * len(stepped)
    for name in ("sensor", "peak_force", "impulse", "touchdowns"):
        assert [row[name] for row in saved] == [row[name] for row in stepped]
