"""Turn the flat array of a contact sensor into contacts, and back: place and meaning of each value."""

import dataclasses
from collections.abc import Iterable
from dataclasses import dataclass
from enum import StrEnum
from functools import cache, cached_property
from itertools import accumulate
from typing import Any
from xml.etree import ElementTree

import numpy as np

from ..settings import Reduce, member
from .array_library import as_array_like, as_real, counting, is_numpy, namespace, register_trees, zeros_beside
from .contacts import Array, ContactBatch
from .model_layouts import ModelLayouts, PlacedSensor
from .motrix_frames import PairOrder, correct, undo


class Field(StrEnum):
    """Field that a sensor can report of a contact, in the order in which engines write it."""

    FOUND = "found"
    FORCE = "force"
    TORQUE = "torque"
    DIST = "dist"
    POS = "pos"
    NORMAL = "normal"
    TANGENT = "tangent"
    LINVEL = "linvel"
    ANGVEL = "angvel"
    """Angular velocity. Velocities stay zero under netforce: a net contact has none."""

    @property
    def size(self) -> int:
        """Number of values per contact."""
        return 1 if self in (Field.FOUND, Field.DIST) else 3


class Style(StrEnum):
    """Arrangement of the values by an engine, or in a document."""

    MUJOCO = "mujoco"
    """`found` leads every slot, if it is requested; netforce uses the first of `num` slots."""
    MOTRIX = "motrix"
    """MotrixSim's array: one `found` leads it, if requested; netforce has one slot."""
    DOCUMENTED = "documented"
    """Array of MotrixSim's manual: the number of reported contacts always leads; netforce has one slot."""

    @property
    def fields(self) -> tuple[Field, ...]:
        """Return the fields that arrays of this style can hold."""
        return tuple(Field) if self is Style.MUJOCO else tuple(Field)[:7]


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
_BATCH_NAMES = {field: "tangent0" if field is Field.TANGENT else str(field) for field in Field}
"""Names of the fields in a ContactBatch."""
_CONTACT_AXES = ("normal", "tangent0", "tangent1")
_WORLD_AXES = ("x", "y", "z")
_WORLD_FIELDS = (Field.POS, Field.NORMAL, Field.TANGENT)


@dataclass(frozen=True)
class Column:
    """Value of the flat array."""

    name: str
    """Name, unique in the array, such as `slot0.force.normal`; `found` for a count that leads the array."""
    slot: int
    """Index of the slot; 0 for a leading count."""
    field: Field
    axis: str
    """Axis: normal, tangent0, tangent1 or x, y, z; empty for single values."""
    unit: str
    frame: str
    """Frame: contact, mean contact or world; empty for single values."""


@dataclass(frozen=True)
class ContactLayout:
    """Layout of the array of one contact sensor.

    Example:
        ```python
        layout = contact_viewer.ContactLayout("found force normal tangent", slots=4)
        batch = layout.decode(np.zeros((4096, layout.size)))
        print(batch.force.shape, batch.net_force.shape)
        ```
    """

    fields: tuple[Field, ...]
    """Requested fields, in array order whatever order they are given in."""
    slots: int
    """Number of contacts that fit into the array: `num` in MJCF, or 1 for netforce in styles with one slot for it."""
    reduce: Reduce = Reduce.NONE
    style: Style = Style.MUJOCO
    pair_order: PairOrder = PairOrder.NATIVE
    """Order of the sensor's objects, compared with MotrixSim's colliders; native in the other styles."""
    head_size: int = dataclasses.field(init=False, repr=False, compare=False)
    """Number of values before the first slot: 1 where a count leads the array."""
    slot_fields: tuple[Field, ...] = dataclasses.field(init=False, repr=False, compare=False)
    """Fields of each slot."""
    slot_size: int = dataclasses.field(init=False, repr=False, compare=False)
    """Number of values per slot."""
    size: int = dataclasses.field(init=False, repr=False, compare=False)
    """Number of values in the array."""
    frame: str = dataclasses.field(init=False, repr=False, compare=False)
    """Frame of force and torque in the array: `contact`, for netforce `world`, or MotrixSim's `mean contact`."""
    _slot_places: tuple[tuple[str, Any], ...] = dataclasses.field(init=False, repr=False, compare=False)
    """Place of each field in slots, (..., slot_size): its name in a ContactBatch, and an index."""

    def __init__(
        self,
        fields: str | Iterable[str],
        slots: int,
        reduce: str = Reduce.NONE,
        style: str = Style.MUJOCO,
        pair_order: str = PairOrder.NATIVE,
    ) -> None:
        """Describe the array of a contact sensor.

        Args:
            fields: MJCF's `data` attribute, such as `"found force pos"`, or the names of the fields.
            slots: MJCF's `num`: number of contacts that the array has room for.
            reduce: Reduce mode, `none`, `mindist`, `maxforce` or `netforce`.
            style: Order of the values in the array: `mujoco` by default.
            pair_order: Order of the objects of a pair in MotrixSim's arrays; `native` in the other styles.

        Raises:
            ValueError: A field, a mode or a style is unknown, or they do not go together.
        """
        words = fields.split() if isinstance(fields, str) else list(fields)
        requested = {member(Field, word, "field") for word in words}
        if not requested:
            raise ValueError("a contact sensor needs at least one field")
        if isinstance(slots, bool) or not isinstance(slots, int | np.integer) or slots < 1:
            raise ValueError(f"slots must be a whole number of at least 1, not {slots!r}")
        chosen, mode = member(Style, style, "style"), member(Reduce, reduce, "reduce mode")
        order = member(PairOrder, pair_order, "pair order")
        unknown = [field for field in Field if field in requested and field not in chosen.fields]
        if unknown:
            raise ValueError(f"the {chosen} style has no {', '.join(unknown)}")
        if order is not PairOrder.NATIVE and chosen is not Style.MOTRIX:
            raise ValueError(f"pairs are always in native order in the {chosen} style, not {order}")
        if chosen is Style.DOCUMENTED:
            requested.add(Field.FOUND)
        ordered = tuple(field for field in Field if field in requested)
        head_size = int(chosen is not Style.MUJOCO and Field.FOUND in ordered)
        slot_fields, netforce = ordered[head_size:], mode is Reduce.NETFORCE
        count = 1 if netforce and chosen is not Style.MUJOCO else int(slots)
        slot_size = sum(field.size for field in slot_fields)
        frame = "contact" if not netforce else "mean contact" if chosen is Style.MOTRIX else "world"
        # Plain values, and no properties that are computed when they are asked for: torch.compile reads them.
        for name, value in {
            "fields": ordered,
            "slots": count,
            "reduce": mode,
            "style": chosen,
            "pair_order": order,
            "head_size": head_size,
            "slot_fields": slot_fields,
            "slot_size": slot_size,
            "size": head_size + count * slot_size,
            "frame": frame,
            "_slot_places": _places(slot_fields),
        }.items():
            object.__setattr__(self, name, value)

    @classmethod
    def from_mujoco(cls, model: Any, sensor: int | str) -> "ContactLayout":
        """Return the layout of a contact sensor of a compiled MuJoCo model, by id or name."""
        index = int(sensor) if isinstance(sensor, int | np.integer) else int(model.sensor(sensor).id)
        layout = read_layout(model, index)
        if layout is None:
            raise ValueError(f"sensor {sensor!r} is not a contact sensor")
        return layout

    @classmethod
    def for_model(cls, model: Any) -> "ModelLayouts[ContactLayout]":
        """Return the layouts of all contact sensors of a compiled MuJoCo model by name; they decode its
        `sensordata`."""
        return ModelLayouts(model, read_layout, lambda fields, like: cls(fields, like.slots, like.reduce))

    @classmethod
    def from_mjcf(cls, element: ElementTree.Element | str, style: str = Style.MUJOCO) -> "ContactLayout":
        """Return the layout that an MJCF sensor `<contact .../>` declares, given as element or as text."""
        if isinstance(element, str):
            try:
                element = ElementTree.fromstring(element)
            except ElementTree.ParseError as error:
                raise ValueError(f"not an XML element: {error}") from None
        if element.tag != "contact":
            raise ValueError(f"expected a <contact> sensor, not <{element.tag}>")
        num = element.get("num", "1")
        if not num.strip().isdecimal():
            raise ValueError(f"num must be a whole number of at least 1, not {num!r}")
        return cls(element.get("data", "found"), int(num), element.get("reduce", "none"), style)

    @classmethod
    def from_motrix(cls, model: Any, name: str) -> "ContactLayout":
        """Return the layout of a contact sensor of a MotrixSim model."""
        sensors = {sensor.name: sensor for sensor in model.low.low_contact_sensors}
        if name not in sensors:
            raise ValueError(f"no contact sensor named {name!r}; the model has: {', '.join(sensors) or 'none'}")
        return cls.from_low_motrix(sensors[name])

    @classmethod
    def from_low_motrix(cls, sensor: Any) -> "ContactLayout":
        """Return the layout of an entry of `low.low_contact_sensors` of a MotrixSim model."""
        fields = [field for field in Style.MOTRIX.fields if getattr(sensor.report, field)]
        return cls(fields, sensor.max_num, sensor.reduce, Style.MOTRIX, PairOrder.of(sensor.collider_pairs))

    @classmethod
    def guess(cls, length: int, fields: str | Iterable[str], num: int, reduce: str = Reduce.NONE) -> "ContactLayout":
        """Return the layout of an array by its length, in any style.

        Often several styles put every value at the same place. The layout is then MotrixSim's, which assumes least: it
        turns netforce into the world frame by the array's own normal and tangent, or not at all, as is right for all
        styles. The length does not show whether MotrixSim's pairs are in native order.

        Args:
            length: Number of values of the array.
            fields: MJCF's `data` attribute, or the names of the fields.
            num: MJCF's `num`.
            reduce: Reduce mode.

        Returns:
            The layout.

        Raises:
            ValueError: No style has this length, or several styles have it with different places of values.
        """
        words = fields.split() if isinstance(fields, str) else list(fields)
        layouts = []
        for style in Style:
            if {str(word) for word in words} <= {str(field) for field in style.fields}:
                layouts.append(cls(words, num, reduce, style))
        if not layouts:
            cls(words, num, reduce)
        candidates = [layout for layout in layouts if layout.size == length]
        what = f"num {num} of '{' '.join(words)}', reduce {reduce}"
        if not candidates:
            sizes = ", ".join(f"{layout.style} {layout.size}" for layout in layouts)
            raise ValueError(f"no style has an array of length {length} for {what}; lengths: {sizes}")
        if len({tuple((place.slot, place.field) for place in layout.described_columns) for layout in candidates}) > 1:
            styles = ", ".join(layout.style for layout in candidates)
            raise ValueError(f"an array of length {length} for {what} can be in any of these styles: {styles}")
        return next((layout for layout in candidates if layout.style is Style.MOTRIX), candidates[0])

    def restyled(self, style: str) -> "ContactLayout":
        """Return the layout of the same sensor in another style, with the fields that this style can hold."""
        fields = [field for field in self.fields if field in Style(style).fields]
        # A style that lacks all of them still reports whether there is contact.
        return ContactLayout(fields or [Field.FOUND], self.slots, self.reduce, style)

    @cached_property
    def described_columns(self) -> tuple[Column, ...]:
        """Descriptions of all values of the array, in order: name, slot, field, axis, unit, frame."""
        head = [Column("found", 0, Field.FOUND, "", "", "")] * self.head_size
        return (
            *head,
            *(
                self._column(slot, field, i)
                for slot in range(self.slots)
                for field in self.slot_fields
                for i in range(field.size)
            ),
        )

    @property
    def columns(self) -> tuple[str, ...]:
        """Names of all values of the array, in order."""
        return tuple(column.name for column in self.described_columns)

    def decode(self, array: Any) -> ContactBatch:
        """Return the contacts in an array, (..., size), as views of it unless MotrixSim's values need a correction.

        The array may be of numpy, torch, JAX or another library of the array API standard, and compiled or traced.
        """
        values = self._checked(array)
        register_trees(values)
        flat = values[..., self.head_size :]
        slots = namespace(values).reshape(flat, (*values.shape[:-1], self.slots, self.slot_size))
        views: dict[str, Any] = {name: slots[place] for name, place in self._slot_places}
        views["found"], views["filled"] = self._filled(values, slots, views)
        batch = ContactBatch(**views, in_world_frame=self.frame == "world", reduce=self.reduce)
        if self.style is Style.MOTRIX:
            return correct(batch, self.pair_order, netforce=self.reduce is Reduce.NETFORCE)
        return batch

    def encode(self, batch: ContactBatch) -> Array:
        """Return the array, (..., size), that holds a batch: the inverse of `decode`. Further slots stay empty.

        The batch may come from another style. The documented style counts the reported contacts, the others all
        matching
        ones.
        """
        xp, count = namespace(batch.found), batch.filled.shape[-1]
        if count > self.slots:
            # Only numpy's values can be looked at without waiting for a device.
            if not is_numpy(batch.filled):
                raise ValueError(f"the batch has {count} slots, the layout {self.slots}: cut(0, {self.slots}) first")
            if batch.filled[..., self.slots :].any():
                raise ValueError(f"the batch fills {count} slots, the layout has {self.slots}")
            batch, count = batch.cut(0, self.slots), self.slots
        self._check_frame(batch)
        if self.style is Style.MOTRIX:
            batch = undo(batch, self.pair_order, netforce=self.reduce is Reduce.NETFORCE)
        missing = [field for field in self.fields if getattr(batch, _BATCH_NAMES[field]) is None]
        if missing and not (batch.in_world_frame and set(missing) <= {Field.LINVEL, Field.ANGVEL}):
            raise ValueError(f"the batch has no {', '.join(missing)}")
        found, shape = as_array_like(batch.found, batch.found), tuple(batch.filled.shape[:-1])
        columns = []
        for field in self.slot_fields:
            value = getattr(batch, _BATCH_NAMES[field])
            if field is Field.FOUND:
                value = xp.where(batch.filled, found[..., None], xp.zeros_like(found)[..., None])
            elif value is None:
                value = zeros_beside((*shape, count, field.size), found)
            value = xp.astype(value, found.dtype)
            columns.append(value[..., None] if field.size == 1 else value)
        parts = []
        if self.head_size:
            counts_reported = self.style is Style.DOCUMENTED
            head = xp.sum(xp.astype(batch.filled, found.dtype), axis=-1) if counts_reported else found
            parts.append(head[..., None])
        if columns:
            parts.append(xp.reshape(xp.concat(columns, axis=-1), (*shape, count * self.slot_size)))
        if count < self.slots:
            parts.append(zeros_beside((*shape, (self.slots - count) * self.slot_size), found))
        return xp.concat(parts, axis=-1)

    def take(self, array: Array, part: "ContactLayout") -> Array:
        """Return the array of a sensor with fewer fields or slots, (..., part.size), cut out of the array of this
        sensor."""
        positions = {name: i for i, name in enumerate(self.columns)}
        places = [positions[name] for name in part.columns]
        if is_numpy(array):
            return array[..., places]
        return namespace(array).stack([array[..., place] for place in places], axis=-1)

    def _filled(self, values: Any, slots: Any, views: dict[str, Any]) -> tuple[Any, Any]:
        """Return the number of contacts, (...), and True for slots that hold one, (..., slots)."""
        if self.head_size:
            found = values[..., 0]
            return found, counting(self.slots, values) < found[..., None]
        if "found" in views:
            return views["found"][..., 0], views["found"] > 0
        # A contact always has a direction; without one, an empty slot is known only by its zeros.
        evidence = [views[name] for name in ("normal", "tangent0") if name in views] or [slots]
        xp = namespace(values)
        filled = xp.any((evidence[0] if len(evidence) == 1 else xp.concat(evidence, axis=-1)) != 0, axis=-1)
        return xp.sum(xp.astype(filled, values.dtype), axis=-1), filled

    def _check_frame(self, batch: ContactBatch) -> None:
        if Field.FORCE not in self.fields and Field.TORQUE not in self.fields:
            return
        netforce = self.reduce is Reduce.NETFORCE
        if batch.frame_known and batch.in_world_frame != netforce:
            given = "a net force in the world frame" if batch.in_world_frame else "contacts in frames of their own"
            raise ValueError(f"the batch holds {given}, which reduce {self.reduce} does not report")
        if not batch.frame_known and self.style is not Style.MOTRIX:
            raise ValueError(f"the {self.style} style needs the direction of the forces, which the batch does not know")

    def _checked(self, array: Any) -> Any:
        values = as_real(array)
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


def _places(slot_fields: tuple[Field, ...]) -> tuple[tuple[str, Any], ...]:
    ends = accumulate(field.size for field in slot_fields)
    return tuple(
        (_BATCH_NAMES[field], (..., end - 1 if field.size == 1 else slice(end - field.size, end)))
        for field, end in zip(slot_fields, ends, strict=True)
    )


def read_layout(model: Any, index: int) -> ContactLayout | None:
    """Return the layout of a sensor of a compiled MuJoCo model, by id; None if it is not a contact sensor."""
    bits, reduce, num = (int(value) for value in model.sensor_intprm[index, :3])
    return _layout_of(bits, reduce, num, int(model.sensor_dim[index]))


# Many sensors are alike.
@cache
def _layout_of(bits: int, reduce: int, num: int, dim: int) -> ContactLayout | None:
    fields = [field for bit, field in enumerate(Field) if bits >> bit & 1]
    # Only contact sensors have a number of contacts there.
    if not fields or num < 1:
        return None
    return ContactLayout(fields, dim // sum(field.size for field in fields), list(Reduce)[reduce])


class SpreadLayout(ContactLayout):
    """Layout of a longer row that contains the values of another layout: mjlab declares one sensor per field."""

    inner: ContactLayout
    """Layout of the values once they are gathered."""
    places: tuple[int, ...]
    """Index in the row of each value."""

    def __init__(self, inner: ContactLayout, places: tuple[int, ...], size: int) -> None:
        super().__init__(inner.fields, inner.slots, inner.reduce)
        for name, value in {"inner": inner, "places": places, "size": size}.items():
            object.__setattr__(self, name, value)

    def decode(self, array: Any) -> ContactBatch:
        """Return the contacts, (..., slots), in a row, (..., size)."""
        return self.inner.decode(array[..., list(self.places)])

    def __eq__(self, other: object) -> bool:
        return isinstance(other, SpreadLayout) and (self.inner, self.places) == (other.inner, other.places)

    def __hash__(self) -> int:
        return hash((self.inner, self.places))


def spread(sensor: PlacedSensor) -> tuple[slice, SpreadLayout]:
    """Return the columns of a sensor whose values are in several arrays, and its layout there."""
    start = min(columns.start for columns, _ in sensor.parts)
    stop = max(columns.stop for columns, _ in sensor.parts)
    begins = {layout.fields[0]: columns.start - start for columns, layout in sensor.parts}
    layout: ContactLayout = sensor.layout
    places = tuple(
        begins[field] + slot * field.size + i
        for slot in range(layout.slots)
        for field in layout.slot_fields
        for i in range(field.size)
    )
    return slice(start, stop), SpreadLayout(layout, places, stop - start)
