"""Inspector window: declaration of one sensor, its contacts, and its array with every value named."""

from collections.abc import Collection, Mapping, Sequence

import numpy as np
from imgui_bundle import ImVec2, ImVec4, imgui
from imgui_bundle import icons_fontawesome_6 as icons

from ...engines.contact_sensor import ContactSensor
from ...mjmodel.model_changes import deciding_geom
from ...render.style import palette_colors
from ...sensors.layout import Column, Field
from ...session.readings import SensorReading
from ...session.session import Highlight, Session
from ...settings import Reduce
from .. import widgets as ui
from ..shell import INSPECTOR, Dock, Panel, Shell
from ..theme import dim_color, plain_color, text_tint, warning_color
from .contact_table import APART, ContactTable
from .explanations import show_forces, show_mixing
from .status import PLACED_AGAIN, SOLVED_AGAIN

INEXACT = (
    "Not exact: re-simulated here, this step of your program leads to another state than it did there. The contacts"
    " shown may differ from those that acted."
)

_AXES = ("normal", "tangent0", "tangent1")
_DIGITS = "-000.000"
_MOST_REASONS = 3
"""Largest number of sentences on why contacts move."""
_ARRAY_FLAGS = (
    imgui.TableFlags_.scroll_y | imgui.TableFlags_.sizing_fixed_fit | imgui.TableFlags_.row_bg
    | imgui.TableFlags_.no_pad_outer_x
)  # fmt: skip
_LEAST_ARRAY = 160.0
"""Least height of the array's table [px]; if less is left, the panel scrolls."""


class Inspector:
    """Content of the Inspector window."""

    def __init__(self) -> None:
        self.contacts = ContactTable()
        self._headings_for: tuple[object, ...] = ()
        self._headings: list[ui.Heading] = []

    def show(self, shell: Shell) -> None:
        """Draw the content."""
        session = shell.app.session
        if session.selected is None or not session.engine.sensors.has(session.selected):
            ui.paragraph("Select a sensor to see its contacts and its array.")
            return
        reading, tints = session.reading(session.selected), component_tints(session)
        if session.shown_exactness is not None:
            text, doubtful = session.shown_exactness
            ui.paragraph(f"{text[0].upper()}{text[1:]}.", warning_color() if doubtful else None)
        elif session.shows_inexact_step:
            ui.paragraph(INEXACT, warning_color())
        _show_declaration(session, reading)
        self._show_contacts(shell, reading, tints)
        _show_reasons(session, reading)
        _show_origins(shell, reading)
        _show_modes(session, reading)
        _show_balance(session, reading)
        self._show_array(session, reading, tints)

    def _show_contacts(self, shell: Shell, reading: SensorReading, tints: Sequence[ImVec4]) -> None:
        session = shell.app.session
        ui.heading("Net contact" if reading.sensor.reduce is Reduce.NETFORCE else "Contacts")
        if reading.dropped:
            imgui.text_colored(warning_color(), f"{reading.reported} of {reading.found}, {reading.dropped} dropped")
            ui.tooltip(
                f"found exceeds the {ui.slots_text(reading.sensor.slots)}: raise num, or choose another reduce mode"
            )
        else:
            room = "" if reading.sensor.virtual else f", {ui.slots_text(reading.sensor.slots)}"
            ui.dim_text(f"{reading.found} now{room}")
        if apart := int(reading.batch.apart.sum()):
            imgui.same_line()
            imgui.text_colored(warning_color(), f"{apart} apart")
            ui.tooltip(APART)
        label = f"{icons.ICON_FA_TABLE_COLUMNS} columns###columns"
        ui.right_of_line(imgui.calc_text_size(f"{icons.ICON_FA_TABLE_COLUMNS} columns").x)
        if ui.small_button(label, "Choose columns; saved for the next time"):
            imgui.open_popup("columns")
        with ui.popup("columns") as opened:
            if opened:
                self.contacts.choose(session.settings)
        why_zero = session.diagnostics.why_zero(reading.sensor.name, reading.batch) if session.diagnostics else None
        self.contacts.show(shell.app, reading, tints, why_zero)

    def _show_array(self, session: Session, reading: SensorReading, axis_tints: Sequence[ImVec4]) -> None:
        ui.heading("Array")
        values = reading.sensor.layout.described_columns
        with ui.number_font():
            room = imgui.get_content_region_avail()
            headings = self._array_headings(reading.sensor, room.x - imgui.get_style().scrollbar_size)
            size = ImVec2(0, max(room.y, _LEAST_ARRAY))
            tints = dict(zip(_AXES, axis_tints, strict=True))
            shown, dim = {heading.name for heading in headings}, dim_color()
            for i in ui.table_rows("##array", headings, len(values), _ARRAY_FLAGS, size):
                _array_row(session, reading, i, values[i], tints, shown, dim)

    def _array_headings(self, sensor: ContactSensor, room: float) -> list[ui.Heading]:
        """Return the columns that fit into a width [px]; they stay the same from frame to frame."""
        values = sensor.layout.described_columns
        state = (id(values), sensor.sources, room, imgui.get_font_size(), imgui.get_style().cell_padding.x)
        if state != self._headings_for:
            self._headings_for, self._headings = state, _array_headings(values, _short_sources(sensor), room)
        return self._headings


def component_tints(session: Session) -> tuple[ImVec4, ImVec4, ImVec4]:
    """Return the text colours of normal, tangent0 and tangent1."""
    colors = palette_colors(session.engine.model, session.settings.gizmos.palette)
    return text_tint(colors.normal), text_tint(colors.tangent0), text_tint(colors.tangent1)


def _show_declaration(session: Session, reading: SensorReading) -> None:
    sensor = reading.sensor
    imgui.text_unformatted(sensor.name)
    ui.dim_text(sensor.label)
    imgui.spacing()
    if imgui.begin_table("##declaration", 2):
        imgui.table_setup_column("", imgui.TableColumnFlags_.width_fixed)
        imgui.table_setup_column("", imgui.TableColumnFlags_.width_stretch)
        _fact("data", " ".join(sensor.fields))
        _fact("slots (num)", "unlimited" if sensor.virtual else str(sensor.slots))
        _fact("reduce", str(sensor.reduce))
        _fact("frame", "world" if sensor.frame == "world" else "contact: normal, tangent0, tangent1")
        if sensor.sources:
            _fact("sensors", ", ".join(dict.fromkeys(sensor.sources)))
        _fact("array", f"{sensor.size} value{'' if sensor.size == 1 else 's'}")
        imgui.end_table()
    if sensor.solved_again:
        ui.paragraph(SOLVED_AGAIN, warning_color())
    elif sensor.placed_again:
        ui.paragraph(PLACED_AGAIN, warning_color())
    elif sensor.virtual:
        ui.paragraph("Made by the viewer; the scene file does not have it.")
    elif sensor.reconstructed:
        ui.paragraph("Contacts are reconstructed from the engine's contact list: this model is not changed.")
    if asleep := session.diagnostics.asleep(sensor.name) if session.diagnostics else None:
        ui.paragraph(asleep, warning_color())
    if sensor.modified:
        imgui.text_colored(warning_color(), f"The scene declares reduce {sensor.declared.reduce}.")
        imgui.same_line()
        if ui.small_button("Revert", "Use the reduce mode that the scene declares"):
            session.set_reduce(sensor.name, sensor.declared.reduce)


def _fact(name: str, value: str) -> None:
    imgui.table_next_row()
    imgui.table_next_column()
    ui.dim_text(name)
    imgui.table_next_column()
    imgui.push_text_wrap_pos(0.0)
    imgui.text_unformatted(value)
    imgui.pop_text_wrap_pos()


def _show_reasons(session: Session, reading: SensorReading) -> None:
    """Draw sentences on why contacts move: the selected contact, or all contacts of the sensor."""
    name = reading.sensor.name
    slot = session.picked[1] if session.picked is not None and session.picked[0] == name else None
    for text in session.reasons(name, slot)[:_MOST_REASONS]:
        ui.paragraph(text, warning_color())


def _show_modes(session: Session, reading: SensorReading) -> None:
    """Draw a table of what the sensor would report now in each reduce mode."""
    if session.diagnostics is None:
        return
    opened = imgui.collapsing_header("Reduce modes")
    ui.tooltip("Result of each reduce mode now")
    if not opened:
        return
    headings = (
        ui.Heading("", "", left=True),
        ui.Heading("reported", "reported", "Slots that are filled"),
        ui.Heading("net force\n[N]", _DIGITS, "Net force of the reported contacts"),
        ui.Heading("dropped", "dropped", "Contacts without a slot"),
    )
    modes = list(session.diagnostics.in_each_mode(reading.sensor.name).items())
    with ui.number_font():
        for row in ui.table_rows("##modes", headings, len(modes), imgui.TableFlags_.sizing_fixed_fit):
            mode, batch = modes[row]
            imgui.table_next_column()
            imgui.text_unformatted(f"{mode}{' (now)' if mode is reading.sensor.reduce else ''}")
            reported = int(batch.filled.sum())
            dropped = 0 if batch.in_world_frame else max(0, round(float(batch.found)) - reported)
            imgui.table_next_column()
            ui.text_right(str(reported))
            net_force = batch.net_force
            ui.number_cell(0.0 if net_force is None else float(np.linalg.norm(net_force)))
            imgui.table_next_column()
            ui.text_right(str(dropped), warning_color() if dropped else dim_color())


def _show_balance(session: Session, reading: SensorReading) -> None:
    diagnostics, name = session.diagnostics, reading.sensor.name
    body = diagnostics.balanced_body(name) if diagnostics is not None else None
    if diagnostics is None or body is None:
        return
    root, has_tree = diagnostics.body_name(body), bool((session.engine.model.body_parentid[1:] == body).any())
    opened = imgui.collapsing_header(f"Balance of {ui.literal(root)}{' and its tree' if has_tree else ''}###balance")
    if has_tree:
        ui.tooltip(f"Balance of all bodies attached to {root}, because joints transmit forces to the sensor's body")
    if not opened:
        return
    show_forces(diagnostics.forces(body))


def _show_origins(shell: Shell, reading: SensorReading) -> None:
    """Draw the origins of the parameters of the selected contact."""
    session = shell.app.session
    if session.diagnostics is None or session.picked is None or session.picked[0] != reading.sensor.name:
        return
    slot = session.picked[1]
    geoms = session.details(reading.sensor.name).geoms
    mixing = session.diagnostics.mixing(*geoms[slot]) if slot < len(geoms) and reading.batch.filled[slot] else None
    if mixing is None:
        return
    imgui.set_next_item_open(True, imgui.Cond_.once)
    opened = imgui.collapsing_header(f"Parameters of contact {slot}: {ui.literal(' on '.join(mixing.names))}###origins")
    ui.tooltip("Origin of each parameter: a <pair>, one of the two geoms, or a mix of both")
    if opened:
        show_mixing(mixing)
        if ui.button("Branch here...###branch", "Re-simulate from this step with another friction (Ctrl+B)"):
            shell.branch_here("friction", deciding_geom(session.engine.model, geoms[slot]))


def _array_headings(values: Sequence[Column], sources: Sequence[str], room: float) -> list[ui.Heading]:
    """Return the columns that fit into a width [px]: names and values always, then units, then frames, then indices."""
    longest = max((_value_name(value) for value in values), key=len, default="")
    unit = max((value.unit for value in values), key=len, default="")
    headings = [
        ui.Heading("index", "000", "Index"),
        ui.Heading("slot.name", longest, "Contact and field", left=True),
        ui.Heading("value", _DIGITS, "Value, in the unit and frame beside it"),
        ui.Heading("unit", unit, "", left=True),
        ui.Heading("frame", "contact", "Frame: world axes, or normal, tangent0 and tangent1", left=True),
    ]
    if sources:
        longest = max(sources, key=len)
        help_text = "Sensor of the scene that the value comes from; ... stands for the name above"
        headings.insert(3, ui.Heading("sensor", longest, help_text, left=True))
    return ui.fitting(headings, room, ("index", "frame", "unit"))


def _short_sources(sensor: ContactSensor) -> Sequence[str]:
    """Return the names of the sensors that values come from, without the part that they share: `..._force`."""
    return [f"...{source.removeprefix(sensor.name)}" for source in sensor.sources]


def _value_name(column: Column) -> str:
    return column.name.removeprefix("slot")


def _array_row(
    session: Session,
    reading: SensorReading,
    index: int,
    column: Column,
    tints: Mapping[str, ImVec4],
    shown: Collection[str],
    dim: ImVec4,
) -> None:
    filled = bool(reading.batch.filled[column.slot])
    tint = tints.get(column.axis) if column.frame == "contact" else None
    if "index" in shown:
        imgui.table_next_column()
        ui.text_right(str(index), dim)
    imgui.table_next_column()
    with ui.text_color((tint or plain_color()) if filled else dim):
        imgui.selectable(f"{_value_name(column)}##{index}", False, imgui.SelectableFlags_.span_all_columns)
    if imgui.is_item_hovered():
        component = _AXES.index(column.axis) if column.field is Field.FORCE and column.axis in _AXES else None
        if filled:
            session.highlight = Highlight(reading.sensor.name, column.slot, component)
        source = reading.sensor.sources[index] if reading.sensor.sources else ""
        imgui.set_tooltip(_describe(index, column, filled) + (f"\nfrom {source}" if source else ""))
    ui.number_cell(float(reading.array[index]), tint if filled else dim)
    source = _short_sources(reading.sensor)[index] if reading.sensor.sources else ""
    for name, text in (("sensor", source), ("unit", column.unit), ("frame", column.frame)):
        if name in shown:
            imgui.table_next_column()
            if text:
                imgui.text_colored(dim, text)


def _describe(index: int, column: Column, filled: bool) -> str:
    parts = [f"array[{index}]", f"slot {column.slot}", str(column.field), column.axis, column.unit]
    text = " · ".join(part for part in parts if part)
    if column.frame:
        text += f" · {column.frame} frame"
    return text if filled else f"{text} (empty slot)"


PANEL = Panel(INSPECTOR, Dock.RIGHT, Inspector, least_width=300.0)
