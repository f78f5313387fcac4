"""Sensor editor window: contact sensors made and changed while the scene runs, copied, and saved into its file."""

from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from typing import Any

from imgui_bundle import icons_fontawesome_6 as icons
from imgui_bundle import imgui

from ..engines.errors import SceneError
from ..engines.files.amending import SensorChange, read_declarations
from ..engines.files.amendments import Amendments
from ..engines.files.editing import contact_element
from ..engines.mujoco.engine import MujocoEngine
from ..engines.mujoco.names import sensor_names
from ..engines.mujoco.proposals import Proposals
from ..sensors.contact_declaration import NUM_MAX, ContactDeclaration, unique_name
from ..session import Session
from ..settings import Theme
from .sensor_form import choose_fields, show_element, show_problem
from .sensor_rights import why_not_live, why_not_saved
from .shell import Shell
from .target_chooser import BodyChooser, TargetChooser
from .theme import dim_color, warning_color
from .touching_pairs import show_pairs, watched_sides
from .viewport import Viewport
from .widgets import choice, heading, paragraph, tooltip

_REDUCE_HELP = (
    "Which contacts are reported if there are more than num\n"
    "none: the first ones\nmindist: the deepest\nmaxforce: the strongest\nnetforce: all of them as one, in world axes"
)


@dataclass(frozen=True)
class _Awaited:
    """A sensor that was asked for and is not there yet."""

    name: str
    declaration: ContactDeclaration
    model: Any
    """That of the scene which was asked."""


class SensorEditor:
    """The window's content, and the sensor that is being made or changed in it."""

    def __init__(self) -> None:
        self.draft = ContactDeclaration("")
        """What the form says."""
        self.editing: str | None = None
        """Name of the sensor that is being changed; None for a new one."""
        self.message = ""
        """What was wrong, or done, last."""
        self._failed = False
        self._named = False
        """A person chose the name; until then it follows the targets."""
        self._original: ContactDeclaration | None = None
        """How the sensor that is being changed is declared now."""
        self._awaited: _Awaited | None = None
        self._chooser = TargetChooser()
        self._bodies = BodyChooser()
        self._model: Any = None
        self._last_shown = 0
        """Frame in which the window was last seen."""

    @property
    def picking(self) -> bool:
        """The next click on the scene is for this window."""
        return self._chooser.picking is not None

    def begin(self, session: Session, name: str | None = None) -> None:
        """Start with a new sensor, or with one of the scene's."""
        self._read(session)
        self._say("")
        self._chooser.picking = None
        self._awaited = None
        original = self._declared.get(name) if name is not None else None
        if name is not None and original is None:
            self._say(f"{name} matches something that has no name: MJCF cannot say it.", failed=True)
        self.editing = name if original is not None else None
        self._original = original
        self._named = original is not None
        self.draft = original or ContactDeclaration("")

    def point(self, session: Session, viewport: Viewport, scene_pass: Any) -> None:
        """Take what is picked in the scene; call it once a frame."""
        side = self._chooser.picking
        if side is None:
            return
        if imgui.is_key_pressed(imgui.Key.escape) or imgui.get_frame_count() > self._last_shown + 1:
            self._chooser.picking = None
            return
        self._read(session)
        kind = self.draft.first.kind if side == 1 else self.draft.second.kind
        target = self._chooser.point(session, viewport, scene_pass, kind, self._proposals)
        if target is not None:
            self.draft = replace(self.draft, first=target) if side == 1 else replace(self.draft, second=target)

    def show(self, shell: Shell) -> None:
        """The window's content."""
        session, amendments = shell.session, shell.amendments
        self._last_shown = imgui.get_frame_count()
        self._read(session)
        self._follow(session)
        obstacle = why_not_live(session)
        self._show_title(amendments)
        if obstacle is not None:
            paragraph(obstacle)
        self._show_form(session)
        problem = self._problem()
        if problem is None:
            show_element(self.draft, self._proposals.can_touch(self.draft))
        else:
            show_problem(problem, session.settings.theme)
        self._show_actions(shell, problem, obstacle)
        self._show_message(session.settings.theme)
        self._show_unsaved(shell)
        self._show_touching(shell, obstacle)
        self._show_more(shell, obstacle)

    def make(self, shell: Shell, declarations: Sequence[ContactDeclaration]) -> None:
        """Let the running scene have more sensors; where it cannot, put the first of them into the form."""
        if why_not_live(shell.session) is not None:
            self.begin(shell.session)
            self.draft, self._named = declarations[0], True
            return
        shell.amendments.make([SensorChange(declaration) for declaration in declarations])
        self._await(declarations[0].name, declarations[0])

    def watch_all(self, shell: Shell) -> None:
        """A sensor of all contacts: one of the scene's own where that can be, else one that the viewer computes."""
        session = shell.session
        if why_not_live(session) is not None:
            session.watch_all()
            return
        self._read(session)
        self.make(shell, [self._proposals.for_everything(session.engine.data, self._taken(shell.amendments))])

    def _read(self, session: Session) -> None:
        model = session.engine.model
        if model is not self._model:
            self._model = model
            self._proposals = Proposals(model)
            self._declared = read_declarations(model)
            self._watched = watched_sides(self._declared)
            self._names = set(sensor_names(model))

    def _follow(self, session: Session) -> None:
        """Show sensors once they are there; keep up with what undo and the file change."""
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
                self._say(reason, failed=True)
        if self.editing is None:
            return
        declared = self._declared.get(self.editing)
        if declared is None and self._awaited is None:
            self.editing = self._original = None
        elif declared is not None and declared != self._original:
            if self.draft == self._original:
                self.draft = declared
            self._original = declared

    def _show_title(self, amendments: Amendments) -> None:
        name = self.editing
        imgui.text_unformatted("New sensor" if name is None else f"Sensor {name}")
        if name is None:
            return
        imgui.same_line()
        if imgui.small_button(f"{icons.ICON_FA_PLUS} New###new"):
            self.editing = self._original = None
            self.draft, self._named = replace(self.draft, name=""), False
            self._say("")
        tooltip("Make another one like this")
        change = amendments.unsaved.get(name)
        if change is None:
            return
        imgui.same_line()
        if imgui.small_button("Remove" if change.before is None else "Revert"):
            amendments.revert(name)
            if change.before is not None:
                self._await(change.replaces, change.before)
        tooltip("Take this sensor away: the file does not have it" if change.before is None else "As the file has it")

    def _show_form(self, session: Session) -> None:
        width = imgui.get_content_region_avail().x - 4.4 * imgui.get_font_size()
        if not self._named:
            self.draft = replace(self.draft, name=self._suggested_name())
        imgui.set_next_item_width(width)
        changed, name = imgui.input_text("name", self.draft.name)
        tooltip("What the sensor is called in the scene")
        if changed:
            self._named = bool(name)
            self.draft = replace(self.draft, name=name)
        model = session.engine.model
        first = self._chooser.show(1, self.draft.first, model, width)
        second = self._chooser.show(2, self.draft.second, model, width)
        reduce = choice("reduce", self.draft.reduce, _REDUCE_HELP, width)
        imgui.set_next_item_width(width)
        num = imgui.input_int("num", self.draft.num, 1, 10)[1]
        tooltip(f"Contacts that the array has slots for, 1 to {NUM_MAX:,}")
        num = min(max(num, 1), NUM_MAX)
        fields = choose_fields(self.draft.fields)
        self.draft = replace(self.draft, first=first, second=second, fields=fields, num=num, reduce=reduce)

    def _show_actions(self, shell: Shell, problem: str | None, obstacle: str | None) -> None:
        session, amendments = shell.session, shell.amendments
        unchanged = self.editing is not None and self.draft == self._original
        imgui.begin_disabled(problem is not None)
        imgui.begin_disabled(obstacle is not None or unchanged)
        if imgui.button("Add sensor###apply" if self.editing is None else "Apply###apply"):
            self._apply(amendments)
        tooltip(obstacle or "The running scene has it at once; its state is kept, its file stays as it is")
        imgui.end_disabled()
        imgui.same_line()
        if imgui.button("Copy MJCF"):
            imgui.set_clipboard_text(contact_element(self.draft.attributes))
            self._say("Copied. It belongs into <sensor>.")
        tooltip("Put the element into the clipboard")
        imgui.same_line()
        kept = why_not_saved(session)
        saved = unchanged and self.editing not in amendments.unsaved
        imgui.begin_disabled(kept is not None or saved)
        if imgui.button("Save to file"):
            self._save_draft(shell, unchanged, obstacle is None)
        tooltip(kept or "Write the element into the scene file; nothing else in it changes")
        imgui.end_disabled()
        imgui.end_disabled()

    def _show_unsaved(self, shell: Shell) -> None:
        amendments = shell.amendments
        if not amendments.changes and amendments.last is None:
            return
        imgui.spacing()
        count = len(amendments.changes)
        kept = why_not_saved(shell.session)
        imgui.begin_disabled(kept is not None or not count)
        if imgui.button(f"Save all {count}###save all" if count else "Save all###save all"):
            self._attempt(lambda: self._save(shell, amendments.changes))
        tooltip(kept or "Write every sensor that was made or changed here into the scene file")
        imgui.end_disabled()
        imgui.same_line()
        imgui.begin_disabled(amendments.last is None)
        if imgui.button(f"{icons.ICON_FA_ROTATE_LEFT} Undo###undo"):
            shell.undo()
        tooltip(f"Undo: {amendments.last} (Ctrl+Z)" if amendments.last else "Nothing to undo")
        imgui.end_disabled()

    def _show_touching(self, shell: Shell, obstacle: str | None) -> None:
        session = shell.session
        heading("Touching now")
        if not isinstance(session.batch, MujocoEngine):
            paragraph("MotrixSim does not tell which geoms touch.")
            return
        pairs = self._proposals.touching(session.engine.data)
        clicked = show_pairs(pairs, self._proposals, self._watched)
        if clicked is not None and clicked.sensor is not None:
            session.selected = clicked.sensor
            self.begin(session, clicked.sensor)
        elif clicked is not None:
            proposed = self._proposals.for_pair(clicked.pair, self._taken(shell.amendments))
            if proposed is not None:
                self.make(shell, [proposed])

    def _show_more(self, shell: Shell, obstacle: str | None) -> None:
        session = shell.session
        imgui.spacing()
        imgui.begin_disabled(obstacle is not None and not session.engine.can_watch_all)
        if imgui.button("Watch all contacts"):
            self.watch_all(shell)
        tooltip("Make a sensor that matches every contact")
        imgui.end_disabled()
        heading("One sensor per geom")
        body = self._bodies.show(session.view.selected_body, self._proposals)
        if not body:
            paragraph("No body has a name and a geom that can collide.")
            return
        declarations = self._proposals.for_body(body, self._taken(shell.amendments))
        unnamed = self._proposals.unnamed_of_body(body)
        imgui.same_line(0, imgui.get_style().item_inner_spacing.x)
        imgui.begin_disabled(obstacle is not None or not declarations)
        if imgui.button(f"Make {len(declarations)}###per geom"):
            self.make(shell, declarations)
        names = ", ".join(declaration.name for declaration in declarations[:8])
        left_out = f"\n{unnamed} without a name left out" if unnamed else ""
        tooltip(obstacle or f"One for everything that touches: {names or 'none has a name'}{left_out}")
        imgui.end_disabled()

    def _show_message(self, theme: Theme) -> None:
        if self.message:
            imgui.push_style_color(imgui.Col_.text, warning_color(theme) if self._failed else dim_color())
            imgui.text_wrapped(self.message.replace("%", "%%"))
            imgui.pop_style_color()

    def _suggested_name(self) -> str:
        words = [target.name for target in (self.draft.second, self.draft.first) if target.name]
        return unique_name("_".join(words) or "contacts", self._names)

    def _taken(self, amendments: Amendments) -> set[str]:
        return self._names | set(amendments.unsaved)

    def _problem(self) -> str | None:
        """Why the form cannot be applied."""
        name, unnamed = self.draft.name, self._original is not None and not self._original.name
        if not name and not unnamed:
            return "give it a name"
        if name and name != self.editing and name in self._names:
            return f"the scene has a sensor named {name}"
        return self.draft.problem

    def _change(self) -> SensorChange:
        return SensorChange(self.draft, self._original, self.editing or "")

    def _apply(self, amendments: Amendments) -> None:
        change = self._change()
        amendments.make([change])
        self._await(change.name, change.after)

    def _await(self, name: str, declaration: ContactDeclaration) -> None:
        self._awaited = _Awaited(name, declaration, self._model)
        self._say("")

    def _save_draft(self, shell: Shell, unchanged: bool, live: bool) -> None:
        """Write the form into the file. A running scene that can have it gets it first: undo then takes two steps."""
        change = self._change()
        if live and not unchanged:
            self._apply(shell.amendments)
        if live:
            change = shell.amendments.unsaved.get(change.name, change)
        self._await(change.name, change.after)
        self._attempt(lambda: self._save(shell, [change]))

    def _save(self, shell: Shell, changes: Sequence[SensorChange]) -> None:
        engine = shell.session.engine
        assert engine.path is not None
        shell.amendments.save(engine.path, engine.model, list(changes))
        self._say(f"Saved into {engine.path.name}.")

    def _attempt(self, action: Callable[[], None]) -> None:
        try:
            action()
        except SceneError as error:
            self._say(str(error), failed=True)

    def _say(self, message: str, failed: bool = False) -> None:
        self.message, self._failed = message, failed
