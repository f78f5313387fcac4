"""Ctrl-C as a wish that is asked for between two pieces of work, so that files are closed properly."""

import signal
from collections.abc import Iterator
from contextlib import contextmanager
from types import FrameType

INTERRUPTED = 130
"""Exit code of a command that Ctrl-C has ended."""
_SIGNALS = (signal.SIGINT, signal.SIGTERM)


class Interruption:
    """Whether a person, or the system, wants the command to end."""

    def __init__(self) -> None:
        self.wanted = False

    def request(self, number: int, _: FrameType | None) -> None:
        if self.wanted:
            # Asked twice: at once, whatever becomes of the file.
            raise KeyboardInterrupt
        self.wanted = True


@contextmanager
def interruption() -> Iterator[Interruption]:
    """Catch Ctrl-C and termination for a while."""
    wish = Interruption()
    before = {number: signal.signal(number, wish.request) for number in _SIGNALS}
    try:
        yield wish
    finally:
        for number, handler in before.items():
            signal.signal(number, handler)
