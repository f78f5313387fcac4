"""The ring of states between a loop and its window: whatever the pace of either, every row is read or counted."""

import os
import random
import socket

import mujoco
import numpy as np
from contact_viewer.engines.mujoco.engine import MujocoEngine
from contact_viewer.mjmodel.state import STATE
from contact_viewer.passive.loop_connection import LoopConnection
from contact_viewer.passive.shared_memory import SharedMemory, Word, block_bytes, row_count, shared_file
from contact_viewer.processes import Link
from contact_viewer.scene_files.scene import LoadedScene

from .loops import load


def test_every_row_is_read_once_and_in_order_or_counted_as_skipped() -> None:
    model, _ = load("bounce")
    size = mujoco.mj_stateSize(model, STATE)
    rows, values = row_count(size, 2**16), 1000
    fd = shared_file("test", block_bytes(size, rows, values))
    ours, shared = (SharedMemory(fd, size, rows, values) for _ in range(2))
    os.close(fd)
    here, there = socket.socketpair()
    with here, there:
        loop = LoopConnection(Link(there), shared, MujocoEngine(LoadedScene(None, model)))
        pace, written, seen, gaps = random.Random(5), 0, [], 0
        while written < 100_000:
            for _ in range(pace.choice([1, 3, 40, 3 * rows])):
                ours.states[written % rows] = written
                written += 1
                ours.words[Word.WRITTEN] = written
            for _ in range(pace.choice([1, 10, rows])):
                skipped = loop.skipped
                row = loop.next_row()
                if row is None:
                    break
                assert (row.state == row.state[0]).all()
                assert row.skipped == (loop.skipped > skipped)
                gaps += row.skipped
                seen.append(int(row.state[0]))
        while (row := loop.next_row()) is not None:
            seen.append(int(row.state[0]))
            gaps += row.skipped
        assert (np.diff(seen) > 0).all()
        # Before a row that is not the next one there is a step that nobody can take.
        assert len(seen) + loop.skipped == written + gaps
        assert loop.skipped > 1000
        assert seen[-1] == written - 1
        here.shutdown(socket.SHUT_RDWR)
