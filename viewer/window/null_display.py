"""Opens windows on a machine without a display: GLFW's null platform, drawn by EGL."""

import os
import sys

from imgui_bundle import glfw_utils

# After imgui_bundle, so that both use one GLFW library.
import glfw  # isort: skip

from ..errors import SceneError


def use_null_display() -> None:
    """Let the windows that this process opens be on no display; to be called before OpenGL is used."""
    if not sys.platform.startswith("linux"):
        raise SceneError("serving a window needs Linux")
    # PyOpenGL binds itself to one library when it is first imported.
    os.environ["PYOPENGL_PLATFORM"] = "egl"
    glfw.init_hint(glfw.PLATFORM, glfw.PLATFORM_NULL)
    if not glfw.init():
        raise SceneError("the window library has no platform without a display")
    glfw.window_hint(glfw.CONTEXT_CREATION_API, glfw.EGL_CONTEXT_API)


def focus() -> None:
    """Let the open window have the keyboard and the mouse, as no window manager will."""
    window = glfw_utils.glfw_window_hello_imgui()
    glfw.show_window(window)
    glfw.focus_window(window)
