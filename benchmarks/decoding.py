"""Flat arrays to world forces, against a loop over contacts and against the least that any program does: a copy."""

from typing import Any

import numpy as np
from contact_viewer import ContactLayout
from numpy.typing import NDArray

from .measuring import OURS, Row, seconds, take_turns
from .run import Run

FIELDS, SLOTS = "found force pos normal tangent", 4
LOOP = "the documents' Python loop"
COPY = "copying the array (numpy)"

Arrays = NDArray[np.float32]


def decode_4096(run: Run) -> list[Row]:
    arrays, layout = _arrays(run), ContactLayout(FIELDS, SLOTS, style="motrix")
    ours = layout.decode(arrays).force_world
    assert ours is not None
    # The same work: forces of every contact in the world frame.
    np.testing.assert_allclose(ours, loop_forces(arrays), rtol=1e-3, atol=1e-3)
    works = {
        OURS: lambda: 1e3 * seconds(lambda: layout.decode(arrays).force_world, run.sized(50, 1)),
        LOOP: lambda: 1e3 * seconds(lambda: loop_forces(arrays)),
    }
    measured = take_turns(works, run.sized(7, 1))
    return [
        measured.row("decode-4096", f"{len(arrays)} x {layout.size} values to world forces", LOOP, "ms", goal=300.0)
    ]


def decode_limit(run: Run) -> list[Row]:
    arrays, layout = _arrays(run), ContactLayout(FIELDS, SLOTS, style="motrix")
    times = run.sized(200, 1)
    works = {
        OURS: lambda: 1e3 * seconds(lambda: layout.decode(arrays).force_world, times),
        COPY: lambda: 1e3 * seconds(arrays.copy, times),
    }
    measured = take_turns(works, run.sized(15, 1))
    return [
        measured.row("decode-limit", f"{len(arrays)} x {layout.size} values to world forces", COPY, "ms", goal=1 / 40)
    ]


def loop_forces(arrays: Arrays) -> Arrays:
    """Contact by contact, as the documents of MotrixSim read its arrays."""
    forces = np.zeros((len(arrays), SLOTS, 3), np.float32)
    for env, values in enumerate(arrays):
        for contact in range(int(values[0])):
            start = 1 + 12 * contact
            along_normal, along_tangent0, along_tangent1 = values[start : start + 3]
            normal = values[start + 6 : start + 9]
            tangent0 = values[start + 9 : start + 12]
            tangent1 = np.cross(normal, tangent0)
            forces[env, contact] = normal * along_normal + tangent0 * along_tangent0 + tangent1 * along_tangent1
    return forces


def _arrays(run: Run) -> Arrays:
    """What MotrixSim returns of a sensor in many environments, all slots filled."""
    count = run.sized(4096, 16)
    random = np.random.default_rng(0)
    slots: Any = random.normal(size=(count, SLOTS, 12))
    slots[..., 6:9] /= np.linalg.norm(slots[..., 6:9], axis=-1, keepdims=True)
    slots[..., 9:12] = np.cross(slots[..., 6:9], slots[..., 9:12])
    slots[..., 9:12] /= np.linalg.norm(slots[..., 9:12], axis=-1, keepdims=True)
    found = np.full((count, 1), SLOTS)
    return np.concatenate([found, slots.reshape(count, -1)], axis=1).astype(np.float32)
