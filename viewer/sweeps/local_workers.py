"""Simulates the runs of a sweep in processes of this machine. A process that dies is replaced, and its run is repeated
once."""

import os
import queue
import signal
import subprocess
import sys
import threading
import time
from collections import Counter, deque
from collections.abc import Generator, Iterator
from contextlib import suppress
from multiprocessing.connection import Connection, wait
from typing import Any

from ..errors import SceneError
from ..processes import describe_signal, start_module
from ..scene_files.safe_open import OpenedScene
from .plan import Plan, Run, SweepError
from .scene_store import SceneStore, unpack_scene
from .task import READY, RunResult, Task

_DEPTH = 2
"""Number of runs that a process has at a time, so that it need not wait for the next one."""
_ATTEMPTS = 2
"""Number of times that a run has to end its process to count as failed."""
_PATIENCE = 4
"""Number of processes that may end one after the other before they are ready; then the sweep ends."""
_HEARTBEAT = 0.2
"""Longest time between two yielded values, results or None [s]."""


class _Process:
    """Worker process, and the runs that it was given."""

    def __init__(self, plan: Plan) -> None:
        # One thread each: there is a process for every core.
        environment = {"OMP_NUM_THREADS": "1", **os.environ}
        quiet = {"stdout": subprocess.DEVNULL, "stderr": subprocess.DEVNULL, "start_new_session": True}
        self._process, end = start_module("contact_viewer.sweeps.local_workers", None, (), environment, **quiet)
        self.connection = Connection(end.detach())
        self.runs: deque[Run] = deque()
        """Runs of this process; it works on the first."""
        self.since = time.monotonic()
        """Time at which the process began its first run, monotonic clock [s]."""
        self.ready = False
        """True if the process has reported that it is ready."""
        self.ended = False
        self._scene = -1
        self._send("plan", plan)

    def give(self, run: Run, scenes: SceneStore) -> None:
        """Give the process a run. Raises SceneError if the scene cannot be opened."""
        if run.scene != self._scene:
            self._send("scene", (run.scene, scenes.packed(run.scene)))
            self._scene = run.scene
        if not self.runs:
            self.since = time.monotonic()
        self.runs.append(run)
        self._send("run", run)

    def receive(self) -> RunResult | None:
        """Return a result that has arrived, else None; set `ended` if the process has closed its connection."""
        try:
            result = self.connection.recv()
        except (EOFError, OSError):
            self.ended = True
            return None
        if result == READY:
            self.ready = True
            self.since = time.monotonic()
            return None
        assert isinstance(result, RunResult)
        self.runs.popleft()
        self.since = time.monotonic()
        return result

    def end(self) -> str:
        """End the process if it still runs, and return how it ended."""
        if self._process.poll() is None:
            self._process.kill()
        code = self._process.wait()
        self.connection.close()
        return f"{describe_signal(code)}" if code < 0 else f"exit code {code}"

    def wait(self) -> str:
        """Wait for a process that has closed its connection, and return how it ended."""
        with suppress(subprocess.TimeoutExpired):
            self._process.wait(1.0)
        return self.end()

    def _send(self, kind: str, value: object) -> None:
        with suppress(OSError):  # It has ended, which the end of its results will say.
            self.connection.send((kind, value))


def run_locally(
    plan: Plan, scenes: SceneStore, pending: Iterator[Run], count: int, timeout: float | None = None
) -> Generator[RunResult | None, None, None]:
    """Simulate runs in `count` processes; yield each result as it comes, and None from time to time in between.

    `timeout`: wall time after which a run is given up [s]. Close the generator to end the processes.
    """
    again: deque[Run] = deque()
    attempts: Counter[int] = Counter()
    deaths = 0
    workers: list[_Process] = []

    def next_run() -> Run | None:
        return again.popleft() if again else next(pending, None)

    def fill(worker: _Process) -> Iterator[RunResult]:
        while len(worker.runs) < _DEPTH and (run := next_run()) is not None:
            try:
                worker.give(run, scenes)
            except SceneError as error:
                yield RunResult(run.number, str(error))

    def replace(worker: _Process) -> Run:
        """Start a process in place of one that has ended, and return the run that the ended process was working on."""
        guilty, *others = worker.runs
        again.extendleft(reversed(others))
        workers[workers.index(worker)] = _Process(plan)
        return guilty

    try:
        first = next_run()
        if first is None:
            return
        again.append(first)
        workers += [_Process(plan) for _ in range(count)]
        while True:
            for worker in workers:
                yield from fill(worker)
            busy = {worker.connection: worker for worker in workers if worker.runs}
            if not busy:
                return
            ready = wait(list(busy), _HEARTBEAT)
            if not ready:
                yield None
            for connection in ready:
                worker = busy[connection]  # type: ignore[index]
                result = worker.receive()
                if result is not None:
                    yield result
                if not worker.ended:
                    continue
                how = worker.wait()
                guilty = replace(worker)
                deaths = 0 if worker.ready else deaths + 1
                attempts[guilty.number] += worker.ready
                if attempts[guilty.number] < _ATTEMPTS:
                    again.appendleft(guilty)
                else:
                    yield RunResult(guilty.number, f"ended its process, {_ATTEMPTS} times ({how})")
                if deaths >= _PATIENCE:
                    raise SweepError(f"{deaths} processes ended before they could begin ({how})")
            for worker in workers:
                if timeout is not None and worker.runs and time.monotonic() - worker.since > timeout:
                    worker.end()
                    yield RunResult(replace(worker).number, f"took longer than {timeout:g} s")
    finally:
        for worker in workers:
            worker.end()


def main() -> None:
    """Simulate runs, one after the other, until the parent process closes the connection or ends."""
    # Ctrl-C is for the process that started this one, which ends it.
    signal.signal(signal.SIGINT, signal.SIG_IGN)
    connection = Connection(int(sys.argv[1]))
    messages: queue.SimpleQueue[tuple[str, Any]] = queue.SimpleQueue()
    # A thread reads, so that the sender of a large scene need not wait for the end of a run.
    threading.Thread(target=_receive, args=(connection, messages), daemon=True).start()
    connection.send(READY)
    packed: tuple[int, bytes] = (-1, b"")
    task: Task | None = None

    def open_scene(number: int) -> OpenedScene:
        assert packed[0] == number
        return unpack_scene(packed[1])

    while True:
        kind, value = messages.get()
        if kind == "plan":
            task = Task(value, open_scene)
        elif kind == "scene":
            packed = value
        else:
            assert task is not None
            connection.send(task.run(value))


def _receive(connection: Connection, messages: "queue.SimpleQueue[tuple[str, Any]]") -> None:
    while True:
        try:
            messages.put(connection.recv())
        except (EOFError, OSError):
            # Nobody waits for what is being done.
            os._exit(0)


if __name__ == "__main__":
    main()
