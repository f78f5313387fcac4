"""Encodes frames in a thread, into a file that gets its name when it is complete."""

import io
import os
import threading
import time
from collections.abc import Callable
from fractions import Fraction
from pathlib import Path
from queue import Full, Queue
from typing import Self

from ..errors import DiskFullError, RecordingError, write_error
from ..files import PartFile
from .encoders import FolderEncoder, Picture, fitted, open_encoder, save_png, spare_room
from .formats import FOLDER, check_rate, check_size, format_of
from .schedule import frame_rate

_QUEUE_LENGTH = 4
"""Largest number of pictures that wait for the encoder: it bounds the memory of a recording of any length."""


class VideoWriter:
    """Writer of pictures to a video, an animation, a picture or a folder, by the path's suffix.

    The file has a hidden name until `finish`; without `finish` nothing is left behind.
    """

    def __init__(self, path: str | Path, size: tuple[int, int], fps: float | Fraction = 60) -> None:
        """Begin a file. `size`: width and height of the pictures [px]; a format of even sizes cuts off an odd last
        pixel."""
        self.format = kind = format_of(path)
        self.fps = frame_rate(fps)
        check_rate(kind, self.fps)
        check_size(kind, size)
        self.size = (size[0] - size[0] % 2, size[1] - size[1] % 2) if kind.even else size
        """Width and height of the video [px]."""
        self.path = Path(path)
        """Path of the complete file."""
        if kind is FOLDER and os.path.isdir(self.path) and not FolderEncoder.owns(self.path):
            raise RecordingError(f"{path}: the folder holds other files than frames")
        self._added = self._dropped = 0
        self._refused = False
        self._file = PartFile(path, is_folder=kind is FOLDER, spare=spare_room(kind, self.size))
        self._queue: Queue[tuple[Picture, int] | None] = Queue(_QUEUE_LENGTH)
        self._error: Exception | None = None
        self._stopped = self._cancelled = self._closed = False
        try:
            self._encoder = open_encoder(kind, self._file, self.size, self.fps)
        except RecordingError:
            self._file.discard()
            raise
        except Exception as error:  # Errors of FFmpeg and of files are of many types.
            self._file.discard()
            raise write_error(self.path, error) from None
        self._thread = threading.Thread(target=self._encode, name="encoder", daemon=True)
        self._thread.start()

    @property
    def frames(self) -> int:
        """Number of frames added so far."""
        return self._added - self._dropped

    @property
    def full(self) -> bool:
        """True if the disk is full: no more pictures are taken, and the file can be completed."""
        return self._file.full

    @property
    def is_cut_short(self) -> bool:
        """True if pictures were not taken because the disk is full."""
        return self._refused or self._dropped > 0

    @property
    def seconds(self) -> float:
        """Duration of the frames added so far [s]."""
        return float(self.frames / self.fps)

    @property
    def bytes_written(self) -> int:
        """Size of the file so far [bytes]."""
        return self._file.size

    def add(self, picture: Picture, count: int = 1, timeout: float | None = None) -> bool:
        """Add a picture, (height, width, 3) of uint8, shown for `count` frames; wait while the queue is full.

        The picture is encoded later: it must not be changed any more. A picture of another size, such as of a resized
        window, is scaled to fit. Returns False if the queue stayed full for `timeout` seconds. Raises DiskFullError if
        the disk is full: `finish` then completes the pictures that were added before.
        """
        if self._stopped:
            raise RecordingError(f"{self.path}: the recording is closed")
        self._raise_error()
        self._file.check()
        if self.full:
            self._refused = True
            raise DiskFullError(self.path)
        try:
            self._queue.put((picture, count), timeout=timeout)
        except Full:
            return False
        self._added += count
        return True

    def stop(self) -> None:
        """Accept no more pictures and let the encoder complete the file, without waiting for it. Calling it twice is
        safe."""
        if not self._stopped:
            self._stopped = True
            self._queue.put(None)

    @property
    def completed(self) -> bool:
        """True if the encoder is done: `finish` will not wait."""
        return self._stopped and not self._thread.is_alive()

    def wait(self, seconds: float) -> bool:
        """Wait for the encoder for at most `seconds`; return True if it is done."""
        self._thread.join(max(0.0, seconds))
        return self.completed

    def finish(self) -> Path:
        """Complete the file under its final name, and return its path."""
        if self._closed:
            return self.path
        if not self.frames:
            self.abort()
            raise RecordingError(f"{self.path}: nothing was recorded")
        self.stop()
        self._thread.join()
        self._closed = True
        try:
            self._raise_error()
        except RecordingError:
            self._file.discard()
            raise
        return self._file.commit()

    def abort(self) -> None:
        """Stop, and leave no file behind. Safe at any time; after `finish` it does nothing."""
        if not self._closed:
            self._closed = self._cancelled = True
            self.stop()
            self._thread.join()
            self._file.discard()

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: object) -> None:
        self.abort()

    def _raise_error(self) -> None:
        if self._error is not None:
            raise write_error(self.path, self._error) from None

    def _encode(self) -> None:
        """Encode queued frames in a thread. After an error the thread still empties the queue, so that `add` does not
        block."""
        while (item := self._queue.get()) is not None:
            if self.full:
                self._dropped += item[1]
            elif self._error is None and not self._cancelled:
                self._attempt(self._write, *item)
        if self._error is None and not self._cancelled:
            self._attempt(self._encoder.close)
        else:
            self._attempt(self._encoder.abort)

    def _write(self, picture: Picture, count: int) -> None:
        self._encoder.write(fitted(picture, self.size), count)

    def _attempt(self, action: Callable[..., None], *arguments: object) -> None:
        try:
            action(*arguments)
        except Exception as error:
            # The first error is the cause, later ones its consequence.
            self._error = self._error or error


def png_bytes(picture: Picture) -> bytes:
    """Return the content of a PNG file of a picture, (height, width, 3) of uint8."""
    content = io.BytesIO()
    save_png(content, picture)
    return content.getvalue()


_PATIENCE = 0.1
"""Longest wait of the window for the encoder [s]: a longer one would slow the simulation down."""


class LiveVideoWriter(VideoWriter):
    """Writer that records a window while it runs.

    Call `add_now` after each displayed frame. If the window is faster than the video, its frames are left out; if it is
    slower, its pictures are shown longer. If the encoder falls behind, the window waits for it, up to a limit. Beyond
    the limit a picture is dropped (`missed`), and the next one is shown longer, so that the duration stays right.
    """

    def __init__(
        self,
        path: str | Path,
        size: tuple[int, int],
        fps: float | Fraction = 60,
        clock: Callable[[], float] = time.perf_counter,
    ) -> None:
        super().__init__(path, size, fps)
        self.missed = 0
        """Number of pictures that were dropped because the queue was full."""
        self._clock = clock
        self._recorded = 0.0
        """Recorded time up to the last pause [s]."""
        self._resumed: float | None = clock()

    @property
    def paused(self) -> bool:
        return self._resumed is None

    def pause(self) -> None:
        """Stop recording until `resume`: the video does not show the time between."""
        if self._resumed is not None:
            self._recorded += self._clock() - self._resumed
            self._resumed = None

    def resume(self) -> None:
        if self._resumed is None:
            self._resumed = self._clock()

    @property
    def due(self) -> int:
        """Number of frames that the video lacks now; at 0 the window does not read its pixels."""
        if self._resumed is None:
            return 0
        elapsed = self._recorded + self._clock() - self._resumed
        return max(0, int(elapsed * self.fps + 1e-6) + 1 - self.frames)

    def add_now(self, picture: Picture) -> None:
        """Add the present frame of the window, as many times as frames are due."""
        due = self.due
        if due and not self.add(picture, due, timeout=_PATIENCE):
            self.missed += 1
