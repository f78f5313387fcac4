"""Explains why a MuJoCo sensor reads what it reads: zeros, the balance of forces, the use of friction."""

from ...mjmodel.balance import Balance, measure_balance, sensor_body, tree_root
from ...mjmodel.diagnosis import Diagnosis
from ...mjmodel.friction import contact_cones
from ...mjmodel.names import body_names
from ...mjmodel.sleep import is_sensor_asleep, sleeping_bodies
from ...sensors.contacts import ContactBatch
from ...sensors.friction import FrictionCones
from ...settings import Reduce
from .sensor_reader import SensorReader

_ASLEEP = "Asleep: MuJoCo does not compute the sensor while its bodies sleep, and it keeps the values of before."
_UNLISTED = "{}: MuJoCo does not list contacts of what sleeps."


class MujocoDiagnostics:
    """Looks behind the arrays of a MuJoCo engine with one environment."""

    def __init__(self, engine: SensorReader) -> None:
        self._engine = engine
        self._diagnoses: dict[str, Diagnosis] = {}
        self._bodies = body_names(engine.model)

    def why_zero(self, name: str, batch: ContactBatch) -> str | None:
        if name not in self._diagnoses:
            self._diagnoses[name] = Diagnosis(self._engine.model, self._engine.sensor_id(name))
        return self._diagnoses[name].explain(self._engine.data, batch)

    def asleep(self, name: str) -> str | None:
        model, data, sensor_id = self._engine.model, self._engine.data, self._engine.sensor_id(name)
        if sensor_id is not None:
            return _ASLEEP if is_sensor_asleep(model, data, sensor_id) else None
        count = sleeping_bodies(model, data)
        return _UNLISTED.format(f"{count} bodies sleep" if count > 1 else "A body sleeps") if count else None

    def balance(self, name: str) -> Balance | None:
        root = self.balanced_body(name)
        return measure_balance(self._engine.model, self._engine.data, root) if root is not None else None

    def balanced_body(self, name: str) -> int | None:
        model, sensor_id = self._engine.model, self._engine.sensor_id(name)
        body = sensor_body(model, sensor_id) if sensor_id is not None else None
        return tree_root(model, body) if body is not None else None

    def in_each_mode(self, name: str) -> dict[Reduce, ContactBatch]:
        return {mode: self._engine.preview(name, mode) for mode in Reduce}

    def body_name(self, body: int) -> str:
        return self._bodies[body]

    def cones(self, batch: ContactBatch) -> FrictionCones | None:
        return contact_cones(self._engine.model, self._engine.data, batch)
