"""Commands that keep a run, and show one again."""

import os
import pty
import signal
import sys
from pathlib import Path

import numpy as np
import pytest
from contact_viewer.cli import main

DURATION = ["--duration", "0.3"]


def test_a_run_is_exported_as_the_scene_was(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    first, again, run = tmp_path / "first.csv", tmp_path / "again.csv", tmp_path / "run.cvrun"
    assert main(["export", "gripper", *DURATION, "-o", str(first), "--save-run", str(run)]) == 0
    assert f"{run}: 150 steps" in capsys.readouterr().out
    assert main(["export", str(run), "-o", str(again)]) == 0
    assert "run.cvrun: all 150 steps are exact" in capsys.readouterr().err
    assert first.read_bytes() == again.read_bytes()
    assert first.with_suffix(".events.csv").read_bytes() == again.with_suffix(".events.csv").read_bytes()


LEG = """<mujoco>
  <worldbody>
    <geom name="floor" type="plane" size="2 2 .1"/>
    <body name="trunk" pos="0 0 .5"><freejoint/>
      <geom type="box" size=".2 .2 .05" mass="8"/>
      <body name="leg" pos="0 0 -.05"><joint name="knee" type="slide" axis="0 0 1" range="-.2 .2"/>
        <geom name="foot" type="box" size=".1 .1 .2" pos="0 0 -.2" mass="1"/></body>
    </body>
  </worldbody>
  <actuator><position name="knee" joint="knee" kp="3000" kv="50" ctrlrange="-.2 .2"/></actuator>
  <keyframe><key name="home" qpos="0 0 .4499 1 0 0 0 0" ctrl="0.01"/></keyframe>
</mujoco>"""
PUSHES = """
def control(model, data):
    data.ctrl[:] = -0.2
    data.xfrc_applied[1, 0] = 30.0
"""


def test_a_run_with_keyframe_and_controller_is_exported_as_it_was_from_the_first_state_on(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    """Also of all contacts of a scene without sensors, which are solved in the first state."""
    scene, pushes = tmp_path / "leg.xml", tmp_path / "pushes.py"
    scene.write_text(LEG)
    pushes.write_text(PUSHES)
    first, again, run = tmp_path / "first.csv", tmp_path / "again.csv", tmp_path / "run.cvrun"
    words = ["export", str(scene), "--key", "home", "--control", str(pushes), *DURATION]
    assert main([*words, "-o", str(first), "--save-run", str(run)]) == 0
    assert main(["export", str(run), "-o", str(again)]) == 0
    assert "run.cvrun: all 150 steps are exact" in capsys.readouterr().err
    assert first.read_text().splitlines()[:6] == again.read_text().splitlines()[:6]
    assert first.read_bytes() == again.read_bytes()


def test_events_and_pictures_of_a_log(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    run, log = tmp_path / "run.cvrun", tmp_path / "log.npz"
    assert main(["events", "bounce", *DURATION, "--save-run", str(run)]) == 0
    expected = capsys.readouterr().out
    assert "begin" in expected
    with np.load(run) as file:
        # Time, positions and velocities, as robosuite writes them.
        np.savez(log, states=file["states_0"][:, :22])
    assert main(["events", "bounce", "--log", str(log)]) == 0
    shown = capsys.readouterr()
    assert next(line for line in shown.out.splitlines() if "begin" in line) in expected
    assert "log.npz: all 151 steps are exact" in shown.err
    assert main(["record", "bounce", "--log", str(log), "-o", str(tmp_path / "a.png"), "--size", "160x120"]) == 0
    assert (tmp_path / "a.png").stat().st_size > 1000
    assert "log.npz: " in capsys.readouterr().err


@pytest.mark.parametrize(
    ("more", "words"),
    [
        (["--save-run", "{tmp}/run.npz"], "a run is saved as .cvrun"),
        (["--save-run", "{tmp}/none/run.cvrun"], "there is no folder"),
        (["--period", "0.1"], "--period needs a log"),
        (["--log", "{tmp}/a.npz", "--control", "walk.py"], "leave out --control"),
        (["--log", "{tmp}/a.npz", "--vary", "friction=0.5:1"], "leave out --vary"),
    ],
)
def test_bad_arguments_are_one_line(
    more: list[str], words: str, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    arguments = [text.format(tmp=tmp_path) for text in more]
    assert main(["export", "gripper", *DURATION, "-o", str(tmp_path / "a.csv"), *arguments]) == 2
    said = capsys.readouterr().err.strip()
    assert words in said
    assert "\n" not in said
    assert not list(tmp_path.iterdir())


@pytest.mark.parametrize(
    ("command", "files"),
    [
        (["export", "-o", "d.csv"], ["d.csv", "d.events.csv", "d.schema.json"]),
        (["record", "-o", "v.mp4", "--size", "64x64"], ["v.mp4"]),
        (["events", "-o", "e.csv"], ["e.csv"]),
    ],
    ids=lambda value: value[0],
)
def test_a_closed_terminal_leaves_the_run_and_the_files(tmp_path: Path, command: list[str], files: list[str]) -> None:
    """Nothing can be printed any more, and the system and the shell both send their signal."""
    pid, terminal = pty.fork()
    if pid == 0:
        signal.signal(signal.SIGHUP, signal.SIG_DFL)
        os.chdir(tmp_path)
        arguments = [command[0], "slope", *command[1:], "--duration", "3000", "--save-run", "run.cvrun"]
        os.execv(sys.executable, [sys.executable, "-m", "contact_viewer", *arguments])
    seen = b""
    while b"time left" not in seen or b" 0/" in seen[-400:]:
        seen += os.read(terminal, 4096)
    os.close(terminal)
    os.kill(pid, signal.SIGHUP)
    _, status = os.waitpid(pid, 0)
    assert os.waitstatus_to_exitcode(status) == 128 + signal.SIGHUP
    assert sorted(path.name for path in tmp_path.iterdir()) == sorted([*files, "run.cvrun"])
    assert main(["inspect", str(tmp_path / "run.cvrun")]) == 0


def test_a_start_deep_in_contact_is_one_note_with_and_without_a_keyframe_that_is_not(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    body = '<geom type="plane" size="1 1 .1"/><body pos="0 0 .05"><freejoint/><geom name="ball" size=".1"/></body>'
    for keys, words in (("", "N\n"), ('<keyframe><key name="up" qpos="0 0 .2 1 0 0 0"/></keyframe>', "--key up\n")):
        scene = tmp_path / "deep.xml"
        scene.write_text(f"<mujoco><worldbody>{body}</worldbody>{keys}</mujoco>")
        assert main(["export", str(scene), "--duration", "0.01", "-o", str(tmp_path / "c.csv")]) == 0
        notes = [line for line in capsys.readouterr().err.splitlines(True) if "deep contact" in line]
        assert len(notes) == 1
        assert notes[0].endswith(words)
