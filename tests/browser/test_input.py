"""What no browser sends, and a window must survive."""

import json

import pytest
from contact_viewer.browser.inbox import number_of
from contact_viewer.browser.input import find_key, text_of
from imgui_bundle import imgui


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
