"""`contact-viewer compare`: both engines on one scene."""

import json
import subprocess
import sys
from pathlib import Path

import pytest
from contact_viewer.cli import main

WEIGHT = 2 * 9.81
SCENE = """
<mujoco>
  <worldbody>
    <geom name="floor" type="plane" size="2 2 .1"/>
    <body name="box" pos="0 0 {height}"><freejoint/><geom name="box" type="box" size=".1 .1 .1" mass="2"/></body>
  </worldbody>
  <sensor>
    <contact name="rests" geom1="floor" geom2="box" data="found" num="4"/>
    <contact name="anything"/>
    {sensors}
  </sensor>
  <keyframe><key name="high" qpos="0 0 3 1 0 0 0"/></keyframe>
</mujoco>"""


@pytest.fixture
def scene(tmp_path: Path) -> Path:
    path = tmp_path / "box.xml"
    path.write_text(SCENE.format(height=".1", sensors=""))
    return path


def test_json_says_what_a_resting_box_does(scene: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["compare", str(scene), "--duration", "1", "--json"]) == 0
    report = json.loads(capsys.readouterr().out)
    assert report["scene"] == str(scene)
    assert report["engines"]["mujoco"].startswith("MuJoCo")
    assert report["engines"]["motrix"].startswith("MotrixSim")
    assert report["duration"] == 1
    assert report["steps"] == {"mujoco": 500, "motrix": 500}
    rests, anything = report["sensors"]
    for engine in ("mujoco", "motrix"):
        assert rests[engine]["found_mean"] == pytest.approx(4, abs=0.1)
        assert rests[engine]["found_max"] == 4
        assert rests[engine]["force_mean"] == pytest.approx(WEIGHT, rel=0.01)
        assert rests[engine]["force_max"] >= rests[engine]["force_mean"]
    for key, value in rests["difference"].items():
        assert value == pytest.approx(rests["motrix"][key] - rests["mujoco"][key])
    assert anything["motrix"] is None
    assert anything["difference"] is None
    assert "both targets" in anything["unread"]
    assert anything["mujoco"]["found_max"] == 4


def test_ten_seconds_are_compared_unless_a_duration_is_given(scene: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["compare", str(scene), "--json"]) == 0
    assert json.loads(capsys.readouterr().out)["duration"] == 10


def test_the_table_has_the_same_numbers(scene: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["compare", str(scene), "--duration", "0.2", "--json"]) == 0
    report = json.loads(capsys.readouterr().out)
    assert main(["compare", str(scene), "--duration", "0.2"]) == 0
    text = capsys.readouterr().out
    assert "rests: geom floor × geom box" in text
    rows = {line.split()[0]: line.split()[1:] for line in text.splitlines() if len(line.split()) == 7}
    for engine in ("mujoco", "motrix", "difference"):
        assert rows[engine] == [f"{value:.4g}" for value in report["sensors"][0][engine].values()]
    assert "MotrixSim does not read it" in text


def test_contacts_without_a_slot_are_in_the_sum_of_all(capsys: pytest.CaptureFixture[str]) -> None:
    """Four corners of a box carry all that lies on it; a sensor with fewer slots reports a part of that."""
    assert main(["compare", "stack", "--duration", "0.5", "--json"]) == 0
    report = json.loads(capsys.readouterr().out)
    sensor = next(sensor for sensor in report["sensors"] if sensor["name"] == "lower_on_base")
    mujoco, motrix = sensor["mujoco"], sensor["motrix"]
    assert mujoco["total_mean"] == pytest.approx(motrix["total_mean"], rel=0.02)
    assert mujoco["force_mean"] < 0.9 * mujoco["total_mean"]
    assert main(["compare", "stack", "--duration", "0.1"]) == 0
    text = capsys.readouterr().out
    assert "of the reported contacts, and of all that match" in text


def test_a_keyframe_is_where_both_start(scene: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["compare", str(scene), "--duration", "0.1", "--key", "high", "--json"]) == 0
    rests = json.loads(capsys.readouterr().out)["sensors"][0]
    assert rests["mujoco"]["found_max"] == rests["motrix"]["found_max"] == 0


def test_a_sensor_that_motrixsim_refuses_is_told(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    path = tmp_path / "box.xml"
    path.write_text(SCENE.format(height=".1", sensors='<contact name="self" geom1="box" geom2="box"/>'))
    assert main(["compare", str(path), "--duration", "0.1"]) == 0
    assert "MotrixSim does not read it: it panics in its first step where the two targets overlap" in (
        capsys.readouterr().out
    )


def test_a_scene_that_motrixsim_refuses_is_one_line_and_exit_2(tmp_path: Path) -> None:
    path = tmp_path / "box.xml"
    path.write_text(
        SCENE.format(height=".1", sensors="")
        .replace("</body>", '<body><joint type="slide" stiffness="1 2"/><geom size=".1"/></body></body>')
        .replace("1 0 0 0", "1 0 0 0 0")
    )
    result = subprocess.run(
        [sys.executable, "-m", "contact_viewer", "compare", str(path), "--duration", "1"],
        capture_output=True,
        text=True,
        check=False,
        timeout=60,
    )
    assert result.returncode == 2
    assert result.stdout == ""
    assert len(result.stderr.splitlines()) == 1
    assert f"MotrixSim cannot run {path}" in result.stderr


@pytest.mark.parametrize(
    ("arguments", "words"),
    [
        (["--duration", "0"], "between"),
        (["--duration", "x"], "not a number"),
        (["--duration", "1", "--key", "low"], "no keyframe 'low'"),
    ],
)
def test_bad_arguments_are_one_line(
    scene: Path, arguments: list[str], words: str, capsys: pytest.CaptureFixture[str]
) -> None:
    assert main(["compare", str(scene), *arguments]) == 2
    output = capsys.readouterr()
    assert output.out == ""
    assert words in output.err
    assert len(output.err.splitlines()) == 1


def test_motrixsim_missing_is_one_line(
    scene: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.setitem(sys.modules, "motrixsim", None)
    assert main(["compare", str(scene), "--duration", "1"]) == 2
    assert capsys.readouterr().err == (
        "contact-viewer: MotrixSim is not installed: pip install contact-viewer[motrix]\n"
    )


def test_an_unstable_scene_is_one_line(scene: Path, capsys: pytest.CaptureFixture[str]) -> None:
    text = scene.read_text().replace("<worldbody>", '<option timestep="0.9" gravity="0 0 -1e9"/><worldbody>')
    scene.write_text(text)
    assert main(["compare", str(scene), "--duration", "100"]) == 2
    assert len(capsys.readouterr().err.splitlines()) == 1


def test_the_net_force_of_all_contacts_stays_while_they_sleep(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    path = tmp_path / "sleep.xml"
    path.write_text("""
        <mujoco>
          <option><flag sleep="enable"/></option>
          <worldbody>
            <geom name="floor" type="plane" size="1 1 .1"/>
            <body pos="0 0 .05"><freejoint/><geom name="box" type="box" size=".05 .05 .05" mass="1"/></body>
          </worldbody>
          <sensor><contact name="one" geom1="floor" geom2="box" num="1" data="found force"/></sensor>
        </mujoco>""")
    assert main(["compare", str(path), "--duration", "2", "--json"]) == 0
    (sensor,) = json.loads(capsys.readouterr().out)["sensors"]
    assert sensor["mujoco"]["total_mean"] == pytest.approx(9.81, rel=0.02)
    assert sensor["mujoco"]["force_mean"] == pytest.approx(9.81 / 4, rel=0.02)
