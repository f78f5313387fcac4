"""The controllers among the examples: one walks, one stands, one sweeps."""

from pathlib import Path
from typing import Any

import numpy as np
import pytest
from contact_viewer import open_engine
from contact_viewer.engines.controller_file import ControllerFile

FOLDER = Path(__file__).parent.parent / "examples" / "controllers"
pytestmark = pytest.mark.skipif(not FOLDER.is_dir(), reason="runs beside the source")
ROBOT = str(FOLDER / "trot.xml")


def driven(name: str, engine: str = "mujoco", **params: Any) -> Any:
    opened = open_engine(ROBOT, engine, control=ControllerFile(str(FOLDER / name), params).load())
    opened.reset("stand")
    return opened


def test_it_trots_forwards_on_diagonal_feet() -> None:
    engine = driven("trot.py")
    engine.step(500)
    start, touching = engine.data.qpos[:2].copy(), []
    for _ in range(2500):
        engine.step()
        touching.append([float(engine.contacts(f"foot_{leg}").found) > 0 for leg in ("FL", "RR", "FR", "RL")])
        assert engine.contacts("trunk").found == 0
    moved = engine.data.qpos[:2] - start
    assert moved[0] > 1.0
    assert abs(moved[1]) < 0.5
    feet = np.array(touching)
    # Every foot is in the air for a part of the time, and diagonal ones are together.
    assert ((feet.mean(axis=0) > 0.3) & (feet.mean(axis=0) < 0.95)).all()
    assert (feet[:, 0] == feet[:, 1]).mean() > 0.7
    assert (feet[:, 0] == feet[:, 2]).mean() < 0.7


def test_it_stands() -> None:
    engine = driven("stand.py", KP=200)
    engine.model.actuator_gainprm[:] = 0
    engine.model.actuator_biasprm[:] = 0
    engine.step(2000)
    assert engine.data.qpos[2] > 0.28
    force = sum(engine.contacts(f"foot_{leg}").net_force[2] for leg in ("FL", "RR", "FR", "RL"))
    assert force == pytest.approx(9.81 * engine.model.body_subtreemass[0], rel=0.02)


def test_it_sweeps_one_actuator() -> None:
    engine = driven("sweep.py", ACTUATOR=2, SECONDS=2)
    values = []
    for _ in range(1000):
        engine.step()
        values.append(float(engine.data.ctrl[2]))
    signs = np.flatnonzero(np.diff(np.sign(np.array(values) - np.mean(engine.model.actuator_ctrlrange[2]))))
    assert np.diff(signs)[0] > 3 * np.diff(signs)[-1]
    assert (engine.data.ctrl[[0, 1, 3]] == engine.model.key_ctrl[0, [0, 1, 3]]).all()
