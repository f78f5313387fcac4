"""Rows that are made of many steps at once are those of each step, read alone."""

from pathlib import Path
from typing import Any

import gymnasium.envs.mujoco
import numpy as np
import pytest
from contact_viewer import open_engine
from contact_viewer.engines.contract import Engine
from contact_viewer.engines.steps import Step
from contact_viewer.recording.tables import NO_FRAME, ContactRows, Texts
from contact_viewer.session.session import Session
from contact_viewer.settings import ViewState

ROBOTS = Path(gymnasium.envs.mujoco.__file__).parent / "assets"
TWINS = """<mujoco><worldbody><geom name="floor" type="plane" size="1 1 .1"/>
  <body pos="0 0 .05"><freejoint/><geom name="a" size=".051" mass="1"/><geom name="b" size=".051" mass="1"/></body>
  </worldbody><sensor><contact name="{reduce}" geom1="floor" num="4" data="found force dist" reduce="{reduce}"/>
  <contact name="one" geom1="floor" geom2="b" num="2"/></sensor></mujoco>"""
"""Two geoms that touch the floor at the same place."""
CLOTH = """<mujoco><worldbody><geom name="floor" type="plane" size="1 1 .1"/><body name="held" pos="0 0 .03">
  <flexcomp name="cloth" type="grid" count="3 3 1" spacing=".1 .1 .1" radius=".01" mass=".1"><edge equality="true"/>
  </flexcomp></body></worldbody><sensor><contact name="all" num="12"/></sensor></mujoco>"""

Row = tuple[Any, ...]


def rows_of(block: Any) -> list[Row]:
    columns = ("step", "time", "sensor", "slot", "found", "force_x", "force_normal", "dist", "pos_z", "geom1", "geom2")
    values = [block[name] for name in columns]
    texts = [[each.names[code] for code in each.codes] if isinstance(each, Texts) else each.tolist() for each in values]
    return list(zip(*texts, strict=True))


class StepByStep:
    """Reads every sensor alone after each step."""

    def __init__(self, engine: Engine) -> None:
        self.rows: list[Row] = []
        self._step = 0
        self.after_step(Step(engine))

    def after_step(self, step: Step) -> None:
        engine = step.engine
        for name in engine.sensors.names:
            batch, geoms = engine.contacts(name), engine.details(name).geoms
            assert batch.force is not None
            assert batch.force_world is not None
            assert batch.dist is not None
            assert batch.pos is not None
            head = self._step, engine.time, name
            for slot in np.flatnonzero(batch.filled).tolist():
                normal = np.nan if batch.in_world_frame else batch.force[slot, 0]
                numbers = batch.force_world[slot, 0], normal, batch.dist[slot], batch.pos[slot, 2]
                self.rows.append((*head, slot, float(batch.found), *map(float, numbers), *geoms[slot]))
            if not batch.filled.any():
                self.rows.append((*head, 0, float(batch.found), *[np.nan] * 4, "", ""))
        self._step += 1

    def after_reset(self, engine: Engine) -> None:
        """Nothing."""


@pytest.mark.parametrize(
    ("scene", "engine"),
    [
        ("quadruped", "mujoco"),
        ("gripper", "mujoco"),
        ("gripper", "motrix"),
        (ROBOTS / "ant.xml", "mujoco"),
        *[(TWINS.format(reduce=reduce), "mujoco") for reduce in ("none", "mindist", "maxforce", "netforce")],
        (CLOTH, "mujoco"),
    ],
)
def test_rows_of_many_steps_are_those_of_each_step(scene: Any, engine: str, tmp_path: Path) -> None:
    path = scene
    if isinstance(scene, str) and scene.startswith("<"):
        path = tmp_path / "scene.xml"
        path.write_text(scene)
    session = Session(open_engine(path, engine), ViewState(), keeps_history=False)
    session.watch_without_sensors()
    alone, together = StepByStep(session.engine), ContactRows(session, 100)
    rows: list[Row] = []

    class Together:
        step = 0

        def after_step(self, step: Step) -> None:
            if (block := together.add(self.step, NO_FRAME)) is not None:
                rows.extend(rows_of(block))
            self.step += 1

        def after_reset(self, engine: Engine) -> None:
            """Nothing."""

    observer = Together()
    observer.after_step(Step(session.engine))
    session.simulation.observers += [alone, observer]
    rng = np.random.default_rng(3)
    for _ in range(12):
        data = session.simulation.engine.data
        data.ctrl[:] = rng.uniform(-0.5, 0.5, data.ctrl.shape)
        session.simulation.step(20)
    if (block := together.pop_block()) is not None:
        rows.extend(rows_of(block))
    assert len(rows) == len(alone.rows)
    assert any(row[-1] for row in rows) or "netforce" in str(scene)
    for ours, theirs in zip(rows, alone.rows, strict=True):
        assert ours[:4] == theirs[:4]
        assert ours[-2:] == theirs[-2:], ours
        np.testing.assert_array_equal(ours[4:9], theirs[4:9])
