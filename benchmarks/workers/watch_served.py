"""Watches a served window as a browser does: decodes its video, and measures pictures, bytes and the way of a key.

Usage: watch_served.py URL SECONDS KEYS PROCESS CLOCK: prints pictures a second, bytes a second, processor time of that
process a picture [s], simulated time a second, and the delays of so many keys [s]. CLOCK is a file with the wall and
simulated time of the last step [s].
"""

import asyncio
import json
import random
import struct
import sys
import time
from contextlib import suppress
from pathlib import Path
from urllib.parse import urlsplit

import aiohttp
import av
import numpy as np
import psutil

SIZE = (1280, 720)
FLOOR = (slice(100, 160), slice(320, 400))
"""Pixels of the floor. The key D hides static bodies: the first picture that is drawn after it has no floor."""
CHANGED = 15.0
"""Least difference of a floor that is there to one that is not, in shades of 256."""
HEADER, JPEG = 12, 2


async def watch(url: str, seconds: float, keys: int, process: int, clock: Path) -> dict[str, object]:
    parts = urlsplit(url)
    origin = f"{parts.scheme}://{parts.netloc}"
    decoder = av.CodecContext.create("h264", "r")
    shown = np.zeros((SIZE[1], SIZE[0], 3), np.uint8)
    async with aiohttp.ClientSession() as session:
        stream = await session.ws_connect(f"{origin}/stream?{parts.query}", headers={"Origin": origin})

        async def picture(timeout: float | None = None) -> tuple[np.ndarray, int]:
            while True:
                message = await stream.receive(timeout)
                if message.type is aiohttp.WSMsgType.BINARY:
                    break
                assert message.type is aiohttp.WSMsgType.TEXT, message
            data = message.data
            # A picture that stays is sent once more, as a JPEG file.
            frames = decoder.decode(av.Packet(data[HEADER:])) if data[0] != JPEG else []
            await stream.send_json({"type": "shown", "number": int.from_bytes(data[8:HEADER], "little")})
            return frames[-1].to_ndarray(format="rgb24") if frames else shown, len(data)

        async def press(down: bool) -> None:
            await stream.send_json({"type": "key", "code": "KeyD", "key": "d", "down": down})

        await stream.send_json({"type": "size", "width": SIZE[0], "height": SIZE[1]})
        begin = time.perf_counter()
        while time.perf_counter() - begin < min(3.0, 2 * seconds):
            shown, _ = await picture()
        count = size = 0
        server = psutil.Process(process)
        used, (real, simulated) = sum(server.cpu_times()[:2]), struct.unpack("dd", clock.read_bytes())
        begin = time.perf_counter()
        while time.perf_counter() - begin < seconds:
            shown, length = await picture()
            count, size = count + 1, size + length
        elapsed = time.perf_counter() - begin
        used, (later, now) = sum(server.cpu_times()[:2]) - used, struct.unpack("dd", clock.read_bytes())
        delays = []
        for _ in range(keys):
            before = shown[FLOOR].mean()
            await press(True)
            begin = time.perf_counter()
            while abs(shown[FLOOR].mean() - before) < CHANGED:
                shown, _ = await picture()
            delays.append(time.perf_counter() - begin)
            await press(False)
            # A person is not in step with the frames: the next key comes between two pictures.
            until = time.perf_counter() + random.uniform(0.2, 0.3)
            with suppress(asyncio.TimeoutError):
                while (rest := until - time.perf_counter()) > 0:
                    shown, _ = await picture(rest)
    return {
        "rate": count / elapsed,
        "bytes": size / elapsed,
        "processor": used / count,
        "speed": (now - simulated) / max(later - real, 1e-9),
        "delays": delays,
    }


url, seconds, keys, process, clock = sys.argv[1:]
print(json.dumps(asyncio.run(watch(url, float(seconds), int(keys), int(process), Path(clock)))))
