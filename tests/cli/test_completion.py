"""Completion of command lines: what a shell would offer, asked as it asks."""

import os
import subprocess
import sys
from pathlib import Path

import pytest

CALL = "import sys; sys.argv[0] = 'contact-viewer'; from contact_viewer.cli import main; sys.exit(main())"


def completions(line: str, folder: Path) -> set[str]:
    """Return what is offered at the end of a line; argcomplete writes it to descriptor 8."""
    environment = os.environ | {
        "_ARGCOMPLETE": "1",
        "_ARGCOMPLETE_IFS": "\n",
        "COMP_LINE": line,
        "COMP_POINT": str(len(line)),
    }
    command = 'exec "$0" -c "$1" 8>&1 9>/dev/null'
    result = subprocess.run(
        ["bash", "-c", command, sys.executable, CALL],
        capture_output=True,
        text=True,
        env=environment,
        cwd=folder,
        check=False,
        timeout=60,
    )
    assert not result.stderr
    return {word.strip() for word in result.stdout.split("\n") if word.strip()}


@pytest.mark.parametrize(
    ("line", "offered"),
    [
        ("contact-viewer wal", {"walker"}),
        ("contact-viewer swe", {"sweep"}),
        ("contact-viewer export walker --sensor left", {"left_foot", "left_on_ice"}),
        ("contact-viewer record robot.xml --key ", {"home", "jump"}),
        ("contact-viewer walker --red", {"--reduce"}),
        ("contact-viewer walker --reduce m", {"mindist", "maxforce"}),
        ("contact-viewer record rob", {"robot.xml"}),
        ("contact-viewer record missing.xml --key ", set()),
    ],
)
def test_a_shell_is_offered_what_fits(line: str, offered: set[str], tmp_path: Path) -> None:
    (tmp_path / "keys.xml").write_text('<mujoco><keyframe><key name="jump"/></keyframe></mujoco>')
    (tmp_path / "robot.xml").write_text(
        '<mujoco><keyframe><key name="home"/></keyframe><include file="keys.xml"/></mujoco>'
    )
    assert completions(line, tmp_path) == offered


def test_the_script_for_bash_registers_the_program() -> None:
    script = subprocess.run(
        [sys.executable, "-c", CALL, "completion", "bash"], capture_output=True, text=True, check=True
    )
    shell = subprocess.run(
        ["bash", "-c", f"{script.stdout}\ncomplete -p contact-viewer"], capture_output=True, text=True, check=True
    )
    assert "_python_argcomplete" in shell.stdout
