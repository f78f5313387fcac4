"""Runs a module as a process of its own that may crash, hang or exhaust memory: one request in, results out."""

import contextlib
import json
import math
import os
import shutil
import signal
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path
from typing import Any

_REQUEST_FILE, _RESULTS_FILE, _STAGE_FILE, _STDERR_FILE = "request.json", "results.jsonl", "stage", "stderr"
_LOOK_SECONDS = 0.02
"""Time between two looks at a process: it may fill some tens of megabytes meanwhile."""
_ADDRESSES = 16
"""Addresses that a process may reserve, as a multiple of the memory that it may fill."""
_STDERR_TAIL = 2000
"""Bytes of standard error that are kept for a message."""


@dataclass(frozen=True)
class Limits:
    """What a worker may use."""

    time: float = 60.0
    """Wall time [s]. The slowest of a thousand public scenes takes 11 to compile."""
    memory: int | None = 4 * 2**30
    """Memory that it fills [bytes], enforced on Linux only; None for any amount. Addresses that it merely reserves, as
    MuJoCo does for contacts of thousands of bodies, do not count."""


class Worker:
    """A module running in a process of its own. Call `poll` regularly, or `wait`, and `close` in any case."""

    def __init__(self, module: str, request: Any, limits: Limits) -> None:
        """`module`: one that calls `run_job`; `request`: anything JSON holds. OSError if the process cannot start."""
        self.limits = limits
        self.timed_out = False
        """True if it was stopped because its time was up."""
        self.over_memory = False
        """True if it was stopped because it filled too much memory."""
        self.folder = Path(tempfile.mkdtemp(prefix="contact-viewer-"))
        """Its working folder, for files too large for a result."""
        self._started = time.monotonic()
        try:
            saved = {"time": limits.time, "memory": limits.memory, "request": request}
            (self.folder / _REQUEST_FILE).write_text(json.dumps(saved), encoding="utf-8")
            self._process = self._start(module)
        except OSError:
            shutil.rmtree(self.folder, ignore_errors=True)
            raise

    @property
    def stage(self) -> str:
        """What the process is doing, to show to a person."""
        try:
            return (self.folder / _STAGE_FILE).read_text() or "starting"
        except OSError:
            return "starting"

    @property
    def elapsed(self) -> float:
        """Time since the start [s]."""
        return time.monotonic() - self._started

    @property
    def exit_code(self) -> int:
        """Of a process that has ended; the negative number of the signal that ended it."""
        assert self._process.returncode is not None
        return int(self._process.returncode)

    @property
    def stderr(self) -> str:
        """The end of what the process wrote to standard error."""
        with (self.folder / _STDERR_FILE).open("rb") as file:
            file.seek(max(0, file.seek(0, os.SEEK_END) - _STDERR_TAIL))
            return file.read().decode("utf-8", "replace").strip()

    def poll(self) -> bool:
        """True if the process has ended; stops it if its time is up, or its memory."""
        if self._process.poll() is None:
            self.timed_out = self.elapsed > self.limits.time
            self.over_memory = self.limits.memory is not None and self._memory() > self.limits.memory
            if self.timed_out or self.over_memory:
                self.stop()
        self.timed_out |= self._process.returncode == -getattr(signal, "SIGALRM", 0)
        return self._process.returncode is not None

    def wait(self, seconds: float | None = None) -> bool:
        """Wait for the end, at most that many seconds; True if the process has ended."""
        end = math.inf if seconds is None else time.monotonic() + seconds
        while not self.poll() and (left := end - time.monotonic()) > 0:
            with contextlib.suppress(subprocess.TimeoutExpired):
                self._process.wait(min(left, _LOOK_SECONDS))
        return self._process.returncode is not None

    def stop(self) -> None:
        """End the process at once. Does nothing if it has ended."""
        if self._process.poll() is None:
            self._process.kill()
            self._process.wait()

    def results(self) -> list[Any]:
        """Results so far; an incomplete last line is left out."""
        try:
            text = (self.folder / _RESULTS_FILE).read_text(encoding="utf-8")
        except OSError:
            return []
        return [json.loads(line) for line in text.splitlines(keepends=True) if line.endswith("\n")]

    def close(self) -> None:
        """End the process and remove its files. Safe twice."""
        self.stop()
        shutil.rmtree(self.folder, ignore_errors=True)

    def _memory(self) -> int:
        """Bytes that the process fills, without libraries; 0 where that is not known."""
        try:
            _, resident, shared = Path(f"/proc/{self._process.pid}/statm").read_text().split()[:3]
        except (OSError, ValueError):
            return 0
        return (int(resident) - int(shared)) * os.sysconf("SC_PAGE_SIZE")

    def _start(self, module: str) -> subprocess.Popen[bytes]:
        environment = os.environ | {
            "PYTHONPATH": os.pathsep.join(entry for entry in sys.path if entry),
            "MUJOCO_GL": "disable",
            "OPENBLAS_NUM_THREADS": "1",
        }
        with (self.folder / _STDERR_FILE).open("wb") as stderr:
            return subprocess.Popen(
                # -P: modules in the user's working folder are not imported.
                [sys.executable, "-P", "-m", module, str(self.folder)],
                stdin=subprocess.DEVNULL,
                stdout=subprocess.DEVNULL,
                stderr=stderr,
                # MuJoCo writes its log into the working folder.
                cwd=self.folder,
                env=environment,
            )


class Job:
    """A request, seen from the process that works on it."""

    def __init__(self, folder: Path, request: Any) -> None:
        self.folder = folder
        self.request = request

    def set_stage(self, stage: str) -> None:
        """Set what is being done now, to show to a person."""
        (self.folder / _STAGE_FILE).write_text(stage)

    def reply(self, result: Any) -> None:
        """Add a result; anything JSON holds."""
        with (self.folder / _RESULTS_FILE).open("a", encoding="utf-8") as file:
            file.write(f"{json.dumps(result)}\n")


def run_job(work: Callable[[Job], None]) -> None:
    """The program of a worker's process: limits itself, works on the request, and ends the process."""
    folder = Path(sys.argv[1])
    saved = json.loads((folder / _REQUEST_FILE).read_text(encoding="utf-8"))
    _enforce(Limits(saved["time"], saved["memory"]))
    work(Job(folder, saved["request"]))
    # Freeing a large model takes time for nothing.
    os._exit(0)


def describe_signal(exit_code: int) -> str | None:
    """Name of the signal that ended a process; None if none did."""
    return signal.Signals(-exit_code).name if exit_code < 0 else None


def _enforce(limits: Limits) -> None:
    """Limits that hold even if the process that started this one is gone."""
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
    """Bytes of addresses that this process and those that it starts may have, as by `ulimit -v`; None for any."""
    try:
        import resource
    except ImportError:
        return None
    limit = resource.getrlimit(resource.RLIMIT_AS)[0]
    return None if limit == resource.RLIM_INFINITY else int(limit)
