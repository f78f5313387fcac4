"""Inspector window: one sensor's declaration, its contacts, and its array with every value named."""

import numpy as np
from imgui_bundle import ImVec2, ImVec4, imgui

from ...render.style import palette_colors
from ...sensors.friction import ContactState
from ...sensors.layout import Column, Field
from ...session.session import Highlight, SensorReading, Session
from ...settings import Reduce
from ..theme import dim_color, plain_color, text_tint, warning_color
from ..widgets import (
    dim_text,
    heading,
    number_cell,
    number_font,
    paragraph,
    small_button,
    table_headings,
    text_color,
    text_right,
    tooltip,
    visible_rows,
)

_AXES = ("normal", "tangent0", "tangent1")
_DIGITS = "-000.000"
_CONTACT_FORCES = tuple(
    (name, _DIGITS, f"Force along {axis} [N]")
    for name, axis in (("F_n", "the normal"), ("F_t0", "tangent 0"), ("F_t1", "tangent 1"))
)
_NET_FORCES = tuple((name, _DIGITS, "Net force, world axes [N]") for name in ("F_x", "F_y", "F_z"))
_CONTACT_COLUMNS = (
    ("use", "0.00", "Share of the friction that the normal force allows: 1 when sliding"),
    ("mm", _DIGITS, "Distance between the surfaces [mm]; negative when they penetrate"),
    ("object 1", None, "Geom on the side that the normal leaves"),
    ("object 2", None, "Geom on the side that the normal enters, and that the force acts on"),
    *((name, _DIGITS, "Position [m], world") for name in ("x", "y", "z")),
    *((name, _DIGITS, "Normal, world") for name in ("n_x", "n_y", "n_z")),
)


def show_inspector(session: Session) -> None:
    """The window's content."""
    if session.selected is None or session.selected not in session.engine.sensors.names:
        paragraph("Select a sensor to see its contacts and its array.")
        return
    reading = session.reading(session.selected)
    _show_declaration(session, reading)
    _show_contacts(session, reading)
    _show_modes(session, reading)
    _show_balance(session, reading)
    _show_array(session, reading)


def component_tints(session: Session) -> tuple[ImVec4, ImVec4, ImVec4]:
    """Text colours of normal, tangent0 and tangent1."""
    colors = palette_colors(session.engine.model, session.settings.gizmos.palette)
    return text_tint(colors.normal), text_tint(colors.tangent0), text_tint(colors.tangent1)


def _show_declaration(session: Session, reading: SensorReading) -> None:
    sensor = reading.sensor
    imgui.text_unformatted(sensor.name)
    dim_text(sensor.label)
    imgui.spacing()
    if imgui.begin_table("##declaration", 2):
        imgui.table_setup_column("", imgui.TableColumnFlags_.width_fixed)
        imgui.table_setup_column("", imgui.TableColumnFlags_.width_stretch)
        _fact("data", " ".join(sensor.fields))
        _fact("num", "all that there are" if sensor.virtual else str(sensor.slots))
        _fact("reduce", str(sensor.reduce))
        _fact("frame", "world" if sensor.frame == "world" else "contact: normal, tangent0, tangent1")
        _fact("array", f"{sensor.size} value{'' if sensor.size == 1 else 's'}")
        imgui.end_table()
    if sensor.virtual:
        paragraph("Made by the viewer; the scene file does not have it.")
    elif sensor.reconstructed:
        paragraph("Contacts are reconstructed from the engine's contact list: this model is not changed.")
    if asleep := session.diagnostics.asleep(sensor.name) if session.diagnostics else None:
        paragraph(asleep, warning_color())
    if sensor.modified:
        imgui.text_colored(warning_color(), f"The scene declares reduce {sensor.declared.reduce}.")
        imgui.same_line()
        if small_button("Revert", "Read the sensor as the scene declares it"):
            session.set_reduce(sensor.name, sensor.declared.reduce)
    if reading.dropped:
        text = f"{reading.dropped} of {reading.found} contacts dropped: found exceeds the {sensor.slots} slots."
        paragraph(text, warning_color())


def _fact(name: str, value: str) -> None:
    imgui.table_next_row()
    imgui.table_next_column()
    dim_text(name)
    imgui.table_next_column()
    imgui.push_text_wrap_pos(0.0)
    imgui.text_unformatted(value)
    imgui.pop_text_wrap_pos()


def _show_contacts(session: Session, reading: SensorReading) -> None:
    net = reading.sensor.reduce is Reduce.NETFORCE
    heading("Net contact" if net else "Contacts")
    why_zero = session.diagnostics.why_zero(reading.sensor.name, reading.batch) if session.diagnostics else None
    if why_zero:
        paragraph(why_zero)
    if not reading.reported:
        if not why_zero:
            paragraph("No contact now.")
        return
    flag = imgui.TableFlags_
    flags = flag.scroll_x | flag.scroll_y | flag.sizing_fixed_fit | flag.row_bg
    columns = (("slot", "slot", "Place in the array"), *(_NET_FORCES if net else _CONTACT_FORCES), *_CONTACT_COLUMNS)
    rows = min(reading.reported, 8)
    height = (rows + 1.3) * (imgui.get_text_line_height() + 2 * imgui.get_style().cell_padding.y)
    height += imgui.get_style().scrollbar_size
    with number_font():
        if not imgui.begin_table("##contacts", len(columns), flags, ImVec2(0, height)):
            return
        tints = zip((name for name, *_ in _CONTACT_FORCES), component_tints(session), strict=True)
        table_headings(columns, ("object 1", "object 2"), dict(tints), frozen=1)
        slots = np.flatnonzero(reading.batch.filled)
        cones = session.diagnostics.cones(reading.batch) if session.diagnostics else None
        for row in visible_rows(len(slots)):
            use = float(cones.use[row]) if cones is not None else float("nan")
            sliding = cones is not None and cones.states[row] == ContactState.SLIDING
            _contact_row(session, reading, int(slots[row]), net, use, sliding)
        imgui.end_table()


def _contact_row(session: Session, reading: SensorReading, slot: int, net: bool, use: float, sliding: bool) -> None:
    batch = reading.batch
    assert batch.force is not None
    assert batch.dist is not None
    assert batch.pos is not None
    assert batch.normal is not None
    imgui.table_next_row()
    imgui.table_next_column()
    spans = imgui.SelectableFlags_.span_all_columns | imgui.SelectableFlags_.allow_overlap
    imgui.selectable(f"{slot}##contact", session.picked == (reading.sensor.name, slot), spans)
    if imgui.is_item_hovered():
        session.highlight = Highlight(reading.sensor.name, slot)
    tints = component_tints(session)
    for axis in range(3):
        number_cell(float(batch.force[slot, axis]), None if net else tints[axis])
        if imgui.is_item_hovered() and not net:
            session.highlight = Highlight(reading.sensor.name, slot, axis)
    imgui.table_next_column()
    if use == use:
        text_right(f"{use:.2f}", warning_color() if sliding else None)
    else:
        text_right("-", dim_color())
    if imgui.is_item_hovered():
        imgui.set_tooltip("sliding" if sliding else "sticking" if use == use else "no friction")
    number_cell(1000 * float(batch.dist[slot]))
    first, second = session.details(reading.sensor.name).geoms[slot]
    for name in (first, second):
        imgui.table_next_column()
        imgui.text_unformatted(name or "-")
    for vector in (batch.pos, batch.normal):
        for axis in range(3):
            number_cell(float(vector[slot, axis]))


def _show_modes(session: Session, reading: SensorReading) -> None:
    """All four reduce modes at once: what each would report now."""
    if session.diagnostics is None or not imgui.collapsing_header("Reduce modes"):
        return
    columns = (("", "", ""), *((name, name, "") for name in ("reports", "net force [N]", "drops")))
    with number_font():
        if not imgui.begin_table("##modes", len(columns), imgui.TableFlags_.sizing_fixed_fit):
            return
        table_headings(columns, left=("",))
        for mode, batch in session.diagnostics.in_each_mode(reading.sensor.name).items():
            imgui.table_next_row()
            imgui.table_next_column()
            imgui.text_unformatted(f"{mode}{' (now)' if mode is reading.sensor.reduce else ''}")
            reported = int(batch.filled.sum())
            dropped = 0 if batch.in_world_frame else max(0, round(float(batch.found)) - reported)
            imgui.table_next_column()
            text_right(str(reported))
            net_force = batch.net_force
            number_cell(0.0 if net_force is None else float(np.linalg.norm(net_force)))
            imgui.table_next_column()
            text_right(str(dropped), warning_color() if dropped else dim_color())
        imgui.end_table()


def _show_balance(session: Session, reading: SensorReading) -> None:
    diagnostics, name = session.diagnostics, reading.sensor.name
    body = diagnostics.balanced_body(name) if diagnostics is not None else None
    if diagnostics is None or body is None:
        return
    if not imgui.collapsing_header(f"Balance of {diagnostics.body_name(body)}###balance"):
        return
    balance = diagnostics.balance(name)
    assert balance is not None
    rows = (
        ("contacts", balance.contact, "Sum of all contact forces on the body and what hangs on it"),
        ("weight", balance.weight, f"{balance.mass:.4g} kg"),
        ("applied", balance.applied, "Pulled or pushed: xfrc_applied"),
        ("other", balance.other, ", ".join(balance.others) or "What the solver left over"),
        ("m·a", balance.inertia, "Mass times acceleration: what the forces above add up to"),
    )
    columns = (("[N]", "", ""), *((axis, _DIGITS, "") for axis in ("x", "y", "z")))
    with number_font():
        if not imgui.begin_table("##balance", len(columns), imgui.TableFlags_.sizing_fixed_fit):
            return
        table_headings(columns, left=("[N]",))
        for label, force, help_text in rows:
            imgui.table_next_row()
            imgui.table_next_column()
            dim_text(label)
            tooltip(help_text)
            for value in force:
                number_cell(float(value))
        imgui.end_table()


def _show_array(session: Session, reading: SensorReading) -> None:
    heading("Array")
    values = reading.sensor.layout.described_columns
    unit = max((value.unit for value in values), key=lambda unit: imgui.calc_text_size(unit).x, default="")
    columns = (
        ("", str(len(values)), ""),
        ("name", "", ""),
        ("value", _DIGITS, ""),
        ("unit", unit or "unit", ""),
        ("frame", "contact", ""),
    )
    flags = imgui.TableFlags_.scroll_y | imgui.TableFlags_.sizing_fixed_fit | imgui.TableFlags_.row_bg
    with number_font():
        size = ImVec2(0, max(imgui.get_content_region_avail().y, 160))
        if not imgui.begin_table("##array", len(columns), flags, size):
            return
        table_headings(columns, left=("", "name", "unit", "frame"))
        tints = dict(zip(_AXES, component_tints(session), strict=True))
        for i in visible_rows(len(values)):
            _array_row(session, reading, i, values[i], tints)
        imgui.end_table()


def _array_row(session: Session, reading: SensorReading, index: int, column: Column, tints: dict[str, ImVec4]) -> None:
    imgui.table_next_row()
    imgui.table_next_column()
    text_right(str(index), dim_color())
    imgui.table_next_column()
    filled = bool(reading.batch.filled[column.slot])
    tint = tints.get(column.axis) if column.frame == "contact" else None
    name = column.name.removeprefix("slot")
    with text_color((tint or plain_color()) if filled else dim_color()):
        imgui.selectable(f"{name}##{index}", False, imgui.SelectableFlags_.span_all_columns)
    if imgui.is_item_hovered():
        component = _AXES.index(column.axis) if column.field is Field.FORCE and column.axis in _AXES else None
        if filled:
            session.highlight = Highlight(reading.sensor.name, column.slot, component)
        imgui.set_tooltip(_describe(index, column, filled))
    number_cell(float(reading.array[index]), tint if filled else dim_color())
    imgui.table_next_column()
    dim_text(column.unit)
    imgui.table_next_column()
    dim_text(column.frame)


def _describe(index: int, column: Column, filled: bool) -> str:
    parts = [f"array[{index}]", f"slot {column.slot}", str(column.field), column.axis, column.unit]
    text = " · ".join(part for part in parts if part)
    if column.frame:
        text += f" · {column.frame} frame"
    return text if filled else f"{text} (empty slot)"
