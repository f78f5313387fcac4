"""Turns the history of the shown sensors into points on the screen, once for all plots of a frame."""

import csv
import io
from collections.abc import Sequence
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from ...sensors.curves import Values
from ...sensors.signals import Signal
from ...session.history import History
from ...session.session import Session


class Line(NamedTuple):
    """One curve of a plot."""

    name: str
    """Of the sensor."""
    signal: Signal
    label: str


class PlottedCurves:
    """Curves of some sensors in a span of time, in as many columns as there are pixels."""

    def __init__(self) -> None:
        self._made_for: tuple[object, ...] = ()
        self._names: dict[str, int] = {}
        self._signals: dict[Signal, int] = {}
        self.times: NDArray[np.float64] = np.empty(0)
        """Simulated times of the columns and of the end of the last one [s], (columns + 1,)."""
        self.low: Values = np.empty((0, 0, 0), np.float32)
        """Smallest values, (sensors, signals, columns); NaN where there is none."""
        self.high: Values = self.low
        """Largest values."""
        self.strokes: NDArray[np.float64] = np.empty((0, 0, 0))
        """Values of each curve's points, two a column, (sensors, signals, 2 columns)."""
        self.stroke_times: NDArray[np.float64] = np.empty(0)
        """Times of the points [s], (2 columns,)."""

    def update(
        self, history: History, names: Sequence[str], signals: Sequence[Signal], span: tuple[float, float], columns: int
    ) -> bool:
        """Read the curves of a span of time [s]; False if nothing has changed since the last call."""
        first, stop = history.step_at(span[0]) - 1, history.step_at(span[1]) + 2
        made_for = (history, history.curves.version, *names, *signals, first, stop, columns)
        if made_for == self._made_for:
            return False
        self._made_for = made_for
        self._names = {name: place for place, name in enumerate(names)}
        self._signals = {signal: place for place, signal in enumerate(signals)}
        reduced = history.curves.reduce(names, signals, first, stop, columns)
        self.low, self.high = reduced.low, reduced.high
        self.times = history.times(np.minimum(reduced.steps, history.last))
        # A column is a stroke from its smallest to its largest value, so that no peak is lost.
        self.stroke_times = np.repeat(self.times[:-1], 2)
        self.strokes = np.empty((*self.low.shape[:2], 2 * self.low.shape[2]))
        self.strokes[..., 0::2], self.strokes[..., 1::2] = self.low, self.high
        return True

    def places(self, lines: Sequence[Line]) -> tuple[list[int], list[int]]:
        """Indices of some curves in the arrays."""
        return [self._names[line.name] for line in lines], [self._signals[line.signal] for line in lines]

    def of_signal(self, values: Values, signal: Signal) -> Values:
        """The part of `low` or `high` that is of one signal, (sensors, columns)."""
        return values[:, self._signals[signal]]


def value_at(history: History, line: Line, time: float) -> float:
    """A curve's value at the step that is shown at a time [s]; NaN where there is none."""
    step = history.step_at(time)
    values = history.curves.values(line.name, line.signal, step, step + 1)
    return float(values[0]) if len(values) else float("nan")


def curves_csv(
    session: Session, history: History, names: Sequence[str], signals: Sequence[Signal], span: tuple[float, float]
) -> str:
    """Every step of some curves in a span of time [s], as comma-separated values."""
    first, last = max(history.step_at(span[0]), history.curves.first), history.step_at(span[1])
    steps = np.arange(first, last + 1)
    columns: dict[str, NDArray[np.floating[Any]]] = {"time [s]": history.times(steps)}
    for name in names:
        net = session.engine.sensors[name].layout.frame == "world"
        for signal in signals:
            unit = f" [{signal.unit}]" if signal.unit else ""
            columns[f"{name}: {signal.label(net)}{unit}"] = history.curves.values(name, signal, first, last + 1)
    text = io.StringIO()
    writer = csv.writer(text, lineterminator="\n")
    writer.writerow(columns)
    for row in zip(*columns.values(), strict=True):
        writer.writerow(["" if value != value else f"{value:.9g}" for value in row])
    return text.getvalue()
