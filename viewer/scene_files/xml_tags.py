"""Turns XML text into tags with their places in it, as leniently as MuJoCo's own parser reads them."""

import os
import re
import stat
from collections.abc import Iterator
from pathlib import Path
from typing import NamedTuple

from ..errors import SceneError
from ..files import size_text

TEXT_SIZE_MAX = 100_000_000
"""Longest XML file that is read at all [bytes]. MuJoCo needs three times its size in memory."""

_SPACE = r"[ \t\n\r\f\v]"
# Letters, digits (not in front), "_", ":", "." and "-", and all beyond ASCII: said by what a name has not,
# because such a set compiles thirty times faster.
_NAME = r"[^\x00-9;-@\[-^`{-\x7f][^\x00-,/;-@\[-^`{-\x7f]*+"
_VALUE = r"""(?>"[^"]*"|'[^']*')"""
_ATTRIBUTE = re.compile(rf"{_SPACE}*+({_NAME}){_SPACE}*+={_SPACE}*+({_VALUE})")
# Atomic groups throughout: a damaged file of any size fails in linear time.
_TAG = re.compile(rf"<(/?)({_NAME})((?>{_SPACE}*+{_NAME}{_SPACE}*+={_SPACE}*+{_VALUE})*+){_SPACE}*+(/?)>")
_CHARACTER = re.compile(r"&(?:#(\d{1,7})|#[xX]([0-9a-fA-F]{1,6})|(amp|lt|gt|quot|apos));")
_NAMED = {"amp": "&", "lt": "<", "gt": ">", "quot": '"', "apos": "'"}
_SKIPPED = (("<!--", "-->"), ("<![CDATA[", "]]>"), ("<?", "?>"), ("<!", ">"))
"""Parts of a file that are no tags, each with its end. Entity declarations are skipped and never expanded, as in
MuJoCo."""


class XmlError(ValueError):
    """Error for text whose tags are not valid XML."""

    def __init__(self, offset: int) -> None:
        super().__init__(f"broken XML at character {offset}")
        self.offset = offset


class Tag(NamedTuple):
    """Tag with its place in the text."""

    name: str
    opens: bool
    closes: bool
    """True for a closing tag. An element without content, such as `<geom/>`, both opens and closes."""
    start: int
    """Offset of `<`."""
    end: int
    """Offset behind `>`."""
    body: str
    """The attributes, as written."""

    @property
    def attributes(self) -> dict[str, str]:
        """Values by name, with character references resolved."""
        return {name: unescape(value[1:-1]) for name, value in _ATTRIBUTE.findall(self.body)}

    def attribute_spans(self) -> dict[str, tuple[int, int, int, int]]:
        """Return offsets in the text by name: of the space in front, of the value between its quotes, and of the
        end."""
        base = self.start + len("<") + len(self.name)
        return {
            match[1]: (base + match.start(), base + match.start(2) + 1, base + match.end(2) - 1, base + match.end())
            for match in _ATTRIBUTE.finditer(self.body)
        }


def find_tags(text: str) -> Iterator[Tag]:
    """Yield all tags in order. Raises XmlError where the text stops being XML."""
    start = text.find("<")
    while start >= 0:
        match = _TAG.match(text, start)
        if match is not None:
            closing, name, body, empty = match.groups()
            end = match.end()
            yield Tag(name, not closing, bool(closing or empty), start, end, body)
        else:
            end = _skip(text, start)
        start = text.find("<", end)


def line_of(text: str, offset: int) -> int:
    """Return the number of the line with an offset, from 1."""
    return text.count("\n", 0, offset) + 1


def unescape(value: str) -> str:
    """Return an attribute's value with character references resolved."""
    return _CHARACTER.sub(_resolve, value) if "&" in value else value


def escape(value: str) -> str:
    """Return a text escaped for double quotes."""
    for name in ("amp", "lt", "gt", "quot"):
        value = value.replace(_NAMED[name], f"&{name};")
    return value


def read_bytes(path: Path, size_max: int, what: str, count: int | None = None) -> bytes:
    """Return the contents of a regular file of bounded size, or its first bytes. Raises SceneError for anything
    else."""
    try:
        # Opening a FIFO would wait for a writer, and the check must be of what is then read.
        handle = os.open(path, os.O_RDONLY | getattr(os, "O_NONBLOCK", 0) | getattr(os, "O_BINARY", 0))
    except OSError as error:
        raise SceneError(f"{path}: cannot be read ({error.strerror})") from None
    with os.fdopen(handle, "rb") as file:
        status = os.fstat(handle)
        if stat.S_ISDIR(status.st_mode):
            raise SceneError(f"{path}: is a folder, not a {what}")
        if not stat.S_ISREG(status.st_mode):
            raise SceneError(f"{path}: not a regular file")
        if status.st_size > size_max:
            raise SceneError(f"{path}: has {size_text(status.st_size)}; a {what} may have {size_text(size_max)}")
        try:
            return file.read(size_max if count is None else count)
        except OSError as error:
            raise SceneError(f"{path}: cannot be read ({error.strerror})") from None


def read_text(path: Path) -> str:
    """Return the text of an XML file; bytes that are not UTF-8 are kept, so that `encode` restores them exactly."""
    return read_bytes(path, TEXT_SIZE_MAX, "scene file").decode("utf-8", "surrogateescape")


def encode(text: str) -> bytes:
    """Return the bytes of a text from `read_text`."""
    return text.encode("utf-8", "surrogateescape")


def _skip(text: str, start: int) -> int:
    for opening, closing in _SKIPPED:
        if text.startswith(opening, start):
            end = text.find(closing, start + len(opening))
            if end < 0:
                raise XmlError(start)
            return end + len(closing)
    raise XmlError(start)


def _resolve(match: re.Match[str]) -> str:
    decimal, hexadecimal, name = match.groups()
    if name:
        return _NAMED[name]
    code = int(decimal) if decimal else int(hexadecimal, 16)
    # Surrogates and numbers beyond Unicode are no characters.
    return chr(code) if code < 0xD800 or 0xE000 <= code < 0x110000 else match[0]
