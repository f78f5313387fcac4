"""One work on many environments, shared out among threads."""

import weakref
from collections.abc import Callable, Iterable, Iterator
from queue import SimpleQueue
from threading import Thread
from typing import Any

WorkThrough = Callable[[Iterator[Any]], object]
"""Works on items as long as there are any."""
_Job = tuple[WorkThrough, Iterator[Any]] | None


class Helpers:
    """Threads that work beside the one that calls. MuJoCo lets go of Python's lock while it steps.

    Not an executor's threads: to wake them takes three times as long, which every step would pay.
    """

    def __init__(self, count: int) -> None:
        self._count = count
        self._jobs: SimpleQueue[_Job] = SimpleQueue()
        self._done: SimpleQueue[BaseException | None] = SimpleQueue()
        for _ in range(count):
            Thread(target=_help, args=(self._jobs, self._done), daemon=True).start()
        weakref.finalize(self, _dismiss, self._jobs, count)

    def share(self, items: Iterable[Any], work_through: WorkThrough) -> None:
        """Let all threads work on items. Whoever is done takes the next one: some cost more than others."""
        waiting = iter(items)
        for _ in range(self._count):
            self._jobs.put((work_through, waiting))
        try:
            work_through(waiting)
        finally:
            failures = [self._done.get() for _ in range(self._count)]
        for raised in failures:
            if raised is not None:
                raise raised


def _help(jobs: SimpleQueue[_Job], done: SimpleQueue[BaseException | None]) -> None:
    while (job := jobs.get()) is not None:
        work_through, waiting = job
        try:
            work_through(waiting)
        except BaseException as error:
            done.put(error)
        else:
            done.put(None)
        # What was worked on may go while this thread waits.
        del job, work_through, waiting


def _dismiss(jobs: SimpleQueue[_Job], count: int) -> None:
    for _ in range(count):
        jobs.put(None)
