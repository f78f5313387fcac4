"""Controls window: sliders that drive actuators, pose joints and tune a controller."""

from collections.abc import Callable, Sequence

from imgui_bundle import icons_fontawesome_6 as icons
from imgui_bundle import imgui, imgui_ctx

from ...app.application import Application
from ...mjmodel.actuators import Actuator
from ...session.session import Session
from ...session.simulation import Change
from .. import widgets as ui
from ..shell import CONTROLS, Dock, Panel, Shell
from ..theme import dim_color, warning_color
from .poses import T, begin_rows, by_limb, next_row, show_poses, slider


class KeyframeList:
    """Content of the Keyframes tab, with the name that the user types."""

    def __init__(self) -> None:
        self._name = ""
        self._message = ui.Message()

    def show(self, app: Application) -> None:
        session, keyframes = app.session, app.keyframes
        suggested = keyframes.free_name(session)
        imgui.set_next_item_width(-6 * imgui.get_font_size())
        self._name = imgui.input_text_with_hint("###key name", suggested, self._name)[1]
        ui.tooltip("Name of the keyframe")
        imgui.same_line()
        keep = ui.button(f"{icons.ICON_FA_PLUS} Keep###keep", "Keep the present state as a keyframe")
        if keep and self._message.attempt(lambda: keyframes.make(session, self._name or suggested)) is not None:
            self._name = ""
        with ui.disabled(session.why_not(Change.KEYFRAME) is not None):
            for name in session.engine.keys:
                self._show_row(app, name, made=False)
            for name in list(keyframes.made):
                if name not in session.engine.keys:
                    self._show_row(app, name, made=True)
        if not session.engine.keys and not keyframes.made:
            ui.dim_text("No keyframes yet")
        imgui.spacing()
        if ui.button("Copy MJCF", "Copy the present state as a <key> element (Ctrl+C)"):
            imgui.set_clipboard_text(keyframes.state(session).element())
        imgui.same_line()
        if ui.button("Copy Python", "Copy the present state as Python statements that set an mjData"):
            imgui.set_clipboard_text(keyframes.state(session).python())
        imgui.same_line()
        with ui.disabled(session.why_not(Change.KEYFRAME) is not None):
            if ui.button("Paste", "Reset to a <key> element in the clipboard"):
                self._message.attempt(lambda: keyframes.paste(session, imgui.get_clipboard_text()))
        self._message.show()

    def _show_row(self, app: Application, name: str, *, made: bool) -> None:
        with imgui_ctx.push_id(f"key {ui.literal(name)}"):
            if ui.small_button(f"{icons.ICON_FA_PLAY}###go", f"Reset to {name}"):
                self._message.attempt(lambda: app.keyframes.go_to(app.session, name))
            imgui.same_line()
            imgui.text_unformatted(name)
            if made:
                imgui.same_line()
                why_not = app.session.why_not(Change.FILE)
                with ui.disabled(why_not is not None):
                    help_text = why_not or "Add the keyframe to the scene's file (Ctrl+Z undoes it)"
                    if ui.small_button(f"{icons.ICON_FA_FLOPPY_DISK}###save", help_text):
                        self._message.attempt(lambda: app.keyframes.save(app.session, name))
                imgui.same_line()
                if ui.small_button(f"{icons.ICON_FA_TRASH}###remove", f"Remove {name} (Ctrl+Z undoes it)"):
                    app.keyframes.remove(name)


class ControlsPanel:
    """Content of the Controls window, with the filter and the selected actuators."""

    def __init__(self) -> None:
        self._filter = ""
        self._selected: set[str] = set()
        self._session: Session | None = None
        self._keyframes = KeyframeList()

    def show(self, shell: Shell) -> None:
        app, session = shell.app, shell.app.session
        if session is not self._session:
            self._session = session
            self._selected &= {each.name for each in session.drive.actuators}
        if (reason := session.why_not(Change.CONTROLS)) is not None:
            ui.paragraph(reason)
        elif not session.drive.can_write:
            ui.paragraph("This scene cannot continue from a past step: go to the newest step to drive it.")
        else:
            _show_driver(app)
        if not imgui.begin_tab_bar("##what", imgui.TabBarFlags_.draw_selected_overline):
            return
        tabs: dict[str, tuple[bool, Callable[[], None]]] = {
            "Actuators": (bool(session.drive.actuators), lambda: self._show_actuators(session)),
            "Joints": (
                bool(session.drive.joints) or session.engine.model.nmocap > 0,
                lambda: show_poses(session, lambda: self._show_filter(session.drive.joints), self._filtered),
            ),
            "Keyframes": (bool(session.drive.joints), lambda: self._keyframes.show(app)),
            "Controller": (app.controllers.file is not None, lambda: _show_constants(app)),
        }
        for title, (has_any, show) in tabs.items():
            if has_any and imgui.begin_tab_item(title)[0]:
                show()
                imgui.end_tab_item()
        imgui.end_tab_bar()
        if not session.drive.actuators and not session.drive.joints:
            ui.paragraph("Nothing moves in this scene.")

    def _show_actuators(self, session: Session) -> None:
        drive = session.drive
        with ui.disabled(session.why_not(Change.CONTROLS) is not None or not drive.can_write):
            self._show_settings(session)
            _show_hold(session)
            self._show_filter(drive.actuators, selects=True)
            shown = self._filtered(drive.actuators)
            if shown:
                _show_heading(shown)
            for rows, names in by_limb(shown, len(drive.actuators)):
                self._show_actuator_rows(session, rows, names)
            if not shown:
                ui.dim_text("No match")
            _show_noise(session)

    def _show_settings(self, session: Session) -> None:
        """Draw buttons that set all controls, or the selected ones."""
        drive = session.drive
        chosen = [each for each in drive.actuators if each.name in self._selected] or drive.actuators
        which = f"the {len(chosen)} selected controls" if self._selected else "all controls"
        if ui.button("Zero", f"Set {which} to 0, or to the nearest end of their range"):
            drive.begin("controls to zero")
            drive.set_controls({each.index: min(max(0.0, each.low), each.high) for each in chosen})
        imgui.same_line()
        if ui.button("Middle", f"Set {which} to the middle of their range"):
            drive.begin("controls to the middle")
            drive.set_controls({each.index: each.middle for each in chosen})
        model = session.engine.model
        if model.nkey:
            ui.flow(7 * imgui.get_font_size())
            width, keys = 7 * imgui.get_font_size(), list(session.engine.keys)
            help_text = f"Set {which} to the values of a keyframe; the pose stays"
            key = ui.choose("###key", None, [*keys], width, help_text, preview="Keyframe")
            if key is not None:
                drive.begin(f"controls of {key}")
                values = model.key_ctrl[keys.index(key)]
                drive.set_controls({each.index: float(values[each.index]) for each in chosen})
        if session.simulation.engine.num_envs > 1:
            help_text = "Drive all environments, not only the one that is shown"
            drive.all_environments = ui.checkbox("All environments", drive.all_environments, help_text)

    def _show_filter(self, items: Sequence[T], *, selects: bool = False) -> None:
        """Draw the filter field, and with `selects` a button that selects all actuators that pass the filter."""
        label = "Clear###select" if self._selected else "Select###select"
        width = imgui.calc_text_size("Select").x + 2 * imgui.get_style().frame_padding.x
        room, help_text = imgui.get_style().item_spacing.x, "Filter by name"
        field = -width - room if selects else -1
        self._filter = ui.filter_field("###filter", "Filter by name", self._filter, field, help_text)
        if not selects:
            return
        imgui.same_line()
        help_text = "Clear selection" if self._selected else "Select all controls of this list"
        if ui.button(
            label, f"{help_text}. Click names to select them one by one: selected controls move together", width
        ):
            self._selected = set() if self._selected else {each.name for each in self._filtered(items)}

    def _filtered(self, items: Sequence[T]) -> list[T]:
        return [each for each in items if ui.has_words(f"{each.name} {each.limb}", self._filter)]

    def _show_actuator_rows(self, session: Session, rows: Sequence[Actuator], names: Sequence[str]) -> None:
        if not begin_rows("actuators", 3):
            return
        drive = session.drive
        for each, name in zip(rows, names, strict=True):
            next_row(each.name)
            self._show_name(each, name)
            imgui.table_next_column()
            value = float(drive.controls[each.index])
            changed, new = slider(f"control {each.name}", value, each.low, each.high, each.unit)
            if imgui.is_item_activated():
                drive.begin(f"control of {each.name}")
            if changed:
                others = [other for other in drive.actuators if other.name in self._selected]
                if each.name in self._selected:
                    drive.move_together(others, each, new)
                else:
                    drive.set_controls({each.index: new})
            imgui.table_next_column()
            _show_force(session, each)
            imgui.pop_id()
        imgui.end_table()

    def _show_name(self, each: Actuator, name: str) -> None:
        name = ui.fit_text(name, imgui.get_content_region_avail().x)
        if imgui.selectable(f"{ui.literal(name)}###name", each.name in self._selected)[0]:
            self._selected ^= {each.name}
        ui.tooltip(f"{each.name}\n{each.servo} on {each.limb or 'no joint'}, {each.low:g} to {each.high:g} {each.unit}")


def _show_driver(app: Application) -> None:
    """Draw the checkbox that lets the controller set the controls, if there is one."""
    simulation = app.session.simulation
    name = app.controllers.label(simulation.engine)
    if name is None:
        return
    help_text = "Let the controller set the controls before every step. Off: the sliders set them"
    on = ui.checkbox(f"{ui.literal(name)} drives###drives", app.controllers.drives, help_text)
    if on != app.controllers.drives:
        app.controllers.set_drives(on, app.session.engines)


def _show_heading(actuators: Sequence[Actuator]) -> None:
    """Draw the headings of the columns, once for all limbs."""
    if not begin_rows("heading", 3):
        return
    imgui.table_next_row()
    imgui.table_next_column()
    imgui.table_next_column()
    ui.dim_text("control")
    imgui.table_next_column()
    units = {each.force_unit for each in actuators}
    unit = units.pop() if len(units) == 1 else ""
    imgui.begin_group()
    for line in ("torque", f"[{unit}]") if "m" in unit else ("force", f"[{unit}]") if unit else ("force",):
        ui.text_right(line, dim_color())
    imgui.end_group()
    ui.tooltip("Force or torque of each actuator in the last step")
    imgui.end_table()


def _show_force(session: Session, each: Actuator) -> None:
    """Draw the force of an actuator in the last step, in amber at its limit."""
    unit = each.force_unit or "unit of the actuator"
    known = session.engine.has_contact_list and not session.drive.is_posed
    with ui.number_font():
        if not known:
            ui.text_right("-", dim_color())
        else:
            force = float(session.engine.data.actuator_force[each.index])
            at_limit = not each.force_low < force < each.force_high
            ui.text_right(ui.format_number(force, 2), warning_color() if at_limit else None)
    if not session.engine.has_contact_list:
        ui.tooltip(f"{session.engine.name.split()[0]} does not report the forces of actuators")
    elif not known:
        ui.tooltip("Not available until the next step")
    else:
        ui.tooltip(f"Force in the last step [{unit}]" + (" (saturated)" if at_limit else ""))


def _show_hold(session: Session) -> None:
    """Draw the controls that hold the present pose."""
    drive = session.drive
    if not drive.can_hold:
        return
    if not drive.held:
        ui.flow(4 * imgui.get_font_size())
        if ui.button("Hold", "Set the servos to the present pose"):
            drive.hold_pose(True)
        return
    held = drive.hold.targets is not None
    on = ui.checkbox("Hold", held, "Hold the present pose with the motors, by a spring and a damper at each joint")
    if on != held:
        drive.hold_pose(on)
    imgui.same_line()
    drive.hold.stiffness = _field("###stiffness", drive.hold.stiffness, "%.4g N·m/rad", "Stiffness of holding")
    imgui.same_line()
    drive.hold.damping = _field("###damping", drive.hold.damping, "%.3g N·m·s/rad", "Damping of holding")


def _show_noise(session: Session) -> None:
    noise = session.drive.noise
    imgui.spacing()
    imgui.align_text_to_frame_padding()
    imgui.text_unformatted("Noise")
    imgui.same_line()
    help_text = "Noise on all controls: standard deviation, as a part of half the range"
    deviation = _field("###noise", noise.deviation, "%.3f", help_text, 0.002, 2.0)
    imgui.same_line()
    rate = _field("###rate", noise.rate, "%.3f s", "Correlation time of the noise", 0.002, 10.0)
    if (deviation, rate) != (noise.deviation, noise.rate):
        session.drive.set_noise(deviation, rate)


def _field(name: str, value: float, text: str, help_text: str, speed: float = 0.5, high: float = 1e5) -> float:
    imgui.set_next_item_width(max((imgui.get_content_region_avail().x - imgui.get_font_size()) * 0.5, 50.0))
    value = imgui.drag_float(name, value, speed, 0.0, high, text)[1]
    ui.tooltip(help_text)
    return min(max(float(value), 0.0), high)


def _show_constants(app: Application) -> None:
    """Draw sliders for the constants of the controller's file."""
    file = app.controllers.file
    assert file is not None
    with ui.text_color(dim_color()):
        ui.fitted_text(str(file.path), imgui.get_content_region_avail().x)
    if not file.constants:
        ui.paragraph("Constants of the file, such as KP = 40, appear here as sliders.")
        return
    if begin_rows("constants", 2):
        for name, value in file.constants.items():
            next_row(name)
            imgui.text_unformatted(name)
            imgui.table_next_column()
            whole = isinstance(value, int)
            low, high = _constant_range(float(app.controllers.declared.get(name, value)), float(value), whole)
            help_text = f"{file.descriptions.get(name, '')}\n--param {name}={value:.4g} sets it from the start".lstrip()
            changed, new = slider(name, float(value), low, high, "", 0 if whole else None, help_text)
            if changed:
                app.controllers.set_constant(name, round(new) if whole else new)
            imgui.pop_id()
        imgui.end_table()


def _constant_range(declared: float, value: float, whole: bool) -> tuple[float, float]:
    """Return the ends of a constant's slider: 0 and twice the declared value, extended to the value that is set."""
    least = 10.0 if whole else 1.0
    ends = (0.0, 2 * declared) if declared else (-least, least)
    return min(*ends, value), max(*ends, value)


PANEL = Panel(CONTROLS, Dock.RIGHT, ControlsPanel)
