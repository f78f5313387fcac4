"""Run a long task: show its progress, and stop at Ctrl-C or where the simulation fails."""

import io
import sys
import time
from collections.abc import Callable, Iterable, Iterator
from contextlib import contextmanager, suppress
from typing import TYPE_CHECKING, Self, TextIO

from rich.console import Console
from rich.progress import BarColumn, MofNCompleteColumn, Progress, TaskID, TextColumn, TimeRemainingColumn

from ..app.interruption import Interruption
from ..errors import ControlError, DiskFullError, EngineError, UnstableError
from ..files import without_controls

if TYPE_CHECKING:
    from ..engines.contract import Engine

_LINE_SECONDS = 2.0
"""Time between two plain lines of progress [s]."""


def work_through(parts: Iterable[int], total: int, unit: str, interrupt: Interruption) -> tuple[str, int]:
    """Run the parts of a task, each of which yields the amount done of `total`; `unit` is the plural of the counted
    things. Returns the reason of an early end, or an empty text, and the exit code."""
    with _progress(total, unit) as update:
        try:
            for done in parts:
                update(done)
                if interrupt.requested:
                    return "interrupted", 0
        except KeyboardInterrupt:
            # The second request, inside a controller that does not return: what there is can be completed.
            if not interrupt.requested:
                raise
            return "interrupted", 0
        except ControlError as error:
            # Of the user's own making, and not of the scene's.
            return str(error), 2
        except (UnstableError, EngineError, DiskFullError) as error:
            return str(error), 0
    return "", 0


@contextmanager
def _progress(total: int, unit: str) -> Iterator[Callable[[int], None]]:
    """Yield a function that shows progress on standard error: a bar on a terminal, plain lines elsewhere."""
    if sys.stderr is not None and sys.stderr.isatty():
        columns = BarColumn(40), MofNCompleteColumn(), TextColumn(f"{unit} · time left"), TimeRemainingColumn()
        with Progress(*columns, console=Console(file=_Terminal(sys.stderr)), transient=True) as bar:
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


def report_warnings(engine: "Engine") -> None:
    """Print problems that an engine had without stopping, such as dropped contacts."""
    while (trouble := engine.warning()) is not None:
        report(f"warning: {trouble}")


class RunProgress:
    """Display on standard error of how many runs finished and failed: a bar on a terminal, plain lines elsewhere."""

    def __init__(self, total: int, unit: str = "runs") -> None:
        """Prepare the display. `unit`: plural of the counted things."""
        self._total, self._unit = total, unit
        self._began = self._reported = time.monotonic()
        self._start: int | None = None
        self._bar: Progress | None = None
        self._task = TaskID(0)

    def __enter__(self) -> Self:
        if sys.stderr is not None and sys.stderr.isatty():
            columns = BarColumn(40), MofNCompleteColumn(), TextColumn(f"{self._unit} · {{task.fields[note]}}")
            self._bar = Progress(*columns, console=Console(file=_Terminal(sys.stderr)), transient=True)
            self._bar.start()
            self._task = self._bar.add_task(self._unit, total=self._total, note="")
        return self

    def __exit__(self, *_: object) -> None:
        if self._bar is not None:
            self._bar.stop()

    def update(self, finished: int, failed: int, total: int | None = None) -> None:
        """Show the numbers of runs. `total`: number of all runs, if more turn out to be needed."""
        if total is not None and total != self._total:
            self._total = total
            if self._bar is not None:
                self._bar.update(self._task, total=total)
        done, now = finished + failed, time.monotonic()
        if self._start is None:
            # Those of a sweep that is resumed took no time.
            self._start = done
        note = f"{failed} failed" if failed else "none failed"
        rate = (done - self._start) / (now - self._began)
        if rate > 0:
            note = f"{rate:.3g} {self._unit}/s · {note} · {_clock((self._total - done) / rate)} left"
        if self._bar is not None:
            self._bar.update(self._task, completed=done, note=note)
        elif done and now - self._reported >= _LINE_SECONDS:
            self._reported = now
            report(f"{done}/{self._total} {self._unit} · {note}")


def _clock(seconds: float) -> str:
    """Return a time in words, such as `35 s`, `12 min`, `3.5 h`."""
    if seconds < 100:
        return f"{seconds:.0f} s"
    return f"{seconds / 60:.0f} min" if seconds < 6000 else f"{seconds / 3600:.1f} h"


def report(text: str) -> None:
    """Print a line on standard error, apart from the command's result."""
    if sys.stderr is not None:
        with suppress(OSError):  # The terminal may be closed, and the work goes on.
            print(without_controls(text), file=sys.stderr, flush=True)


class _Terminal(io.StringIO):
    """Stream to a terminal, which discards output once the terminal is closed."""

    def __init__(self, stream: TextIO) -> None:
        super().__init__()
        self._stream = stream

    @property
    def encoding(self) -> str:  # type: ignore[override]
        return self._stream.encoding

    def fileno(self) -> int:
        return self._stream.fileno()

    def isatty(self) -> bool:
        return True

    def write(self, text: str) -> int:
        stream = self._stream
        with suppress(OSError):
            # Past what escapes control characters: the bar is made of them, and has no names in it.
            io.TextIOWrapper.write(stream, text) if isinstance(stream, io.TextIOWrapper) else stream.write(text)
        return len(text)

    def flush(self) -> None:
        with suppress(OSError):
            self._stream.flush()


def plural(count: int, noun: str) -> str:
    """Return a number with its noun, such as `1 frame`, `2 frames`."""
    return f"{count} {noun}{'' if count == 1 else 's'}"
