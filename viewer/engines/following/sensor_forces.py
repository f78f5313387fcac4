"""The arrays of all contact sensors to how hard each is pressed, at once, for use after every step."""

from collections.abc import Iterable
from typing import Any

import numpy as np
from numpy.typing import NDArray

from ...sensors.layout import ContactLayout, Field
from ...settings import Reduce
from ..contract import Engine, SensorList
from ..environments import Environment
from ..mujoco.engine import MujocoEngine
from ..mujoco.matching import full_layout
from ..mujoco.names import COMPANION, sensor_names

_VECTORS = (Field.FORCE, Field.NORMAL, Field.TANGENT)


def is_stepped_by_mujoco(engine: Engine) -> bool:
    """Whether an engine's data is that of the simulation, not only a picture of it."""
    return isinstance(engine.engine if isinstance(engine, Environment) else engine, MujocoEngine)


class SensorForces:
    """How hard the sensors of an engine are pressed: what `get_contact_force_magnitude` tells of each.

    Where sensors have companions their arrays are read together, which takes a fraction of the time.
    """

    def __init__(self, engine: Engine) -> None:
        self._engine = engine
        self._sensors: SensorList | None = None
        self._companions = companion_addresses(engine.model) if is_stepped_by_mujoco(engine) else {}
        self._places = np.zeros((0, 9), np.intp)
        self.columns = slice(0, 0)
        """Where in `sensordata` they are, those that can be read together."""
        self._owners = self._together = np.zeros(0, np.intp)
        self._alone: list[tuple[int, str]] = []

    def read(self) -> NDArray[np.float64]:
        """Forces now [N], (sensors,)."""
        self.look_up()
        forces: NDArray[np.float64] = self.decode(self.values()[np.newaxis])[0]
        for place, name in self._alone:
            forces[place] = self._engine.get_contact_force_magnitude(name)[0]
        return forces

    def look_up(self) -> bool:
        """Find the sensors that there are now; whether all of them can be read together."""
        # The list is replaced whenever a sensor is added, or read in another way.
        if self._engine.sensors is not self._sensors:
            self._sensors = self._engine.sensors
            self._plan(self._sensors)
        return not self._alone

    def values(self) -> NDArray[np.float64]:
        """What the sensors that can be read together say now, (size,): a view, for `decode`."""
        values: NDArray[np.float64] = self._engine.data.sensordata[self.columns]
        return values

    def decode(self, rows: NDArray[np.float64]) -> NDArray[np.float64]:
        """Forces [N], (n, sensors), of the sensors that can be read together, in their values, (n, size)."""
        forces = np.zeros((len(rows), len(self._together) + len(self._alone)))
        # Component by component, (slots, n) each: numpy is fastest along long rows.
        columns, places = rows.T, self._places.T
        force = columns[places[:3]]
        if len(self._together) == len(self._places):
            # The norm of one force is the same in every frame.
            forces[:, self._together] = _norm(force).T
            return forces
        # Slots that no step fills need not be looked at.
        used = np.flatnonzero(force.any(axis=(0, 2)))
        if len(used):
            # Contacts of one sensor have frames of their own, so that only world vectors add up.
            along_n, along_t, along_b = force[:, used]
            nx, ny, nz, tx, ty, tz = columns[places[3:, used]]
            world = (
                along_n * nx + along_t * tx + along_b * (ny * tz - nz * ty),
                along_n * ny + along_t * ty + along_b * (nz * tx - nx * tz),
                along_n * nz + along_t * tz + along_b * (nx * ty - ny * tx),
            )
            owners = self._owners[used]
            starts = np.concatenate([[0], (owners[1:] != owners[:-1]).nonzero()[0] + 1])
            forces[:, owners[starts]] = _norm([np.add.reduceat(component, starts) for component in world]).T
        return forces

    def _plan(self, sensors: SensorList) -> None:
        """Decide where to read each sensor."""
        rows: list[NDArray[np.intp]] = []
        owners: list[int] = []
        together = []
        self._alone = []
        for place, sensor in enumerate(sensors):
            address = self._companions.get(sensor.name)
            if address is None:
                self._alone.append((place, sensor.name))
                continue
            # The strongest contact comes first, and a net contact is alone.
            count = 1 if sensor.reduce in (Reduce.MAXFORCE, Reduce.NETFORCE) else sensor.slots
            together.append(place)
            owners += [place] * count
            rows.append(address + _vector_places(full_layout(sensor.slots))[:count])
        places = np.concatenate([*rows, np.zeros((0, 9), np.intp)])
        # Not more than is needed: it is copied after every step.
        self.columns = slice(int(places.min()), int(places.max()) + 1) if rows else slice(0, 0)
        self._places = places - self.columns.start
        self._owners, self._together = np.array(owners, np.intp), np.array(together, np.intp)


def _norm(vectors: Iterable[NDArray[np.float64]]) -> NDArray[np.float64]:
    """Lengths of vectors that are given by their components along three axes."""
    x, y, z = vectors
    norm: NDArray[np.float64] = np.sqrt(x * x + y * y + z * z)
    return norm


def companion_addresses(model: Any) -> dict[str, int]:
    """Names of sensors with a companion, and where the companion's array begins."""
    names = sensor_names(model)
    return {
        names[int(name.removeprefix(COMPANION))]: int(model.sensor_adr[i])
        for i, name in enumerate(names)
        if name.startswith(COMPANION)
    }


def _vector_places(layout: ContactLayout) -> NDArray[np.intp]:
    """Where force, normal and tangent of each slot are in an array, (slots, 9)."""
    places = [i for i, column in enumerate(layout.described_columns) if column.field in _VECTORS]
    return np.array(places, np.intp).reshape(layout.slots, 9)
