"""Steps of a saved run or a log: their re-simulation, and the exactness of each, as a band and as text."""

from array import array
from collections.abc import Sequence
from pathlib import Path
from typing import Protocol

import numpy as np
from numpy.typing import NDArray

from ..channels.channel import Samples
from .abilities import ArrivedStep, StepKind

_CODES = {StepKind.START: 0, StepKind.EXACT: 0, StepKind.CLOSE: 1, StepKind.UNKNOWN: 2}
_DOUBTFUL = 0.01
"""Difference above which forces are marked as doubtful; see `ArrivedStep.difference`."""
EXACT, CLOSE, UNKNOWN = 0, 1, 2
"""Values of a band: a larger value means that less is known."""


class StepExactness:
    """Exactness of each re-simulated step so far, by the step's number; the first state has number 0."""

    def __init__(self, missing: tuple[str, ...] = ()) -> None:
        """`missing`: names in mjData of the arrays that the log does not have."""
        self._missing = missing
        self._codes = bytearray()
        self._differences = array("f")
        self._counts = [0, 0, 0]
        self.first: int | None = None
        """The first step that is not exact."""
        self.largest = 0.0
        """Largest difference of a step that is close: see `ArrivedStep.difference`."""

    def __len__(self) -> int:
        return len(self._codes)

    def add(self, kind: StepKind, difference: float = 0.0) -> None:
        """Add the exactness of the next step."""
        code = _CODES[kind]
        if code and self.first is None:
            self.first = len(self._codes)
        self._codes.append(code)
        self._differences.append(difference)
        self._counts[code] += 1
        self.largest = max(self.largest, difference)

    def truncate(self, count: int) -> None:
        """Keep the exactness of the first `count` steps."""
        codes, differences = self._codes[:count], self._differences[:count]
        self.__init__(self._missing)  # type: ignore[misc]
        for code, difference in zip(codes, differences, strict=True):
            self.add((StepKind.EXACT, StepKind.CLOSE, StepKind.UNKNOWN)[code], difference)

    @property
    def exact(self) -> int:
        """Number of exact steps; the first state does not count."""
        return self._counts[EXACT] - bool(self._codes)

    @property
    def close(self) -> int:
        return self._counts[CLOSE]

    @property
    def unknown(self) -> int:
        return self._counts[UNKNOWN]

    def is_exact(self, step: int) -> bool:
        """Return True if a step is exact; of the first state, if everything that its forces depend on is known."""
        return self._codes[step] == EXACT and (step > 0 or not self._missing)

    def is_doubtful(self, step: int) -> bool:
        """Return True if the forces of a step are not known, or may be off by more than 1 %."""
        return not self.forces_known(step) or self._differences[step] > _DOUBTFUL

    def forces_known(self, step: int) -> bool:
        """Return True if the forces of a step, or those in the first state, are known."""
        return not self._missing if step == 0 else self._codes[step] != UNKNOWN

    def band(self, start: int, stop: int, columns: int) -> NDArray[np.uint8]:
        """Return the worst verdict of the steps start to stop - 1 in each of at most `columns` columns of equal
        length, (n,)."""
        codes = np.frombuffer(bytes(self._codes[start:stop]), np.uint8)
        return np.maximum.reduceat(codes, _column_starts(len(codes), columns)) if len(codes) else codes

    def differences(self, start: int, stop: int, columns: int) -> NDArray[np.float32]:
        """Return the largest difference of the close steps in the columns of `band`, (n,)."""
        values = np.array(self._differences[start:stop], np.float32)
        return np.maximum.reduceat(values, _column_starts(len(values), columns)) if len(values) else values

    def describe(self, step: int) -> str:
        """Return a description of one step for the user."""
        if not 0 <= step < len(self._codes):
            return ""
        if step == 0:
            return "the first state of the file" + ("; its forces are not known" if self._missing else "")
        if self._codes[step] == EXACT:
            return "exact: re-simulated, the step leads bit for bit to the next state of the file"
        if self._codes[step] == CLOSE:
            return f"close: contact forces are right to about {percent(self._differences[step])} of the step's largest"
        return f"not reached: {self._reason}; its forces are not known, and not drawn"

    def summary(self, seconds: float = 0.0) -> str:
        """Return a summary of all steps so far for the user; `seconds` is the simulated time of the `first` inexact
        one [s]."""
        total = len(self._codes) - 1
        if total < 1:
            return "no steps: only one state"
        usual = percent(float(np.median([each for each in self._differences if each] or [0.0])))
        worst = "" if usual == percent(self.largest) else f", {percent(self.largest)} in the worst step"
        close = f"close (forces right to about {usual} of a step's largest{worst})"
        unknown = f"not reached ({self._reason}): their forces are not drawn"
        for count, words in ((self.exact, "exact"), (self.close, close), (self.unknown, unknown)):
            if count == total:
                return f"all {total} steps are {words}"
        parts = [f"{self.exact} exact"] if self.exact else []
        parts += [f"{self.close} {close}"] if self.close else []
        parts += [f"{self.unknown} {unknown}"] if self.unknown else []
        first = f"; the first that is not exact is step {self.first}, at {seconds:.6g} s" if self.exact else ""
        return f"of {total} steps {', '.join(parts)}{first}"

    @property
    def _reason(self) -> str:
        return f"the file has no {' and no '.join(self._missing)}" if self._missing else "the states do not follow"


class LoggedSteps(Protocol):
    """Steps of a saved run or a log, which the engine re-simulates one after another instead of taking its own."""

    path: Path
    """Path of the file."""
    start: float
    """Simulated time of the first state [s]."""
    duration: float
    """Simulated time from the first state to the last [s]."""
    is_run: bool
    """True for a saved run, False for a log."""
    notes: tuple[str, ...]
    """Notes for the user about the file."""
    channels: Sequence[Samples]
    """Values of the channels in the file."""
    watches_all: bool
    """True if all contacts were watched when the run was saved."""
    exactness: StepExactness
    """Exactness of the steps so far."""

    @property
    def done(self) -> bool:
        """True if there are no more steps."""
        ...

    def next_step(self) -> ArrivedStep | None:
        """Re-simulate and return the next step; the engine's data are then at its end. None if there are no more
        steps."""
        ...

    def summary(self) -> str:
        """Return how exactly the steps so far were re-simulated, for the user."""
        ...

    def boundary(self, step: int) -> int:
        """Return the last step up to `step`, counted from the first state, after which steps can be re-simulated."""
        ...

    def go_back(self, step: int) -> None:
        """Continue after a step; the caller has set the engine's data to its end."""
        ...


def _column_starts(count: int, columns: int) -> NDArray[np.intp]:
    return np.unique(np.linspace(0, count, min(columns, count), endpoint=False).astype(np.intp))


def percent(ratio: float) -> str:
    """Return a small ratio as text, such as `0.31 %` or `2.4e-07 %`."""
    return f"{100 * ratio:.2g} %"
