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
    """The motrixsim package; SceneError where it is missing."""
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
    """Calls that load a scene. Yields the lines of the engine's log, which are there when the calls are over."""
    with _translated(f"MotrixSim cannot load {path}", SceneError), capture_stderr() as log:
        yield log


@contextmanager
def running_calls(what: str) -> Iterator[None]:
    """Calls that step a scene or read it."""
    # A panic prints its stack to standard error.
    with _translated(f"MotrixSim failed to {what}", EngineError), redirect_stderr(None):
        yield


@contextmanager
def _translated(failure: str, kind: type[SceneError]) -> Iterator[None]:
    """The engine's exceptions, and its panics, which are not Exceptions, as one line with its own message."""
    try:
        yield
    except (SceneError, KeyboardInterrupt, SystemExit, GeneratorExit):
        raise
    except BaseException as error:
        raise kind(f"{failure}: {one_line(error)}") from None
