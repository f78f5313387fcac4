"""The half of a film that lives in the user's process: hands over every step of an episode to the one that draws it."""

import json
import os
import select
import sys
import weakref
from pathlib import Path
from time import sleep
from typing import Any

from ..errors import RecordingError
from ..mjmodel.types import MjData, MjModel
from .row_writer import RowWriter
from .shared_memory import SharedMemory, Word
from .viewer import PassiveViewer

FILM_MODULE = "contact_viewer.passive.film_process"
_RING = 16 * 2**20
"""Memory for states that were not drawn yet [bytes]."""
_WAIT = 0.002
"""Between two looks at how far the film is [s]."""


class _Rows(RowWriter):
    """Writes rows while there is a film, and only where one was read."""

    __slots__ = ("_film",)

    def __init__(self, film: "EpisodeFilm", shared: SharedMemory) -> None:
        super().__init__(film.m, film.d, shared)
        self._film = weakref.ref(film)

    def write(self, kind: int, time: float) -> None:
        film = self._film()
        # The first row is written before there is anyone to read it.
        if film is not None and (not self.count or film.filming):
            super().write(kind, time)
            film.wait_for_reader()


class EpisodeFilm(PassiveViewer):
    """Films parts of a user's loop, without a window and also without a display: each from `begin` to `finish`.

    The pictures are drawn in a process of their own. Unlike a window, a film leaves no step out: a loop that is faster
    waits for it.
    """

    _filming = False

    def __init__(
        self,
        model: MjModel,
        data: MjData,
        *,
        size: tuple[int, int] | None = None,
        fps: float | None = None,
        view: dict[str, Any] | None = None,
        module: str = FILM_MODULE,
    ) -> None:
        """`size`: width and height [px]; with `fps` that of the format if not given. `view`: values of the
        camera, as `view_values` reads them.
        """
        options = json.dumps({"size": size, "fps": fps, "view": view or {}})
        super().__init__(model, data, every_step=True, ring_bytes=_RING, module=module, arguments=(options,))

    @property
    def filming(self) -> bool:
        """True between `begin` and `finish`."""
        return self._filming

    def begin(self, path: Path) -> None:
        """Film into a file from the present state on."""
        self._filming = True
        self.sync()
        self._ask({"begin": str(path.absolute())}, "begun")

    def finish(self) -> None:
        """Wait until all steps so far are in the file, and it is complete."""
        if self._filming:
            # Whether a last step is exact is known once the model was looked at.
            self._next_look = 0.0
            self.sync()
            self._ask({"finish": True}, "finished")
            self._filming = False

    def close(self) -> None:
        with self._lock:
            if self._running:
                self.finish()
            super().close()

    def _open_rows(self) -> RowWriter:
        return _Rows(self, self._shared)

    def wait_for_reader(self) -> None:
        """Wait until half of the rows are free."""
        words, rows = self._words, self._rows
        while rows.count - words[Word.TAKEN] > rows.rows // 2 and self._running:
            sleep(_WAIT)
            self._exchange()

    def _ask(self, message: dict[str, Any], answer: str) -> None:
        """Send a message and wait for the answer; the film's own error is one line, and the loop goes on."""
        while self._running and not self._send(message):
            sleep(_WAIT)
        while self._running:
            select.select([self._socket], [], [], 1.0)
            for received in self._receive():
                if received.get("failed"):
                    print(f"contact-viewer: {received['failed']}", file=sys.stderr)
                else:
                    self._handle(received)
                if answer in received:
                    return
        self._filming = False


def check_path(pattern: str, size: tuple[int, int] | None, fps: float | None) -> None:
    """Refuse at once a name or a picture that no film could be written with. Raises RecordingError."""
    from ..recording.formats import check_rate, check_size, format_of
    from ..recording.schedule import frame_rate

    first, second = (pattern.format(episode) for episode in (0, 1))
    if first == second:
        raise RecordingError(f"{pattern}: each episode is a file of its own; put {{}} where its number goes")
    kind = format_of(first)
    check_rate(kind, frame_rate(fps or kind.fps))
    check_size(kind, size or kind.size)
    folder = Path(first).absolute().parent
    if not os.path.isdir(folder):
        raise RecordingError(f"{folder}: no such folder")
