"""Run a window for browsers, on a machine with or without a display, until it is stopped."""

import sys
import time
from collections.abc import Callable
from typing import Any

from imgui_bundle import imgui

from ..app.application import PHYSICS_BUDGET, open_application
from ..recording.encoders import Picture
from ..settings import Options
from ..window import shell
from ..window.main_loop import run_window
from ..window.opening import Surface, focus, use_null_display
from ..window.window import Window
from .client import Client
from .input import apply, cursor, text_of
from .server import Server

_RATE = 60.0
"""Largest number of frames per second."""
_UNWATCHED_RATE = 10.0
"""Frames per second while no browser is connected: time advances, and nothing is drawn."""
_UNWATCHED_PHYSICS = 0.8
"""Part of the wall time that physics may take while no browser is connected."""
_MEASURE_PERIOD = 1.0
"""Time between updates of the numbers in the status bar [s]."""
_SWITCH_TIME = 5e-4
"""Longest time for which Python lets one thread keep the others waiting [s]."""


Opened = Callable[[Server], None]
"""Function that is called once browsers can connect."""


def serve_scene(options: Options, host: str, port: int | None, opened: Opened) -> None:
    """Open a scene and serve its window until it is closed or the program is interrupted."""
    serve_window(Window(open_application(options)), host, port, opened)


def serve_window(window: Window, host: str, port: int | None, opened: Opened) -> None:
    """Serve a window until it is closed or the program is interrupted."""
    use_null_display()
    server = Server(host, port)
    switching = sys.getswitchinterval()
    # Input, encoding and sending take turns with drawing several times a picture: each wait is a delay that is felt.
    sys.setswitchinterval(_SWITCH_TIME)
    try:
        server.start()
        window.audience = Audience(window, server, opened)
        run_window(window)
    finally:
        server.close()
        sys.setswitchinterval(switching)


class Audience(shell.Audience):
    """Remote viewers of a window: their input is applied before each frame, and the frame is sent to them."""

    def __init__(self, window: Window, server: Server, opened: Opened) -> None:
        self._window, self._server, self._opened = window, server, opened
        self._next = 0.0
        self._cursor = self._clipboard = ""
        self._focused = False
        self._acting: Client | None = None
        """Browser whose key or click came last."""
        self._surface = Surface()
        self._measured, self._rates = 0.0, ""

    @property
    def text(self) -> str:
        """Text for the status bar: number of viewers, frame rate and latency."""
        clients = list(self._server.clients)
        now = time.monotonic()
        if clients and not self._window.app.idle and now > self._measured + _MEASURE_PERIOD:
            # Not while idle: numbers that change because they were sent would be sent again and again.
            self._measured = now
            rate = max(client.frame_rate for client in clients)
            delay = max(client.round_trip for client in clients)
            self._rates = f", {rate:2.0f} frames/s, {delay * 1e3:3.0f} ms"
        return f"{len(clients)} watching{self._rates}"

    def sleep(self, seconds: float) -> bool:
        """Wait for input for at most a time [s]; return True if there is any."""
        server = self._server
        server.wake.clear()
        return bool(server.inbox) or (seconds > 0 and server.wake.wait(seconds))

    def wait(self) -> bool:
        """Wait until the next frame is due; return False if no viewer would see it."""
        due = self._next - time.monotonic()
        if due > 0:
            # Input is drawn at once, unless a frame was drawn just now.
            time.sleep(min(due, 1.0 / _RATE))
            self.sleep(due - 1.0 / _RATE)
        app, server = self._window.app, self._server
        watched = bool(server.clients or server.inbox) or app.recorder.is_busy or not self._focused
        period = 1.0 / (_RATE if watched else _UNWATCHED_RATE)
        self._next = time.monotonic() + period
        # Nobody sees that a frame takes long, and the simulation keeps up.
        app.physics_budget = PHYSICS_BUDGET if watched else max(PHYSICS_BUDGET, _UNWATCHED_PHYSICS * period)
        return watched

    def before_frame(self) -> None:
        """Pass pending input to the window."""
        server = self._server
        if not self._focused and self._window.frame_count:
            # The first frame is drawn: it works.
            self._focused = True
            focus()
            # What one frame can take is decided here; ImGui would spread a drag with the wheel over many.
            imgui.get_io().config_input_trickle_event_queue = False
            self._opened(server)
        for message in server.inbox.pop():
            self._handle(message)
        self._surface.fit()

    def leave(self) -> None:
        """Disconnect the browser whose key or click came last; the server stays open for the others."""
        if self._acting is not None:
            self._server.tell(self._acting, {"type": "leave"})

    def after_frame(self, read: Callable[[], Picture]) -> None:
        """Send the frame to all viewers."""
        server = self._server
        # Read it even if nobody watches: nothing else waits for the renderer. One in software would keep the commands
        # of up to 64 frames, gigabytes of them, and draw them all before the next picture.
        if server.screen.show(read()):
            server.announce()
        if not server.clients:
            return
        saved = self._window.app.saved
        while saved:
            server.offer(saved.pop(0))
        if (shape := cursor()) != self._cursor:
            self._cursor = shape
            server.tell_all({"type": "cursor", "shape": shape})
        if (text := imgui.get_clipboard_text() or "") != self._clipboard:
            self._clipboard = text
            server.tell_all({"type": "clipboard", "text": text})

    def _handle(self, message: dict[str, Any]) -> None:
        kind = message.get("type")
        if kind == "open":
            self._window.app.open_scene(message["path"])
        elif kind == "joined":
            # A later viewer sees the cursor of the others.
            self._server.tell_all({"type": "cursor", "shape": self._cursor})
        else:
            if kind in ("key", "button"):
                self._acting = message.get("client")
            if kind == "clipboard":
                self._clipboard = text_of(message)
            apply(message)
