"""Parts of the sensor editor: targets and fields of a sensor, its MJCF element, and the pairs that touch now."""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, TypeVar

import numpy as np
from imgui_bundle import ImVec2, imgui, imgui_ctx
from imgui_bundle import icons_fontawesome_6 as icons

from ...mjmodel.matching import full_layout
from ...mjmodel.sensor_suggestions import SensorSuggestions, TouchingBody, TouchingPair
from ...mjmodel.types import MjModel
from ...render.view import Pick
from ...scene_files.spec_changes import target_names
from ...scene_files.xml_edits import contact_element
from ...sensors.contact_declaration import ContactDeclaration, ContactTarget, TargetKind
from ...sensors.layout import UNITS, Field
from ...session.session import Session
from .. import widgets as ui
from ..viewport import Viewport

_FIELD_HELP = {
    Field.FOUND: "Number of matching contacts",
    Field.FORCE: "Force: along the normal, tangent 0 and tangent 1",
    Field.TORQUE: "Torque, in the same axes",
    Field.DIST: "Distance between the surfaces, negative when they penetrate",
    Field.POS: "Position, world",
    Field.NORMAL: "Normal from object 1 to object 2, world",
    Field.TANGENT: "First tangent, world",
    Field.LINVEL: "Velocity of object 2 relative to object 1; not with netforce",
    Field.ANGVEL: "Angular velocity of object 2 relative to object 1; not with netforce",
}
_TARGET_ROWS = 12
"""Largest number of names that a list shows at once."""
_SITE_REACH = 60.0
"""Largest distance of a click from a site's centre [px]."""
_KIND_HELP = {
    TargetKind.ANY: "any: anything",
    TargetKind.GEOM: "geom: one geom",
    TargetKind.BODY: "body: all geoms of one body",
    TargetKind.SUBTREE: "subtree: a body and everything attached to it",
    TargetKind.SITE: "site: contacts inside a site's volume; object 1 only",
}


class NameList:
    """List of names with a field to search in it."""

    def __init__(self) -> None:
        self._typed = ""

    def show(self, label: str, value: str, names: Callable[[], Sequence[str]], width: float, help_text: str) -> str:
        """Draw the list; return the chosen name. `names` is called only while the list is open."""
        imgui.set_next_item_width(width)
        text = ui.combo_text(value or "choose", width)
        if not imgui.begin_combo(label, ui.literal(text)):
            ui.tooltip(f"{value}\n{help_text}" if text != value and value else help_text)
            return value
        if imgui.is_window_appearing():
            self._typed = ""
            imgui.set_keyboard_focus_here()
        # Popups have the grey of fields.
        imgui.push_style_color(imgui.Col_.frame_bg, imgui.get_style().color_(imgui.Col_.frame_bg_hovered))
        imgui.set_next_item_width(-1)
        flags = imgui.InputTextFlags_.enter_returns_true
        entered, self._typed = imgui.input_text_with_hint("##typed", "type to search", self._typed, flags)
        ui.tooltip("Filter by name; Enter chooses the first")
        imgui.pop_style_color()
        found = [name for name in names() if self._typed.lower() in name.lower()]
        if not found:
            ui.paragraph("No match" if self._typed else "No object of this kind has a name")
        elif entered:
            value = found[0]
            imgui.close_current_popup()
        line = imgui.get_text_line_height_with_spacing()
        if imgui.begin_child("##names", ImVec2(max(width, 180), line * min(len(found), _TARGET_ROWS) + 2)):
            for i in ui.visible_rows(len(found)):
                if imgui.selectable(f"{ui.literal(found[i])}##{i}", found[i] == value)[0]:
                    value = found[i]
                    imgui.close_current_popup()
        imgui.end_child()
        imgui.end_combo()
        return value


class TargetChooser:
    """Controls for the two targets of a sensor, chosen from a list or by a click on the scene."""

    def __init__(self) -> None:
        self.picking: int | None = None
        """Side, 1 or 2, that the next click on the scene chooses; None for neither."""
        self._names = NameList()

    def show(self, side: int, target: ContactTarget, model: MjModel, width: float) -> ContactTarget:
        """Draw the controls of one side; return the chosen target. `width` [px] does not include the label."""
        imgui.push_id(side)
        gap = imgui.get_style().item_inner_spacing.x
        room = width - imgui.get_frame_height() - 2 * gap
        kind_width = min(5.6 * imgui.get_font_size(), 0.42 * room)
        # MJCF has no second site.
        kinds = [kind for kind in TargetKind if side == 1 or kind is not TargetKind.SITE]
        kind = ui.choose("##kind", target.kind, kinds, kind_width, _KIND_HELP)
        if kind is not target.kind:
            # A body and its subtree go by the same name.
            bodies = (TargetKind.BODY, TargetKind.SUBTREE)
            target = ContactTarget(kind, target.name if kind in bodies and target.kind in bodies else "")
        imgui.same_line(0, gap)
        with ui.disabled(kind is TargetKind.ANY):
            name = self._names.show(
                "##name",
                target.name if kind is not TargetKind.ANY else "anything",
                lambda: target_names(model, kind),
                room - kind_width,
                f"Name of the {kind}: type to search",
            )
        if kind is not TargetKind.ANY:
            target = ContactTarget(kind, name)
        imgui.same_line(0, gap)
        self._show_crosshair(side)
        imgui.same_line(0, gap)
        imgui.text_unformatted(f"object {side}")
        ui.tooltip("Normals leave object 1" if side == 1 else "Normals enter object 2; forces act on it")
        imgui.pop_id()
        return target

    def point(
        self, session: Session, viewport: Viewport, scene_pass: Any, kind: TargetKind, suggestions: SensorSuggestions
    ) -> ContactTarget | None:
        """Return the target that a click on the scene chose; None if there was no click. Shows the target under the
        mouse."""
        if self.picking is None or not viewport.hovered:
            return None
        if kind is TargetKind.SITE:
            target = _nearest_site(session, viewport, scene_pass, suggestions.sites)
        else:
            target = _target_of(viewport.pick(session, scene_pass), kind, suggestions)
        imgui.set_mouse_cursor(imgui.MouseCursor_.hand)
        imgui.set_tooltip(str(target) if target is not None else f"no {kind} with a name here")
        if not viewport.is_clicked() or target is None:
            return None
        self.picking = None
        return target

    def _show_crosshair(self, side: int) -> None:
        active = self.picking == side
        color = imgui.get_style().color_(imgui.Col_.button_active if active else imgui.Col_.button)
        with imgui_ctx.push_style_color(imgui.Col_.button, color):
            if ui.icon_button(icons.ICON_FA_CROSSHAIRS, "pick"):
                self.picking = None if active else side
        ui.tooltip("Cancel (Esc)" if active else "Choose it by a click on the scene")


class BodyChooser:
    """List of the bodies whose geoms can collide. Selecting a body in the scene chooses it too."""

    def __init__(self) -> None:
        self._names = NameList()
        self._body = ""
        self._selected = -1

    def show(self, selected: int, suggestions: SensorSuggestions) -> str:
        """Draw the list; return the chosen body, empty if there is none. `selected`: id of the body selected in the
        scene."""
        bodies = suggestions.bodies
        if selected != self._selected:
            self._selected = selected
            name = suggestions.target_of_body(selected, TargetKind.BODY).name if selected > 0 else ""
            self._body = name if name in bodies else self._body
        if self._body not in bodies:
            self._body = next((name for name in bodies if name != "world"), "")
        if self._body:
            width = imgui.get_content_region_avail().x - 5.5 * imgui.get_font_size()
            help_text = "Body of the geoms; a double click on a body in the scene chooses it too"
            self._body = self._names.show("##body", self._body, lambda: bodies, width, help_text)
        return self._body


def _target_of(pick: Pick | None, kind: TargetKind, suggestions: SensorSuggestions) -> ContactTarget | None:
    """Return the target for a click on a geom: the geom or its body by `kind`; None if it has no name."""
    if pick is None:
        return None
    if kind in (TargetKind.BODY, TargetKind.SUBTREE):
        target = suggestions.target_of_body(pick.body, kind)
    else:
        target = suggestions.target_of_geom(pick.geom)
    return target if target.name else None


def _nearest_site(session: Session, viewport: Viewport, scene_pass: Any, names: Sequence[str]) -> ContactTarget | None:
    """Return the site whose centre is nearest to the mouse: sites have no surface to click on."""
    pixels, depths = scene_pass.matrices(viewport.pixels).project(session.engine.data.site_xpos, viewport.pixels)
    distances = np.linalg.norm(pixels - np.array(viewport.mouse_pixel), axis=1)
    named = np.array([bool(name) for name in names], dtype=bool)
    distances[~(named & (depths > 0))] = np.inf
    nearest = int(np.argmin(distances)) if len(distances) else -1
    if nearest < 0 or not distances[nearest] < _SITE_REACH * imgui.get_io().display_framebuffer_scale.x:
        return None
    return ContactTarget(TargetKind.SITE, names[nearest])


def choose_fields(fields: tuple[Field, ...]) -> tuple[Field, ...]:
    """Draw a checkbox for each field that the installed MuJoCo knows; return the checked fields."""
    left, third = imgui.get_cursor_pos_x(), imgui.get_content_region_avail().x / 3
    chosen = set(fields)
    for i, field in enumerate(full_layout(1).fields):
        if i % 3:
            imgui.same_line(left + (i % 3) * third)
        help_text = _FIELD_HELP[field] + (f" [{UNITS[field]}]" if UNITS[field] else "")
        on = ui.checkbox(str(field), field in chosen, help_text)
        chosen = chosen | {field} if on else chosen - {field}
    return tuple(field for field in Field if field in chosen)


def show_element(declaration: ContactDeclaration, can_touch: bool) -> None:
    """Draw the MJCF element of a sensor and the size of its array."""
    imgui.spacing()
    layout = declaration.layout
    with ui.number_font():
        imgui.text_unformatted(f"{ui.slots_text(layout.slots)} × {layout.slot_size} values = {layout.size}")
        imgui.push_text_wrap_pos(0.0)
        ui.dim_text(_in_lines(declaration.attributes, imgui.get_content_region_avail().x))
        imgui.pop_text_wrap_pos()
    if not can_touch:
        ui.paragraph("These two can never touch: the sensor would stay empty. The Inspector shows the reason.")


def _in_lines(attributes: Mapping[str, str], width: float) -> str:
    """Return the MJCF element of a sensor, with line breaks so that it fits into a width [px]."""
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
EACH_BODY_HELP = "Make one sensor for each moving body that touches something now, such as the feet of a robot"
_ROWS = 8
"""Largest number of pairs or bodies that the list shows at once."""
_NAMES_WIDTH = 13.0
"""Least width of names in the list, in font sizes; a narrower list leaves out the numbers of contacts."""

Sides = frozenset[ContactTarget]


@dataclass(frozen=True)
class PairClick:
    """Pair that the user clicked."""

    pair: TouchingPair
    sensor: str | None
    """Sensor that already matches the pair; None if there is none."""


def sensors_by_sides(declared: Mapping[str, ContactDeclaration]) -> dict[Sides, str]:
    """Return the name of the sensor for each unordered pair of targets."""
    return {frozenset((sensor.first, sensor.second)): name for name, sensor in declared.items()}


def show_bodies(bodies: Sequence[TouchingBody]) -> TouchingBody | None:
    """Draw the list of touching bodies; return the body to make a sensor for, None if none was clicked."""

    def describe(body: TouchingBody) -> tuple[str, str, bool]:
        help_text = (
            f"Make a sensor of all that touches {body.label}"
            if body.name
            else "This body has no name: MJCF cannot refer to it"
        )
        return icons.ICON_FA_PLUS, help_text, bool(body.name)

    if not bodies:
        ui.paragraph("Nothing that moves touches now.")
    return _show_touching("body", "Moving bodies, by name", bodies, describe)


def show_pairs(
    pairs: Sequence[TouchingPair], suggestions: SensorSuggestions, by_sides: Mapping[Sides, str]
) -> PairClick | None:
    """Draw the list of touching pairs; return the clicked one, None if none was clicked."""

    def sides(pair: TouchingPair) -> list[ContactTarget]:
        return [suggestions.target_of_geom(geom) for geom in pair.geoms]

    def describe(pair: TouchingPair) -> tuple[str, str, bool]:
        first, second = sides(pair)
        if not first.name and not second.name:
            return icons.ICON_FA_PLUS, "Neither geom nor its body has a name: MJCF cannot refer to them", False
        if sensor := by_sides.get(frozenset((first, second))):
            return icons.ICON_FA_EYE, f"Sensor {sensor} matches these two: select it", True
        return icons.ICON_FA_PLUS, f"Make a sensor: {first} × {second}", True

    if not pairs:
        ui.paragraph("Nothing touches now.")
    pair = _show_touching("geoms", "Object 1 and object 2; forces act on the second", pairs, describe)
    return None if pair is None else PairClick(pair, by_sides.get(frozenset(sides(pair))))


Touching = TypeVar("Touching", TouchingBody, TouchingPair)


def _show_touching(
    what: str, help_text: str, touching: Sequence[Touching], describe: Callable[[Touching], tuple[str, str, bool]]
) -> Touching | None:
    """Draw a list of bodies or pairs that touch now, with contacts, force and a button each; return the clicked one.

    `describe` returns icon and tooltip of the button, and whether it can be pressed.
    """
    if not touching:
        return None
    row = imgui.get_frame_height() + 2 * imgui.get_style().cell_padding.y
    flags = imgui.TableFlags_.scroll_y | imgui.TableFlags_.row_bg | imgui.TableFlags_.no_pad_outer_x
    room = imgui.get_content_region_avail().x
    with ui.number_font():
        force_width = imgui.calc_text_size("0000.00").x
    headings = (
        ui.Heading(what, "", help_text, left=True),
        ui.Heading("contacts", "contacts", "Number of contacts"),
        ui.Heading("force [N]", max(force_width, imgui.calc_text_size("force [N]").x), "Sum of their normal forces"),
        ui.Heading("", imgui.get_frame_height()),
    )
    # Where names need the room more, the number is in their tooltips.
    fitting = ui.fitting(headings, room, ("contacts",), _NAMES_WIDTH * imgui.get_font_size())
    size = ImVec2(0, (min(len(touching), _ROWS) + 1) * row + 2)
    pressed, names = None, None
    for i in ui.table_rows(f"##touching {what}", fitting, len(touching), flags, size, height=row):
        each = touching[i]
        # By its name: rows come and go while the scene runs.
        with imgui_ctx.push_id(ui.literal(each.label)):
            imgui.table_next_column()
            names = names or ui.fit_texts([other.label for other in touching], imgui.get_content_region_avail().x)
            imgui.align_text_to_frame_padding()
            imgui.text_unformatted(names[i])
            ui.tooltip(f"{each.label}\n{each.count} contact{'' if each.count == 1 else 's'}")
            with ui.number_font():
                for number in (str(each.count), ui.format_number(each.force, 2))[4 - len(fitting) :]:
                    imgui.table_next_column()
                    imgui.align_text_to_frame_padding()
                    ui.text_right(number)
            imgui.table_next_column()
            icon, help_text, can_be_pressed = describe(each)
            with ui.disabled(not can_be_pressed):
                if ui.icon_button(icon, "make"):
                    pressed = each
            ui.tooltip(help_text)
    return pressed
