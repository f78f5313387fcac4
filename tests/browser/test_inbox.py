"""What of a browser's input one frame takes."""

from typing import Any

from contact_viewer.browser.inbox import Inbox


def frames(*messages: dict[str, Any]) -> list[list[dict[str, Any]]]:
    """What each frame takes of messages that came at once."""
    inbox = Inbox()
    for message in messages:
        inbox.add(message)
    taken = []
    while inbox:
        taken.append(inbox.pop())
        assert taken[-1]
    return taken


def move(x: float) -> dict[str, Any]:
    return {"type": "move", "x": x, "y": 0.0}


def wheel(dy: float) -> dict[str, Any]:
    return {"type": "wheel", "x": dy, "y": 0.0, "dx": 0.0, "dy": dy}


def button(down: bool, which: int = 0) -> dict[str, Any]:
    return {"type": "button", "button": which, "down": down, "x": 1.0, "y": 2.0}


def key(code: str, down: bool) -> dict[str, Any]:
    return {"type": "key", "code": code, "key": code[-1:], "down": down}


def text(letters: str) -> dict[str, Any]:
    return {"type": "text", "text": letters}


def test_a_hundred_movements_and_turns_of_the_wheel_are_one_frames_work() -> None:
    assert frames(*(move(x) for x in range(100)), *(wheel(1.0) for _ in range(50))) == [
        [move(99), {**wheel(1.0), "dy": 50.0}]
    ]
    assert len(frames(*(message for x in range(5) for message in (move(x), wheel(1.0))))) == 1


def test_the_wheel_turns_what_was_under_the_mouse_then() -> None:
    turn, far = wheel(1.0), {**wheel(2.0), "x": 300.0}
    assert frames(turn, move(300)) == [[turn], [move(300)]]
    assert frames(turn, far) == [[turn], [far]]
    assert frames(turn, {**button(True), "x": 300.0}) == [[turn], [{**button(True), "x": 300.0}]]
    # Where the mouse came from is no matter.
    assert frames(move(300), turn) == [[move(300), turn]]


def test_a_drag_between_two_frames_begins_and_ends_at_its_places() -> None:
    assert frames(move(1), button(True), move(50), button(False), move(90)) == [
        [move(1)],
        [button(True)],
        [move(50)],
        [button(False)],
        [move(90)],
    ]
    assert len(frames(button(True), button(False), button(True), button(False))) == 4


def test_typing_keeps_its_order() -> None:
    letters = [key("KeyA", True), text("a"), key("KeyA", False), key("KeyB", True), text("b"), key("KeyB", False)]
    assert [message for frame in frames(*letters) for message in frame] == letters
    assert len(frames(*letters)) == 3
    # Backspace takes away the letter before it, not the one after.
    assert frames(text("a"), key("Backspace", True), key("Backspace", False)) == [
        [text("a")],
        [key("Backspace", True)],
        [key("Backspace", False)],
    ]
    assert frames(button(True), text("x")) == [[button(True)], [text("x")]]


def test_a_key_comes_after_what_a_click_has_opened() -> None:
    assert frames(button(False, 2), key("Escape", True)) == [[button(False, 2)], [key("Escape", True)]]
    # Ctrl is still held when the button is released.
    held = frames(key("ControlLeft", True), button(True), button(False), key("ControlLeft", False))
    assert held == [[key("ControlLeft", True), button(True)], [button(False)], [key("ControlLeft", False)]]


def test_nonsense_is_taken() -> None:
    assert len(frames({}, {"type": 3}, {"type": "wheel", "dx": "x"}, {"type": "wheel", "dy": None}, {"type": []})) == 1
