"""Finds attributes whose value alone can make MuJoCo compile for minutes or exhaust memory."""

from functools import lru_cache

from .xml_tags import Tag

_ANY = ""
_LIMITS = {
    _ANY: {"nsample": 1000, "actdim": 100_000},
    "contact": {"num": 1000},
    "user": {"dim": 100_000},
    "numeric": {"size": 1_000_000},
    "texture": {"width": 4096, "height": 4096},
    "hfield": {"nrow": 4096, "ncol": 4096},
    "mesh": {"params": 200},
    "size": {
        "memory": 2**30,
        "nstack": 2**27,
        "nuserdata": 1_000_000,
        "nkey": 10_000,
        "njmax": 10_000,
        "nconmax": 10_000,
        "nuser_body": 1000,
        "nuser_jnt": 1000,
        "nuser_geom": 1000,
        "nuser_site": 1000,
        "nuser_cam": 1000,
        "nuser_tendon": 1000,
        "nuser_actuator": 1000,
        "nuser_sensor": 1000,
    },
}
"""By element and attribute: up to this MuJoCo 4.0 compiles within a second and a few hundred megabytes."""
REFUSED = {"replicate": {"count": 100_000}, "size": {"nkey": 10_000_000}}
"""From this on MuJoCo 4.0 takes longer than any limit of time, whatever else is in the scene."""
_LIMITS_BY_ELEMENT = {element: _LIMITS[_ANY] | limits for element, limits in _LIMITS.items()}
_NUMBER_MAX = 1e18
"""Keeps products of counts finite."""
_SUFFIXES = "KMGTPE"


def beyond_limits(tag: Tag) -> list[str]:
    """Attributes of an element that are worth a process of its own."""
    found, body = [], tag.body
    for name, limit in _LIMITS_BY_ELEMENT.get(tag.name, _LIMITS[_ANY]).items():
        # By far the most elements have none of them.
        if name in body and product(tag.value(name) or "") > limit:
            found.append(name)
    return found


def refused_attribute(tag: Tag) -> tuple[str, int] | None:
    """An attribute that never compiles, and the limit that its value has to stay below."""
    for name, limit in REFUSED.get(tag.name, {}).items():
        if product(tag.attributes.get(name, "")) >= limit:
            return name, limit
    return None


@lru_cache(10_000)
def product(value: str) -> float:
    """The product of an attribute's numbers, at least 1; words that are not numbers count as 1."""
    result = 1.0
    for word in value.split():
        result = min(result * max(1.0, _number(word)), _NUMBER_MAX)
    return result


def _number(word: str) -> float:
    factor = 1.0
    if word[-1].upper() in _SUFFIXES and word[:-1].isdecimal():  # Sizes of memory, such as 10M.
        factor, word = 1024.0 ** (1 + _SUFFIXES.index(word[-1].upper())), word[:-1]
    try:
        value = float(word) * factor
    except ValueError:
        return 1.0
    return min(value, _NUMBER_MAX) if value == value else 1.0
