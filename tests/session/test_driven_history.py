"""Steps that a controller drives: re-simulated bit for bit without calling it, against MuJoCo stepping straight on."""

from pathlib import Path
from typing import Any

import mujoco
import numpy as np
import pytest
from contact_viewer import open_engine
from contact_viewer.errors import ControlError
from contact_viewer.session.carry_over import retrace
from contact_viewer.session.simulation import Simulation

from .runs import Wanderer, scene, state_of

STEPS = 2000
_STATE = mujoco.mjtState.mjSTATE_INTEGRATION


@pytest.mark.parametrize("integrator", ["Euler", "implicitfast", "RK4"])
def test_driven_steps_are_resimulated_bit_for_bit_without_the_controller(tmp_path: Path, integrator: str) -> None:
    path = scene(tmp_path, integrator)
    wanderer, judge = Wanderer(), Wanderer()
    engine = open_engine(path, control=wanderer)
    simulation = Simulation(engine, history_bytes=2**27)
    history = simulation.history
    assert history is not None
    model = mujoco.MjModel.from_xml_path(str(path))
    bare = mujoco.MjData(model)
    mujoco.mj_forward(model, bare)
    physics, sensors = [state_of(model, bare)], [engine.data.sensordata.copy()]
    hand = np.random.default_rng(5)
    while history.last < STEPS:
        # A hand moves a slider between two frames.
        engine.data.ctrl[0] = bare.ctrl[0] = hand.uniform(-1, 1)
        for _ in range(int(hand.integers(1, 40))):
            simulation.step()
            judge(model, bare)
            mujoco.mj_step(model, bare)
            physics.append(state_of(model, bare))
            sensors.append(engine.data.sensordata.copy())
    assert state_of(engine.model, engine.data).tobytes() == physics[-1].tobytes()
    calls = wanderer.calls
    for step in [*range(1, history.last, 13), *reversed(range(1, history.last, 17)), history.last]:
        simulation.go_to(step)
        assert state_of(engine.model, engine.data).tobytes() == physics[step].tobytes(), step
        assert engine.data.sensordata.tobytes() == sensors[step].tobytes()
    assert wanderer.calls == calls


def test_from_a_past_step_the_controller_goes_on(tmp_path: Path) -> None:
    calls = []

    def control(model: Any, data: Any) -> None:
        calls.append(data.time)
        data.ctrl[0] = np.sin(40 * data.time)

    simulation = Simulation(open_engine(scene(tmp_path, "Euler"), control=control), history_bytes=2**26)
    assert simulation.history is not None
    simulation.step(300)
    end = state_of(simulation.engine.model, simulation.engine.data)
    simulation.go_to(123)
    simulation.step(177)
    assert len(calls) == 477
    assert calls[300] == pytest.approx(123 * 0.002)
    assert state_of(simulation.engine.model, simulation.engine.data).tobytes() == end.tobytes()
    # Without a controller from some step on, and with it again.
    controller, simulation.engine.controller = simulation.engine.controller, None
    simulation.step(50)
    simulation.engine.controller = controller
    simulation.step(3)
    after = [state_of(simulation.engine.model, simulation.engine.data)]
    simulation.go_to(340)
    simulation.go_to(353)
    after.append(state_of(simulation.engine.model, simulation.engine.data))
    assert after[0].tobytes() == after[1].tobytes()


def test_steps_are_carried_over_to_a_scene_that_was_opened_again_without_the_controller(tmp_path: Path) -> None:
    path, wanderer = scene(tmp_path, "Euler"), Wanderer()
    before = Simulation(open_engine(path, control=wanderer), history_bytes=2**26)
    before.step(400)
    after = Simulation(open_engine(path, control=wanderer), history_bytes=2**26)
    assert retrace(after, before, 90, 400)
    assert wanderer.calls == 400
    assert after.history is not None
    after.go_to(190)
    before.go_to(190)
    assert state_of(after.shown.model, after.shown.data).tobytes() == (
        state_of(before.shown.model, before.shown.data).tobytes()
    )


def test_a_controller_that_raises_leaves_the_last_step(tmp_path: Path) -> None:
    def control(model: Any, data: Any) -> None:
        data.ctrl[0] = 1.0
        if data.time > 0.101:
            raise KeyError("gait")

    simulation = Simulation(open_engine(scene(tmp_path, "Euler"), control=control), history_bytes=2**26)
    line = control.__code__.co_firstlineno + 3
    with pytest.raises(ControlError, match=rf"test_driven_history.py, line {line}: KeyError: 'gait'$"):
        simulation.step(1000)
    assert simulation.history is not None
    assert simulation.history.last == 51
    assert simulation.engine.time == pytest.approx(0.102)


def test_scrubbing_back_to_step_0_shows_the_forces_of_the_first_state(tmp_path: Path) -> None:
    """As they were shown first, before the controller pushed."""

    def push(model: Any, data: Any) -> None:
        data.ctrl[:] = 1.0
        data.xfrc_applied[1, 2] = -500.0

    path = tmp_path / "box.xml"
    path.write_text("""<mujoco><worldbody><geom type="plane" size="2 2 .1"/>
      <body pos="0 0 .0999"><joint name="up" type="slide" axis="0 0 1"/><geom type="box" size=".1 .1 .1"/></body>
      </worldbody><actuator><motor joint="up"/></actuator></mujoco>""")
    engine = open_engine(path, control=push)
    engine.watch_all()
    simulation = Simulation(engine, history_bytes=2**24)
    history = simulation.history
    assert history is not None
    data = engine.data

    def shown() -> list[bytes]:
        arrays: list[Any] = [data.efc_force, data.contact.pos, data.ctrl, data.xfrc_applied, data.sensordata]
        arrays += [engine.contacts(name).force for name in engine.sensors.names]
        return [array.tobytes() for array in arrays]

    first = shown()
    assert data.ncon == 4
    simulation.step(50)
    later = shown()
    simulation.go_to(0)
    assert shown() == first
    simulation.go_to(50)
    assert shown() == later
    # Played on from there, it is the same run.
    simulation.go_to(0)
    simulation.step(50)
    assert shown() == later
    simulation.go_to(0)
    assert shown() == first
