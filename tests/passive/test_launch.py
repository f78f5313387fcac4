"""The viewer inside a user's own program."""

import os
import subprocess
import sys
from pathlib import Path

import contact_viewer
import mujoco
import numpy as np
import pytest
from contact_viewer.errors import SceneError
from contact_viewer.passive.launch import PassiveViewer

from ..window.driver import count_green

MODEL = """
<mujoco>
  <worldbody>
    <light pos="0 0 3"/>
    <geom name="floor" type="plane" size="1 1 .1" rgba=".5 .5 .5 1"/>
    <body pos="0 0 .0999"><freejoint/><geom name="box" type="box" size=".1 .1 .1" mass="2" rgba=".4 .4 .4 .2"/></body>
  </worldbody>
  <sensor><contact name="c" geom1="floor" geom2="box"/></sensor>
</mujoco>"""


def picture(viewer: PassiveViewer) -> np.ndarray:
    """The scene's pixels of the next frame, read before the panels are drawn over it."""
    frames = []
    canvas = viewer._window.canvas
    assert canvas is not None
    gizmos = canvas.gizmo_pass
    assert gizmos is not None
    draw = gizmos.draw

    def draw_and_read(glyphs, matrices, viewport, see_through) -> None:  # type: ignore[no-untyped-def]
        draw(glyphs, matrices, viewport, see_through)
        frames.append(canvas.scene_pass.read_pixels(viewport))

    gizmos.draw = draw_and_read  # type: ignore[method-assign, assignment]
    viewer.sync()
    gizmos.draw = draw  # type: ignore[method-assign]
    return frames[-1]


def test_a_users_loop() -> None:
    model = mujoco.MjModel.from_xml_string(MODEL)
    data = mujoco.MjData(model)
    with contact_viewer.launch_passive(model, data) as viewer:
        assert viewer.is_running()
        for _ in range(30):
            mujoco.mj_step(model, data, 10)
            viewer.sync()
        assert data.time == pytest.approx(0.6)
        assert count_green(picture(viewer)) > 50
        before = data.qpos.copy(), data.time
        viewer.sync()
        np.testing.assert_array_equal(data.qpos, before[0])
        assert data.time == before[1]
    assert not viewer.is_running()
    viewer.sync()
    viewer.close()


def test_immediate_gizmos_last_one_frame() -> None:
    model = mujoco.MjModel.from_xml_string(MODEL.replace('<contact name="c" geom1="floor" geom2="box"/>', ""))
    data = mujoco.MjData(model)
    mujoco.mj_forward(model, data)
    with contact_viewer.launch_passive(model, data) as viewer:
        viewer.sync()
        assert count_green(picture(viewer)) == 0
        viewer.gizmos.draw_sphere(0.05, [0, 0, 0.3], (0, 1, 0))
        viewer.gizmos.draw_arrow([0, 0, 0.3], np.array([0.3, 0, 0.3]), color=(0, 1, 0, 1))
        assert count_green(picture(viewer)) > 300
        assert count_green(picture(viewer)) == 0


def test_windows_open_one_after_another() -> None:
    model = mujoco.MjModel.from_xml_string(MODEL)
    for _ in range(3):
        with contact_viewer.launch_passive(model, mujoco.MjData(model)) as viewer:
            viewer.sync()


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
