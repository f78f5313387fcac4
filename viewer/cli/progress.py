"""Works through a long task: shows how far it is, and stops at Ctrl-C or where the simulation fails."""

import sys
import time
from collections.abc import Callable, Iterable, Iterator
from contextlib import contextmanager

from rich.console import Console
from rich.progress import BarColumn, MofNCompleteColumn, Progress, TextColumn, TimeRemainingColumn

from ..app.interruption import Interruption
from ..errors import EngineError, UnstableError

_LINE_SECONDS = 2.0
"""Time between two plain lines."""


def work_through(parts: Iterable[int], total: int, unit: str, interrupt: Interruption) -> str:
    """Work through the parts of a task, each of which gives how much of `total` is done; `unit` is what is counted, in
    plural. Returns why it ended early, or an empty text."""
    with _progress(total, unit) as update:
        try:
            for done in parts:
                update(done)
                if interrupt.requested:
                    return "interrupted"
        except (UnstableError, EngineError) as error:
            return str(error)
    return ""


@contextmanager
def _progress(total: int, unit: str) -> Iterator[Callable[[int], None]]:
    """Yields what shows how much is done, on standard error: a bar on a terminal, plain lines elsewhere."""
    if sys.stderr.isatty():
        columns = BarColumn(40), MofNCompleteColumn(), TextColumn(f"{unit} · time left"), TimeRemainingColumn()
        with Progress(*columns, console=Console(stderr=True), transient=True) as bar:
            task = bar.add_task(unit, total=total)
            yield lambda done: bar.update(task, completed=done)
        return
    started = reported = time.monotonic()

    def update(done: int) -> None:
        nonlocal reported
        now = time.monotonic()
        if done and now - reported >= _LINE_SECONDS:
            reported = now
            rate = done / (now - started)
            report(f"{done}/{total} {unit}, {rate:.3g}/s, {(total - done) / rate:.0f} s left")

    yield update


def report(text: str) -> None:
    """Print a line on standard error, apart from the command's result."""
    print(text, file=sys.stderr, flush=True)


def plural(count: int, noun: str) -> str:
    """A number with its noun, such as `1 frame`, `2 frames`."""
    return f"{count} {noun}{'' if count == 1 else 's'}"
