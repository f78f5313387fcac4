"""Reads contacts from values that are spread over a row: of sensors that report one field each, as mjlab has them."""

from typing import Any

from .contacts import ContactBatch
from .layout import ContactLayout
from .model_layouts import PlacedSensor


class SpreadLayout(ContactLayout):
    """The layout of a longer row in which the values of another layout are spread."""

    inner: ContactLayout
    """The layout of the values, once they are together."""
    places: tuple[int, ...]
    """Where each of them is in the row."""

    def __init__(self, inner: ContactLayout, places: tuple[int, ...], size: int) -> None:
        super().__init__(inner.fields, inner.slots, inner.reduce)
        for name, value in {"inner": inner, "places": places, "size": size}.items():
            object.__setattr__(self, name, value)

    def decode(self, array: Any) -> ContactBatch:
        """The contacts, (..., slots), of a row, (..., size)."""
        return self.inner.decode(array[..., list(self.places)])

    def __eq__(self, other: object) -> bool:
        return isinstance(other, SpreadLayout) and (self.inner, self.places) == (other.inner, other.places)

    def __hash__(self) -> int:
        return hash((self.inner, self.places))


def spread(sensor: PlacedSensor) -> tuple[slice, SpreadLayout]:
    """Where a sensor that comes in several arrays is in a row, and its layout there."""
    start = min(columns.start for columns, _ in sensor.parts)
    stop = max(columns.stop for columns, _ in sensor.parts)
    begins = {layout.fields[0]: columns.start - start for columns, layout in sensor.parts}
    layout: ContactLayout = sensor.layout
    places = tuple(
        begins[field] + slot * field.size + i
        for slot in range(layout.slots)
        for field in layout.slot_fields
        for i in range(field.size)
    )
    return slice(start, stop), SpreadLayout(layout, places, stop - start)
