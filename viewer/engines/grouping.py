"""Arrays of many sensors to their contacts: sensors with one layout are decoded together."""

from collections.abc import Iterable, Iterator
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from ..sensors.contacts import Array, ContactBatch
from ..sensors.layout import ContactLayout
from .contract import Engine


class LayoutGroup(NamedTuple):
    """Sensors with one layout."""

    members: list[int]
    """Their positions."""
    layout: ContactLayout
    columns: slice | NDArray[np.intp]
    """Where their arrays are in a row."""

    def decode(self, rows: Array) -> ContactBatch:
        """Their contacts, (..., members, slots), in rows of (..., width)."""
        arrays = rows[..., self.columns]
        return self.layout.decode(arrays.reshape(*rows.shape[:-1], len(self.members), self.layout.size))


def group_by_layout(arrays: Iterable[tuple[int, ContactLayout]]) -> list[LayoutGroup]:
    """Sensors, of each where its array begins in a row and its layout, in groups."""
    starts, positions = [], dict[ContactLayout, list[int]]()
    for position, (start, layout) in enumerate(arrays):
        starts.append(start)
        positions.setdefault(layout, []).append(position)
    groups = []
    for layout, members in positions.items():
        places = np.array([starts[member] for member in members])
        in_a_row = (np.diff(places) == layout.size).all()
        whole = slice(int(places[0]), int(places[-1]) + layout.size)
        columns = whole if in_a_row else np.add.outer(places, np.arange(layout.size))
        groups.append(LayoutGroup(members, layout, columns))
    return groups


def stack_contacts(engine: Engine) -> Iterator[tuple[tuple[str, ...], ContactBatch]]:
    """What `Engine.grouped_contacts` tells, put together from the contacts of each sensor."""
    groups: dict[tuple[int, bool], list[str]] = {}
    batches = {name: engine.contacts(name) for name in engine.sensors.names}
    for name, batch in batches.items():
        groups.setdefault((batch.filled.shape[-1], batch.in_world_frame), []).append(name)
    for names in groups.values():
        yield tuple(names), ContactBatch.stack([batches[name] for name in names])
