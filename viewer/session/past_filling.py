"""Computes the values that new sensors of a scene would have had in the steps before they were made."""

from threading import Thread
from time import perf_counter

import numpy as np
from numpy.typing import NDArray

from ..engines.abilities import KeptStep
from ..engines.contract import Engine
from ..errors import EngineError, UnstableError
from .history import History

_CHUNK = 0.1
"""Wall time of the steps that are re-simulated at once [s]: closing a window waits for them."""
_FIRST_STEPS = 64
"""Number of steps in the first chunk, which shows how long one takes."""


class PastFilling:
    """Thread that re-simulates the steps of a history whose rows are missing, newest first, on an engine of its own."""

    def __init__(self, history: History, engine: Engine) -> None:
        """Fill in the rows of a history on `engine`, a copy of its engine that nothing else uses."""
        self._history, self._engine = history, engine
        self._total = max(history.unread - history.first, 1)
        self._steps = _FIRST_STEPS
        self._end = 0
        """Value of `unread` when the chunk that is being computed began."""
        self._rows: list[NDArray[np.float64]] = []
        """Rows of the chunk that is being computed, oldest first; empty if it failed."""
        self._thread: Thread | None = None

    @property
    def progress(self) -> float | None:
        """Part of the past that is filled in, 0 to 1; None once nothing is missing."""
        missing = self._history.unread - self._history.first
        return None if missing <= 0 else max(0.0, 1.0 - missing / self._total)

    def advance(self) -> None:
        """Take over rows that are ready, and begin with the next ones. Call it once a frame."""
        history = self._history
        if self._thread is not None:
            if self._thread.is_alive():
                return
            self._thread = None
            # Otherwise the history was truncated meanwhile: the rows are stale.
            if self._end == history.unread:
                self._take_over(history)
        if self.progress is not None:
            self._end = history.unread
            self._thread = Thread(target=self._compute, args=(history.unread_spans(self._steps),))
            self._thread.start()

    def wait(self) -> None:
        """Fill in all that is missing."""
        while self.progress is not None:
            self.advance()
            if self._thread is not None:
                self._thread.join()

    def _take_over(self, history: History) -> None:
        if self._rows:
            rows = np.concatenate(self._rows)
            history.fill(self._end - len(rows), rows)
        else:
            history.forget_unread()

    def _compute(self, spans: list[KeptStep]) -> None:
        began, rows = perf_counter(), []
        try:
            for span in spans:
                rows.append(self._resimulate(span))
        except (EngineError, UnstableError):
            self._rows = []
            return
        self._rows = rows[::-1]
        count = sum(map(len, rows))
        self._steps = max(1, round(count * min(_CHUNK / (perf_counter() - began), 4.0)))

    def _resimulate(self, span: KeptStep) -> NDArray[np.float64]:
        """Return the rows of the steps of a span, (n, width)."""
        engine, past = self._engine, self._engine.past
        if not span.count:
            past.show(span)
            return np.frombuffer(past.read()).copy()[None]
        past.restore(span.state)
        inputs = iter(()) if span.inputs is None else iter(span.inputs)

        def drive() -> None:
            past.inputs[:] = next(inputs)

        step = engine.stepper(None if span.inputs is None else drive)
        rows = np.empty((span.count, past.width))
        for row in rows:
            step()
            row[:] = np.frombuffer(past.read())
        return rows


def fill_past(history: History, engine: Engine) -> PastFilling | None:
    """Return a filling of the rows that a history lacks, on a copy of its engine. None if no row is missing, or if they
    cannot be computed: the history then begins with its first known row."""
    copy = engine.copy() if history.unread > history.first and history.names else None
    if copy is None or (copy.past.state_size, copy.past.width) != (engine.past.state_size, engine.past.width):
        history.forget_unread()
        return None
    return PastFilling(history, copy)
