"""Decoding without loops, against the loop of the manual."""

import gc
import sys
import time
from typing import Any

import numpy as np
import pytest
from contact_viewer import ContactLayout

STYLES = ["mujoco", "motrix", "documented"]


def seed_loop(contact_data: np.ndarray) -> list[tuple[Any, ...]]:
    """What the manual's own demo draws: the sphere's place and the ends of its three arrows."""
    draws = []
    num_contacts = int(contact_data[0])
    for i in range(num_contacts):
        offset = 1 + i * 12
        force_normal_mag = contact_data[offset + 0]
        force_tangent0_mag = contact_data[offset + 1]
        force_tangent1_mag = contact_data[offset + 2]
        contact_pos = contact_data[offset + 3 : offset + 6]
        normal = contact_data[offset + 6 : offset + 9]
        tangent0 = contact_data[offset + 9 : offset + 12]
        tangent1 = np.cross(normal, tangent0)
        force_scale = 0.01
        normal_force_end = contact_pos + normal * force_normal_mag * force_scale
        tangent0_force_end = contact_pos + tangent0 * force_tangent0_mag * force_scale
        tangent1_force_end = contact_pos + tangent1 * force_tangent1_mag * force_scale
        draws.append((contact_pos, normal_force_end, tangent0_force_end, tangent1_force_end))
    return draws


def many_arrays(count: int) -> np.ndarray:
    layout = ContactLayout("found force pos normal tangent", 4, style="documented")
    rng = np.random.default_rng(4)
    arrays = rng.normal(size=(count, layout.size)).astype(np.float32)
    arrays[:, 0] = 4
    return arrays


@pytest.mark.alone
def test_decoding_is_300_times_faster_than_the_documents_loop() -> None:
    layout = ContactLayout("found force pos normal tangent", 4, style="documented")
    arrays = many_arrays(4096)

    def decode() -> float:
        start = time.thread_time()
        batch = layout.decode(arrays)
        assert batch.force_world is not None
        return time.thread_time() - start

    ours = min(decode() for _ in range(20))
    start = time.thread_time()
    drawn = [seed_loop(array) for array in arrays]
    theirs = time.thread_time() - start
    assert sum(map(len, drawn)) == 4096 * 4
    assert theirs / ours >= 300


@pytest.mark.parametrize("style", STYLES)
@pytest.mark.parametrize("order", ["native", "reversed"])
def test_no_python_loop_over_environments_or_slots(style: str, order: str) -> None:
    def calls(environments: int, slots: int) -> int:
        layout = ContactLayout(
            "found force pos normal tangent", slots, style=style, pair_order=order if style == "motrix" else "native"
        )
        array = np.zeros((environments, layout.size))
        layout.decode(array)  # What is cached a layout is not counted.
        count = 0

        def profile(*_: Any) -> None:
            nonlocal count
            count += 1

        # Other libraries have functions of their own called when garbage is collected.
        gc.disable()
        sys.setprofile(profile)
        try:
            batch = layout.decode(array)
            batch.force_world  # noqa: B018
            batch.net_force  # noqa: B018
        finally:
            sys.setprofile(None)
            gc.enable()
        return count

    # Large batches are turned into the world in another way than small ones.
    assert calls(4096, 16) == calls(64, 1)
    assert calls(63, 16) == calls(1, 1)
