"""Part of the window that shows the scene: its rectangle, and the mouse over it."""

import time
from collections.abc import Sequence
from typing import Any

import numpy as np
from imgui_bundle import ImVec2, imgui
from numpy.typing import NDArray

# After imgui_bundle, so that both use one GLFW library.
import glfw  # isort: skip

from ..render.camera import CameraMatrices, Eye, point_at_depth
from ..render.view import Pick
from ..session.session import Session
from ..session.simulation import Change

_WHEEL_ZOOM = 0.05
LEFT, RIGHT, MIDDLE = 0, 1, 2
Rect = tuple[float, float, float, float]
"""Left, top, right, bottom in window coordinates."""
_PATIENCE = 0.6
"""Time for which an overlay may hide moving geoms before it moves elsewhere [s]."""
CLICK_TRAVEL = 4.0
"""Mouse travel below which a press is a click, not a drag [px]."""


class Viewport:
    """Part of the window that panels leave to the scene."""

    def __init__(self) -> None:
        self.rect = (0.0, 0.0, 1.0, 1.0)
        """Left, top, right, bottom in window coordinates."""
        self.legend_bottom: float | None = None
        """Lower edge of the legend if it is at the top of the scene, in window coordinates; else None."""
        self.occupied: NDArray[np.float64] = np.empty((0, 3))
        """Moving geoms and contacts in view, as circles: x, y and radius in window coordinates, (n, 3). Contacts have
        radius 0."""
        self._places: dict[str, tuple[int, float]] = {}
        """Position of each overlay, and when it was last seen to be free, on the monotonic clock [s]."""
        self._drag: int | None = None
        """Mouse button of a drag that began over the scene; None if there is none."""

    @property
    def hovered(self) -> bool:
        """True if the mouse is over the scene and no panel wants it."""
        io = imgui.get_io()
        left, top, right, bottom = self.rect
        inside = left <= io.mouse_pos.x < right and top <= io.mouse_pos.y < bottom
        return inside and not io.want_capture_mouse

    def is_clicked(self, button: int = LEFT) -> bool:
        """Return True if a button was pressed and released over the scene, without a drag in between."""
        travel = imgui.get_mouse_drag_delta(button, 0.0)
        still = abs(travel.x) + abs(travel.y) < CLICK_TRAVEL
        return self.hovered and imgui.is_mouse_released(button) and still

    @property
    def mouse_pixel(self) -> tuple[float, float]:
        """Position of the mouse in framebuffer pixels, from the bottom left as OpenGL counts."""
        io = imgui.get_io()
        scale = io.display_framebuffer_scale
        return io.mouse_pos.x * scale.x, (io.display_size.y - io.mouse_pos.y) * scale.y

    @property
    def dragging(self) -> bool:
        """True while a drag that began over the scene goes on."""
        if self._drag is None:
            return False
        travel = imgui.get_mouse_drag_delta(self._drag, 0.0)
        return abs(travel.x) + abs(travel.y) > CLICK_TRAVEL

    def look_at_moving(self, session: Session, matrices: CameraMatrices) -> None:
        """Update `occupied` from the moving geoms and the contacts of the shown sensors."""
        model, data, geoms = session.engine.model, session.engine.data, session.view.moving_geoms
        x, y, _, height = self.pixels
        touching = [
            group.batch.pos[group.batch.filled] for group in session.shown_groups if group.batch.pos is not None
        ]
        points = np.concatenate([data.geom_xpos[geoms], *touching])
        pixels, depths = matrices.project(points, self.pixels)
        radii = np.zeros(len(points))
        radii[: len(geoms)] = model.geom_rbound[geoms] / matrices.pixel_size(points[: len(geoms)], self.pixels)
        places = np.stack([pixels[:, 0] - x, y + height - pixels[:, 1], radii], axis=1)
        scale = imgui.get_io().display_framebuffer_scale.x
        self.occupied = places[depths > 0] / scale + (self.rect[0], self.rect[1], 0.0)

    def free_place(self, name: str, rects: Sequence[Rect]) -> int:
        """Return the index of the rectangle where an overlay hides fewest moving geoms and contacts. It stays the same
        until another rectangle has been better for a while."""
        now = time.monotonic()
        place, seen = self._places.get(name, (0, -np.inf))
        covered = [self._covered(rect) for rect in rects]
        place = min(place, len(rects) - 1)
        if covered[place] <= min(covered):
            self._places[name] = place, now
        elif now - seen > _PATIENCE:
            place = int(np.argmin(covered))
            self._places[name] = place, now
        return place

    def _covered(self, rect: Rect) -> float:
        """Return the part of the contacts in a rectangle plus the part of the moving geoms in it, from 0 to 2."""
        x, y, radius = self.occupied.T
        height = self.rect[3] - self.rect[1]
        is_contact = radius == 0.0
        reach = np.where(is_contact, 0.05 * height, np.minimum(0.7 * radius, 0.1 * height))
        inside = np.hypot(x - np.clip(x, rect[0], rect[2]), y - np.clip(y, rect[1], rect[3])) < reach
        parts = (inside[each].mean() if each.any() else 0.0 for each in (is_contact, ~is_contact))
        # A hundredth more or less is no reason to go elsewhere.
        return round(float(sum(parts)), 2)

    def update(self, dock_space_id: int | None) -> None:
        """Update the rectangle to the part of the window without docked panels."""
        node = imgui.internal.dock_builder_get_central_node(dock_space_id) if dock_space_id else None
        if node is not None:
            left, top = node.pos.x, node.pos.y
            self.rect = (left, top, left + node.size.x, top + node.size.y)

    @property
    def pixels(self) -> tuple[int, int, int, int]:
        """Rectangle of the scene as x, y, width, height in framebuffer pixels, from the bottom left as OpenGL
        counts."""
        io = imgui.get_io()
        scale = io.display_framebuffer_scale
        left, top, right, bottom = self.rect
        x, y = round(left * scale.x), round((io.display_size.y - bottom) * scale.y)
        width, height = round((right - left) * scale.x), round((bottom - top) * scale.y)
        return x, y, max(width, 1), max(height, 1)

    def handle_mouse(self, session: Session, scene_pass: Any) -> None:
        """Move the camera, select and perturb with the mouse."""
        io = imgui.get_io()
        _, top, _, bottom = self.rect
        view, engine = session.view, session.engine
        height = max(bottom - top, 1.0)
        if self._drag is not None:
            self._continue_drag(session, scene_pass, io.mouse_delta.x / height, io.mouse_delta.y / height)
        if not self.hovered:
            return
        if io.mouse_wheel:
            view.zoom(_WHEEL_ZOOM * io.mouse_wheel, self._zoom_center(session, scene_pass))
        for button in (LEFT, RIGHT, MIDDLE):
            if imgui.is_mouse_double_clicked(button):
                self._double_click(session, scene_pass, button)
            elif imgui.is_mouse_clicked(button) and self._drag is None:
                self._drag = button
                can_pull = session.why_not(Change.PULL) is None
                if io.key_ctrl and button != MIDDLE and view.selected_body > 0 and can_pull:
                    view.begin_perturb(engine.model, engine.data, scene_pass, translate=button == RIGHT)

    def pick(self, session: Session, scene_pass: Any) -> Pick | None:
        """Return the geom and body under the mouse; None if there is none."""
        left, top, right, bottom = self.rect
        aspect = max(right - left, 1.0) / max(bottom - top, 1.0)
        engine = session.engine
        return session.view.pick(engine.model, engine.data, scene_pass, *self._mouse_place(), aspect)

    def _zoom_center(self, session: Session, scene_pass: Any) -> NDArray[np.float64]:
        """Return the point to zoom to: the surface under the mouse, else a point as far away as the centre of the
        view."""
        pick = self.pick(session, scene_pass)
        if pick is not None:
            return pick.point
        x, y = self._mouse_place()
        model, data = session.engine.model, session.engine.data
        eye = Eye(session.view.matrices(model, data, self.pixels), self.pixels)
        return point_at_depth(eye, x, y, session.view.focus)

    def _mouse_place(self) -> tuple[float, float]:
        """Return the position of the mouse as fractions of the scene's width and height, from its lower left corner."""
        io = imgui.get_io()
        left, top, right, bottom = self.rect
        return (io.mouse_pos.x - left) / max(right - left, 1.0), (bottom - io.mouse_pos.y) / max(bottom - top, 1.0)

    def _continue_drag(self, session: Session, scene_pass: Any, dx: float, dy: float) -> None:
        io = imgui.get_io()
        view, engine = session.view, session.engine
        if self._drag is None or not imgui.is_mouse_down(self._drag):
            self._drag = None
            view.end_perturb()
        elif dx or dy:
            if view.perturbing:
                view.move_perturb(engine.model, engine.data, scene_pass, dx, dy, horizontal=io.key_shift)
            elif self._drag == LEFT:
                view.orbit(dx, dy)
            elif self._drag == RIGHT:
                view.pan(dx, dy, horizontal=io.key_shift)
            else:
                view.zoom(-dy)

    def _double_click(self, session: Session, scene_pass: Any, button: int) -> None:
        view = session.view
        pick = self.pick(session, scene_pass)
        if button == LEFT:
            view.select(pick)
        elif button == RIGHT and pick is not None:
            if imgui.get_io().key_ctrl:
                view.track(pick.body)
            else:
                view.center(pick.point)


def window_pixels() -> tuple[int, int, int, int]:
    """Return left, bottom, width and height of the whole window in the framebuffer [px]."""
    io = imgui.get_io()
    scale = io.display_framebuffer_scale
    return 0, 0, max(round(io.display_size.x * scale.x), 1), max(round(io.display_size.y * scale.y), 1)


def undo_odd_scale() -> None:
    """Restore a scale of 1 on X11, where pixels of window and framebuffer are the same. Call it when a frame begins.

    ImGui reads both sizes one after the other. If the window is resized in between, their quotient would scale text
    and pictures.
    """
    scale = imgui.get_io().display_framebuffer_scale
    if (scale.x, scale.y) != (1.0, 1.0) and glfw.get_platform() == glfw.PLATFORM_X11:
        imgui.get_io().display_framebuffer_scale = imgui.get_main_viewport().framebuffer_scale = ImVec2(1.0, 1.0)
