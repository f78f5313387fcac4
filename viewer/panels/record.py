"""Record button: start, pause and stop a video of the window."""

from pathlib import Path

from imgui_bundle import ImVec2, ImVec4, imgui
from imgui_bundle import icons_fontawesome_6 as icons

from .shell import Shell
from .widgets import dim_text, number_font, paragraph, tooltip

_RED = ImVec4(0.93, 0.25, 0.22, 1.0)


class RecordButton:
    """The button in the playback bar, and the dialog behind it."""

    def __init__(self) -> None:
        self._path = ""

    def show(self, shell: Shell) -> None:
        status = shell.recording
        button = ImVec2(2.4 * imgui.get_font_size(), 0)
        if status is None:
            imgui.push_style_color(imgui.Col_.text, _RED)
            clicked = imgui.button(f"{icons.ICON_FA_CIRCLE}###record", button)
            imgui.pop_style_color()
            tooltip("Record a video (F9 starts at once)")
            if clicked:
                self._path = str(shell.next_recording)
                imgui.open_popup("Record")
            self._show_dialog(shell)
            return
        if imgui.button(f"{icons.ICON_FA_STOP}###stop recording", button):
            shell.stop_recording()
        tooltip(f"Stop and save {status.path} (F9)")
        imgui.same_line(0, 4)
        if imgui.button(f"{icons.ICON_FA_PLAY if status.paused else icons.ICON_FA_PAUSE}###pause recording", button):
            shell.toggle_recording_paused()
        tooltip("Go on recording" if status.paused else "Pause recording")
        imgui.same_line()
        imgui.text_colored(_RED, icons.ICON_FA_CIRCLE)
        imgui.same_line(0, 4)
        number_font()
        minutes, seconds = divmod(status.seconds, 60)
        imgui.text_unformatted(f"{minutes:.0f}:{seconds:04.1f} {status.frames:5d} frames {status.megabytes:5.1f} MB")
        imgui.pop_font()

    def _show_dialog(self, shell: Shell) -> None:
        if not imgui.begin_popup("Record"):
            return
        paragraph("The suffix tells the format: .mp4 .webm .gif .webp")
        imgui.set_next_item_width(28 * imgui.get_font_size())
        _, self._path = imgui.input_text("file", self._path)
        settings = shell.session.settings
        _, settings.record_panels = imgui.checkbox("with panels", settings.record_panels)
        tooltip("Record the whole window, or the scene alone")
        path = Path(self._path.strip()).expanduser() if self._path.strip() else None
        if imgui.button("Start recording") and path is not None:
            shell.start_recording(path)
            imgui.close_current_popup()
        timeline = shell.session.timeline
        imgui.begin_disabled(timeline is None)
        imgui.same_line(0, 2 * imgui.get_font_size())
        if imgui.button("Record the last") and path is not None:
            shell.record_last(path)
            imgui.close_current_popup()
        tooltip("Show the newest part of the history again, every frame at its time, and record it (Shift+F9)")
        imgui.same_line()
        imgui.set_next_item_width(4 * imgui.get_font_size())
        changed, seconds = imgui.input_float("s", settings.record_last, 0, 0, "%g")
        if changed and seconds > 0:
            settings.record_last = seconds
        if timeline is not None:
            imgui.same_line()
            dim_text(f"of {timeline.seconds:.1f} s")
        imgui.end_disabled()
        imgui.end_popup()
