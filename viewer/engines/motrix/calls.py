"""Calls into MotrixSim: imported on first use, quiet, and with one line for any failure."""

from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

from ...errors import EngineError, SceneError
from ...processes import capture_stderr, redirect_stderr
from ...scene_files.scene import one_line

MISSING = "MotrixSim is not installed: pip install contact-viewer[motrix]"


def import_motrixsim() -> Any:
    """Return the motrixsim package. Raises SceneError if it is not installed."""
    try:
        with redirect_stderr(None):
            import motrixsim
    except ImportError as error:
        if error.name == "motrixsim":
            raise SceneError(MISSING) from None
        raise SceneError(f"MotrixSim cannot be imported: {one_line(error)}") from None
    return motrixsim


@contextmanager
def loading_calls(path: Path) -> Iterator[list[str]]:
    """Guard calls that load a scene. Yields the lines of the engine's log, complete after the `with` block."""
    with _translated(f"MotrixSim cannot load {path}", SceneError), capture_stderr() as log:
        yield log


@contextmanager
def running_calls(what: str) -> Iterator[None]:
    """Guard calls that step or read a scene."""
    # A panic prints its stack to standard error.
    with _translated(f"MotrixSim failed to {what}", EngineError), redirect_stderr(None):
        yield


@contextmanager
def _translated(failure: str, kind: type[SceneError]) -> Iterator[None]:
    """Raise the engine's exceptions as an error of one line; so too its panics, which are not Exceptions."""
    try:
        yield
    except (SceneError, KeyboardInterrupt, SystemExit, GeneratorExit):
        raise
    except BaseException as error:
        raise kind(f"{failure}: {one_line(error)}") from None
