"""Rules about friction: coefficients without effect, problems of pyramidal cones, and contacts that creep."""

from collections.abc import Callable, Iterator
from dataclasses import dataclass

import mujoco
import numpy as np
from numpy.typing import NDArray

from ..errors import SceneError
from ..mjmodel.mixing import find_declared_pairs, mix_friction
from .finding import Finding, Fix, Number, Severity, in_groups, listing, speed_text
from .run import Run, RunOptions, simulate
from .subject import Start, Subject

_USUAL = 1.0
"""MuJoCo's default sliding friction; a geom with this value counts as one whose friction was not set."""
_NO_EFFECT = 0.9
_TOO_LARGE = 3.0
_PYRAMIDAL = int(mujoco.mjtCone.mjCONE_PYRAMIDAL)
_ELLIPTIC = int(mujoco.mjtCone.mjCONE_ELLIPTIC)
_OVERRIDE = int(mujoco.mjtEnableBit.mjENBL_OVERRIDE)
_BETTER = 3.0
"""Factor by which a fix must slow a creep down to count."""


def ineffective_friction(subject: Subject) -> Iterator[Finding]:
    """Yield geoms whose friction cannot affect the geoms they stand on; only a run shows whether they touch."""
    pairs = subject.pairs
    yield from _mixing(subject, pairs, Severity.NOTE)


def friction_in_contact(subject: Subject, run: Run) -> Iterator[Finding]:
    """Yield geoms whose friction had no effect in contacts with a force."""
    pressed = (run.normal > 0) & (run.geoms >= 0).all(axis=1)
    pairs = np.unique(np.sort(run.geoms[pressed], axis=1), axis=0)
    yield from _mixing(subject, pairs, Severity.WARNING)


def _mixing(subject: Subject, pairs: NDArray[np.intp], severity: Severity) -> Iterator[Finding]:
    model = subject.model
    if not len(pairs) or model.opt.enableflags & _OVERRIDE:
        return
    # The geom that does not move first.
    fixed = subject.fixed[model.geom_bodyid[pairs]]
    pairs = np.where(fixed[:, 1:] & ~fixed[:, :1], pairs[:, ::-1], pairs)
    fixed = subject.fixed[model.geom_bodyid[pairs]]
    pairs = pairs[fixed[:, 0] & ~fixed[:, 1]]
    if not len(pairs):
        return
    condim, _ = mix_friction(model, pairs)
    ground, moving = model.geom_friction[pairs, 0].T
    equal = model.geom_priority[pairs[:, 0]] == model.geom_priority[pairs[:, 1]]
    declared = find_declared_pairs(model, pairs) >= 0
    lost = equal & ~declared & (condim >= 3) & (moving < _NO_EFFECT * ground) & (moving != _USUAL)
    if lost.any():
        yield _mixing_finding(subject, pairs[lost], severity)
    yield from _pair_friction(subject, pairs[declared])


def _mixing_finding(subject: Subject, pairs: NDArray[np.intp], severity: Severity) -> Finding:
    model = subject.model
    grounds, geoms = (np.unique(column) for column in pairs.T)
    values, wins = model.geom_friction[geoms, 0], float(model.geom_friction[grounds, 0].max())
    names = [subject.geoms[geom] for geom in geoms.tolist()]
    shown = sorted(set(values.tolist()))
    text = f"{shown[0]:g}" if len(shown) == 1 else f"{shown[0]:g} to {shown[-1]:g}"
    floor = listing([subject.geoms[ground] for ground in grounds.tolist()])

    def propose() -> tuple[Fix | None, str]:
        level = str(int(model.geom_priority[grounds].max()) + 1)
        edits = subject.edit_elements("geom", geoms.tolist(), {"priority": level})
        if not edits:
            return None, ""
        try:
            changed = subject.with_edits(edits).model
            _, after = mix_friction(changed, pairs)
        except (SceneError, IndexError):
            return None, ""
        if changed.ngeom != model.ngeom or not np.allclose(after[:, 0], model.geom_friction[pairs[:, 1], 0]):
            return None, ""
        return Fix(f'priority="{level}" on them', False, f"friction {wins:g}", f"friction {text}", edits), ""

    could = "has no effect" if severity is Severity.WARNING else "would have no effect"
    return Finding(
        "friction-mixing",
        severity,
        f"{listing(names)} {'has' if len(names) == 1 else 'have'} friction {text}; on {floor} ({wins:g}) it {could}:"
        " of equal priorities the larger counts.",
        f'Randomising it changes nothing. priority="1" on {"it" if len(names) == 1 else "them"} makes it count.',
        tuple(names),
        {"friction": Number(float(values.min())), "in force": Number(wins)},
        place=subject.place("geom", int(geoms[0])),
        propose=propose,
        geoms=(int(pairs[0, 1]), int(pairs[0, 0])),
    )


def _pair_friction(subject: Subject, pairs: NDArray[np.intp]) -> Iterator[Finding]:
    """Yield geoms with a friction of their own whose contacts use the different friction of a <pair>."""
    model = subject.model
    places = find_declared_pairs(model, pairs)
    own = model.geom_friction[pairs[:, 1], 0]
    other = np.flatnonzero((own != model.pair_friction[places, 0]) & (own != _USUAL) & (model.pair_dim[places] >= 3))
    if not len(other):
        return
    names = [subject.geoms[geom] for geom in np.unique(pairs[other, 1]).tolist()]
    first = int(places[other[0]])
    yield Finding(
        "friction-mixing",
        Severity.NOTE,
        f"{listing(names)}: a <pair> gives the friction ({model.pair_friction[first, 0]:g}), not the geom"
        f" ({own[other[0]]:g}).",
        "Change the pair's friction (pair_friction): the geoms' has no effect there.",
        tuple(names),
        place=subject.place("pair", first),
    )


def too_large(subject: Subject) -> Iterator[Finding]:
    """Yield geoms whose friction is so large that bodies sink with pyramidal cones."""
    model = subject.model
    if model.opt.cone != _PYRAMIDAL or not len(subject.pairs):
        return
    rough = np.flatnonzero(model.geom_friction[:, 0] > _TOO_LARGE)
    some = subject.pairs[np.isin(subject.pairs, rough).any(axis=1)]
    if model.npair:
        some = np.concatenate([some, np.stack([model.pair_geom1, model.pair_geom2], axis=1)])
    if not len(some):
        return
    condim, friction = mix_friction(model, some)
    acting = np.flatnonzero((friction[:, 0] > _TOO_LARGE) & (condim >= 3))
    if not len(acting):
        return
    worst = some[acting[np.argmax(friction[acting, 0])]]
    value = float(friction[acting, 0].max())
    geom = int(worst[np.argmax(model.geom_friction[worst, 0])])
    names = [
        subject.geoms[each] for each in np.unique(some[acting]).tolist() if model.geom_friction[each, 0] > _TOO_LARGE
    ]

    def propose() -> tuple[Fix | None, str]:
        # Measured on a box of its own: the run may have nothing on that geom.
        before, after = sink_depth(value, _PYRAMIDAL), sink_depth(value, _ELLIPTIC)
        edits = subject.edit_options({"cone": "elliptic"})
        if after >= before or not edits:
            return None, ""
        return Fix('cone="elliptic"', False, f"{before * 1e3:.3g} mm", f"{after * 1e3:.3g} mm", edits), ""

    yield Finding(
        "friction-too-large",
        Severity.WARNING,
        f"{listing(names) or subject.geoms[geom]} has sliding friction {value:g}: with pyramidal cones contacts are"
        f" softer by its square, and a 1 kg box sinks {sink_depth(value, _PYRAMIDAL) * 1e3:.3g} mm.",
        'Use cone="elliptic", or a friction of at most 2.',
        tuple(names) or (subject.geoms[geom],),
        {"friction": Number(value)},
        place=subject.place("geom", geom),
        propose=propose,
    )


def sink_depth(friction: float, cone: int) -> float:
    """Return how deep a box of 1 kg sinks into a plane by the steady state of MuJoCo's contact model [m]."""
    model = mujoco.MjModel.from_xml_string(
        '<mujoco><option timestep="0.002"/><worldbody>'
        f'<geom type="plane" size="1 1 1" friction="{friction:g}"/>'
        '<body pos="0 0 0.05"><freejoint/><geom type="box" size="0.05 0.05 0.05" mass="1"/></body>'
        "</worldbody></mujoco>"
    )
    model.opt.cone = cone
    from ..engines.registry import open_engine

    engine = open_engine(model)
    engine.step(500)
    return max(0.0, 0.05 - float(engine.pose().qpos[2]))


def impratio(subject: Subject) -> Iterator[Finding]:
    """Yield an impratio that, with pyramidal cones, stiffens normal forces too."""
    ratio = float(subject.model.opt.impratio)
    if subject.model.opt.cone == _PYRAMIDAL and ratio > 1 and len(subject.pairs):
        yield Finding(
            "impratio-with-pyramids",
            Severity.NOTE,
            f'impratio="{ratio:g}" with pyramidal cones hardens the normal force too, and helps less against creep.',
            'Use cone="elliptic", and enough solver iterations for it.',
            ("option",),
            {"impratio": Number(ratio)},
            place=subject.option_place("impratio"),
        )


@dataclass(frozen=True)
class _Creep:
    """Contact that does not slide, but creeps."""

    body1: int
    body2: int
    speed: float
    """Speed of the creep [m/s]."""
    use: float
    """Used part of the possible friction force, 0 to 1."""
    normal: float
    """Normal force [N]."""
    rows: NDArray[np.intp]


def creep(subject: Subject, run: Run) -> Iterator[Finding]:
    """Yield contacts that creep: they move although their friction force is far from its limit."""
    found = _creeping(subject, run)
    for group in in_groups(found, lambda each: _mover(subject, each)):
        worst = max(group, key=lambda each: each.speed)
        mover = _mover(subject, worst)
        others = [_beside(subject, run, each, _tree(subject, mover)) for each in group]
        moving = worst.body2 if worst.body2 in _tree(subject, mover) else worst.body1
        row = worst.rows[-1]
        yield Finding(
            "friction-creep",
            Severity.WARNING,
            f"{subject.bodies[moving]} is held with {worst.use:.0%} of the friction it could have, and still creeps at"
            f" {speed_text(worst.speed)} along {listing(others)}: MuJoCo's friction is soft.",
            "",
            tuple(dict.fromkeys((subject.bodies[moving], *others))),
            {
                "slip": Number(worst.speed, "m/s"),
                "friction use": Number(worst.use),
                "normal force": Number(worst.normal, "N"),
            },
            step=run.steps[int(run.at[row])],
            place=subject.place("body", moving),
            propose=_creep_fixes(subject, run, worst),
            geoms=tuple(run.geoms[row].tolist()),
        )


def _mover(subject: Subject, creep: _Creep) -> int:
    """Return the root body of the held tree: the tree without actuators, else the lighter one."""
    pair = [body for body in (creep.body1, creep.body2) if not subject.fixed[body]]
    return int(subject.model.body_rootid[min(pair, key=lambda body: (subject.driven[body], subject.weights[body]))])


def _beside(subject: Subject, run: Run, creep: _Creep, held: set[int]) -> str:
    """Return the name of the other side of a held tree's creep: a body, or a geom if that body is the world."""
    body = creep.body1 if creep.body2 in held else creep.body2
    if body:
        return subject.bodies[body]
    geoms = run.geoms[creep.rows[-1]].tolist()
    return subject.geoms[next(geom for geom in geoms if subject.model.geom_bodyid[geom] == 0)]


def _tree(subject: Subject, root: int) -> set[int]:
    return set(np.flatnonzero(subject.model.body_rootid == root).tolist())


def _creeping(subject: Subject, run: Run, anything: bool = False) -> list[_Creep]:
    half = run.instants // 2
    if run.instants < 20 or run.unstable:
        return []
    model, found = subject.model, []
    for one, other, rows in run.body_pairs():
        if model.body_rootid[one] == model.body_rootid[other] and not subject.fixed[one]:
            continue
        late = rows[run.at[rows] >= half]
        weight = float(min(subject.weights[one], subject.weights[other]))
        if not len(late) or not np.isfinite(weight):
            continue
        normal = run.total(late, run.normal)[half:]
        if (normal > 0).mean() <= 0.9 or not normal.mean() < 20 * weight:
            continue
        force = run.normal[late]
        total = force.sum()
        use = float((run.use[late] * force).sum() / total)
        on_cone = float(force[run.use[late] > 0.999].sum() / total)
        tangential = run.total(late, run.tangential)[half:].mean()
        if use >= 0.9 or on_cone >= 0.05 or tangential <= 0.05 * weight:
            continue
        if float(np.average(run.turning[late], weights=force)) >= 0.02 or _overlaps(subject, run, rows, weight):
            continue
        instant = run.at[late] - half
        slip = (
            np.stack(
                [np.bincount(instant, run.slip[late, axis] * force, minlength=len(normal)) for axis in range(3)], axis=1
            )
            / np.maximum(normal, 1e-12)[:, np.newaxis]
        )
        speeds = np.linalg.norm(slip, axis=1)
        mean, quarter = float(speeds.mean()), len(speeds) // 2
        passive = not (subject.driven[one] and not subject.fixed[one]) and not subject.fixed[one]
        passive |= not subject.driven[other] and not subject.fixed[other]
        steady = np.linalg.norm(slip.mean(axis=0)) > 0.9 * mean
        even = abs(speeds[:quarter].mean() - speeds[quarter:].mean()) <= 0.2 * mean
        if (1e-4 if passive else 1e-3) < mean < 0.05 and steady and even:
            found.append(_Creep(one, other, mean, use, float(normal.mean()), late))
    return found


def _overlaps(subject: Subject, run: Run, rows: NDArray[np.intp], weight: float) -> bool:
    """Return True if two bodies overlap at the start, and push each other out."""
    first = rows[run.at[rows] == 0]
    return bool(len(first) and run.dist[first].min() < -1e-3 and run.normal[first].sum() > 3 * weight)


def _creep_fixes(subject: Subject, run: Run, worst: _Creep) -> Callable[[], tuple[Fix | None, str]]:
    """Return a function that tries the known fixes, each in the run that showed the creep."""

    def propose() -> tuple[Fix | None, str]:
        if run.start.data is not None and subject.engine is None:
            return None, ""
        opt = subject.model.opt
        ratio = max(10.0, float(opt.impratio))
        trials: list[tuple[str, dict[str, float], dict[str, str]]] = []
        if opt.cone == _PYRAMIDAL or opt.impratio < 10:
            options: dict[str, float] = {"cone": _ELLIPTIC, "impratio": ratio}
            written = {"cone": "elliptic", "impratio": f"{ratio:g}"}
            trials.append((_as_text(written), options, written))
            if opt.iterations < 100:
                more = {**written, "iterations": "100"}
                trials.append((_as_text(more), {**options, "iterations": 100}, more))
        if opt.noslip_iterations < 3:
            trials.append(('noslip_iterations="3"', {"noslip_iterations": 3}, {"noslip_iterations": "3"}))
        tried, best = [], None
        for text, values, written in trials:
            speed, outcome = _speed_with(subject, run.start, worst, values)
            tried.append(f"{text}: {outcome}")
            if speed is not None and speed * _BETTER < worst.speed and (best is None or speed < best[0] / 2):
                best = speed, text, written
        said = f"Tried: {'; '.join(tried)}." if tried else ""
        if best is None:
            return None, f"{said} None of these helps here." if tried else ""
        try:
            edits = subject.edit_options(best[2])
        except SceneError:
            edits = ()
        return Fix(best[1], False, speed_text(worst.speed), speed_text(best[0]), edits), said

    return propose


def _as_text(values: dict[str, str]) -> str:
    return " ".join(f'{name}="{value}"' for name, value in values.items())


def _speed_with(subject: Subject, start: Start, worst: _Creep, values: dict[str, float]) -> tuple[float | None, str]:
    """Return the speed of the same contact with other options [m/s], and its text; None and a reason if contact is
    lost."""
    run = simulate(subject.with_options(values), start, RunOptions())
    if run.unstable:
        return None, "the simulation diverges"
    half = run.instants // 2
    for one, other, rows in run.body_pairs():
        if (one, other) != (worst.body1, worst.body2):
            continue
        late = rows[(run.at[rows] >= half) & (run.normal[rows] > 0)]
        if len(np.unique(run.at[late])) <= 0.9 * (run.instants - half):
            break
        force = run.normal[late]
        if force.sum() < 0.3 * worst.normal * (run.instants - half):
            break
        slip = np.linalg.norm(run.slip[late], axis=1)
        speed = float(np.average(slip, weights=force))
        return speed, speed_text(speed)
    return None, f"{subject.bodies[worst.body1]} and {subject.bodies[worst.body2]} lose each other"
