"""Bisect the releases of MuJoCo between two for the first whose steps differ, and print it."""

import argparse
import json
from collections.abc import Callable
from dataclasses import asdict
from typing import TYPE_CHECKING, Any

from .parsing import UsageError
from .progress import report

if TYPE_CHECKING:
    from ..compare.links import Divergence
    from ..compare.versions import Bisection, Recorded, Version

_DIFFERENT = 1


def read_ends(text: str) -> "tuple[Version, Version]":
    """Return the two releases of `3.5.0..4.0.0`. Raises UsageError."""
    from ..compare.versions import read_version

    ends = [read_version(part) for part in text.split("..")]
    if len(ends) != 2 or not ends[0] < ends[1]:
        raise UsageError(f"--mujoco {text}: two releases such as 3.5.0..4.0.0")
    return ends[0], ends[1]


def find_release(
    ends: "tuple[Version, Version]",
    record: "Callable[[], Recorded]",
    label: str,
    until: str,
    arguments: argparse.Namespace,
) -> int:
    """Find the first release whose steps differ, and print it; return the exit code.

    Args:
        ends: The first and the last release.
        record: Function that records the steps that every release repeats.
        label: Name of the run, for users.
        until: See `bisect`.
        arguments: Arguments of the command line, of which `tolerance` and `json` are used.
    """
    from ..compare.versions import TOLERANCE, Bisection, bisect, releases

    versions, recorded = releases(*ends), record()
    tolerance = TOLERANCE if arguments.tolerance is None else arguments.tolerance
    outcome: Bisection | None = None
    # Ctrl-C ends the processes of a trial, or an installation, where it is.
    for each in bisect(recorded, versions, until, tolerance):
        if isinstance(each, Bisection):
            outcome = each
        else:
            report(each)
    assert outcome is not None
    about = {"scene": label, "until": until, "tolerance": tolerance, "steps": len(recorded.rows["time"])}
    if arguments.json:
        print(json.dumps({**about, **_document(outcome)}, indent=2))
    else:
        _print(outcome, about)
    return _DIFFERENT if outcome.first else 0


def _document(outcome: "Bisection") -> dict[str, Any]:
    from ..compare.versions import version_text

    trials = [
        {"version": version_text(each.version), "found": _row(each.found), "trouble": each.trouble or None}
        for each in outcome.trials
    ]
    return {
        "releases": [version_text(outcome.low), version_text(outcome.high)],
        "before": None if outcome.before is None else version_text(outcome.before),
        "first": None if outcome.first is None else version_text(outcome.first.version),
        "found": None if outcome.first is None else _row(outcome.first.found),
        "trials": trials,
    }


def _row(found: "Divergence | None") -> dict[str, Any] | None:
    return None if found is None else {**asdict(found), "link": str(found.link)}


def _print(outcome: "Bisection", about: dict[str, Any]) -> None:
    from ..compare.versions import version_text

    low, label, until = version_text(outcome.low), about["scene"], about["until"]
    for trial in sorted(outcome.trials, key=lambda trial: trial.version):
        verdict = trial.trouble or ("differs" if trial.found else "as before")
        print(f"MuJoCo {version_text(trial.version)}: {verdict}")
    if outcome.first is None or outcome.first.found is None:
        high, steps = version_text(outcome.high), about["steps"]
        print(f"\n{label}: no difference of {until} between {low} and {high} in {steps} steps")
        return
    found, before = outcome.first.found, version_text(outcome.before or outcome.low)
    first, differ = version_text(outcome.first.version), "differ" if until == "contacts" else "differs"
    same = f"; {before} is as {low}" if before != low else ""
    print(f"\n{label}: {until} {differ} first in MuJoCo {first}{same}")
    print(f"step {found.step}, at {found.time:.6g} s: {found.link}: {found.text}")
    tolerance = about["tolerance"]
    print(
        f"A is MuJoCo {low}, B MuJoCo {first}, both from the same state; differences up to {tolerance:g} count as none"
    )
