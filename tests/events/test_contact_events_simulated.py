"""Contact events of falls and bounces that MuJoCo simulates, against the motion's own roots."""

import math

import mujoco
import numpy as np
import pytest
from contact_viewer.events.contact_events import ContactEvent, ContactEvents
from contact_viewer.mjmodel.crossings import Crossing

G = 9.81
STEP = 0.002
PAIR = [("floor", "ball")]

SCENE = """
<mujoco>
  <option timestep="0.002" integrator="{integrator}" gravity="0 0 -9.81"/>
  <worldbody>
    <geom name="floor" type="plane" size="2 2 .1"/>
    <body {pose}> <freejoint/> <geom {geom}/> </body>
  </worldbody>
</mujoco>
"""


class Ball:
    """A ball over a floor in MuJoCo, tracked after every step."""

    def __init__(self, height: float, integrator: str, precise: bool = False, push: float = 0.0) -> None:
        pose, geom = f'pos="0 0 {height + 0.1}"', 'size=".1" solref=".004 .2"'
        self.model = mujoco.MjModel.from_xml_string(SCENE.format(integrator=integrator, pose=pose, geom=geom))
        self.data = mujoco.MjData(self.model)
        self.precise = precise
        self.push = push
        self.events = ContactEvents(PAIR)
        self.saved = np.zeros(mujoco.mj_stateSize(self.model, mujoco.mjtState.mjSTATE_INTEGRATION))
        mujoco.mj_forward(self.model, self.data)
        self.events.update(0.0, [self.distance()], [0.0])

    def distance(self) -> float:
        return float(mujoco.mj_geomDistance(self.model, self.data, 0, 1, 10.0, None))

    def step(self) -> list[ContactEvent]:
        self.data.xfrc_applied[1, 2] = self.push * math.sin(300 * self.data.time)
        mujoco.mj_getState(self.model, self.data, self.saved, mujoco.mjtState.mjSTATE_INTEGRATION)
        mujoco.mj_step(self.model, self.data)
        mujoco.mj_kinematics(self.model, self.data)
        return self.events.update(
            self.data.time,
            [self.distance()],
            [float(self.data.qvel[2])],
            self.locate if self.precise else None,
        )

    def distance_after(self, part: float) -> float:
        """Distance where a step of another length leads, from the state before the last one."""
        mujoco.mj_setState(self.model, self.data, self.saved, mujoco.mjtState.mjSTATE_INTEGRATION)
        self.model.opt.timestep = part
        mujoco.mj_step(self.model, self.data)
        mujoco.mj_kinematics(self.model, self.data)
        return self.distance()

    def locate(self, pair_id: int, start: float, end: float, level: float) -> Crossing:
        assert pair_id == 0
        assert end - start == pytest.approx(STEP)
        falling = self.distance_after(STEP) < level
        low, high = 0.0, STEP
        while high - low > 1e-16:
            middle = (low + high) / 2
            if (self.distance_after(middle) < level) == falling:
                high = middle
            else:
                low = middle
        distance = self.distance_after(low)
        velocity = float(self.data.qvel[2])
        self.distance_after(STEP)
        self.model.opt.timestep = STEP
        return Crossing(start + low, distance, velocity)

    def run(self, duration: float) -> list[ContactEvent]:
        return [event for _ in range(round(duration / STEP)) for event in self.step()]


@pytest.mark.parametrize("integrator", ["Euler", "RK4"])
@pytest.mark.parametrize("height", [0.3, 1.0, 3.0])
def test_simulated_fall(integrator: str, height: float) -> None:
    (exact, *_) = Ball(height, integrator, precise=True).run(1.2)
    ball = Ball(height, integrator)
    while not (begun := ball.step()):
        pass
    (event,) = begun

    # The root of the simulated motion: Euler's discrete fall has a closed form, and so has RK4's.
    if integrator == "RK4":
        root = math.sqrt(2 * height / G)
    else:
        n = math.floor((math.sqrt(1 + 8 * height / (G * STEP**2)) - 1) / 2)
        left, speed = height - G * STEP**2 * n * (n + 1) / 2, G * n * STEP
        root = n * STEP + (-speed + math.sqrt(speed**2 + 4 * G * left)) / (2 * G)
    assert exact.time == pytest.approx(root, abs=1e-9)
    assert event.time == pytest.approx(root, abs=1e-9)
    assert abs(exact.distance) < 1e-12
    assert event.approach_speed == pytest.approx(math.sqrt(2 * G * height), rel=1e-4)
    assert event.geoms == ("floor", "ball")


def test_changing_forces_disturb_neither_time_nor_speed() -> None:
    (exact, *_), (event, *_) = (Ball(0.5, "Euler", precise, push=300.0).run(0.5) for precise in (True, False))
    assert event.time == pytest.approx(exact.time, abs=1e-9)
    # The same forces in steps a hundred times finer, whose velocities need no correction.
    fine = Ball(0.5, "Euler")
    fine.model.opt.timestep = STEP / 100
    count = 0
    while fine.data.qpos[2] > 0.1:
        fine.data.xfrc_applied[1, 2] = 300.0 * math.sin(300 * STEP * (count // 100))
        mujoco.mj_step(fine.model, fine.data)
        count += 1
    assert event.approach_speed == pytest.approx(-fine.data.qvel[2], rel=1e-3)


def test_precise_bounces_leave_the_simulation_as_it_was() -> None:
    precise, plain = Ball(0.5, "Euler", precise=True), Ball(0.5, "Euler")
    fine, coarse = precise.run(1.5), plain.run(1.5)
    assert precise.data.qpos.tobytes() == plain.data.qpos.tobytes()
    assert precise.data.qvel.tobytes() == plain.data.qvel.tobytes()
    assert len(fine) >= 4
    assert [event.kind for event in fine] == [event.kind for event in coarse]
    assert all(abs(event.distance) < 1e-12 for event in fine if event.kind == "begin")
    for one, other in zip(fine, coarse, strict=True):
        assert abs(one.time - other.time) < STEP
    begins, ends = fine[0::2], fine[1::2]
    for begin, end in zip(begins, ends, strict=False):
        assert (begin.kind, end.kind) == ("begin", "end")
        assert begin.approach_speed > 0 > end.approach_speed
        assert end.duration == pytest.approx(end.time - begin.time, abs=1e-15)


def test_a_chattering_box_makes_fewer_events_at_a_wider_band() -> None:
    pose, geom = 'pos="0 0 .3" euler="8 5 0"', 'type="box" size=".1 .1 .1" solref=".004 .1"'
    model = mujoco.MjModel.from_xml_string(SCENE.format(integrator="Euler", pose=pose, geom=geom))
    data = mujoco.MjData(model)
    trackers = [ContactEvents([("floor", "box")], eps) for eps in (1e-8, 1e-4)]
    counts = [0, 0]
    for _ in range(1500):
        mujoco.mj_step(model, data)
        mujoco.mj_kinematics(model, data)
        distance = mujoco.mj_geomDistance(model, data, 0, 1, 1.0, None)
        for i, tracker in enumerate(trackers):
            counts[i] += len(tracker.update(data.time, [distance], [math.nan]))
    assert counts[0] > counts[1] > 0
