"""Parts of the sensor editor: the fields that a sensor reports, and the element that says all of it."""

from collections.abc import Mapping

from imgui_bundle import imgui

from ..engines.files.editing import contact_element
from ..engines.mujoco.matching import full_layout
from ..sensors.contact_declaration import ContactDeclaration
from ..sensors.layout import UNITS, Field
from ..settings import Theme
from .theme import warning_color
from .widgets import dim_text, number_font, paragraph, tooltip

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
        changed, wanted = imgui.checkbox(str(field), field in chosen)
        tooltip(_FIELD_HELP[field] + (f" [{UNITS[field]}]" if UNITS[field] else ""))
        if changed:
            chosen = chosen | {field} if wanted else chosen - {field}
    return tuple(field for field in Field if field in chosen)


def show_element(declaration: ContactDeclaration, can_touch: bool) -> None:
    """MJCF of a sensor and the size of its array."""
    imgui.spacing()
    layout = declaration.layout
    slots = "1 slot" if layout.slots == 1 else f"{layout.slots} slots"
    number_font()
    imgui.text_unformatted(f"{slots} × {layout.slot_size} values = {layout.size}")
    imgui.push_text_wrap_pos(0.0)
    dim_text(_in_lines(declaration.attributes, imgui.get_content_region_avail().x))
    imgui.pop_text_wrap_pos()
    imgui.pop_font()
    if not can_touch:
        paragraph("These two can never touch: the sensor would stay empty. The Inspector then says why.")


def show_problem(problem: str, theme: Theme) -> None:
    """Why there is no such sensor."""
    imgui.spacing()
    imgui.push_style_color(imgui.Col_.text, warning_color(theme))
    imgui.text_wrapped(f"{problem[0].upper()}{problem[1:]}.".replace("%", "%%"))
    imgui.pop_style_color()


def _in_lines(attributes: Mapping[str, str], width: float) -> str:
    """MJCF of a sensor, broken between attributes where a line would be too long."""
    text, line = "<contact", "<contact"
    for name, value in attributes.items():
        word = contact_element({name: value}).removeprefix("<contact").removesuffix("/>")
        # What is longer than a line is left to break inside.
        fits = imgui.calc_text_size(f"{line}{word}/>").x <= width or imgui.calc_text_size(f" {word}/>").x > width
        text, line = (text + word, line + word) if fits else (f"{text}\n {word}", f" {word}")
    return f"{text}/>"
