"""Keyframes that a person makes: kept with the running scene, saved into its file, copied and pasted as text."""

from pathlib import Path

from ..errors import SceneError
from ..mjmodel.keyframes import Keyframe
from ..scene_files.sensor_edits import SensorEdits
from ..session.session import Session


class Keyframes:
    """States of the running scene that its file does not have, by name."""

    def __init__(self) -> None:
        self.made: dict[str, Keyframe] = {}
        self._path: Path | None = None

    def attach(self, session: Session) -> None:
        """Keep what fits a scene that was opened again; nothing of another one."""
        same = session.engine.path == self._path and self._path is not None
        self._path = session.engine.path
        known = session.engine.keys
        kept = {name: key for name, key in self.made.items() if name not in known} if same else {}
        fitting = {name: key for name, key in kept.items() if _fits(key, session)}
        self.made = fitting

    def free_name(self, session: Session) -> str:
        """A name that no keyframe has."""
        taken = {*session.engine.keys, *self.made}
        return next(name for name in (f"key {i}" for i in range(1, len(taken) + 2)) if name not in taken)

    def make(self, session: Session, name: str) -> Keyframe:
        """Keep the present state under a name; one that was made here is replaced."""
        name = name.strip()
        if not name:
            raise SceneError("a keyframe needs a name")
        if name in session.engine.keys:
            raise SceneError(f"the scene has a keyframe {name!r} already")
        self.made[name] = Keyframe.of(name, session.engine.data)
        return self.made[name]

    def state(self, session: Session) -> Keyframe:
        """The present state, named as no keyframe is."""
        return Keyframe.of(self.free_name(session), session.engine.data)

    def paste(self, session: Session, text: str) -> None:
        """Start again from a `<key>` element."""
        self.start_from(session, Keyframe.parse(text, session.engine.model))

    def go_to(self, session: Session, name: str) -> None:
        """Start again from a keyframe, of the scene or made here."""
        if name not in self.made:
            session.reset(name)
            return
        self.start_from(session, self.made[name])

    def start_from(self, session: Session, key: Keyframe) -> None:
        """Start again from a state, in all environments."""
        if session.stepped_outside:
            raise SceneError("your own loop steps this scene: it cannot be started from a keyframe here")
        if session.logged is not None:
            raise SceneError(f"{session.logged.path.name} has its own steps: it cannot be started from a keyframe")
        session.reset()
        engine = session.simulation.engine
        for env in range(engine.num_envs):
            key.write(engine.pose(env))
            engine.take_pose(env)
        session.simulation.restart()
        session.drive.mark_posed()

    def save(self, session: Session, edits: SensorEdits, name: str) -> None:
        """Write a keyframe that was made here into the scene's file. The scene is then opened again and has it."""
        assert session.engine.path is not None
        edits.save_key(session.engine.path, self.made[name].element())


def _fits(key: Keyframe, session: Session) -> bool:
    try:
        Keyframe.parse(key.element(), session.engine.model)
    except SceneError:
        return False
    return True
