"""Turns MuJoCo's messages about a scene into one line that names the file and the line."""

import contextlib
import re
from collections.abc import Iterator
from pathlib import Path

from ..errors import SceneError
from .preflight import Survey
from .xml_tags import Tag, XmlError, find_tags, read_text

_PARSE_ERROR = re.compile(r"XML_ERROR_(\w+) ErrorID=\d+ \(0x\w+\) Line number=(\d+)(?:: ([^';]*))?")
_ELEMENT = re.compile(r"[;,]? *Element '([^']*)', line (\d+);?")
_NAMED_ELEMENT = re.compile(r"[;,]? *Element name '([^']*)', id -?\d+(?:, line (\d+))?;?")
_QUOTED = re.compile(r"'([^']+)'")
NOT_UTF8 = "codec can't decode"
"""Part of the message of a Python binding that was given bytes that are not UTF-8."""
_LENGTH_MAX = 500
_OUT_OF_MEMORY = ("unknown exception", "bad_alloc", "allocate memory", "memory allocation failed", "MemoryError")


def explain(message: str, survey: Survey) -> str:
    """Return the compiler's message with the place in the scene's files, without its prefixes."""
    if found := _PARSE_ERROR.search(message):
        return _explain_parse_error(message, found, survey)
    place = ""
    if found := _ELEMENT.search(message):
        place = _locate(survey, int(found[2]), message[: found.start()], element=found[1])
        message = message.replace(found[0], f" ({found[1]})")
    elif found := _NAMED_ELEMENT.search(message):
        place = _locate(survey, int(found[2] or 0), message[: found.start()], name=found[1])
        named = f" ({found[1]})" if found[1] and f"'{found[1]}'" not in message[: found.start()] else ""
        message = message.replace(found[0], named)
    message = re.sub(r"^(XML Error: |Error: )+", "", message.strip())
    unreadable = NOT_UTF8 in message
    if survey.missing and (unreadable or message.startswith("Error opening file")):
        more = len(survey.missing) - 3
        return f"no such file: {', '.join(survey.missing[:3])}" + (f" and {more} more" if more > 0 else "")
    if unreadable:
        # MuJoCo's message quotes the file, and cannot be decoded.
        return ", ".join(["an error", *(note for note in survey.notes if note.endswith("not UTF-8"))])
    return f"{place}{message}"


def readable(message: str) -> str:
    """Return a message as one printable line of bounded length."""
    text = message.encode("utf-8", "replace").decode("utf-8")
    text = " ".join("".join(letter if letter.isprintable() else " " for letter in text).split())
    # The reason is at the end, after a path of any length.
    half = _LENGTH_MAX // 2
    return text if len(text) <= _LENGTH_MAX else f"{text[:half]} ... {text[-half:]}"


def is_out_of_memory(message: str) -> bool:
    """Return True if a message, or the end of a process's standard error, reports that memory ran out."""
    return any(words in message for words in _OUT_OF_MEMORY)


def _explain_parse_error(message: str, found: re.Match[str], survey: Survey) -> str:
    what = found[1].lower().replace("_", " ")
    detail = (found[3] or "").strip().rpartition("=")[2].strip()
    problem = f"broken XML: {what}" + (f" ({detail})" if detail else "")
    including = _ELEMENT.search(message)
    if including is None:
        return f"line {found[2]}: {problem}"
    # The error is in an included file; the line of the element that includes it is known.
    for path, line, tag in _find_elements(survey):
        if tag.name.lower() == "include" and line == int(including[2]):
            source = f"included by {path.name} line {line}"
            return f"{tag.attributes.get('file')} line {found[2]}: {problem} ({source})"
    return problem


def _locate(survey: Survey, line: int, message: str, element: str = "", name: str = "") -> str:
    """Return `file line n: ` of the one element that a message can mean, without the file if it is the scene itself.

    MuJoCo does not know the line (0) within files that others include; there the words that it quotes
    identify the element.
    """
    quoted = [] if line else _QUOTED.findall(message)
    places = set()
    for path, at, tag in _find_elements(survey):
        if (line and at != line) or (element and tag.name != element):
            continue
        given = tag.attributes
        if (name and given.get("name") != name) or not all(word in given or word in given.values() for word in quoted):
            continue
        places.add((path, at))
    if len(places) != 1:
        return f"line {line}: " if line else ""
    path, at = places.pop()
    return f"line {at}: " if path == survey.path else f"{path.name} line {at}: "


def _find_elements(survey: Survey) -> Iterator[tuple[Path, int, Tag]]:
    """Yield all elements of the scene's XML files with their lines, as far as the files can be read."""
    for path in survey.texts:
        with contextlib.suppress(SceneError, XmlError):
            text = read_text(path)
            line, counted = 1, 0
            for tag in find_tags(text):
                line += text.count("\n", counted, tag.start)
                counted = tag.start
                if tag.opens:
                    yield path, line, tag
