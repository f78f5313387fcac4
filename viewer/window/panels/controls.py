"""Shows the Controls window: sliders that drive actuators, pose joints and tune a controller."""

import math
from collections.abc import Callable, Iterator, Sequence
from typing import Any, TypeVar

from imgui_bundle import imgui

from ...app.application import Application
from ...mjmodel.actuators import Actuator, Joint
from ...session.drive import Drive
from ...session.session import Session
from ..theme import warning_color
from ..widgets import (
    button,
    checkbox,
    dim_text,
    disabled,
    fit_text,
    flow,
    format_number,
    number_font,
    paragraph,
    text_right,
    tooltip,
)
from .keyframes import KeyframeList
from .status import POSED

T = TypeVar("T", Actuator, Joint)
_GROUPED_FROM = 10
"""Rows from which on limbs have a heading each."""


class ControlsPanel:
    """The window's content, with what a person filters and selects in it."""

    def __init__(self) -> None:
        self._filter = ""
        self._selected: set[str] = set()
        self._session: Session | None = None
        self._keyframes = KeyframeList()

    def show(self, app: Application) -> None:
        session = app.session
        if session is not self._session:
            self._session = session
            self._selected &= {each.name for each in session.drive.actuators}
        if session.stepped_outside:
            paragraph("Your own loop drives the scene: values are shown, and not written.")
        elif session.logged is not None:
            paragraph(f"{session.logged.path.name} drives the scene: values are shown, and not written.")
        if not imgui.begin_tab_bar("##what"):
            return
        tabs: dict[str, tuple[bool, Callable[[], None]]] = {
            "Actuators": (bool(session.drive.actuators), lambda: self._show_actuators(session)),
            "Joints": (
                bool(session.drive.joints) or session.engine.model.nmocap > 0,
                lambda: self._show_joints(session),
            ),
            "Keyframes": (bool(session.drive.joints), lambda: self._keyframes.show(app)),
            "Controller": (app.controllers.file is not None, lambda: _show_constants(app)),
        }
        for title, (has_any, show) in tabs.items():
            if has_any and imgui.begin_tab_item(title)[0]:
                show()
                imgui.end_tab_item()
        imgui.end_tab_bar()
        if not session.drive.actuators and not session.drive.joints:
            paragraph("Nothing moves in this scene.")

    def _show_actuators(self, session: Session) -> None:
        drive = session.drive
        with disabled(session.is_fixed):
            self._show_settings(session)
            self._show_filter()
            shown = self._filtered(drive.actuators)
            for rows in _by_limb(shown, len(drive.actuators)):
                self._show_actuator_rows(session, rows)
            if not shown:
                dim_text("No name has this in it")
            _show_rules(session)

    def _show_settings(self, session: Session) -> None:
        """Buttons that set all controls, or the selected ones."""
        drive = session.drive
        chosen = [each for each in drive.actuators if each.name in self._selected] or drive.actuators
        which = f"the {len(chosen)} selected controls" if self._selected else "all controls"
        if button("Zero", f"Set {which} to 0, or to the end of their range that is nearest to it"):
            drive.begin("controls to zero")
            drive.set_controls({each.index: min(max(0.0, each.low), each.high) for each in chosen})
        imgui.same_line()
        if button("Middle", f"Set {which} to the middle of their range"):
            drive.begin("controls to the middle")
            drive.set_controls({each.index: each.middle for each in chosen})
        model = session.engine.model
        if model.nkey:
            flow(7 * imgui.get_font_size())
            imgui.set_next_item_width(7 * imgui.get_font_size())
            if imgui.begin_combo("###key", "Keyframe"):
                for k, name in enumerate(session.engine.keys):
                    if imgui.selectable(name, False)[0]:
                        drive.begin(f"controls of {name}")
                        drive.set_controls({each.index: float(model.key_ctrl[k, each.index]) for each in chosen})
                imgui.end_combo()
            tooltip(f"Set {which} to those of a keyframe; the pose stays")
        if session.simulation.engine.num_envs > 1:
            help_text = "Drive all environments, not only the one that is shown"
            drive.all_environments = checkbox("All environments", drive.all_environments, help_text)

    def _show_filter(self) -> None:
        imgui.set_next_item_width(-1)
        self._filter = imgui.input_text_with_hint("###filter", "Filter by name", self._filter)[1]
        tooltip("Show only names that have these words in them. Click names to select them: they then move together")

    def _filtered(self, items: Sequence[T]) -> list[T]:
        words = self._filter.lower().split()
        return [each for each in items if all(word in f"{each.name} {each.limb}".lower() for word in words)]

    def _show_actuator_rows(self, session: Session, rows: Sequence[Actuator]) -> None:
        if not _begin_rows("actuators", 3):
            return
        drive, data = session.drive, session.engine.data
        known = session.engine.has_contact_list
        for each in rows:
            _next_row(each.name)
            self._show_name(each)
            imgui.table_next_column()
            value = float(drive.controls[each.index])
            changed, new = _slider(f"control {each.name}", value, each.low, each.high, each.unit)
            if imgui.is_item_activated():
                drive.begin(f"control of {each.name}")
            if changed:
                others = [other for other in drive.actuators if other.name in self._selected]
                if each.name in self._selected:
                    drive.move_together(others, each, new)
                else:
                    drive.set_controls({each.index: new})
            imgui.table_next_column()
            with number_font():
                text_right(format_number(float(data.actuator_force[each.index]), 2) if known else "-")
            tooltip(f"Force that it made in the last step [{each.force_unit or 'its own unit'}]")
            imgui.pop_id()
        imgui.end_table()

    def _show_name(self, each: Actuator) -> None:
        width = imgui.get_content_region_avail().x
        name = fit_text(each.name, width)
        if imgui.selectable(f"{name}###name", each.name in self._selected)[0]:
            self._selected ^= {each.name}
        tooltip(f"{each.name}\n{each.servo} on {each.limb or 'no joint'}, {each.low:g} to {each.high:g} {each.unit}")

    def _show_joints(self, session: Session) -> None:
        drive = session.drive
        if session.is_fixed or not session.paused:
            dim_text("Readings; pause to pose the robot" if not session.is_fixed else "Readings")
        elif drive.is_posed:
            paragraph(POSED[0].upper() + POSED[1:] + ".", warning_color())
        else:
            dim_text("Drag to pose the robot")
        self._show_filter()
        with disabled(session.is_fixed or not session.paused):
            shown = self._filtered(drive.joints)
            for rows in _by_limb([joint for joint in shown if joint.size == 1], len(drive.joints)):
                _show_joint_rows(session, rows)
            for joint in shown:
                if joint.size > 1:
                    _show_numbers(session, joint)
            for index in range(session.engine.model.nmocap):
                _show_mocap(session, index)


def _by_limb(rows: Sequence[T], total: int) -> Iterator[list[T]]:
    """Rows limb by limb, each under a heading that is open; all together where they are few."""
    limbs = dict.fromkeys(each.limb for each in rows)
    if total < _GROUPED_FROM or len(limbs) < 2:
        if rows:
            yield list(rows)
        return
    for limb in limbs:
        members = [each for each in rows if each.limb == limb]
        title = f"{limb or 'others'} ({len(members)})###limb {limb}"
        if imgui.collapsing_header(title, imgui.TreeNodeFlags_.default_open):
            yield members


def _begin_rows(name: str, columns: int) -> bool:
    if not imgui.begin_table(name, columns, imgui.TableFlags_.sizing_stretch_prop | imgui.TableFlags_.pad_outer_x):
        return False
    imgui.table_setup_column("name", imgui.TableColumnFlags_.width_stretch, 0.42)
    imgui.table_setup_column("value", imgui.TableColumnFlags_.width_stretch, 0.58)
    if columns > 2:
        with number_font():
            width = imgui.calc_text_size("-0000.00").x
        imgui.table_setup_column("force", imgui.TableColumnFlags_.width_fixed, width)
    return True


def _next_row(name: str) -> None:
    imgui.push_id(name)
    imgui.table_next_row()
    imgui.table_next_column()
    imgui.align_text_to_frame_padding()


def _slider(name: str, value: float, low: float, high: float, unit: str) -> tuple[bool, float]:
    """A slider as wide as its column; Ctrl+click to type a number, also one out of its range."""
    imgui.set_next_item_width(-1)
    decimals = min(max(4 - math.ceil(math.log10(high - low)), 1), 5)
    value = 0.0 if abs(value) < 0.5 * 10**-decimals else value
    with number_font():
        changed, new = imgui.slider_float(f"###{name}", value, low, high, f"%.{decimals}f {unit}".rstrip())
    tooltip("Drag, or Ctrl+click to type a number")
    return changed, float(new)


def _show_rules(session: Session) -> None:
    """What changes controls before every step: holding, and noise."""
    drive = session.drive
    imgui.spacing()
    held = drive.hold.targets is not None
    if drive.can_hold:
        motors = bool(drive.held)
        if not motors:
            if button("Hold", "Set the servos to the present pose"):
                drive.hold_pose(True)
        else:
            on = checkbox("Hold", held, "Motors hold the present pose, as a spring and a damper at each joint")
            if on != held:
                drive.hold_pose(on)
            imgui.same_line()
            drive.hold.stiffness = _field("###stiffness", drive.hold.stiffness, "%.4g N·m/rad", "Stiffness of holding")
            imgui.same_line()
            drive.hold.damping = _field("###damping", drive.hold.damping, "%.3g N·m·s/rad", "Damping of holding")
    noise = drive.noise
    imgui.align_text_to_frame_padding()
    imgui.text_unformatted("Noise")
    imgui.same_line()
    help_text = "Random changes of all controls: standard deviation, as a part of half the range"
    deviation = _field("###noise", noise.deviation, "%.3f", help_text, 0.002, 2.0)
    imgui.same_line()
    rate = _field("###rate", noise.rate, "%.3f s", "Time in which a change fades", 0.002, 10.0)
    if (deviation, rate) != (noise.deviation, noise.rate):
        drive.set_noise(deviation, rate)


def _field(name: str, value: float, text: str, help_text: str, speed: float = 0.5, high: float = 1e5) -> float:
    imgui.set_next_item_width(max((imgui.get_content_region_avail().x - imgui.get_font_size()) * 0.5, 50.0))
    value = imgui.drag_float(name, value, speed, 0.0, high, text)[1]
    tooltip(help_text)
    return min(max(float(value), 0.0), high)


def _show_joint_rows(session: Session, rows: Sequence[Joint]) -> None:
    if not _begin_rows("joints", 2):
        return
    drive, data = session.drive, session.engine.data
    for joint in rows:
        _next_row(joint.name)
        imgui.text_unformatted(fit_text(joint.name, imgui.get_content_region_avail().x))
        tooltip(f"{joint.name}, {joint.low:.4g} to {joint.high:.4g} {joint.unit}")
        imgui.table_next_column()
        value = float(data.qpos[joint.place])
        changed, new = _slider(f"joint {joint.name}", value, joint.low, joint.high, joint.unit)
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
    dim_text(joint.name)
    if joint.size == 7:
        _show_vector(drive, "position", values[:3], lambda new: drive.set_position(joint.place, new), "m")
    turn = joint.place + joint.size - 4
    _show_vector(drive, "quaternion", values[-4:], lambda new: drive.set_position(turn, new), "w x y z")
    imgui.pop_id()


def _show_mocap(session: Session, index: int) -> None:
    data, drive = session.engine.data, session.drive
    position, turn = data.mocap_pos[index], data.mocap_quat[index]
    imgui.push_id(f"mocap {index}")
    dim_text(f"mocap {drive.mocap_names[index]}")
    _show_vector(drive, "position", position, lambda new: drive.set_mocap(index, new, turn.copy()), "m")
    _show_vector(drive, "quaternion", turn, lambda new: drive.set_mocap(index, position.copy(), new), "w x y z")
    imgui.pop_id()


def _show_vector(drive: Drive, name: str, values: Any, change: Callable[[list[float]], None], unit: str) -> None:
    """Numbers in a row, each of which can be dragged or typed."""
    imgui.set_next_item_width(-1)
    show = imgui.drag_float3 if len(values) == 3 else imgui.drag_float4
    with number_font():
        changed, new = show(f"###{name}", [float(value) for value in values], 0.005, 0.0, 0.0, "%.3f")
    tooltip(f"{name} [{unit}]")
    if imgui.is_item_activated():
        drive.begin(name)
    if changed:
        change([float(value) for value in new])


def _show_constants(app: Application) -> None:
    """The numbers of the controller's file."""
    file = app.controllers.file
    assert file is not None
    dim_text(str(file.path))
    if not file.constants:
        paragraph("Numbers that the file gives names in capitals, such as KP = 40, are sliders here.")
        return
    if _begin_rows("constants", 2):
        for name, value in file.constants.items():
            _next_row(name)
            imgui.text_unformatted(name)
            imgui.table_next_column()
            imgui.set_next_item_width(-1)
            start = abs(app.controllers.declared.get(name, value)) or 1.0
            speed = start / 100 if isinstance(value, float) else max(start / 100, 0.1)
            with number_font():
                changed, new = imgui.drag_float(f"###{name}", float(value), speed, 0.0, 0.0, "%.4g")
            tooltip("Drag, or Ctrl+click to type a number. --param sets it from the start")
            if changed:
                app.controllers.set_constant(name, round(new) if isinstance(value, int) else float(new))
            imgui.pop_id()
        imgui.end_table()
