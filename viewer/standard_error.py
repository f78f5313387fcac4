"""Captures the standard error of the whole process, including what libraries in C, C++ and Rust write."""

import os
import re
import sys
import tempfile
import threading
from collections.abc import Iterator
from contextlib import contextmanager
from typing import BinaryIO

_TERMINAL_CODES = re.compile(r"\x1b\[[0-9;]*m")
_lock = threading.RLock()


@contextmanager
def redirect_stderr(file: BinaryIO | None) -> Iterator[None]:
    """Standard error goes into a file, or nowhere. Other threads that redirect it wait."""
    with _lock:
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


@contextmanager
def capture_stderr() -> Iterator[list[str]]:
    """Yields a list that holds the lines of standard error, without terminal codes, after the block has ended."""
    lines: list[str] = []
    with tempfile.TemporaryFile() as file:
        try:
            with redirect_stderr(file):
                yield lines
        finally:
            file.seek(0)
            lines += _TERMINAL_CODES.sub("", file.read().decode("utf-8", "replace")).splitlines()
