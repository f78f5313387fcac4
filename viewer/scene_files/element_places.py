"""Finds the file, line and column of the elements of a compiled model, also of included and attached ones."""

import re
from functools import cached_property
from pathlib import Path
from typing import Any, NamedTuple

import mujoco

from ..mjmodel.names import read_names
from ..mjmodel.types import MjModel
from .includes import Element, named_paths, walk_tags
from .xml_tags import line_of

_LINE = re.compile(r"line (\d+)")
_LISTS = {
    "body": "bodies",
    "geom": "geoms",
    "site": "sites",
    "sensor": "sensors",
    "pair": "pairs",
    "exclude": "excludes",
}
"""Kinds of objects whose elements are found, and where a specification lists them."""


class Place(NamedTuple):
    """A place in a file."""

    path: Path
    line: int
    """Line, from 1."""
    column: int
    """Column, from 1."""


class ElementPlaces:
    """The elements of a scene that is MJCF, by the objects of its compiled model.

    MuJoCo's own parser keeps the line of every element, but not its file, and no line of what is included. So MuJoCo
    parses the scene once more, written with one tag per line: each line then stands for one element of one file. Copies
    that `replicate` and `attach` make keep the line of their original.
    """

    def __init__(self, scene: Path, model: MjModel) -> None:
        self._scene, self._model = scene, model
        self._elements: list[Element | None] = []
        """Element of each line of the scene with one tag per line, then of the models that it attaches."""
        self._own_lines = 0
        """Lines of the scene itself."""
        self._found: dict[str, list[Element | None]] = {}

    def element(self, kind: str, index: int) -> Element | None:
        """Return the element of an object, such as `geom` 3; None where it is not known."""
        found = self._of_kind(kind)
        return found[index] if index < len(found) else None

    def place(self, kind: str, index: int) -> Place | None:
        """Return where the element of an object begins; None where it is not known."""
        element = self.element(kind, index)
        return None if element is None else place_of(element)

    def all_of(self, tag: str, parent: str = "") -> list[Element]:
        """Return the elements with a tag name in the scene and what it includes, within a parent of a tag name or any
        parent."""
        _ = self.spec
        own = [found for found in self._elements[: self._own_lines] if found is not None]
        return [each for each in own if each.tag.name == tag and parent in ("", each.around[-1])]

    @cached_property
    def spec(self) -> Any | None:
        """The scene's specification, parsed but not compiled; None if it cannot be parsed in that form."""
        nested: dict[str, Path] = {}
        try:
            text = self._flatten(self._scene, nested)
            self._own_lines = len(self._elements)
            texts: dict[str, bytes] = {}
            while waiting := {name: path for name, path in nested.items() if name not in texts}:
                for name, path in waiting.items():
                    padding = "\n" * len(self._elements)
                    texts[name] = (padding + self._flatten(path, nested)).encode("utf-8", "surrogateescape")
            name = str(self._scene.with_suffix(".xml"))
            return mujoco.MjSpec.from_file(name, include={**texts, name: text.encode("utf-8", "surrogateescape")})
        except Exception:  # Parser faults arrive as several types: places are then unknown, and nothing else.
            return None

    def _of_kind(self, kind: str) -> list[Element | None]:
        """Return the elements of all objects of a kind, by their numbers."""
        if kind not in self._found:
            self._found[kind] = self._find(kind)
        return self._found[kind]

    def _find(self, kind: str) -> list[Element | None]:
        if self.spec is None:
            return []
        if kind == "key":
            # The parser keeps no lines of keyframes.
            keys = self.all_of("key", "keyframe")
            return list(keys) if len(keys) == self._model.nkey else []
        listed = list(getattr(self.spec, _LISTS[kind]))
        count = int(getattr(self._model, {"pair": "npair", "exclude": "nexclude"}.get(kind, f"n{kind}")))
        by_number = len(listed) == count or (kind == "sensor" and len(listed) <= count)
        if by_number:
            return [self._element_of(each) for each in listed]
        # The compiler has fused or dropped some: names still say which is which.
        known = {each.name: each for each in listed if each.name}
        return [self._element_of(known[name]) if name in known else None for name in read_names(self._model, kind)]

    def _element_of(self, spec_object: Any) -> Element | None:
        found = _LINE.search(spec_object.info or "")
        line = int(found[1]) if found else 0
        return self._elements[line - 1] if 0 < line <= len(self._elements) else None

    def _flatten(self, path: Path, nested: dict[str, Path]) -> str:
        """Return the text of a model with one tag per line and its includes pasted in; adds to the elements."""
        lines: list[str] = []
        for element in walk_tags(path):
            tag = element.tag
            opening = f"<{tag.name} {' '.join(tag.body.split())}{'/' if tag.closes else ''}>"
            lines.append(opening if tag.opens else f"</{tag.name}>")
            self._elements.append(element if tag.opens and element.around else None)
            if tag.opens and tag.name == "model" and (name := tag.attributes.get("file")):
                for candidate in named_paths(name, (path.parent, element.path.parent)):
                    if candidate.is_file():
                        nested.update({str(candidate): candidate, str(path.parent / name): candidate})
                        break
        return "\n".join(lines)


def place_of(element: Element) -> Place:
    """Return where an element begins."""
    start = element.tag.start
    return Place(element.path, line_of(element.text, start), start - element.text.rfind("\n", 0, start))
