"""Labels how a pair of geoms moves by velocities and forces of its bodies, and asks the rule of creep about it.

A pair is labelled by the second half of a run. The velocity of the thing's material against the carrier's at the
contact, averaged by load, and the spin times the lever of the contacts are summed up in the carrier's frame; their mean
over the time of touch is the drift. A pair whose cone is used up in 80 % of the steps slides. One whose cone is in 20 %
at most sticks below 10 um/s, and creeps above, if the drift of each quarter is within a factor of two and 60 degrees of
the whole. A thing that turns as its contact travels, with a drift below 5 % of that, rolls: it sticks. Everything else
is open to question and left out.
"""

import math
from collections import Counter
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import mujoco
import numpy as np
from contact_viewer.events.friction_states import FrictionStates
from contact_viewer.mjmodel.pair_motion import pair_key

STILL = 10e-6
"""Drift below which a pair sticks [m/s]; from 0.7 to 1.4 of it is open to question."""
SEEN = 60e-6
"""Drift from which the length of a run suffices to see it [m/s]."""
FAST = 50e-3
"""Drift inside the cone above which it is open to question whether that is creep [m/s]."""
SCENE = """<mujoco><option timestep="{dt}" cone="{cone}" impratio="{impratio}" integrator="implicitfast"
 gravity="{gravity}"/><compiler autolimits="true"/>
<default><geom condim="{condim}" friction="{friction}" solref="{solref}" solimp="{solimp}"/></default>
<asset>{asset}</asset><worldbody>{bodies}</worldbody><actuator>{actuators}</actuator></mujoco>"""
FREE = "<freejoint/>"
PLANE = '<geom name="base" type="plane" size="30 30 .1"/>'
PAD = '<geom name="{}" type="box" size=".01 .08 .5" mass=".3"/>'


@dataclass
class Case:
    """A scene with a carrier, `base`, and a `thing`; its length [s]; inputs at a time [s]."""

    model: mujoco.MjModel
    seconds: float
    inputs: Callable[[mujoco.MjData, float], None] | None = None
    start: tuple[float, ...] = ()
    """Velocity at first."""


def numbers(*values: Any) -> str:
    return " ".join(f"{value:.6g}" for value in np.hstack([np.ravel(value) for value in values]))


def thing(r: np.random.Generator, kinds: list[str], size: Any) -> tuple[str, str, np.ndarray]:
    """Return a geom without its mass, an asset, and half extents [m]."""
    a, b, c = size
    kind = str(r.choice(kinds))
    head = f'<geom name="thing" type="{kind}" '
    if kind == "sphere":
        return f'{head}size="{a}"', "", np.full(3, a)
    if kind in ("capsule", "cylinder"):
        return f'{head}euler="90 0 0" size="{a} {b}"', "", np.array([a, b + (a if kind == "capsule" else 0), a])
    if kind == "upright":
        return f'<geom name="thing" type="cylinder" size="{a} {c}"', "", np.array([a, a, c])
    if kind == "mesh":  # A prism with a random outline, flat on the sides of x.
        angles = (np.arange(6) + r.uniform(0, 0.6, 6)) * math.pi / 3
        outline = np.stack([b * np.cos(angles), c * np.sin(angles)], axis=1)
        points = [[side * a, *point] for side in (-1, 1) for point in outline]
        return f'{head}mesh="m"', f'<mesh name="m" vertex="{numbers(points)}"/>', np.array([a, b, c])
    return f'{head}size="{numbers(size)}"', "", np.array(size)


def look(model: mujoco.MjModel, data: mujoco.MjData, base: int, item: int) -> list[float] | None:
    """Return velocity and spin speed, place of the contact, use of the cone, radius and turning; None if it is open."""
    loads, used, points, normals = [], [], [], []
    force = np.zeros(6)
    for index in np.flatnonzero((np.sort(data.contact.geom, axis=1) == sorted((base, item))).all(axis=1)):
        contact = data.contact[index]
        mujoco.mj_contactForce(model, data, index, force)
        if contact.efc_address >= 0 and force[0] > 0:
            shares = force[1 : contact.dim] / contact.friction[: contact.dim - 1]
            used.append(np.linalg.norm(shares, 2 if model.opt.cone else 1))
            loads.append(force[0])
            points.append(contact.pos)
            normals.append(contact.frame[:3] * (1 if contact.geom[0] == base else -1))
    if not loads:
        return None
    weights = np.array(loads) / sum(loads)
    center, normal = weights @ np.array(points), weights @ np.array(normals)
    normal /= np.linalg.norm(normal)

    def motion(geom: int) -> tuple[np.ndarray, np.ndarray]:
        body = model.geom_bodyid[geom]
        turn, speed = np.split(data.cvel[body], 2)
        return speed + np.cross(turn, center - data.subtree_com[model.body_rootid[body]]), turn

    slip, turn = np.subtract(motion(item), motion(base))
    off = np.array(points) - center
    lever = math.sqrt(weights @ ((off - np.outer(off @ normal, normal)) ** 2).sum(axis=1))
    frame = data.xmat[model.geom_bodyid[base]].reshape(3, 3).T
    place = frame @ (center - data.xpos[model.geom_bodyid[base]])
    slip, rolled = frame @ (slip - normal * (normal @ slip)), frame @ (turn - normal * (normal @ turn))
    radius = float(np.linalg.norm(center - data.geom_xpos[item]))
    return [*slip, turn @ normal * lever, *place, sum(used) / sum(loads), radius, *rolled]


def label(seen: list[list[float] | None], timestep: float) -> tuple[str, float]:
    """Return how a pair moved in steps that follow each other, and its drift [m/s]; "?" if that is open to question."""
    rows = np.array([row for row in seen if row is not None]).reshape(-1, 12)
    touches = len(rows) / len(seen)
    if touches < 0.8:
        return ("open" if touches < 0.05 else "?"), 0.0
    drift = rows[:, :4].mean(axis=0)
    speed, used = float(np.linalg.norm(drift)), np.mean(rows[:, 7] >= 0.98)
    few, duration = max(1, len(rows) // 10), len(seen) * timestep
    travel = np.linalg.norm(rows[-few:, 4:7].mean(axis=0) - rows[:few, 4:7].mean(axis=0)) / (0.9 * duration)
    rolled = np.linalg.norm(rows[:, 9:].sum(axis=0)) * timestep * rows[:, 8].mean()
    if travel > 1e-3 and rolled >= 0.3 * travel * duration and speed < 0.2 * travel:
        return ("sticking" if speed < 0.05 * travel else "?"), speed
    if used >= 0.8:
        return ("sliding" if np.linalg.norm(rows[:, :4], axis=1).mean() > STILL else "?"), speed
    if used > 0.2 or 0.7 * STILL < speed < 1.4 * STILL or speed > FAST:
        return "?", speed
    if speed < STILL:
        return "sticking", speed
    for part in np.array_split(rows[:, :4], 4):
        own = part.mean(axis=0)
        size = float(np.linalg.norm(own))
        if not speed / 2 <= size <= 2 * speed or own @ drift < 0.5 * size * speed:
            return "?", speed
    return "creeping", speed


def judge(trial: Case) -> tuple[str, float, Counter[str]]:
    """Return the label of a case, its drift, and how often the rule has each state in the second half."""
    model, data = trial.model, mujoco.MjData(trial.model)
    timestep, (base, item) = model.opt.timestep, (model.geom("base").id, model.geom("thing").id)
    if trial.start:
        data.qvel[:] = trial.start
    rule, seen = FrictionStates(model, timestep), []
    steps = round(trial.seconds / timestep)
    for step in range(steps):
        if trial.inputs:
            trial.inputs(data, step * timestep)
        mujoco.mj_step(model, data)
        if rule.is_due():
            rule.add(data, step * timestep)
            if rule.full:
                rule.flush()
        if step >= steps // 2:
            seen.append(look(model, data, base, item))
    rule.flush()
    key = int(pair_key(model, np.array([base, item])))
    states: Counter[str] = Counter()
    for index in range(0, len(seen), 5):
        motion = rule.state_at(key, (steps // 2 + index) * timestep)
        # The rule tells what moves; whether the rest presses is plain.
        still = "open" if seen[index] is None else "sticking"
        states[motion.state.name.lower() if motion else still] += 1
    return *label(seen, timestep), states


class Tally:
    """Counts what the rule says of cases whose label is plain."""

    def __init__(self) -> None:
        self.right, self.judged = 0, Counter[str]()
        self.wrong, self.slow, self.false = list[str](), list[str](), list[str]()

    def add(self, name: str, trial: Case, never_creeps: bool) -> None:
        """`never_creeps`: True for what rolls, or is shaken or dropped, unless its label says that it creeps."""
        label, drift, states = judge(trial)
        line = f"{name}: {label}, {drift * 1e6:.0f} um/s, {dict(states)}"
        if never_creeps and label in ("sticking", "sliding", "open") and states["creeping"] > 0.05 * states.total():
            self.false.append(line)
        if label == "?":
            return
        self.judged[label] += 1
        if states.most_common(1)[0][0] == label:
            self.right += 1
        else:
            (self.slow if label == "creeping" and drift < SEEN else self.wrong).append(line)

    @property
    def report(self) -> str:
        total = self.judged.total()
        lines = [f"{self.right} of {total} right, {self.right / max(total, 1):.1%}: {dict(self.judged)}"]
        return "\n".join([*lines, "wrong:", *self.wrong, "too slow:", *self.slow, "false:", *self.false])
