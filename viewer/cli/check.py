"""`contact-viewer check SCENE...`: find and fix problems of the contacts of scenes."""

import argparse
import difflib
import os
import sys
from dataclasses import replace
from pathlib import Path

from ..assets import is_bundled
from ..checks.check import NAMES, Report, check_file, explain, summary
from ..checks.finding import Finding, Fix, Severity
from ..checks.formats import FORMATS, as_statistics, shown_path, without_known, write_baseline
from ..checks.many import check_many, find_scenes
from ..checks.settings import CheckOptions, with_table
from ..errors import SceneError
from ..files import save_text
from .parsing import Parser, UsageError, number
from .progress import RunProgress, plural, report

_FIXES_MAX = 50
"""Largest number of fixes that are applied to one scene."""
ENGINES = ("mjx", "warp", "motrix")


def parser() -> Parser:
    parser = Parser(
        "check",
        "Find and fix problems of the contacts of scenes: sensors that can never fire, touch sensors that miss,\n"
        "bodies that jam or overlap, objects that creep in a grasp, friction without effect, and more. Rules look at\n"
        "the model and at a short run from every keyframe; a fix is tried before it is offered.\n"
        "Exit code 0 if clean, 1 for findings at --fail-on, 2 if a scene could not be read or run.",
        examples=(
            "check robot.xml                          # static rules, and a run of 1 s from each keyframe",
            "check robots/ --static                   # all scenes of a folder, without runs",
            "check robot.xml --fix                    # apply fixes that change no behaviour",
            "check robot.xml --unsafe-fix --diff      # print all fixes that helped, as a patch",
            "check . --format sarif --output out.sarif",
            "check --explain friction-creep           # the page of a rule",
        ),
    )
    parser.add_argument("scenes", nargs="*", metavar="SCENE", help="file, folder, pattern or bundled scene; repeatable")
    group = parser.add_argument_group("rules")
    group.add_argument("--select", metavar="RULE,...", help="run only these rules")
    group.add_argument("--extend-select", metavar="RULE,...", default="", help="run these rules as well")
    group.add_argument(
        "--ignore",
        metavar="RULE[(NAME)],...",
        action="append",
        default=[],
        help="skip these rules; with names, only for these objects",
    )
    group.add_argument("--explain", metavar="RULE", help="print the page of a rule")
    group.add_argument("--list", action="store_true", help="list the rules")
    group.add_argument("--mujoco", metavar="A..B", help="also report what changes between two versions of MuJoCo")
    group.add_argument("--engine", choices=ENGINES, help="also report what this engine treats differently")
    group = parser.add_argument_group("runs")
    group.add_argument("--static", action="store_true", help="check the model only, without a run")
    group.add_argument(
        "--duration", type=number(1e-3, 1e4), metavar="S", help="simulated time of a run [s]; default: 1"
    )
    group.add_argument("--control", metavar="FILE[:NAME]", help="Python file with control(model, data)")
    group.add_argument("--param", action="append", default=[], metavar="KEY=VALUE", help="set a constant of that file")
    group.add_argument("--log", metavar="FILE", help="re-simulate a log of states and controls in place of the runs")
    group.add_argument(
        "--limit",
        type=number(0.1, 1e5),
        default=60.0,
        metavar="S",
        help="most wall time of a scene's runs [s]; default: 60",
    )
    group.add_argument(
        "--jobs", type=number(1, 1024, int), metavar="N", help="number of processes; default: one per core"
    )
    group = parser.add_argument_group("fixes")
    group.add_argument("--fix", action="store_true", help="apply fixes that helped and change no behaviour")
    group.add_argument("--unsafe-fix", action="store_true", help="apply all fixes that helped")
    group.add_argument("--diff", action="store_true", help="print fixes as a patch, and change no file")
    group = parser.add_argument_group("output")
    group.add_argument("--format", choices=list(FORMATS), default="text", help="format of the report; default: text")
    group.add_argument("--output", metavar="FILE", help="write the report to a file")
    group.add_argument("--statistics", action="store_true", help="count findings by rule")
    group.add_argument("--baseline", metavar="FILE", help="report only findings that are not in this file")
    group.add_argument("--update-baseline", action="store_true", help="write all findings into that file")
    group.add_argument(
        "--fail-on", choices=[s.word for s in Severity], help="least severity for exit code 1; default: warning"
    )
    group.add_argument("--exit-zero", action="store_true", help="exit with code 0 also with findings")
    return parser


def run(arguments: argparse.Namespace) -> int:
    if arguments.explain is not None:
        print(explain(arguments.explain).rstrip())
        return 0
    if arguments.list:
        width = max(map(len, NAMES))
        print("\n".join(f"{name:{width}}  {summary(name)}" for name in NAMES))
        return 0
    if not arguments.scenes:
        raise UsageError("check needs a scene: give a file, a folder, or the name of a bundled scene")
    if arguments.update_baseline and arguments.baseline is None:
        raise UsageError("--update-baseline needs --baseline FILE")
    if arguments.statistics and arguments.format != "text":
        raise UsageError("--statistics prints text: leave out --format")
    options = _options(arguments)
    files, left_out = find_scenes(arguments.scenes)
    if left_out:
        report(f"note: {plural(left_out, 'file')} checked with the scenes that include them")
    reports = _check(files, options, arguments.jobs or os.cpu_count() or 1)
    if arguments.fix or arguments.unsafe_fix or arguments.diff:
        reports = [_mended(each, options, arguments) for each in reports]
        if arguments.diff:
            return _exit_code(reports, options, arguments)
    if arguments.update_baseline:
        written = write_baseline(reports, Path(arguments.baseline))
        report(f"{arguments.baseline}: {plural(written, 'finding')}")
    if arguments.baseline is not None:
        reports = without_known(reports, Path(arguments.baseline))
    text = as_statistics(reports) if arguments.statistics else FORMATS[arguments.format](reports)
    if arguments.output is not None:
        save_text(Path(arguments.output), text + "\n")
    elif text:
        print(text)
    return _exit_code(reports, options, arguments)


def _options(arguments: argparse.Namespace) -> CheckOptions:
    from ..engines.controller_file import read_param

    if arguments.control is not None and arguments.log is not None:
        raise UsageError("a log has its own controls: leave out --control")
    if arguments.param and arguments.control is None:
        raise UsageError("--param sets a constant of a controller: give --control")
    given = {
        "duration": arguments.duration,
        "fail_on": None if arguments.fail_on is None else Severity[arguments.fail_on.upper()],
    }
    options = CheckOptions(
        select=None if arguments.select is None else _names(arguments.select),
        extend_select=_names(arguments.extend_select),
        ignore=tuple(arguments.ignore),
        static=arguments.static,
        limit=arguments.limit,
        control=None if arguments.control is None else _absolute(arguments.control),
        params=tuple(read_param(text) for text in arguments.param),
        log=None if arguments.log is None else str(Path(arguments.log).absolute()),
        versions=None if arguments.mujoco is None else _versions(arguments.mujoco),
        engine=arguments.engine,
    )
    # What is wrong in the file of settings, or in names of rules, is said once, and not for every scene.
    table = with_table(options, None)
    options = replace(options, duration=table.duration, fail_on=table.fail_on)
    options = replace(options, **{name: value for name, value in given.items() if value is not None})
    for name in (*(options.select or ()), *options.extend_select):
        explain(name)
    return options


def _absolute(control: str) -> str:
    """Return a controller's file with an absolute path: other processes have other working folders."""
    path, colon, name = control.partition(":")
    return f"{Path(path).absolute()}{colon}{name}"


def _names(text: str) -> tuple[str, ...]:
    return tuple(name.strip() for name in text.replace(",", " ").split())


def _versions(text: str) -> tuple[str, str]:
    first, dots, last = text.partition("..")
    parts = [each.split(".") for each in (first, last)]
    if not dots or not all(len(each) >= 2 and all(part.isdigit() for part in each) for each in parts):
        raise UsageError(f"--mujoco {text}: two versions such as 3.3..4.0")
    return first, last


def _check(files: list[str], options: CheckOptions, jobs: int) -> list[Report]:
    done: dict[str, Report] = {}
    order = {str(Path(file).absolute()): file for file in files}
    failed = 0
    with RunProgress(len(files), "scenes") as progress:
        for each in check_many(files, options, min(jobs, len(files))):
            if each is not None:
                name = order.get(each.path, each.path)
                done[name] = replace(each, path=name)
                failed += bool(each.trouble)
                progress.update(len(done) - failed, failed)
    return [done[file] for file in files if file in done]


def _mended(before: Report, options: CheckOptions, arguments: argparse.Namespace) -> Report:
    """Apply fixes to a scene one by one, each judged by another check; or print them. Return the last report."""
    current, refused = before, set[str]()
    for _ in range(_FIXES_MAX):
        chosen = next((f for f in current.findings if _applies(f, arguments) and f.fingerprint not in refused), None)
        if chosen is None or chosen.fix is None:
            break
        if arguments.diff:
            _print_diff(chosen, chosen.fix)
            refused.add(chosen.fingerprint)
            continue
        if any(is_bundled(edit.path) for edit in chosen.fix.edits):
            raise SceneError(f"{before.path}: bundled scenes are not changed: copy it first")
        for edit in chosen.fix.edits:
            edit.save()
        after, fix = check_file(before.path, options), chosen.fix
        if after.trouble or _persists(chosen, after):
            for edit in reversed(fix.edits):
                edit.undone().save()
            refused.add(chosen.fingerprint)
            report(f"note: {shown_path(before.path)}: {fix.description} did not fix {chosen.rule}: undone")
            continue
        report(f"{shown_path(before.path)}: {chosen.rule}: {fix.description}: {fix.before} to {fix.after}")
        current = after
    return current


def _applies(finding: Finding, arguments: argparse.Namespace) -> bool:
    fix = finding.fix
    return fix is not None and bool(fix.edits) and (fix.safe or arguments.unsafe_fix)


def _persists(chosen: Finding, after: Report) -> bool:
    """Return True if a finding is still found with the same text."""
    return any(each.fingerprint == chosen.fingerprint and each.message == chosen.message for each in after.findings)


def _print_diff(finding: Finding, fix: Fix) -> None:
    for edit in fix.edits:
        before, after = (
            text.decode("utf-8", "replace").splitlines(keepends=True) for text in (edit.before, edit.after)
        )
        name = shown_path(edit.path)
        sys.stdout.writelines(
            line if line.endswith("\n") else f"{line}\n" for line in difflib.unified_diff(before, after, name, name)
        )


def _exit_code(reports: list[Report], options: CheckOptions, arguments: argparse.Namespace) -> int:
    if any(each.trouble for each in reports):
        return 2
    worst = max((f.severity for each in reports for f in each.findings), default=None)
    return int(worst is not None and worst >= options.fail_on and not arguments.exit_zero)
