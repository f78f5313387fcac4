"""Tables that explain a contact or a body: origins of contact parameters, and forces by kind."""

from imgui_bundle import ImVec4, imgui

from ...app.application import Application
from ...mjmodel.force_kinds import ForceTable
from ...mjmodel.mixing import Mixing, components_text
from ...session.simulation import Change
from .. import widgets as ui
from ..theme import dim_color, plain_color, warning_color

_DIGITS = "-000.000"
_UNKNOWN = "Forces are not known here: the bodies sleep, or the step before was not reproduced."
_MIXING_HEADINGS = (
    ui.Heading("parameter", None, "Parameter; hover for the values of both geoms", left=True),
    ui.Heading("from", None, "Origin of the value: geom or <pair>, and MuJoCo's rule", left=True),
    ui.Heading("value", "", "Value of the contact", left=True),
)


def show_mixing(mixing: Mixing) -> None:
    """Draw each parameter of a contact with its origin, after a sentence on the geom whose friction is used."""
    ui.paragraph(mixing.consequence, warning_color() if mixing.frictionless else plain_color())
    origins = list(mixing.distinct)
    with ui.number_font():
        for row in ui.table_rows("##mixing", _MIXING_HEADINGS, len(origins), imgui.TableFlags_.sizing_fixed_fit):
            origin = origins[row]
            imgui.table_next_column()
            ui.dim_text(origin.name)
            sides = zip(mixing.names, origin.given, strict=True)
            ui.tooltip("\n".join(f"{name} has {components_text(given)}" for name, given in sides))
            with ui.text_color(plain_color() if mixing.is_used(origin) else dim_color()):
                imgui.table_next_column()
                imgui.text_unformatted(mixing.origin_text(origin))
                imgui.table_next_column()
                ui.fitted_text(origin.text, imgui.get_content_region_avail().x)


def show_exclude_entries(app: Application, bodies: tuple[str, str]) -> None:
    """Draw the menu entries that exclude contacts between two bodies."""
    reason = app.why_not_exclude(bodies)
    kept = reason or app.session.why_not(Change.FILE)
    whom = " and ".join(map(ui.literal, bodies))
    if imgui.menu_item_simple("Exclude this pair", enabled=reason is None):
        app.exclude(bodies)
    ui.tooltip(reason or f"{whom} do not collide from now on (<exclude>); Ctrl+Z undoes it")
    if imgui.menu_item_simple("Exclude it in the file too", enabled=kept is None):
        app.exclude(bodies, save=True)
    ui.tooltip(kept or "Write the <exclude> into the scene file as well; nothing else in it changes")


def show_forces(table: ForceTable | None) -> None:
    """Draw forces by kind, and their sum, which is mass times acceleration."""
    if table is None:
        ui.paragraph(_UNKNOWN)
        return
    longest = max((row.label for row in table.rows), key=len, default="")[:_LONGEST]
    headings = (
        ui.Heading("", longest or "m·a", "", left=True),
        *(ui.Heading(f"{axis} [N]", _DIGITS, "World axes") for axis in ("x", "y", "z")),
    )
    rows = [(each.label, each.force.tolist(), each.about, dim_color()) for each in table.rows]
    rows.append(("m·a", table.inertia.tolist(), "Mass times acceleration: the sum of all rows above", plain_color()))
    with ui.number_font():
        for row in ui.table_rows("##forces", headings, len(rows), imgui.TableFlags_.sizing_fixed_fit):
            _force_row(*rows[row])


_LONGEST = 24
"""Largest number of letters of a label that are shown."""


def _force_row(label: str, force: list[float], about: str, color: ImVec4) -> None:
    imgui.table_next_column()
    with ui.text_color(color):
        ui.fitted_text(label, imgui.get_content_region_avail().x)
    if about:
        ui.tooltip(about)
    for value in force:
        ui.number_cell(value)
