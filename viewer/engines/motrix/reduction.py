"""Turns a scene that MotrixSim refuses into one without what it does not know, where that is only sensors or looks."""

from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from xml.etree.ElementTree import ParseError

from ...mjmodel.declarations import Declaration
from ...mjmodel.types import MjModel
from ...scene_files.mjcf import count_contact_sensors, keep_contact_sensors, read_mjcf
from ..abilities import Verdict
from .portability import MOST_LOOKS, drop_look, predict
from .probe import Probe


@dataclass(frozen=True)
class Reduction:
    """What remains of a scene."""

    text: str
    """MJCF."""
    unread: dict[str, str]
    """Contact sensors that were left out, and why."""
    notes: tuple[str, ...]
    """What else was left out, for a person."""


def reduce_scene(path: Path, model: MjModel, declared: Sequence[Declaration], error: str) -> Reduction | None:
    """What MotrixSim takes of a scene that it refused with an error; None if it takes nothing.

    `model`: the scene in MuJoCo, `declared`: that model's contact sensors.
    """
    verdicts = [predict(model, declaration) for declaration in declared]
    refused = [i for i, one in enumerate(verdicts) if one.verdict is Verdict.REFUSE]
    try:
        root = read_mjcf(path)
    except (OSError, ParseError):
        return None
    if count_contact_sensors(root) != len(declared):
        # Sensors that a replicate or an attached model multiplies cannot be taken out one by one.
        return None
    notes: list[str] = []
    kept = [i for i in range(len(declared)) if i not in refused]
    for attempt in range(MOST_LOOKS):
        if (look := drop_look(root, error)) is not None:
            notes.append(f"MotrixSim does not know {look}: it is left out")
        elif attempt or not refused:
            return None
        text = keep_contact_sensors(root, kept)
        answer = Probe([{"path": str(path), "text": text}]).results()[0]
        if answer.error is None:
            return Reduction(text, {declared[i].name: verdicts[i].reason for i in refused}, tuple(notes))
        error = answer.error
    return None
