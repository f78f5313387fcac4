"""Arrays of MuJoCo's layout to world forces: numpy against version 0.1, all against a copy of the array."""

from functools import partial
from typing import Any

import numpy as np
from contact_viewer import ContactLayout

from .environments import NOT_INSTALLED, TORCH
from .measuring import OURS, Figure, Measured, Row, Unavailable, seconds, take_turns
from .run import Run

LAYOUT = ContactLayout("found force pos normal tangent", 4)
COPY = "copying the array (numpy)"
BEFORE = "the decoder of version 0.1"


def decode_numpy(run: Run) -> list[Row]:
    rows = []
    for arrays, times in _cases(run):
        ours, before = LAYOUT.decode(arrays).force_world, old_force_world(arrays)
        np.testing.assert_array_equal(ours, before)
        works = {
            OURS: partial(_milliseconds, lambda arrays=arrays: LAYOUT.decode(arrays).force_world, times),
            BEFORE: partial(_milliseconds, partial(old_force_world, arrays), times),
            COPY: partial(_milliseconds, arrays.copy, times),
        }
        measured = take_turns(works, run.sized(15, 1))
        case = f"numpy: {len(arrays)} x {LAYOUT.size} values to world forces"
        rows.append(measured.row("decode-numpy", case, BEFORE, "ms", goal=1 / 0.6))
        rows.append(measured.row("decode-numpy", case, COPY, "ms", goal=1 / 15))
    return rows


def decode_jax(run: Run) -> list[Row]:
    import jax

    rows, compiled = [], jax.jit(lambda arrays: LAYOUT.decode(arrays).force_world)
    for arrays, times in _cases(run):
        there = jax.numpy.asarray(arrays)
        expected: Any = LAYOUT.decode(arrays).force_world
        np.testing.assert_allclose(compiled(there), expected, rtol=1e-4, atol=1e-4)
        works = {
            OURS: partial(_milliseconds, lambda there=there: compiled(there).block_until_ready(), times),
            COPY: partial(_milliseconds, arrays.copy, times),
        }
        measured = take_turns(works, run.sized(15, 1))
        rows.append(measured.row("decode-jax", _case("jax.jit", arrays), COPY, "ms", goal=1 / 6))
    return rows


def decode_torch(run: Run) -> list[Row]:
    """In an environment of its own, that of `make test-torch`; no rows without it."""
    rows = []
    for arrays, times in _cases(run):
        try:
            found = run.environments.work(TORCH, "decode_torch.py", len(arrays), times, run.sized(15, 1))
        except Unavailable as reason:
            if str(reason) != NOT_INSTALLED:
                raise
            break
        measured = Measured({OURS: Figure(tuple(found["ours"])), COPY: Figure(tuple(found["copy"]))}, {})
        rows.append(measured.row("decode-torch", _case("torch.compile", arrays), COPY, "ms", goal=1 / 6))
    return rows


def old_force_world(arrays: np.ndarray) -> Any:
    """World forces as version 0.1 decoded them."""
    slots = arrays.reshape(*arrays.shape[:-1], LAYOUT.slots, LAYOUT.slot_size)
    force, normal, tangent0 = (slots[..., at : at + 3] for at in (1, 7, 10))
    world = force[..., 0:1] * normal
    world += force[..., 1:2] * tangent0
    tangent1 = np.empty(normal.shape, normal.dtype)
    nx, ny, nz = normal[..., 0], normal[..., 1], normal[..., 2]
    tx, ty, tz = tangent0[..., 0], tangent0[..., 1], tangent0[..., 2]
    np.subtract(ny * tz, nz * ty, out=tangent1[..., 0])
    np.subtract(nz * tx, nx * tz, out=tangent1[..., 1])
    np.subtract(nx * ty, ny * tx, out=tangent1[..., 2])
    world += force[..., 2:3] * tangent1
    return world


def make_arrays(count: int) -> Any:
    """What MuJoCo writes of a sensor in many environments, all slots filled."""
    slots = np.random.default_rng(0).normal(size=(count, LAYOUT.slots, LAYOUT.slot_size))
    slots[..., 0] = LAYOUT.slots
    return slots.reshape(count, -1).astype(np.float32)


def _cases(run: Run) -> list[tuple[Any, int]]:
    """Arrays, and how often to decode them for one figure."""
    return [(make_arrays(count), times) for count, times in run.sized([(4096, 100), (65536, 5)], [(64, 1)])]


def _case(what: str, arrays: Any) -> str:
    return f"{what}: {len(arrays)} x {LAYOUT.size} values to world forces"


def _milliseconds(work: Any, times: int) -> float:
    return 1e3 * seconds(work, times)
