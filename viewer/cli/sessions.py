"""The arguments of a command without a window to the session that they ask for."""

import argparse
from typing import TYPE_CHECKING

from ..settings import EngineChoice, Options, Reduce, ViewState
from .progress import say

if TYPE_CHECKING:
    from ..session import Session


def open_session(arguments: argparse.Namespace) -> "Session":
    """The scene with the sensors, keyframe and camera that were asked for."""
    from ..engines.files.loading import find_scene
    from ..engines.opening import open_engines
    from ..session import Session

    path = find_scene(arguments.scene)
    options = Options(
        scene=path,
        camera=getattr(arguments, "camera", None),
        key=arguments.key,
        sensors=tuple(arguments.sensor),
        reduce=Reduce(arguments.reduce) if arguments.reduce else None,
    )
    engine, ghost = open_engines(path, EngineChoice(arguments.engine))
    session = Session(engine, ViewState(), options, ghost)
    for note in session.engine.notes:
        say(f"note: {note}")
    for name, reason in session.engine.unread.items():
        say(f"note: sensor {name} is left out: {reason}")
    if not len(session.engine.sensors) and session.engine.can_watch_all:
        session.watch_all()
        say("note: the scene has no contact sensors, so all contacts are shown")
    return session
