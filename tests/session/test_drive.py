"""What a user does to controls: kept, undone and replayed."""

from pathlib import Path

import mujoco
import numpy as np
import pytest
from contact_viewer import open_engine
from contact_viewer.mjmodel.actuators import Servo, read_actuators
from contact_viewer.session.session import Session
from contact_viewer.settings import ViewState
from contact_viewer.window.panels.poses import short_names

from .runs import Wanderer, scene, state_of

MOTOR = """
<mujoco>
  <default><geom contype="0" conaffinity="0"/></default>
  <worldbody>
    <body name="arm" pos="0 0 1">
      <joint name="shoulder" axis="0 1 0"/>
      <geom type="capsule" fromto="0 0 0 .3 0 0" size=".02" mass=".5"/>
      <body name="hand" pos=".3 0 0">
        <joint name="wrist" axis="0 1 0" range="-60 60"/>
        <geom type="capsule" fromto="0 0 0 .2 0 0" size=".02" mass=".2"/>
        <body name="thumb"><joint name="thumb" type="slide" range="0 .1"/><geom size=".02" mass=".1"/></body>
        <body name="finger"><joint name="finger" type="slide"/><geom size=".02" mass=".1"/></body>
      </body>
    </body>
  </worldbody>
  <actuator>
    <motor name="shoulder" joint="shoulder" gear="5" forcerange="-3 3" forcelimited="true"/>
    <motor joint="wrist"/>
    <position name="thumb" joint="thumb" kp="10"/>
    <velocity name="finger" joint="finger" kv="3" ctrlrange="0 2"/>
    <position name="pulled" tendon="pulled" kp="2" ctrlrange="0 3" forcerange="-2 1" forcelimited="true"/>
  </actuator>
  <tendon><fixed name="pulled"><joint joint="shoulder" coef="1"/><joint joint="wrist" coef="1"/></fixed></tendon>
</mujoco>"""


@pytest.fixture
def motors(tmp_path: Path) -> Session:
    path = tmp_path / "motors.xml"
    path.write_text(MOTOR)
    return Session(open_engine(path), ViewState())


def test_actuators_have_names_units_ranges_and_limbs(motors: Session) -> None:
    shoulder, wrist, thumb, finger, pulled = read_actuators(motors.engine.model)
    # A tendon that adds angles is an angle.
    assert (pulled.unit, pulled.force_unit, pulled.limb) == ("rad", "N·m", "arm")
    assert (pulled.force_low, pulled.force_high) == (-2, 1)
    assert [each.name for each in (shoulder, wrist, thumb, finger)] == ["shoulder", "actuator 1", "thumb", "finger"]
    assert [each.servo for each in (shoulder, wrist, thumb, finger)] == [
        Servo.FORCE,
        Servo.FORCE,
        Servo.POSITION,
        Servo.VELOCITY,
    ]
    assert (shoulder.unit, wrist.unit, thumb.unit, finger.unit) == ("", "N·m", "m", "m/s")
    assert (shoulder.low, shoulder.high) == (-3, 3)
    assert (thumb.low, thumb.high, finger.low, finger.high) == (0, 0.1, 0, 2)
    assert [each.limb for each in (shoulder, wrist, thumb, finger)] == ["arm", "arm", "thumb", "finger"]


GRIPPER = """
<mujoco>
  <option gravity="0 0 0"/>
  <worldbody><body><joint name="jaw" type="slide" range="0 .08"/><geom size=".02" mass=".1"/></body></worldbody>
  <actuator>
    <general name="grip" joint="jaw" ctrlrange="0 255" gainprm=".03" biastype="affine" biasprm="-.3 -100 -10"/>
  </actuator>
</mujoco>
"""
"""A servo whose control counts in 255 steps."""


def test_a_servo_that_counts_in_steps_has_no_unit_and_holds_its_pose(tmp_path: Path) -> None:
    path = tmp_path / "gripper.xml"
    path.write_text(GRIPPER)
    session = Session(open_engine(path), ViewState())
    (grip,) = session.drive.actuators
    assert (grip.servo, grip.unit, grip.low, grip.high) == (Servo.POSITION, "", 0, 255)
    data = session.engine.data
    data.qpos[0] = 0.05
    session.drive.hold_pose(True)
    mujoco.mj_forward(session.engine.model, data)
    assert 0 < data.ctrl[0] < 255
    assert abs(data.actuator_force[0]) < 1e-9


def test_names_of_a_limb_are_shown_without_what_they_share() -> None:
    legs = ["left_hip_pitch_joint", "left_knee_joint", "left_ankle_roll_joint"]
    assert short_names(legs) == ["hip_pitch", "knee", "ankle_roll"]
    assert short_names(["rh_A_FFJ4", "rh_A_FFJ3"]) == ["FFJ4", "FFJ3"]
    assert short_names(["grip", "grip_left"]) == ["grip", "grip_left"]
    assert short_names(["waist_yaw_joint"]) == ["waist_yaw_joint"]
    assert short_names(["a", "a"]) == ["a", "a"]


@pytest.mark.parametrize("integrator", ["Euler", "implicitfast", "RK4"])
def test_noise_hands_and_a_stateful_controller_are_replayed_bit_for_bit(tmp_path: Path, integrator: str) -> None:
    wanderer = Wanderer()
    session = Session(open_engine(scene(tmp_path, integrator), control=wanderer), ViewState())
    session.drive.set_noise(0.3, 0.05)
    hand, states = np.random.default_rng(1), {}
    engine, history = session.engine, session.history
    assert history is not None
    while history.last < 2000:
        session.drive.set_controls({0: float(hand.uniform(-1, 1))})
        for _ in range(int(hand.integers(1, 30))):
            session.take_steps(1)
            states[history.last] = state_of(engine.model, engine.data).tobytes()
    calls = wanderer.calls
    for step in [*range(1, history.last, 41), *reversed(range(1, history.last, 53))]:
        session.go_to(step)
        assert state_of(engine.model, engine.data).tobytes() == states[step], step
    assert wanderer.calls == calls


def test_noise_has_the_deviation_and_the_memory_that_were_asked_for(motors: Session) -> None:
    """Against the law of such a process, over many steps."""
    drive, values = motors.drive, []
    drive.set_controls({2: 0.05})
    drive.set_noise(0.1, 0.02)
    for _ in range(6000):
        motors.take_steps(1)
        values.append(float(motors.engine.data.ctrl[2]))
        assert drive.controls[2] == 0.05
    series = (np.array(values) - 0.05) / 0.05
    assert series.std() == pytest.approx(0.1, rel=0.15)
    lag = round(0.02 / motors.engine.timestep)
    assert np.corrcoef(series[:-lag], series[lag:])[0, 1] == pytest.approx(np.exp(-1), abs=0.12)
    drive.set_noise(0.0, 0.02)
    assert motors.engine.data.ctrl[2] == 0.05


def test_hold_keeps_motors_where_they_are(motors: Session) -> None:
    drive, data = motors.drive, motors.engine.data
    drive.set_position(0, [0.4])
    drive.set_position(1, [-0.3])
    drive.hold.stiffness, drive.hold.damping = 60.0, 0.6
    drive.hold_pose(True)
    for _ in range(300):
        motors.take_steps(1)
    assert data.qpos[:2] == pytest.approx([0.4, -0.3], abs=0.08)
    drive.hold_pose(False)
    motors.engine.data.ctrl[:] = 0
    for _ in range(200):
        motors.take_steps(1)
    assert abs(data.qpos[0] - 0.4) > 0.3


def test_several_controls_move_by_the_same_part_of_their_range(motors: Session) -> None:
    drive = motors.drive
    drive.move_together([drive.actuators[2], drive.actuators[3]], drive.actuators[3], 0.5)
    assert drive.controls[:4].tolist() == pytest.approx([0, 0, 0.025, 0.5])
    drive.move_together([drive.actuators[2], drive.actuators[3]], drive.actuators[3], 2.0)
    assert drive.controls[:4].tolist() == pytest.approx([0, 0, 0.1, 2.0])


def test_only_what_was_done_since_the_last_step_is_undone(motors: Session) -> None:
    drive = motors.drive
    drive.begin("first")
    drive.set_controls({0: 1.0})
    drive.begin("second")
    drive.set_position(0, [0.7])
    assert drive.undo_stack.undo() == "second"
    assert motors.engine.data.qpos[0] == 0
    assert motors.engine.data.ctrl[0] == 1
    assert drive.undo_stack.last == "first"
    motors.take_steps(1)
    assert drive.undo_stack.last is None
    assert drive.undo_stack.undo() is None
    assert motors.engine.data.ctrl[0] == 1


def test_a_pose_changes_no_bit_of_the_steps_that_follow(tmp_path: Path) -> None:
    path = scene(tmp_path, "Euler")
    session = Session(open_engine(path), ViewState())
    model = mujoco.MjModel.from_xml_path(str(path))
    data = mujoco.MjData(model)
    session.take_steps(150)
    for _ in range(150):
        mujoco.mj_step(model, data)
    place = session.drive.joints[1].place
    session.drive.set_position(place, [0.3])
    data.qpos[place] = 0.3
    session.take_steps(200)
    for _ in range(200):
        mujoco.mj_step(model, data)
    assert state_of(session.engine.model, session.engine.data).tobytes() == state_of(model, data).tobytes()
