"""Why a sensor reads what it reads: zeros explained, forces weighed, friction used."""

from .engines.contract import Engine
from .engines.mujoco.balance import Balance, measure_balance, sensor_body, tree_root
from .engines.mujoco.cones import contact_cones
from .engines.mujoco.diagnosis import Diagnosis
from .engines.mujoco.engine import MujocoEngine
from .engines.mujoco.names import body_names
from .sensors.contacts import ContactBatch
from .sensors.friction import FrictionCones
from .settings import Reduce


class Reasons:
    """Looks behind the arrays of one engine's sensors."""

    def __init__(self, engine: MujocoEngine) -> None:
        self._engine = engine
        self._diagnoses: dict[str, Diagnosis] = {}
        self._bodies = body_names(engine.model)

    @classmethod
    def of(cls, engine: Engine) -> "Reasons | None":
        """Reasons where the engine's model and data tell them."""
        return cls(engine) if isinstance(engine, MujocoEngine) and engine.num_envs == 1 else None

    def why_zero(self, name: str, batch: ContactBatch) -> str | None:
        """One sentence on a sensor that reads nothing; None if it reads a force."""
        if name not in self._diagnoses:
            self._diagnoses[name] = Diagnosis(self._engine.model, self._engine.sensor_id(name))
        reason = self._diagnoses[name].explain(self._engine.data, batch)
        return reason.sentence if reason else None

    def balance(self, name: str) -> Balance | None:
        """The forces on the whole thing that a sensor feels for, from its root on; None if it does not move."""
        root = self.balanced_body(name)
        return measure_balance(self._engine.model, self._engine.data, root) if root is not None else None

    def balanced_body(self, name: str) -> int | None:
        """The body whose `balance` is that of a sensor."""
        model, sensor_id = self._engine.model, self._engine.sensor_id(name)
        body = sensor_body(model, sensor_id) if sensor_id is not None else None
        return tree_root(model, body) if body is not None else None

    def in_each_mode(self, name: str) -> dict[Reduce, ContactBatch]:
        """What a sensor would report now in every reduce mode."""
        return {mode: self._engine.preview(name, mode) for mode in Reduce}

    def body_name(self, body: int) -> str:
        return self._bodies[body]

    def cones(self, batch: ContactBatch) -> FrictionCones | None:
        """Friction use and state of the filled slots; None for net contacts."""
        return contact_cones(self._engine.model, self._engine.data, batch)
