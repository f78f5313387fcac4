"""Calls into MotrixSim: imported when first asked for, quiet, and with one line for whatever goes wrong."""

import os
import re
import sys
import tempfile
import threading
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any, BinaryIO

from ..errors import EngineError, SceneError
from ..files.loading import one_line

MISSING = "MotrixSim is not installed: pip install contact-viewer[motrix]"
_TERMINAL_CODES = re.compile(r"\x1b\[[0-9;]*m")
_redirection = threading.RLock()


def import_motrixsim() -> Any:
    """The motrixsim package; SceneError where it is missing."""
    try:
        with _stderr_into(None):
            import motrixsim
    except ImportError as error:
        if error.name == "motrixsim":
            raise SceneError(MISSING) from None
        raise SceneError(f"MotrixSim cannot be imported: {one_line(error)}") from None
    return motrixsim


@contextmanager
def loading_calls(path: Path) -> Iterator[list[str]]:
    """Calls that load a scene. Yields the lines of the engine's log, which are there when the calls are over."""
    log: list[str] = []
    with tempfile.TemporaryFile() as file, _translated(f"MotrixSim cannot load {path}", SceneError):
        try:
            with _stderr_into(file):
                yield log
        finally:
            file.seek(0)
            log += _TERMINAL_CODES.sub("", file.read().decode("utf-8", "replace")).splitlines()


@contextmanager
def running_calls(what: str) -> Iterator[None]:
    """Calls that step a scene or read it."""
    with _translated(f"MotrixSim failed to {what}", EngineError), _stderr_into(None):
        yield


@contextmanager
def _translated(refusal: str, kind: type[SceneError]) -> Iterator[None]:
    """The engine's exceptions, and its panics, which are no Exceptions, as one line with its own words."""
    try:
        yield
    except (SceneError, KeyboardInterrupt, SystemExit, GeneratorExit):
        raise
    except BaseException as error:
        raise kind(f"{refusal}: {one_line(error)}") from None


@contextmanager
def _stderr_into(file: BinaryIO | None) -> Iterator[None]:
    """Standard error of the whole process into a file, or nowhere: a panic prints its stack there by itself."""
    with _redirection:
        if sys.stderr is not None:
            sys.stderr.flush()
        try:
            saved = os.dup(2)
        except OSError:  # There is no standard error.
            yield
            return
        target = os.open(os.devnull, os.O_WRONLY) if file is None else os.dup(file.fileno())
        os.dup2(target, 2)
        os.close(target)
        try:
            yield
        finally:
            os.dup2(saved, 2)
            os.close(saved)
