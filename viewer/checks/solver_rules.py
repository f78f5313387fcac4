"""Rules about the effect of the solver on a scene: softer contacts, early stops, other versions of MuJoCo."""

import copy
from collections.abc import Iterator

import mujoco
import numpy as np
from numpy.typing import NDArray

from ..errors import SceneError
from ..mjmodel.matching import contact_forces
from ..mjmodel.state import STATE
from ..mjmodel.types import MjData, MjModel
from .finding import Finding, Fix, Number, Severity, family, in_groups, listing
from .run import Run
from .subject import Subject

Values = NDArray[np.float64]
_REFSAFE = int(mujoco.mjtDisableBit.mjDSBL_REFSAFE)
_WORST, _MEDIAN = 0.05, 0.01
_ENOUGH, _EXACT = 300, 1e-12
_TRIALS = (2, 3, 5, 10, 20, 50, 100)
_LEAST_FORCE = 1e-3
"""Smallest sum of contact forces that is judged, relative to the scene's weight."""
_BOX, _MESH = int(mujoco.mjtGeom.mjGEOM_BOX), int(mujoco.mjtGeom.mjGEOM_MESH)
_CYLINDER = int(mujoco.mjtGeom.mjGEOM_CYLINDER)


def stiff(subject: Subject) -> Iterator[Finding]:
    """Yield contacts with a time constant below two time steps."""
    model = subject.model
    dt = float(model.opt.timestep)
    meets = np.zeros(model.ngeom, bool)
    meets[np.unique(subject.pairs)] = True
    geoms = np.flatnonzero(meets & (model.geom_solref[:, 0] > 0) & (model.geom_solref[:, 0] < 2 * dt * (1 - 1e-9)))
    pairs = np.flatnonzero((model.pair_solref[:, 0] > 0) & (model.pair_solref[:, 0] < 2 * dt * (1 - 1e-9)))
    if not len(geoms) and not len(pairs):
        return
    clamps = not model.opt.disableflags & _REFSAFE
    values = np.concatenate([model.geom_solref[geoms, 0], model.pair_solref[pairs, 0]])
    asked, names = float(values.min()), [subject.geoms[geom] for geom in geoms.tolist()]
    names += [f"pair {subject.geoms[model.pair_geom1[i]]} {subject.geoms[model.pair_geom2[i]]}" for i in pairs.tolist()]
    acts = (
        f"at a step of {1e3 * dt:g} ms MuJoCo silently uses {2e3 * dt:g} ms"
        if clamps
        else f"below {2e3 * dt:g} ms, two steps, contacts throw things out (refsafe is off)"
    )
    yield Finding(
        "stiff-for-the-timestep",
        Severity.NOTE if clamps else Severity.WARNING,
        f"{listing(names)} {'asks' if len(names) == 1 else 'ask'} for a contact time constant of {1e3 * asked:g} ms:"
        f" {acts}.",
        f'solref="{2 * dt:g} ..." is what acts; a smaller timestep makes contacts harder.',
        tuple(names),
        {"solref": Number(asked, "s"), "acts": Number(2 * dt if clamps else asked, "s")},
        place=subject.place("geom", int(geoms[0])) if len(geoms) else subject.place("pair", int(pairs[0])),
    )


def stops_early(subject: Subject, run: Run) -> Iterator[Finding]:
    """Yield contact forces that more iterations of the solver would change."""
    model = subject.model
    if not run.states or run.unstable:
        return
    data = mujoco.MjData(model)
    limit = int(model.opt.iterations)
    hit: list[tuple[Values, Values]] = []
    for state in run.states:
        forces = _forces_at(model, data, state)
        if data.ncon and int(np.max(data.solver_niter, initial=0)) >= limit:
            hit.append((state, forces))
    if not hit:
        return
    exact = copy.copy(model)
    exact.opt.iterations, exact.opt.tolerance, exact.opt.ls_iterations = (
        _ENOUGH,
        _EXACT,
        max(50, model.opt.ls_iterations),
    )
    weight = float(model.body_subtreemass[0]) * 9.81
    truths = [_forces_at(exact, data, state) for state, _ in hit]
    known = [
        (state, forces, truth)
        for (state, forces), truth in zip(hit, truths, strict=True)
        if forces.shape == truth.shape
    ]
    known = [each for each in known if np.linalg.norm(each[2]) > _LEAST_FORCE * weight]
    if not known:
        return
    errors = np.array([_error(forces, truth) for _, forces, truth in known])
    missing = len(run.states) - len(errors)
    worst, median = float(errors.max()), float(np.median(np.append(errors, np.zeros(missing))))
    if worst <= _WORST and median <= _MEDIAN:
        return

    def propose() -> tuple[Fix | None, str]:
        for iterations in (each for each in _TRIALS if each > limit):
            more = copy.copy(model)
            more.opt.iterations = iterations
            left = max(_error(_forces_at(more, data, state), truth) for state, _, truth in known)
            if left <= _WORST:
                try:
                    edits = subject.edit_options({"iterations": str(iterations)})
                except SceneError:
                    edits = ()
                return Fix(f'iterations="{iterations}"', False, f"{worst:.0%} off", f"{left:.1%} off", edits), ""
        return None, f"{_TRIALS[-1]} iterations were tried, and do not suffice."

    yield Finding(
        "solver-stops-early",
        Severity.NOTE,
        f'with iterations="{limit}" contact forces are up to {worst:.0%} off (median {median:.0%}):'
        " the solver stops before it is done.",
        "Usual for fast training; not for forces that are read.",
        ("option",),
        {"worst": Number(worst), "median": Number(median)},
        place=subject.option_place("iterations"),
        propose=propose,
    )


def _forces_at(model: MjModel, data: MjData, state: Values) -> Values:
    """Return the contact forces of a state [N], contact frame, (contacts, 3)."""
    mujoco.mj_setState(model, data, state, STATE)
    mujoco.mj_forward(model, data)
    return contact_forces(model, data, np.arange(data.ncon))[:, :3]


def _error(forces: Values, truth: Values) -> float:
    if forces.shape != truth.shape:
        return 0.0
    return float(np.linalg.norm(forces - truth) / max(float(np.linalg.norm(truth)), 1e-12))


def other_versions(subject: Subject) -> Iterator[Finding]:
    """Yield contacts that differ between two versions of MuJoCo."""
    if subject.versions is None or not len(subject.pairs):
        return
    first, last = (_version(text) for text in subject.versions)
    model, pairs = subject.model, subject.pairs
    types, margins = model.geom_type[pairs], model.geom_margin[pairs]
    gaps = (model.geom_gap[pairs] > 0).any(axis=1)
    mocap = np.isin(model.body_weldid, np.flatnonzero(model.body_mocapid >= 0))
    rules = (
        ("3.5", (margins > 0).all(axis=1), "margins of two geoms are added; before, the larger counted"),
        ("3.4", (types == _BOX).all(axis=1), "boxes meet boxes in other contact points"),
        ("3.8", np.isin(types, (_MESH, _CYLINDER)).any(axis=1), "meshes and cylinders have several contact points"),
        ("3.9", gaps, "a gap lies beyond the margin; before, within it: to keep distances, subtract gap from margin"),
        ("3.12", (types == _BOX).all(axis=1), "boxes meet boxes in other contact points"),
        ("3.12", mocap[model.geom_bodyid[pairs]].any(axis=1), "mocap bodies are a weld group of their own"),
        ("4.0", (types == _CYLINDER).any(axis=1), "cylinders have four contact points"),
    )
    said = [
        (name, what, pairs[mask][0], int(mask.sum()))
        for name, mask, what in rules
        if first < _version(name) <= last and mask.any()
    ]
    if not said:
        return
    parts = [f"{name}: {what} ({count} pairs, such as {_pair_text(subject, pair)})" for name, what, pair, count in said]
    groups = in_groups(parts, family)
    yield Finding(
        "version-changes-contact",
        Severity.NOTE,
        f"between MuJoCo {' and '.join(subject.versions)} contacts change: {'; '.join(group[0] for group in groups)}.",
        "Compare runs of both versions before trusting old results.",
        ("mujoco",),
    )


def _pair_text(subject: Subject, pair: NDArray[np.intp]) -> str:
    return " and ".join(subject.geoms[geom] for geom in pair.tolist())


def _version(text: str) -> tuple[int, ...]:
    return tuple(int(part) for part in text.split(".")[:2])
