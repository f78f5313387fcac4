"""Bundled scenes: each loads, keeps going, fills its cameras, and shows the physics it promises."""

import re
import time
import xml.etree.ElementTree as ElementTree
from collections.abc import Iterator
from importlib.resources import files
from pathlib import Path

import mujoco
import numpy as np
import pytest
from contact_viewer import open_engine
from contact_viewer.engines.controller_file import ControllerFile
from numpy.typing import NDArray

PORTABLE = ["gripper", "hand", "quadruped", "slope", "stack", "touch", "turntable", "walker"]
"""Scenes whose sensors MotrixSim takes as well."""
SCENES = sorted([*PORTABLE, "bounce", "clamp", "pile", "rolling", "targets"])
GRAVITY = 9.81
FOLDER = Path(str(files("contact_viewer.scenes")))
each_scene = pytest.mark.parametrize("name", SCENES)


class Run:
    """A scene that steps, and the arrays of its sensors."""

    def __init__(self, name: str, key: str | None = None) -> None:
        self.model = mujoco.MjModel.from_xml_path(str(FOLDER / f"{name}.xml"))
        self.data = mujoco.MjData(self.model)
        if key is not None:
            mujoco.mj_resetDataKeyframe(self.model, self.data, self.model.key(key).id)
        beside = FOLDER / f"{name}.py"
        self.controller = ControllerFile(str(beside)).load() if beside.exists() else None
        if self.controller is not None:
            self.controller.start(self.model, [self.data])

    def until(self, seconds: float) -> Iterator[float]:
        """Steps, giving the time after each."""
        while self.data.time < seconds - 1e-9:
            if self.controller is not None:
                self.controller.control(self.model, self.data)
            mujoco.mj_step(self.model, self.data)
            yield self.data.time

    def to(self, seconds: float) -> "Run":
        for _ in self.until(seconds):
            pass
        return self

    def slots(self, sensor: str) -> NDArray[np.float64]:
        """The sensor's array, one row a slot."""
        slots = self.model.sensor_intprm[self.model.sensor(sensor).id, 2]
        array: NDArray[np.float64] = self.data.sensor(sensor).data.reshape(slots, -1).copy()
        return array

    def found(self, sensor: str) -> int:
        return int(self.slots(sensor)[0, 0])

    def force(self, sensor: str) -> NDArray[np.float64]:
        """Force of every slot [N], (slots, 3), for sensors that request found and force."""
        return self.slots(sensor)[:, 1:4]

    def weight(self, *bodies: str) -> float:
        return GRAVITY * sum(float(self.model.body(body).mass[0]) for body in bodies)


def contact_sensors(model: mujoco.MjModel) -> list[int]:
    return [i for i in range(model.nsensor) if model.sensor_type[i] == mujoco.mjtSensor.mjSENS_CONTACT]


def test_all_scenes_are_here() -> None:
    assert sorted(path.stem for path in FOLDER.glob("*.xml")) == SCENES


@each_scene
def test_first_line_describes_the_scene_in_one_sentence(name: str) -> None:
    first_line = (FOLDER / f"{name}.xml").read_text(encoding="utf-8").splitlines()[0]
    assert re.fullmatch(r"<!-- [A-Z][^.]{40,130}\. -->", first_line)


@each_scene
def test_stands_alone(name: str) -> None:
    elements = list(ElementTree.parse(FOLDER / f"{name}.xml").iter())
    assert not [element.tag for element in elements if "file" in element.attrib or element.tag == "include"]


@each_scene
def test_has_named_cameras_and_sensors_and_room_for_large_pictures(name: str) -> None:
    model = Run(name).model
    assert model.ncam >= 1
    assert all(model.cam(i).name for i in range(model.ncam))
    assert len(contact_sensors(model)) == model.nsensor >= 2
    assert all(model.sensor(i).name for i in range(model.nsensor))
    assert model.vis.global_.offwidth >= 3840
    assert model.vis.global_.offheight >= 2160
    assert model.opt.timestep == 0.002


@each_scene
def test_saturated_colours_and_white_are_left_to_contacts(name: str) -> None:
    model = Run(name).model
    for colours in (
        model.mat_rgba,
        model.geom_rgba[model.geom_matid < 0],
        model.site_rgba[model.site_matid < 0],
    ):
        solid = colours[colours[:, 3] > 0.5][:, :3]
        plain = solid[(solid != 1).any(axis=1)]  # a textured material is white under its texture
        assert (np.ptp(plain, axis=1) < 0.35).all()
        assert (plain.max(axis=1, initial=0) < 0.8).all()


@each_scene
def test_runs_ten_seconds_without_warning(name: str) -> None:
    run = Run(name).to(10)
    assert run.data.time == pytest.approx(10)
    assert [warning.number for warning in run.data.warning] == [0] * len(run.data.warning)
    assert np.isfinite(run.data.qpos).all()
    assert np.isfinite(run.data.sensordata).all()


@each_scene
def test_moves_and_touches_for_as_long_as_one_looks(name: str) -> None:
    run = Run(name).to(10)
    for second in range(10, 14):
        before = run.data.qpos.copy()
        run.to(second + 1)
        assert run.data.ncon > 0
        assert np.abs(run.data.qpos - before).max() > 1e-3


@each_scene
@pytest.mark.parametrize("camera", ["free", "named"])
def test_camera_frames_every_contact_and_sees_it_from_above(name: str, camera: str) -> None:
    run = Run(name)
    position, axes, fovy = view(run, camera)
    height = np.tan(np.radians(fovy) / 2)
    width = 1.2 * height  # the scene between two panels is hardly wider than high
    spans = []
    for seconds in run.until(8):
        if round(seconds / 0.002) % 100 or not run.data.ncon:
            continue
        seen = (run.data.contact.pos - position) @ axes.T
        picture = seen[:, :2] / -seen[:, 2:] / [width, height]
        assert (seen[:, 2] < 0).all()
        assert np.abs(picture).max() < 0.95
        spans.append(np.ptp(picture, axis=0).max())
    assert max(spans) > 0.25, "contacts are lost in the picture"
    assert 0.17 < axes[2, 2] < 0.75, "edge-on or from the top"


def view(run: Run, camera: str) -> tuple[NDArray[np.float64], NDArray[np.float64], float]:
    """Position [m], axes (right, up, back) as rows, and field of view [degrees]."""
    if camera == "named":
        mujoco.mj_forward(run.model, run.data)
        return (
            run.data.cam_xpos[0].copy(),
            run.data.cam_xmat[0].reshape(3, 3).T.copy(),
            float(run.model.cam_fovy[0]),
        )
    free = mujoco.MjvCamera()
    mujoco.mjv_defaultFreeCamera(run.model, free)
    azimuth, elevation = np.radians([free.azimuth, free.elevation])
    forward = np.array([np.cos(elevation) * np.cos(azimuth), np.cos(elevation) * np.sin(azimuth), np.sin(elevation)])
    right = np.array([np.sin(azimuth), -np.cos(azimuth), 0])
    axes = np.stack([right, np.cross(right, forward), -forward])
    return free.lookat - free.distance * forward, axes, float(run.model.vis.global_.fovy)


@pytest.mark.parametrize("name", PORTABLE)
def test_portable_scenes_use_targets_that_motrixsim_takes(name: str) -> None:
    model = Run(name).model
    pairs = {mujoco.mjtObj.mjOBJ_GEOM, mujoco.mjtObj.mjOBJ_BODY, mujoco.mjtObj.mjOBJ_XBODY}
    assert set(model.sensor_objtype) <= {int(kind) for kind in pairs}
    assert (model.sensor_objtype == model.sensor_reftype).all()
    assert (model.sensor_objid != model.sensor_refid).all()
    bodies = model.sensor_objtype != mujoco.mjtObj.mjOBJ_GEOM
    assert (model.sensor_objid[bodies] > 0).all()
    assert (model.sensor_refid[bodies] > 0).all()


def test_set_shows_every_kind_of_target_and_reduction() -> None:
    kinds, reductions, found_only = set(), set(), 0
    for name in SCENES:
        model = Run(name).model
        kinds |= set(model.sensor_objtype.tolist()) | set(model.sensor_reftype.tolist())
        reductions |= set(model.sensor_intprm[:, 1].tolist())
        found_only += int((model.sensor_intprm[:, 0] == 1).sum())
    objects = mujoco.mjtObj
    every_kind = {
        objects.mjOBJ_GEOM,
        objects.mjOBJ_BODY,
        objects.mjOBJ_XBODY,
        objects.mjOBJ_SITE,
        objects.mjOBJ_UNKNOWN,
    }
    assert {int(kind) for kind in every_kind} <= kinds
    assert reductions == {0, 1, 2, 3}
    assert found_only >= 3


def test_slope_slides_at_the_limit_of_friction_in_red() -> None:
    run = Run("slope").to(0.6)
    normal, red, blue = run.force("box_on_slope").sum(axis=0)
    assert red / normal == pytest.approx(0.35, rel=0.01)
    assert abs(blue) < 0.01 * normal
    tilt = run.data.joint("rock").qpos[0]
    assert normal == pytest.approx(run.weight("box") * np.cos(tilt), rel=0.03)


def test_slope_holds_the_box_below_the_limit_and_sends_it_from_stop_to_stop() -> None:
    run = Run("slope")
    along, held, touched = [], [], {"box_at_front_stop": 0, "box_at_back_stop": 0}
    for _ in run.until(12):
        along.append(run.data.body("box").xpos[1])
        normal, red, _ = run.force("box_on_slope").sum(axis=0)
        if run.data.time > 1:
            held.append(abs(red) < 0.3 * normal)
        for stop in touched:
            touched[stop] += run.found(stop) > 0
    assert min(along) < -0.4
    assert max(along[len(along) // 3 :]) > 0.4
    assert 0.2 < np.mean(held) < 0.95
    assert min(touched.values()) > 20


def test_turntable_keeps_its_box_and_turns_the_friction() -> None:
    run = Run("turntable")
    friction = []
    for seconds in run.until(20):
        assert run.found("box_fell_off") == 0
        if seconds > 0.1:
            assert run.found("box_floor_contact") == 4
            friction.append(run.force("box_floor_contact").sum(axis=0)[1:])
    red, blue = np.array(friction).T
    for component in (red, blue):
        assert component.max() > 2
        assert component.min() < -2


@pytest.mark.parametrize("key", [None, "hold"])
def test_gripper_still_holds_the_block_after_ten_seconds(key: str | None) -> None:
    run = Run("gripper", key)
    for seconds in run.until(10):
        if seconds < 1.5:
            continue
        assert run.found("block_on_pedestal") == 0
        left, right = run.force("fingertip_left")[0], run.force("fingertip_right")[0]
        assert left + right == pytest.approx([0, 0, run.weight("block")], abs=0.1)
        assert run.force("gripper_on_block")[0] == pytest.approx(left + right, abs=1e-9)
        assert left[1] > 3 > -3 > right[1]
    assert run.data.body("block").xpos[2] > 0.13


def test_gripper_drops_the_block_from_its_release_keyframe() -> None:
    run = Run("gripper", "release")
    assert sum(run.found("fingertip_left") for _ in run.until(0.05)) > 0
    run.to(1)
    assert run.found("fingertip_left") == run.found("fingertip_right") == 0
    assert run.found("block_on_pedestal") == 4


def test_quadruped_feet_share_the_weight_and_the_load_walks_round() -> None:
    run = Run("quadruped")
    feet = ["foot_FL", "foot_FR", "foot_RL", "foot_RR"]
    weight = GRAVITY * float(run.model.body_mass.sum())
    loads = []
    for seconds in run.until(10):
        assert run.found("belly") == 0
        if seconds > 1:
            loads.append([run.force(foot)[0, 0] for foot in feet])
    assert np.sum(loads, axis=1) == pytest.approx(weight, rel=0.01)
    assert (np.min(loads, axis=0) > 0.1 * weight).all()
    assert (np.ptp(loads, axis=0) > 0.1 * weight).all()
    assert set(np.argmax(loads, axis=1)) == {0, 1, 2, 3}


def test_walker_walks_step_by_step_and_slips_on_the_ice() -> None:
    run = Run("walker")
    weight = GRAVITY * float(run.model.body_mass.sum())
    feet = {name: run.model.body(f"{name}_foot").id for name in ("left", "right")}
    touching, loads = [], []
    slips: dict[str, list[float]] = {"foot": [], "on_ice": []}
    jacobian = np.zeros((3, run.model.nv))
    for _ in run.until(16.5):
        assert run.found("fall") == 0
        row = []
        for foot, body in feet.items():
            for ground, slip in slips.items():
                slots = run.slots(f"{foot}_{ground}")
                row.append(slots[0, 0] > 0)
                strongest = slots[np.argmax(slots[:, 1])]
                if strongest[1] > 0.3 * weight:
                    mujoco.mj_jac(run.model, run.data, jacobian, None, strongest[4:7], body)
                    slip.append(float(np.linalg.norm((jacobian @ run.data.qvel)[:2])))
            loads.append(sum(run.force(f"{foot}_{ground}")[:, 0].sum() for ground in slips))
        touching.append(row)
    left, left_on_ice, right, right_on_ice = np.array(touching).T
    on_left, on_right = left | left_on_ice, right | right_on_ice
    # Twice round the post, on one foot most of the time, on both in between, never on none for long.
    assert run.data.joint("turn").qpos[0] > 3.5 * np.pi
    assert (on_left != on_right).mean() > 0.7
    assert (on_left & on_right).mean() > 0.05
    assert (~on_left & ~on_right).mean() < 0.05
    # A step takes half a period: so many touchdowns of each foot, but for a bounce now and then.
    for foot in (on_left, on_right):
        landings = np.flatnonzero(foot[1:] & ~foot[:-1]) * run.model.opt.timestep
        assert 17 <= (np.diff(landings) > 0.3).sum() + 1 <= 20
    # The feet carry the weight; on the ice friction is a twentieth of it, and they slip.
    assert np.reshape(loads, (-1, 2)).sum(axis=1).mean() == pytest.approx(weight, rel=0.02)
    assert np.mean(slips["on_ice"]) > 2 * np.mean(slips["foot"])
    assert left_on_ice.any()
    assert right_on_ice.any()


@pytest.mark.parametrize("engine", ["mujoco", "motrix"])
def test_walker_is_driven_by_the_controller_beside_it(engine: str) -> None:
    opened = open_engine("walker", engine)
    opened.step(1500)
    assert opened.data.joint("turn").qpos[0] > 1.8
    # A controller of one's own takes its place, and it stands.
    standing = open_engine("walker", engine, control=lambda model, data: None)
    standing.step(1500)
    assert abs(standing.data.joint("turn").qpos[0]) < 0.1


def test_hand_catches_the_ball_when_its_controls_close_it() -> None:
    """What a user does with the sliders: all fingers bend, and the squeeze grows."""
    run = Run("hand").to(2)
    fingers = ("index", "middle", "ring", "thumb")

    def squeeze() -> float:
        return sum(float(np.linalg.norm(run.force(finger).sum(axis=0))) for finger in fingers)

    loose, weight = [squeeze() for _ in run.until(6)], run.weight("ball")
    assert np.mean(loose) < weight
    squeezes = []
    for bend in (0.5, 0.9):
        run.data.ctrl[:] = bend
        run.to(run.data.time + 2)
        squeezes.append(np.mean([squeeze() for _ in run.until(run.data.time + 3)]))
        # However hard it is held, all contacts together carry the weight.
        net = run.slots("hand_on_ball")[0, 1:4]
        assert net == pytest.approx([0, 0, weight], abs=0.1 * weight)
    assert squeezes[0] > 3 * weight
    assert squeezes[1] > 1.5 * squeezes[0]


def test_stack_carries_at_each_layer_what_is_above() -> None:
    run = Run("stack").to(10)
    layers = ["base", "lower", "middle", "upper", "top"]
    carried = dict.fromkeys(layers, 0.0)
    for i, contact in enumerate(run.data.contact):
        force = np.zeros(6)
        mujoco.mj_contactForce(run.model, run.data, i, force)
        upper = max(contact.geom, key=lambda geom: float(run.data.geom_xpos[geom, 2]))
        carried[run.model.geom(upper).name] += force[0]
    for i, layer in enumerate(layers):
        assert carried[layer] == pytest.approx(run.weight(*layers[i:]), rel=0.01)
    assert run.force("base_on_table")[:, 0].sum() == pytest.approx(carried["base"], rel=1e-9)
    # The turned boxes touch in more points than the sensors have slots, strongest or deepest first.
    assert run.found("lower_on_base") > len(run.slots("lower_on_base"))
    depth = run.slots("lower_on_base")[:, 4]
    assert (np.diff(depth) >= 0).all()
    assert depth[0] < 0
    strength = np.linalg.norm(run.force("middle_on_lower"), axis=1)
    assert (np.diff(strength) <= 1e-9).all()
    assert strength[-1] > 0
    assert run.data.body("top").xpos[2] == pytest.approx(0.69, abs=0.01)


def test_pile_has_over_a_hundred_contacts_faster_than_real_time() -> None:
    run = Run("pile")
    started = time.process_time()
    run.to(1)
    assert time.process_time() - started < 1
    assert run.data.ncon > 100
    dropped = 0
    for seconds in run.until(5):
        if seconds > 2:
            assert run.found("every_contact") == run.data.ncon > 100
        dropped += run.found("hardest_on_floor") > len(run.slots("hardest_on_floor"))
    assert dropped > 1000
    inside = [run.data.geom(i).xpos for i in range(run.model.ngeom) if run.model.geom_bodyid[i] > 2]
    assert np.abs(np.array(inside)[:, :2]).max() < 0.4


def test_clamp_normals_cancel_and_friction_carries_the_weight() -> None:
    run = Run("clamp")
    squeezes = []
    for seconds in run.until(10):
        if seconds < 1:
            continue
        left, right = run.force("left_jaw")[:, 0].sum(), run.force("right_jaw")[:, 0].sum()
        assert left == pytest.approx(right, rel=0.02)
        assert run.force("clamp_net")[0] == pytest.approx([0, 0, run.weight("part")], abs=0.1)
        squeezes.append(left)
    assert max(squeezes) > 1.8 * min(squeezes)
    assert run.data.body("part").xpos[2] == pytest.approx(0.29, abs=0.005)


def test_bounce_tells_the_balls_apart() -> None:
    run = Run("bounce")
    balls = ["dead", "soft", "lively", "everlasting"]
    heights, peaks = [], dict.fromkeys(balls, 0.0)
    for seconds in run.until(10):
        for ball in balls:
            peaks[ball] = max(peaks[ball], run.force(f"{ball}_ball")[0, 0])
        if seconds > 8:
            heights.append([run.data.body(ball).xpos[2] for ball in balls])
    dead, soft, lively, everlasting = np.max(heights, axis=0)
    assert dead + 0.001 < soft + 0.002 < lively < everlasting == pytest.approx(0.55, abs=0.01)
    assert run.force("dead_ball")[0, 0] == pytest.approx(run.weight("dead"), rel=0.001)
    assert min(peaks.values()) > run.weight("heavy")


def test_targets_match_what_their_names_say() -> None:
    run = Run("targets")
    model, data = run.model, run.data
    zone, sweeper, marked = model.site("zone"), model.body("sweeper").id, model.geom("marked").id
    in_zone, swept, dropped, passes = 0, 0, 0, set()
    for _ in run.until(12):
        pairs = data.contact.geom.reshape(-1, 2)
        assert run.found("everything") == data.ncon
        inside = (np.abs(data.contact.pos.reshape(-1, 3) - zone.pos) < zone.size).all(axis=1)
        assert run.found("in_zone") == inside.sum()
        in_zone += run.found("in_zone")
        roots = model.body_rootid[model.geom_bodyid[pairs]]
        assert run.found("sweeper_and_paddles") == (roots == sweeper).any(axis=1).sum()
        swept += run.found("sweeper_and_paddles")
        touching = (pairs == marked).any(axis=1)
        assert run.found("marked_puck") == touching.sum()
        dropped += run.found("marked_puck") > len(run.slots("marked_puck"))
        assert run.found("puck_in_zone") == (touching & inside).sum()
        passes.add(run.found("puck_in_zone") > 0)
    assert min(in_zone, swept, dropped) > 1000
    assert passes == {True, False}


def test_rolling_friction_is_a_torque_with_a_limit() -> None:
    run = Run("rolling")
    # The coefficient is a length [m]: the torque it allows is that length times the normal force.
    limits = {"marble": 0.0004, "tyre": 0.006, "sack": 0.03}
    along: dict[str, list[float]] = {ball: [] for ball in limits}
    for seconds in run.until(8):
        for ball, limit in limits.items():
            body, tray = run.data.body(ball), run.data.body("tray")
            along[ball].append(float((tray.xmat.reshape(3, 3).T @ (body.xpos - tray.xpos))[1]))
            slot = run.slots(ball)[0]
            if seconds > 0.1 and slot[0]:
                assert np.linalg.norm(slot[5:7]) <= 1.001 * limit * slot[1]
    travel = {ball: np.ptp(track) for ball, track in along.items()}
    assert travel["sack"] < 0.01 < 0.3 < travel["tyre"] < travel["marble"]

    rolling = Run("rolling").to(0.5)
    normal, torque = rolling.slots("tyre")[0, 1], rolling.slots("tyre")[0, 4:7]
    assert np.linalg.norm(torque[1:]) == pytest.approx(limits["tyre"] * normal, rel=0.01)
    assert abs(torque[0]) < 1e-3 * normal


def test_touch_bumps_steps_and_grips() -> None:
    run = Run("touch")
    bumps, steps, peak, squeezes = [], [], 0.0, []
    for seconds in run.until(12):
        bumps.append(run.found("bumper_on_wall") > 0)
        steps.append(run.found("foot_on_floor") > 0)
        peak = max(peak, run.force("foot_on_floor")[:, 0].sum())
        if seconds > 0.1:
            pad, tip = run.force("pad_on_block")[0], run.force("tip_on_block")[0]
            assert -pad - tip == pytest.approx([0, 0, run.weight("block")], abs=0.2)
            squeezes.append(-pad[0])
    assert np.diff(bumps).sum() >= 5, "the wall comes and goes"
    assert np.diff(steps).sum() >= 8, "the foot steps"
    assert 25 < peak < 60
    assert min(squeezes) > 5
    # Pushed to and fro in its lane, the robot stays straight.
    ahead = run.data.body("robot").xmat.reshape(3, 3)[:, 0]
    assert ahead[0] > 0.99
