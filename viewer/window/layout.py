"""Lays out the window around the panels: size, OpenGL, saved layout, and where each panel is docked at first."""

import os
from collections.abc import Callable, Mapping
from pathlib import Path

from imgui_bundle import ImVec2, hello_imgui, imgui

from ..app.application import TITLE
from ..settings import Options, Quality
from .shell import DISPLAY, EVENTS, INSPECTOR, PLOTS, SENSOR_EDITOR, SENSORS, TOUCH
from .theme import load_fonts

MAIN_DOCK = "MainDockSpace"
_SETTINGS_FOLDER = hello_imgui.IniFolderType.app_user_config_folder
_SETTINGS_FILE = f"{TITLE}/window.ini"
_LEFT, _LEFT_BELOW, _RIGHT, _BOTTOM = "Left", "LeftBelow", "Right", "Bottom"
_DOCKS = {
    SENSORS: _LEFT,
    DISPLAY: _LEFT_BELOW,
    INSPECTOR: _RIGHT,
    SENSOR_EDITOR: _RIGHT,
    PLOTS: _BOTTOM,
    EVENTS: _BOTTOM,
    TOUCH: _BOTTOM,
}
_LEFT_PART, _RIGHT_PART, _BOTTOM_PART = 0.15, 0.20, 0.3
"""Parts of the window that panels take at first; the scene keeps two thirds of the width."""
_LEFT_WIDTH, _RIGHT_WIDTH = 230.0, 300.0
"""What the side panels need at least to be readable, in a small window [px]."""


def window_params(options: Options | None, keeps_settings: bool) -> hello_imgui.RunnerParams:
    """A window without content yet."""
    params = hello_imgui.RunnerParams()
    geometry = hello_imgui.WindowGeometry()
    geometry.size = (options.width, options.height) if options else (Options.width, Options.height)
    params.app_window_params.window_geometry = geometry
    params.app_window_params.window_title = TITLE
    window = params.imgui_window_params
    window.default_imgui_window_type = hello_imgui.DefaultImGuiWindowType.provide_full_screen_dock_space
    window.show_menu_bar = True
    window.show_menu_app = window.show_menu_view = False
    window.show_status_bar = True
    window.show_status_fps = False
    window.remember_theme = window.remember_status_bar_settings = False
    # MuJoCo's renderer needs a compatibility context.
    gl = hello_imgui.OpenGlOptions()
    gl.use_core_profile = gl.use_forward_compat = False
    gl.major_version, gl.minor_version, gl.glsl_version = 3, 0, "130"
    gl.anti_aliasing_samples = 4 if options and options.quality is Quality.HIGH else 0
    params.renderer_backend_options.open_gl_options = gl
    params.ini_folder_type = _SETTINGS_FOLDER
    params.ini_filename = _SETTINGS_FILE
    params.ini_filename_use_app_window_title = False
    params.ini_disable = not keeps_settings
    # Whoever runs the window knows better when a frame is needed: see `Idling`.
    params.fps_idling.enable_idling = False
    params.callbacks.default_icon_font = hello_imgui.DefaultIconFont.font_awesome6
    params.callbacks.load_additional_fonts = load_fonts
    return params


def settings_trouble() -> str | None:
    """Why settings and layout cannot be kept, for a person; None if they can. Hello ImGui would not open a window."""
    path = Path(hello_imgui.ini_folder_location(_SETTINGS_FOLDER)) / _SETTINGS_FILE
    try:
        path.parent.mkdir(parents=True, exist_ok=True)
        if path.is_dir():
            reason = "Is a directory"
        elif not (os.access(path, os.R_OK) if path.exists() else os.access(path.parent, os.W_OK)):
            # A file that can only be read is still worth reading.
            reason = "Permission denied"
        else:
            return None
    except OSError as error:
        reason = error.strerror or str(error)
    return f"settings and layout are not kept: {path} cannot be used ({reason})"


def dock_panels(
    params: hello_imgui.RunnerParams, panels: Mapping[str, Callable[[], None]], playback: Callable[[], None]
) -> None:
    """Put panels, by title, and the playback bar into the window."""
    split = hello_imgui.DockingSplit
    width = params.app_window_params.window_geometry.size[0]
    left_part = max(_LEFT_PART, _LEFT_WIDTH / width)
    right_part = max(_RIGHT_PART, _RIGHT_WIDTH / width) / (1 - left_part)
    params.docking_params.docking_splits = [
        split(MAIN_DOCK, _LEFT, imgui.Dir.left, left_part),
        split(MAIN_DOCK, _RIGHT, imgui.Dir.right, right_part),
        split(MAIN_DOCK, _BOTTOM, imgui.Dir.down, _BOTTOM_PART),
        split(_LEFT, _LEFT_BELOW, imgui.Dir.down, 0.48),
    ]
    params.docking_params.dockable_windows = [
        hello_imgui.DockableWindow(title, _DOCKS[title], show) for title, show in panels.items()
    ]
    bar = hello_imgui.EdgeToolbarOptions()
    bar.size_em = 2.5
    bar.window_padding_em = ImVec2(0.7, 0.45)
    params.callbacks.add_edge_toolbar(hello_imgui.EdgeToolbarType.bottom, playback, bar)
