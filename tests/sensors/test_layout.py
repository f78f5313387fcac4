"""Arrays to contacts: sizes, names, views, and physics as the judge of directions."""

import itertools
from typing import Any

import array_api_strict
import mujoco
import numpy as np
import pytest
from contact_viewer import ContactLayout
from contact_viewer.sensors.contacts import cross
from hypothesis import given
from hypothesis import strategies as st

FIELDS = ["found", "force", "torque", "dist", "pos", "normal", "tangent", "linvel", "angvel"]
REDUCES = ["none", "mindist", "maxforce", "netforce"]
BOX = """
<mujoco>
  <option gravity="{gravity}" timestep="0.002"/>
  <worldbody>
    <geom name="floor" type="plane" size="2 2 .1" friction="1.5"/>
    <body name="box" pos="0 0 .0999"><freejoint/><geom name="box" type="box" size=".1 .1 .1" mass="2"/></body>
  </worldbody>
  <sensor><contact name="c" {targets} data="{data}" num="{num}" reduce="{reduce}"/></sensor>
</mujoco>"""


def array_at_rest(targets: str, data: str, num: int, reduce: str, gravity: str = "1.3 -2.1 -9.81") -> np.ndarray:
    text = BOX.format(targets=targets, data=data, num=num, reduce=reduce, gravity=gravity)
    model = mujoco.MjModel.from_xml_string(text)
    state = mujoco.MjData(model)
    mujoco.mj_step(model, state, 2000)
    return np.array(state.sensordata)


@pytest.mark.parametrize("reduce", REDUCES)
@pytest.mark.parametrize("fields", [c for n in (1, 2, 7) for c in itertools.combinations(FIELDS[:7], n)])
def test_size_is_the_engines(fields: tuple[str, ...], reduce: str) -> None:
    text = BOX.format(
        targets='geom1="floor" geom2="box"', data=" ".join(fields), num=3, reduce=reduce, gravity="0 0 -9"
    )
    model = mujoco.MjModel.from_xml_string(text)
    layout = ContactLayout(fields, 3, reduce)
    assert layout.size == model.sensor_dim[0]
    assert len(layout.columns) == len(set(layout.columns)) == layout.size


@pytest.mark.parametrize("reduce", REDUCES)
@pytest.mark.parametrize(("targets", "sign"), [('geom1="floor" geom2="box"', 1), ('geom1="box" geom2="floor"', -1)])
@pytest.mark.parametrize("data", ["found force normal tangent", "force torque dist pos normal tangent"])
def test_net_force_is_the_weight(targets: str, sign: int, reduce: str, data: str) -> None:
    layout = ContactLayout(data, 8, reduce)
    batch = layout.decode(array_at_rest(targets, data, 8, reduce))
    weight = 2 * np.array([1.3, -2.1, -9.81])
    assert batch.net_force is not None
    # The force on object 2 holds the box against gravity, or is the box's weight on the floor.
    np.testing.assert_allclose(batch.net_force, -sign * weight, rtol=1e-4)


def test_tangent1_is_the_cross_product() -> None:
    data = "found force normal tangent"
    batch = ContactLayout(data, 4).decode(array_at_rest('geom1="floor" geom2="box"', data, 4, "none"))
    assert batch.normal is not None
    assert batch.tangent0 is not None
    assert batch.tangent1 is not None
    np.testing.assert_allclose(batch.tangent1, np.cross(batch.normal, batch.tangent0), atol=1e-15)


def test_found_exceeds_the_slots() -> None:
    data = "found force"
    layout = ContactLayout(data, 2)
    batch = layout.decode(array_at_rest('geom1="floor" geom2="box"', data, 2, "none"))
    assert batch.found == 4
    assert batch.filled.tolist() == [True, True]
    # The direction of a force is not in an array without normal and tangent.
    assert batch.force_world is None
    assert batch.net_force is None


@pytest.mark.parametrize("data", ["force normal", "force", "dist", "pos tangent"])
def test_arrays_without_found(data: str) -> None:
    layout = ContactLayout(data, 7)
    batch = layout.decode(array_at_rest('geom1="floor" geom2="box"', data, 7, "none"))
    assert batch.filled.tolist() == [True] * 4 + [False] * 3
    assert batch.found == 4


def test_netforce_fills_one_slot() -> None:
    data = "found force"
    batch = ContactLayout(data, 5, "netforce").decode(array_at_rest('geom1="floor" geom2="box"', data, 5, "netforce"))
    assert batch.found == 4
    assert batch.filled.tolist() == [True] + [False] * 4
    assert batch.net_force is not None
    np.testing.assert_allclose(batch.net_force, [-2.6, 4.2, 19.62], rtol=1e-4)


def test_interpolated_found_counts_as_filled() -> None:
    batch = ContactLayout("found force", 2).decode([0.5, 1, 2, 3, 0, 0, 0, 0])
    assert batch.found == 0.5
    assert batch.filled.tolist() == [True, False]


@pytest.mark.parametrize("shape", [(), (5,), (2, 5), (0,)])
@pytest.mark.parametrize("dtype", [np.float32, np.float64])
def test_batch_dimensions_and_views(shape: tuple[int, ...], dtype: type) -> None:
    layout = ContactLayout(FIELDS, 4)
    array: Any = np.random.default_rng(1).normal(size=(*shape, layout.size)).astype(dtype)
    batch = layout.decode(array)
    assert batch.found.shape == shape
    assert batch.filled.shape == (*shape, 4)
    assert batch.dist is not None
    assert batch.dist.shape == (*shape, 4)
    for name in ("force", "torque", "pos", "normal", "tangent0", "linvel", "angvel"):
        field = getattr(batch, name)
        assert field.shape == (*shape, 4, 3)
        assert field.base is not None
        assert not array.size or np.shares_memory(field, array)
    assert batch.force_world is not None
    assert batch.force_world.dtype == dtype
    assert batch.net_force is not None
    assert batch.net_force.shape == (*shape, 3)


def test_each_environment_is_decoded_alone() -> None:
    layout = ContactLayout("found force pos normal tangent", 4)
    array = np.random.default_rng(2).normal(size=(3, 6, layout.size))
    whole = layout.decode(array)
    for index in np.ndindex(3, 6):
        single = layout.decode(array[index])
        assert whole.force_world is not None
        assert single.force_world is not None
        np.testing.assert_array_equal(whole.force_world[index], single.force_world)


def test_strided_arrays_are_not_copied() -> None:
    layout = ContactLayout("found force", 2)
    array = np.zeros((3, 2 * layout.size))[:, ::2]
    assert np.shares_memory(layout.decode(array).force, array)


def test_names_say_slot_field_and_axis() -> None:
    assert ContactLayout("found force pos", 2).columns == (
        "slot0.found",
        "slot0.force.normal",
        "slot0.force.tangent0",
        "slot0.force.tangent1",
        "slot0.pos.x",
        "slot0.pos.y",
        "slot0.pos.z",
        "slot1.found",
        "slot1.force.normal",
        "slot1.force.tangent0",
        "slot1.force.tangent1",
        "slot1.pos.x",
        "slot1.pos.y",
        "slot1.pos.z",
    )
    assert ContactLayout("force", 1, "netforce").columns == (
        "slot0.force.x",
        "slot0.force.y",
        "slot0.force.z",
    )


def test_fields_take_the_arrays_order() -> None:
    assert ContactLayout("tangent force found", 1).fields == ("found", "force", "tangent")


@pytest.mark.parametrize(
    ("arguments", "words"),
    [
        (("found fource", 1), "unknown field 'fource'"),
        (("", 1), "at least one field"),
        (("found", 0), "at least 1"),
        (("found", 1.5), "whole number"),
        (("found", 1, "max"), "unknown reduce mode 'max'"),
        (("found", 1, "none", "isaac"), "unknown style 'isaac'"),
    ],
)
def test_bad_layouts_are_named(arguments: Any, words: str) -> None:
    with pytest.raises(ValueError, match=words):
        ContactLayout(*arguments)


def test_a_wrong_length_names_both() -> None:
    with pytest.raises(ValueError, match=r"length 7.*length 8"):
        ContactLayout("found force", 2).decode(np.zeros((3, 7)))
    with pytest.raises(ValueError, match="single number"):
        ContactLayout("found", 1).decode(3.0)


@pytest.mark.parametrize("array", [["a"], [1j], [None]])
def test_a_wrong_type_is_refused(array: Any) -> None:
    with pytest.raises(TypeError, match="real numbers"):
        ContactLayout("found", 1).decode(array)


@given(
    fields=st.sets(st.sampled_from(FIELDS), min_size=1),
    slots=st.integers(1, 6),
    reduce=st.sampled_from(REDUCES),
    environments=st.integers(0, 3),
    seed=st.integers(0, 2**32 - 1),
)
def test_encode_is_the_inverse_of_decode(
    fields: set[str], slots: int, reduce: str, environments: int, seed: int
) -> None:
    layout = ContactLayout(fields, slots, reduce)
    rng = np.random.default_rng(seed)
    array = rng.normal(size=(environments, slots, layout.slot_size))
    filled = rng.integers(0, slots + 1, size=environments)[:, np.newaxis] > np.arange(slots)
    array[~filled] = 0
    if "found" in fields:
        array[..., 0] = np.where(filled, slots + 2, 0)
    array = array.reshape(environments, layout.size)
    np.testing.assert_array_equal(layout.encode(layout.decode(array)), array)


@pytest.mark.parametrize("shape", [(3,), (200, 3), (4096, 2, 3)])
@pytest.mark.parametrize("library", [np, array_api_strict])
def test_cross_products_are_those_of_numpy(shape: tuple[int, ...], library: Any) -> None:
    a, b = np.random.default_rng(1).normal(size=(2, *shape))
    product = cross(library.asarray(a), library.asarray(b))
    np.testing.assert_allclose(np.asarray(product), np.cross(a, b), rtol=0, atol=1e-12)


def test_cross_products_of_single_and_double_precision_have_the_better_one() -> None:
    axes, arm = np.eye(3, dtype=np.float32), np.array([0.1, 0.2, 0.3])
    for a, b in ((axes, arm), (arm, axes)):
        product = cross(a, b)
        assert product.dtype == np.float64
        np.testing.assert_array_equal(product, np.cross(a, b))


@pytest.mark.parametrize(
    ("values", "words"), [(np.zeros(7), "length 7"), (np.zeros((2, 9)), "length 9"), (np.array(1.0), "a single number")]
)
def test_an_array_of_another_length_is_named_by_it(values: Any, words: str) -> None:
    with pytest.raises(ValueError, match=words):
        ContactLayout("found force", slots=2).decode(values)
