"""Notices: what went wrong or is done, one line each, until they are dismissed or out of date."""

import time
import traceback
from collections.abc import Callable
from dataclasses import dataclass, field
from typing import TypeVar

from ..errors import SceneError
from ..files import printable

T = TypeVar("T")
_SHOWN_SECONDS, _OFFERED_SECONDS = 8.0, 30.0
"""Time for which a message is shown, and one that offers something [s]."""
_MAX_NOTICES = 4


@dataclass
class Notice:
    """One message."""

    text: str
    warning: bool = False
    """True if it stays until it is dismissed."""
    details: str = ""
    """Details that a user may send to a developer, beside the text."""
    offer: tuple[str, Callable[[], object]] | None = None
    """Label and action of the button beside the text."""
    since: float = field(default_factory=time.monotonic)
    """Time at which it was added, on the monotonic clock [s]."""

    @property
    def expired(self) -> bool:
        """True if it was shown long enough."""
        shown = _SHOWN_SECONDS if self.offer is None else _OFFERED_SECONDS
        return not self.warning and time.monotonic() - self.since >= shown


class Notices:
    """The messages that are shown, oldest first."""

    def __init__(self) -> None:
        self.items: list[Notice] = []

    def add(
        self,
        text: str,
        *,
        warning: bool = False,
        details: str = "",
        offer: tuple[str, Callable[[], object]] | None = None,
    ) -> None:
        """Show a message; one that is shown already moves to the end.

        Args:
            text: the message, one line.
            warning: True if it stays until it is dismissed.
            details: what a user may want to send to a developer, beside the text.
            offer: label and action of a button.
        """
        text = printable(text)
        self.items = [notice for notice in self.items if notice.text != text][1 - _MAX_NOTICES :]
        self.items.append(Notice(text, warning, details, offer))

    def attempt(self, action: Callable[[], T]) -> T | None:
        """The result of something that may fail with SceneError; then None, and the reason is shown."""
        try:
            return action()
        except SceneError as error:
            cause = error.__cause__
            self.add(str(error), warning=True, details="".join(traceback.format_exception(cause)) if cause else "")
            return None

    @property
    def has_expired(self) -> bool:
        """True if a message was shown long enough."""
        return any(notice.expired for notice in self.items)

    def drop_about(self, subject: str) -> None:
        """Remove the messages that name something, because it was mended."""
        self.items = [notice for notice in self.items if subject not in notice.text]

    def drop_expired(self) -> None:
        """Remove the messages that were shown long enough."""
        self.items = [notice for notice in self.items if not notice.expired]
