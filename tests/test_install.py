"""The wheel in a clean environment: it finds its scenes and shaders, and both ways to start it work."""

import json
import os
import subprocess
import sys
import venv
from pathlib import Path

import pytest

ROOT = Path(__file__).parent.parent


@pytest.fixture(scope="module")
def environment(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A fresh virtual environment with nothing but the wheel and what it depends on."""
    folder = tmp_path_factory.mktemp("clean")
    subprocess.run(
        [sys.executable, "-m", "pip", "wheel", "--quiet", "--no-deps", "--wheel-dir", str(folder), str(ROOT)],
        check=True,
    )
    venv.create(folder / "venv", with_pip=True)
    (wheel,) = folder.glob("contact_viewer-*.whl")
    python = folder / "venv" / "bin" / "python"
    subprocess.run([str(python), "-m", "pip", "install", "--quiet", "--no-compile", str(wheel)], check=True)
    return folder / "venv" / "bin"


def run(program: Path, *arguments: str) -> str:
    return subprocess.run(
        [str(program), *arguments], capture_output=True, text=True, check=True, cwd="/", timeout=120
    ).stdout


@pytest.mark.timeout(600)
def test_the_wheel_has_everything(environment: Path) -> None:
    scenes = run(environment / "contact-viewer", "scenes").splitlines()
    assert len(scenes) == len(list((ROOT / "scenes").glob("*.xml")))
    report = json.loads(run(environment / "python", "-m", "contact_viewer", "inspect", "slope", "--json"))
    assert Path(report["scene"]).is_relative_to(environment.parent)
    names = run(
        environment / "python",
        "-c",
        "from importlib.resources import files; print(*[f.name for f in files('contact_viewer.shaders').iterdir()])",
    ).split()
    assert {path.name for path in (ROOT / "shaders").iterdir() if path.suffix != ".pyc" and path.is_file()} <= set(
        names
    )


@pytest.mark.timeout(600)
def test_the_wheel_opens_a_window(environment: Path) -> None:
    assert "DISPLAY" in os.environ
    run(environment / "contact-viewer", "--frames", "10", "--width", "640", "--height", "400")


@pytest.mark.parametrize(("user", "code"), [(1000, 1), (0, 0)])
def test_who_may_not_install_packages_is_told_which_are_missing(tmp_path: Path, user: int, code: int) -> None:
    """On a machine where one of two packages is there; what would install packages only says so."""
    programs = {
        "dpkg": '[ "$2" = libgl1 ]',
        "id": f"echo {user}",
        "apt-get": f'echo "$*" >> "{tmp_path}/installed"',
    }
    for name, text in programs.items():
        (tmp_path / name).write_text(f"#!/bin/sh\n{text}\n")
        (tmp_path / name).chmod(0o755)
    result = subprocess.run(
        ["sh", str(ROOT / ".ci" / "debian-packages"), "libgl1", "xvfb"],
        env=os.environ | {"PATH": f"{tmp_path}:{os.environ['PATH']}"},
        capture_output=True,
        text=True,
        check=False,
    )
    assert result.returncode == code
    if user:
        assert result.stderr == "missing packages, to be installed with: sudo apt-get install xvfb\n"
        assert not (tmp_path / "installed").exists()
    else:
        assert "xvfb" in (tmp_path / "installed").read_text()
