"""Sensors window: one row a sensor, to show, select and switch."""

import numpy as np
from imgui_bundle import ImVec2, ImVec4, imgui
from imgui_bundle import icons_fontawesome_6 as icons

from ..engines.contract import ContactSensor
from ..render.scale import sensor_color
from ..session import SensorReading, Session
from ..settings import ColorMode, Reduce
from .shell import Shell
from .theme import dim_color, warning_color
from .widgets import dim_text, fit_text, format_number, number_font, paragraph, text_right, tooltip

_REDUCE_HELP = {
    Reduce.NONE: "none: the first contacts, in the engine's order",
    Reduce.MINDIST: "mindist: the deepest contacts first",
    Reduce.MAXFORCE: "maxforce: the strongest contacts first",
    Reduce.NETFORCE: "netforce: one net contact, in world axes",
}


def show_sensors(shell: Shell) -> None:
    """The window's content."""
    session, unsaved = shell.session, shell.amendments.unsaved
    sensors = session.engine.sensors
    if not len(sensors):
        _show_empty(shell)
        _show_unread(session)
        return
    _show_header(shell)
    clipper = imgui.ListClipper()
    clipper.begin(len(sensors), _row_height())
    while clipper.step():
        for i in range(clipper.display_start, clipper.display_end):
            imgui.push_id(i)
            _show_row(shell, i, session.reading(sensors[i].name), sensors[i].name in unsaved)
            imgui.pop_id()
    _show_unread(session)


def _show_unread(session: Session) -> None:
    """Sensors of the scene that the engine does not read, and why."""
    for engine in (session.engine, session.ghost):
        for name, reason in engine.unread.items() if engine else ():
            imgui.spacing()
            dim_text(name)
            paragraph(f"not read by {engine.name if engine else ''}: {reason}")


def _show_empty(shell: Shell) -> None:
    paragraph("This scene has no contact sensors.")
    imgui.spacing()
    if shell.session.engine.can_watch_all:
        if imgui.button("Watch all contacts"):
            shell.watch_all()
        tooltip("Add a sensor that matches every contact. The scene file stays as it is.")
    if imgui.button(f"{icons.ICON_FA_PLUS} New sensor###new"):
        shell.edit_sensor(None)
    tooltip("Choose what it matches and what it reports, or one of the pairs that touch now")
    imgui.spacing()
    paragraph(
        "Or declare one in the scene:\n"
        '<sensor>\n  <contact name="foot" geom1="floor"\n    geom2="foot" num="4"/>\n</sensor>'
    )


def _show_header(shell: Shell) -> None:
    session = shell.session
    shown = sum(session.visible.values())
    everything = shown == len(session.visible)
    if imgui.small_button(icons.ICON_FA_EYE if shown else icons.ICON_FA_EYE_SLASH):
        session.visible = dict.fromkeys(session.visible, not everything)
    tooltip("Hide all sensors" if everything else "Show all sensors")
    imgui.same_line()
    dim_text(f"{shown} of {len(session.visible)} shown")
    imgui.same_line()
    size = imgui.get_text_line_height() + 2 * imgui.get_style().frame_padding.x
    imgui.set_cursor_pos_x(imgui.get_cursor_pos_x() + imgui.get_content_region_avail().x - size)
    if imgui.small_button(f"{icons.ICON_FA_PLUS}###new"):
        shell.edit_sensor(None)
    tooltip("Make a contact sensor")
    imgui.separator()


def _row_height() -> float:
    """Three lines: name, what it matches, what it reads."""
    return 3 * imgui.get_text_line_height() + 16 + imgui.get_style().item_spacing.y


def _show_row(shell: Shell, index: int, reading: SensorReading, unsaved: bool) -> None:
    session, sensor = shell.session, reading.sensor
    name = sensor.name
    start = imgui.get_cursor_pos()
    right = start.x + imgui.get_content_region_avail().x - 4
    height = _row_height() - imgui.get_style().item_spacing.y
    line = imgui.get_text_line_height() + 3

    # The whole row selects; what stands on it is drawn over it.
    imgui.set_next_item_allow_overlap()
    flags = imgui.SelectableFlags_.allow_overlap
    if imgui.selectable("##row", session.selected == name, flags, ImVec2(0, height))[0]:
        session.selected = name

    imgui.set_cursor_pos(ImVec2(start.x + 2, start.y + 4))
    _show_eye(session, index, name)
    imgui.same_line(0, 6)
    text_x = imgui.get_cursor_pos_x()
    imgui.push_style_color(imgui.Col_.text, _text_color(session.visible[name]))
    pencil_x = right - imgui.get_text_line_height()
    _fitted(f"{name} *" if unsaved else name, pencil_x - text_x - 4)
    if unsaved:
        tooltip(f"{name}: made or changed here; the scene file does not have it so")
    imgui.pop_style_color()
    if not sensor.virtual:
        imgui.set_cursor_pos(ImVec2(pencil_x, start.y + 4))
        _show_pencil(shell, name)

    imgui.set_cursor_pos(ImVec2(text_x, start.y + 4 + line))
    imgui.push_style_color(imgui.Col_.text, dim_color())
    _fitted(sensor.label, right - text_x)
    imgui.pop_style_color()

    imgui.set_cursor_pos(ImVec2(text_x - 5, start.y + 5 + 2 * line))
    _show_reduce(session, sensor)
    number_font()
    force = f"{format_number(float(np.linalg.norm(reading.net_force)), 2)} N"
    force_width = imgui.calc_text_size("0000.00 N").x
    imgui.set_cursor_pos(ImVec2(text_x, start.y + 6 + 2 * line))
    count_color = warning_color(session.settings.theme) if reading.dropped else dim_color()
    text_right(f"{reading.found}/{sensor.slots}", count_color, right - force_width - 6)
    tooltip(_count_help(reading))
    imgui.set_cursor_pos(ImVec2(text_x, start.y + 6 + 2 * line))
    text_right(force, _text_color(bool(reading.reported)), right)
    tooltip("Net force of the reported contacts on object 2")
    imgui.pop_font()
    imgui.set_cursor_pos(start)
    imgui.dummy(ImVec2(0, height))


def _text_color(strong: bool) -> ImVec4:
    return imgui.get_style().color_(imgui.Col_.text) if strong else dim_color()


def _fitted(text: str, width: float) -> None:
    """Text cut to a width; where it is cut, the mouse shows it whole."""
    fitted = fit_text(text, width)
    imgui.text_unformatted(fitted)
    if fitted != text:
        tooltip(text)


def _count_help(reading: SensorReading) -> str:
    text = f"{reading.found} matching contacts, {reading.sensor.slots} slots"
    if reading.dropped:
        text += f"\n{reading.dropped} dropped: raise num, or choose another reduce mode"
    return text


def _show_eye(session: Session, index: int, name: str) -> None:
    shown = session.visible[name]
    by_sensor = session.settings.gizmos.color_mode is ColorMode.SENSOR
    color = _text_color(shown)
    if by_sensor and shown:
        red, green, blue, _ = sensor_color(index)
        color = ImVec4(red, green, blue, 1.0)
    imgui.push_style_color(imgui.Col_.text, color)
    imgui.push_style_color(imgui.Col_.button, ImVec4(0, 0, 0, 0))
    if imgui.small_button(f"{icons.ICON_FA_EYE if shown else icons.ICON_FA_EYE_SLASH}###visible"):
        session.visible[name] = not shown
    imgui.pop_style_color(2)
    tooltip("Hide this sensor's contacts" if shown else "Show this sensor's contacts")


def _show_pencil(shell: Shell, name: str) -> None:
    imgui.push_style_color(imgui.Col_.text, dim_color())
    imgui.push_style_color(imgui.Col_.button, ImVec4(0, 0, 0, 0))
    imgui.push_style_var(imgui.StyleVar_.frame_padding, ImVec2(1, 0))
    if imgui.small_button(f"{icons.ICON_FA_PEN}###edit"):
        shell.edit_sensor(name)
    imgui.pop_style_var()
    imgui.pop_style_color(2)
    tooltip("Change what this sensor matches and reports")


def _show_reduce(session: Session, sensor: ContactSensor) -> None:
    imgui.push_style_var(imgui.StyleVar_.frame_padding, ImVec2(5, 0))
    preview = f"{sensor.reduce}{' *' if sensor.modified else ''}"
    flags = imgui.ComboFlags_.width_fit_preview
    opened = imgui.begin_combo("##reduce", preview, flags)
    imgui.pop_style_var()
    if not opened:
        tooltip(
            f"Declared: {sensor.declared.reduce}. Switched in the viewer, not in the file."
            if sensor.modified
            else _REDUCE_HELP[sensor.reduce]
        )
        return
    for mode in Reduce:
        declared = "  (declared)" if mode is sensor.declared.reduce else ""
        if imgui.selectable(f"{mode}{declared}###{mode}", mode is sensor.reduce)[0]:
            session.set_reduce(sensor.name, mode)
        tooltip(_REDUCE_HELP[mode])
    imgui.end_combo()
