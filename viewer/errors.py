"""Defines the errors that are reported to a person, each in one line."""

from pathlib import Path


class SceneError(ValueError):
    """A scene, or something asked of it, that cannot be used: one line."""


class EngineError(SceneError):
    """An engine that failed while it ran, in its own words: one line."""


class ControlError(EngineError):
    """A controller that cannot be read or called: one line with its file and line number."""


class LogEnd(EngineError):
    """A log that has no more steps: one line."""


class UnstableError(RuntimeError):
    """The simulation diverged and the engine reset it."""

    def __init__(self, reason: str, outcome: str) -> None:
        super().__init__(reason)
        self.reason = reason
        """What happened, for a person."""
        self.outcome = outcome
        """What the simulation shows now."""

    def __str__(self) -> str:
        return f"{self.reason}; {self.outcome}"


class RecordingError(SceneError):
    """A file that cannot be written, or a picture that cannot be made: one line."""


class DiskFullError(RecordingError):
    """A disk that is full: what was recorded so far can be completed."""

    def __init__(self, path: Path) -> None:
        super().__init__(f"{path}: the disk is full")


def write_error(path: Path, error: BaseException) -> RecordingError:
    """A failed write, such as a full disk, as one line about the file that was asked for."""
    reason = getattr(error, "strerror", None) or str(error) or type(error).__name__
    return RecordingError(f"{path}: cannot be written ({str(reason).splitlines()[0]})")
