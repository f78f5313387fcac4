"""Whatever is given to the program: it opens and works, or ends in one line that names the problem and exit code 2."""

import ctypes
import os
import subprocess
import sys
import time
from pathlib import Path

import mujoco
import numpy as np
import pytest
from contact_viewer.cli import main
from contact_viewer.engines.mujoco.engine import MujocoEngine
from contact_viewer.errors import SceneError
from contact_viewer.processes import Limits
from contact_viewer.scene_files import compile_worker
from contact_viewer.scene_files.model_checks import check_model
from contact_viewer.scene_files.safe_open import open_safely
from contact_viewer.scene_files.scene import find_scene

from .inputs import OPENS, REFUSED, Input


@pytest.fixture(autouse=True)
def small_limits(monkeypatch: pytest.MonkeyPatch, request: pytest.FixtureRequest) -> None:
    # Short for what never ends; all else takes a second or two, and more only beside other work.
    given = getattr(request.node, "callspec", None)
    endless = given is not None and "suspected: " in getattr(given.params.get("given"), "words", "")
    limits = Limits(time=5 if endless else 30, memory=1_500_000_000)
    monkeypatch.setattr(compile_worker, "DEFAULT_LIMITS", limits)


@pytest.fixture(autouse=True)
def one_engine(monkeypatch: pytest.MonkeyPatch) -> None:
    # Another engine's opinion of thousands of sensors takes minutes, and is not asked for here.
    monkeypatch.setattr("contact_viewer.engines.motrix.portability.find_spec", lambda _: None)


def run_refused(path: str, capsys: pytest.CaptureFixture[str]) -> str:
    """The command line's one line about a scene that it refuses."""
    assert main(["inspect", path]) == 2
    output = capsys.readouterr()
    assert output.out == ""
    assert len(output.err.splitlines()) == 1
    assert output.err.rstrip("\n").isprintable()
    return output.err


@pytest.mark.parametrize("given", OPENS, ids=lambda given: given.what)
def test_opens_and_works(given: Input, tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    path = given.write(tmp_path)
    scene = open_safely(find_scene(path))
    assert scene.notes == given.notes
    engine = MujocoEngine(scene)
    assert len(engine.sensors) == given.sensors
    engine.step(10)
    for sensor in list(engine.sensors)[:10]:
        assert engine.contacts(sensor.name).found == 0
    assert main(["inspect", str(path), "--json"]) == 0
    output = capsys.readouterr()
    assert output.out.count('"label"') == given.sensors
    assert output.err == "".join(f"note: {note}\n" for note in given.notes)


@pytest.mark.parametrize("given", REFUSED, ids=lambda given: given.what)
def test_ends_in_one_line(given: Input, tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    start = time.process_time()
    message = run_refused(str(given.write(tmp_path)), capsys)
    assert given.words in message
    assert Path(given.scene).name in message
    assert len(message) < 800
    assert time.process_time() - start < 10


def test_settings_are_brought_within_bounds(tmp_path: Path) -> None:
    given = next(given for given in OPENS if given.what == "endless solver iterations")
    assert open_safely(given.write(tmp_path)).model.opt.iterations == 1000
    given = next(given for given in OPENS if given.what == "round shapes of many slices")
    assert open_safely(given.write(tmp_path)).model.vis.quality.numslices == 256


def test_a_folder(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert "is a folder, not a scene file" in run_refused(str(tmp_path), capsys)


def test_a_pipe_nobody_writes_to(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    os.mkfifo(tmp_path / "scene.xml")
    assert "not a regular file" in run_refused(str(tmp_path / "scene.xml"), capsys)
    with pytest.raises(SceneError, match="not a regular file"):
        open_safely(tmp_path / "scene.xml")
    (tmp_path / "outer.xml").write_text('<mujoco><asset><mesh name="m" file="scene.xml"/></asset></mujoco>')
    assert "not a regular file" in run_refused(str(tmp_path / "outer.xml"), capsys)


@pytest.mark.alone
def test_a_gigabyte_of_text(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    path = tmp_path / "scene.xml"
    with path.open("wb") as file:
        file.write(b"<mujoco>")
        file.truncate(10**9)
    start = time.process_time()
    assert "has 1.0 GB; a scene file may have 100 MB" in run_refused(str(path), capsys)
    (tmp_path / "outer.xml").write_text('<mujoco><include file="scene.xml"/></mujoco>')
    assert "has 1.0 GB; a scene file may have 100 MB" in run_refused(str(tmp_path / "outer.xml"), capsys)
    assert time.process_time() - start < 2


def test_a_mesh_beyond_what_mujoco_reads(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    with (tmp_path / "m.stl").open("wb") as file:
        file.truncate(3 * 10**9)
    (tmp_path / "scene.xml").write_text('<mujoco><asset><mesh name="m" file="m.stl"/></asset></mujoco>')
    assert "m.stl: has 3.0 GB; MuJoCo reads at most 2.1 GB" in run_refused(str(tmp_path / "scene.xml"), capsys)


def test_a_file_that_disappears(tmp_path: Path) -> None:
    path = tmp_path / "scene.xml"
    path.write_text("<mujoco/>")
    found = find_scene(path)
    path.unlink()
    with pytest.raises(SceneError, match="No such file"):
        open_safely(found)


def give_up_privileges() -> None:
    """Also root is refused files without permission, once it may not override permissions."""
    drop_bounding, override, read_search = 24, 1, 2
    libc = ctypes.CDLL(None)
    libc.prctl(drop_bounding, override)
    libc.prctl(drop_bounding, read_search)


@pytest.mark.parametrize("forbidden", ["scene.xml", "part.xml", "mesh.obj"])
def test_a_file_without_permission(forbidden: str, tmp_path: Path) -> None:
    (tmp_path / "scene.xml").write_text('<mujoco><include file="part.xml"/></mujoco>')
    (tmp_path / "part.xml").write_text('<mujoco><asset><mesh name="m" file="mesh.obj"/></asset></mujoco>')
    (tmp_path / "mesh.obj").write_text("v 0 0 0\nv 1 0 0\nv 0 1 0\nv 0 0 1\nf 1 3 2\nf 1 2 4\nf 1 4 3\nf 2 3 4\n")
    code = (
        "import sys, pathlib; from contact_viewer.scene_files.safe_open import open_safely\n"
        "try: open_safely(pathlib.Path(sys.argv[1])); print('opened')\n"
        "except ValueError as error: print(type(error).__name__, error)"
    )
    command = [sys.executable, "-c", code, str(tmp_path / "scene.xml")]

    def run() -> str:
        return subprocess.run(
            command, capture_output=True, text=True, check=True, timeout=60, preexec_fn=give_up_privileges
        ).stdout

    assert run() == "opened\n"
    (tmp_path / forbidden).chmod(0)
    assert run() == f"SceneRefused {tmp_path / forbidden}: cannot be read (Permission denied)\n"


def test_nan_in_an_array_of_a_mesh_is_reported_by_the_name_of_the_array() -> None:
    cube = "-1 -1 -1 1 -1 -1 -1 1 -1 1 1 -1 -1 -1 1 1 -1 1 -1 1 1 1 1 1"
    model = mujoco.MjModel.from_xml_string(
        f'<mujoco><asset><mesh name="cube" vertex="{cube}"/></asset>'
        '<worldbody><body><freejoint/><geom type="mesh" mesh="cube"/></body></worldbody></mujoco>'
    )
    # As MuJoCo 3.5.0 leaves it of triangles without area: nothing that a scene could be refused for.
    model.mesh_polynormal[-1] = np.nan
    check_model(model)
    model.mesh_vert[-1] = np.nan
    with pytest.raises(SceneError, match=r"^mesh_vert is not a finite number$"):
        check_model(model)
