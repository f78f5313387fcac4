"""The three styles of array: lengths, places, corrections, and the way from each to the others."""

import itertools
from typing import Any

import numpy as np
import pytest
from contact_viewer import ContactBatch, ContactLayout
from contact_viewer.sensors.layout import Field
from hypothesis import given
from hypothesis import strategies as st

FIELDS = ["found", "force", "torque", "dist", "pos", "normal", "tangent"]
VELOCITIES = ["linvel", "angvel"]
REDUCES = ["none", "mindist", "maxforce", "netforce"]
STYLES = ["mujoco", "motrix", "documented"]
ORDERS = ["native", "reversed", "mixed"]
SUBSETS = [subset for count in range(1, 8) for subset in itertools.combinations(FIELDS, count)]


def known(array: Any) -> np.ndarray:
    assert array is not None
    return np.asarray(array)


def values(fields: tuple[str, ...]) -> int:
    """Values per contact without `found`."""
    return sum({"found": 0, "dist": 1}.get(field, 3) for field in fields)


@pytest.mark.parametrize("num", [1, 2, 4, 7])
@pytest.mark.parametrize("reduce", REDUCES)
def test_lengths_follow_the_table(reduce: str, num: int) -> None:
    for fields in SUBSETS:
        s, f = values(fields), int("found" in fields)
        contacts = 1 if reduce == "netforce" else num
        assert ContactLayout(fields, num, reduce, "mujoco").size == num * (s + f)
        assert ContactLayout(fields, num, reduce, "motrix").size == f + contacts * s
        assert ContactLayout(fields, num, reduce, "documented").size == 1 + contacts * s


def test_every_value_of_the_documents_example_is_where_they_say() -> None:
    layout = ContactLayout("found force pos normal tangent", 4, style="documented")
    assert layout.size == 49
    names = layout.columns
    assert names[0] == "found"
    assert names[1:4] == ("slot0.force.normal", "slot0.force.tangent0", "slot0.force.tangent1")
    assert names[4:7] == ("slot0.pos.x", "slot0.pos.y", "slot0.pos.z")
    assert names[13:16] == ("slot1.force.normal", "slot1.force.tangent0", "slot1.force.tangent1")
    assert names[37:40] == ("slot3.force.normal", "slot3.force.tangent0", "slot3.force.tangent1")
    assert names[46:49] == ("slot3.tangent.x", "slot3.tangent.y", "slot3.tangent.z")


@pytest.mark.parametrize("style", STYLES)
@pytest.mark.parametrize("reduce", REDUCES)
def test_columns_are_as_many_as_values_and_all_different(reduce: str, style: str) -> None:
    for fields in SUBSETS:
        layout = ContactLayout(fields, 3, reduce, style)
        assert len(layout.columns) == len(set(layout.columns)) == layout.size


def test_documented_counts_whether_asked_or_not() -> None:
    assert ContactLayout("force", 1, "netforce", "documented") == ContactLayout(
        "found force", 1, "netforce", "documented"
    )
    batch = ContactLayout("force", 2, style="documented").decode([1, 5, 6, 7, 0, 0, 0])
    assert batch.found == 1
    assert batch.filled.tolist() == [True, False]


@pytest.mark.parametrize("style", ["motrix", "documented"])
@pytest.mark.parametrize("field", VELOCITIES)
def test_a_field_that_the_style_lacks_is_named(style: str, field: str) -> None:
    with pytest.raises(ValueError, match=f"{style} style has no {field}"):
        ContactLayout(["found", field], 1, "none", style)


def test_pair_order_belongs_to_motrix() -> None:
    with pytest.raises(ValueError, match="native order"):
        ContactLayout("force", 1, "none", "mujoco", "reversed")


def test_a_leading_count_beyond_the_slots_fills_them_all() -> None:
    batch = ContactLayout("found dist", 3, style="motrix").decode([7, -0.1, -0.2, -0.3])
    assert batch.found == 7
    assert batch.filled.tolist() == [True] * 3
    assert batch.dist is not None
    np.testing.assert_array_equal(batch.dist, [-0.1, -0.2, -0.3])


def test_only_a_count() -> None:
    layout = ContactLayout("found", 5, style="motrix")
    assert layout.size == 1
    batch = layout.decode(np.array([[0.0], [2.0], [9.0]]))
    assert batch.filled.sum(axis=1).tolist() == [0, 2, 5]
    np.testing.assert_array_equal(layout.encode(batch), [[0], [2], [9]])


@pytest.mark.parametrize("style", STYLES)
@pytest.mark.parametrize("shape", [(), (5,), (2, 5), (0,)])
def test_batch_dimensions(style: str, shape: tuple[int, ...]) -> None:
    layout = ContactLayout("found force pos normal tangent", 4, style=style)
    array = np.random.default_rng(1).normal(size=(*shape, layout.size)).astype(np.float32)
    batch = layout.decode(array)
    assert batch.found.shape == shape
    assert batch.filled.shape == (*shape, 4)
    assert batch.force_world is not None
    assert batch.force_world.shape == (*shape, 4, 3)
    assert batch.force_world.dtype == np.float32
    assert not array.size or np.shares_memory(known(batch.force), array)


@pytest.mark.parametrize("style", STYLES)
def test_a_wrong_length_names_both(style: str) -> None:
    layout = ContactLayout("found force pos", 3, style=style)
    with pytest.raises(ValueError, match=f"length 5.*{style} style have length {layout.size}"):
        layout.decode(np.zeros((2, 5)))


# What follows is made of vectors in the world, so that no formula of the decoder is its own judge.

NORMAL, TANGENT = np.array([0.0, 0.6, 0.8]), np.array([1.0, 0.0, 0.0])
BINORMAL = np.array([0.0, 0.8, -0.6])
FORCE = np.array([1.5, -2.0, 7.0])
"""A force on object 2, world."""
TORQUE = np.array([0.3, 0.4, -0.5])


def in_frame(vector: np.ndarray) -> list[float]:
    return [float(vector @ axis) for axis in (NORMAL, TANGENT, BINORMAL)]


def test_the_frame_of_these_tests_is_right_handed() -> None:
    np.testing.assert_allclose(np.cross(NORMAL, TANGENT), BINORMAL)


@pytest.mark.parametrize("style", STYLES)
def test_contact_frames_are_turned_into_the_world(style: str) -> None:
    layout = ContactLayout("force normal tangent", 1, style=style)
    row = [*in_frame(FORCE), *NORMAL, *TANGENT]
    batch = layout.decode([1, *row] if style == "documented" else row)
    np.testing.assert_allclose(known(batch.force_world), [FORCE])


def test_a_reversed_pair_has_its_third_component_negated() -> None:
    # Reversed, the engine turns normal and tangent; on the turned frame the same components mean the opposite force.
    row = [*in_frame(FORCE), *-NORMAL, *-TANGENT]
    batch = ContactLayout("force normal tangent", 1, "none", "motrix", "reversed").decode(row)
    np.testing.assert_allclose(known(batch.force_world), [-FORCE])
    assert batch.force is not None
    np.testing.assert_allclose(batch.force[0], [FORCE @ NORMAL, FORCE @ TANGENT, -FORCE @ BINORMAL])


def test_motrix_netforce_is_along_its_own_normal_and_tangent() -> None:
    row = [4, *in_frame(FORCE), *in_frame(TORQUE), *NORMAL, *TANGENT]
    for order, sign in (("native", 1), ("reversed", -1)):
        layout = ContactLayout("found force torque normal tangent", 9, "netforce", "motrix", order)
        batch = layout.decode(row)
        np.testing.assert_allclose(known(batch.net_force), sign * FORCE)
        np.testing.assert_allclose(known(batch.force), [sign * FORCE])
        np.testing.assert_allclose(known(batch.torque), [sign * TORQUE])
        # Written again it has the world's axes for a frame, and the engine's sign.
        np.testing.assert_allclose(layout.encode(batch), [4, *FORCE, *TORQUE, 1, 0, 0, 0, 1, 0])
        assert batch.in_world_frame
        np.testing.assert_array_equal(known(batch.normal), [[1, 0, 0]])
        np.testing.assert_array_equal(known(batch.tangent0), [[0, 1, 0]])


@pytest.mark.parametrize("fields", ["force", "found force", "force normal", "force tangent pos"])
def test_motrix_netforce_without_its_frame_has_a_magnitude_but_no_direction(fields: str) -> None:
    layout = ContactLayout(fields, 1, "netforce", "motrix")
    array = np.zeros(layout.size)
    start = layout.columns.index("slot0.force.normal")
    array[start : start + 3] = in_frame(FORCE)
    if "found" in fields:
        array[0] = 1
    batch = layout.decode(array)
    assert batch.force_world is None
    assert batch.net_force is None
    magnitude = batch.force_magnitude(layout.reduce)
    np.testing.assert_allclose(known(magnitude), np.linalg.norm(FORCE))


def test_pairs_in_both_orders_leave_unknown_what_they_do() -> None:
    batch = ContactLayout("force normal tangent", 1, "none", "motrix", "mixed").decode(
        [*in_frame(FORCE), *NORMAL, *TANGENT]
    )
    assert batch.force is not None
    assert batch.force_world is None
    net = ContactLayout("force normal tangent", 1, "netforce", "motrix", "mixed").decode(
        [*in_frame(FORCE), *NORMAL, *TANGENT]
    )
    assert net.force is None
    assert net.force_magnitude(ContactLayout("found", 1, "netforce").reduce) is None


def test_nan_netforce_stays_unknown() -> None:
    row = [8, *[np.nan] * 3, *[np.nan] * 6]
    batch = ContactLayout("found force normal tangent", 1, "netforce", "motrix").decode(row)
    assert batch.filled.tolist() == [True]
    assert np.isnan(known(batch.net_force)).all()


@pytest.mark.parametrize(
    ("reduce", "expected"),
    [("none", np.hypot(5, 1)), ("mindist", np.hypot(5, 1)), ("maxforce", np.hypot(3, 4)), ("netforce", np.sqrt(26))],
)
def test_force_magnitude_means_what_the_mode_means(reduce: str, expected: float) -> None:
    layout = ContactLayout("force normal tangent", 3, reduce)
    # Two contacts side by side: forces (3, 4, 0) and (2, -3, 0) along one frame; their sum is (5, 1, 0).
    frame = [1, 0, 0, 0, 1, 0]
    contacts = [[3, 4, 0, *frame], [2, -3, 0, *frame], [0] * 9]
    if reduce == "netforce":
        contacts = [[5, 1, 0, *frame], [0] * 9, [0] * 9]
    array = np.array(contacts, float)
    twice = array * [2, 2, 2, *[1] * 6]
    batch = layout.decode(np.stack([array.ravel(), twice.ravel()]))
    np.testing.assert_allclose(known(batch.force_magnitude(layout.reduce)), [expected, 2 * expected])


def random_batch(layout: ContactLayout, shape: tuple[int, ...], seed: int) -> ContactBatch:
    """A batch of the kind that this layout can hold."""
    rng = np.random.default_rng(seed)
    slots, netforce = layout.slots, layout.reduce == "netforce"
    count = rng.integers(0, (1 if netforce else slots) + 1, size=shape)
    filled = count[..., np.newaxis] > np.arange(slots)
    vectors: dict[str, Any] = {
        name: np.where(filled[..., np.newaxis], rng.normal(size=(*shape, slots, 3)), 0.0)
        for field, name in {
            "force": "force",
            "torque": "torque",
            "pos": "pos",
            "normal": "normal",
            "tangent": "tangent0",
            "linvel": "linvel",
            "angvel": "angvel",
        }.items()
        if field in layout.fields
    }
    forces = {"force", "torque"} & set(vectors)
    known = True
    if layout.style == "motrix" and forces:
        known = layout.pair_order != "mixed" and (not netforce or {"normal", "tangent0"} <= set(vectors))
        if netforce and layout.pair_order == "mixed":
            for name in forces:
                del vectors[name]
    in_world = netforce and (layout.style != "motrix" or bool(known and forces))
    if in_world and layout.style == "motrix":
        # The mean frame of a net force in the world is the world's.
        vectors |= {
            name: np.where(filled[..., np.newaxis], np.eye(3)[i], 0.0) for i, name in enumerate(("normal", "tangent0"))
        }
    return ContactBatch(
        found=count.astype(float),
        filled=filled,
        dist=np.where(filled, rng.normal(size=filled.shape), 0.0) if "dist" in layout.fields else None,
        in_world_frame=in_world,
        frame_known=known,
        reduce=layout.reduce,
        **vectors,
    )


def assert_same(first: ContactBatch, second: ContactBatch) -> None:
    for name, value in vars(first).items():
        other = getattr(second, name)
        if isinstance(value, np.ndarray):
            np.testing.assert_array_equal(value, other, err_msg=name)
        else:
            assert value == other, name


layouts = st.builds(
    lambda fields, slots, reduce, style, order: ContactLayout(
        fields, slots, reduce, style, order if style == "motrix" else "native"
    ),
    st.sets(st.sampled_from(FIELDS), min_size=1),
    st.integers(1, 5),
    st.sampled_from(REDUCES),
    st.sampled_from(STYLES),
    st.sampled_from(ORDERS),
)


@given(layout=layouts, shape=st.sampled_from([(), (3,), (2, 3)]), seed=st.integers(0, 2**32 - 1))
def test_decode_undoes_encode_in_every_style(layout: ContactLayout, shape: tuple[int, ...], seed: int) -> None:
    batch = random_batch(layout, shape, seed)
    if layout.reduce == "netforce" and layout.pair_order == "mixed" and {"force", "torque"} & set(layout.fields):
        with pytest.raises(ValueError, match="the batch has no"):
            layout.encode(batch)
        return
    assert_same(batch, layout.decode(layout.encode(batch)))


@given(
    fields=st.sets(st.sampled_from(FIELDS), min_size=1),
    slots=st.integers(1, 5),
    reduce=st.sampled_from(REDUCES),
    first=st.sampled_from(STYLES),
    second=st.sampled_from(STYLES),
    seed=st.integers(0, 2**32 - 1),
)
def test_an_array_survives_the_way_through_another_style(
    fields: set[str], slots: int, reduce: str, first: str, second: str, seed: int
) -> None:
    fields = fields | {"found", "normal", "tangent"}
    there, back = ContactLayout(fields, slots, reduce, first), ContactLayout(fields, slots, reduce, second)
    # MotrixSim's layout knows the axes along which a net force is in all three.
    array = there.encode(random_batch(ContactLayout(fields, slots, reduce, "motrix"), (4,), seed))
    np.testing.assert_array_equal(there.encode(back.decode(back.encode(there.decode(array)))), array)


def test_documented_counts_what_is_reported() -> None:
    batch = ContactLayout("found dist", 2).decode([9, -0.1, 9, -0.2])
    assert ContactLayout("found dist", 2, style="documented").encode(batch).tolist() == [2, -0.1, -0.2]
    assert ContactLayout("found dist", 2, style="motrix").encode(batch).tolist() == [9, -0.1, -0.2]


def test_a_frame_is_not_rewritten_into_another() -> None:
    contacts = ContactLayout("force normal tangent", 1).decode(np.ones(9))
    with pytest.raises(ValueError, match=r"holds contacts in frames of their own, .* netforce does not report"):
        ContactLayout("force", 1, "netforce").encode(contacts)
    net = ContactLayout("force", 1, "netforce").decode(np.ones(3))
    with pytest.raises(ValueError, match=r"holds a net force in the world frame, .* maxforce does not report"):
        ContactLayout("force", 1, "maxforce").encode(net)
    unknown = ContactLayout("force", 1, "netforce", "motrix").decode(np.ones(3))
    with pytest.raises(ValueError, match="direction"):
        ContactLayout("force", 1, "netforce").encode(unknown)


# guess


@pytest.mark.parametrize("reduce", REDUCES)
@pytest.mark.parametrize("num", [1, 2, 3, 4, 9])
def test_a_guess_puts_every_value_where_the_writer_did(reduce: str, num: int) -> None:
    for fields, style in itertools.product(SUBSETS, STYLES):
        true = ContactLayout(fields, num, reduce, style)
        harmful = fields == ("dist",) and reduce == "netforce" and num == 2 and style != "motrix"
        if harmful:
            with pytest.raises(ValueError, match="mujoco, documented"):
                ContactLayout.guess(true.size, fields, num, reduce)
            continue
        guessed = ContactLayout.guess(true.size, fields, num, reduce)
        assert guessed.size == true.size
        places = [(column.slot, column.field) for column in true.described_columns]
        assert [(column.slot, column.field) for column in guessed.described_columns] == places


def test_a_guess_distinguishes_mujoco_from_the_others() -> None:
    fields = "found force pos normal tangent"
    assert ContactLayout.guess(52, fields, 4, "none").style == "mujoco"
    assert ContactLayout.guess(49, fields, 4, "none").style != "mujoco"
    assert ContactLayout.guess(4, "force", 1, "netforce").style == "documented"
    assert ContactLayout.guess(7, "found linvel angvel", 1).style == "mujoco"


def test_a_guess_claims_no_direction_that_one_of_the_styles_does_not_have() -> None:
    # Three values of netforce: world axes in MuJoCo, unknown ones in MotrixSim.
    layout = ContactLayout.guess(3, "force", 1, "netforce")
    assert layout.decode([1.0, 2.0, 2.0]).force_world is None
    full = ContactLayout.guess(10, "found force normal tangent", 1, "netforce")
    for row, expected in (
        ([1, 1, 2, 3, 1, 0, 0, 0, 1, 0], [1, 2, 3]),
        ([4, *in_frame(FORCE), *NORMAL, *TANGENT], FORCE),
    ):
        np.testing.assert_allclose(known(full.decode(row).net_force), expected)


def test_a_length_of_no_style_names_all_lengths() -> None:
    with pytest.raises(ValueError, match=r"length 50 .*mujoco 52, motrix 49, documented 49"):
        ContactLayout.guess(50, "found force pos normal tangent", 4, "none")
    with pytest.raises(ValueError, match="unknown field 'fource'"):
        ContactLayout.guess(4, "fource", 1)


def test_fields_are_in_mujocos_order() -> None:
    assert [str(field) for field in Field] == [*FIELDS, *VELOCITIES]
