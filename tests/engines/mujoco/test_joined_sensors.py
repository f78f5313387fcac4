"""Sensors that report one field each, as mjlab declares them, read as one."""

from typing import Any

import mujoco
import numpy as np
import pytest
from contact_viewer import open_engine
from contact_viewer.engines.mujoco.batch import BatchEngine, BatchState
from contact_viewer.mjmodel.state import STATE
from contact_viewer.session.simulation import Simulation

FIELDS = ("found", "force", "dist", "pos", "normal", "tangent")


def scene(slots: int, fields: tuple[str, ...] = FIELDS) -> str:
    sensors = "".join(
        f'<contact name="feet_ground_contact_{box}_{field}" geom1="floor" geom2="{box}" num="{slots}" data="{field}"/>'
        for box in ("left", "right")
        for field in fields
    )
    return f"""
    <mujoco>
      <worldbody>
        <geom name="floor" type="plane" size="2 2 .1"/>
        <body pos="0 0 .0999"><freejoint/><geom name="left" type="box" size=".1 .1 .1" mass="2"/></body>
        <body pos="1 0 .0999"><freejoint/><geom name="right" type="box" size=".1 .1 .1" mass="3"/></body>
      </worldbody>
      <sensor>
        <contact name="whole" geom1="floor" geom2="left" num="{slots}" data="{" ".join(FIELDS)}"/>
        {sensors}
      </sensor>
    </mujoco>"""


def compile_scene(*arguments: Any) -> mujoco.MjModel:
    return mujoco.MjModel.from_xml_string(scene(*arguments))


@pytest.mark.parametrize("slots", [1, 4])
def test_one_sensor_has_all_fields_and_says_where_each_value_is_from(slots: int) -> None:
    engine = open_engine(compile_scene(slots))
    assert engine.sensors.names == ("whole", "feet_ground_contact_left", "feet_ground_contact_right")
    simulation = Simulation(engine, history_bytes=2**22)
    simulation.step(100)
    joined, whole = engine.sensors["feet_ground_contact_left"], engine.sensors["whole"]
    assert joined.columns == whole.columns
    np.testing.assert_array_equal(engine.array(joined.name), engine.array("whole"))
    assert engine.array("whole").any()
    # Each value, in the scene's own sensor of that name.
    places = dict.fromkeys(joined.sources, 0)
    for value, source in zip(engine.array(joined.name), joined.sources, strict=True):
        assert source.startswith("feet_ground_contact_left_")
        own = engine.data.sensor(source).data
        assert value == own[places[source]]
        places[source] += 1
    for name in ("filled", "force", "dist", "pos", "normal", "tangent0"):
        ours, theirs = (getattr(engine.contacts(each), name) for each in (joined.name, "whole"))
        np.testing.assert_allclose(ours, theirs, atol=1e-12)
    history = simulation.history
    assert history is not None
    past = [history.contacts(name, 40, 60) for name in (joined.name, "whole")]
    np.testing.assert_array_equal(past[0].force, past[1].force)  # type: ignore[union-attr]
    while not history.curves.update():
        pass


@pytest.mark.parametrize("slots", [1, 4])
def test_a_batch_shows_what_the_engine_says_in_them(slots: int) -> None:
    model = compile_scene(slots)
    data = mujoco.MjData(model)
    mujoco.mj_step(model, data, 50)
    said = data.sensordata.copy()
    for name in ("whole", *(f"feet_ground_contact_{box}_force" for box in ("left", "right"))):
        sensor = model.sensor(name)
        values = said[sensor.adr[0] : sensor.adr[0] + sensor.dim[0]].reshape(slots, -1)
        values[:, 1 if name == "whole" else 0 :][:, :3] *= 3
    state = np.empty(mujoco.mj_stateSize(model, STATE))
    mujoco.mj_getState(model, data, state, STATE)
    engine = BatchEngine(model)
    simulation = Simulation(engine, history_bytes=2**22)
    engine.arrive(BatchState(state, said))
    simulation.restart()
    shown = simulation.shown
    assert [sensor.solved_again for sensor in shown.sensors] == [False] * 3
    forces = {name: shown.contacts(name).force for name in shown.sensors.names}
    np.testing.assert_array_equal(forces["feet_ground_contact_left"], forces["whole"])
    start = int(model.sensor("feet_ground_contact_right_force").adr[0])
    np.testing.assert_array_equal(np.ravel(forces["feet_ground_contact_right"]), said[start : start + 3 * slots])  # type: ignore[arg-type]
    grouped = {
        name: batch.force[k]  # type: ignore[index]
        for names, batch in shown.grouped_contacts()
        for k, name in enumerate(names)
    }
    for name, force in forces.items():
        np.testing.assert_array_equal(grouped[name], force)


def test_sensors_that_differ_in_more_than_a_field_stay_apart() -> None:
    xml = scene(1, ("found", "force")).replace(
        '<contact name="feet_ground_contact_right_force" geom1="floor"',
        '<contact name="feet_ground_contact_right_force"',
    )
    engine = open_engine(mujoco.MjModel.from_xml_string(xml))
    assert engine.sensors.names == (
        "whole",
        "feet_ground_contact_left",
        "feet_ground_contact_right_found",
        "feet_ground_contact_right_force",
    )
    # Switched together, as one.
    engine.set_reduce("feet_ground_contact_left", "maxforce")
    assert engine.sensors["feet_ground_contact_left"].modified
