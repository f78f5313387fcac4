"""Commands with a controller."""

import csv
import json
import os
import signal
import subprocess
import sys
import time
from pathlib import Path

import pytest
from contact_viewer.cli import main

CONTROL = """
HEIGHT = 1.0

def control(model, data):
    data.ctrl[:] = (0, HEIGHT * 0.01, 0)
    if data.time > {end}:
        raise ValueError("out of ideas")
"""


@pytest.fixture
def control(tmp_path: Path) -> Path:
    path = tmp_path / "stand.py"
    path.write_text(CONTROL.format(end=9))
    return path


def heights(path: Path) -> list[float]:
    with path.open() as file:
        return [float(row["force_z"] or 0) for row in csv.DictReader(file) if row["sensor"] == "fingertip_left"]


def test_export_with_a_controller_differs_from_one_without(tmp_path: Path, control: Path) -> None:
    common = ["export", "gripper", "--duration", "0.4", "-o"]
    files = {}
    for name, more in {"plain": [], "same": ["--param", "HEIGHT=1"], "low": ["--param", "HEIGHT=0.8"]}.items():
        files[name] = tmp_path / f"{name}.csv"
        driven = [] if name == "plain" else ["--control", str(control), *more]
        assert main([*common, str(files[name]), *driven]) == 0
    assert heights(files["same"]) != heights(files["low"])
    assert len(heights(files["same"])) == len(heights(files["plain"]))


def test_an_error_in_a_controller_is_one_line_and_exit_code_2(
    tmp_path: Path, capfd: pytest.CaptureFixture[str]
) -> None:
    path = tmp_path / "stand.py"
    path.write_text(CONTROL.format(end=0.1))
    output = tmp_path / "c.csv"
    code = main(["export", "gripper", "--duration", "1", "-o", str(output), "--control", str(path)])
    err = capfd.readouterr().err
    assert code == 2
    assert f"{path}, line 7: ValueError: out of ideas" in err
    assert "Traceback" not in err
    # What was simulated until then is there.
    assert len(heights(output)) >= 50
    code = main(["compare", "gripper", "--duration", "1", "--control", str(path)])
    assert code == 2
    assert "line 7: ValueError: out of ideas" in capfd.readouterr().err
    code = main(["events", "gripper", "--duration", "1", "--control", str(path)])
    assert code == 2
    path.write_text("import sys\n\ndef control(model, data):\n    sys.exit(4)\n")
    assert main(["events", "gripper", "--duration", "1", "--control", str(path)]) == 2
    assert f"{path}, line 4: SystemExit: 4" in capfd.readouterr().err
    path.write_text("def control(model, data:\n")
    for command in (["record", "-o", str(tmp_path / "v.mp4")], ["events", "--duration", "1"], []):
        assert main([*command[:1], "gripper", *command[1:], "--control", str(path)]) == 2
        assert f"contact-viewer: {path}, line 1: SyntaxError" in capfd.readouterr().err


@pytest.mark.parametrize("command", ["events", "export"])
def test_what_the_engine_had_trouble_with_is_told(
    tmp_path: Path, capfd: pytest.CaptureFixture[str], command: str
) -> None:
    path = tmp_path / "nan.py"
    path.write_text("def control(model, data):\n    data.ctrl[0] = float('nan')\n")
    output = ["-o", str(tmp_path / "c.csv")] if command == "export" else []
    assert main([command, "gripper", "--duration", "0.02", "--control", str(path), *output]) == 0
    err = capfd.readouterr().err
    assert err.count("warning: the control of lift was not a finite number, and MuJoCo set all controls to 0") == 1


def test_arguments_of_controllers_are_checked(control: Path, capfd: pytest.CaptureFixture[str]) -> None:
    assert main(["events", "gripper", "--duration", "1", "--param", "HEIGHT=2"]) == 2
    assert "controller: give --control" in capfd.readouterr().err
    assert main(["events", "gripper", "--duration", "1", "--control", str(control), "--param", "WIDTH=2"]) == 2
    assert "has no constant WIDTH" in capfd.readouterr().err
    assert main(["events", "gripper", "--duration", "1", "--control", str(control), "--seed", "-1"]) == 2


def test_precise_events_of_a_stateful_controller_are_those_of_the_run(tmp_path: Path) -> None:
    """Instants inside steps, found by taking these again, lie in the steps in which the plain run has them."""
    path = tmp_path / "shake.py"
    path.write_text(
        "import numpy as np\nrng = np.random.default_rng(0)\nlevel = 0.0\n\n"
        "def control(model, data):\n    global level\n    level = 0.9 * level + rng.normal(0, 0.5)\n"
        "    data.ctrl[1:] = 0.02 + 0.02 * level\n"
    )
    listed = {}
    for name, more in {"plain": [], "precise": ["--precise"]}.items():
        output = tmp_path / f"{name}.json"
        arguments = ["events", "gripper", "--duration", "1.5", "--control", str(path), "-o", str(output), *more]
        assert main(arguments) == 0
        entries = json.loads(output.read_text())
        # Steps re-simulated with other controls would not lead to the same states, and no instant be found in them.
        found = [abs(entry["distance"]) < 1e-7 and entry["distance"] != 0 for entry in entries]
        assert sum(found) > (0.8 * len(found) if name == "precise" else -1)
        listed[name] = [(e["kind"], tuple(e["geoms"]), round(e["time"], 2)) for e in entries]
    assert len(listed["plain"]) > 6, listed
    same = set(listed["plain"]) & set(listed["precise"])
    assert len(same) > 0.8 * len(listed["plain"])


def test_ctrl_c_ends_a_controller_that_does_not_return(tmp_path: Path) -> None:
    path, output = tmp_path / "hang.py", tmp_path / "c.csv"
    path.write_text(
        f"from pathlib import Path\nstarted = Path({str(tmp_path / 'started')!r})\n\n"
        "def control(model, data):\n    while data.time > 0.1:\n        started.touch()\n"
    )
    # Shells start jobs in the background with SIGINT ignored.
    started = subprocess.Popen(
        [sys.executable, "-m", "contact_viewer", "export", "gripper", "-o", str(output), "--control", str(path)],
        stderr=subprocess.PIPE,
        stdout=subprocess.PIPE,
        text=True,
        env=os.environ | {"PYTHONUNBUFFERED": "1"},
        preexec_fn=lambda: signal.signal(signal.SIGINT, signal.default_int_handler),
    )
    deadline = time.monotonic() + 60
    while not (tmp_path / "started").exists() and time.monotonic() < deadline:
        time.sleep(0.05)
    started.send_signal(signal.SIGINT)
    time.sleep(0.3)
    started.send_signal(signal.SIGINT)
    _, err = started.communicate(timeout=30)
    assert started.returncode == 130
    assert "Traceback" not in err
    assert len(heights(output)) >= 50
