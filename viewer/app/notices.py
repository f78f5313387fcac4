"""Notices: one line each on errors and completed work, until they are dismissed or expire."""

import time
import traceback
from collections.abc import Callable
from dataclasses import dataclass, field
from typing import TypeVar

from ..errors import SceneError
from ..files import printable

T = TypeVar("T")
_SHOWN_SECONDS, _OFFERED_SECONDS = 8.0, 30.0
"""Time for which a message is shown, and for which a message with a button is shown [s]."""
_MAX_NOTICES = 4


@dataclass
class Notice:
    """Message to the user."""

    text: str
    warning: bool = False
    """True if the notice stays until it is dismissed."""
    details: str = ""
    """Details for a bug report, beside the text."""
    offer: tuple[str, Callable[[], object]] | None = None
    """Label and action of the button beside the text."""
    since: float = field(default_factory=time.monotonic)
    """Time at which the notice was added, on the monotonic clock [s]."""

    @property
    def expired(self) -> bool:
        """True if the notice was shown long enough."""
        shown = _SHOWN_SECONDS if self.offer is None else _OFFERED_SECONDS
        return not self.warning and time.monotonic() - self.since >= shown


class Notices:
    """Notices that are shown, oldest first."""

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
        """Show a notice; if it is shown already, it moves to the end.

        Args:
            text: Message, one line.
            warning: True if it stays until it is dismissed.
            details: Details for a bug report, beside the text.
            offer: Label and action of a button.
        """
        text = printable(text)
        self.items = [notice for notice in self.items if notice.text != text][1 - _MAX_NOTICES :]
        self.items.append(Notice(text, warning, details, offer))

    def attempt(self, action: Callable[[], T]) -> T | None:
        """Return the result of an action; if it raises SceneError, show the reason and return None."""
        try:
            return action()
        except SceneError as error:
            cause = error.__cause__
            self.add(str(error), warning=True, details="".join(traceback.format_exception(cause)) if cause else "")
            return None

    @property
    def has_expired(self) -> bool:
        """True if a notice was shown long enough."""
        return any(notice.expired for notice in self.items)

    def drop_about(self, subject: str) -> None:
        """Remove the notices that name a subject, because its problem is fixed."""
        self.items = [notice for notice in self.items if subject not in notice.text]

    def drop_expired(self) -> None:
        """Remove the notices that were shown long enough."""
        self.items = [notice for notice in self.items if not notice.expired]
