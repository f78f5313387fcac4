"""Overlays on the scene: legend, notices, progress of opening, simulation info, and the profiler."""

import time
from collections import deque
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager

import numpy as np
from imgui_bundle import ImVec2, ImVec4, hello_imgui, imgui
from imgui_bundle import icons_fontawesome_6 as icons

from ...app.notices import Notices
from ...render.style import force_text
from ...session.layer import LegendEntry
from ...session.layers import bar_text, legend_entries, legend_notes
from ...session.session import Session
from ...settings import ScaleMode
from ..shell import Shell
from ..theme import plain_color, warning_color
from ..viewport import Viewport
from ..widgets import begin_overlay, dim_text, number_font, small_button, text_color, text_right, tooltip

_MARGIN = 12
_MARK = 1.5
"""Width of the mark of a legend entry, in font sizes."""
_GAP, _BETWEEN = 8, 16
"""Gap between a mark and its text, and between entries in one line [px]."""
_TALL = 26
"""Least height of a scene for one legend entry per line, in lines of text; in a lower scene entries share lines."""
_CORNER, _LEAST_ROOM = 0.4, 20
"""Largest part of a low scene's width for the legend, and width that it may always have, in font sizes."""
_NEWS_SECONDS = 4.0
"""Time for which a new scale is highlighted while paused [s]."""
_UNCOVERED = 0.4
"""Part of the scene that the drawer leaves free."""
_FRAMES = 120
"""Number of newest frames that the profiler shows."""


def show_legend(shell: Shell, viewport: Viewport) -> None:
    """Draw the legend in the lower left corner of the scene, or at the top of a low scene; nothing if it has no
    entries."""
    session = shell.app.session
    viewport.legend_bottom = None
    if not session.settings.show_legend:
        return
    entries, notes = legend_entries(session), legend_notes(session)
    if not entries and not notes:
        return
    left, top, right, bottom = viewport.rect
    # As narrow as a corner beside a robot in the middle.
    is_low = bottom - top < _TALL * imgui.get_text_line_height()
    room = max(_CORNER * (right - left), _LEAST_ROOM * imgui.get_font_size()) if is_low else 0.0
    below, above = (left, bottom, 0.0, 1.0), (left, top, 0.0, 0.0)
    # In a low scene contacts are below, the sky is above.
    corners = [above, below] if room else [below, above]
    corners += [(right, y, 1.0, pivot) for _, y, _, pivot in corners]
    taken = {above} if shell.info_shown else set()
    taken |= {(right, top, 1.0, 0.0)} if shell.profiler_shown else set()
    corner = _free_corner("legend", viewport, [each for each in corners if each not in taken])
    is_above = corner[3] == 0.0
    imgui.set_next_window_bg_alpha(0.9)
    begin_overlay("legend")
    folded = session.settings.fold_legend
    for entry in () if folded else entries:
        _flow(_MARK * imgui.get_font_size() + _GAP + imgui.calc_text_size(entry.text).x, room)
        _show_entry(entry)
    if session.settings.gizmos.forces and entries:
        _scale_bar(session)
        imgui.same_line(0, 8)
    icon = icons.ICON_FA_CHEVRON_UP if folded else icons.ICON_FA_CHEVRON_DOWN
    if small_button(f"{icon}###fold", "Unfold the legend" if folded else "Fold the legend"):
        session.settings.fold_legend = not folded
    for note in () if folded else notes:
        _flow(imgui.calc_text_size(note).x, room)
        dim_text(note)
    if is_above:
        viewport.legend_bottom = imgui.get_window_pos().y + imgui.get_window_height()
    imgui.end()


_Corner = tuple[float, float, float, float]
"""Point at an edge of the scene, x and y in window coordinates, and the pivot of the overlay there, 0 to 1 each."""


def _free_corner(name: str, viewport: Viewport, corners: Sequence[_Corner]) -> _Corner:
    """Place the next overlay at the point where it hides fewest moving geoms and contacts; return that point."""
    window = imgui.internal.find_window_by_name(f"##{name}")
    width, height = (0.0, 0.0) if window is None else (window.size.x, window.size.y)
    inner = [(x + _MARGIN * (1 - 2 * px), y + _MARGIN * (1 - 2 * py), px, py) for x, y, px, py in corners]
    rects = [(x - px * width, y - py * height, x + (1 - px) * width, y + (1 - py) * height) for x, y, px, py in inner]
    place = viewport.free_place(name, rects)
    x, y, *pivot = inner[place]
    imgui.set_next_window_pos(ImVec2(x, y), 0, ImVec2(*pivot))
    return corners[place]


def _flow(width: float, room: float) -> None:
    """Continue the line with an item of a width [px] if the line then is at most `room` long [px]."""
    padding = imgui.get_style().window_padding
    end = imgui.get_item_rect_max().x - imgui.get_window_pos().x - padding.x
    if imgui.get_cursor_pos().y > padding.y and end + _BETWEEN + width <= room:
        imgui.same_line(0, _BETWEEN)


def _show_entry(entry: LegendEntry) -> None:
    """Draw an arrow or a point in its colour, and its meaning."""
    size, line = imgui.get_font_size(), imgui.get_text_line_height()
    corner = imgui.get_cursor_screen_pos()
    *rgb, alpha = entry.color
    # What is faint and white in the scene has the colour of text here: in the light theme it could not be seen.
    faint = alpha < 1.0 and min(rgb) == 1.0
    color = imgui.get_color_u32(imgui.Col_.text, alpha) if faint else imgui.get_color_u32(ImVec4(*entry.color))
    middle = corner.y + line / 2
    draw = imgui.get_window_draw_list()
    if entry.is_arrow:
        end, neck, thick = corner.x + _MARK * size, corner.x + (_MARK - 0.6) * size, 0.17 * size
        draw.add_line(ImVec2(corner.x, middle), ImVec2(neck, middle), color, thick)
        tips = (ImVec2(neck, middle - 0.3 * size), ImVec2(end, middle), ImVec2(neck, middle + 0.3 * size))
        draw.add_triangle_filled(*tips, color)
    else:
        center = ImVec2(corner.x + 0.5 * _MARK * size, middle)
        draw.add_circle_filled(center, 0.3 * size, color)
        draw.add_circle(center, 0.3 * size, imgui.get_color_u32(imgui.Col_.text, 0.35))
    imgui.dummy(ImVec2(_MARK * size, line))
    imgui.same_line(0, _GAP)
    imgui.text_unformatted(entry.text)


def _scale_bar(session: Session) -> None:
    bar, gizmos, scale = session.scale_bar, session.settings.gizmos, session.scale
    if session.paused and time.monotonic() - session.force_scale.changed_on_clock > _NEWS_SECONDS:
        # No simulated time passes after which it would no longer be news.
        bar = bar._replace(before=None)
    length = bar.length / imgui.get_io().display_framebuffer_scale.x
    corner = imgui.get_cursor_screen_pos()
    color = imgui.get_color_u32(imgui.Col_.text)
    middle = corner.y + imgui.get_text_line_height() / 2
    end = corner.x + length
    draw = imgui.get_window_draw_list()
    draw.add_line(ImVec2(corner.x, middle), ImVec2(end, middle), color, 1.5)
    for x in (corner.x, end):
        draw.add_line(ImVec2(x, middle - 4), ImVec2(x, middle + 4), color, 1.5)
    imgui.dummy(ImVec2(length, imgui.get_text_line_height()))
    imgui.same_line(0, 8)
    with text_color(warning_color() if bar.before is not None else plain_color()):
        imgui.text_unformatted(bar_text(bar, gizmos))
    tooltip(
        f"Length of a {force_text(bar.force)} arrow across the view, where the contacts are.\n"
        f"Scale: {gizmos.scale_mode}, {scale.force:.3g} m/N ({1 / scale.force:.3g} N/m)"
    )
    if gizmos.scale_mode is ScaleMode.AUTO:
        imgui.same_line(0, 8)
        locked = session.force_scale.locked
        help_text = "Unlock: let the scale adapt to the forces" if locked else "Lock this scale"
        if small_button(f"{icons.ICON_FA_LOCK if locked else icons.ICON_FA_LOCK_OPEN}###lock", help_text):
            session.force_scale.locked = not locked


class Drawer:
    """Drawer of a narrow window: one panel over the lower part of the scene, with tabs for the others.

    While it is closed, a button opens it.
    """

    def __init__(self) -> None:
        self._title: str | None = None
        """Title of the panel in the last frame."""

    def show(self, shell: Shell, viewport: Viewport, panels: Mapping[str, Callable[[], None]]) -> None:
        """Draw the drawer if the window is narrow. `panels`: functions that draw each panel, by title."""
        if not shell.is_folded or shell.is_presenting:
            return
        left, top, right, bottom = viewport.rect
        if shell.drawer is None:
            self._title = None
            imgui.set_next_window_pos(ImVec2(right - _MARGIN, top + _MARGIN), 0, ImVec2(1, 0))
            begin_overlay("drawer")
            if small_button(f"{icons.ICON_FA_BARS} Panels", "Show a panel; the window is too narrow to dock them"):
                shell.drawer = next(iter(panels))
            imgui.end()
            return
        imgui.set_next_window_pos(ImVec2(left, top + _UNCOVERED * (bottom - top)))
        imgui.set_next_window_size(ImVec2(right - left, (1 - _UNCOVERED) * (bottom - top)))
        flags, tabs, wanted = imgui.WindowFlags_, imgui.TabBarFlags_, shell.drawer
        fixed = flags.no_move | flags.no_resize | flags.no_collapse | flags.no_docking | flags.no_saved_settings
        _, stays = imgui.begin("Panels###panels", True, fixed)
        if imgui.begin_tab_bar("##tabs", tabs.fitting_policy_scroll | tabs.tab_list_popup_button):
            for title, show in panels.items():
                is_new = title == wanted != self._title
                if imgui.begin_tab_item(title, None, imgui.TabItemFlags_.set_selected if is_new else 0)[0]:
                    if wanted == self._title or is_new:
                        shell.drawer = title
                    imgui.begin_child(title)
                    show()
                    imgui.end_child()
                    imgui.end_tab_item()
            imgui.end_tab_bar()
        imgui.end()
        self._title = wanted
        if not stays:
            shell.drawer = None


def show_notices(notices: Notices, viewport: Viewport) -> None:
    """Draw notices at the top of the scene, below the legend if it is there; each has a button to dismiss it."""
    notices.drop_expired()
    left, top, right, bottom = viewport.rect
    above = max(top, min(viewport.legend_bottom or top, (top + bottom) / 2))
    middle, below = (left + right) / 2, bottom - 2 * _MARGIN
    corners = [(middle, above, 0.5, 0.0), (right, above, 1.0, 0.0)]
    if viewport.legend_bottom is not None:
        # Else the legend is there.
        corners += [(middle, below, 0.5, 1.0), (right, below, 1.0, 1.0), (left, below, 0.0, 1.0)]
    if not notices.items:
        return
    x, y, pivot, is_below = _free_corner("notice0", viewport, corners)
    x, y = x + _MARGIN * (1 - 2 * pivot), y + _MARGIN * (1 - 2 * is_below)
    for i, notice in enumerate(list(notices.items)):
        imgui.set_next_window_pos(ImVec2(x, y), 0, ImVec2(pivot, is_below))
        imgui.set_next_window_size_constraints(ImVec2(0, 0), ImVec2(0.9 * (right - left), 400))
        imgui.set_next_window_bg_alpha(0.92)
        begin_overlay(f"notice{i}")
        if notice.warning:
            imgui.text_colored(warning_color(), icons.ICON_FA_TRIANGLE_EXCLAMATION)
            imgui.same_line()
        imgui.push_text_wrap_pos(0.8 * (right - left))
        imgui.text_unformatted(notice.text)
        imgui.pop_text_wrap_pos()
        imgui.same_line()
        if notice.offer is not None:
            label, act = notice.offer
            if small_button(f"{label}###offer", "Do this, and dismiss the notice"):
                notices.items.remove(notice)
                act()
            imgui.same_line()
        if notice.warning:
            if small_button(
                f"{icons.ICON_FA_COPY}###copy", "Copy the text" + (" and where it failed" * bool(notice.details))
            ):
                imgui.set_clipboard_text("\n".join(filter(None, (notice.text, notice.details))))
            imgui.same_line()
        if small_button(f"{icons.ICON_FA_XMARK}###dismiss", "Dismiss") and notice in notices.items:
            notices.items.remove(notice)
        y += (imgui.get_window_height() + 6) * (-1 if is_below else 1)
        imgui.end()


def show_progress(viewport: Viewport, text: str | None, cancel: Callable[[], None]) -> None:
    """Draw the progress of opening a scene at the bottom of the scene, with a button to cancel."""
    if text is None:
        return
    left, _, right, bottom = viewport.rect
    imgui.set_next_window_pos(ImVec2((left + right) / 2, bottom - _MARGIN), 0, ImVec2(0.5, 1))
    begin_overlay("progress")
    imgui.text_unformatted(text)
    imgui.same_line()
    if small_button("Cancel", "Keep current scene"):
        cancel()
    imgui.end()


def show_info(session: Session, viewport: Viewport) -> None:
    """Draw time, speed and sizes of the simulation in the upper left corner of the scene."""
    engine, data = session.engine, session.engine.data
    facts = {
        "Time": f"{engine.time:.3f} s",
        "Speed": "paused" if session.paused else f"{session.pace.achieved:.2f} x",
        "Frames": f"{hello_imgui.frame_rate():.0f} /s",
        "Time step": f"{1000 * engine.timestep:g} ms",
        "Contacts": str(engine.contact_data().ncon),
    }
    if engine.has_contact_list:
        iterations = int(data.solver_niter[: max(int(data.nisland), 1)].sum())
        facts |= {"Constraints": str(data.nefc), "Solver": f"{iterations} iteration{'' if iterations == 1 else 's'}"}
        facts |= {"Memory": f"{data.maxuse_arena / 2**20:.1f} of {data.narena / 2**20:.0f} MB"}
    _begin_corner("info", viewport, right=False)
    with number_font():
        right = imgui.calc_text_size("Constraints 000 iterations").x
        for name, value in facts.items():
            dim_text(name)
            imgui.same_line()
            text_right(value, right=right)
    imgui.end()


class Profiler:
    """Measure the parts of frames, and show them."""

    def __init__(self) -> None:
        self._parts: dict[str, deque[float]] = {}
        """Time of each part [ms], newest last."""
        self._frame_begin = 0.0

    @contextmanager
    def measure(self, name: str) -> Iterator[None]:
        """Measure a part of this frame, for as long as the `with` block runs."""
        begin = time.perf_counter()
        yield
        self._add(name, time.perf_counter() - begin)

    def begin_frame(self) -> None:
        """Record the duration of the previous frame."""
        now = time.perf_counter()
        if self._frame_begin:
            self._add("whole frame", now - self._frame_begin)
        self._frame_begin = now

    def _add(self, name: str, seconds: float) -> None:
        self._parts.setdefault(name, deque(maxlen=_FRAMES)).append(1000 * seconds)

    def show(self, viewport: Viewport) -> None:
        """Draw the mean and longest time of each part in the upper right corner of the scene."""
        _begin_corner("profiler", viewport, right=True)
        with number_font():
            heading = "[ms]           mean  longest"
            dim_text(heading)
            for name, values in self._parts.items():
                times = np.array(values, np.float32)
                imgui.text_unformatted(f"{name:<11}{times.mean():8.2f}{times.max():9.2f}")
                size = ImVec2(imgui.calc_text_size(heading).x, 1.6 * imgui.get_font_size())
                imgui.plot_lines(f"##{name}", times, scale_min=0.0, graph_size=size)
        imgui.end()


def _begin_corner(name: str, viewport: Viewport, right: bool) -> None:
    left, top, end, _ = viewport.rect
    x = end - _MARGIN if right else left + _MARGIN
    imgui.set_next_window_pos(ImVec2(x, top + _MARGIN), 0, ImVec2(float(right), 0))
    imgui.set_next_window_bg_alpha(0.8)
    begin_overlay(name)
