"""Very many sensors in a data file: read together, written as each of them would be by itself."""

import time
from pathlib import Path
from typing import Any

import mujoco
import numpy as np
import pytest
from contact_viewer import open_engine
from contact_viewer.recording.data_file import DataFile
from contact_viewer.session.session import Session
from contact_viewer.settings import ViewState

from ..scenes import write_many_sensors
from .judges import export, read_csv

WHOLE = "found force torque dist pos normal tangent"
DATA = ("found", "found force", "pos", WHOLE)
MODES = ("none", "mindist", "netforce", "maxforce")
STEPS = 60


def mixed_scene(whole: bool) -> str:
    """Boxes that fall onto each other, and sensors of many layouts in turn; `whole`: all with all fields."""
    boxes = "".join(
        f'<body name="b{i}" pos="{0.15 * (i % 3)} {0.02 * i} {0.1 + 0.205 * (i // 3)}"><freejoint/>'
        f'<geom name="g{i}" type="box" size=".1 .1 .1"/></body>'
        for i in range(9)
    )
    targets = ('geom1="floor" geom2="g{}"', 'body1="b{}"', 'geom1="g{}" geom2="g4"', 'subtree2="b{}"')
    sensors = "".join(
        f'<contact name="s{i}" {targets[i // 2 % 4].format(i % 9)} num="{1 + i % 3}" reduce="{MODES[i // 3 % 4]}"'
        f' data="{WHOLE if whole else DATA[i % 4]}"/>'
        for i in range(96)
    )
    return f"""<mujoco><worldbody><geom name="floor" type="plane" size="2 2 .1"/>{boxes}</worldbody>
        <sensor>{sensors}</sensor></mujoco>"""


def bare_rows(model: Any, data: Any) -> list[tuple[str, int, list[float]]]:
    """Sensor, slot, and found, force, distance and position of every contact that MuJoCo's own sensors report."""
    rows = []
    for i in range(model.nsensor):
        values = data.sensordata[model.sensor_adr[i] :][: model.sensor_dim[i]].reshape(-1, 17)
        slots = np.flatnonzero(values[:, 0])
        for slot in slots.tolist() if len(slots) else [0]:
            rows.append((model.sensor(i).name, slot, values[slot, [0, 1, 2, 3, 7, 8, 9, 10]].tolist()))
    return rows


def test_each_of_many_sensors_has_the_rows_that_mujoco_reports_in_the_scenes_order(tmp_path: Path) -> None:
    path = tmp_path / "mixed.xml"
    path.write_text(mixed_scene(whole=False))
    written = read_csv(export(tmp_path / "c.csv", path, "--duration", STEPS * 0.002))
    model = mujoco.MjModel.from_xml_string(mixed_scene(whole=True))
    data = mujoco.MjData(model)
    filled = 0
    for step in range(1, STEPS + 1):
        mujoco.mj_step(model, data)
        own = [row for row in written if row["step"] == str(step)]
        expected = bare_rows(model, data)
        assert [(row["sensor"], int(row["slot"])) for row in own] == [(name, slot) for name, slot, _ in expected]
        for row, (name, _, values) in zip(own, expected, strict=True):
            assert float(row["found"]) == values[0]
            net = MODES[int(name[1:]) // 3 % 4] == "netforce"
            axes = "xyz" if net else ("normal", "tangent0", "tangent1")
            columns = [f"force_{axis}" for axis in axes] + ["dist"] * (not net) + [f"pos_{axis}" for axis in "xyz"]
            if values[0]:
                filled += 1
                judge = [*values[1:4], *([] if net else values[4:5]), *values[5:]]
                np.testing.assert_array_equal([float(row[column]) for column in columns], judge)
                assert bool(row["geom1"]) is not net
            else:
                assert not any(row[column] for column in (*columns, "geom1", "geom2"))
    assert filled > 20 * STEPS


@pytest.mark.alone
def test_a_step_of_many_sensors_is_written_in_a_fraction_of_reading_each(tmp_path: Path) -> None:
    session = Session(open_engine(write_many_sensors(tmp_path / "many.xml", 10_000)), ViewState(), keeps_history=False)
    reading, writing = [], []
    with DataFile(tmp_path / "c.npz", session) as file:
        for step in range(6):
            session.simulation.step()
            start = time.thread_time()
            for name in session.engine.sensors.names:
                session.engine.contacts(name)
            reading.append(time.thread_time() - start)
            start = time.thread_time()
            file.write(step, 0.002 * step)
            writing.append(time.thread_time() - start)
    assert min(writing) < 0.5 * min(reading)
