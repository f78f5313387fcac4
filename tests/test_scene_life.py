"""Every bundled scene stays alive: what its sensors report at first, they still report much later."""

import mujoco
import numpy as np
import pytest
from contact_viewer.assets import bundled_scenes
from contact_viewer.engines.controller_file import ControllerFile
from numpy.typing import NDArray

SCENES = {scene.name: scene for scene in bundled_scenes()}
SPAN, READ_EVERY = 30.0, 0.02
"""Simulated time in which a scene is looked at, at first and at the end, and between two readings [s]."""
SETTLING = 5.0
HOUR = 3600.0
SLOW = ("pile", "targets", "touch")


class Run:
    """A scene that takes bare steps, driven by the controller beside it, if it has one."""

    def __init__(self, name: str) -> None:
        self.model = mujoco.MjModel.from_xml_path(str(SCENES[name].path))
        self.data = mujoco.MjData(self.model)
        control = SCENES[name].control
        self.controller = None if control is None else ControllerFile(str(control)).load()
        if self.controller is not None:
            self.controller.start(self.model, [self.data])

    def step(self, seconds: float) -> None:
        count = round(seconds / self.model.opt.timestep)
        if self.controller is None:
            mujoco.mj_step(self.model, self.data, nstep=count)
            return
        for _ in range(count):
            self.controller.control(self.model, self.data)
            mujoco.mj_step(self.model, self.data)

    def read(self, seconds: float) -> NDArray[np.float64]:
        rows = []
        for _ in range(round(seconds / READ_EVERY)):
            self.step(READ_EVERY)
            rows.append(self.data.sensordata.copy())
        return np.array(rows)


def check(name: str, age: float) -> None:
    """Run bare steps up to an age [s], and compare the last readings with the first."""
    run = Run(name)
    model, data = run.model, run.data
    # Things fall into place at first.
    run.step(SETTLING)
    first = run.read(SPAN)
    run.step(age - data.time - SPAN)
    last = run.read(SPAN)
    assert not any(warning.number for warning in data.warning)
    assert np.isfinite(data.qpos).all()
    assert np.abs(data.xpos).max() < 1.0, "something has left the scene"
    for sensor in range(model.nsensor):
        start = model.sensor_adr[sensor]
        columns = slice(start, start + model.sensor_dim[sensor])
        often = first[:, columns].any(axis=1).mean() > 0.02
        assert last[:, columns].any() or not often, f"{model.sensor(sensor).name} has fallen silent"
    # And it moves: values that change at first still do.
    changes, changes_late = first.std(axis=0), last.std(axis=0)
    lively = changes > 0.2 * changes.max()
    assert (changes_late[lively] > 0.5 * changes[lively]).any(), "it has come to rest"


@pytest.mark.parametrize("name", [name for name in SCENES if name not in SLOW])
def test_a_scene_lives_for_minutes(name: str) -> None:
    # The box of an earlier slope was gone after 114 s.
    check(name, 400.0 if name == "slope" else 90.0)


@pytest.mark.long
@pytest.mark.timeout(5400)
@pytest.mark.parametrize("name", SCENES)
def test_a_scene_lives_for_an_hour(name: str) -> None:
    check(name, HOUR)
