"""Lists and mouse clicks that choose what a contact sensor matches."""

from collections.abc import Callable, Sequence
from typing import Any

import numpy as np
from imgui_bundle import ImVec2, imgui, imgui_ctx
from imgui_bundle import icons_fontawesome_6 as icons

from ...mjmodel.sensor_suggestions import SensorSuggestions
from ...mjmodel.types import MjModel
from ...render.view import Pick
from ...scene_files.spec_changes import target_names
from ...sensors.contact_declaration import ContactTarget, TargetKind
from ...session.session import Session
from ..viewport import Viewport
from ..widgets import choose, combo_text, disabled, icon_button, paragraph, tooltip, visible_rows

_ROWS = 12
"""Names that a list shows at once."""
_SITE_REACH = 60.0
"""How near to a site's centre a click must be [px]."""
_KIND_HELP = {
    TargetKind.ANY: "any: whatever it is",
    TargetKind.GEOM: "geom: one geom",
    TargetKind.BODY: "body: all geoms of one body",
    TargetKind.SUBTREE: "subtree: a body and everything attached to it",
    TargetKind.SITE: "site: contacts inside a site's volume; object 1 only",
}


class NameList:
    """A list of many names, of which typing leaves those that contain the text."""

    def __init__(self) -> None:
        self._typed = ""

    def show(self, label: str, value: str, names: Callable[[], Sequence[str]], width: float, help_text: str) -> str:
        """The list; the name that is chosen. `names` is asked only while the list is open."""
        imgui.set_next_item_width(width)
        text = combo_text(value or "choose", width)
        if not imgui.begin_combo(label, text):
            tooltip(f"{value}\n{help_text}" if text != value and value else help_text)
            return value
        if imgui.is_window_appearing():
            self._typed = ""
            imgui.set_keyboard_focus_here()
        # Popups have the grey of fields.
        imgui.push_style_color(imgui.Col_.frame_bg, imgui.get_style().color_(imgui.Col_.frame_bg_hovered))
        imgui.set_next_item_width(-1)
        flags = imgui.InputTextFlags_.enter_returns_true
        entered, self._typed = imgui.input_text_with_hint("##typed", "type to search", self._typed, flags)
        tooltip("List only names that contain this; Enter takes the first")
        imgui.pop_style_color()
        found = [name for name in names() if self._typed.lower() in name.lower()]
        if not found:
            paragraph("nothing of that name" if self._typed else "nothing here has a name")
        elif entered:
            value = found[0]
            imgui.close_current_popup()
        line = imgui.get_text_line_height_with_spacing()
        if imgui.begin_child("##names", ImVec2(max(width, 180), line * min(len(found), _ROWS) + 2)):
            for i in visible_rows(len(found)):
                if imgui.selectable(f"{found[i]}##{i}", found[i] == value)[0]:
                    value = found[i]
                    imgui.close_current_popup()
        imgui.end_child()
        imgui.end_combo()
        return value


class TargetChooser:
    """The two sides of a sensor, by list or by a click on the scene."""

    def __init__(self) -> None:
        self.picking: int | None = None
        """Side, 1 or 2, that the next click on the scene chooses."""
        self._names = NameList()

    def show(self, side: int, target: ContactTarget, model: MjModel, width: float) -> ContactTarget:
        """The controls of one side; what is chosen now. `width` of all but the label [px]."""
        imgui.push_id(side)
        gap = imgui.get_style().item_inner_spacing.x
        room = width - imgui.get_frame_height() - 2 * gap
        kind_width = min(5.6 * imgui.get_font_size(), 0.42 * room)
        # MJCF has no second site.
        kinds = [kind for kind in TargetKind if side == 1 or kind is not TargetKind.SITE]
        kind = choose("##kind", target.kind, kinds, kind_width, _KIND_HELP)
        if kind is not target.kind:
            # A body and its subtree go by the same name.
            bodies = (TargetKind.BODY, TargetKind.SUBTREE)
            target = ContactTarget(kind, target.name if kind in bodies and target.kind in bodies else "")
        imgui.same_line(0, gap)
        with disabled(kind is TargetKind.ANY):
            name = self._names.show(
                "##name",
                target.name if kind is not TargetKind.ANY else "anything",
                lambda: target_names(model, kind),
                room - kind_width,
                f"The {kind}, by its name: type to search",
            )
        if kind is not TargetKind.ANY:
            target = ContactTarget(kind, name)
        imgui.same_line(0, gap)
        self._show_crosshair(side)
        imgui.same_line(0, gap)
        imgui.text_unformatted(f"object {side}")
        tooltip("Normals leave object 1" if side == 1 else "Normals enter object 2; forces act on it")
        imgui.pop_id()
        return target

    def point(
        self, session: Session, viewport: Viewport, scene_pass: Any, kind: TargetKind, suggestions: SensorSuggestions
    ) -> ContactTarget | None:
        """What a click on the scene chose for the side that is being picked; shows what is under the mouse."""
        if self.picking is None or not viewport.hovered:
            return None
        if kind is TargetKind.SITE:
            target = _nearest_site(session, viewport, scene_pass, suggestions.sites)
        else:
            target = _target_of(viewport.pick(session, scene_pass), kind, suggestions)
        imgui.set_mouse_cursor(imgui.MouseCursor_.hand)
        imgui.set_tooltip(str(target) if target is not None else f"no {kind} with a name here")
        if not viewport.clicked or target is None:
            return None
        self.picking = None
        return target

    def _show_crosshair(self, side: int) -> None:
        active = self.picking == side
        color = imgui.get_style().color_(imgui.Col_.button_active if active else imgui.Col_.button)
        with imgui_ctx.push_style_color(imgui.Col_.button, color):
            if icon_button(icons.ICON_FA_CROSSHAIRS, "pick"):
                self.picking = None if active else side
        tooltip("Esc: choose nothing" if active else "Pick it in the scene with the next click")


class BodyChooser:
    """A list of the bodies whose geoms can collide. One that is double clicked in the scene is chosen too."""

    def __init__(self) -> None:
        self._names = NameList()
        self._body = ""
        self._selected = -1

    def show(self, selected: int, suggestions: SensorSuggestions) -> str:
        """The list; the body that is chosen, empty if there is none. `selected`: number of the scene's selected one."""
        bodies = suggestions.bodies
        if selected != self._selected:
            self._selected = selected
            name = suggestions.target_of_body(selected, TargetKind.BODY).name if selected > 0 else ""
            self._body = name if name in bodies else self._body
        if self._body not in bodies:
            self._body = next((name for name in bodies if name != "world"), "")
        if self._body:
            width = imgui.get_content_region_avail().x - 5.5 * imgui.get_font_size()
            help_text = "Whose geoms; a double click on a body in the scene chooses it too"
            self._body = self._names.show("##body", self._body, lambda: bodies, width, help_text)
        return self._body


def _target_of(pick: Pick | None, kind: TargetKind, suggestions: SensorSuggestions) -> ContactTarget | None:
    """What a click on a geom means; of a geom without a name, its body."""
    if pick is None:
        return None
    if kind in (TargetKind.BODY, TargetKind.SUBTREE):
        target = suggestions.target_of_body(pick.body, kind)
    else:
        target = suggestions.target_of_geom(pick.geom)
    return target if target.name else None


def _nearest_site(session: Session, viewport: Viewport, scene_pass: Any, names: Sequence[str]) -> ContactTarget | None:
    """The site whose centre is nearest to the mouse: sites have no surface that a ray would meet."""
    pixels, depths = scene_pass.matrices(viewport.pixels).project(session.engine.data.site_xpos, viewport.pixels)
    distances = np.linalg.norm(pixels - np.array(viewport.mouse_pixel), axis=1)
    named = np.array([bool(name) for name in names], dtype=bool)
    distances[~(named & (depths > 0))] = np.inf
    nearest = int(np.argmin(distances)) if len(distances) else -1
    if nearest < 0 or not distances[nearest] < _SITE_REACH * imgui.get_io().display_framebuffer_scale.x:
        return None
    return ContactTarget(TargetKind.SITE, names[nearest])
