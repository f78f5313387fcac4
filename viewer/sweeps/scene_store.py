"""Compiles the scenes of a sweep into bytes, which are sent to the processes that run them."""

import pickle
from collections import OrderedDict
from collections.abc import Sequence
from dataclasses import replace
from pathlib import Path

from ..errors import SceneError
from ..files import hash_of
from ..mjmodel.names import find_key
from ..mjmodel.variation import find_idle_variations
from ..scene_files.compiled_sensors import watch
from ..scene_files.preflight import survey_scene
from ..scene_files.safe_open import OpenedScene, open_safely
from ..scene_files.scene import catch_warnings
from .plan import Plan

_KEPT = 4
"""Number of scenes that stay compiled: runs go through one scene after the other."""
_CHECKED = 8
"""Number of scenes that are checked before any run; later scenes are checked when their turn comes."""


class SceneStore:
    """Store of scenes that are compiled when their turn comes. Later changes of files do not change a compiled
    scene."""

    def __init__(self, plan: Plan) -> None:
        self._plan = plan
        self.notes: dict[str, None] = {}
        """Notes for the user about the scenes, each sentence once."""
        self._scenes: OrderedDict[int, bytes] = OrderedDict()

    def packed(self, number: int) -> bytes:
        """Return a compiled scene as bytes."""
        if number not in self._scenes:
            scene = watch(open_safely(self._plan.scenes[number]), self._plan.watched)
            self.notes |= dict.fromkeys(_check(scene, self._plan))
            # What it was made from is not needed where it runs.
            self._scenes[number] = pickle.dumps(replace(scene, survey=None), pickle.HIGHEST_PROTOCOL)
            while len(self._scenes) > _KEPT:
                self._scenes.popitem(last=False)
        self._scenes.move_to_end(number)
        return self._scenes[number]

    def check(self) -> None:
        """Open the first scenes, so that an error that all of them share is reported before any run."""
        for number in range(min(len(self._plan.scenes), _CHECKED)):
            self.packed(number)


def unpack_scene(packed: bytes) -> OpenedScene:
    """Return the compiled scene in the bytes of `SceneStore.packed`."""
    catch_warnings()
    scene = pickle.loads(packed)
    assert isinstance(scene, OpenedScene)
    return scene


def scene_hashes(scenes: Sequence[Path]) -> dict[str, str]:
    """Return the SHA-256 of every file that the scenes are read from, by the file's path."""
    files = {file for scene in scenes for file in survey_scene(scene).files}
    return {str(file): hash_of(file) for file in sorted(files) if file.is_file()}


def _check(scene: OpenedScene, plan: Plan) -> list[str]:
    """Raise SceneError if a scene lacks a requested sensor, name or keyframe; return notes on variations without
    effect."""
    import copy

    from ..engines.registry import open_engine

    sensors = open_engine(scene).sensors
    for name in plan.sensors:
        sensors.position(name)
    if plan.key is not None:
        find_key(scene.model, plan.key)
    model = copy.copy(scene.model)
    for variation in plan.randomisation.variations:
        try:
            variation.apply(model, 0)
        except SceneError as error:
            raise SceneError(f"--vary {variation}: {error}") from None
    return find_idle_variations(scene.model, plan.randomisation.variations)
