"""Shares work on many environments among threads."""

import weakref
from collections.abc import Callable, Iterable, Iterator
from queue import SimpleQueue
from threading import Thread
from typing import Any

Work = Callable[[Any], object]
"""Works on one item."""
_Job = tuple[Work, Iterator[Any]] | None


class ThreadPool:
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

    def share(self, items: Iterable[Any], work: Work) -> None:
        """Let all threads work on items. Each takes the next one when it is done: some cost more than others."""
        waiting = iter(items)
        for _ in range(self._count):
            self._jobs.put((work, waiting))
        try:
            for item in waiting:
                work(item)
        finally:
            failures = [self._done.get() for _ in range(self._count)]
        for raised in failures:
            if raised is not None:
                raise raised


def _help(jobs: SimpleQueue[_Job], done: SimpleQueue[BaseException | None]) -> None:
    while (job := jobs.get()) is not None:
        done.put(_work_through(*job))
        # What was worked on may go while this thread waits.
        del job


def _work_through(work: Work, waiting: Iterator[Any]) -> BaseException | None:
    """Work on items as long as there are any; the error that ended it."""
    try:
        for item in waiting:
            work(item)
    except BaseException as error:
        return error
    return None


def _dismiss(jobs: SimpleQueue[_Job], count: int) -> None:
    for _ in range(count):
        jobs.put(None)
