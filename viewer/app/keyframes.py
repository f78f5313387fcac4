"""Keyframes that the user makes: kept with the running scene, saved into its file, copied and pasted as text."""

from pathlib import Path

from ..errors import SceneError
from ..mjmodel.keyframes import Keyframe
from ..scene_files.sensor_edits import SensorEdits
from ..session.session import Session
from ..session.simulation import Change


class Keyframes:
    """Keyframes that are kept with the running scene and are not in its file, by name."""

    def __init__(self, edits: SensorEdits) -> None:
        """Prepare keyframes. `edits`: undo stack."""
        self._edits = edits
        self.made: dict[str, Keyframe] = {}
        self._path: Path | None = None

    def attach(self, session: Session) -> None:
        """Keep the keyframes that fit a reloaded scene; drop keyframes of another scene."""
        same = session.engine.path == self._path and self._path is not None
        self._path = session.engine.path
        known = session.engine.keys
        kept = {name: key for name, key in self.made.items() if name not in known} if same else {}
        fitting = {name: key for name, key in kept.items() if _fits(key, session)}
        self.made = fitting

    def free_name(self, session: Session) -> str:
        """Return a name that no keyframe has."""
        taken = {*session.engine.keys, *self.made}
        return next(name for name in (f"key {i}" for i in range(1, len(taken) + 2)) if name not in taken)

    def make(self, session: Session, name: str) -> Keyframe:
        """Keep the present state as a keyframe; a kept keyframe with this name is replaced."""
        name = name.strip()
        if not name:
            raise SceneError("the keyframe needs a name: type one")
        if name in session.engine.keys:
            raise SceneError(f"the scene already has a keyframe {name!r}: type another name")
        self._set(f"keep keyframe {name}", name, Keyframe.of(name, session.engine.data))
        return self.made[name]

    def remove(self, name: str) -> None:
        """Remove a kept keyframe."""
        self._set(f"remove keyframe {name}", name, None)

    def state(self, session: Session) -> Keyframe:
        """Return the present state, with a name that no keyframe has."""
        return Keyframe.of(self.free_name(session), session.engine.data)

    def paste(self, session: Session, text: str) -> None:
        """Reset to a `<key>` element."""
        self.start_from(session, Keyframe.parse(text, session.engine.model), "paste a state")

    def go_to(self, session: Session, name: str) -> None:
        """Reset to a keyframe of the scene, or to a kept one."""
        if name in self.made:
            self.start_from(session, self.made[name], f"go to {name}")
            return
        _check_start(session)
        before = _states(session)
        session.reset(name)
        session.drive.record(f"go to {name}", lambda: _start(session, before))

    def start_from(self, session: Session, key: Keyframe, description: str) -> None:
        """Reset all environments to a state."""
        _check_start(session)
        before = _states(session)
        session.reset()
        _start(session, [key] * len(before))
        session.drive.record(description, lambda: _start(session, before))

    def save(self, session: Session, name: str) -> None:
        """Write a kept keyframe into the scene's file. The scene is then reloaded with it."""
        assert session.engine.path is not None
        key = self.made[name]
        self._edits.save_key(session.engine.path, key.element(), lambda: self.made.__setitem__(name, key))

    def _set(self, description: str, name: str, key: Keyframe | None) -> None:
        """Add or remove a keyframe, with undo."""
        before = self.made.get(name)

        def put(key: Keyframe | None) -> None:
            self.made = {other: made for other, made in self.made.items() if other != name}
            if key is not None:
                self.made[name] = key

        put(key)
        self._edits.record(description, lambda: put(before))


def _check_start(session: Session) -> None:
    """Raise SceneError if the scene cannot start from a keyframe."""
    if (reason := session.why_not(Change.KEYFRAME)) is not None:
        raise SceneError(reason)


def _states(session: Session) -> list[Keyframe]:
    """Return the present states of all environments."""
    engine = session.simulation.engine
    return [Keyframe.of("", engine.pose(env)) for env in range(engine.num_envs)]


def _start(session: Session, keys: list[Keyframe]) -> None:
    """Begin a history with a state for each environment; forces are known after the next step."""
    engine = session.simulation.engine
    for env, key in enumerate(keys):
        key.write(engine.pose(env))
        engine.adopt_pose(env)
    session.simulation.restart()
    session.drive.mark_posed()


def _fits(key: Keyframe, session: Session) -> bool:
    try:
        Keyframe.parse(key.element(), session.engine.model)
    except SceneError:
        return False
    return True
