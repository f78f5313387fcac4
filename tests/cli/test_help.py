"""Help where users are: misspelt words, help texts with examples, what a machine lacks, sensors for a robot."""

import json
import subprocess
import sys
from pathlib import Path

import contact_viewer
import mujoco
import pytest
from contact_viewer.cli import COMMANDS, main

ROBOT = """<mujoco>
  <worldbody>
    <geom name="floor" type="plane" size="2 2 .1"/>
    <body name="trunk" pos="0 0 .3">
      <freejoint/>
      <geom type="box" size=".2 .1 .05"/>
      <body name="left_foot" pos="0 .1 -.2"><geom name="left" type="sphere" size=".05"/></body>
      <body name="right_foot" pos="0 -.1 -.2"><geom name="right" type="sphere" size=".05"/></body>
      <body name="tail" pos="-.3 0 -.2"><geom name="end" type="sphere" size=".05"/></body>
    </body>
  </worldbody>
</mujoco>
"""


@pytest.fixture
def robot(tmp_path: Path) -> Path:
    path = tmp_path / "robot.xml"
    path.write_text(ROBOT)
    return path


@pytest.mark.parametrize(
    ("words", "meant"),
    [
        (["recrod"], "did you mean record?"),
        (["walkr"], "did you mean walker?"),
        (["help", "comapre"], "did you mean compare?"),
        (["help", "friction-crep"], "did you mean friction-creep?"),
        (["help", "foo"], "topics are the commands, and the rules of check"),
        (["record", "slope", "--qualty", "low", "-o", "x.mp4"], "did you mean --quality?"),
        (["inspect", "slope", "--jsn"], "did you mean --json?"),
        (["export", "slope", "--sensor", "box_on_slop", "-o", "x.csv"], "did you mean box_on_slope?"),
    ],
)
def test_a_misspelt_word_is_one_line_with_the_one_that_was_meant(
    words: list[str], meant: str, capsys: pytest.CaptureFixture[str]
) -> None:
    assert main(words) == 2
    message = capsys.readouterr().err
    assert meant in message
    assert message.count("\n") == 1


def test_help_of_the_program_names_every_command_before_the_options(capsys: pytest.CaptureFixture[str]) -> None:
    with pytest.raises(SystemExit):
        main(["help"])
    text = capsys.readouterr().out
    for command in COMMANDS:
        assert f"contact-viewer {command} " in text
    assert text.index("contact-viewer doctor") < text.index("--key")
    assert "examples:" in text


def test_help_of_a_command_is_its_help_option(capsys: pytest.CaptureFixture[str]) -> None:
    texts = []
    for words in (["help", "sensors"], ["sensors", "--help"]):
        with pytest.raises(SystemExit):
            main(words)
        texts.append(capsys.readouterr().out)
    assert texts[0] == texts[1]
    assert "--each-geom" in texts[0]


def test_help_of_a_rule_is_its_page(capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["help", "friction-creep"]) == 0
    assert capsys.readouterr().out.startswith("# ")


def test_version_is_a_command_too(capsys: pytest.CaptureFixture[str]) -> None:
    with pytest.raises(SystemExit) as ended:
        main(["version"])
    assert ended.value.code == 0
    assert capsys.readouterr().out == f"contact-viewer {contact_viewer.__version__}\n"


def test_doctor_finds_what_the_tests_need(capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["doctor", "--json"]) == 0
    report = json.loads(capsys.readouterr().out)
    checks = {check["name"]: check for check in report["checks"]}
    assert report["ok"]
    assert checks["mujoco"]["found"] == mujoco.__version__
    assert checks["OpenGL"]["ok"]
    assert checks["extra parquet"]["found"].startswith("pyarrow")


def test_doctor_says_what_mends_a_machine_without_opengl(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.setenv("MUJOCO_GL", "off")
    assert main(["doctor"]) == 1
    line = next(line for line in capsys.readouterr().out.splitlines() if "OpenGL " in line and "PyOpenGL" not in line)
    assert line.startswith("MISSING")
    assert "switched off by MUJOCO_GL" in line


def test_sensors_are_written_for_each_body_that_touches(robot: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["sensors", str(robot), "--write"]) == 0
    printed = capsys.readouterr().out.splitlines()
    assert [line.split('"')[1] for line in printed] == ["left_foot", "right_foot", "tail"]
    model = mujoco.MjModel.from_xml_path(str(robot))
    assert [model.sensor(i).name for i in range(model.nsensor)] == ["left_foot", "right_foot", "tail"]
    # All else in the file is as it was.
    assert robot.read_text().startswith(ROBOT.removesuffix("</mujoco>\n"))


def test_sensors_for_each_geom_of_a_body_or_one_line(robot: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["sensors", str(robot), "--each-geom", "tail"]) == 0
    assert 'geom2="end"' in capsys.readouterr().out
    assert main(["sensors", str(robot), "--each-geom", "tial"]) == 2
    assert "did you mean tail?" in capsys.readouterr().err
    assert main(["sensors", "slope", "--write"]) == 2
    assert "Bundled scenes are not changed" in capsys.readouterr().err


def test_tab_offers_the_public_names() -> None:
    code = "import contact_viewer; print(*dir(contact_viewer))"
    names = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True).stdout.split()
    assert set(contact_viewer.__all__) <= set(names)
    assert "gymnasium" in names
    assert not [name for name in names if name.startswith("_") and name != "__version__"]
