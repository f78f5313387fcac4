"""Random geom pairs that the rule for creep was not tuned on, against what velocities and forces say of their motion.

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
import pytest
from contact_viewer.events.friction_states import FrictionStates
from contact_viewer.mjmodel.pair_motion import pair_key

STILL = 10e-6
"""Drift below which a pair sticks [m/s]; from 0.7 to 1.4 of it is open to question."""
SEEN = 60e-6
"""Drift from which the length of a run suffices to see it [m/s]: the rule waits for 0.1 mm."""
FAST = 50e-3
"""Drift inside the cone above which it is open to question whether that is creep [m/s]."""
FAMILIES = {"grip": 50, "slope": 40, "pulled": 30, "rolling": 25, "shaken": 25, "dropped": 25}
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


def case(r: np.random.Generator, family: str) -> Case:
    """Return a random case of a family."""
    friction = r.uniform(0.3, 1.5)
    settings: dict[str, Any] = {
        "dt": r.choice([0.001, 0.002, 0.004], p=[0.25, 0.5, 0.25]),
        "cone": r.choice(["pyramidal", "elliptic"]),
        "impratio": 10 ** r.uniform(0, 3) if r.random() < 0.6 else 1.0,
        "condim": r.choice([3, 4, 6]),
        "friction": numbers(friction, 10 ** r.uniform(-3, -1.5), 10 ** r.uniform(-4.5, -3)),
        "solref": numbers(10 ** r.uniform(-2.3, -1.3), r.uniform(0.7, 1.3)),
        "solimp": numbers(r.uniform(0.8, 0.95), r.uniform(0.95, 0.999), 10 ** r.uniform(-3.3, -2), 0.5, 2),
        "gravity": "0 0 -9.81",
        "asset": "",
        "actuators": "",
    }
    if r.random() < 0.15:
        settings["solref"] = numbers(-(10 ** r.uniform(3.5, 5)), -(10 ** r.uniform(1.5, 2.7)))
    mass, size = 10 ** r.uniform(-1, 0.7), r.uniform(0.02, 0.06, 3)

    def build(bodies: str, seconds: float, inputs: Any = None, start: tuple[float, ...] = ()) -> Case:
        return Case(mujoco.MjModel.from_xml_string(SCENE.format(bodies=bodies, **settings)), seconds, inputs, start)

    def tilted(angle: float) -> str:
        way = r.uniform(0, 2 * math.pi) if family == "slope" else 0.0
        x = math.sin(angle)
        return numbers(9.81 * x * math.cos(way), 9.81 * x * math.sin(way), -9.81 * math.cos(angle))

    flat = np.array([size[0], size[1], 0.6 * min(size[:2])])
    if family in ("grip", "pulled") and (family == "grip" or r.random() < 0.4):
        geom, settings["asset"], half = thing(r, ["box", "box", "sphere", "capsule", "mesh", "ellipsoid"], size)
        grip = 10 ** r.uniform(0.3, 1.9)
        mass = 10 ** r.uniform(-1.5, -0.1) * 2 * friction * grip / 9.81
        joints, speed = FREE, 0.0
        settings["actuators"] = '<motor joint="pad"/>'
        if family == "pulled":
            joints = (
                '<joint name="pull" type="slide" axis="0 0 1"/><joint type="slide" axis="1 0 0"/><joint type="ball"/>'
            )
            settings["actuators"] += f'<velocity joint="pull" kv="{2000 * (mass + grip / 5)}"/>'
            speed = 10 ** r.uniform(-2.7, -0.5)

        def hold(data: mujoco.MjData, time: float) -> None:
            data.ctrl[:] = [grip, speed][: data.ctrl.size]

        return build(
            f'<body pos="{-half[0] - 0.01} 0 0">{PAD.format("base")}</body><body pos="{half[0] + 0.01} 0 0">'
            f'<joint name="pad" type="slide" axis="-1 0 0" damping="20"/>{PAD.format("pad")}</body>'
            f'<body>{joints}{geom} mass="{mass}"/></body>',
            3.0 if family == "grip" else 1.5,
            hold,
        )
    if family == "pulled":
        geom, _, half = thing(r, ["box", "upright"], flat)
        speed = 10 ** r.uniform(-2.7, -0.5)
        joints = '<joint name="pull" type="slide" axis="1 0 0"/><joint type="slide" axis="0 0 1"/><joint axis="0 1 0"/>'
        settings["actuators"] = f'<velocity joint="pull" kv="{2000 * mass}"/>'
        body = f'{PLANE}<body pos="0 0 {half[2]}">{joints}<joint axis="0 0 1"/>{geom} mass="{mass}"/></body>'
        return build(body, 1.5, lambda data, time: data.ctrl.fill(speed))
    if family == "slope":
        geom, _, half = thing(r, ["box", "upright"], flat)
        slides = r.random() < 0.25
        use = r.uniform(1.1, 1.5) if slides else 10 ** r.uniform(-2, -0.1)
        settings["gravity"] = tilted(math.atan(use * friction))
        body = f'{PLANE}<body pos="0 0 {half[2]}">{FREE}{geom} mass="{mass}"/></body>'
        return build(body, 1.5 if slides else 3.0)
    if family == "rolling":
        geom, _, half = thing(r, ["sphere", "cylinder", "capsule"], size)
        speed = r.uniform(0.1, 2) if r.random() < 0.6 else 0.0
        if not speed:
            settings["gravity"] = tilted(math.atan(friction * r.uniform(0.05, 0.7)))
        body = f'{PLANE}<body pos="0 0 {half[2]}">{FREE}{geom} mass="{mass}"/></body>'
        return build(body, 2.0, None, (speed, 0, 0, 0, speed / half[2], 0))
    if family == "dropped":
        kinds = ["box", "sphere", "capsule", "cylinder", "mesh", "ellipsoid"]
        geom, settings["asset"], half = thing(r, kinds, size)
        place = f'pos="0 0 {max(half) + r.uniform(0.02, 0.3)}" quat="{numbers(r.normal(size=4))}"'
        spin = r.normal(size=6) * r.choice([0, 1]) * [0.1, 0.1, 0.1, 2, 2, 2]
        return build(f'{PLANE}<body {place}>{FREE}{geom} mass="{mass}"/></body>', 3.0, None, tuple(spin))
    # A heavy table is shaken with periods that fit into a quarter of the time that is judged.
    geom, _, half = thing(r, ["box", "upright", "sphere"], flat)
    joint, inertia = [
        ('type="slide" axis="1 0 0"', 200.0),
        ('type="slide" axis="0 0 1"', 200.0),
        ('axis="0 0 1"', 12.0),
    ][r.integers(3)]
    rate = 2 * math.pi * r.choice([4, 8, 12, 16, 20])
    settings["actuators"] = '<motor joint="table"/>'
    reach = r.uniform(0.05, 0.8) * 9.81 * min(friction, 1) / rate**2 / (0.15 if inertia == 12.0 else 1)

    def shake(data: mujoco.MjData, time: float) -> None:
        grown = min(1, time / 0.25) * reach
        at, fast = grown * math.sin(rate * time), grown * rate * math.cos(rate * time)
        data.ctrl[0] = inertia * (-(rate**2) * at + 8000 * (at - data.qpos[0]) + 120 * (fast - data.qvel[0]))

    return build(
        f'<body gravcomp="1"><joint name="table" {joint}/>'
        f'<geom name="base" type="box" size=".3 .3 .02" pos="0 0 -.02" mass="200"/></body>'
        f'<body pos="{numbers(r.uniform(-0.1, 0.1, 2), half[2])}">{FREE}{geom} mass="{mass}"/></body>',
        2.0,
        shake,
    )


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


@pytest.mark.long
@pytest.mark.timeout(1200)
def test_pairs_that_the_rule_was_not_tuned_on_creep_slide_and_stick_as_they_move() -> None:
    wrong: list[str] = []
    slow: list[str] = []
    false: list[str] = []
    right, judged = 0, Counter[str]()
    for number, (family, count) in enumerate(FAMILIES.items()):
        for index in range(count):
            name, drift, states = judge(case(np.random.default_rng([31, number, index]), family))
            case_name = f"{family} {index}: {name}, {drift * 1e6:.0f} um/s, {dict(states)}"
            if family in ("rolling", "shaken", "dropped") and name in ("sticking", "sliding", "open"):
                false += [case_name] * (states["creeping"] > 0.05 * states.total())
            if name == "?":
                continue
            judged[name] += 1
            if states.most_common(1)[0][0] == name:
                right += 1
            else:
                (slow if name == "creeping" and drift < SEEN else wrong).append(case_name)
    total = judged.total()
    report = "\n".join([f"{right} of {total} right: {judged}", "wrong:", *wrong, "too slow:", *slow, "false:", *false])
    print(report)
    assert total >= 150, report
    assert min(judged[name] for name in ("sticking", "creeping", "sliding")) >= 5, report
    assert not false, report
    assert right >= 0.95 * (total - len(slow)), report
    # Measured: 86 % with those that creep too slowly for the rule to have seen it within the run.
    assert right >= 0.85 * total, report
