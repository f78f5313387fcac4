"""`contact-viewer compare A B`, judged by bare MuJoCo and by runs that are known to be equal."""

import csv
import json
import subprocess
import sys
from pathlib import Path
from typing import Any

import mujoco
import numpy as np
import pytest
from contact_viewer.cli import main

PUSHED = """
<mujoco>
  <option timestep=".002" cone="elliptic"/>
  <worldbody>
    <geom name="floor" type="plane" size="2 2 .1" friction=".1"/>
    <body name="box" pos="0 0 .0999">
      <joint name="x" type="slide" axis="1 0 0"/><joint name="z" type="slide" axis="0 0 1"/>
      <geom name="box" type="box" size=".1 .1 .1" mass="2" friction=".9"/>
    </body>
  </worldbody>
  <actuator><motor name="push" joint="x" gear="8"/></actuator>
  <sensor><contact name="rests" geom1="floor" geom2="box" data="found force" num="4"/></sensor>
</mujoco>"""
CHANGED = """
def control(model, data):
    data.ctrl[0] = 1.0
    if data.time > 0.3999:
        model.geom_friction[1, 0] = 0.3
"""


@pytest.fixture
def scene(tmp_path: Path) -> Path:
    path = tmp_path / "pushed.xml"
    path.write_text(PUSHED)
    (tmp_path / "push.py").write_text("def control(model, data):\n    data.ctrl[0] = 1.0\n")
    (tmp_path / "change.py").write_text(CHANGED)
    return path


def compared(capsys: pytest.CaptureFixture[str], *words: object) -> tuple[int, dict[str, Any]]:
    code = main(["compare", *map(str, words), "--json"])
    output = capsys.readouterr()
    assert output.out, output.err
    return code, json.loads(output.out)


@pytest.mark.parametrize(
    "words",
    [
        ["quadruped"],
        ["pile"],
        ["walker"],
        ["hand", "--noise", "qpos=1e-3,qvel=1e-2", "--seed", "3"],
        ["quadruped", "--envs", "3", "--env", "2", "--noise", "qpos=1e-3"],
    ],
)
def test_a_run_equals_itself(words: list[str], capsys: pytest.CaptureFixture[str]) -> None:
    code, found = compared(capsys, *words, *words, "--duration", "0.6")
    assert code == 0
    assert found["equal"]
    assert found["compared"] == found["steps"]["a"] == found["steps"]["b"] > 100
    assert found["first_state"] is found["first_contacts"] is None
    assert found["scene_differences"] == found["only_a"] == found["only_b"] == []


def test_a_saved_run_of_another_process_equals_its_scene(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    run = tmp_path / "golden.cvrun"
    words = ["-m", "contact_viewer", "events", "walker", "--duration", "0.4", "--save-run", str(run)]
    subprocess.run([sys.executable, *words], check=True, capture_output=True, timeout=120)
    code, found = compared(capsys, "walker", run)
    assert (code, found["equal"]) == (0, True)
    assert found["compared"] >= 200
    code, found = compared(capsys, "walker", run, "--duration", "2")
    assert (code, found["equal"]) == (1, False)
    assert "ends at" in found["endings"]["b"]
    assert found["first_state"] is None


def test_another_environment_differs_by_its_noise(capsys: pytest.CaptureFixture[str]) -> None:
    words = ["quadruped", "--envs", "2", "--noise", "qpos=1e-3"]
    code, found = compared(capsys, *words, *words, "--env", "1", "--duration", "0.05")
    assert code == 1
    assert found["first_state"]["step"] == 0


def test_a_friction_that_changes_is_found_as_brute_force_finds_it(
    scene: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    models = [mujoco.MjModel.from_xml_path(str(scene)) for _ in range(2)]
    datas = [mujoco.MjData(model) for model in models]
    first_contacts = first_state = 0
    for step in range(1, 400):
        for number, (model, data) in enumerate(zip(models, datas, strict=True)):
            data.ctrl[0] = 1.0
            if number and data.time > 0.3999:
                model.geom_friction[1, 0] = 0.3
            mujoco.mj_step(model, data)
        if not first_contacts and (datas[0].contact.friction != datas[1].contact.friction).any():
            first_contacts = step
            assert (datas[0].contact.dist == datas[1].contact.dist).all()
        if not first_state and (datas[0].qpos != datas[1].qpos).any():
            first_state = step
    assert 190 < first_contacts <= first_state
    push, change = tmp_path / "push.py", tmp_path / "change.py"
    code, found = compared(capsys, scene, "--control", push, scene, "--control", change, "--duration", "0.8")
    assert code == 1
    assert found["first_contacts"]["step"] == first_contacts
    assert found["first_contacts"]["link"] == "mixed parameters"
    assert found["first_contacts"]["text"].startswith("friction of floor × box: 0.9 in A, 0.3 in B")
    assert found["first_state"]["step"] == first_state
    (sensor,) = found["sensors"]
    assert sensor["force_difference"]["max"] > 1


@pytest.mark.parametrize(
    ("before", "after", "kind", "link", "words"),
    [
        ('friction=".9"', 'friction=".5"', "geom", "mixed parameters", "friction of floor × box"),
        ('friction=".9"', 'friction=".9" solref=".05 1"', "geom", "mixed parameters", "solref of floor × box"),
        ('size=".1 .1 .1" mass', 'size=".1 .2 .1" mass', "geom", "contact points", "position of floor × box"),
        ('size=".1 .1 .1" mass', 'size=".1 .1 .1" pos="0 0 -.01" mass', None, "contact points", "position of floor"),
        (
            'mass="2"',
            'mass="2" contype="0" conaffinity="0"',
            "geom",
            "pair list",
            "floor × box is only in the list of A",
        ),
        ('cone="elliptic"', 'gravity="0 0 -5" cone="elliptic"', "option", "solved force", "force of floor × box"),
        ('gear="8"', 'gear="9"', None, None, ""),
    ],
)
def test_the_first_link_is_that_of_the_change(
    scene: Path,
    before: str,
    after: str,
    kind: str | None,
    link: str | None,
    words: str,
    capsys: pytest.CaptureFixture[str],
) -> None:
    other = scene.with_name("other.xml")
    other.write_text(PUSHED.replace(before, after, 1))
    assert other.read_text() != PUSHED
    code, found = compared(capsys, scene, other, "--duration", "0.1")
    assert code == (link is not None)
    if link is not None:
        assert (found["first"]["step"], found["first"]["link"]) == (1, link)
        assert found["first_contacts"]["text"].startswith(words)
    assert {row["kind"] for row in found["scene_differences"]} == ({kind} if kind else set())


def test_set_is_the_same_as_another_file(scene: Path, capsys: pytest.CaptureFixture[str]) -> None:
    other = scene.with_name("other.xml")
    other.write_text(PUSHED.replace('friction=".9"', 'friction=".5"').replace('cone="elliptic"', 'impratio="5"'))
    words = ["--set", "friction:box=0.5", "--set", "impratio=5", "--set", "cone=pyramidal"]
    assert compared(capsys, other, scene, *words, "--duration", "0.2")[0] == 0
    assert compared(capsys, other, scene, *words[:4], "--duration", "0.2")[0] == 1


def test_another_input_comes_before_its_contacts(
    scene: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    _, found = compared(capsys, scene, scene, "--control", tmp_path / "push.py", "--duration", "0.1")
    assert found["first_contacts"]["link"] == "inputs"
    assert found["first_contacts"]["text"] == "ctrl[0]: 0 in A, 1 in B"
    constant = tmp_path / "constant.py"
    constant.write_text("PUSH = 1.0\ndef control(model, data):\n    data.ctrl[0] = PUSH\n")
    words = [scene, "--control", constant]
    _, other = compared(capsys, *words, *words, "--param", "PUSH=2", "--duration", "0.1")
    assert other["first_contacts"]["text"] == "ctrl[0]: 1 in A, 2 in B"
    assert "--param PUSH=2" in other["labels"]["b"]
    assert (found["first"]["step"], found["first"]["link"]) == (1, "inputs")


def test_figures_and_events_are_those_of_the_runs(scene: Path, capsys: pytest.CaptureFixture[str]) -> None:
    drop = PUSHED.replace('pos="0 0 .0999"', 'pos="0 0 .2"')
    other = scene.with_name("drop.xml")
    other.write_text(drop)
    _, found = compared(capsys, scene, other, "--duration", "1")
    (sensor,) = found["sensors"]
    # A resting box of 2 kg, and one that falls 0.1 m first, as long as sqrt(2 h / g).
    assert sensor["metrics_a"]["impulse"] == pytest.approx(19.62, rel=0.02)
    (landing, *_) = sensor["events_only_b"]
    assert landing["kind"] == "touchdown"
    assert landing["time"] == pytest.approx(np.sqrt(0.2 / 9.81), abs=0.005)
    assert sensor["metrics_b"]["contact_time"] < sensor["metrics_a"]["contact_time"]


def test_forces_that_are_not_known_have_no_figures(
    scene: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    log, data = tmp_path / "log.npz", mujoco.MjData(model := mujoco.MjModel.from_xml_path(str(scene)))
    rows = []
    for _ in range(100):
        rows.append(data.qpos.copy())
        mujoco.mj_step(model, data)
    # Without velocities no step can be re-simulated.
    np.savez(log, qpos=rows, time=0.002 * np.arange(100))
    _, found = compared(capsys, scene, "--log", log, scene)
    (sensor,) = found["sensors"]
    assert sensor["metrics_a"] == sensor["metrics_difference"] == {}
    assert sensor["events_only_a"] == sensor["events_only_b"] == []
    assert sensor["metrics_b"]["contact_time"] > 0.1
    assert sensor["a"]["force_mean"] is None


def test_what_has_no_counterpart_is_listed(scene: Path, capsys: pytest.CaptureFixture[str]) -> None:
    other = scene.with_name("more.xml")
    body = '<body name="ball" pos="1 0 1"><freejoint name="fly"/><geom name="ball" size=".1"/></body></worldbody>'
    other.write_text(PUSHED.replace("</worldbody>", body).replace("rests", "stands"))
    code, found = compared(capsys, scene, other, "--duration", "0.2")
    assert found["only_a"] == ["sensor rests"]
    assert found["only_b"] == ["body ball", "joint fly", "geom ball", "sensor stands"]
    # The box is the same in both: its joints, and its contacts with the floor until the ball lands.
    assert (code, found["equal"]) == (0, True)


def test_a_tolerance_lets_small_differences_pass(scene: Path, capsys: pytest.CaptureFixture[str]) -> None:
    words = [scene, scene, "--set", "friction:box=0.9000000000000002", "--duration", "0.1"]
    code, found = compared(capsys, *words)
    text = "friction of floor × box: 0.9 in A, 0.9000000000000002 in B"
    assert (code, found["first_contacts"]["text"]) == (1, text)
    words[3] = "friction:box=0.900001"
    assert compared(capsys, *words)[0] == 1
    assert compared(capsys, *words, "--tolerance", "1e-3")[0] == 0


def test_the_table_has_the_forces_of_both(scene: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    path = tmp_path / "diff.csv"
    words = ["compare", scene, scene, "--set", "gravity=0,0,-5", "--duration", "0.5", "-o", path]
    assert main([*map(str, words)]) == 1
    rows = list(csv.DictReader(path.open()))
    assert len(rows) == 250
    assert float(rows[-1]["force_a"]) == pytest.approx(2 * 9.81, rel=1e-3)
    assert float(rows[-1]["force_b"]) == pytest.approx(10, rel=1e-3)
    assert float(rows[-1]["force_difference"]) == pytest.approx(9.62, rel=1e-3)
    assert "solved force" in capsys.readouterr().out


def test_different_time_steps_are_linked_by_time(scene: Path, capsys: pytest.CaptureFixture[str]) -> None:
    fine = ["--set", "timestep=0.001"]
    for words, steps in (([scene, scene, *fine], (100, 200)), ([scene, *fine, scene], (200, 100))):
        _, found = compared(capsys, *words, "--duration", "0.2")
        assert found["steps"] == dict(zip("ab", steps, strict=True))
        assert found["compared"] == 100
        assert found["first_state"]["time"] == pytest.approx(0.002)


@pytest.mark.parametrize(
    ("words", "said"),
    [
        (["slope", "slope", "slope"], "two runs are compared, not 3"),
        (["slope", "slope@isaac"], "unknown engine 'isaac'"),
        (["slope", "nosuch"], "nosuch: no such file"),
        (["slope", "slope", "--set", "friction:bix=1"], "named 'bix'"),
        (["slope", "slope", "--set", "friction"], "changes nothing"),
        (["slope", "slope", "--set", "impratoi=1"], "did you mean impratio?"),
        (["slope", "slope", "--set", "force:box=1,0,0"], "push with --control"),
        (["slope", "slope", "--sensor", "x"], "no contact sensor 'x'"),
        (["slope", "slope", "-o", "x.txt"], "unknown suffix"),
        (["slope", "slope", "--env", "1"], "--env 1"),
    ],
)
def test_bad_input_is_one_line(words: list[str], said: str, capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["compare", *words, "--duration", "0.01"]) == 2
    output = capsys.readouterr()
    assert output.out == ""
    assert said in output.err
    assert len(output.err.splitlines()) == 1
