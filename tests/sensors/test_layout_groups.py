"""Arrays of many sensors in one row against each of them alone."""

import numpy as np
import pytest
from contact_viewer import ContactLayout
from contact_viewer.sensors.layout import Style
from contact_viewer.sensors.layout_groups import group_by_layout
from contact_viewer.settings import Reduce

WIDE = ContactLayout("found force normal tangent", 3)
NARROW = ContactLayout("found force", 1, "netforce")


@pytest.mark.parametrize(
    ("starts", "adjacent"),
    [((0, 30, 60), True), ((4, 34, 68), False), ((60, 30, 0), False)],
    ids=["adjacent", "apart", "backwards"],
)
def test_a_group_decodes_what_each_member_would(starts: tuple[int, ...], adjacent: bool) -> None:
    rows = np.random.default_rng(1).normal(size=(7, 110))
    arrays = [(start, WIDE) for start in starts]
    arrays.insert(1, (100, NARROW))
    wide, narrow = group_by_layout(arrays)
    assert (wide.members, narrow.members) == ([0, 2, 3], [1])
    assert isinstance(wide.columns, slice) == adjacent
    for group in (wide, narrow):
        batch = group.decode(rows)
        assert batch.filled.shape == (7, len(group.members), group.layout.slots)
        for i, member in enumerate(group.members):
            start, layout = arrays[member]
            alone = layout.decode(rows[:, start : start + layout.size])
            np.testing.assert_array_equal(batch.filled[:, i], alone.filled)
            assert batch.force is not None
            np.testing.assert_array_equal(batch.force[:, i], alone.force)
    np.testing.assert_array_equal(wide.decode(rows[3]).found, wide.decode(rows).found[3])


@pytest.mark.parametrize("style", Style)
@pytest.mark.parametrize("reduce", Reduce)
def test_a_shortened_layout_decodes_the_beginning_of_an_array(style: Style, reduce: Reduce) -> None:
    layout = ContactLayout("found force pos normal tangent", 5, reduce, style)
    array = np.random.default_rng(2).normal(size=(4, layout.size))
    short = layout.shortened(2)
    assert (short.style, short.reduce, short.fields) == (style, reduce, layout.fields)
    whole, beginning = layout.decode(array), short.decode(array[:, : short.size])
    np.testing.assert_array_equal(beginning.found, whole.found)
    for name in ("filled", "force", "pos", "normal", "tangent0"):
        np.testing.assert_array_equal(getattr(beginning, name), getattr(whole, name)[:, :2])
