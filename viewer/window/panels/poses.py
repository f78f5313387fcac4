"""Shows the Joints tab of the Controls window: poses of joints and mocap bodies."""

from collections.abc import Callable, Sequence
from typing import Any

from imgui_bundle import imgui

from ...mjmodel.actuators import Joint
from ...session.drive import Drive
from ...session.session import Session
from ..theme import warning_color
from ..widgets import button, dim_text, disabled, fit_text, number_font, paragraph, tooltip
from .control_rows import begin_rows, by_limb, next_row, slider
from .status import posed_text


def show_poses(
    session: Session, show_filter: Callable[[], None], filtered: Callable[[list[Joint]], list[Joint]]
) -> None:
    """The tab's content. Paused, sliders pose the robot; else they are readings."""
    drive = session.drive
    can_pose = session.paused and not session.is_fixed and drive.can_write
    if session.is_fixed:
        dim_text("Readings")
    elif not session.paused:
        dim_text("Readings; pause to pose the robot")
    elif drive.is_posed:
        text = posed_text(session)
        paragraph(text[0].upper() + text[1:] + ".", warning_color())
        if drive.can_hold and button("Hold this pose###hold", "Servos are set to it, and motors hold it, from now on"):
            drive.hold_pose(True)
    elif can_pose:
        dim_text("Drag to pose the robot")
    show_filter()
    with disabled(not can_pose):
        shown = filtered(drive.joints)
        for rows, names in by_limb([joint for joint in shown if joint.size == 1], len(drive.joints)):
            _show_joint_rows(session, rows, names)
        for joint in shown:
            if joint.size > 1:
                _show_numbers(session, joint)
    # Mocap bodies are moved while the scene runs, too.
    with disabled(session.is_fixed or not drive.can_write):
        for index in range(session.engine.model.nmocap):
            _show_mocap(session, index)


def _show_joint_rows(session: Session, rows: Sequence[Joint], names: Sequence[str]) -> None:
    if not begin_rows("joints", 2):
        return
    drive, data = session.drive, session.engine.data
    for joint, name in zip(rows, names, strict=True):
        next_row(joint.name)
        imgui.text_unformatted(fit_text(name, imgui.get_content_region_avail().x))
        tooltip(f"{joint.name}, {joint.low:.4g} to {joint.high:.4g} {joint.unit}")
        imgui.table_next_column()
        value = float(data.qpos[joint.place])
        changed, new = slider(f"joint {joint.name}", value, joint.low, joint.high, joint.unit)
        if imgui.is_item_activated():
            drive.begin(f"pose of {joint.name}")
        if changed:
            drive.set_position(joint.place, [new])
        imgui.pop_id()
    imgui.end_table()


def _show_numbers(session: Session, joint: Joint) -> None:
    """A free or ball joint."""
    data, drive = session.engine.data, session.drive
    values = data.qpos[joint.place : joint.place + joint.size]
    imgui.push_id(joint.name)
    dim_text(f"{joint.name} ({'free' if joint.size == 7 else 'ball'})")
    if joint.size == 7:
        _show_vector(
            drive, joint.name, "position", values[:3], lambda new: drive.set_position(joint.place, new), " [m]"
        )
    turn = joint.place + joint.size - 4
    _show_vector(drive, joint.name, "quaternion", values[-4:], lambda new: drive.set_position(turn, new), "")
    imgui.pop_id()


def _show_mocap(session: Session, index: int) -> None:
    data, drive = session.engine.data, session.drive
    name = drive.mocap_names[index]
    position, turn = data.mocap_pos[index], data.mocap_quat[index]
    imgui.push_id(f"mocap {index}")
    dim_text(f"{name} (mocap)")
    tooltip("Ctrl+drag moves it in the scene, too: with the right button, with the left it turns")
    _show_vector(drive, name, "position", position, lambda new: drive.set_mocap(index, new, turn.copy()), " [m]")
    _show_vector(drive, name, "quaternion", turn, lambda new: drive.set_mocap(index, position.copy(), new), "")
    imgui.pop_id()


def _show_vector(
    drive: Drive, what: str, name: str, values: Any, change: Callable[[list[float]], None], unit: str
) -> None:
    """Numbers in a row, each of which can be dragged or typed."""
    axes = "xyz" if len(values) == 3 else "wxyz"
    gap = imgui.get_style().item_inner_spacing.x
    width = (imgui.get_content_region_avail().x - gap * (len(axes) - 1)) / len(axes)
    for i, axis in enumerate(axes):
        if i:
            imgui.same_line(0, gap)
        imgui.set_next_item_width(width)
        value = 0.0 if abs(values[i]) < 0.0005 else float(values[i])
        with number_font():
            changed, new = imgui.drag_float(f"###{name} {axis}", value, 0.005, 0.0, 0.0, "%.3f")
        tooltip(f"{axis} of the {name}{unit}. Drag, or Ctrl+click to type a number")
        if imgui.is_item_activated():
            drive.begin(f"pose of {what}")
        if changed:
            change([float(new) if k == i else float(value) for k, value in enumerate(values)])
