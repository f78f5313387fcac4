"""Many environments at once with every sensor decoded, against MotrixSim's batch and a loop over MuJoCo's data."""

from collections.abc import Callable
from functools import partial
from typing import Any

import mujoco
import numpy as np
from contact_viewer import open_engine
from contact_viewer.scene_files.scene import find_scene

from .environments import PEERS
from .measuring import OURS, Row, Work, seconds, take_turns
from .run import Run

SCENE = "quadruped"
MOTRIX = "MotrixSim's batch, undecoded"
LOOP = "Python loop over MjData, undecoded"


def envs(run: Run) -> list[Row]:
    count, steps = run.sized((64, 100), (2, 3))
    path = find_scene(SCENE)

    def work_motrix() -> float:
        return float(run.environments.work(PEERS, "batch_motrix.py", path, count, steps)["seconds"])

    works = {
        OURS: _timed(partial(_step_ours, open_engine(path, num_envs=count), steps)),
        LOOP: _timed(partial(_step_loop, *_datas(str(path), count), steps)),
        MOTRIX: work_motrix,
    }
    # Two threads at once are what a busy machine disturbs most.
    measured = take_turns(works, run.sized(15, 1))
    case = f"{SCENE}, {count} environments x {steps} steps, all sensors decoded"
    return [
        measured.row("envs", case, MOTRIX, "s", goal=1.0),
        measured.row("envs", case, LOOP, "s", goal=1.5),
    ]


def _timed(work: Callable[[], object]) -> Work:
    """Time of a work whose threads and caches are warm, as they are in MotrixSim's process."""

    def measure() -> float:
        work()
        return seconds(work)

    return measure


def _step_ours(engine: Any, steps: int) -> None:
    engine.reset()
    for _ in range(steps):
        engine.step()
        for _, batch in engine.grouped_contacts():
            assert batch.force_world is not None


def _datas(path: str, count: int) -> tuple[Any, list[Any]]:
    model = mujoco.MjModel.from_xml_path(path)
    return model, [mujoco.MjData(model) for _ in range(count)]


def _step_loop(model: Any, datas: list[Any], steps: int) -> None:
    for data in datas:
        mujoco.mj_resetData(model, data)
        mujoco.mj_forward(model, data)
    for _ in range(steps):
        for data in datas:
            mujoco.mj_step(model, data)
        np.stack([data.sensordata for data in datas])
