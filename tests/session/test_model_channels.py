"""Quantities of the model as channels of a run, and limits at which it pauses."""

import csv
from pathlib import Path

import mujoco
import numpy as np
import pytest
from contact_viewer import open_engine
from contact_viewer.channels.channel import ChannelName, Limit, Samples
from contact_viewer.cli import main
from contact_viewer.errors import SceneError
from contact_viewer.session.saved_run import RunSaver
from contact_viewer.session.session import Session
from contact_viewer.settings import ViewState

from ..scenes import ARM

STEPS, CHOSEN_AT = 200, 120


@pytest.fixture
def session(tmp_path: Path) -> Session:
    path = tmp_path / "arm.xml"
    gyro = '<site name="tip" pos=".3 0 0"/></body>'
    path.write_text(ARM.replace("</body>", gyro, 1).replace("<sensor>", '<sensor><gyro name="gyro" site="tip"/>'))
    return Session(open_engine(path), ViewState())


def test_a_channel_that_is_chosen_late_has_all_steps_as_bare_mujoco_has_them(session: Session) -> None:
    model, names = session.engine.model, ["joint position/shoulder", "actuator force/shoulder", "sensor/gyro/y"]
    data = mujoco.MjData(model)
    expected = []
    for step in range(STEPS):
        data.ctrl[0] = session.engine.data.ctrl[0] = np.sin(0.1 * step)
        mujoco.mj_step(model, data)
        session.take_steps(1)
        address = int(model.sensor("gyro").adr[0])
        expected.append((data.qpos[0], data.actuator_force[0], data.sensordata[address + 1]))
        if step == CHOSEN_AT:
            session.model_channels.choose(names)
    channels = session.simulation.channels
    units = [channels[name].name.unit for name in names]
    assert units == ["rad", "N·m", "rad/s"]
    for name, values in zip(names, np.array(expected).T, strict=True):
        # The first step of a history is the start.
        assert channels[name].values[-STEPS:].tobytes() == values.tobytes()
    session.go_to(50)
    session.take_steps(1)
    assert channels[names[0]].times[-1] == pytest.approx(session.engine.time)
    assert len(channels[names[0]]) == 52


def test_a_limit_pauses_at_the_first_step_that_passes_it(session: Session) -> None:
    session.model_channels.choose(["joint position/shoulder"])
    session.add_limit(Limit("joint position/shoulder", 0.5))
    session.engine.data.ctrl[0] = 1.0
    session.take_steps(500)
    position = session.simulation.channels["joint position/shoulder"].values
    assert position[-1] > 0.5 >= position[-2]
    assert session.paused
    assert session.trouble is not None
    assert "joint position/shoulder > 0.5" in session.trouble
    # It has to come back before it pauses again.
    count = len(position)
    session.take_steps(20)
    assert len(session.simulation.channels["joint position/shoulder"]) == count + 20


def test_a_saved_run_and_its_exports_have_the_channels(session: Session, tmp_path: Path) -> None:
    session.model_channels.choose(["joint position/shoulder"])
    session.take_steps(100)
    own = session.simulation.channels["joint position/shoulder"]
    session.simulation.channels.add(Samples(ChannelName("reward/a", "1"), own.times, 2 * own.values))
    path = RunSaver(session.simulation, tmp_path / "run.cvrun").write()
    again = Session(open_engine(path), ViewState())
    for channel in session.simulation.channels:
        found = again.simulation.channels[channel.name.name]
        assert (found.name, found.times.tobytes()) == (channel.name, channel.times.tobytes())
        assert found.values.tobytes() == channel.values.tobytes()
    for suffix in ("csv", "npz"):
        assert main(["export", str(path), "-o", str(tmp_path / f"run.{suffix}")]) == 0
    with (tmp_path / "run.channels.csv").open() as file:
        rows = [row for row in csv.DictReader(file) if row["channel"] == "reward/a"]
    assert [float(row["value"]) for row in rows] == (2 * own.values).tolist()
    assert [int(row["step"]) for row in rows] == list(range(len(own)))
    arrays = np.load(tmp_path / "run.npz")
    ours = arrays["channel_value"][arrays["channel_channel"] == "joint position/shoulder"]
    assert ours.tobytes() == own.values.tobytes()
    assert set(arrays["channel_unit"]) == {"rad", "1"}


def test_names_are_chosen_by_patterns(session: Session) -> None:
    assert session.model_channels.matching(["joint *"]) == ["joint position/shoulder", "joint velocity/shoulder"]
    with pytest.raises(SceneError, match="no joint, control, actuator or sensor matches 'knee'"):
        session.model_channels.matching(["knee"])
