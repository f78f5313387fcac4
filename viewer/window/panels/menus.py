"""Menu bar, with the pages of its Help menu."""

from collections.abc import Iterable
from importlib.metadata import PackageNotFoundError, version

from imgui_bundle import ImVec2, imgui

from ...assets import bundled_scenes
from ...engines.registry import CHOICES, ENGINES
from ...session.playback import SPEEDS
from ...session.simulation import Change
from ...settings import Theme, ViewState
from ...version import __version__
from .. import widgets as ui
from ..keys import CAMERA, CONTACTS, SCENE, SIMULATION, Binding
from ..shell import Shell
from .playback import FREE_CAMERA, format_speed

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
        "White spheres are contacts, green arrows normal forces, red and blue friction. Point at one for its numbers; "
        "the Inspector names every value of a sensor's array.",
    ),
    (
        "Measure",
        "The + of the Sensors panel makes a sensor: from what touches now, or from a body that you right-click.",
    ),
    ("Find", "Plots and Events show when contacts began and how hard they were: click a row to go there."),
    ("Keep", "F9 records a video, Ctrl+P a screenshot; `contact-viewer export` writes tables."),
)
_DOCUMENTATION = (
    ("In this window", "F1 lists keys and mouse. Point at a control to read what it does."),
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
        "`help(contact_viewer)` lists what a program can use, `help(contact_viewer.launch)` explains one of them.",
    ),
)
FIRST_STEPS, DOCUMENTATION, ABOUT = "First steps", "Documentation", "About"


def show_menus(shell: Shell) -> None:
    """The bar's content."""
    menus = {
        "File": _show_file,
        "Simulation": _show_simulation,
        "View": _show_view,
        "Record": _show_record,
        "Help": show_help_menu,
    }
    for title, show in menus.items():
        if imgui.begin_menu(title):
            show(shell)
            imgui.end_menu()


def _show_record(shell: Shell) -> None:
    app = shell.app
    running = app.recorder.running is not None
    if imgui.menu_item_simple("Stop" if running else "Start", "F9"):
        app.toggle_recording()
    possible = not running and app.session.history is not None
    if imgui.menu_item_simple(f"Last {app.session.settings.record_last:g} s", "Shift+F9", enabled=possible):
        app.record_last()
    if imgui.menu_item_simple("Screenshot", "Ctrl+P"):
        app.save_screenshot()


def _show_file(shell: Shell) -> None:
    app = shell.app
    outside = app.session.why_not(Change.SCENE) is not None
    if imgui.menu_item_simple("Open...", "Ctrl+O", enabled=not outside):
        shell.choose_scene()
    recent = app.session.settings.recent_scenes.splitlines()
    if imgui.begin_menu("Recent scenes", bool(recent) and not outside):
        for path in recent:
            if imgui.menu_item_simple(ui.literal(path)):
                app.open_scene(path)
        imgui.end_menu()
    if imgui.begin_menu("Bundled scenes", not outside):
        for scene in bundled_scenes():
            if imgui.menu_item_simple(scene.name):
                app.open_scene(scene.name)
            ui.tooltip(scene.description)
        imgui.end_menu()
    if imgui.menu_item_simple("Reload", "Ctrl+L", enabled=not outside):
        app.reload()
    if imgui.menu_item_simple("Save run...", "Ctrl+S", enabled=app.session.history is not None):
        shell.choose_run()
    ui.tooltip("Keep every step of the history in one file, which shows the same steps anywhere")
    imgui.separator()
    if imgui.menu_item_simple("New sensor..."):
        shell.edit_sensor(None)
    last = app.undo_stack.last
    if imgui.menu_item_simple(f"Undo: {ui.literal(last)}" if last else "Undo", "Ctrl+Z", enabled=last is not None):
        app.undo()
    imgui.separator()
    if imgui.menu_item_simple("Quit" if shell.audience is None else "Leave", "Ctrl+Q"):
        shell.leave()
    if shell.audience is not None:
        ui.tooltip("The window goes on. Ctrl-C in the terminal that serves it ends it, for everybody")


def _show_simulation(shell: Shell) -> None:
    session = shell.app.session
    _show_bindings(shell, SIMULATION[:3])
    imgui.begin_disabled(session.why_not(Change.RESET) is not None)
    _show_bindings(shell, SIMULATION[3:4])
    if session.engine.keys and imgui.begin_menu("Keyframe", session.why_not(Change.KEYFRAME) is None):
        for key in session.engine.keys:
            if imgui.menu_item_simple(ui.literal(key)):
                session.reset(key)
        imgui.end_menu()
    if imgui.begin_menu("Engine", session.engine.path is not None and session.why_not(Change.ENGINE) is None):
        for choice, entry in CHOICES.items():
            if imgui.menu_item_simple(entry.label, None, choice == shell.app.loader.choice):
                shell.app.switch_engine(choice)
            ui.tooltip(entry.hint)
        imgui.end_menu()
    if imgui.begin_menu("Speed"):
        for speed in SPEEDS:
            if imgui.menu_item_simple(format_speed(speed), None, speed == session.pace.speed):
                session.set_speed(speed)
        imgui.end_menu()
    imgui.end_disabled()


def _show_view(shell: Shell) -> None:
    session, view = shell.app.session, shell.app.session.view
    _show_bindings(shell, CONTACTS)
    imgui.separator()
    if imgui.begin_menu("Camera"):
        if imgui.menu_item_simple(FREE_CAMERA, "Esc", view.camera_name is None):
            view.free_camera()
        for name in view.cameras:
            if imgui.menu_item_simple(ui.literal(name), None, name == view.camera_name):
                view.set_camera(name)
        imgui.separator()
        _show_bindings(shell, CAMERA[3:])
        imgui.end_menu()
    if imgui.begin_menu("Scene"):
        _show_bindings(shell, SCENE)
        imgui.end_menu()
    if imgui.begin_menu("Geom groups"):
        for group in range(6):
            if imgui.menu_item_simple(f"Group {group}", str(group), view.group("geom", group)):
                view.toggle_group("geom", group)
        imgui.end_menu()
    imgui.separator()
    for panel in shell.panels:
        if imgui.menu_item_simple(panel.title, panel.key, shell.is_panel_shown(panel.title)):
            shell.toggle_panel(panel.title)
    if imgui.menu_item_simple("Legend", None, session.settings.show_legend):
        session.settings.show_legend = not session.settings.show_legend
    if imgui.menu_item_simple("Figures", "F2", shell.info_shown):
        shell.info_shown = not shell.info_shown
    if imgui.menu_item_simple("Profiler", "F3", shell.profiler_shown):
        shell.profiler_shown = not shell.profiler_shown
    _show_sizes(session.settings)
    if imgui.menu_item_simple("Light theme", None, session.settings.theme is Theme.LIGHT):
        shell.toggle_theme()
    if imgui.menu_item_simple("Restore layout"):
        shell.reset_layout()


def _show_sizes(settings: ViewState) -> None:
    """Size of everything, and of text alone."""
    if imgui.begin_menu("UI scale"):
        for scale in _UI_SCALES:
            if imgui.menu_item_simple(f"{100 * scale:.0f} %", None, scale == settings.ui_scale):
                settings.ui_scale = scale
            ui.tooltip("Of what this screen's density asks for")
        imgui.end_menu()
    if imgui.begin_menu("Font size"):
        for size in _FONT_SIZES:
            if imgui.menu_item_simple(f"{size:.0f} px", None, size == settings.font_size):
                settings.font_size = size
        imgui.end_menu()


def _show_bindings(shell: Shell, bindings: tuple[Binding, ...]) -> None:
    for binding in bindings:
        if imgui.menu_item_simple(binding.does, binding.text):
            binding.act(shell)


def show_help_page(shell: Shell) -> None:
    """The page that is open, if there is one."""
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


def show_help_menu(shell: Shell) -> None:
    """Entries of the Help menu."""
    if imgui.menu_item_simple(FIRST_STEPS):
        shell.help_page = FIRST_STEPS
    if imgui.menu_item_simple("Keys and mouse", "F1"):
        shell.help_shown = True
    if imgui.menu_item_simple(DOCUMENTATION):
        shell.help_page = DOCUMENTATION
    if imgui.menu_item_simple(ABOUT):
        shell.help_page = ABOUT


def about_text() -> str:
    """Versions of this program and of what it stands on, one a line."""
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
    imgui.text_unformatted("See what a scene's contact sensors say.")
    imgui.spacing()
    ui.dim_text(about_text())
    imgui.spacing()
    if ui.button("Copy", "Versions, for a report of a problem"):
        imgui.set_clipboard_text(about_text())
