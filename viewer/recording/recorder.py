"""Pictures to a file that appears when it is complete: encoding runs in a thread of its own."""

import os
import shutil
import threading
from fractions import Fraction
from pathlib import Path
from queue import Full, Queue
from types import TracebackType

from .encoders import Picture, open_encoder
from .errors import RecordingError, write_error
from .formats import FOLDER, check_rate, fitting_size, format_of

_QUEUE_LENGTH = 4
"""Pictures that wait for the encoder at most: they bound the memory of a recording of any length."""


class Recorder:
    """Writes pictures to a video, an animation, a picture or a folder, by the path's suffix.

    The file is written under a hidden name beside its final one and renamed by `finish`. Whoever leaves without
    `finish` leaves nothing behind.
    """

    def __init__(self, path: str | Path, size: tuple[int, int], fps: float | Fraction = 60) -> None:
        """`size`: width and height of the pictures [px]. A format that needs even sizes cuts off an odd last pixel."""
        kind = format_of(path)
        rate = Fraction(fps).limit_denominator(1001)
        check_rate(kind, rate)
        fitting_size(kind, size)
        width, height = size
        if kind.even:
            width, height = width - width % 2, height - height % 2
        if width < 1 or height < 1:
            raise RecordingError(f"a picture of {size[0]} x {size[1]} pixels is too small for a {kind.name}")
        self.path = Path(path)
        """Where the file will be."""
        self.format = kind
        self.size = width, height
        """Width and height of the video [px]."""
        self.fps = rate
        self.frames = 0
        """Frames added so far."""
        check_destination(self.path)
        self._part = self.path.absolute().with_name(f".{self.path.name}.{os.getpid()}-{id(self):x}.part")
        self._queue: Queue[tuple[Picture, int] | None] = Queue(_QUEUE_LENGTH)
        self._error: BaseException | None = None
        self._cancelled = False
        self._closed = False
        try:
            self._encoder = open_encoder(kind, self._part, self.size, rate)
        except RecordingError:
            raise
        except Exception as error:  # FFmpeg's errors and those of files are of many types.
            _remove(self._part)
            raise write_error(self.path, error) from None
        self._thread = threading.Thread(target=self._encode, name="encoder", daemon=True)
        self._thread.start()

    @property
    def seconds(self) -> float:
        """Length of what was added so far [s]."""
        return float(self.frames / self.fps)

    @property
    def bytes_written(self) -> int:
        """Size of the file so far."""
        for path in (self._part, self.path):
            try:
                return _size(path)
            except OSError:
                continue
        return 0

    def add(self, picture: Picture, count: int = 1, timeout: float | None = None) -> bool:
        """Add a picture, (height, width, 3) of uint8, shown for `count` frames; waits while the queue is full.

        The picture is encoded later: it must not be changed any more. False if it was not taken within `timeout`
        seconds.
        """
        if self._closed:
            raise RecordingError(f"{self.path}: the recording is closed")
        self._check()
        if picture.shape[:2] < (self.size[1], self.size[0]) or picture.shape[1] < self.size[0]:
            raise RecordingError(
                f"{self.path}: a picture of {picture.shape[1]} x {picture.shape[0]} pixels does not fit into a "
                f"recording of {self.size[0]} x {self.size[1]}"
            )
        try:
            self._queue.put((picture, count), timeout=timeout)
        except Full:
            return False
        self.frames += count
        return True

    def finish(self) -> Path:
        """Complete the file and give it its name; returns its path."""
        if self._closed:
            return self.path
        if self.frames == 0:
            self.abort()
            raise RecordingError(f"{self.path}: nothing was recorded")
        self._closed = True
        self._queue.put(None)
        self._thread.join()
        try:
            self._check()
            _install(self._part, self.path)
        except OSError as error:
            raise write_error(self.path, error) from None
        finally:
            _remove(self._part)
        return self.path

    def abort(self) -> None:
        """Stop and leave nothing behind. Safe at any time, also after `finish`."""
        if self._closed:
            return
        self._closed = self._cancelled = True
        self._queue.put(None)
        self._thread.join()
        _remove(self._part)

    def __enter__(self) -> "Recorder":
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self.abort()

    def _check(self) -> None:
        if self._error is not None:
            raise write_error(self.path, self._error) from None

    def _encode(self) -> None:
        """The encoder's thread. After an error it goes on to empty the queue, so that nobody waits for it."""
        while (item := self._queue.get()) is not None:
            if self._error is not None or self._cancelled:
                continue
            try:
                self._encoder.write(*item)
            except Exception as error:
                self._error = error
        try:
            if self._error is None and not self._cancelled:
                self._encoder.close()
            else:
                self._encoder.abort()
        except Exception as error:
            self._error = self._error or error


def check_destination(path: Path) -> None:
    """Fail before the work is done, not after, where a file cannot be written."""
    folder = path.absolute().parent
    if not folder.is_dir():
        raise RecordingError(f"{path}: no folder {folder}")
    if path.is_dir():
        if format_of(path) is not FOLDER or not all(_is_frame(entry) for entry in path.iterdir()):
            raise RecordingError(f"{path}: is a folder that holds other files")
    elif path.exists() and not path.is_file():
        raise RecordingError(f"{path}: not a regular file")
    if not os.access(folder, os.W_OK | os.X_OK):
        raise RecordingError(f"{path}: cannot be written (no permission in {folder})")


def free_path(folder: Path, stem: str, suffix: str) -> Path:
    """A path in a folder that is not taken: stem-001.mp4, stem-002.mp4, ..."""
    number = 1
    while (path := folder / f"{stem}-{number:03d}{suffix}").exists():
        number += 1
    return path


def _install(part: Path, path: Path) -> None:
    if part.is_dir() and path.is_dir():
        # Earlier frames, and nothing else: this was checked.
        shutil.rmtree(path)
    os.replace(part, path)


def _is_frame(path: Path) -> bool:
    return path.suffix == ".png" and path.stem.startswith("frame-") and path.stem[6:].isdigit()


def _size(path: Path) -> int:
    if path.is_dir():
        return sum(entry.stat().st_size for entry in path.iterdir())
    return path.stat().st_size


def _remove(path: Path) -> None:
    if path.is_dir():
        shutil.rmtree(path, ignore_errors=True)
    else:
        path.unlink(missing_ok=True)
