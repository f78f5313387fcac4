"""Keeps the values that a model had at different times, and returns to them, while its owner changes them."""

import copy
from collections.abc import Mapping

import mujoco

from ...mjmodel.model_values import ModelValues
from ...mjmodel.types import MjModel
from ...scene_files.index_checks import check_references
from ...scene_files.run_file import model_bytes

_MOST = 200_000
"""Most versions that are kept: a history needs at most one per step, and has at most as many steps."""


class ModelVersions:
    """Separate model that can have any values that its owner's model has or had."""

    def __init__(self, model: MjModel) -> None:
        self._values = ModelValues(model)
        self._base = self._values.split(self._values.read())
        self._known: dict[int, dict[int, bytes]] = {0: {}}
        """Arrays of each version that differ from those of the first one."""
        self.current = 0
        """Version whose values the model has."""
        self.newest = 0

    @property
    def size(self) -> int:
        """Size of all values of a version [bytes]."""
        return self._values.size

    def add(self, number: int, content: bytes) -> None:
        """Keep a version. `content`: all values, as `ModelValues.read` returns them."""
        parts = self._values.split(content)
        self._known[number] = {
            place: part for place, (part, base) in enumerate(zip(parts, self._base, strict=True)) if part != base
        }
        self.newest = max(self.newest, number)
        if len(self._known) > _MOST:
            self._known.pop(next(iter(self._known)))

    def content(self, number: int) -> bytes:
        """Return all values of a version, as they were passed to `add`."""
        known = self._known[number]
        return b"".join(known.get(place, base) for place, base in enumerate(self._base))

    def knows(self, number: int) -> bool:
        return number in self._known

    def use(self, number: int) -> None:
        """Give the model the values of a version; an unknown version is ignored."""
        if number == self.current or number not in self._known:
            return
        before, after = self._known.get(self.current), self._known[number]
        # Without knowing what it has now, all of it.
        places = range(len(self._base)) if before is None else {*before, *after}
        for place in places:
            content = after.get(place, self._base[place])
            if before is None or before.get(place, self._base[place]) != content:
                self._values.write(place, content)
        self.current = number

    def for_model(self, model: MjModel) -> "ModelVersions":
        """Return the same versions for another model, whose values are those of the first version except for its
        sensors."""
        other = ModelVersions(model)
        other._base, other._known, other.newest = self._base, self._known, self.newest
        other._known = dict(self._known)
        return other


def check_versions(model: MjModel, contents: Mapping[int, bytes]) -> None:
    """Raise ValueError, OverflowError or TypeError if a version in a file does not fit a model."""
    trial = copy.deepcopy(model)
    versions = ModelVersions(trial)
    for number, content in contents.items():
        if len(content) != versions.size:
            raise ValueError("another number of values")
        versions.add(number, content)
        versions.use(number)
        # Takes 10 ms, and most programs change no integers.
        if not versions._values.integers.isdisjoint(versions._known[number]):
            content_of_file = model_bytes(trial).tobytes()
            check_references(mujoco.MjModel.from_binary_path("model.mjb", {"model.mjb": content_of_file}))
