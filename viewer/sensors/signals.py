"""Turns the contacts of many steps into curves to plot."""

from dataclasses import replace
from enum import StrEnum

import numpy as np
from numpy.typing import ArrayLike, NDArray

from .contacts import Array, ContactBatch, turn
from .friction import Cone, friction_use


class Signal(StrEnum):
    """Number per step of a sensor: a sum of forces over its contacts, or the worst value of another quantity."""

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

    @property
    def least_range(self) -> float:
        """Least length of an axis of these values, in their unit: smaller values are noise of the solver."""
        return _LEAST_RANGES[self.unit]

    def label(self, in_world_frame: bool) -> str:
        """Return the label of the signal; netforce has world axes where other sensors have normal and tangents."""
        return _WORLD_LABELS.get(self, self.value) if in_world_frame else self.value


_FORCES = (Signal.NORMAL, Signal.TANGENT0, Signal.TANGENT1)
_UNITS = {Signal.FOUND: "", Signal.DISTANCE: "m", Signal.SLIP: "m/s", Signal.USE: ""}
_LEAST_RANGES = {"N": 1e-4, "m/s": 1e-3, "m": 1e-5, "": 1.0}
_WORLD_LABELS = {Signal.NORMAL: "force x", Signal.TANGENT0: "force y", Signal.TANGENT1: "force z"}


def measure_signals(
    batch: ContactBatch, friction: ArrayLike = np.nan, cone: Cone = Cone.ELLIPTIC
) -> NDArray[np.float32]:
    """Return all signals of a batch, (len(Signal), ...), in their order; NaN where a sensor does not report them.

    `friction`: the coefficients along both tangents that all contacts of a sensor have, broadcast to (..., 2); NaN if
    they differ. Forces without contact are 0; distance, slip speed and friction use are then NaN.
    """
    shape = batch.found.shape
    signals = np.full((len(Signal), *shape), np.nan, np.float32)
    rows = dict(zip(Signal, signals.reshape(len(Signal), -1), strict=True))
    rows[Signal.FOUND][:] = batch.found.ravel()
    # Most places are empty most of the time: gather the contacts, work on them alone, and bring the results back.
    contacts = batch.filled.nonzero()
    owners = batch.filled.ravel().nonzero()[0] // batch.filled.shape[-1]
    # Contacts with one owner follow each other.
    is_first = np.ones(len(owners), bool)
    np.not_equal(owners[1:], owners[:-1], out=is_first[1:])
    starts = is_first.nonzero()[0]
    owners = owners[starts]

    def put_largest(signal: Signal, values: Array) -> None:
        rows[signal][owners] = np.fmax.reduceat(values, starts)

    if batch.force is not None:
        force = np.asarray(batch.force[contacts], np.float64)
        totals = net = np.add.reduceat(force, starts, axis=0)
        if not batch.in_world_frame and len(starts) < len(force):
            net = np.add.reduceat(_turned(batch, contacts, force), starts, axis=0)
        # Without contact 0, or NaN where forces are not known.
        idle = np.asarray(0.0 * batch.force[..., 0, 0], np.float64).reshape(rows[Signal.MAGNITUDE].shape)
        for signal, total in zip(_FORCES, totals.T, strict=True):
            rows[signal][:] = idle
            rows[signal][owners] = total
        rows[Signal.MAGNITUDE][:] = idle
        rows[Signal.MAGNITUDE][owners] = np.sqrt((net * net).sum(axis=1))
        if not batch.in_world_frame:
            limits = np.broadcast_to(np.asarray(friction, np.float64), (*shape, 2))[contacts[:-1]]
            put_largest(Signal.USE, friction_use(force, limits, cone))
    if not batch.in_world_frame and batch.dist is not None:
        rows[Signal.DISTANCE][owners] = np.fmin.reduceat(batch.dist[contacts], starts)
    if not batch.in_world_frame and batch.linvel is not None:
        _, along0, along1 = batch.linvel[contacts].T
        put_largest(Signal.SLIP, np.sqrt(along0 * along0 + along1 * along1))
    return signals


def _turned(batch: ContactBatch, contacts: tuple[NDArray[np.intp], ...], force: Array) -> Array:
    """Return the forces of some contacts in the world, (k, 3); unchanged where directions are not known."""
    if batch.normal is None or batch.tangent0 is None or not batch.frame_known:
        return force
    return turn(force, batch.normal[contacts], batch.tangent0[contacts])


def peak(batch: ContactBatch) -> ContactBatch:
    """Return the contacts of the step with the largest force of a sensor, (slots, ...).

    All are of one step, so that positions, directions and forces belong together. Of steps with equal forces it is the
    last; if no forces are known, it is the last step with the most contacts.
    """
    strength = batch.found if batch.force is None else np.sqrt(np.square(batch.force).sum(axis=-1)).sum(axis=-1)
    step = len(strength) - 1 - int(np.argmax(strength[::-1]))
    return batch.at(step)


def mean(batch: ContactBatch) -> ContactBatch:
    """Return contacts that are constant over the steps and have the same mean force, (slots, ...).

    The forces on object 2 are averaged as vectors in the world, over all steps, so that they sum to the mean net
    force; positions are weighted by the force. The frame of a slot is that of its last contact. Contacts that change
    places between slots from step to step are mixed.
    """
    touched = np.asarray(batch.filled.any(axis=0))
    last = len(batch.filled) - 1 - np.argmax(batch.filled[::-1], axis=0)
    newest = _each_slot(batch, last)
    axes = (newest.normal, newest.tangent0, newest.tangent1)
    known = not batch.in_world_frame and batch.frame_known and all(axis is not None for axis in axes)
    # Components without a known frame can only be averaged as they are.
    frames = np.stack([axis for axis in axes if axis is not None], axis=-2) if known else None
    averaged = {}
    for name, components in (("force", batch.force), ("torque", batch.torque)):
        if components is not None:
            vectors = components if frames is None else batch.to_world(components)
            assert vectors is not None
            total = np.where(batch.filled[..., np.newaxis], vectors, 0.0).mean(axis=0)
            averaged[name] = total if frames is None else np.einsum("sij,sj->si", frames, total)
    if batch.pos is not None:
        weights = _weights(batch)[..., np.newaxis]
        total = weights.sum(axis=0)
        averaged["pos"] = (batch.pos * weights).sum(axis=0) / np.where(total > 0, total, 1.0)
    return replace(newest, found=batch.found.mean(axis=0), filled=touched, **averaged)


def _weights(batch: ContactBatch) -> Array:
    """Return the weight of each step for the position of a slot, (n, slots)."""
    filled = batch.filled.astype(np.float64)
    if batch.force is None:
        return filled
    strength = filled * np.sqrt(np.square(batch.force).sum(axis=-1))
    # Contacts that never press count alike.
    return np.where(strength.any(axis=0), strength, filled)


def _each_slot(batch: ContactBatch, steps: Array) -> ContactBatch:
    """Return each slot at its own step, given by `steps`, (slots, ...); `found` stays that of all steps."""
    slots = np.arange(batch.filled.shape[1])
    return batch.mapped(lambda name, array: array if name == "found" else array[steps, slots])
