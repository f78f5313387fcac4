"""What can go wrong with a recording, in words for a person."""

from pathlib import Path

from ..engines.errors import SceneError


class RecordingError(SceneError):
    """A file that cannot be written, or a picture that cannot be made: one line."""


def write_error(path: Path, error: BaseException) -> RecordingError:
    """A failed write, such as a full disk, as one line about the file that was asked for."""
    reason = getattr(error, "strerror", None) or str(error) or type(error).__name__
    return RecordingError(f"{path}: cannot be written ({str(reason).splitlines()[0]})")
