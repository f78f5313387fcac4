"""Contacts of many steps to the curves that a person looks at."""

from enum import StrEnum

import numpy as np
from numpy.typing import ArrayLike, NDArray

from .contacts import Array, ContactBatch, cross
from .friction import Cone, friction_use


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


_FORCES = (Signal.NORMAL, Signal.TANGENT0, Signal.TANGENT1)
_UNITS = {Signal.FOUND: "", Signal.DISTANCE: "m", Signal.SLIP: "m/s", Signal.USE: ""}
_WORLD_LABELS = {Signal.NORMAL: "force x", Signal.TANGENT0: "force y", Signal.TANGENT1: "force z"}


def measure_signals(
    batch: ContactBatch, friction: ArrayLike = np.nan, cone: Cone = Cone.ELLIPTIC
) -> NDArray[np.float32]:
    """All signals of a batch, (len(Signal), ...), in their order; NaN where a sensor does not tell.

    `friction`: the coefficients along both tangents that all contacts of a sensor have, broadcast to (..., 2); NaN if
    they differ. Forces without contact are 0; distance, slip speed and friction use are then NaN.
    """
    shape = batch.found.shape
    signals = np.full((len(Signal), *shape), np.nan, np.float32)
    rows = dict(zip(Signal, signals.reshape(len(Signal), -1), strict=True))
    rows[Signal.FOUND][:] = batch.found.ravel()
    # Most places are empty most of the time: gather the contacts, work on them alone, and bring the results back.
    slots = batch.filled.shape[-1]
    owners = np.flatnonzero(batch.filled) // slots
    if batch.force is not None:
        force = batch.force[batch.filled]
        net = force if batch.in_world_frame or slots == 1 else _turned(batch, force)
        squares = np.zeros(len(rows[Signal.FOUND]))
        for signal, total, component in zip(_FORCES, force.T, net.T, strict=True):
            rows[signal][:] = _sum(total, owners, len(squares))
            squares += np.square(_sum(component, owners, len(squares)))
        rows[Signal.MAGNITUDE][:] = np.sqrt(squares)
        if not batch.in_world_frame:
            limits = np.broadcast_to(np.asarray(friction, np.float64), (*shape, 2)).reshape(-1, 2)
            _put_largest(rows[Signal.USE], friction_use(force, limits[owners], cone), owners)
    if not batch.in_world_frame and batch.dist is not None:
        _put_largest(rows[Signal.DISTANCE], -batch.dist[batch.filled], owners)
        np.negative(rows[Signal.DISTANCE], out=rows[Signal.DISTANCE])
    if not batch.in_world_frame and batch.linvel is not None:
        _, along0, along1 = batch.linvel[batch.filled].T
        _put_largest(rows[Signal.SLIP], np.sqrt(along0 * along0 + along1 * along1), owners)
    return signals


def _turned(batch: ContactBatch, force: Array) -> Array:
    """Forces of the filled slots in the world, (k, 3); as they are where directions are not told."""
    if batch.normal is None or batch.tangent0 is None or not batch.frame_known:
        return force
    normal, tangent0 = batch.normal[batch.filled], batch.tangent0[batch.filled]
    return force[:, :1] * normal + force[:, 1:2] * tangent0 + force[:, 2:] * cross(normal, tangent0)


def _sum(values: Array, owners: NDArray[np.intp], count: int) -> NDArray[np.float64]:
    return np.asarray(np.bincount(owners, weights=values, minlength=count), np.float64)


def _put_largest(out: NDArray[np.float32], values: Array, owners: NDArray[np.intp]) -> None:
    """Set the places that own any values to the largest of them; owners are sorted."""
    if len(owners):
        starts = np.flatnonzero(np.diff(owners, prepend=-1))
        out[owners[starts]] = np.fmax.reduceat(values, starts)
