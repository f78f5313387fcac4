"""Lets a user's program save what its window keeps: a request, and the wait for its answer."""

import select
import socket
import threading
from pathlib import Path
from time import monotonic
from typing import Any, Protocol

from ..errors import SceneError

REQUEST, ANSWER = "save_run", "run"
"""Names in messages: of the file that is wanted, and of what became of it."""
_WAIT = 0.05
"""Between two looks at the window's messages [s]."""
_LONGEST = 600.0
"""Longest that a window takes to save a run [s]."""


class Link(Protocol):
    """What is asked of a viewer: its link to the window."""

    _lock: threading.RLock
    _socket: socket.socket
    _running: bool

    def _send(self, message: dict[str, Any]) -> bool: ...
    def _look(self, now: float, state_only: bool) -> None: ...
    def _receive(self) -> list[dict[str, Any]]: ...
    def _handle(self, message: dict[str, Any]) -> None: ...


class RunRequests:
    """The part of a viewer that saves runs."""

    def save_run(self: Link, path: str | Path) -> None:
        """Save every step that the window keeps into a `.cvrun` file, which `contact-viewer` opens as a scene.

        Waits until the file is complete; the window goes on meanwhile. Raises SceneError, one line, if it cannot be
        written or the window is closed.
        """
        target = str(Path(path).expanduser().absolute())
        with self._lock:
            until = monotonic() + _LONGEST
            # The last steps may be those of a model that has just been changed.
            self._look(monotonic(), False)
            sent = self._running and self._send({REQUEST: target})
            while sent and self._running and monotonic() < until:
                select.select([self._socket], [], [], _WAIT)
                for message in self._receive():
                    self._handle(message)
                    answer = message.get(ANSWER)
                    if answer is not None and answer["path"] == target:
                        if answer["error"]:
                            raise SceneError(answer["error"])
                        return
            raise SceneError(f"{path}: the window {'does not answer' if self._running else 'is closed'}")
