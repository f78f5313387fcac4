"""Many environments: each does what it would do alone, and is read as it would be alone."""

import threading
import time
from pathlib import Path
from typing import Any

import mujoco
import numpy as np
import pytest
from contact_viewer import open_engine
from contact_viewer.engines.mujoco.engine import ThreadPool
from contact_viewer.errors import EngineError, SceneError, UnstableError

SCENE = """
<mujoco>
  <option gravity="1.3 -2.1 -9.81"/>
  <worldbody>
    <geom name="floor" type="plane" size="2 2 .1" friction="1.5"/>
    <body name="box" pos="0 0 .0999"><freejoint/><geom name="box" type="box" size=".1 .1 .1" mass="2"/></body>
    <body name="ball" pos="1 0 .2"><freejoint/><geom name="ball" size=".1" mass="1"/></body>
  </worldbody>
  <sensor>
    <contact name="box" geom1="floor" geom2="box" data="found force pos normal tangent" num="3"/>
    <contact name="ball" geom1="ball" geom2="floor" data="found" num="2"/>
    <contact name="net" body1="box" body2="ball" data="force" reduce="netforce"/>
  </sensor>
  <keyframe><key name="high" qpos="0 0 1 1 0 0 0 1 0 2 1 0 0 0"/></keyframe>
</mujoco>"""
ENGINES = ("mujoco", "motrix")
BATCHED = ("found", "filled", "force", "torque", "dist", "pos", "normal", "tangent0")


@pytest.fixture
def path(tmp_path: Path) -> Path:
    path = tmp_path / "scene.xml"
    path.write_text(SCENE)
    return path


def push(engine: Any, env: int) -> None:
    """A force on the ball of one environment, as a user would apply it."""
    data = engine.pose(env)
    data.xfrc_applied[engine.model.body("ball").id, :3] = (0.0, 30.0 * env, 0.0)


@pytest.mark.parametrize("name", ENGINES)
def test_each_does_what_it_does_alone(path: Path, name: str) -> None:
    together: Any = open_engine(path, name, 5)
    alone: list[Any] = [open_engine(path, name) for _ in range(5)]
    for env in range(5):
        push(together, env)
        alone[env].data.xfrc_applied[alone[env].model.body("ball").id, :3] = (0.0, 30.0 * env, 0.0)
    for count in (1, 7, 40):
        together.step(count)
        for engine in alone:
            engine.step(count)
    positions = np.array([together.pose(env).qpos.copy() for env in range(5)])
    assert (np.diff(positions[:, 8]) > 0.01).all()
    for env, engine in enumerate(alone):
        np.testing.assert_array_equal(positions[env], engine.data.qpos)
        for sensor in ("box", "ball", "net"):
            np.testing.assert_array_equal(together.array(sensor)[env], engine.array(sensor))
            np.testing.assert_array_equal(together.get_sensor_value(sensor)[env], engine.get_sensor_value(sensor))
            for field in BATCHED:
                np.testing.assert_array_equal(
                    getattr(together.contacts(sensor), field)[env], getattr(engine.contacts(sensor), field)
                )
    assert together.time == alone[0].time


@pytest.mark.parametrize("name", ENGINES)
def test_shapes(path: Path, name: str) -> None:
    engine = open_engine(path, name, 4)
    engine.step(20)
    assert engine.num_envs == 4
    assert engine.array("box").shape == (4, engine.sensors["box"].size)
    assert engine.contacts("box").filled.shape == (4, 3)
    assert engine.get_sensor_value("box").shape == (4, 37)
    assert engine.get_sensor_value("box").dtype == np.float32
    assert engine.get_contact_force_magnitude("box").shape == (4,)
    alone = open_engine(path, name, 1)
    alone.step(20)
    assert alone.get_sensor_value("box").shape == (37,)
    assert alone.get_contact_force_magnitude("box").shape == (1,)
    assert alone.environment(0).num_envs == 1
    np.testing.assert_array_equal(alone.environment(0).array("box"), alone.array("box"))


@pytest.mark.parametrize("name", ENGINES)
def test_one_of_them_is_an_engine_of_its_own(path: Path, name: str) -> None:
    engine: Any = open_engine(path, name, 3)
    push(engine, 2)
    engine.step(60)
    shown = engine.environment(2)
    assert shown.num_envs == 1
    np.testing.assert_array_equal(shown.data.qpos, engine.pose(2).qpos)
    np.testing.assert_array_equal(shown.array("box"), engine.array("box")[2])
    assert shown.contacts("box").filled.shape == (3,)
    assert shown.contacts("box").found.shape == ()
    np.testing.assert_array_equal(shown.get_sensor_value("ball"), engine.get_sensor_value("ball")[2])
    np.testing.assert_array_equal(
        shown.get_contact_force_magnitude("box"), engine.get_contact_force_magnitude("box")[2:]
    )
    assert shown.details("box").geoms == (("floor", "box"),) * 3
    assert shown.dropped("box").filled.sum() == 1
    assert shown.sensors is engine.sensors
    before = [engine.pose(env).qpos.copy() for env in range(3)]
    shown.step(10)
    assert shown.time == engine.time == pytest.approx(0.14)
    assert all((engine.pose(env).qpos != before[env]).any() for env in range(3))
    shown.reset("high")
    assert [engine.pose(env).qpos[2] for env in range(3)] == pytest.approx([1, 1, 1])
    for env in (-1, 3):
        with pytest.raises(SceneError, match=f"no environment {env}"):
            engine.environment(env)
    with pytest.raises(SceneError, match="no environment 1"):
        shown.details("box", 1)


@pytest.mark.parametrize("name", ENGINES)
@pytest.mark.parametrize("mode", ["netforce", "maxforce", "mindist"])
def test_the_mode_is_switched_in_all(path: Path, name: str, mode: str) -> None:
    engine: Any = open_engine(path, name, 3)
    push(engine, 1)
    engine.step(30)
    alone: Any = open_engine(path, name)
    alone.step(30)
    engine.set_reduce("box", mode)
    alone.set_reduce("box", mode)
    for _ in range(2):
        for env in range(3):
            np.testing.assert_array_equal(engine.array("box")[env], alone.array("box"))
        engine.step(3)
        alone.step(3)


@pytest.mark.parametrize("name", ENGINES)
def test_modes_switched_together_are_those_switched_one_by_one(path: Path, name: str) -> None:
    together: Any = open_engine(path, name, 3)
    single: Any = open_engine(path, name, 3)
    modes = dict(zip(together.sensors.names, ("maxforce", "netforce", "mindist"), strict=True))
    for engine in (together, single):
        push(engine, 1)
        engine.step(30)
    together.set_reduce_modes(modes)
    for sensor, mode in modes.items():
        single.set_reduce(sensor, mode)
    for _ in range(2):
        for sensor, mode in modes.items():
            assert together.sensors[sensor].reduce == mode
            np.testing.assert_array_equal(together.array(sensor), single.array(sensor))
        together.step(3)
        single.step(3)


def test_all_contacts_of_many(path: Path) -> None:
    engine = open_engine(path, "mujoco", 3)
    sensor = engine.watch_all()
    engine.step(200)
    assert engine.array(sensor.name).shape == (3, sensor.size)
    assert (engine.contacts(sensor.name).found >= 4).all()


def test_one_that_diverges_is_named(path: Path) -> None:
    engine = open_engine(path, "mujoco", 8)
    engine.step(10)
    engine.pose(5).qvel[0] = np.nan
    with pytest.raises(UnstableError, match="first in the velocity of box; MuJoCo reset environment 5"):
        engine.step(4)
    engine.reset()
    engine.step(4)


def test_one_that_fails_is_reported(path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    engine = open_engine(path, "mujoco", 8)
    step = mujoco.mj_step

    def fail_at_times(model: Any, data: Any, count: int) -> None:
        if data is engine.pose(failing):
            raise mujoco.FatalError("no memory is left\nat all")
        step(model, data, count)

    # Whichever thread takes it.
    for failing in range(8):
        before = [engine.pose(env).time for env in range(8)]
        with monkeypatch.context() as patch:
            patch.setattr(mujoco, "mj_step", fail_at_times)
            with pytest.raises(EngineError, match=r"MuJoCo failed at .* s: no memory is left"):
                engine.step(3)
        after = [engine.pose(env).time for env in range(8)]
        assert after[failing] == before[failing]
        for data in map(engine.pose, range(8)):
            data.time = engine.time
    engine.step()


@pytest.mark.parametrize("name", ENGINES)
@pytest.mark.parametrize("count", [1, 3])
def test_sensors_are_read_together_as_each_is_read_alone(path: Path, name: str, count: int) -> None:
    text = path.read_text()
    more = '<contact name="far" geom1="ball" geom2="box" data="found" num="2"/></sensor>'
    path.write_text(text.replace("</sensor>", more))
    engine: Any = open_engine(path, name, count)
    if count > 1:
        push(engine, 1)
    groups = []
    for change in (lambda: None, lambda: engine.set_reduce("box", "maxforce"), engine.watch_all, engine.reset):
        if change == engine.watch_all and name == "motrix":
            continue
        change()
        engine.step(40)
        groups = [names for names, _ in engine.grouped_contacts()]
        assert sorted(sum(groups, ())) == sorted(engine.sensors.names)
        for shown in (engine, engine.environment(count - 1)):
            for names, batch in shown.grouped_contacts():
                for place, sensor in enumerate(names):
                    single = shown.contacts(sensor)
                    for field in (*BATCHED, "force_world", "tangent1"):
                        together = getattr(batch, field)
                        sensors = 1 if shown.num_envs > 1 else 0
                        np.testing.assert_array_equal(together.take(place, sensors), getattr(single, field))
    assert ("ball", "far") in groups


def test_helpers_do_everything_once_and_go_with_their_engine(path: Path) -> None:
    # By themselves: threads of earlier engines may still be ending.
    before = set(threading.enumerate())
    helpers = ThreadPool(3)
    own = set(threading.enumerate()) - before
    assert len(own) == 3
    done: list[int] = []
    for _ in range(50):
        done.clear()
        helpers.share(range(40), done.append)
        assert sorted(done) == list(range(40))
    with pytest.raises(ZeroDivisionError):
        helpers.share(range(40), lambda item: 1 // (item - 20))
    helpers.share(range(40), done.append)
    assert len(done) == 80
    assert all(thread.is_alive() for thread in own)
    del helpers
    deadline = time.monotonic() + 60
    for thread in own:
        thread.join(max(0.0, deadline - time.monotonic()))
    assert not any(thread.is_alive() for thread in own)


@pytest.mark.parametrize("count", [1, 3])
def test_what_was_read_stays_as_it_was(path: Path, count: int) -> None:
    engine = open_engine(path, "mujoco", count)
    engine.step(30)
    array, contacts = engine.array("box"), engine.contacts("box")
    assert contacts.force is not None
    kept = array.copy(), contacts.force.copy()
    engine.step(30)
    assert not np.array_equal(engine.array("box"), kept[0])
    np.testing.assert_array_equal(array, kept[0])
    np.testing.assert_array_equal(contacts.force, kept[1])


@pytest.mark.parametrize("name", ENGINES)
def test_many(path: Path, name: str) -> None:
    engine = open_engine(path, name, 300)
    engine.step(50)
    magnitudes = engine.get_contact_force_magnitude("box")
    assert magnitudes.shape == (300,)
    np.testing.assert_array_equal(magnitudes, magnitudes[0])
    assert magnitudes[0] > 1
