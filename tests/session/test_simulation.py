"""The one place where steps arrive, on every engine, from every source."""

from typing import Any

import numpy as np
import pytest
from contact_viewer import open_engine
from contact_viewer.engines.contract import Engine
from contact_viewer.engines.steps import Step
from contact_viewer.errors import UnstableError
from contact_viewer.sensors.signals import Signal
from contact_viewer.session.session import Session
from contact_viewer.session.simulation import Simulation
from contact_viewer.settings import ViewState

FIELDS = ("found", "filled", "force", "torque", "dist", "pos", "normal", "tangent0")
CASES = [("mujoco", 1), ("mujoco", 3), ("motrix", 1), ("motrix", 3)]


class Seen:
    """Reads the engine after every step, one by one, as a judge of what is looked at again later."""

    def __init__(self, simulation: Simulation) -> None:
        self.instants = [self._read(simulation.shown)]
        self.resets = 0
        simulation.observers.append(self)

    def after_step(self, step: Step) -> None:
        self.instants.append(self._read(step.engine))

    def after_reset(self, engine: Engine) -> None:
        self.resets += 1

    def _read(self, engine: Engine) -> dict[str, Any]:
        read: dict[str, Any] = {"time": engine.time, "qpos": engine.data.qpos.copy()}
        for sensor in engine.sensors:
            read[sensor.name] = engine.contacts(sensor.name), engine.array(sensor.name).copy()
        return read


def is_as_then(engine: Engine, instant: dict[str, Any]) -> None:
    assert engine.time == pytest.approx(instant["time"], abs=1e-9)
    np.testing.assert_array_equal(engine.data.qpos, instant["qpos"])
    for sensor in engine.sensors:
        batch, array = instant[sensor.name]
        for field in FIELDS:
            np.testing.assert_array_equal(
                getattr(engine.contacts(sensor.name), field), getattr(batch, field), err_msg=f"{sensor.name} {field}"
            )
        np.testing.assert_allclose(engine.array(sensor.name), array, rtol=1e-6, atol=1e-6)


@pytest.mark.parametrize(("name", "envs"), CASES)
@pytest.mark.parametrize("scene", ["bounce", "gripper", "stack"])
def test_every_kept_step_can_be_looked_at_again(name: str, envs: int, scene: str) -> None:
    simulation = Simulation(open_engine(scene, name, envs), history_bytes=2**26)
    seen, history = Seen(simulation), simulation.history
    assert history is not None
    assert history.can_resume == (name == "mujoco" and envs == 1)
    simulation.step(350)
    for step in np.random.default_rng(1).permutation(351)[:60].tolist():
        simulation.go_to(step)
        assert history.current == step
        is_as_then(simulation.shown, seen.instants[step])
    simulation.go_to(350)
    is_as_then(simulation.shown, seen.instants[350])


@pytest.mark.parametrize(("name", "envs"), CASES[1:])
def test_an_engine_that_cannot_return_continues_with_the_newest_step(name: str, envs: int) -> None:
    straight = open_engine("bounce", name, envs)
    straight.step(400)
    simulation = Simulation(open_engine("bounce", name, envs), history_bytes=2**26)
    seen = Seen(simulation)
    simulation.step(300)
    simulation.go_to(100)
    simulation.step(100)
    assert simulation.history is not None
    assert simulation.history.last == simulation.history.current == 400
    assert len(seen.instants) == 401
    assert seen.resets == 0
    assert simulation.shown.time == straight.time
    np.testing.assert_array_equal(simulation.shown.data.qpos, straight.pose(0).qpos)


@pytest.mark.parametrize(("name", "envs"), CASES)
def test_curves_are_those_of_the_shown_environment(name: str, envs: int) -> None:
    engine = open_engine("bounce", name, envs)
    simulation = Simulation(engine, history_bytes=2**26)
    if envs > 1:
        simulation.show(1)
        if name == "mujoco":
            engine.pose(1).qvel[:] = 0.1
    forces = []
    sensor = "lively_ball"
    for _ in range(400):
        simulation.step()
        forces.append(float(simulation.shown.get_contact_force_magnitude(sensor)[0]))
    assert simulation.history is not None
    curves = simulation.history.curves
    assert curves.update()
    np.testing.assert_allclose(curves.values(sensor, Signal.MAGNITUDE, 1, 401), forces, rtol=1e-5, atol=1e-5)
    assert max(forces) > 10


@pytest.mark.parametrize(("name", "envs"), CASES)
def test_a_reduce_mode_that_is_switched_is_read_as_it_was(name: str, envs: int) -> None:
    simulation = Simulation(open_engine("stack", name, envs), history_bytes=2**26)
    history, sensor = simulation.history, "lower_on_base"
    assert history is not None
    simulation.step(200)
    before: Any = simulation.shown.contacts(sensor)
    simulation.shown.set_reduce(sensor, "netforce")
    simulation.step(50)
    after: Any = simulation.shown.contacts(sensor)
    then: Any = history.contacts(sensor, 200, 201)
    now: Any = history.contacts(sensor, 250, 251)
    assert (then.in_world_frame, now.in_world_frame) == (False, True)
    np.testing.assert_array_equal(then.force[0], before.force)
    np.testing.assert_array_equal(now.force[0], after.force)
    assert history.curves.update()
    simulation.go_to(200)
    # An engine that returns to the step reads it as it is read now; the others show what was said then.
    shown: Any = simulation.shown.contacts(sensor)
    assert shown.in_world_frame == history.can_resume


@pytest.mark.parametrize(("name", "envs"), CASES)
def test_events_survive_looking_back(name: str, envs: int) -> None:
    def run(look_back: bool) -> list[tuple[float, str, str]]:
        session = Session(open_engine("bounce", name, envs), ViewState())
        session.track_events()
        assert session.events is not None
        for _ in range(20):
            session.take_steps(25)
            if look_back:
                session.go_to_event(-1)
                session.step_back()
                assert session.history is not None
                session.go_to(session.history.last)
        return [(entry.time, str(entry.kind), entry.subject) for entry in session.events.log]

    events = run(look_back=False)
    assert len(events) > 8
    assert run(look_back=True) == events


@pytest.mark.parametrize(("name", "envs"), CASES)
def test_pairs_can_be_selected_while_a_past_step_is_shown(name: str, envs: int) -> None:
    session = Session(open_engine("bounce", name, envs), ViewState())
    session.track_events()
    assert session.events is not None
    session.take_steps(100)
    session.go_to(50)
    session.events.select(session.events.pairs.choice)
    assert session.history is not None
    session.go_to(session.history.last)
    session.take_steps(400)
    straight = Session(open_engine("bounce", name, envs), ViewState())
    straight.track_events()
    assert straight.events is not None
    straight.take_steps(500)
    entries = [entry for entry in straight.events.log if entry.time > 0.2]
    assert len(entries) > 8
    assert [(e.time, e.subject) for e in session.events.log] == [(e.time, e.subject) for e in entries]


def test_sensors_are_read_again_after_every_kind_of_step() -> None:
    session = Session(open_engine("bounce"), ViewState())
    session.simulation.step(100)
    before = session.reading("lively_ball").array.copy()
    session.simulation.step(60)
    assert not np.array_equal(session.reading("lively_ball").array, before)
    np.testing.assert_array_equal(session.reading("lively_ball").array, session.engine.array("lively_ball"))
    session.simulation.go_to(100)
    np.testing.assert_array_equal(session.reading("lively_ball").array, before)


def test_an_observer_halts_at_its_step() -> None:
    simulation = Simulation(open_engine("bounce"), history_bytes=2**24)

    class Halts(Seen):
        def after_step(self, step: Step) -> None:
            super().after_step(step)
            if len(self.instants) == 8:
                simulation.halt()

    halts = Halts(simulation)
    simulation.step(100)
    assert len(halts.instants) == 8
    assert simulation.history is not None
    assert simulation.history.last == 7
    simulation.step(5)
    assert simulation.history.last == 12


class Keeps:
    """Keeps the steps themselves, and reads of each what the other one may have read."""

    def __init__(self, reads: bool) -> None:
        self.steps: list[Step] = []
        self.batches: list[Any] = []
        self._reads = reads

    def after_step(self, step: Step) -> None:
        self.steps.append(step)
        if self._reads:
            self.batches.append((step.row, [step.contacts(name) for name in step.sensors.names]))

    def after_reset(self, engine: Engine) -> None:
        """Nothing."""


@pytest.mark.parametrize(("name", "envs"), CASES)
@pytest.mark.parametrize("kept", [2**26, None])
def test_observers_share_what_is_read_of_a_step(name: str, envs: int, kept: int | None) -> None:
    simulation = Simulation(open_engine("gripper", name, envs), history_bytes=kept)
    first, second, idle = Keeps(True), Keeps(True), Keeps(False)
    seen = Seen(simulation)
    simulation.observers += [first, second, idle]
    simulation.step(60)
    assert [step.number for step in first.steps] == list(range(1, 61))
    for step, then, (row, batches), (other_row, others) in zip(
        first.steps, seen.instants[1:], first.batches, second.batches, strict=True
    ):
        assert step.time == then["time"]
        assert row is other_row
        for name, batch, other in zip(step.sensors.names, batches, others, strict=True):
            assert batch is other
            # What was read stays as it was in that step.
            assert step.contacts(name) is batch
            for field in FIELDS:
                np.testing.assert_array_equal(getattr(batch, field), getattr(then[name][0], field))
    assert any(batch.filled.any() for _, batches in first.batches for batch in batches)
    with pytest.raises(LookupError, match="is over"):
        idle.steps[0].details(simulation.shown.sensors.names[0])
    assert simulation.shown_step.row == idle.steps[-1].row
    simulation.reset()
    assert simulation.shown_step.number == 0
    simulation.step(3)
    assert first.steps[-1].number == simulation.shown_step.number == 3
    if simulation.history is not None and simulation.history.can_resume:
        simulation.go_to(1)
        assert simulation.shown_step.number == 1
        simulation.step()
        assert first.steps[-1].number == 2


def test_an_engine_that_starts_again_starts_a_history_too() -> None:
    engine = open_engine("bounce", num_envs=2)
    simulation = Simulation(engine, history_bytes=2**24)
    seen = Seen(simulation)
    simulation.step(20)
    engine.pose(0).qvel[:] = 1e12
    with pytest.raises(UnstableError, match="MuJoCo reset environment 0"):
        simulation.step(5)
    assert seen.resets == 1
    assert simulation.history is not None
    assert simulation.history.last == 0
    simulation.step(5)
    assert simulation.history.last == 5


def test_a_sensor_that_is_not_kept_is_empty_in_the_past() -> None:
    """All contacts of one environment of several are computed when they are asked for, so not of a past step."""
    simulation = Simulation(open_engine("bounce", num_envs=2), history_bytes=2**24)
    name = simulation.shown.watch_all().name
    simulation.step(200)
    newest: Any = simulation.shown.contacts(name)
    assert np.linalg.norm(newest.net_force) > 1
    simulation.go_to(100)
    past: Any = simulation.shown.contacts(name)
    assert not past.filled.any()
    np.testing.assert_array_equal(past.net_force, 0.0)
    dropped: Any = simulation.shown.dropped("lively_ball")
    assert not dropped.net_force.any()


def test_the_only_environment_shown_once_more_keeps_its_past() -> None:
    session = Session(open_engine("slope"), ViewState())
    session.simulation.step(20)
    session.show_environment(session.env + 1)
    assert session.history is not None
    assert session.history.last == 20
