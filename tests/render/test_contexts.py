"""Headless contexts: which backend opens, what is said when none does, and what is left behind."""

import os
import subprocess
import sys
from collections.abc import Mapping

import pytest
from contact_viewer.render.contexts import (
    OpenGLError,
    current_renderer,
    is_software_renderer,
    load_opengl,
    open_context,
)

PROGRAM = """
import os
from contact_viewer.render.contexts import OpenGLError, open_context
try:
    with open_context() as context:
        from OpenGL import GL
        assert GL.glGetString(GL.GL_VERSION)
        import mujoco
        import numpy as np
        from contact_viewer.render.offscreen import OffscreenRenderer
    model = mujoco.MjModel.from_xml_string('<mujoco><worldbody><geom size="1" rgba="1 0 0 1"/></worldbody></mujoco>')
    data = mujoco.MjData(model)
    mujoco.mj_forward(model, data)
    renderer = OffscreenRenderer(model, 32, 32)
    renderer.draw(data)
    red = int((renderer.read()[:, :, 0] > 60).sum())
    renderer.close()
    print(context.backend, bool(context.renderer), red > 100, os.environ.get("PYOPENGL_PLATFORM"))
except OpenGLError as error:
    print("OpenGLError:", error)
"""
NO_EGL = {"__EGL_VENDOR_LIBRARY_FILENAMES": "/nonexistent"}


def run(extra: Mapping[str, str]) -> str:
    environment = {name: value for name, value in os.environ.items() if name not in ("MUJOCO_GL", "PYOPENGL_PLATFORM")}
    environment.pop("DISPLAY", None)
    environment.pop("WAYLAND_DISPLAY", None)
    done = subprocess.run(
        [sys.executable, "-c", PROGRAM], env=environment | dict(extra), capture_output=True, text=True, timeout=120
    )
    assert done.returncode == 0, done.stderr
    return done.stdout.strip()


@pytest.mark.parametrize(
    ("extra", "backend", "platform"),
    [
        ({}, "egl", None),
        ({"MUJOCO_GL": "egl"}, "egl", "egl"),
        ({"MUJOCO_GL": "osmesa"}, "osmesa", "osmesa"),
        (NO_EGL, "osmesa", None),
        # A parent process that used EGL leaves this behind.
        ({"PYOPENGL_PLATFORM": "egl"} | NO_EGL, "osmesa", "egl"),
        ({"PYOPENGL_PLATFORM": "osmesa"}, "egl", "osmesa"),
    ],
)
def test_backend_follows_environment_and_what_works(extra: dict[str, str], backend: str, platform: str | None) -> None:
    # MuJoCo sets the platform itself when it is imported with MUJOCO_GL; we leave the environment as it was.
    words = run(extra).split()
    assert words[:3] == [backend, "True", "True"]
    if "MUJOCO_GL" not in extra:
        assert words[3] == str(platform)


@pytest.mark.parametrize(
    ("extra", "said"),
    [
        ({"MUJOCO_GL": "egl"} | NO_EGL, "egl"),
        ({"MUJOCO_GL": "glfw"}, "glfw (no display)"),
        ({"MUJOCO_GL": "off"}, "MUJOCO_GL=off"),
    ],
)
def test_failure_is_one_line_that_names_what_was_tried(extra: dict[str, str], said: str) -> None:
    output = run(extra)
    assert output.startswith("OpenGLError: ")
    assert "\n" not in output
    assert said in output


def test_closes_twice_and_refuses_to_be_used_after() -> None:
    with open_context() as context:
        assert context.renderer == current_renderer()
        context.make_current()
    context.close()
    with pytest.raises(OpenGLError, match="closed"):
        context.make_current()


def test_close_leaves_no_context_current() -> None:
    open_context().close()
    gl = load_opengl()
    assert gl.glGetString(gl.GL_VERSION) is None
    with pytest.raises(OpenGLError, match="no current"):
        current_renderer()


@pytest.mark.parametrize(
    ("renderer", "software"),
    [
        ("llvmpipe (LLVM 15.0.6, 256 bits)", True),
        ("Google SwiftShader", True),
        ("Software Rasterizer", True),
        ("softpipe", True),
        ("Apple Software Renderer", True),
        ("GDI Generic", True),
        ("NVIDIA GeForce RTX 4090/PCIe/SSE2", False),
        ("Mesa Intel(R) UHD Graphics 620 (KBL GT2)", False),
        ("AMD Radeon RX 6600 (navi23, LLVM 15.0.7, DRM 3.49)", False),
        ("Apple M2", False),
    ],
)
def test_software_renderers_are_known_by_name(renderer: str, software: bool) -> None:
    assert is_software_renderer(renderer) is software
