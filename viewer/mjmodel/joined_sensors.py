"""Turns sensors that report one field each, of the same contacts, into one: mjlab declares them so."""

from collections.abc import Sequence
from dataclasses import dataclass

from ..sensors.layout import ContactLayout
from ..sensors.spread_layout import SpreadLayout, spread
from .declarations import Declaration
from .types import MjModel


@dataclass(frozen=True)
class JoinedSensor:
    """Sensors with the same targets, reduce mode and slots that differ in nothing but their field."""

    name: str
    layout: ContactLayout
    """Of all fields, slot by slot."""
    ids: tuple[int, ...]
    """The sensors, in the scene's order."""
    sources: tuple[str, ...]
    """Name of the sensor that each value of `layout` comes from."""
    place: tuple[slice, SpreadLayout]
    """Where their values are in `sensordata`."""


def join_declarations(model: MjModel, declarations: Sequence[Declaration]) -> dict[int, JoinedSensor]:
    """Sensors that belong together, by the ids of all of them; empty where none do."""
    single = [each for each in declarations if len(each.layout.fields) == 1]
    if sum(each.name.endswith(f"_{each.layout.fields[0]}") for each in single) < 2:
        return {}
    known = {int(model.sensor_adr[each.sensor_id]): each for each in single}
    families: dict[int, JoinedSensor] = {}
    for sensor in ContactLayout.for_model(model).sensors.values():
        members = [known.get(columns.start) for columns, _ in sensor.parts]
        present = [each for each in members if each is not None]
        if len(sensor.parts) < 2 or len(present) < len(members):
            # Alone, or with one that is hidden.
            continue
        names = {each.layout.fields[0]: each.name for each in present}
        layout: ContactLayout = sensor.layout
        sources = tuple(names[column.field] for column in layout.described_columns)
        ids = tuple(sorted(each.sensor_id for each in present))
        joined = JoinedSensor(sensor.name, layout, ids, sources, spread(sensor))
        families.update(dict.fromkeys(ids, joined))
    return families
