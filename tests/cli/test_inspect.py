"""`contact-viewer inspect`: what MotrixSim makes of a sensor, and its array in every style."""

import json
import shlex
import sys
from pathlib import Path

import pytest
from contact_viewer import ContactLayout
from contact_viewer.cli import main

SCENE = """
<mujoco>
  <worldbody>
    <geom name="floor" type="plane" size="2 2 .1"/>
    <body name="box" pos="0 0 .1"><freejoint/><geom name="box" type="box" size=".1 .1 .1"/></body>
  </worldbody>
  <sensor>
    <contact name="taken" geom1="floor" geom2="box" data="found force pos normal tangent" num="4"/>
    <contact name="net" geom1="floor" geom2="box" data="force" num="3" reduce="netforce"/>
    <contact name="ignored" geom2="box"/>
    <contact name="refused" geom1="box" data="found linvel"/>
  </sensor>
</mujoco>"""


@pytest.fixture
def scene(tmp_path: Path) -> Path:
    path = tmp_path / "box.xml"
    path.write_text(SCENE)
    return path


def report(scene: Path, capsys: pytest.CaptureFixture[str]) -> dict[str, dict]:  # type: ignore[type-arg]
    assert main(["inspect", str(scene), "--json"]) == 0
    return {sensor["name"]: sensor for sensor in json.loads(capsys.readouterr().out)["sensors"]}


def test_json_has_every_style(scene: Path, capsys: pytest.CaptureFixture[str]) -> None:
    sensors = report(scene, capsys)
    assert {style: one["size"] for style, one in sensors["taken"]["styles"].items()} == {
        "mujoco": 52,
        "motrix": 49,
        "documented": 49,
    }
    assert {style: one["size"] for style, one in sensors["net"]["styles"].items()} == {
        "mujoco": 9,
        "motrix": 3,
        "documented": 4,
    }
    assert {style: one["frame"] for style, one in sensors["net"]["styles"].items()} == {
        "mujoco": "world",
        "motrix": "mean contact",
        "documented": "world",
    }
    for style in ("mujoco", "motrix", "documented"):
        layout = ContactLayout("found force pos normal tangent", 4, style=style)
        assert sensors["taken"]["styles"][style]["columns"] == list(layout.columns)
    assert sensors["taken"]["columns"] == sensors["taken"]["styles"]["mujoco"]["columns"]


def test_json_has_verdicts_of_the_engine(scene: Path, capsys: pytest.CaptureFixture[str]) -> None:
    sensors = report(scene, capsys)
    verdicts = {name: sensor["motrix"] for name, sensor in sensors.items()}
    assert {name: one["verdict"] for name, one in verdicts.items()} == {
        "taken": "take",
        "net": "take",
        "ignored": "ignore",
        "refused": "refuse",
    }
    assert all(one["verified"] for one in verdicts.values())
    assert "will be ignored" in verdicts["ignored"]["reason"]
    assert "unknown variant `linvel`" in verdicts["refused"]["reason"]
    assert any("request normal and tangent" in note for note in verdicts["net"]["notes"])


def test_without_motrixsim_the_verdicts_are_predictions(
    scene: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    asked = report(scene, capsys)
    monkeypatch.setitem(sys.modules, "motrixsim", None)
    predicted = report(scene, capsys)
    for name, sensor in predicted.items():
        assert not sensor["motrix"]["verified"]
        assert sensor["motrix"]["verdict"] == asked[name]["motrix"]["verdict"]
        assert bool(sensor["motrix"]["reason"]) == bool(asked[name]["motrix"]["reason"])


def test_the_table_sets_the_styles_side_by_side(scene: Path, capfd: pytest.CaptureFixture[str]) -> None:
    assert main(["inspect", str(scene)]) == 0
    output = capfd.readouterr()
    assert output.err == ""
    lines = output.out.splitlines()
    assert "  MotrixSim reads it (verified)" in lines
    start = lines.index("taken: geom floor × geom box")
    rows = [line.split("]", 1)[1].split("   ") for line in lines[start : start + 60] if line.startswith("    [")][:52]
    cells = [[cell.strip() for cell in row if cell.strip()] for row in rows]
    assert cells[0] == ["slot0.found", "found", "found"]
    assert cells[13] == ["slot1.found", "slot1.force.normal N", "slot1.force.normal N"]
    assert cells[51] == ["slot3.tangent.z"]
    assert any("52 values, contact frame" in line and "49 values, contact frame" in line for line in lines)
    assert any(line.startswith("  MotrixSim refuses it (verified): ") for line in lines)


@pytest.mark.parametrize("command", ["inspect", "export"])
def test_files_outside_the_folder_are_told(scene: Path, capsys: pytest.CaptureFixture[str], command: str) -> None:
    outer = scene.parent / "scenes" / "outer.xml"
    outer.parent.mkdir()
    outer.write_text('<mujoco><include file="../box.xml"/></mujoco>')
    output = [] if command == "inspect" else ["-o", str(scene.parent / "c.csv"), "--duration", "0.01"]
    assert main([command, str(outer), *output]) == 0
    assert "note: reads files outside its folder: ../box.xml\n" in capsys.readouterr().err


def test_a_scene_whose_bodies_may_sleep_says_what_sensors_do_then(
    scene: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    note = "until they wake up, their sensors keep their last values"
    assert main(["inspect", str(scene)]) == 0
    assert note not in capsys.readouterr().err
    scene.write_text(SCENE.replace("<mujoco>", '<mujoco><option><flag sleep="enable"/></option>'))
    assert main(["inspect", str(scene)]) == 0
    assert note in capsys.readouterr().err


def test_it_warns_of_slots_that_mjx_fills_with_what_does_not_touch(
    scene: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    sensors = report(scene, capsys)
    assert "do not touch" in sensors["taken"]["mjx"]["warning"]
    assert not sensors["net"]["mjx"]["warning"]
    assert main(["inspect", str(scene)]) == 0
    assert "  MJX: with reduce none slots are filled also with pairs that do not touch" in capsys.readouterr().out


def many(path: Path, count: int) -> Path:
    """A scene in which every third sensor sums its contacts up."""
    sensors = "".join(
        f'<contact name="pad {i}" geom1="floor" geom2="{"box" if i % 2 else "ball"}" data="found force normal tangent"'
        f' num="2" reduce="{"none" if i % 3 else "netforce"}"/><contact name="half{i}" geom2="box"/>'
        for i in range(count)
    )
    head, _, _ = SCENE.replace(
        "</worldbody>", '<body pos="1 0 .1"><freejoint/><geom name="ball" size=".1"/></body></worldbody>'
    ).partition("<sensor>")
    path.write_text(f"{head}<sensor>{sensors}</sensor></mujoco>")
    return path


def test_many_sensors_that_are_alike_are_described_once_and_all_are_named(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    assert main(["inspect", str(many(tmp_path / "many.xml", 300))]) == 0
    lines = capsys.readouterr().out.splitlines()
    assert lines[0].endswith(": 600 contact sensors (MuJoCo " + lines[0].rpartition(" ")[2])
    # Three kinds of them, each with its arrays: the names make most of it.
    assert sum(line.startswith("  data ") for line in lines) == 3
    assert len(lines) < 600 + 100
    labels = dict(line.strip().split(": ", 1) for line in lines if "×" in line)
    expected = {f"pad {i}": f"geom floor × geom {'box' if i % 2 else 'ball'}" for i in range(300)}
    assert labels == expected | {f"half{i}": "any × geom box" for i in range(300)}
    assert "  the same holds for 199 more sensors:" in lines
    assert lines[lines.index("  the same holds for 299 more sensors:") + 1] == "    half1: any × geom box"


def test_it_says_what_can_never_report_a_contact(scene: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert not any(sensor["never"] for sensor in report(scene, capsys).values())
    scene.write_text(SCENE.replace('name="box" type="box"', 'name="box" contype="2" conaffinity="2" type="box"'))
    assert "no common bit" in report(scene, capsys)["net"]["never"]
    assert main(["inspect", str(scene)]) == 0
    told = capsys.readouterr().out
    assert "can never report a contact: Geom floor and geom box can never collide" in told
    assert f"contact-viewer check {scene}" in told


def test_fifty_sensors_are_described_one_by_one(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["inspect", str(many(tmp_path / "some.xml", 25))]) == 0
    output = capsys.readouterr().out
    assert output.count("\n  data ") == 50
    assert "the same" not in output


ARM = """
<mujoco>
  <worldbody>
    <geom name="floor" type="plane" size="2 2 .1"/>
    <body name="base" pos="0 0 .2"><geom type="box" size=".1 .1 .1"/>
      <body name="link"><joint axis="0 1 0"/><geom name="link" type="capsule" fromto="0 0 0 0 0 .3" size=".05"/></body>
    </body>
    <body name="foot" pos="1 0 .05"><freejoint/><geom name="sole" type="box" size=".05 .05 .05" friction=".4"/>
      <site name="site" type="box" size=".1 .1 .1"/>
      <body name="toe" pos=".1 0 0"><geom type="box" size=".05 .05 .05"/></body></body>
  </worldbody>
  <sensor><touch name="feel" site="site"/></sensor>
</mujoco>"""


def test_pairs_that_touch_are_described(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    path = tmp_path / "arm.xml"
    path.write_text(ARM)
    assert main(["inspect", str(path), "--pairs", "--duration", "0.1"]) == 0
    said = capsys.readouterr().out
    assert "3 pairs of bodies touch within 0.1 s" in said
    assert "base x link" in said
    assert "base has no joint and so counts as part of the world" in said
    assert "world x foot: up to" in said
    assert "floor's 1.0 wins over sole's 0.4 (equal priority: the larger counts)" in said
    assert "not used, by condim" in said
    assert main(["inspect", str(path), "--pairs", "--json", "--duration", "0.1"]) == 0
    found = json.loads(capsys.readouterr().out)
    assert {tuple(pair["bodies"]): pair["at_start"] for pair in found["bodies"]} == {
        ("base", "link"): True,
        ("world", "foot"): True,
        ("world", "toe"): True,
    }
    floor_sole = next(each for each in found["geoms"] if each["geoms"] == ["floor", "sole"])
    sliding = next(each for each in floor_sole["parameters"] if each["name"].startswith("sliding"))
    assert (sliding["value"], sliding["winner"], sliding["rule"]) == ([1.0], "floor", "larger")


def test_two_geoms_are_described_whether_they_touch_or_not(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    path = tmp_path / "arm.xml"
    path.write_text(ARM)
    assert main(["inspect", str(path), "--pair", "link", "sole"]) == 0
    assert "link's 1.0 wins over sole's 0.4" in capsys.readouterr().out
    for pair, words in ((["link", "sol"], "sole"), (["link", "link"], "two geoms")):
        assert main(["inspect", str(path), "--pair", *pair]) == 2
        assert words in capsys.readouterr().err


def test_what_a_touch_sensor_does_not_feel_is_said(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    path = tmp_path / "arm.xml"
    path.write_text(ARM)
    assert main(["inspect", str(path)]) == 0
    said = capsys.readouterr().out
    assert "feel: <touch>" in said
    assert "Only geoms of body foot itself count." in said
    assert 'passes by on the bodies below it (toe). <contact subtree1="foot"' in said
    assert main(["inspect", str(path), "--json"]) == 0
    assert "toe" in json.loads(capsys.readouterr().out)["touch"]["feel"]
    path.write_text(ARM.replace('<geom type="box" size=".05 .05 .05"/></body></body>', "</body></body>"))
    assert main(["inspect", str(path)]) == 0
    assert "<touch>" not in capsys.readouterr().out


def test_a_friction_that_is_varied_in_vain_is_said(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    path = tmp_path / "arm.xml"
    path.write_text(ARM)
    varied = ["--vary", "friction:sole=0.5:2"]
    assert main(["events", str(path), "--duration", "0.01", *varied]) == 0
    hint = "note: --vary friction:sole=0.5:2 changes no contact: floor's 1.0 wins over sole's"
    assert hint in capsys.readouterr().err
    assert main(["events", str(path), "--duration", "0.01", "--vary", "friction:sole=0.5:4"]) == 0
    assert "changes no contact" not in capsys.readouterr().err
    arguments = ["--seeds", "0", "-o", str(tmp_path / "sweep"), "--duration", "0.01", "--workers", "1"]
    assert main(["sweep", str(path), *arguments, *varied]) == 0
    assert hint in capsys.readouterr().err


def test_a_deep_start_is_reported_with_the_keyframe_that_has_none(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    path = tmp_path / "deep.xml"
    path.write_text(
        """<mujoco><worldbody><geom type="plane" size="3 3 .1"/>
        <body pos="0 0 .06"><freejoint/><geom type="box" size=".1 .1 .1" mass="1"/></body></worldbody>
        <keyframe><key name="deeper" qpos="0 0 .04 1 0 0 0"/><key name="above" qpos="0 0 .5 1 0 0 0"/></keyframe>
        </mujoco>"""
    )
    assert main(["inspect", str(path)]) == 0
    note = next(line for line in capsys.readouterr().err.splitlines() if "deep contact" in line)
    assert "40 mm" in note
    assert note.endswith("Keyframe above does not: --key above")
    assert main(["inspect", str(path), "--key", "above"]) == 0
    assert "deep contact" not in capsys.readouterr().err


def test_a_robot_without_sensors_gets_the_next_commands(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    path = tmp_path / "my robot.xml"
    path.write_text(SCENE.split("<sensor>")[0] + "</mujoco>")
    assert main(["inspect", str(path)]) == 0
    offered = [line.split(": ")[1] for line in capsys.readouterr().out.splitlines() if ": contact-viewer " in line]
    assert len(offered) == 2
    for command in offered:
        assert main(shlex.split(command)[1:]) == 0
    assert "<contact" in path.read_text()
