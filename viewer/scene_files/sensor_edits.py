"""Undo stack of the user's actions, and changes of the contact sensors of a scene: applied, and saved into its file."""

from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from pathlib import Path

from ..errors import SceneError
from ..mjmodel.names import COMPANION, label_sensors, read_names
from ..mjmodel.types import MjModel
from .spec_changes import Exclusion, RefusedChange, SceneChange, SensorChange
from .xml_edits import Edit, change_sensor, contact_element, exclude_element, insert_elements

_DONE_MAX = 200


@dataclass(frozen=True)
class _Done:
    """Action of the user that can be undone."""

    owner: object
    """Object that the action changed; see `UndoStack.forget`."""
    description: str
    undo: Callable[[], None]
    has_effect: Callable[[], bool]
    """Function that returns False if undoing would no longer change anything, or would change something else."""


class UndoStack:
    """Stack of a user's actions that can be undone, in the order of doing."""

    def __init__(self) -> None:
        self._done: list[_Done] = []

    def push(
        self, owner: object, description: str, undo: Callable[[], None], has_effect: Callable[[], bool] = lambda: True
    ) -> None:
        """Add an action on `owner`, kept as long as undoing it `has_effect`."""
        self._done = [*self._done, _Done(owner, description, undo, has_effect)][-_DONE_MAX:]

    @property
    def last(self) -> str | None:
        """Description of the action that `undo` would undo; None if there is none."""
        while self._done and not self._done[-1].has_effect():
            self._done.pop()
        return self._done[-1].description if self._done else None

    def undo(self) -> str | None:
        """Undo the last action, and return its description. Raises SceneError if a file has changed since."""
        if self.last is None:
            return None
        done = self._done.pop()
        done.undo()
        return done.description

    def forget(self, owner: object) -> None:
        """Drop all actions on `owner`, because it no longer exists, or because the actions belong to the past and
        cannot be undone."""
        self._done = [done for done in self._done if done.owner is not owner]


class SensorEdits:
    """Changes of the running scene, each relative to its file."""

    def __init__(self, undo_stack: UndoStack | None = None) -> None:
        """Prepare edits. `undo_stack`: shared stack on which the changes can be undone; None for a new one."""
        self.changes: tuple[SceneChange, ...] = ()
        self.undo_stack = undo_stack or UndoStack()
        self._saves = 0
        self._refused: list[SceneChange] = []
        """Changes that did not fit the scene."""

    @property
    def state(self) -> tuple[int, tuple[SceneChange, ...]]:
        """Value that differs from an earlier one if the scene has to be opened again."""
        return self._saves, self.changes

    @property
    def unsaved(self) -> Mapping[str, SensorChange]:
        """Changes of sensors that are not in the file yet, by the sensors' names."""
        return {change.name: change for change in self.changes if isinstance(change, SensorChange)}

    @property
    def exclusions(self) -> tuple[Exclusion, ...]:
        """Pairs of bodies that are excluded here and not yet in the file."""
        return tuple(change for change in self.changes if isinstance(change, Exclusion))

    def exclude(self, exclusion: Exclusion) -> None:
        """Exclude collisions of two bodies, in one step that can be undone."""
        if exclusion not in self.changes:
            self._set(f"exclude {exclusion.name}", (*self.changes, exclusion))

    def record(self, description: str, restore: Callable[[], None]) -> None:
        """Add an action on something other than sensors, which can be undone as long as this scene is open."""
        self.undo_stack.push(self, description, restore)

    def make(self, changes: Sequence[SensorChange]) -> None:
        """Make sensors, or change some, in one step that can be undone."""
        pending = list(self.changes)
        for change in changes:
            old = self._find(pending, change.replaces) if change.before else None
            if old is None:
                pending.append(change)
                continue
            place, whole = pending.index(old), replace(change, before=old.before, replaces=old.replaces)
            pending[place : place + 1] = [] if whole.after == old.before else [whole]
        names = ", ".join(change.name for change in changes[:3]) + (", ..." if len(changes) > 3 else "")
        self._set(f"{'change' if changes[0].before else 'make'} {names}", tuple(pending))

    def revert(self, name: str) -> None:
        """Return a sensor to the file's declaration; remove it if the file does not declare it."""
        kept = tuple(change for change in self.changes if not isinstance(change, SensorChange) or change.name != name)
        if kept != self.changes:
            self._set(f"revert {name}", kept)

    @staticmethod
    def _find(changes: Sequence[SceneChange], name: str) -> SensorChange | None:
        """Return the change of a sensor, by its name in the viewer."""
        return next((old for old in changes if isinstance(old, SensorChange) and old.name == name), None)

    def save(self, path: Path, model: MjModel, changes: Sequence[SceneChange]) -> None:
        """Write changes into the scene's files and nothing else; after a SceneError everything is as it was.

        `model`: the running scene.
        """
        names, written = _sensors_in_file(model, list(self.unsaved.values()))
        edits: list[Edit] = []
        sensors = [change for change in changes if isinstance(change, SensorChange)]
        try:
            for change in sensors:
                if change.before is None:
                    continue
                if change.replaces not in names:
                    raise SceneError(f"{path}: there is no sensor {change.replaces!r} to change")
                place = names.index(change.replaces)
                attributes = change.after.changes_from(change.before)
                edits.append(_saved(change_sensor(path, written, place, attributes)))
                names[place], written[place] = change.name, change.after.name
            elements = [contact_element(change.after.attributes) for change in sensors if change.before is None]
            excluded = [exclude_element(change.bodies) for change in changes if isinstance(change, Exclusion)]
            for section, lines in (("contact", excluded), ("sensor", elements)):
                if lines:
                    edits.append(_saved(insert_elements(path, section, lines)))
        except SceneError:
            for edit in reversed(edits):
                edit.undone().save()
            raise
        kept = tuple(change for change in self.changes if change not in changes)
        self._set(f"save into {path.name}", kept, edits)

    def save_key(self, path: Path, element: str, restore: Callable[[], None]) -> None:
        """Write a keyframe into the scene's file, and nothing else. `restore`: called by undoing, after the file is
        restored."""
        edit = _saved(insert_elements(path, "keyframe", [element]))
        self._set(f"save a keyframe into {path.name}", self.changes, [edit], restore)

    def save_edits(self, description: str, edits: Sequence[Edit]) -> None:
        """Write edits of the scene's files, all or none, in a step that can be undone. Raises SceneError."""
        written: list[Edit] = []
        try:
            for edit in edits:
                written.append(_saved(edit))
        except SceneError:
            for edit in reversed(written):
                edit.undone().save()
            raise
        self._set(description, self.changes, written)

    def drop_refused(self, refusals: Iterable[RefusedChange]) -> None:
        """Drop changes that did not fit the scene."""
        self._refused += [refusal.change for refusal in refusals]
        self.changes = self._accepted(self.changes)

    def clear(self) -> None:
        """Drop all changes, because another scene runs."""
        self.changes, self._refused = (), []
        self.undo_stack.forget(self)

    def _accepted(self, changes: tuple[SceneChange, ...]) -> tuple[SceneChange, ...]:
        return tuple(change for change in changes if change not in self._refused)

    def _set(
        self,
        description: str,
        changes: tuple[SceneChange, ...],
        edits: Sequence[Edit] = (),
        restore: Callable[[], None] = lambda: None,
    ) -> None:
        """Replace all changes, in a step that can be undone. `edits`: edits of files that belong to it, in the order of
        doing."""
        before = self.changes

        def undo() -> None:
            for edit in reversed(edits):
                edit.undone().save()
            restore()
            self._saves += bool(edits)
            self.changes = self._accepted(before)

        def has_effect() -> bool:
            return bool(edits) or self._accepted(changes) != self._accepted(before)

        self.changes = changes
        # What is made once more may fit now.
        self._refused = [change for change in self._refused if change not in changes]
        self._saves += bool(edits)
        self.undo_stack.push(self, description, undo, has_effect)


def _sensors_in_file(model: MjModel, changes: Sequence[SensorChange]) -> tuple[list[str], list[str]]:
    """Return the sensors of a model without its changes: names in the viewer, and names in the file."""
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
