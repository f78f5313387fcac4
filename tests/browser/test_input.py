"""How a window takes what browsers send, and what no browser sends."""

import json
import os
import subprocess
import sys
from pathlib import Path

import pytest
from contact_viewer.browser.inbox import number_of
from contact_viewer.browser.input import find_key, text_of
from imgui_bundle import imgui

from .driver import boxes


@pytest.mark.parametrize("code", ["F²", "Digit²", "Numpad٣", "F0", "F" + "9" * 5000, "Keyß", "", "Digit", "F"])
def test_keys_that_no_keyboard_has_are_none(code: str) -> None:
    assert find_key(code, "") is None


def test_keys_are_found_by_letter_then_by_place() -> None:
    assert find_key("KeyZ", "y") == imgui.Key.y
    assert (find_key("F9", ""), find_key("Digit3", ""), find_key("Numpad3", "")) == (
        imgui.Key.f9,
        imgui.Key._3,
        imgui.Key.keypad3,
    )


def test_numbers_and_texts_are_such_that_the_window_takes_them() -> None:
    text = '{"a": 1e999, "b": NaN, "c": -3, "d": "5", "e": %s, "text": "a\\ud800b"}' % ("9" * 400)
    message = json.loads(text)
    assert [number_of(message, name) for name in "abcdef"] == [0.0, 0.0, -3.0, 0.0, 0.0, 0.0]
    assert text_of(message) == "ab"


CLICKED = """
import sys, threading
from pathlib import Path
from types import SimpleNamespace
import imgui_bundle
from contact_viewer.app.application import open_application
from contact_viewer.browser.inbox import Inbox
from contact_viewer.browser.serve import Audience
from contact_viewer.settings import Options, Quality
from contact_viewer.window.opening import use_null_display
from contact_viewer.window.main_loop import run_window
from contact_viewer.window.window import Window
from tests.browser.watched import PlaceWatch

places = PlaceWatch(Path(sys.argv[1]).with_name("places.json"))
options = Options(scene=Path(sys.argv[1]), paused=True, frames=60, width=1280, height=716, quality=Quality.LOW)
window = Window(open_application(options))
window.keeps_settings = False
use_null_display()
inbox = Inbox()
screen = SimpleNamespace(show=lambda picture: False)
server = SimpleNamespace(inbox=inbox, clients=[], wake=threading.Event(), screen=screen)

def row(number):
    # The middle of a sensor's row.
    left, upper, right, lower = places.last["Sensors/##row"][number]
    return {"x": (left + right) / 2, "y": (upper + lower) / 2}

class Watcher(Audience):
    def before_frame(self):
        if window.frame_count == 20:
            inbox.add({"type": "move", **row(2)})
        if window.frame_count == 40:
            # All at once, as between two frames that take long.
            for message in ({"type": "move"}, {"type": "button", "down": True}, {"type": "button", "down": False}):
                inbox.add({"button": 0, **row(1), **message})
        super().before_frame()

window.audience = Watcher(window, server, lambda server: None)
run_window(window)
print(window.app.session.selected)
"""


def test_a_click_that_comes_in_one_frame_with_its_movement_is_not_lost(tmp_path: Path) -> None:
    """From one row of the sensors to another. Rows lie below their icons: ImGui asks what was pointed at before."""
    (tmp_path / "boxes.xml").write_text(boxes())
    environment = {key: value for key, value in os.environ.items() if "DISPLAY" not in key}
    environment["PYTHONPATH"] = str(Path(__file__).parents[2])
    command = [sys.executable, "-c", CLICKED, str(tmp_path / "boxes.xml")]
    run = subprocess.run(command, env=environment, capture_output=True, text=True, timeout=120, check=False)
    assert run.stdout == "s1\n", run.stderr
