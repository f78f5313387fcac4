"""Turns what a user's process hands over into an engine of ours, at the first state of the loop."""

import os
from pathlib import Path

import mujoco

from ..engines.mujoco.arrivals import STATE
from ..engines.mujoco.engine import MujocoEngine
from ..errors import SceneError
from ..scene_files.compiled_sensors import companions_of, with_sensors
from ..scene_files.scene import LoadedScene, engine_warnings
from .shared_memory import SharedMemory


def open_engine(
    model: int, ring: int, state_size: int, rows: int, path: Path | None = None
) -> tuple[LoadedScene, MujocoEngine, SharedMemory]:
    """The model in a file as it came, the engine of it, and the memory that is shared.

    `model`, `ring`: descriptors; `state_size`: values of a row; `path`: the scene's file, if that is known.
    """
    # Without a hook MuJoCo writes MUJOCO_LOG.TXT into the working folder.
    mujoco.set_mju_user_warning(engine_warnings.append)
    theirs = mujoco.MjModel.from_binary_path(f"/dev/fd/{model}")
    compiled = LoadedScene(path, theirs, companions_of(theirs))
    os.close(model)
    try:
        scene = with_sensors(compiled)
    except SceneError:
        # Contacts are then reconstructed from the contact list.
        scene = compiled
    engine = MujocoEngine(scene)
    shared = SharedMemory(ring, state_size, rows, engine.allow_model_changes().size)
    # As it is now, so that the camera sees what moves.
    mujoco.mj_setState(engine.model, engine.data, shared.states[0], STATE)
    mujoco.mj_forward(engine.model, engine.data)
    return compiled, engine, shared
