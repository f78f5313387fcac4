"""Record button: start, pause and stop a video of the window."""

from pathlib import Path

from imgui_bundle import ImVec2, ImVec4, imgui
from imgui_bundle import icons_fontawesome_6 as icons

from ...app.application import Application
from ...settings import VideoStyle
from .. import widgets as ui
from ..file_dialog import FileDialog, Purpose

_RED = ImVec4(0.93, 0.25, 0.22, 1.0)


class RecordButton:
    """Button in the playback bar, with its dialog."""

    def __init__(self) -> None:
        self._path = ""
        self._wanted = False
        """True if the dialog is to open again."""

    def show(self, app: Application, files: FileDialog) -> None:
        recording = app.recorder.running
        width = 2.4 * imgui.get_font_size()
        if recording is None:
            with ui.text_color(_RED):
                clicked = imgui.button(f"{icons.ICON_FA_CIRCLE}###record", ImVec2(width, 0))
            ui.tooltip("Record a video (F9 starts at once)")
            if clicked or self._wanted:
                self._wanted = False
                self._path = str(app.next_recording)
                imgui.open_popup("Record")
            with ui.popup("Record", above=True) as opened:
                if opened:
                    self._show_dialog(app, files)
            return
        if ui.button(f"{icons.ICON_FA_STOP}###stop recording", f"Stop and save {recording.path} (F9)", width):
            app.recorder.stop()
        imgui.same_line(0, 4)
        icon = icons.ICON_FA_PLAY if recording.paused else icons.ICON_FA_PAUSE
        help_text = "Continue recording" if recording.paused else "Pause recording"
        if ui.button(f"{icon}###pause recording", help_text, width):
            app.recorder.toggle_paused()
        imgui.same_line()
        imgui.text_colored(_RED, icons.ICON_FA_CIRCLE)
        imgui.same_line(0, 4)
        minutes, seconds = divmod(recording.seconds, 60)
        with ui.number_font():
            imgui.text_unformatted(
                f"{minutes:.0f}:{seconds:04.1f} {recording.frames:5d} frames {recording.bytes_written / 2**20:5.1f} MB"
            )

    def _choose_folder(self, app: Application, files: FileDialog) -> None:
        """Let the user choose the folder; the dialog then opens again."""

        def choose_folder(folder: Path) -> None:
            app.session.settings.record_folder = str(folder)
            self._wanted = True

        files.ask(Purpose.FOLDER, "Folder for recordings", app.next_recording.parent, choose_folder)

    def _show_dialog(self, app: Application, files: FileDialog) -> None:
        em, settings = imgui.get_font_size(), app.session.settings
        ui.paragraph("The suffix gives the format: .mp4 .webm .gif .webp")
        imgui.set_next_item_width(28 * em)
        _, self._path = imgui.input_text("file", self._path)
        ui.tooltip("File of the recording")
        imgui.same_line()
        if ui.button(f"{icons.ICON_FA_FOLDER_OPEN}###folder", "Choose another folder"):
            self._choose_folder(app, files)
            imgui.close_current_popup()
        help_text = "Record the whole window; else the scene with legend and time. Also for screenshots"
        settings.record_panels = ui.checkbox("with panels", settings.record_panels, help_text)
        imgui.same_line(0, 2 * em)
        names = {0.0: "as in the window", 480.0: "480p", 720.0: "720p", 1080.0: "1080p"}
        known = names | {settings.record_height: names.get(settings.record_height, f"{settings.record_height:g}p")}
        help_text = "Height of the frames [px]"
        height = ui.choose("size", settings.record_height, known, 9 * em, help_text, lambda height: known[height])
        settings.record_height = height
        imgui.same_line(0, 2 * em)
        rates = sorted({settings.record_fps, 15.0, 24.0, 25.0, 30.0, 50.0, 60.0})
        help_text = "Frames per second; at most 50 for GIF"
        settings.record_fps = ui.choose(
            "frames/s", settings.record_fps, rates, 5 * em, help_text, lambda fps: f"{fps:g}"
        )
        help_text = "debug: as in the window; talk: large total forces and friction cones, few words. Without panels"
        settings.record_style = ui.choose("style", settings.record_style, list(VideoStyle), 6 * em, help_text)
        imgui.same_line(0, 2 * em)
        ui.dim_text("{} x {} pixels".format(*app.recording_size))
        path = Path(self._path.strip()).expanduser() if self._path.strip() else None
        if ui.button("Start recording", "Record from now on (F9)") and path is not None:
            app.start_recording(path)
            imgui.close_current_popup()
        history = app.session.history
        imgui.begin_disabled(history is None)
        imgui.same_line(0, 2 * imgui.get_font_size())
        help_text = "Replay and record the last seconds of the history (Shift+F9)"
        if ui.button("Record the last", help_text) and path is not None:
            app.record_last(path)
            imgui.close_current_popup()
        imgui.same_line()
        imgui.set_next_item_width(4 * imgui.get_font_size())
        changed, seconds = imgui.input_float("s", settings.record_last, 0, 0, "%g")
        ui.tooltip("Length of the replay, up to the newest step")
        if changed and seconds > 0:
            settings.record_last = seconds
        if history is not None:
            imgui.same_line()
            ui.dim_text(f"of {history.seconds:.1f} s")
        imgui.end_disabled()
