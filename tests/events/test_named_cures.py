"""The cure that `events --why` names, tried on random grips by the speed of the whole body.

The grips of each seed were drawn after the rule was frozen; what the first showed was mended before the second. A body
between pads or fingers is judged by how far its centre of mass has moved across the grip in the second half of a run of
its own; nothing of the package takes part in that.
"""

import re
from pathlib import Path
from typing import NamedTuple

import mujoco
import numpy as np
import pytest
from contact_viewer.cli import main
from contact_viewer.mjmodel.creep import WANTED

from .creep_cases import FREE, numbers, thing

SEEDS = (20261120, 20261121)
SECONDS = 4.0
"""Length of a run [s]: that of the trials of `events --why`."""
SCENE = (
    """<mujoco><option timestep="{dt}" {option} integrator="implicitfast" gravity="{gravity}"/>
<default><geom condim="{condim}" friction="{friction}" solref="{solref}" solimp="{solimp}"/></default>
<asset>{asset}</asset><worldbody>{fingers}<body name="thing">"""
    + FREE
    + """{geom} mass="{mass}"/></body></worldbody>
<actuator>{motors}</actuator><keyframe><key ctrl="{grip}"/></keyframe></mujoco>"""
)


class Grip(NamedTuple):
    """The text of a scene, with a place for its options, and these."""

    text: str
    option: str


def draw(r: np.random.Generator) -> Grip:
    """Return a random grip that uses 3 to 60 % of its friction."""
    friction, force, count = r.uniform(0.4, 1.5), 10 ** r.uniform(0.5, 1.8), int(r.choice([2, 2, 2, 3]))
    kinds = ["box", "box", "sphere", "capsule", "mesh", "ellipsoid"] if count == 2 else ["upright", "sphere"]
    size = r.uniform(0.02, 0.05, 3)
    geom, asset, half = thing(r, kinds, size if count == 2 else np.sort(size)[[2, 2, 1]])
    mass = 10 ** r.uniform(-1.5, -0.2) * count * friction * force / 9.81
    # Of three grips one is held by unlike fingers, and one from a side that does not give way.
    masses, fixed = [10 ** r.uniform(-1.3, 0.5)] * count, False
    how = r.integers(3)
    if how == 1:
        masses = (10 ** r.uniform(-1.3, 0.5, count)).tolist()
    elif how == 2:
        fixed = count == 2
    fingers, motors = "", ""
    for i in range(count):
        joint = "" if fixed and i == 0 else f'<joint name="f{i}" type="slide" axis="-1 0 0" damping="5"/>'
        fingers += (
            f'<body euler="0 0 {360 * i / count}"><body pos="{half[0] + 0.01} 0 0">{joint}'
            f'<geom name="f{i}" type="box" size=".01 .05 .05" mass="{masses[i]}"/></body></body>'
        )
        motors += f'<motor joint="f{i}"/>' if joint else ""
    tilt = r.uniform(0, 0.5) if count == 2 and r.random() < 0.3 else 0.0
    option = f'cone="{r.choice(["pyramidal", "elliptic"])}" impratio="{10 ** r.uniform(0, 1.3):.4g}"'
    values = {
        "dt": r.choice([0.001, 0.002]),
        "condim": r.choice([3, 4, 6]),
        "friction": numbers(friction, 10 ** r.uniform(-3, -1.7), 10 ** r.uniform(-4.5, -3.5)),
        "solref": numbers(10 ** r.uniform(-2.2, -1.5), r.uniform(0.8, 1.2)),
        "solimp": numbers(r.uniform(0.8, 0.95), r.uniform(0.95, 0.995), 10 ** r.uniform(-3.3, -2.3), 0.5, 2),
        "gravity": numbers(0, 9.81 * np.sin(tilt), -9.81 * np.cos(tilt)),
        "grip": " ".join([f"{force:.4g}"] * motors.count("motor")),
    }
    text = SCENE.format(
        option="{option}", fingers=fingers, geom=geom, asset=asset, mass=f"{mass:.4g}", motors=motors, **values
    )
    return Grip(text, option)


def creep_speed(grip: Grip, option: str) -> float:
    """Return how fast the body moves across the grip [m/s], by the second half of a run."""
    model = mujoco.MjModel.from_xml_string(grip.text.replace("{option}", option))
    data = mujoco.MjData(model)
    mujoco.mj_resetDataKeyframe(model, data, 0)
    places = []
    for _ in range(round(SECONDS / model.opt.timestep)):
        mujoco.mj_step(model, data)
        places.append(data.body("thing").xipos[1:].copy())
    half = len(places) // 2
    return float(np.linalg.norm(places[-1] - places[half]) / ((len(places) - 1 - half) * model.opt.timestep))


def named(text: str) -> tuple[str, bool, str, float]:
    """Return the cure that is named, whether it is only the least, the one that was tried, and its speed [m/s]."""
    about = re.search(r'(cone="elliptic" impratio="\S+") would make it about 10 um/s', text)
    least = re.search(r'It takes (cone="elliptic" impratio="\S+") or more', text)
    tried = re.search(r'tried: (cone="elliptic" impratio="\S+") gives (\S+) um/s', text)
    first = about or least
    return (
        first[1] if first else "",
        least is not None,
        tried[1] if tried else "",
        float(tried[2]) / 1e6 if tried else 0.0,
    )


@pytest.mark.long
@pytest.mark.timeout(3600)
@pytest.mark.parametrize("seed", SEEDS)
def test_named_cures_of_random_grips_hold_what_they_promise(
    seed: int, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    lines, kept, formula, drawn, uneven = list[str](), 0, 0, 0, 0
    path = tmp_path / "grip.xml"
    while len(lines) < 50:
        grip = draw(np.random.default_rng([seed, drawn]))
        drawn += 1
        path.write_text(grip.text.replace("{option}", grip.option))
        capsys.readouterr()
        assert main(["events", str(path), "--key", "0", "--duration", f"{SECONDS}", "--why"]) == 0
        first, least, tried, promised = named(capsys.readouterr().out)
        if not first:
            continue
        # Where the least is named, the command goes on to try, and says what came of it.
        alone = creep_speed(grip, first)
        speed, promised = (creep_speed(grip, tried), promised) if tried else (alone, WANTED)
        right = abs(speed - promised) <= 0.2 * promised and (not least or bool(tried))
        kept, uneven = kept + right, uneven + least
        formula += abs(alone - WANTED) <= 0.2 * WANTED
        lines.append(
            f"{drawn - 1}: {'right' if right else 'WRONG'}, {1e6 * creep_speed(grip, grip.option):.0f} um/s; {first}"
            f"{' or more' if least else ''} gives {1e6 * alone:.2f}; {tried or 'nothing tried'}: promised"
            f" {1e6 * promised:.2f}, made {1e6 * speed:.2f}"
        )
    report = "\n".join(
        [f"{kept} of 50 right, of {drawn} drawn; the formula alone {formula}; held unevenly {uneven}", *lines]
    )
    print(report)
    assert kept >= 45, report
