"""Decides when a frame has to be drawn: one in which nothing changes costs as much as any other."""

import time
from collections.abc import Callable

from imgui_bundle import imgui

# After imgui_bundle, so that both use one GLFW library.
import glfw  # isort: skip

from ..app.application import Application

_LINGER = 1.0
"""Time for which frames are drawn after the last change [s]: tooltips appear late, and lists move."""
_LEAST_FRAMES = 8
"""Frames that are drawn after it in any case: a window of another size takes some until all is in its place."""
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
        self._frames_due = 0
        self.drawn_always = app.options is not None and app.options.frames is not None
        """True if a number of frames is to be drawn, whatever is in them."""

    def wait(self) -> bool:
        """True if a frame is to be drawn now; else some time has passed, and the caller asks again."""
        if self.drawn_always or self._is_changed():
            self._stay_awake()
        if time.monotonic() < self._awake_until or self._frames_due > 0:
            self._frames_due -= 1
            return True
        if self._sleep(_PERIOD):
            self._stay_awake()
        return False

    def _stay_awake(self) -> None:
        self._awake_until, self._frames_due = time.monotonic() + _LINGER, _LEAST_FRAMES

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
