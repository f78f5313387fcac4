"""Contacts of many steps to the curves that a person looks at."""

from enum import StrEnum

import numpy as np
from numpy.typing import ArrayLike, NDArray

from .contacts import Array, ContactBatch
from .friction import Cone, friction_use, slip_speed


class Signal(StrEnum):
    """One number a step of a sensor. Over several contacts: forces are summed, the worst of the others counts."""

    NORMAL = "normal force"
    TANGENT0 = "tangent force 0"
    TANGENT1 = "tangent force 1"
    MAGNITUDE = "force"
    FOUND = "found"
    DISTANCE = "distance"
    SLIP = "slip speed"
    USE = "friction use"

    @property
    def unit(self) -> str:
        return _UNITS.get(self, "N")

    def label(self, in_world_frame: bool) -> str:
        """What it is called; netforce has world axes where other sensors have normal and tangents."""
        return _WORLD_LABELS.get(self, self.value) if in_world_frame else self.value


_UNITS = {Signal.FOUND: "", Signal.DISTANCE: "m", Signal.SLIP: "m/s", Signal.USE: ""}
_WORLD_LABELS = {Signal.NORMAL: "force x", Signal.TANGENT0: "force y", Signal.TANGENT1: "force z"}


def measure_signals(
    batch: ContactBatch, friction: ArrayLike = np.nan, cone: Cone = Cone.ELLIPTIC
) -> NDArray[np.float32]:
    """All signals of a batch of n steps, (len(Signal), n), in their order; NaN where a sensor does not tell.

    `friction`: the coefficient that all contacts of the sensor have, or one for each tangent, (2,); NaN if they differ.
    Forces without contact are 0; distance, slip speed and friction use are then NaN.
    """
    signals = np.full((len(Signal), len(batch.found)), np.nan, np.float32)
    rows = dict(zip(Signal, signals, strict=True))
    rows[Signal.FOUND][:] = batch.found
    filled = batch.filled
    if batch.force is not None:
        total = _sum_slots(batch.force)
        rows[Signal.NORMAL][:], rows[Signal.TANGENT0][:], rows[Signal.TANGENT1][:] = total.T
        rows[Signal.MAGNITUDE][:] = _norm(_net_force(batch, total))
        limits = np.broadcast_to(np.asarray(friction, np.float64), (2,))
        if not batch.in_world_frame and not np.isnan(limits).any():
            _worst(rows[Signal.USE], friction_use(batch.force, limits, cone), filled)
    if batch.in_world_frame:
        return signals
    if batch.dist is not None:
        _worst(rows[Signal.DISTANCE], -batch.dist, filled)
        np.negative(rows[Signal.DISTANCE], out=rows[Signal.DISTANCE])
    if batch.linvel is not None:
        _worst(rows[Signal.SLIP], slip_speed(batch), filled)
    return signals


def _net_force(batch: ContactBatch, total: Array) -> Array:
    """The net force, in any frame: only its length counts. The sum of components where directions are not told."""
    if batch.filled.shape[-1] == 1 or batch.in_world_frame:
        return total
    net_force = batch.net_force
    return total if net_force is None else net_force


def _sum_slots(values: Array) -> Array:
    """(n, slots, 3) to (n, 3). Adding slot by slot is several times faster than numpy's sum over a short axis."""
    total = values[:, 0].copy()
    for slot in range(1, values.shape[1]):
        total += values[:, slot]
    return total


def _norm(vectors: Array) -> Array:
    x, y, z = vectors.T
    return np.sqrt(x * x + y * y + z * z)


def _worst(out: NDArray[np.float32], values: Array, filled: NDArray[np.bool_]) -> None:
    """The largest value of the filled slots, (n, slots) to (n,); NaN without any."""
    known = np.where(filled, values, np.nan)
    out[:] = known[:, 0]
    for slot in range(1, known.shape[1]):
        np.fmax(out, known[:, slot], out=out)
