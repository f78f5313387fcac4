"""Sensor editor window: make, change, copy and save contact sensors while the scene runs."""

from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import Any

from imgui_bundle import icons_fontawesome_6 as icons
from imgui_bundle import imgui

from ...app.application import Application
from ...mjmodel.names import sensor_names
from ...mjmodel.sensor_suggestions import SensorSuggestions
from ...mjmodel.types import MjModel
from ...render.view import Pick
from ...scene_files.sensor_edits import SensorEdits
from ...scene_files.spec_changes import SceneChange, SensorChange, read_declarations
from ...scene_files.xml_edits import contact_element
from ...sensors.contact_declaration import ANYTHING, NUM_MAX, ContactDeclaration, TargetKind, unique_name
from ...session.session import Session
from ...session.simulation import Change
from ...settings import Reduce
from .. import widgets as ui
from ..shell import SENSOR_EDITOR, Dock, Panel, Shell
from ..theme import warning_color
from ..viewport import Viewport
from .sensor_form import (
    EACH_BODY,
    EACH_BODY_HELP,
    BodyChooser,
    TargetChooser,
    choose_fields,
    sensors_by_sides,
    show_bodies,
    show_element,
    show_pairs,
)

_REDUCE_HELP = (
    "Contacts that are reported if there are more than slots (num)\nnone: the first ones\nmindist: the deepest\n"
    "maxforce: the strongest\nnetforce: one net force of all, in world axes"
)


@dataclass(frozen=True)
class _Awaited:
    """Sensor that was requested and that the scene does not have yet."""

    name: str
    declaration: ContactDeclaration
    model: MjModel | None
    """Model of the scene at the time of the request."""


class SensorEditor:
    """Content of the Sensor editor window, with the sensor that is edited."""

    def __init__(self) -> None:
        self.draft = ContactDeclaration("")
        """Declaration in the form."""
        self.editing: str | None = None
        """Name of the edited sensor; None for a new one."""
        self.message = ui.Message()
        self._named = False
        """True if the user chose the name; else it follows from the targets."""
        self._original: ContactDeclaration | None = None
        """Present declaration of the edited sensor; None for a new one."""
        self._awaited: _Awaited | None = None
        self._by_body = False
        """True to list touching bodies, False for pairs of geoms."""
        self._chooser = TargetChooser()
        self._bodies = BodyChooser()
        self._model: MjModel | None = None
        self._last_shown = 0
        """Frame in which the window was last drawn."""

    @property
    def picking(self) -> bool:
        """True if the next click on the scene chooses a target of the sensor."""
        return self._chooser.picking is not None

    def begin(self, session: Session, name: str | None = None) -> None:
        """Start with a sensor of the scene, or with a new one."""
        self._read(session)
        self.message.set("")
        self._chooser.picking = None
        self._awaited = None
        original = self._declared.get(name) if name is not None else None
        if name is not None and original is None:
            self.message.set(
                f"{name} matches an object without a name, which MJCF cannot declare: name the object in the file.",
                failed=True,
            )
        self.editing = name if original is not None else None
        self._original = original
        self._named = original is not None
        self.draft = original or ContactDeclaration("")

    def begin_at(self, session: Session, pick: Pick) -> None:
        """Start with a new sensor for the geom or body that was picked in the scene."""
        self.begin(session)
        suggestions = self._suggestions
        target = suggestions.target_of_geom(pick.geom) if pick.geom >= 0 else ANYTHING
        if not target.name:
            target = suggestions.target_of_body(pick.body, TargetKind.BODY)
        self.draft = replace(self.draft, second=target)

    def point(self, session: Session, viewport: Viewport, scene_pass: Any) -> None:
        """Choose a target by a click on the scene. Call it once a frame."""
        side = self._chooser.picking
        if side is None:
            return
        if imgui.is_key_pressed(imgui.Key.escape) or imgui.get_frame_count() > self._last_shown + 1:
            self._chooser.picking = None
            return
        self._read(session)
        kind = self.draft.first.kind if side == 1 else self.draft.second.kind
        target = self._chooser.point(session, viewport, scene_pass, kind, self._suggestions)
        if target is not None:
            self.draft = replace(self.draft, first=target) if side == 1 else replace(self.draft, second=target)

    def show(self, shell: Shell) -> None:
        """Draw the content."""
        app = shell.app
        session, sensor_edits = app.session, app.sensor_edits
        self._last_shown = imgui.get_frame_count()
        self._read(session)
        self._update(session)
        obstacle = session.why_not(Change.SENSORS)
        self._show_title(sensor_edits)
        if obstacle is not None:
            ui.paragraph(obstacle)
        self._show_form(session)
        problem = self._problem()
        if problem is None:
            show_element(self.draft, self._suggestions.can_touch(self.draft))
        else:
            imgui.spacing()
            ui.paragraph(f"{problem[0].upper()}{problem[1:]}.", warning_color())
        self._show_actions(app, problem, obstacle)
        self.message.show()
        self._show_unsaved(app)
        self._show_touching(app)
        self._show_more(app, obstacle)

    def make(self, app: Application, declarations: Sequence[ContactDeclaration]) -> None:
        """Add sensors to the running scene; if it accepts none, put the first one into the form."""
        if app.session.why_not(Change.SENSORS) is not None:
            self.begin(app.session)
            self.draft, self._named = declarations[0], True
            return
        app.sensor_edits.make([SensorChange(declaration) for declaration in declarations])
        self._await(declarations[0].name, declarations[0])

    def make_for_bodies(self, app: Application) -> None:
        """Make a sensor for each body that touches something now."""
        self._read(app.session)
        taken = self._used_names(app.sensor_edits)
        declarations = self._suggestions.for_touching_bodies(app.session.engine.contact_data(), taken)
        if declarations:
            self.make(app, declarations)
        else:
            app.notices.add("no named body touches anything now: no sensor was made")

    def show_all_contacts(self, app: Application) -> None:
        """Make a sensor of all contacts, and select it once the scene has it."""
        declaration = app.show_all_contacts()
        if declaration is not None:
            self._read(app.session)
            self._await(declaration.name, declaration)

    def _read(self, session: Session) -> None:
        model = session.engine.model
        if model is not self._model:
            self._model = model
            self._suggestions = SensorSuggestions(model)
            self._declared = read_declarations(model)
            self._by_sides = sensors_by_sides(self._declared)
            self._names = set(sensor_names(model))

    def _update(self, session: Session) -> None:
        """Select a new sensor once the scene has it; update the form after undo and after changes of the file."""
        awaited = self._awaited
        if awaited is not None and self._declared.get(awaited.name) == awaited.declaration:
            if awaited.name in session.visible:
                session.selected, session.visible[awaited.name] = awaited.name, True
            self._awaited, self.editing, self._named = None, awaited.name, True
            self.draft = self._original = awaited.declaration
        elif awaited is not None and awaited.model is not self._model:
            reason = next((note for note in session.engine.notes if repr(awaited.name) in note), None)
            if reason is not None:
                self._awaited = None
                self.message.set(reason, failed=True)
        if self.editing is None:
            return
        declared = self._declared.get(self.editing)
        if declared is None and self._awaited is None:
            self.editing = self._original = None
        elif declared is not None and declared != self._original:
            if self.draft == self._original:
                self.draft = declared
            self._original = declared

    def _show_title(self, sensor_edits: SensorEdits) -> None:
        name = self.editing
        if name is None:
            imgui.text_unformatted("New sensor")
            return
        style = imgui.get_style()
        buttons = imgui.calc_text_size(f"{icons.ICON_FA_PLUS} NewRemove").x + 4 * style.frame_padding.x
        ui.fitted_text(f"Sensor {name}", imgui.get_content_region_avail().x - buttons - 2 * style.item_spacing.x)
        imgui.same_line()
        if ui.small_button(f"{icons.ICON_FA_PLUS} New###new", "Make a new sensor like this one"):
            self.editing = self._original = None
            self.draft, self._named = replace(self.draft, name=""), False
            self.message.set("")
        change = sensor_edits.unsaved.get(name)
        if change is None:
            return
        imgui.same_line()
        if change.before is None:
            pressed = ui.small_button("Remove", "Remove this sensor, which is not in the file")
        else:
            pressed = ui.small_button("Revert", "Undo your changes: back to the sensor as the file declares it")
        if pressed:
            sensor_edits.revert(name)
            if change.before is not None:
                self._await(change.replaces, change.before)

    def _show_form(self, session: Session) -> None:
        width = imgui.get_content_region_avail().x - 4.4 * imgui.get_font_size()
        if not self._named:
            self.draft = replace(self.draft, name=self._suggested_name())
        imgui.set_next_item_width(width)
        changed, name = imgui.input_text("name", self.draft.name)
        ui.tooltip("Name of the sensor in the scene")
        if changed:
            self._named = bool(name)
            self.draft = replace(self.draft, name=name)
        model = session.engine.model
        first = self._chooser.show(1, self.draft.first, model, width)
        second = self._chooser.show(2, self.draft.second, model, width)
        reduce = ui.choose("reduce", self.draft.reduce, Reduce, width, _REDUCE_HELP)
        imgui.set_next_item_width(width)
        num = imgui.input_int("slots###num", self.draft.num, 1, 10)[1]
        ui.tooltip(f"num: number of contacts that fit into the array, 1 to {NUM_MAX:,}")
        num = min(max(num, 1), NUM_MAX)
        fields = choose_fields(self.draft.fields)
        self.draft = replace(self.draft, first=first, second=second, fields=fields, num=num, reduce=reduce)

    def _show_actions(self, app: Application, problem: str | None, obstacle: str | None) -> None:
        session, sensor_edits = app.session, app.sensor_edits
        unchanged = self.editing is not None and self.draft == self._original
        imgui.begin_disabled(problem is not None)
        with ui.disabled(obstacle is not None or unchanged):
            help_text = obstacle or (
                "Add it to the running scene; the file is not changed. The state is kept, and as much of the history\n"
                "as can be re-simulated within seconds"
            )
            if ui.button("Add sensor###apply" if self.editing is None else "Apply###apply", help_text):
                self._apply(sensor_edits)
        imgui.same_line()
        if ui.button("Copy MJCF", "Copy the element to the clipboard"):
            imgui.set_clipboard_text(contact_element(self.draft.attributes))
            self.message.set("Copied. Paste it inside <sensor>.")
        imgui.same_line()
        kept = session.why_not(Change.FILE)
        with ui.disabled(kept is not None or (unchanged and self.editing not in sensor_edits.unsaved)):
            if ui.button("Save to file", kept or "Write the element into the scene file; nothing else in it changes"):
                self._save_draft(app, unchanged, obstacle is None)
        imgui.end_disabled()

    def _show_unsaved(self, app: Application) -> None:
        sensor_edits = app.sensor_edits
        if not sensor_edits.changes and app.undo_stack.last is None:
            return
        imgui.spacing()
        count = len(sensor_edits.changes)
        kept = app.session.why_not(Change.FILE)
        with ui.disabled(kept is not None or not count):
            help_text = kept or "Write all new and changed sensors, and all excluded pairs, into the scene file"
            if ui.button(f"Save all {count}###save all" if count else "Save all###save all", help_text):
                self.message.attempt(lambda: self._save(app, sensor_edits.changes))
        imgui.same_line()
        last = app.undo_stack.last
        with ui.disabled(last is None):
            help_text = f"Undo: {last} (Ctrl+Z)" if last else "Nothing to undo"
            if ui.button(f"{icons.ICON_FA_ROTATE_LEFT} Undo###undo", help_text):
                app.undo()

    def _show_touching(self, app: Application) -> None:
        session = app.session
        ui.heading("Touching now")
        if not session.engine.has_contact_list:
            ui.paragraph(f"{session.engine.name.split()[0]} does not report which geoms touch.")
            return
        if imgui.radio_button("geoms", not self._by_body):
            self._by_body = False
        ui.tooltip("Pairs of geoms that touch")
        imgui.same_line()
        if imgui.radio_button("bodies", self._by_body):
            self._by_body = True
        ui.tooltip("Moving bodies that touch something")
        ui.flow(imgui.calc_text_size(EACH_BODY).x + 2 * imgui.get_style().frame_padding.x)
        if ui.button(f"{EACH_BODY}###each body", EACH_BODY_HELP):
            self.make_for_bodies(app)
        if self._by_body:
            body = show_bodies(self._suggestions.touching_bodies(session.engine.contact_data()))
            if body is not None:
                self.make(app, [self._suggestions.for_whole_body(body, self._used_names(app.sensor_edits))])
            return
        pairs = self._suggestions.touching(session.engine.contact_data())
        clicked = show_pairs(pairs, self._suggestions, self._by_sides)
        if clicked is not None and clicked.sensor is not None:
            session.selected = clicked.sensor
            self.begin(session, clicked.sensor)
        elif clicked is not None:
            proposed = self._suggestions.for_pair(clicked.pair, self._used_names(app.sensor_edits))
            if proposed is not None:
                self.make(app, [proposed])

    def _show_more(self, app: Application, obstacle: str | None) -> None:
        session = app.session
        imgui.spacing()
        with ui.disabled(obstacle is not None and not session.engine.can_watch_all):
            if ui.button("Watch all contacts", "Make a sensor that matches every contact"):
                self.show_all_contacts(app)
        ui.heading("One sensor per geom")
        body = self._bodies.show(session.view.selected_body, self._suggestions)
        if not body:
            ui.paragraph("No body has a name and a geom that can collide.")
            return
        declarations = self._suggestions.for_body(body, self._used_names(app.sensor_edits))
        unnamed = self._suggestions.unnamed_of_body(body)
        imgui.same_line(0, imgui.get_style().item_inner_spacing.x)
        names = ", ".join(declaration.name for declaration in declarations[:8])
        left_out = f"\nLeft out: {unnamed} unnamed" if unnamed else ""
        help_text = obstacle or f"One for everything that touches: {names or 'none has a name'}{left_out}"
        with ui.disabled(obstacle is not None or not declarations):
            if ui.button(f"Make {len(declarations)}###per geom", help_text):
                self.make(app, declarations)

    def _suggested_name(self) -> str:
        words = [target.name for target in (self.draft.second, self.draft.first) if target.name]
        return unique_name("_".join(words) or "contacts", self._names)

    def _used_names(self, sensor_edits: SensorEdits) -> set[str]:
        return self._names | set(sensor_edits.unsaved)

    def _problem(self) -> str | None:
        """Return the reason why the form cannot be applied; None if it can."""
        name, unnamed = self.draft.name, self._original is not None and not self._original.name
        if not name and not unnamed:
            return "give it a name"
        if name and name != self.editing and name in self._names:
            return f"the scene has a sensor named {name}"
        return self.draft.problem

    def _change(self) -> SensorChange:
        return SensorChange(self.draft, self._original, self.editing or "")

    def _apply(self, sensor_edits: SensorEdits) -> None:
        change = self._change()
        sensor_edits.make([change])
        self._await(change.name, change.after)

    def _await(self, name: str, declaration: ContactDeclaration) -> None:
        self._awaited = _Awaited(name, declaration, self._model)
        self.message.set("")

    def _save_draft(self, app: Application, unchanged: bool, live: bool) -> None:
        """Write the form into the file. A scene that accepts live changes is changed first, so undo has two steps."""
        change = self._change()
        if live and not unchanged:
            self._apply(app.sensor_edits)
        if live:
            change = app.sensor_edits.unsaved.get(change.name, change)
        self._await(change.name, change.after)
        self.message.attempt(lambda: self._save(app, [change]))

    def _save(self, app: Application, changes: Sequence[SceneChange]) -> None:
        engine = app.session.engine
        assert engine.path is not None
        app.sensor_edits.save(engine.path, engine.model, list(changes))
        self.message.set(f"Saved into {engine.path.name}.")


PANEL = Panel(SENSOR_EDITOR, Dock.RIGHT, SensorEditor, least_width=300.0)
