"""The viewer inside a user's own program."""

import html
import os
import re
import subprocess
import sys
import time
from pathlib import Path
from typing import Any

import contact_viewer
import mujoco
import numpy as np
import pytest
from contact_viewer.errors import SceneError
from contact_viewer.scene_files.scene import find_scene
from contact_viewer.session.simulation import Simulation
from contact_viewer.window.window import Window

from ..page.reader import Page
from ..window.driver import wait
from .loops import DrivenBatch, DrivenViewer, load

MODEL = """
<mujoco>
  <worldbody>
    <light pos="0 0 3"/>
    <geom name="floor" type="plane" size="1 1 .1" rgba=".5 .5 .5 1"/>
    <body pos="0 0 .0999"><freejoint/><geom name="box" type="box" size=".1 .1 .1" mass="2" rgba=".4 .4 .4 .2"/></body>
  </worldbody>
  <sensor><contact name="c" geom1="floor" geom2="box"/></sensor>
</mujoco>"""


def test_a_loop_that_fails_before_the_first_sync_raises_its_own_error() -> None:
    model = mujoco.MjModel.from_xml_string(MODEL)
    with pytest.raises(KeyError, match="mine"), contact_viewer.launch_passive(model, mujoco.MjData(model)):
        raise KeyError("mine")
    with contact_viewer.launch_passive(model, mujoco.MjData(model)) as viewer:
        pass
    assert not viewer.is_running()


def test_no_display_is_told(monkeypatch: pytest.MonkeyPatch) -> None:
    for name in ("DISPLAY", "WAYLAND_DISPLAY"):
        if name in os.environ:
            monkeypatch.delenv(name)
    model = mujoco.MjModel.from_xml_string(MODEL)
    with pytest.raises(SceneError, match="contact-viewer record"):
        contact_viewer.launch_passive(model, mujoco.MjData(model))
    with pytest.raises(SceneError, match="contact-viewer record"):
        contact_viewer.launch(model)


def test_the_public_names() -> None:
    for name in contact_viewer.__all__:
        assert getattr(contact_viewer, name) is not None
    with pytest.raises(AttributeError, match="nothing"):
        contact_viewer.nothing  # noqa: B018


@pytest.mark.parametrize(
    ("module", "heavy"),
    [
        # It is used inside training jobs.
        ("contact_viewer", ("mujoco", "imgui_bundle", "OpenGL", "av")),
        # The window is another process's.
        ("contact_viewer.passive.launch", ("imgui_bundle", "OpenGL", "av", "contact_viewer.window")),
        # A person waits for the window.
        ("contact_viewer.window.window", ("av", "PIL", "rich", "motrixsim", "http.client")),
    ],
)
def test_an_import_loads_only_what_it_needs(module: str, heavy: tuple[str, ...]) -> None:
    code = f"import sys, {module}; print([m for m in {heavy} if m in sys.modules])"
    result = subprocess.run(
        [sys.executable, "-c", code], capture_output=True, text=True, check=True, cwd=Path(__file__).parent
    )
    assert result.stdout.strip() == "[]"


def test_data_of_another_model_are_refused_before_anything_is_opened() -> None:
    model = mujoco.MjModel.from_xml_string(
        "<mujoco><worldbody><body><joint/><geom size='1'/></body></worldbody></mujoco>"
    )
    other = mujoco.MjModel.from_xml_string("<mujoco/>")
    with pytest.raises(ValueError, match="the data are of another model: qpos has 0, not 1"):
        contact_viewer.launch_passive(model, mujoco.MjData(other))
    with pytest.raises(ValueError, match="the data are of another model"):
        contact_viewer.launch(model, mujoco.MjData(other))
    with pytest.raises(ValueError, match="an MjModel and an MjData are needed, not str and NoneType"):
        contact_viewer.launch_passive("slope", None)  # type: ignore[arg-type]
    with pytest.raises(ValueError, match="an MjModel is needed, not NoneType"):
        contact_viewer.launch_batch(None, 2)  # type: ignore[arg-type]
    sizes: list[Any] = [float("nan"), 0, -1, "64"]
    for size in sizes:
        with pytest.raises(ValueError, match="ring_megabytes is a size"):
            contact_viewer.launch_passive(model, mujoco.MjData(model), ring_megabytes=size)
        with pytest.raises(ValueError, match="ring_megabytes is a size"):
            contact_viewer.launch_batch(model, 2, ring_megabytes=size)
    with pytest.raises(ValueError, match="key_callback is called with each key, and 5 cannot be called"):
        contact_viewer.launch_passive(model, mujoco.MjData(model), key_callback=5)  # type: ignore[arg-type]


def test_a_run_of_a_loop_is_saved_with_every_step(tmp_path: Path) -> None:
    """Also steps that the window had no time for yet, and those of a changed model: bit for bit those of the loop."""
    model = mujoco.MjModel.from_xml_path(str(find_scene("gripper")))
    data = mujoco.MjData(model)
    states, forces = [], []
    with contact_viewer.launch_passive(model, data) as viewer:
        for step in range(150):
            data.ctrl[:] = (0.0, 0.01 * np.sin(0.1 * step), 0.2)
            if step == 100:
                model.opt.gravity[2] = -5.0
                model.geom_friction[:] *= 0.5
            mujoco.mj_step(model, data)
            viewer.sync()
            states.append(data.qpos.tobytes())
            forces.append(data.efc_force.tobytes())
        viewer.save_run(tmp_path / "loop.cvrun")
        with pytest.raises(SceneError, match="there is no folder"):
            viewer.save_run(tmp_path / "none" / "loop.cvrun")
        assert viewer.save_page(tmp_path / "loop.html", title="A loop") == tmp_path / "loop.html"
        mujoco.mj_step(model, data)
        viewer.sync()
        assert viewer.is_running()
    with pytest.raises(SceneError, match="the window is closed"):
        viewer.save_run(tmp_path / "late.cvrun")
    page = Page(tmp_path / "loop.html")
    assert (page.manifest["title"], page.manifest["frames"]["count"]) == ("A loop", 151)
    frame = re.search(r'srcdoc="([^"]+)"', contact_viewer.show(tmp_path / "loop.html")._repr_html_())
    assert frame is not None
    assert html.unescape(frame[1]) == page.text
    engine = contact_viewer.open_engine(tmp_path / "loop.cvrun")
    simulation = Simulation(engine)
    for step in range(150):
        simulation.step()
        assert engine.data.qpos.tobytes() == states[step]
        assert engine.data.efc_force.tobytes() == forces[step]
    assert simulation.source.summary() == "loop.cvrun: all 150 steps are exact"


CORE_WINDOW = """
def open_core_window():
    from imgui_bundle import hello_imgui
    params = hello_imgui.RunnerParams()
    params.ini_disable = True
    frames = []
    def show():
        frames.append(0)
        params.app_shall_exit = len(frames) > 2
    params.callbacks.show_gui = show
    hello_imgui.run(params)

def open_viewer():
    from contact_viewer.settings import Options
    from contact_viewer.window.main_loop import open_window
    open_window(Options(scene="slope", frames=3))

import contact_viewer, mujoco
"""


def run_after_core_window(code: str, folder: Path) -> "subprocess.CompletedProcess[str]":
    environment = os.environ | {"XDG_CONFIG_HOME": str(folder)}
    command = [sys.executable, "-c", CORE_WINDOW + code]
    return subprocess.run(command, env=environment, capture_output=True, text=True, timeout=120, check=False)


def test_a_program_that_had_a_core_profile_window_is_told_what_to_do(tmp_path: Path) -> None:
    """Hello ImGui takes the OpenGL options of a process' first window for all; MuJoCo cannot draw with those."""
    code = (
        "open_core_window()\n"
        "from contact_viewer.errors import SceneError\n"
        "try: contact_viewer.launch('slope')\n"
        "except SceneError as error: print(error)\n"
    )
    run = run_after_core_window(code, tmp_path)
    assert run.stderr == ""
    assert run.returncode == 0
    (line,) = run.stdout.splitlines()
    assert "core profile" in line
    assert "launch_passive" in line


def test_what_that_line_advises_works(tmp_path: Path) -> None:
    first = run_after_core_window("open_viewer(); open_core_window(); open_viewer(); print('drawn')", tmp_path)
    assert (first.stdout, first.stderr) == ("drawn\n", "")
    code = (
        "open_core_window()\n"
        "model = mujoco.MjModel.from_xml_string('<mujoco><worldbody><geom size=\".1\"/></worldbody></mujoco>')\n"
        "data = mujoco.MjData(model)\n"
        "with contact_viewer.launch_passive(model, data) as viewer:\n"
        "    for _ in range(20): mujoco.mj_step(model, data); viewer.sync()\n"
        "    print(viewer.is_running())\n"
        "with contact_viewer.launch('slope', serve=True) as served: print(served.url[:17])\n"
    )
    other = run_after_core_window(code, tmp_path)
    assert [other.stdout.splitlines()[0], other.stdout.splitlines()[-1]] == ["True", "http://127.0.0.1:"]
    assert other.returncode == 0


def see_camera(ctx: Any, window: Window) -> Any:
    """In the window's process: the body that the camera follows, and where it looks once that has moved."""
    session = window.app.session
    wait(ctx, lambda: session.history is not None and session.history.last > 5 and session.view.tracking is not None)
    return session.view.tracking


@pytest.mark.parametrize("batch", [False, True])
def test_the_camera_follows_the_robot_if_asked_to(batch: bool, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    model, data = load("quadruped")
    driven: list[DrivenBatch | DrivenViewer] = []

    def launch(*arguments: Any, **options: Any) -> Any:
        make: Any = (
            DrivenBatch(model, see_camera, tmp_path) if batch else DrivenViewer(model, data, see_camera, tmp_path)
        )
        driven.append(make)
        return make.viewer

    monkeypatch.setattr(f"contact_viewer.passive.launch.{'Batch' if batch else 'Passive'}Viewer", launch)
    if batch:
        viewer: Any = contact_viewer.launch_batch(model, 6, follow=True)
    else:
        viewer = contact_viewer.launch_passive(model, data, follow=True)
    while viewer.is_running():
        mujoco.mj_step(model, data)
        viewer.sync(qpos=np.tile(data.qpos, (6, 1)), qvel=np.tile(data.qvel, (6, 1))) if batch else viewer.sync()
        time.sleep(0.002)
    found = driven[0]
    if isinstance(found, DrivenViewer):
        with found:
            pass
        tracking = found.result
    else:
        tracking = found.finish()
    # The root of the heaviest tree with a free joint.
    free = [int(model.jnt_bodyid[i]) for i in range(model.njnt) if model.jnt_type[i] == mujoco.mjtJoint.mjJNT_FREE]
    assert tracking == model.body(max(free, key=lambda body: float(model.body_subtreemass[body]))).name
