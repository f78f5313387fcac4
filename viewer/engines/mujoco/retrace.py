"""Turns what a history keeps of a run into the states of all its steps, beside the engine that took them."""

import copy
from collections.abc import Iterator, Sequence

import mujoco
import numpy as np
from numpy.typing import NDArray

from ...mjmodel.state_log import INPUTS, Values, places, state_parts
from ...mjmodel.types import MjModel
from ..abilities import KeptSpan, Retraced
from .model_versions import ModelVersions
from .sensor_reader import SensorReader
from .states import States

_BLOCK_BYTES = 2**24
"""Memory of a block of states."""


def retrace(
    model: MjModel, reader: SensorReader, spans: Sequence[KeptSpan], versions: ModelVersions | None = None
) -> Retraced:
    """Take steps again with a copy of a reader's model, which nobody else changes, while the blocks are read."""
    states = np.stack([span.state for span in spans])
    numbers = [] if versions is None else sorted({int(number) for number in states[:, -1]})
    changes = versions is not None and (len(numbers) > 1 or numbers != [versions.current])
    if versions is not None and not changes:
        states = states[:, :-1]
    kept = {number: versions.content(number) for number in numbers if versions.knows(number)} if versions else {}
    # Inputs but for the controls change only where a state is kept, and what moves nearly always does.
    fixed = np.append(places(model, *INPUTS[1:]), [states.shape[1] - 1] if changes else []).astype(np.intp)
    constant = np.zeros(states.shape[1], bool)
    constant[fixed] = (states[:, fixed] == states[0, fixed]).all(axis=0)
    columns = np.flatnonzero(~constant)
    stepped = model if versions is None else copy.deepcopy(model)
    if versions is not None:
        current, versions = versions.current, versions.for_model(stepped)
        versions.current = current
    blocks = _blocks(stepped, spans, columns, versions)
    number = versions.current if versions is not None else 0
    return Retraced(
        model, reader.companions, reader.hidden, columns, states[0], blocks, kept if changes else {}, number
    )


def _blocks(
    model: MjModel, spans: Sequence[KeptSpan], columns: NDArray[np.intp], versions: ModelVersions | None
) -> Iterator[Values]:
    size = max(1, _BLOCK_BYTES // (8 * max(len(columns), 1)))
    block = np.empty((size, len(columns)))
    count = 0
    for state in _states(model, spans, versions):
        block[count] = state[columns]
        count += 1
        if count == size:
            yield block
            count = 0
    if count:
        yield block[:count]


def _states(model: MjModel, spans: Sequence[KeptSpan], versions: ModelVersions | None) -> Iterator[Values]:
    """Each state from which a step starts, and the last; the array is written again for the next one."""
    data = mujoco.MjData(model)
    states = States(model, data, versions)
    now = np.empty(states.size)
    controls = state_parts(model)["ctrl"]
    moved = places(model, "time", "qpos", "qvel", "act", "history", "plugin_state", "plastic")
    for number, span in enumerate(spans):
        if number:
            states.save(now)
            if span.from_itself or now[moved].tobytes() != span.state[moved].tobytes():
                # Where the last step has led, before something was moved by hand.
                yield now
        start = span.state
        if span.inputs is not None:
            start = start.copy()
            start[controls] = span.inputs[0]
        states.restore(start)
        if span.from_itself:
            continue
        for step in range(span.count):
            if span.inputs is not None:
                data.ctrl[:] = span.inputs[step]
            states.save(now)
            yield now
            mujoco.mj_step(model, data)
    states.save(now)
    yield now
