"""Find the files that a scene reads, and contents that could crash, hang or exhaust MuJoCo, without compiling it."""

import os
import stat
import struct
from collections.abc import Mapping
from dataclasses import dataclass, field
from functools import lru_cache
from pathlib import Path
from typing import NamedTuple

import mujoco

from ..errors import SceneError
from ..files import size_text
from .file_watch import Stamp, read_stamp, stamp_of
from .includes import is_lfs_pointer, named_paths
from .model_checks import CONTACTS_MAX
from .run_file import SUFFIX as RUN_SUFFIX
from .run_file import RunFile
from .xml_tags import TEXT_SIZE_MAX, Tag, XmlError, encode, find_tags, line_of, read_bytes, read_text

NESTING_MAX = 200
"""Longest chain of includes and nested models. MuJoCo follows some thousands, then its stack is full."""
_TEXT_LARGE = 250_000
"""Size of XML from which it may hold some thousand bodies [bytes], with the copies that the scene makes of elements."""
_DEPTH_LARGE = 200
"""Depth of nested elements beyond which a scene is doubtful: MuJoCo's parser is recursive."""
_ASSET_LARGE = 150_000_000
_FLEX_FILE_LARGE = 60_000
"""Size from which a file that becomes a flex is doubtful [bytes]: each vertex, some tens of bytes, becomes a body."""
_PIXELS_LARGE = 100_000_000
_GLANCE_SIZE_MAX = 4_000_000
_GLANCE_FILES_MAX = 500
_TEXTURE_FILES = ("file", "fileright", "fileleft", "fileup", "filedown", "filefront", "fileback")
_FILE_ATTRIBUTES = {
    "mesh": ("file", "filename"),  # `filename` is how URDF has it.
    "flexcomp": ("file",),
    "skin": ("file",),
    "hfield": ("file",),
    "texture": _TEXTURE_FILES,
}
_FOLDER_ATTRIBUTES = ("assetdir", "meshdir", "texturedir")
_COPYING = {"replicate": "", "composite": "", "flexcomp": "10 10 10"}
"""Elements that make `count` copies, and the default of that attribute."""
_ENDLESS = ("plugin", "lengthrange", "muscle")
"""Elements that make the compiler run other code, or simulate for a time that the scene sets."""
_LIMITS = {
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
        **dict.fromkeys(("nkey", "njmax", "nconmax"), 10_000),
        **{f"nuser_{kind}": 1000 for kind in ("body", "jnt", "geom", "site", "cam", "tendon", "actuator", "sensor")},
    },
}
"""Largest values by element and attribute that MuJoCo 4.0 compiles within a second and a few hundred megabytes."""
_LIMITS_ANYWHERE = {"nsample": 1000, "actdim": 100_000}
_REFUSED = {"replicate": ("count", 100_000), "size": ("nkey", 10_000_000)}
"""Values from which on MuJoCo 4.0 exceeds any time limit, whatever else is in the scene."""
_NUMBER_MAX = 1e18
"""Largest number that is computed with, so that products of counts stay finite."""
_SIZE_SUFFIXES = "KMGTPE"
_ASSET_SIZE_MAX = 2**31 - 1
"""Longest file that MuJoCo can read [bytes]."""
_MJB_ID = 54321
_PNG = b"\x89PNG\r\n\x1a\n"
DROPPED = ".contact-viewer-dropped"
"""Name of a file that marks a folder of dropped files: scenes in it may read files of that folder alone."""
_LFS_ADVICE = "a Git LFS pointer: run git lfs pull"


@dataclass(frozen=True)
class Survey:
    """Facts about a scene that are read from its files before compiling."""

    path: Path
    files: Mapping[Path, Stamp | None]
    """Every file that the scene reads, with its time stamp when it was read; None for missing ones."""
    texts: tuple[Path, ...] = ()
    """The XML files among them, the scene first."""
    missing: tuple[str, ...] = ()
    """Files that are named and missing, each with the place that names it."""
    doubts: tuple[str, ...] = ()
    """Reasons why another process should compile the scene."""
    notes: tuple[str, ...] = ()
    """Notes for the user about a scene that opens."""


class SceneRefused(SceneError):
    """Error for a scene that cannot be opened, with the files it reads: a change of any of them is a reason to try
    again."""

    def __init__(self, message: str, files: Mapping[Path, Stamp | None]) -> None:
        super().__init__(message)
        self.files = files


class _Reference(NamedTuple):
    """A file that an element names."""

    element: str
    name: str
    """Name as written."""
    source: Path
    """The file that holds the element."""
    offset: int
    """Offset of the element in that file."""
    visual: bool = False
    """True within a `visual` element, whose files MuJoCo reads only if a setting of the scene requests it."""


@dataclass
class _Model:
    """Model of a file with its includes."""

    path: Path
    folders: dict[str, str] = field(default_factory=dict)
    """Attributes of the compiler element."""
    strips_paths: bool = False
    keeps_visual: bool = False
    in_visual: bool = False
    """True while the elements within a `visual` element are read."""
    assets: list[_Reference] = field(default_factory=list)
    nested: list[_Reference] = field(default_factory=list)
    attached: int = 0
    """Number of attach elements."""
    included: set[Path] = field(default_factory=set)

    @property
    def folder(self) -> Path:
        return self.path.parent


def survey_scene(path: Path, thorough: bool = False) -> Survey:
    """Look at a scene's files; raises SceneRefused for one that cannot be opened in any case.

    `thorough`: True to read everything, however long that takes, as a separate process may do.
    """
    files: dict[Path, Stamp | None] = {path: read_stamp(path)}
    try:
        if is_lfs_pointer(path):
            raise SceneError(f"{path}: {_LFS_ADVICE}")
        if path.suffix.lower() == ".mjb":
            _check_compiled(path)
            return Survey(path, files, doubts=("a compiled model",))
        if path.suffix.lower() == RUN_SUFFIX:
            RunFile(path)
            return Survey(path, files, doubts=("a saved run",))
        return _Surveyor(path, files, thorough).survey()
    except SceneError as error:
        raise SceneRefused(str(error), files) from None


class _Surveyor:
    """State of a survey."""

    def __init__(self, path: Path, files: dict[Path, Stamp | None], thorough: bool) -> None:
        """Prepare a survey. `files`: receives the results, also of a survey that fails."""
        self._path = path
        self._files = files
        self._thorough = thorough
        self._root = next((folder for folder in path.parents if (folder / DROPPED).exists()), None)
        """The folder that the scene's files must be in; None for any."""
        self._texts: dict[Path, str] = {}
        self._text_size = 0
        """Size of all XML files [bytes]."""
        self._copies = 1.0
        """Most copies that the scene may have of any element: the product of all its counts, nested or not."""
        self._missing: dict[str, None] = {}
        self._doubts: dict[str, None] = {}
        self._notes: dict[str, None] = {}
        self._outside: dict[str, None] = {}
        self._models: set[Path] = set()
        """Models seen: one that is named many times is read once."""

    def survey(self) -> Survey:
        self._look_at_model(self._path, ())
        if self._text_size * self._copies > _TEXT_LARGE:
            copies = f"up to {self._copies:,.0f} copies of " if self._copies > 1 else ""
            self._doubts[f"{copies}{size_text(self._text_size)} of XML"] = None
        if self._outside:
            names = list(self._outside)
            more = f" and {len(names) - 3} more" if len(names) > 3 else ""
            self._notes[f"reads files outside its folder: {', '.join(names[:3])}{more}"] = None
        return Survey(
            self._path,
            self._files,
            tuple(self._texts),
            tuple(self._missing),
            tuple(self._doubts),
            tuple(self._notes),
        )

    def _look_at_model(self, path: Path, chain: tuple[Path, ...]) -> None:
        real = path.resolve()
        if real in self._models:
            return
        model = _Model(path)
        self._read(path, model, chain, depth=0)
        for asset in model.assets:
            self._look_at_asset(asset, model)
        for reference in model.nested:
            self._look_at_nested(reference, model, (*chain, real))
        # Each of them is read once for every element that names it, and copied once for every attach.
        self._multiply(max(1, model.attached, len(model.nested)))
        self._models.add(real)

    def _look_at_nested(self, reference: _Reference, model: _Model, chain: tuple[Path, ...]) -> None:
        path = self._find(reference, [model.folder, reference.source.parent])
        if path is None:
            return
        self._refuse_lfs_pointer(path, reference)
        if path.suffix not in (".xml", ".urdf"):
            self._doubts[f"{path.name}, a nested model that is not XML"] = None
            return
        self._look_at_model(path, chain)

    def _multiply(self, copies: float) -> None:
        self._copies = min(self._copies * copies, 1e18)

    def _read(self, path: Path, model: _Model, chain: tuple[Path, ...], depth: int) -> None:
        """Read one XML file, with its includes, into a model."""
        real = path.resolve()
        if real in chain:
            circle = " > ".join(file.name for file in (*chain[chain.index(real) :], real))
            raise SceneError(f"{self._path}: a file that includes or nests itself: {circle}")
        if len(chain) >= NESTING_MAX:
            raise SceneError(f"{self._path}: includes or nested models more than {NESTING_MAX} deep, at {path.name}")
        text = self._load(path)
        if text is None:
            return
        chain = (*chain, real)
        try:
            for tag in find_tags(text):
                name, opens, closes, _, _, body = tag
                if name == "visual":
                    model.in_visual = not closes
                if opens and body:
                    if meaning := _meaning(name):
                        self._read_tag(tag, meaning, path, model, chain, depth)
                    for attribute in _beyond_limits(tag):
                        self._doubt_attribute(tag, attribute, path)
                depth += opens - closes
                if depth > _DEPTH_LARGE:
                    self._doubts[f"elements nested more than {_DEPTH_LARGE} deep"] = None
        except XmlError as error:
            place = f"{path.name} line {line_of(text, error.offset)}: broken XML"
            if self._root is not None:
                raise SceneError(f"{self._path}: {place}") from None
            # MuJoCo's parser decides what is XML, but what it may read beyond this place has not been checked.
            self._doubts[place] = None

    def _load(self, path: Path) -> str | None:
        """Return the text of an XML file; None if it is left to a thorough survey."""
        stamp = self._files[path]
        size = stamp[2] if stamp is not None else 0
        self._text_size += size
        much = self._text_size > _GLANCE_SIZE_MAX or len(self._texts) > _GLANCE_FILES_MAX
        if much and size <= TEXT_SIZE_MAX and not self._thorough:
            self._doubts["much XML"] = None
            return None
        text = read_text(path)
        self._texts[path] = text
        if not text.isascii():
            data = encode(text)
            try:
                data.decode("utf-8")
            except UnicodeDecodeError as error:
                line = data.count(b"\n", 0, error.start) + 1
                self._notes[f"{path.name} line {line}: not UTF-8"] = None
        return text

    def _read_tag(self, tag: Tag, name: str, path: Path, model: _Model, chain: tuple[Path, ...], depth: int) -> None:
        """Read an element with the meaning `name`."""
        if name == "compiler":
            given = tag.attributes
            model.folders.update({key: given[key] for key in _FOLDER_ATTRIBUTES if key in given})
            model.strips_paths |= given.get("strippath") == "true"
            model.keeps_visual |= given.get("discardvisual") == "false"
        elif name == "include":
            self._follow_include(tag, path, model, chain, depth)
        elif name == "model":
            if file := tag.attributes.get("file"):
                model.nested.append(_Reference(name, file, path, tag.start))
        elif name == "attach":
            model.attached += 1
        elif name in _ENDLESS:
            self._doubts[f"a {name} element"] = None
        elif name in _FILE_ATTRIBUTES:
            given = tag.attributes
            for key in _FILE_ATTRIBUTES[name]:
                if file := given.get(key):
                    model.assets.append(_Reference(name, file, path, tag.start, model.in_visual))
        if name in _COPYING:
            self._multiply(_copies_of(tag))
        attribute, limit = _REFUSED.get(name, ("", 0))
        if limit and _product(tag.attributes.get(attribute, "")) >= limit:
            self._refuse(tag, path, attribute, f"MuJoCo needs hours for {name} with {limit:,} or more")

    def _doubt_attribute(self, tag: Tag, attribute: str, path: Path) -> None:
        if tag.name == "contact" and attribute == "num" and _product(tag.attributes["num"]) > CONTACTS_MAX:
            self._refuse(tag, path, "num", f"at most {CONTACTS_MAX:,} contacts can be shown")
        self._doubts[f"{attribute}={_shortened(tag.attributes[attribute])!r} of {tag.name}"] = None

    def _refuse(self, tag: Tag, path: Path, attribute: str, reason: str) -> None:
        place = self._place(_Reference(tag.name, "", path, tag.start))
        value = _shortened(tag.attributes[attribute])
        raise SceneError(f"{self._path}: {place}: {attribute}={value!r}; {reason}")

    def _follow_include(self, tag: Tag, path: Path, model: _Model, chain: tuple[Path, ...], depth: int) -> None:
        file = tag.attributes.get("file")
        if not file:
            return
        reference = _Reference("include", file, path, tag.start)
        found = self._find(reference, [model.folder, path.parent])
        if found is None:
            return
        self._refuse_lfs_pointer(found, reference)
        real = found.resolve()
        # MuJoCo refuses to include a file twice, in a circle or not; only circles are ours to report.
        if real not in model.included or real in chain:
            model.included.add(real)
            self._read(found, model, chain, depth)

    def _look_at_asset(self, asset: _Reference, model: _Model) -> None:
        own = "texturedir" if asset.element == "texture" else "meshdir"
        folders = [model.folder / _posix(model.folders.get(own, model.folders.get("assetdir", "")))]
        if asset.source != model.path:
            folders.append(asset.source.parent)
        found = self._find(asset, folders, model.strips_paths)
        if found is None:
            return
        stamp = self._files[found]
        size = stamp[2] if stamp is not None else 0
        if not os.access(found, os.R_OK):
            raise SceneError(f"{found}: cannot be read (Permission denied)")
        if not asset.visual or model.keeps_visual:
            self._refuse_lfs_pointer(found, asset)
        if size > _ASSET_SIZE_MAX:
            raise SceneError(f"{found}: has {size_text(size)}; MuJoCo reads at most {size_text(_ASSET_SIZE_MAX)}")
        if size > (_FLEX_FILE_LARGE if asset.element == "flexcomp" else _ASSET_LARGE):
            self._doubts[f"{size_text(size)} in {found.name}"] = None
        if asset.element in ("texture", "hfield") and (pixels := png_pixels(found)) > _PIXELS_LARGE:
            self._doubts[f"{pixels:,} pixels in {found.name}"] = None

    def _find(self, reference: _Reference, folders: list[Path], stripped: bool = False) -> Path | None:
        """Return the file that a scene refers to, searched as MuJoCo does; recorded as missing if there is none."""
        name = _posix(reference.name)
        if "\0" in name:
            return None
        if any(part.lower().endswith((".zip", ".mjz")) for part in name.split("/")):
            self._doubts["an archive"] = None
        candidates = named_paths(name, folders)
        if stripped:
            # Not in a model that is nested in another, whatever it says.
            candidates = [*named_paths(name.rpartition("/")[2], folders), *candidates]
        for path in candidates:
            if self._root is not None and not path.is_relative_to(self._root):
                # The same whether there is such a file or not: who drops a scene may not ask what this machine has.
                named = f"{self._place(reference)} names {_shortened(reference.name)}"
                raise SceneError(f"{self._path.name}: {named}, which was not dropped with it: drop the folder of both")
            try:
                status = os.stat(path)
            except OSError:
                continue
            if not stat.S_ISREG(status.st_mode):
                raise SceneError(f"{self._path}: {path} is not a regular file ({self._place(reference)})")
            self._files.setdefault(path, stamp_of(status))
            if not path.is_relative_to(self._path.parent):
                self._outside[_shortened(reference.name)] = None
            return path
        for path in candidates:
            self._files.setdefault(path, None)
        self._missing[f"{_shortened(reference.name)} ({self._place(reference)})"] = None
        return None

    def _refuse_lfs_pointer(self, path: Path, reference: _Reference) -> None:
        if is_lfs_pointer(path):
            raise SceneError(f"{path}: {_LFS_ADVICE} ({self._place(reference)})")

    def _place(self, reference: _Reference) -> str:
        return f"{reference.source.name} line {line_of(self._texts[reference.source], reference.offset)}"


@lru_cache(1000)
def _meaning(name: str) -> str:
    """Return the role of an element that is always read, whatever its attributes; empty for others."""
    # MuJoCo reads these two in upper and lower case.
    if name.lower() in ("include", "compiler"):
        return name.lower()
    known = ("model", "attach", *_ENDLESS, *_FILE_ATTRIBUTES, *_COPYING, *_REFUSED)
    return name if name in known else ""


def _copies_of(tag: Tag) -> float:
    """Return the number of bodies, or of copies of its content, that an element makes."""
    given = tag.attributes
    if tag.name == "flexcomp" and given.keys() & {"file", "point"}:
        return _product(given.get("cellcount", ""))
    return _product(given.get("count", _COPYING[tag.name])) * _product(given.get("cellcount", ""))


def _posix(name: str) -> str:
    return name.replace("\\", "/")


def _shortened(text: str) -> str:
    return text if len(text) <= 60 else f"{text[:57]}..."


def _beyond_limits(tag: Tag) -> list[str]:
    """Return the attributes of an element that make a separate process necessary."""
    limits = _LIMITS_ANYWHERE | _LIMITS.get(tag.name, {})
    # By far the most elements have none of them.
    given = tag.attributes if any(name in tag.body for name in limits) else {}
    return [name for name, limit in limits.items() if _product(given.get(name, "")) > limit]


@lru_cache(10_000)
def _product(value: str) -> float:
    """Return the product of an attribute's numbers, at least 1; words that are not numbers count as 1."""
    result = 1.0
    for word in value.split():
        result = min(result * max(1.0, _number(word)), _NUMBER_MAX)
    return result


def _number(word: str) -> float:
    factor = 1.0
    if word[-1].upper() in _SIZE_SUFFIXES and word[:-1].isdecimal():  # Sizes of memory, such as 10M.
        factor, word = 1024.0 ** (1 + _SIZE_SUFFIXES.index(word[-1].upper())), word[:-1]
    try:
        value = float(word) * factor
    except ValueError:
        return 1.0
    return min(value, _NUMBER_MAX) if value == value else 1.0


def png_pixels(path: Path) -> int:
    """Return the number of pixels of a PNG, from its header; 0 for other files, which are as large as their content."""
    try:
        with path.open("rb") as file:
            head = file.read(24)
    except OSError:
        return 0
    if len(head) < 24 or not head.startswith(_PNG):
        return 0
    width, height = struct.unpack(">2I", head[16:24])
    return int(width) * int(height)


def _check_compiled(path: Path) -> None:
    """Check the head of a compiled model; MuJoCo itself reports no more than a failure."""
    head = read_bytes(path, _ASSET_SIZE_MAX, "compiled model", count=20)
    if len(head) < 20:
        raise SceneError(f"{path}: not a compiled MuJoCo model: it is cut off")
    numbers = struct.unpack("<5i", head)
    if numbers[0] != _MJB_ID:
        raise SceneError(f"{path}: not a compiled MuJoCo model")
    if numbers[3] != mujoco.mj_version():
        raise SceneError(
            f"{path}: compiled by MuJoCo {_version_text(numbers[3])}, which MuJoCo {mujoco.__version__} cannot read; "
            "open the scene it was compiled from"
        )


def _version_text(number: int) -> str:
    if number >= 1_000_000:
        return f"{number // 1_000_000}.{number // 1000 % 1000}.{number % 1000}"
    # Earlier, a version was three digits.
    return ".".join(str(number)) if 100 <= number <= 999 else f"version {number}"
