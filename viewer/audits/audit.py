"""Audits a user's function: runs situations, compares the function with the truth, finds its inputs and causes, and
reports."""

import json
import shlex
import tempfile
import time
import traceback
from collections.abc import Mapping, Sequence
from contextlib import closing
from dataclasses import asdict, dataclass, field, replace
from pathlib import Path
from typing import Any
from xml.sax.saxutils import escape, quoteattr

import mujoco
import numpy as np

from ..channels.channel import ChannelName, Samples
from ..engines.controller_file import ControllerFile
from ..errors import SceneError
from ..mjmodel.state import STATE
from ..mjmodel.types import MjModel
from ..processes import Job, Limits, Worker, describe_signal, run_job
from ..scene_files.log_files import read_log
from ..scene_files.run_file import RunWriter
from ..scene_files.scene import find_scene, load_scene
from .causes import ROLES, AuditFinding, Judge, Judgement, Row
from .contact_rules import ContactJudge, GraspJudge
from .evidence import Evidence, find_reads, gather, infer_targets, with_targets
from .force_rules import ForceJudge
from .situations import Situation, Stage
from .term import Caller, TermError, load_term
from .time_rules import TimeJudge
from .truth import ANY, FLOOR, Targets, make_targets

_TRIED = 4
"""Number of control steps in which a term after `reset` is compared with a new one."""
_CONTROLLED = 2.0
"""Simulated time of a run under a user's own controller [s]."""
_JUDGES: Mapping[str, type[Judge]] = {
    "contact": ContactJudge,
    "force": ForceJudge,
    "force-world": ForceJudge,
    "air-time": TimeJudge,
    "grasp": GraspJudge,
}
_MEMORY = 8 * 2**30
_FINDINGS = 2
"""Largest number of findings in a report."""


@dataclass(frozen=True)
class AuditReport:
    """Result of auditing a term.

    Example:
        ```python
        def foot_contact(data):
            return data.sensor("left_foot").data[1] > 1.0

        report = contact_viewer.audit(foot_contact, "walker", of="left_foot")
        if not report.ok:
            print(report)
        ```
    """

    term: str
    """Name of the function or class."""
    understood: str
    """Call of the term, and the quantity that it was compared with, in one line."""
    role: str
    """Quantity that the term was compared with: contact, force, force-world, air-time or grasp."""
    of: tuple[str, ...]
    """Targets, in the order of the term's outputs."""
    findings: tuple[AuditFinding, ...]
    """Disagreements, at most two; empty for a term that is right."""
    reads: tuple[str, ...]
    """Named values that the term depends on."""
    table: tuple[Row, ...]
    """Agreement of each output in each situation."""
    notes: tuple[str, ...] = ()
    """Further remarks for the user."""
    saved: tuple[str, ...] = ()
    """Commands that open a disagreement at its step."""
    seconds: float = 0.0
    """Wall time of the audit [s]."""
    reads_by_output: tuple[tuple[str, ...], ...] = field(default=(), repr=False)
    """Named values on which each output depends."""

    @property
    def ok(self) -> bool:
        """True if nothing was found."""
        return not self.findings

    def __str__(self) -> str:
        lines = [self.understood]
        for finding in self.findings:
            where = f" ({finding.situation}, step {finding.step})" if finding.situation else ""
            lines.append(f"{'wrong: ' if finding.cause else ''}{finding}{where}")
        if not self.findings:
            lines.append(f"ok: agrees with the truth in all {len({row.situation for row in self.table})} situations")
        lines.append(f"reads: {', '.join(self.reads) or 'nothing that was tried'}")
        lines += [*self._table_lines(), *(f"note: {note}" for note in self.notes), *self.saved]
        return "\n".join(lines)

    def _table_lines(self) -> list[str]:
        situations = list(dict.fromkeys(row.situation for row in self.table))
        width = max((len(each) for each in situations), default=0)
        lines = [f"{'situation':{width}}  agreement  missed   false  delay [ms]  chatter  ratio"]
        for situation in situations:
            # Of several outputs the worst.
            rows = [row for row in self.table if row.situation == situation]
            worst = min(rows, key=lambda row: row.agreement)
            missed, false = (_percent(max(getattr(row, name) for row in rows)) for name in ("missed", "false"))
            delay, chatter = 1e3 * max(row.delay for row in rows), max(row.chatter for row in rows)
            parts = f"{situation:{width}}", f"{worst.agreement:9.1%}", missed, false, f"{delay:10.0f}", f"{chatter:7d}"
            lines.append("  ".join((*parts, _ratio(worst.ratio))).rstrip())
        return lines

    def to_json(self) -> dict[str, Any]:
        """Return the report as a JSON object."""
        report: dict[str, Any] = _without_nan(json.loads(json.dumps({**asdict(self), "ok": self.ok})))
        return report

    @classmethod
    def from_json(cls, saved: Mapping[str, Any]) -> "AuditReport":
        """Return the report that `to_json` has written."""
        values = {name: value for name, value in saved.items() if name != "ok"}
        for name in ("of", "reads", "notes", "saved"):
            values[name] = tuple(values[name])
        values["findings"] = tuple(
            AuditFinding(**{**each, "outputs": tuple(each["outputs"])}) for each in values["findings"]
        )
        rows: list[dict[str, Any]] = values["table"]
        known: list[dict[str, Any]] = [
            {key: float("nan") if value is None else value for key, value in row.items()} for row in rows
        ]
        values["table"] = tuple(Row(**row) for row in known)
        values["reads_by_output"] = tuple(tuple(each) for each in values["reads_by_output"])
        return cls(**values)

    def junit(self) -> str:
        """Return the report as JUnit XML: a suite with a failed test for each finding."""
        cases = [
            f"<testcase classname={quoteattr(self.term)} name={quoteattr(finding.cause or 'truth')}>"
            f"<failure message={quoteattr(str(finding))}>{escape(str(self))}</failure></testcase>"
            for finding in self.findings
        ] or [f'<testcase classname={quoteattr(self.term)} name="truth"/>']
        counts = f'tests="{len(cases)}" failures="{len(self.findings)}" errors="0" time="{self.seconds:.3f}"'
        suite = f"<testsuite name={quoteattr(self.term)} {counts}>{''.join(cases)}</testsuite>"
        return f'<?xml version="1.0" encoding="UTF-8"?>\n<testsuites>{suite}</testsuites>'


def _percent(share: float) -> str:
    return f"{share:6.1%}" if np.isfinite(share) else " " * 6


def _ratio(ratio: float) -> str:
    return f"{ratio:5.3g}" if np.isfinite(ratio) else ""


def audit(
    term: Any,
    model: MjModel | str | Path,
    role: str | None = None,
    *,
    of: Mapping[str, str] | Sequence[str] | str | None = None,
    against: str | None = None,
    control_steps: int = 1,
    call: str | None = None,
    lib: str | None = None,
    log: str | Path | None = None,
    control: str | None = None,
    save: str | Path | None = None,
    rel: float = 0.05,
    limit: float = 60.0,
) -> AuditReport:
    """Compare a contact function of your own with the truth, in many situations, and explain its mistakes.

    Args:
        term: A function or class, or `terms.py:feet_contact`, which then runs in a process of its own. Parameters by
            their names: `model`, `data`, `env`, an array of mjData such as `cfrc_ext`, or one array of any other name,
            which is sensordata, (environments, nsensordata). A class is made again, or `reset`, for each situation;
            its `physics_step`, if it has one, is called after every physics step.
        model: A compiled model, which is left as it is, or a scene's file.
        role: `contact`, `force`, `force-world`, `air-time` or `grasp`. Default: by the name of the term and its value.
        of: Bodies, geoms or contact sensors of the outputs, in the order of these: names, or a mapping from the
            outputs' names. For a grasp, the fingers. Default: the contact sensors or feet, if as many as outputs.
        against: Other side of the contacts: `floor` (geoms that never move), `any`, or a name. For a grasp, the object.
        control_steps: Number of physics steps between two calls.
        call: Expression that calls the term, such as `f(data.sensordata, 0.5)`, with `f`, `model`, `data`, `env`.
        lib: Library of the arrays: `numpy`, `torch` or `jax`. Default: by the names in the term's code.
        log: Your own log of states, or a saved run, in place of the built-in situations.
        control: Controller `FILE.py[:NAME]`; runs under its control are added to the situations.
        save: Folder for saved runs of the disagreements.
        rel: Relative error that a force may have.
        limit: Wall time of all calls of the term [s].

    Returns:
        The report; `ok` is true if nothing was found.

    Raises:
        SceneError: The term, the model or an argument cannot be used: one line.

    Example:
        ```python
        import contact_viewer

        def feet_contact(data):
            return data.sensordata[[1, 14, 27, 40]] > 1.0

        report = contact_viewer.audit(feet_contact, "quadruped")
        print(report.ok, *report.findings)
        ```
    """
    if isinstance(of, str):
        of = read_of(of)
    if role is not None and role not in ROLES:
        raise TermError(f"role {role!r} is not one of {', '.join(ROLES)}")
    if control_steps < 1:
        raise TermError("control_steps must be 1 or more")
    options = {
        "role": role,
        "of": None if of is None else dict(of) if isinstance(of, Mapping) else list(of),
        "against": against,
        "control_steps": int(control_steps),
        "call": call,
        "lib": lib,
        "rel": rel,
        "limit": limit,
        "log": None if log is None else str(Path(log).expanduser().absolute()),
        "control": None if control is None else _absolute(control),
        "save": None if save is None else str(Path(save).absolute()),
    }
    if isinstance(term, str):
        return _apart(term, model, options)
    path = None if isinstance(model, MjModel) else find_scene(model)
    return _audit(term, as_model(model), path, options)


def read_of(text: str) -> Mapping[str, str] | list[str]:
    """Return the targets in a text such as `left=left_foot,right=right_foot` or `left_foot,right_foot`."""
    parts = [each.strip() for each in text.split(",") if each.strip()]
    if all("=" in each for each in parts):
        return dict(each.split("=", 1) for each in parts)
    return parts


def _absolute(text: str) -> str:
    """Return a file, or a file and a name in it, with an absolute path."""
    path, colon, name = text.rpartition(":")
    return f"{Path(path).absolute()}:{name}" if colon and name.isidentifier() else str(Path(text).absolute())


def as_model(model: MjModel | str | Path) -> MjModel:
    """Return a compiled model, or that of a scene's file. Raises SceneError with a message of one line."""
    if isinstance(model, MjModel):
        return model
    path = find_scene(model)
    try:
        return (
            mujoco.MjModel.from_binary_path(str(path))
            if path.suffix == ".mjb"
            else mujoco.MjModel.from_xml_path(str(path))
        )
    except Exception as error:
        raise SceneError(f"{path}: {' '.join(str(error).split())}") from None


def _apart(term: str, model: MjModel | str | Path, options: Mapping[str, Any]) -> AuditReport:
    """Audit in a separate process, because the term may crash or hang."""
    file, _, name = term.rpartition(":")
    if not file or not name.isidentifier():
        raise TermError(f"{term}: name the term as FILE.py:FUNCTION")
    with tempfile.TemporaryDirectory(prefix="contact-viewer-") as folder:
        if isinstance(model, MjModel):
            path = Path(folder, "model.mjb")
            mujoco.mj_saveModel(model, str(path))
        else:
            path = find_scene(model)
        request = {
            "term": f"{Path(file).absolute()}:{name}",
            "model": str(path),
            "options": options,
            "folder": str(Path.cwd()),
        }
        limits = Limits(2 * float(options["limit"]) + 60.0, _MEMORY)
        with closing(Worker("contact_viewer.audits.audit", request, limits)) as worker:
            worker.wait()
            if worker.timed_out:
                raise TermError(f"{term} did not end within {limits.time:.0f} s")
            if worker.over_memory:
                raise TermError(f"{term} filled more than {_MEMORY / 2**30:.0f} GB")
            if not worker.results:
                ended = describe_signal(worker.exit_code) or f"code {worker.exit_code}"
                last = worker.stderr.splitlines()[-1:] or ["no message"]
                raise TermError(f"{term} ended its process ({ended}): {last[0]}")
            (result,) = worker.results
    if "error" in result:
        raise TermError(result["error"])
    return AuditReport.from_json(result)


def _work(job: Job) -> None:
    """Audit the term of a request, and reply with the report or with one line."""
    request = job.request
    try:
        import os

        os.chdir(request["folder"])
        term = load_term(request["term"])
        path = Path(request["model"])
        job.reply(_audit(term, as_model(path), path, request["options"]).to_json())
    except SceneError as error:
        job.reply({"error": str(error)})
    except MemoryError:
        # The process is ended for it, with a line of its own.
        raise
    except Exception as error:
        # The user's code runs guarded, and its errors are lines already.
        last = traceback.extract_tb(error.__traceback__)[-1]
        where = f"{Path(last.filename).name}:{last.lineno}"
        message = " ".join(f"{type(error).__name__}: {error}".split())
        job.reply({"error": f"the audit itself failed at {where}, not your code: {message}; please report it as a bug"})


def _without_nan(value: Any) -> Any:
    if isinstance(value, dict):
        return {key: _without_nan(each) for key, each in value.items()}
    if isinstance(value, list):
        return [_without_nan(each) for each in value]
    return None if isinstance(value, float) and not np.isfinite(value) else value


def _audit(term: Any, model: MjModel, path: Path | None, options: Mapping[str, Any]) -> AuditReport:
    began = time.monotonic()
    every, role, of, against = options["control_steps"], options["role"], options["of"], options["against"]
    stage = Stage(model)
    caller = Caller(term, model, every * model.opt.timestep, options["call"], options["lib"], options["limit"])
    mujoco.mj_rnePostConstraint(model, stage.data)
    caller.understand(stage.data)
    first = caller.probe(stage.data)
    caller.restart()
    role = role or _guess_role(caller.name, first, caller)
    notes: list[str] = []
    candidates = _find_targets(stage, role, of, against, first)
    targets = candidates[0]
    if (
        role in ("contact", "force", "air-time")
        and of is not None
        and first.size not in (1, len(targets.names), 3 * len(targets.names))
    ):
        raise TermError(
            f"{caller.name} returned {first.size} values, but `of` names {len(targets.names)}: "
            f"{', '.join(targets.names)}"
        )
    situations = _situations(stage, role, targets, options)
    evidence = gather(stage, caller, targets, situations, every)
    if np.isnan(evidence.values).any():
        notes.append(f"{np.isnan(evidence.values).mean():.0%} of its values are not numbers")
    differs = _reset_differs(caller, evidence)
    reads = find_reads(caller, evidence)
    if any(read.name.startswith("cfrc") for read in reads):
        notes.append("cfrc_ext and cfrc_int are filled by mj_rnePostConstraint, which mj_step does not call")
        notes += ["cfrc_ext has the forces of equality constraints too, not of contacts alone"] if model.neq else []

    def judge_of(each: Evidence) -> tuple[Judge, Judgement]:
        judge = _JUDGES[role](each, role, reads, differs, float(options["rel"]), against is not None)
        return judge, judge.decide()

    judge, judgement = judge_of(evidence)
    for other in candidates[1:] if judgement.findings else ():
        # In the worst situation first, which tells most of them apart.
        if judge_of(with_targets(evidence, other, judgement.findings[0].situation or None))[1].findings:
            continue
        again, second = judge_of(with_targets(evidence, other))
        if not second.findings:
            # The term means something else than was guessed, and is right about it.
            judge, judgement, targets = again, second, other
            break
    # What else is wrong beside a named cause may follow from it.
    findings = ([each for each in judgement.findings if each.cause] or judgement.findings)[:_FINDINGS]
    saved = _save(judge, findings, path, Path(options["save"]), caller.name) if options["save"] and findings else ()
    pace = f"every {every} physics steps" if every > 1 else "every physics step"
    understood = f"{caller.plan}; {role} of {', '.join(targets.names)} against {targets.other}, {pace}"
    outputs = max((max(read.outputs, default=0) for read in reads), default=-1) + 1
    return AuditReport(
        caller.name,
        understood,
        role,
        targets.names,
        tuple(findings),
        tuple(read.name for read in reads),
        tuple(judgement.rows),
        (*notes, *judgement.notes),
        tuple(saved),
        time.monotonic() - began,
        tuple(tuple(read.name for read in reads if k in read.outputs) for k in range(outputs)),
    )


def _guess_role(name: str, value: np.ndarray[Any, Any], caller: Caller) -> str:
    """Return the role of a term, guessed from its name, else from the values that it returns."""
    words = name.lower()
    if any(word in words for word in ("grasp", "grip", "pinch", "held", "holding")):
        return "grasp"
    if any(word in words for word in ("air_time", "airtime", "air", "swing")):
        return "air-time"
    if any(word in words for word in ("force", "load", "grf", "weight", "pressure")):
        return (
            "force-world" if value.ndim and value.shape[-1] == 3 and (value.ndim > 1 or "world" in words) else "force"
        )
    if any(word in words for word in ("contact", "touch", "stance", "ground", "landed", "feet", "foot")) or set(
        np.unique(value).tolist()
    ) <= {0.0, 1.0}:
        return "contact"
    raise TermError(f"{name}: give its role with --as (role=): {', '.join(ROLES)}")


def _find_targets(stage: Stage, role: str, of: Any, against: str | None, first: np.ndarray[Any, Any]) -> list[Targets]:
    """Return the targets of a term; if they are not given, also others that it may mean: other geoms, or all
    contacts."""
    if role == "grasp":
        if of is None or against is None or against in (FLOOR, ANY):
            raise TermError(
                "a grasp needs its fingers and its object: --of left_finger,right_finger --against cube "
                "(in Python of=['left_finger', 'right_finger'], against='cube')"
            )
        return [make_targets(stage.model, of, against)]
    sides = [against] if against is not None else [FLOOR, ANY]
    if of is not None:
        return [make_targets(stage.model, of, side) for side in sides]
    count = first.size // 3 if role == "force-world" or (role == "force" and first.ndim > 1) else first.size
    try:
        found = infer_targets(stage, count if count > 1 else 0 if first.ndim == 0 else count, sides[0])
    except TermError:
        if count != 1:
            raise
        found = infer_targets(stage, 0, sides[0])
    return [*found, *(replace(each, other=ANY, against=~each.members) for _ in sides[1:] for each in found)]


def _situations(stage: Stage, role: str, targets: Targets, options: Mapping[str, Any]) -> list[Situation]:
    if options["log"] is not None:
        log = read_log(options["log"], stage.model)
        if len(log) < 2:
            raise TermError(f"{options['log']}: has no steps")
        size = mujoco.mj_stateSize(stage.model, STATE)
        start = np.empty(size)
        mujoco.mj_getState(stage.model, stage.data, start, STATE)
        states = np.tile(start if log.rest is None else log.rest[:size], (len(log), 1))
        inside = log.columns < size
        states[:, log.columns[inside]] = log.values[:, inside]
        return [stage.logged(list(states))]
    found: list[Situation] = []
    if options["control"] is not None:
        controller = ControllerFile(options["control"]).load()
        found += stage.controlled(controller.control, _CONTROLLED)
    if role == "grasp":
        return [*found, *stage.keyframes(), *stage.grasps(list(targets.members), targets.against[0])]
    # A scene without a robot that could fall is looked at as its program starts it.
    return [*found, *stage.situations(options["control_steps"]), *(stage.keyframes() if not stage.can_fall else ())]


def _reset_differs(caller: Caller, evidence: Evidence) -> bool:
    """Return True if a term after `reset` gives other values than a new one in the same states."""
    if not caller._is_class or not hasattr(caller._target, "reset"):
        return False
    ordered = sorted(evidence.snapshots, key=lambda each: int(each.ncon))
    for used in (ordered, ordered[::-1]):
        # Used until it is in the air, or in contact, so that timers and flags have values.
        for data in (*used, *used[-2:]):
            caller.probe(data)
        caller.restart()
        new = caller.fresh()
        for data in (*ordered[:_TRIED], *ordered[-_TRIED:]):
            if not np.allclose(caller.probe(data), new.probe(data), rtol=1e-5, atol=1e-7, equal_nan=True):
                return True
    return False


def _save(judge: Judge, findings: Sequence[AuditFinding], path: Path | None, folder: Path, name: str) -> list[str]:
    """Save the situation of each finding, with the term's values beside the truth; return commands that open them."""
    evidence, blocks = judge.e, list(judge.e.blocks())
    commands = []
    for finding in findings:
        if not finding.situation:
            continue
        number = evidence.situations.index(finding.situation)
        states, block = evidence.states[number], blocks[number]
        ends = np.arange(1, block.stop - block.start + 1) * evidence.every * evidence.timestep + states[0][0]
        channels = [
            Samples(ChannelName(f"{name} of {target}/{label}", unit), ends, values[block].astype(np.float64))
            for target, unit, *both in judge.shown
            for label, values in zip(("value", "truth"), both, strict=True)
        ]
        file = folder / f"{name}-{finding.cause or 'disagreement'}.cvrun"
        save_states(file, evidence.model, states, path, channels)
        instant = states[0][0] + finding.step * evidence.timestep
        commands.append(f"contact-viewer {shlex.quote(str(file))} --go-to {instant:.6g}")
    return commands


def save_states(
    file: Path,
    model: MjModel,
    states: Sequence[np.ndarray[Any, Any]] | np.ndarray[Any, Any],
    path: Path | None = None,
    channels: Sequence[Samples] = (),
) -> None:
    """Save steps as a run that opens as a scene. Raises SceneError if it cannot be written.

    Args:
        file: The saved run.
        model: Model of the steps.
        states: States from which steps start, and the last one.
        path: The scene's file, if there is one.
        channels: Values over time.
    """
    file.parent.mkdir(parents=True, exist_ok=True)
    companions: Mapping[int, int] = {}
    if path is not None and path.suffix != ".mjb":
        scene = load_scene(path)
        if mujoco.mj_stateSize(scene.model, STATE) == mujoco.mj_stateSize(model, STATE):
            model, companions = scene.model, scene.companions
    rows = np.array(states)
    about = {
        "scene": path.name if path else None,
        "companions": list(companions.items()),
        "hidden": [],
        "version": 0,
        "changes": [],
        "watch_all": False,
        "steps": len(rows) - 1,
    }
    writer = RunWriter(file, model, about, np.arange(rows.shape[1]), rows[0], channels=channels)
    try:
        writer.add(rows)
        writer.finish()
    except BaseException:
        writer.discard()
        raise


if __name__ == "__main__":
    run_job(_work)
