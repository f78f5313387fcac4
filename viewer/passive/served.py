"""Windows that a user's program opens and browsers show: their process, and their address."""

import contextlib
import html
import os
import socket
import subprocess
import sys
import time
from pathlib import Path
from typing import Any
from urllib.parse import urlsplit

from ..errors import SceneError
from ..processes import SILENCE, Child
from .shared_memory import model_file

WINDOW_MODULE = "contact_viewer.passive.window_process"
"""Module that a window's process runs."""
_START_TIME = 120.0
"""Longest wait for a window to open: its scene may be large [s]."""
_LOOK = 0.2
"""Time between two checks that the window still exists [s]."""
_LOOPBACK = ("127.0.0.1", "localhost", "::1")
_WARNING = "contact-viewer: warning: other machines can reach this; anyone with the link can use this program as you"
_HEIGHT = 640
"""Height of the page in a notebook [px]."""


def announce(url: str) -> None:
    """Print the address, and a command to reach it from another machine; warn if other machines can reach it."""
    parts = urlsplit(url)
    if parts.hostname not in _LOOPBACK:
        print(_WARNING, file=sys.stderr, flush=True)
    port = parts.port
    print(f"serving at {url}", flush=True)
    print(f"from your own machine: ssh -L {port}:127.0.0.1:{port} {socket.gethostname()}", flush=True)


class Page:
    """Page of a served window. In Jupyter it displays itself once, and again wherever it ends a later cell."""

    def __init__(self, url: str) -> None:
        self.url = url
        shell = _notebook()
        self._cell = shell.execution_count if shell is not None else None
        """Number of the notebook cell in which the page was displayed."""
        if shell is None:
            announce(url)
        else:
            from IPython.display import HTML, display

            display(HTML(self._frame()))

    def html(self) -> str:
        """Return the HTML that a notebook shows where the page ends a cell."""
        shell = _notebook()
        shown = shell is not None and shell.execution_count == self._cell
        return self._link() if shown else self._frame()

    def _link(self) -> str:
        address = html.escape(self.url, quote=True)
        return f'<a href="{address}" target="_blank" rel="noopener">{html.escape(self.url.partition("?")[0])}</a>'

    def _frame(self) -> str:
        address, port = html.escape(self.url, quote=True), urlsplit(self.url).port
        hint = f"Nothing here? On your own machine: ssh -L {port}:127.0.0.1:{port} {socket.gethostname()}"
        return (
            f'<iframe src="{address}" width="100%" height="{_HEIGHT}" style="border:0" allow="clipboard-read; '
            f'clipboard-write; fullscreen"></iframe><div style="font-size:smaller;opacity:.7">'
            f"{self._link()} · {html.escape(hint)}</div>"
        )


def _notebook() -> Any:
    """Return IPython's shell if this program runs in a notebook; else None."""
    # A notebook has already imported IPython.
    ipython = sys.modules.get("IPython")
    shell = ipython.get_ipython() if ipython is not None else None
    return shell if getattr(shell, "kernel", None) is not None else None


class ServedViewer:
    """Scene that is stepped and shown in browsers, until it is closed or the program ends."""

    def __init__(self) -> None:
        self._page: Page | None = None

    @property
    def url(self) -> str:
        """Address of the page, with its token."""
        assert self._page is not None
        return self._page.url

    def is_running(self) -> bool:
        """Return False after the window was closed, or has ended."""
        raise NotImplementedError

    def close(self) -> None:
        """Close the window and complete its recording. A second call does nothing."""
        raise NotImplementedError

    def wait(self) -> None:
        """Wait until the window is closed; Ctrl-C closes it."""
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
    """Scene that a process of its own steps and shows."""

    def __init__(self, scene: str | Path | None, model: Any, host: str, port: int | None) -> None:
        """Open a compiled model, if there is one, else a file or a bundled scene. Raises SceneError on failure."""
        super().__init__()
        compiled = () if model is None else (model_file(model),)
        request = {"scene": None if scene is None else str(scene), "compiled": compiled, "serve": [host, port]}
        try:
            self._child = Child(WINDOW_MODULE, request, compiled)
        finally:
            for file in compiled:
                os.close(file)
        try:
            self._page = Page(wait_until_open(self._child, "url", _START_TIME))
        except BaseException:
            self.close()
            raise

    def is_running(self) -> bool:
        return self._child.process.poll() is None

    def close(self) -> None:
        self._child.end()


def wait_until_open(child: Child, name: str, seconds: float) -> Any:
    """Wait for a message with a name, such as `ready` or `url`, and return its value.

    Raises SceneError if the window does not open within some time [s].
    """
    until = time.monotonic() + seconds
    while child.link.is_open and (left := until - time.monotonic()) > 0:
        child.link.wait(left)
        for message in child.link.receive():
            if message.get("error"):
                raise SceneError(message["error"])
            if message.get(name):
                return message[name]
    if not child.link.is_open:
        with contextlib.suppress(subprocess.TimeoutExpired):
            code = child.process.wait(SILENCE)
            raise SceneError(f"the window's process ended with exit code {code} before it was open")
    raise SceneError(f"the window did not open within {seconds:g} s")
