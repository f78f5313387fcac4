"""Finds the files that a scene names, and reads its elements through the files that it includes."""

import os
from collections.abc import Iterable, Iterator
from pathlib import Path
from typing import NamedTuple

from ..errors import SceneError
from .xml_tags import Tag, find_tags, read_bytes, read_text

_LFS = b"version https://git-lfs.github.com/spec/"
"""First bytes of the placeholder file that Git LFS replaces when it fetches a file."""
_LFS_SIZE_MAX = 1024
"""Longest placeholder file [bytes], as defined by Git LFS."""


class Element(NamedTuple):
    """An element of a scene and the file that holds it."""

    path: Path
    text: str
    """Text of the whole file."""
    tag: Tag
    around: tuple[str, ...]
    """Names of the elements that contain it, from the root on, with included files inserted."""


def named_paths(name: str, folders: Iterable[Path]) -> list[Path]:
    """Return the paths of a file that a scene names, in the order in which MuJoCo tries them; none for names with
    NUL."""
    paths = (os.path.normpath(folder / name.replace("\\", "/")) for folder in folders)
    return [Path(path) for path in dict.fromkeys(paths) if "\0" not in path]


def find_include(name: str, scene: Path, source: Path) -> Path | None:
    """Return the file that an include element of `source` refers to in a scene; None if there is none."""
    if not name:
        return None
    return next((path for path in named_paths(name, (scene.parent, source.parent)) if path.is_file()), None)


def read_elements(scene: Path) -> Iterator[Element]:
    """Yield all elements but the root and includes, in the order in which MuJoCo reads them. Raises XmlError."""
    return (each for each in walk_tags(scene) if each.tag.opens and each.around)


def walk_tags(scene: Path) -> Iterator[Element]:
    """Yield all tags, closing ones too, as if included files were pasted in. Raises XmlError."""
    return _walk_tags(scene, scene, (), set())


def _walk_tags(scene: Path, path: Path, above: tuple[str, ...], seen: set[Path]) -> Iterator[Element]:
    """Yield the elements of a file. `above`: names of the elements around the one that includes it, from the root
    on."""
    if path in seen:
        return
    seen.add(path)
    text = read_text(path)
    inside: list[str] = []
    for tag in find_tags(text):
        # The root element of an included file vanishes.
        around = (*above, *inside[1:]) if above else tuple(inside)
        is_root = not inside if tag.opens else len(inside) == 1
        if tag.name.lower() == "include":
            if tag.opens and inside and (file := find_include(tag.attributes.get("file", ""), scene, path)) is not None:
                yield from _walk_tags(scene, file, around, seen)
        elif not (is_root and above):
            yield Element(path, text, tag, around)
        if tag.opens and not tag.closes:
            inside.append(tag.name)
        elif tag.closes and not tag.opens and inside:
            inside.pop()


def is_lfs_pointer(path: Path) -> bool:
    """Return True for a placeholder file of Git LFS."""
    try:
        return read_bytes(path, _LFS_SIZE_MAX, "Git LFS pointer", count=len(_LFS)) == _LFS
    except SceneError:  # Too large for one, or not to be read: its reader reports that.
        return False
