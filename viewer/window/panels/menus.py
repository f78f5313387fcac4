"""Menu bar, with the pages of its Help menu."""

from collections.abc import Callable, Iterable
from functools import partial
from importlib.metadata import PackageNotFoundError, version
from typing import TypeVar

from imgui_bundle import ImVec2, imgui

from ...assets import bundled_scenes
from ...engines.registry import CHOICES, ENGINES
from ...session.session import SPEEDS
from ...session.simulation import Change
from ...settings import Theme
from ...version import __version__
from .. import widgets as ui
from ..keys import CAMERA, CONTACTS, SCENE, SIMULATION, Binding
from ..shell import Shell
from .playback import FREE_CAMERA, format_speed

T = TypeVar("T")
_UI_SCALES = (0.75, 0.9, 1.0, 1.1, 1.25, 1.5, 1.75, 2.0, 2.5, 3.0)
_FONT_SIZES = (12.0, 13.0, 14.0, 15.0, 16.0, 17.0, 18.0, 20.0)
_FIRST_STEPS = (
    (
        "Play",
        "Space plays and pauses, Right and Left step, Backspace resets. Drag the slider below to go back in time.",
    ),
    (
        "Look",
        "Left drag orbits, right drag pans, the wheel zooms. A double click selects a body; Ctrl+right drag pulls it.",
    ),
    (
        "Read",
        "White spheres are contacts, green arrows normal forces, red and blue arrows friction. Hover over one for "
        "its values; the Inspector names every value of a sensor's array.",
    ),
    (
        "Measure",
        "The + of the Sensors panel makes a sensor, for example for a pair that touches now. Right-click a body to "
        "make one for it.",
    ),
    ("Find", "Plots show forces over time; Events lists begin and end of contacts: click a row to go there."),
    ("Keep", "F9 records a video, Ctrl+P a screenshot; `contact-viewer export` writes tables."),
)
_DOCUMENTATION = (
    ("In this window", "F1 lists keys and mouse. Hover over a control for its tooltip."),
    (
        "On the command line",
        "`contact-viewer --help` lists the commands and the options of the window, `contact-viewer COMMAND --help` "
        "those of a command, its file formats and the columns of its tables.",
    ),
    (
        "Scenes",
        "`contact-viewer scenes` lists the bundled ones. `contact-viewer inspect SCENE` describes the contact sensors "
        "of a scene and every value of their arrays.",
    ),
    (
        "In Python",
        "`help(contact_viewer)` lists the public names, `help(contact_viewer.launch)` explains one.",
    ),
)
FIRST_STEPS, DOCUMENTATION, ABOUT = "First steps", "Documentation", "About"


def show_menus(shell: Shell) -> None:
    """Draw the menus."""
    menus = {
        "File": _show_file,
        "Simulation": _show_simulation,
        "View": _show_view,
        "Record": _show_record,
        "Help": _show_help,
    }
    for title, show in menus.items():
        if imgui.begin_menu(title):
            show(shell)
            imgui.end_menu()


def _show_choices(
    title: str,
    values: Iterable[T],
    chosen: T | None,
    choose: Callable[[T], object],
    name: Callable[[T], str] = str,
    *,
    help_text: str = "",
    enabled: bool = True,
) -> None:
    """Draw a menu to choose one of some values.

    Args:
        title: Title of the menu.
        values: Values to choose from.
        chosen: Value with the check mark; None for none.
        choose: Function that is called with the chosen value.
        name: Function that returns the text of a value.
        help_text: Tooltip of the menu.
        enabled: False if the menu cannot be opened.
    """
    if imgui.begin_menu(title, enabled):
        for value in values:
            ui.menu_item(ui.literal(name(value)), partial(choose, value), on=value == chosen)
            if help_text:
                ui.tooltip(help_text)
        imgui.end_menu()


def _show_record(shell: Shell) -> None:
    app = shell.app
    running = app.recorder.running is not None
    possible = not running and app.session.history is not None
    ui.menu_item("Stop" if running else "Start", app.toggle_recording, "F9")
    ui.menu_item(f"Last {app.session.settings.record_last:g} s", app.record_last, "Shift+F9", enabled=possible)
    ui.menu_item("Screenshot", app.save_screenshot, "Ctrl+P")


def _show_file(shell: Shell) -> None:
    app = shell.app
    can_open = app.session.why_not(Change.SCENE) is None
    ui.menu_item("Open...", shell.choose_scene, "Ctrl+O", enabled=can_open)
    recent = app.session.settings.recent_scenes.splitlines()
    _show_choices("Recent scenes", recent, None, app.open_scene, enabled=bool(recent) and can_open)
    if imgui.begin_menu("Bundled scenes", can_open):
        for scene in bundled_scenes():
            ui.menu_item(scene.name, partial(app.open_scene, scene.name))
            ui.tooltip(scene.description)
        imgui.end_menu()
    if imgui.begin_menu("Open beside"):
        ui.menu_item("Scene, run or log...", shell.choose_beside)
        ui.tooltip("Show contacts, bodies and curves of another run, and compare them with this run")
        for name, engine in ENGINES.items() if app.session.engine.path is not None else ():
            ui.menu_item(engine.label, partial(shell.open_beside, name))
            ui.tooltip(f"Simulate the same scene with {engine.label} beside this run")
        imgui.end_menu()
    ui.menu_item("Add data...", shell.choose_data, enabled=app.session.history is not None)
    ui.tooltip("Show measured data in Plots: CSV, Parquet, NPZ, HDF5, or ROS 2 bags")
    ui.menu_item("Reload", app.reload, "Ctrl+L", enabled=can_open)
    ui.menu_item("Save run...", shell.choose_run, "Ctrl+S", enabled=app.session.history is not None)
    ui.tooltip("Save every step of the history in one file, to open it here or on another machine")
    ui.menu_item("Save page...", shell.choose_page, enabled=app.session.history is not None)
    ui.tooltip("Save the history as one HTML page for any browser: moving scene, contacts, curves, events")
    imgui.separator()
    ui.menu_item("New sensor...", partial(shell.edit_sensor, None))
    last = app.undo_stack.last
    ui.menu_item(f"Undo: {ui.literal(last)}" if last else "Undo", app.undo, "Ctrl+Z", enabled=last is not None)
    imgui.separator()
    ui.menu_item("Quit" if shell.audience is None else "Leave", shell.leave, "Ctrl+Q")
    if shell.audience is not None:
        ui.tooltip("Disconnect this browser; the window stays open. Ctrl-C in its terminal closes it for all viewers")


def _show_simulation(shell: Shell) -> None:
    session = shell.app.session
    _show_bindings(shell, SIMULATION[:3])
    ui.menu_item("Branch here...", shell.branch_here, "Ctrl+B")
    ui.tooltip("Re-simulate from this step with the same inputs and another friction, cone, time step, mass or push")
    with ui.disabled(session.why_not(Change.RESET) is not None):
        _show_bindings(shell, SIMULATION[3:4])
        if session.engine.keys:
            can_reset = session.why_not(Change.KEYFRAME) is None
            _show_choices("Keyframe", session.engine.keys, None, session.reset, enabled=can_reset)
        can_switch = session.engine.path is not None and session.why_not(Change.ENGINE) is None
        if imgui.begin_menu("Engine", can_switch):
            for choice, entry in CHOICES.items():
                switch = partial(shell.app.switch_engine, choice)
                ui.menu_item(entry.label, switch, on=choice == shell.app.loader.choice)
                ui.tooltip(entry.hint)
            imgui.end_menu()
        _show_choices("Speed", SPEEDS, session.pace.speed, session.set_speed, format_speed)


def _show_view(shell: Shell) -> None:
    settings, view = shell.app.session.settings, shell.app.session.view
    _show_bindings(shell, CONTACTS)
    imgui.separator()
    if imgui.begin_menu("Camera"):
        ui.menu_item(FREE_CAMERA, view.free_camera, "Esc", view.camera_name is None)
        for name in view.cameras:
            ui.menu_item(ui.literal(name), partial(view.set_camera, name), on=name == view.camera_name)
        imgui.separator()
        _show_bindings(shell, CAMERA[3:])
        imgui.end_menu()
    if imgui.begin_menu("Scene"):
        _show_bindings(shell, SCENE)
        imgui.end_menu()
    if imgui.begin_menu("Geom groups"):
        for group in range(6):
            toggle = partial(view.toggle_group, "geom", group)
            ui.menu_item(f"Group {group}", toggle, str(group), view.group("geom", group))
        imgui.end_menu()
    imgui.separator()
    for panel in shell.panels:
        toggle = partial(shell.toggle_panel, panel.title)
        ui.menu_item(panel.title, toggle, panel.key, shell.is_panel_shown(panel.title))
    for title, owner, flag, key in (
        ("Legend", settings, "show_legend", None),
        ("Figures", shell, "info_shown", "F2"),
        ("Profiler", shell, "profiler_shown", "F3"),
    ):
        shown = getattr(owner, flag)
        ui.menu_item(title, partial(setattr, owner, flag, not shown), key, shown)
    scale, size = partial(setattr, settings, "ui_scale"), partial(setattr, settings, "font_size")
    help_text = "Factor on the size that suits this screen"
    _show_choices(
        "UI scale", _UI_SCALES, settings.ui_scale, scale, lambda scale: f"{100 * scale:.0f} %", help_text=help_text
    )
    _show_choices("Font size", _FONT_SIZES, settings.font_size, size, lambda size: f"{size:.0f} px")
    ui.menu_item("Light theme", shell.toggle_theme, on=settings.theme is Theme.LIGHT)
    ui.menu_item("Restore layout", shell.reset_layout)


def _show_bindings(shell: Shell, bindings: tuple[Binding, ...]) -> None:
    for binding in bindings:
        ui.menu_item(binding.does, partial(binding.act, shell), binding.text)


def show_help_page(shell: Shell) -> None:
    """Draw the page of the Help menu that is open, if there is one."""
    if shell.help_page is None:
        return
    imgui.set_next_window_pos(imgui.get_main_viewport().get_center(), imgui.Cond_.appearing, ImVec2(0.5, 0.5))
    imgui.set_next_window_size(ImVec2(32 * imgui.get_font_size(), 0))
    flags = imgui.WindowFlags_.no_docking | imgui.WindowFlags_.no_collapse | imgui.WindowFlags_.no_saved_settings
    expanded, opened = imgui.begin(f"{shell.help_page}###help page", True, flags)
    if expanded:
        if shell.help_page == ABOUT:
            _show_about()
        else:
            _show_subjects(_FIRST_STEPS if shell.help_page == FIRST_STEPS else _DOCUMENTATION)
    imgui.end()
    if not opened:
        shell.help_page = None


def _show_help(shell: Shell) -> None:
    """Draw the entries of the Help menu."""
    open_page = partial(setattr, shell, "help_page")
    ui.menu_item(FIRST_STEPS, partial(open_page, FIRST_STEPS))
    ui.menu_item("Keys and mouse", partial(setattr, shell, "help_shown", True), "F1")
    ui.menu_item(DOCUMENTATION, partial(open_page, DOCUMENTATION))
    ui.menu_item(ABOUT, partial(open_page, ABOUT))


def about_text() -> str:
    """Return the versions of this program and of the libraries it uses, one per line."""
    lines = [f"contact-viewer {__version__}, Apache-2.0"]
    for package in (*(engine.package for engine in ENGINES.values()), "imgui-bundle", "numpy"):
        try:
            lines.append(f"{package} {version(package)}")
        except PackageNotFoundError:
            continue
    return "\n".join(lines)


def _show_subjects(subjects: Iterable[tuple[str, str]]) -> None:
    for title, text in subjects:
        imgui.text_unformatted(title)
        ui.paragraph(text)
        imgui.spacing()


def _show_about() -> None:
    imgui.text_unformatted("The contact debugger for robot simulation.")
    imgui.spacing()
    ui.dim_text(about_text())
    imgui.spacing()
    if ui.button("Copy", "Copy the versions, for a bug report"):
        imgui.set_clipboard_text(about_text())
