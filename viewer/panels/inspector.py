"""Inspector window: one sensor's declaration, its contacts, and its array with every value named."""

import numpy as np
from imgui_bundle import ImVec2, ImVec4, imgui

from ..render.scale import palette_colors
from ..sensors.friction import ContactState
from ..sensors.layout import Column, Field
from ..session import Highlight, SensorReading, Session
from ..settings import Reduce
from .theme import dim_color, text_tint, warning_color
from .widgets import (
    dim_text,
    heading,
    number_cell,
    number_font,
    paragraph,
    text_right,
    tooltip,
)

_AXES = ("normal", "tangent0", "tangent1")
_CONTACT_COLUMNS = (
    ("slot", "Place in the array"),
    ("F_n", "Force along the normal [N]"),
    ("F_t0", "Force along tangent 0 [N]"),
    ("F_t1", "Force along tangent 1 [N]"),
    ("use", "Share of the friction that the normal force allows: 1 when sliding"),
    ("mm", "Distance between the surfaces [mm]; negative when they penetrate"),
    ("object 1", "Geom on the side that the normal leaves"),
    ("object 2", "Geom on the side that the normal enters, and that the force acts on"),
    ("x", "Position [m], world"),
    ("y", "Position [m], world"),
    ("z", "Position [m], world"),
    ("n_x", "Normal, world"),
    ("n_y", "Normal, world"),
    ("n_z", "Normal, world"),
)
_NET_NAMES = {"F_n": "F_x", "F_t0": "F_y", "F_t1": "F_z"}
_DIGITS = "-000.000"


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
    theme = session.settings.theme
    return (
        text_tint(colors.normal, theme),
        text_tint(colors.tangent0, theme),
        text_tint(colors.tangent1, theme),
    )


def _show_declaration(session: Session, reading: SensorReading) -> None:
    sensor = reading.sensor
    imgui.text_unformatted(sensor.name)
    dim_text(sensor.label)
    imgui.spacing()
    if imgui.begin_table("##declaration", 2):
        imgui.table_setup_column("", imgui.TableColumnFlags_.width_fixed)
        imgui.table_setup_column("", imgui.TableColumnFlags_.width_stretch)
        _fact("data", " ".join(sensor.fields))
        _fact("num", str(sensor.slots))
        _fact("reduce", str(sensor.reduce))
        _fact("frame", "world" if sensor.frame == "world" else "contact: normal, tangent0, tangent1")
        _fact("array", f"{sensor.size} value{'' if sensor.size == 1 else 's'}")
        imgui.end_table()
    if sensor.virtual:
        paragraph("Made by the viewer; the scene file does not have it.")
    elif sensor.reconstructed:
        paragraph("Contacts are reconstructed from the engine's contact list: this model is left as it is.")
    if sensor.modified:
        imgui.text_colored(
            warning_color(session.settings.theme), f"The scene declares reduce {sensor.declared.reduce}."
        )
        imgui.same_line()
        if imgui.small_button("Revert"):
            session.set_reduce(sensor.name, sensor.declared.reduce)
        tooltip("Read the sensor as the scene declares it")
    if reading.dropped:
        imgui.push_style_color(imgui.Col_.text, warning_color(session.settings.theme))
        imgui.text_wrapped(
            f"{reading.dropped} of {reading.found} contacts dropped: found exceeds the {sensor.slots} slots."
        )
        imgui.pop_style_color()


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
    why_zero = session.reasons.why_zero(reading.sensor.name, reading.batch) if session.reasons else None
    if why_zero:
        paragraph(why_zero)
    if not reading.reported:
        if not why_zero:
            paragraph("No contact now.")
        return
    flags = imgui.TableFlags_
    rows = min(reading.reported, 8)
    height = (rows + 1.3) * (imgui.get_text_line_height() + 2 * imgui.get_style().cell_padding.y)
    height += imgui.get_style().scrollbar_size
    number_font()
    if imgui.begin_table(
        "##contacts",
        len(_CONTACT_COLUMNS),
        flags.scroll_x | flags.scroll_y | flags.sizing_fixed_fit | flags.row_bg,
        ImVec2(0, height),
    ):
        _contact_headings(session, net)
        slots = np.flatnonzero(reading.batch.filled)
        cones = session.reasons.cones(reading.batch) if session.reasons else None
        clipper = imgui.ListClipper()
        clipper.begin(len(slots))
        while clipper.step():
            for row in range(clipper.display_start, clipper.display_end):
                use = float(cones.use[row]) if cones is not None else float("nan")
                sliding = cones is not None and cones.states[row] == ContactState.SLIDING
                _contact_row(session, reading, int(slots[row]), net, use, sliding)
        imgui.end_table()
    imgui.pop_font()


def _contact_headings(session: Session, net: bool) -> None:
    imgui.table_setup_scroll_freeze(1, 1)
    width = imgui.calc_text_size(_DIGITS).x
    for name, _ in _CONTACT_COLUMNS:
        narrow = {"slot": "slot", "use": "0.00"}
        fixed = 0.0 if name.startswith("object") else imgui.calc_text_size(narrow[name]).x if name in narrow else width
        imgui.table_setup_column(_NET_NAMES.get(name, name) if net else name, 0, fixed)
    imgui.table_next_row(imgui.TableRowFlags_.headers)
    tints = component_tints(session)
    for i, (name, help_text) in enumerate(_CONTACT_COLUMNS):
        imgui.table_set_column_index(i)
        shown = _NET_NAMES.get(name, name) if net else name
        tint = tints[i - 1] if 1 <= i <= 3 and not net else dim_color()
        if name.startswith("object"):
            imgui.text_colored(tint, shown)
        else:
            text_right(shown, tint)
        tooltip("Net force, world axes [N]" if net and 1 <= i <= 3 else help_text)


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
        text_right(f"{use:.2f}", warning_color(session.settings.theme) if sliding else None)
    else:
        text_right("-", dim_color())
    if imgui.is_item_hovered():
        imgui.set_tooltip("sliding" if sliding else "sticking" if use == use else "no friction to tell of")
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
    if session.reasons is None or not imgui.collapsing_header("Reduce modes"):
        return
    number_font()
    if imgui.begin_table("##modes", 4, imgui.TableFlags_.sizing_fixed_fit):
        imgui.table_setup_column("", imgui.TableColumnFlags_.width_stretch)
        for text in ("reports", "net force [N]", "drops"):
            imgui.table_setup_column(text, 0, imgui.calc_text_size(text).x)
        imgui.table_next_row()
        imgui.table_next_column()
        for text in ("reports", "net force [N]", "drops"):
            imgui.table_next_column()
            text_right(text, dim_color())
        for mode, batch in session.reasons.in_each_mode(reading.sensor.name).items():
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
            text_right(str(dropped), warning_color(session.settings.theme) if dropped else dim_color())
        imgui.end_table()
    imgui.pop_font()


def _show_balance(session: Session, reading: SensorReading) -> None:
    reasons, name = session.reasons, reading.sensor.name
    body = reasons.balanced_body(name) if reasons is not None else None
    if reasons is None or body is None:
        return
    if not imgui.collapsing_header(f"Balance of {reasons.body_name(body)}###balance"):
        return
    balance = reasons.balance(name)
    assert balance is not None
    rows = (
        ("contacts", balance.contact, "Sum of all contact forces on the body and what hangs on it"),
        ("weight", balance.weight, f"{balance.mass:.4g} kg"),
        ("applied", balance.applied, "Pulled or pushed: xfrc_applied"),
        ("other", balance.other, ", ".join(balance.others) or "What the solver left over"),
        ("m·a", balance.inertia, "Mass times acceleration: what the forces above add up to"),
    )
    number_font()
    if imgui.begin_table("##balance", 4, imgui.TableFlags_.sizing_fixed_fit):
        imgui.table_setup_column("", imgui.TableColumnFlags_.width_stretch)
        for axis in ("x", "y", "z"):
            imgui.table_setup_column(axis, 0, imgui.calc_text_size(_DIGITS).x)
        imgui.table_next_row()
        for text in ("[N]", "x", "y", "z"):
            imgui.table_next_column()
            dim_text(text) if text == "[N]" else text_right(text, dim_color())
        for label, force, help_text in rows:
            imgui.table_next_row()
            imgui.table_next_column()
            dim_text(label)
            tooltip(help_text)
            for value in force:
                number_cell(float(value))
        imgui.end_table()
    imgui.pop_font()


def _show_array(session: Session, reading: SensorReading) -> None:
    heading("Array")
    columns = reading.sensor.layout.described_columns
    flags = imgui.TableFlags_
    number_font()
    if imgui.begin_table(
        "##array",
        5,
        flags.scroll_y | flags.sizing_fixed_fit | flags.row_bg,
        ImVec2(0, max(imgui.get_content_region_avail().y, 160)),
    ):
        imgui.table_setup_scroll_freeze(0, 1)
        imgui.table_setup_column("", 0, imgui.calc_text_size(str(len(columns))).x)
        imgui.table_setup_column("name", imgui.TableColumnFlags_.width_stretch)
        imgui.table_setup_column("value", 0, imgui.calc_text_size(_DIGITS).x)
        imgui.table_setup_column(
            "unit",
            0,
            max(imgui.calc_text_size(text).x for text in ("unit", *(column.unit for column in columns))),
        )
        imgui.table_setup_column("frame", 0, imgui.calc_text_size("contact").x)
        imgui.table_next_row(imgui.TableRowFlags_.headers)
        for i, text in enumerate(("", "name", "value", "unit", "frame")):
            imgui.table_set_column_index(i)
            text_right(text, dim_color()) if i == 2 else dim_text(text)
        tints = dict(zip(_AXES, component_tints(session), strict=True))
        clipper = imgui.ListClipper()
        clipper.begin(len(columns))
        while clipper.step():
            for i in range(clipper.display_start, clipper.display_end):
                _array_row(session, reading, i, columns[i], tints)
        imgui.end_table()
    imgui.pop_font()


def _array_row(session: Session, reading: SensorReading, index: int, column: Column, tints: dict[str, ImVec4]) -> None:
    imgui.table_next_row()
    imgui.table_next_column()
    text_right(str(index), dim_color())
    imgui.table_next_column()
    filled = bool(reading.batch.filled[column.slot])
    tint = tints.get(column.axis) if column.frame == "contact" else None
    spans = imgui.SelectableFlags_.span_all_columns
    name = column.name.removeprefix("slot")
    imgui.push_style_color(
        imgui.Col_.text, (tint or imgui.get_style().color_(imgui.Col_.text)) if filled else dim_color()
    )
    imgui.selectable(f"{name}##{index}", False, spans)
    imgui.pop_style_color()
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
