"""Random geom pairs against the rule for creep: see `creep_cases`."""

import math
from typing import Any

import mujoco
import numpy as np
import pytest

from .creep_cases import FREE, PAD, PLANE, SCENE, Case, Tally, numbers, thing

FAMILIES = {"grip": 50, "slope": 40, "pulled": 30, "rolling": 25, "shaken": 25, "dropped": 25}


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


@pytest.mark.long
@pytest.mark.timeout(1200)
def test_pairs_creep_slide_and_stick_as_they_move() -> None:
    tally = Tally()
    for number, (family, count) in enumerate(FAMILIES.items()):
        for index in range(count):
            trial = case(np.random.default_rng([31, number, index]), family)
            tally.add(f"{family} {index}", trial, family in ("rolling", "shaken", "dropped"))
    print(tally.report)
    assert tally.judged.total() >= 150, tally.report
    assert min(tally.judged[name] for name in ("sticking", "creeping", "sliding")) >= 5, tally.report
    assert not tally.false, tally.report
    assert tally.right >= 0.95 * tally.judged.total(), tally.report
