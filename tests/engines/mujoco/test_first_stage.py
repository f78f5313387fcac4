"""What is said of the contacts of a Runge-Kutta step, against MuJoCo in the state from which the step started.

Gymnasium's robots are the scenes: all of them use that integrator. Their sensors report the first stage of a step, and
the step leaves the contacts of its last stage behind.
"""

import re
from pathlib import Path
from typing import Any

import gymnasium
import mujoco
import numpy as np
import pytest
from contact_viewer import open_engine
from contact_viewer.engines.contact_sensor import ContactDetails
from contact_viewer.engines.contract import Engine
from contact_viewer.engines.steps import Step
from contact_viewer.events.breaks import Break, BreakWhen
from contact_viewer.events.tracker import ContactTracker
from contact_viewer.mjmodel.friction import contact_cones
from contact_viewer.mjmodel.matching import Matches, rebuild_contacts
from contact_viewer.mjmodel.names import geom_names
from contact_viewer.sensors.contacts import ContactBatch
from contact_viewer.sensors.friction import ContactState
from contact_viewer.session.simulation import Simulation
from contact_viewer.settings import Reduce

ROBOTS = ("hopper.xml", "ant.xml", "walker2d_v5.xml", "humanoid.xml")
ASSETS = Path(gymnasium.__file__).parent / "envs" / "mujoco" / "assets"
STATE = int(mujoco.mjtState.mjSTATE_INTEGRATION)
STEPS = 300
FIELDS = ("found", "filled", "force", "torque", "dist", "pos", "normal", "tangent0", "linvel", "angvel")


def robot(folder: Path, name: str, sensors: bool = True) -> Path:
    """A robot of Gymnasium, with a sensor of all contacts if it is to have sensors."""
    declared = '<sensor><contact name="everything" num="60" data="found force pos"/></sensor>' if sensors else ""
    path = folder / name
    path.write_text(re.sub(r"</mujoco>\s*$", f"{declared}</mujoco>", (ASSETS / name).read_text()))
    return path


class Driven:
    """An engine that is driven at random, and MuJoCo with the contacts of the state before each step."""

    def __init__(self, engine: Engine, seed: int = 0) -> None:
        self.engine, self.model = engine, engine.model
        self.before = mujoco.MjData(self.model)
        self._rng = np.random.default_rng(seed)
        self._start = np.empty(mujoco.mj_stateSize(self.model, STATE))
        self._steps = 0

    def step(self) -> None:
        engine = self.engine
        if self._steps % 10 == 0:
            engine.data.ctrl[:] = self._rng.uniform(-1, 1, self.model.nu)
        self._steps += 1
        mujoco.mj_getState(self.model, engine.data, self._start, STATE)
        engine.step()
        mujoco.mj_setState(self.model, self.before, self._start, STATE)
        mujoco.mj_forward(self.model, self.before)

    def forces(self) -> np.ndarray[Any, Any]:
        """`mj_contactForce` of each contact, (contacts, 6)."""
        found = np.zeros((self.before.ncon, 6))
        for i, force in enumerate(found):
            mujoco.mj_contactForce(self.model, self.before, i, force)
        return found


def is_same(one: ContactBatch, other: ContactBatch, count: int) -> None:
    """The first contacts of two batches are the same, bit for bit; velocities but for rounding."""
    for name in FIELDS:
        ours, theirs = getattr(one, name), getattr(other, name)
        if name != "found":
            ours, theirs = ours[:count], theirs[:count]
        rounding = 1e-12 if name in ("linvel", "angvel") else 0.0
        np.testing.assert_allclose(ours, theirs, rtol=rounding, atol=rounding, err_msg=name)


@pytest.mark.parametrize("name", ROBOTS)
def test_arrays_contacts_geoms_and_friction_of_a_robot_are_of_one_stage(tmp_path: Path, name: str) -> None:
    driven = Driven(open_engine(robot(tmp_path, name)))
    engine, labels, touched, moved = driven.engine, geom_names(driven.model), 0, 0
    for _ in range(STEPS):
        driven.step()
        before, batch, details = driven.before, engine.contacts("everything"), engine.details("everything")
        count = before.ncon
        assert int(batch.filled.sum()) == count
        assert batch.pos is not None
        assert batch.force is not None
        assert batch.normal is not None
        np.testing.assert_array_equal(batch.pos[:count], before.contact.pos)
        np.testing.assert_array_equal(batch.force[:count], driven.forces()[:, :3])
        np.testing.assert_array_equal(batch.normal[:count], before.contact.frame[:, :3])
        for slot, geoms in enumerate(before.contact.geom.tolist()):
            assert details.geoms[slot] == tuple(labels[geom] for geom in geoms)
            used = before.contact.dim[slot] - 1
            np.testing.assert_array_equal(details.friction[slot, :used], before.contact.friction[slot, :used])
        is_same(engine.diagnostics.in_each_mode("everything")[Reduce.NONE], batch, count)  # type: ignore[union-attr]
        assert not engine.dropped("everything").filled.any()
        cones = contact_cones(driven.model, before, batch)
        ours = engine.diagnostics.cones(batch)  # type: ignore[union-attr]
        assert cones is not None
        assert ours is not None
        np.testing.assert_array_equal(ours.use, cones.use)
        np.testing.assert_array_equal(ours.states, cones.states)
        assert ContactState.UNKNOWN not in ours.states
        touched += count
        moved += count > 0 and not np.array_equal(engine.data.contact.pos, before.contact.pos)
    assert touched > 100
    # The step itself has left others.
    assert moved > 50


@pytest.mark.parametrize("name", ROBOTS)
@pytest.mark.parametrize("compiled", [False, True])
def test_all_contacts_of_a_robot_without_sensors_are_of_the_first_stage(
    tmp_path: Path, name: str, compiled: bool
) -> None:
    """From a scene of ours, which has a sensor for them, and from a user's model, which is left as it is."""
    path = robot(tmp_path, name, sensors=False)
    driven = Driven(open_engine(mujoco.MjModel.from_xml_path(str(path)) if compiled else path))
    engine = driven.engine
    everything = engine.watch_all().name
    assert engine.sensors[everything].reconstructed is compiled
    for _ in range(STEPS):
        driven.step()
        batch = engine.contacts(everything)
        assert batch.found == batch.filled.sum() == driven.before.ncon
        assert batch.force is not None
        np.testing.assert_array_equal(batch.force[: driven.before.ncon], driven.forces()[:, :3])
        geoms = engine.details(everything).geoms[: driven.before.ncon]
        assert all(one and other for one, other in geoms)


def test_a_sensor_without_a_companion_reports_what_its_array_does(tmp_path: Path) -> None:
    model = mujoco.MjModel.from_xml_path(str(robot(tmp_path, "hopper.xml")))
    driven = Driven(open_engine(model))
    for _ in range(STEPS):
        driven.step()
        batch, array = driven.engine.contacts("everything"), driven.engine.array("everything")
        np.testing.assert_array_equal(driven.engine.sensors["everything"].layout.encode(batch), array)


def test_a_past_step_has_the_contacts_that_it_had(tmp_path: Path) -> None:
    engine = open_engine(robot(tmp_path, "hopper.xml"))
    driven = Driven(engine)
    simulation = Simulation(engine, history_bytes=10**8)
    seen: list[tuple[ContactDetails, np.ndarray[Any, Any]]] = []
    for _ in range(80):
        if len(seen) % 10 == 0:
            engine.data.ctrl[:] = np.random.default_rng(len(seen)).uniform(-1, 1, driven.model.nu)
        simulation.step()
        seen.append((engine.details("everything"), engine.contact_data().contact.pos.copy()))
    for step in (5, 70, 33, 34, 80, 1):
        simulation.go_to(step)
        details, positions = seen[step - 1]
        assert engine.details("everything").geoms == details.geoms
        np.testing.assert_array_equal(engine.details("everything").friction, details.friction)
        np.testing.assert_array_equal(engine.contact_data().contact.pos, positions)
    simulation.reset()
    # No step was taken: the contacts are those of the state itself.
    assert engine.contact_data() is engine.data


def test_every_environment_has_its_own_first_stage(tmp_path: Path) -> None:
    model = mujoco.MjModel.from_xml_path(str(robot(tmp_path, "hopper.xml")))
    engine, alone = open_engine(model, num_envs=3), open_engine(model)
    for env in range(3):
        engine.pose(env).qpos[1] += 0.02 * env
    alone.data.qpos[1] += 0.04
    for _ in range(150):
        engine.step()
        alone.step()
    is_same(engine.contacts("everything").at(2), alone.contacts("everything"), 60)
    assert engine.details("everything", 2).geoms == alone.details("everything").geoms
    assert engine.environment(2).contacts("everything").filled.any()


def test_a_switched_sensor_still_reports_the_first_stage(tmp_path: Path) -> None:
    driven = Driven(open_engine(robot(tmp_path, "hopper.xml")))
    for _ in range(STEPS):
        driven.step()
        driven.engine.set_reduce("everything", "maxforce")
        batch, forces = driven.engine.contacts("everything"), driven.forces()[:, :3]
        assert batch.force is not None
        order = np.argsort(-np.square(forces).sum(axis=1), kind="stable")
        np.testing.assert_array_equal(batch.force[: len(order)], forces[order])
        driven.engine.set_reduce("everything", "none")


@pytest.mark.parametrize("of_sensor", [True, False])
def test_a_break_for_slip_stops_where_a_contact_begins_to_slip(tmp_path: Path, of_sensor: bool) -> None:
    """It fired in steps whose friction was not found, as if there were none."""
    engine = open_engine(robot(tmp_path, "hopper.xml"))
    driven, hits, expected, sliding = Driven(engine), 0, 0, None
    tracker = ContactTracker(engine)
    tracker.breaks.append(Break(BreakWhen.SLIP, sensor=0 if of_sensor else None))

    def hit(reason: str) -> None:
        nonlocal hits
        hits += 1

    tracker.on_break = hit
    pairs = [frozenset(pair) for pair in tracker.pairs.choice.geoms.tolist()]
    for _ in range(STEPS):
        driven.step()
        tracker.after_step(Step(engine))
        before = driven.before
        every = Matches(np.arange(before.ncon), np.zeros(before.ncon, bool))
        everything = rebuild_contacts(driven.model, before, every)
        cones = contact_cones(driven.model, before, everything)
        assert cones is not None
        owners = [0 if of_sensor else pairs.index(frozenset(pair)) for pair in before.contact.geom.tolist()]
        by_state = {
            state: {owner for owner, each in zip(owners, cones.states[: len(owners)], strict=True) if each == state}
            for state in ContactState
        }
        slide, stick = by_state[ContactState.SLIDING], by_state[ContactState.STICKING]
        expected += sliding is not None and not slide <= sliding
        sliding = slide if sliding is None else (sliding | slide) - (stick - slide)
    assert hits == expected > 0


def test_steps_of_other_integrators_compute_nothing_twice(tmp_path: Path) -> None:
    engine = open_engine("quadruped")
    engine.step(20)
    assert engine.contact_data() is engine.data
    engine = open_engine(robot(tmp_path, "ant.xml"))
    engine.step(20)
    assert engine.contact_data() is not engine.data
    assert engine.contact_data() is engine.contact_data()
