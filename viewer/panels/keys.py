"""Keys: one table that acts on key presses and is shown as help."""

from collections.abc import Callable
from dataclasses import dataclass

from imgui_bundle import ImVec2, imgui

from ..session import Session
from .shell import DISPLAY, INSPECTOR, SENSOR_EDITOR, SENSORS, Shell
from .widgets import dim_text, number_font

Key = imgui.Key


@dataclass(frozen=True)
class Binding:
    """A key and what it does."""

    key: imgui.Key
    text: str
    """The key as people write it."""
    does: str
    act: Callable[[Shell], object]
    ctrl: bool = False
    shift: bool = False
    repeat: bool = False


def _toggle_split(session: Session) -> None:
    gizmos = session.settings.gizmos
    gizmos.total = gizmos.normal or gizmos.tangents
    gizmos.normal = gizmos.tangents = not gizmos.total


def _toggle_points(session: Session) -> None:
    session.settings.gizmos.points = not session.settings.gizmos.points


def _toggle_forces(session: Session) -> None:
    session.settings.gizmos.forces = not session.settings.gizmos.forces


def _toggle_recording(shell: Shell) -> None:
    if shell.recording is None:
        shell.start_recording()
    else:
        shell.stop_recording()


def _toggle_help(shell: Shell) -> None:
    shell.help_shown = not shell.help_shown


def _flag(letter: str, name: str, does: str) -> Binding:
    return Binding(getattr(Key, letter.lower()), letter, does, lambda shell: shell.session.view.toggle(name))


SIMULATION = (
    Binding(Key.space, "Space", "Play or pause", lambda shell: shell.session.toggle_paused()),
    Binding(Key.right_arrow, "Right", "One step", lambda shell: shell.session.step_once(), repeat=True),
    Binding(Key.left_arrow, "Left", "One step back", lambda shell: shell.session.step_back(), repeat=True),
    Binding(Key.backspace, "Backspace", "Reset", lambda shell: shell.session.reset()),
    Binding(Key.minus, "-", "Slower", lambda shell: shell.session.change_speed(-1)),
    Binding(Key.equal, "=", "Faster", lambda shell: shell.session.change_speed(1)),
    Binding(Key.n, "N", "Next event", lambda shell: shell.session.go_to_event(1)),
    Binding(Key.n, "Shift+N", "Previous event", lambda shell: shell.session.go_to_event(-1), shift=True),
    Binding(
        Key.comma, ",", "Previous environment", lambda shell: shell.session.show_environment(shell.session.env - 1)
    ),
    Binding(Key.period, ".", "Next environment", lambda shell: shell.session.show_environment(shell.session.env + 1)),
    Binding(Key.o, "Ctrl+O", "Open a scene", lambda shell: shell.ask_for_scene(), ctrl=True),
    Binding(Key.l, "Ctrl+L", "Reload the scene", lambda shell: shell.reload(), ctrl=True),
    Binding(Key.z, "Ctrl+Z", "Undo a change of a sensor", lambda shell: shell.undo(), ctrl=True),
)
CONTACTS = (
    Binding(Key.c, "C", "Contact points", lambda shell: _toggle_points(shell.session)),
    Binding(Key.f, "F", "Contact forces", lambda shell: _toggle_forces(shell.session)),
    Binding(Key.p, "P", "Split: components or total", lambda shell: _toggle_split(shell.session)),
)
CAMERA = (
    Binding(Key.left_bracket, "[", "Previous camera", lambda shell: shell.session.view.previous_camera()),
    Binding(Key.right_bracket, "]", "Next camera", lambda shell: shell.session.view.next_camera()),
    Binding(Key.escape, "Esc", "Free camera", lambda shell: shell.session.view.free_camera()),
    Binding(Key.a, "Ctrl+A", "Align the free camera", lambda shell: shell.session.view.align(), ctrl=True),
    Binding(
        Key.page_up,
        "PgUp",
        "Select the parent body",
        lambda shell: shell.session.view.select_parent(shell.session.engine.model),
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
    Binding(Key.f6, "F6", "Cycle frames", lambda shell: shell.session.view.cycle_frame()),
    Binding(Key.f7, "F7", "Cycle labels", lambda shell: shell.session.view.cycle_label()),
)
WINDOW = (
    Binding(Key.tab, "Tab", "Left panels", lambda shell: shell.toggle_panel(SENSORS, DISPLAY)),
    Binding(
        Key.tab, "Shift+Tab", "Right panels", lambda shell: shell.toggle_panel(INSPECTOR, SENSOR_EDITOR), shift=True
    ),
    Binding(Key.f4, "F4", "Sensors", lambda shell: shell.toggle_panel(SENSORS)),
    Binding(Key.f1, "F1", "This help", _toggle_help),
    Binding(Key.f9, "F9", "Start or stop recording", _toggle_recording),
    Binding(Key.f9, "Shift+F9", "Record the last seconds", lambda shell: shell.record_last(), shift=True),
    Binding(Key.p, "Ctrl+P", "Save a screenshot", lambda shell: shell.save_screenshot(), ctrl=True),
    Binding(Key.f11, "F11", "Full screen", lambda shell: shell.toggle_fullscreen()),
    Binding(Key.q, "Ctrl+Q", "Quit", lambda shell: shell.quit(), ctrl=True),
)
GROUPS = tuple(
    Binding(
        key,
        f"{'Shift+' if kind == 'site' else ''}{group}",
        f"{kind.capitalize()} group {group}",
        lambda shell, kind=kind, group=group: shell.session.view.toggle_group(kind, group),  # type: ignore[misc]
        shift=kind == "site",
    )
    for kind in ("geom", "site")
    for group, key in enumerate((Key._0, Key._1, Key._2, Key._3, Key._4, Key._5))
)
_MOUSE = (
    ("Left drag", "Orbit"),
    ("Right drag", "Pan (Shift: in the horizontal plane)"),
    ("Wheel, middle drag", "Zoom"),
    ("Left double click", "Select a body"),
    ("Right double click", "Centre the view"),
    ("Ctrl+right double click", "Track a body"),
    ("Ctrl+left drag", "Turn the selected body"),
    ("Ctrl+right drag", "Pull the selected body"),
)


def handle_keys(shell: Shell) -> None:
    """Act on key presses, unless a text field has the focus."""
    io = imgui.get_io()
    if io.want_text_input:
        return
    for binding in (*SIMULATION, *CONTACTS, *CAMERA, *SCENE, *WINDOW, *GROUPS):
        if binding.ctrl != io.key_ctrl or binding.shift != io.key_shift:
            continue
        if imgui.is_key_pressed(binding.key, binding.repeat):
            binding.act(shell)


def show_help(shell: Shell) -> None:
    """The help window, while it is open."""
    if not shell.help_shown:
        return
    center = imgui.get_main_viewport().get_center()
    imgui.set_next_window_pos(center, imgui.Cond_.appearing, ImVec2(0.5, 0.5))
    flags = imgui.WindowFlags_.no_docking | imgui.WindowFlags_.always_auto_resize | imgui.WindowFlags_.no_collapse
    expanded, opened = imgui.begin("Keys and mouse", True, flags)
    if expanded:
        columns = (
            (("Simulation", SIMULATION), ("Contacts", CONTACTS), ("Window", WINDOW)),
            (("Scene", SCENE),),
            (("Camera", CAMERA),),
        )
        for i, groups in enumerate(columns):
            if i:
                imgui.same_line(0, 2 * imgui.get_font_size())
            imgui.begin_group()
            for title, bindings in groups:
                _show_group(title, [(binding.text, binding.does) for binding in bindings])
            if i == 1:
                _show_group("", [("0 to 5", "Geom groups"), ("Shift+0 to 5", "Site groups")])
            if i == 2:
                _show_group("Mouse", list(_MOUSE))
            imgui.end_group()
    imgui.end()
    shell.help_shown = bool(opened)


def _show_group(title: str, rows: list[tuple[str, str]]) -> None:
    if title:
        imgui.spacing()
        dim_text(title)
    number_font()
    indent = imgui.get_cursor_pos_x() + imgui.calc_text_size(max((keys for keys, _ in rows), key=len) + "  ").x
    imgui.pop_font()
    for keys, does in rows:
        number_font()
        imgui.text_unformatted(keys)
        imgui.pop_font()
        imgui.same_line()
        imgui.set_cursor_pos_x(indent)
        imgui.text_unformatted(does)
