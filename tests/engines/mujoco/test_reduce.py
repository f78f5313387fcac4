"""Switching the reduce mode of a sensor, against models that were compiled with that mode."""

from pathlib import Path
from typing import Any

import mujoco
import numpy as np
import pytest
from contact_viewer import open_engine
from contact_viewer.assets import bundled_scenes
from contact_viewer.engines.contract import Engine
from contact_viewer.errors import SceneError
from contact_viewer.scene_files.scene import find_scene
from contact_viewer.settings import Reduce
from numpy.typing import NDArray

STATE = int(mujoco.mjtState.mjSTATE_INTEGRATION)
NEEDS_SLEEP = pytest.mark.skipif(not hasattr(mujoco.mjtEnableBit, "mjENBL_SLEEP"), reason="this MuJoCo never sleeps")
NEEDS_HISTORY = pytest.mark.skipif(mujoco.mj_version() < 3_005_000, reason="sensors have no history")

# Sensors of every stage, also those that are computed from what a step changes, and one that is a plugin.
CROWDED = """
<mujoco>
  <extension><plugin plugin="mujoco.sensor.touch_grid"/></extension>
  <option integrator="{integrator}" cone="elliptic"/>
  <worldbody>
    <geom name="floor" type="plane" size="2 2 .1"/>
    <body name="box" pos="0 0 .13" euler="10 5 0"><freejoint/>
      <geom name="box" type="box" size=".1 .1 .1" mass="2"/>
      <site name="site" size=".2"/><site name="grid"/>
      <body pos=".1 0 0"><joint name="hinge" axis="0 1 0" limited="true" range="-5 5"/>
        <geom name="arm" type="capsule" fromto="0 0 0 .2 0 0" size=".02" mass=".3"/></body>
    </body>
  </worldbody>
  <sensor>
    <accelerometer site="site"/><force site="site"/><torque site="site"/><touch site="site"/>
    <framelinacc objtype="body" objname="box"/><frameangacc objtype="body" objname="box"/>
    <jointlimitfrc joint="hinge"/><framepos objtype="body" objname="box"/><velocimeter site="site"/><clock/>
    <plugin name="grid" plugin="mujoco.sensor.touch_grid" objtype="site" objname="grid">
      <config key="size" value="4 4"/><config key="fov" value="180 90"/><config key="gamma" value="0"/>
      <config key="nchannel" value="3"/>
    </plugin>
    <contact name="first" geom1="floor" geom2="box" data="found" num="3"/>
    <contact name="switched" geom1="floor" subtree2="box" data="found dist pos" num="3"/>
    <contact name="last" geom1="box" data="force normal" num="2" reduce="maxforce"/>
    {more}
  </sensor>
</mujoco>"""
DELAYED = """
    <contact name="late" geom1="floor" data="found force" num="2" nsample="6" delay="0.006"/>
    <accelerometer name="late_acceleration" site="site" nsample="6" delay="0.006"/>"""
ASLEEP = """
<mujoco>
  <option><flag sleep="enable"/></option>
  <worldbody>
    <geom name="floor" type="plane" size="2 2 .1"/>
    <body name="box" pos="0 0 .0999"><freejoint/><geom name="box" type="box" size=".1 .1 .1" mass="2"/></body>
  </worldbody>
  <sensor><contact name="switched" geom1="floor" geom2="box" data="found force" num="3"/></sensor>
</mujoco>"""


def written(folder: Path, text: str) -> Path:
    path = folder / "scene.xml"
    path.write_text(text)
    return path


def compiled(path: Path, modes: dict[str, Reduce]) -> tuple[Any, Any]:
    """A model whose sensors have these modes from the start, and its data."""
    spec = mujoco.MjSpec.from_file(str(path))
    for sensor, mode in modes.items():
        found = spec.sensor(sensor)
        assert found is not None
        found.intprm[1] = list(Reduce).index(mode)
    model = spec.compile()
    return model, mujoco.MjData(model)


def other_values(engine: Engine, name: str) -> NDArray[np.float64]:
    """What all other sensors say, companions included."""
    model, others = engine.model, np.ones(engine.model.nsensordata, bool)
    number = model.sensor(name).id
    for i in range(model.nsensor):
        if i == number or model.sensor(i).name.endswith(f"companion/{number}"):
            others[model.sensor_adr[i] : model.sensor_adr[i] + model.sensor_dim[i]] = False
    assert 0 < others.sum() < len(others)
    return np.array(engine.data.sensordata[others])


def state(engine: Engine) -> NDArray[np.float64]:
    """All from which further steps follow, and what the last one computed."""
    model, data = engine.model, engine.data
    values = np.empty(mujoco.mj_stateSize(model, STATE))
    mujoco.mj_getState(model, data, values, STATE)
    return np.concatenate([values, *(getattr(data, name).ravel() for name in ("cacc", "cfrc_int", "cvel", "qacc"))])


@pytest.mark.parametrize("scene", [scene.name for scene in bundled_scenes()])
@pytest.mark.parametrize("mode", Reduce)
def test_arrays_are_those_of_a_model_compiled_so(scene: str, mode: Reduce) -> None:
    path = find_scene(scene)
    for name in open_engine(path).sensors.names:
        # Nothing drives the compiled model either.
        engine = open_engine(path, control=lambda model, data: None)
        if mujoco.mjtIntegrator.mjINT_RK4 == engine.model.opt.integrator:
            continue
        model, data = compiled(path, {name: mode})
        mujoco.mj_forward(model, data)
        for count in (0, 1, 60, 140):
            engine.step(count)
            mujoco.mj_step(model, data, count)
            for before in Reduce:
                engine.set_reduce(name, before)
                engine.set_reduce(name, mode)
                np.testing.assert_array_equal(engine.array(name), data.sensor(name).data)


@pytest.mark.parametrize("scene", ["quadruped", "hand", "pile", "stack"])
def test_sensors_that_switch_together_say_what_a_model_compiled_so_does(scene: str) -> None:
    path = find_scene(scene)
    engine = open_engine(path, control=lambda model, data: None)
    names = engine.sensors.names
    # A scene's first sensor stays as it is, the others have different modes.
    modes = {name: list(Reduce)[i % 4] for i, name in enumerate(names) if i}
    model, data = compiled(path, modes)
    mujoco.mj_forward(model, data)
    for count in (0, 1, 60, 140):
        engine.step(count)
        mujoco.mj_step(model, data, count)
        engine.set_reduce_modes(dict.fromkeys(modes, Reduce.MINDIST))
        engine.set_reduce_modes(modes)
        for name in names:
            np.testing.assert_array_equal(engine.array(name), data.sensor(name).data)
    assert [sensor.name for sensor in engine.sensors if sensor.modified] == [
        name for name, mode in modes.items() if engine.sensors[name].declared.reduce is not mode
    ]


@pytest.mark.parametrize("wrong", [{"nobody": "none"}, {"last": "most"}])
def test_a_name_or_mode_that_does_not_exist_switches_nothing(tmp_path: Path, wrong: dict[str, str]) -> None:
    engine = open_engine(written(tmp_path, CROWDED.format(integrator="Euler", more="")))
    engine.step(20)
    before, sensors = engine.data.sensordata.copy(), list(engine.sensors)
    with pytest.raises((SceneError, ValueError)):
        engine.set_reduce_modes({"first": "netforce", **wrong})
    assert list(engine.sensors) == sensors
    np.testing.assert_array_equal(engine.data.sensordata, before)
    engine.step()
    assert engine.array("first")[0] == engine.contacts("first").found


@pytest.mark.parametrize("mode", Reduce)
def test_contacts_follow(tmp_path: Path, mode: Reduce) -> None:
    text = CROWDED.format(integrator="Euler", more="")
    engine, other = (
        open_engine(written(tmp_path, text)),
        open_engine(written(tmp_path, text.replace('num="3"/>', f'num="3" reduce="{mode}"/>'))),
    )
    assert other.sensors["switched"].reduce is mode
    for count in (20, 1, 100):
        for each in (engine, other):
            each.step(count)
        engine.set_reduce("switched", "none")
        engine.set_reduce("switched", mode)
        ours, theirs = engine.contacts("switched"), other.contacts("switched")
        assert ours.filled.any()
        for field in ("found", "filled", "force", "torque", "dist", "pos", "normal", "tangent0", "linvel", "angvel"):
            np.testing.assert_array_equal(getattr(ours, field), getattr(theirs, field))


@pytest.mark.parametrize("integrator", ["Euler", "RK4", "implicit"])
@pytest.mark.parametrize("delayed", [False, pytest.param(True, marks=NEEDS_HISTORY)])
@pytest.mark.parametrize("mode", Reduce)
def test_nothing_else_changes(tmp_path: Path, integrator: str, delayed: bool, mode: Reduce) -> None:
    path = written(tmp_path, CROWDED.format(integrator=integrator, more=DELAYED if delayed else ""))
    engine, untouched = open_engine(path), open_engine(path)
    for count in (0, 1, 30, 100):
        for each in (engine, untouched):
            each.step(count)
        values, before = other_values(engine, "switched"), state(engine)
        stages = engine.model.sensor_needstage.copy()
        engine.set_reduce("switched", mode)
        np.testing.assert_array_equal(other_values(engine, "switched"), values)
        np.testing.assert_array_equal(state(engine), before)
        changed = engine.model.sensor_needstage != stages
        assert changed.sum() <= 2
        # In an engine without the switch, all other sensors say the same ever after.
        np.testing.assert_array_equal(other_values(untouched, "switched"), values)
    assert np.any(values)


@NEEDS_HISTORY
def test_a_delayed_sensor_keeps_its_array_until_the_delay_has_passed(tmp_path: Path) -> None:
    engine = open_engine(written(tmp_path, CROWDED.format(integrator="Euler", more=DELAYED)))
    engine.step(50)
    before = engine.array("late")
    engine.set_reduce("late", "netforce")
    np.testing.assert_array_equal(engine.array("late"), before)


@NEEDS_SLEEP
@pytest.mark.parametrize("mode", Reduce)
def test_sensors_of_sleeping_objects_switch_too(tmp_path: Path, mode: Reduce) -> None:
    path = written(tmp_path, ASLEEP)
    engine = open_engine(path)
    model, data = compiled(path, {"switched": mode})
    while engine.data.ntree_awake:
        engine.step()
        mujoco.mj_step(model, data)
    engine.set_reduce("switched", mode)
    assert engine.contacts("switched").found == 4
    np.testing.assert_array_equal(engine.array("switched"), data.sensordata)
    engine.step(3)
    assert not engine.data.ntree_awake
    np.testing.assert_array_equal(engine.array("switched"), data.sensordata)


@pytest.mark.parametrize("mode", Reduce)
def test_every_environment_switches(mode: Reduce) -> None:
    engine, alone = open_engine("slope", num_envs=3), open_engine("slope")
    name = engine.sensors.names[0]
    for each in (engine, alone):
        each.step(200)
        each.set_reduce(name, mode)
    assert alone.contacts(name).filled.any()
    np.testing.assert_array_equal(engine.array(name), [alone.array(name)] * 3)


def test_velocities_of_a_flex_are_those_of_its_contacts(tmp_path: Path) -> None:
    path = tmp_path / "cloth.xml"
    path.write_text("""
    <mujoco><option timestep="0.001"/>
      <worldbody><geom name="ball" size=".1"/>
        <flexcomp name="cloth" type="grid" dim="2" count="5 5 1" spacing=".05 .05 .05" radius=".01" mass=".3"
          pos="0 0 .12"><edge equality="true"/></flexcomp></worldbody>
      <sensor><contact name="switched" data="found linvel" num="40" reduce="mindist"/>
        <contact name="deepest" data="found linvel" num="40" reduce="mindist"/></sensor></mujoco>""")
    engine = open_engine(path)
    engine.step(200)
    before = engine.array("switched").copy()
    assert np.abs(before).max() > 1e-3
    engine.set_reduce("switched", "none")
    engine.set_reduce("switched", "mindist")
    np.testing.assert_allclose(engine.array("switched"), before, rtol=1e-12, atol=1e-12)
    np.testing.assert_array_equal(engine.array("deepest"), before)
