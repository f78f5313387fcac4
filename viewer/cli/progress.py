"""How far a command is, for a person: a bar with the time left on a terminal, plain lines elsewhere."""

import sys
import time
from types import TracebackType
from typing import Self

from rich.console import Console
from rich.progress import BarColumn, MofNCompleteColumn, TextColumn, TimeRemainingColumn
from rich.progress import Progress as Bar

_LINE_SECONDS = 2.0
"""Time between two plain lines."""


class Progress:
    """How much of a known amount of work is done, told on standard error."""

    def __init__(self, total: int, unit: str) -> None:
        """`unit`: what is counted, in plural."""
        self._total, self._unit = total, unit
        self._started = self._said = time.monotonic()
        self._bar: Bar | None = None
        if sys.stderr.isatty():
            self._bar = Bar(
                BarColumn(40),
                MofNCompleteColumn(),
                TextColumn(f"{unit} · time left"),
                TimeRemainingColumn(),
                console=Console(stderr=True),
                transient=True,
            )
            self._bar.add_task(unit, total=total)
            self._bar.start()

    def update(self, done: int) -> None:
        if self._bar is not None:
            self._bar.update(self._bar.task_ids[0], completed=done)
            return
        now = time.monotonic()
        if not done or now - self._said < _LINE_SECONDS:
            return
        self._said = now
        rate = done / (now - self._started)
        left = (self._total - done) / rate
        say(f"{done}/{self._total} {self._unit}, {rate:.3g}/s, {left:.0f} s left")

    @property
    def seconds(self) -> float:
        """Time since the start."""
        return time.monotonic() - self._started

    def __enter__(self) -> Self:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        if self._bar is not None:
            self._bar.stop()


def say(text: str) -> None:
    """A line for a person, beside the command's result."""
    print(text, file=sys.stderr, flush=True)


def plural(count: int, noun: str) -> str:
    """A number with its noun, such as `1 frame`, `2 frames`."""
    return f"{count} {noun}{'' if count == 1 else 's'}"


def amount(size: int) -> str:
    """A number of bytes, such as `52 kB`, `1.3 MB`."""
    return f"{size / 1e3:.0f} kB" if size < 1e6 else f"{size / 1e6:.1f} MB"
