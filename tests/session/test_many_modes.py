"""The reduce mode of very many sensors, as --reduce switches it: in proportion to their number."""

import time
from pathlib import Path

import numpy as np
import pytest
from contact_viewer import open_engine
from contact_viewer.session.session import Session
from contact_viewer.settings import Options, Reduce, ViewState

from ..scenes import write_many_sensors


def test_every_one_of_many_sensors_has_the_mode_that_was_asked_for(tmp_path: Path) -> None:
    path = write_many_sensors(tmp_path / "many.xml", 3000)
    engine = open_engine(path)
    session = Session(engine, ViewState(), Options(scene=path, sensors=("s0", "s1", "s2999"), reduce=Reduce.NETFORCE))
    session.simulation.step(400)
    for name in ("s0", "s1"):
        # A box of 8 kg presses with its weight; the mode has one net contact, along the world's axes.
        np.testing.assert_allclose(session.reading(name).net_force, [0, 0, 8 * 9.81], rtol=1e-3, atol=1e-3)
        assert (session.reading(name).found, session.reading(name).reported) == (4, 1)
    assert engine.sensors["s2999"].reduce == "netforce"
    assert {sensor.reduce for sensor in engine.sensors if not session.visible[sensor.name]} == {"none"}
    assert session.reading("s3").reported == 4


@pytest.mark.alone
def test_the_mode_of_eight_times_as_many_sensors_takes_no_more_than_its_share_to_switch(tmp_path: Path) -> None:
    def duration(count: int) -> float:
        path = write_many_sensors(tmp_path / f"{count}.xml", count)
        engine, best = open_engine(path), float("inf")
        for mode in (Reduce.NETFORCE, Reduce.MINDIST, Reduce.MAXFORCE):
            start = time.thread_time()
            Session(engine, ViewState(), Options(scene=path, reduce=mode), keeps_history=False)
            best = min(best, time.thread_time() - start)
            assert {sensor.reduce for sensor in engine.sensors} == {mode}
        return best

    # 64 times as long if every sensor has the list of all made again.
    assert duration(8000) < 24 * duration(1000)
