"""Watches a served window as a browser does: decodes its video, and measures pictures, bytes and the way of a key.

Usage: watch_served.py URL SECONDS KEYS: prints pictures a second, bytes a second, and the delays of so many keys [s].
"""

import asyncio
import json
import sys
import time
from urllib.parse import urlsplit

import aiohttp
import av
import numpy as np

SIZE = (1280, 720)
PANEL = (slice(300, 320), slice(20, 60))
"""Pixels that a panel covers, which Tab hides."""
HEADER = 12


async def watch(url: str, seconds: float, keys: int) -> dict[str, object]:
    parts = urlsplit(url)
    origin = f"{parts.scheme}://{parts.netloc}"
    decoder = av.CodecContext.create("h264", "r")
    async with aiohttp.ClientSession() as session:
        stream = await session.ws_connect(f"{origin}/stream?{parts.query}", headers={"Origin": origin})

        async def picture() -> tuple[np.ndarray, int]:
            while True:
                message = await stream.receive()
                if message.type is aiohttp.WSMsgType.BINARY:
                    break
                assert message.type is aiohttp.WSMsgType.TEXT, message
            data = message.data
            frames = decoder.decode(av.Packet(data[HEADER:]))
            await stream.send_json({"type": "shown", "number": int.from_bytes(data[8:HEADER], "little")})
            return frames[-1].to_ndarray(format="rgb24"), len(data)

        async def press(down: bool) -> None:
            await stream.send_json({"type": "key", "code": "Tab", "key": "Tab", "down": down})

        await stream.send_json({"type": "size", "width": SIZE[0], "height": SIZE[1]})
        begin = time.perf_counter()
        while time.perf_counter() - begin < min(3.0, 2 * seconds):
            shown, _ = await picture()
        count = size = 0
        begin = time.perf_counter()
        while time.perf_counter() - begin < seconds:
            shown, length = await picture()
            count, size = count + 1, size + length
        elapsed = time.perf_counter() - begin
        delays = []
        for _ in range(keys):
            covered = shown[PANEL].mean() < 60
            await press(True)
            begin = time.perf_counter()
            while (shown[PANEL].mean() < 60) == covered:
                shown, _ = await picture()
            delays.append(time.perf_counter() - begin)
            await press(False)
            for _ in range(5):
                shown, _ = await picture()
    return {"rate": count / elapsed, "bytes": size / elapsed, "delays": delays}


print(json.dumps(asyncio.run(watch(sys.argv[1], float(sys.argv[2]), int(sys.argv[3])))))
