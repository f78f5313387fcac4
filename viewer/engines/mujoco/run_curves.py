"""The history of a run to curves of its sensors."""

import math

import numpy as np

from ...sensors.curves import BYTES_PER_VALUE, Curves, Reduced, Values
from ...sensors.signals import Signal, measure_signals
from ..contract import Engine
from .cones import model_cone
from .declarations import declared_sensors
from .pairs import sensor_friction, sensor_pairs
from .run import MujocoRun

_UPDATE_STEPS = 512
"""Most steps that one update takes in, so that a panel opened late does not freeze the window."""
_FRICTION_PAIRS = 20_000
"""Pairs of geoms beyond which the friction of a sensor is not looked for."""


class RunCurves:
    """Every signal of every recorded sensor after every step that the history holds.

    It is brought up to date only when somebody looks: call `update` once a frame.
    """

    def __init__(self, run: MujocoRun) -> None:
        self._run = run
        self.names = run.recorded
        """Sensors with curves."""
        self._curves = Curves(len(self.names) * len(Signal), run.history.capacity)
        run.history.followers.append(self._curves)
        model = run.engine.model
        ids = {declared.name: declared.sensor_id for declared in declared_sensors(model)}
        self._cone = model_cone(model)
        pairs = (sensor_pairs(model, ids[name], _FRICTION_PAIRS) for name in self.names)
        self._friction = np.array([sensor_friction(model, of_sensor) for of_sensor in pairs]).reshape(-1, 2)

    @property
    def first(self) -> int:
        """Oldest step that has values."""
        return max(self._curves.first, self._run.history.first)

    @property
    def stop(self) -> int:
        """The step after the newest that has values."""
        return self._curves.stop

    def update(self, limit: int = _UPDATE_STEPS) -> bool:
        """Take in new steps, at most `limit`; whether all are in."""
        history, curves = self._run.history, self._curves
        if curves.stop < history.first:
            curves.restart(history.first)
        stop = min(history.last + 1, curves.stop + limit)
        starts = [step for step, _ in history.epochs if curves.stop < step < stop]
        for start, end in zip([curves.stop, *starts], [*starts, stop], strict=True):
            if start < end:
                curves.extend(self._measure(start, end))
        return curves.stop > history.last

    def reduce(self, name: str, signal: Signal, start: int, stop: int, columns: int) -> Reduced:
        """A signal between two steps in at most `columns` columns, with the extremes of each."""
        return self._curves.reduce(self._row(name, signal), max(start, self.first), stop, columns)

    def values(self, name: str, signal: Signal, start: int, stop: int) -> Values:
        """A signal at steps start to stop - 1, (n,)."""
        return self._curves.values(self._row(name, signal), max(start, self.first), stop)

    def _row(self, name: str, signal: Signal) -> int:
        return self.names.index(name) * len(Signal) + list(Signal).index(signal)

    def _measure(self, start: int, stop: int) -> Values:
        block = np.empty((len(self.names), len(Signal), stop - start), np.float32)
        for members, batch in self._run.grouped_contacts(start, stop):
            signals = measure_signals(batch, self._friction[members], self._cone)
            block[members] = signals.transpose(2, 0, 1)
        return block.reshape(-1, stop - start)


def curve_bytes(engine: Engine) -> int:
    """Memory that the curves of a run take a step."""
    count = sum(not sensor.virtual for sensor in engine.sensors)
    return math.ceil(count * len(Signal) * BYTES_PER_VALUE)
