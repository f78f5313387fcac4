"""The command line: what it prints, and one clear line with exit code 2 for bad input."""

import json
import os
import subprocess
import sys
import time
from contextlib import suppress
from pathlib import Path

import pytest
from contact_viewer.assets import bundled_scenes
from contact_viewer.cli import main
from Xlib.display import Display  # type: ignore[import-untyped]

COMMAND = [sys.executable, "-m", "contact_viewer"]


def run(*arguments: str, **environment: str | None) -> subprocess.CompletedProcess[str]:
    """The real program, in a process of its own; an environment value of None removes the variable."""
    variables = os.environ | {name: value for name, value in environment.items() if value is not None}
    for name, value in environment.items():
        if value is None:
            variables.pop(name, None)
    return subprocess.run(
        [*COMMAND, *arguments], capture_output=True, text=True, env=variables, check=False, timeout=120
    )


def test_scenes_lists_each_with_a_line(capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["scenes"]) == 0
    lines = capsys.readouterr().out.splitlines()
    assert [line.split()[0] for line in lines] == [scene.name for scene in bundled_scenes()]
    assert len(lines) >= 9
    assert all(len(line.split()) > 5 for line in lines)


def test_inspect_names_every_value(capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["inspect", "turntable"]) == 0
    text = capsys.readouterr().out
    assert "box_floor_contact: geom bar × geom freebox" in text
    for name in ("[ 0] slot0.found", "[ 1] slot0.force.normal", "[51] slot3.tangent.z"):
        assert name in text


def test_inspect_json(capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["inspect", "turntable", "--json"]) == 0
    report = json.loads(capsys.readouterr().out)
    assert set(report) == {"scene", "engine", "sensors", "touch"}
    assert Path(report["scene"]).name == "turntable.xml"
    sensor = report["sensors"][0]
    assert {key: sensor[key] for key in sensor if key not in ("columns", "styles", "motrix", "mjx")} == {
        "name": "box_floor_contact",
        "label": "geom bar × geom freebox",
        "fields": ["found", "force", "pos", "normal", "tangent"],
        "slots": 4,
        "reduce": "none",
        "frame": "contact",
        "size": 52,
        "never": None,
    }
    assert len(sensor["columns"]) == 52
    assert "do not touch" in sensor["mjx"]["warning"]


@pytest.mark.parametrize(
    ("arguments", "words"),
    [
        (["nothing.xml"], "no such file"),
        (["{tmp}"], "folder"),
        (["{tmp}/broken.xml"], "XML"),
        (["{tmp}/empty.xml"], "empty"),
        (["slope", "--sensor", "nobody"], "no contact sensor named 'nobody'"),
        (["slope", "--camera", "nobody"], "no camera named 'nobody'"),
        (["slope", "--key", "nobody"], "no keyframe 'nobody'"),
        (["slope", "--speed", "11"], "between 0.01 and 10"),
        (["slope", "--speed", "nan"], "between"),
        (["slope", "--reduce", "most"], "invalid choice"),
        (["slope", "--frames", "0"], "between"),
        (["slope", "--host", "0.0.0.0"], "--host needs --serve"),
        (["slope", "--width", "wide"], "not a number"),
        (["slope", "extra"], "unrecognized"),
        (["--nonsense"], "unrecognized"),
        (["inspect"], "required"),
        (["inspect", "nothing.xml"], "no such file"),
    ],
)
def test_bad_input_is_one_line_and_exit_2(
    arguments: list[str], words: str, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    (tmp_path / "broken.xml").write_text("<mujoco><worldbody></mujoco>")
    (tmp_path / "empty.xml").write_text("")
    assert main([argument.format(tmp=tmp_path) for argument in arguments]) == 2
    output = capsys.readouterr()
    assert output.out == ""
    assert words in output.err
    assert len(output.err.splitlines()) == 1


def test_no_display_names_record() -> None:
    result = run("slope", DISPLAY=None, WAYLAND_DISPLAY=None)
    assert result.returncode == 2
    assert "contact-viewer record" in result.stderr
    assert len(result.stderr.splitlines()) == 1


def test_a_display_that_does_not_answer_names_record() -> None:
    result = run("slope", DISPLAY=":987", WAYLAND_DISPLAY=None)
    assert result.returncode == 2
    assert "contact-viewer record" in result.stderr
    assert len(result.stderr.splitlines()) == 1


def test_a_display_without_opengl_is_one_line() -> None:
    read_end, write_end = os.pipe()
    command = ["Xvfb", "-displayfd", str(write_end), "-screen", "0", "640x480x24", "-extension", "GLX"]
    with subprocess.Popen(command, pass_fds=[write_end], stderr=subprocess.DEVNULL) as server:
        os.close(write_end)
        with os.fdopen(read_end) as pipe:
            display = f":{int(pipe.readline())}"
        result = run("slope", DISPLAY=display, WAYLAND_DISPLAY=None)
        server.terminate()
    assert result.returncode == 2
    assert "no usable OpenGL" in result.stderr
    assert len(result.stderr.splitlines()) == 1


def wait_for_window(name: str) -> None:
    """Until a display shows a window, and that has drawn for a while."""
    display = Display(name)
    end = time.monotonic() + 60
    while not display.screen().root.query_tree().children and time.monotonic() < end:
        time.sleep(0.2)
    display.close()
    time.sleep(3)


def test_a_display_that_goes_away_is_one_line() -> None:
    read_end, write_end = os.pipe()
    command = ["Xvfb", "-displayfd", str(write_end), "-screen", "0", "640x480x24"]
    with subprocess.Popen(command, pass_fds=[write_end], stderr=subprocess.DEVNULL) as server:
        os.close(write_end)
        with os.fdopen(read_end) as pipe:
            display = f":{int(pipe.readline())}"
        environment = os.environ | {"DISPLAY": display}
        arguments = [*COMMAND, "slope", "--width", "640", "--height", "400"]
        with subprocess.Popen(arguments, env=environment, stderr=subprocess.PIPE, text=True) as window:
            wait_for_window(display)
            ran = window.poll() is None
            server.kill()
            _, messages = window.communicate(timeout=30)
    assert ran, messages
    assert window.returncode == 2
    assert messages == "contact-viewer: the display is gone\n"


def test_frames_stop_the_window() -> None:
    result = run("slope", "--frames", "20", "--width", "640", "--height", "400")
    assert result.returncode == 0, result.stderr
    assert result.stderr == ""


def test_the_window_uses_the_glfw_library_that_imgui_brings() -> None:
    """And no other beside it; to look for one takes as long as a frame."""
    code = (
        "from contact_viewer.cli import main; main(['slope', '--frames', '2']);"
        "print(*{line.split()[-1] for line in open('/proc/self/maps') if 'libglfw' in line}, sep='\\n')"
    )
    result = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    (library,) = result.stdout.split()
    assert "imgui_bundle" in library


def test_help_and_version() -> None:
    assert "usage: contact-viewer" in run("--help").stdout
    assert run("--version").stdout.startswith("contact-viewer ")
    assert run("inspect", "--help").returncode == 0


def test_a_terminal_of_ascii_shows_other_letters_as_codes(tmp_path: Path) -> None:
    scene = tmp_path / "scene.xml"
    scene.write_text("<mujoco><sensor><contact name='ö'/></sensor></mujoco>", encoding="utf-8")
    ascii_only = {"LC_ALL": "C", "PYTHONUTF8": "0", "PYTHONCOERCECLOCALE": "0"}
    result = run("inspect", str(scene), **ascii_only)
    assert result.returncode == 0, result.stderr
    assert "data found \\xb7 num 1" in result.stdout
    missing = run("inspect", str(tmp_path / "ä.xml"), **ascii_only)
    assert missing.returncode == 2
    assert len(missing.stderr.splitlines()) == 1


@pytest.mark.parametrize("closed", ["2>&-", ">&- 2>&-"])
@pytest.mark.parametrize("arguments", ["export slope --duration 0.1 -o d.csv", "slope --frames 3"])
def test_closed_streams_are_no_trouble(tmp_path: Path, arguments: str, closed: str) -> None:
    script = f'"$0" -m contact_viewer {arguments} {closed}'
    result = subprocess.run(["sh", "-c", script, sys.executable], cwd=tmp_path, capture_output=True, check=False)
    assert (result.returncode, result.stderr) == (0, b"")
    if "d.csv" in arguments:
        # No message of a library is among the numbers.
        lines = (tmp_path / "d.csv").read_text().splitlines()
        assert {line.count(",") for line in lines} == {lines[0].count(",")}


@pytest.mark.parametrize("unbuffered", ["", "1"])
def test_a_full_disk_for_the_output_is_one_clear_line(unbuffered: str) -> None:
    with Path("/dev/full").open("w") as full:
        result = subprocess.run(
            [sys.executable, "-m", "contact_viewer", "scenes"],
            stdout=full,
            stderr=subprocess.PIPE,
            text=True,
            check=False,
            env={**os.environ, "PYTHONUNBUFFERED": unbuffered},
        )
    said = "contact-viewer: cannot write to the standard output (No space left on device)\n"
    assert (result.returncode, result.stderr) == (2, said)


def test_what_a_closed_terminal_no_longer_accepts_is_dropped() -> None:
    """Python would try to write it again at its end, and replace the exit code."""
    run = """
import os, sys
from contact_viewer import cli

terminal, end = os.openpty()
os.dup2(end, 2)
os.close(end)
sys.stderr = open(2, "w", closefd=False)

def command(arguments):
    sys.stderr.write("not yet written")
    os.close(terminal)
    return 7

cli._run = command
sys.exit(cli.main())
"""
    assert subprocess.run([sys.executable, "-c", run], check=False).returncode == 7


HOSTILE = """<mujoco><worldbody><geom name="floor&#27;[31m" type="plane" size="1 1 1"/>
<body name="box&#155;2J" pos="0 0 .05"><freejoint/><geom name="ball&#13;" size=".1"/></body></worldbody>
<keyframe><key name="k&#27;c"/></keyframe>
<sensor><contact name="a&#27;]0;title&#7;b" geom1="ball&#13;" geom2="floor&#27;[31m" data="found"/>
</sensor></mujoco>"""


@pytest.mark.parametrize(
    "arguments",
    [
        "inspect SCENE",
        "events SCENE --duration 0.1",
        "compare SCENE --duration 0.1",
        "export SCENE -o FOLDER/x.csv --duration 0.1 --sensor none",
        "export SCENE -o FOLDER/x.csv --duration 0.1 --key none",
        "export FOLDER/\x1b[31mnone.xml -o FOLDER/x.csv",
        "record SCENE -o FOLDER/\x1b[31mx.none",
    ],
)
def test_names_in_a_scene_do_not_drive_the_terminal(tmp_path: Path, arguments: str) -> None:
    (tmp_path / "scene.xml").write_text(HOSTILE)
    words = arguments.replace("SCENE", str(tmp_path / "scene.xml")).replace("FOLDER", str(tmp_path)).split()
    result = run(*words)
    assert result.returncode in (0, 2), result.stderr
    said = result.stdout + result.stderr
    assert not [letter for letter in said if letter != "\n" and (letter < " " or "\x7f" <= letter <= "\x9f")]
    assert "\\x1b" in said or arguments.startswith("compare")


def test_a_bar_is_still_drawn_on_a_terminal(tmp_path: Path) -> None:
    ours, theirs = os.openpty()
    arguments = ["export", "stack", "-o", str(tmp_path / "x.csv"), "--duration", "0.5"]
    with subprocess.Popen(
        [*COMMAND, *arguments], stdout=theirs, stderr=theirs, env=os.environ | {"TERM": "xterm"}
    ) as process:
        os.close(theirs)
        said = b""
        # Linux reports the end of a terminal as an error.
        with suppress(OSError):
            while part := os.read(ours, 4096):
                said += part
        assert process.wait() == 0
    os.close(ours)
    assert b"\x1b[" in said
    assert b"\\x1b" not in said


@pytest.mark.parametrize(
    "arguments",
    [
        "export stack -o x.csv",
        "record stack -o x.png",
        "events stack -o x.csv",
        "export stack -o /tmp/x.csv --save-run x.cvrun",
    ],
)
def test_a_working_folder_that_was_removed_is_one_line(tmp_path: Path, arguments: str) -> None:
    folder = tmp_path / "gone"
    folder.mkdir()
    script = f'cd "{folder}" && rmdir "{folder}" && exec "$0" -m contact_viewer {arguments} --duration 0.01'
    result = subprocess.run(["sh", "-c", script, sys.executable], capture_output=True, text=True, check=False)
    assert result.returncode == 2
    assert result.stderr.count("\n") == 1
    assert "cannot be written (the working folder was removed)" in result.stderr


@pytest.mark.parametrize("attribute", ["meshdir", "assetdir", "texturedir"])
def test_a_zero_byte_in_a_folder_of_a_scene_is_one_line(
    tmp_path: Path, attribute: str, capsys: pytest.CaptureFixture[str]
) -> None:
    assets = '<mesh name="m" file="m.stl"/><texture name="t" type="2d" file="t.png"/>'
    scene = tmp_path / "scene.xml"
    scene.write_text(f'<mujoco><compiler {attribute}="a&#0;b"/><asset>{assets}</asset></mujoco>')
    assert main(["inspect", str(scene)]) == 2
    said = capsys.readouterr().err
    assert said.count("\n") == 1
    assert "scene.xml" in said
