"""Joints tab of the Controls window, poses of joints and mocap bodies, and rows that all its tabs share."""

import math
from collections.abc import Callable, Iterator, Sequence
from typing import Any, TypeVar

from imgui_bundle import imgui, imgui_ctx

from ...mjmodel.actuators import Actuator, Joint
from ...session.drive import Drive
from ...session.session import Session
from ...session.simulation import Change, posed_text
from .. import widgets as ui
from ..theme import warning_color

T = TypeVar("T", Actuator, Joint)
_GROUPED_FROM = 10
"""Least number of rows for a heading above each limb."""


def by_limb(rows: Sequence[T], total: int) -> Iterator[tuple[list[T], list[str]]]:
    """Yield the rows of each open limb with short names for them; yield all rows at once if `total` is small."""
    limbs = dict.fromkeys(each.limb for each in rows)
    if total < _GROUPED_FROM or len(limbs) < 2:
        if rows:
            yield list(rows), [each.name for each in rows]
        return
    for limb in limbs:
        members = [each for each in rows if each.limb == limb]
        title = f"{ui.literal(limb) or 'others'} ({len(members)})###limb {ui.literal(limb)}"
        if imgui.collapsing_header(title, imgui.TreeNodeFlags_.default_open):
            yield members, short_names([each.name for each in members])


def short_names(names: Sequence[str]) -> list[str]:
    """Return names without the first and last words that they all share: `left_hip_joint`, `left_knee_joint` become
    hip, knee."""
    words = [name.split("_") for name in names]
    shortest = min((len(parts) for parts in words), default=0)
    if len(words) < 2:
        return list(names)
    start = 0
    while start < shortest - 1 and len({parts[start] for parts in words}) == 1:
        start += 1
    end = 0
    while end < shortest - 1 - start and len({parts[-1 - end] for parts in words}) == 1:
        end += 1
    return ["_".join(parts[start : len(parts) - end]) for parts in words]


def begin_rows(name: str, columns: int) -> bool:
    """Begin a table with columns for names, values, and, with three columns, forces. Returns True if it is visible."""
    if not imgui.begin_table(name, columns, imgui.TableFlags_.sizing_stretch_prop | imgui.TableFlags_.pad_outer_x):
        return False
    imgui.table_setup_column("name", imgui.TableColumnFlags_.width_stretch, 0.42)
    imgui.table_setup_column("value", imgui.TableColumnFlags_.width_stretch, 0.58)
    if columns > 2:
        with ui.number_font():
            width = imgui.calc_text_size("-0000.00").x
        imgui.table_setup_column("force", imgui.TableColumnFlags_.width_fixed, width)
    return True


def next_row(name: str) -> None:
    """Begin a row, whose items have their own ids until `imgui.pop_id`."""
    imgui.push_id(ui.literal(name))
    imgui.table_next_row()
    imgui.table_next_column()
    imgui.align_text_to_frame_padding()


def slider(
    name: str, value: float, low: float, high: float, unit: str, decimals: int | None = None, help_text: str = ""
) -> tuple[bool, float]:
    """Draw a slider as wide as its column; Ctrl+click lets the user type any number.

    Args:
        name: Id of the slider.
        value: Present value.
        low: Left end of the slider.
        high: Right end of the slider.
        unit: Unit after the number.
        decimals: Number of decimals; None to derive it from the range.
        help_text: Tooltip.

    Returns:
        True if the value was changed, and the value.
    """
    imgui.set_next_item_width(-1)
    if decimals is None:
        decimals = min(max(4 - math.ceil(math.log10(high - low)), 1), 5)
    value = 0.0 if abs(value) < 0.5 * 10**-decimals else value
    # The number is read over the grab.
    grab = imgui.get_style().color_(imgui.Col_.frame_bg_active)
    with (
        ui.number_font(),
        imgui_ctx.push_style_color(imgui.Col_.slider_grab, grab),
        imgui_ctx.push_style_color(imgui.Col_.slider_grab_active, grab),
    ):
        changed, new = imgui.slider_float(f"###{ui.literal(name)}", value, low, high, f"%.{decimals}f {unit}".rstrip())
    about = help_text or f"{low:.4g} to {high:.4g} {unit}".rstrip()
    ui.tooltip(f"{about}\nDrag, or Ctrl+click to type a number")
    return changed, float(new)


def show_poses(
    session: Session, show_filter: Callable[[], None], filtered: Callable[[list[Joint]], list[Joint]]
) -> None:
    """Draw the Joints tab. While paused its sliders pose the robot, else they show the pose."""
    drive = session.drive
    fixed = session.why_not(Change.CONTROLS) is not None
    can_pose = session.paused and not fixed and drive.can_write
    if fixed:
        ui.dim_text("Readings")
    elif not session.paused:
        ui.dim_text("Joint positions; pause to pose the robot")
    elif drive.is_posed:
        text = posed_text(session.engine)
        ui.paragraph(text[0].upper() + text[1:] + ".", warning_color())
        if drive.can_hold and ui.button("Hold this pose###hold", "Set servos to this pose, and hold it with motors"):
            drive.hold_pose(True)
    elif can_pose:
        ui.dim_text("Drag to pose the robot")
    show_filter()
    with ui.disabled(not can_pose):
        shown = filtered(drive.joints)
        for rows, names in by_limb([joint for joint in shown if joint.size == 1], len(drive.joints)):
            _show_joint_rows(session, rows, names)
        for joint in shown:
            if joint.size > 1:
                _show_numbers(session, joint)
    # Mocap bodies are moved while the scene runs, too.
    with ui.disabled(fixed or not drive.can_write):
        for index in range(session.engine.model.nmocap):
            _show_mocap(session, index)


def _show_joint_rows(session: Session, rows: Sequence[Joint], names: Sequence[str]) -> None:
    if not begin_rows("joints", 2):
        return
    drive, data = session.drive, session.engine.data
    for joint, name in zip(rows, names, strict=True):
        next_row(joint.name)
        imgui.text_unformatted(ui.fit_text(name, imgui.get_content_region_avail().x))
        ui.tooltip(f"{joint.name}, {joint.low:.4g} to {joint.high:.4g} {joint.unit}")
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
    """Draw the pose of a free or ball joint."""
    data, drive = session.engine.data, session.drive
    values = data.qpos[joint.place : joint.place + joint.size]
    with imgui_ctx.push_id(ui.literal(joint.name)):
        ui.dim_text(f"{joint.name} ({'free' if joint.size == 7 else 'ball'})")
        if joint.size == 7:
            _show_vector(
                drive, joint.name, "position", values[:3], lambda new: drive.set_position(joint.place, new), " [m]"
            )
        turn = joint.place + joint.size - 4
        _show_vector(drive, joint.name, "quaternion", values[-4:], lambda new: drive.set_position(turn, new), "")


def _show_mocap(session: Session, index: int) -> None:
    data, drive = session.engine.data, session.drive
    name = drive.mocap_names[index]
    position, turn = data.mocap_pos[index], data.mocap_quat[index]
    with imgui_ctx.push_id(f"mocap {index}"):
        ui.dim_text(f"{name} (mocap)")
        ui.tooltip("In the scene, Ctrl+right drag moves it, Ctrl+left drag turns it")
        _show_vector(drive, name, "position", position, lambda new: drive.set_mocap(index, new, turn.copy()), " [m]")
        _show_vector(drive, name, "quaternion", turn, lambda new: drive.set_mocap(index, position.copy(), new), "")


def _show_vector(
    drive: Drive, what: str, name: str, values: Any, change: Callable[[list[float]], None], unit: str
) -> None:
    """Draw numbers in a row, each of which can be dragged or typed."""
    axes = "xyz" if len(values) == 3 else "wxyz"
    gap = imgui.get_style().item_inner_spacing.x
    width = (imgui.get_content_region_avail().x - gap * (len(axes) - 1)) / len(axes)
    for i, axis in enumerate(axes):
        if i:
            imgui.same_line(0, gap)
        imgui.set_next_item_width(width)
        value = 0.0 if abs(values[i]) < 0.0005 else float(values[i])
        with ui.number_font():
            changed, new = imgui.drag_float(f"###{ui.literal(name)} {axis}", value, 0.005, 0.0, 0.0, "%.3f")
        ui.tooltip(f"{axis} of the {name}{unit}. Drag, or Ctrl+click to type a number")
        if imgui.is_item_activated():
            drive.begin(f"pose of {what}")
        if changed:
            change([float(new) if k == i else float(value) for k, value in enumerate(values)])
