"""Opens windows, also without a display (GLFW's null platform, drawn by EGL), and says in one line why one fails."""

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
"""Kept while the program runs: X11 has only its address."""
_NO_DISPLAY = (
    "no display to open a window on; `contact-viewer SCENE --serve`, in Python `serve=True`, shows it in a browser, "
    "`contact-viewer record SCENE` makes a video"
)

_CORE_PROFILE = (
    "this program opened a Hello ImGui window with an OpenGL core profile before, all later ones get the same, and "
    "MuJoCo cannot draw there: open this one first, or use launch_passive or launch(serve=True), which have a process "
    "of their own"
)

_window = threading.Lock()
_BACKGROUND = (0.125, 0.125, 0.125)


class DisplayError(SceneError):
    """There is no display, or it has no usable OpenGL."""


def failed_window(error: RuntimeError) -> Exception:
    """What to raise of an error that the window's libraries ended it with: one line if it is an assertion of theirs."""
    text = str(error)
    if "IM_ASSERT" not in text:
        return error
    said = re.search('"(.*?)"', text)
    return DisplayError(f"the window failed ({said[1] if said else text.splitlines()[0]})")


@contextmanager
def only_window() -> Iterator[None]:
    """For as long as a window is open. Its libraries have one a process: a second would end the program."""
    if not _window.acquire(blocking=False):
        raise DisplayError("this program has a window already, and can have one at a time: close it, or start another")
    try:
        yield
    finally:
        _window.release()


def check_profile() -> None:
    """Raises DisplayError if the window that was opened is none that MuJoCo can draw in."""
    if glfw.get_window_attrib(glfw_utils.glfw_window_hello_imgui(), glfw.OPENGL_PROFILE) == glfw.OPENGL_CORE_PROFILE:
        raise DisplayError(_CORE_PROFILE)


@contextmanager
def opening_window(
    when_lost: Callable[[], None] = lambda: None, *, needs_display: bool = True
) -> Iterator[Callable[[], None]]:
    """Turns failures to open a window into DisplayError. Call what it yields once the window is open.

    If the display goes away later, `when_lost` may still save what can be saved; then the program ends.

    Until then the window libraries' own messages are held back: they go to standard error if the window opens, and
    give the reason if it does not.
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
    """X11 ends a program whose display is gone, with a message of its own; it calls this handler first."""
    global _handler
    if sys.platform.startswith("linux") and os.environ.get("DISPLAY"):
        with suppress(OSError, AttributeError):
            _handler = _IOErrorHandler(lambda _: _leave(when_lost))
            ctypes.CDLL("libX11.so.6").XSetIOErrorHandler(_handler)


def _leave(when_lost: Callable[[], None]) -> int:
    """Nothing that draws can be called any more, and X11 allows no return: so no cleaning up, and no traceback."""
    with suppress(Exception):
        when_lost()
    os.write(2, b"contact-viewer: the display is gone\n")
    os._exit(2)


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
