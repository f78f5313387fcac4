"""Arrays of numpy, array-api-strict, JAX and torch: decoded where they live, with physics and numpy as judges."""

from typing import Any

import numpy as np
import pytest
from contact_viewer import ContactBatch, ContactLayout
from contact_viewer.sensors.friction import Cone, friction_use, slip_speed
from contact_viewer.sensors.motrix_frames import complete_net
from contact_viewer.settings import Reduce

from ..array_libraries import TOLERANCES, Library, assert_close, each_library, each_type
from .boxes import FIELDS, GRAVITY, MASS, REDUCES, falling_box, motrix_arrays

ARRAYS = ("found", "filled", "force", "torque", "dist", "pos", "normal", "tangent0", "linvel", "angvel")
PROPERTIES = ("tangent1", "force_world", "torque_world", "net_force")
STYLES = ("mujoco", "motrix", "documented")


def random_arrays(layout: ContactLayout, *shape: int) -> np.ndarray:
    """Arrays of any values, with `found` of the contacts that are there."""
    rng = np.random.default_rng(1)
    slots = rng.normal(size=(*shape, layout.slots, layout.slot_size))
    count = rng.integers(0, layout.slots + 3, size=shape)
    filled = np.arange(layout.slots) < count[..., np.newaxis]
    slots[~filled] = 0
    if "found" in layout.slot_fields:
        slots[..., 0] = np.where(filled, count[..., np.newaxis], 0)
    flat = slots.reshape(*shape, -1)
    return np.concatenate([count[..., np.newaxis], flat], axis=-1) if layout.head_size else flat


def layouts(style: str, reduce: str) -> list[ContactLayout]:
    """All fields, and some."""
    fields = FIELDS if style == "mujoco" else FIELDS.removesuffix(" linvel angvel")
    partial = {"none": "force normal tangent", "mindist": "dist", "maxforce": "pos tangent", "netforce": "found force"}
    # The order of pairs makes no difference between the modes that report single contacts.
    orders = ("native", "reversed", "mixed") if style == "motrix" and reduce in ("none", "netforce") else ("native",)
    return [
        *(ContactLayout(fields, 3, reduce, style, order) for order in orders),
        ContactLayout(partial[reduce], 3, reduce, style),
    ]


def everything(batch: ContactBatch) -> dict[str, Any]:
    """A batch's arrays, and all that is derived of them; what is None is left out."""
    found = {name: getattr(batch, name) for name in (*ARRAYS, *PROPERTIES)}
    found |= {mode: batch.force_magnitude(mode) for mode in Reduce}
    return {name: value for name, value in found.items() if value is not None}


@pytest.mark.parametrize("reduce", REDUCES)
@each_type
def test_forces_are_those_that_mujoco_applied(library: Library, dtype: str, reduce: str) -> None:
    recorded = falling_box(reduce)
    arrays = library.array(recorded.arrays.reshape(3, 100, -1), dtype)
    net = library.run(lambda arrays: recorded.layout.decode(arrays).net_force, arrays)
    library.check(net, dtype)
    assert_close(library, net, recorded.net.reshape(3, 100, 3), dtype)
    assert_close(library, net[-1, -1, ...], -MASS * GRAVITY, dtype, scale=1e4 * MASS if dtype == "float64" else None)


@pytest.mark.parametrize("reduce", REDUCES)
@pytest.mark.parametrize("second", ["box", "floor"])
@each_library
def test_forces_of_motrixsims_arrays_bear_the_weight(library: Library, second: str, reduce: str) -> None:
    recorded = motrix_arrays()[reduce, second]
    array = library.array(recorded.arrays, "float32")
    net = library.run(lambda array: recorded.layout.decode(array).net_force, array)
    np.testing.assert_allclose(library.numpy(net), recorded.net, rtol=2e-3)


@pytest.mark.parametrize("reduce", REDUCES)
@pytest.mark.parametrize("style", STYLES)
@each_type
def test_everything_equals_numpys(library: Library, dtype: str, style: str, reduce: str) -> None:
    for layout, shape in zip(layouts(style, reduce), ((2, 70), (5,), (), (4,)), strict=False):
        array = library.array(random_arrays(layout, *shape), dtype)
        derived = library.run(lambda array, layout=layout: everything(layout.decode(array)), array)
        batch = layout.decode(library.numpy(array).astype(np.float64))
        expected = everything(batch)
        assert derived.keys() == expected.keys()
        for name, value in derived.items():
            assert str(value.dtype).split(".")[-1] == ("bool" if name == "filled" else dtype)
            assert_close(library, value, expected[name], dtype)


@pytest.mark.parametrize("reduce", REDUCES)
@pytest.mark.parametrize("style", STYLES)
@each_type
def test_encode_is_the_inverse(library: Library, dtype: str, style: str, reduce: str) -> None:
    for layout in layouts(style, reduce):
        if layout.frame == "mean contact" or layout.pair_order == "mixed":
            continue
        array = library.array(random_arrays(layout, 4), dtype)
        again = library.run(lambda array, layout=layout: layout.encode(layout.decode(array)), array)
        library.check(again, dtype)
        expected = library.numpy(array).copy()
        if style == "documented":
            expected[:, 0] = np.minimum(expected[:, 0], layout.slots)
        np.testing.assert_array_equal(library.numpy(again), expected)


@each_library
def test_encode_pads_and_refuses(library: Library) -> None:
    narrow, wide = ContactLayout("found force", 2), ContactLayout("found force", 5, style="motrix")
    array = library.array([[2.0, 1, 2, 3, 2, 4, 5, 6]])
    padded = library.numpy(wide.encode(narrow.decode(array)))
    np.testing.assert_array_equal(padded, [[2, 1, 2, 3, 4, 5, 6, *[0] * 9]])
    with pytest.raises(ValueError, match="slots"):
        ContactLayout("found force", 1).encode(narrow.decode(array))
    cut = narrow.decode(array).cut(0, 1)
    np.testing.assert_array_equal(library.numpy(ContactLayout("found force", 1).encode(cut)), [[2, 1, 2, 3]])
    with pytest.raises(ValueError, match="no pos"):
        ContactLayout("found pos", 2).encode(narrow.decode(array))


@each_library
def test_parts_of_batches(library: Library) -> None:
    layout = ContactLayout("found force normal tangent", 3)
    array = random_arrays(layout, 6)
    batch = layout.decode(library.array(array))
    expected = layout.decode(array)
    assert_close(library, batch.at(2).net_force, expected.at(2).net_force)
    assert_close(library, batch.cut(1, 3).force, expected.cut(1, 3).force)
    stacked = ContactBatch.stack([batch, batch])
    assert tuple(stacked.force.shape) == (6, 2, 3, 3)  # type: ignore[union-attr]
    assert_close(library, stacked.at(4).at(1).net_force, expected.at(4).net_force)
    whole, part = ContactLayout("found force pos", 2), ContactLayout("pos", 1)
    row = library.array(np.arange(14.0))
    np.testing.assert_array_equal(library.numpy(whole.take(row, part)), [4, 5, 6])


@each_library
def test_fields_are_views(library: Library) -> None:
    layout = ContactLayout(FIELDS, 4)
    array = library.array(random_arrays(layout, 8))
    batch = layout.decode(array)
    for name in ARRAYS[2:]:
        field = getattr(batch, name)
        if library.name == "torch":
            assert field.untyped_storage().data_ptr() == array.untyped_storage().data_ptr()
        elif library.name == "array_api_strict":
            assert np.shares_memory(field._array, array._array)
        elif library.name == "numpy":
            assert np.shares_memory(field, array)


@each_library
def test_wrong_arrays_are_named_alike(library: Library) -> None:
    layout = ContactLayout("found force", 2)
    for dtype in ("int32", "int64", "bool"):
        with pytest.raises(TypeError, match="real numbers, not"):
            layout.decode(library.array(np.zeros(8), dtype))
    with pytest.raises(ValueError, match=r"got an array of length 7, but 2 slot\(s\) of 'found force' .* length 8"):
        layout.decode(library.array(np.zeros((3, 7))))
    with pytest.raises(ValueError, match="a single number"):
        layout.decode(library.array(1.0))


@each_type
def test_friction_use(library: Library, dtype: str) -> None:
    """A box that rests under a sideways pull uses |ft| / (mu fn) of its friction; what is not known is NaN."""
    recorded = falling_box("none")
    force = recorded.layout.decode(recorded.arrays[-1]).force
    assert force is not None
    total = force.sum(axis=0)
    use = friction_use(library.array(total, dtype), 1.5, Cone.ELLIPTIC)
    library.check(use, dtype)
    sideways = np.hypot(*GRAVITY[:2]) / (1.5 * 9.81)
    np.testing.assert_allclose(library.numpy(use), sideways, rtol=max(1e-3, TOLERANCES[dtype]))
    forces = np.array([[10.0, 3, -4], [10, 5, 5], [0, 1, 0], [-1, 1, 0], [5, 1, 1]])
    friction = [[0.5, 0.5], [1.0, 0.5], [1, 1], [1, 1], [0, 0]]
    for cone in Cone:
        given = library.run(
            lambda forces, cone=cone: friction_use(forces, friction, cone), library.array(forces, dtype)
        )
        assert_close(library, given, friction_use(forces, friction, cone), dtype)
        tensors = library.array(forces, dtype), library.array(friction, dtype)
        tensor = library.run(lambda forces, limits, cone=cone: friction_use(forces, limits, cone, 1.0), *tensors)
        assert_close(library, tensor, friction_use(forces, friction, cone, 1.0), dtype)


@each_type
def test_slip_speed_and_motrixsims_sums(library: Library, dtype: str) -> None:
    layout = ContactLayout(FIELDS, 3)
    array = random_arrays(layout, 4)
    given = library.run(lambda array: slip_speed(layout.decode(array)), library.array(array, dtype))
    assert_close(library, given, slip_speed(layout.decode(array)), dtype)
    fields = FIELDS.removesuffix(" linvel angvel")
    net, single = ContactLayout(fields, 1, "netforce", "motrix"), ContactLayout(fields, 3, style="motrix")
    sums, contacts = random_arrays(net, 5), random_arrays(single, 5)
    contacts[:, 0] = [0, 1, 3, 3, 9]
    sums[2, 1:4] = np.nan

    def complete(sums: Any, contacts: Any) -> list[Any]:
        batch = complete_net(net.decode(sums), single.decode(contacts))
        return [batch.force, batch.torque, batch.normal, batch.tangent0]

    completed = library.run(complete, library.array(sums, dtype), library.array(contacts, dtype))
    for given, expected in zip(completed, complete(sums, contacts), strict=True):
        assert_close(library, given, expected, dtype)


@each_library
def test_slots_that_do_not_touch_are_known(library: Library) -> None:
    """MJX reports such with reduce none: found, a positive distance, no force."""
    layout = ContactLayout("found force dist", 4)
    slots = [[1.0, 5, 0, 0, -0.01], [1, 0, 0, 0, 0.63], [1, 0, 0, 0, -1e-6], [0, 0, 0, 0, 0]]
    batch = layout.decode(library.array(np.array(slots).ravel()))
    assert np.asarray(batch.apart).tolist() == [False, True, False, False]
    # Without distances nothing is known of it.
    partial = ContactLayout("found force", 1).decode(library.array([1.0, 0, 0, 0]))
    assert not np.asarray(partial.apart).any()
