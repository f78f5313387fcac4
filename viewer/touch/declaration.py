"""Turns the text of an MJCF entry into a touch sensor, and back."""

import shlex
import warnings
from collections.abc import Callable
from contextlib import suppress
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from ..errors import SceneError
from ..scene_files.includes import Element, read_elements
from ..scene_files.xml_edits import Edit, append_elements, broken, find_sections, make_edit, with_attributes
from ..scene_files.xml_tags import XmlError, read_text
from .device import DEFAULT_TABLE, INFINITE_RESOLUTION, Measure, Table, TouchSensor, TouchType, touch_type

PREFIX = "touch:"
"""Prefix of the name of an entry that declares a touch sensor."""
DEFAULT_PERIOD = 10.0
"""Sampling period of a declared sensor [ms]."""


@dataclass(frozen=True)
class TouchDeclaration:
    """A touch sensor as it stands in an MJCF file.

    `<custom><text name="touch:NAME" data="..."/></custom>`, one entry a sensor. The data is `key=value` pairs
    in any order; a value with blanks is quoted as in a shell:

        type=force site=sole table='0 0 0, 500 5000 0.01' resolution=5 period=10 measure=contact seed=1

    - `type`: bumper (default), force or force-3d; any other is taken as a bumper, with a warning
    - `site` or `body`, one of them: where the sensor is, and whose axes are its own
    - `table`: rows of force [N], output and noise level, separated by commas; '' for newtons;
      default '0 0 0, 5000 50000 0'
    - `resolution`: smallest change of the output, greater than 0, or -1 (default) for infinitely fine
    - `period`: sampling period [ms], default 10; 0 for a sensor that starts disabled
    - `measure`: contact (default), the contact forces on the body, or mount, what it passes on to its parent
    - `seed`: whole number that fixes the noise, default 0
    """

    name: str
    """Name of the sensor: NAME in `touch:NAME`."""
    type: TouchType = TouchType.BUMPER
    site: str | None = None
    body: str | None = None
    lookup_table: Table = DEFAULT_TABLE
    resolution: float = INFINITE_RESOLUTION
    sampling_period: float = DEFAULT_PERIOD
    """Time between two samples [ms]; with 0 the sensor starts disabled."""
    measure: Measure = Measure.CONTACT
    seed: int = 0

    def __post_init__(self) -> None:
        if not self.name:
            raise ValueError("a touch sensor needs a name")
        targets = [target for target in (self.site, self.body) if target is not None]
        if len(targets) != 1 or "" in targets:
            raise ValueError("a touch sensor needs either a site or a body")
        # The device's checks are the declaration's, and its types too: any sequence of rows is a table.
        sensor = self.build()
        for field in ("type", "lookup_table", "resolution", "measure", "seed"):
            object.__setattr__(self, field, getattr(sensor, field))
        object.__setattr__(self, "sampling_period", sensor.get_sampling_period())

    def build(self) -> TouchSensor:
        """Return the device that is declared."""
        return TouchSensor(
            self.type,
            name=self.name,
            lookup_table=self.lookup_table,
            resolution=self.resolution,
            sampling_period=self.sampling_period,
            measure=self.measure,
            seed=self.seed,
        )

    def to_mjcf(self) -> str:
        """Return the entry for `<custom>`."""
        from xml.sax.saxutils import quoteattr  # Brings half of a web client along.

        return f"<text name={quoteattr(PREFIX + self.name)} data={quoteattr(self.to_text())}/>"

    def to_text(self) -> str:
        """Return the `data` of the MJCF entry, before XML escapes; default settings are left out."""
        words = {"type": str(self.type)}
        words |= {"site": self.site} if self.site else {"body": self.body or ""}
        if self.lookup_table != DEFAULT_TABLE:
            words["table"] = ", ".join(" ".join(map(_format, row)) for row in self.lookup_table)
        if self.resolution != INFINITE_RESOLUTION:
            words["resolution"] = _format(self.resolution)
        if self.sampling_period != DEFAULT_PERIOD:
            words["period"] = _format(self.sampling_period)
        if self.measure is not Measure.CONTACT:
            words["measure"] = str(self.measure)
        if self.seed:
            words["seed"] = str(self.seed)
        return " ".join(f"{key}={shlex.quote(value)}" for key, value in words.items())


def parse_touch(name: str, text: str, warn: Callable[[str], object] = warnings.warn) -> TouchDeclaration:
    """Return the touch sensor that the entry `touch:NAME` declares; see `TouchDeclaration` for the grammar.

    An unknown type means bumper, as in Webots, with a line to `warn`.
    """
    try:
        fields = _parse_fields(text)
        if "type" in fields:
            fields["type"] = touch_type(fields["type"], lambda text: warn(f"{PREFIX}{name}: {text}"))
        return TouchDeclaration(name, **fields)
    except ValueError as error:
        raise ValueError(f"{PREFIX}{name}: {error}") from None


def _parse_fields(text: str) -> dict[str, Any]:
    try:
        words = shlex.split(text)
    except ValueError:
        raise ValueError("a quote is not closed") from None
    fields: dict[str, Any] = {}
    for word in words:
        key, equals, value = word.partition("=")
        if not equals:
            raise ValueError(f"expected key=value, not {word!r}")
        if key not in _READERS:
            raise ValueError(f"unknown key {key!r}: choose from {', '.join(_READERS)}")
        field, read = _READERS[key]
        if field in fields:
            raise ValueError(f"{key} is given twice")
        try:
            fields[field] = read(value)
        except ValueError as error:
            raise ValueError(f"{key}: {error}") from None
    return fields


def _read_number(text: str) -> float:
    for kind in (int, float):  # whole numbers first: a seed may have more digits than a float
        with suppress(ValueError):
            return kind(text)
    raise ValueError(f"expected a number, not {text!r}")


def _read_table(text: str) -> list[list[float]]:
    return [[_read_number(word) for word in row.split()] for row in text.split(",")] if text.strip() else []


_READERS: dict[str, tuple[str, Callable[[str], object]]] = {
    "type": ("type", str),
    "site": ("site", str),
    "body": ("body", str),
    "table": ("lookup_table", _read_table),
    "resolution": ("resolution", _read_number),
    "period": ("sampling_period", _read_number),
    "measure": ("measure", str),
    "seed": ("seed", _read_number),
}
"""Keys of a declaration: the field each one sets, and how its value is read."""


def _format(number: float) -> str:
    # repr, because it is the shortest text that reads back as the same number.
    return repr(number).removesuffix(".0")


_INDENT = "  "


def save_touch(path: Path, declaration: TouchDeclaration) -> Edit:
    """Write a touch sensor over its entry, wherever that is, or as a new one at the end of the scene's `<custom>`."""
    entry = _find_entry(path, PREFIX + declaration.name)
    if entry is not None:
        changed = with_attributes(entry.text, entry.tag, {"data": declaration.to_text()})
        return make_edit(entry.path, entry.text, changed)
    text = read_text(path)
    root, sections = find_sections(path, text)
    if root.open.name != "mujoco" or root.close is None:
        raise SceneError(f"{path}: touch sensors can be saved into MJCF only")
    element = declaration.to_mjcf()
    section = next((section for section in sections if section.open.name == "custom"), None)
    if section is not None:
        return make_edit(path, text, append_elements(text, sections, section, [element]))
    newline = "\r\n" if "\r\n" in text else "\n"
    lines = f"{newline}{_INDENT}<custom>{newline}{2 * _INDENT}{element}{newline}{_INDENT}</custom>"
    return make_edit(path, text, text[: root.open.end] + lines + text[root.open.end :])


def _find_entry(path: Path, name: str) -> Element | None:
    try:
        elements = [found for found in read_elements(path) if found.tag.name == "text"]
    except XmlError:
        raise broken(path) from None
    return next((found for found in elements if found.tag.attributes.get("name") == name), None)
