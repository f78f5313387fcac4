"""Form of the Compare window that searches for the smallest changes of a model that avoid given conditions."""

from imgui_bundle import icons_fontawesome_6 as icons
from imgui_bundle import imgui

from ...app.application import Application
from ...compare.cures import Cure, Cures
from ...compare.unwanted import Kind, read_unwanted
from ...mjmodel.names import body_names, geom_names
from .. import widgets as ui
from ..theme import plain_color, warning_color
from .sensor_form import NameList

_LIMITS = {Kind.SLIP: "1mm", Kind.CREEP: "10um/s", Kind.LOST: "50ms", Kind.FORCE: "20N", Kind.DROP: "0.1m"}
"""Proposed limit of each kind of condition."""
_HELP = {
    Kind.SLIP: "slip: surfaces slide farther than this",
    Kind.CREEP: "creep: surfaces slide faster than this, as a mean over half a second",
    Kind.LOST: "lost: the contact opens for longer than this",
    Kind.FORCE: "force: the net contact force exceeds this",
    Kind.DROP: "drop: a body or geom falls below this height",
    Kind.UNSTABLE: "unstable: the simulation diverges",
}
_SECONDS = 5.0


class CureForm:
    """Conditions to avoid, the search, and its results."""

    def __init__(self) -> None:
        self.is_open = False
        self.avoid: list[str] = []
        self.message = ui.Message()
        self._kind, self._name, self._limit = Kind.SLIP, "", _LIMITS[Kind.SLIP]
        self._seconds = _SECONDS
        self._names = NameList()

    def show(self, app: Application) -> None:
        """Draw the form and the results."""
        ui.heading("Event or value to avoid")
        search, session, em = app.cures, app.session, imgui.get_font_size()
        kind = ui.choose("##kind", self._kind, Kind, 6.5 * em, _HELP)
        if kind is not self._kind:
            self._kind, self._limit = kind, _LIMITS.get(kind, "")
        if kind is not Kind.UNSTABLE:
            imgui.same_line()
            model, sensors = session.engine.model, [each.name for each in session.engine.sensors if not each.virtual]
            known = [*(() if kind is Kind.DROP else sensors), *body_names(model)[1:], *geom_names(model)]
            if self._name not in known:
                self._name = next((name for name in (session.selected, *known) if name in known), "") or ""
            room = max(imgui.get_content_region_avail().x - 6 * em, 5 * em)
            help_text = "Sensor, body or geom to watch"
            self._name = self._names.show("##whose", self._name, lambda: known, room, help_text)
            imgui.same_line()
            imgui.set_next_item_width(max(imgui.get_content_region_avail().x, 4 * em))
            self._limit = imgui.input_text("##limit", self._limit)[1]
            ui.tooltip("Limit with its unit: 1mm, 10um/s, 50ms, 20N, 0.1m")
        if ui.button(f"{icons.ICON_FA_PLUS}###also", "Add this condition; more can follow"):
            self._add()
        imgui.same_line()
        if (
            seconds := ui.number_field("s", self._seconds, 3.5 * em, "%.3g", "Simulated time of each run [s]")
        ) is not None:
            self._seconds = min(max(seconds, 0.001), 3600.0)
        imgui.same_line()
        reason = search.why_not(session)
        if search.is_running:
            if ui.button("Cancel###cancel", "End the search and keep the results"):
                search.cancel()
        else:
            with ui.disabled(reason is not None):
                help_text = "Simulate the scene's file with changed values, in other processes"
                if ui.button("Search###search", reason or help_text) and (self.avoid or self._add()):
                    search.start(self.avoid, self._seconds, session, app.controllers)
        for place, text in enumerate(list(self.avoid)):
            if ui.small_button(f"{icons.ICON_FA_XMARK}###allow{place}", "Remove this condition"):
                self.avoid.remove(text)
            imgui.same_line()
            ui.fitted_text(text, imgui.get_content_region_avail().x)
        self.message.show()
        if search.trouble:
            ui.paragraph(search.trouble, warning_color())
        if search.is_running:
            ui.dim_text(f"{search.done} of {search.planned} runs")
        if search.cures is not None and search.cures.before is not None:
            self._show_cures(app, search.cures)

    def _add(self) -> bool:
        """Add the typed condition. If it is not valid, show why and return False."""
        sign = "<" if self._kind is Kind.DROP else ">"
        text = self._kind if self._kind is Kind.UNSTABLE else f"{self._kind}:{self._name}{sign}{self._limit}"
        if self.message.attempt(lambda: read_unwanted(str(text))) is None:
            return False
        self.avoid = list(dict.fromkeys([*self.avoid, str(text)]))
        return True

    def _show_cures(self, app: Application, cures: Cures) -> None:
        before = cures.before
        assert before is not None
        for each, value in zip(cures.unwanted, before.values, strict=False):
            ui.paragraph(
                f"Now: {each.kind} {each.text(value)}" + ("" if each.happens(value) else ", as wanted"), plain_color()
            )
        if not cures.happens:
            ui.paragraph("Nothing to cure in this time.")
        elif not (cures.singles or cures.pairs) and not app.cures.is_running:
            ui.paragraph(f"None of these changes helps: {', '.join(cures.parameters) or 'nothing'}.")
        for title, found in (("One change", cures.singles), ("Two changes", cures.pairs)):
            if found:
                ui.heading(title)
            for place, cure in enumerate(list(found)):
                imgui.push_id(f"{title}{place}")
                _show_cure(app, cures, cure)
                imgui.pop_id()


def _show_cure(app: Application, cures: Cures, cure: Cure) -> None:
    history = app.session.history
    with ui.disabled(history is None or app.beside.why_not_branch() is not None):
        if ui.small_button(
            f"{icons.ICON_FA_CODE_BRANCH}###try", "Branch here with this change; the branch can be saved into the scene"
        ):
            assert history is not None
            app.notices.attempt(lambda: app.beside.branch(cure.changes, history.first))
    imgui.same_line()
    ui.fitted_text(cure.text, imgui.get_content_region_avail().x)
    values = ", ".join(each.text(value) for each, value in zip(cures.unwanted, cure.values, strict=False))
    ui.dim_text(f"{values}; {cures.cost(cure):.2g} times the work")
    ui.tooltip(
        f"{cure.iterations / max(cure.steps, 1e-9):.3g} solver iterations a step, {cure.steps:.0f} steps a second"
    )
