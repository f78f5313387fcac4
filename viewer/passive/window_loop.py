"""A user's loop as its window sees it: rows that arrive through shared memory, messages through a socket."""

import contextlib
import json
import os
import socket
import threading
import time
from collections import deque
from collections.abc import Callable
from typing import Any

import numpy as np
from numpy.typing import NDArray

from ..engines.abilities import ArrivedStep
from ..engines.contract import Engine
from ..engines.mujoco.arrivals import Arrivals, ArrivedRow, RowKind
from ..engines.mujoco.engine import MujocoEngine
from ..render.glyphs import GizmoList
from .shared_memory import SharedMemory, Word, split_word
from .user_geoms import GeomMemory

_SEND = socket.MSG_DONTWAIT | getattr(socket, "MSG_NOSIGNAL", 0)
"""Neither wait for a loop that is stopped, nor end with one that is gone."""
_LAG = 1.0
"""Rows that arrived longer ago than this are skipped while more arrive than can be taken [s]."""
_TRIES = 100
"""How often gizmos that are being written are read again; then those before stay."""
_QUIET = 0.5
"""A loop that does nothing for so long lets the window sleep [s]."""
_LOOK_TIME = 0.25
"""Longest that a step waits until someone has looked at the loop's model [s]: a loop that goes on looks sixty times
a second."""
_ALIVE = 0.5
"""Between two signs of life while the window closes [s]."""


class WindowLoop:
    """The window's half of the link. Fulfils `session.loop.Loop`."""

    def __init__(self, link: socket.socket, shared: SharedMemory, engine: MujocoEngine) -> None:
        self._socket, self._shared = link, shared
        self._words = shared.words
        self._next = 0
        self._skip = False
        self.skipped = 0
        self.environments = 1
        self.running = True
        self.makes_sensors = False
        self.versions = engine.allow_model_changes()
        """Of the loop's model, in the engine that takes its steps again."""
        self.arrivals = Arrivals(engine, self)
        self.when_ended: Callable[[], None] = lambda: None
        """Called in a frame after the loop's program has let go of the window, or has ended."""
        self.gizmos = GizmoList()
        """Gets the program's own gizmos before every picture."""
        self.when_told: Callable[[dict[str, Any]], None] = lambda message: None
        """Called in a frame with each message of the loop's program."""
        self.pressed_keys: Callable[[], list[int]] = list
        """The keys that a person has pressed in this frame."""
        self._keys_wanted = False
        self.wake: Callable[[], None] = lambda: None
        """Called from another thread when something has arrived while the window sleeps."""
        self._parent = os.getppid()
        self._ready = False
        self._unexplained, self._unexplained_since = -1, 0.0
        """A row that waits for a look at the loop's model, and since when [s]."""
        self._geoms: tuple[NDArray[np.uint8], int] = np.empty(0, np.uint8), 0
        """The program's own geoms, and how many they are."""
        self._drawn = shared.spheres[:0], shared.arrows[:0]
        self._written: deque[tuple[float, int]] = deque()
        """When how many rows had been written: since `_LAG` seconds ago, and the last time before that."""
        self._active = time.monotonic()
        self._seen = 0
        self._messages: deque[dict[str, Any]] = deque()
        threading.Thread(target=self._listen, daemon=True).start()

    @property
    def paused(self) -> bool:
        return bool(self._words[Word.PAUSED])

    @paused.setter
    def paused(self, paused: bool) -> None:
        if paused != bool(self._words[Word.PAUSED]):
            self._words[Word.PAUSED] = int(paused)
            self.send({})

    @property
    def pending(self) -> int:
        return int(self._words[Word.WRITTEN]) - self._next

    @property
    def quiet(self) -> bool:
        """True if nothing has arrived for a while."""
        unchanged = self.running and self._words[Word.WRITTEN] == self._seen
        return unchanged and time.monotonic() - self._active > _QUIET

    @property
    def waiting(self) -> bool:
        return self.arrivals.waiting

    def show_environment(self, env: int) -> None:
        """Nothing: there is one alone."""

    def let_one_through(self) -> None:
        self._words[Word.PERMITS] += 1
        self.send({})

    def attach(self, engine: Engine) -> None:
        assert isinstance(engine, MujocoEngine)
        self.versions = engine.allow_model_changes()
        self.arrivals = self.arrivals.continued_in(engine)

    def pull(self, body: int, force: NDArray[np.float64] | None) -> None:
        words = self._words
        if force is None:
            if words[Word.PULLED]:
                words[Word.PULLED] = 0
            return
        words[Word.PULL_VERSION] += 1
        self._shared.pull[:] = force
        words[Word.PULLED] = body
        words[Word.PULL_VERSION] += 1

    def begin_frame(self) -> None:
        if not self._ready:
            self._ready = True
            self.send({"ready": True})
        while self._messages:
            self._handle(self._messages.popleft())
        if self._keys_wanted and (keys := self.pressed_keys()):
            self.send({"keys": keys})
        written, now = int(self._words[Word.WRITTEN]), time.monotonic()
        if written != self._seen:
            self._seen, self._active = written, now
        self._written.append((now, written))
        while len(self._written) > 1 and now - self._written[1][0] > _LAG:
            self._written.popleft()
        self._words[Word.SLEEPING] = int(self.quiet)
        self._words[Word.FRAMES] += 1
        self._read_gizmos()
        if self.running and os.getppid() != self._parent:
            self.running = False
        if not self.running:
            self.when_ended()

    def take(self) -> ArrivedStep | None:
        return self.arrivals.take()

    def next_row(self) -> ArrivedRow | None:
        """The oldest row that is still there, copied."""
        shared, words = self._shared, self._words
        while True:
            written, number = words[Word.WRITTEN], self._next
            if number >= written:
                return None
            if written - number >= shared.rows:
                # The place of the next row is that of the oldest: it may be written now.
                self._drop(written - number - shared.rows + 1 + shared.rows // 8)
                continue
            state = shared.states[number % shared.rows].copy()
            kind, version = split_word(shared.kinds[number % shared.rows])
            if words[Word.WRITTEN] - number >= shared.rows:
                continue
            self._next = number + 1
            skipped, self._skip = self._skip, False
            # The step that led to this row started from one that is gone.
            self.skipped += skipped
            self._learn_versions()
            return ArrivedRow(state, RowKind(kind), skipped, version, number)

    def is_model_known(self, row: ArrivedRow) -> bool:
        """True if the loop's model was looked at since a row was written, or nobody will look soon."""
        if self._learn_versions():
            return False
        if not self.running or self._words[Word.CHECKED] > row.number:
            return True
        now = time.monotonic()
        if self._unexplained != row.number:
            self._unexplained, self._unexplained_since = row.number, now
        return now - self._unexplained_since > _LOOK_TIME

    def _learn_versions(self) -> bool:
        """Read the versions of the loop's model that are new; True if there are some."""
        versions, newest = self.versions, self._words[Word.MODEL_VERSION]
        known = versions.newest
        for number in range(known + 1, newest + 1):
            if (values := self._shared.read_model(number)) is not None:
                versions.add(number, values)
        return newest != known

    def catch_up(self) -> None:
        """Called when a frame's time is over: drop rows older than `_LAG` while the loop goes on."""
        (seen, oldest), written = self._written[0], int(self._words[Word.WRITTEN])
        late = time.monotonic() - seen > _LAG and self._next < oldest
        if late and written > self._written[-1][1]:
            self._drop(written - 1 - self._next)

    def close(self) -> None:
        """The window is closed: the loop goes on without it. Safe twice."""
        self._words[Word.PAUSED] = self._words[Word.PULLED] = 0
        self._words[Word.CLOSED] = 1
        self.send({})

    def send(self, message: dict[str, Any]) -> None:
        """Send a message to the loop's program."""
        send(self._socket, message)

    def _drop(self, count: int) -> None:
        self._next += count
        self.skipped += count
        self._skip = True

    def _read_gizmos(self) -> None:
        words, shared = self._words, self._shared
        for _ in range(_TRIES):
            version, counts = words[Word.GIZMO_VERSION], (words[Word.SPHERES], words[Word.ARROWS])
            if version % 2 == 0:
                drawn = shared.spheres[: counts[0]].copy(), shared.arrows[: counts[1]].copy()
                if version == words[Word.GIZMO_VERSION]:
                    self._drawn = drawn
                    break
        self.gizmos.extend(*self._drawn)

    def add_geoms(self, scene: Any) -> None:
        """Put the program's own geoms into an MjvScene."""
        words = self._words
        for _ in range(_TRIES):
            version = words[Word.GEOM_VERSION]
            if version % 2 == 0:
                geoms = self._shared.geoms.copy() if words[Word.GEOMS] else self._geoms[0], words[Word.GEOMS]
                if version == words[Word.GEOM_VERSION]:
                    self._geoms = geoms
                    break
        if self._geoms[1]:
            GeomMemory(scene).add(*self._geoms)

    def _handle(self, message: dict[str, Any]) -> None:
        """Act on a message of the loop."""
        self._keys_wanted |= bool(message.get("keys"))
        if message:
            self.when_told(message)

    def _wake(self) -> None:
        # A window that is not open yet, or no longer, does not sleep.
        if self._ready and not self._words[Word.CLOSED]:
            self.wake()

    def _listen(self) -> None:
        """Receive messages until the loop lets go."""
        received = b""
        while True:
            try:
                part = self._socket.recv(65536)
            except OSError:
                part = b""
            if not part:
                break
            *lines, received = (received + part).split(b"\n")
            self._messages.extend(json.loads(line) for line in lines if line)
            self._wake()
        self.running = False
        self._wake()
        while True:
            # Its program waits for the end of this process as long as there are signs of life.
            self.send({})
            time.sleep(_ALIVE)


def send(link: socket.socket, message: dict[str, Any]) -> None:
    """Send a message to the loop; an empty one wakes it. A loop that is stopped may miss it."""
    with contextlib.suppress(OSError):
        link.send(json.dumps(message).encode() + b"\n", _SEND)
