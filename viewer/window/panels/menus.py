"""Menu bar."""

from imgui_bundle import imgui

from ...assets import bundled_scenes
from ...engines.registry import CHOICES
from ...session.playback import SPEEDS
from ...settings import Theme, ViewState
from ..keys import CAMERA, CONTACTS, SCENE, SIMULATION, Binding
from ..shell import CONTROLS, DISPLAY, EVENTS, INSPECTOR, PLOTS, SENSOR_EDITOR, SENSORS, TOUCH, Shell
from ..widgets import tooltip
from .help import show_help_menu
from .playback import FREE_CAMERA, format_speed

_UI_SCALES = (0.75, 0.9, 1.0, 1.1, 1.25, 1.5, 1.75, 2.0, 2.5, 3.0)
_FONT_SIZES = (12.0, 13.0, 14.0, 15.0, 16.0, 17.0, 18.0, 20.0)


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
    outside = app.session.stepped_outside
    if imgui.menu_item_simple("Open...", "Ctrl+O", enabled=not outside):
        shell.choose_scene()
    recent = app.session.settings.recent_scenes.splitlines()
    if imgui.begin_menu("Recent scenes", bool(recent) and not outside):
        for path in recent:
            if imgui.menu_item_simple(path):
                app.open_scene(path)
        imgui.end_menu()
    if imgui.begin_menu("Bundled scenes", not outside):
        for scene in bundled_scenes():
            if imgui.menu_item_simple(scene.name):
                app.open_scene(scene.name)
            tooltip(scene.description)
        imgui.end_menu()
    if imgui.menu_item_simple("Reload", "Ctrl+L", enabled=not outside):
        app.reload()
    if imgui.menu_item_simple("Save run...", "Ctrl+S", enabled=app.session.history is not None):
        shell.choose_run()
    tooltip("Keep every step of the history in one file, which shows the same steps anywhere")
    imgui.separator()
    if imgui.menu_item_simple("New sensor..."):
        shell.edit_sensor(None)
    last = app.undoable
    if imgui.menu_item_simple(f"Undo: {last}" if last else "Undo", "Ctrl+Z", enabled=last is not None):
        app.undo()
    imgui.separator()
    if imgui.menu_item_simple("Quit", "Ctrl+Q"):
        shell.quit()


def _show_simulation(shell: Shell) -> None:
    session = shell.app.session
    _show_bindings(shell, SIMULATION[:3])
    imgui.begin_disabled(session.stepped_outside)
    _show_bindings(shell, SIMULATION[3:4])
    if session.engine.keys and imgui.begin_menu("Keyframe", not session.is_fixed):
        for key in session.engine.keys:
            if imgui.menu_item_simple(key):
                session.reset(key)
        imgui.end_menu()
    if imgui.begin_menu("Engine", session.engine.path is not None and not session.is_fixed):
        for choice, entry in CHOICES.items():
            if imgui.menu_item_simple(entry.label, None, choice == shell.app.loader.choice):
                shell.app.switch_engine(choice)
            tooltip(entry.hint)
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
            if imgui.menu_item_simple(name, None, name == view.camera_name):
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
    for panel in (SENSORS, INSPECTOR, SENSOR_EDITOR, CONTROLS, DISPLAY, PLOTS, EVENTS, TOUCH):
        if imgui.menu_item_simple(panel, "F4" if panel == SENSORS else None, shell.is_panel_shown(panel)):
            shell.toggle_panel(panel)
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
            tooltip("Of what this screen's density asks for")
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
