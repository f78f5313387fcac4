"""Browsers that come, go and stall, for a long time: what serves them keeps neither memory, threads nor descriptors."""

import asyncio
import os
import random
import time
from collections.abc import Callable
from pathlib import Path

import aiohttp
import psutil
import pytest

from .driver import Served, leave, serve

_BURST = 4
"""Browsers at once."""
_FIRST = 4
"""Bursts after which nothing is used for the first time."""


async def visit(served: Served, chance: random.Random) -> None:
    """One browser: looks for a while, acts, and leaves in one of the ways in which browsers leave."""
    headers = {"Origin": served.address}
    address = f"{served.address}/stream?token={served.token}&codec={chance.choice(['h264', 'jpeg'])}"
    async with aiohttp.ClientSession() as session:
        stream = await session.ws_connect(address, headers=headers)
        kind = chance.choice(["leave", "stall", "break", "nonsense"])
        width, height = chance.choice([(400, 300), (480, 320), (640, 360)])
        await stream.send_json({"type": "size", "width": width, "height": height, "ratio": chance.choice([1, 1.5])})
        until = time.monotonic() + chance.uniform(0.2, 0.8)
        while (rest := until - time.monotonic()) > 0:
            try:
                message = await stream.receive(rest)
            except TimeoutError:
                # A picture that does not change is not sent.
                break
            assert message.type in (aiohttp.WSMsgType.BINARY, aiohttp.WSMsgType.TEXT)
            if message.type is aiohttp.WSMsgType.BINARY and kind != "stall":
                number = int.from_bytes(message.data[8:12], "little")
                await stream.send_json({"type": "shown", "number": number})
                await stream.send_json({"type": "move", "x": chance.uniform(0, width), "y": chance.uniform(0, height)})
            elif kind == "stall":
                # Reads nothing, and says nothing.
                await asyncio.sleep(max(0.0, until - time.monotonic()))
                break
        if kind == "nonsense":
            await stream.send_str("{" * 1000)
            await stream.send_bytes(b"x" * 1000)
        if kind == "break":
            leave(stream)
        else:
            await stream.close()


def describe(process: psutil.Process) -> str:
    """What it holds."""
    threads = [Path(f"/proc/{process.pid}/task/{each.id}/comm").read_text().strip() for each in process.threads()]
    files = [os.readlink(each) for each in Path(f"/proc/{process.pid}/fd").iterdir()]
    return f"{sorted(threads)}, {sorted(files)}, {process.net_connections()}"


def endure(served: Served, more: Callable[[float], bool]) -> tuple[list[float], int]:
    """Memory [MB] after each burst of browsers; how many there were. Whenever they have left, there is neither a thread
    nor a descriptor more than after the first of them."""
    process, chance, begin = psutil.Process(served.process.pid), random.Random(7), time.monotonic()
    memory: list[float] = []
    threads = descriptors = 0

    async def burst() -> None:
        await asyncio.gather(*(visit(served, chance) for _ in range(_BURST)))

    while more(time.monotonic() - begin):
        asyncio.run(burst())
        if len(memory) < _FIRST:
            # Both kinds of encoders were used, and each size was drawn once.
            time.sleep(0.3)
            threads, descriptors = max(threads, process.num_threads()), max(descriptors, process.num_fds())
        else:
            end = time.monotonic() + 30.0
            while process.num_threads() > threads or process.num_fds() > descriptors:
                assert time.monotonic() < end, f"{threads} threads, {descriptors} descriptors, then {describe(process)}"
                time.sleep(0.05)
        memory.append(process.memory_info().rss / 1e6)
    return memory, _BURST * len(memory)


def check(memory: list[float], megabytes: float) -> None:
    """It has not grown since the first bursts."""
    first, last = (sorted(rows)[len(rows) // 2] for rows in (memory[: len(memory) // 3], memory[-len(memory) // 3 :]))
    assert last - first < megabytes, f"memory: {first:.0f} MB, then {last:.0f} MB"


def test_browsers_that_come_go_and_stall_leave_nothing_behind(tmp_path: Path) -> None:
    with serve("slope", "--paused", folder=tmp_path) as served:
        bursts = iter(range(_FIRST + 4))
        memory, _ = endure(served, lambda _: next(bursts, None) is not None)
        check(memory, 40.0)


@pytest.mark.long
@pytest.mark.timeout(4500)
def test_an_hour_of_browsers_that_come_go_and_stall(tmp_path: Path) -> None:
    """The simulation runs; its history is full soon, and memory must be flat from then on."""
    with serve("slope", folder=tmp_path) as served:
        memory, count = endure(served, lambda elapsed: elapsed < 3600.0)
        print(f"{count} browsers, memory {memory[0]:.0f}, {memory[len(memory) // 3]:.0f}, {memory[-1]:.0f} MB")
        check(memory, 60.0)
