"""Reads which rules a user wants, and which to ignore: from names, pyproject.toml and scenes."""

import re
import tomllib
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from fnmatch import fnmatchcase
from functools import cache
from pathlib import Path
from typing import Any

from ..errors import SceneError, did_you_mean
from ..mjmodel.names import read_names
from ..mjmodel.types import MjModel
from .finding import Finding, Severity

TABLE = "contact-viewer", "check"
_TEXT = "contact-viewer:ignore"
"""Prefix of the names of <text> elements with ignores."""
_IGNORE = re.compile(r"\s*,?\s*([a-z][a-z-]*|\*)(?:\(([^()]*)\))?")


@dataclass
class Ignore:
    """Rule to ignore, for all findings or for those with some names."""

    rule: str
    names: tuple[str, ...] = ()
    """Patterns of names; empty for any name."""
    source: str = ""
    """File or option with the ignore."""
    used: bool = False

    def covers(self, finding: Finding) -> bool:
        """Return True if the ignore covers a finding: each name of the finding, except the world, matches a pattern."""
        if self.rule not in (finding.rule, "*"):
            return False
        objects = [name for name in finding.objects if name != "world"] or list(finding.objects)
        return not self.names or all(any(fnmatchcase(o, pattern) for pattern in self.names) for o in objects)

    def __str__(self) -> str:
        return f"{self.rule}({', '.join(self.names)})" if self.names else self.rule


def parse_ignores(text: str, known: Sequence[str], source: str) -> list[Ignore]:
    """Return the ignores in a text such as `friction-mixing(left_foot) unstable`. Raises SceneError.

    Args:
        text: Rules, separated by spaces or commas, each with or without names in parentheses.
        known: Names of all rules.
        source: Where the text is written, for errors.

    Returns:
        The ignores in their order.
    """
    found, place = [], 0
    text = text.strip()
    while place < len(text):
        match = _IGNORE.match(text, place)
        if match is None or match.end() == place:
            raise SceneError(f"{source}: {text!r} is not a list of rules such as friction-mixing(left_foot)")
        check_rule(match[1], known, source)
        names = tuple(name.strip() for name in (match[2] or "").split(",") if name.strip())
        found.append(Ignore(match[1], names, source))
        place = match.end()
    return found


def check_rule(name: str, known: Sequence[str], source: str) -> None:
    """Raise SceneError, with the closest name, for an unknown rule."""
    if name != "*" and name not in known:
        raise SceneError(f"{source}: unknown rule {name!r}{did_you_mean(name, known)}")


def scene_ignores(model: MjModel, known: Sequence[str], source: str) -> list[Ignore]:
    """Return the ignores that a scene has in `<custom><text name="contact-viewer:ignore" data="..."/>`."""
    found: list[Ignore] = []
    for i, name in enumerate(read_names(model, "text")):
        if name.startswith(_TEXT):
            start = int(model.text_adr[i])
            data = bytes(model.text_data[start : start + int(model.text_size[i])]).split(b"\0")[0]
            found += parse_ignores(data.decode("utf-8", "replace"), known, source)
    return found


@dataclass(frozen=True)
class CheckOptions:
    """Options of a check."""

    select: tuple[str, ...] | None = None
    """Rules to use in place of those that are on by default; None for the default."""
    extend_select: tuple[str, ...] = ()
    """Rules to use in addition to the selected ones."""
    ignore: tuple[str, ...] = ()
    """Rules to leave out, with or without names."""
    per_file_ignores: Mapping[str, tuple[str, ...]] = field(default_factory=dict)
    """Rules to leave out for some scenes, by patterns of paths."""
    static: bool = False
    """True to check without stepping the scene."""
    duration: float = 1.0
    """Simulated time of a run [s]."""
    limit: float = 60.0
    """Wall time for all runs of a scene [s]."""
    control: str | None = None
    """Python file that drives the scene."""
    params: tuple[tuple[str, Any], ...] = ()
    """Values for constants of the control file, by name."""
    log: str | None = None
    """File of states and controls to re-simulate in place of runs; None to simulate."""
    versions: tuple[str, str] | None = None
    """Two versions of MuJoCo to compare; None to compare none."""
    engine: str | None = None
    """Other engine that the scene is to run on; None for none."""
    fail_on: Severity = Severity.WARNING
    tries_fixes: bool = True
    """False to propose no fixes, because trying them takes runs."""

    def to_json(self) -> dict[str, Any]:
        """Return the settings as a JSON object."""
        return {**vars(self), "fail_on": self.fail_on.name, "per_file_ignores": dict(self.per_file_ignores)}

    @classmethod
    def from_json(cls, saved: Mapping[str, Any]) -> "CheckOptions":
        """Return the options from the object that `to_json` has written."""
        lists = ("extend_select", "ignore")
        values = dict(saved) | {name: tuple(saved[name]) for name in lists}
        values["select"] = None if saved["select"] is None else tuple(saved["select"])
        values["versions"] = None if saved["versions"] is None else tuple(saved["versions"])
        values["params"] = tuple((name, value) for name, value in saved["params"])
        values["per_file_ignores"] = {glob: tuple(rules) for glob, rules in saved["per_file_ignores"].items()}
        return cls(**values | {"fail_on": Severity[saved["fail_on"]]})


_KEYS: dict[str, type | tuple[type, ...]] = {
    "select": list,
    "extend-select": list,
    "ignore": list,
    "per-file-ignores": dict,
    "duration": (int, float),
    "fail-on": str,
}


@cache
def find_table(folder: Path) -> tuple[Path, Mapping[str, Any]] | None:
    """Return the nearest pyproject.toml at or above a folder that has `[tool.contact-viewer.check]`, and that table.

    Raises SceneError if the file cannot be read, or if the table has unknown keys.
    """
    for above in (folder, *folder.parents):
        path = above / "pyproject.toml"
        if not path.is_file():
            continue
        try:
            with path.open("rb") as file:
                tool = tomllib.load(file).get("tool", {})
        except (OSError, tomllib.TOMLDecodeError, UnicodeDecodeError) as error:
            raise SceneError(f"{path}: cannot be read ({error})") from None
        table = tool.get(TABLE[0], {}).get(TABLE[1])
        if table is None:
            continue
        for key, value in table.items():
            if key not in _KEYS:
                raise SceneError(f"{path}: [tool.contact-viewer.check] has no {key!r}{did_you_mean(key, _KEYS)}")
            if not isinstance(value, _KEYS[key]) or isinstance(value, bool):
                raise SceneError(f"{path}: {key} of [tool.contact-viewer.check] is not of the right kind")
        return path, table
    return None


def with_table(options: CheckOptions, scene: Path | None, given: Iterable[str] = ()) -> CheckOptions:
    """Return options, with those of the scene's pyproject.toml added. Raises SceneError.

    Args:
        options: What the command line or a program asks for.
        scene: The file that is checked; None for a model without one.
        given: Names of options that the table does not change.
    """
    found = find_table((scene.parent if scene is not None else Path.cwd()).resolve())
    if found is None:
        return options
    path, table = found
    changes: dict[str, Any] = {}
    if "select" in table and options.select is None:
        changes["select"] = tuple(map(str, table["select"]))
    changes["extend_select"] = (*map(str, table.get("extend-select", ())), *options.extend_select)
    changes["ignore"] = (*map(str, table.get("ignore", ())), *options.ignore)
    root, globs = path.parent, table.get("per-file-ignores", {})
    changes["per_file_ignores"] = {
        **{
            str(root / glob): tuple(map(str, [rules] if isinstance(rules, str) else rules))
            for glob, rules in globs.items()
        },
        **options.per_file_ignores,
    }
    if "duration" in table and "duration" not in given:
        changes["duration"] = float(table["duration"])
    if "fail-on" in table and "fail-on" not in given:
        changes["fail_on"] = read_severity(table["fail-on"], str(path))
    return replace(options, **changes)


def read_severity(word: str, source: str) -> Severity:
    """Return the severity with a name such as `warning`. Raises SceneError."""
    if word.upper() not in Severity.__members__:
        raise SceneError(f"{source}: fail-on is note, warning or error, not {word!r}")
    return Severity[word.upper()]


def option_ignores(options: CheckOptions, scene: Path | None, known: Sequence[str]) -> list[Ignore]:
    """Return the ignores in options that apply to a scene. Raises SceneError."""
    found = [each for text in options.ignore for each in parse_ignores(text, known, "ignore")]
    for glob, rules in options.per_file_ignores.items():
        if scene is not None and (fnmatchcase(str(scene.resolve()), glob) or fnmatchcase(scene.name, glob)):
            found += [each for text in rules for each in parse_ignores(text, known, "per-file-ignores")]
    return found
