"""Cures are found, are the documented ones, and are right when they are tried in bare MuJoCo."""

import contextlib
import json
import os
import signal
import subprocess
import sys
import time
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import mujoco
import numpy as np
import pytest
from contact_viewer import SceneError, open_engine
from contact_viewer.cli import main
from contact_viewer.compare.cures import find_cure, search_cures
from contact_viewer.compare.trials import TrialOptions
from contact_viewer.compare.unwanted import Measure, read_unwanted
from contact_viewer.session.simulation import Simulation

GRASP = Path(__file__).parent.parent.parent / "docs" / "symptoms" / "scenes" / "grasp.xml"
SLOPE = """
<mujoco>
  <worldbody>
    <geom name="ramp" type="plane" size="5 5 .1" euler="0 20 0" friction=".3"/>
    <body name="box" pos="0 0 .0533" euler="0 20 0">
      <freejoint/><geom name="box" type="box" size=".05 .05 .05" mass="1" friction=".3"/>
    </body>
  </worldbody>
  <sensor><contact name="rests" geom1="ramp" geom2="box" data="found force" num="4"/></sensor>
</mujoco>"""
BALL = """
<mujoco>
  <worldbody>
    <geom name="floor" type="plane" size="5 5 .1" solref=".02 .2"/>
    <body name="ball" pos="0 0 .15"><freejoint/><geom name="ball" size=".05" mass="1" solref=".02 .2"/></body>
  </worldbody>
</mujoco>"""
BOXES = "".join(
    f'<body name="box{i}" pos="0 0 {0.05 + 0.1 * i:g}"><freejoint/><geom type="box" size=".05 .05 .05"/></body>'
    for i in range(4)
)
STACK = f"""
<mujoco>
  <option timestep=".01"/>
  <default><geom solref="-40000 -300"/></default>
  <worldbody><geom name="floor" type="plane" size="5 5 .1"/>{BOXES}</worldbody>
</mujoco>"""


def run_by_hand(path: Path, changes: Sequence[str], seconds: float, key: int | None = None) -> list[Any]:
    """Return copies of what bare MuJoCo has after every step of a scene with changed values."""
    model = mujoco.MjModel.from_xml_path(str(path))
    for text in changes:
        what, value = text.rsplit("=", 1)
        quantity, _, name = what.partition(":")
        if quantity == "cone":
            model.opt.cone = mujoco.mjtCone.mjCONE_ELLIPTIC
        elif quantity in ("friction", "solref"):
            numbers = [float(word) for word in value.split()]
            names = [
                model.geom(i).name or f"geom {i} of {model.body(model.geom_bodyid[i]).name}" for i in range(model.ngeom)
            ]
            getattr(model, f"geom_{quantity}")[names.index(name), : len(numbers)] = numbers
        else:
            setattr(model.opt, quantity, type(getattr(model.opt, quantity))(float(value)))
    data = mujoco.MjData(model)
    if key is not None:
        mujoco.mj_resetDataKeyframe(model, data, key)
    steps = []
    while data.time < seconds - model.opt.timestep / 2:
        mujoco.mj_step(model, data)
        steps.append((data.time, data.qpos.copy(), data.ncon))
    return steps


def creeps(path: Path, changes: Sequence[str]) -> float:
    steps = run_by_hand(path, changes, 1.6, 0)
    (begin, first, _), (end, last, _) = steps[len(steps) // 2], steps[-1]
    return float(np.linalg.norm(last[2:5] - first[2:5]) / (end - begin))


def slides(path: Path, changes: Sequence[str]) -> float:
    steps = run_by_hand(path, changes, 0.5)
    return float(max(np.hypot(qpos[0], qpos[1]) for _, qpos, _ in steps))


def bounces(path: Path, changes: Sequence[str]) -> float:
    touching = [ncon > 0 for _, _, ncon in run_by_hand(path, changes, 0.5)]
    return float(not all(touching[touching.index(True) :]))


def flies(path: Path, changes: Sequence[str]) -> float:
    """Return how far a box of the stack gets from where it should stand, beyond a centimetre [m]."""
    return float(max(abs(qpos[23] - 0.35) for _, qpos, _ in run_by_hand(path, changes, 1.0)) - 0.01)


CASES = {
    "creeping grip": (
        None,
        "creep:box>100um/s",
        1.6,
        "held",
        {"impratio", "noslip_iterations", "cone, impratio"},
        creeps,
        1.1e-4,
    ),
    "sliding box": (SLOPE, "slip:rests>5mm", 0.5, None, {"friction"}, slides, 5.5e-3),
    "bouncing ball": (BALL, "lost:ball", 0.5, None, {"solref"}, bounces, 0.5),
    "unstable stack": (STACK, "lost:box3", 1.0, None, {"timestep"}, flies, 0.0),
}


@pytest.mark.parametrize("name", CASES)
def test_the_documented_cure_is_among_the_first_three_and_right(name: str, tmp_path: Path) -> None:
    text, avoid, seconds, key, documented, measured, limit = CASES[name]
    path = GRASP if text is None else tmp_path / "scene.xml"
    if text is not None:
        path.write_text(text)
    found = find_cure(path, avoid, duration=seconds, key=key)
    assert found.happens
    assert found.complete
    assert found.before is not None
    assert measured(path, []) > limit
    offered = [*found.singles, *found.pairs]
    kinds = [", ".join(dict.fromkeys(change.quantity for change in cure.changes)) for cure in offered]
    assert documented & set(kinds[:3]), kinds
    for cure in offered:
        assert not found.unwanted[0].happens(cure.values[0])
        assert measured(path, [str(change) for change in cure.changes]) <= limit, cure.text
    assert len(set(found.singles)) == len({cure.changes[0].quantity for cure in found.singles})


@pytest.mark.long
@pytest.mark.parametrize("seed", range(8))
def test_cures_of_random_grips_are_right(seed: int, tmp_path: Path) -> None:
    random = np.random.default_rng(seed)
    mass, pad, force, friction = random.uniform([0.1, 0.2, 10, 0.8], [1.5, 2, 60, 1.5])
    text = GRASP.read_text().replace('mass=".5"', f'mass="{mass}" friction="{friction}"')
    text = text.replace('mass="1"', f'mass="{pad}"').replace('"20 20"', f'"{force} {force}"').replace("0 40", "0 60")
    path = tmp_path / "grasp.xml"
    path.write_text(text)
    found = find_cure(path, "creep:box>200um/s", duration=1.6, key="held")
    assert found.happens
    assert found.singles
    for cure in [*found.singles, *found.pairs]:
        assert creeps(path, [str(change) for change in cure.changes]) < 2.2e-4, cure.text


def test_elliptic_cones_creep_until_impratio_is_raised(tmp_path: Path) -> None:
    path = tmp_path / "grasp.xml"
    path.write_text(GRASP.read_text().replace("<worldbody>", '<option cone="elliptic"/><worldbody>', 1))
    found = find_cure(path, "creep:box>100um/s", ["cone", "impratio"], duration=1.6, key="held")
    (cure,) = found.singles
    assert found.parameters == ("impratio",)
    assert creeps(path, [cure.text]) <= 1.1e-4
    # The smallest that helps: three quarters of it do not.
    assert cure.changes[0].value[0] < 30
    assert creeps(path, [f"impratio={0.7 * cure.changes[0].value[0]:g}"]) > 0.9e-4


def test_what_falls_out_of_a_grip_is_held_by_friction(tmp_path: Path) -> None:
    path = tmp_path / "grip.xml"
    text = GRASP.read_text().replace('mass=".5"', 'mass=".5" friction=".1"').replace("_pad", '_pad" friction=".1')
    path.write_text(text)
    found = find_cure(path, "drop:box<0.4m", ["friction", "solref"], duration=0.6, key="held")
    (cure,) = found.singles
    assert {change.quantity for change in cure.changes} == {"friction"}
    # Two pads at 20 N carry 4.9 N from a friction of 0.1226 on; a little less lets it fall slowly enough.
    assert 0.11 < cure.changes[0].value[0] < 0.2
    assert run_by_hand(path, [str(change) for change in cure.changes], 0.6, 0)[-1][1][4] > 0.4


def test_measures_are_those_of_physics(tmp_path: Path) -> None:
    path = tmp_path / "slope.xml"
    path.write_text(SLOPE)
    simulation = Simulation(open_engine(path))
    texts = [
        "slip:rests>1mm",
        "slip:box>1mm",
        "creep:ramp x box>1",
        "force:rests>20N",
        "force:box>1",
        "drop:box<0",
        "lost:box",
    ]
    measure = Measure(simulation.shown, [read_unwanted(text) for text in texts])
    simulation.observers.append(measure)
    simulation.step(500)
    slip, same, creep, force, strongest, height, lost = measure.values()
    # It slides along the ramp with g (sin - mu cos), and is pressed by its weight alone.
    angle = np.radians(20)
    way = 0.5 * 9.81 * (np.sin(angle) - 0.3 * np.cos(angle))
    data = simulation.shown.data
    assert np.linalg.norm(data.qpos[:3] - [0, 0, 0.0533]) == pytest.approx(slip, rel=0.03)
    assert slip == same == pytest.approx(way, rel=0.1)
    assert np.isnan(creep)
    model = mujoco.MjModel.from_xml_path(str(path))
    bare, most, wrench = mujoco.MjData(model), 0.0, np.zeros(6)
    for _ in range(500):
        mujoco.mj_step(model, bare)
        net = np.zeros(3)
        for i in range(bare.ncon):
            mujoco.mj_contactForce(model, bare, i, wrench)
            net += wrench[:3] @ bare.contact.frame[i].reshape(3, 3)
        most = max(most, float(np.linalg.norm(net)))
    assert force == pytest.approx(strongest) == pytest.approx(most)
    assert most > 9.81 * np.cos(angle)
    assert height == pytest.approx(data.qpos[2], abs=0.01)
    assert lost < 0.1


def test_nothing_is_cured_that_does_not_happen(capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["cure", "stack", "--avoid", "unstable", "--duration", "0.1", "--json"]) == 0
    found = json.loads(capsys.readouterr().out)
    assert (found["happens"], found["runs"], found["singles"], found["complete"]) == (False, 1, [], True)


@pytest.mark.parametrize(
    ("avoid", "said"),
    [("slip:block_on_pedestal>1mm", "nothing touched there"), ("creep:block>1um/s", "no contact lasted one second")],
)
def test_what_is_not_known_is_said(avoid: str, said: str, capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["cure", "gripper", "--key", "hold", "--avoid", avoid, "--duration", "0.05"]) == 0
    assert said in capsys.readouterr().out


def test_a_scene_without_a_cure_ends_with_exit_code_one(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    path = tmp_path / "slope.xml"
    path.write_text(SLOPE)
    words = ["cure", str(path), "--avoid", "slip:rests>1um", "--duration", "0.2", "--vary", "noslip_iterations"]
    assert main(words) == 1
    assert "no cure among 6 changes of noslip_iterations" in capsys.readouterr().out


def test_a_saved_run_is_cured_with_the_inputs_it_had(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    run = tmp_path / "golden.cvrun"
    assert main(["events", str(GRASP), "--key", "held", "--duration", "1.6", "--save-run", str(run)]) == 0
    capsys.readouterr()
    assert main(["cure", str(run), "--avoid", "creep:box>100um/s", "--vary", "noslip_iterations", "--json"]) == 0
    found = json.loads(capsys.readouterr().out)
    other = find_cure(GRASP, "creep:box>100um/s", "noslip_iterations", duration=1.6, key="held")
    assert other.before is not None
    assert found["before"]["values"] == list(other.before.values)
    assert found["singles"][0]["changes"] == [other.singles[0].text]
    assert found["singles"][0]["values"] == list(other.singles[0].values)


def test_a_controller_starts_again_in_every_run(tmp_path: Path) -> None:
    path, control = tmp_path / "slope.xml", tmp_path / "control.py"
    path.write_text(SLOPE)
    control.write_text(
        "pushed = 0\ndef control(model, data):\n    global pushed\n    pushed += 1\n"
        "    data.xfrc_applied[1, 0] = 0.002 * pushed\n    print(pushed)\n"
    )
    found = find_cure(path, "slip:rests>5mm", "friction", duration=0.5, control=str(control))
    without = find_cure(path, "slip:rests>5mm", "friction", duration=0.5)
    assert found.singles[0].changes[0].value > without.singles[0].changes[0].value
    again = find_cure(path, "slip:rests>5mm", "friction", duration=0.5, control=str(control), jobs=1)
    assert again.singles == found.singles


def test_closing_a_search_ends_its_processes(tmp_path: Path) -> None:
    before = _children()
    search = search_cures(TrialOptions("pile", ("slip:shaft>1mm",), duration=60.0), jobs=2)
    next(search)
    children = _children() - before
    assert children
    began = time.monotonic()
    search.close()
    assert time.monotonic() - began < 3
    assert not [pid for pid in children if Path(f"/proc/{pid}").exists()]


def _children() -> set[int]:
    """Return the processes that this one has started."""
    found = set()
    for folder in Path("/proc").glob("[0-9]*"):
        with contextlib.suppress(OSError):
            if int((folder / "stat").read_text().rsplit(")", 1)[1].split()[1]) == os.getpid():
                found.add(int(folder.name))
    return found


def test_ctrl_c_ends_a_search_cleanly() -> None:
    words = ["cure", "pile", "--avoid", "slip:shaft>1mm", "--duration", "60"]
    process = subprocess.Popen(
        [sys.executable, "-m", "contact_viewer", *words],
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        text=True,
        preexec_fn=lambda: signal.signal(signal.SIGINT, signal.default_int_handler),
    )
    time.sleep(3)
    process.send_signal(signal.SIGINT)
    _, errors = process.communicate(timeout=30)
    assert process.returncode == 130
    assert "Traceback" not in errors


@pytest.mark.parametrize(
    ("words", "said"),
    [
        ([], "nothing to avoid"),
        (["--avoid", "slipp:box>1mm"], "did you mean slip?"),
        (["--avoid", "slip:box"], "write for example"),
        (["--avoid", "slip:box>1N"], "N is no unit of slip"),
        (["--avoid", "force:box>-1"], "never negative"),
        (["--avoid", "slip:blok>1mm"], "no contact sensor, geom or body named 'blok'; did you mean block?"),
        (["--avoid", "drop:fingertip_left<1m"], "no body or geom named 'fingertip_left'"),
        (["--avoid", "slip:block>1um", "--vary", "frcition"], "did you mean friction?"),
        (["--avoid", "slip:block>1um", "--vary", "gravity"], "give bounds"),
        (["--avoid", "slip:block>1um", "--vary", "friction:block=a"], "is not up to 5 numbers"),
        (["--avoid", "slip:block>1um", "--vary", "friction:blok"], "named 'blok'; did you mean block?"),
        (["--avoid", "slip:block>1um", "--vary", "force:block=0 0 1"], "no value of the model"),
        (["--avoid", "slip:block>1um", "--key", "nosuch"], "no keyframe 'nosuch'"),
        (["--avoid", "slip:block>1um", "--control", "nosuch.py"], "nosuch.py"),
    ],
)
def test_bad_input_is_one_line(words: list[str], said: str, capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["cure", "gripper", *words, "--duration", "0.01"]) == 2
    output = capsys.readouterr()
    assert (output.out, len(output.err.splitlines())) == ("", 1)
    assert said in output.err


def test_values_are_read_with_their_units() -> None:
    assert str(read_unwanted("slip: left finger > 1.5 mm")) == "slip of left finger > 1.5 mm"
    assert read_unwanted("creep:a:b>10um/s").limit == pytest.approx(1e-5)
    assert read_unwanted("creep:a:b>10um/s").name == "a:b"
    assert read_unwanted("lost:foot>50ms").limit == pytest.approx(0.05)
    assert read_unwanted("drop:box<-1cm").limit == pytest.approx(-0.01)
    with pytest.raises(SceneError, match="write for example"):
        read_unwanted("force:x>")
