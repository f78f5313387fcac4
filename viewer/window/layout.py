"""Lays out the window around the panels: size, OpenGL, saved layout, and where each panel is docked at first."""

import os
from collections.abc import Callable, Mapping
from pathlib import Path
from typing import Any

from imgui_bundle import ImVec2, hello_imgui, imgui

from ..app.application import TITLE
from ..settings import Options
from .shell import CONTROLS, DISPLAY, EVENTS, INSPECTOR, PLOTS, SENSOR_EDITOR, SENSORS, TOUCH
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
    CONTROLS: _RIGHT,
    PLOTS: _BOTTOM,
    EVENTS: _BOTTOM,
    TOUCH: _BOTTOM,
}
_LEFT_PART, _RIGHT_PART, _BOTTOM_PART = 0.15, 0.20, 0.32
"""Parts of the window that panels take at first ..."""
_LEFT_SIZES, _RIGHT_SIZES, _BOTTOM_SIZES = (230.0, 300.0), (345.0, 460.0), (250.0, 420.0)
"""... but at least, for they would not be readable, and at most, for the scene needs it more [px]."""
_LEAST = {INSPECTOR: 300.0, SENSOR_EDITOR: 300.0}
_LEAST_WIDTH, _LEAST_HEIGHT = 230.0, 230.0
"""What panels keep in a window that was made smaller, where they have no size in `_LEAST` [px]."""
_MOST = {SENSORS: 0.24, DISPLAY: 0.24}
_MOST_WIDTH, _MOST_HEIGHT = 0.3, 0.5
"""Part of the window that panels of one side take at most after its size has changed, where they are not in `_MOST`."""
_SETTLED = 3
_BARS = 95.0
"""Height of menu, playback bar and status [px]."""


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
    # The scene has a framebuffer of its own for that: see `ScenePass`.
    gl.anti_aliasing_samples = 0
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


def _first_size(total: float, part: float, bounds: tuple[float, float]) -> float:
    """Width or height of panels in a window so large [px]."""
    return min(max(part * total, bounds[0]), bounds[1])


def dock_panels(
    params: hello_imgui.RunnerParams, panels: Mapping[str, Callable[[], None]], playback: Callable[[], None]
) -> None:
    """Put panels, by title, and the playback bar into the window."""
    split = hello_imgui.DockingSplit
    width, height = params.app_window_params.window_geometry.size
    left = _first_size(width, _LEFT_PART, _LEFT_SIZES)
    right = min(_first_size(width, _RIGHT_PART, _RIGHT_SIZES), max(_MOST_WIDTH * width, _LEAST[INSPECTOR]))
    bottom = _first_size(height, _BOTTOM_PART, _BOTTOM_SIZES)
    params.docking_params.docking_splits = [
        split(MAIN_DOCK, _LEFT, imgui.Dir.left, left / width),
        split(MAIN_DOCK, _RIGHT, imgui.Dir.right, right / (width - left)),
        split(MAIN_DOCK, _BOTTOM, imgui.Dir.down, min(bottom / max(height - _BARS, 1.0), _MOST_HEIGHT)),
        split(_LEFT, _LEFT_BELOW, imgui.Dir.down, 0.48),
    ]
    params.docking_params.dockable_windows = [
        hello_imgui.DockableWindow(title, _DOCKS[title], show) for title, show in panels.items()
    ]
    bar = hello_imgui.EdgeToolbarOptions()
    bar.size_em = 2.5
    bar.window_padding_em = ImVec2(0.7, 0.45)
    params.callbacks.add_edge_toolbar(hello_imgui.EdgeToolbarType.bottom, playback, bar)


class Docks:
    """Keeps panels readable, and the scene in sight, when the window or its text is given another size.

    A layout that was saved in a large window opens in a small one; what a person drags stays as it is otherwise.
    """

    def __init__(self) -> None:
        self._size = ImVec2(0, 0)
        self._scale = 1.0
        self._frames = 0

    def update(self, dock_space_id: int | None, scale: float) -> None:
        """Call it once a frame; `scale` is the size of text by its usual one."""
        central = imgui.internal.dock_builder_get_central_node(dock_space_id) if dock_space_id else None
        root = imgui.internal.dock_builder_get_node(dock_space_id) if dock_space_id else None
        if central is None or root is None or root.size.x <= 1:
            return
        self._frames += 1
        size = root.size
        # The parts have their sizes from the second frame on.
        if self._frames < _SETTLED or (size.x, size.y, scale) == (self._size.x, self._size.y, self._scale):
            return
        growth, self._scale = scale / self._scale, scale
        self._size = ImVec2(size.x, size.y)
        done = set()
        for title in _DOCKS:
            window = imgui.internal.find_window_by_name(title)
            node = _side(window.dock_node, central) if window is not None and window.dock_node is not None else None
            if node is not None and node.id_ not in done:
                done.add(node.id_)
                _limit(node, title, size, growth, scale)


def _side(node: Any, central: Any) -> Any | None:
    """The largest part of the window that holds a panel, and not the scene; None if the panel floats."""
    while node.parent_node is not None:
        if _holds(node.parent_node, central):
            return node
        node = node.parent_node
    return None


def _holds(node: Any, other: Any) -> bool:
    """True if one part of the window is inside another."""
    x, y = other.pos.x + 0.5 * other.size.x, other.pos.y + 0.5 * other.size.y
    return bool(0 <= x - node.pos.x < node.size.x and 0 <= y - node.pos.y < node.size.y)


def _limit(node: Any, title: str, window: ImVec2, growth: float, scale: float) -> None:
    width, height = node.size_ref.x, node.size_ref.y
    if node.parent_node.split_axis == imgui.internal.Axis.x:
        least = _LEAST.get(title, _LEAST_WIDTH) * scale
        most = _MOST.get(title, _MOST_WIDTH) * window.x
        width = max(min(width * growth, most), min(least, 0.4 * window.x))
    else:
        height = max(min(height * growth, _MOST_HEIGHT * window.y), min(_LEAST_HEIGHT * scale, 0.6 * window.y))
    if (width, height) != (node.size_ref.x, node.size_ref.y):
        imgui.internal.dock_builder_set_node_size(node.id_, ImVec2(width, height))
