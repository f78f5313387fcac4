"""Compares the sensors of a run with measured data: aligns clocks, computes agreement, and fits touch devices."""

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from ..channels.alignment import Agreement, Alignment, Curve, agree, align, find_swap
from ..channels.channel import ChannelName, Samples
from ..channels.mapping import Mapping as SensorMapping
from ..errors import LogEnd, SceneError
from ..session.history import History
from ..session.session import Session

_CHUNK = 200
"""Number of steps after which the caller can stop."""
GROUP = "measured"
"""Group of the channels of measured data."""


@dataclass(frozen=True)
class Measured:
    """Outcome of a comparison with measured data."""

    alignment: Alignment
    agreements: tuple[tuple[SensorMapping, Agreement], ...]
    swap: tuple[tuple[str, str], ...]
    """Sensors for which another column fits clearly better than the given one, with that column."""
    correlations: tuple[float, float]
    """Mean correlation with the given columns, and with the better columns."""

    def to_json(self) -> dict[str, Any]:
        """Return the result as a JSON object."""
        return {
            "alignment": vars(self.alignment),
            "sensors": {
                mapping.label: {
                    "column": mapping.column,
                    "rms": agreement.rms,
                    "correlation": agreement.correlation,
                    "values": agreement.count,
                    "delays": [{"time": time, "delay": delay} for time, delay in agreement.delays],
                    "only_simulated": list(agreement.only_simulated),
                    "only_measured": list(agreement.only_measured),
                }
                for mapping, agreement in self.agreements
            },
            "swapped": dict(self.swap),
        }


def take_steps(session: Session, seconds: float) -> Iterator[int]:
    """Step a run up to a simulated time [s], or to the end of a log; yield the number of steps so far."""
    history, count = session.history, 0
    assert history is not None
    total = round(seconds / session.engine.timestep)
    while count < total:
        try:
            session.simulation.step(min(_CHUNK, total - count))
        except LogEnd:
            return
        count = history.last
        yield count


def read_curves(history: History) -> None:
    """Compute the curves of all steps in a history."""
    while not history.curves.update():
        pass


def simulated_curve(history: History, mapping: SensorMapping) -> Curve:
    """Return the readings of a mapping's sensor in all steps of a history, after `read_curves`."""
    curves = history.curves
    steps = np.arange(max(history.first, curves.first), curves.stop)
    values = curves.values(mapping.sensor, mapping.signal, int(steps[0]), int(steps[-1]) + 1)
    # A sensor that nothing touches has no normal force.
    return Curve(history.times(steps), np.nan_to_num(np.asarray(values, np.float64)))


def scaled(curve: Curve, mapping: SensorMapping) -> Curve:
    """Return a measured curve in the unit and with the sign of the simulated one."""
    return Curve(curve.times, mapping.scale * curve.values + mapping.bias)


def compare_measured(
    history: History, mappings: Sequence[SensorMapping], columns: Mapping[str, Curve], shift: float | None = None
) -> Measured:
    """Compare the sensors of a run with measured columns.

    Args:
        history: Steps of the run, after `read_curves`.
        mappings: Which column belongs to which sensor.
        columns: Measured curves by the names of columns.
        shift: Simulated time at the measured time 0 [s]; None to align the clocks by the curves.

    Raises:
        SceneError: The curves cannot be aligned.
    """
    pairs = [(simulated_curve(history, each), scaled(columns[each.column], each)) for each in mappings]
    for mapping, (_, measured) in zip(mappings, pairs, strict=True):
        if len(measured.times) < 2:
            raise SceneError(f"column {mapping.column}: has {len(measured.times)} values")
    found = Alignment(shift, 0.0, "by hand") if shift is not None else align(pairs)
    swapped = find_swap(pairs) if shift is None else None
    if found is None and swapped is not None:
        found = align([(ours, pairs[place][1]) for (ours, _), place in zip(pairs, swapped[0], strict=True)])
    if found is None:
        raise SceneError(
            "the measured curves cannot be aligned with the simulated ones: no touchdowns match, and no shift makes "
            "them alike; check the mapping, or give the shift by hand with --shift"
        )
    agreements = tuple((mapping, agree(*pair, found)) for mapping, pair in zip(mappings, pairs, strict=True))
    if swapped is None:
        return Measured(found, agreements, (), (0.0, 0.0))
    better = tuple(
        (mapping.label, mappings[place].column)
        for k, (mapping, place) in enumerate(zip(mappings, swapped[0], strict=True))
        if k != place
    )
    return Measured(found, agreements, better, swapped[1:])


def as_channels(mappings: Sequence[SensorMapping], columns: Mapping[str, Curve], found: Alignment) -> list[Samples]:
    """Return measured columns as channels of the run, in simulated time."""
    samples = []
    for mapping in mappings:
        aligned = found.apply(scaled(columns[mapping.column], mapping))
        samples.append(Samples(ChannelName(f"{GROUP}/{mapping.label}", mapping.signal.unit), *aligned))
    return samples
