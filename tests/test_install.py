"""The wheel in a clean environment: it finds its scenes and shaders, and both ways to start it work."""

import json
import os
import re
import runpy
import subprocess
import sys
import tomllib
import urllib.request
import venv
from pathlib import Path

import contact_viewer
import pytest

ROOT = Path(__file__).parent.parent


# Rerun needs a newer numpy than the others; Ray is a cluster of its own.
LOW_EXTRAS = ["gymnasium", "motrix", "parquet", "fsspec", "hdf5"]
MESH_ROBOT = """
<mujoco>
  <asset>
    <mesh name="hull" vertex="0 0 0 .1 0 0 0 .1 0 0 0 .1"/>
    <mesh name="shell" vertex="0 0 0 .1 0 0 0 .1 0 0 0 .1 .02 .02 .02 .02 .02 .02000000001 .03 .03 .03"
      face="0 2 1 0 1 3 0 3 2 1 2 3 4 5 6"/>
  </asset>
  <worldbody>
    <light pos="0 0 2"/>
    <geom name="floor" type="plane" size="1 1 .1"/>
    <body name="robot" pos="0 0 .11">
      <freejoint/>
      <geom type="mesh" mesh="shell" contype="0" conaffinity="0"/>
      <geom name="hull" type="mesh" mesh="hull"/>
    </body>
  </worldbody>
  <sensor>
    <contact name="touch" geom1="floor" geom2="hull" num="4"/>
  </sensor>
</mujoco>
"""
"""A mesh robot; a triangle of what is only seen has no area."""
COMPILE_WHILE_SEEN = """
import copy, gymnasium, mujoco, sys
from contact_viewer import launch_passive
from contact_viewer.gymnasium import ContactViewer

environment = ContactViewer(gymnasium.make("Hopper-v5"), serve=True)
environment.reset(seed=0)
environment.step(environment.action_space.sample())
model = mujoco.MjModel.from_xml_path(sys.argv[1])
with launch_passive(model, mujoco.MjData(model), every_step=True, serve=True) as viewer:
    mujoco.mj_step(viewer.m, viewer.d, 3)
    viewer.sync()
    mujoco.MjSpec.from_file(sys.argv[1]).compile()
    gymnasium.make("Hopper-v5").reset()
    copied = copy.deepcopy(environment)
    copied.reset()
    copied.close()
environment.close()
"""
"""Models and environments are made while the steps of others are seen."""


@pytest.fixture(scope="module")
def wheel(tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("wheel")
    subprocess.run(
        [sys.executable, "-m", "pip", "wheel", "--quiet", "--no-deps", "--wheel-dir", str(folder), str(ROOT)],
        check=True,
    )
    (wheel,) = folder.glob("contact_viewer-*.whl")
    return wheel


def install(folder: Path, *arguments: str) -> Path:
    """A fresh virtual environment with nothing but a wheel and what it depends on; returns its folder of programs."""
    # With the pip of the tests: one in each environment takes longer to set up than some of the packages.
    venv.create(folder)
    programs = folder / "bin"
    pip = [sys.executable, "-m", "pip", "--python", str(programs / "python")]
    subprocess.run([*pip, "install", "--quiet", "--no-compile", *arguments], check=True)
    return programs


@pytest.fixture(scope="module")
def environment(wheel: Path, tmp_path_factory: pytest.TempPathFactory) -> Path:
    return install(tmp_path_factory.mktemp("clean") / "venv", str(wheel))


@pytest.fixture(scope="module")
def lowest(wheel: Path, tmp_path_factory: pytest.TempPathFactory) -> Path:
    """An environment with the lowest versions that `pyproject.toml` allows, all together."""
    project = tomllib.loads((ROOT / "pyproject.toml").read_text())["project"]
    extras = project["optional-dependencies"]
    bounds = [*project["dependencies"], *(bound for extra in LOW_EXTRAS for bound in extras[extra])]
    folder = tmp_path_factory.mktemp("lowest")
    versions = [re.sub(r"(\[.*\])?>=([\d.]+).*", r"==\2", bound) for bound in bounds]
    (folder / "constraints.txt").write_text("\n".join(versions))
    return install(
        folder / "venv",
        f"{wheel}[{','.join(LOW_EXTRAS)}]",
        "--constraint",
        str(folder / "constraints.txt"),
        "--only-binary",
        ":all:",
    )


def run(program: Path, *arguments: str, folder: str | Path = "/") -> str:
    result = subprocess.run(
        [str(program), *arguments], capture_output=True, text=True, check=False, cwd=folder, timeout=120
    )
    assert result.returncode == 0, f"{arguments}: {result.stderr}"
    return result.stdout


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


@pytest.mark.timeout(600)
@pytest.mark.skipif(sys.version_info >= (3, 12), reason="the lowest versions have packages for Python 3.11")
def test_every_command_works_with_the_lowest_versions_together(
    lowest: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """On a robot with meshes, in whose arrays MuJoCo 3.5.0 leaves NaN."""
    # Libraries that other tests have imported set them, for the versions of this environment.
    for name in ("PYGLFW_LIBRARY", "PYOPENGL_PLATFORM", "MUJOCO_GL"):
        monkeypatch.delenv(name, raising=False)
    (tmp_path / "robot.xml").write_text(MESH_ROBOT)
    program = lowest / "contact-viewer"
    for command in (
        "scenes",
        "doctor",
        "inspect robot.xml",
        "sensors robot.xml",
        "robot.xml --frames 3 --width 640 --height 400",
        "compare robot.xml --duration 0.1",
        "events robot.xml --duration 0.2 -o events.csv",
        "export robot.xml --duration 0.2 -o contacts.csv --save-run run.cvrun",
        "export run.cvrun -o contacts.parquet",
        "record robot.xml --duration 0.1 --size 320x240 -o clip.mp4",
        "sweep robot.xml -o runs --seeds 0:2 --duration 0.1 --workers 1",
        "report runs",
    ):
        run(program, *command.split(), folder=tmp_path)
    monkeypatch.delenv("DISPLAY", raising=False)
    filmed = "record robot.xml --window --duration 0.1 --size 640x400 -o window.png"
    run(program, *filmed.split(), folder=tmp_path)
    run(lowest / "python", "-c", COMPILE_WHILE_SEEN, "robot.xml", folder=tmp_path)
    assert {"events.csv", "contacts.csv", "contacts.parquet", "clip.mp4", "window.png"} <= set(os.listdir(tmp_path))
    with subprocess.Popen(
        [str(program), "robot.xml", "--serve"], cwd=tmp_path, stdout=subprocess.PIPE, text=True
    ) as server:
        assert server.stdout is not None
        try:
            address = server.stdout.readline().split()[-1]
            assert urllib.request.urlopen(address, timeout=30).status == 200
        finally:
            server.terminate()


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


def test_a_release_has_links_that_work_on_a_package_index(tmp_path: Path) -> None:
    found = runpy.run_path(str(ROOT / ".ci/release.py"))
    found["prepare"](tmp_path, "https://example.com/contact-viewer/")
    readme = (tmp_path / "README.md").read_text()
    links = re.findall(r"\]\(([^)]+)\)", readme)
    assert len(links) > 15
    assert all(link.startswith("https://") for link in links)
    assert f"(https://example.com/contact-viewer/raw/v{contact_viewer.__version__}/docs/walker.gif)" in readme
    project = tomllib.loads((tmp_path / "pyproject.toml").read_text())["project"]
    assert project["urls"]["Issues"] == "https://example.com/contact-viewer/issues"
