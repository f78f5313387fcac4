"""Sensors window: one row per sensor, to show, select and change it."""

from collections.abc import Callable, Collection

from imgui_bundle import ImVec2, ImVec4, imgui, imgui_ctx
from imgui_bundle import icons_fontawesome_6 as icons

from ...engines.contact_sensor import ContactSensor, SensorList
from ...render.style import sensor_color
from ...session.readings import SensorTotals, dropped_contacts
from ...session.session import Session
from ...settings import ColorMode, Reduce
from .. import widgets as ui
from ..shell import SENSORS, Dock, Panel, Shell
from ..theme import curve_tint, dim_color, plain_color, warning_color
from .sensor_form import EACH_BODY, EACH_BODY_HELP
from .status import PLACED, PLACED_AGAIN, SOLVED, SOLVED_AGAIN

_MANY = 8
"""Number of sensors above which they can be filtered by name."""
_COMPARED_MAX = 2000
"""Largest number of rows whose names are shortened so that no two look the same."""
_REDUCE_HELP = {
    Reduce.NONE: "none: the first contacts, in the engine's order",
    Reduce.MINDIST: "mindist: the deepest contacts first",
    Reduce.MAXFORCE: "maxforce: the strongest contacts first",
    Reduce.NETFORCE: "netforce: one net contact, in world axes",
}


class SensorsPanel:
    """Content of the Sensors window."""

    def __init__(self) -> None:
        self.text = ""
        """Words that the names of listed sensors contain."""
        self._listed: list[int] = []
        self._listed_for: tuple[object, ...] = ()
        self._short: list[str] = []
        """Shortened names of the listed sensors."""
        self._with_kinds = True
        """True if there is room for the kinds of targets, such as `geom`."""
        self._short_for: tuple[object, ...] = ()

    def show(self, shell: Shell) -> None:
        """Draw the content."""
        session, unsaved = shell.app.session, shell.app.sensor_edits.unsaved
        sensors = session.engine.sensors
        if not len(sensors):
            _show_empty(shell)
            _show_unread(session)
            return
        _show_header(shell)
        if session.watches_by_itself:
            _show_watched(shell)
        if len(sensors) > _MANY:
            help_text = "Filter by name"
            self.text = ui.filter_field("##filter", "filter names", self.text, -1, help_text)
        else:
            self.text = ""
        listed, totals = self.listed(sensors.names), session.totals
        short = self._short_names(sensors, unsaved)
        for i in ui.visible_rows(len(listed), _row_height()):
            place = listed[i]
            imgui.push_id(place)
            label = sensors[place].label if self._with_kinds else ui.without_kinds(sensors[place].label)
            _show_row(shell, place, (short(i), label), totals, sensors[place].name in unsaved)
            imgui.pop_id()
        if not listed:
            ui.paragraph("No match.")
        _show_unread(session)

    def listed(self, names: tuple[str, ...]) -> list[int]:
        """Return the indices of the sensors that pass the filter."""
        state = (names, self.text)
        if state != self._listed_for:
            self._listed_for = state
            self._listed = [i for i, name in enumerate(names) if ui.has_words(name, self.text)]
        return self._listed

    def _short_names(self, sensors: SensorList, unsaved: Collection[str]) -> Callable[[int], str]:
        """Return a function from a row to the sensor's name, shortened to fit; unsaved sensors have a star."""
        names, width = sensors.names, imgui.get_content_region_avail().x - _indent() - 4
        room = width - imgui.get_text_line_height() - 6

        def text(row: int) -> str:
            name = names[self._listed[row]]
            return f"{name} *" if name in unsaved else name

        if len(self._listed) > _COMPARED_MAX:
            self._with_kinds, self._short_for = False, ()
            return lambda row: ui.fit_text(text(row), room)
        state = (self._listed_for, tuple(unsaved), room, imgui.get_font_size())
        if state != self._short_for:
            self._short_for, self._short = state, ui.fit_texts([text(row) for row in range(len(self._listed))], room)
            labels = {sensors[i].label for i in self._listed}
            self._with_kinds = all(imgui.calc_text_size(label).x <= width for label in labels)
        return self._short.__getitem__


def _show_unread(session: Session) -> None:
    """Draw the sensors of the scene that the engine does not read, with the reason."""
    for engine in session.engines:
        for name, reason in engine.unread.items():
            imgui.spacing()
            ui.dim_text(name)
            ui.paragraph(f"not read by {engine.name}: {reason}")


def _show_empty(shell: Shell) -> None:
    ui.paragraph("This scene has no contact sensors.")
    imgui.spacing()
    if shell.app.session.engine.can_watch_all:
        help_text = "Add a sensor that matches every contact. The scene file is not changed."
        if ui.button("Watch all contacts", help_text):
            shell.show_all_contacts()
    if ui.button(f"{EACH_BODY}###each body", EACH_BODY_HELP):
        shell.make_for_bodies()
    help_text = "Make a sensor in the editor, for example for a pair that touches now"
    if ui.button(f"{icons.ICON_FA_PLUS} New sensor###new", help_text):
        shell.edit_sensor(None)
    imgui.spacing()
    ui.paragraph("Or declare one in the scene:")
    with ui.number_font():
        ui.paragraph('<sensor>\n  <contact name="foot"\n    geom1="floor"\n    geom2="foot" num="4"/>\n</sensor>')


def _show_watched(shell: Shell) -> None:
    """Draw the note that all contacts are shown, with a button to make sensors instead."""
    settings = shell.app.session.settings
    ui.paragraph("This scene has no contact sensors: all contacts are shown.")
    if ui.button(
        f"{icons.ICON_FA_PLUS} Make sensors###make", "Make sensors in the editor, for example for pairs that touch now"
    ):
        shell.edit_sensor(None)
    help_text = "Show all contacts of every scene without contact sensors"
    settings.watch_all = ui.checkbox("Always", settings.watch_all, help_text)
    imgui.spacing()


def _show_header(shell: Shell) -> None:
    session = shell.app.session
    shown = sum(session.visible.values())
    everything = shown == len(session.visible)
    help_text = "Hide all sensors" if everything else "Show all sensors"
    if ui.small_button(icons.ICON_FA_EYE if shown else icons.ICON_FA_EYE_SLASH, help_text):
        session.visible = dict.fromkeys(session.visible, not everything)
    imgui.same_line()
    style = imgui.get_style()
    shoes, plus = icons.ICON_FA_SHOE_PRINTS, icons.ICON_FA_PLUS
    width = (
        imgui.calc_text_size(shoes).x + imgui.calc_text_size(plus).x + 2 * style.frame_padding.x + style.item_spacing.x
    )
    room = imgui.get_content_region_avail().x - width - 2 * style.frame_padding.x - style.item_spacing.x
    count = f"{shown} of {len(session.visible)}"
    ui.dim_text(f"{count} shown" if imgui.calc_text_size(f"{count} shown").x <= room else count)
    ui.tooltip(f"{count} sensors are shown")
    ui.right_of_line(width)
    if ui.small_button(f"{shoes}###each body", EACH_BODY_HELP):
        shell.make_for_bodies()
    imgui.same_line()
    if ui.small_button(f"{plus}###new", "Make a contact sensor"):
        shell.edit_sensor(None)
    imgui.separator()


def _row_height() -> float:
    """Return the height of a row: three lines for name, targets and readings [px]."""
    return 3 * imgui.get_text_line_height() + 16 + imgui.get_style().item_spacing.y


def _indent() -> float:
    """Return the left end of a row's text, at the right of the eye button [px]."""
    return 2.4 * imgui.get_font_size()


def _show_row(shell: Shell, index: int, texts: tuple[str, str], totals: SensorTotals, unsaved: bool) -> None:
    """Draw the row of a sensor; `texts`: its shortened name, and its targets."""
    session = shell.app.session
    sensor = session.engine.sensors[index]
    name, found, reported = sensor.name, int(totals.found[index]), int(totals.reported[index])
    dropped = dropped_contacts(sensor, found, reported)
    start = imgui.get_cursor_pos()
    right = start.x + imgui.get_content_region_avail().x - 4
    height = _row_height() - imgui.get_style().item_spacing.y
    line = imgui.get_text_line_height() + 3

    # The whole row selects; what stands on it is drawn over it.
    imgui.set_next_item_allow_overlap()
    flags = imgui.SelectableFlags_.allow_overlap
    if imgui.selectable("##row", session.selected == name, flags, ImVec2(0, height))[0]:
        session.selected = name

    if session.visible[name]:
        _draw_swatch(index)
    imgui.set_cursor_pos(ImVec2(start.x + 2, start.y + 4))
    _show_eye(session, index, name)
    text_x = start.x + _indent()
    imgui.set_cursor_pos(ImVec2(text_x, start.y + 4))
    with ui.text_color(_text_color(session.visible[name])):
        imgui.text_unformatted(texts[0])
        ui.tooltip(f"{name}: new or changed, not saved into the scene file" if unsaved else name)
    if not sensor.virtual and not sensor.sources:
        imgui.set_cursor_pos(ImVec2(right - imgui.get_text_line_height(), start.y + 4))
        _show_pencil(shell, name)

    imgui.set_cursor_pos(ImVec2(text_x, start.y + 4 + line))
    asleep = session.diagnostics.asleep(name) if session.diagnostics else None
    note = (
        f"{'bodies ' if sensor.virtual else ''}asleep"
        if asleep
        else SOLVED
        if sensor.solved_again
        else PLACED * sensor.placed_again
    )
    concern = next(iter(shell.app.findings.of_sensor(name)), None)
    why = asleep or (SOLVED_AGAIN if sensor.solved_again else PLACED_AGAIN * sensor.placed_again)
    if concern is not None and not note:
        note, why = concern.rule, concern.text
    with ui.text_color(warning_color() if sensor.solved_again or sensor.placed_again or concern else dim_color()):
        imgui.text_unformatted(ui.fit_text(f"{note} · {texts[1]}" if note else texts[1], right - text_x))
        ui.tooltip(f"{sensor.label}\n{why}" if note else sensor.label)

    # From the left edge on: the longest mode and the most contacts stand side by side in the narrowest panel.
    imgui.set_cursor_pos(ImVec2(start.x + 6, start.y + 5 + 2 * line))
    _show_reduce(session, sensor)
    with ui.number_font():
        force = f"{ui.format_number(float(totals.force[index]), 2)} N"
        force_width = imgui.calc_text_size("000.00 N").x
        imgui.set_cursor_pos(ImVec2(text_x, start.y + 6 + 2 * line))
        count_color = warning_color() if dropped else dim_color()
        ui.text_right(_count_text(sensor, found), count_color, right - force_width - 6)
        if imgui.is_item_hovered():
            ui.tooltip(_count_help(sensor, found, dropped))
        imgui.set_cursor_pos(ImVec2(text_x, start.y + 6 + 2 * line))
        ui.text_right(force, _text_color(bool(reported)), right)
        ui.tooltip("Net force of the reported contacts on object 2")
    imgui.set_cursor_pos(start)
    imgui.dummy(ImVec2(0, height))


def _draw_swatch(index: int) -> None:
    """Draw the colour of the sensor's curves at the left of its row."""
    low, high = imgui.get_item_rect_min(), imgui.get_item_rect_max()
    ink = imgui.get_color_u32(curve_tint(sensor_color(index)))
    imgui.get_window_draw_list().add_rect_filled(low, ImVec2(low.x + 0.17 * imgui.get_font_size(), high.y), ink)


def _text_color(strong: bool) -> ImVec4:
    return plain_color() if strong else dim_color()


def _count_text(sensor: ContactSensor, found: int) -> str:
    if sensor.reduce is Reduce.NETFORCE:
        return f"net of {found}"
    return str(found) if sensor.virtual else f"{found}/{sensor.slots}"


def _count_help(sensor: ContactSensor, found: int, dropped: int) -> str:
    if sensor.reduce is Reduce.NETFORCE:
        return f"net force of {found} matching contacts"
    text = f"{found} matching contacts, {ui.slots_text(sensor.slots)}"
    if dropped:
        text += f"\n{dropped} dropped: raise num, or choose another reduce mode"
    return text


def _show_eye(session: Session, index: int, name: str) -> None:
    shown = session.visible[name]
    by_sensor = session.settings.gizmos.color_mode is ColorMode.SENSOR
    color = ImVec4(*sensor_color(index)[:3], 1.0) if by_sensor and shown else _text_color(shown)
    session.visible[name] = ui.eye_button(shown, "this sensor's contacts", color)


def _show_pencil(shell: Shell, name: str) -> None:
    with (
        ui.text_color(dim_color()),
        imgui_ctx.push_style_color(imgui.Col_.button, ui.NO_COLOR),
        imgui_ctx.push_style_var(imgui.StyleVar_.frame_padding, ImVec2(1, 0)),
    ):
        if imgui.small_button(f"{icons.ICON_FA_PEN}###edit"):
            shell.edit_sensor(name)
    ui.tooltip("Edit this sensor")


def _show_reduce(session: Session, sensor: ContactSensor) -> None:
    imgui.push_style_var(imgui.StyleVar_.frame_padding, ImVec2(5, 0))
    preview = f"{sensor.reduce}{' *' if sensor.modified else ''}"
    flags = imgui.ComboFlags_.width_fit_preview
    opened = imgui.begin_combo("##reduce", preview, flags)
    imgui.pop_style_var()
    if not opened:
        ui.tooltip(
            f"Declared: {sensor.declared.reduce}. Switched in the viewer, not in the file."
            if sensor.modified
            else _REDUCE_HELP[sensor.reduce]
        )
        return
    for mode in Reduce:
        declared = "  (declared)" if mode is sensor.declared.reduce else ""
        if imgui.selectable(f"{mode}{declared}###{mode}", mode is sensor.reduce)[0]:
            session.set_reduce(sensor.name, mode)
        ui.tooltip(_REDUCE_HELP[mode])
    imgui.end_combo()


PANEL = Panel(SENSORS, Dock.LEFT, SensorsPanel, key="F4", most_width=0.24)
