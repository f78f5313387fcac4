"""The window's connection to a user's loop: rows arrive through shared memory, messages through a socket."""

import os
import time
from collections import deque
from collections.abc import Callable
from pathlib import Path
from typing import Any, cast

import mujoco
import numpy as np
from numpy.typing import NDArray

from ..channels.channel import Samples
from ..engines.abilities import ArrivedStep
from ..engines.contract import Engine
from ..engines.mujoco.engine import MujocoEngine
from ..engines.mujoco.resimulation import ArrivedRow, ResimulatingEngine, Resimulator
from ..errors import SceneError
from ..mjmodel.state import STATE, RowKind
from ..mjmodel.types import MjModel
from ..processes import Link, Message
from ..render.glyphs import GizmoList
from ..scene_files.compiled_sensors import companions_of, with_sensors
from ..scene_files.scene import LoadedScene, engine_warnings
from .shared_memory import MOST_VALUES, GeomMemory, SharedMemory, Word, split_trouble, split_word

_LAG = 1.0
"""Age of rows above which they are skipped, while more arrive than can be re-simulated [s]."""
_TRIES = 100
"""Number of attempts to read gizmos that are being written; after them the last complete gizmos stay."""
_QUIET = 0.5
"""Time without a new row after which the window sleeps [s]."""
_LOOK_TIME = 0.25
"""Longest wait of a step for a check of the loop's model [s]: a loop that runs checks it sixty times a second."""
_VALUE = np.dtype([("rows", "q"), ("channel", "q"), ("time", "d"), ("value", "d")])
"""Layout of `shared_memory.VALUE`."""


class LoopConnection:
    """Connection of a window to a user's loop: it can hold the loop, and pull one body."""

    def __init__(self, link: Link, shared: SharedMemory, engine: ResimulatingEngine) -> None:
        self.link, self._shared = link, shared
        self._words = shared.words
        self._following: SharedMemory | None = None
        """Memory of another model and data of the loop, until an engine of that model is attached."""
        self.wait: bool | None = None
        """True if the loop waits so that no step is left out, False if not; None if it waits while nobody looks."""
        self.is_watched: Callable[[], bool] = lambda: True
        """Function that returns True if a user can see the window."""
        self._next = self._values_read = 0
        self._began = -1, 0.0
        """Number and time [s] of the row with which the history began."""
        self._skip = False
        self.skipped = 0
        """Number of steps that the history lacks, because the loop was faster than re-simulation."""
        self.running = True
        """False after the loop has ended; its steps stay in the history."""
        self.makes_sensors = False
        """True if the window has a copy of the loop's model, in which the user can make sensors."""
        self.versions = engine.allow_model_changes()
        """Versions of the loop's model, in the engine that re-simulates its steps."""
        self.arrivals = Resimulator(engine, self, self.versions)
        self.when_ended: Callable[[], None] = lambda: None
        """Function to call in each frame after the loop's program has closed the connection, or has ended."""
        self.gizmos = GizmoList()
        """Gizmos of the program, which are added before every frame."""
        self.when_told: Callable[[Message], None] = lambda message: None
        """Function to call with each message of the loop's program, at the beginning of a frame."""
        self.pressed_keys: Callable[[], list[int]] = list
        """Function that returns the keys that the user has pressed in this frame."""
        self._keys_wanted = False
        self.wake: Callable[[], None] = lambda: None
        """Function to call, in another thread, when messages arrive, to wake a sleeping window."""
        self._ready = False
        self._unexplained, self._unexplained_since = -1, 0.0
        """Number of a row that waits for a check of the loop's model, and the time since which it waits [s]."""
        self._geoms: tuple[NDArray[np.uint8], int] = np.empty(0, np.uint8), 0
        """Geoms of the program, and their number."""
        self._drawn = shared.spheres[:0], shared.arrows[:0]
        self._written: deque[tuple[float, int]] = deque()
        """Times [s] and numbers of written rows at the frames of the last `_LAG` seconds, and at the frame before."""
        self._active = time.monotonic()
        self._seen = 0
        self._messages: deque[Message] = deque()
        link.listen(self._receive)

    @property
    def paused(self) -> bool:
        """True if the loop is held in its next `sync`."""
        return bool(self._words[Word.PAUSED])

    @paused.setter
    def paused(self, paused: bool) -> None:
        if paused != bool(self._words[Word.PAUSED]):
            self._words[Word.PAUSED] = int(paused)
            self.link.send({})

    @property
    def pending(self) -> int:
        """Number of rows that have arrived and were not read yet."""
        return int(self._words[Word.WRITTEN]) - self._next

    @property
    def quiet(self) -> bool:
        """True if no row has arrived for `_QUIET` seconds."""
        unchanged = self.running and self._words[Word.WRITTEN] == self._seen
        return unchanged and time.monotonic() - self._active > _QUIET

    @property
    def waiting(self) -> bool:
        """True while it is not known whether the next step can be re-simulated exactly; the engine is then between
        steps."""
        return self.arrivals.waiting

    @property
    def environments(self) -> int:
        """Number of environments that the program steps, of which one is shown."""
        return int(self._words[Word.ENVIRONMENTS])

    @property
    def environment(self) -> int:
        """Number of the environment that is shown, or that was requested of the program."""
        return int(self._words[Word.ENVIRONMENT])

    def show_environment(self, env: int) -> None:
        """Ask the program for another environment."""
        self._words[Word.ENVIRONMENT] = env

    def let_one_through(self) -> None:
        """Let a held loop do one `sync`."""
        self._words[Word.PERMITS] += 1
        self.link.send({})

    def attach(self, engine: Engine) -> None:
        """Re-simulate the next steps in another engine, with other sensors. Raises SceneError if it cannot."""
        if not engine.can_resimulate:
            raise SceneError(f"{engine.name} cannot re-simulate the steps of a loop")
        able = cast(ResimulatingEngine, engine)
        self.versions = able.allow_model_changes()
        shared, self._following = self._following, None
        if shared is None:
            self.arrivals = self.arrivals.continued_in(able, self.versions)
            return
        self._shared, self._words = shared, shared.words
        self._next = self._seen = self._values_read = 0
        self._began = -1, 0.0
        self._skip = False
        self._unexplained = -1
        self._written.clear()
        self._written.append((time.monotonic(), 0))
        self.arrivals = Resimulator(able, self, self.versions)

    def follow(self, shared: SharedMemory) -> None:
        """Read the rows of another model and data of the loop, as soon as an engine of that model is attached."""
        self._following = shared

    def pull(self, body: int, force: NDArray[np.float64] | None) -> None:
        """Pull a body with force and torque [N, N m], world, (6,), from the loop's next `sync` on; None ends it."""
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
        """Exchange messages, gizmos and keys with the loop. Call it once before every frame."""
        if not self._ready:
            self._ready = True
            self.link.send({"ready": True})
        # Messages after a request for another model concern that model.
        while self._messages and self._following is None:
            self._handle(self._messages.popleft())
        if self._keys_wanted and (keys := self.pressed_keys()):
            self.link.send({"keys": keys})
        written, now = int(self._words[Word.WRITTEN]), time.monotonic()
        if written != self._seen:
            self._seen, self._active = written, now
        self._written.append((now, written))
        while len(self._written) > 1 and now - self._written[1][0] > _LAG:
            self._written.popleft()
        self._words[Word.LOSSLESS] = int(self.wait if self.wait is not None else not self.is_watched())
        self._words[Word.SLEEPING] = int(self.quiet)
        self._words[Word.FRAMES] += 1
        self._read_gizmos()
        if not self.link.has_parent:
            self.running = False
        if not self.running:
            self.when_ended()

    def next_step(self) -> ArrivedStep | None:
        """Re-simulate the next step that arrived, to the state after it, and return the step; None if there is none."""
        # Rows of a model that is no longer shown are ignored.
        return self.arrivals.next_step() if self._following is None else None

    def next_row(self) -> ArrivedRow | None:
        """Return a copy of the oldest row that was not read yet and still exists; None if there is none."""
        shared, words = self._shared, self._words
        while True:
            written, number = words[Word.WRITTEN], self._next
            if number >= written:
                return None
            if written - number >= shared.rows:
                # The next row takes the place of the oldest, which may be overwritten now.
                self._drop(written - number - shared.rows + 1 + shared.rows // 8)
                continue
            state = shared.states[number % shared.rows].copy()
            kind, version = split_word(shared.kinds[number % shared.rows])
            if words[Word.WRITTEN] - number >= shared.rows:
                continue
            self._next = words[Word.TAKEN] = number + 1
            skipped, self._skip = self._skip, False
            # The step that led to this row started from a skipped one.
            self.skipped += skipped
            self._learn_versions()
            trouble = words[Word.TROUBLE] if words[Word.TROUBLE_ROW] == number else 0
            return ArrivedRow(state, RowKind(kind), skipped, version, number, split_trouble(trouble))

    def pop_trouble(self) -> str:
        """Return the reason why the last rows are no valid states, and clear it; empty if they are valid."""
        trouble, self.arrivals.trouble = self.arrivals.trouble, ""
        return trouble

    def pop_values(self, start_time: float | None = None) -> list[Samples]:
        """Return the new values of channels up to the row that was read last.

        `start_time`: simulated time of that row if it begins an episode [s]: the values are then of the episode before.
        """
        shared, written = self._shared, int(self._words[Word.VALUES])
        start = max(self._values_read, written - MOST_VALUES)
        if written == start:
            return []
        places = np.arange(start, written) % MOST_VALUES
        read = np.frombuffer(shared.values, _VALUE)[places]
        # Some of the oldest values may have been overwritten meanwhile.
        read = read[max(int(self._words[Word.VALUES]) - MOST_VALUES - start, 0) :]
        rows = self._next - (start_time is not None)
        ready = int(np.searchsorted(read["rows"], rows, side="right"))
        if start_time is not None:
            # Values of the new episode may be written before its first row.
            ready -= int(((read["rows"] == rows) & (read["time"] == start_time)).sum())
        self._values_read = written - len(read) + ready
        read = read[:ready]
        began, time = self._began
        read = read[(read["rows"] > began) | ((read["rows"] == began) & (read["time"] == time))]
        return [
            Samples(shared.channel(number), *(np.ascontiguousarray(of[name]) for name in ("time", "value")))
            for number in np.unique(read["channel"]).tolist()
            for of in [read[read["channel"] == number]]
        ]

    def begin_episode(self, time: float) -> None:
        """Drop values of channels from before the row that was read last, which is the first after a reset."""
        self._began = self._next - 1, time

    def is_model_known(self, row: ArrivedRow) -> bool:
        """Return True if the loop's model was checked since a row was written, or will not be checked soon."""
        if self._learn_versions():
            return False
        if not self.running or self._words[Word.CHECKED_ROWS] > row.number:
            return True
        now = time.monotonic()
        if self._unexplained != row.number:
            self._unexplained, self._unexplained_since = row.number, now
        return now - self._unexplained_since > _LOOK_TIME

    def _learn_versions(self) -> bool:
        """Read new versions of the loop's model; return True if there are some."""
        versions, newest = self.versions, self._words[Word.MODEL_VERSION]
        known = versions.newest
        for number in range(known + 1, newest + 1):
            if (values := self._shared.read_model(number)) is not None:
                versions.add(number, values)
        return newest != known

    def catch_up(self) -> None:
        """Drop rows older than `_LAG`, if the loop goes on and does not wait. Call it when a frame's time is over."""
        if self._words[Word.LOSSLESS]:
            return
        (seen, oldest), written = self._written[0], int(self._words[Word.WRITTEN])
        late = time.monotonic() - seen > _LAG and self._next < oldest
        if late and written > self._written[-1][1]:
            self._drop(written - 1 - self._next)

    def close(self) -> None:
        """Let the loop go on without the window, which is closed. A second call does nothing."""
        self._words[Word.PAUSED] = self._words[Word.PULLED] = 0
        self._words[Word.CLOSED] = 1
        self.link.send({})

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
        """Add the geoms of the program to an MjvScene."""
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

    def _handle(self, message: Message) -> None:
        """Handle a message of the loop."""
        self._keys_wanted |= bool(message.get("keys"))
        self.wait = message.get("wait", self.wait)
        if message:
            self.when_told(message)

    def _wake(self) -> None:
        # A window that is not open yet, or closed, does not sleep.
        if self._ready and not self._words[Word.CLOSED]:
            self.wake()

    def _receive(self, messages: list[Message]) -> None:
        """Keep messages for the next frame, in the thread that receives them."""
        self._messages.extend(messages)
        if not self.link.is_open:
            self.running = False
        self._wake()


def read_model(file: int) -> MjModel:
    """Return the model in a file that another process has shared, and close its descriptor."""
    # Without a hook MuJoCo writes MUJOCO_LOG.TXT into the working folder.
    mujoco.set_mju_user_warning(engine_warnings.append)
    model = mujoco.MjModel.from_binary_path(f"/dev/fd/{file}")
    os.close(file)
    return model


def open_engine(request: Message) -> tuple[LoadedScene, MujocoEngine, SharedMemory]:
    """Return the loop's model as it was sent, an engine of it at the loop's first state, and the shared memory.

    `request`: descriptors of the `model` and of the `ring`; `size`: number of values of a row; `rows`: number of rows
    of the ring; `path`: file of the scene, if it is known.
    """
    theirs = read_model(request["model"])
    path = None if request["path"] is None else Path(request["path"])
    compiled = LoadedScene(path, theirs, companions_of(theirs))
    try:
        scene = with_sensors(compiled)
    except SceneError:
        # Contacts are then reconstructed from the contact list.
        scene = compiled
    engine = MujocoEngine(scene)
    shared = SharedMemory(request["ring"], request["size"], request["rows"], engine.allow_model_changes().size)
    # The camera is placed by the positions of the present state.
    mujoco.mj_setState(engine.model, engine.data, shared.states[0], STATE)
    mujoco.mj_forward(engine.model, engine.data)
    return compiled, engine, shared
