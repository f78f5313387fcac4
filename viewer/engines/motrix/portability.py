"""Verdicts on the contact sensors of a scene under MotrixSim."""

import re
from collections.abc import Sequence
from dataclasses import replace
from importlib.util import find_spec
from pathlib import Path
from xml.etree.ElementTree import Element, ParseError

import mujoco
import numpy as np
from numpy.typing import NDArray

from ...mjmodel.declarations import Declaration
from ...mjmodel.matching import subtree
from ...mjmodel.names import sensor_targets
from ...mjmodel.types import MjModel
from ...scene_files.mjcf import count_contact_sensors, drop_attribute, keep_contact_sensors, read_mjcf
from ...sensors.layout import Field, Style
from ...sensors.motrix_frames import PairOrder
from ...settings import Reduce
from ..abilities import Portability, Verdict
from .probe import Probe, ProbedScene

UNNAMED = "it reads sensors by name, and this one has none"
VISUAL = ("material", "texture", "map", "global", "statistic", "quality", "headlight", "rgba", "light", "camera")
"""Elements whose attributes do not touch the physics."""
MOST_LOOKS = 8
"""Most attributes without effect on the physics that are left out of one scene."""
_COMPLAINT = re.compile(r"(?P<element>\w+)@(?P<attribute>\w+): ")
"""Beginning of MotrixSim's message about an attribute that it cannot read."""
_OBJECTS = mujoco.mjtObj
_MOST_ALONE = 100
"""Most sensors of a refused scene for which MotrixSim is asked one by one: each time it loads the scene."""


def check(path: Path, model: MjModel, declared: Sequence[Declaration]) -> dict[str, Portability]:
    """Return the verdict on each sensor of a scene file: by MotrixSim if it is installed, else predicted."""
    predicted = {declaration.name: predict(model, declaration) for declaration in declared}
    if not declared or find_spec("motrixsim") is None:
        return predicted
    whole = Probe([{"path": str(path)}]).results()[0]
    if whole.error is None:
        return {declaration.name: _observed(declaration, predicted, whole) for declaration in declared}
    return _verify_apart(path, declared, predicted, whole.error)


def drop_look(root: Element, error: str) -> str | None:
    """Remove an attribute that MotrixSim cannot read, if it does not touch the physics. Return its name, such as
    material@emission."""
    complaint = _COMPLAINT.match(error)
    if complaint is None or complaint["element"] not in VISUAL:
        return None
    drop_attribute(root, complaint["element"], complaint["attribute"])
    return f"{complaint['element']}@{complaint['attribute']}"


def predict(model: MjModel, declared: Declaration) -> Portability:
    """Return the verdict by the rules that MotrixSim 0.10 was observed to follow."""
    i = declared.sensor_id
    (first, first_id), (second, second_id) = sensor_targets(model, i)
    velocities = [field for field in declared.layout.fields if field not in Style.MOTRIX.fields]
    if velocities:
        return _refused(f"it does not know the data {' and '.join(velocities)}")
    if first == _OBJECTS.mjOBJ_SITE:
        if second != _OBJECTS.mjOBJ_UNKNOWN:
            return _refused("it does not take a site together with another target")
        return _ignored("it does not support sites as targets yet")
    if first == _OBJECTS.mjOBJ_UNKNOWN:
        return _ignored("it needs both targets of a pair, and this sensor names none or only the second")
    if second == _OBJECTS.mjOBJ_UNKNOWN:
        return _refused("it needs both targets of a pair, and this sensor names only the first")
    if first != second:
        return _refused("it needs two targets of one kind: two geoms, two bodies or two subtrees")
    targets = [_covered(model, first, target) for target in (first_id, second_id)]
    if first != _OBJECTS.mjOBJ_GEOM and 0 in (first_id, second_id):
        return _refused("it panics on the world body as a target")
    if (targets[0] & targets[1]).any():
        return _refused("it panics in its first step where the two targets overlap")
    if declared.unnamed:
        return _ignored(UNNAMED)
    return Portability(Verdict.TAKE, notes=tuple(_notes(model, declared, first, targets)))


def _verify_apart(
    path: Path, declared: Sequence[Declaration], predicted: dict[str, Portability], scene_error: str
) -> dict[str, Portability]:
    """Return verdicts for a scene that MotrixSim refuses, by trying it with only some of the sensors."""
    try:
        root = read_mjcf(path)
    except (OSError, ParseError):
        return _unverified(predicted, scene_error)
    if count_contact_sensors(root) != len(declared):
        # Sensors that a replicate or an attached model multiplies cannot be taken out one by one.
        return _unverified(predicted, scene_error)

    def ask(*groups: list[int]) -> list[ProbedScene]:
        return Probe([{"path": str(path), "text": keep_contact_sensors(root, group)} for group in groups]).results()

    for _ in range(MOST_LOOKS):
        if drop_look(root, scene_error) is None:
            break
        # Scenes are opened without it.
        whole = ask(list(range(len(declared))))[0]
        if whole.error is None:
            return {declaration.name: _observed(declaration, predicted, whole) for declaration in declared}
        scene_error = whole.error
    doubtful = [i for i, one in enumerate(declared) if predicted[one.name].verdict is Verdict.REFUSE]
    others = sorted({*range(len(declared))} - {*doubtful})
    bare, together, *alone = ask([], others, *([i] for i in doubtful[:_MOST_ALONE]))
    if bare.error is not None:
        if bare.error.split(" at line:")[0] != scene_error.split(" at line:")[0]:
            return _unverified(predicted, scene_error)
        return {
            name: Portability(Verdict.REFUSE, f"it refuses the scene itself: {scene_error}", verified=True)
            for name in predicted
        }
    answers = dict(zip(doubtful, alone, strict=False))
    answers |= dict.fromkeys(others, together) if together.error is None else {}
    remaining = [i for i in others if i not in answers][:_MOST_ALONE]
    answers |= dict(zip(remaining, ask(*([i] for i in remaining)), strict=True))
    return {
        one.name: _observed(one, predicted, answers[i]) if i in answers else predicted[one.name]
        for i, one in enumerate(declared)
    }


def _observed(declared: Declaration, predicted: dict[str, Portability], scene: ProbedScene) -> Portability:
    """Return the verdict on a sensor in a scene that contains it."""
    expected = predicted[declared.name]
    if scene.error is not None:
        return Portability(Verdict.REFUSE, _explained(expected, Verdict.REFUSE, scene.error), verified=True)
    if declared.name in scene.sensors:
        sensor = scene.sensors[declared.name]
        notes = [*expected.notes, *_order_notes(declared, PairOrder.of(sensor["collider_pairs"]))]
        layout = declared.layout.restyled(Style.MOTRIX)
        if sensor["size"] != layout.size:
            notes.append(f"its array has {sensor['size']} values, not {layout.size}")
        return Portability(Verdict.TAKE, notes=tuple(notes), verified=True)
    if declared.unnamed:
        return replace(expected, verified=True)
    words = scene.line_about(declared.name).rpartition("sensors: ")[2]
    return Portability(Verdict.IGNORE, _explained(expected, Verdict.IGNORE, words), verified=True)


def _explained(expected: Portability, verdict: Verdict, words: str) -> str:
    """Return a reason in plain words, where the prediction has one for this verdict, with the engine's own message."""
    # The place is one in the text that the engine was given, not in the user's file.
    words = words.split(" at line:")[0]
    if expected.verdict is not verdict:
        return words or "it leaves the sensor out"
    return f"{expected.reason}; it says: {words}" if words else expected.reason


def _order_notes(declared: Declaration, order: PairOrder) -> list[str]:
    fields = declared.layout.fields
    if order is PairOrder.NATIVE or not (Field.FORCE in fields or Field.TORQUE in fields):
        return []
    netforce = declared.layout.reduce is Reduce.NETFORCE
    if order is PairOrder.REVERSED:
        effect = "netforce acts on object 1" if netforce else "the third component of force and torque is negated"
        return [f"its objects are in the reverse of the engine's order: {effect}"]
    effect = "netforce adds up forces of opposite sense" if netforce else "there the third component is negated"
    return [f"some of its pairs are in the reverse of the engine's order: {effect}"]


def _unverified(predicted: dict[str, Portability], scene_error: str) -> dict[str, Portability]:
    note = f"the installed MotrixSim refuses this scene: {scene_error}"
    return {name: replace(one, notes=(*one.notes, note)) for name, one in predicted.items()}


def _refused(reason: str) -> Portability:
    return Portability(Verdict.REFUSE, reason)


def _ignored(reason: str) -> Portability:
    return Portability(Verdict.IGNORE, reason)


def _notes(model: MjModel, declared: Declaration, kind: int, targets: list[NDArray[np.bool_]]) -> list[str]:
    notes = []
    i = declared.sensor_id
    if kind == _OBJECTS.mjOBJ_XBODY:
        for (_, target), covered in zip(sensor_targets(model, i), targets, strict=True):
            if (subtree(model, target)[model.geom_bodyid] & ~covered).any():
                notes.append("a subtree is the body and its direct children only: geoms of deeper bodies are left out")
                break
    if model.sensor_history[i].any():
        notes.append("delay and interval are ignored: it is read at once, in every step")
    fields = declared.layout.fields
    if declared.layout.reduce is Reduce.NETFORCE and (Field.FORCE in fields or Field.TORQUE in fields):
        if Field.NORMAL in fields and Field.TANGENT in fields:
            notes.append("netforce is along the array's own normal and tangent, not along the world axes")
        else:
            notes.append("netforce has no direction that can be known: request normal and tangent as well")
    return notes


def _covered(model: MjModel, kind: int, target: int) -> NDArray[np.bool_]:
    """Return True for the geoms that MotrixSim uses as a target, (ngeom,)."""
    if kind == _OBJECTS.mjOBJ_GEOM:
        return np.arange(model.ngeom) == target
    bodies = np.arange(model.nbody) == target
    if kind == _OBJECTS.mjOBJ_XBODY:
        bodies |= model.body_parentid == target
    return bodies[model.geom_bodyid]
