"""Changing a sensor of a running scene, against compiling the model again."""

import itertools
from typing import Any

import mujoco
from contact_viewer import open_engine
from contact_viewer.assets import DEFAULT_SCENE
from contact_viewer.scene_files.scene import find_scene
from contact_viewer.settings import Reduce

from .measuring import OURS, Row, Work, seconds, take_turns
from .run import Run

RECOMPILE = "MjSpec.recompile"
_SETTLING_STEPS = 300
"""Until the scene's contacts exist."""
_CHANGES = 50
"""Changes of a sensor that are timed together: the first one after another program's turn finds no memory at hand."""


def reload(run: Run) -> list[Row]:
    repeats = run.sized(15, 1)
    switch = take_turns({OURS: _switch_reduce(), RECOMPILE: _recompile()}, repeats)
    add = take_turns({OURS: _add_sensor(), RECOMPILE: _recompile()}, repeats)
    return [
        switch.row("reload", f"{DEFAULT_SCENE}, reduce switch", RECOMPILE, "ms", goal=100.0),
        add.row("reload", f"{DEFAULT_SCENE}, adding a sensor for all contacts", RECOMPILE, "ms", goal=1.0),
    ]


def _switch_reduce() -> Work:
    engine = open_engine(DEFAULT_SCENE)
    engine.step(_SETTLING_STEPS)
    sensor = engine.sensors.names[0]
    modes = itertools.cycle(Reduce)

    def switch() -> None:
        engine.set_reduce(sensor, next(modes))

    return lambda: 1e3 * seconds(switch, _CHANGES)


def _add_sensor() -> Work:
    def add() -> float:
        engine = open_engine(DEFAULT_SCENE)
        engine.step(_SETTLING_STEPS)
        return 1e3 * seconds(lambda: engine.contacts(engine.watch_all().name))

    return add


def _recompile() -> Work:
    """The same change by MuJoCo's own means, the state kept."""
    spec = mujoco.MjSpec.from_file(str(find_scene(DEFAULT_SCENE)))
    model = spec.compile()
    data: Any = mujoco.MjData(model)
    mujoco.mj_step(model, data, _SETTLING_STEPS)
    sensor = spec.sensors[0]
    modes = itertools.cycle(range(len(Reduce)))

    def recompile() -> None:
        nonlocal model, data
        sensor.intprm[1] = next(modes)
        model, data = spec.recompile(model, data)

    return lambda: 1e3 * seconds(recompile, _CHANGES)
