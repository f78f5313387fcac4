"""Table of a sensor's contacts in the Inspector: its columns, how they fit, and one row per contact."""

from collections.abc import Sequence
from enum import StrEnum

import numpy as np
from imgui_bundle import ImVec2, ImVec4, imgui
from numpy.typing import NDArray

from ...app.application import Application
from ...mjmodel.names import bodies_of, body_names, geom_names
from ...mjmodel.types import MjModel
from ...sensors.friction import ContactState
from ...session.readings import SensorReading
from ...session.session import Highlight, Session
from ...settings import Reduce, ViewState
from .. import widgets as ui
from ..theme import dim_color, plain_color, warning_color
from .explanations import show_exclude_entries

APART = (
    "Found, but the surfaces do not touch and no force acts. MJX reports such contacts with reduce none: use "
    "mindist or maxforce. MuJoCo reports them for geoms with a gap"
)
_DIGITS = "-000.000"
_LEAST_ROWS, _MOST_ROWS = 3, 8
"""Fewest and most rows that the table has room for; a fixed height keeps the panel below it in place."""
_OTHERS = 31.0
"""Height of the Inspector without the contact table, with the smallest useful array table, in font sizes."""
_FLAGS = (
    imgui.TableFlags_.scroll_x | imgui.TableFlags_.scroll_y | imgui.TableFlags_.sizing_fixed_fit
    | imgui.TableFlags_.row_bg | imgui.TableFlags_.no_pad_outer_x
)  # fmt: skip
_SPANS = imgui.SelectableFlags_.span_all_columns | imgui.SelectableFlags_.allow_overlap
_LONGEST = 28
"""Largest number of letters of a name that are shown."""


class ContactColumn(StrEnum):
    """Column of the contact table, the most important first."""

    SLOT = "slot"
    FORCES = "forces"
    USE = "friction use"
    DISTANCE = "distance"
    GEOMS = "geoms"
    POSITION = "position"
    NORMAL = "normal"
    BODIES = "bodies"


_HELP = {
    ContactColumn.SLOT: "Index in the array; always shown",
    ContactColumn.FORCES: "Force along normal and tangents [N]; world axes for netforce",
    ContactColumn.USE: "Share of the friction that the normal force allows: 1 when sliding",
    ContactColumn.DISTANCE: "Distance between the surfaces [mm]; negative when they penetrate",
    ContactColumn.GEOMS: "Object 1, and object 2, which the force acts on",
    ContactColumn.POSITION: "Position of the contact [m], world",
    ContactColumn.NORMAL: "Unit normal from object 1 to object 2, world",
    ContactColumn.BODIES: "Bodies of the two geoms",
}


class ContactTable:
    """Table of the contacts of one sensor."""

    def __init__(self) -> None:
        self._model: MjModel | None = None
        self._bodies: dict[str, str] = {}
        """Body of each geom, by the geom's name."""
        self._app: Application | None = None
        """Application that the menu of a contact acts on."""
        self._apart: NDArray[np.bool_] = np.zeros(0, bool)
        """True for slots whose contacts do not touch, (slots,)."""
        self._names = {ContactColumn.GEOMS: "", ContactColumn.BODIES: ""}
        """Longest name in each column of names."""

    def choose(self, settings: ViewState) -> None:
        """Draw checkboxes for the columns."""
        chosen = _chosen(settings)
        help_text = "Show the first columns of this list that fit into the panel"
        fits = ui.checkbox("as many as fit", chosen is None, help_text)
        if fits is not (chosen is None):
            settings.contact_columns = "" if fits else ",".join(list(ContactColumn)[:4])
        imgui.separator()
        shown = set(ContactColumn) if chosen is None else set(chosen)
        for column in ContactColumn:
            with ui.disabled(column is ContactColumn.SLOT):
                changed, on = imgui.checkbox(str(column), column in shown and (chosen is not None or column in _USUAL))
            imgui.set_item_tooltip(_HELP[column])
            if changed:
                kept = set(chosen if chosen is not None else _USUAL)
                kept = kept | {column} if on else kept - {column}
                settings.contact_columns = ",".join(each for each in ContactColumn if each in kept)

    def show(self, app: Application, reading: SensorReading, tints: Sequence[ImVec4], why_zero: str | None) -> None:
        """Draw the table, or the reason why it is empty, in an area of constant height."""
        session, self._app = app.session, app
        self._read(session.engine.model)
        self._apart = reading.batch.apart
        with ui.number_font():
            line = imgui.get_text_line_height() + 2 * imgui.get_style().cell_padding.y
        bar = imgui.get_style().scrollbar_size
        # In a low window the array below keeps its room.
        most = int((imgui.get_window_height() - _OTHERS * imgui.get_font_size() - bar) / line) - 2
        rows = max(min(reading.sensor.slots, _MOST_ROWS, most), _LEAST_ROWS)
        height = (rows + 2) * line + bar
        if reading.reported and not why_zero:
            self._show_table(session, reading, tints, height)
            return
        if imgui.begin_child("##contacts", ImVec2(0, height)):
            ui.paragraph(why_zero or "No contact now.")
            if reading.reported:
                self._show_table(session, reading, tints, 0.0)
        imgui.end_child()

    def columns(self, session: Session, reading: SensorReading, width: float) -> list[ContactColumn]:
        """Return the chosen columns; without a choice, those that fit into a width [px]."""
        chosen = _chosen(session.settings)
        if chosen is not None:
            return list(chosen)
        fitting: list[ContactColumn] = []
        padding = 2 * imgui.get_style().cell_padding.x
        for column in _USUAL:
            for heading in self._headings(column, net=reading.sensor.reduce is Reduce.NETFORCE):
                width -= heading.width + padding
            if width < 0 and fitting:
                break
            fitting.append(column)
        return fitting

    def _read(self, model: MjModel) -> None:
        if model is not self._model:
            self._model = model
            bodies, geoms = body_names(model), geom_names(model)
            self._bodies = {geom: bodies[body] for geom, body in zip(geoms, model.geom_bodyid.tolist(), strict=True)}
            for column, names in ((ContactColumn.GEOMS, geoms), (ContactColumn.BODIES, bodies)):
                self._names[column] = max(names, key=len, default="")[:_LONGEST]

    def _headings(self, column: ContactColumn, net: bool) -> list[ui.Heading]:
        help_text = _HELP[column]
        match column:
            case ContactColumn.SLOT:
                return [ui.Heading("slot", "00 apart" if self._apart.any() else "slot", help_text, left=True)]
            case ContactColumn.FORCES:
                axes = ("F x", "F y", "F z") if net else ("normal", "tangent0", "tangent1")
                what = "Net force, world axes [N]" if net else "Force of object 1 on object 2, in the contact frame [N]"
                return [ui.Heading(f"{axis}\n[N]", _DIGITS, what) for axis in axes]
            case ContactColumn.USE:
                return [ui.Heading("friction\nuse", "0.00", help_text)]
            case ContactColumn.DISTANCE:
                return [ui.Heading("distance\n[mm]", _DIGITS, help_text)]
            case ContactColumn.GEOMS | ContactColumn.BODIES:
                kind, name = ("geom", "body")[column is ContactColumn.BODIES], self._names[column]
                return [
                    ui.Heading(f"object {i}\n{kind}", name, f"The {kind} {role}", left=True)
                    for i, role in ((1, "that the normal leaves"), (2, "that the force acts on"))
                ]
            case ContactColumn.POSITION:
                return [ui.Heading(f"{axis}\n[m]", _DIGITS, help_text) for axis in "xyz"]
            case ContactColumn.NORMAL:
                return [ui.Heading(f"normal\n{axis}", _DIGITS, help_text) for axis in "xyz"]

    def _show_table(self, session: Session, reading: SensorReading, tints: Sequence[ImVec4], height: float) -> None:
        net = reading.sensor.reduce is Reduce.NETFORCE
        colors = {} if net else {f"{axis}\n[N]": tints[i] for i, axis in enumerate(("normal", "tangent0", "tangent1"))}
        slots, size = np.flatnonzero(reading.batch.filled), ImVec2(0, height)
        with ui.number_font():
            columns = self.columns(
                session, reading, imgui.get_content_region_avail().x - imgui.get_style().scrollbar_size
            )
            headings = [heading for column in columns for heading in self._headings(column, net)]
            wants_cones = ContactColumn.USE in columns
            cones = session.cones(reading.batch) if wants_cones else None
            for row in ui.table_rows("##contacts", headings, len(slots), _FLAGS, size, colors=colors, frozen=1):
                use = float(cones.use[row]) if cones is not None else float("nan")
                state = ContactState(cones.states[row]) if cones is not None else ContactState.UNKNOWN
                for column in columns:
                    self._show_cells(session, reading, int(slots[row]), column, None if net else tints, (use, state))

    def _show_menu(self, session: Session, name: str, slot: int) -> None:
        """Draw the menu of the contact whose row was drawn last."""
        if not imgui.begin_popup_context_item(f"##contact menu {slot}"):
            return
        session.picked = (name, slot)
        geoms = session.details(name).geoms
        bodies = bodies_of(session.engine.model, geoms[slot]) if slot < len(geoms) else None
        if bodies is not None and self._app is not None:
            ui.dim_text(" on ".join(geoms[slot]))
            imgui.separator()
            show_exclude_entries(self._app, bodies)
        else:
            ui.dim_text("The geoms of this contact are not known.")
        imgui.end_popup()

    def _show_cells(
        self,
        session: Session,
        reading: SensorReading,
        slot: int,
        column: ContactColumn,
        tints: Sequence[ImVec4] | None,
        friction: tuple[float, ContactState],
    ) -> None:
        """Draw the cells of one column for a contact. `tints`: colours of its force components; None for a net
        force."""
        name, batch = reading.sensor.name, reading.batch
        match column:
            case ContactColumn.SLOT:
                imgui.table_next_column()
                apart = bool(self._apart[slot])
                text = f"{slot} apart##contact" if apart else f"{slot}##contact"
                with ui.text_color(warning_color() if apart else plain_color()):
                    if imgui.selectable(text, session.picked == (name, slot), _SPANS)[0]:
                        session.picked = (name, slot)
                self._show_menu(session, name, slot)
                if imgui.is_item_hovered():
                    session.highlight = Highlight(name, slot)
                    if apart:
                        imgui.set_tooltip(APART)
            case ContactColumn.FORCES:
                assert batch.force is not None
                for axis in range(3):
                    ui.number_cell(float(batch.force[slot, axis]), tints[axis] if tints else None)
                    if tints and imgui.is_item_hovered():
                        session.highlight = Highlight(name, slot, axis)
            case ContactColumn.USE:
                imgui.table_next_column()
                _show_use(*friction)
            case ContactColumn.DISTANCE:
                ui.number_cell(float("nan") if batch.dist is None else 1000 * float(batch.dist[slot]))
            case ContactColumn.GEOMS | ContactColumn.BODIES:
                for geom in session.details(name).geoms[slot]:
                    imgui.table_next_column()
                    text = geom if column is ContactColumn.GEOMS else self._bodies.get(geom, geom)
                    ui.fitted_text(text or "-", imgui.get_content_region_avail().x)
            case ContactColumn.POSITION | ContactColumn.NORMAL:
                vector = batch.pos if column is ContactColumn.POSITION else batch.normal
                assert vector is not None
                for axis in range(3):
                    ui.number_cell(float(vector[slot, axis]))


_USUAL = tuple(column for column in ContactColumn if column is not ContactColumn.BODIES)
"""Columns shown by default, as far as they fit."""


def _chosen(settings: ViewState) -> list[ContactColumn] | None:
    """Return the columns that the user chose; None to show as many as fit."""
    words = settings.contact_columns.split(",")
    chosen = [column for column in ContactColumn if column in words or column is ContactColumn.SLOT]
    return chosen if settings.contact_columns else None


def _show_use(use: float, state: ContactState) -> None:
    known, moves = use == use, state in (ContactState.SLIDING, ContactState.CREEPING)
    ui.text_right(f"{use:.2f}" if known else "-", warning_color() if moves else None if known else dim_color())
    if imgui.is_item_hovered():
        imgui.set_tooltip(state.name.lower() if known or moves else "no friction")
