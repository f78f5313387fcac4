"""Random scenes through the engine and through bare MuJoCo: the same physics, arrays, forces and positions.

`make test-long` takes thousands of them; SCENES says how many, FIRST_SCENE which is the first.
"""

import copy
import os
from pathlib import Path
from typing import Any

import mujoco
import numpy as np
import pytest
from contact_viewer import open_engine
from contact_viewer.engines.abilities import ArrivedStep
from contact_viewer.engines.contact_sensor import ContactDetails
from contact_viewer.engines.mujoco.batch import BatchEngine, BatchState
from contact_viewer.engines.mujoco.engine import MujocoEngine
from contact_viewer.mjmodel.matching import full_layout
from contact_viewer.mjmodel.names import geom_names
from contact_viewer.mjmodel.sleep import is_sensor_asleep
from contact_viewer.scene_files.compiled_sensors import with_sensors
from contact_viewer.scene_files.scene import LoadedScene
from contact_viewer.sensors.contacts import ContactBatch
from contact_viewer.session.saved_run import RunSaver
from contact_viewer.session.simulation import Simulation
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
        self.listed = self.data
        """With the contact list of the state from which the last step started, which the arrays report."""

    def step(self) -> None:
        start = self.state()
        mujoco.mj_step(self.model, self.data)
        if self.model.opt.integrator == mujoco.mjtIntegrator.mjINT_RK4:
            # Such a step leaves the contacts of its last stage.
            if self.listed is self.data:
                self.listed = mujoco.MjData(self.model)
            mujoco.mj_setState(self.model, self.listed, start, STATE)
            mujoco.mj_forward(self.model, self.listed)

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


def check_forces(batch: ContactBatch, details: ContactDetails, reference: Reference, why: str) -> None:
    """Forces in the world, geoms and friction are those that MuJoCo has for the contact at that place."""
    assert batch.force_world is not None
    assert batch.pos is not None
    assert batch.normal is not None
    contact, wrench, names = reference.listed.contact, np.zeros(6), geom_names(reference.model)
    for slot in np.flatnonzero(batch.filled):
        (places,) = np.nonzero((contact.pos == batch.pos[slot]).all(axis=1))
        assert len(places), why
        if len(places) > 1:
            continue
        mujoco.mj_contactForce(reference.model, reference.listed, int(places[0]), wrench)
        frame = contact.frame[places[0]].reshape(3, 3)
        force = np.copysign(1.0, batch.normal[slot] @ frame[0]) * (frame.T @ wrench[:3])
        np.testing.assert_allclose(batch.force_world[slot], force, rtol=1e-9, atol=1e-9, err_msg=why)
        geoms, used = contact.geom[places[0]], contact.dim[places[0]] - 1
        if (geoms >= 0).all():
            assert sorted(details.geoms[slot]) == sorted(names[geom] for geom in geoms), why
        np.testing.assert_array_equal(details.friction[slot, :used], contact.friction[places[0], :used], err_msg=why)
        assert not details.friction[slot, used:].any(), why


def run_scene(seed: int, folder: Path, is_compiled: bool) -> int:
    """Compare one scene, of a file or of a model that a program has compiled; how many contacts were compared."""
    scene = RandomScene(seed)
    path = folder / "scene.xml"
    path.write_text(scene.xml())
    reference = Reference(scene)
    bare = mujoco.MjModel.from_xml_path(str(path))
    ours = MujocoEngine(with_sensors(LoadedScene(None, bare))) if is_compiled else open_engine(path)
    assert not any(sensor.reconstructed for sensor in ours.sensors)
    theirs = open_engine(bare)
    everything = theirs.watch_all().name
    plain = mujoco.MjData(bare)
    compared = 0
    for step in range(0, STEPS, EVERY):
        for _ in range(EVERY):
            mujoco.mj_step(bare, plain)
            reference.step()
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
            if awake and sensor.reduce is not Reduce.NETFORCE:
                check_forces(batch, ours.details(sensor.name), reference, told)
            if awake:
                rebuilt = theirs.contacts(sensor.name)
                check_contacts(rebuilt, complete, sensor.reduce, 1e-9, told)
        check_everything(theirs.contacts(everything), reference, why)
    if scene.sensors:
        switch_modes(ours, scene, reference, plain, f"scene {seed}")
    return compared


def check_everything(batch: ContactBatch, reference: Reference, why: str) -> None:
    """Watch-all has every contact, and the whole force."""
    count, wrench, total = reference.listed.ncon, np.zeros(6), np.zeros(3)
    assert batch.found == batch.filled.sum() == count, why
    for i, contact in enumerate(reference.listed.contact):
        mujoco.mj_contactForce(reference.model, reference.listed, i, wrench)
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
def test_random_scenes_are_as_in_bare_mujoco(tmp_path: Path, start: int) -> None:
    seeds = range(start, min(start + BATCH, FIRST + SCENES))
    compared = sum(run_scene(seed, tmp_path, bool(start // BATCH % 2)) for seed in seeds)
    assert compared > BATCH


@pytest.mark.parametrize("start", range(FIRST, FIRST + SCENES, BATCH))
def test_random_scenes_of_a_batch_with_decimation_are_as_handed_over(start: int) -> None:
    """Arrays and times of the rows of `launch_batch`, also of those that are looked at again, some steps apart."""
    compared = 0
    for seed in range(start, min(start + BATCH, FIRST + SCENES)):
        scene, rng = RandomScene(seed), np.random.default_rng(seed)
        model = mujoco.MjModel.from_xml_string(scene.xml())
        data, engine = mujoco.MjData(model), BatchEngine(copy.deepcopy(model))
        rows = [(state_of(model, data), data.sensordata.copy())]
        engine.arrive(BatchState(*rows[0]))
        simulation = Simulation(engine, history_bytes=2**22)
        history, shown = simulation.history, simulation.shown
        assert history is not None
        for _ in range(40):
            mujoco.mj_step(model, data, int(rng.integers(1, 9)) if seed % 2 else 10)
            rows.append((state_of(model, data), data.sensordata.copy()))
            if rng.random() < 0.2:
                simulation.go_to(int(rng.integers(history.first, history.last + 1)))
            engine.arrive(BatchState(*rows[-1]))
            simulation.observe(ArrivedStep())
        times = np.array([state[0] for state, _ in rows])
        why = f"scene {seed}"
        np.testing.assert_allclose(history.times(np.arange(len(rows))), times, rtol=0, atol=1e-8, err_msg=why)
        assert history.seconds == pytest.approx(times[-1]), why
        for step in rng.permutation(len(rows))[:8].tolist():
            simulation.go_to(step)
            assert history.step_at(times[step]) == step, why
            assert shown.time == pytest.approx(times[step], abs=1e-8), why
            for i, sensor in enumerate(engine.sensors):
                given = rows[step][1][model.sensor_adr[i] : model.sensor_adr[i] + model.sensor_dim[i]]
                np.testing.assert_array_equal(shown.array(sensor.name), given, err_msg=why)
                compared += int(np.any(given))
    assert compared > BATCH


class Watched:
    """All that is shown of the first state of a scene and of some steps."""

    def __init__(self, engine: Any, count: int) -> None:
        engine.watch_all()
        self._engine = engine
        self.simulation = Simulation(engine, history_bytes=2**28)
        self.steps = [self.look()]
        for _ in range(count):
            self.simulation.step()
            self.steps.append(self.look())

    def look(self) -> list[bytes]:
        engine, data = self._engine, self._engine.data
        arrays = [data.qpos, data.qvel, data.sensordata, data.contact.pos, data.efc_force, data.xfrc_applied]
        arrays += [engine.contacts(name).force for name in engine.sensors.names]
        return [array.tobytes() for array in arrays]


@pytest.mark.parametrize("start", range(FIRST, FIRST + SCENES, BATCH))
def test_saved_runs_of_random_scenes_with_keyframe_and_controller_are_as_they_were(tmp_path: Path, start: int) -> None:
    """Every state, array and contact force, from the first state on, which nothing has pushed yet."""
    compared = 0
    for seed in range(start, min(start + BATCH, FIRST + SCENES), 4):
        scene = RandomScene(seed)
        model = mujoco.MjModel.from_xml_string(scene.xml())
        data = mujoco.MjData(model)
        mujoco.mj_step(model, data, 50)
        pose = " ".join(map(repr, data.qpos.tolist()))
        pushed = f'<keyframe><key name="later" time="{data.time}" qpos="{pose}"/></keyframe></mujoco>'
        path = tmp_path / f"scene{seed}.xml"
        path.write_text(scene.xml().replace("</mujoco>", pushed))

        def push(model: Any, data: Any, seed: int = seed) -> None:
            data.xfrc_applied[1 + seed % (model.nbody - 1), :3] = 30 * np.sin(50 * data.time + np.arange(3) + seed)

        engine = open_engine(path, control=push)
        engine.reset("later")
        seen = Watched(engine, 60)
        run = RunSaver(seen.simulation, tmp_path / f"run{seed}.cvrun").write()
        again = Watched(open_engine(run), 60)
        assert again.simulation.source.summary() == f"run{seed}.cvrun: all 60 steps are exact"
        for step, (ours, theirs) in enumerate(zip(again.steps, seen.steps, strict=True)):
            assert ours == theirs, f"scene {seed}, step {step}"
        seen.simulation.go_to(0)
        assert seen.look() == seen.steps[0], f"scene {seed}, scrubbed"
        compared += engine.data.ncon
    assert compared > 5
