"""Curves of a run against the engine read after every step."""

import time
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from contact_viewer import open_engine
from contact_viewer.sensors.signals import Signal
from contact_viewer.session.history_curves import HistoryCurves

from .runs import Run

BOXES = """
<mujoco>
  <option cone="elliptic"/>
  <worldbody>
    <geom name="floor" type="plane" size="9 9 .1"/>
    {boxes}
  </worldbody>
  <sensor><clock/>{sensors}</sensor>
</mujoco>"""


def boxes(tmp_path: Path, count: int = 4, budget: int = 2**26) -> tuple[Run, HistoryCurves]:
    """Boxes dropped one after another, with sensors of one and of several slots."""
    bodies = "".join(
        f'<body pos="{i} 0 {0.11 + 0.02 * i}" euler="{5 * i} 0 0"><freejoint/>'
        f'<geom name="box{i}" type="box" size=".1 .1 .1" friction="{0.5 + 0.6 * (i == 1)}"/></body>'
        for i in range(count)
    )
    sensors = "".join(
        f'<contact name="box{i}" geom1="floor" geom2="box{i}" num="{(1, 4, 4)[i % 3]}" data="found force"/>'
        for i in range(count)
    )
    path = tmp_path / "boxes.xml"
    path.write_text(BOXES.format(boxes=bodies, sensors=sensors))
    engine = open_engine(path)
    run = Run(engine, budget)
    assert isinstance(run.history.curves, HistoryCurves)
    return run, run.history.curves


def read(run: Run, name: str) -> list[float]:
    """Found, normal force, force and distance of a sensor now."""
    batch: Any = run.engine.contacts(name)
    net_force = batch.net_force
    normal = batch.force[:, 0].sum()
    distance = batch.dist[batch.filled].min() if batch.filled.any() and not batch.in_world_frame else np.nan
    return [float(batch.found), normal, float(np.linalg.norm(net_force)), distance]


READ = (Signal.FOUND, Signal.NORMAL, Signal.MAGNITUDE, Signal.DISTANCE)


def test_curves_hold_every_step(tmp_path: Path) -> None:
    run, curves = boxes(tmp_path)
    assert curves.names == ("box0", "box1", "box2", "box3")
    truth = [[read(run, name) for name in curves.names]]
    for step in range(1, 500):
        run.step()
        truth.append([read(run, name) for name in curves.names])
        if step % 7 == 0:
            assert curves.update()
    assert curves.update()
    assert (curves.first, curves.stop) == (0, 500)
    values = [[curves.values(name, signal, 0, 500) for signal in READ] for name in curves.names]
    np.testing.assert_allclose(np.transpose(values, (2, 0, 1)), truth, rtol=1e-5, atol=1e-6)
    assert np.nanmax(values) > 10
    use = curves.values("box0", Signal.USE, 0, 500)
    assert np.nanmax(use) <= 1.001


def test_friction_use_knows_each_sensors_friction(tmp_path: Path) -> None:
    run, curves = boxes(tmp_path)
    run.step(400)
    curves.update()
    for name, mu in (("box0", 1.0), ("box1", 1.1)):
        batch: Any = run.engine.contacts(name)
        pressed = batch.force[:, 0] > 1e-6
        force = batch.force[pressed]
        wanted = (np.hypot(force[:, 1], force[:, 2]) / (mu * force[:, 0])).max()
        assert curves.values(name, Signal.USE, 400, 401)[0] == pytest.approx(wanted, rel=1e-5)


def test_another_reduce_mode_is_followed_from_its_step_on(tmp_path: Path) -> None:
    run, curves = boxes(tmp_path)
    run.step(300)
    run.engine.set_reduce("box2", "netforce")
    run.engine.set_reduce("box3", "maxforce")
    truth = []
    for _ in range(50):
        run.step()
        truth.append([read(run, name) for name in curves.names])
    assert curves.update()
    values = [[curves.values(name, signal, 301, 351) for signal in READ] for name in curves.names]
    np.testing.assert_allclose(np.transpose(values, (2, 0, 1)), truth, rtol=1e-5, atol=1e-6)
    assert np.isfinite(curves.values("box2", Signal.DISTANCE, 299, 301)).all()
    assert np.isnan(curves.values("box2", Signal.DISTANCE, 301, 303)).all()


def test_a_forgotten_future_is_not_in_the_curves(tmp_path: Path) -> None:
    run, curves = boxes(tmp_path)
    run.step(300)
    curves.update()
    run.go_to(100)
    run.engine.data.qvel[2] = 3.0
    run.step(250)
    assert curves.stop <= 101
    version = curves.version
    assert curves.update()
    assert curves.stop == 351
    assert curves.version != version
    assert not curves.values("box0", Signal.FOUND, 120, 200).any()
    # Nor is a run that was reset.
    run.simulation.reset()
    assert (curves.first, curves.stop) == (0, 0)
    run.step(20)
    assert curves.update()
    assert not curves.values("box3", Signal.FOUND, 0, 21).any()


def test_opened_late_it_catches_up_with_what_the_history_holds(tmp_path: Path) -> None:
    run, curves = boxes(tmp_path, budget=2**21)
    run.step(6000)
    assert run.history.first > 3000
    assert not curves.update(100)
    rounds = 0
    while not curves.update(100):
        rounds += 1
    assert 5 < rounds < 60
    assert (curves.first, curves.stop) == (run.history.first, 6001)
    run.go_to(curves.first)
    assert curves.values("box1", Signal.FOUND, curves.first, curves.first + 1)[0] == run.engine.contacts("box1").found


def test_an_impact_of_one_step_is_seen_in_a_long_curve() -> None:
    """The first touch of the bouncing ball, against the engine's own largest force."""
    engine = open_engine("bounce")
    run = Run(engine)
    curves = run.history.curves
    name = curves.names[0]
    strongest, when = 0.0, 0
    for _ in range(2500):
        run.step()
        force = read(run, name)[2]
        if force > strongest:
            strongest, when = force, run.current
    while not curves.update():
        pass
    for columns in (20, 200, 1000):
        reduced = curves.reduce([name], [Signal.MAGNITUDE], 0, 2501, columns)
        high = reduced.high[0, 0]
        column = int(np.nanargmax(high))
        assert high[column] == pytest.approx(strongest, rel=1e-6)
        assert reduced.steps[column] <= when < reduced.steps[column + 1]


@pytest.mark.alone
def test_a_frame_of_ten_sensors_is_cheap(tmp_path: Path) -> None:
    """Less than a third of a frame at 60 Hz, with the reduction of all curves."""
    run, curves = boxes(tmp_path, count=10)
    run.step(3000)
    while not curves.update():
        pass
    fastest = np.inf
    for _ in range(40):
        run.step(8)
        started = time.thread_time()
        curves.update()
        curves.reduce(curves.names, [Signal.MAGNITUDE], 0, curves.stop, 1000)
        fastest = min(fastest, time.thread_time() - started)
    print(f"{fastest * 1e3:.2f} ms a frame")
    assert fastest < 0.004
