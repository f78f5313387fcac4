"""Checks a scene with every rule: reports what is wrong, what was not checked, and which fixes help."""

import re
import time
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass, field, replace
from importlib.resources import files
from pathlib import Path
from typing import Any

from ..engines.controller import Controller, as_controller
from ..engines.controller_file import ControllerFile
from ..errors import SceneError, did_you_mean
from ..mjmodel.types import MjData, MjModel
from ..scene_files.safe_open import open_safely
from ..scene_files.scene import LoadedScene, find_scene
from . import friction_rules, geometry_rules, sensor_rules, solver_rules, start_rules
from .finding import Finding, Severity
from .run import Run, RunOptions, simulate
from .settings import CheckOptions, Ignore, check_rule, option_ignores, scene_ignores, with_table
from .subject import Subject

Static = Callable[[Subject], Iterator[Finding]]
OfRun = Callable[[Subject, Run], Iterator[Finding]]


@dataclass(frozen=True)
class Rule:
    """Rule of `check`. The order of RULES is the order in which findings are printed."""

    name: str
    static: Static | None = None
    """Function that finds problems that do not depend on the state."""
    run: OfRun | None = None
    """Function that finds problems in a run."""
    unless_run: bool = False
    """True if `static` only guesses the result of `run`, and is skipped if there is a run."""
    opt_in: bool = False
    """True if the rule is off unless it is selected."""


RULES = (
    Rule("unstable", run=start_rules.unstable),
    Rule("never-collides", sensor_rules.never_collides),
    Rule("touch-misses-body", sensor_rules.touch_targets, sensor_rules.touch_loads),
    Rule("self-contact-at-rest", run=start_rules.self_contact),
    Rule("overlap-at-start", run=start_rules.overlap_at_start),
    Rule("friction-creep", run=friction_rules.creep),
    Rule("friction-mixing", friction_rules.ineffective_friction, friction_rules.friction_in_contact, unless_run=True),
    Rule("duplicate-geoms", geometry_rules.duplicates),
    Rule("visual-geom-collides", geometry_rules.visual_geoms),
    Rule("mass-counted-twice", geometry_rules.mass_twice),
    Rule("ghost-contact", run=geometry_rules.ghost_contact),
    Rule("friction-too-large", friction_rules.too_large),
    Rule("contacts-lost", run=sensor_rules.contacts_lost),
    Rule("proximity-is-not-contact", run=sensor_rules.proximity),
    Rule("stiff-for-the-timestep", solver_rules.stiff),
    Rule("impratio-with-pyramids", friction_rules.impratio),
    Rule("solver-stops-early", run=solver_rules.stops_early),
    Rule("hull-is-not-the-mesh", geometry_rules.hull_differs),
    Rule("wrong-target", sensor_rules.wrong_target),
    Rule("version-changes-contact", solver_rules.other_versions),
    Rule("sensor-unreadable-elsewhere", sensor_rules.other_engines),
    Rule("netforce-frame"),
    Rule("unused-ignore"),
)
NAMES = tuple(rule.name for rule in RULES)


@dataclass(frozen=True)
class Report:
    """Result of checking one scene."""

    path: str
    """Path of the file as given; empty for a model without one."""
    findings: tuple[Finding, ...] = ()
    """Findings, the worst first."""
    unchecked: tuple[str, ...] = ()
    """Parts of the scene that were not checked, each with the reason."""
    starts: tuple[str, ...] = ()
    """Labels of the states that runs began with."""
    trouble: str = ""
    """Reason why the scene could not be read or run; empty if it could."""
    ignored: int = 0
    """Number of findings that are not reported because they are ignored."""
    seconds: float = 0.0
    """Wall time of the check [s]."""

    def to_json(self) -> dict[str, Any]:
        """Return the report as a JSON object."""
        return {**vars(self), "findings": [finding.to_json() for finding in self.findings]}

    @classmethod
    def from_json(cls, saved: Mapping[str, Any]) -> "Report":
        """Return the report that `to_json` has written."""
        lists = {name: tuple(saved[name]) for name in ("unchecked", "starts")}
        return cls(**{**saved, **lists, "findings": tuple(Finding.from_json(each) for each in saved["findings"])})


_ONE_CAUSE = ("friction-mixing", "ghost-contact")
"""Rules that report at most one finding of each severity for a scene."""


@dataclass
class _Found:
    """Findings so far, one for each cause."""

    findings: list[Finding] = field(default_factory=list)
    also: dict[int, list[str]] = field(default_factory=dict)
    """Labels of other starts that show a finding, by its index in `findings`."""

    def add(self, finding: Finding) -> None:
        for place, known in enumerate(self.findings):
            if known.rule != finding.rule or known.start == finding.start != "":
                continue
            mine, theirs = set(finding.objects), set(known.objects)
            # One state shows more geoms of one cause than another.
            if mine <= theirs or theirs < mine or (finding.rule in _ONE_CAUSE and known.severity == finding.severity):
                kept, other = (known, finding) if len(mine) <= len(theirs) else (finding, known)
                self.findings[place] = kept
                starts = [s for s in (*self.also.get(place, ()), other.start) if s and s != kept.start]
                self.also[place] = list(dict.fromkeys(starts))
                return
        self.findings.append(finding)

    def told(self) -> list[Finding]:
        """Return the findings; their messages name the other starts that show them."""
        return [
            replace(finding, message=f"{finding.message.rstrip('.')} (also from {', '.join(self.also[i])}).")
            if self.also.get(i)
            else finding
            for i, finding in enumerate(self.findings)
        ]


def check(
    model: MjModel | str | Path,
    data: MjData | None = None,
    *,
    select: tuple[str, ...] | list[str] | None = None,
    ignore: tuple[str, ...] | list[str] = (),
    static: bool = False,
    duration: float = 1.0,
    control: Any = None,
) -> list[Finding]:
    """Return what is wrong with the contacts of a scene.

    If your program changes the scene after loading it, pass the changed model and the state that it starts from.

    Args:
        model: A compiled model, which is left as it is, or a scene's file.
        data: State that the run begins with; without it, every keyframe, or the default state.
        select: Names of rules, in place of those that are on by default.
        ignore: Rules to leave out, such as `friction-mixing(left_foot)`.
        static: True to check without stepping the scene.
        duration: Simulated time of a run [s].
        control: Function of model and data that is called before every step, or a `Controller`.

    Returns:
        Findings, the worst first; empty for a clean scene.

    Raises:
        SceneError: The scene cannot be read or run, or a rule is unknown.

    Example:
        ```python
        assert contact_viewer.check("robot.xml", ignore=["friction-mixing"]) == []
        ```
    """
    options = CheckOptions(
        None if select is None else tuple(select), ignore=tuple(ignore), static=static, duration=duration
    )
    if isinstance(model, str | Path):
        scene: LoadedScene = open_safely(find_scene(model))
    else:
        scene = LoadedScene(None, model, owned=False)
    driver = None if control is None else (lambda: as_controller(control))
    report = check_subject(Subject(scene, data), with_table(options, scene.path), driver)
    if report.trouble:
        raise SceneError(report.trouble)
    return list(report.findings)


def check_file(scene: str, options: CheckOptions) -> Report:
    """Return the report of a scene's file; reasons that prevent a check are in the report."""
    began = time.monotonic()
    try:
        path = find_scene(scene)
        opened = open_safely(path)
        options = with_table(options, path, ("duration", "fail-on"))
        driver = None
        if options.control is not None:
            file, params = options.control, dict(options.params)
            driver = ControllerFile(file, params).load
        report = check_subject(Subject(opened), options, driver)
    except SceneError as error:
        trouble = str(error).removeprefix(f"{Path(scene).resolve()}: ").removeprefix(f"{scene}: ")
        return Report(scene, trouble=trouble, seconds=time.monotonic() - began)
    return replace(report, path=scene, seconds=time.monotonic() - began)


def check_subject(subject: Subject, options: CheckOptions, control: Callable[[], Controller] | None = None) -> Report:
    """Return the findings of an open scene. Raises SceneError for unknown rules."""
    began = time.monotonic()
    wanted = _wanted(options)
    source = str(subject.path or "the model")
    ignores = [*option_ignores(options, subject.path, NAMES), *scene_ignores(subject.model, NAMES, source)]
    subject.versions, subject.other_engine = options.versions, options.engine
    starts, unchecked = subject.starts()
    if subject.contacts_off:
        return Report(source, unchecked=tuple(unchecked))
    found = _Found()
    if options.static:
        starts, unchecked = [], ["static rules only"]
    elif options.log is not None or subject.scene.log is not None:
        starts = starts[:1]
    for rule in wanted:
        if rule.static is not None and not (rule.unless_run and starts):
            for finding in rule.static(subject):
                found.add(finding)
    ran, trouble = [], ""
    for start in starts:
        left = options.limit - (time.monotonic() - began)
        if left <= 0:
            unchecked.append(f"{start.label}: no time left of {options.limit:g} s")
            continue
        run = simulate(subject, start, RunOptions(options.duration, left, control, _log_of(options, subject)))
        if run.trouble and not run.unstable:
            unchecked.append(f"{start.label}: {run.trouble}")
            trouble = trouble or ("" if run.cut else run.trouble)
        ran.append(start.label)
        for rule in wanted:
            if rule.run is not None:
                for finding in rule.run(subject, run):
                    label = start.label if not start.label.startswith("given") else ""
                    found.add(replace(finding, start=label))
    findings = [finding for finding in found.told() if not _is_ignored(finding, ignores)]
    ignored = len(found.findings) - len(findings)
    if options.tries_fixes:
        findings = [
            finding.resolved() if not options.static or finding.rule not in _RUN_RULES else finding
            for finding in findings
        ]
    findings = [replace(finding, propose=None) for finding in findings]
    findings += _unused(ignores, ran, wanted, subject)
    order = {name: place for place, name in enumerate(NAMES)}
    findings.sort(key=lambda finding: (-finding.severity, order[finding.rule]))
    return Report(source, tuple(findings), tuple(unchecked), tuple(ran), trouble, ignored, time.monotonic() - began)


_RUN_RULES = {rule.name for rule in RULES if rule.run is not None and rule.static is None}


def _log_of(options: CheckOptions, subject: Subject) -> str | None:
    """Return the path of the log that is re-simulated; for a saved run the path of the run; None without a log."""
    return options.log or (str(subject.path) if subject.scene.log is not None else None)


def _wanted(options: CheckOptions) -> list[Rule]:
    for name in (*(options.select or ()), *options.extend_select):
        check_rule(name, NAMES, "select")
    usual = [rule.name for rule in RULES if not rule.opt_in] if options.select is None else list(options.select)
    names = {*usual, *options.extend_select}
    return [rule for rule in RULES if rule.name in names]


def _is_ignored(finding: Finding, ignores: list[Ignore]) -> bool:
    covering = [ignore for ignore in ignores if ignore.covers(finding)]
    for ignore in covering:
        ignore.used = True
    return bool(covering)


def _unused(ignores: list[Ignore], ran: list[str], wanted: list[Rule], subject: Subject) -> list[Finding]:
    """Return notes on the scene's ignores that match no finding."""
    known = {rule.name for rule in wanted if rule.static is not None or ran}
    if "unused-ignore" not in {rule.name for rule in wanted}:
        return []
    return [
        Finding(
            "unused-ignore",
            Severity.NOTE,
            f"{ignore} ignores nothing.",
            f"Remove it from {ignore.source}, or look whether its names are still right.",
            (str(ignore),),
        )
        for ignore in ignores
        if not ignore.used and ignore.rule in known and ignore.source not in ("ignore", "per-file-ignores")
    ]


def explain(rule: str) -> str:
    """Return the page of a rule, as text in Markdown without its picture. Raises SceneError for an unknown rule."""
    if rule not in NAMES:
        raise SceneError(f"unknown rule {rule!r}{did_you_mean(rule, NAMES)}; rules: {', '.join(NAMES)}")
    package = __package__.rpartition(".")[0]
    pages = {Path(page.name).stem: page for page in files(f"{package}.rules").iterdir()}
    text = pages[rule].read_text(encoding="utf-8")
    return re.sub(r"!\[.*?\]\(.*?\)\n\n", "", text)


def summary(rule: str) -> str:
    """Return the first sentence of a rule's page."""
    lines = [line for line in explain(rule).splitlines() if line and not line.startswith("#")]
    return lines[0]
