"""A user's loop as its window sees it: rows that arrive through shared memory, messages through a socket."""

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
from ..engines.mujoco.resimulation import ArrivedRow, LoopEngine, Resimulator
from ..errors import SceneError
from ..mjmodel.state import STATE, RowKind
from ..mjmodel.types import MjModel
from ..processes import Link, Message
from ..render.glyphs import GizmoList
from ..scene_files.compiled_sensors import companions_of, with_sensors
from ..scene_files.scene import LoadedScene, engine_warnings
from .shared_memory import MOST_VALUES, GeomMemory, SharedMemory, Word, split_trouble, split_word

_LAG = 1.0
"""Rows that arrived longer ago than this are skipped while more arrive than can be taken [s]."""
_TRIES = 100
"""How often gizmos that are being written are read again; then those before stay."""
_QUIET = 0.5
"""A loop that does nothing for so long lets the window sleep [s]."""
_LOOK_TIME = 0.25
"""Longest that a step waits until someone has looked at the loop's model [s]: a loop that goes on looks sixty times
a second."""
_VALUE = np.dtype([("rows", "q"), ("channel", "q"), ("time", "d"), ("value", "d")])
"""As `shared_memory.VALUE`."""


class WindowLoop:
    """The window's half of the link to a loop, which can be held and let go, and one body of which can be pulled."""

    def __init__(self, link: Link, shared: SharedMemory, engine: LoopEngine) -> None:
        self.link, self._shared = link, shared
        self._words = shared.words
        self._following: SharedMemory | None = None
        """Memory of another model and data of the loop, from when its engine is attached on."""
        self.wait: bool | None = None
        """True if the loop waits so that no step is left out, False if not; None: if nobody looks."""
        self.is_watched: Callable[[], bool] = lambda: True
        """True if someone looks at the window."""
        self._next = self._values_read = 0
        self._began = -1, 0.0
        """Number and time [s] of the row with which the history began."""
        self._skip = False
        self.skipped = 0
        """Number of steps that the loop took faster than they could be re-simulated; the history does not have them."""
        self.running = True
        """False once the loop has ended; what it did stays to be looked at."""
        self.makes_sensors = False
        """True if the window has a copy of the loop's model, in which sensors can be made."""
        self.versions = engine.allow_model_changes()
        """Of the loop's model, in the engine that takes its steps again."""
        self.arrivals = Resimulator(engine, self, self.versions)
        self.when_ended: Callable[[], None] = lambda: None
        """Called in a frame after the loop's program has let go of the window, or has ended."""
        self.gizmos = GizmoList()
        """Gets the program's own gizmos before every picture."""
        self.when_told: Callable[[Message], None] = lambda message: None
        """Called in a frame with each message of the loop's program."""
        self.pressed_keys: Callable[[], list[int]] = list
        """The keys that a person has pressed in this frame."""
        self._keys_wanted = False
        self.wake: Callable[[], None] = lambda: None
        """Called from another thread when something has arrived while the window sleeps."""
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
        """Number of states that have arrived and were not read yet."""
        return int(self._words[Word.WRITTEN]) - self._next

    @property
    def quiet(self) -> bool:
        """True if nothing has arrived for a while."""
        unchanged = self.running and self._words[Word.WRITTEN] == self._seen
        return unchanged and time.monotonic() - self._active > _QUIET

    @property
    def waiting(self) -> bool:
        """True if it is not known yet whether the next step can be re-simulated exactly; the engine is at no step."""
        return self.arrivals.waiting

    @property
    def environments(self) -> int:
        """Number of environments that the program steps, of which one is shown."""
        return int(self._words[Word.ENVIRONMENTS])

    @property
    def environment(self) -> int:
        """The environment that is shown, or that the program was asked for."""
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
        able = cast(LoopEngine, engine)
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
        """Read the rows of another model and data of the loop, once an engine of that model is attached."""
        self._following = shared

    def pull(self, body: int, force: NDArray[np.float64] | None) -> None:
        """Pull a body with force and torque [N, N m], world, (6,), from the loop's next `sync` on; None lets go."""
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
        """Exchange all but steps: called once before every picture."""
        if not self._ready:
            self._ready = True
            self.link.send({"ready": True})
        # What is asked after another model was shown is about that one.
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

    def take(self) -> ArrivedStep | None:
        """Re-simulate the next step that arrived: the engine's data are then those after it. None if there is none."""
        # Rows of a model that is no longer shown are of no use.
        return self.arrivals.take() if self._following is None else None

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
            self._next = words[Word.TAKEN] = number + 1
            skipped, self._skip = self._skip, False
            # The step that led to this row started from one that is gone.
            self.skipped += skipped
            self._learn_versions()
            trouble = words[Word.TROUBLE] if words[Word.TROUBLE_ROW] == number else 0
            return ArrivedRow(state, RowKind(kind), skipped, version, number, split_trouble(trouble))

    def take_trouble(self) -> str:
        """Return why the last rows are no states that can be shown, once; empty if they are."""
        trouble, self.arrivals.trouble = self.arrivals.trouble, ""
        return trouble

    def take_values(self, start_time: float | None = None) -> list[Samples]:
        """Return the values of channels that go with the rows that were read, and were not returned before.

        `start_time`: of the last of these rows, if that begins an episode [s]: then those of the episode before.
        """
        shared, written = self._shared, int(self._words[Word.VALUES])
        start = max(self._values_read, written - MOST_VALUES)
        if written == start:
            return []
        places = np.arange(start, written) % MOST_VALUES
        read = np.frombuffer(shared.values, _VALUE)[places]
        # Of the oldest, some may have been written again meanwhile.
        read = read[max(int(self._words[Word.VALUES]) - MOST_VALUES - start, 0) :]
        rows = self._next - (start_time is not None)
        ready = int(np.searchsorted(read["rows"], rows, side="right"))
        if start_time is not None:
            # Those of the new episode that were written before its first row.
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
        """Leave out values of channels from before the row that was read last, which is the first after a reset."""
        self._began = self._next - 1, time

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
        """Called when a frame's time is over: drop rows older than `_LAG` while the loop goes on, where some may be
        lost."""
        if self._words[Word.LOSSLESS]:
            return
        (seen, oldest), written = self._written[0], int(self._words[Word.WRITTEN])
        late = time.monotonic() - seen > _LAG and self._next < oldest
        if late and written > self._written[-1][1]:
            self._drop(written - 1 - self._next)

    def close(self) -> None:
        """The window is closed: the loop goes on without it. Safe twice."""
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

    def _handle(self, message: Message) -> None:
        """Act on a message of the loop."""
        self._keys_wanted |= bool(message.get("keys"))
        self.wait = message.get("wait", self.wait)
        if message:
            self.when_told(message)

    def _wake(self) -> None:
        # A window that is not open yet, or no longer, does not sleep.
        if self._ready and not self._words[Word.CLOSED]:
            self.wake()

    def _receive(self, messages: list[Message]) -> None:
        """Keep messages for the next frame, in the thread that receives them."""
        self._messages.extend(messages)
        if not self.link.is_open:
            self.running = False
        self._wake()


def read_model(file: int) -> MjModel:
    """The model in a file that another process has shared; closes its descriptor."""
    # Without a hook MuJoCo writes MUJOCO_LOG.TXT into the working folder.
    mujoco.set_mju_user_warning(engine_warnings.append)
    model = mujoco.MjModel.from_binary_path(f"/dev/fd/{file}")
    os.close(file)
    return model


def open_engine(request: Message) -> tuple[LoadedScene, MujocoEngine, SharedMemory]:
    """The loop's model as it came, an engine of it at the loop's first state, and the memory that is shared.

    `request`: descriptors of the `model` and of the `ring`; `size`: values of a row, `rows`: rows of the ring; `path`:
    the scene's file, if that is known.
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
    # As it is now, so that the camera sees what moves.
    mujoco.mj_setState(engine.model, engine.data, shared.states[0], STATE)
    mujoco.mj_forward(engine.model, engine.data)
    return compiled, engine, shared
