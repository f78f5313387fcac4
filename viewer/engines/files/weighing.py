"""An element of a scene to how much it will give MuJoCo to compile, estimated from above."""

import re
import struct
from dataclasses import dataclass
from pathlib import Path

from .markup import Tag

LIMITS = {
    "bodies": (2000, "about {} bodies"),
    "elements": (30_000, "about {} elements"),
    "values": (2_000_000, "about {} values in sensors, keyframes, user data and memory"),
    "pixels": (100_000_000, "{} pixels in textures and height fields"),
    "asset_bytes": (150_000_000, "{} bytes of meshes and textures"),
    "text_bytes": (4_000_000, "{} bytes of XML"),
    "nesting": (200, "elements nested {} deep"),
}
"""What still compiles in a few seconds and a gigabyte; and how more of it is called."""
_COUNT_MAX = 1e18
"""Keeps products of counts finite."""
_LARGE = 100_000
_BIG_NUMBER = re.compile(r"""["'\s][-+]?0*\d{6,}|\d\.?[eE]\+?\d""")
_PHYSICAL = frozenset(
    """
    stiffness damping springdamper armature frictionloss mass density viscosity inertia fullinertia diaginertia
    kp kv gear gainprm biasprm dynprm forcerange ctrlrange actrange actuatorfrcrange range lengthrange force
    timeconst solref solimp solreflimit solimplimit solreffriction solimpfriction solreffix solimpfix poisson young
    thickness contype conaffinity priority bias area diameter beta pos size zaxis fromto axis quat gravity wind
    magnetic user time qpos qvel act ctrl mpos mquat vertex normal texcoord face elevation element node point
    elemtexcoord vertid vertweight bindpos name model class childclass mesh material texture hfield joint body geom
    site tendon actuator body1 body2 geom1 geom2 joint1 joint2 site1 site2 subtree1 subtree2 objname refname
    file filename prefix
    """.split()  # noqa: SIM905 - a hundred quotes would hide the words
)
"""Attributes that may hold any number or text: no count, no length of a loop."""
_MULTIPLIED = ("num", "nsample", "dim", "actdim", "subgrid")
_MULTIPLIED_WORD = re.compile("|".join(_MULTIPLIED))
_CONTACT_VALUES = 23
"""Values that a contact sensor's companion reports for one contact."""
_BUILTIN_LARGE = 100
"""A generated mesh has up to the square of its parameters in vertices."""
_PNG = b"\x89PNG\r\n\x1a\n"


@dataclass
class Weight:
    """How much there is to compile."""

    bodies: float = 0
    elements: float = 0
    values: float = 0
    """Numbers in the arrays that the scene asks for."""
    pixels: float = 0
    asset_bytes: float = 0
    text_bytes: float = 0
    nesting: float = 0

    def add_parsed(self, model: "Weight") -> None:
        """A nested model, which is read once for each element that names it."""
        self.text_bytes = _capped(self.text_bytes + model.text_bytes)
        self.pixels = _capped(self.pixels + model.pixels)
        self.asset_bytes = _capped(self.asset_bytes + model.asset_bytes)
        self.nesting = max(self.nesting, model.nesting)

    def add_copies(self, model: "Weight", copies: float) -> None:
        """So many copies of a nested model's content."""
        self.bodies = _capped(self.bodies + copies * model.bodies)
        self.elements = _capped(self.elements + copies * model.elements)
        self.values = _capped(self.values + copies * model.values)

    def add_element(self, tag: Tag, copies: float) -> None:
        """One element, so many times."""
        self.elements += copies
        name = tag.name.lower()
        if name == "body":
            self.bodies += copies
        elif name == "texture":
            given = tag.attributes
            sides = 1 if given.get("type") == "2d" else 6
            self.pixels += sides * count(given.get("width")) * count(given.get("height"))
        elif name == "hfield":
            self.pixels += count(tag.attributes.get("nrow")) * count(tag.attributes.get("ncol"))
        elif name == "flexcomp":
            given = tag.attributes
            if not given.keys() & {"file", "point"}:
                self.bodies += copies * product(given.get("count", "10 10 10"))
            self.bodies += copies * product(given.get("cellcount"))
        elif name == "composite":
            self.bodies += copies * product(tag.attributes.get("count"))
        elif name == "size":
            self._add_sizes(tag)
        if _MULTIPLIED_WORD.search(tag.body):
            given = tag.attributes
            values = product(" ".join(given.get(name, "1") for name in _MULTIPLIED))
            self.values += copies * values * (_CONTACT_VALUES if name == "contact" else 1)

    def _add_sizes(self, tag: Tag) -> None:
        for name, value in tag.attributes.items():
            if name == "memory":
                # A gigabyte of workspace is at the limit.
                self.values += _memory(value) / 512
            elif name == "nuserdata":
                self.values += count(value)
            elif name not in ("njmax", "nconmax", "nstack"):
                # Keyframes and user data: so many numbers for each of several hundred bodies, geoms or joints.
                self.values += 500 * count(value)


def copied(copies: float, tag: Tag) -> float:
    """How many copies of a replicate element's content there are."""
    return _capped(copies * count(tag.attributes.get("count")))


def suspicious_numbers(tag: Tag) -> list[str]:
    """Attributes whose numbers may be counts that fill memory, or loops that never end."""
    if tag.name.lower() == "mesh" and "builtin" in tag.body:
        given = tag.attributes
        if any(count(word) > _BUILTIN_LARGE for word in given.get("params", "").split()):
            return ["params"]
    if _BIG_NUMBER.search(tag.body) is None:
        return []
    return [
        name
        for name, value in tag.attributes.items()
        if name not in _PHYSICAL and any(abs(_number(word)) >= _LARGE for word in value.split())
    ]


def count(text: str | None) -> float:
    """An attribute's first number, at least 1."""
    return max(1.0, _number(text))


def product(text: str | None) -> float:
    """The product of an attribute's numbers, at least 1."""
    result = 1.0
    for word in (text or "").split():
        result = _capped(result * count(word))
    return result


def png_pixels(path: Path) -> float:
    """Pixels that a PNG unpacks to, by its head; 0 for other files, which are no smaller than what they hold."""
    try:
        with path.open("rb") as file:
            head = file.read(24)
    except OSError:
        return 0.0
    if len(head) < 24 or not head.startswith(_PNG):
        return 0.0
    width, height = struct.unpack(">2I", head[16:24])
    return float(width) * float(height)


def _number(text: str | None) -> float:
    try:
        value = float(text.split(maxsplit=1)[0]) if text else 0.0
    except (ValueError, IndexError):
        return 0.0
    return max(-_COUNT_MAX, min(value, _COUNT_MAX)) if value == value else 0.0


def _memory(text: str) -> float:
    """Bytes in a size such as 10M."""
    match = re.fullmatch(r"\s*(\d{1,18})\s*([kKmMgGtTpPeE]?)\s*", text)
    return float(match[1]) * 1024 ** " KMGTPE".index(match[2].upper() or " ") if match else 0.0


def _capped(value: float) -> float:
    return min(value, _COUNT_MAX)
