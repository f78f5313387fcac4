"""What a person changed of a scene's contact sensors: to be applied, taken back, and saved into its file."""

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

from ..errors import SceneError
from ..mujoco.names import COMPANION, label_sensors, read_names
from .amending import Refusal, SensorChange
from .checking import survey_scene
from .editing import Edit, change_sensor, contact_element, insert_sensors

_STEPS_MAX = 200


@dataclass(frozen=True)
class _Step:
    """What can be taken back."""

    words: str
    changes: tuple[SensorChange, ...]
    """As they were before it."""
    edits: tuple[Edit, ...] = ()
    """What it wrote, in this order."""


class Amendments:
    """Changes that the running scene has beyond its file, each relative to the file, and the way back."""

    def __init__(self) -> None:
        self.changes: tuple[SensorChange, ...] = ()
        self._saves = 0
        self._steps: list[_Step] = []

    @property
    def state(self) -> tuple[int, tuple[SensorChange, ...]]:
        """Differs whenever the scene has to be opened again."""
        return self._saves, self.changes

    @property
    def unsaved(self) -> Mapping[str, SensorChange]:
        """Sensors that the file does not have, or not so, by name."""
        return {change.name: change for change in self.changes}

    @property
    def last(self) -> str | None:
        """What `undo` would take back, for a person; None for nothing."""
        return self._steps[-1].words if self._steps else None

    def make(self, changes: Sequence[SensorChange]) -> None:
        """Make sensors, or change some; one step to take back."""
        before, pending = self.changes, list(self.changes)
        for change in changes:
            place = next((i for i, old in enumerate(pending) if change.before and old.name == change.replaces), None)
            if place is None:
                pending.append(change)
                continue
            old = pending[place]
            pending[place] = replace(change, before=old.before, replaces=old.replaces)
            if pending[place].after == old.before:
                del pending[place]
        names = ", ".join(change.name for change in changes[:3]) + (", ..." if len(changes) > 3 else "")
        self._set(tuple(pending), _Step(f"{'change' if changes[0].before else 'make'} {names}", before))

    def revert(self, name: str) -> None:
        """A sensor as the file has it, or none if the file has none."""
        kept = tuple(change for change in self.changes if change.name != name)
        if kept != self.changes:
            self._set(kept, _Step(f"revert {name}", self.changes))

    def save(self, path: Path, model: Any, changes: Sequence[SensorChange]) -> None:
        """Write changes into the scene's files and touch nothing else there; SceneError leaves everything as it was.

        `model`: the running scene.
        """
        names, written = _sensors_in_file(model, self.changes)
        edits: list[Edit] = []
        try:
            for change in changes:
                if change.before is None:
                    continue
                if change.replaces not in names:
                    raise SceneError(f"{path}: there is no sensor {change.replaces!r} to change")
                place = names.index(change.replaces)
                attributes = change.after.changes_from(change.before)
                edits.append(_saved(change_sensor(survey_scene(path), written, place, attributes)))
                names[place], written[place] = change.name, change.after.name
            elements = [contact_element(change.after.attributes) for change in changes if change.before is None]
            if elements:
                edits.append(_saved(insert_sensors(path, elements)))
        except SceneError:
            for edit in reversed(edits):
                edit.undone().save()
            raise
        kept = tuple(change for change in self.changes if change not in changes)
        self._saves += 1
        self._set(kept, _Step(f"save into {path.name}", self.changes, tuple(edits)))

    def undo(self) -> str | None:
        """Take the last step back, also out of the file; what it was. SceneError if the file has changed since."""
        if not self._steps:
            return None
        step = self._steps.pop()
        for edit in reversed(step.edits):
            edit.undone().save()
        self._saves += bool(step.edits)
        self.changes = step.changes
        return step.words

    def settle(self, refusals: Iterable[Refusal]) -> None:
        """Drop what the scene did not take, and steps that are without effect because of that."""
        refused = [refusal.change for refusal in refusals]
        self.changes = tuple(change for change in self.changes if change not in refused)
        while self._steps and not self._steps[-1].edits and self._steps[-1].changes == self.changes:
            self._steps.pop()

    def clear(self) -> None:
        """Forget everything: another scene runs."""
        self.changes = ()
        self._steps.clear()

    def _set(self, changes: tuple[SensorChange, ...], step: _Step) -> None:
        self.changes = changes
        self._steps = [*self._steps, step][-_STEPS_MAX:]


def _sensors_in_file(model: Any, changes: Sequence[SensorChange]) -> tuple[list[str], list[str]]:
    """The sensors of a model without its changes: what the viewer calls them, and the names that they have."""
    written = [name for name in read_names(model, "sensor") if not name.startswith(COMPANION)]
    names = label_sensors(written)
    for change in changes:
        if change.name not in names:
            continue
        place = names.index(change.name)
        if change.before is None:
            del names[place], written[place]
        else:
            names[place], written[place] = change.replaces, change.before.name
    return names, written


def _saved(edit: Edit) -> Edit:
    edit.save()
    return edit
