"""Turns Ctrl-C into a flag that is checked between two pieces of work, so that files are closed properly."""

import signal
import threading
from collections.abc import Iterator
from contextlib import contextmanager
from types import FrameType

INTERRUPTED = 130
"""Exit code of a command that Ctrl-C has ended."""


class Interruption:
    """A request to end the program, from a person or the system."""

    def __init__(self) -> None:
        self.requested = False
        """True if the program is to end after the present piece of work."""

    def request(self, number: int, _: FrameType | None) -> None:
        if self.requested:
            # The second request ends it at once, and files may stay incomplete.
            raise KeyboardInterrupt
        self.requested = True


@contextmanager
def interruption(signals: tuple[int, ...] = (signal.SIGINT, signal.SIGTERM)) -> Iterator[Interruption]:
    """Catch Ctrl-C and termination for a while. Outside the main thread, which alone may, nothing is caught."""
    interruption = Interruption()
    if threading.current_thread() is not threading.main_thread():
        signals = ()
    before = {number: signal.signal(number, interruption.request) for number in signals}
    try:
        yield interruption
    finally:
        for number, handler in before.items():
            signal.signal(number, handler)
