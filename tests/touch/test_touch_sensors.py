"""Touch sensors in scenes, against the weight of what stands on them and MuJoCo's own sensors."""

import math
from functools import partial
from pathlib import Path

import mujoco
import numpy as np
import pytest
from contact_viewer import open_engine
from contact_viewer.engines.abilities import ArrivedStep
from contact_viewer.errors import SceneError
from contact_viewer.mjmodel.body_forces import MujocoForces
from contact_viewer.session.simulation import Simulation
from contact_viewer.touch.touch_sensors import TouchSensors
from numpy.typing import NDArray

from .robots import Write, run, write_robot


@pytest.fixture
def robot(tmp_path: Path) -> Write:
    return partial(write_robot, tmp_path / "robot.xml")


@pytest.mark.parametrize(
    ("entry", "expected"),
    [
        ("site=down", [1]),
        ("type=force site=down", [490.5]),
        ("type=force site=down table=''", [49.05]),
        ("type=force site=down table='' resolution=5", [50]),
        ("type=force-3d site=down table=''", [-49.05, 0, 0]),
        ("type=force site=slanted table=''", [49.05 / 2]),
        ("type=force site=aloft table=''", [0]),
        ("type=force site=ahead table=''", [0]),
        ("type=force-3d body=foot table=''", [0, 0, 49.05]),
        ("type=force site=down table='' measure=mount", [39.24]),
        ("type=force-3d site=down table='' measure=mount", [-39.24, 0, 0]),
    ],
)
def test_a_robot_of_5_kg_on_one_foot(robot: Write, entry: str, expected: list[float]) -> None:
    engine = open_engine(robot(entry))
    touch = TouchSensors(engine)
    run(engine, touch, 2)
    assert touch.value("0") == pytest.approx(expected, rel=1e-3, abs=0.02)


def test_two_boxes_of_100_kg(robot: Write) -> None:
    entries = ("type=force site=down table='' measure=mount", "type=force site=down table='' measure=contact")
    engine = open_engine(robot(*entries, height=0.5, trunk=100, foot=100))
    touch = TouchSensors(engine)
    run(engine, touch, 0.2)
    assert touch.value("0") == pytest.approx([0], abs=1e-9)
    assert touch.value("1") == pytest.approx([0], abs=1e-9)
    run(engine, touch, 3)
    assert touch.value("0") == pytest.approx([981], abs=1)
    assert touch.value("1") == pytest.approx([1962], abs=1)


LIMB = """<mujoco>
  <option timestep="0.002" integrator="{integrator}"/>
  <custom><text name="touch:wrist" data="type=force-3d site=wrist table='' period=2 measure=mount"/>
          <text name="touch:ball" data="type=force-3d site=ball table='' period=2 measure=mount"/></custom>
  <worldbody>
    <geom type="plane" size="5 5 1"/>
    <body pos="0 0 0.5">
      <freejoint/>
      <geom type="box" size="0.1 0.1 0.1" mass="4"/>
      <body pos="0.1 0 -0.1">
        <joint type="hinge" axis="0 1 0" damping="0.1" stiffness="2"/>
        <geom type="capsule" fromto="0 0 0 0.2 0 0" size="0.03" mass="1"/>
        <body pos="0.2 0 0">
          <joint type="ball" damping="0.02"/>
          <geom type="capsule" fromto="0 0 0 0.1 0.1 0" size="0.03" mass="0.5"/>
          <site name="wrist" euler="20 30 40"/>
          <body pos="0.1 0.1 0">
            <geom type="sphere" size="0.04" mass="0.3"/>
            <site name="ball" euler="70 0 10"/>
          </body>
        </body>
      </body>
    </body>
  </worldbody>
  <sensor>{sensors}</sensor>
</mujoco>"""
FORCES = '<force site="wrist"/><force site="ball"/>'


@pytest.mark.parametrize("integrator", ["Euler", "implicit", "implicitfast"])
@pytest.mark.parametrize("measured_anyway", [False, True])
def test_mount_is_mujocos_force_sensor_reversed(tmp_path: Path, integrator: str, measured_anyway: bool) -> None:
    path = tmp_path / "limb.xml"
    path.write_text(LIMB.format(integrator=integrator, sensors=FORCES if measured_anyway else ""))
    engine = open_engine(path)
    model = mujoco.MjModel.from_xml_string(LIMB.format(integrator=integrator, sensors=FORCES))
    data = mujoco.MjData(model)
    data.qvel[:] = engine.data.qvel[:] = 3 * np.random.default_rng(0).standard_normal(model.nv)
    touch = engine.touch_sensors
    # The state was set from outside: tell those who remember the velocity before a step.
    touch.after_reset(engine)
    largest = 0.0
    for _ in range(1000):
        engine.step()
        mujoco.mj_step(model, data)
        assert np.array_equal(engine.data.qpos, data.qpos)
        for name, force in (("wrist", data.sensordata[:3]), ("ball", data.sensordata[3:])):
            assert touch.value(name) == pytest.approx(-force, abs=1e-9)
            largest = max(largest, np.abs(force).max())
    assert largest > 50


def net_force(model: mujoco.MjModel, data: mujoco.MjData, body: int) -> tuple[NDArray[np.float64], int]:
    """Sum of `mj_contactForce` over the contacts of a body, and how many there are."""
    total, wrench, found = np.zeros(3), np.zeros(6), 0
    for i, contact in enumerate(data.contact):
        for side, geom in enumerate(contact.geom):
            if geom >= 0 and model.geom_bodyid[geom] == body:
                mujoco.mj_contactForce(model, data, i, wrench)
                total += (2 * side - 1) * contact.frame.reshape(3, 3).T @ wrench[:3]
                found += 1
    return total, found


@pytest.mark.parametrize("scene", ["gripper", "quadruped", "targets", "stack"])
def test_contact_sum_is_mujocos(scene: str) -> None:
    engine = open_engine(scene)
    forces = MujocoForces(engine.model, engine.data)
    most = 0.0
    for _ in range(20):
        engine.step(25)
        forces.read()
        for body in range(engine.model.nbody):
            expected, found = net_force(engine.model, engine.data, body)
            contacts = forces.contacts(body)
            assert contacts.force == pytest.approx(expected, abs=1e-9)
            assert contacts.found == found == len(forces.contact_points(body))
            most = max(most, np.abs(expected).max())
    assert most > 1


def test_contact_sum_is_the_netforce_sensors(robot: Write) -> None:
    sensor = '<contact name="net" body2="foot" data="found force" reduce="netforce"/>'
    engine = open_engine(robot("type=force-3d body=foot table='' period=2", height=0.2, sensors=sensor))
    touch = TouchSensors(engine)
    engine.data.qvel[:] = [1, 0.5, -1, 3, 2, 1]
    for _ in range(500):
        engine.step()
        touch.after_step(engine)
        found, *force = engine.array("net")
        assert touch["0"].force == pytest.approx(force, abs=1e-9)
        assert touch["0"].found == found
    assert found > 0


def test_cloth_on_the_sensor_counts(tmp_path: Path) -> None:
    path = tmp_path / "cloth.xml"
    path.write_text("""<mujoco>
      <custom><text name="touch:table" data="type=force-3d body=table table='' period=2"/></custom>
      <worldbody>
        <body name="table"><geom type="box" size="0.3 0.3 0.05"/></body>
        <flexcomp name="cloth" type="grid" count="5 5 1" spacing="0.05 0.05 0.05" pos="0 0 0.1" radius="0.005"
          mass="1" dim="2"><contact selfcollide="none"/><edge damping="1"/></flexcomp>
      </worldbody></mujoco>""")
    engine = open_engine(path)
    touch = TouchSensors(engine)
    run(engine, touch, 2)
    assert touch.value("table") == pytest.approx([0, 0, -9.81], abs=0.05)


@pytest.mark.parametrize("period", [10, 5, 7])
def test_samples_are_taken_when_they_are_due(robot: Write, period: int) -> None:
    """With steps of 2 ms: at multiples of 10 ms, and at the first step after those of 5 and 7."""
    engine = open_engine(robot(f"type=force site=down table='0 0 0.3, 500 5000 0.3' period={period}"))
    touch = TouchSensors(engine)
    seen: dict[float, float] = {}
    for _ in range(500):
        engine.step()
        touch.after_step(engine)
        value = touch.device("0").get_value()
        if not math.isnan(value):
            seen.setdefault(value, engine.time)
    due = np.arange(period, 1001, period)
    assert list(seen.values()) == pytest.approx(0.002 * np.ceil(due / 2))


def test_mujocos_own_touch_sensors_are_listed_in_newtons(robot: Write) -> None:
    sensors = '<clock/><touch name="under" site="sole"/><touch name="0" site="sole"/><touch site="ahead"/>'
    engine = open_engine(robot("type=bumper body=foot", sensors=sensors))
    touch = TouchSensors(engine)
    assert [sensor.name for sensor in touch] == ["0", "under", "0'", "sensor-3"]
    assert [sensor.native for sensor in touch] == [False, True, True, True]
    assert [sensor.shows_axes for sensor in touch] == [True, False, False, False]
    assert touch["under"].label == "MuJoCo touch, site sole, body foot"
    engine.step(1000)
    device = touch.device("under")
    assert device.get_value() == engine.data.sensordata[1] == pytest.approx(49.05, rel=1e-3)
    assert device.get_type() == "force"
    assert device.get_sampling_period() == pytest.approx(2)
    assert touch.value("sensor-3") == pytest.approx([0])
    assert touch["under"].declaration is None
    with pytest.raises(SceneError, match="change it in the scene file"):
        touch.change("under", resolution=1)


def test_steps_can_be_taken_together_when_no_device_needs_each(robot: Write) -> None:
    assert not TouchSensors(open_engine(robot(sensors='<touch site="sole"/>'))).active
    assert TouchSensors(open_engine(robot("site=down"))).active
    assert not TouchSensors(open_engine(robot("site=down period=0"))).active
    assert not TouchSensors(open_engine("slope")).active


def test_a_sensor_that_is_disabled_from_the_start_feels_nothing(robot: Write) -> None:
    touch = TouchSensors(open_engine(robot("type=force-3d site=down period=0")))
    assert touch.true("0").tolist() == [0, 0, 0]


def test_disabled_sensors_cost_nothing(robot: Write) -> None:
    engine = open_engine(robot("site=down period=0", "type=force site=down table=''"))

    class Untouchable(MujocoForces):
        def read(self) -> None:
            if getattr(self, "guarded", False):
                raise AssertionError("looked at a scene for disabled sensors")
            super().read()

    forces = Untouchable(engine.model, engine.data)
    touch = TouchSensors(engine, forces=forces)
    run(engine, touch, 1)
    assert np.isnan(touch.value("0")).all()
    assert touch.value("1") == pytest.approx([49.05], rel=1e-3)
    touch.device("1").disable()
    forces.guarded = True  # type: ignore[attr-defined]
    run(engine, touch, 0.1)
    assert np.isnan(touch.value("1")).all()


@pytest.mark.parametrize("integrator", ["Euler", "implicitfast", "RK4"])
def test_watching_changes_nothing(tmp_path: Path, integrator: str) -> None:
    path = tmp_path / "limb.xml"
    path.write_text(LIMB.format(integrator=integrator, sensors=""))
    watched, alone = open_engine(path), open_engine(path)
    run(watched, TouchSensors(watched), 1)
    alone.step(500)
    assert np.array_equal(watched.data.qpos, alone.data.qpos)
    assert np.array_equal(watched.data.qvel, alone.data.qvel)


def test_a_reset_starts_sampling_and_noise_again(robot: Write) -> None:
    engine = open_engine(robot("type=force site=down table='0 0 0.3, 500 5000 0.3'"))
    touch = TouchSensors(engine)
    values = []
    for _ in range(2):
        run(engine, touch, 0.016)
        values.append(touch.value("0"))
        engine.reset()
        touch.after_reset(engine)
        assert np.isnan(touch.value("0")).all()
        assert touch["0"].history.times.tolist() == [0]
    assert values[0] == values[1] > 0
    # Also without being told, as where MuJoCo resets a diverged state by itself.
    run(engine, touch, 0.016)
    engine.reset()
    run(engine, touch, 0.002)
    assert len(touch["0"].history) == 1
    assert np.isnan(touch.value("0")).all()


def test_going_back_in_time_shows_what_was_reported_and_goes_on_alike(robot: Write) -> None:
    entries = (
        "type=force-3d site=slanted table='0 0 0.3, 500 5000 0.3' period=5",
        "type=force site=down table='' measure=mount",
        "body=foot",
    )
    engine = open_engine(robot(*entries, height=0.1, sensors='<touch name="own" site="sole"/>'))
    touch = TouchSensors(engine)
    names = [sensor.name for sensor in touch]
    state = mujoco.mjtState.mjSTATE_INTEGRATION
    saved = np.zeros(mujoco.mj_stateSize(engine.model, state))

    def report() -> NDArray[np.float64]:
        return np.concatenate([touch.value(name) for name in names])

    run(engine, touch, 0.2)
    mujoco.mj_getState(engine.model, engine.data, saved, state)
    reports = [report()]
    for _ in range(100):
        run(engine, touch, 0.002)
        reports.append(report())
    assert len(touch["0"].history) == 201
    for _ in range(2):
        mujoco.mj_setState(engine.model, engine.data, saved, state)
        mujoco.mj_forward(engine.model, engine.data)
        mujoco.mj_setState(engine.model, engine.data, saved, state)
        touch.after_reset(engine)
        assert report()[:5] == pytest.approx(reports[0][:5])
        assert len(touch["0"].history) == 201
        again = []
        for _ in range(100):
            run(engine, touch, 0.002)
            again.append(report())
        assert np.array(again) == pytest.approx(np.array(reports[1:]), abs=1e-5)
        assert len(touch["0"].history) == 201


def test_a_simulation_that_returns_to_the_past_takes_the_devices_along(robot: Write) -> None:
    engine = open_engine(robot("type=force site=down table='' period=4", height=0.1))
    simulation, touch = Simulation(engine, history_bytes=2**24), engine.touch_sensors
    simulation.step(200)
    then = touch.value("0")
    simulation.step(50)
    assert touch.value("0") != then
    # Back, as with a scrubber: what was reported then, and the curve stays whole.
    simulation.go_to(200)
    assert touch.value("0") == then
    assert touch.time == engine.time == pytest.approx(0.4)
    assert len(touch["0"].history) == 251
    simulation.step(10)
    assert len(touch["0"].history) == 211
    simulation.reset()
    assert np.isnan(touch.value("0")).all()
    assert touch["0"].history.times.tolist() == [0]


def test_steps_that_someone_else_took_feed_the_devices(robot: Write) -> None:
    engine = open_engine(robot("type=force site=down table='' period=4", height=0.1))
    simulation, touch = Simulation(engine), engine.touch_sensors
    for _ in range(5):
        mujoco.mj_step(engine.model, engine.data, 40)
        simulation.observe(ArrivedStep())
    assert touch["0"].history.times == pytest.approx([0, 0.08, 0.16, 0.24, 0.32, 0.4])


def test_the_bundled_scene_has_one_device_of_each_type() -> None:
    engine = open_engine("touch")
    touch = TouchSensors(engine)
    assert not touch.problems
    assert [sensor.device.type for sensor in touch] == ["bumper", "force", "force-3d"]
    reports, true = [], []
    for _ in range(4000):
        run(engine, touch, 0.002)
        reports.append(np.concatenate([touch.value(sensor.name) for sensor in touch]))
        true.append(touch["sole"].history.true[-1, 0])
        assert not any(touch.outside(sensor.name) for sensor in touch)
    bump, push, *pad = np.array(reports[50:]).T
    assert set(bump) == {0, 1}
    assert np.abs(np.diff(bump)).sum() >= 3
    # The foot is pressed harder than its sensor can tell, which then reports 200 but for 2 % of noise.
    assert max(true) > 25
    assert push.max() == pytest.approx(200, abs=0.02 * 200 * 4)
    assert pytest.approx(14, abs=2.5) == np.array(pad).T @ [-1, 0, 0]
    steps = np.array(pad) / 0.1
    assert steps == pytest.approx(np.rint(steps), abs=1e-6)


def test_curves_hold_the_true_force_and_the_devices_values(robot: Write) -> None:
    entries = ("type=force-3d site=down table='0 0 0, 20 200 0'", "site=down", "type=force site=down resolution=100")
    engine = open_engine(robot(*entries))
    touch = TouchSensors(engine)
    run(engine, touch, 2)
    # What a panel shows beside them is the newest of them.
    assert all(touch.true(sensor.name) == pytest.approx(sensor.history.true[-1]) for sensor in touch)
    forces, bumps, pushes = (sensor.history for sensor in touch)
    assert len(forces) == 1001
    assert forces.true[-1] == pytest.approx([-49.05, 0, 0], abs=0.05)
    assert forces.values(touch.device("0"))[-1] == pytest.approx([-200, 0, 0], abs=0.5)
    assert np.isnan(forces.values(touch.device("0"))[:5]).all()
    assert bumps.true[-1] == pytest.approx([49.05], rel=1e-3)
    assert bumps.values(touch.device("1"))[-1] == [1]
    assert pushes.true[-1] == pytest.approx([49.05], rel=1e-3)
    assert pushes.values(touch.device("2"))[-1] == [500]


def test_contacts_outside_the_site(robot: Write) -> None:
    engine = open_engine(robot("site=sole", "site=ahead", "body=foot"))
    touch = TouchSensors(engine)
    run(engine, touch, 1)
    assert [touch.outside(name) for name in ("0", "1", "2")] == [0, 4, 0]
    engine.model.site_pos[0] += [0.1, 0, 0]
    engine.step()
    assert touch.outside("0") == 2


NEAR = """<mujoco>
  <option timestep="0.002" gravity="0 0 0"/>
  <custom><text name="touch:bumper" data="site=sole period=2"/></custom>
  <worldbody>
    <geom type="plane" size="5 5 1"/>
    <body name="foot" pos="0 0 {height}">
      <freejoint/>
      <geom type="box" size="0.1 0.1 0.02" gap="{gap}" margin="{margin}"/>
      <site name="sole" size="0.001"/>
    </body>
  </worldbody>
</mujoco>"""


@pytest.mark.parametrize(
    ("height", "gap", "margin", "expected"),
    [(0.05, 0.05, 0, 0), (0.05, 0, 0.05, 1), (0.0199, 0.05, 0, 1), (0.02, 0.05, 0, 1), (0.2, 0.05, 0.05, 0)],
)
def test_a_bumper_does_not_feel_what_only_a_gap_lists(
    tmp_path: Path, height: float, gap: float, margin: float, expected: int
) -> None:
    path = tmp_path / "near.xml"
    path.write_text(NEAR.format(height=height, gap=gap, margin=margin))
    engine = open_engine(path)
    engine.step()
    touch = engine.touch_sensors
    assert len(engine.data.contact) == (4 if height < 0.1 else 0)
    assert touch.value("bumper") == [expected]
    assert touch["bumper"].found == touch.outside("bumper") == 4 * expected


def test_a_bumper_reports_a_bounce_between_two_samples(robot: Write) -> None:
    engine = open_engine(robot("body=foot period=100", "body=foot period=2", height=0.05))
    engine.model.opt.gravity[:] = 0
    engine.model.geom_solref[:] = [-1e5, 0]  # elastic
    engine.data.qvel[2] = -1
    reports = []
    for _ in range(100):
        engine.step()
        reports.append([engine.touch(name).get_value() for name in ("0", "1")])
    slow, fast = np.array(reports).T
    assert 0 < np.nansum(fast) < 25
    assert slow[[49, 99]].tolist() == [1, 0]
    assert fast[[49, 99]].tolist() == [0, 0]
