"""The process of a worker: takes runs, one after the other, and sends back what came of each."""

import os
import queue
import signal
import sys
import threading
from multiprocessing.connection import Connection
from typing import Any

from ..scene_files.safe_open import OpenedScene
from .scene_store import unpack_scene
from .task import READY, Task


def main() -> None:
    """Work until the process that started this one ends the connection, or itself."""
    # Ctrl-C is for the process that started this one, which ends it.
    signal.signal(signal.SIGINT, signal.SIG_IGN)
    connection = Connection(int(sys.argv[1]))
    messages: queue.SimpleQueue[tuple[str, Any]] = queue.SimpleQueue()
    # A thread reads, so that whoever sends a large scene need not wait for the end of a run.
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
