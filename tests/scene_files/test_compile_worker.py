"""Scenes compiled in a process of their own: the same model, or one line that says why not."""

import os
import signal
import subprocess
import sys
import threading
import time
import warnings
from collections.abc import Iterator
from contextlib import closing
from pathlib import Path
from typing import Any

import mujoco
import numpy as np
import psutil
import pytest
from contact_viewer.assets import BundledScene, bundled_scenes
from contact_viewer.errors import SceneError
from contact_viewer.processes import Limits, Worker
from contact_viewer.scene_files import safe_open
from contact_viewer.scene_files.compile_worker import Compilation, compile_scene
from contact_viewer.scene_files.error_messages import NOT_UTF8
from contact_viewer.scene_files.preflight import survey_scene
from contact_viewer.scene_files.safe_open import Opening, OpeningCancelled, open_safely
from contact_viewer.scene_files.scene import LoadedScene, load_scene, one_line

ENDLESS = """<mujoco><compiler><lengthrange inttotal="1000000000"/></compiler>
  <worldbody><body><joint name="j" limited="true" range="-1 1"/><geom size=".1"/></body></worldbody>
  <actuator><muscle joint="j"/></actuator></mujoco>"""
"""Takes days to compile."""
HUGE = """<mujoco><asset><texture name="t" type="2d" builtin="flat" width="30000" height="30000"/></asset></mujoco>"""
"""Takes 5 GB to compile."""


@pytest.fixture
def scene(tmp_path: Path) -> Path:
    return tmp_path / "scene.xml"


@pytest.fixture(autouse=True)
def no_leftovers(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[None]:
    """Whatever happens, neither files nor processes remain."""
    folder = tmp_path / "temporary"
    folder.mkdir()
    monkeypatch.setattr("tempfile.tempdir", str(folder))
    yield
    assert list(folder.iterdir()) == []
    assert psutil.Process().children() == []


@pytest.mark.parametrize("bundled", bundled_scenes(), ids=lambda scene: scene.name)
def test_the_model_is_the_same_to_the_bit(bundled: BundledScene) -> None:
    path = bundled.path.resolve()
    here = load_scene(path)
    with closing(Compilation(path)) as compilation:
        there = compilation.result()
    assert there.companions == here.companions
    assert there.survey is not None
    assert there.survey.files == survey_scene(path).files
    states = []
    for model in (here.model, there.model):
        data = mujoco.MjData(model)
        mujoco.mj_step(model, data, 200)
        states.append((data.qpos.copy(), data.sensordata.copy()))
    np.testing.assert_array_equal(states[0][0], states[1][0])
    np.testing.assert_array_equal(states[0][1], states[1][1])


def test_time_is_limited(scene: Path) -> None:
    scene.write_text(ENDLESS)
    with pytest.raises(SceneError, match=r"stopped after 2 s of compiling; suspected: a lengthrange"):
        open_safely(scene, limits=Limits(time=2))


def test_memory_is_limited(scene: Path) -> None:
    scene.write_text(HUGE)
    with pytest.raises(SceneError, match=r"scene.xml: needs more than 1.0 GB of memory"):
        open_safely(scene, limits=Limits(memory=10**9))


def test_addresses_that_are_only_reserved_are_no_memory(scene: Path) -> None:
    """2000 free bodies make MuJoCo reserve 6.4 GB for contacts, of which it fills none; so does this arena."""
    scene.write_text(
        "<mujoco><size memory='6G'/><worldbody><geom type='plane' size='1 1 .1'/>"
        "<body pos='0 0 .05'><freejoint/><geom size='.1'/></body></worldbody></mujoco>"
    )
    with closing(Compilation(scene)) as compilation:
        assert compilation.result().model.narena == 6 * 2**30


LIMITED = """
import sys
from pathlib import Path
from contact_viewer.errors import SceneError
from contact_viewer.scene_files.compile_worker import Compilation
compilation = Compilation(Path(sys.argv[1]), ("an innocent element",))
try:
    print(compilation.result().model.nbody)
except SceneError as error:
    print(error)
compilation.close()
"""


@pytest.mark.parametrize(("memory", "said"), [("1M", "2"), ("60G", "ulimit -v")])
def test_ulimit_is_kept_and_an_innocent_element_is_not_blamed(scene: Path, memory: str, said: str) -> None:
    scene.write_text(f"<mujoco><size memory='{memory}'/><worldbody><body><geom size='.1'/></body></worldbody></mujoco>")
    # The limit may be lowered by anyone, and raised by root alone.
    script = f'ulimit -v {8 * 2**20} && exec "$0" "$@"'
    ordinary = ["setpriv", "--bounding-set", "-sys_resource"] if os.getuid() == 0 else []
    command = [*ordinary, "sh", "-c", script, sys.executable, "-c", LIMITED, str(scene)]
    result = subprocess.run(command, capture_output=True, text=True, check=False)
    assert result.stderr == ""
    assert said in result.stdout
    assert "innocent" not in result.stdout


def test_a_crash_is_a_message(scene: Path) -> None:
    scene.write_text(ENDLESS)
    with closing(Compilation(scene)) as compilation:
        while compilation.stage != "compiling":
            time.sleep(0.01)
        psutil.Process().children()[0].send_signal(signal.SIGSEGV)
        with pytest.raises(SceneError, match=r"scene.xml: MuJoCo crashed on it \(SIGSEGV\)"):
            compilation.result()


def test_the_process_ends_by_itself_if_nobody_ends_it(scene: Path) -> None:
    scene.write_text(ENDLESS)
    request = {"path": str(scene), "changes": []}
    worker = Worker("contact_viewer.scene_files.compile_worker", request, Limits(time=1))
    try:
        # Not polled, so that nobody stops it.
        assert worker._process.wait(30) == -signal.SIGALRM
        assert worker.poll()
        assert worker.timed_out
    finally:
        worker.close()


def test_cancelling_ends_it_at_once(scene: Path) -> None:
    scene.write_text(ENDLESS)
    with closing(Compilation(scene)) as compilation:
        assert not compilation.wait(0.5)
        compilation.cancel()
        assert compilation.wait(0)
        with pytest.raises(SceneError, match=r"scene.xml: cancelled$"):
            compilation.result()


def test_errors_are_those_of_a_compilation_here(scene: Path) -> None:
    scene.write_text("<mujoco>\n<worldbody>\n<geom size='0'/></worldbody></mujoco>")
    with pytest.raises(SceneError) as here:
        compile_scene(survey_scene(scene))
    with pytest.raises(SceneError) as there, closing(Compilation(scene)) as compilation:
        compilation.result()
    assert str(here.value) == str(there.value) == f"{scene}: line 3: size 0 must be positive in geom"


def test_without_a_process_there_is_a_message(scene: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    def fail(*_: object, **__: object) -> None:
        raise OSError(11, "Resource temporarily unavailable")

    scene.write_text(ENDLESS)
    monkeypatch.setattr(subprocess, "Popen", fail)
    with pytest.raises(SceneError, match="no process to compile it in"):
        open_safely(scene)


def test_warnings_of_the_compiler_are_notes(scene: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    scene.write_text("<mujoco>\n<worldbody>\n<geom name='g' size='1'/></worldbody></mujoco>")

    def load(path: Path, *_: object) -> LoadedScene:
        warnings.warn("the geom is round\nElement name 'g', id 0\n", stacklevel=1)
        return load_scene(path)

    monkeypatch.setattr("contact_viewer.scene_files.compile_worker.load_scene", load)
    assert open_safely(scene).notes == ("line 3: the geom is round (g)",)


def test_what_lies_in_the_working_folder_is_not_run(
    scene: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    scene.write_text("<mujoco><size nkey='10000'/></mujoco>")
    for name in ("mujoco", "numpy", "json", "contact_viewer"):
        (tmp_path / f"{name}.py").write_text(f"open({str(tmp_path / 'run')!r}, 'w')\n")
    monkeypatch.chdir(tmp_path)
    with closing(Compilation(scene)) as compilation:
        compilation.result()
    assert not (tmp_path / "run").exists()


def test_the_log_of_mujoco_stays_out_of_the_working_folder(
    scene: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    scene.write_text("<mujoco><option gravity='nan 0 0'/><size nkey='10001'/></mujoco>")
    work = tmp_path / "work"
    work.mkdir()
    monkeypatch.chdir(work)
    with pytest.raises(SceneError, match="gravity"):
        open_safely(scene)
    assert os.listdir(work) == []


def test_no_process_is_started_for_an_ordinary_scene(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(subprocess, "Popen", None)
    for bundled in bundled_scenes():
        open_safely(bundled.path.resolve())


@pytest.mark.alone
def test_checks_add_little_to_a_small_scene() -> None:
    path = bundled_scenes()[0].path.resolve()
    plain, checked = [], []
    for _ in range(10):
        start = time.process_time()
        load_scene(path)
        middle = time.process_time()
        open_safely(path)
        plain.append(middle - start)
        checked.append(time.process_time() - middle)
    assert min(checked) - min(plain) < 0.05


def test_a_process_compiles_every_scene_of_a_running_window(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("contact_viewer.scene_files.safe_open.compile_scene", None)
    assert Opening(bundled_scenes()[0].path.resolve(), lambda opened: opened).result().model.nbody > 1


def test_a_window_can_go_on_while_a_scene_is_opened() -> None:
    threads = []

    def build(opened: object) -> str:
        threads.append(threading.current_thread())
        return type(opened).__name__

    opening = Opening(bundled_scenes()[0].path.resolve(), build)
    while not opening.poll():
        time.sleep(0.001)
    assert opening.result() == "OpenedScene"
    assert threads != [threading.current_thread()]


def test_a_heavy_opening_tells_what_it_does_and_can_be_cancelled(scene: Path) -> None:
    scene.write_text(ENDLESS)
    opening = Opening(scene, lambda opened: opened)
    stages = set()
    while opening.stage != "compiling" and opening.elapsed < 30:
        stages.add(opening.stage)
        time.sleep(0.005)
    assert opening.stage == "compiling"
    assert stages <= {"checking", "starting"}
    opening.cancel()
    # It would compile for ever.
    with pytest.raises(OpeningCancelled):
        opening.result()


def test_errors_of_an_opening_are_raised_in_its_result(scene: Path) -> None:
    scene.write_text("<mujoco>\n<nonsense/></mujoco>")
    opening = Opening(scene, lambda opened: opened)
    with pytest.raises(SceneError, match="line 2"):
        opening.result()


def test_a_refused_scene_names_the_files_to_wait_for(scene: Path) -> None:
    scene.write_text("<mujoco><include file='part.xml'/></mujoco>")
    with pytest.raises(SceneError, match=r"no such file: part.xml \(scene.xml line 1\)") as refused:
        open_safely(scene)
    assert getattr(refused.value, "files", {}).keys() == {scene, scene.with_name("part.xml")}


def test_a_scene_whose_files_are_unchanged_needs_no_process(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Sensors made in a running window do not wait for a process; a saved file does."""
    scene = tmp_path / "scene.xml"
    scene.write_text('<mujoco><worldbody><geom size=".1"/></worldbody></mujoco>')
    isolated: list[Path] = []
    compile_isolated = safe_open._compile_isolated

    def count(survey: Any, *rest: Any) -> Any:
        isolated.append(survey.path)
        return compile_isolated(survey, *rest)

    monkeypatch.setattr(safe_open, "_compile_isolated", count)
    first = open_safely(scene)
    assert first.survey is not None
    Opening(scene, lambda opened: opened, known=first.survey.files).result()
    assert isolated == []
    scene.write_text('<mujoco><worldbody><geom size=".2"/></worldbody></mujoco>')
    assert Opening(scene, lambda opened: opened, known=first.survey.files).result().model.geom_size[0, 0] == 0.2
    assert isolated == [scene]


def test_a_message_that_an_older_python_cannot_decode_is_known_as_such() -> None:
    assert NOT_UTF8 in one_line(ValueError())
    assert one_line(ValueError("why\n so")) == "why; so"
