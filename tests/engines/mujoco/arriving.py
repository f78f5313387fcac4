"""A program whose states arrive at an engine of ours, beside its own data."""

import math
from collections import deque
from collections.abc import Callable, Iterator

import mujoco
import numpy as np
from contact_viewer import open_engine
from contact_viewer.engines.abilities import ArrivedStep
from contact_viewer.engines.mujoco.resimulation import ArrivedRow, Resimulator
from contact_viewer.mjmodel.model_values import ModelValues
from contact_viewer.mjmodel.state import STATE, RowKind
from contact_viewer.scene_files.scene import find_scene
from contact_viewer.session.simulation import Simulation


class Rows:
    """Rows that wait to be taken."""

    def __init__(self) -> None:
        self.waiting: deque[ArrivedRow] = deque()
        self.looked_at = math.inf
        """Rows before this one were written before someone last looked at the model."""

    def next_row(self) -> ArrivedRow | None:
        return self.waiting.popleft() if self.waiting else None

    def is_model_known(self, row: ArrivedRow) -> bool:
        return row.number < self.looked_at


class Theirs:
    """A program with a model and data of its own, whose states arrive at an engine of ours."""

    def __init__(self, scene: str, change: Callable[[mujoco.MjModel], None] = lambda model: None) -> None:
        self.model = mujoco.MjModel.from_xml_path(str(find_scene(scene)))
        change(self.model)
        self.data = mujoco.MjData(self.model)
        engine = open_engine(scene)
        change(engine.model)
        engine.reset()
        self.rows = Rows()
        self.values, self.version, self.written = ModelValues(self.model), 0, 0
        self.before = self.values.read()
        self.arrivals = Resimulator(engine, self.rows, engine.allow_model_changes())
        self.versions = engine.allow_model_changes()
        self.simulation = Simulation(engine, history_bytes=2**25)
        self.hand_over()

    def hand_over(self, kind: RowKind = RowKind.AFTER, look: bool = False) -> None:
        """Hand over the state; `look`: and the model, if it has changed."""
        if look:
            now = self.values.read()
            if now != self.before:
                self.before = now
                self.version += 1
                self.versions.add(self.version, now)
            self.rows.looked_at = self.written + 1
        state = np.empty(mujoco.mj_stateSize(self.model, STATE))
        mujoco.mj_getState(self.model, self.data, state, STATE)
        self.rows.waiting.append(ArrivedRow(state, kind, version=self.version, number=self.written))
        self.written += 1

    def arrived(self) -> Iterator[ArrivedStep]:
        while (step := self.arrivals.next_step()) is not None:
            self.simulation.observe(step)
            yield step

    def is_seen(self) -> None:
        """The contacts of our data are those of theirs, to the last bit."""
        assert forces(self.simulation.engine.model, self.simulation.engine.data) == forces(self.model, self.data)


def forces(model: mujoco.MjModel, data: mujoco.MjData) -> list[tuple[bytes, bytes, bytes]]:
    """Geoms, place and force of every contact."""
    found, force = [], np.empty(6)
    for i, contact in enumerate(data.contact):
        mujoco.mj_contactForce(model, data, i, force)
        found.append((contact.geom.tobytes(), contact.pos.tobytes(), force.tobytes()))
    return found
