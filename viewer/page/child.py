"""Writes pages in a process of their own: of saved runs, and for notebooks."""

import html
import subprocess
import sys
import tempfile
from collections.abc import Callable
from pathlib import Path

from ..errors import RecordingError
from ..files import folder_of

SUFFIXES = (".html", ".htm")


def check_page_path(path: str | Path) -> None:
    """Raise RecordingError if a page cannot have this name."""
    if not str(path).strip():
        raise RecordingError("the name of the page to write is empty")
    if Path(path).suffix.lower() not in SUFFIXES:
        raise RecordingError(f"{path}: a page is an .html file")


def write_page(run: str | Path, path: str | Path, *options: str) -> str:
    """Run `contact-viewer page` for a scene or a saved run; return the line that it prints.

    The command is a process of its own: its graphics memory is free when it ends, and its crash does not end the
    caller. Raises RecordingError.
    """
    command = [sys.executable, "-m", "contact_viewer", "page", str(run), "-o", str(path), *options]
    done = subprocess.run(command, capture_output=True, text=True, check=False, stdin=subprocess.DEVNULL)
    if done.returncode:
        reason = (done.stderr.strip().splitlines() or ["no message"])[-1]
        raise RecordingError(reason.removeprefix("contact-viewer: "))
    return done.stdout.strip().splitlines()[-1]


def page_of(save: Callable[[Path], object], path: Path, *options: str) -> str:
    """Write a page of a run that `save` writes into a temporary file; return a line about the page."""
    check_page_path(path)
    if not folder_of(path).is_dir():
        raise RecordingError(f"{path}: there is no folder {folder_of(path)}")
    with tempfile.TemporaryDirectory(prefix="contact-viewer-") as folder:
        run = Path(folder, f"{path.stem}.cvrun")
        save(run)
        return write_page(run, path, "--no-command", *options)


class RunView:
    """A run in a notebook, shown by the last expression of a cell."""

    def __init__(self, page: str, height: int) -> None:
        self._page, self._height = page, height

    def _repr_html_(self) -> str:
        # The frame has no address and no access to the notebook.
        return (
            f'<iframe sandbox="allow-scripts allow-downloads" srcdoc="{html.escape(self._page)}" '
            f'style="width: 100%; height: {self._height}px; border: 0" title="A run"></iframe>'
        )


def show(run: str | Path, *, at: float | None = None, duration: float | None = None, height: int = 640) -> RunView:
    """Show a run in a notebook: the moving scene with all contacts, curves and events.

    Args:
        run: A page, a saved run (`.cvrun`), or a scene: a file or the name of a bundled one.
        at: Simulated time that the page shows first [s].
        duration: Simulated time of the run [s]; by default 10, or to the end of a saved run.
        height: Height of the frame [px].

    Returns:
        An object that a notebook shows as the last expression of a cell. The notebook keeps the whole page.

    Raises:
        SceneError: The run cannot be read, with one line that says why.

    Example:
        ```python
        contact_viewer.show("run.cvrun", at=0.1)
        ```
    """
    path = Path(run).expanduser()
    if path.suffix.lower() in SUFFIXES:
        try:
            return RunView(path.read_text("utf-8"), height)
        except (OSError, UnicodeDecodeError) as error:
            raise RecordingError(f"{path}: cannot be read ({getattr(error, 'strerror', None) or error})") from None
    given = {"--at": at, "--duration": duration}
    options = [word for name, value in given.items() if value is not None for word in (name, repr(float(value)))]
    with tempfile.TemporaryDirectory(prefix="contact-viewer-") as folder:
        page = Path(folder, "run.html")
        write_page(path if path.exists() else run, page, *options)
        return RunView(page.read_text("ascii"), height)
