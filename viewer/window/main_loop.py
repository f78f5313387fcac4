"""Run a window until it is closed: draw the frames in which something changes, and close it in order."""

import time
from collections.abc import Callable

from imgui_bundle import hello_imgui, imgui

from ..app.application import open_application
from ..app.interruption import interruption
from ..settings import Options
from .opening import failed_window, only_window, opening_window
from .window import Window

# After imgui_bundle, so that both use one GLFW library.
import glfw  # isort: skip

from ..app.application import Application

_LAST_FRAMES = 3
"""Number of last frames, which show a notice of the files that closing waits for."""
_LINGER = 1.0
"""Time for which frames are drawn after the last change [s]: tooltips appear late, and lists still scroll."""
_LEAST_FRAMES = 8
"""Fewest frames after a change: a resized window needs some until everything is in its place."""
_PERIOD = 0.1
"""Longest time between two checks for changes [s]; input wakes the window at once."""


class Idling:
    """Let a paused, untouched window sleep. Call `wait` before each frame."""

    def __init__(self, app: Application, sleep: Callable[[float], bool] | None = None) -> None:
        """Watch an application. `sleep` waits for input for at most a time [s] and returns True if there was any; None
        to wait for the input of the display."""
        self._app = app
        self._sleep = sleep or _sleep
        self._seen: tuple[object, ...] = ()
        """State that the last frame was drawn from."""
        self._awake_until = 0.0
        """Time until which frames are drawn, on the monotonic clock [s]."""
        self._frames_due = 0
        self.drawn_always = app.options is not None and app.options.frames is not None
        """True if a given number of frames is to be drawn, whether they change or not."""

    def wait(self) -> bool:
        """Return True if a frame is to be drawn now; else wait a while and return False."""
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
        """Return True if there is input, or the frame would differ from the last one."""
        session = self._app.session
        history = session.history
        seen = (
            imgui.get_current_context().input_events_next_event_id,
            id(session),
            session.simulation.changes,
            # Curves catch up with the history frame by frame.
            history.curves.stop if history is not None else 0,
            len(self._app.notices.items),
            # A look at the model ends in a thread.
            self._app.findings.is_busy,
        )
        changed, self._seen = seen != self._seen, seen
        return changed or not self._app.idle


def _sleep(seconds: float) -> bool:
    """Wait for an event of the display; return True if one came, also one that ImGui ignores, such as an uncovered
    window."""
    began = time.monotonic()
    glfw.wait_events_timeout(seconds)
    return time.monotonic() - began < seconds


def open_window(options: Options) -> None:
    """Open a scene in a window, and return when it is closed."""
    run_window(Window(open_application(options)))


def run_window(window: Window) -> None:
    """Run a window until it is closed. Raises the error that ended it, after closing it in order."""
    # Not `hello_imgui.run`: it first looks through the call stack for a tutorial, which takes as long as a frame.
    render, params = hello_imgui.manual_render, window.runner_params()
    # Ctrl-C, or a closed terminal, ends it after the present frame, half of which could not be closed.
    with (
        only_window(),
        opening_window(window.app.finish_recording, needs_display=window.audience is None) as window.when_open,
        interruption() as interrupt,
    ):
        render.setup_from_runner_params(params)
        try:
            # One frame at least: a window that never drew cannot be closed.
            render.render()
            audience = window.audience
            idling = Idling(window.app, audience.sleep if audience is not None else None)
            while not (params.app_shall_exit or interrupt.requested):
                if not idling.wait():
                    continue
                if audience is None or audience.wait() or idling.drawn_always:
                    render.render()
                else:
                    window.guard.attempt("This frame", window.advance_unseen)
            if window.app.begin_closing():
                # A notice has its size from the second frame on.
                for _ in range(_LAST_FRAMES):
                    render.render()
        except RuntimeError as error:
            window.error = window.error or failed_window(error)
        finally:
            # First what was recorded: a window that has failed inside a frame cannot be taken down in order.
            window.prepare_closing()
            try:
                render.tear_down()
            except RuntimeError as error:
                window.error = window.error or failed_window(error)
    if window.error is not None:
        raise window.error
    interrupt.pass_on()
