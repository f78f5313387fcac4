"""Figures of runs against physics, and against what export writes of the same run."""

import math
import re
import time
from pathlib import Path
from typing import Any

import gymnasium
import mujoco
import numpy as np
import polars
import pytest
from contact_viewer import open_engine
from contact_viewer.cli import main
from contact_viewer.scene_files.safe_open import open_safely
from contact_viewer.sweeps.sweep import make_plan
from contact_viewer.sweeps.task import RunResult, Task

from .scenes import BALL, SLIDE

G = 9.81


def take(scene: str | Path, seed: int = 0, duration: float = 2.0, **more: Any) -> RunResult:
    plan = make_plan([scene], [seed], duration, **more)
    result = Task(plan, lambda number: open_safely(plan.scenes[number])).run(plan.run(0))
    assert result.failure is None
    return result


@pytest.fixture
def slide(tmp_path: Path) -> Path:
    path = tmp_path / "slide.xml"
    path.write_text(SLIDE)
    return path


@pytest.fixture
def ball(tmp_path: Path) -> Path:
    path = tmp_path / "ball.xml"
    path.write_text(BALL)
    return path


@pytest.mark.parametrize("factor", [0.5, 1.0])
def test_a_box_slips_down_a_slope_as_far_as_friction_lets_it(slide: Path, factor: float) -> None:
    (figures,) = take(slide, duration=0.6, vary=[f"friction={factor}"]).figures
    acceleration = 5 - factor * 0.4 * 8
    # Beside the moment in which the box sinks in, and the speed up to which contacts only creep.
    assert figures["slip_distance"] == pytest.approx(acceleration * 0.6**2 / 2, rel=0.01)
    assert figures["slip_time"] == pytest.approx(0.6, abs=0.01)
    assert figures["slip_start"] < 0.01
    # The weight across the slope, and friction along it.
    assert figures["impulse_z"] == pytest.approx(2 * 8 * 0.6, rel=0.01)
    assert figures["impulse_x"] == pytest.approx(-2 * factor * 0.4 * 8 * 0.6, rel=0.01)


def test_a_box_that_friction_holds_does_not_slip(slide: Path) -> None:
    # With friction as stiff as MuJoCo has it, at which a box that is held creeps at less than 1 mm/s.
    slide.write_text(SLIDE.replace('solreffriction="1 1"', ""))
    (figures,) = take(slide, duration=0.6, vary=["friction=2"]).figures
    assert figures["slip_distance"] < 1e-4
    assert figures["slip_time"] < 0.03
    assert figures["duty_factor"] > 0.99


def test_a_box_that_friction_holds_creeps_as_far_as_it_moves(slide: Path) -> None:
    (figures,) = take(slide, duration=2.0, vary=["friction=3"]).figures
    assert figures["slip_distance"] == 0
    model = mujoco.MjModel.from_xml_path(str(slide))
    model.pair_friction[:, :2] *= 3
    data = mujoco.MjData(model)
    mujoco.mj_forward(model, data)
    start = data.xpos[-1].copy()
    mujoco.mj_step(model, data, round(2.0 / model.opt.timestep))
    moved = np.linalg.norm((data.xpos[-1] - start)[:2])
    assert figures["creep_distance"] == pytest.approx(moved, rel=0.1)
    assert figures["creep_speed"] == pytest.approx(figures["creep_distance"] / 2.0, rel=0.2)
    assert figures["creep_start"] < 0.2


def test_a_bouncing_ball_is_in_the_air_as_long_as_gravity_says(ball: Path) -> None:
    (figures,) = take(ball, duration=3.0).figures
    fall = math.sqrt(2 * 0.5 / G)
    # It falls once, and then flies up and down again and again.
    flights = int((3.0 - fall) // (2 * fall))
    assert figures["touchdowns"] == flights + 1
    assert figures["longest_air_time"] == pytest.approx(2 * fall, abs=0.005)
    assert figures["contact_time"] == pytest.approx(0.0, abs=0.05)
    assert figures["air_time"] + figures["contact_time"] == pytest.approx(3.0)
    assert figures["duty_factor"] == pytest.approx(figures["contact_time"] / 3.0)
    assert fall < figures["penetration_time"] < 3.0


def test_impulse_is_the_change_of_momentum(ball: Path) -> None:
    plan = make_plan([ball], [0], 1.0)
    task = Task(plan, lambda number: open_safely(plan.scenes[number]))
    (figures,) = task.run(plan.run(0)).figures
    speed = float(task._engine.data.qvel[2])  # type: ignore[union-attr]
    assert figures["impulse_z"] == pytest.approx(0.5 * (speed + G * 1.0), rel=1e-9)
    assert figures["impulse"] == pytest.approx(figures["impulse_z"], rel=1e-9)


@pytest.mark.parametrize(("scene", "seed"), [("quadruped", 3), ("slope", 7), ("targets", 1), ("pile", 0)])
def test_figures_are_those_of_exported_rows(tmp_path: Path, scene: str, seed: int) -> None:
    words = ["--vary", "friction=0.3:0.6", "--vary", "gravity=0.9:1.1", "--noise", "qpos=0.01,qvel=0.1"]
    duration = 0.3 if scene == "pile" else 1.2
    result = take(scene, seed, duration, vary=["friction=0.3:0.6", "gravity=0.9:1.1"], noise="qpos=0.01,qvel=0.1")
    path = tmp_path / "contacts.parquet"
    assert main(["export", scene, "-o", str(path), "--seed", str(seed), "--duration", str(duration), *words]) == 0
    table = polars.read_parquet(path).filter(polars.col("step") > 0)
    steps = int(table["step"].max())  # type: ignore[arg-type]
    timestep = float(table.filter(polars.col("step") == 1)["time"][0])
    sensors = open_engine(scene).sensors
    for name, figures in zip(result.sensors, result.figures, strict=True):
        own = table.filter(polars.col("sensor") == name)
        assert figures["steps"] == steps
        rows: dict[int, list[dict[str, Any]]] = {step: [] for step in range(1, steps + 1)}
        for row in own.iter_rows(named=True):
            rows[row["step"]].append(row)
        forces, net, depths, dropped = [], [], [], []
        for step in range(1, steps + 1):
            filled = [row for row in rows[step] if row["found"]]
            vectors = [[row[f"force_{axis}"] for axis in "xyz"] for row in filled]
            net.append(np.sum(vectors, axis=0) if vectors else np.zeros(3))
            norms = [float(np.linalg.norm(vector)) for vector in vectors] or [0.0]
            strongest = sensors[name].reduce == "maxforce"
            forces.append(max(norms) if strongest else float(np.linalg.norm(net[-1])))
            depths.append(max([0.0, *(-row["dist"] for row in filled if row["dist"] is not None)]))
            dropped.append(max(0, round(filled[0]["found"]) - len(filled)) if filled else 0)
        touching, state = [], False
        begun = 0
        for step, force in enumerate(forces):
            before = state
            state = force > 1.0 or (state and not force < 0.5)
            begun += state and not before and step > 0
            touching.append(state)
        close: dict[str, Any] = {"rel": 1e-9, "abs": 1e-12}
        assert figures["peak_force"] == pytest.approx(max(forces), **close)
        if max(forces):
            assert round(figures["peak_time"] / timestep) == 1 + int(np.argmax(forces))
        assert figures["impulse"] == pytest.approx(sum(forces) * timestep, **close)
        for axis, sum_ in zip("xyz", np.sum(net, axis=0), strict=True):
            assert figures[f"impulse_{axis}"] == pytest.approx(sum_ * timestep, rel=1e-9, abs=1e-9)
        assert figures["contact_time"] == pytest.approx(sum(touching) * timestep)
        assert figures["air_time"] == pytest.approx((steps - sum(touching)) * timestep)
        assert figures["touchdowns"] == begun
        if sum(touching):
            inside = [force for force, on in zip(forces, touching, strict=True) if on]
            assert figures["mean_force"] == pytest.approx(np.mean(inside), **close)
        if not math.isnan(figures["penetration"]):
            assert figures["penetration"] == pytest.approx(max(depths), **close)
            assert figures["dropped_contacts"] == max(dropped)
            assert figures["dropped_time"] == pytest.approx(sum(count > 0 for count in dropped) * timestep)


def test_a_run_does_not_depend_on_the_runs_before_it(tmp_path: Path) -> None:
    control = tmp_path / "push.py"
    control.write_text(
        "calls = 0\n"
        "def control(model, data):\n"
        "    global calls\n"
        "    calls += 1\n"
        "    data.qfrc_applied[0] = 0.1 * calls\n"
        "def reset(model, data, rng):\n"
        "    data.qvel[0] = rng.normal()\n"
    )
    plan = make_plan(["slope"], range(4), 0.2, control=str(control))
    task = Task(plan, lambda number: open_safely(plan.scenes[number]))
    forward = [task.run(run) for run in plan.runs()]
    backward = [task.run(plan.run(number)) for number in (3, 2, 1, 0)][::-1]
    assert [clean(result) for result in forward] == [clean(result) for result in backward]
    assert len({repr(clean(result)) for result in forward}) == 4


def clean(result: RunResult) -> list[list[str]]:
    return [[f"{name}={value!r}" for name, value in row.items() if name != "wall_time"] for row in result.figures]


def test_long_runs_are_counted_in_blocks(ball: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    whole = take(ball, duration=1.0).figures[0]
    monkeypatch.setattr("contact_viewer.engines.steps._MOST_STEPS", 7)
    cut = take(ball, duration=1.0).figures[0]
    for name, value in whole.items():
        if name != "wall_time":
            assert cut[name] == pytest.approx(value, rel=1e-12, nan_ok=True), name


def test_slip_where_friction_differs_within_a_sensor(tmp_path: Path) -> None:
    """The contact list has the friction of every contact; a sensor for one geom needs no list. Both agree."""
    path = tmp_path / "two.xml"
    path.write_text(
        SLIDE.replace(
            'mass="2"/></body>', 'mass="2"/><geom name="lid" type="sphere" size="0.01" friction="2 0 0"/></body>'
        ).replace("</sensor>", '<contact name="both" body1="world" body2="box" data="found" num="4"/></sensor>')
    )
    one, both = take(path, duration=0.6).figures
    assert both["slip_distance"] == pytest.approx(one["slip_distance"], rel=1e-12)
    assert both["slip_time"] == one["slip_time"]
    assert one["slip_distance"] > 0.2


def test_an_unstable_run_says_when(tmp_path: Path) -> None:
    path = tmp_path / "wild.xml"
    path.write_text(
        BALL.replace(
            "<worldbody>", '<worldbody><body pos="9 0 9"><joint name="j" type="slide"/><geom size="0.1"/></body>'
        )
    )
    control = tmp_path / "wild.py"
    control.write_text("def control(model, data):\n    data.qfrc_applied[0] = 1e30 if data.time > 0.4 else 0\n")
    plan = make_plan([path], [0], 1.0, control=str(control))
    result = Task(plan, lambda number: open_safely(plan.scenes[number])).run(plan.run(0))
    assert result.failure is None
    assert result.figures[0]["unstable_at"] == pytest.approx(0.4, abs=0.01)
    assert result.figures[0]["duration"] == pytest.approx(result.figures[0]["unstable_at"])


ROBOTS = Path(gymnasium.__file__).parent / "envs" / "mujoco" / "assets"
STATE = int(mujoco.mjtState.mjSTATE_INTEGRATION)
PUSH = """
import numpy as np

def control(model, data):
    rng = np.random.default_rng([7, round(data.time / model.opt.timestep) // 10])
    data.ctrl[:] = rng.uniform(-1, 1, model.nu)
"""
SENSORS = '<sensor><contact name="all" num="40"/><contact name="{0}" geom1="floor" subtree2="{0}" num="9"/></sensor>'


def bare_slip(path: Path, duration: float) -> float:
    """Way of the fastest sliding contact of a robot that is pushed [m], from MuJoCo's contacts before each step."""
    model = mujoco.MjModel.from_xml_path(str(path))
    data, before = mujoco.MjData(model), mujoco.MjData(model)
    names: dict[str, Any] = {}
    exec(PUSH, names)
    state = np.empty(mujoco.mj_stateSize(model, STATE))
    way, wrench = 0.0, np.zeros(6)
    pyramidal = model.opt.cone == mujoco.mjtCone.mjCONE_PYRAMIDAL
    for _ in range(round(duration / model.opt.timestep)):
        names["control"](model, data)
        mujoco.mj_getState(model, data, state, STATE)
        mujoco.mj_step(model, data)
        mujoco.mj_setState(model, before, state, STATE)
        mujoco.mj_forward(model, before)
        fastest = 0.0
        for i, contact in enumerate(before.contact):
            mujoco.mj_contactForce(model, before, i, wrench)
            velocity = [np.zeros(6), np.zeros(6)]
            for geom, found in zip(contact.geom, velocity, strict=True):
                mujoco.mj_objectVelocity(model, before, mujoco.mjtObj.mjOBJ_GEOM, geom, found, 0)
                found[3:] += np.cross(found[:3], contact.pos - before.geom_xpos[geom])
            across = contact.frame.reshape(3, 3)[1:] @ (velocity[1][3:] - velocity[0][3:])
            shares = np.abs(wrench[1 : contact.dim]) / contact.friction[: contact.dim - 1]
            share = shares.sum() if pyramidal else np.linalg.norm(shares)
            speed = float(np.linalg.norm(across))
            if wrench[0] > 1e-9 and share >= 0.999 * wrench[0] and speed > 2e-3:
                fastest = max(fastest, speed)
        way += fastest * model.opt.timestep
    return way


@pytest.mark.parametrize("robot", ["hopper.xml", "walker2d_v5.xml", "ant.xml"])
@pytest.mark.parametrize("sensors", [True, False])
def test_a_robot_of_gymnasium_slips_as_far_as_its_contacts_say(tmp_path: Path, robot: str, sensors: bool) -> None:
    """Its contacts differ in friction, and its integrator leaves others behind than those that the arrays report."""
    text = (ROBOTS / robot).read_text()
    declared = SENSORS.format("torso") if sensors else ""
    path, control = tmp_path / robot, tmp_path / "push.py"
    path.write_text(text.replace("</mujoco>", f"{declared}</mujoco>"))
    control.write_text(PUSH)
    result = take(path, duration=1.0, control=str(control))
    assert result.sensors == (("all", "torso") if sensors else ("all contacts",))
    assert result.figures[0]["slip_distance"] == pytest.approx(bare_slip(path, 1.0), rel=1e-9)
    assert result.figures[0]["slip_distance"] > 0.01


def test_slip_that_is_not_known_is_not_counted(tmp_path: Path) -> None:
    """Of a late sensor whose contacts differ in friction: they are no longer in the contact list."""
    text = SLIDE.replace('geom1="floor" geom2="box" data', 'nsample="20" delay=".02" geom1="box" data')
    other = '<geom name="other" type="box" size=".1 .1 .1" pos="5 0 0" friction="2"/>'
    path = tmp_path / "late.xml"
    path.write_text(text.replace("</worldbody>", f"{other}</worldbody>"))
    (figures,) = take(path, duration=0.6).figures
    assert math.isnan(figures["slip_distance"])
    assert math.isnan(figures["slip_time"])
    assert figures["penetration"] > 0


def without_sensors(folder: Path) -> dict[str, Path]:
    """Robots without contact sensors."""
    quadruped = open_engine("quadruped").path
    assert quadruped is not None
    (folder / "quadruped.xml").write_text(re.sub(r"<sensor>.*?</sensor>", "", quadruped.read_text(), flags=re.S))
    return {"hopper": ROBOTS / "hopper.xml", "ant": ROBOTS / "ant.xml", "quadruped": folder / "quadruped.xml"}


@pytest.mark.alone
@pytest.mark.parametrize("robot", ["hopper", "ant", "quadruped"])
def test_a_sweep_of_a_robot_without_sensors_costs_at_most_twice_its_steps(tmp_path: Path, robot: str) -> None:
    path = without_sensors(tmp_path)[robot]
    model, seconds = mujoco.MjModel.from_xml_path(str(path)), 6.0
    steps = round(seconds / model.opt.timestep)
    plan = make_plan([path], [0], seconds)
    task = Task(plan, lambda number: open_safely(plan.scenes[number]))
    task.run(plan.run(0))

    def bare() -> None:
        data = mujoco.MjData(model)
        for _ in range(steps):
            mujoco.mj_step(model, data)

    ratios = []
    for _ in range(7):
        times = [timed(bare), timed(lambda: task.run(plan.run(0))), timed(bare)]
        ratios.append(2 * times[1] / (times[0] + times[2]))
    print(f"{robot}: {np.median(ratios):.2f} times bare")
    assert min(ratios) < 2


@pytest.mark.alone
@pytest.mark.parametrize("robot", ["hopper", "ant", "quadruped"])
def test_export_of_a_robot_without_sensors_costs_what_it_costs_with_one(
    tmp_path: Path, robot: str, capfd: pytest.CaptureFixture[str]
) -> None:
    path, one = without_sensors(tmp_path)[robot], tmp_path / "one.xml"
    declared = '<sensor><contact name="all" num="30" data="found force pos"/></sensor></mujoco>'
    one.write_text(re.sub(r"</mujoco>\s*$", declared, path.read_text()))
    timestep = mujoco.MjModel.from_xml_path(str(path)).opt.timestep

    def run(scene: Path, steps: int) -> float:
        words = ["export", str(scene), "-o", str(tmp_path / "table.csv"), "--duration", str(steps * timestep)]
        return timed(lambda: main(words))

    def cost(scene: Path) -> float:
        """Processor time of 2000 steps more [s]."""
        return run(scene, 2100) - run(scene, 100)

    cost(path)
    ratios = [cost(path) / cost(one) for _ in range(4)]
    capfd.readouterr()
    print(f"{robot}: {np.median(ratios):.2f} times that of a declared sensor")
    assert min(ratios) < 1.3


def timed(action: Any) -> float:
    start = time.process_time()
    action()
    return time.process_time() - start
