"""Random scenes through the engine and through bare MuJoCo: the same physics, arrays, forces and positions.

`make test-long` takes thousands of them; SCENES says how many, FIRST_SCENE which is the first.
"""

import os
from pathlib import Path
from typing import Any

import mujoco
import numpy as np
import pytest
from contact_viewer import open_engine
from contact_viewer.mjmodel.matching import full_layout
from contact_viewer.mjmodel.sleep import is_sensor_asleep
from contact_viewer.sensors.contacts import ContactBatch
from contact_viewer.settings import Reduce
from numpy.typing import NDArray

from .random_scenes import DeclaredSensor, RandomScene

SCENES, FIRST = int(os.environ.get("SCENES", "60")), int(os.environ.get("FIRST_SCENE", "0"))
BATCH = 20
STEPS, EVERY = 120, 30
STATE = int(mujoco.mjtState.mjSTATE_INTEGRATION)
WIDE = 400

Values = NDArray[np.float64]


class Reference:
    """Bare MuJoCo with the scene's own sensors, and with complete ones in every reduce mode."""

    def __init__(self, scene: RandomScene) -> None:
        everything = DeclaredSensor("everything", "", (), WIDE, Reduce.NONE).complete(Reduce.NONE)
        complete = tuple(sensor.complete(reduce) for sensor in scene.sensors for reduce in Reduce)
        self.model = mujoco.MjModel.from_xml_string(scene.xml((*scene.sensors, *complete, everything)))
        self.data = mujoco.MjData(self.model)

    def array(self, name: str) -> Values:
        values: Values = self.data.sensor(name).data
        return values

    def state(self) -> Values:
        return state_of(self.model, self.data)


def state_of(model: Any, data: Any) -> Values:
    state = np.empty(mujoco.mj_stateSize(model, STATE))
    mujoco.mj_getState(model, data, state, STATE)
    return state


def check_contacts(batch: ContactBatch, expected: Values, reduce: Reduce, tolerance: float, why: str) -> None:
    """A batch is what a complete array of bare MuJoCo says."""
    slots = batch.filled.shape[-1]
    actual = full_layout(slots, reduce).encode(batch)
    # Sums are rounded by the largest of their terms: a few scenes explode, with forces of 1e16 N that cancel out.
    scale = max(1.0, float(np.abs(expected).max()))
    np.testing.assert_allclose(actual, expected, rtol=tolerance, atol=tolerance * scale, err_msg=why)


def check_forces(batch: ContactBatch, reference: Reference, why: str) -> None:
    """Forces in the world, and where they act, are those that MuJoCo has for the contact at that place."""
    assert batch.force_world is not None
    assert batch.pos is not None
    assert batch.normal is not None
    contact, wrench = reference.data.contact, np.zeros(6)
    for slot in np.flatnonzero(batch.filled):
        (places,) = np.nonzero((contact.pos == batch.pos[slot]).all(axis=1))
        assert len(places), why
        if len(places) > 1:
            continue
        mujoco.mj_contactForce(reference.model, reference.data, int(places[0]), wrench)
        frame = contact.frame[places[0]].reshape(3, 3)
        force = np.copysign(1.0, batch.normal[slot] @ frame[0]) * (frame.T @ wrench[:3])
        np.testing.assert_allclose(batch.force_world[slot], force, rtol=1e-9, atol=1e-9, err_msg=why)


def run_scene(seed: int, folder: Path) -> int:
    """Compare one scene; how many contacts were compared."""
    scene = RandomScene(seed)
    path = folder / "scene.xml"
    path.write_text(scene.xml())
    reference = Reference(scene)
    ours = open_engine(path)
    assert not any(sensor.reconstructed for sensor in ours.sensors)
    bare = mujoco.MjModel.from_xml_path(str(path))
    theirs = open_engine(bare)
    everything = theirs.watch_all().name
    plain = mujoco.MjData(bare)
    compared = 0
    # After a step with Runge-Kutta, the contact list is that of its last stage.
    listed = scene.integrator != "RK4"
    for step in range(0, STEPS, EVERY):
        for _ in range(EVERY):
            mujoco.mj_step(bare, plain)
            mujoco.mj_step(reference.model, reference.data)
        ours.step(EVERY)
        theirs.step(EVERY)
        why = f"scene {seed}, step {step + EVERY}"
        np.testing.assert_array_equal(state_of(ours.model, ours.data), state_of(bare, plain), err_msg=why)
        np.testing.assert_array_equal(state_of(theirs.model, theirs.data), state_of(bare, plain), err_msg=why)
        np.testing.assert_array_equal(theirs.data.sensordata, plain.sensordata, err_msg=why)
        for i, sensor in enumerate(scene.sensors):
            told = f"{why}, {sensor.element}"
            np.testing.assert_array_equal(ours.array(sensor.name), plain.sensor(sensor.name).data, err_msg=told)
            batch, complete = ours.contacts(sensor.name), reference.array(f"{sensor.name}/{sensor.reduce}")
            check_contacts(batch, complete, sensor.reduce, 0.0, told)
            compared += int(batch.filled.sum())
            awake = not is_sensor_asleep(bare, plain, i)
            if listed and awake and sensor.reduce is not Reduce.NETFORCE:
                check_forces(batch, reference, told)
            if listed and awake:
                rebuilt = theirs.contacts(sensor.name)
                check_contacts(rebuilt, complete, sensor.reduce, 1e-9, told)
        if listed:
            check_everything(theirs.contacts(everything), reference, why)
    if listed and scene.sensors:
        switch_modes(ours, scene, reference, plain, f"scene {seed}")
    return compared


def check_everything(batch: ContactBatch, reference: Reference, why: str) -> None:
    """Watch-all has every contact, and the whole force."""
    count, wrench, total = reference.data.ncon, np.zeros(6), np.zeros(3)
    assert batch.found == batch.filled.sum() == count, why
    for i, contact in enumerate(reference.data.contact):
        mujoco.mj_contactForce(reference.model, reference.data, i, wrench)
        total += contact.frame.reshape(3, 3).T @ wrench[:3]
    assert batch.net_force is not None
    np.testing.assert_allclose(batch.net_force, total, rtol=1e-9, atol=1e-9, err_msg=why)
    filled = full_layout(WIDE).encode(batch.cut(0, WIDE))
    np.testing.assert_allclose(filled, reference.array("everything/none"), rtol=1e-9, atol=1e-9, err_msg=why)


def switch_modes(engine: Any, scene: RandomScene, reference: Reference, plain: Any, why: str) -> None:
    """A sensor that is switched reports at once what one declared so would."""
    for i, sensor in enumerate(scene.sensors):
        if is_sensor_asleep(engine.model, plain, i):
            continue
        for reduce in Reduce:
            engine.set_reduce(sensor.name, reduce)
            complete = reference.array(f"{sensor.name}/{reduce}")
            check_contacts(
                engine.contacts(sensor.name), complete, reduce, 1e-12, f"{why}, {sensor.element} as {reduce}"
            )


@pytest.mark.parametrize("start", range(FIRST, FIRST + SCENES, BATCH))
def test_random_scenes_are_as_in_bare_mujoco(tmp_path: Path, start: int, monkeypatch: pytest.MonkeyPatch) -> None:
    if start // BATCH % 2:
        # As if they had very many sensors.
        monkeypatch.setattr("contact_viewer.scene_files.compile_worker.MANY_SENSORS", -1)
    compared = sum(run_scene(seed, tmp_path) for seed in range(start, min(start + BATCH, FIRST + SCENES)))
    assert compared > BATCH
