"""Errors in parts of the window, made on purpose: the window stays, says so, and every other part goes on."""

import sys
from collections.abc import Callable
from pathlib import Path
from types import FrameType
from typing import Any

import pytest
from contact_viewer.window.guard import Guard
from contact_viewer.window.shell import Audience
from contact_viewer.window.window import Window
from imgui_bundle import imgui

from .driver import drive, make_window, wait

FOLDER = str(Path(sys.modules[Window.__module__].__file__ or "").parent)
PLACES = 5
"""Lines of each part at which errors are made, spread over all that it runs through."""


class Sabotage:
    """Makes one part of the window fail at a line of its code."""

    def __init__(self) -> None:
        self.part: str | None = None
        """Its name; none is touched without it."""
        self.line: tuple[str, int] | None = None
        """The line that fails, once; without it lines are noted."""
        self.lines: list[tuple[str, int]] = []
        """Lines that the part runs through, in their order."""
        self.parts: list[str] = []

    def wrap(self, name: str, call: Callable[[], None]) -> Callable[[], None]:
        self.parts.append(name)

        def sabotaged() -> None:
            if name != self.part:
                call()
                return
            sys.settrace(self._trace)
            try:
                call()
            finally:
                sys.settrace(None)

        return sabotaged

    def _trace(self, frame: FrameType, event: str, _: Any) -> Any:
        if not frame.f_code.co_filename.startswith(FOLDER):
            return None
        if event == "line":
            place = frame.f_code.co_filename, frame.f_lineno
            if self.line is None and place not in self.lines:
                self.lines.append(place)
            if place == self.line:
                self.line = None
                self.part = None
                raise ZeroDivisionError("made on purpose")
        return self._trace


@pytest.fixture
def sabotage(monkeypatch: pytest.MonkeyPatch) -> Sabotage:
    made = Sabotage()
    part = Guard.part
    monkeypatch.setattr(Guard, "part", lambda self, name, draw: part(self, name, made.wrap(name, draw)))
    return made


def test_an_error_anywhere_in_a_panel_becomes_a_notice(sabotage: Sabotage) -> None:
    window = make_window("gripper", steps=300, width=800, height=600)
    app, guard = window.app, window.guard
    failed: list[str] = []

    def test(ctx: Any) -> None:
        app.session.settings.gizmos.labels = True
        app.session.step_once()
        for name in list(sabotage.parts):
            if name in ("Sensor editor", "Controls", "Events", "Touch", "Bodies", "Findings", "Compare"):
                # Some are hidden at first.
                dockable = window.dockable(name)
                dockable.is_visible = dockable.focus_window_at_next_frame = True
                ctx.yield_(2)
            if name == "The file dialog":
                window.choose_scene()
            if name == "The menu":
                ctx.item_click("//##MainMenuBar/##MenuBar/View")
            if name == "The help":
                window.help_shown = True
            app.notices.add("something to show", warning=True)
            sabotage.lines, sabotage.part = [], name
            ctx.yield_(2)
            for line in sabotage.lines[:: max(1, len(sabotage.lines) // PLACES)]:
                guard.failures.clear()
                sabotage.line, sabotage.part = line, name
                ctx.yield_(2)
                failed.extend(name for _ in guard.failures)
                assert all(isinstance(error, ZeroDivisionError) for error in guard.failures), guard.failures
            sabotage.part = sabotage.line = None
            ctx.key_press(imgui.Key.escape)
        # And all of it still works.
        guard.failures.clear()
        app.notices.items.clear()
        guard._reported.clear()
        ctx.item_click("//Sensors/$$0/###visible")
        assert not next(iter(app.session.visible.values()))
        ctx.menu_click("//##MainMenuBar/View/Light theme")
        assert app.session.settings.theme == "light"

    drive(window, test, may_fail=True)
    assert not guard.failures
    assert set(failed) == set(sabotage.parts)
    assert len(failed) > 60


def test_a_failing_command_leaves_scene_and_unsaved_sensors(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    window = make_window("gripper")
    app = window.app
    copied: list[str] = []
    monkeypatch.setattr(imgui, "set_clipboard_text", copied.append)

    def test(ctx: Any) -> None:
        before = len(app.session.engine.sensors)
        app.show_all_contacts()
        wait(ctx, lambda: len(app.session.engine.sensors) > before)
        unsaved = list(app.sensor_edits.unsaved)
        assert unsaved
        monkeypatch.setattr(app, "undo", lambda: 1 / 0)
        ctx.key_press(imgui.Key.mod_ctrl.value | imgui.Key.z.value)
        ctx.yield_(2)
        assert (
            app.notices.items[-1].text
            == "This key failed; the simulation continues (ZeroDivisionError: division by zero)"
        )
        ctx.item_click(f"//##notice{len(app.notices.items) - 1}/###copy")
        assert "test_guard.py" in copied[-1]
        assert list(app.sensor_edits.unsaved) == unsaved
        ctx.key_press(imgui.Key.space)
        ctx.yield_(5)
        assert app.session.engine.time > 0
        # Physics that fails unexpectedly is paused, and the window goes on.
        monkeypatch.setattr(app.session, "advance", lambda budget: [][1])
        ctx.yield_(3)
        assert app.session.paused
        assert "IndexError" in app.notices.items[-1].text
        monkeypatch.undo()
        ctx.key_press(imgui.Key.right_arrow)
        ctx.yield_(2)

    drive(window, test, may_fail=True)
    assert {type(error) for error in window.guard.failures} == {ZeroDivisionError, IndexError}


def test_what_a_panel_leaves_open_is_closed_and_said(monkeypatch: pytest.MonkeyPatch) -> None:
    def leave_open(panel: Any, shell: Any) -> None:
        imgui.push_id("left open")
        imgui.begin_child("child")

    monkeypatch.setattr("contact_viewer.window.panels.display.DisplayPanel.show", leave_open)
    window = make_window("slope", width=800, height=600)

    def test(ctx: Any) -> None:
        ctx.yield_(3)
        assert any("Display failed" in notice.text for notice in window.app.notices.items)
        assert len(window.app.notices.items) == 1

    drive(window, test, may_fail=True)


class Watching(Audience):
    """Those who watch from elsewhere: they count the pictures that reach them."""

    pictures = 0

    def sleep(self, seconds: float) -> bool:
        return False

    def after_frame(self, read: Callable[[], Any]) -> None:
        assert read().ndim == 3
        self.pictures += 1


def test_a_recording_that_fails_leaves_those_who_watch_their_pictures(monkeypatch: pytest.MonkeyPatch) -> None:
    window = make_window("slope", width=800, height=600)
    window.audience = watching = Watching()

    def test(ctx: Any) -> None:
        monkeypatch.setattr(window.app, "take_picture", lambda *_, **__: 1 // 0)
        before = watching.pictures
        ctx.yield_(5)
        assert watching.pictures >= before + 4
        assert any("Recording failed" in notice.text for notice in window.app.notices.items)
        monkeypatch.undo()

    drive(window, test, may_fail=True)


def test_a_step_that_fails_names_the_file(monkeypatch: pytest.MonkeyPatch) -> None:
    window = make_window("slope", width=800, height=600)

    def test(ctx: Any) -> None:
        monkeypatch.setattr(window.app, "advance", lambda: 1 // 0)
        wait(ctx, lambda: window.app.notices.items)
        assert window.app.notices.items[0].text.startswith("This step of slope.xml failed")
        monkeypatch.undo()

    drive(window, test, may_fail=True)
