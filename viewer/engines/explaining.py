"""MuJoCo's words about a scene to one line that names the file and the line."""

import re
from pathlib import Path

from .checking import TEXT_SIZE_MAX, Survey
from .errors import SceneError
from .markup import MarkupError, Tag, decode, find_tags, line_of, read_bytes

_PARSE_ERROR = re.compile(r"XML_ERROR_(\w+) ErrorID=\d+ \(0x\w+\) Line number=(\d+)(?:: ([^';]*))?")
_ELEMENT = re.compile(r"[;,]? *Element '([^']*)', line (\d+);?")
_NAMED_ELEMENT = re.compile(r"[;,]? *Element name '([^']*)', id -?\d+(?:, line (\d+))?;?")
_LENGTH_MAX = 500
_OUT_OF_MEMORY = ("unknown exception", "bad_alloc", "allocate memory", "memory allocation failed", "MemoryError")


def explain(message: str, survey: Survey) -> str:
    """What the compiler said, located in the scene's files and without its ornaments."""
    if found := _PARSE_ERROR.search(message):
        return _explain_parse_error(message, found, survey)
    place = ""
    if found := _ELEMENT.search(message):
        place = _locate(survey, int(found[2]), name=None, element=found[1])
        message = message.replace(found[0], f" ({found[1]})")
    elif found := _NAMED_ELEMENT.search(message):
        if found[2]:
            place = _locate(survey, int(found[2]), name=found[1], element=None)
        named = f" ({found[1]})" if found[1] and f"'{found[1]}'" not in message[: found.start()] else ""
        message = message.replace(found[0], named)
    message = re.sub(r"^(XML Error: |Error: )+", "", message.strip())
    if survey.missing and message.startswith("Error opening file"):
        more = len(survey.missing) - 3
        return f"no such file: {', '.join(survey.missing[:3])}" + (f" and {more} more" if more > 0 else "")
    return f"{place}{message}"


def readable(message: str) -> str:
    """A message as one line of bounded length that any screen can show, whatever names are in it."""
    text = message.encode("utf-8", "replace").decode("utf-8")
    text = " ".join("".join(letter if letter.isprintable() else " " for letter in text).split())
    # The reason stands at the end, behind a path of any length.
    half = _LENGTH_MAX // 2
    return text if len(text) <= _LENGTH_MAX else f"{text[:half]} ... {text[-half:]}"


def is_out_of_memory(message: str) -> bool:
    """Does a message, or the last words of a process, say that memory ran out?"""
    return any(words in message for words in _OUT_OF_MEMORY)


def _explain_parse_error(message: str, found: re.Match[str], survey: Survey) -> str:
    what = found[1].lower().replace("_", " ")
    detail = (found[3] or "").strip().rpartition("=")[2].strip()
    words = f"broken XML: {what}" + (f" ({detail})" if detail else "")
    including = _ELEMENT.search(message)
    if including is None:
        return f"line {found[2]}: {words}"
    # The error is in an included file; the line of the element that includes it is known.
    for path, tag in _tags_at(survey, int(including[2])):
        if tag.name.lower() == "include":
            return (
                f"{tag.attributes.get('file')} line {found[2]}: {words} (included by {path.name} line {including[2]})"
            )
    return words


def _locate(survey: Survey, line: int, name: str | None, element: str | None) -> str:
    """`file line n: `, with the file only if it is not the scene itself and there is but one candidate."""
    paths = {
        path
        for path, tag in _tags_at(survey, line)
        if (element is None or tag.name == element) and (not name or tag.attributes.get("name", "") == name)
    }
    if len(paths) != 1:
        return f"line {line}: "
    path = paths.pop()
    return f"line {line}: " if path == survey.path else f"{path.name} line {line}: "


def _tags_at(survey: Survey, line: int) -> list[tuple[Path, Tag]]:
    """All tags that start in a line of any of the scene's XML files."""
    found = []
    for path in survey.texts:
        try:
            text = decode(read_bytes(path, TEXT_SIZE_MAX, "scene file"))
            start = 0
            for _ in range(line - 1):
                start = text.index("\n", start) + 1
        except (SceneError, ValueError):
            continue
        end = text.find("\n", start)
        try:
            for tag in find_tags(text):
                if tag.start >= start and tag.opens and (end < 0 or tag.start < end):
                    found.append((path, tag))
                elif 0 <= end <= tag.start:
                    break
        except MarkupError as error:
            if line_of(text, error.offset) < line:
                continue
    return found
