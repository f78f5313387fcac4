"""Edit a scene's own text to add or change sensors, without touching anything else in it."""

import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path

from ..errors import SceneError
from ..files import replace_file
from .includes import Element, read_elements
from .xml_tags import Tag, XmlError, encode, escape, find_tags, read_text

_SPACES = " \t\r\n"
_INDENT = "  "
_INDENT_LINE = re.compile(r"\r?\n[ \t]+(?=\r?\n)")


@dataclass(frozen=True)
class Edit:
    """An edit of one file, ready to be saved."""

    path: Path
    before: bytes
    after: bytes

    def save(self) -> None:
        """Write the file, whole or not at all; raises SceneError if it has changed since the edit was made."""
        path = self.path.resolve()
        if encode(read_text(path)) != self.before:
            raise SceneError(f"{self.path}: was changed by another program since it was read; nothing was saved")
        replace_file(path, self.after)

    def undone(self) -> "Edit":
        """Return the edit that reverses this one."""
        return Edit(self.path, self.after, self.before)


def contact_element(attributes: Mapping[str, str]) -> str:
    """Return the MJCF of a contact sensor."""
    return f"<contact{''.join(_written(name, value) for name, value in attributes.items())}/>"


def exclude_element(bodies: tuple[str, str]) -> str:
    """Return the MJCF for the section <contact> that excludes contacts between two bodies."""
    return f"<exclude{_written('body1', bodies[0])}{_written('body2', bodies[1])}/>"


def insert_elements(path: Path, section: str, elements: Sequence[str]) -> Edit:
    """Put elements at the end of a scene's last section of a name, or into a new one at the end of the scene."""
    text = read_text(path)
    root, sections = find_sections(path, text)
    if root.open.name.lower() != "mujoco":
        raise SceneError(f"{path}: a {section} can be saved into MJCF only, and this is <{root.open.name}>")
    existing = [each for each in sections if each.open.name == section]
    if existing:
        return make_edit(path, text, append_elements(text, sections, existing[-1], elements))
    newline, unit = _newline(text), _indent_unit(text, sections)
    lines = newline.join(f"{unit}{unit}{element}" for element in elements)
    lines = f"{unit}<{section}>{newline}{lines}{newline}{unit}</{section}>"
    if sections and _follows_blank_line(text, sections[-1].open):
        lines = newline + lines
    return make_edit(path, text, _append(text, root, lines, newline, ""))


def append_elements(text: str, sections: "Sequence[Section]", section: "Section", elements: Sequence[str]) -> str:
    """Return a text with elements appended to one of its sections, one per line, indented as the lines there."""
    newline = _newline(text)
    outer = _indent_of(text, section.open) or ""
    inner = section.child_indent(text) or outer + _indent_unit(text, sections)
    return _append(text, section, newline.join(f"{inner}{element}" for element in elements), newline, outer)


def change_sensor(path: Path, names: Sequence[str], index: int, changes: Mapping[str, str | None]) -> Edit:
    """Set attributes of a sensor, or remove those that are None, in the file that declares it.

    `path`: the scene; `names`: names of all its sensors in order, empty for unnamed ones; `index`: index of the sensor
    in these.
    """
    declared = _find_declared(path)
    if [_name_of(sensor) for sensor in declared] == list(names):
        sensor = declared[index]
    else:
        # Copies made by replicate or attach have no text of their own, so the order says nothing.
        alike = [sensor for sensor in declared if names[index] and _name_of(sensor) == names[index]]
        if len(alike) != 1:
            label = f"sensor {names[index]!r}" if names[index] else f"unnamed sensor {index}"
            raise SceneError(f"{path}: {label} has no element of its own in the file (replicate or attach make it)")
        sensor = alike[0]
    return make_edit(sensor.path, sensor.text, with_attributes(sensor.text, sensor.tag, changes))


def make_edit(path: Path, before: str, after: str) -> Edit:
    """Return an edit. Raises SceneError if the result would not be a scene."""
    find_sections(path, after)
    return Edit(path, encode(before), encode(after))


@dataclass(frozen=True)
class Section:
    """An element with content."""

    open: Tag
    close: Tag | None
    """Closing tag; None for an element such as `<sensor/>`."""
    last_child: Tag | None

    def child_indent(self, text: str) -> str | None:
        return _indent_of(text, self.last_child) if self.last_child else None


def find_sections(path: Path, text: str) -> tuple[Section, list[Section]]:
    """Return the root element and its elements."""
    open_tags: list[Tag] = []
    children: dict[int, Tag] = {}
    """Last child of the open element at each depth."""
    sections: list[Section] = []
    root: Section | None = None
    try:
        for tag in find_tags(text):
            if tag.opens:
                children[len(open_tags)] = tag
                open_tags.append(tag)
                children.pop(len(open_tags), None)
            if tag.closes and open_tags and root is None:
                depth = len(open_tags)
                section = Section(open_tags.pop(), None if tag.opens else tag, children.get(depth))
                if depth == 2:
                    sections.append(section)
                elif depth == 1:
                    root = section
    except XmlError:
        root = None
    if root is None:
        raise broken(path)
    return root, sections


def broken(path: Path) -> SceneError:
    """Return an error for a file that cannot be edited because its XML is not well-formed."""
    return SceneError(f"{path}: broken XML; mend it first")


def _append(text: str, section: Section, lines: str, newline: str, outer: str) -> str:
    """Return a text with lines appended to a section."""
    if section.close is None:
        opening = text[section.open.start : section.open.end].removesuffix("/>").rstrip(_SPACES)
        element = f"{opening}>{newline}{lines}{newline}{outer}</{section.open.name}>"
        return text[: section.open.start] + element + text[section.open.end :]
    end = max(section.open.end, len(text[: section.close.start].rstrip(_SPACES)))
    space = text[end : section.close.start]
    # New lines take the place of those that hold nothing but an indent.
    closing = _INDENT_LINE.sub("", space) if "\n" in space else newline + outer
    return text[:end] + newline + lines + closing + text[section.close.start :]


def with_attributes(text: str, tag: Tag, changes: Mapping[str, str | None]) -> str:
    """Return a text with attributes of a tag set, or removed if they are None."""
    spans = tag.attribute_spans()
    end = max((span[3] for span in spans.values()), default=tag.start + 1 + len(tag.name))
    pieces: list[tuple[int, int, str]] = []
    added = ""
    for name, value in changes.items():
        if name in spans:
            front, first, last, behind = spans[name]
            if value is None:
                pieces.append((front, behind, ""))
            else:
                quoted = escape(value)
                pieces.append((first, last, quoted.replace("'", "&apos;") if text[first - 1] == "'" else quoted))
        elif value is not None:
            added += _written(name, value)
    # From the back, so that offsets stay true.
    for first, last, words in sorted([*pieces, (end, end, added)], reverse=True):
        text = text[:first] + words + text[last:]
    return text


def _find_declared(path: Path) -> list[Element]:
    """Return all sensor elements in the order in which MuJoCo reads them, also those in included files."""
    try:
        return [found for found in read_elements(path) if len(found.around) == 2 and found.around[1] == "sensor"]
    except XmlError:
        raise broken(path) from None


def _name_of(element: Element) -> str:
    return element.tag.attributes.get("name", "")


def _written(name: str, value: str) -> str:
    return f' {name}="{escape(value)}"'


def _newline(text: str) -> str:
    return "\r\n" if 2 * text.count("\r\n") > text.count("\n") else "\n"


def _indent_unit(text: str, sections: Sequence[Section]) -> str:
    return next((_indent_of(text, section.open) for section in sections), None) or _INDENT


def _indent_of(text: str, tag: Tag) -> str | None:
    """Return the space before a tag that begins its line; None for others."""
    start = text.rfind("\n", 0, tag.start) + 1
    space = text[start : tag.start]
    return space if space.strip(" \t") == "" else None


def _follows_blank_line(text: str, tag: Tag) -> bool:
    return re.search(r"\n[ \t]*\r?\n[ \t]*\Z", text[: tag.start]) is not None
