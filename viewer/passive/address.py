"""Shows a person where a served window is: in a notebook the page itself, else two lines on standard output."""

import html
import socket
import sys
from typing import Any
from urllib.parse import urlsplit

_LOOPBACK = ("127.0.0.1", "localhost", "::1")
_WARNING = "contact-viewer: warning: other machines can reach this; whoever has the link can use this program as you"
_HEIGHT = 640
"""Of the page in a notebook [px]."""


def announce(url: str) -> None:
    """Print the address, and how to reach it from another machine; a warning if others can reach it too."""
    parts = urlsplit(url)
    if parts.hostname not in _LOOPBACK:
        print(_WARNING, file=sys.stderr, flush=True)
    port = parts.port
    print(f"serving at {url}", flush=True)
    print(f"from your own machine: ssh -L {port}:127.0.0.1:{port} {socket.gethostname()}", flush=True)


class Page:
    """The page of a served window. In Jupyter it displays itself once, and again wherever it ends a later cell."""

    def __init__(self, url: str) -> None:
        self.url = url
        shell = _notebook()
        self._cell = shell.execution_count if shell is not None else None
        """Number of the cell in which it was displayed."""
        if shell is None:
            announce(url)
        else:
            from IPython.display import HTML, display

            display(HTML(self._frame()))

    def html(self) -> str:
        """What a notebook shows where this ends a cell."""
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
    """IPython's shell, if this program runs in a notebook; else None."""
    # A notebook has imported it.
    ipython = sys.modules.get("IPython")
    shell = ipython.get_ipython() if ipython is not None else None
    return shell if getattr(shell, "kernel", None) is not None else None
