"""Contact sensors as an engine reads them now: one sensor, and the list of all."""

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import NamedTuple, overload

import numpy as np
from numpy.typing import NDArray

from ..errors import SceneError, did_you_mean
from ..sensors.layout import ContactLayout, Field
from ..settings import Reduce

Row = NDArray[np.float64]


class ContactSensor(NamedTuple):
    """Contact sensor as it is read now. It is a tuple, because there may be a hundred thousand of them."""

    name: str
    label: str
    """Description of the objects that the sensor matches, such as `geom bar × geom freebox`."""
    layout: ContactLayout
    """Layout of the sensor's array in its present reduce mode."""
    declared: ContactLayout
    """Layout that the scene declares."""
    reconstructed: bool = False
    """True if all fields of its contacts are computed from the engine's contact list, not read from a companion
    sensor."""
    solved_again: bool = False
    """True if the contacts are not those of the engine that took the step: MuJoCo has solved them again."""
    placed_again: bool = False
    """True if the forces are those of the engine that took the step, but MuJoCo has computed the positions again."""
    virtual: bool = False
    """True if the viewer made the sensor, and the scene does not declare it."""

    sources: tuple[str, ...] = ()
    """Name of the scene's sensor that each value of the array comes from, where sensors with one field each are joined;
    else empty."""

    @property
    def declared_name(self) -> str:
        """Return the name of the scene's sensor; of joined sensors, the name of the first one."""
        return self.sources[0] if self.sources else self.name

    @property
    def fields(self) -> tuple[Field, ...]:
        return self.layout.fields

    @property
    def slots(self) -> int:
        return self.layout.slots

    @property
    def reduce(self) -> Reduce:
        return self.layout.reduce

    @property
    def frame(self) -> str:
        return self.layout.frame

    @property
    def size(self) -> int:
        return self.layout.size

    @property
    def columns(self) -> tuple[str, ...]:
        return self.layout.columns

    @property
    def modified(self) -> bool:
        """True if the sensor's reduce mode is not the one that the scene declares."""
        return self.layout != self.declared


class SensorList(Sequence[ContactSensor]):
    """Contact sensors in the scene's order, by position or by name."""

    def __init__(self, sensors: Sequence[ContactSensor]) -> None:
        self._sensors = tuple(sensors)
        self._positions = {sensor.name: i for i, sensor in enumerate(self._sensors)}
        self.names = tuple(self._positions)

    @overload
    def __getitem__(self, key: int | str) -> ContactSensor: ...
    @overload
    def __getitem__(self, key: slice) -> Sequence[ContactSensor]: ...
    def __getitem__(self, key: int | str | slice) -> ContactSensor | Sequence[ContactSensor]:
        return self._sensors[self.position(key) if isinstance(key, str) else key]

    def __len__(self) -> int:
        return len(self._sensors)

    def __iter__(self) -> Iterator[ContactSensor]:
        return iter(self._sensors)

    def __contains__(self, key: object) -> bool:
        return key in self._positions if isinstance(key, str) else key in self._sensors

    @cached_property
    def is_net(self) -> NDArray[np.bool_]:
        """Mask of the sensors that report net contacts, (sensors,)."""
        return np.array([sensor.reduce is Reduce.NETFORCE for sensor in self._sensors], bool)

    def changed(self, sensors: Iterable[ContactSensor]) -> "SensorList":
        """Return a copy of the list in which the given sensors replace those of the same names."""
        new = {sensor.name: sensor for sensor in sensors}
        return SensorList([new.get(sensor.name, sensor) for sensor in self._sensors])

    def has(self, name: str) -> bool:
        """Return True if there is a sensor of a name; found in constant time."""
        return name in self._positions

    def position(self, name: str) -> int:
        """Return the index of a sensor, by name."""
        if name not in self._positions:
            known = did_you_mean(name, self._positions) or f"; the scene has: {', '.join(self._positions) or 'none'}"
            raise SceneError(f"no contact sensor named {name!r}{known}")
        return self._positions[name]


@dataclass(frozen=True)
class ContactDetails:
    """Details of the contacts of one sensor that no array reports."""

    geoms: tuple[tuple[str, str], ...]
    """Names of the two geoms of each slot, in the sensor's order; empty strings where unknown."""
    friction: NDArray[np.float64]
    """Friction coefficients of each slot, (slots, 5): sliding along both tangents, torsion, rolling about both; 0 where
    the contact has no such friction, NaN where unknown."""
