"""Turn Ctrl-C, a closed terminal and termination into a flag that is checked between two steps of a task, so that files
are closed properly."""

import signal
import threading
from collections.abc import Iterator
from contextlib import contextmanager
from types import FrameType

_SIGNALS = [getattr(signal, name) for name in ("SIGINT", "SIGTERM", "SIGHUP") if hasattr(signal, name)]


class Interruption:
    """Request to end the program, from the user or the system."""

    def __init__(self) -> None:
        self.number = 0
        """Number of the signal; 0 for none."""

    @property
    def requested(self) -> bool:
        """True if the program is to end after the present piece of work."""
        return self.number != 0

    @property
    def exit_code(self) -> int:
        """Exit code of a program that a signal ended, as in shells; 0 without a signal."""
        return 128 + self.number if self.number else 0

    def request(self, number: int, _: FrameType | None) -> None:
        if self.requested and number == signal.SIGINT:
            # A user who asks twice ends it at once, and files may stay incomplete. Terminals repeat their signals.
            raise KeyboardInterrupt
        self.number = self.number or number

    def pass_on(self) -> None:
        """End the program by the signal, if there was one."""
        if self.number == signal.SIGINT:
            raise KeyboardInterrupt
        if self.number:
            raise SystemExit(self.exit_code)


@contextmanager
def interruption() -> Iterator[Interruption]:
    """Catch Ctrl-C, termination and the end of the terminal within a `with` block.

    Ignored signals stay ignored, as in the background or under `nohup`; a program's own handlers of termination and the
    end of the terminal stay too. Outside the main thread, which alone may catch signals, nothing is caught.
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
