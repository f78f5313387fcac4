"""The part of the passive viewer in the user's process: it sends states to the window, and never draws."""

import math
import os
import sys
import threading
import weakref
from collections.abc import Callable, Mapping
from pathlib import Path
from time import monotonic, sleep
from typing import Any, NamedTuple, Self, SupportsFloat

import mujoco

from ..errors import SceneError
from ..files import printable
from ..mjmodel.state import STATE
from ..mjmodel.types import MjData, MjModel
from ..page.child import page_of
from ..processes import Child, Message
from ..render.glyphs import GizmoList
from .program import AFTER, START, ModelWatch, ProgramViews, Pull, RowWriter, ValueWriter, check_simulation, own_model
from .served import WINDOW_MODULE, Page, wait_until_open
from .shared_memory import (
    DEFAULT_RING,
    MOST_GIZMOS,
    SharedMemory,
    Word,
    block_bytes,
    model_file,
    row_count,
    row_word,
    shared_file,
)
from .tap import TAP

_EXCHANGE_TIME = 1 / 60
"""Time between two checks for messages of the window, which it sends in its frames [s]."""
_SILENT_TIME = 0.25
"""Longest time between two checks that the window still exists [s]."""
_START_TIME = 60.0
"""Longest wait for a window to open [s]."""
_WAIT = 0.05
"""Time between two checks while the loop is held, or a run is saved [s]; messages wake it at once."""
_SAVE_TIME = 600.0
"""Longest wait for a window to save a run [s]."""
_REST = 0.002
"""Time between two checks for room for rows [s]."""
_FOLLOW_TIME = 10.0
"""Longest wait for a window to show a model before the program may replace it again [s]."""
_STILL = 0.5
"""Time without a step after which a program is warned if nothing in it refers to the shown data any more [s]."""
_SLEEPING, _PULLED, _PAUSED, _FRAMES = map(int, (Word.SLEEPING, Word.PULLED, Word.PAUSED, Word.FRAMES))
"""Words that every `sync` reads, as plain numbers: an index takes 0.14 µs, a member of an enum 0.43 µs."""
KeyCallback = Callable[[int], object]
"""Function that `sync` calls with each key pressed in the window, as numbered by GLFW."""


class LoopViewer:
    """Window, in a process of its own, on data that the calling program steps.

    `sync` copies the state into shared memory, and returns.
    """

    _beside_size = 0
    """Number of values of a row after the state: see `batch`."""

    def __init__(
        self,
        model: MjModel,
        data: MjData,
        *,
        key_callback: KeyCallback | None = None,
        show_left_ui: bool = True,
        show_right_ui: bool = True,
        every_step: bool = False,
        wait: bool | None = None,
        ring_bytes: int = DEFAULT_RING,
        scene: Any = None,
        num_envs: int = 1,
        module: str = WINDOW_MODULE,
        request: Mapping[str, Any] | None = None,
    ) -> None:
        """See `launch_passive`. `num_envs`: number of environments that the window offers; `module`: module that the
        window's process runs; `request`: further entries of the request to that process."""
        users_references = sys.getrefcount(data)
        self._lock = threading.RLock()
        self._ring_bytes = ring_bytes
        self._words = memoryview(bytes(8 * len(Word))).cast("q")
        files, wanted = self._share(model, data, scene)
        wanted |= request or {}
        served = wanted.get("serve") is not None
        try:
            # No browser can show the window before there is an address.
            self._words[Word.LOSSLESS] = served if wait is None else wait
            self._words[Word.ENVIRONMENTS] = num_envs
            self._child = Child(module, wanted, files)
            # Done while the window opens: a row of 120 values takes 0.7 µs in this memory, 4.5 µs in new memory.
            self._shared.allocate()
        finally:
            for file in files:
                os.close(file)
        self._process, self._link = self._child.process, self._child.link
        self._next_exchange = self._next_look = self._silent_until = 0.0
        """Times of the next check for messages, of the model, and of a window that sends nothing [s]."""
        self._frames = 0
        """Number of the window's frames at the last check for messages."""
        self._gizmos: GizmoList | None = None
        """Gizmos of the program; None before it uses them."""
        self._drawn = False
        """True if the window has gizmos of the program."""
        self._key_callback = key_callback
        self._views = ProgramViews(model)
        self._inbox: list[Message] = []
        """Messages that arrived while the loop waited for room."""
        self._still_time, self._still_since = data.time, monotonic()
        """Simulated time of the data, and time since which it does not change [s]."""
        self._running, self._tapped = True, False
        _viewers.add(self)
        self._link.send({"keys": key_callback is not None, "left": show_left_ui, "right": show_right_ui, "wait": wait})
        self.page: Page | None = None
        """Page of the window in browsers, if it is served."""
        try:
            opened = wait_until_open(self._child, "url" if served else "ready", _START_TIME)
            if served:
                self.page = Page(opened)
        except BaseException:
            self.close()
            raise
        self._tapped = every_step
        if every_step:
            TAP.add(model, data, self._rows.write_start)
        self._own_references = sys.getrefcount(data) - users_references
        """Number of references to the data from this object."""

    def _share(self, model: MjModel, data: MjData, scene: Any) -> tuple[tuple[int, int], dict[str, Any]]:
        """Share the states of some data from now on. Returns descriptors of the model's file and of the shared memory,
        and a request to the window to show them."""
        shown, path = (model, None) if scene is None else own_model(model, scene)
        watch = ModelWatch(model)
        size = mujoco.mj_stateSize(model, STATE) + self._beside_size
        rows = row_count(size, self._ring_bytes)
        ring = shared_file("contact-viewer-steps", block_bytes(size, rows, watch.size))
        try:
            compiled = model_file(shown)
            shared = SharedMemory(ring, size, rows, watch.size)
        except BaseException:
            os.close(ring)
            raise
        for word in (Word.PAUSED, Word.LOSSLESS, Word.ENVIRONMENT, Word.ENVIRONMENTS):
            shared.words[word] = self._words[word]
        self._model, self._data, self._watch = model, data, watch
        self._shared, self._words = shared, shared.words
        self._pull, self._permits_used = Pull(data, shared), 0
        self._rows, self._values = self._open_rows(), ValueWriter(shared)
        self._rows.write(AFTER, data.time)
        name = None if path is None else str(path)
        return (compiled, ring), {"model": compiled, "ring": ring, "size": size, "rows": rows, "path": name}

    @property
    def num_envs(self) -> int:
        """Number of environments, of which one is shown."""
        return int(self._words[Word.ENVIRONMENTS])

    @property
    def env(self) -> int:
        """Number of the environment that is shown; set it to show another."""
        return int(self._words[Word.ENVIRONMENT])

    @env.setter
    def env(self, env: int) -> None:
        if not 0 <= env < self.num_envs:
            raise ValueError(f"no environment {env}; there are {self.num_envs}, from 0 to {self.num_envs - 1}")
        self._words[Word.ENVIRONMENT] = env
        self._wake()

    @property
    def url(self) -> str | None:
        """Address at which browsers show the window, with its token; None if the window is on a display."""
        return self.page.url if self.page is not None else None

    def _repr_html_(self) -> str | None:
        return self.page.html() if self.page is not None else None

    @property
    def gizmos(self) -> GizmoList:
        """Spheres and arrows of the program. Those that are added before a `sync` are shown until the next one."""
        if self._gizmos is None:
            self._gizmos = GizmoList(width=0.0)
        return self._gizmos

    @property
    def cam(self) -> Any:
        """MjvCamera of the window. Fields that the program sets take effect there; the window does not set them."""
        return self._views.camera

    def is_running(self) -> bool:
        """Return False after the window was closed, or has ended."""
        now = monotonic()
        if self._running and (self._words[Word.CLOSED] or now >= self._next_exchange):
            with self._lock:
                self._attend(now)
        return self._running

    @property
    def is_paused(self) -> bool:
        """True if `sync` waits, or will wait."""
        return self._running and bool(self._words[Word.PAUSED])

    def pause(self) -> None:
        """Hold the loop in its next `sync`, until the user plays on, or another thread calls `resume`."""
        if self._running:
            self._words[Word.PAUSED] = 1
            self._wake()

    def resume(self) -> None:
        """Let a paused loop go on."""
        if self._running:
            self._words[Word.PAUSED] = 0
            self._wake()

    def sync(self, state_only: bool = False) -> None:
        """Send the state after a step to the window, and apply the user's pull. It waits only while the loop is paused.

        `state_only`: True to skip the check for changes of the model.
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

    def plot(self, name: str, value: SupportsFloat, unit: str = "") -> None:
        """Add a value at the present time to a curve in the Plots panel.

        Args:
            name: Name of the curve. Names with the same part before the last slash share a plot, such as
                `reward/feet_slip` and `reward/upright`.
            value: The value; True and False too.
            unit: Unit of the values. Curves of different units have plots of their own.

        Raises:
            TypeError: The value is not a number.
            ValueError: The name is too long, or there are more than 512 names.

        Example:
            ```python
            mujoco.mj_step(model, data)
            viewer.plot("reward/upright", data.xmat[1, 8])
            viewer.sync()
            ```
        """
        if self._running:
            with self._lock:
                self._values.write(name, value, unit, self._rows.count, self._data.time)

    def close(self) -> None:
        """Close the window and complete its recording. A second call does nothing."""
        with self._lock:
            self._stop()
            self._child.end()

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: object) -> None:
        self.close()

    def _open_rows(self) -> RowWriter:
        return RowWriter(self._model, self._data, self._shared, self.room())

    def room(self) -> Callable[[], int]:
        """Return a function for `RowWriter` that waits for room. It does not keep the viewer alive."""
        reference = weakref.ref(self)

        def make_room() -> int:
            viewer = reference()
            return viewer._make_room() if viewer is not None else sys.maxsize

        return make_room

    def _make_room(self) -> int:
        """Wait until half of the rows were read, if none may be left out; return the number of rows at which to call
        again.

        The call may be inside a step: messages of the window are kept for later.
        """
        words, rows = self._words, self._rows
        while self._running and words[Word.LOSSLESS] and rows.count - words[Word.TAKEN] > rows.rows // 2:
            # Ctrl-C ends the wait, also one inside a step.
            TAP.raise_error()
            # The window keeps a step that it cannot reproduce until the model was checked for changes.
            self._look(monotonic(), False)
            if words[_SLEEPING]:
                words[_SLEEPING] = 0
                self._wake()
            sleep(_REST)
            self._inbox += self._receive()
            if words[Word.CLOSED]:
                self._stop()
        return rows.count + rows.rows // 4

    def _look(self, now: float, state_only: bool) -> None:
        """Check whether the program has changed its model."""
        if state_only:
            self._next_look = now + _EXCHANGE_TIME
            return
        watch, version = self._watch, self._watch.version
        self._next_look = now + watch.look(self._shared, self._rows.count)
        if watch.version != version:
            self._rows.word, self._rows.is_changed = row_word(0, watch.version), True

    def _show_gizmos(self, gizmos: GizmoList) -> None:
        """Send the gizmos since the last call; the window shows the newest complete ones."""
        glyphs, words, shared = gizmos.pop_glyphs(), self._words, self._shared
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
            self._link.wait(_WAIT)
            self._look(monotonic(), False)
            if self._rows.is_changed:
                self._rows.write(AFTER, self._data.time)
            self._exchange()
        self._permits_used = words[Word.PERMITS]

    def _attend(self, now: float) -> None:
        """Handle messages of the window, if it may have sent some since the last call."""
        words, self._next_exchange = self._words, now + _EXCHANGE_TIME
        if self._tapped:
            TAP.renew(self._data)
        if (time := self._data.time) != self._still_time:
            self._still_time, self._still_since = time, now
        elif now - self._still_since > _STILL and sys.getrefcount(self._data) <= self._own_references + 1:
            self._still_since = math.inf
            print(
                "contact-viewer: the MjData that is shown stands still, and nothing else in the program refers to it:"
                " if the program has made another one, call `viewer.show(model, data)`",
                file=sys.stderr,
            )
        if words[_FRAMES] != self._frames or words[Word.CLOSED] or now >= self._silent_until:
            self._exchange()

    def _exchange(self) -> None:
        """Handle messages of the window, and send it changes of camera, options and geoms."""
        now = monotonic()
        self._next_exchange, self._silent_until = now + _EXCHANGE_TIME, now + _SILENT_TIME
        self._frames = self._words[_FRAMES]
        messages, self._inbox = [*self._inbox, *self._receive()], []
        for message in messages:
            self._handle(message)
        self._views.hand_over(self._link.send, self._shared)
        if self._words[Word.CLOSED]:
            self._stop()

    def _handle(self, message: Message) -> None:
        """Handle a message of the window."""
        if self._key_callback is not None:
            for key in message.get("keys", ()):
                self._key_callback(key)
        if message.get("error"):
            print(f"contact-viewer: {printable(message['error'])}", file=sys.stderr)

    def _receive(self) -> list[Message]:
        """Return the messages of the window, and stop if it has ended."""
        messages = self._link.receive()
        if not self._link.is_open:
            self._stop()
        return messages

    def _stop(self) -> None:
        """Let the loop go on without the window, which has ended."""
        self._pull.end()
        self._leave()

    def _leave(self) -> None:
        """Stop sending states."""
        self._running = False
        if self._tapped:
            self._tapped = False
            TAP.remove(self._rows.write_start)

    def _wake(self) -> None:
        self._link.send({})


class SavedRun(NamedTuple):
    """Saved run, with the numbers of its steps and of missing steps."""

    path: Path
    steps: int
    """Number of steps in the run."""
    skipped: int
    """Number of steps that are left out because the loop was faster than the window: see `wait` of `launch_passive`."""
    forgotten: int
    """Number of steps before the first one, for which the window's history had no room."""


class PassiveViewer(LoopViewer):
    """Window on a model and data that the calling program steps: call `sync` after every step.

    The window is a process of its own. `sync` copies the state into shared memory, and returns.

    Example:
        ```python
        with contact_viewer.launch_passive(model, data) as viewer:
            for _ in range(100):
                mujoco.mj_step(model, data)
                viewer.plot("height", data.qpos[2], unit="m")
                viewer.sync()
        ```
    """

    @property
    def m(self) -> MjModel:
        """Model of the program."""
        return self._model

    @property
    def d(self) -> MjData:
        """Data of the program."""
        return self._data

    @property
    def opt(self) -> Any:
        """MjvOption of the window. Fields that the program sets take effect there; the window does not set them."""
        return self._views.options

    @property
    def user_scn(self) -> Any:
        """MjvScene for geoms of the program, which are drawn with the scene: the first `ngeom` of its `geoms`, as set
        by `mujoco.mjv_initGeom` and `mjv_connector`. They are shown until the program changes them."""
        return self._views.scene

    def record_step(self) -> None:
        """Send the state after a step to the window, and nothing else, for steps between two calls of `sync`."""
        if self._running:
            with self._lock:
                self._rows.write(AFTER, self._data.time)

    def show(self, model: MjModel, data: MjData, *, scene: Any = None) -> None:
        """Show other data, or another model and its data, in the same window and at the same address from now on.

        It is for programs that replace their MjData or MjModel, such as in a reset. Camera and choices stay as when a
        scene is reloaded; a new history begins. `scene`: see `launch_passive`. Raises SceneError.
        """
        model, data = check_simulation(model, data)
        with self._lock:
            if not self._running or (model is self._model and data is self._data):
                return
            if model is not self._model:
                self._wait_until_followed()
            self._pull.end()
            before, was_tapped = self._rows.write_start, self._tapped
            if model is self._model:
                self._data = self._rows.data = data
                self._pull, self._rows.is_changed = Pull(data, self._shared), True
                self._rows.write(START, data.time)
            else:
                files, wanted = self._share(model, data, scene)
                self._send_files({"show": wanted}, files)
            if was_tapped:
                TAP.remove(before)
            # The window may have ended meanwhile.
            if self._tapped:
                TAP.add(model, data, self._rows.write_start)

    def save_run(self, path: str | Path, episodes: int = 1) -> SavedRun:
        """Save every step that the window keeps into a `.cvrun` file, which `contact-viewer` opens as a scene.

        The call waits until the file is complete; the window goes on meanwhile. The number of steps since the last
        reset that are missing is returned, and printed to standard error.

        Args:
            path: Path of the file.
            episodes: Number of last episodes to save, with the present one. Earlier ones are saved into files of their
                own, with their number: `run.cvrun`, `run.episode7.cvrun`, `run.episode6.cvrun`.

        Returns:
            The contents of the first file.

        Raises:
            SceneError: The file cannot be written, or the window is closed: one line.

        Example:
            ```python
            viewer.save_run("walk.cvrun", episodes=3)
            ```
        """
        if episodes < 1:
            raise ValueError(f"episodes is at least 1, not {episodes}")
        target = str(Path(path).expanduser().absolute())
        with self._lock:
            until = monotonic() + _SAVE_TIME
            # The last steps may be those of a model that has just been changed.
            self._look(monotonic(), False)
            sent = self._running and self._link.send({"save_run": target, "episodes": episodes})
            while sent and self._running and monotonic() < until:
                self._link.wait(_WAIT)
                for message in self._receive():
                    self._handle(message)
                    answer = message.get("run")
                    if answer is not None and answer["path"] == target:
                        if answer["error"]:
                            raise SceneError(answer["error"])
                        saved = SavedRun(Path(target), *answer["steps"])
                        _report(saved)
                        return saved
            raise SceneError(f"{path}: the window {'does not answer' if self._running else 'is closed'}")

    def save_page(self, path: str | Path, *, title: str = "") -> Path:
        """Write every step that the window keeps as one HTML page, which opens in any browser: see `save_run`.

        Args:
            path: Path of the page, an `.html` file.
            title: Title of the page; by default the name of the scene.

        Returns:
            The path of the page.

        Raises:
            SceneError: The page cannot be written, or the window is closed.

        Example:
            >>> viewer.save_page("slip.html")  # doctest: +SKIP
        """
        target = Path(path).expanduser().absolute()
        page_of(self.save_run, target, *(("--title", title) if title else ()))
        return target

    def offer_environments(self, count: int, env: int) -> None:
        """Let a user choose among `count` environments in the window; the program reads the choice from `env` and shows
        it."""
        self._words[Word.ENVIRONMENTS], self._words[Word.ENVIRONMENT] = count, env

    def lock(self) -> threading.RLock:
        """Return a lock that keeps `sync` of other threads from reading the data: `with viewer.lock(): ...`."""
        return self._lock

    def _wait_until_followed(self) -> None:
        """Wait until the window shows the present model: a program may replace its model faster than the window opens
        it."""
        until = monotonic() + _FOLLOW_TIME
        while self._running and not self._words[_FRAMES] and monotonic() < until:
            sleep(_REST)
            self._inbox += self._receive()

    def _send_files(self, message: Message, files: tuple[int, ...]) -> None:
        """Send a message with descriptors, which are then closed; wait until the window listens."""
        try:
            while self._running and not self._link.send(message, files):
                sleep(_REST)
                self._inbox += self._receive()
        finally:
            for file in files:
                os.close(file)


def _report(saved: SavedRun) -> None:
    """Print which steps are missing in a saved run."""
    missing = []
    if saved.skipped:
        missing.append(f"{saved.skipped} that the loop took too fast (`launch_passive(..., wait=True)` keeps all)")
    if saved.forgotten:
        missing.append(f"the first {saved.forgotten}, for which the window's history has no room")
    if missing:
        print(f"contact-viewer: {saved.path}: {saved.steps} steps; missing: {'; '.join(missing)}", file=sys.stderr)


_viewers: "weakref.WeakSet[LoopViewer]" = weakref.WeakSet()


def _leave_to_parent() -> None:
    """Leave all windows to the parent process; called in a forked process."""
    for viewer in _viewers:
        viewer._leave()


if hasattr(os, "register_at_fork"):
    os.register_at_fork(after_in_child=_leave_to_parent)
