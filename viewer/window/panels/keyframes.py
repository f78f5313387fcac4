"""Shows the keyframes of a scene in the Controls window: go to one, save, copy and paste."""

from imgui_bundle import icons_fontawesome_6 as icons
from imgui_bundle import imgui

from ...app.application import Application
from ...app.obstacles import why_not_saved
from ..widgets import Message, button, dim_text, disabled, small_button, tooltip


class KeyframeList:
    """The tab's content, with the name that a person types."""

    def __init__(self) -> None:
        self._name = ""
        self._message = Message()

    def show(self, app: Application) -> None:
        session, keyframes = app.session, app.keyframes
        suggested = keyframes.free_name(session)
        imgui.set_next_item_width(-6 * imgui.get_font_size())
        self._name = imgui.input_text_with_hint("###key name", suggested, self._name)[1]
        tooltip("What the keyframe is called")
        imgui.same_line()
        keep = button(f"{icons.ICON_FA_PLUS} Keep###keep", "Keep the present state as a keyframe of the running scene")
        if keep and self._message.attempt(lambda: keyframes.make(session, self._name or suggested)) is not None:
            self._name = ""
        with disabled(session.is_fixed):
            for name in session.engine.keys:
                self._show_row(app, name, made=False)
            for name in list(keyframes.made):
                if name not in session.engine.keys:
                    self._show_row(app, name, made=True)
        if not session.engine.keys and not keyframes.made:
            dim_text("No keyframes yet")
        imgui.spacing()
        if button("Copy MJCF", "Copy the present state as a <key> element (Ctrl+C)"):
            imgui.set_clipboard_text(keyframes.state(session).element())
        imgui.same_line()
        if button("Copy Python", "Copy the present state as statements that set an mjData"):
            imgui.set_clipboard_text(keyframes.state(session).python())
        imgui.same_line()
        with disabled(session.is_fixed):
            if button("Paste", "Start again from a <key> element in the clipboard"):
                self._message.attempt(lambda: keyframes.paste(session, imgui.get_clipboard_text()))
        self._message.show()

    def _show_row(self, app: Application, name: str, *, made: bool) -> None:
        imgui.push_id(f"key {name}")
        if small_button(f"{icons.ICON_FA_PLAY}###go", f"Start again from {name}"):
            self._message.attempt(lambda: app.keyframes.go_to(app.session, name))
        imgui.same_line()
        imgui.text_unformatted(name)
        if made:
            imgui.same_line()
            why_not = why_not_saved(app.session)
            with disabled(why_not is not None):
                help_text = why_not or "Write it into the scene's file: one line is added. Ctrl+Z takes it back"
                if small_button(f"{icons.ICON_FA_FLOPPY_DISK}###save", help_text):
                    self._message.attempt(lambda: app.keyframes.save(app.session, name))
            imgui.same_line()
            if small_button(f"{icons.ICON_FA_TRASH}###remove", f"Forget {name}. Ctrl+Z takes it back"):
                app.keyframes.remove(name)
        imgui.pop_id()
