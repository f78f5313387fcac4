"""Queue the messages of browsers until a frame is drawn, and decide how many of them one frame can take."""

import sys
import threading
from collections import deque
from typing import Any

_MOST = 10_000
"""Largest number of waiting messages; if there are more, the oldest are lost."""
_FARTHEST = 1e5
"""Bound of mouse coordinates and wheel turns: far outside every page."""
_SAME_PLACE = 16.0
"""Distance that the mouse may move while the wheel turns and still count as at the same place [pixels]."""
Message = dict[str, Any]


class Inbox:
    """Queue of messages. Successive mouse movements are merged into one, and so are turns of the wheel."""

    def __init__(self) -> None:
        self._lock = threading.Lock()
        self._messages: deque[Message] = deque(maxlen=_MOST)

    def __len__(self) -> int:
        return len(self._messages)

    def add(self, message: Message) -> None:
        """Add a message; called by the receiving thread."""
        with self._lock:
            before = self._messages[-1] if self._messages else {}
            kind = message.get("type")
            if kind == before.get("type") == "move":
                self._messages[-1] = message
            elif kind == before.get("type") == "wheel" and _are_near(before, message):
                turned = {name: number_of(before, name) + number_of(message, name) for name in ("dx", "dy")}
                self._messages[-1] = message | turned
            else:
                self._messages.append(message)

    def pop(self) -> list[Message]:
        """Pop and return the oldest messages that one frame can apply without missing a press or a turn."""
        popped: list[Message] = []
        seen: dict[str, Message] = {}
        with self._lock:
            while self._messages and _follows(self._messages[0], seen):
                popped.append(self._messages.popleft())
        return popped


def _follows(message: Message, seen: dict[str, Message]) -> bool:
    """Add a message to the input of a frame, and return True; False if it has to wait for the next frame."""
    kind = message.get("type")
    if kind in ("move", "wheel", "button") and "wheel" in seen and not _are_near(seen["wheel"], message):
        # A frame knows one place of the mouse, the last: the wheel would turn what is there.
        return False
    name = f"{kind} {message.get('button', message.get('code'))}"
    if kind in ("move", "wheel"):
        # A press is where the mouse was then.
        fits = "button" not in seen
    elif kind == "text":
        # A field that was clicked has the keyboard in the next frame.
        fits = "button" not in seen
    elif kind in ("button", "key"):
        # Down and up are two frames; a key after text, such as Backspace, acts on that text.
        fits = name not in seen and not (kind == "key" and message.get("down") and "text" in seen)
        # A key acts on what a click has opened, such as Escape on a menu.
        fits &= not (kind == "key" and "button" in seen)
        # A press or release needs a frame in which the mouse is already there: a dragged item has to reach its place,
        # and of overlapping items ImGui presses the one that was under the mouse in the frame before.
        fits &= not (kind == "button" and "move" in seen)
    else:
        return True
    if fits:
        seen[name] = seen[str(kind)] = message
    return fits


def _are_near(first: Message, second: Message) -> bool:
    """Return True if two messages have the mouse at about the same place."""
    return all(abs(number_of(first, axis) - number_of(second, axis)) <= _SAME_PLACE for axis in ("x", "y"))


def number_of(message: Message, name: str) -> float:
    """Return a number of a message within the range that a window accepts; 0 for anything else."""
    value = message.get(name, 0.0)
    # JSON has whole numbers of any length, and Python's reader knows NaN and infinity.
    if not isinstance(value, int | float) or not abs(value) <= sys.float_info.max:
        return 0.0
    return min(max(float(value), -_FARTHEST), _FARTHEST)
