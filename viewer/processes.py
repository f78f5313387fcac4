"""Runs modules of this package as processes: starts, limits and ends them, and exchanges messages; captures standard
error.

A `Child` shares descriptors with this process and lives as long as it; its program calls `run_child`. A `Worker` may
crash, hang or exhaust memory: it gets one request and replies with results; its program calls `run_job`.
"""

import contextlib
import json
import math
import os
import re
import select
import shutil
import signal
import socket
import subprocess
import sys
import tempfile
import threading
import time
import weakref
from array import array
from collections import deque
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from importlib import import_module
from pathlib import Path
from typing import Any, BinaryIO

from .errors import SceneError

SILENCE = 3.0
"""Time without messages after which a child that is to end is killed [s]."""
_ALIVE = 0.5
"""Time between two signs of life of a child that is ending [s]."""
_CLOSE_TIME = 60.0
"""Longest time for a child to complete its files [s]."""
_FILES = 16
"""Most descriptors that arrive with one part of the messages."""
_NO_SIGNAL = getattr(socket, "MSG_NOSIGNAL", 0)
"""Flag that keeps a process from ending when its peer has closed the connection."""
_REQUEST_FILE, _STDERR_FILE = "request.json", "stderr"
_LOOK_SECONDS = 0.02
"""Time between two checks of a worker's memory [s]: it may fill some tens of megabytes meanwhile."""
_ADDRESSES = 16
"""Addresses that a worker may reserve, as a multiple of the memory that it may fill."""
_STDERR_TAIL = 2000
"""Bytes of a worker's standard error that are kept for a message."""
_TERMINAL_CODES = re.compile(r"\x1b\[[0-9;]*m")
_stderr_lock = threading.RLock()
Message = dict[str, Any]


class Link:
    """End of a connection between two processes: messages are lines of JSON, some with descriptors."""

    def __init__(self, end: socket.socket) -> None:
        # A process that is stopped, such as by a debugger, keeps no other one waiting.
        end.setblocking(False)
        self._socket = end
        self._received = b""
        self._parent = os.getppid()
        self.is_open = True
        """False once the other process has closed its end, or has ended."""
        self.files: deque[int] = deque()
        """Descriptors that have arrived with messages."""

    @property
    def has_parent(self) -> bool:
        """False once the parent of this process has ended, whose other children may keep the link open."""
        return os.getppid() == self._parent

    def send(self, message: Message, files: Sequence[int] = (), *, wait: bool = False) -> bool:
        """Send a message; an empty one wakes the other process. Return False if the other process does not listen now.

        `files`: descriptors to send with it. `wait`: True to wait until the other process listens.
        """
        line = json.dumps(message).encode() + b"\n"
        rights = [(socket.SOL_SOCKET, socket.SCM_RIGHTS, array("i", files))] if files else []
        try:
            if wait:
                self._socket.setblocking(True)
                self._socket.sendall(line, _NO_SIGNAL)
                self._socket.setblocking(False)
            else:
                self._socket.sendmsg([line], rights, _NO_SIGNAL)
        except OSError:
            return False
        return True

    def wait(self, seconds: float | None = None) -> bool:
        """Wait until something has arrived, at most for some time [s]; False if nothing has."""
        # Unlike `select.select` it takes descriptors of programs that have more than a thousand.
        poll = select.poll()
        poll.register(self._socket, select.POLLIN)
        return bool(poll.poll(None if seconds is None else 1e3 * seconds))

    def receive(self) -> list[Message]:
        """Return the messages that have arrived."""
        while self.is_open:
            try:
                part, files, _, _ = socket.recv_fds(self._socket, 65536, _FILES)
            except BlockingIOError:
                break
            except OSError:
                part, files = b"", []
            self.files.extend(files)
            self.is_open = bool(part)
            self._received += part
        *lines, self._received = self._received.split(b"\n")
        return [json.loads(line) for line in lines if line]

    def listen(self, handle: Callable[[list[Message]], None]) -> None:
        """Start a thread that calls `handle` with messages as they arrive, and once more when the link has closed.

        From then on the thread sends signs of life, so that the other process waits while this one completes its files.
        """

        def run() -> None:
            while self.is_open:
                self.wait()
                handle(self.receive())
            while True:
                self.send({})
                time.sleep(_ALIVE)

        threading.Thread(target=run, name="link", daemon=True).start()

    def shut(self) -> None:
        """Send nothing more."""
        with contextlib.suppress(OSError):
            self._socket.shutdown(socket.SHUT_WR)

    def close(self) -> None:
        """Close this end. Safe twice."""
        self._socket.close()


class Child:
    """A process that runs a module of this package, linked to this one; it is ended with this object or with the
    program.

    It is in a separate session: Ctrl-C in the user's terminal does not reach it.
    """

    def __init__(self, module: str, request: Mapping[str, Any], files: Sequence[int] = ()) -> None:
        """`request`: anything that JSON holds; `files`: descriptors that are shared, and have the same numbers in the
        child."""
        environment = {
            name: value for name, value in os.environ.items() if name not in ("PYOPENGL_PLATFORM", "MUJOCO_GL")
        }
        # Software rendering would take the cores on which the user's loop runs.
        environment.setdefault("LP_NUM_THREADS", str(max(1, (os.cpu_count() or 1) - 1)))
        self.process, end = start_module(module, request, files, environment, start_new_session=True)
        self.link = Link(end)
        self.end = weakref.finalize(self, _end_child, os.getpid(), self.link, self.process)
        """End the process, and wait until it has completed its files. Safe twice."""


def run_child(work: Callable[[Link, Message], None], what: str) -> None:
    """Run the program of a `Child` with its link and request, and end the process.

    An error is sent as one line: a user's program gets no traceback of this package. `what`: name of the failed
    activity in that line.
    """
    link, request = _parent_link()
    code = 0
    try:
        work(link, request)
    except Exception as error:
        link.send({"error": str(error) if isinstance(error, SceneError) else f"{what} failed: {error!r}"})
        code = 2
    sys.stdout.flush()
    # Freeing a large model takes time for nothing.
    os._exit(code)


def start_module(
    module: str, request: Any, files: Sequence[int], environment: Mapping[str, str], **options: Any
) -> "tuple[subprocess.Popen[bytes], socket.socket]":
    """Start a module as a process that shares a socket with this one; OSError if it cannot start.

    Args:
        module: Its program; `sys.argv` there has the descriptor of its end of the socket, and the request.
        request: Anything that JSON holds.
        files: Descriptors that the process shares.
        environment: Its variables; it imports from where this process does.
        options: As `subprocess.Popen` takes them.

    Returns:
        The process and this end of the socket.
    """
    ours, theirs = socket.socketpair()
    with theirs:
        try:
            process = subprocess.Popen(
                # -P: modules in the user's working folder are not imported.
                [sys.executable, "-P", "-m", module, str(theirs.fileno()), json.dumps(request)],
                stdin=subprocess.DEVNULL,
                pass_fds=(theirs.fileno(), *files),
                env={**environment, "PYTHONPATH": os.pathsep.join(entry for entry in sys.path if entry)},
                **options,
            )
        except BaseException:
            ours.close()
            raise
    return process, ours


def _parent_link() -> tuple[Link, Message]:
    """Return this process's link to its parent, and its request."""
    return Link(socket.socket(fileno=int(sys.argv[1]))), json.loads(sys.argv[2])


def _end_child(pid: int, link: Link, process: "subprocess.Popen[bytes]") -> None:
    """Let a child end and wait for it. A process that was forked from process `pid` leaves it alone."""
    if os.getpid() != pid:
        return
    link.shut()
    until = time.monotonic() + _CLOSE_TIME
    # It gives signs of life as long as it has files to complete.
    while link.is_open and time.monotonic() < until and link.wait(SILENCE):
        link.receive()
    link.close()
    try:
        process.wait(SILENCE)
    except subprocess.TimeoutExpired:
        process.kill()
        process.wait()


@dataclass(frozen=True)
class Limits:
    """Limits of a worker's time and memory."""

    time: float = 60.0
    """Wall time [s]. The slowest of a thousand public scenes takes 11 to compile."""
    memory: int | None = 4 * 2**30
    """Memory that it fills [bytes], enforced on Linux only; None for any amount. Addresses that it merely reserves, as
    MuJoCo does for contacts of thousands of bodies, do not count."""


class Worker:
    """A module running in a process of its own. Call `poll` regularly, or `wait`, and `close` in any case."""

    def __init__(self, module: str, request: Any, limits: Limits) -> None:
        """`module`: a module that calls `run_job`; `request`: anything that JSON holds. Raises OSError if it cannot
        start."""
        self.limits = limits
        self.timed_out = False
        """True if the process was stopped because its time was up."""
        self.over_memory = False
        """True if the process was stopped because it filled too much memory."""
        self._stage = "starting"
        self.results: list[Any] = []
        """Results that have arrived."""
        self.folder = Path(tempfile.mkdtemp(prefix="contact-viewer-"))
        """Working folder of the process, for files too large for a result."""
        self._started = time.monotonic()
        try:
            (self.folder / _REQUEST_FILE).write_text(json.dumps(request), encoding="utf-8")
            self._process, end = self._start(module)
        except OSError:
            shutil.rmtree(self.folder, ignore_errors=True)
            raise
        self._link = Link(end)

    @property
    def stage(self) -> str:
        """Present activity of the process, for the user."""
        self._receive()
        return self._stage

    @property
    def elapsed(self) -> float:
        """Time since the start [s]."""
        return time.monotonic() - self._started

    @property
    def exit_code(self) -> int:
        """Exit code of a process that has ended; the negative number of the signal that ended it."""
        assert self._process.returncode is not None
        return int(self._process.returncode)

    @property
    def stderr(self) -> str:
        """End of the output of the process on standard error."""
        with (self.folder / _STDERR_FILE).open("rb") as file:
            file.seek(max(0, file.seek(0, os.SEEK_END) - _STDERR_TAIL))
            return file.read().decode("utf-8", "replace").strip()

    def poll(self) -> bool:
        """Receive the messages of the process; return True if it has ended. Stops it beyond its limits of time and
        memory."""
        if self._process.poll() is None:
            self.timed_out = self.elapsed > self.limits.time
            self.over_memory = self.limits.memory is not None and self._memory() > self.limits.memory
            if self.timed_out or self.over_memory:
                self.stop()
        self.timed_out |= self._process.returncode == -getattr(signal, "SIGALRM", 0)
        has_ended = self._process.returncode is not None
        # After that look: all that a process has sent before its end is there.
        self._receive()
        return has_ended

    def wait(self, seconds: float | None = None) -> bool:
        """Wait for the end, at most for some time [s]; return True if the process has ended."""
        end = math.inf if seconds is None else time.monotonic() + seconds
        while not self.poll() and (left := end - time.monotonic()) > 0:
            if self._link.is_open:
                self._link.wait(min(left, _LOOK_SECONDS))
            else:
                with contextlib.suppress(subprocess.TimeoutExpired):
                    self._process.wait(min(left, _LOOK_SECONDS))
        return self._process.returncode is not None

    def stop(self) -> None:
        """End the process at once. Does nothing if it has ended."""
        if self._process.poll() is None:
            self._process.kill()
            self._process.wait()

    def close(self) -> None:
        """End the process and remove its files. Safe twice."""
        self.stop()
        self._link.close()
        shutil.rmtree(self.folder, ignore_errors=True)

    def _receive(self) -> None:
        for message in self._link.receive():
            self._stage = message.get("stage", self._stage)
            self.results += message.get("results", ())

    def _memory(self) -> int:
        """Return the bytes that the process fills, without libraries; 0 if that is not known."""
        try:
            _, resident, shared = Path(f"/proc/{self._process.pid}/statm").read_text().split()[:3]
        except (OSError, ValueError):
            return 0
        return (int(resident) - int(shared)) * os.sysconf("SC_PAGE_SIZE")

    def _start(self, module: str) -> "tuple[subprocess.Popen[bytes], socket.socket]":
        arguments = {"folder": str(self.folder), "time": self.limits.time, "memory": self.limits.memory}
        environment = os.environ | {"MUJOCO_GL": "disable", "OPENBLAS_NUM_THREADS": "1"}
        with (self.folder / _STDERR_FILE).open("wb") as stderr:
            # MuJoCo writes its log into the working folder.
            options = {"stdout": subprocess.DEVNULL, "stderr": stderr, "cwd": self.folder}
            return start_module(module, arguments, (), environment, **options)


class Job:
    """Request of a job, in the process that works on it."""

    def __init__(self, link: Link, folder: Path, request: Any) -> None:
        self._link, self.folder, self.request = link, folder, request

    def set_stage(self, stage: str) -> None:
        """Set the present stage of the work, to show to a user."""
        self._link.send({"stage": stage}, wait=True)

    def reply(self, result: Any) -> None:
        """Add a result; anything JSON holds."""
        self._link.send({"results": [result]}, wait=True)


def run_job(work: Callable[[Job], None]) -> None:
    """Run the program of a worker's process: limit it, work on the request, and end the process."""
    link, arguments = _parent_link()
    folder = Path(arguments["folder"])
    _enforce(Limits(arguments["time"], arguments["memory"]))
    work(Job(link, folder, json.loads((folder / _REQUEST_FILE).read_text(encoding="utf-8"))))
    # Freeing a large model takes time for nothing.
    os._exit(0)


def describe_signal(exit_code: int) -> str | None:
    """Return the name of the signal that ended a process; None if none did."""
    return signal.Signals(-exit_code).name if exit_code < 0 else None


def _enforce(limits: Limits) -> None:
    """Set limits that hold even if the parent process is gone."""
    if hasattr(signal, "setitimer"):
        # Without a handler the signal ends the process, also within a library.
        signal.signal(signal.SIGALRM, signal.SIG_DFL)
        signal.setitimer(signal.ITIMER_REAL, limits.time + 1)
    statistics = Path("/proc/self/statm")
    if statistics.exists():
        import resource

        resource.setrlimit(resource.RLIMIT_CORE, (0, 0))
        if limits.memory is not None:
            # What is filled is watched from outside. A process that nobody watches any more has a limit too.
            used = int(statistics.read_text().split()[0]) * resource.getpagesize()
            soft, hard = resource.getrlimit(resource.RLIMIT_AS)
            given = [limit for limit in (soft, hard) if limit != resource.RLIM_INFINITY]
            resource.setrlimit(resource.RLIMIT_AS, (min([used + _ADDRESSES * limits.memory, *given]), hard))


def address_limit() -> int | None:
    """Return the limit of the address space of this process and its children, as by `ulimit -v` [bytes]; None for no
    limit."""
    try:
        import resource
    except ImportError:
        return None
    limit = resource.getrlimit(resource.RLIMIT_AS)[0]
    return None if limit == resource.RLIM_INFINITY else int(limit)


@contextmanager
def redirect_stderr(file: BinaryIO | None) -> Iterator[None]:
    """Redirect standard error to a file, or nowhere, within a `with` block. Other threads that redirect it wait."""
    with _stderr_lock:
        if sys.stderr is not None:
            sys.stderr.flush()
        try:
            saved = os.dup(2)
        except OSError:  # There is no standard error.
            yield
            return
        target = os.open(os.devnull, os.O_WRONLY) if file is None else os.dup(file.fileno())
        os.dup2(target, 2)
        os.close(target)
        try:
            yield
        finally:
            os.dup2(saved, 2)
            os.close(saved)


@contextmanager
def capture_stderr() -> Iterator[list[str]]:
    """Yield a list that receives the lines of standard error, without terminal codes, when the block has ended."""
    lines: list[str] = []
    with tempfile.TemporaryFile() as file:
        try:
            with redirect_stderr(file):
                yield lines
        finally:
            file.seek(0)
            lines += _TERMINAL_CODES.sub("", file.read().decode("utf-8", "replace")).splitlines()


def import_extra(module: str, extra: str, need: str, kind: type[SceneError] = SceneError) -> Any:
    """Import a module of an optional package quietly; raise `kind`, with one line, if that fails.

    `need`: beginning of that line, such as "sweeps need".
    """
    package = module.partition(".")[0]
    try:
        with redirect_stderr(None):
            import_module(package)
            return import_module(module)
    except Exception as error:
        # Versions that do not fit each other fail in many ways, not only with ImportError.
        if isinstance(error, ModuleNotFoundError) and error.name == package:
            raise kind(f"{need} an extra: pip install 'contact-viewer[{extra}]'") from None
        reason = (str(error).strip() or type(error).__name__).splitlines()[0]
        hint = f"pip install --upgrade {package} numpy"
        raise kind(f"{need} {package}, which is installed but cannot be imported ({reason}): {hint}") from None
