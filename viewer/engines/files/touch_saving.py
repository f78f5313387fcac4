"""A touch sensor to a change of the scene's own text, which leaves everything else in it as it was."""

from dataclasses import dataclass
from pathlib import Path

from ...sensors.touch_declaration import PREFIX, TouchDeclaration
from ..errors import SceneError
from .checking import TEXT_SIZE_MAX
from .editing import Edit
from .markup import MarkupError, Tag, decode, encode, escape, find_tags, read_bytes

_INDENT = "  "


def save_touch(path: Path, declaration: TouchDeclaration) -> Edit:
    """Write a touch sensor over its entry, wherever that is, or as a new one at the end of the scene's `<custom>`."""
    main = _read(path)
    for file in (main, *_included(main, main.path.parent, {path})):
        for tag in file.tags:
            if tag.name == "text" and tag.attributes.get("name") == PREFIX + declaration.name:
                return file.changed(_with_data(file.text, tag, declaration.to_text()))
    root = next((tag for tag in main.tags if tag.opens), None)
    if root is None or root.name != "mujoco" or root.closes:
        raise SceneError(f"{path}: touch sensors can be saved into MJCF only")
    return main.changed(_with_entry(main.text, main.tags, root, declaration.to_mjcf()))


@dataclass(frozen=True)
class _File:
    path: Path
    data: bytes
    text: str
    tags: list[Tag]

    def changed(self, text: str) -> Edit:
        return Edit(self.path, self.data, encode(text))


def _read(path: Path) -> _File:
    data = read_bytes(path, TEXT_SIZE_MAX, "scene file")
    text = decode(data)
    try:
        return _File(path, data, text, list(find_tags(text)))
    except MarkupError:
        raise SceneError(f"{path}: broken XML; mend it first") from None


def _included(file: _File, folder: Path, seen: set[Path]) -> list[_File]:
    """Files that a file includes, and those that they include; MuJoCo looks for all of them in the scene's folder."""
    found = []
    for tag in file.tags:
        path = (folder / tag.attributes.get("file", "")).resolve() if tag.name == "include" else None
        if path is not None and path.is_file() and path not in seen:
            seen.add(path)
            included = _read(path)
            found += [included, *_included(included, folder, seen)]
    return found


def _with_data(text: str, entry: Tag, data: str) -> str:
    # MuJoCo does not load an entry without data.
    _, first, last, _ = entry.attribute_spans()["data"]
    written = escape(data)
    if text[first - 1] == "'":
        written = written.replace("'", "&apos;")
    return text[:first] + written + text[last:]


def _with_entry(text: str, tags: list[Tag], root: Tag, element: str) -> str:
    newline = "\r\n" if "\r\n" in text else "\n"
    depth, opening = 0, None
    for tag in tags:
        if tag.opens:
            depth += 1
            if depth == 2 and tag.name == "custom":
                opening = tag
        if tag.closes:
            if depth == 2 and opening is not None:
                return _into_custom(text, opening, tag, element, newline)
            depth -= 1
    section = f"{newline}{_INDENT}<custom>{newline}{2 * _INDENT}{element}{newline}{_INDENT}</custom>"
    return text[: root.end] + section + text[root.end :]


def _into_custom(text: str, opening: Tag, closing: Tag, element: str, newline: str) -> str:
    before = text[text.rfind("\n", 0, opening.start) + 1 : opening.start]
    indent = before if not before.strip() else _INDENT
    lines = f"{newline}{indent}{_INDENT}{element}{newline}{indent}"
    if closing is opening:
        start = text[opening.start : opening.end].removesuffix("/>").rstrip()
        return f"{text[: opening.start]}{start}>{lines}</custom>{text[opening.end :]}"
    end = len(text[: closing.start].rstrip())
    return text[:end] + lines + text[closing.start :]
