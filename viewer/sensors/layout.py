"""Where each value of a contact sensor's flat array is, and what it means."""

from collections.abc import Iterable
from dataclasses import dataclass
from enum import StrEnum
from functools import cached_property
from typing import TypeVar

import numpy as np
from numpy.typing import ArrayLike

from ..settings import Reduce
from .contacts import Array, ContactBatch


class Field(StrEnum):
    """What a sensor can report of a contact, in the order in which engines write it."""

    FOUND = "found"
    FORCE = "force"
    TORQUE = "torque"
    DIST = "dist"
    POS = "pos"
    NORMAL = "normal"
    TANGENT = "tangent"
    LINVEL = "linvel"
    ANGVEL = "angvel"
    """The velocities stay zero under netforce: a net contact has none."""

    @property
    def size(self) -> int:
        """Values per contact."""
        return 1 if self in (Field.FOUND, Field.DIST) else 3


class Style(StrEnum):
    """How an engine, or a document, lays the values out."""

    MUJOCO = "mujoco"
    """`found` leads every slot, if it is requested."""


UNITS = {
    Field.FOUND: "",
    Field.FORCE: "N",
    Field.TORQUE: "N·m",
    Field.DIST: "m",
    Field.POS: "m",
    Field.NORMAL: "",
    Field.TANGENT: "",
    Field.LINVEL: "m/s",
    Field.ANGVEL: "rad/s",
}
E = TypeVar("E", bound=StrEnum)
_CONTACT_AXES = ("normal", "tangent0", "tangent1")
_WORLD_AXES = ("x", "y", "z")
_WORLD_FIELDS = (Field.POS, Field.NORMAL, Field.TANGENT)


@dataclass(frozen=True)
class Column:
    """One value of the flat array."""

    name: str
    """Unique in the array, such as `slot0.force.normal`."""
    slot: int
    field: Field
    axis: str
    """normal, tangent0, tangent1 or x, y, z; empty for single values."""
    unit: str
    frame: str
    """contact, world, or empty for single values."""


@dataclass(frozen=True)
class ContactLayout:
    """The layout of one contact sensor's array."""

    fields: tuple[Field, ...]
    """Requested fields, in array order whatever order they are given in."""
    slots: int
    """Places for contacts in the array (`num` in MJCF)."""
    reduce: Reduce = Reduce.NONE
    style: Style = Style.MUJOCO

    def __init__(
        self,
        fields: str | Iterable[str],
        slots: int,
        reduce: str = Reduce.NONE,
        style: str = Style.MUJOCO,
    ) -> None:
        """`fields` is MJCF's `data` attribute, or the field names one by one."""
        words = fields.split() if isinstance(fields, str) else list(fields)
        requested = {_member(Field, word, "field") for word in words}
        if not requested:
            raise ValueError("a contact sensor needs at least one field")
        if isinstance(slots, bool) or not isinstance(slots, int | np.integer) or slots < 1:
            raise ValueError(f"slots must be a whole number of at least 1, not {slots!r}")
        object.__setattr__(self, "fields", tuple(field for field in Field if field in requested))
        object.__setattr__(self, "slots", int(slots))
        object.__setattr__(self, "reduce", _member(Reduce, reduce, "reduce mode"))
        object.__setattr__(self, "style", _member(Style, style, "style"))

    @cached_property
    def slot_size(self) -> int:
        """Values per slot."""
        return sum(field.size for field in self.fields)

    @property
    def size(self) -> int:
        """Values in the array."""
        return self.slots * self.slot_size

    @property
    def frame(self) -> str:
        """Frame of force and torque: `contact`, or `world` for netforce."""
        return "world" if self.reduce is Reduce.NETFORCE else "contact"

    @cached_property
    def described_columns(self) -> tuple[Column, ...]:
        """Every value of the array in order: name, slot, field, axis, unit, frame."""
        return tuple(
            self._column(slot, field, i)
            for slot in range(self.slots)
            for field in self.fields
            for i in range(field.size)
        )

    @property
    def columns(self) -> tuple[str, ...]:
        """A name for every value of the array, in order."""
        return tuple(column.name for column in self.described_columns)

    def decode(self, array: ArrayLike) -> ContactBatch:
        """Contacts in an array of shape (..., size), as views of it."""
        values = self._checked(array)
        slots = values.reshape(*values.shape[:-1], self.slots, self.slot_size)
        views: dict[Field, Array] = {}
        start = 0
        for field in self.fields:
            views[field] = slots[..., start] if field.size == 1 else slots[..., start : start + field.size]
            start += field.size
        slot_found = views.get(Field.FOUND)
        if slot_found is not None:
            found, filled = slot_found[..., 0], slot_found > 0
        else:
            # A contact always has a direction; without one, an empty slot is known only by its zeros.
            evidence = [views[field] for field in (Field.NORMAL, Field.TANGENT) if field in views] or [slots]
            filled = np.any(np.concatenate(evidence, axis=-1) != 0, axis=-1)
            found = filled.sum(axis=-1, dtype=values.dtype)
        return ContactBatch(
            found=found,
            filled=filled,
            force=views.get(Field.FORCE),
            torque=views.get(Field.TORQUE),
            dist=views.get(Field.DIST),
            pos=views.get(Field.POS),
            normal=views.get(Field.NORMAL),
            tangent0=views.get(Field.TANGENT),
            linvel=views.get(Field.LINVEL),
            angvel=views.get(Field.ANGVEL),
            in_world_frame=self.frame == "world",
        )

    def encode(self, batch: ContactBatch) -> Array:
        """The array, (..., size), that holds a batch: the inverse of decode. Slots beyond the batch's stay empty."""
        count = batch.filled.shape[-1]
        if count > self.slots:
            if batch.filled[..., self.slots :].any():
                raise ValueError(f"the batch fills {count} slots, the layout has {self.slots}")
            count = self.slots
        values = {
            Field.FOUND: np.where(batch.filled, batch.found[..., np.newaxis], 0)[..., np.newaxis],
            Field.FORCE: batch.force,
            Field.TORQUE: batch.torque,
            Field.DIST: None if batch.dist is None else batch.dist[..., np.newaxis],
            Field.POS: batch.pos,
            Field.NORMAL: batch.normal,
            Field.TANGENT: batch.tangent0,
            Field.LINVEL: batch.linvel,
            Field.ANGVEL: batch.angvel,
        }
        missing = [field for field in self.fields if values[field] is None]
        if missing and not (batch.in_world_frame and set(missing) <= {Field.LINVEL, Field.ANGVEL}):
            raise ValueError(f"the batch has no {', '.join(missing)}")
        slots = np.zeros((*batch.filled.shape[:-1], self.slots, self.slot_size), batch.found.dtype)
        start = 0
        for field in self.fields:
            value = values[field]
            if value is not None:
                slots[..., :count, start : start + field.size] = value[..., :count, :]
            start += field.size
        return slots.reshape(*slots.shape[:-2], self.size)

    def _checked(self, array: ArrayLike) -> Array:
        values = np.asarray(array)
        if values.dtype.kind in "iub":
            values = values.astype(np.float64)
        if values.dtype.kind != "f":
            raise TypeError(f"a contact array holds real numbers, not {values.dtype}")
        if values.ndim == 0 or values.shape[-1] != self.size:
            given = "a single number" if values.ndim == 0 else f"an array of length {values.shape[-1]}"
            raise ValueError(
                f"got {given}, but {self.slots} slot(s) of '{' '.join(self.fields)}' "
                f"in {self.style} style have length {self.size}"
            )
        return values

    def _column(self, slot: int, field: Field, index: int) -> Column:
        if field.size == 1:
            return Column(f"slot{slot}.{field}", slot, field, "", UNITS[field], "")
        frame = "world" if field in _WORLD_FIELDS else self.frame
        axis = (_WORLD_AXES if frame == "world" else _CONTACT_AXES)[index]
        return Column(f"slot{slot}.{field}.{axis}", slot, field, axis, UNITS[field], frame)


def _member(enum: type[E], value: str, what: str) -> E:
    try:
        return enum(value)
    except ValueError:
        raise ValueError(f"unknown {what} {value!r}: choose from {', '.join(enum)}") from None
