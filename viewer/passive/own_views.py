"""Hands over what a program says about the picture: a camera, visual options, and geoms of its own."""

from collections.abc import Callable
from functools import cached_property
from typing import Any

import mujoco

from ..mjmodel.types import MjModel
from .shared_memory import SharedMemory, Word
from .user_geoms import MOST_GEOMS, GeomMemory
from .view_values import CAMERA, OPTIONS, read_values

Send = Callable[[dict[str, Any]], bool]
"""Sends a message to the window; False if it does not listen now."""


class OwnViews:
    """MuJoCo's objects that a program writes into, each made when it is first asked for."""

    def __init__(self, model: MjModel) -> None:
        self._model = model
        self._watched: dict[str, tuple[Any, tuple[str, ...]]] = {}
        """Camera and visual options, and their fields."""
        self._sent: dict[str, Any] = {}
        """What the window knows of them."""
        self._geoms: GeomMemory | None = None

    @cached_property
    def camera(self) -> Any:
        """An MjvCamera."""
        camera = mujoco.MjvCamera()
        mujoco.mjv_defaultFreeCamera(self._model, camera)
        return self._watch("cam", camera, CAMERA)

    @cached_property
    def options(self) -> Any:
        """An MjvOption."""
        return self._watch("opt", mujoco.MjvOption(), OPTIONS)

    @cached_property
    def scene(self) -> Any:
        """An MjvScene, empty."""
        scene = mujoco.MjvScene(self._model, MOST_GEOMS)
        self._geoms = GeomMemory(scene)
        return scene

    def hand_over(self, send: Send, shared: SharedMemory) -> None:
        """Let the window have what has changed since the last call."""
        for name, (owner, fields) in self._watched.items():
            values = read_values(owner, fields)
            changed = {field: value for field, value in values.items() if value != self._sent[name][field]}
            if changed and send({name: changed}):
                self._sent[name] = values
        if self._geoms is not None:
            words = shared.words
            words[Word.GEOM_VERSION] += 1
            words[Word.GEOMS] = self._geoms.read(shared.geoms)
            words[Word.GEOM_VERSION] += 1

    def _watch(self, name: str, owner: Any, fields: tuple[str, ...]) -> Any:
        self._watched[name] = owner, fields
        self._sent[name] = read_values(owner, fields)
        return owner
