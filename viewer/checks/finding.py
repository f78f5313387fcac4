"""Defines the reports of rules: a finding, its severity, its fix, and the grouping of findings with one cause."""

import re
from collections.abc import Callable, Hashable, Iterable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from enum import IntEnum
from hashlib import sha256
from pathlib import Path
from typing import Any, TypeVar

from ..scene_files.element_places import Place
from ..scene_files.xml_edits import Edit

_T = TypeVar("_T")
_SIDES = re.compile(
    r"(?<![a-z])(?:left|right|front|rear|back|hind|fl|fr|rl|rr|lf|rf|lh|rh|bl|br|l|r|th|ff|mf|rf|lf)(?![a-z])|\d+"
)
_SHOWN = 4
"""Largest number of names that a sentence lists."""


class Severity(IntEnum):
    """Severity of a finding."""

    NOTE = 0
    WARNING = 1
    ERROR = 2

    @property
    def word(self) -> str:
        """Return the name in lower case, such as `warning`."""
        return self.name.lower()


@dataclass(frozen=True)
class Number:
    """A measured value."""

    value: float
    unit: str = ""

    def __str__(self) -> str:
        return f"{self.value:.3g} {self.unit}".rstrip()


@dataclass(frozen=True)
class Fix:
    """Change that was tried, and that helped."""

    description: str
    """Text to put into the scene, such as an `<exclude>` element."""
    safe: bool
    """True if the change affects nothing but the finding."""
    before: str
    """Measured value without the change, with unit."""
    after: str
    """Measured value with the change, with unit."""
    edits: tuple[Edit, ...] = ()
    """Changes of the scene's files; empty for a model without files."""


@dataclass(frozen=True)
class Finding:
    """Problem of a scene.

    Example:
        ```python
        for finding in contact_viewer.check("robot.xml", static=True):
            print(finding.rule, finding.severity, finding.message, finding.remedy)
        ```
    """

    rule: str
    severity: Severity
    message: str
    """Sentence that says what is wrong."""
    remedy: str
    """Sentence that says what to do about it."""
    objects: tuple[str, ...] = ()
    """Names of the objects concerned, without their kinds."""
    numbers: Mapping[str, Number] = field(default_factory=dict)
    """Measured values by name."""
    start: str = ""
    """State that the run began with, such as `key home`; empty for a problem that does not depend on the state."""
    step: int | None = None
    """Step of the run in which the problem shows."""
    place: Place | None = None
    """Place of the element that the finding is about."""
    fix: Fix | None = None
    propose: "Callable[[], tuple[Fix | None, str]] | None" = field(default=None, compare=False, repr=False)
    """Function that tries fixes; it returns the best fix that helped, and a sentence on the fixes that were tried."""
    geoms: tuple[int, ...] = ()
    """Geoms of a contact that shows the problem."""

    @property
    def fingerprint(self) -> str:
        """Text that identifies the finding when lines and numbers change; made of the rule, the names and the start."""
        return sha256("\0".join((self.rule, *sorted(self.objects), self.start)).encode()).hexdigest()[:16]

    @property
    def text(self) -> str:
        """Return the sentence on the problem, with the start of the run in which it was seen."""
        return f"{self.start}: {self.message}" if self.start else self.message

    def resolved(self) -> "Finding":
        """Try the fixes, and return the finding with their result."""
        if self.propose is None:
            return self
        fix, tried = self.propose()
        remedy = " ".join(part for part in (self.remedy, tried) if part)
        return replace(self, fix=fix, remedy=remedy, propose=None)

    def to_json(self) -> dict[str, Any]:
        """Return the finding as a JSON object, edits included."""
        fix = None
        if self.fix is not None:
            edits = [
                {"path": str(e.path), "before": e.before.decode("latin1"), "after": e.after.decode("latin1")}
                for e in self.fix.edits
            ]
            fix = {
                "description": self.fix.description,
                "safe": self.fix.safe,
                "before": self.fix.before,
                "after": self.fix.after,
                "edits": edits,
            }
        return {
            "rule": self.rule,
            "severity": self.severity.word,
            "message": self.message,
            "remedy": self.remedy,
            "objects": list(self.objects),
            "numbers": {name: {"value": n.value, "unit": n.unit} for name, n in self.numbers.items()},
            "start": self.start,
            "step": self.step,
            "path": None if self.place is None else str(self.place.path),
            "line": None if self.place is None else self.place.line,
            "column": None if self.place is None else self.place.column,
            "fix": fix,
            "geoms": list(self.geoms),
            "fingerprint": self.fingerprint,
        }

    @classmethod
    def from_json(cls, saved: Mapping[str, Any]) -> "Finding":
        """Return the finding that `to_json` has written."""
        fix = None
        if (known := saved["fix"]) is not None:
            edits = tuple(
                Edit(Path(e["path"]), e["before"].encode("latin1"), e["after"].encode("latin1")) for e in known["edits"]
            )
            fix = Fix(known["description"], known["safe"], known["before"], known["after"], edits)
        place = None if saved["path"] is None else Place(Path(saved["path"]), saved["line"], saved["column"])
        return cls(
            saved["rule"],
            Severity[saved["severity"].upper()],
            saved["message"],
            saved["remedy"],
            tuple(saved["objects"]),
            {name: Number(n["value"], n["unit"]) for name, n in saved["numbers"].items()},
            saved["start"],
            saved["step"],
            place,
            fix,
            geoms=tuple(saved["geoms"]),
        )


def family(name: str) -> str:
    """Return a name without numbers and words for sides, so that `FL_foot` and `RR_foot` give the same."""
    return _SIDES.sub("*", re.sub(r"([a-z])([A-Z])", r"\1_\2", name).lower().replace("_", " "))


def in_groups(items: Iterable[_T], key: Callable[[_T], Hashable]) -> list[list[_T]]:
    """Return lists of the items with equal keys, in the order in which the keys first occur."""
    groups: dict[Hashable, list[_T]] = {}
    for item in items:
        groups.setdefault(key(item), []).append(item)
    return list(groups.values())


def listing(names: Sequence[str]) -> str:
    """Return names as a list in a sentence, such as `FL, FR, RL, RR and 13 more`."""
    names = list(dict.fromkeys(names))
    if len(names) > _SHOWN + 1:
        return f"{', '.join(names[:_SHOWN])} and {len(names) - _SHOWN} more"
    return " and ".join([", ".join(names[:-1]), names[-1]] if len(names) > 1 else names)


def force_text(newtons: float) -> str:
    """Return a force [N] as text with a suitable unit, N or kN."""
    return f"{newtons / 1000:.3g} kN" if 1e4 <= abs(newtons) < 1e7 else f"{newtons:.3g} N"


def length_text(metres: float) -> str:
    """Return a length [m] as text with a suitable unit, m, mm or µm."""
    if abs(metres) >= 0.1:
        return f"{metres:.3g} m"
    return f"{metres * 1e3:.3g} mm" if abs(metres) >= 1e-5 or metres == 0 else f"{metres * 1e6:.3g} µm"


def speed_text(speed: float) -> str:
    """Return a speed [m/s] as text with a suitable unit, m/s or mm/s."""
    return f"{speed * 1e3:.3g} mm/s" if abs(speed) < 0.1 else f"{speed:.3g} m/s"
