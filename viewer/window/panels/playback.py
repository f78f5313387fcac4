"""Playback bar: play, step, reset, speed, keyframe, camera, time."""

import numpy as np
from imgui_bundle import ImVec2, imgui, imgui_ctx
from imgui_bundle import icons_fontawesome_6 as icons
from numpy.typing import NDArray

from ...engines.logged_steps import CLOSE, UNKNOWN, StepExactness
from ...session.episodes import Episode
from ...session.history import History
from ...session.session import SPEEDS, Session
from ...session.simulation import Change
from .. import widgets as ui
from ..theme import dim_color, faded, plain_color, warning_color

FREE_CAMERA = "free camera"
_MOST_ROWS = 14
"""Largest number of rows in view in the list of episodes."""
_HEIGHT = 0.2
"""Height of the band of inexact steps, as a part of the timeline's height."""


def draw_band(history: History, exactness: StepExactness, first: int) -> int | None:
    """Draw the band of inexact steps over the lower edge of the timeline; return the step under the mouse."""
    low, high = imgui.get_item_rect_min(), imgui.get_item_rect_max()
    # A slider's handle does not reach the ends.
    inset = 0.5 * imgui.get_style().grab_min_size + 2
    left, right = low.x + inset, high.x - inset
    count = history.last - history.first + 1
    start = history.first + first
    columns = max(1, int(right - left))
    band = exactness.band(start, start + count, columns)
    tints = _tints(exactness.differences(start, start + count, columns))
    top = high.y - max(3.0, _HEIGHT * (high.y - low.y))
    draw, width = imgui.get_window_draw_list(), (right - left) / max(len(band), 1)
    begin = 0
    for end in range(1, len(band) + 1):
        if end < len(band) and band[end] == band[begin] and tints[end] == tints[begin]:
            continue
        color, upper = faded(dim_color(), 0.5), top
        if band[begin] == UNKNOWN:
            color = warning_color()
        elif band[begin] == CLOSE:
            color, upper = faded(warning_color(), float(tints[begin])), 0.5 * (top + high.y)
        # A single step stays visible.
        x = left + begin * width
        stop = max(left + end * width, x + 1.0)
        draw.add_rect_filled(ImVec2(x, upper), ImVec2(stop, high.y), imgui.get_color_u32(color))
        begin = end
    if not imgui.is_item_hovered():
        return None
    part = (imgui.get_mouse_pos().x - left) / max(right - left, 1.0)
    return history.first + round(min(max(part, 0.0), 1.0) * (count - 1))


def draw_marks(history: History) -> None:
    """Mark the steps of a user's loop that could not be re-simulated exactly, on the timeline: ImGui's last item."""
    low, high = imgui.get_item_rect_min(), imgui.get_item_rect_max()
    inset = 0.5 * imgui.get_style().grab_min_size + 2
    left, width = low.x + inset, max(1.0, high.x - low.x - 2 * inset)
    steps = np.fromiter(history.marks, np.int64, len(history.marks))
    steps = steps[steps >= history.first]
    # Each pixel once, however many steps it stands for.
    places = np.unique((steps - history.first) * width // max(history.last - history.first, 1))
    top, color = high.y - max(3.0, _HEIGHT * (high.y - low.y)), imgui.get_color_u32(warning_color())
    draw = imgui.get_window_draw_list()
    for place in places.tolist():
        draw.add_rect_filled(ImVec2(left + place, top), ImVec2(left + place + 1.0, high.y), color)


def _tints(differences: NDArray[np.float32]) -> NDArray[np.float64]:
    """Return an opacity for the relative difference of each step: five levels, for differences from 1e-12 to 1."""
    level = np.clip((np.log10(np.maximum(differences, 1e-30)) + 12.0) / 12.0, 0.0, 1.0)
    return 0.3 + 0.7 * np.round(4.0 * level) / 4.0


def format_speed(speed: float) -> str:
    """Return a speed as text: 1/10 x, 2 x."""
    return f"1/{round(1 / speed)} x" if speed < 0.999 else f"{speed:g} x"


def show_playback(session: Session) -> None:
    """Draw the playback bar."""
    width = 2.4 * imgui.get_font_size()
    with ui.disabled(session.why_not(Change.RESET) is not None):
        if ui.button(f"{icons.ICON_FA_BACKWARD_FAST}###reset", "Reset (Backspace)", width):
            session.reset()
    imgui.same_line(0, 4)
    history = session.history
    with ui.disabled(history is None or history.current <= history.first):
        if ui.button(f"{icons.ICON_FA_BACKWARD_STEP}###back", "One step back (Left)", width):
            session.step_back()
    imgui.same_line(0, 4)
    plays = not session.paused and (session.live or session.source.replays)
    icon, does = (icons.ICON_FA_PAUSE, "Pause") if plays else (icons.ICON_FA_PLAY, "Play")
    if ui.button(f"{icon}###play", f"{does} (Space)", width):
        session.toggle_paused()
    imgui.same_line(0, 4)
    if ui.button(f"{icons.ICON_FA_FORWARD_STEP}###step", "One step (Right)", width):
        session.step_once()
    with ui.disabled(session.why_not(Change.SPEED) is not None):
        imgui.same_line(0, 16)
        _show_speed(session)
    if session.engine.keys:
        with ui.disabled(session.why_not(Change.KEYFRAME) is not None):
            imgui.same_line(0, 16)
            _show_keys(session)
    if session.num_envs > 1:
        imgui.same_line(0, 16)
        _show_environments(session)
    imgui.same_line(0, 16)
    _show_cameras(session)
    if len(session.simulation.episodes):
        imgui.same_line(0, 16)
        _show_episodes(session)
    imgui.same_line(0, 16)
    _show_scrubber(session)
    imgui.same_line()
    _show_time(session)


def _show_scrubber(session: Session) -> None:
    history = session.history
    if history is None:
        return
    width = imgui.get_content_region_avail().x - 7 * imgui.get_font_size()
    if width < 60:
        return
    imgui.set_next_item_width(width)
    if len(session.simulation.episodes):
        _mark_episodes(session, width)
    moved, step = imgui.slider_int("##scrub", history.current, history.first, max(history.last, history.first + 1), "")
    if moved:
        session.go_to(step)
    source = session.source
    if (exactness := source.exactness) is not None:
        pointed = draw_band(history, exactness, source.first_number)
        if pointed is not None:
            number = pointed + source.first_number
            ui.tooltip(f"Step {number}, {history.time(pointed):.3f} s\n{exactness.describe(number)}")
        return
    start = "from there" if history.can_resume and source.continues_from_shown else "with the newest step"
    inexact = ""
    if history.marks:
        draw_marks(history)
        inexact = f"\n{len(history.marks)} marked steps could not be re-simulated exactly."
    ui.tooltip(lambda: f"{_history_text(session, history)}. Drag to go back; Play continues {start}.{inexact}")


def _show_episodes(session: Session) -> None:
    """Draw the number of the episode, with a list of all kept episodes."""
    number, newest = session.episode_number, session.simulation.episodes.count + 1
    text = f"episode {number} of {newest}"
    color = plain_color() if number == newest else warning_color()
    with ui.text_color(color):
        clicked = ui.button(f"{text}###episodes", "Kept episodes: choose one to go to its end (N and P cross episodes)")
    if clicked:
        imgui.open_popup("episodes")
    with ui.popup("episodes", above=True) as opened:
        if not opened:
            return
        episodes = session.episodes[::-1]
        has_return = any(episode.total is not None for episode in episodes)
        columns = ["", "steps", "s", *(["return"] if has_return else []), "end"]
        flags = imgui.TableFlags_.sizing_fixed_fit | imgui.TableFlags_.scroll_y
        rows = min(len(episodes) + 1, _MOST_ROWS)
        if imgui.begin_table("##episodes", len(columns), flags, ImVec2(0, rows * imgui.get_text_line_height() * 1.5)):
            for column in columns:
                imgui.table_setup_column(column)
            imgui.table_headers_row()
            for i in ui.visible_rows(len(episodes)):
                _show_episode(session, episodes[i], number, has_return)
            imgui.end_table()


def _show_episode(session: Session, episode: Episode, shown: int, has_return: bool) -> None:
    imgui.table_next_row()
    imgui.table_next_column()
    flags = imgui.SelectableFlags_.span_all_columns
    if imgui.selectable(f"{episode.number}##episode", episode.number == shown, flags)[0]:
        session.show_episode(episode.number)
    ui.tooltip("Show its last step")
    total = episode.total
    for text in (
        f"{episode.steps}",
        f"{episode.seconds:.3f}",
        *(["-" if total is None else f"{total:.4g}"] * has_return),
    ):
        imgui.table_next_column()
        with ui.number_font():
            ui.text_right(text)
    imgui.table_next_column()
    imgui.text(ui.fit_text(episode.ending or "running", 24 * imgui.get_font_size()))


def _mark_episodes(session: Session, width: float) -> None:
    """Draw the episodes side by side above the slider, with widths by their steps; a click on one shows its end."""
    episodes = session.episodes
    lengths = np.array([max(len(episode.history), 1) for episode in episodes], float)
    ends = np.concatenate([[0.0], np.cumsum(lengths) / lengths.sum()]) * width
    corner, draw = imgui.get_cursor_screen_pos(), imgui.get_window_draw_list()
    top, bottom = corner.y - 0.35 * imgui.get_text_line_height(), corner.y - 2.0
    for episode, left, right in zip(episodes, ends[:-1].tolist(), ends[1:].tolist(), strict=True):
        shown = episode.number == session.episode_number
        color = plain_color() if shown else faded(dim_color(), 0.6)
        start, end = ImVec2(corner.x + left, top), ImVec2(corner.x + max(right - 1.0, left + 1.0), bottom)
        draw.add_rect_filled(start, end, imgui.get_color_u32(color))
        if imgui.is_mouse_hovering_rect(start, end):
            imgui.set_tooltip(f"Episode {episode.number}: {episode.steps} steps, {episode.ending or 'goes on'}")
            if imgui.is_mouse_clicked(0):
                session.show_episode(episode.number)


def _show_time(session: Session) -> None:
    """Draw the time, right-aligned; a click opens the popup to change it."""
    color = dim_color() if session.paused else plain_color()
    with ui.number_font(), ui.text_color(color), imgui_ctx.push_style_color(imgui.Col_.button, ui.NO_COLOR):
        text = f"{session.engine.time:.3f} s"
        width = imgui.calc_text_size(text).x + 2 * imgui.get_style().frame_padding.x
        imgui.set_cursor_pos_x(imgui.get_cursor_pos_x() + max(0.0, imgui.get_content_region_avail().x - width))
        clicked = imgui.button(f"{text}###time")
    if session.history is None:
        return
    ui.tooltip("Simulated time. Click to go to a time, or to change the size of the history")
    if clicked:
        imgui.open_popup("time")
    with ui.popup("time", above=True) as opened:
        if opened:
            _show_time_popup(session, session.history)


def _show_time_popup(session: Session, history: History) -> None:
    width = 7 * imgui.get_font_size()
    if imgui.is_window_appearing():
        imgui.set_keyboard_focus_here()
    help_text = f"Pause at this time, from {history.time(history.first):.3f} to {history.time(history.last):.3f} s"
    time = ui.number_field("go to [s]", session.engine.time, width, "%.3f", help_text)
    if time is not None:
        session.go_to_time(time)
        imgui.close_current_popup()
    help_text, kept = "Memory for the history [MB]. Changing it clears the history", session.settings.history_megabytes
    if (megabytes := ui.number_field("MB for the history", kept, width, "%.0f", help_text)) is not None:
        session.set_history(megabytes)
    ui.dim_text(_history_text(session, history))


def _history_text(session: Session, history: History) -> str:
    used, limit = history.bytes / 2**20, session.settings.history_megabytes
    return f"{history.seconds:.1f} s of history, {used:.0f} of {limit:.0f} MB"


def _show_speed(session: Session) -> None:
    help_text = "Speed, as a multiple of real time (- and =)"
    width, now = 6 * imgui.get_font_size(), session.pace.speed
    if (speed := ui.choose("##speed", now, SPEEDS, width, help_text, format_speed)) != now:
        session.set_speed(speed)


def _show_keys(session: Session) -> None:
    keys, width, help_text = [*session.engine.keys], 8 * imgui.get_font_size(), "Reset to a keyframe of the scene"
    if (key := ui.choose("##key", None, keys, width, help_text, preview="keyframe")) is not None:
        session.reset(key)


def _show_environments(session: Session) -> None:
    count, width = session.num_envs, 6 * imgui.get_font_size()
    help_text = "Environment that is shown (, and .)"
    chosen = ui.choose("##environment", session.env, range(count), width, help_text, lambda env: f"{env + 1} / {count}")
    if chosen != session.env:
        session.show_environment(chosen)


def _show_cameras(session: Session) -> None:
    view, width = session.view, 9 * imgui.get_font_size()
    now = view.camera_name or FREE_CAMERA
    help_text, preview = f"Camera: {now} ([ and ], Esc for the free one)", ui.combo_text(now, width)
    names = (None, *view.cameras)
    chosen = ui.choose("##camera", view.camera_name, names, width, help_text, lambda name: name or FREE_CAMERA, preview)
    if chosen != view.camera_name:
        view.free_camera() if chosen is None else view.set_camera(chosen)
