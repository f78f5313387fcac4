"""Turn a browser's events of mouse, keyboard and clipboard into input of the window."""

from typing import Any

from imgui_bundle import glfw_utils, imgui

# After imgui_bundle, so that both use one GLFW library.
import glfw  # isort: skip

from .inbox import number_of

MAX_SIZE = (3840, 2160)
MIN_SIZE = (320, 240)
_RATIOS = (0.5, 4.0)
"""Least and largest number of pixels of the frame per pixel of the page."""
_BUTTONS = {0: 0, 2: 1, 1: 2}
"""ImGui's number of each mouse button, by the browser's number."""
_NAMED = {
    "ArrowLeft": imgui.Key.left_arrow,
    "ArrowRight": imgui.Key.right_arrow,
    "ArrowUp": imgui.Key.up_arrow,
    "ArrowDown": imgui.Key.down_arrow,
    "Backquote": imgui.Key.grave_accent,
    "Equal": imgui.Key.equal,
    "BracketLeft": imgui.Key.left_bracket,
    "BracketRight": imgui.Key.right_bracket,
    "Quote": imgui.Key.apostrophe,
    "NumpadAdd": imgui.Key.keypad_add,
    "NumpadSubtract": imgui.Key.keypad_subtract,
    "NumpadMultiply": imgui.Key.keypad_multiply,
    "NumpadDivide": imgui.Key.keypad_divide,
    "NumpadDecimal": imgui.Key.keypad_decimal,
    "NumpadEnter": imgui.Key.keypad_enter,
    "PageUp": imgui.Key.page_up,
    "PageDown": imgui.Key.page_down,
    "ShiftLeft": imgui.Key.left_shift,
    "ShiftRight": imgui.Key.right_shift,
    "ControlLeft": imgui.Key.left_ctrl,
    "ControlRight": imgui.Key.right_ctrl,
    "AltLeft": imgui.Key.left_alt,
    "AltRight": imgui.Key.right_alt,
    "MetaLeft": imgui.Key.left_super,
    "MetaRight": imgui.Key.right_super,
}
_SAME_NAME = frozenset(
    {"Tab", "Home", "End", "Insert", "Delete", "Backspace", "Space", "Enter", "Escape", "Pause"}
    | {"Comma", "Minus", "Period", "Slash", "Semicolon", "Backslash"}
)
_MODIFIERS = (
    ("ctrl", imgui.Key.mod_ctrl),
    ("shift", imgui.Key.mod_shift),
    ("alt", imgui.Key.mod_alt),
    ("meta", imgui.Key.mod_super),
)
_CURSORS = {
    imgui.MouseCursor_.none: "none",
    imgui.MouseCursor_.text_input: "text",
    imgui.MouseCursor_.resize_all: "move",
    imgui.MouseCursor_.resize_ns: "ns-resize",
    imgui.MouseCursor_.resize_ew: "ew-resize",
    imgui.MouseCursor_.resize_nesw: "nesw-resize",
    imgui.MouseCursor_.resize_nwse: "nwse-resize",
    imgui.MouseCursor_.hand: "pointer",
    imgui.MouseCursor_.not_allowed: "not-allowed",
}


_LONGEST_CODE = 32


def find_key(code: str, key: str) -> imgui.Key | None:
    """Return ImGui's key for a browser's `code` (the place on the keyboard) and `key` (the character printed there)."""
    if not code.isascii() or len(code) > _LONGEST_CODE:
        return None
    if len(key) == 1 and key.isascii() and key.isalpha():
        # The letter that is printed on it, wherever it is: shortcuts are named after letters.
        return imgui.Key[key.lower()]
    if code in _NAMED:
        return _NAMED[code]
    if code in _SAME_NAME:
        return imgui.Key[code.lower()]
    if code[:1] == "F" and code[1:].isdigit() and 1 <= int(code[1:]) <= 24:
        return imgui.Key[code.lower()]
    if code[:-1] == "Digit" and code[-1].isdigit():
        return imgui.Key[f"_{code[-1]}"]
    if code[:-1] == "Numpad" and code[-1].isdigit():
        return imgui.Key[f"keypad{code[-1]}"]
    if code[:-1] == "Key" and code[-1].isascii() and code[-1].isalpha():
        return imgui.Key[code[-1].lower()]
    return None


def apply(message: dict[str, Any]) -> None:
    """Pass one message of a browser to the window. Call it on the drawing thread, between two frames."""
    io = imgui.get_io()
    kind = message.get("type")
    if kind in ("move", "button", "wheel"):
        x, y = number_of(message, "x"), number_of(message, "y")
        io.add_mouse_pos_event(x, y)
        # In every frame the position is asked of GLFW, too.
        glfw.set_cursor_pos(glfw_utils.glfw_window_hello_imgui(), x, y)
        if kind == "button" and (button := _BUTTONS.get(int(number_of(message, "button")))) is not None:
            io.add_mouse_button_event(button, bool(message.get("down")))
        elif kind == "wheel":
            io.add_mouse_wheel_event(number_of(message, "dx"), number_of(message, "dy"))
    elif kind == "key":
        for name, modifier in _MODIFIERS:
            io.add_key_event(modifier, bool(message.get(name)))
        key = find_key(str(message.get("code", "")), str(message.get("key", "")))
        if key is not None:
            io.add_key_event(key, bool(message.get("down")))
    elif kind == "text":
        io.add_input_characters_utf8(text_of(message))
    elif kind == "clipboard":
        imgui.set_clipboard_text(text_of(message))
    elif kind == "blur":
        io.clear_input_keys()
        for button in _BUTTONS.values():
            io.add_mouse_button_event(button, False)
    elif kind == "size":
        # Even, because videos have half the colours' resolution.
        width, height = (
            int(min(max(number_of(message, name), low), high)) & ~1
            for name, low, high in zip(("width", "height"), MIN_SIZE, MAX_SIZE, strict=True)
        )
        glfw.set_window_size(glfw_utils.glfw_window_hello_imgui(), width, height)
        # Text and icons are as large as on other pages of that screen, and as sharp.
        imgui.get_style().font_scale_dpi = min(max(number_of(message, "ratio") or 1.0, _RATIOS[0]), _RATIOS[1])


def cursor() -> str:
    """Return the name of the mouse cursor's shape in CSS."""
    return _CURSORS.get(imgui.MouseCursor_(imgui.get_mouse_cursor()), "default")


def text_of(message: dict[str, Any]) -> str:
    """Return the text of a message without surrogates, which JSON allows and ImGui does not."""
    text = message.get("text")
    return text.encode("utf-8", "ignore").decode() if isinstance(text, str) else ""
