"""Keys of the window: one table that acts on key presses and is shown as help."""

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

from imgui_bundle import ImVec2, imgui

from ..render.view import View
from ..session.session import Session
from . import widgets as ui
from .shell import CONTROLS, DISPLAY, INSPECTOR, SENSOR_EDITOR, SENSORS, Shell

Key = imgui.Key


@dataclass(frozen=True)
class Binding:
    """Key with its action and its description."""

    key: imgui.Key
    text: str
    """Name of the key as the help shows it."""
    does: str
    act: Callable[[Shell], object]
    ctrl: bool = False
    shift: bool = False
    repeat: bool = False


def copy_state(shell: Shell) -> None:
    """Copy the present state to the clipboard as a `<key>` element with a name that the scene does not have."""
    app = shell.app
    imgui.set_clipboard_text(app.keyframes.state(app.session).element())
    app.notices.add("copied the state as a <key> element")


def _on_session(act: Callable[[Session], object]) -> Callable[[Shell], object]:
    return lambda shell: act(shell.app.session)


def _on_view(act: Callable[[View], object]) -> Callable[[Shell], object]:
    return lambda shell: act(shell.app.session.view)


def _toggle_gizmos(flag: str) -> Callable[[Shell], object]:
    def toggle(shell: Shell) -> None:
        gizmos = shell.app.session.settings.gizmos
        setattr(gizmos, flag, not getattr(gizmos, flag))

    return toggle


def _toggle_split(session: Session) -> None:
    gizmos = session.settings.gizmos
    gizmos.total = gizmos.normal or gizmos.tangents
    gizmos.normal = gizmos.tangents = not gizmos.total


def _select_parent(session: Session) -> None:
    session.view.select_parent(session.engine.model)


def _toggle_shown(flag: str) -> Callable[[Shell], object]:
    return lambda shell: setattr(shell, flag, not getattr(shell, flag))


def _flag(letter: str, name: str, does: str) -> Binding:
    return Binding(getattr(Key, letter.lower()), letter, does, _on_view(lambda view: view.toggle(name)))


SIMULATION = (
    Binding(Key.space, "Space", "Play or pause", _on_session(Session.toggle_paused)),
    Binding(Key.right_arrow, "Right", "One step", _on_session(Session.step_once), repeat=True),
    Binding(Key.left_arrow, "Left", "One step back", _on_session(Session.step_back), repeat=True),
    Binding(Key.backspace, "Backspace", "Reset", _on_session(Session.reset)),
    Binding(Key.minus, "-", "Slower", _on_session(lambda s: s.change_speed(-1))),
    Binding(Key.equal, "=", "Faster", _on_session(lambda s: s.change_speed(1))),
    Binding(Key.n, "N", "Next event", _on_session(lambda s: s.go_to_event(1))),
    Binding(Key.n, "Shift+N", "Previous event", _on_session(lambda s: s.go_to_event(-1)), shift=True),
    Binding(Key.b, "Ctrl+B", "Branch here", lambda shell: shell.branch_here(), ctrl=True),
    Binding(Key.comma, ",", "Previous environment", _on_session(lambda s: s.show_environment(s.env - 1))),
    Binding(Key.period, ".", "Next environment", _on_session(lambda s: s.show_environment(s.env + 1))),
    Binding(Key.o, "Ctrl+O", "Open a scene", lambda shell: shell.choose_scene(), ctrl=True),
    Binding(Key.s, "Ctrl+S", "Save the run", lambda shell: shell.choose_run(), ctrl=True),
    Binding(Key.l, "Ctrl+L", "Reload the scene", lambda shell: shell.app.reload(), ctrl=True),
    Binding(Key.z, "Ctrl+Z", "Undo", lambda shell: shell.app.undo(), ctrl=True),
    Binding(Key.c, "Ctrl+C", "Copy the state as a <key> element", copy_state, ctrl=True),
)
CONTACTS = (
    Binding(Key.c, "C", "Contact points", _toggle_gizmos("points")),
    Binding(Key.f, "F", "Contact forces", _toggle_gizmos("forces")),
    Binding(Key.p, "P", "Split: components or total", _on_session(_toggle_split)),
)
CAMERA = (
    Binding(Key.left_bracket, "[", "Previous camera", _on_view(View.previous_camera)),
    Binding(Key.right_bracket, "]", "Next camera", _on_view(View.next_camera)),
    Binding(Key.escape, "Esc", "Free camera", _on_view(View.free_camera)),
    Binding(Key.home, "Home", "Look at the selected body, or at all moving bodies", _on_session(Session.frame)),
    Binding(Key.a, "Ctrl+A", "Align the free camera", _on_view(View.align), ctrl=True),
    Binding(
        Key.page_up,
        "PgUp",
        "Select the parent body",
        _on_session(_select_parent),
    ),
)
SCENE = (
    _flag("T", "transparent", "Transparent bodies"),
    _flag("H", "hull", "Convex hulls"),
    _flag("J", "joints", "Joints"),
    _flag("M", "com", "Centres of mass"),
    _flag("I", "inertia", "Inertia"),
    _flag("D", "static", "Static bodies"),
    _flag("B", "perturb_force", "Perturbation force"),
    _flag("O", "perturb_object", "Perturbed object"),
    _flag("W", "wireframe", "Wireframe"),
    _flag("S", "shadow", "Shadows"),
    _flag("R", "reflection", "Reflections"),
    _flag("G", "fog", "Fog"),
    _flag("K", "skybox", "Sky"),
    Binding(Key.f6, "F6", "Cycle frames", _on_view(View.cycle_frame)),
    Binding(Key.f7, "F7", "Cycle labels", _on_view(View.cycle_label)),
)
WINDOW = (
    Binding(Key.tab, "Tab", "Left panels", lambda shell: shell.toggle_panel(SENSORS, DISPLAY)),
    Binding(
        Key.tab,
        "Shift+Tab",
        "Right panels",
        lambda shell: shell.toggle_panel(INSPECTOR, SENSOR_EDITOR, CONTROLS),
        shift=True,
    ),
    Binding(Key.f5, "F5", "Presentation: hide or show all panels", lambda shell: shell.toggle_presentation()),
    Binding(Key.f4, "F4", "Sensors", lambda shell: shell.toggle_panel(SENSORS)),
    Binding(Key.f10, "F10", "Go to the menus; arrows, Enter, Esc", lambda shell: go_to_menus()),
    Binding(Key.tab, "Ctrl+Tab", "Go to the next panel; Esc leaves it", lambda shell: go_to_panel(shell, 1), ctrl=True),
    Binding(Key.f1, "F1", "This help", _toggle_shown("help_shown")),
    Binding(Key.f2, "F2", "Simulation info", _toggle_shown("info_shown")),
    Binding(Key.f3, "F3", "Profiler", _toggle_shown("profiler_shown")),
    Binding(Key.f9, "F9", "Start or stop recording", lambda shell: shell.app.toggle_recording()),
    Binding(Key.f9, "Shift+F9", "Record the last seconds", lambda shell: shell.app.record_last(), shift=True),
    Binding(Key.p, "Ctrl+P", "Save a screenshot", lambda shell: shell.app.save_screenshot(), ctrl=True),
    Binding(Key.f11, "F11", "Full screen", lambda shell: shell.toggle_fullscreen()),
    Binding(Key.q, "Ctrl+Q", "Quit", lambda shell: shell.leave(), ctrl=True),
)
GROUPS = tuple(
    Binding(
        key,
        f"{'Shift+' if kind == 'site' else ''}{group}",
        f"{kind.capitalize()} group {group}",
        _on_view(lambda view, kind=kind, group=group: view.toggle_group(kind, group)),  # type: ignore[misc]
        shift=kind == "site",
    )
    for kind in ("geom", "site")
    for group, key in enumerate((Key._0, Key._1, Key._2, Key._3, Key._4, Key._5))
)
BINDINGS = (*SIMULATION, *CONTACTS, *CAMERA, *SCENE, *WINDOW, *GROUPS)
_GROUP_KEYS = (("0 to 5", "Geom groups"), ("Shift+0 to 5", "Site groups"))
_PANEL_KEYS = (
    ("Arrows, Tab", "In a panel: go to the next control"),
    ("Space, Enter", "In a panel: press, or change by arrows; type a number"),
)
_MOVING_KEYS = (
    *(Key.left_arrow, Key.right_arrow, Key.up_arrow, Key.down_arrow, Key.tab, Key.space, Key.enter),
    *(Key.home, Key.end, Key.page_up, Key.page_down, Key.escape),
)
"""Keys that move through panels and menus once the user has entered them; otherwise they act on the scene."""
_MOUSE = (
    ("Left drag", "Orbit"),
    ("Right drag", "Pan (Shift: in the horizontal plane)"),
    ("Wheel, middle drag", "Zoom; the wheel zooms to the pointer"),
    ("Left double click", "Select a body"),
    ("Right click", "Menu of a body"),
    ("Right double click", "Centre the view"),
    ("Ctrl+right double click", "Track a body"),
    ("Ctrl+left drag", "Turn the selected body"),
    ("Ctrl+right drag", "Pull the selected body"),
)


def handle_keys(shell: Shell) -> None:
    """Act on key presses, unless a text field or a dialog has the focus. Esc first closes an open menu or dialog."""
    io = imgui.get_io()
    is_modal = imgui.internal.get_top_most_popup_modal() is not None
    # What has the keyboard's focus is closed by ImGui, a dialog is not.
    if imgui.is_key_pressed(Key.escape, False) and (is_modal or _is_ours(Key.escape)) and _close_top(shell):
        return
    if io.want_text_input or is_modal:
        return
    held = io.key_ctrl, io.key_shift
    for binding in BINDINGS:
        if (binding.ctrl, binding.shift) != held or not (binding.ctrl or _is_ours(binding.key)):
            continue
        if imgui.is_key_pressed(binding.key, binding.repeat):
            binding.act(shell)


def allow_keyboard() -> None:
    """Turn on keyboard navigation of menus and panels. Call it once."""
    io = imgui.get_io()
    io.config_flags |= imgui.ConfigFlags_.nav_enable_keyboard.value
    io.config_nav_escape_clear_focus_window = True
    # Its list of windows has bars that nobody looks for, and no panel that is behind another.
    context = imgui.get_current_context()
    context.config_nav_windowing_key_next = context.config_nav_windowing_key_prev = 0


def keep_keys() -> None:
    """Keep arrows, Space and the like for the scene until the user moves through panels. Call it once a frame."""
    io = imgui.get_io()
    if io.want_text_input or io.key_ctrl or io.nav_visible:
        return
    has_list = imgui.get_current_context().open_popup_stack.size()
    for key in (Key.escape,) if has_list else _MOVING_KEYS:
        imgui.internal.set_key_owner(key, _owner())


def _is_ours(key: imgui.Key) -> bool:
    """Return True if a key is for the scene: no panel or menu has used it to move the focus or to close something."""
    return key not in _MOVING_KEYS or imgui.internal.get_key_owner(key) == _owner()


def _owner() -> int:
    return int(imgui.internal.im_hash_str("scene"))


def go_to_menus() -> None:
    """Give the menu bar the focus."""
    bar = imgui.internal.find_window_by_name("##MainMenuBar")
    if bar is not None:
        _focus(bar, imgui.internal.NavLayer.menu)


def go_to_panel(shell: Shell, direction: int) -> None:
    """Focus the next panel, or with -1 the previous one; tabs behind others are included."""
    titles = [panel.title for panel in shell.panels if shell.is_panel_shown(panel.title)]
    if shell.is_presenting or not titles:
        return
    focused = imgui.get_current_context().nav_window
    name = focused.root_window.name if focused is not None else ""
    place = titles.index(name) + direction if name in titles else 0
    window = imgui.internal.find_window_by_name(titles[place % len(titles)])
    if window is not None:
        _focus(window)


def _focus(window: Any, layer: imgui.internal.NavLayer = imgui.internal.NavLayer.main) -> None:
    imgui.internal.focus_window(window)
    imgui.get_current_context().nav_layer = layer
    imgui.internal.nav_init_window(window, True)
    imgui.internal.set_nav_cursor_visible_after_move()


def _close_top(shell: Shell) -> bool:
    """Close the menu, list, popup or dialog that was opened last, or the help; return False if none is open."""
    opened = imgui.get_current_context().open_popup_stack
    if opened.size():
        level = opened.size() - 1
        # A menu opens again what the mouse is over: it is closed as a whole.
        while level and opened[level].window.flags & imgui.WindowFlags_.child_menu:
            level -= 1
        imgui.internal.close_popup_to_level(level, True)
        return True
    shown = shell.help_shown or shell.help_page is not None
    shell.help_shown, shell.help_page = False, None
    return shown


def show_help(shell: Shell) -> None:
    """Draw the help window while it is open."""
    if not shell.help_shown:
        return
    center = imgui.get_main_viewport().get_center()
    imgui.set_next_window_pos(center, imgui.Cond_.appearing, ImVec2(0.5, 0.5))
    flags = imgui.WindowFlags_.no_docking | imgui.WindowFlags_.always_auto_resize | imgui.WindowFlags_.no_collapse
    expanded, opened = imgui.begin("Keys and mouse", True, flags)
    if expanded:
        columns = (
            (("Simulation", _rows(SIMULATION)), ("Contacts", _rows(CONTACTS)), ("Camera", _rows(CAMERA))),
            (("Scene", (*_rows(SCENE), *_GROUP_KEYS)),),
            (("Window", (*_rows(WINDOW), *_PANEL_KEYS)), ("Mouse", _MOUSE)),
        )
        for i, groups in enumerate(columns):
            if i:
                imgui.same_line(0, 2 * imgui.get_font_size())
            imgui.begin_group()
            for title, rows in groups:
                _show_group(title, rows)
            imgui.end_group()
    imgui.end()
    shell.help_shown = bool(opened)


def _rows(bindings: tuple[Binding, ...]) -> tuple[tuple[str, str], ...]:
    return tuple((binding.text, binding.does) for binding in bindings)


def _show_group(title: str, rows: tuple[tuple[str, str], ...]) -> None:
    if title:
        imgui.spacing()
        ui.dim_text(title)
    with ui.number_font():
        indent = imgui.get_cursor_pos_x() + imgui.calc_text_size(max((keys for keys, _ in rows), key=len) + "  ").x
    for keys, does in rows:
        with ui.number_font():
            imgui.text_unformatted(keys)
        imgui.same_line()
        imgui.set_cursor_pos_x(indent)
        imgui.text_unformatted(does)
