"""Opens OpenGL contexts without a window, and names the renderer of the current one."""

import ctypes
import importlib
import os
import sys
import warnings
from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any

_PLATFORM_VARIABLE = "PYOPENGL_PLATFORM"
_SOFTWARE_RENDERERS = (
    "llvmpipe",
    "softpipe",
    "swrast",
    "swiftshader",
    "osmesa",
    "lavapipe",
    "software rasterizer",
    "apple software renderer",
    "basic render",
    "gdi generic",
)
_WINDOW_NAMES = ("glfw", "glx", "wgl")
_OFF_WORDS = ("disable", "disabled", "off", "false", "0")


class OpenGLError(RuntimeError):
    """Error of one line for the user: OpenGL cannot do what is requested."""


class OffscreenContext:
    """An OpenGL context without a window."""

    def __init__(self, backend: str, width: int, height: int) -> None:
        self.backend = backend
        """Name of the backend: egl, osmesa, cgl or glfw."""
        self._context: Any = _make_context(backend, width, height)
        self.renderer = ""
        """Name of the renderer, as the driver reports it (GL_RENDERER)."""
        try:
            self.make_current()
            self.renderer = current_renderer()
        except BaseException:
            self.close()
            raise

    def make_current(self) -> None:
        if self._context is None:
            raise OpenGLError("the OpenGL context is closed")
        self._context.make_current()

    def close(self) -> None:
        """Free the context, and release it if it is current, because another kind of context may follow on this
        thread."""
        if self._context is not None:
            self._context.free()
            self._context = None

    def __enter__(self) -> "OffscreenContext":
        return self

    def __exit__(self, *_: object) -> None:
        self.close()


def open_context(width: int = 64, height: int = 64) -> OffscreenContext:
    """Return a current context that needs no display: the one that MUJOCO_GL names, else the first that works.

    `width` and `height` bound OSMesa's default framebuffer; the others have none.
    """
    failures = []
    for backend in _backends():
        try:
            return OffscreenContext(backend, width, height)
        except Exception as error:
            # Drivers and loaders fail with errors of every type; what matters is that this backend does not work.
            failures.append(f"{backend} ({_first_line(error)})")
    raise OpenGLError(f"no OpenGL context without a display, tried {', '.join(failures)}")


def current_renderer() -> str:
    """Return the GL_RENDERER of the current context, such as `llvmpipe (LLVM 15.0.6, 256 bits)`."""
    gl = load_opengl()
    name = gl.glGetString(gl.GL_RENDERER)
    if not name:
        raise OpenGLError("no current OpenGL context")
    return str(name.decode("utf-8", "replace"))


def is_software_renderer(renderer: str) -> bool:
    """Return True if a GL_RENDERER draws on the CPU."""
    name = renderer.lower()
    return any(word in name for word in _SOFTWARE_RENDERERS)


def load_opengl() -> Any:
    """Return PyOpenGL's `GL` module.

    PyOpenGL binds itself to one of GLX, EGL and OSMesa when it is first imported, and MuJoCo to the same library when
    it makes its first context. Both must come after the choice of a backend. So no module of this package imports
    OpenGL at its top: all modules call this function, once a context exists.
    """
    from OpenGL import GL

    return GL


def _backends() -> tuple[str, ...]:
    wanted = os.environ.get("MUJOCO_GL", "").strip().lower()
    if wanted in _OFF_WORDS:
        raise OpenGLError(f"OpenGL is switched off by MUJOCO_GL={wanted}")
    if wanted in _WINDOW_NAMES:
        return ("glfw",)
    if wanted in ("egl", "osmesa", "cgl"):
        return (wanted,)
    if sys.platform == "darwin":
        return ("cgl", "glfw")
    if not sys.platform.startswith("linux"):
        return ("glfw",)
    # A hidden window is the last resort: it needs the display that the others do without.
    has_display = os.environ.get("DISPLAY") or os.environ.get("WAYLAND_DISPLAY")
    return ("egl", "osmesa", "glfw") if has_display else ("egl", "osmesa")


def _make_context(backend: str, width: int, height: int) -> Any:
    if backend in ("egl", "osmesa"):
        _check_platform(backend)
        with _platform_set(backend):
            module = importlib.import_module(f"mujoco.{backend}")
    else:
        module = importlib.import_module(f"mujoco.{backend}")
    with warnings.catch_warnings():
        # GLFW reports a missing display as a warning and returns no window.
        warnings.simplefilter("ignore")
        context = module.GLContext(width, height)
    if backend == "glfw" and not context._context:
        context._context = None
        raise OpenGLError("no display")
    return context


def _check_platform(backend: str) -> None:
    """Raise OpenGLError for a backend that cannot work, before PyOpenGL is imported for it: the import cannot be
    undone."""
    platform = sys.modules.get("OpenGL.platform")
    if platform is not None:
        is_osmesa = "osmesa" in type(platform.PLATFORM).__name__.lower()
        if is_osmesa != (backend == "osmesa"):
            raise OpenGLError("another OpenGL library is already in use in this process")
    elif backend == "egl" and not _egl_has_device():
        raise OpenGLError("no EGL device")


def _egl_has_device() -> bool:
    """Return True if EGL, called through ctypes, can open a device."""
    try:
        egl = ctypes.CDLL("libEGL.so.1")
    except OSError:
        return False
    pointer, number = ctypes.c_void_p, ctypes.c_int32
    egl.eglGetProcAddress.restype = pointer
    egl.eglGetProcAddress.argtypes = (ctypes.c_char_p,)
    egl.eglInitialize.argtypes = (pointer, pointer, pointer)
    query_address = egl.eglGetProcAddress(b"eglQueryDevicesEXT")
    display_address = egl.eglGetProcAddress(b"eglGetPlatformDisplayEXT")
    if not query_address or not display_address:
        return False
    query = ctypes.CFUNCTYPE(ctypes.c_uint, number, pointer, pointer)(query_address)
    get_display = ctypes.CFUNCTYPE(pointer, ctypes.c_uint, pointer, pointer)(display_address)
    devices, count = (pointer * 16)(), number(0)
    if not query(len(devices), ctypes.byref(devices), ctypes.byref(count)):
        return False
    egl_platform_device = 0x313F
    displays = [get_display(egl_platform_device, device, None) for device in devices[: count.value]]
    return any(display and egl.eglInitialize(display, None, None) for display in displays)


@contextmanager
def _platform_set(backend: str) -> Iterator[None]:
    """Set PYOPENGL_PLATFORM during an import, and restore it: child processes choose for themselves."""
    before = os.environ.get(_PLATFORM_VARIABLE)
    os.environ[_PLATFORM_VARIABLE] = backend
    try:
        yield
    finally:
        if before is None:
            del os.environ[_PLATFORM_VARIABLE]
        else:
            os.environ[_PLATFORM_VARIABLE] = before


def _first_line(error: Exception) -> str:
    text = str(error).strip()
    return text.splitlines()[0] if text else type(error).__name__
