"""Decoding inside what JAX compiles, vectorises and differentiates."""

import subprocess
import sys
from typing import Any

import numpy as np
import pytest
from contact_viewer import ContactBatch, ContactLayout
from contact_viewer.settings import Reduce

from ..array_libraries import Library
from .observations import LAYOUTS, close, observe, values


def check_gradient(function: Any, gradient: np.ndarray, at: np.ndarray) -> None:
    """Against differences, in some directions."""
    for seed in range(3):
        direction = np.random.default_rng(seed).normal(size=at.shape)
        step = 1e-6
        slope = (function(at + step * direction) - function(at - step * direction)) / (2 * step)
        assert (gradient * direction).sum() == pytest.approx(slope, rel=1e-5, abs=1e-6)


@pytest.mark.parametrize("layout", LAYOUTS, ids=range(len(LAYOUTS)))
def test_jax(layout: ContactLayout) -> None:
    jax: Any = Library("jax").load()
    array = jax.numpy.asarray(values(layout, 4))
    expected = observe(layout, np.asarray(array))
    vectors, force, batch = jax.jit(lambda array: observe(layout, array))(array)
    # A batch leaves what is compiled, and enters it.
    assert isinstance(batch, ContactBatch)
    assert (batch.in_world_frame, batch.frame_known) == (expected[2].in_world_frame, expected[2].frame_known)
    for given, right in zip((*vectors, force), (*expected[0], expected[1]), strict=True):
        close(given, right)
    close(jax.jit(lambda batch: batch.net_force)(batch), expected[2].net_force)
    close(jax.vmap(lambda array: layout.decode(array).net_force)(array), expected[2].net_force)
    close(jax.vmap(lambda batch: batch.net_force)(batch), expected[2].net_force)

    def strength(array: Any) -> Any:
        net: Any = layout.decode(array).net_force
        return (net**2).sum()

    check_gradient(lambda array: float(strength(array)), np.asarray(jax.grad(strength)(array)), np.asarray(array))


def test_empty_slots_do_not_spoil_a_gradient_of_jax() -> None:
    jax: Any = Library("jax").load()
    layout = ContactLayout("found force normal tangent", 2)
    empty = jax.numpy.zeros((3, layout.size))

    def strength(array: Any, reduce: Reduce) -> Any:
        magnitude: Any = layout.decode(array).force_magnitude(reduce)
        return magnitude.sum()

    for reduce in (Reduce.NONE, Reduce.MAXFORCE):
        assert np.isfinite(np.asarray(jax.grad(strength)(empty, reduce))).all()


def test_a_batch_seen_inside_a_transformation_stays_clean() -> None:
    jax: Any = Library("jax").load()
    layout = ContactLayout("found force normal tangent", 2)
    batch = layout.decode(jax.numpy.asarray(values(layout, 3)))
    jax.jit(lambda scale: batch.net_force * scale)(2.0)
    assert np.isfinite(np.asarray(batch.net_force)).all()


def test_libraries_are_not_imported_by_the_package() -> None:
    code = """
import sys, numpy, contact_viewer
from contact_viewer import ContactLayout, metrics
metrics.force(ContactLayout("force normal tangent", 2).decode(numpy.ones((3, 18))))
print(sorted({"torch", "jax", "array_api_strict", "mujoco"} & set(sys.modules)))
"""
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert done.stdout.strip() == "[]"
