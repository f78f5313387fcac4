"""Decoding inside what torch compiles, vectorises and differentiates: `make test-torch` runs it."""

from typing import Any

import numpy as np
import pytest
from contact_viewer import ContactBatch, ContactLayout, metrics
from contact_viewer.settings import Reduce

from ..array_libraries import NAMES, Library
from .observations import LAYOUTS, close, observe, values

if "torch" not in NAMES:
    pytest.skip("torch has an environment of its own: make test-torch", allow_module_level=True)


@pytest.mark.parametrize("layout", LAYOUTS, ids=range(len(LAYOUTS)))
def test_torch(layout: ContactLayout) -> None:
    torch: Any = Library("torch").load()
    array = torch.tensor(values(layout, 4), requires_grad=True)
    expected = observe(layout, array.detach().numpy())
    # `eager` compiles the graph and not the code: that the graph is whole is what can go wrong.
    compiled = torch.compile(lambda array: observe(layout, array), fullgraph=True, backend="eager")
    vectors, force, batch = compiled(array)
    assert isinstance(batch, ContactBatch)
    assert force.requires_grad
    for given, right in zip((*vectors, force), (*expected[0], expected[1]), strict=True):
        close(given.detach(), right)
    inner = torch.compile(lambda batch: batch.net_force, fullgraph=True, backend="eager")
    close(inner(batch).detach(), expected[2].net_force)
    rows = array.detach()
    close(torch.vmap(lambda array: layout.decode(array).net_force)(rows), expected[2].net_force)
    batches = torch.vmap(layout.decode)(rows)
    close(torch.vmap(lambda batch: batch.net_force)(batches), expected[2].net_force)
    one = rows[:1].clone().requires_grad_()
    assert torch.autograd.gradcheck(lambda array: layout.decode(array).net_force, (one,))
    assert torch.autograd.gradcheck(lambda array: metrics.force(layout.decode(array), layout.reduce), (one,))


@pytest.mark.timeout(400)
def test_torch_compiles_to_code() -> None:
    torch: Any = Library("torch").load()
    layout = LAYOUTS[0]
    array = torch.tensor(values(layout, 64), dtype=torch.float32)
    compiled = torch.compile(lambda array: layout.decode(array).net_force, fullgraph=True)
    expected: Any = layout.decode(array.numpy()).net_force
    np.testing.assert_allclose(compiled(array), expected, rtol=1e-4, atol=1e-4)


@pytest.mark.parametrize("layout", LAYOUTS, ids=range(len(LAYOUTS)))
def test_torch_never_asks_a_device_for_values(layout: ContactLayout) -> None:
    """Tensors of the meta device have none."""
    torch: Any = Library("torch").load()
    for dtype in (torch.float32, torch.bfloat16):
        array = torch.zeros((5, layout.size), dtype=dtype, device="meta")
        vectors, force, batch = observe(layout, array)
        for given in (*vectors, force, batch.force, batch.at(2).pos, batch.cut(0, 1).force):
            assert given is None or (given.device.type, given.dtype) == ("meta", dtype)
        assert batch.filled.device.type == "meta"
        contact = metrics.in_contact(force, min_steps=2)
        times = metrics.contact_times(contact, 0.002, like=force)
        for given in (times.air_time, times.duty_factor, metrics.peak(force), metrics.dropped(batch)):
            assert (given.device.type, given.dtype) == ("meta", dtype)


def test_empty_slots_do_not_spoil_a_gradient_of_torch() -> None:
    torch: Any = Library("torch").load()
    layout = ContactLayout("found force normal tangent", 2)
    empty = torch.zeros((3, layout.size), requires_grad=True)
    magnitude: Any = layout.decode(empty).force_magnitude(Reduce.MAXFORCE)
    magnitude.sum().backward()
    assert torch.isfinite(empty.grad).all()
