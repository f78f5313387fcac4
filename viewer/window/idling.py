"""Decides when a frame has to be drawn: one in which nothing changes costs as much as any other."""

import time
from collections.abc import Callable

from imgui_bundle import imgui

# After imgui_bundle, so that both use one GLFW library.
import glfw  # isort: skip

from ..app.application import Application

_LINGER = 1.0
"""Time for which frames are drawn after the last change [s]: tooltips appear late, and lists move."""
_PERIOD = 0.1
"""How often the application is asked whether something has changed [s]. Input wakes the window at once."""


class Idling:
    """Lets a paused, untouched window sleep. Call `wait` before each frame."""

    def __init__(self, app: Application, sleep: Callable[[float], bool] | None = None) -> None:
        """`sleep` waits for input, for some time at the most [s], and is True if there was any; by default, that of the
        display."""
        self._app = app
        self._sleep = sleep or _sleep
        self._seen: tuple[object, ...] = ()
        """What was there in the last frame."""
        self._awake_until = 0.0
        """On the monotonic clock [s]."""
        self.drawn_always = app.options is not None and app.options.frames is not None
        """True if a number of frames is to be drawn, whatever is in them."""

    def wait(self) -> bool:
        """True if a frame is to be drawn now; else some time has passed, and the caller asks again."""
        if self.drawn_always or self._is_changed():
            self._awake_until = time.monotonic() + _LINGER
        if time.monotonic() < self._awake_until:
            return True
        if self._sleep(_PERIOD):
            self._awake_until = time.monotonic() + _LINGER
        return False

    def _is_changed(self) -> bool:
        """True if there is input, or the picture is another than in the last frame."""
        session = self._app.session
        history = session.history
        seen = (
            imgui.get_current_context().input_events_next_event_id,
            id(session),
            session.simulation.changes,
            # Curves catch up with the history frame by frame.
            history.curves.stop if history is not None else 0,
            len(self._app.notices.items),
        )
        changed, self._seen = seen != self._seen, seen
        return changed or not self._app.idle


def _sleep(seconds: float) -> bool:
    """Wait for an event of the display; perhaps one that ImGui does not see: the window was uncovered or closed."""
    began = time.monotonic()
    glfw.wait_events_timeout(seconds)
    return time.monotonic() - began < seconds
