"""What can go wrong with a scene, in words for a person."""


class SceneError(ValueError):
    """A scene, or something asked of it, that cannot be used: one line."""


class EngineError(SceneError):
    """An engine that failed while it ran, in its own words: one line."""


class UnstableError(RuntimeError):
    """The simulation diverged and the engine reset it."""
