"""Turns MJCF files into MJCF text with only some of their contact sensors, or with these in MuJoCo's own order."""

import re
from collections.abc import Collection
from itertools import count
from pathlib import Path
from xml.etree import ElementTree

from ..sensors.layout import Field
from .includes import find_include

_DEEPEST_INCLUDE = 50
_CONTACT_DATA = re.compile(rb"""(<contact\s[^>]*?\bdata\s*=\s*["'])([^"'<>]*)""")


def read_mjcf(path: Path) -> ElementTree.Element:
    """Return the root of an MJCF file with its includes inserted. Raises OSError or ElementTree.ParseError."""
    root = ElementTree.parse(path).getroot()
    _expand(root, path, path, 0)
    return root


def count_contact_sensors(root: ElementTree.Element) -> int:
    """Return the number of contact sensors that have their own element."""
    return sum(len(section.findall("contact")) for section in root.iter("sensor"))


def keep_contact_sensors(root: ElementTree.Element, keep: Collection[int]) -> str:
    """Return MJCF text without the contact sensors whose indices in the file are not to be kept."""
    sections = [(section, list(section)) for section in root.iter("sensor")]
    kept, places = set(keep), count()
    for section, children in sections:
        section[:] = [child for child in children if child.tag != "contact" or next(places) in kept]
    # Taken out and put back: a copy of a scene with many sensors takes far longer than its text.
    text = ElementTree.tostring(root, encoding="unicode")
    for section, children in sections:
        section[:] = children
    return text


def drop_attribute(root: ElementTree.Element, element: str, attribute: str) -> None:
    """Remove an attribute from all elements of a kind."""
    for found in root.iter(element):
        found.attrib.pop(attribute, None)


def ordered_data(text: bytes) -> bytes:
    """Return MJCF text whose contact sensors request their data in the order that MuJoCo requires."""
    return _CONTACT_DATA.sub(lambda found: found[1] + _ordered(found[2]), text)


def _ordered(words: bytes) -> bytes:
    fields = words.decode(errors="replace").split()
    known = list(map(str, Field))
    return " ".join(sorted(fields, key=known.index)).encode() if set(fields) <= set(known) else words


def _expand(parent: ElementTree.Element, scene: Path, source: Path, depth: int) -> None:
    if depth > _DEEPEST_INCLUDE:
        raise OSError("files include each other too deeply")
    for place, child in reversed(list(enumerate(parent))):
        if child.tag != "include":
            _expand(child, scene, source, depth)
            continue
        name = child.get("file", "")
        file = find_include(name, scene, source) or scene.parent / name
        included = ElementTree.parse(file).getroot()
        _expand(included, scene, file, depth + 1)
        parent[place : place + 1] = list(included)
