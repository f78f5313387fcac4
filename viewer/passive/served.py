"""A window that browsers show, opened by a user's own program: starts its process, has its address, ends it."""

import contextlib
import json
import os
import socket
import subprocess
import sys
import threading
import time
import weakref
from pathlib import Path
from typing import Any

from ..errors import SceneError, UnstableError
from .address import Page
from .process import end_window, model_file, start_process
from .viewer import PassiveViewer

MODULE = "contact_viewer.passive.served_process"
_START_TIME = 120.0
"""Longest that a window takes to open: its scene may be large [s]."""
_LOOK = 0.2
"""Between two looks whether the window is still there [s]."""


class ServedViewer:
    """A scene that is stepped and shown in browsers, until it is closed or the program ends."""

    def __init__(self) -> None:
        self._page: Page | None = None

    @property
    def url(self) -> str:
        """The address, with its token."""
        assert self._page is not None
        return self._page.url

    def is_running(self) -> bool:
        """False once the window was closed, or has ended."""
        raise NotImplementedError

    def close(self) -> None:
        """Close the window; what it records is completed. Safe twice."""
        raise NotImplementedError

    def wait(self) -> None:
        """Return when the window was closed, or Ctrl-C was pressed, which closes it."""
        try:
            while self.is_running():
                time.sleep(_LOOK)
        except KeyboardInterrupt:
            self.close()

    def __enter__(self) -> "ServedViewer":
        return self

    def __exit__(self, *_: object) -> None:
        self.close()

    def __repr__(self) -> str:
        state = "" if self.is_running() else ", closed"
        return f"<{type(self).__name__} at {self.url}{state}>"

    def _repr_html_(self) -> str:
        assert self._page is not None
        return self._page.html()


class ServedScene(ServedViewer):
    """A scene in a process of its own, which steps it too."""

    def __init__(self, scene: str | Path | None, model: Any, host: str, port: int | None) -> None:
        """Opens a file, a bundled scene or, if there is one, a compiled model. Raises SceneError if it cannot."""
        super().__init__()
        compiled = model_file(model) if model is not None else None
        request = {"scene": None if scene is None else str(scene), "model": compiled, "host": host, "port": port}
        ours, theirs = socket.socketpair()
        try:
            shared = (theirs.fileno(), *(() if compiled is None else (compiled,)))
            self._process = start_process(MODULE, (str(theirs.fileno()), json.dumps(request)), shared)
        except BaseException:
            ours.close()
            raise
        finally:
            theirs.close()
            if compiled is not None:
                os.close(compiled)
        self._socket = ours
        self._end = weakref.finalize(self, end_window, os.getpid(), ours, self._process)
        try:
            self._page = Page(_read_address(ours, self._process))
        except BaseException:
            self.close()
            raise

    def is_running(self) -> bool:
        return self._process.poll() is None

    def close(self) -> None:
        self._end()


class ServedLoop(ServedViewer):
    """A scene that a thread of the calling program steps in real time, with the program's own data and controller."""

    def __init__(self, engine: Any, viewer: PassiveViewer) -> None:
        super().__init__()
        self._engine, self._viewer = engine, viewer
        self._page = viewer.page
        self._thread = threading.Thread(target=self._run, name="contact-viewer", daemon=True)
        self._thread.start()

    def is_running(self) -> bool:
        return self._thread.is_alive()

    def close(self) -> None:
        self._viewer.close()
        if threading.current_thread() is not self._thread:
            self._thread.join()

    def _run(self) -> None:
        engine, viewer = self._engine, self._viewer
        begin, simulated, unstable = time.monotonic(), engine.data.time, False
        try:
            while viewer.is_running():
                try:
                    engine.step(1)
                except UnstableError as error:
                    if not unstable:
                        print(f"contact-viewer: {error}", file=sys.stderr)
                    unstable = True
                viewer.sync()
                ahead = engine.data.time - simulated - (time.monotonic() - begin)
                if ahead > 0:
                    time.sleep(ahead)
                elif ahead < -_LOOK:
                    # It was paused, or cannot keep up: time lost is not made up for.
                    begin, simulated = time.monotonic(), engine.data.time
        except SceneError as error:
            print(f"contact-viewer: {error}", file=sys.stderr)
        finally:
            viewer.close()


def _read_address(link: socket.socket, process: "subprocess.Popen[bytes]") -> str:
    """The first that the window's process says. Raises SceneError if it does not open."""
    link.settimeout(_START_TIME)
    received = b""
    with contextlib.suppress(ConnectionError):
        while not received.endswith(b"\n"):
            try:
                part = link.recv(65536)
            except TimeoutError:
                raise SceneError(f"the window did not open within {_START_TIME:g} s") from None
            if not part:
                break
            received += part
    if not received:
        raise SceneError(f"the window's process ended with exit code {process.wait()} before it was open")
    message = json.loads(received.splitlines()[0])
    if "error" in message:
        raise SceneError(message["error"])
    return str(message["url"])
