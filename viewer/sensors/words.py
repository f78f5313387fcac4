"""Words that people write to the members of enums that they name."""

from enum import StrEnum
from typing import TypeVar

E = TypeVar("E", bound=StrEnum)


def member(enum: type[E], word: str, what: str) -> E:
    """The member that a word names; ValueError with all of them if none has it. `what` it is, for people."""
    try:
        return enum(word)
    except ValueError:
        raise ValueError(f"unknown {what} {word!r}: choose from {', '.join(enum)}") from None
