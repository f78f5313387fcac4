"""Keeps the changes that a person made to the contact sensors of a scene: applied, undone, saved into its file."""

from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from pathlib import Path
from time import monotonic

from ..errors import SceneError
from ..mjmodel.names import COMPANION, label_sensors, read_names
from ..mjmodel.types import MjModel
from .spec_changes import RefusedChange, SensorChange
from .xml_edits import Edit, change_sensor, contact_element, insert_elements

_STEPS_MAX = 200


@dataclass(frozen=True)
class _Step:
    """A step that can be undone."""

    description: str
    changes: tuple[SensorChange, ...]
    """All changes as they were before it."""
    edits: tuple[Edit, ...] = ()
    """Edits of files that it made, in this order."""
    restore: Callable[[], None] | None = None
    """What else is to be done to undo it."""
    time: float = field(default_factory=monotonic)
    """By the clock [s]."""


class SensorEdits:
    """Changes of the running scene, each relative to its file, and the steps to undo them."""

    def __init__(self) -> None:
        self.changes: tuple[SensorChange, ...] = ()
        self._saves = 0
        self._steps: list[_Step] = []

    @property
    def state(self) -> tuple[int, tuple[SensorChange, ...]]:
        """Differs from an earlier one if the scene has to be opened again."""
        return self._saves, self.changes

    @property
    def unsaved(self) -> Mapping[str, SensorChange]:
        """Changes that the file does not have yet, by the name of the sensor."""
        return {change.name: change for change in self.changes}

    @property
    def last(self) -> str | None:
        """The step that `undo` would undo, for a person; None if there is none."""
        return self._steps[-1].description if self._steps else None

    @property
    def last_time(self) -> float:
        """When that step was made, by the clock [s]."""
        return self._steps[-1].time if self._steps else 0.0

    def record(self, description: str, restore: Callable[[], None]) -> None:
        """A step that is not about sensors was made; `restore` undoes it."""
        self._set(self.changes, _Step(description, self.changes, restore=restore))

    def make(self, changes: Sequence[SensorChange]) -> None:
        """Make sensors, or change some, in one step that can be undone."""
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
        """Return a sensor to what the file declares; remove it if the file does not."""
        kept = tuple(change for change in self.changes if change.name != name)
        if kept != self.changes:
            self._set(kept, _Step(f"revert {name}", self.changes))

    def save(self, path: Path, model: MjModel, changes: Sequence[SensorChange]) -> None:
        """Write changes into the scene's files and nothing else; after a SceneError everything is as it was.

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
                edits.append(_saved(change_sensor(path, written, place, attributes)))
                names[place], written[place] = change.name, change.after.name
            elements = [contact_element(change.after.attributes) for change in changes if change.before is None]
            if elements:
                edits.append(_saved(insert_elements(path, "sensor", elements)))
        except SceneError:
            for edit in reversed(edits):
                edit.undone().save()
            raise
        kept = tuple(change for change in self.changes if change not in changes)
        self._saves += 1
        self._set(kept, _Step(f"save into {path.name}", self.changes, tuple(edits)))

    def save_key(self, path: Path, element: str, restore: Callable[[], None]) -> None:
        """Write a keyframe into the scene's file, and nothing else. `restore`: what undoing does beside the file."""
        edit = _saved(insert_elements(path, "keyframe", [element]))
        self._saves += 1
        self._set(self.changes, _Step(f"save a keyframe into {path.name}", self.changes, (edit,), restore))

    def undo(self) -> str | None:
        """Undo the last step, also in the file; returns which. SceneError if the file has changed since."""
        if not self._steps:
            return None
        step = self._steps.pop()
        for edit in reversed(step.edits):
            edit.undone().save()
        if step.restore is not None:
            step.restore()
        self._saves += bool(step.edits)
        self.changes = step.changes
        return step.description

    def drop_refused(self, refusals: Iterable[RefusedChange]) -> None:
        """Drop the changes that did not fit the scene, and steps that have no effect without them."""
        refused = [refusal.change for refusal in refusals]
        self.changes = tuple(change for change in self.changes if change not in refused)
        while self._steps and not _has_effect(self._steps[-1], self.changes):
            self._steps.pop()

    def clear(self) -> None:
        """Drop everything: another scene runs."""
        self.changes = ()
        self._steps.clear()

    def _set(self, changes: tuple[SensorChange, ...], step: _Step) -> None:
        self.changes = changes
        self._steps = [*self._steps, step][-_STEPS_MAX:]


def _has_effect(step: _Step, changes: tuple[SensorChange, ...]) -> bool:
    """True if undoing a step would change something."""
    return bool(step.edits) or step.restore is not None or step.changes != changes


def _sensors_in_file(model: MjModel, changes: Sequence[SensorChange]) -> tuple[list[str], list[str]]:
    """The sensors of a model without its changes: what the viewer calls them, and their names in the file."""
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
