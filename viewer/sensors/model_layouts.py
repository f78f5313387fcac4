"""Turns rows of MuJoCo's `sensordata` into the contacts of every contact sensor of a model, by name."""

from collections.abc import Callable, Iterable, Iterator, Mapping
from dataclasses import dataclass
from itertools import pairwise
from typing import Any, Generic, TypeVar

import numpy as np

from .array_library import namespace
from .contacts import ContactBatch

COMPANION = "contact_viewer/companion/"
"""Prefix of the names of companions, before the number of their sensor."""
WATCHER = f"{COMPANION}all"
"""Name of the sensor that matches every contact, in scenes that have no contact sensor of their own."""
L = TypeVar("L")
"""Type variable of a ContactLayout."""
Join = Callable[[Iterable[str], Any], Any]
"""Function that makes a layout of some fields, with the slots and reduce mode of another one."""


@dataclass(frozen=True)
class PlacedSensor:
    """Contact sensor with the place of its values in a row."""

    name: str
    layout: Any
    """Layout of all fields of the sensor."""
    parts: tuple[tuple[slice, Any], ...]
    """Columns and layout of its array; of several arrays, in the order of their fields, where a framework declares a
    sensor for each field."""

    def decode(self, rows: Any) -> ContactBatch:
        """Return the contacts, (..., slots), in rows of (..., nsensordata); views of the rows if they come in one
        array."""
        if len(self.parts) == 1:
            values = rows[..., self.parts[0][0]]
        else:
            xp, shape = namespace(rows), (*rows.shape[:-1], self.layout.slots)
            fields = [xp.reshape(rows[..., columns], (*shape, one.slot_size)) for columns, one in self.parts]
            values = xp.reshape(xp.concat(fields, axis=-1), (*rows.shape[:-1], self.layout.size))
        batch: ContactBatch = self.layout.decode(values)
        return batch


class ModelLayouts(Mapping[str, L], Generic[L]):
    """Layouts of all contact sensors of a model by name, in the model's order; `ContactLayout.for_model` makes it.

    mjlab declares a sensor for every body and field, such as `feet_left_found` and `feet_left_force`. Sensors that
    differ in nothing but their one field, and are named by it, are one sensor here, `feet_left`.
    """

    def __init__(self, model: Any, read: Callable[[Any, int], L | None], join: Join) -> None:
        """Read the layouts of an MjModel by number. Companions, which the viewer adds, are left out."""
        self.size = int(model.nsensordata)
        """Number of values of a row: `nsensordata`."""
        joined = _joined(model, _placed(model, read), join)
        self.sensors: dict[str, PlacedSensor] = {sensor.name: sensor for sensor in joined}

    def __getitem__(self, name: str) -> L:
        layout: L = self._sensor(name).layout
        return layout

    def __iter__(self) -> Iterator[str]:
        return iter(self.sensors)

    def __len__(self) -> int:
        return len(self.sensors)

    def decode(self, sensordata: Any) -> dict[str, ContactBatch]:
        """Return the contacts by name, (..., slots), in `sensordata` of numpy, torch or JAX, (..., nsensordata), as
        views."""
        self._check(sensordata)
        return {name: sensor.decode(sensordata) for name, sensor in self.sensors.items()}

    def decode_one(self, name: str, sensordata: Any) -> ContactBatch:
        """Return the contacts of one sensor, (..., slots)."""
        self._check(sensordata)
        return self._sensor(name).decode(sensordata)

    def grouped(self, sensordata: Any) -> Iterator[tuple[tuple[str, ...], ContactBatch]]:
        """Yield all sensors, those with one layout together: their names, and their contacts, (..., sensors, slots)."""
        self._check(sensordata)
        groups: dict[tuple[Any, int], list[PlacedSensor]] = {}
        for sensor in self.sensors.values():
            groups.setdefault((sensor.layout, len(sensor.parts)), []).append(sensor)
        for (layout, part_count), members in groups.items():
            names = tuple(sensor.name for sensor in members)
            if part_count > 1:
                yield names, ContactBatch.stack([sensor.decode(sensordata) for sensor in members])
                continue
            places = [place for sensor in members for place, _ in sensor.parts]
            if all(first.stop == second.start for first, second in pairwise(places)):
                arrays = sensordata[..., places[0].start : places[-1].stop]
                shape = (*sensordata.shape[:-1], len(members), layout.size)
                yield names, layout.decode(namespace(sensordata).reshape(arrays, shape))
            else:
                # Slices stay on a device; positions would have to be brought there.
                arrays = [sensordata[..., place] for place in places]
                yield names, layout.decode(namespace(sensordata).stack(arrays, axis=-2))

    def _sensor(self, name: str) -> PlacedSensor:
        if name not in self.sensors:
            raise KeyError(f"no contact sensor named {name!r}; the model has: {', '.join(self.sensors) or 'none'}")
        return self.sensors[name]

    def _check(self, sensordata: Any) -> None:
        shape = tuple(getattr(sensordata, "shape", np.shape(sensordata)))
        if not shape or shape[-1] != self.size:
            raise ValueError(f"sensordata of this model is (..., {self.size}), not {shape}")


def _placed(model: Any, read: Callable[[Any, int], Any]) -> list[tuple[int, PlacedSensor]]:
    """Return number and place of every contact sensor."""
    found = []
    for i, name in enumerate(label_sensors(read_names(model, "sensor"))):
        layout = None if name.startswith(COMPANION) else read(model, i)
        if layout is not None:
            start = int(model.sensor_adr[i])
            found.append((i, PlacedSensor(name, layout, ((slice(start, start + layout.size), layout),))))
    return found


def _joined(model: Any, placed: list[tuple[int, PlacedSensor]], join: Join) -> list[PlacedSensor]:
    """Return the sensors, with those joined that have one field each and all else in common."""
    families: dict[tuple[Any, ...], dict[str, PlacedSensor]] = {}
    for i, sensor in placed:
        field, *others = sensor.layout.fields
        base = sensor.name.removesuffix(f"_{field}")
        key: tuple[Any, ...] = (i,)
        if not others and base not in ("", sensor.name):
            target = (int(getattr(model, f"sensor_{side}")[i]) for side in ("objtype", "objid", "reftype", "refid"))
            key = (base, *target, sensor.layout.slots, sensor.layout.reduce)
        families.setdefault(key, {})[field] = sensor
    taken = {sensor.name for _, sensor in placed}
    joined: list[PlacedSensor] = []
    for (base, *_), family in families.items():
        if len(family) == 1 or base in taken:
            joined += family.values()
            continue
        taken.add(base)
        parts = {field: sensor.parts[0] for field, sensor in family.items()}
        layout = join(family, next(iter(parts.values()))[1])
        joined.append(PlacedSensor(base, layout, tuple(parts[field] for field in layout.fields)))
    return joined


def read_names(model: Any, kind: str) -> list[str]:
    """Return the names of all objects of a kind (`geom`, `body`, ...), as written in the model; empty for unnamed
    ones."""
    # The accessors of the bindings raise on bytes that are not UTF-8, so read the bytes themselves.
    starts = getattr(model, f"name_{kind}adr")
    if not len(starts):
        return []
    # All at once: 10,000 names take 2 ms, one after the other 7 ms.
    first = int(starts.min())
    raw: bytes = model.names[first : model.names.index(b"\0", int(starts.max()))]
    texts = raw.decode("utf-8", "replace").split("\0")
    ends = np.flatnonzero(np.frombuffer(raw, np.uint8) == 0)
    return [texts[i] for i in np.searchsorted(ends, starts - first).tolist()]


def label_sensors(written: list[str]) -> list[str]:
    """Return the names of sensors, with one made up for each that has none."""
    names = list(written)
    taken = set(names)
    if "" not in taken:
        return names
    for i, name in enumerate(names):
        if not name:
            name = f"sensor-{i}"
            while name in taken:
                name += "'"
            names[i] = name
            taken.add(name)
    return names
