"""Rules about contact and touch sensors: contacts that they can never report, miss, or have no slot for."""

from collections.abc import Iterator

import mujoco
import numpy as np
from numpy.typing import NDArray

from ..engines.registry import portability
from ..mjmodel.diagnosis import never_matching
from ..mjmodel.matching import ContactMatcher
from ..mjmodel.names import sensor_names
from ..mjmodel.pairs import Obstacle, sensor_pairs, sensor_sides
from ..settings import Reduce
from .finding import Finding, Fix, Number, Severity, family, force_text, in_groups, length_text, listing
from .run import Run
from .subject import Subject

_TOUCH = int(mujoco.mjtSensor.mjSENS_TOUCH)
_ANYTHING = int(mujoco.mjtObj.mjOBJ_UNKNOWN)
_BODY = int(mujoco.mjtObj.mjOBJ_BODY)
_LEAST_LOAD, _LOAD_PART = 0.05, 0.01
"""Smallest load on a body for which its touch sensors are judged [N], and the same as a part of its tree's weight."""
_SEEN_PART, _CHILD_PART = 0.5, 0.1
_WARP_SLOTS = 64


def never_collides(subject: Subject) -> Iterator[Finding]:
    """Yield contact sensors that can never report a contact."""
    model = subject.model
    never, dead = never_matching(model, [each.sensor_id for each in subject.declared]), []
    for sensor in (each for each in subject.declared if each.sensor_id in never):
        kinds = int(model.sensor_objtype[sensor.sensor_id]), int(model.sensor_reftype[sensor.sensor_id])
        # A robot without its floor: what a sensor of anything will meet is in another file.
        if _ANYTHING not in kinds or subject.has_ground:
            dead.append((sensor, never[sensor.sensor_id]))
    for group in in_groups(dead, lambda each: (family(each[0].name), family(each[1]))):
        names = [sensor.name for sensor, _ in group]
        sensor, why = group[0]
        verb = "can never report a contact" if len(group) == 1 else "can never report a contact (each for its own pair)"
        yield Finding(
            "never-collides",
            Severity.ERROR,
            f"{listing(names)} {verb}: {why[:1].lower()}{why[1:].rstrip('.')}.",
            f"{_never_remedy(subject, sensor.sensor_id)} Anything computed from the sensor is constant now.",
            tuple(names),
            place=subject.place("sensor", sensor.sensor_id),
        )


def _never_remedy(subject: Subject, sensor_id: int) -> str:
    pairs = sensor_pairs(subject.model, sensor_id)
    sides = sensor_sides(subject.model, sensor_id)
    if not len(pairs.geoms) or not all(side.any() for side in sides):
        return "Name a body or geom that collides, or a subtree that has some."
    obstacles = set(pairs.obstacles.tolist())
    one, other = (subject.geoms[geom] for geom in pairs.geoms[0])
    if obstacles <= {Obstacle.BITMASK, Obstacle.EXCLUDE, Obstacle.PARENT}:
        pair = f'<pair geom1="{one}" geom2="{other}"/>'
        return f"Add {pair} to <contact>, or give the geoms a common bit of contype and conaffinity."
    return "Name two things that can meet."


def touch_targets(subject: Subject) -> Iterator[Finding]:
    """Yield touch sensors on bodies whose contacts belong to other bodies."""
    model = subject.model
    touch = np.flatnonzero(model.sensor_type == _TOUCH)
    if model.nflex or not len(touch):
        return
    names = sensor_names(model)
    colliding = np.bincount(model.geom_bodyid[subject.able], minlength=model.nbody) > 0
    bodies = model.site_bodyid[model.sensor_objid[touch]]
    sensed = set(bodies.tolist())
    bare, beside = [], []
    for sensor, body in zip(touch.tolist(), bodies.tolist(), strict=True):
        if not colliding[body]:
            bare.append((sensor, body))
        elif (children := _welded_children(subject, body, colliding)) and not sensed & set(children):
            beside.append((sensor, body, children))
    for group in in_groups(bare, lambda each: (family(names[each[0]]), family(subject.bodies[each[1]]))):
        labels, (sensor, body) = [names[each] for each, _ in group], group[0]
        yield Finding(
            "touch-misses-body",
            Severity.ERROR,
            f"{listing(labels)} can only read 0: {subject.bodies[body]}, its site's body, has no geom that collides.",
            _touch_remedy(subject, body),
            tuple(labels),
            place=subject.place("sensor", sensor),
        )
    for near in in_groups(beside, lambda each: (family(names[each[0]]), family(subject.bodies[each[1]]))):
        labels, (sensor, body, children) = [names[each[0]] for each in near], near[0]
        others = listing([subject.bodies[child] for child in children])
        yield Finding(
            "touch-misses-body",
            Severity.WARNING,
            f"{listing(labels)} misses the contacts of {others}, which {subject.bodies[body]} carries without a joint.",
            _touch_remedy(subject, body),
            tuple(labels),
            place=subject.place("sensor", sensor),
        )


def _touch_remedy(subject: Subject, body: int) -> str:
    element = f'<contact subtree1="{subject.bodies[body]}" data="force" reduce="netforce"/>'
    return f"A <touch> counts contacts of its own body's geoms alone. Use {element}."


def _welded_children(subject: Subject, body: int, colliding: NDArray[np.bool_]) -> list[int]:
    """Return the colliding bodies below a body that are welded to it."""
    model = subject.model
    same = (model.body_weldid == model.body_weldid[body]) & colliding
    found = []
    for other in np.flatnonzero(same).tolist():
        above = other
        while above > body:
            above = int(model.body_parentid[above])
        if above == body and other != body and body:
            found.append(other)
    return found


def touch_loads(subject: Subject, run: Run) -> Iterator[Finding]:
    """Yield touch sensors that read much less than the force on their body."""
    model = subject.model
    touch = np.flatnonzero(model.sensor_type == _TOUCH)
    if model.nflex or not len(touch) or not run.instants:
        return
    names, read = sensor_names(model), np.mean(run.touch, axis=0)
    owners = np.append(model.geom_bodyid, 0)[run.geoms]
    loads = np.bincount(owners.ravel(), np.repeat(run.normal, 2), minlength=model.nbody) / run.instants
    holders = model.site_bodyid[model.sensor_objid[touch]]
    missed, below = [], []
    for body in np.unique(holders).tolist():
        mine, load = np.flatnonzero(holders == body), float(loads[body])
        if load > max(_LEAST_LOAD, _LOAD_PART * _finite(subject.weights[body])) and body:
            seen = float(read[mine].sum())
            if seen < _SEEN_PART * load:
                missed.append((touch[mine].tolist(), body, seen, load))
                continue
        children = _jointed_children(subject, body, set(holders.tolist()))
        extra = float(loads[children].sum())
        if min(load, extra) > max(_LEAST_LOAD, _CHILD_PART * (load + extra)) and body:
            below.append((touch[mine].tolist(), body, load, extra, children))
    for group in in_groups(missed, lambda each: family(subject.bodies[each[1]])):
        sensors, body, seen, load = max(group, key=lambda each: each[3] - each[2])
        labels = [names[sensor] for each in group for sensor in each[0]]
        outside = _outside(subject, run, sensors, body)
        yield Finding(
            "touch-misses-body",
            Severity.WARNING,
            f"{listing(labels)} {'reads' if len(labels) == 1 else 'read'} {force_text(seen)} of the {force_text(load)}"
            f" that press on {subject.bodies[body]}{outside}.",
            "A <touch> counts contacts of its own body whose point lies in the site, or from which the outward normal"
            f" meets it. Enlarge the site, or use {_contact_of(subject, body)}.",
            tuple(labels),
            {"read": Number(seen, "N"), "load": Number(load, "N")},
            place=subject.place("sensor", sensors[0]),
        )
    for lower in in_groups(below, lambda each: family(subject.bodies[each[1]])):
        sensors, body, load, extra, children = lower[0]
        labels = [names[sensor] for each in lower for sensor in each[0]]
        pressed = [subject.bodies[child] for child in children if loads[child] > 0]
        yield Finding(
            "touch-misses-body",
            Severity.WARNING,
            f"{listing(labels)} misses {force_text(extra)} on {listing(pressed)} beside {force_text(load)} on"
            f" {subject.bodies[body]} itself.",
            f"A <touch> counts contacts of its own body's geoms alone. Use {_contact_of(subject, body)}.",
            tuple(labels),
            {"own": Number(load, "N"), "missed": Number(extra, "N")},
            place=subject.place("sensor", sensors[0]),
        )


def _contact_of(subject: Subject, body: int) -> str:
    return f'<contact subtree1="{subject.bodies[body]}" data="force" reduce="netforce"/>'


def _outside(subject: Subject, run: Run, sensors: list[int], body: int) -> str:
    """Return words for a message on the distance of a body's strongest contact to the nearest site; empty if it is not
    known."""
    model = subject.model
    owners = np.append(model.geom_bodyid, -1)[run.geoms]
    rows = np.flatnonzero((owners == body).any(axis=1) & (run.at == run.instants - 1) & (run.normal > 0))
    if not len(rows) or subject.engine is None:
        return ""
    point = run.positions[rows[np.argmax(run.normal[rows])]]
    data, gaps = subject.engine.contact_data(), []
    for sensor in sensors:
        site = int(model.sensor_objid[sensor])
        local = (point - data.site_xpos[site]) @ data.site_xmat[site].reshape(3, 3)
        size, shape = model.site_size[site], int(model.site_type[site])
        if shape == mujoco.mjtGeom.mjGEOM_BOX:
            gaps.append(float(np.linalg.norm(np.maximum(np.abs(local) - size, 0.0))))
        elif shape == mujoco.mjtGeom.mjGEOM_SPHERE:
            gaps.append(float(np.linalg.norm(local) - size[0]))
    if gaps and min(gaps) > 0:
        return f": the contact lies {length_text(min(gaps))} outside the site"
    return ": the site lies inside the body, and the outward normal does not meet it" if gaps else ""


def _jointed_children(subject: Subject, body: int, sensed: set[int]) -> list[int]:
    """Return the children of a body that have joints but no touch sensors."""
    model = subject.model
    children = np.flatnonzero((model.body_parentid == body) & (model.body_dofnum > 0) & (np.arange(model.nbody) > 0))
    return [child for child in children.tolist() if child not in sensed]


def wrong_target(subject: Subject) -> Iterator[Finding]:
    """Yield contact sensors of a body that leave out geoms welded to it."""
    model = subject.model
    colliding = np.bincount(model.geom_bodyid[subject.able], minlength=model.nbody) > 0
    found = []
    for sensor in subject.declared:
        for kinds, ids in ((model.sensor_objtype, model.sensor_objid), (model.sensor_reftype, model.sensor_refid)):
            body = int(ids[sensor.sensor_id])
            if int(kinds[sensor.sensor_id]) == _BODY and colliding[body]:
                children = _welded_children(subject, body, colliding)
                # A scene that has sensors for these as well counts them on purpose.
                named = {int(i) for i in np.concatenate([model.sensor_objid, model.sensor_refid])}
                if children and not named & set(children):
                    found.append((sensor, body, children))
                    break
    for group in in_groups(found, lambda each: family(each[0].name)):
        sensor, body, children = group[0]
        names = [each[0].name for each in group]
        yield Finding(
            "wrong-target",
            Severity.NOTE,
            f"{listing(names)} counts the geoms of {subject.bodies[body]} alone, not those of"
            f" {listing([subject.bodies[child] for child in children])}, which it carries without a joint.",
            "Use subtree1 or subtree2 if these count too.",
            tuple(names),
            place=subject.place("sensor", sensor.sensor_id),
        )


def contacts_lost(subject: Subject, run: Run) -> Iterator[Finding]:
    """Yield contacts that did not fit into memory, or into a sensor's slots."""
    if run.dropped:
        yield Finding(
            "contacts-lost",
            Severity.WARNING,
            "MuJoCo dropped contacts or constraints: its memory was full.",
            f'<size memory="..."/> gives more; the present one is {subject.model.narena / 1e6:.3g} MB.',
            ("memory",),
            {"warnings": Number(run.dropped)},
        )
    lossy: list[tuple[int, int, int, Reduce]] = []
    for place, sensor in enumerate(subject.declared):
        most, num = run.found.get(sensor.name, 0), max(1, sensor.num)
        asks_more = len(sensor.layout.fields) > 1 or "found" not in sensor.layout.fields
        if most > num and asks_more:
            lossy.append((place, most, num, sensor.layout.reduce))
    for group in in_groups(lossy, lambda each: (family(subject.declared[each[0]].name), each[2], each[3])):
        place, most, num, reduce = max(group, key=lambda each: each[1])
        names = [subject.declared[each[0]].name for each in group]
        ids = [subject.declared[each[0]].sensor_id for each in group]
        loses = reduce is Reduce.NONE

        def propose(ids: list[int] = ids, most: int = most, num: int = num) -> tuple[Fix | None, str]:
            edits, changed = subject.try_elements("sensor", ids, {"num": str(most)})
            if changed is None:
                return None, ""
            slots = min(max(1, each.num) for each in changed.declared if each.sensor_id in ids)
            return Fix(f'num="{most}"', slots >= most, f"{num} of {most} reported", f"{slots} of {most}", edits), ""

        yield Finding(
            "contacts-lost",
            Severity.WARNING if loses else Severity.NOTE,
            f"{listing(names)} {'has' if len(names) == 1 else 'have'} {num} slot{'s' * (num > 1)} and matched {most}"
            f" contacts: {'the others are left out' if loses else f'reduce {reduce} picks {num} of them'}.",
            f'num="{most}" has room for all.' if loses else "Meant so if the strongest or nearest is enough.",
            tuple(names),
            {"matched": Number(most), "slots": Number(num)},
            place=subject.place("sensor", ids[0]),
            propose=propose if loses else None,
        )


def proximity(subject: Subject, run: Run) -> Iterator[Finding]:
    """Yield pairs that are listed as contacts while they do not touch, because of a gap."""
    apart = (run.dist > run.limit) & (run.dist > 0) & (run.geoms >= 0).all(axis=1)
    if not apart.any():
        return
    rows = np.flatnonzero(apart)
    row = rows[np.argmax(run.dist[rows])]
    one, other = run.geoms[row].tolist()
    matching = []
    for sensor in subject.declared:
        first, second = ContactMatcher(subject.model, sensor.sensor_id).sides
        a, b = run.geoms[rows].T
        if ((first[a] & second[b]) | (first[b] & second[a])).any():
            matching.append(sensor)
    distance = float(run.dist[row])
    pairs = len(np.unique(np.sort(run.geoms[rows], axis=1), axis=0))
    more = f" (and {pairs - 1} more pairs)" if pairs > 1 else ""
    names = [sensor.name for sensor in matching]
    yield Finding(
        "proximity-is-not-contact",
        Severity.WARNING if matching else Severity.NOTE,
        f"{subject.geoms[one]} and {subject.geoms[other]}{more} are listed as contacts {length_text(distance)} apart,"
        f" with force 0{f'; {listing(names)} counts them in `found`' if names else ''}.",
        "A gap lists pairs before they touch: take as contact what has a force, or a distance below the margin.",
        tuple(names) or (subject.geoms[one], subject.geoms[other]),
        {"distance": Number(distance, "m")},
        step=run.steps[int(run.at[row])],
        place=subject.place("sensor", matching[0].sensor_id) if matching else subject.place("geom", one),
        geoms=(one, other),
    )


def other_engines(subject: Subject) -> Iterator[Finding]:
    """Yield contact sensors that read differently on the chosen engine."""
    engine, declared = subject.other_engine, subject.declared
    if engine is None or not declared:
        return
    said: list[tuple[str, str, int]] = []
    if engine == "motrix" and subject.path is not None:
        verdicts = portability("motrix", subject.path, subject.model, declared)
        for sensor in declared:
            verdict = verdicts[sensor.name]
            if verdict.reason:
                said.append((f"MotrixSim cannot read it ({verdict.reason})", sensor.name, sensor.sensor_id))
            elif sensor.layout.reduce is Reduce.NETFORCE:
                said.append(("MotrixSim reports the net force in a mean contact frame", sensor.name, sensor.sensor_id))
    for sensor in declared:
        if engine == "mjx" and sensor.layout.reduce is Reduce.NONE:
            why = "MJX fills slots also with pairs that do not touch unless reduce is mindist or maxforce"
            said.append((why, sensor.name, sensor.sensor_id))
        if engine == "warp" and sensor.num > _WARP_SLOTS:
            said.append(
                (f"MuJoCo Warp reports at most {_WARP_SLOTS} contacts of a sensor", sensor.name, sensor.sensor_id)
            )
    for group in in_groups(said, lambda each: family(each[0])):
        names = [name for _, name, _ in group]
        rule = "netforce-frame" if "mean contact frame" in group[0][0] else "sensor-unreadable-elsewhere"
        yield Finding(
            rule,
            Severity.NOTE,
            f"{listing(names)}: {group[0][0]}.",
            "Read it there by another field or reduce mode.",
            tuple(names),
            place=subject.place("sensor", group[0][2]),
        )


def _finite(value: float) -> float:
    return float(value) if np.isfinite(value) else 0.0
