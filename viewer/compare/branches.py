"""Makes branches of the past with changed values, describes them, and writes the values into the scene's files."""

import math
from collections.abc import Iterable, Sequence
from pathlib import Path

import numpy as np

from ..checks.subject import Subject
from ..engines.contract import Engine
from ..errors import SceneError
from ..mjmodel.creep import creep_formula, harden_friction
from ..mjmodel.model_changes import QUANTITIES, ModelChange, apply_changes
from ..mjmodel.types import MjModel
from ..scene_files.scene import LoadedScene
from ..scene_files.xml_edits import Edit
from ..session.branch import Branch
from ..session.simulation import Simulation

_LOOK = 0.02
"""Time between two samples of a body's creep speed [s]."""


def make_branch(
    simulation: Simulation, changes: Sequence[ModelChange] = (), step: int | None = None, budget: int | None = None
) -> Simulation:
    """Return a run that starts from a step of another run's past, with the same inputs and changed values.

    Args:
        simulation: The run, with a history; it stays as it is.
        changes: Changed values, and forces that act on bodies all the time.
        step: Step at which the branch begins; None for the step that is shown.
        budget: Memory for the branch's own history [bytes]; none is kept without it.

    Returns:
        The branch, at its first step.

    Raises:
        SceneError: The past cannot be continued, or a change does not fit the scene.
    """
    history = simulation.history
    if history is None or not history.can_resume:
        raise SceneError(f"a branch needs steps that can be continued: {simulation.engine.name} cannot return to one")
    try:
        source = Branch(simulation, step, lambda model: apply_changes(model, changes))
    except ValueError as error:
        raise SceneError(str(error)) from None
    forces = [(each.place(source.engine.model), each.value) for each in changes if each.quantity == "force"]
    if forces:
        source.push = forces
    return Simulation(source, history_bytes=budget)


def run_branch(branch: Simulation, until: float) -> None:
    """Step a branch up to a simulated time [s]. Raises UnstableError if the branch diverges."""
    count = math.ceil((until - branch.shown.time) / branch.shown.timestep - 1e-6)
    if count > 0:
        branch.step(count)


def try_impratio(simulation: Simulation, key: int, impratio: float, until: float) -> float:
    """Run a scene with elliptic cones, and return the mean speed at which a held body creeps in the second half [m/s].

    Args:
        simulation: A run of the scene at its start, whose model is changed.
        key: Key of a pair of geoms that holds the body, see `pair_key`.
        impratio: Value of the option.
        until: Simulated time at which to end [s].
    """
    engine, speeds = simulation.shown, list[float]()
    harden_friction(engine.model, impratio)
    half = (engine.time + until) / 2
    while engine.time < until:
        simulation.step(max(1, round(_LOOK / engine.timestep)))
        if engine.time > half and (formula := creep_formula(engine.model, engine.contact_data(), key)) is not None:
            speeds.append(formula.body)
    return float(np.mean(speeds)) if speeds else math.nan


def describe(changes: Iterable[ModelChange]) -> str:
    """Return changes as text, such as `friction:block=1.2, timestep=0.001`."""
    return ", ".join(map(str, changes)) or "nothing changed"


def edits_of(engine: Engine, original: MjModel, changes: Sequence[ModelChange]) -> tuple[Edit, ...]:
    """Return the edits that write changed values into a scene's files, with as few changed lines as possible.

    Args:
        engine: An engine on the scene.
        original: The scene's model as its files have it.
        changes: Values to write.

    Raises:
        SceneError: A value cannot be written, or the edited files do not give that value.
    """
    subject = Subject(LoadedScene(engine.path, original))
    if not subject.is_text:
        raise SceneError("the scene has no MJCF file to write into")
    edits: list[Edit] = []
    options = {each.quantity: each.text for each in changes if not QUANTITIES[each.quantity]}
    if options:
        edits += subject.edit_options(options)
    for change in changes:
        if not QUANTITIES[change.quantity]:
            continue
        kind, index = _element(original, change)
        made = subject.edit_elements(kind, [index], {change.quantity: _whole_text(original, change)})
        if not made:
            raise SceneError(f"{change}: the element is not in the scene's own text")
        edits += made
    merged = _merged(edits)
    _check(subject, merged, changes)
    return merged


def _merged(edits: Sequence[Edit]) -> tuple[Edit, ...]:
    """Return one edit for each file from edits that were all made for the same text. Raises SceneError."""
    pieces: dict[Path, list[tuple[int, int, bytes]]] = {}
    texts = {edit.path: edit.before for edit in edits}
    for edit in edits:
        before, after = edit.before, edit.after
        start = _alike(before, after)
        most = min(len(before), len(after)) - start
        tail = _alike(before[::-1][:most], after[::-1][:most])
        pieces.setdefault(edit.path, []).append((start, len(before) - tail, after[start : len(after) - tail]))
    made = []
    for path, changes in pieces.items():
        text = texts[path]
        for start, stop, words in sorted(changes, reverse=True):
            text = text[:start] + words + text[stop:]
        made.append(Edit(path, texts[path], text))
    return tuple(made)


def _alike(one: bytes, other: bytes) -> int:
    """Return how many bytes two texts have in common from the beginning."""
    same = (place for place, (a, b) in enumerate(zip(one, other, strict=False)) if a != b)
    return next(same, min(len(one), len(other)))


def _check(subject: Subject, edits: Sequence[Edit], changes: Sequence[ModelChange]) -> None:
    """Raise SceneError if the edited scene does not have the changed values."""
    model = subject.with_edits(edits).model
    for change in changes:
        if not np.allclose(change.now(model).value, change.value, rtol=1e-6):
            raise SceneError(f"{change}: the file with it has {change.now(model).text}: nothing was saved")


def _element(model: MjModel, change: ModelChange) -> tuple[str, int]:
    """Return kind and number of the object whose element sets a changed value. Raises SceneError."""
    if QUANTITIES[change.quantity] != "geom or pair":
        raise SceneError(f"{change}: cannot be saved from here: edit the file")
    if not change.name:
        raise SceneError(f"{change}: name the geom or <pair> to save it")
    geoms, pairs = change.places(model)
    return ("geom", int(geoms[0])) if len(geoms) else ("pair", int(pairs[0]))


def _whole_text(model: MjModel, change: ModelChange) -> str:
    """Return all numbers of an attribute as text; numbers that a change leaves out are as in the model."""
    size = {"friction": 3, "solref": 2, "solimp": 5}.get(change.quantity, 1)
    if change.quantity == "friction" and len(change.places(model)[1]):
        size = 5
    whole = ModelChange(change.quantity, change.name, (0.0,) * size).now(model)
    return ModelChange(change.quantity, change.name, change.value + whole.value[len(change.value) :]).text
