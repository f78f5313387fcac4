"""The Controls panel in the real window: sliders that drive, poses, noise, constants of a controller."""

from pathlib import Path
from typing import Any

import numpy as np
import pytest
from contact_viewer import open_engine
from contact_viewer.app.application import open_application
from contact_viewer.session.session import Session
from contact_viewer.settings import Options, ViewState
from contact_viewer.window.window import Window
from imgui_bundle import ImVec2, imgui

from tests.passive.loops import still_loop

from ...scenes import ARM
from ..driver import drive, make_window, screenshot, wait


@pytest.fixture
def arm(tmp_path: Path) -> Path:
    path = tmp_path / "arm.xml"
    path.write_text(ARM)
    return path


def show_tab(ctx: Any, title: str) -> None:
    ctx.window_focus("//Controls")
    ctx.yield_(3)
    ctx.item_click(f"//Controls/##what/{title}")
    ctx.yield_(3)


def type_into(ctx: Any, item: str, value: float) -> None:
    ctx.item_input_value(f"//Controls/**/###{item}", value)
    ctx.yield_(2)


def test_a_dragged_slider_moves_the_joint_and_the_contact_force_rises(arm: Path) -> None:
    window = make_window(arm, paused=False)
    session = window.app.session
    forces: list[float] = []

    def force() -> float:
        return float(np.linalg.norm(session.reading("touch").net_force))

    def test(ctx: Any) -> None:
        show_tab(ctx, "Actuators")
        slider = "//Controls/**/###control shoulder"
        ctx.item_drag_with_delta(slider, (8, 0))
        wait(ctx, lambda: session.drive.controls[0] > 0.05)
        ctrl = float(session.drive.controls[0])
        wait(ctx, lambda: abs(session.engine.data.qpos[0] - ctrl) < 0.1)
        assert force() == 0
        # Further than the floor lets it.
        type_into(ctx, "control shoulder", 1.35)
        wait(ctx, lambda: force() > 0.5 and abs(session.engine.data.qvel[0]) < 1e-3)
        forces.append(force())
        type_into(ctx, "control shoulder", 1.5)
        wait(ctx, lambda: force() > 1.2 * forces[0])
        type_into(ctx, "control shoulder", 0.0)
        wait(ctx, lambda: force() == 0)

    drive(window, test)


def test_a_pose_shows_contacts_without_forces_until_a_step(arm: Path, tmp_path: Path) -> None:
    window = make_window(arm, steps=3)
    session, data = window.app.session, window.app.session.engine.data

    def test(ctx: Any) -> None:
        show_tab(ctx, "Joints")
        type_into(ctx, "joint shoulder", 1.3)
        assert data.qpos[0] == pytest.approx(1.3, abs=1e-3)
        reading = session.reading("touch")
        # The end of the arm is in the floor, by geometry.
        assert reading.found == 1
        assert reading.net_force.tolist() == [0, 0, 0]
        assert reading.batch.dist is not None
        assert 0.3 - 0.3 * np.sin(1.3) - 0.02 == pytest.approx(float(reading.batch.dist[0]), abs=2e-3)
        assert session.drive.is_posed
        screenshot(ctx, tmp_path / "posed.png")
        ctx.key_press(imgui.Key.right_arrow)
        ctx.yield_(3)
        assert not session.drive.is_posed
        assert np.linalg.norm(session.reading("touch").net_force) > 1
        # Posed again, and taken back.
        before = float(data.qpos[0])
        type_into(ctx, "joint shoulder", 0.2)
        ctx.key_press(imgui.Key.mod_ctrl.value | imgui.Key.z.value)
        ctx.yield_(3)
        assert float(data.qpos[0]) == before
        session.paused = False
        wait(ctx, lambda: session.engine.time > 0.5)

    drive(window, test)


def test_controls_of_a_paused_scene_are_undone(arm: Path) -> None:
    window = make_window(arm, steps=3)
    session = window.app.session

    def test(ctx: Any) -> None:
        show_tab(ctx, "Actuators")
        ctx.item_click("//Controls/**/Middle")
        ctx.yield_(2)
        assert session.drive.controls[0] == 0.25
        type_into(ctx, "control shoulder", 0.9)
        assert session.drive.controls[0] == pytest.approx(0.9, abs=1e-6)
        assert window.app.undo_stack.last == "control of shoulder"
        for expected in (0.25, 0.0):
            ctx.key_press(imgui.Key.mod_ctrl.value | imgui.Key.z.value)
            ctx.yield_(3)
            assert session.drive.controls[0] == expected
        # In a user's own loop they are readings.
        own = session.simulation.source
        session.simulation.source = still_loop(session.simulation.engine)
        for tab, item in (("Actuators", "control shoulder"), ("Joints", "joint shoulder")):
            show_tab(ctx, tab)
            flags = ctx.item_info(f"//Controls/**/###{item}").item_flags
            assert flags & imgui.ItemFlags_.disabled
        session.simulation.source = own
        show_tab(ctx, "Actuators")
        ctx.item_input_value("//Controls/**/###filter", "nothing like it")
        ctx.yield_(2)
        assert not ctx.item_exists("//Controls/**/###control shoulder")

    drive(window, test)


def test_constants_of_a_controller_are_tuned_and_errors_keep_the_window(arm: Path, tmp_path: Path) -> None:
    file = tmp_path / "steer.py"
    good = "LEVEL = 0.5\n\ndef control(model, data):\n    data.ctrl[0] = LEVEL\n"
    file.write_text(good)
    options = Options(scene=arm, control=str(file), width=1200, height=1000)
    window = Window(open_application(options))
    window.keeps_settings = False
    app = window.app

    def angle() -> float:
        return float(app.session.engine.data.qpos[0])

    def notices() -> str:
        return " | ".join(notice.text for notice in app.notices.items)

    def test(ctx: Any) -> None:
        wait(ctx, lambda: angle() > 0.4)
        show_tab(ctx, "Controller")
        type_into(ctx, "LEVEL", -0.3)
        wait(ctx, lambda: angle() < -0.15)
        file.write_text(good.replace("):", ")"))
        wait(ctx, lambda: "line 3: SyntaxError" in notices())
        assert not app.session.paused
        file.write_text(good.replace("LEVEL\n", "MISSING\n"))
        wait(ctx, lambda: app.session.paused and "line 4: NameError" in notices())
        file.write_text(good)
        wait(ctx, lambda: "NameError" not in notices())
        # The value that was set here stays.
        at = app.session.engine.time
        app.session.toggle_paused()
        wait(ctx, lambda: app.session.engine.time > at + 0.1)
        assert angle() < -0.15
        # A person takes over, and hands over again.
        ctx.item_click("//Controls/###drives")
        show_tab(ctx, "Actuators")
        type_into(ctx, "control shoulder", 0.5)
        wait(ctx, lambda: angle() > 0.4)
        ctx.item_click("//Controls/###drives")
        wait(ctx, lambda: angle() < -0.15)

    drive(window, test)


MOCAP = """
<mujoco>
  <worldbody>
    <geom name="floor" type="plane" size="1 1 .1"/>
    <body name="tray" mocap="true" pos="0 0 .3"><geom name="tray" type="box" size=".2 .2 .02"/></body>
    <body name="ball" pos="0 0 .369"><freejoint/><geom name="ball" size=".05" mass="1"/></body>
  </worldbody>
  <sensor><contact name="on tray" geom1="tray" geom2="ball" data="found force"/></sensor>
</mujoco>"""


@pytest.mark.parametrize("engine", ["mujoco", "motrix"])
def test_a_mocap_body_is_dragged_in_the_scene_and_moved_by_numbers(tmp_path: Path, engine: str) -> None:
    path = tmp_path / "tray.xml"
    path.write_text(MOCAP)
    options = Options(scene=path, engine=engine, paused=True, width=1200, height=900)
    window = Window(open_application(options))
    window.keeps_settings = False
    app = window.app

    def height() -> float:
        return float(app.session.engine.data.mocap_pos[0, 2])

    def test(ctx: Any) -> None:
        session = app.session
        show_tab(ctx, "Joints")
        session.view.perturb.select = 1
        _, top, right, _ = window.viewport.rect
        start = ImVec2(right - 60, top + 150)
        ctx.mouse_move_to_pos(start)
        ctx.key_down(imgui.Key.mod_ctrl)
        ctx.mouse_down(1)
        ctx.yield_(2)
        ctx.mouse_move_to_pos(ImVec2(start.x, start.y - 80))
        ctx.yield_(2)
        ctx.mouse_up(1)
        ctx.key_up(imgui.Key.mod_ctrl)
        ctx.yield_(2)
        moved = height()
        assert moved > 0.31
        assert session.drive.is_posed
        assert app.undo_stack.last == "pose of tray"
        ctx.key_press(imgui.Key.mod_ctrl.value | imgui.Key.z.value)
        ctx.yield_(3)
        assert height() == pytest.approx(0.3)
        # The ball falls with the tray that it lies on.
        ctx.item_input_value("//Controls/##what/Joints/mocap 0/###position z", 0.1)
        ctx.yield_(3)
        assert height() == pytest.approx(0.1)
        session.paused = False
        ball = lambda: float(session.engine.data.qpos[2])  # noqa: E731
        wait(ctx, lambda: abs(ball() - 0.169) < 0.005 and session.reading("on tray").found)

    drive(window, test)


def test_the_controls_of_one_limb_of_a_large_robot_are_found_and_moved_together(tmp_path: Path) -> None:
    limbs = [f"{side}_{limb}" for side in ("left", "right") for limb in ("arm", "leg")]
    names = {limb: [f"{limb}_{i}_joint" for i in range(8)] for limb in limbs}
    bodies = ""
    for limb, joints in names.items():
        first, *others = (
            f'<body name="{limb} {i}" pos="0 0 .1"><joint name="{joint}"/><geom size=".01"/>'
            for i, joint in enumerate(joints)
        )
        bodies += first + "".join(others) + "</body>" * len(joints)
    motors = "".join(
        f'<position name="{joint}" joint="{joint}" kp="1" ctrlrange="-1 {2 + i}"/>'
        for joints in names.values()
        for i, joint in enumerate(joints)
    )
    path = tmp_path / "robot.xml"
    path.write_text(
        f'<mujoco><default><geom contype="0" conaffinity="0"/></default><worldbody><body name="trunk">'
        f'<freejoint/><geom size=".1"/>{bodies}</body></worldbody><actuator>{motors}</actuator></mujoco>'
    )
    window = make_window(path, steps=1, height=700)
    drive_, selected = window.app.session.drive, slice(16, 24)

    def test(ctx: Any) -> None:
        show_tab(ctx, "Actuators")
        assert ctx.item_exists("//Controls/**/###limb left_arm 0")
        ctx.item_input_value("//Controls/**/###filter", "right arm")
        ctx.yield_(2)
        assert ctx.item_exists("//Controls/**/###control right_arm_7_joint")
        assert not ctx.item_exists("//Controls/**/###control left_arm_0_joint")
        ctx.item_click("//Controls/**/###select")
        type_into(ctx, "control right_arm_0_joint", 0.5)
        # By the same part of ranges of 3, 4, ... rad.
        assert drive_.controls[selected] == pytest.approx(0.5 / 3 * np.arange(3, 11), rel=1e-5)
        assert not np.delete(drive_.controls, range(16, 24)).any()
        ctx.key_press(imgui.Key.mod_ctrl.value | imgui.Key.z.value)
        ctx.yield_(2)
        assert not drive_.controls.any()

    drive(window, test)


@pytest.mark.parametrize("engine", ["mujoco", "motrix"])
def test_sliders_drive_the_shown_environment_or_all(arm: Path, engine: str) -> None:
    session = Session(open_engine(arm, engine, 3), ViewState())
    session.show_environment(1)
    session.drive.set_controls({0: 0.8})
    session.simulation.step(400)
    angles = [float(session.simulation.engine.pose(env).qpos[0]) for env in range(3)]
    assert angles[1] > 0.7
    assert angles[0] == angles[2] < 0.2
    session.drive.all_environments = True
    session.drive.set_controls({0: 0.4})
    session.simulation.step(1500)
    angles = [float(session.simulation.engine.pose(env).qpos[0]) for env in range(3)]
    assert np.ptp(angles) < 0.01
    assert angles[0] > 0.35
    session.drive.set_position(0, [0.1])
    angles = [float(session.simulation.engine.pose(env).qpos[0]) for env in range(3)]
    assert angles == pytest.approx([0.1] * 3)
    session.simulation.step()
    assert float(session.engine.data.qpos[0]) == pytest.approx(0.1, abs=0.01)


def test_a_keyframe_is_kept_and_saved_by_clicks(arm: Path) -> None:
    comments = "".join(f"  <!-- line {i} -->\n" for i in range(4000))
    keys = '  <keyframe>\n    <key name="home"/>\n  </keyframe>\n'
    arm.write_text(ARM.replace("  <worldbody>", comments + "  <worldbody>").replace("</mujoco>", keys + "</mujoco>"))
    window = make_window(arm, steps=30)
    app, before = window.app, arm.read_text()

    def test(ctx: Any) -> None:
        show_tab(ctx, "Keyframes")
        ctx.item_click("//Controls/**/###keep")
        ctx.yield_(2)
        assert list(app.keyframes.made) == ["key 1"]
        ctx.item_click("//Controls/**/###save")
        wait(ctx, lambda: app.session.engine.keys == ("home", "key 1"))
        old, new = before.splitlines(), arm.read_text().splitlines()
        (added,) = set(new) - set(old)
        assert added.strip().startswith('<key name="key 1" time=')
        assert [line for line in new if line != added] == old
        ctx.key_press(imgui.Key.mod_ctrl.value | imgui.Key.z.value)
        wait(ctx, lambda: app.session.engine.keys == ("home",))
        assert arm.read_text() == before
        # It is kept as it was before it was saved, and that is undone too.
        assert list(app.keyframes.made) == ["key 1"]
        ctx.key_press(imgui.Key.mod_ctrl.value | imgui.Key.z.value)
        ctx.yield_(2)
        assert app.keyframes.made == {}
        ctx.key_press(imgui.Key.mod_ctrl.value | imgui.Key.c.value)
        ctx.yield_(2)
        assert imgui.get_clipboard_text().startswith('<key name="key 1" time=')

    drive(window, test)
