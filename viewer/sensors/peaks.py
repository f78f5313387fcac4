"""Contacts of many steps to the few that stand for them in one picture."""

from dataclasses import replace

import numpy as np

from .contacts import Array, ContactBatch


def peak(batch: ContactBatch) -> ContactBatch:
    """The contacts of the step in which a sensor is pressed hardest, (slots, ...).

    All of one step, so that positions, directions and forces belong together. The last step of equals; the last of
    all where nothing touches, or where no forces are known and the number of contacts is the same.
    """
    strength = batch.found if batch.force is None else np.sqrt(np.square(batch.force).sum(axis=-1)).sum(axis=-1)
    step = len(strength) - 1 - int(np.argmax(strength[::-1]))
    return batch.at(step)


def mean(batch: ContactBatch) -> ContactBatch:
    """The mean over the steps, (slots, ...): what would press as much all the time.

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
        averaged["pos"] = _weighted(batch.pos, _weights(batch))
    return replace(newest, found=batch.found.mean(axis=0), filled=touched, **averaged)


def _weights(batch: ContactBatch) -> Array:
    """How much each step counts for the position of a slot, (n, slots)."""
    filled = batch.filled.astype(np.float64)
    if batch.force is None:
        return filled
    strength = filled * np.sqrt(np.square(batch.force).sum(axis=-1))
    # Contacts that never press count alike.
    return np.where(strength.any(axis=0), strength, filled)


def _weighted(values: Array, weights: Array) -> Array:
    total = weights.sum(axis=0)[:, np.newaxis]
    return (values * weights[..., np.newaxis]).sum(axis=0) / np.where(total > 0, total, 1.0)


def _each_slot(batch: ContactBatch, steps: Array) -> ContactBatch:
    """Each slot as it is in a step of its own, (slots, ...)."""
    slots = np.arange(batch.filled.shape[1])
    arrays = {
        name: getattr(batch, name)[steps, slots]
        for name in ("filled", "force", "torque", "dist", "pos", "normal", "tangent0", "linvel", "angvel")
        if getattr(batch, name) is not None
    }
    return replace(batch, found=batch.found[-1], **arrays)
