"""The half of the passive viewer that lives in the user's process: hands over states, and never draws."""

import contextlib
import json
import os
import select
import socket
import subprocess
import sys
import threading
import weakref
from collections.abc import Callable
from time import monotonic
from typing import Any

import mujoco

from ..errors import SceneError
from ..mjmodel.types import MjData, MjModel
from ..render.glyphs import GizmoList
from .address import Page
from .model_watch import ModelWatch
from .own_scene import own_model
from .own_views import OwnViews
from .process import SCENE, SERVE, SILENCE, end_window, model_file, start_window
from .pull import Pull
from .row_writer import AFTER, STATE, RowWriter
from .run_request import RunRequests
from .shared_memory import DEFAULT_RING, MOST_GIZMOS, SharedMemory, Word, block_bytes, row_count, row_word, shared_file
from .tap import TAP

WINDOW_MODULE = "contact_viewer.passive.window_process"
_EXCHANGE_TIME = 1 / 60
"""Between two looks at what the window has to say [s]: it says it in its frames ..."""
_SILENT_TIME = 0.25
"""... and longest between two looks whether it is still there [s]."""
_START_TIME = 60.0
"""Longest that a window takes to open [s]."""
_WAIT = 0.05
"""Between two looks while the loop is held [s]; news wake it at once."""
_SLEEPING, _PULLED, _PAUSED, _FRAMES = map(int, (Word.SLEEPING, Word.PULLED, Word.PAUSED, Word.FRAMES))
"""Those that every `sync` reads: plain numbers take half the time."""
KeyCallback = Callable[[int], object]
"""Is called in `sync` with each key that was pressed in the window, as GLFW numbers them."""


class PassiveViewer(RunRequests):
    """A window on a model and data that the calling program steps: call `sync` after every step.

    The window is a process of its own. `sync` copies the state into memory that both share, and goes on.
    """

    _beside_size = 0
    """Values of a row besides the state: see `batch`."""

    def __init__(
        self,
        model: MjModel,
        data: MjData,
        *,
        key_callback: KeyCallback | None = None,
        show_left_ui: bool = True,
        show_right_ui: bool = True,
        every_step: bool = False,
        ring_bytes: int = DEFAULT_RING,
        scene: Any = None,
        module: str = WINDOW_MODULE,
        arguments: tuple[str, ...] = (),
    ) -> None:
        self._model, self._data = model, data
        self._lock = threading.RLock()
        self._pid = os.getpid()
        size = mujoco.mj_stateSize(model, STATE) + self._beside_size
        rows = row_count(size, ring_bytes)
        self._watch = ModelWatch(model)
        ring = shared_file("contact-viewer-steps", block_bytes(size, rows, self._watch.size))
        shown, path = (model, None) if scene is None else own_model(model, scene)
        compiled = model_file(shown)
        arguments = (*arguments, *(() if path is None else (SCENE, str(path))))
        ours, theirs = socket.socketpair()
        try:
            self._shared = SharedMemory(ring, size, rows, self._watch.size)
            self._words = self._shared.words
            self._rows = self._open_rows()
            self._rows.write(AFTER, data.time)
            self._process = start_window(module, arguments, theirs.fileno(), compiled, ring, size, rows)
            # While the window opens: memory that is new costs the loop more than all else.
            self._shared.allocate()
        except BaseException:
            ours.close()
            raise
        finally:
            theirs.close()
            os.close(ring)
            os.close(compiled)
        ours.setblocking(False)
        self._socket = ours
        self._next_exchange = self._next_look = self._silent_until = 0.0
        """When to see what the window has to say, when to look at the model, and when to ask a silent window [s]."""
        self._frames = 0
        """The window's frames when it was last asked."""
        self._permits_used = 0
        self._pull = Pull(data, self._shared)
        self._gizmos: GizmoList | None = None
        """The program's own, once it has asked for them."""
        self._drawn = False
        """True if the window has gizmos of the program's."""
        self._key_callback = key_callback
        self._views = OwnViews(model)
        self._received = b""
        self._running, self._tapped = True, False
        _viewers.add(self)
        self._end = weakref.finalize(self, end_window, self._pid, ours, self._process)
        self._send({"keys": key_callback is not None, "left": show_left_ui, "right": show_right_ui})
        self.page: Page | None = None
        """Where browsers show the window, if it is served."""
        self._wait_until_open(SERVE in arguments)
        self._tapped = every_step
        if every_step:
            TAP.add(data, self._rows.write_start)

    @property
    def url(self) -> str | None:
        """The address at which browsers show the window, with its token; None if it has a display."""
        return self.page.url if self.page is not None else None

    def _repr_html_(self) -> str | None:
        return self.page.html() if self.page is not None else None

    @property
    def gizmos(self) -> GizmoList:
        """Spheres and arrows of the program's own. What is drawn before a `sync` is shown until the next one."""
        if self._gizmos is None:
            self._gizmos = GizmoList(width=0.0)
        return self._gizmos

    @property
    def m(self) -> MjModel:
        """The program's model."""
        return self._model

    @property
    def d(self) -> MjData:
        """The program's data."""
        return self._data

    @property
    def cam(self) -> Any:
        """An MjvCamera. What the program writes into it takes effect in the window, which does not write into it."""
        return self._views.camera

    @property
    def opt(self) -> Any:
        """An MjvOption. What the program writes into it takes effect in the window, which does not write into it."""
        return self._views.options

    @property
    def user_scn(self) -> Any:
        """An MjvScene for geoms of the program's own, which are drawn with the scene: the first `ngeom` of its `geoms`,
        as `mujoco.mjv_initGeom` and `mjv_connector` set them. They are shown until the program changes them."""
        return self._views.scene

    def is_running(self) -> bool:
        """False once the window was closed, or has ended."""
        now = monotonic()
        if self._running and (self._words[Word.CLOSED] or now >= self._next_exchange):
            with self._lock:
                self._attend(now)
        return self._running

    @property
    def is_paused(self) -> bool:
        """True if `sync` waits, or will."""
        return self._running and bool(self._words[Word.PAUSED])

    def pause(self) -> None:
        """Hold the loop in its next `sync`, until a person plays on, or another thread calls `resume`."""
        if self._running:
            self._words[Word.PAUSED] = 1
            self._wake()

    def resume(self) -> None:
        """Let the loop go on."""
        if self._running:
            self._words[Word.PAUSED] = 0
            self._wake()

    def record_step(self) -> None:
        """Hand over the state after a step, and nothing else: for the steps between two calls of `sync`."""
        if self._running:
            with self._lock:
                self._rows.write(AFTER, self._data.time)

    def sync(self, state_only: bool = False) -> None:
        """Hand over the state after a step, and apply what a person does. Waits only while the loop is paused.

        `state_only`: do not look whether the model has changed.
        """
        if not self._running:
            return
        with self._lock:
            now, time, words = monotonic(), self._data.time, self._words
            if now >= self._next_look or time < self._rows.time:
                self._look(now, state_only)
            self._rows.write(AFTER, time)
            if words[_SLEEPING]:
                words[_SLEEPING] = 0
                self._wake()
            if self._gizmos is not None and (self._drawn or self._gizmos):
                self._show_gizmos(self._gizmos)
            if words[_PULLED] or self._pull.now is not None:
                self._pull.apply()
            if now >= self._next_exchange:
                self._attend(now)
            if words[_PAUSED]:
                self._hold()

    def lock(self) -> threading.RLock:
        """Keeps `sync` of other threads from reading the data: `with viewer.lock(): ...`."""
        return self._lock

    def close(self) -> None:
        """Close the window; what it records is completed. Safe twice."""
        with self._lock:
            self._stop()
            self._end()

    def __enter__(self) -> "PassiveViewer":
        return self

    def __exit__(self, *_: object) -> None:
        self.close()

    def _open_rows(self) -> RowWriter:
        return RowWriter(self._model, self._data, self._shared)

    def _look(self, now: float, state_only: bool) -> None:
        """See whether the program has changed its model."""
        if state_only:
            self._next_look = now + _EXCHANGE_TIME
            return
        watch, version = self._watch, self._watch.version
        self._next_look = now + watch.look(self._shared, self._rows.count)
        if watch.version != version:
            self._rows.word, self._rows.is_changed = row_word(0, watch.version), True

    def _show_gizmos(self, gizmos: GizmoList) -> None:
        """Hand over what was drawn since the last call; the window shows the newest that is complete."""
        glyphs, words, shared = gizmos.take(), self._words, self._shared
        spheres, arrows = glyphs.spheres[:MOST_GIZMOS], glyphs.arrows[:MOST_GIZMOS]
        words[Word.GIZMO_VERSION] += 1
        shared.spheres[: len(spheres)], shared.arrows[: len(arrows)] = spheres, arrows
        words[Word.SPHERES], words[Word.ARROWS] = len(spheres), len(arrows)
        words[Word.GIZMO_VERSION] += 1
        self._drawn = bool(len(spheres) or len(arrows))

    def _hold(self) -> None:
        """Wait until the loop may go on."""
        words = self._words
        while self._running and words[Word.PAUSED]:
            if words[Word.PERMITS] > self._permits_used:
                self._permits_used += 1
                return
            select.select([self._socket], [], [], _WAIT)
            self._look(monotonic(), False)
            if self._rows.is_changed:
                self._rows.write(AFTER, self._data.time)
            self._exchange()
        self._permits_used = words[Word.PERMITS]

    def _attend(self, now: float) -> None:
        """See what the window has to say, if it can have said something since the last time."""
        words, self._next_exchange = self._words, now + _EXCHANGE_TIME
        if self._tapped:
            TAP.renew(self._data)
        if words[_FRAMES] != self._frames or words[Word.CLOSED] or now >= self._silent_until:
            self._exchange()

    def _exchange(self) -> None:
        """See what the window has to say."""
        now = monotonic()
        self._next_exchange, self._silent_until = now + _EXCHANGE_TIME, now + _SILENT_TIME
        self._frames = self._words[_FRAMES]
        for message in self._receive():
            self._handle(message)
        self._views.hand_over(self._send, self._shared)
        if self._words[Word.CLOSED]:
            self._stop()

    def _handle(self, message: dict[str, Any]) -> None:
        """Act on a message of the window."""
        if self._key_callback is not None:
            for key in message.get("keys", ()):
                self._key_callback(key)
        if message.get("error"):
            print(f"contact-viewer: {message['error']}", file=sys.stderr)

    def _receive(self) -> list[dict[str, Any]]:
        """Messages that the window has sent; notices its end."""
        with contextlib.suppress(BlockingIOError):
            while True:
                try:
                    part = self._socket.recv(65536)
                except ConnectionError:
                    part = b""
                if not part:
                    self._stop()
                    break
                self._received += part
        *lines, self._received = self._received.split(b"\n")
        return [json.loads(line) for line in lines if line]

    def _stop(self) -> None:
        """The window is gone; the loop goes on without it."""
        self._pull.end()
        self._leave()

    def _leave(self) -> None:
        """Hand over no more."""
        self._running = False
        if self._tapped:
            self._tapped = False
            TAP.remove(self._rows.write_start)

    def _wake(self) -> None:
        self._send({})

    def _send(self, message: dict[str, Any]) -> bool:
        """Send a message; False if the window does not listen now."""
        try:
            self._socket.send(json.dumps(message).encode() + b"\n")
        except OSError:
            return False
        return True

    def _wait_until_open(self, served: bool) -> None:
        """Wait for the first picture, or an address, which comes after it. Raises SceneError if there is none."""
        until = monotonic() + _START_TIME
        try:
            while monotonic() < until and self._running:
                select.select([self._socket], [], [], _WAIT)
                for message in self._receive():
                    if message.get("error"):
                        raise SceneError(message["error"])
                    if message.get("url"):
                        self.page = Page(message["url"])
                    if message.get("url" if served else "ready"):
                        return
            if not self._running:
                with contextlib.suppress(subprocess.TimeoutExpired):
                    code = self._process.wait(SILENCE)
                    raise SceneError(f"the window's process ended with exit code {code} before it was open")
            raise SceneError(f"the window did not open within {_START_TIME:g} s")
        except BaseException:
            self.close()
            raise


_viewers: "weakref.WeakSet[PassiveViewer]" = weakref.WeakSet()


def _leave_to_parent() -> None:
    """In a process that was forked: the windows are the other one's."""
    for viewer in _viewers:
        viewer._leave()


if hasattr(os, "register_at_fork"):
    os.register_at_fork(after_in_child=_leave_to_parent)
