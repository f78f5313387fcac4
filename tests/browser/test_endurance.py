"""Browsers that come, go and stall, for a long time: what serves them keeps neither memory, threads nor descriptors."""

import asyncio
import random
import time
from collections.abc import Callable
from pathlib import Path

import aiohttp
import psutil
import pytest

from .driver import Served, serve

_BURST = 4
"""Browsers at once."""


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
            # As a machine that is switched off.
            connection = stream._response.connection
            assert connection is not None
            assert connection.transport is not None
            connection.transport.abort()
        else:
            await stream.close()


def endure(served: Served, more: Callable[[float], bool]) -> tuple[list[tuple[int, int, float]], int]:
    """Threads, descriptors and memory [MB] after each burst of browsers that have left again; how many there were."""
    process, chance, begin = psutil.Process(served.process.pid), random.Random(7), time.monotonic()
    seen, count = [], 0

    async def burst() -> None:
        await asyncio.gather(*(visit(served, chance) for _ in range(_BURST)))

    while more(time.monotonic() - begin):
        asyncio.run(burst())
        count += _BURST
        time.sleep(0.3)
        seen.append((process.num_threads(), process.num_fds(), process.memory_info().rss / 1e6))
    return seen, count


def check(seen: list[tuple[int, int, float]], megabytes: float) -> None:
    """Nothing has grown since the first bursts."""
    first, last = seen[: len(seen) // 3], seen[-len(seen) // 3 :]
    for place, name in enumerate(("threads", "descriptors")):
        assert max(row[place] for row in last) <= max(row[place] for row in first), f"{name}: {first[-1]}, {last[-1]}"
    memory = [sorted(row[2] for row in rows)[len(rows) // 2] for rows in (first, last)]
    assert memory[1] - memory[0] < megabytes, f"memory: {memory}"


def test_browsers_that_come_go_and_stall_leave_nothing_behind(tmp_path: Path) -> None:
    with serve("slope", "--paused", folder=tmp_path) as served:
        bursts = iter(range(6))
        seen, _ = endure(served, lambda _: next(bursts, None) is not None)
        check(seen, 40.0)


@pytest.mark.long
@pytest.mark.timeout(4500)
def test_an_hour_of_browsers_that_come_go_and_stall(tmp_path: Path) -> None:
    """The simulation runs; its history is full soon, and memory must be flat from then on."""
    with serve("slope", folder=tmp_path) as served:
        seen, count = endure(served, lambda elapsed: elapsed < 3600.0)
        print(f"{count} browsers, first and last: {seen[0]}, {seen[-1]}")
        check(seen, 60.0)
