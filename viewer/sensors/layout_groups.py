"""Turns rows that hold the arrays of many sensors into contacts: sensors with one layout are decoded together."""

from collections.abc import Iterable
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from .contacts import Array, ContactBatch
from .layout import ContactLayout


class LayoutGroup(NamedTuple):
    """Sensors with one layout."""

    members: list[int]
    """Their positions."""
    layout: ContactLayout
    columns: slice | NDArray[np.intp]
    """Where their arrays are in a row."""

    def decode(self, rows: Array) -> ContactBatch:
        """Their contacts, (..., members, slots), in rows of numpy, (..., width)."""
        shape = (*rows.shape[:-1], len(self.members), self.layout.size)
        return self.layout.decode(rows[..., self.columns].reshape(shape))


def group_by_layout(arrays: Iterable[tuple[int, ContactLayout]]) -> list[LayoutGroup]:
    """Groups of the sensors whose arrays begin at these places of a row and have these layouts."""
    starts, positions = [], dict[ContactLayout, list[int]]()
    # Many sensors share a layout, and to hash it takes longer than all else. It is kept: another could have its id.
    known: dict[int, tuple[ContactLayout, list[int]]] = {}
    for position, (start, layout) in enumerate(arrays):
        starts.append(start)
        if id(layout) not in known:
            known[id(layout)] = layout, positions.setdefault(layout, [])
        known[id(layout)][1].append(position)
    groups = []
    for layout, members in positions.items():
        places = np.array([starts[member] for member in members])
        adjacent = (np.diff(places) == layout.size).all()
        whole = slice(int(places[0]), int(places[-1]) + layout.size)
        columns = whole if adjacent else np.add.outer(places, np.arange(layout.size))
        groups.append(LayoutGroup(members, layout, columns))
    return groups
