"""Sensors to changes of a scene's own text, which leave everything else in it as it was."""

import contextlib
import os
import re
import stat
import tempfile
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path

from ..errors import SceneError
from .checking import TEXT_SIZE_MAX, Survey
from .markup import MarkupError, Tag, decode, encode, escape, find_tags, read_bytes

_SPACES = " \t\r\n"
_INDENT = "  "


@dataclass(frozen=True)
class Edit:
    """A change of one file, ready to be saved."""

    path: Path
    before: bytes
    after: bytes

    def save(self) -> None:
        """Write the file, whole or not at all. Refuses if it is no longer what the change was made for."""
        path = self.path.resolve()
        if read_bytes(path, TEXT_SIZE_MAX, "scene file") != self.before:
            raise SceneError(f"{self.path}: has been changed by someone else since; nothing was saved")
        try:
            _replace_file(path, self.after)
        except OSError as error:
            raise SceneError(f"{self.path}: cannot be written ({error.strerror})") from None

    def undone(self) -> "Edit":
        """The change that takes this one back."""
        return Edit(self.path, self.after, self.before)


def contact_element(attributes: Mapping[str, str]) -> str:
    """MJCF of a contact sensor."""
    return f"<contact{''.join(_written(name, value) for name, value in attributes.items())}/>"


def insert_sensors(path: Path, elements: Sequence[str]) -> Edit:
    """Put elements at the end of a scene's last sensor section, or into a new one at the end of the scene."""
    before, text = _read(path)
    root, sections = _find_sections(path, text)
    if root.open.name.lower() != "mujoco":
        raise SceneError(f"{path}: sensors can be saved into MJCF only, and this is <{root.open.name}>")
    newline = "\r\n" if 2 * text.count("\r\n") > text.count("\n") else "\n"
    unit = next((_indent_of(text, section.open) for section in sections), None) or _INDENT
    existing = [section for section in sections if section.open.name == "sensor"]
    if existing:
        section = existing[-1]
        outer = _indent_of(text, section.open) or ""
        inner = section.child_indent(text)
        lines = newline.join(f"{inner or outer + unit}{element}" for element in elements)
        changed = _append(text, section, lines, newline, outer)
    else:
        lines = newline.join(f"{unit}{unit}{element}" for element in elements)
        lines = f"{unit}<sensor>{newline}{lines}{newline}{unit}</sensor>"
        if sections and _follows_blank_line(text, sections[-1].open):
            lines = newline + lines
        changed = _append(text, root, lines, newline, "")
    return _checked(path, before, changed)


def change_sensor(survey: Survey, names: Sequence[str], index: int, changes: Mapping[str, str | None]) -> Edit:
    """Set attributes of a sensor, or remove those that are None, in the file that declares it.

    `names`: of all the scene's sensors in order, empty for unnamed ones; `index`: which of them.
    """
    declared = _find_declared(survey)
    if [sensor.name for sensor in declared] == list(names):
        sensor = declared[index]
    else:
        # Copies made by replicate or attach have no text of their own, so the order says nothing.
        alike = [sensor for sensor in declared if names[index] and sensor.name == names[index]]
        if len(alike) != 1:
            label = f"sensor {names[index]!r}" if names[index] else f"unnamed sensor {index}"
            raise SceneError(
                f"{survey.path}: {label} has no element of its own in the file (replicate or attach make it)"
            )
        sensor = alike[0]
    before, text = _read(sensor.path)
    return _checked(sensor.path, before, _with_attributes(text, sensor.tag, changes))


@dataclass(frozen=True)
class _Section:
    """An element with content."""

    open: Tag
    close: Tag | None
    """None for an element such as `<sensor/>`."""
    last_child: Tag | None

    def child_indent(self, text: str) -> str | None:
        return _indent_of(text, self.last_child) if self.last_child else None


@dataclass(frozen=True)
class _Declared:
    """A sensor's element."""

    path: Path
    tag: Tag
    name: str


def _read(path: Path) -> tuple[bytes, str]:
    data = read_bytes(path, TEXT_SIZE_MAX, "scene file")
    return data, decode(data)


def _find_sections(path: Path, text: str) -> tuple[_Section, list[_Section]]:
    """The root element and the elements in it."""
    open_tags: list[Tag] = []
    children: dict[int, Tag] = {}
    """Last child of the open element at each depth."""
    sections: list[_Section] = []
    root: _Section | None = None
    try:
        for tag in find_tags(text):
            if tag.opens:
                children[len(open_tags)] = tag
                open_tags.append(tag)
                children.pop(len(open_tags), None)
            if tag.closes and open_tags and root is None:
                depth = len(open_tags)
                section = _Section(open_tags.pop(), None if tag.opens else tag, children.get(depth))
                if depth == 2:
                    sections.append(section)
                elif depth == 1:
                    root = section
    except MarkupError:
        root = None
    if root is None:
        raise SceneError(f"{path}: broken XML; mend it first")
    return root, sections


def _append(text: str, section: _Section, lines: str, newline: str, outer: str) -> str:
    """Text with lines at the end of a section."""
    if section.close is None:
        opening = text[section.open.start : section.open.end].removesuffix("/>").rstrip(_SPACES)
        element = f"{opening}>{newline}{lines}{newline}{outer}</{section.open.name}>"
        return text[: section.open.start] + element + text[section.open.end :]
    end = max(section.open.end, len(text[: section.close.start].rstrip(_SPACES)))
    space = text[end : section.close.start]
    closing = space if "\n" in space else newline + outer
    return text[:end] + newline + lines + closing + text[section.close.start :]


def _with_attributes(text: str, tag: Tag, changes: Mapping[str, str | None]) -> str:
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
                pieces.append((first, last, escape(value).replace("'", "&apos;")))
        elif value is not None:
            added += _written(name, value)
    # From the back, so that offsets stay true.
    for first, last, words in sorted([*pieces, (end, end, added)], reverse=True):
        text = text[:first] + words + text[last:]
    return text


def _find_declared(survey: Survey) -> list[_Declared]:
    """All sensor elements in the order in which MuJoCo reads them, also those in included files."""
    declared: list[_Declared] = []
    try:
        _collect(survey, survey.path, [], declared, set())
    except MarkupError:
        raise SceneError(f"{survey.path}: broken XML; mend it first") from None
    return declared


def _collect(survey: Survey, path: Path, above: list[str], declared: list[_Declared], seen: set[Path]) -> None:
    """`above`: names of the elements around the one that includes this file, from the root on."""
    if path in seen:
        return
    seen.add(path)
    inside: list[str] = []
    for tag in find_tags(_read(path)[1]):
        # An included file's own root element vanishes.
        around = above + inside[1:] if above else inside
        if tag.opens and inside:
            if tag.name.lower() == "include":
                _collect_included(survey, path, tag, around, declared, seen)
            elif len(around) == 2 and around[1] == "sensor":
                declared.append(_Declared(path, tag, tag.attributes.get("name", "")))
        if tag.opens and not tag.closes:
            inside.append(tag.name)
        elif tag.closes and not tag.opens and inside:
            inside.pop()


def _collect_included(
    survey: Survey, path: Path, tag: Tag, around: list[str], declared: list[_Declared], seen: set[Path]
) -> None:
    name = tag.attributes.get("file", "").replace("\\", "/")
    for folder in (survey.path.parent, path.parent):
        included = Path(os.path.normpath(folder / name))
        if name and included.is_file():
            _collect(survey, included, around, declared, seen)
            return


def _checked(path: Path, before: bytes, changed: str) -> Edit:
    """An edit, unless it would leave something that is not a scene."""
    _find_sections(path, changed)
    return Edit(path, before, encode(changed))


def _written(name: str, value: str) -> str:
    return f' {name}="{escape(value)}"'


def _indent_of(text: str, tag: Tag) -> str | None:
    """Space in front of a tag that begins its line; None for others."""
    start = text.rfind("\n", 0, tag.start) + 1
    space = text[start : tag.start]
    return space if space.strip(" \t") == "" else None


def _follows_blank_line(text: str, tag: Tag) -> bool:
    return re.search(r"\n[ \t]*\r?\n[ \t]*\Z", text[: tag.start]) is not None


def _replace_file(path: Path, data: bytes) -> None:
    """Write a file beside the old one and put it in its place, with the same permissions."""
    status = os.stat(path)
    handle, temporary = tempfile.mkstemp(dir=path.parent, prefix=f".{path.name}.", suffix=".tmp")
    try:
        with os.fdopen(handle, "wb") as file:
            file.write(data)
            file.flush()
            os.fsync(handle)
        os.chmod(temporary, stat.S_IMODE(status.st_mode))
        if hasattr(os, "chown"):
            with contextlib.suppress(OSError):
                os.chown(temporary, status.st_uid, status.st_gid)
        os.replace(temporary, path)
    except BaseException:
        with contextlib.suppress(OSError):
            os.unlink(temporary)
        raise
