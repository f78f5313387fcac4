"""Shortens names to the room that they have: in the middle, so that both ends stay, and so that they stay different."""

import re
from collections import Counter
from collections.abc import Callable, Sequence

from ..mjmodel.names import PAIR

Measure = Callable[[str], float]
"""Width of a text."""

_PLACES = (0.5, 0.75, 0.25, 1.0, 0.0)
"""Where names are cut, as a part of what stays of them: the first by which most of those that differ still do."""

_KIND = re.compile(r"(^| )(?:geom|body|subtree|site) (?=\S)")


def shorten(text: str, room: float, measure: Measure, place: float = _PLACES[0]) -> str:
    """The text if it is no wider than `room`, else with an ellipsis for a part of it.

    A pair first loses the kinds of the two, such as `geom`, then a part of each of the names.
    """
    if measure(text) <= room:
        return text
    first, pair, second = text.partition(PAIR)
    if not pair:
        return _cut(text, room, measure, place)
    # That they are geoms or bodies says less than their names.
    first, second = without_kinds(first), without_kinds(second)
    room -= measure(pair)
    # What a short name leaves is for the other one.
    first = _cut(first, max(0.5 * room, room - measure(second)), measure, place)
    return first + pair + _cut(second, room - measure(first), measure, place)


def without_kinds(text: str) -> str:
    """Names without `geom` and the like before them."""
    return _KIND.sub(r"\1", text)


def shorten_all(texts: Sequence[str], fit: Callable[[str, float], str]) -> list[str]:
    """Texts of one list, each shortened; those that differ read differently, unless there is no room for that.

    `fit` shortens one of them, at a place.
    """
    shown = {text: fit(text, _PLACES[0]) for text in texts}
    if len(set(shown.values())) < len(shown):
        times = Counter(shown.values())
        alike = [text for text, short in shown.items() if times[short] > 1]
        ways = [[fit(text, place) for text in alike] for place in _PLACES]
        shown.update(zip(alike, max(ways, key=lambda way: len(set(way))), strict=True))
    return [shown[text] for text in texts]


def _cut(text: str, room: float, measure: Measure, place: float) -> str:
    if measure(text) <= room:
        return text
    fewest, most = 0, len(text) - 1
    while fewest < most:
        kept = (fewest + most + 1) // 2
        if measure(_keep(text, kept, place)) <= room:
            fewest = kept
        else:
            most = kept - 1
    return _keep(text, fewest, place)


def _keep(text: str, count: int, place: float) -> str:
    """So many letters of a text, and an ellipsis for the others."""
    head = round(place * count)
    return f"{text[:head]}…{text[len(text) - (count - head) :]}"
