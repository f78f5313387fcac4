"""Parts of the sensor editor: the fields that a sensor reports, the MJCF element, and the pairs that touch now."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

from imgui_bundle import ImVec2, imgui
from imgui_bundle import icons_fontawesome_6 as icons

from ...mjmodel.matching import full_layout
from ...mjmodel.names import PAIR
from ...mjmodel.sensor_suggestions import SensorSuggestions, TouchingBody, TouchingPair
from ...scene_files.xml_edits import contact_element
from ...sensors.contact_declaration import ContactDeclaration, ContactTarget
from ...sensors.layout import UNITS, Field
from ..widgets import (
    Heading,
    checkbox,
    dim_text,
    disabled,
    fit_texts,
    format_number,
    icon_button,
    number_font,
    paragraph,
    table_headings,
    text_right,
    tooltip,
    visible_rows,
)

_FIELD_HELP = {
    Field.FOUND: "Number of matching contacts",
    Field.FORCE: "Force: along the normal, tangent 0 and tangent 1",
    Field.TORQUE: "Torque, in the same axes",
    Field.DIST: "Distance between the surfaces, negative when they penetrate",
    Field.POS: "Position, world",
    Field.NORMAL: "Normal from object 1 to object 2, world",
    Field.TANGENT: "First tangent, world",
    Field.LINVEL: "Velocity of object 2 against object 1; not with netforce",
    Field.ANGVEL: "Angular velocity of object 2 against object 1; not with netforce",
}


def choose_fields(fields: tuple[Field, ...]) -> tuple[Field, ...]:
    """A box for each field that the installed MuJoCo knows; those that are chosen."""
    left, third = imgui.get_cursor_pos_x(), imgui.get_content_region_avail().x / 3
    chosen = set(fields)
    for i, field in enumerate(full_layout(1).fields):
        if i % 3:
            imgui.same_line(left + (i % 3) * third)
        help_text = _FIELD_HELP[field] + (f" [{UNITS[field]}]" if UNITS[field] else "")
        on = checkbox(str(field), field in chosen, help_text)
        chosen = chosen | {field} if on else chosen - {field}
    return tuple(field for field in Field if field in chosen)


def show_element(declaration: ContactDeclaration, can_touch: bool) -> None:
    """MJCF of a sensor and the size of its array."""
    imgui.spacing()
    layout = declaration.layout
    slots = "1 slot" if layout.slots == 1 else f"{layout.slots} slots"
    with number_font():
        imgui.text_unformatted(f"{slots} × {layout.slot_size} values = {layout.size}")
        imgui.push_text_wrap_pos(0.0)
        dim_text(_in_lines(declaration.attributes, imgui.get_content_region_avail().x))
        imgui.pop_text_wrap_pos()
    if not can_touch:
        paragraph("These two can never touch: the sensor would stay empty. The Inspector shows the reason.")


def _in_lines(attributes: Mapping[str, str], width: float) -> str:
    """MJCF of a sensor, broken between attributes where a line would be too long, else between their words."""
    lines = ["<contact"]
    for name, value in attributes.items():
        attribute = contact_element({name: value}).removeprefix("<contact ").removesuffix("/>")
        whole = _fits(f"{lines[-1]} {attribute}", width) or _fits(f"  {attribute}", width)
        indent = "  "
        for word in [attribute] if whole else attribute.split(" "):
            if _fits(f"{lines[-1]} {word}", width):
                lines[-1] += f" {word}"
            else:
                lines.append(indent + word)
            indent = "    "
    return "\n".join(lines) + "/>"


def _fits(line: str, width: float) -> bool:
    return bool(imgui.calc_text_size(f"{line}/>").x <= width)


EACH_BODY = f"{icons.ICON_FA_SHOE_PRINTS} each body"
EACH_BODY_HELP = "Make a sensor for each body that moves and touches something now: the feet of a robot that stands"
_ROWS = 8
"""Pairs that the list shows at once."""
_NAMES_WIDTH = 13.0
"""Of a list, in font sizes; where numbers of contacts leave less to names, they are left out."""

Sides = frozenset[ContactTarget]


@dataclass(frozen=True)
class PairClick:
    """A pair that a person clicked."""

    pair: TouchingPair
    sensor: str | None
    """A sensor that matches these two already; None if there is none."""


def sensors_by_sides(declared: Mapping[str, ContactDeclaration]) -> dict[Sides, str]:
    """The two sides of each sensor, in any order, and its name."""
    return {frozenset((sensor.first, sensor.second)): name for name, sensor in declared.items()}


def show_bodies(bodies: Sequence[TouchingBody]) -> TouchingBody | None:
    """The list; the body that a sensor is wanted of."""
    if not bodies:
        paragraph("Nothing that moves touches now.")
        return None
    row = imgui.get_frame_height() + 2 * imgui.get_style().cell_padding.y
    if not _begin_touching("##bodies", len(bodies), row, "body", "Moving bodies, by name"):
        return None
    wanted, names = None, _fitted([body.label for body in bodies])
    for i in visible_rows(len(bodies), row):
        body = bodies[i]
        imgui.push_id(body.label)
        _show_cells(names[i], body.label, body.count, body.force)
        with disabled(not body.name):
            if icon_button(icons.ICON_FA_PLUS, "make"):
                wanted = body
        tooltip(f"Make a sensor of all that touches {body.label}" if body.name else "A body without a name")
        imgui.pop_id()
    imgui.end_table()
    return wanted


def _begin_touching(table: str, count: int, row: float, what: str, help_text: str) -> bool:
    """Begin a table of so many rows, each `row` px high, with its headings; True if it is to be filled and ended."""
    flags = imgui.TableFlags_.scroll_y | imgui.TableFlags_.row_bg | imgui.TableFlags_.no_pad_outer_x
    room = imgui.get_content_region_avail().x
    with number_font():
        force_width = imgui.calc_text_size("0000.00").x
    headings = [
        Heading(what, "", help_text, left=True),
        Heading("contacts", "contacts", "Number of contacts"),
        Heading("force [N]", max(force_width, imgui.calc_text_size("force [N]").x), "Sum of their normal forces"),
        Heading("", imgui.get_frame_height()),
    ]
    others = sum(heading.width + 2 * imgui.get_style().cell_padding.x for heading in headings)
    if room - others < _NAMES_WIDTH * imgui.get_font_size():
        # Names need the room more; the number is in their tooltips.
        del headings[1]
    size = ImVec2(0, (min(count, _ROWS) + 1) * row + 2)
    if not imgui.begin_table(table, len(headings), flags, size):
        return False
    table_headings(headings)
    return True


def _fitted(names: Sequence[str]) -> Sequence[str]:
    """What of each name fits into the first column of the table."""
    imgui.table_set_column_index(0)
    return fit_texts(names, imgui.get_content_region_avail().x)


def _show_cells(text: str, label: str, count: int, force: float) -> None:
    """Name, as it fits and as it is, contacts and force of a row; its button is next."""
    imgui.table_next_row()
    imgui.table_next_column()
    imgui.align_text_to_frame_padding()
    imgui.text_unformatted(text)
    tooltip(f"{label}\n{count} contact{'' if count == 1 else 's'}")
    numbers = (str(count), format_number(force, 2))
    with number_font():
        for number in numbers[4 - imgui.table_get_column_count() :]:
            imgui.table_next_column()
            imgui.align_text_to_frame_padding()
            text_right(number)
    imgui.table_next_column()


def show_pairs(
    pairs: Sequence[TouchingPair], suggestions: SensorSuggestions, by_sides: Mapping[Sides, str]
) -> PairClick | None:
    """The list; what was clicked in it."""
    if not pairs:
        paragraph("Nothing touches now.")
        return None
    row = imgui.get_frame_height() + 2 * imgui.get_style().cell_padding.y
    if not _begin_touching("##pairs", len(pairs), row, "geoms", "Object 1 and object 2; forces act on the second"):
        return None
    clicked, names = None, _fitted([PAIR.join(pair.labels) for pair in pairs])
    for i in visible_rows(len(pairs), row):
        pair = pairs[i]
        # By its geoms: rows come and go while the scene runs.
        imgui.push_id(PAIR.join(pair.labels))
        first, second = (suggestions.target_of_geom(geom) for geom in pair.geoms)
        clicked = _show_row(pair, names[i], first, second, by_sides.get(frozenset((first, second)))) or clicked
        imgui.pop_id()
    imgui.end_table()
    return clicked


def _show_row(
    pair: TouchingPair, text: str, first: ContactTarget, second: ContactTarget, sensor: str | None
) -> PairClick | None:
    _show_cells(text, PAIR.join(pair.labels), pair.count, pair.force)
    nameless = not first.name and not second.name
    with disabled(nameless):
        pressed = icon_button(icons.ICON_FA_EYE if sensor else icons.ICON_FA_PLUS, "make")
    if nameless:
        tooltip("Neither of them has a name that a sensor could go by")
    elif sensor:
        tooltip(f"Sensor {sensor} matches these two: select it")
    else:
        tooltip(f"Make a sensor: {first} × {second}")
    return PairClick(pair, sensor) if pressed else None
