"""Scenes for the rules: of each one that breaks it, one that nearly does, and one that is mended."""

from pathlib import Path

import pytest
from contact_viewer.checks.check import Report, check_file
from contact_viewer.checks.finding import Finding
from contact_viewer.checks.settings import CheckOptions

FLOOR = '<geom name="floor" type="plane" size="3 3 .1"/>'


def scene(body: str, rest: str = "", head: str = "") -> str:
    """Return a scene with a floor, bodies, and further sections."""
    return f"<mujoco>\n  {head}\n  <worldbody>\n    {FLOOR}\n    {body}\n  </worldbody>\n  {rest}\n</mujoco>\n"


def report(folder: Path, text: str, **options: object) -> Report:
    """Return what a check says of a scene."""
    path = folder / "scene.xml"
    path.write_text(text)
    found = check_file(str(path), CheckOptions(**options))  # type: ignore[arg-type]
    assert not found.trouble, found.trouble
    return found


def findings(folder: Path, text: str, rule: str, **options: object) -> list[Finding]:
    """Return the findings of a rule in a scene."""
    return [each for each in report(folder, text, **options).findings if each.rule == rule]


def one(folder: Path, text: str, rule: str, **options: object) -> Finding:
    """Return the only finding of a rule in a scene."""
    found = findings(folder, text, rule, **options)
    if len(found) != 1:
        pytest.fail(f"{len(found)} findings of {rule}: {[each.text for each in found]}")
    return found[0]


def mend(finding: Finding) -> None:
    """Write the fix of a finding into its files."""
    assert finding.fix is not None
    assert finding.fix.edits
    for edit in finding.fix.edits:
        edit.save()
