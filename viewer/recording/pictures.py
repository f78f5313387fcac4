"""One picture to a file."""

from pathlib import Path

from .encoders import Picture, save_png
from .errors import RecordingError, write_error
from .files import PartFile
from .formats import PNG


def save_picture(path: str | Path, picture: Picture) -> Path:
    """Write a screenshot, (height, width, 3) of uint8, as PNG; returns its path."""
    if Path(path).suffix.lower() != PNG.suffix or Path(path).is_dir():
        raise RecordingError(f"{path}: a picture's name ends with {PNG.suffix}")
    file = PartFile(path)
    try:
        save_png(file.part, picture)
    except OSError as error:
        file.discard()
        raise write_error(file.final, error) from None
    return file.commit()
