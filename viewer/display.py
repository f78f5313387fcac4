"""Whether a window can open here, and why not, in words."""

import ctypes
import os
import sys
import tempfile
from collections.abc import Callable, Iterator
from contextlib import contextmanager, suppress
from typing import Any

from .engines.errors import SceneError

_IOErrorHandler = ctypes.CFUNCTYPE(ctypes.c_int, ctypes.c_void_p)
_handler: Any = None
"""Kept while the program runs: X11 holds only its address."""
_NO_DISPLAY = "no display to open a window on; `contact-viewer record SCENE` makes a video without one"


class DisplayError(SceneError):
    """There is no display, or it has no usable OpenGL."""


def check_display() -> None:
    """Fail early where no window can open."""
    if sys.platform.startswith("linux") and not (os.environ.get("DISPLAY") or os.environ.get("WAYLAND_DISPLAY")):
        raise DisplayError(_NO_DISPLAY)


@contextmanager
def opening_window(when_lost: Callable[[], None] = lambda: None) -> Iterator[Callable[[], None]]:
    """Turns failures to open a window into DisplayError. Call what it yields once the window is open.

    If the display goes away later, `when_lost` may still save what can be saved; then the program ends.

    Until then the window libraries' own messages are held back: they are told on standard error if the window
    opens, and give the reason if it does not.
    """
    check_display()
    with tempfile.TemporaryFile() as held:
        standard_error = os.dup(2)
        sys.stderr.flush()
        os.dup2(held.fileno(), 2)
        opened = False

        def release() -> None:
            nonlocal opened
            if not opened:
                opened = True
                os.dup2(standard_error, 2)
                os.close(standard_error)
                held.seek(0)
                os.write(2, held.read())
                _heed_lost_display(when_lost)

        try:
            yield release
        except RuntimeError as error:
            if opened or "IM_ASSERT" not in str(error):
                raise
            held.seek(0)
            said = held.read().decode("utf-8", "replace").strip().splitlines()
            held.seek(0)
            held.truncate()
            if "glfwInitSuccess" in str(error):
                raise DisplayError(_NO_DISPLAY) from None
            reason = said[-1] if said else str(error)
            raise DisplayError(f"the display has no usable OpenGL ({reason})") from None
        finally:
            release()


def _heed_lost_display(when_lost: Callable[[], None]) -> None:
    """X11 ends a program whose display is gone, with a message of its own; here it asks us first."""
    global _handler
    if sys.platform.startswith("linux") and os.environ.get("DISPLAY"):
        with suppress(OSError, AttributeError):
            _handler = _IOErrorHandler(lambda _: _leave(when_lost))
            ctypes.CDLL("libX11.so.6").XSetIOErrorHandler(_handler)


def _leave(when_lost: Callable[[], None]) -> int:
    """Nothing that draws can be called any more, and X11 takes no return: so no cleaning up, and no traceback."""
    with suppress(Exception):
        when_lost()
    os.write(2, b"contact-viewer: the display is gone\n")
    os._exit(2)
