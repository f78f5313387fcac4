"""Writes reports for people, programs and services: text, JSON, SARIF, GitHub annotations, JUnit; and baselines."""

import json
import os
from collections import Counter
from collections.abc import Callable, Mapping, Sequence
from dataclasses import replace
from pathlib import Path
from typing import Any
from xml.sax.saxutils import escape, quoteattr

from ..errors import SceneError
from ..files import save_text
from ..scene_files.xml_edits import Edit
from ..version import __version__
from .check import NAMES, Report, explain, summary
from .finding import Finding, Severity

_LEVELS = {Severity.NOTE: "note", Severity.WARNING: "warning", Severity.ERROR: "error"}
_GITHUB = {Severity.NOTE: "notice", Severity.WARNING: "warning", Severity.ERROR: "error"}
_NAMED = 3
"""Largest number of scenes that a line names."""


def shown_path(path: Path | str) -> str:
    """Return a path relative to the working folder if it is inside, else in full."""
    try:
        return str(Path(path).resolve().relative_to(Path.cwd()))
    except (ValueError, OSError):
        return str(path)


def as_text(reports: Sequence[Report]) -> str:
    """Return reports as text for a terminal."""
    lines: list[str] = []
    for report in reports:
        if report.trouble:
            lines.append(f"{shown_path(report.path)}: not checked: {report.trouble}")
        for finding in report.findings:
            lines += _finding_lines(report, finding)
    lines += _unchecked_lines(reports)
    lines.append(_total(reports))
    return "\n".join(lines)


def _finding_lines(report: Report, finding: Finding) -> list[str]:
    place = finding.place
    where = shown_path(report.path) if place is None else f"{shown_path(place.path)}:{place.line}:{place.column}"
    lines = [f"{where}: {finding.severity.word} {finding.rule}", f"  {finding.text}"]
    if finding.remedy:
        lines.append(f"  {finding.remedy}")
    if finding.fix is not None:
        fix = finding.fix
        how = "" if not fix.edits else f" (--{'fix' if fix.safe else 'unsafe-fix'} applies it)"
        lines.append(f"  tried: {fix.description}: {fix.before} before, {fix.after} after{how}")
    return lines


def _unchecked_lines(reports: Sequence[Report]) -> list[str]:
    reasons: dict[str, list[str]] = {}
    for report in reports:
        for reason in report.unchecked:
            reasons.setdefault(reason, []).append(shown_path(report.path))
    lines = []
    for reason, paths in reasons.items():
        more = f" and {len(paths) - _NAMED} more" if len(paths) > _NAMED else ""
        lines.append(f"{reason} ({', '.join(paths[:_NAMED])}{more})" if len(reports) > 1 else reason)
    return lines


def _total(reports: Sequence[Report]) -> str:
    counts = Counter(finding.severity for report in reports for finding in report.findings)
    parts = [f"{counts[s]} {s.word}{'s' * (counts[s] != 1)}" for s in reversed(Severity) if counts[s]]
    failed, ignored = sum(bool(r.trouble) for r in reports), sum(r.ignored for r in reports)
    parts = parts or ["no findings"]
    parts += [f"{ignored} ignored"] if ignored else []
    parts += [f"{failed} not checked"] if failed else []
    return f"{len(reports)} scene{'s' * (len(reports) != 1)}: {', '.join(parts)}"


def as_statistics(reports: Sequence[Report]) -> str:
    """Return a table with the number of findings of each rule, the most frequent first."""
    counts = Counter(finding.rule for report in reports for finding in report.findings)
    scenes = Counter(rule for report in reports for rule in {finding.rule for finding in report.findings})
    lines = [f"{count:6}  {scenes[rule]:6} scenes  {rule}" for rule, count in counts.most_common()]
    return "\n".join([*lines, _total(reports)])


def as_json(reports: Sequence[Report]) -> str:
    """Return reports as JSON, with measured numbers, but without the changed text of fixes."""
    told = []
    for report in reports:
        saved = report.to_json()
        for finding in saved["findings"]:
            if finding["fix"] is not None:
                finding["fix"]["edits"] = [edit["path"] for edit in finding["fix"]["edits"]]
        told.append(saved)
    return json.dumps({"version": __version__, "reports": told}, indent=2)


def as_github(reports: Sequence[Report]) -> str:
    """Return findings as commands that GitHub shows beside the lines of a pull request."""

    def clean(text: str, more: str = "") -> str:
        for sign in f"%\r\n{more}":
            text = text.replace(sign, f"%{ord(sign):02X}")
        return text

    lines = []
    for report in reports:
        if report.trouble:
            lines.append(f"::error file={clean(shown_path(report.path), ':,')}::{clean(report.trouble)}")
        for finding in report.findings:
            place = finding.place
            at = f"file={clean(shown_path(place.path if place else report.path), ':,')}"
            at += f",line={place.line},col={place.column}" if place else ""
            fix = (
                f" Tried: {finding.fix.description}: {finding.fix.before} to {finding.fix.after}."
                if finding.fix
                else ""
            )
            text = clean(f"{finding.text} {finding.remedy}{fix}")
            lines.append(f"::{_GITHUB[finding.severity]} {at},title={finding.rule}::{text}")
    return "\n".join(lines)


def as_junit(reports: Sequence[Report]) -> str:
    """Return reports as JUnit's XML: a suite per scene, a failed test per finding above a note."""
    suites = []
    for report in reports:
        cases = []
        for finding in report.findings:
            if finding.severity is Severity.NOTE:
                continue
            place = finding.place
            at = f"{shown_path(place.path)}:{place.line}: " if place else ""
            cases.append(
                f"<testcase classname={quoteattr(shown_path(report.path))} name={quoteattr(finding.rule)}>"
                f"<failure type={quoteattr(finding.severity.word)} message={quoteattr(finding.text)}>"
                f"{escape(at + finding.text + chr(10) + finding.remedy)}</failure></testcase>"
            )
        failures, errors = len(cases), int(bool(report.trouble))
        if report.trouble:
            cases.append(
                f'<testcase classname={quoteattr(shown_path(report.path))} name="check">'
                f"<error message={quoteattr(report.trouble)}/></testcase>"
            )
        if not cases:
            cases.append(f'<testcase classname={quoteattr(shown_path(report.path))} name="check"/>')
        suites.append(
            f'<testsuite name={quoteattr(shown_path(report.path))} tests="{len(cases)}" failures="{failures}"'
            f' errors="{errors}" time="{report.seconds:.3f}">{"".join(cases)}</testsuite>'
        )
    return f'<?xml version="1.0" encoding="UTF-8"?>\n<testsuites>{"".join(suites)}</testsuites>'


def as_sarif(reports: Sequence[Report]) -> str:
    """Return reports as SARIF 2.1.0, with fixes as replacements."""
    used = sorted({finding.rule for report in reports for finding in report.findings}, key=NAMES.index)
    rules = [
        {
            "id": name,
            "shortDescription": {"text": summary(name)},
            "help": {"text": explain(name), "markdown": explain(name)},
        }
        for name in used
    ]
    notifications = [
        {"level": "error", "message": {"text": f"{shown_path(report.path)}: {report.trouble}"}}
        for report in reports
        if report.trouble
    ]
    driver = {"name": "contact-viewer", "version": __version__, "rules": rules}
    run = {
        "tool": {"driver": driver},
        "results": [_result(report, finding, used) for report in reports for finding in report.findings],
        "invocations": [
            {"executionSuccessful": not notifications, "toolExecutionNotifications": notifications},
        ],
        "columnKind": "unicodeCodePoints",
    }
    schema = "https://json.schemastore.org/sarif-2.1.0.json"
    return json.dumps({"$schema": schema, "version": "2.1.0", "runs": [run]}, indent=2)


def _result(report: Report, finding: Finding, used: Sequence[str]) -> dict[str, Any]:
    place = finding.place
    location: dict[str, Any] = {"artifactLocation": {"uri": _uri(place.path if place else report.path)}}
    if place is not None:
        location["region"] = {"startLine": place.line, "startColumn": place.column}
    result: dict[str, Any] = {
        "ruleId": finding.rule,
        "ruleIndex": used.index(finding.rule),
        "level": _LEVELS[finding.severity],
        "message": {"text": f"{finding.text} {finding.remedy}".strip()},
        "locations": [{"physicalLocation": location}],
        "partialFingerprints": {"contactViewer/v1": finding.fingerprint},
        "properties": {"objects": list(finding.objects), **{n: str(v) for n, v in finding.numbers.items()}},
    }
    if finding.fix is not None and finding.fix.edits:
        fix = finding.fix
        result["fixes"] = [
            {
                "description": {"text": f"{fix.description}: {fix.before} to {fix.after}"},
                "artifactChanges": [
                    {"artifactLocation": {"uri": _uri(edit.path)}, "replacements": [_replacement(edit)]}
                    for edit in fix.edits
                ],
            }
        ]
    return result


def _uri(path: Path | str) -> str:
    shown = shown_path(path)
    return Path(shown).as_uri() if os.path.isabs(shown) else Path(shown).as_posix().replace(" ", "%20")


def _replacement(edit: Edit) -> dict[str, Any]:
    before, after = (text.decode("utf-8", "replace") for text in (edit.before, edit.after))
    start = _common(before, after)
    end = _common(before[start:][::-1], after[start:][::-1])
    deleted = {"charOffset": start, "charLength": len(before) - end - start}
    return {"deletedRegion": deleted, "insertedContent": {"text": after[start : len(after) - end]}}


def _common(one: str, other: str) -> int:
    """Return the number of characters that two texts have in common at the beginning."""
    differing = (place for place, (a, b) in enumerate(zip(one, other, strict=False)) if a != b)
    return next(differing, min(len(one), len(other)))


FORMATS: Mapping[str, Callable[[Sequence[Report]], str]] = {
    "text": as_text,
    "json": as_json,
    "sarif": as_sarif,
    "github": as_github,
    "junit": as_junit,
}


def without_known(reports: Sequence[Report], baseline: Path) -> list[Report]:
    """Return reports without the findings of a baseline. Raises SceneError if the file is not a baseline."""
    try:
        saved = json.loads(baseline.read_text(encoding="utf-8"))
        known = {(str(each["path"]), str(each["fingerprint"])) for each in saved["findings"]}
    except OSError as error:
        raise SceneError(f"{baseline}: cannot be read ({error.strerror})") from None
    except (ValueError, KeyError, TypeError):
        raise SceneError(f"{baseline}: not a baseline; --update-baseline writes one") from None
    kept = []
    for report in reports:
        new = tuple(f for f in report.findings if (_relative(report, baseline), f.fingerprint) not in known)
        kept.append(replace(report, findings=new, ignored=report.ignored + len(report.findings) - len(new)))
    return kept


def write_baseline(reports: Sequence[Report], baseline: Path) -> int:
    """Write a baseline of all findings in place of an earlier one, and return their number. Raises SceneError."""
    findings = [
        {
            "path": _relative(report, baseline),
            "rule": finding.rule,
            "fingerprint": finding.fingerprint,
            "message": finding.text,
        }
        for report in reports
        for finding in report.findings
    ]
    save_text(baseline, json.dumps({"version": 1, "findings": findings}, indent=2) + "\n")
    return len(findings)


def _relative(report: Report, baseline: Path) -> str:
    """Return the path of a scene relative to the folder of a baseline; it is the same on every machine."""
    return Path(os.path.relpath(Path(report.path).resolve(), baseline.resolve().parent)).as_posix()
