"""Turns Ctrl-C, a closed terminal and termination into a flag that is checked between two pieces of work, so that files
are closed properly."""

import signal
import threading
from collections.abc import Iterator
from contextlib import contextmanager
from types import FrameType

_SIGNALS = [getattr(signal, name) for name in ("SIGINT", "SIGTERM", "SIGHUP") if hasattr(signal, name)]


class Interruption:
    """A request to end the program, from the user or the system."""

    def __init__(self) -> None:
        self.number = 0
        """The signal that asked for it; 0 for none."""

    @property
    def requested(self) -> bool:
        """True if the program is to end after the present piece of work."""
        return self.number != 0

    @property
    def exit_code(self) -> int:
        """Exit code of a program that was ended so, as shells have it; 0 if it was not."""
        return 128 + self.number if self.number else 0

    def request(self, number: int, _: FrameType | None) -> None:
        if self.requested and number == signal.SIGINT:
            # A user who asks twice ends it at once, and files may stay incomplete. Terminals repeat their signals.
            raise KeyboardInterrupt
        self.number = self.number or number

    def pass_on(self) -> None:
        """End the program as the signal would have, if there was one."""
        if self.number == signal.SIGINT:
            raise KeyboardInterrupt
        if self.number:
            raise SystemExit(self.exit_code)


@contextmanager
def interruption() -> Iterator[Interruption]:
    """Catch Ctrl-C, termination and the end of the terminal for a while.

    What is ignored stays so, as in the background or under `nohup`; so does a program's own handler of the last two.
    Outside the main thread, which alone may, nothing is caught.
    """
    interruption = Interruption()
    before = {}
    if threading.current_thread() is threading.main_thread():
        before = {number: signal.getsignal(number) for number in _SIGNALS}
    for number, handler in list(before.items()):
        if handler in (signal.SIG_IGN, None) or (number != signal.SIGINT and handler is not signal.SIG_DFL):
            del before[number]
    for number in before:
        signal.signal(number, interruption.request)
    try:
        yield interruption
    finally:
        for number, handler in before.items():
            signal.signal(number, handler)
