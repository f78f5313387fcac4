"""Contact sensors that match one pair of geoms each, to what their arrays tell of these pairs."""

from typing import Any

import mujoco
import numpy as np
from numpy.typing import NDArray

from ...sensors.layout import Field
from ...settings import Reduce
from ..contract import SensorList
from ..mujoco.contact_groups import ForceSummation
from ..mujoco.declarations import is_delayed
from ..mujoco.matching import full_layout
from ..mujoco.names import sensor_names
from ..mujoco.pairs import sensor_pairs, sensor_sides
from .sensor_forces import companion_addresses
from .watched_pairs import PairChoice

NO_SENSORS = int(mujoco.mjtDisableBit.mjDSBL_SENSOR)
"""Flag that leaves the arrays as they are."""
_SITE = int(mujoco.mjtObj.mjOBJ_SITE)
_MOST_PAIRS = 64
"""Pairs that the geoms of a sensor's two sides may make up for it to be looked at; all but one cannot collide then."""
_MOST_KNOWN = 1000
"""Sets of pairs whose forces are found without a search."""


class ToldPairs:
    """Pairs of which the arrays tell whether they are in the contact list, and how hard they press.

    `found` is more than 0 for a pair in the list. With a slot for every contact, the normal forces add up.
    """

    columns: NDArray[np.intp]
    """Where in `sensordata` the values are that tell it, (size,)."""

    def __init__(self, addresses: list[int], slots: list[int]) -> None:
        """Of companions whose arrays begin at these addresses, one a pair."""
        places = {count: _places(count) for count in set(slots)}
        found = [address + places[count][0] for address, count in zip(addresses, slots, strict=True)]
        forces = [address + places[count][1] for address, count in zip(addresses, slots, strict=True)]
        self.columns = np.concatenate([found, *forces])
        self._slots = np.array(slots, float)
        ends = len(slots) + np.cumsum(slots)
        self._forces = [np.arange(end - count, end) for end, count in zip(ends, slots, strict=True)]
        self._summations: dict[bytes, ForceSummation] = {}

    def found(self, values: NDArray[np.float64]) -> NDArray[np.float64]:
        """Contacts of the pairs, (..., pairs), by the values in `columns`, (..., size)."""
        return values[..., : len(self._slots)]

    def leaves_out(self, values: NDArray[np.float64]) -> bool:
        """Whether a pair has more contacts than slots: of the others no value, (..., size), tells the force."""
        return bool((self.found(values) > self._slots).any())

    def summation(self, pairs: NDArray[np.intp]) -> ForceSummation:
        """How the forces of some pairs, (k,), follow from the values in `columns`."""
        # The same pairs touch again and again.
        key = pairs.tobytes()
        known = self._summations.get(key)
        if known is None:
            forces = [self._forces[pair] for pair in pairs.tolist()]
            starts = np.cumsum([0, *map(len, forces)])[:-1]
            known = ForceSummation(np.concatenate([*forces, np.zeros(0, np.intp)]), starts)
            if len(self._summations) < _MOST_KNOWN:
                self._summations[key] = known
        return known


class TellingSensors:
    """The sensors of a model that match one pair of geoms each, and so may tell of the pairs of a choice."""

    def __init__(self, model: Any, choice: PairChoice) -> None:
        companions = companion_addresses(model)
        self._wanted = [(min(a, b), max(a, b)) for a, b in choice.geoms.tolist()]
        self._found: dict[str, tuple[tuple[int, int], int]] = {}
        """Pair and address of the companion's array, by the sensor's name."""
        if len(self._wanted) > len(companions):
            return
        for sensor_id, name in enumerate(sensor_names(model)):
            pair = _only_pair(model, sensor_id) if name in companions else None
            if pair is not None:
                self._found[name] = pair, companions[name]

    def tell(self, sensors: SensorList) -> ToldPairs | None:
        """What the sensors' arrays, as they are read now, tell of all pairs; None if they leave out one."""
        telling: dict[tuple[int, int], tuple[int, int]] = {}
        for name, (pair, address) in self._found.items():
            sensor = sensors[name]
            # A net force is not the sum of normal forces.
            if sensor.reduce is not Reduce.NETFORCE and sensor.slots > telling.get(pair, (0, 0))[1]:
                telling[pair] = address, sensor.slots
        if not self._wanted or not telling.keys() >= set(self._wanted):
            return None
        addresses, slots = zip(*(telling[pair] for pair in self._wanted), strict=True)
        return ToldPairs(list(addresses), list(slots))


def _only_pair(model: Any, sensor_id: int) -> tuple[int, int] | None:
    """The pair of geoms whose contacts a sensor reports, if it is one, and reports them all and at once."""
    if model.nflex or model.sensor_objtype[sensor_id] == _SITE or is_delayed(model, sensor_id):
        return None
    first, second = sensor_sides(model, sensor_id)
    if first.sum() * second.sum() > _MOST_PAIRS:
        return None
    possible = sensor_pairs(model, sensor_id).possible.tolist()
    return (min(possible[0]), max(possible[0])) if len(possible) == 1 else None


def _places(slots: int) -> tuple[int, NDArray[np.intp]]:
    """Where a companion's array holds `found`, and the normal force of each slot, (slots,)."""
    columns = full_layout(slots).described_columns
    found = next(i for i, column in enumerate(columns) if column.field is Field.FOUND)
    forces = [i for i, column in enumerate(columns) if column.field is Field.FORCE and column.axis == "normal"]
    return found, np.array(forces, np.intp)
