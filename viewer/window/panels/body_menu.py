"""A body's menu: what a right click on it in the scene offers."""

import time
from typing import Any

from imgui_bundle import imgui

from ...mjmodel.names import body_names
from ...render.view import Pick
from ..shell import Shell
from ..viewport import RIGHT, Viewport
from ..widgets import dim_text, tooltip

_POPUP = "##body"


class BodyMenu:
    """Opens where the mouse is, unless the click becomes a double one."""

    def __init__(self) -> None:
        self.pick: Pick | None = None
        """What was clicked."""
        self._due = 0.0
        """When the menu opens, on the monotonic clock [s]; never if 0."""
        self._double = False

    def point(self, shell: Shell, viewport: Viewport, scene_pass: Any) -> None:
        """Notice a right click on a body. Call it once a frame."""
        if imgui.is_mouse_clicked(RIGHT):
            self._due, self._double = 0.0, imgui.is_mouse_double_clicked(RIGHT)
        if viewport.right_clicked and not self._double and not imgui.get_io().key_ctrl:
            pick = viewport.pick(shell.app.session, scene_pass)
            if pick is not None and pick.body > 0:
                self.pick = pick
                self._due = time.monotonic() + imgui.get_io().mouse_double_click_time

    def show(self, shell: Shell) -> None:
        """The menu, while it is open. Call it once a frame."""
        if 0 < self._due <= time.monotonic():
            self._due = 0.0
            imgui.open_popup(_POPUP)
        if imgui.begin_popup(_POPUP):
            self._show_entries(shell)
            imgui.end_popup()

    def _show_entries(self, shell: Shell) -> None:
        pick, session = self.pick, shell.app.session
        names = body_names(session.engine.model)
        if pick is None or pick.body >= len(names):
            imgui.close_current_popup()
            return
        view = session.view
        dim_text(names[pick.body])
        imgui.separator()
        if imgui.menu_item_simple("Select", "Double click"):
            view.select(pick)
        if imgui.menu_item_simple("Pull", "Ctrl+right drag"):
            view.select(pick)
            shell.app.notices.add(f"{names[pick.body]} is selected: drag with Ctrl and the right button to pull it")
        tooltip("Select it; then drag with Ctrl and the right button to pull, the left one to turn it")
        if imgui.menu_item_simple("Centre the view here", "Right double click"):
            view.center(pick.point)
        if imgui.menu_item_simple("Track", "Ctrl+right double click"):
            view.track(pick.body)
        imgui.separator()
        if imgui.menu_item_simple("Make a sensor here..."):
            shell.edit_new_sensor(pick)
        tooltip("A new contact sensor of what was clicked, in the editor")
