"""Open windows, also without a display (GLFW's null platform, drawn by EGL), and report a failure in one line."""

import ctypes
import os
import re
import sys
import tempfile
import threading
from collections.abc import Callable, Iterator
from contextlib import ExitStack, contextmanager, suppress
from typing import Any

from imgui_bundle import glfw_utils

# After imgui_bundle, so that both use one GLFW library.
import glfw  # isort: skip

from ..errors import SceneError
from ..processes import redirect_stderr

_IOErrorHandler = ctypes.CFUNCTYPE(ctypes.c_int, ctypes.c_void_p)
_handler: Any = None
"""Reference that keeps the handler alive: X11 has only its address."""
_NO_DISPLAY = (
    "there is no display to open a window on: use `contact-viewer SCENE --serve` (in Python `serve=True`) to show it "
    "in a browser, or `contact-viewer record SCENE` to make a video"
)

_CORE_PROFILE = (
    "this program opened a Hello ImGui window with an OpenGL core profile before, and MuJoCo cannot draw in the later "
    "ones: open this window first, or use launch_passive or launch(serve=True), which use another process"
)

_window = threading.Lock()
_BACKGROUND = (0.125, 0.125, 0.125)


class DisplayError(SceneError):
    """Error of a window: there is no display, or it has no usable OpenGL."""


def failed_window(error: RuntimeError) -> Exception:
    """Return the exception for an error of the window's libraries: a DisplayError of one line if it is an assertion."""
    text = str(error)
    if "IM_ASSERT" not in text:
        return error
    said = re.search('"(.*?)"', text)
    return DisplayError(f"the window failed ({said[1] if said else text.splitlines()[0]})")


@contextmanager
def only_window() -> Iterator[None]:
    """Hold the lock for the only window of this process. The window's libraries would crash with a second one."""
    if not _window.acquire(blocking=False):
        raise DisplayError("this process already has a window, and can have only one: close it, or use another process")
    try:
        yield
    finally:
        _window.release()


def check_profile() -> None:
    """Raise DisplayError if MuJoCo cannot draw in the OpenGL context of the window."""
    if glfw.get_window_attrib(glfw_utils.glfw_window_hello_imgui(), glfw.OPENGL_PROFILE) == glfw.OPENGL_CORE_PROFILE:
        raise DisplayError(_CORE_PROFILE)


@contextmanager
def opening_window(
    when_lost: Callable[[], None] = lambda: None, *, needs_display: bool = True
) -> Iterator[Callable[[], None]]:
    """Turn failures to open a window into DisplayError. Yields a function to call once the window is open.

    Until then messages of the window's libraries are held back. They go to standard error if the window opens; if it
    does not, they give the reason. If the display is lost later, `when_lost` is called to save data, and the program
    ends.
    """
    has_display = bool(os.environ.get("DISPLAY") or os.environ.get("WAYLAND_DISPLAY"))
    if needs_display and sys.platform.startswith("linux") and not has_display:
        raise DisplayError(_NO_DISPLAY)
    with tempfile.TemporaryFile() as held, ExitStack() as redirection:
        redirection.enter_context(redirect_stderr(held))
        opened = False

        def release() -> None:
            nonlocal opened
            if not opened:
                opened = True
                redirection.close()
                held.seek(0)
                with suppress(OSError):  # There may be no standard error.
                    os.write(2, held.read())
                if needs_display:
                    _handle_lost_display(when_lost)

        try:
            yield release
        except RuntimeError as error:
            if opened or "IM_ASSERT" not in str(error):
                raise
            held.seek(0)
            messages = held.read().decode("utf-8", "replace").strip().splitlines()
            held.seek(0)
            held.truncate()
            if "glfwInitSuccess" in str(error):
                raise DisplayError(_NO_DISPLAY) from None
            reason = messages[-1] if messages else str(error)
            raise DisplayError(f"the display has no usable OpenGL ({reason})") from None
        finally:
            release()
            if needs_display:
                _handle_lost_display(lambda: None)


def _handle_lost_display(when_lost: Callable[[], None]) -> None:
    """Set a handler that calls `when_lost` and exits if the display is lost, before X11 ends the program."""
    global _handler
    if sys.platform.startswith("linux") and os.environ.get("DISPLAY"):
        with suppress(OSError, AttributeError):
            _handler = _IOErrorHandler(lambda _: _leave(when_lost))
            ctypes.CDLL("libX11.so.6").XSetIOErrorHandler(_handler)


def _leave(when_lost: Callable[[], None]) -> int:
    """Save what can be saved and exit at once: nothing can be drawn any more, and X11 does not allow a handler to
    return."""
    with suppress(Exception):
        when_lost()
    os.write(2, b"contact-viewer: the display is gone\n")
    os._exit(2)


def use_null_display() -> None:
    """Open the windows of this process without a display; to be called before OpenGL is used."""
    if not sys.platform.startswith("linux"):
        raise SceneError("serving a window needs Linux")
    # PyOpenGL binds itself to one library when it is first imported.
    os.environ["PYOPENGL_PLATFORM"] = "egl"
    glfw.init_hint(glfw.PLATFORM, glfw.PLATFORM_NULL)
    if not glfw.init():
        raise SceneError("GLFW cannot open a window without a display here")
    glfw.window_hint(glfw.CONTEXT_CREATION_API, glfw.EGL_CONTEXT_API)


def focus() -> None:
    """Give keyboard focus to the open window: without a display there is no window manager to do so."""
    window = glfw_utils.glfw_window_hello_imgui()
    glfw.show_window(window)
    glfw.focus_window(window)


class Surface:
    """Drawing surface of an open window without a display: GLFW keeps it at the first size of the window."""

    def __init__(self) -> None:
        self._own: Any = None
        self._size: tuple[int, int] | None = None

    def fit(self) -> None:
        """Resize the surface to the window. Call it before a frame is drawn, with the window's context current."""
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
