"""Defines the errors that are reported to a user, each in one line."""

from collections.abc import Iterable
from difflib import get_close_matches
from pathlib import Path


class SceneError(ValueError):
    """Error of one line for a scene, or a request about it, that cannot be used.

    Example:
        ```python
        try:
            engine = contact_viewer.open_engine("missing.xml")
        except contact_viewer.SceneError as error:
            print(error)
        ```
    """


class EngineError(SceneError):
    """Error of one line for an engine that failed while it ran, with the engine's own message."""


class ControlError(EngineError):
    """Error of one line for a controller that cannot be read or called, with its file and line number."""


class LogEnd(EngineError):
    """Error of one line for a log that has no more steps."""


class UnstableError(RuntimeError):
    """Error for a simulation that diverged, and that the engine has reset."""

    def __init__(self, reason: str, outcome: str) -> None:
        super().__init__(reason)
        self.reason = reason
        """Description of the error, for the user."""
        self.outcome = outcome
        """Description of the state that the simulation shows now."""

    def __str__(self) -> str:
        return f"{self.reason}; {self.outcome}"


class RecordingError(SceneError):
    """Error of one line for a file that cannot be written, or a frame that cannot be drawn."""


class DiskFullError(RecordingError):
    """Error for a full disk: the recording so far can be completed."""

    def __init__(self, path: Path) -> None:
        super().__init__(f"{path}: the disk is full")


def write_error(path: Path, error: BaseException) -> RecordingError:
    """Return an error of one line for a failed write, such as on a full disk, with the path that was asked for."""
    reason = getattr(error, "strerror", None) or str(error) or type(error).__name__
    return RecordingError(f"{path}: cannot be written ({str(reason).splitlines()[0]})")


def did_you_mean(word: str, known: Iterable[str]) -> str:
    """Return a question that names the closest known word, to be appended to an error; empty if none is close.

    Example:
        >>> did_you_mean("recrod", ["record", "report"])
        '; did you mean record?'
    """
    close = get_close_matches(word, list(known), n=1, cutoff=0.7)
    return f"; did you mean {close[0]}?" if close else ""
