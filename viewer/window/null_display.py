"""Opens windows on a machine without a display: GLFW's null platform, drawn by EGL."""

import ctypes
import os
import sys
from typing import Any

from imgui_bundle import glfw_utils

# After imgui_bundle, so that both use one GLFW library.
import glfw  # isort: skip

from ..errors import SceneError

_BACKGROUND = (0.125, 0.125, 0.125)


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


class Surface:
    """What an open window draws on. GLFW gives it the size that the window has at first, and never another."""

    def __init__(self) -> None:
        self._own: Any = None
        self._size: tuple[int, int] | None = None

    def fit(self) -> None:
        """Give it the size of the window. Call it before a frame is drawn, with the window's context current."""
        size = glfw.get_framebuffer_size(glfw_utils.glfw_window_hello_imgui())
        if size == self._size:
            return
        from OpenGL import EGL, GL

        display, context = EGL.eglGetCurrentDisplay(), EGL.eglGetCurrentContext()
        number = EGL.EGLint()
        EGL.eglQueryContext(display, context, EGL.EGL_CONFIG_ID, ctypes.byref(number))
        configs, count = (EGL.EGLConfig * 1)(), EGL.EGLint()
        wanted = (EGL.EGLint * 3)(EGL.EGL_CONFIG_ID, number.value, EGL.EGL_NONE)
        EGL.eglChooseConfig(display, wanted, configs, 1, ctypes.byref(count))
        attributes = (EGL.EGLint * 5)(EGL.EGL_WIDTH, size[0], EGL.EGL_HEIGHT, size[1], EGL.EGL_NONE)
        surface = EGL.eglCreatePbufferSurface(display, configs[0], attributes)
        EGL.eglMakeCurrent(display, surface, surface, context)
        if self._own is not None:
            EGL.eglDestroySurface(display, self._own)
        self._own, self._size = surface, size
        # Panels and scene find their new places in the next frames.
        GL.glClearColor(*_BACKGROUND, 1.0)
        GL.glClear(GL.GL_COLOR_BUFFER_BIT)
