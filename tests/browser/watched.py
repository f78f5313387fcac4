"""The program `contact-viewer`, which also writes down where its panels and controls are: tests click there.

The folder of the layout, XDG_CONFIG_HOME, has them in a file: by name of the panel, and of the control in it, the left,
upper, right and lower edges [px] of each that was drawn in the last frame, in the order of drawing. Controls have their
ImGui names: `Sensors/##filter`.
"""

import json
import os
import sys
from collections.abc import Callable
from pathlib import Path
from typing import Any

from contact_viewer.browser.serve import Audience
from contact_viewer.cli import main
from imgui_bundle import imgui

FILE = "places.json"
SCENE = "scene"
"""Name of the place where the scene is drawn, free of panels."""
LEGEND = "##legend"
"""Name of the place of the legend, over the scene."""
_CONTROLS = (
    *("small_button", "button", "invisible_button", "selectable", "menu_item_simple", "begin_menu", "begin_combo"),
    *("input_text_with_hint", "slider_int", "slider_float"),
)
Rect = tuple[float, float, float, float]


class PlaceWatch:
    """Finds panels and controls while they are drawn."""

    def __init__(self, path: Path) -> None:
        self._path, self._written = path, ""
        self._places: dict[str, list[Rect]] = {}
        self.last: dict[str, list[Rect]] = {}
        """Those of the last frame, by name."""
        for kind in _CONTROLS:
            setattr(imgui, kind, self._noting(getattr(imgui, kind)))
        show = Audience.after_frame

        def after_frame(audience: Audience, read: Callable[[], Any]) -> None:
            window = audience._window
            self._places[SCENE] = [window.viewport.rect]
            for title in (*(panel.title for panel in window.panels), LEGEND):
                drawn = imgui.internal.find_window_by_name(title)
                if drawn is not None and drawn.active and not drawn.hidden:
                    low, size = drawn.pos, drawn.size
                    self._places[title] = [(low.x, low.y, low.x + size.x, low.y + size.y)]
            self._write()
            show(audience, read)

        Audience.after_frame = after_frame  # type: ignore[assignment,method-assign]

    def _noting(self, original: Callable[..., Any]) -> Callable[..., Any]:
        def call(*arguments: Any, **named: Any) -> Any:
            result = original(*arguments, **named)
            # A list or menu that is open has begun a panel of its own; its items are noted.
            if not (original.__name__.startswith("begin_") and result):
                panel = imgui.internal.get_current_window().root_window.name
                low, high = imgui.get_item_rect_min(), imgui.get_item_rect_max()
                name = f"{panel}/{arguments[0].split('###')[-1]}"
                self._places.setdefault(name, []).append((low.x, low.y, high.x, high.y))
            return result

        return call

    def _write(self) -> None:
        text = json.dumps(self._places)
        self.last, self._places = self._places, {}
        if text != self._written:
            self._written = text
            part = self._path.with_suffix(".part")
            part.write_text(text)
            part.replace(self._path)


if __name__ == "__main__":
    PlaceWatch(Path(os.environ["XDG_CONFIG_HOME"], FILE))
    raise SystemExit(main(sys.argv[1:]))
