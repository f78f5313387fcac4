"""Conditions on contacts under which a simulation is to be stopped."""

from collections.abc import Iterable
from collections.abc import Set as AbstractSet
from dataclasses import dataclass, field
from enum import StrEnum

from .event_log import LogEntry


class BreakWhen(StrEnum):
    """What a contact has to do."""

    BEGIN = "begins"
    END = "ends"
    FORCE = "exceeds"
    SLIP = "slips"


@dataclass
class Break:
    """Stop when a pair, or a sensor, begins, ends, slips, or exceeds a force; without either, when any pair does."""

    when: BreakWhen
    pair_id: int | None = None
    sensor: int | None = None
    force: float = 0.0
    """For `exceeds` [N]."""
    enabled: bool = True
    _above: bool = field(default=True, repr=False)
    _sliding: AbstractSet[int] | None = field(default=None, repr=False)

    def restart(self) -> None:
        """Forget the last step: what comes next does not follow from it."""
        self._above, self._sliding = True, None

    def is_event(self, entry: LogEntry) -> bool:
        """Whether an event is the one to stop at."""
        if not self.enabled or self.when.removesuffix("s") != entry.kind:
            return False
        if self.sensor is not None:
            return entry.sensor == self.sensor
        return entry.pair_id is not None and self.pair_id in (None, entry.pair_id)

    def is_exceeded(self, forces: Iterable[float]) -> bool:
        """Whether the largest of some forces [N] has risen above the limit since the last time."""
        above = max(forces, default=0.0) > self.force
        rose, self._above = above and not self._above, above
        return rose and self.enabled

    def is_slip(self, sliding: AbstractSet[int], sticking: AbstractSet[int]) -> bool:
        """Whether any of some contacts, by number, slides that did not before.

        What slides may lift off for a while: it has to stick before it can slip again.
        """
        before = self._sliding
        self._sliding = sliding if before is None else (before | sliding) - sticking
        return before is not None and not sliding <= before and self.enabled
