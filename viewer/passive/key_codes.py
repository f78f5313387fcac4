"""Finds the keys that were pressed in a window, as GLFW numbers them."""

from imgui_bundle import imgui

# After imgui_bundle, so that both use one GLFW library.
import glfw  # isort: skip

_OTHERS = {
    "space": glfw.KEY_SPACE,
    "enter": glfw.KEY_ENTER,
    "tab": glfw.KEY_TAB,
    "backspace": glfw.KEY_BACKSPACE,
    "escape": glfw.KEY_ESCAPE,
    "insert": glfw.KEY_INSERT,
    "delete": glfw.KEY_DELETE,
    "right_arrow": glfw.KEY_RIGHT,
    "left_arrow": glfw.KEY_LEFT,
    "down_arrow": glfw.KEY_DOWN,
    "up_arrow": glfw.KEY_UP,
    "page_up": glfw.KEY_PAGE_UP,
    "page_down": glfw.KEY_PAGE_DOWN,
    "home": glfw.KEY_HOME,
    "end": glfw.KEY_END,
    "minus": glfw.KEY_MINUS,
    "equal": glfw.KEY_EQUAL,
    "comma": glfw.KEY_COMMA,
    "period": glfw.KEY_PERIOD,
    "slash": glfw.KEY_SLASH,
    "semicolon": glfw.KEY_SEMICOLON,
    "apostrophe": glfw.KEY_APOSTROPHE,
    "backslash": glfw.KEY_BACKSLASH,
    "grave_accent": glfw.KEY_GRAVE_ACCENT,
    "left_bracket": glfw.KEY_LEFT_BRACKET,
    "right_bracket": glfw.KEY_RIGHT_BRACKET,
}
_CODES = {
    **{getattr(imgui.Key, chr(code).lower()): code for code in range(glfw.KEY_A, glfw.KEY_Z + 1)},
    **{getattr(imgui.Key, f"_{chr(code)}"): code for code in range(glfw.KEY_0, glfw.KEY_9 + 1)},
    **{getattr(imgui.Key, f"f{number}"): glfw.KEY_F1 + number - 1 for number in range(1, 13)},
    **{getattr(imgui.Key, f"keypad{number}"): glfw.KEY_KP_0 + number for number in range(10)},
    **{getattr(imgui.Key, name): code for name, code in _OTHERS.items()},
}


def pressed_keys() -> list[int]:
    """Keys pressed in this frame, unless a text field has them."""
    if imgui.get_io().want_text_input:
        return []
    return [code for key, code in _CODES.items() if imgui.is_key_pressed(key, False)]
