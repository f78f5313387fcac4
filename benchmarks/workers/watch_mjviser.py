"""Watches a scene that mjviser serves, as a browser that is told what moves: counts the bytes, and draws nothing.

Usage: watch_mjviser.py PORT SECONDS VERSION: prints bytes a second.
"""

import asyncio
import json
import sys
import time

import aiohttp


async def watch(port: int, seconds: float, version: str) -> dict[str, float]:
    async with (
        aiohttp.ClientSession() as session,
        session.ws_connect(f"http://127.0.0.1:{port}", protocols=[f"viser-v{version}"], max_msg_size=0) as stream,
    ):
        size, begin, first = 0, time.perf_counter(), min(3.0, 2 * seconds)
        while time.perf_counter() - begin < first + seconds:
            message = await stream.receive(30)
            if message.type not in (aiohttp.WSMsgType.BINARY, aiohttp.WSMsgType.TEXT):
                break
            # At first the scene itself is sent.
            size += len(message.data) if time.perf_counter() - begin > first else 0
        # The server ends first.
        return {"bytes": size / max(time.perf_counter() - begin - first, 1e-9)}


print(json.dumps(asyncio.run(watch(int(sys.argv[1]), float(sys.argv[2]), sys.argv[3]))))
