"""Rules about how a run begins and ends: bodies that jam or overlap at the start, and runs that diverge."""

from collections.abc import Callable, Iterator

import numpy as np
from numpy.typing import NDArray

from ..errors import SceneError
from .finding import Finding, Fix, Number, Severity, force_text, in_groups, length_text, listing
from .run import Run, RunOptions, simulate
from .subject import Subject, exclude_element

_LEAST_FORCE, _WEIGHT_PART = 0.1, 0.02
_DEEP, _WEIGHTS, _MANY_WEIGHTS = 1e-3, 3.0, 1000.0
_NEIGHBOURS = 2
"""Largest number of joints between two bodies for which an <exclude> is offered."""
_GONE = 0.02
"""Largest remaining part of a force that counts as no force."""

Jammed = tuple[int, int, float, float, NDArray[np.intp]]
"""Bodies that press on each other: two bodies, mean normal force [N], overlap at the start [m], and rows of the run."""


def self_contact(subject: Subject, run: Run) -> Iterator[Finding]:
    """Yield bodies of one tree that press on each other from the start."""
    roots = subject.model.body_rootid
    for group in in_groups(_jammed(subject, run), lambda each: int(roots[each[0]])):
        group.sort(key=lambda each: -each[2])
        one, other, force, depth, rows = group[0]
        near = [each for each in group if _joints_between(subject, *each[:2]) <= _NEIGHBOURS]
        more = "" if len(group) == 1 else f", and so do {_pairs_text(subject, group[1:])}"
        fixed = subject.fixed[roots[one]] and any(_joints_between(subject, *each[:2]) == 1 for each in group)
        why = " The base has no joint, so MuJoCo's parent-child filter does not apply." if fixed else ""
        row = rows[0]
        yield Finding(
            "self-contact-at-rest",
            Severity.WARNING,
            f"{subject.bodies[one]} and {subject.bodies[other]} press on each other with {force_text(force)}"
            f" while nothing else happens{f' ({length_text(depth)} overlap)' if depth > 0 else ''}{more}.",
            f"If they are meant to touch there, nothing is wrong; else <exclude> them.{why}"
            if near
            else "Their shapes overlap in this state: change the pose, or the shapes.",
            tuple(dict.fromkeys(subject.bodies[body] for each in group for body in each[:2])),
            {"normal force": Number(force, "N"), "overlap": Number(depth, "m")},
            step=0,
            place=subject.place("geom", int(run.geoms[row, 0])),
            propose=_exclude(subject, run, [each[:2] for each in near]) if near else None,
            geoms=tuple(run.geoms[row].tolist()),
        )


def _pairs_text(subject: Subject, pairs: list[Jammed]) -> str:
    return listing([f"{subject.bodies[one]} and {subject.bodies[other]}" for one, other, *_ in pairs])


def _jammed(subject: Subject, run: Run) -> Iterator[Jammed]:
    """Yield pairs of bodies of one tree that press on each other from the start."""
    model = subject.model
    for one, other, rows in run.body_pairs():
        if model.body_rootid[one] != model.body_rootid[other] or model.body_weldid[one] == model.body_weldid[other]:
            continue
        normal = run.total(rows, run.normal)
        if not run.instants or normal[0] <= 0 or (normal > 0).mean() <= 0.5:
            continue
        weight = float(model.body_subtreemass[model.body_rootid[one]]) * 9.81
        if normal.mean() > max(_LEAST_FORCE, _WEIGHT_PART * weight):
            yield one, other, float(normal.mean()), float(-run.dist[rows[run.at[rows] == 0]].min()), rows


def _joints_between(subject: Subject, one: int, other: int) -> int:
    """Return the number of bodies with joints on the path from one body to another of its tree."""
    model = subject.model

    def above(body: int) -> list[int]:
        chain = [body]
        while chain[-1]:
            chain.append(int(model.body_parentid[chain[-1]]))
        return chain

    first, second = above(one), above(other)
    common = next(body for body in first if body in second)
    path = first[: first.index(common)] + second[: second.index(common)]
    return sum(bool(model.body_dofnum[body]) for body in path)


def _exclude(subject: Subject, run: Run, pairs: list[tuple[int, int]]) -> Callable[[], tuple[Fix | None, str]]:
    """Return a function that excludes pairs of bodies, and repeats the run to see whether it helps."""

    def force(jammed: Iterator[Jammed]) -> float:
        return sum(each[2] for each in jammed if each[:2] in pairs)

    def propose() -> tuple[Fix | None, str]:
        try:
            edits = subject.edit_excludes(pairs)
            if not edits:
                return None, ""
            changed = subject.with_edits(edits)
            after = simulate(changed, run.start, RunOptions())
        except SceneError:
            return None, ""
        before, left = force(_jammed(subject, run)), force(_jammed(changed, after))
        if left > _GONE * before or (after.unstable and not run.unstable):
            return None, "An <exclude> was tried and does not help."
        text = " ".join(exclude_element(subject.bodies[one], subject.bodies[other]) for one, other in pairs)
        return Fix(text, True, force_text(before), force_text(left), edits), ""

    return propose


def overlap_at_start(subject: Subject, run: Run) -> Iterator[Finding]:
    """Yield bodies that overlap at the start and are thrown apart.

    In a default state, objects without actuators often overlap until they settle: such findings are notes.
    """
    meant = run.start.key is None and run.start.data is None
    found, jammed = [], {each[:2] for each in _jammed(subject, run)}
    for one, other, rows in run.body_pairs():
        weight = float(min(subject.weights[one], subject.weights[other]))
        first = rows[run.at[rows] == 0]
        if not len(first) or (one, other) in jammed or not np.isfinite(weight) or weight <= 0:
            continue
        depth, force = float(-run.dist[first].min()), float(run.normal[first].sum())
        if depth > _DEEP and force > _WEIGHTS * weight:
            found.append((one, other, depth, force / weight, first[np.argmin(run.dist[first])]))
    found.sort(key=lambda each: -each[2])
    roots = subject.model.body_rootid
    # What stands in one thing, such as the feet of a robot in its floor, has one cause.
    for group in in_groups(found, lambda each: subject.fixed[each[0]] or int(roots[each[0]])):
        one, other, depth, weights, row = group[0]
        a, b = (subject.bodies[body] for body in (other, one))
        a, b = (
            subject.geoms[geom] if name == "world" else name
            for name, geom in zip((a, b), _geoms_of(subject, run, row, other), strict=True)
        )
        more = f" (and {len(group) - 1} more pair{'s' * (len(group) > 2)})" if len(group) > 1 else ""
        yield Finding(
            "overlap-at-start",
            Severity.NOTE if meant and not subject.driven[[one, other]].any() else Severity.WARNING,
            f"{a} starts {length_text(depth)} inside {b}{more}, and is thrown out with {_times(weights)} the"
            f" weight of {'the robot' if subject.driven[other] else 'what it belongs to'}.",
            "Move it apart in this state; a keyframe that was made for another scene is a usual cause.",
            tuple(dict.fromkeys(subject.bodies[body] for each in group for body in each[:2])),
            {"overlap": Number(depth, "m"), "force": Number(weights, "weights")},
            step=0,
            place=subject.place("key", run.start.key) if run.start.key is not None else subject.place("body", other),
            geoms=tuple(run.geoms[row].tolist()),
        )


def _times(weights: float) -> str:
    return f"{weights:.3g} times" if weights < _MANY_WEIGHTS else f"more than {_MANY_WEIGHTS:.0f} times"


def _geoms_of(subject: Subject, run: Run, row: int, body: int) -> tuple[int, int]:
    """Return the two geoms of a row, the geom of `body` first."""
    one, other = run.geoms[row].tolist()
    return (one, other) if subject.model.geom_bodyid[one] == body else (other, one)


def unstable(subject: Subject, run: Run) -> Iterator[Finding]:
    """Yield runs that MuJoCo had to reset."""
    if run.unstable:
        yield Finding(
            "unstable",
            Severity.ERROR,
            f"{run.trouble}.",
            "Look for overlaps at the start, light bodies on stiff joints, and a smaller timestep.",
            (run.start.label,),
            step=run.steps[-1] if run.steps else 0,
        )
