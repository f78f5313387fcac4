"""The wheel on several versions of Python and MuJoCo, a smoke of every command on each: `make test-matrix`.

Interpreters are python3.11, python3.12 and python3.13 as far as they start; PYTHONS in the environment names others,
with spaces between. Prints a table, and exits with 1 if a command failed.
"""

import os
import shutil
import subprocess
import sys
import tempfile
from pathlib import Path

sys.path.insert(0, str(Path(__file__).parent.parent))
from tests.run import virtual_display

ROOT = Path(__file__).parent.parent
VERSIONS = ("3.5.0", "3.11.0", "")
"""Releases of MuJoCo; the empty one is the newest."""
OWN_LOOP = """
import mujoco, contact_viewer
from contact_viewer.scene_files.scene import find_scene
model = mujoco.MjModel.from_xml_path(str(find_scene("slope")))
data = mujoco.MjData(model)
with contact_viewer.launch_passive(model, data, serve=True) as viewer:
    for _ in range(50):
        mujoco.mj_step(model, data)
        viewer.sync()
"""
COMMANDS = (
    ("inspect", "slope"),
    ("check", "slope"),
    ("events", "slope", "--duration", "1"),
    ("export", "slope", "--duration", ".2", "-o", "a.csv", "--save-run", "a.cvrun"),
    ("export", "a.cvrun", "-o", "b.npz"),
    ("compare", "slope", "slope", "--duration", ".2"),
    ("record", "slope", "--duration", ".2", "--size", "320x240", "-o", "a.mp4"),
    ("record", "slope", "--window", "--duration", ".1", "--size", "640x400", "-o", "a.png"),
    ("page", "slope", "--duration", ".2", "-o", "a.html"),
    ("sweep", "slope", "--seeds", "0:2", "--duration", ".2", "-o", "runs"),
    ("report", "runs", "-o", "report.html"),
    ("doctor",),
    ("slope", "--frames", "10", "--size", "640x400"),
)


def main() -> int:
    """Try all combinations and return the exit code."""
    given = os.environ.get("PYTHONS", "").split()
    pythons = [name for name in given or ("python3.11", "python3.12", "python3.13") if _starts(name)]
    failed = False
    with tempfile.TemporaryDirectory() as folder, virtual_display() as display:
        build = [sys.executable, "-m", "pip", "wheel", "--quiet", "--no-deps", "--wheel-dir", folder, str(ROOT)]
        subprocess.run(build, check=True)
        (wheel,) = Path(folder).glob("contact_viewer-*.whl")
        for python in pythons:
            for version in VERSIONS:
                result = _try(python, version, wheel, Path(folder, "venv"), display)
                failed = failed or not result.startswith("fine")
                print(f"{python:12} MuJoCo {version or 'newest':8} {result}", flush=True)
    return int(failed or not pythons)


def _starts(python: str) -> bool:
    try:
        return subprocess.run([python, "-c", ""], capture_output=True, check=False).returncode == 0
    except OSError:
        return False


def _try(python: str, version: str, wheel: Path, folder: Path, display: str) -> str:
    """Return "fine" with the installed version, or what failed."""
    shutil.rmtree(folder, ignore_errors=True)
    subprocess.run([python, "-m", "venv", str(folder)], check=True)
    programs = folder / "bin"
    pin = [f"mujoco=={version}"] if version else []
    install = [str(programs / "python"), "-m", "pip", "install", "--quiet", "--no-compile", f"{wheel}[parquet]", *pin]
    done = subprocess.run(install, capture_output=True, text=True, check=False)
    if done.returncode:
        return f"cannot be installed: {done.stderr.strip().splitlines()[-1]}"
    wanted = ("PATH", "HOME", "LANG")
    environment = {name: os.environ[name] for name in wanted if name in os.environ}
    environment |= {"DISPLAY": display, "XDG_CONFIG_HOME": str(folder / "config")}
    work = folder / "work"
    work.mkdir()
    commands = [[str(programs / "contact-viewer"), *command] for command in COMMANDS]
    for command in [*commands, [str(programs / "python"), "-c", OWN_LOOP]]:
        done = subprocess.run(
            command, cwd=work, env=environment, capture_output=True, text=True, check=False, timeout=300
        )
        if done.returncode:
            last = (done.stderr.strip() or done.stdout.strip()).splitlines()[-1:]
            return f"failed: {' '.join(command[1:3])}: {''.join(last)}"
    line = "import mujoco; print(mujoco.__version__)"
    found = subprocess.run([programs / "python", "-c", line], capture_output=True, text=True, check=True).stdout
    return f"fine ({found.strip()}, {len(COMMANDS) + 1} commands)"


if __name__ == "__main__":
    raise SystemExit(main())
