"""Lay out the window: size, OpenGL, saved layout, and the dock of each panel."""

import json
import os
import re
from collections import Counter
from collections.abc import Callable, Sequence
from contextlib import suppress
from pathlib import Path
from typing import Any

from imgui_bundle import ImVec2, hello_imgui, imgui

from ..app.application import TITLE
from ..files import free_path
from ..settings import Options
from .shell import Dock, Panel
from .theme import load_fonts

MAIN_DOCK = "MainDockSpace"
_SETTINGS_FOLDER = hello_imgui.IniFolderType.app_user_config_folder
_LAYOUT = re.compile(rb"^(\[Layout\]\r?\nName=)\w+", re.MULTILINE)
"""Name of the layout that was used last, in the settings file."""
_SETTINGS_FILE, _SERVED_FILE = f"{TITLE}/window.ini", f"{TITLE}/served.ini"
"""Files for settings and layout of windows on a display, and of served ones, which have other sizes."""
SAVED = "view_state"
"""Section of the settings file with the user's choices; Hello ImGui keeps the layout in other sections."""
_SECTION = re.compile(r"^;;;<<<(\w+)>>>;;;\n(.*?)(?=^;;;<<<|\Z)", re.MULTILINE | re.DOTALL)
_DOCK = re.compile(
    r" *Dock(?:Space|Node) +ID=(?P<id>\w+)(?: Parent=(?P<parent>\w+))?(?: Window=\w+)?"
    r"(?: Pos=-?\d+,-?\d+ Size=[1-9]\d*,[1-9]\d*| SizeRef=\d+,\d+)(?P<split> Split=[XY])?(?: \w+=\w+)*"
)
_LEFT_PART, _RIGHT_PART, _BOTTOM_PART = 0.15, 0.20, 0.32
"""First width or height of each dock, as a part of the window's, within the sizes below."""
_LEFT_SIZES, _RIGHT_SIZES, _BOTTOM_SIZES = (230.0, 300.0), (345.0, 460.0), (250.0, 420.0)
"""Smallest and largest first size of each dock [px]: panels stay readable, and the scene keeps its room."""
_LEAST_HEIGHT, _MOST_HEIGHT = 230.0, 0.5
"""Least height of docked panels in a window that was made smaller [px], and largest part of its height for them."""
_SETTLED = 3
_SMALL = 1100
"""Width below which a window has a saved layout of its own, apart from that of larger windows [px]."""
_BARS = 95.0
"""Height of menu bar, playback bar and status bar together [px]."""


def window_params(options: Options | None, keeps_settings: bool, is_served: bool = False) -> hello_imgui.RunnerParams:
    """Return Hello ImGui's parameters for a window without content."""
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
    params.ini_filename = _SERVED_FILE if is_served else _SETTINGS_FILE
    params.ini_filename_use_app_window_title = False
    params.ini_disable = not keeps_settings
    # `Idling` decides when a frame is needed.
    params.fps_idling.enable_idling = False
    params.callbacks.default_icon_font = hello_imgui.DefaultIconFont.font_awesome6
    params.callbacks.load_additional_fonts = load_fonts
    return params


def settings_path(is_served: bool = False) -> Path:
    """Return the file that settings and layout are kept in."""
    return Path(hello_imgui.ini_folder_location(_SETTINGS_FOLDER)) / (_SERVED_FILE if is_served else _SETTINGS_FILE)


def prepare_settings(is_served: bool = False) -> tuple[bool, str | None]:
    """Check the saved settings before Hello ImGui reads them: a damaged file would keep the window from opening.

    Returns True if settings and layout can be saved, and a text for the user about them, if there is one. A damaged
    file is renamed, so nothing is lost, and the defaults are used.
    """
    path = settings_path(is_served)
    try:
        path.parent.mkdir(parents=True, exist_ok=True)
        if path.exists() and not path.is_file():
            reason = "Is a directory" if path.is_dir() else "Not a file"
        elif not (os.access(path, os.R_OK) if path.exists() else os.access(path.parent, os.W_OK)):
            # A file that can only be read is still worth reading.
            reason = "Permission denied"
        elif path.exists() and not _is_sound(path.read_bytes()):
            aside = free_path(path.parent, f"{path.stem}-damaged", path.suffix)
            path.rename(aside)
            return True, f"the saved settings were damaged and are reset; the old file is now {aside}"
        else:
            return True, None
    except OSError as error:
        reason = error.strerror or str(error)
    return False, f"settings and layout will not be saved: cannot use {path} ({reason})"


def choose_layout(name: str, is_served: bool = False) -> None:
    """Let the saved settings open a layout: Hello ImGui would look for the one that was used last, and complain."""
    path = settings_path(is_served)
    with suppress(OSError):
        saved = path.read_bytes()
        if (changed := _LAYOUT.sub(rb"\g<1>" + name.encode(), saved)) != saved:
            path.write_bytes(changed)


def _is_sound(saved: bytes) -> bool:
    """Return True if a settings file is complete, and the docks in it are trees, as Dear ImGui asserts."""
    try:
        sections = _SECTION.findall(saved.decode())
        # The last section: a file that was cut off lacks it.
        json.loads(dict(sections)[SAVED])
        are_once = b"\0" not in saved and len(dict(sections)) == len(sections)
        return are_once and all(_are_trees(text) for _, text in sections)
    except (ValueError, KeyError, RecursionError):
        return False


def _are_trees(layout: str) -> bool:
    """Return True if each dock of a layout has two children if it is split, else none."""
    splits, children = dict[str, bool](), list[str]()
    for line in re.findall(r"^ *Dock(?=[NS]).*$", layout, re.MULTILINE):
        dock = _DOCK.fullmatch(line)
        if dock is None or dock["id"] in splits:
            return False
        splits[dock["id"]] = dock["split"] is not None
        if dock["parent"] is not None:
            children.append(dock["parent"])
    return Counter(children) == Counter({dock: 2 for dock, is_split in splits.items() if is_split})


def _first_size(total: float, part: float, bounds: tuple[float, float]) -> float:
    """Return the width or height of a dock in a window of a total size [px]."""
    return min(max(part * total, bounds[0]), bounds[1])


def dock_panels(
    params: hello_imgui.RunnerParams,
    panels: Sequence[tuple[Panel, Callable[[], None]]],
    playback: Callable[[], None],
) -> None:
    """Dock the panels, each with the function that draws it, and the playback bar."""
    split = hello_imgui.DockingSplit
    width, height = params.app_window_params.window_geometry.size
    left = _first_size(width, _LEFT_PART, _LEFT_SIZES)
    narrow = [max(each.most_width * width, each.least_width) for each, _ in panels if each.dock is Dock.RIGHT]
    right = min(_first_size(width, _RIGHT_PART, _RIGHT_SIZES), max(narrow, default=width))
    bottom = _first_size(height, _BOTTOM_PART, _BOTTOM_SIZES)
    params.docking_params.docking_splits = [
        split(MAIN_DOCK, Dock.LEFT, imgui.Dir.left, left / width),
        split(MAIN_DOCK, Dock.RIGHT, imgui.Dir.right, right / (width - left)),
        split(MAIN_DOCK, Dock.BOTTOM, imgui.Dir.down, min(bottom / max(height - _BARS, 1.0), _MOST_HEIGHT)),
        split(Dock.LEFT, Dock.LEFT_BELOW, imgui.Dir.down, 0.48),
    ]
    # A layout of its own, so that panels that were made narrow in a small window are not so in a large one.
    params.docking_params.layout_name = "Default" if width >= _SMALL else "Small"
    params.docking_params.dockable_windows = [
        hello_imgui.DockableWindow(panel.title, panel.dock, show) for panel, show in panels
    ]
    bar = hello_imgui.EdgeToolbarOptions()
    bar.size_em = 2.5
    bar.window_padding_em = ImVec2(0.7, 0.45)
    params.callbacks.add_edge_toolbar(hello_imgui.EdgeToolbarType.bottom, playback, bar)


class Docks:
    """Keep panels readable, and the scene in sight, when the size of the window or of its text changes.

    A layout that was saved in a large window may open in a small one. Otherwise sizes stay as the user dragged them.
    """

    def __init__(self, panels: Sequence[Panel]) -> None:
        self._panels = panels
        self._size = ImVec2(0, 0)
        self._scale = 1.0
        self._frames = 0

    def update(self, dock_space_id: int | None, scale: float) -> None:
        """Adapt the docks. Call it once a frame; `scale` is the size of text relative to its usual one."""
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
        for panel in self._panels:
            window = imgui.internal.find_window_by_name(panel.title)
            node = _side(window.dock_node, central) if window is not None and window.dock_node is not None else None
            if node is not None and node.id_ not in done:
                done.add(node.id_)
                _limit(node, panel, size, growth, scale)


def _side(node: Any, central: Any) -> Any | None:
    """Return the largest part of the window that contains a panel and not the scene; None if the panel floats."""
    while node.parent_node is not None:
        if _holds(node.parent_node, central):
            return node
        node = node.parent_node
    return None


def _holds(node: Any, other: Any) -> bool:
    """Return True if one part of the window is inside another."""
    x, y = other.pos.x + 0.5 * other.size.x, other.pos.y + 0.5 * other.size.y
    return bool(0 <= x - node.pos.x < node.size.x and 0 <= y - node.pos.y < node.size.y)


def _limit(node: Any, panel: Panel, window: ImVec2, growth: float, scale: float) -> None:
    width, height = node.size_ref.x, node.size_ref.y
    if node.parent_node.split_axis == imgui.internal.Axis.x:
        least, most = panel.least_width * scale, panel.most_width * window.x
        width = max(min(width * growth, most), min(least, 0.4 * window.x))
    else:
        height = max(min(height * growth, _MOST_HEIGHT * window.y), min(_LEAST_HEIGHT * scale, 0.6 * window.y))
    if (width, height) != (node.size_ref.x, node.size_ref.y):
        imgui.internal.dock_builder_set_node_size(node.id_, ImVec2(width, height))
