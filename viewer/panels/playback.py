"""Playback bar: run, step, reset, speed, keyframe, camera, time."""

from imgui_bundle import ImVec2, ImVec4, imgui
from imgui_bundle import icons_fontawesome_6 as icons

from ..session import SPEEDS, Session
from ..timeline import Timeline
from .shell import Shell
from .theme import dim_color
from .widgets import dim_text, number_font, tooltip

FREE_CAMERA = "free camera"


def format_speed(speed: float) -> str:
    """Speed as people say it: 1/10 x, 2 x."""
    return f"1/{round(1 / speed)} x" if speed < 0.999 else f"{speed:g} x"


def show_playback(shell: Shell) -> None:
    """The bar's content."""
    session = shell.session
    button = ImVec2(2.4 * imgui.get_font_size(), 0)
    imgui.begin_disabled(session.stepped_outside)
    if imgui.button(f"{icons.ICON_FA_BACKWARD_FAST}###reset", button):
        session.reset()
    tooltip("Reset (Backspace)")
    imgui.same_line(0, 4)
    timeline = session.timeline
    imgui.begin_disabled(timeline is None or timeline.current <= timeline.first)
    if imgui.button(f"{icons.ICON_FA_BACKWARD_STEP}###back", button):
        session.step_back()
    imgui.end_disabled()
    tooltip("One step back (Left)")
    imgui.same_line(0, 4)
    if imgui.button(f"{icons.ICON_FA_PLAY if session.paused else icons.ICON_FA_PAUSE}###play", button):
        session.toggle_paused()
    tooltip("Play (Space)" if session.paused else "Pause (Space)")
    imgui.same_line(0, 4)
    if imgui.button(f"{icons.ICON_FA_FORWARD_STEP}###step", button):
        session.step_once()
    tooltip("One step (Right)")
    imgui.same_line(0, 16)
    _show_speed(shell)
    imgui.end_disabled()
    if session.engine.keys:
        imgui.same_line(0, 16)
        _show_keys(shell)
    imgui.same_line(0, 16)
    _show_cameras(shell)
    imgui.same_line(0, 16)
    if session.stepped_outside:
        dim_text("stepped by your program")
    else:
        _show_scrubber(shell)
    imgui.same_line()
    _show_time(shell)


def _show_scrubber(shell: Shell) -> None:
    session = shell.session
    timeline = session.timeline
    if timeline is None:
        return
    width = imgui.get_content_region_avail().x - 7 * imgui.get_font_size()
    if width < 60:
        return
    imgui.set_next_item_width(width)
    moved, step = imgui.slider_int(
        "##scrub", timeline.current, timeline.first, max(timeline.last, timeline.first + 1), ""
    )
    if moved:
        session.go_to(step)
    tooltip(f"{_history_text(session, timeline)}. Drag to go back; playing on continues from there.")


def _show_time(shell: Shell) -> None:
    """The time, right-aligned; a click opens what can be done with it."""
    session = shell.session
    number_font()
    text = f"{session.engine.time:.3f} s"
    width = imgui.calc_text_size(text).x + 2 * imgui.get_style().frame_padding.x
    imgui.set_cursor_pos_x(imgui.get_cursor_pos_x() + max(0.0, imgui.get_content_region_avail().x - width))
    if session.paused:
        imgui.push_style_color(imgui.Col_.text, dim_color())
    imgui.push_style_color(imgui.Col_.button, ImVec4(0, 0, 0, 0))
    clicked = imgui.button(f"{text}###time")
    imgui.pop_style_color(2 if session.paused else 1)
    imgui.pop_font()
    if session.timeline is None:
        return
    tooltip("Simulated time. Click to go to another, or to change how much is kept")
    if clicked:
        imgui.open_popup("time")
    if imgui.begin_popup("time"):
        _show_time_popup(session, session.timeline)
        imgui.end_popup()


def _show_time_popup(session: Session, timeline: Timeline) -> None:
    entered = imgui.InputTextFlags_.enter_returns_true
    imgui.set_next_item_width(7 * imgui.get_font_size())
    if imgui.is_window_appearing():
        imgui.set_keyboard_focus_here()
    jump, time = imgui.input_double("go to [s]", session.engine.time, 0.0, 0.0, "%.3f", entered)
    tooltip(f"Pause at this time, from {timeline.time(timeline.first):.3f} to {timeline.time(timeline.last):.3f} s")
    if jump:
        session.go_to_time(time)
        imgui.close_current_popup()
    imgui.set_next_item_width(7 * imgui.get_font_size())
    change, megabytes = imgui.input_double(
        "MB for the history", session.settings.history_megabytes, 0.0, 0.0, "%.0f", entered
    )
    tooltip("Memory that the history may take. It begins anew when you change this")
    if change:
        session.set_history(megabytes)
    dim_text(_history_text(session, timeline))


def _history_text(session: Session, timeline: Timeline) -> str:
    used, limit = timeline.bytes / 2**20, session.settings.history_megabytes
    return f"{timeline.seconds:.1f} s of history, {used:.0f} of {limit:.0f} MB"


def _show_speed(shell: Shell) -> None:
    session = shell.session
    imgui.set_next_item_width(6 * imgui.get_font_size())
    if imgui.begin_combo("##speed", format_speed(session.pace.speed)):
        for speed in SPEEDS:
            if imgui.selectable(format_speed(speed), speed == session.pace.speed)[0]:
                session.set_speed(speed)
        imgui.end_combo()
    else:
        tooltip("Speed, as a multiple of real time (- and =)")


def _show_keys(shell: Shell) -> None:
    session = shell.session
    imgui.set_next_item_width(8 * imgui.get_font_size())
    if imgui.begin_combo("##key", "keyframe"):
        for key in session.engine.keys:
            if imgui.selectable(key, False)[0]:
                session.reset(key)
        imgui.end_combo()
    else:
        tooltip("Reset to a keyframe of the scene")


def _show_cameras(shell: Shell) -> None:
    view = shell.session.view
    imgui.set_next_item_width(9 * imgui.get_font_size())
    if imgui.begin_combo("##camera", view.camera_name or FREE_CAMERA):
        if imgui.selectable(FREE_CAMERA, view.camera_name is None)[0]:
            view.free_camera()
        for name in view.cameras:
            if imgui.selectable(name, name == view.camera_name)[0]:
                view.set_camera(name)
        imgui.end_combo()
    else:
        tooltip("Camera ([ and ], Esc for the free one)")
