"""Turns the declaration of a contact sensor, its targets and fields, into MJCF and back."""

from collections.abc import Mapping
from dataclasses import dataclass
from enum import StrEnum
from typing import Any

from ..settings import Reduce
from .layout import ContactLayout, Field

DEFAULT_FIELDS = (Field.FOUND, Field.FORCE, Field.DIST, Field.POS, Field.NORMAL, Field.TANGENT)
"""Fields that a new sensor reports: all that is needed to draw it from its array."""
NUM_MAX = 10_000
"""Most contacts of one sensor that is made in the viewer."""
_NAME_MAX = 200


class TargetKind(StrEnum):
    """Kind of object that one side of a contact sensor can be."""

    ANY = "any"
    GEOM = "geom"
    BODY = "body"
    SUBTREE = "subtree"
    SITE = "site"


@dataclass(frozen=True)
class ContactTarget:
    """Target on one side of a contact sensor."""

    kind: TargetKind = TargetKind.ANY
    name: str = ""
    """Name of the object; empty for any."""

    def __str__(self) -> str:
        return f"{self.kind} {self.name}" if self.name else str(self.kind)


ANYTHING = ContactTarget()


@dataclass(frozen=True)
class ContactDeclaration:
    """Declaration of a contact sensor in a scene."""

    name: str
    """Name of the sensor; empty for a sensor without one."""
    first: ContactTarget = ANYTHING
    """Object 1, from which normals point to object 2; the only side that can be a site."""
    second: ContactTarget = ANYTHING
    """Object 2, on which forces act."""
    fields: tuple[Field, ...] = DEFAULT_FIELDS
    """Fields in the order of the array."""
    num: int = 4
    reduce: Reduce = Reduce.NONE

    @property
    def attributes(self) -> dict[str, str]:
        """Return the attributes of the MJCF element, without those that have their default value."""
        found = {"name": self.name} if self.name else {}
        for number, target in (("1", self.first), ("2", self.second)):
            if target.kind is not TargetKind.ANY:
                found[str(target.kind) + ("" if target.kind is TargetKind.SITE else number)] = target.name
        if self.num != 1:
            found["num"] = str(self.num)
        found["data"] = " ".join(field for field in Field if field in self.fields)
        if self.reduce is not Reduce.NONE:
            found["reduce"] = str(self.reduce)
        return found

    @property
    def layout(self) -> ContactLayout:
        """Layout of its array; ValueError for a declaration with a `problem`."""
        return ContactLayout(self.fields, self.num, self.reduce)

    @property
    def problem(self) -> str | None:
        """Reason why the declaration is wrong in every scene; None if some scene may accept it."""
        if not self.fields:
            return "choose at least one field"
        if not 1 <= self.num <= NUM_MAX:
            return f"num goes from 1 to {NUM_MAX:,}"
        if self.second.kind is TargetKind.SITE:
            return "only object 1 can be a site"
        for number, target in ((1, self.first), (2, self.second)):
            if target.kind is not TargetKind.ANY and not target.name:
                return f"choose the {target.kind} that is object {number}"
        if self.reduce is Reduce.NETFORCE and {Field.LINVEL, Field.ANGVEL} & set(self.fields):
            return "a net contact has no velocity: leave out linvel and angvel"
        if len(self.name) > _NAME_MAX or not self.name.isprintable():
            return f"a name has up to {_NAME_MAX} printable characters"
        return None

    def changes_from(self, before: "ContactDeclaration") -> dict[str, str | None]:
        """Return the attributes that differ from another declaration's; None for attributes to leave out."""
        old, new = before.attributes, self.attributes
        names = dict.fromkeys([*old, *new])
        return {name: new.get(name) for name in names if old.get(name) != new.get(name)}

    def to_json(self) -> dict[str, Any]:
        """Return the declaration as JSON values, for another process."""
        return {
            "name": self.name,
            "first": [self.first.kind, self.first.name],
            "second": [self.second.kind, self.second.name],
            "fields": list(self.fields),
            "num": self.num,
            "reduce": self.reduce,
        }

    @classmethod
    def from_json(cls, saved: Mapping[str, Any]) -> "ContactDeclaration":
        first, second = (ContactTarget(TargetKind(kind), str(name)) for kind, name in (saved["first"], saved["second"]))
        fields = tuple(Field(field) for field in saved["fields"])
        return cls(str(saved["name"]), first, second, fields, int(saved["num"]), Reduce(saved["reduce"]))


def unique_name(wanted: str, taken: Mapping[str, Any] | set[str]) -> str:
    """Return a name that no other sensor has: the wanted name, with a number appended if necessary."""
    name, number = wanted, 2
    while name in taken:
        name, number = f"{wanted}_{number}", number + 1
    return name
