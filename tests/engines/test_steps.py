"""Arrays of many sensors in one row against each of them alone."""

import numpy as np
import pytest
from contact_viewer import ContactLayout
from contact_viewer.engines.steps import group_by_layout

WIDE = ContactLayout("found force normal tangent", 3)
NARROW = ContactLayout("found force", 1, "netforce")


@pytest.mark.parametrize(
    ("starts", "adjacent"),
    [((0, 30, 60), True), ((4, 34, 68), False), ((60, 30, 0), False)],
    ids=["adjacent", "apart", "backwards"],
)
def test_a_group_decodes_what_each_member_would(starts: tuple[int, ...], adjacent: bool) -> None:
    rows = np.random.default_rng(1).normal(size=(7, 110))
    arrays = [(slice(start, start + WIDE.size), WIDE) for start in starts]
    arrays.insert(1, (slice(100, 100 + NARROW.size), NARROW))
    wide, narrow = group_by_layout(arrays)
    assert (wide.members.tolist(), narrow.members.tolist()) == ([0, 2, 3], [1])
    assert isinstance(wide.columns, slice) == adjacent
    for group in (wide, narrow):
        batch = group.decode(rows)
        assert batch.filled.shape == (7, len(group.members), group.layout.slots)
        for i, member in enumerate(group.members):
            columns, layout = arrays[member]
            alone = layout.decode(rows[:, columns])
            np.testing.assert_array_equal(batch.filled[:, i], alone.filled)
            assert batch.force is not None
            np.testing.assert_array_equal(batch.force[:, i], alone.force)
    np.testing.assert_array_equal(wide.decode(rows[3]).found, wide.decode(rows).found[3])
