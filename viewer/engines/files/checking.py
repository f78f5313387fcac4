"""A scene file to the files it reads and to what in it could kill, hang or exhaust MuJoCo, without compiling it."""

import os
import stat
import struct
from collections.abc import Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import NamedTuple

import mujoco

from ..errors import SceneError
from .markup import MarkupError, Tag, decode, find_tags, line_of, read_bytes, size_text
from .sanity import CONTACTS_MAX
from .watching import Stamp, stamp_of, take_stamp
from .weighing import LIMITS, Weight, copied, count, png_pixels, suspicious_numbers

TEXT_SIZE_MAX = 100_000_000
"""Longest XML file that is read at all [bytes]. MuJoCo needs three times its size in memory."""
ASSET_SIZE_MAX = 2**31 - 1
"""Longest file that MuJoCo can read [bytes]."""
NESTING_MAX = 200
"""Longest chain of includes and nested models. MuJoCo follows some thousands, then its stack is full."""
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
_ENDLESS = ("plugin", "lengthrange")
"""Elements whose settings decide how long the compiler works."""
_MJB_ID = 54321


@dataclass(frozen=True)
class Survey:
    """What a look at a scene's files tells before any of it is compiled."""

    path: Path
    files: Mapping[Path, Stamp | None]
    """Every file that the scene reads, with its stamp when it was looked at; None for those that are missing."""
    texts: tuple[Path, ...] = ()
    """The XML files among them, the scene first."""
    missing: tuple[str, ...] = ()
    """Files that are named and not there, each with the place that names it."""
    doubts: tuple[str, ...] = ()
    """Why the scene had better be compiled in a process of its own."""
    notes: tuple[str, ...] = ()
    """What a person should know of a scene that opens."""


class SceneRefused(SceneError):
    """A scene that cannot be opened, and the files it reads: a change of any of them is a reason to try again."""

    def __init__(self, message: str, files: Mapping[Path, Stamp | None]) -> None:
        super().__init__(message)
        self.files = files


class _Reference(NamedTuple):
    """A file that an element names."""

    element: str
    name: str
    """As written."""
    source: Path
    """The file that holds the element."""
    offset: int
    """Where in it."""


@dataclass
class _Model:
    """One model: a file with all that it includes."""

    path: Path
    weight: Weight = field(default_factory=Weight)
    folders: dict[str, str] = field(default_factory=dict)
    """What the compiler element says."""
    strips_paths: bool = False
    assets: list[_Reference] = field(default_factory=list)
    nested: list[_Reference] = field(default_factory=list)
    attached: float = 0
    """Number of attach elements, copies counted."""
    included: set[Path] = field(default_factory=set)

    @property
    def folder(self) -> Path:
        return self.path.parent


def survey_scene(path: Path, thorough: bool = False) -> Survey:
    """Look at a scene's files; raises SceneRefused for one that cannot be opened in any case.

    `thorough`: however much there is to read, as a process of its own may do.
    """
    files: dict[Path, Stamp | None] = {path: take_stamp(path)}
    try:
        if path.suffix.lower() == ".mjb":
            _check_binary(path)
            return Survey(path, files, doubts=("a compiled model",))
        return _Surveyor(path, files, thorough).survey()
    except SceneError as error:
        raise SceneRefused(str(error), files) from None


class _Surveyor:
    """One survey under way."""

    def __init__(self, path: Path, files: dict[Path, Stamp | None], thorough: bool) -> None:
        """`files`: what is found is added here, also by a survey that fails."""
        self._path = path
        self._files = files
        self._thorough = thorough
        self._texts: dict[Path, str] = {}
        self._text_size = 0
        self._missing: dict[str, None] = {}
        self._doubts: dict[str, None] = {}
        self._notes: dict[str, None] = {}
        self._outside: dict[str, None] = {}
        self._weights: dict[Path, Weight] = {}
        """Of the models seen: one that is named many times is looked at once."""

    def survey(self) -> Survey:
        weight = self._look_at_model(self._path, ())
        for name, (limit, words) in LIMITS.items():
            if getattr(weight, name) > limit:
                self._doubts[words.format(f"{getattr(weight, name):,.0f}")] = None
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

    def _look_at_model(self, path: Path, chain: tuple[Path, ...]) -> Weight:
        real = path.resolve()
        if real in self._weights:
            return self._weights[real]
        model = _Model(path)
        self._read(path, model, chain, copies=1, nesting=0)
        for asset in model.assets:
            self._look_at_asset(asset, model)
        nested = [self._look_at_nested(reference, model, (*chain, real)) for reference in model.nested]
        for weight in nested:
            model.weight.add_parsed(weight)
        if nested:
            # Which of them an attach element means, the compiler knows: take the heaviest.
            model.weight.add_copies(max(nested, key=lambda weight: weight.elements), model.attached)
        self._weights[real] = model.weight
        return model.weight

    def _look_at_nested(self, reference: _Reference, model: _Model, chain: tuple[Path, ...]) -> Weight:
        path = self._find(reference, [model.folder, reference.source.parent])
        if path is None:
            return Weight()
        if path.suffix not in (".xml", ".urdf"):
            self._doubts[f"{path.name}, a nested model that is no XML"] = None
            return Weight()
        return self._look_at_model(path, chain)

    def _read(self, path: Path, model: _Model, chain: tuple[Path, ...], copies: float, nesting: int) -> None:
        """One XML file, with what it includes, into a model."""
        real = path.resolve()
        if real in chain:
            circle = " > ".join(file.name for file in (*chain[chain.index(real) :], real))
            raise SceneError(f"{self._path}: a file that includes or nests itself: {circle}")
        if len(chain) >= NESTING_MAX:
            raise SceneError(f"{self._path}: includes or nested models more than {NESTING_MAX} deep, at {path.name}")
        text = self._load(path, model)
        if text is None:
            return
        try:
            self._read_tags(text, path, model, (*chain, real), copies, nesting)
        except MarkupError as error:
            # MuJoCo's parser is the judge of what is XML, but what it might read beyond has not been seen.
            self._doubts[f"{path.name} line {line_of(text, error.offset)}: broken XML"] = None

    def _load(self, path: Path, model: _Model) -> str | None:
        """Text of an XML file; None if it is left to a thorough survey."""
        stamp = self._files[path]
        size = stamp[2] if stamp is not None else 0
        model.weight.text_bytes += size
        self._text_size += size
        much = self._text_size > LIMITS["text_bytes"][0] or len(self._texts) > _GLANCE_FILES_MAX
        if much and size <= TEXT_SIZE_MAX and not self._thorough:
            self._doubts["much XML"] = None
            return None
        data = read_bytes(path, TEXT_SIZE_MAX, "scene file")
        text = decode(data)
        self._texts[path] = text
        if not text.isascii():
            try:
                data.decode("utf-8")
            except UnicodeDecodeError as error:
                line = data.count(b"\n", 0, error.start) + 1
                self._notes[f"{path.name} line {line}: not UTF-8"] = None
        return text

    def _read_tags(
        self, text: str, path: Path, model: _Model, chain: tuple[Path, ...], copies: float, nesting: int
    ) -> None:
        outer: list[float] = []
        for tag in find_tags(text):
            if not tag.opens:
                if outer:
                    copies = outer.pop()
                continue
            model.weight.add_element(tag, copies)
            inner = copied(copies, tag) if tag.name == "replicate" else copies
            if tag.body:
                self._read_tag(tag, path, model, chain, copies, nesting + len(outer))
            if not tag.closes:
                outer.append(copies)
                copies = inner
                model.weight.nesting = max(model.weight.nesting, nesting + len(outer))

    def _read_tag(
        self, tag: Tag, path: Path, model: _Model, chain: tuple[Path, ...], copies: float, nesting: int
    ) -> None:
        # MuJoCo takes these two in any case.
        name = tag.name if tag.name.lower() not in ("include", "compiler") else tag.name.lower()
        if name == "compiler":
            given = tag.attributes
            model.folders.update({key: given[key] for key in _FOLDER_ATTRIBUTES if key in given})
            model.strips_paths |= given.get("strippath") == "true"
        elif name == "include":
            self._follow_include(tag, path, model, chain, copies, nesting)
        elif name == "model":
            if file := tag.attributes.get("file"):
                model.nested.append(_Reference(name, file, path, tag.start))
        elif name == "attach":
            model.attached += copies
        elif name in _ENDLESS:
            self._doubts[f"a {name} element"] = None
        elif name in _FILE_ATTRIBUTES:
            given = tag.attributes
            for key in _FILE_ATTRIBUTES[name]:
                if file := given.get(key):
                    model.assets.append(_Reference(name, file, path, tag.start))
        elif name == "contact" and count(tag.attributes.get("num")) > CONTACTS_MAX:
            number = tag.attributes["num"]
            raise SceneError(
                f"{self._path}: {self._place(_Reference(name, '', path, tag.start))}: num={_shortened(number)!r}; "
                f"at most {CONTACTS_MAX:,} contacts can be shown"
            )
        for attribute in suspicious_numbers(tag):
            self._doubts[f"{attribute}={_shortened(tag.attributes[attribute])!r} of {tag.name}"] = None

    def _follow_include(
        self, tag: Tag, path: Path, model: _Model, chain: tuple[Path, ...], copies: float, nesting: int
    ) -> None:
        file = tag.attributes.get("file")
        if not file:
            return
        found = self._find(_Reference("include", file, path, tag.start), [model.folder, path.parent])
        if found is None:
            return
        real = found.resolve()
        # MuJoCo refuses to include a file twice, in a circle or not; only circles are ours to report.
        if real not in model.included or real in chain:
            model.included.add(real)
            self._read(found, model, chain, copies, nesting)

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
        if size > ASSET_SIZE_MAX:
            raise SceneError(f"{found}: has {size_text(size)}; MuJoCo reads at most {size_text(ASSET_SIZE_MAX)}")
        model.weight.asset_bytes += size
        if asset.element in ("texture", "hfield"):
            model.weight.pixels += png_pixels(found)
        elif asset.element == "flexcomp":
            # A vertex takes some tens of characters, and each becomes a body.
            model.weight.bodies += size / 30

    def _find(self, reference: _Reference, folders: list[Path], stripped: bool = False) -> Path | None:
        """The file that is meant, looked for as MuJoCo does; noted as missing if there is none."""
        names = [_posix(reference.name)]
        if "\0" in names[0]:
            return None
        base = names[0].rpartition("/")[2]
        if stripped:
            # Not in a model that is nested in another, whatever it says.
            names.insert(0, base)
        if any(part.lower().endswith((".zip", ".mjz")) for part in names[0].split("/")):
            self._doubts["an archive"] = None
        candidates = dict.fromkeys(Path(os.path.normpath(folder / name)) for name in names for folder in folders)
        for path in candidates:
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

    def _place(self, reference: _Reference) -> str:
        return f"{reference.source.name} line {line_of(self._texts[reference.source], reference.offset)}"


def _check_binary(path: Path) -> None:
    """The head of a compiled model, of which MuJoCo itself says no more than that it failed."""
    head = read_bytes(path, ASSET_SIZE_MAX, "compiled model", count=20)
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


def _posix(name: str) -> str:
    return name.replace("\\", "/")


def _shortened(text: str) -> str:
    return text if len(text) <= 60 else f"{text[:57]}..."
