"""Send each browser the newest frame as fast as it can show frames, and handle its messages."""

import asyncio
import json
import struct
import sys
import threading
import time
from collections import deque
from collections.abc import Callable
from contextlib import suppress
from typing import Any

import numpy as np
from aiohttp import WSMsgType, web

from ..recording.encoders import Picture, with_alpha
from .encoders import JPEG, SHARP, H264Encoder, JpegEncoder

_IN_FLIGHT = 2
"""Largest number of frames under way: the next one is sent only after an older one is on the browser's screen."""
_HEADER = struct.Struct("<BxHHxxI")
"""Header of a message with a frame: kind of the data, width, height [px] and number of the frame."""
_STILL, _LONGEST_STILL, _MISSED = 0.25, 1.0, 4
"""Least and longest time after which an unchanged frame is sent once more, sharp [s]; between the two limits, this time
in intervals between frames."""
_ASK = 4.0
"""Time between two requests to a browser for the frame that it shows [s]."""
_LONGEST_SEND = 60.0
"""Time after which a browser that takes no data is disconnected [s]."""
_MOST_MESSAGES = 1000
"""Largest number of messages of a browser that are handled per second; the others wait."""


class Screen:
    """Newest frame of the window. Each frame that differs from the previous one has a new number."""

    def __init__(self) -> None:
        self._lock = threading.Lock()
        self._picture: Picture | None = None
        self._number = 0
        self._changed = 0.0
        self.interval = 0.0
        """Time between the last two frames [s]."""

    @property
    def number(self) -> int:
        """Number of the newest frame; 0 before the first."""
        return self._number

    def show(self, picture: Picture) -> bool:
        """Replace the frame; return False if it is the same. The caller must not write into it any more."""
        # The same picture twice is common, and comparing costs less than a tenth of encoding.
        if self._picture is not None and _is_same(self._picture, picture):
            return False
        with self._lock:
            self._picture = picture
            self._number += 1
            now = time.monotonic()
            self.interval, self._changed = now - self._changed, now
        return True

    def newest(self) -> tuple[int, Picture | None]:
        """Return the newest frame and its number."""
        with self._lock:
            return self._number, self._picture


def _is_same(first: Picture, second: Picture) -> bool:
    one, other = with_alpha(first), with_alpha(second)
    if one is None or other is None:
        return np.array_equal(first, second)
    # Whole pixels, alpha and all: a twentieth of the time.
    return np.array_equal(one.view(np.uint32), other.view(np.uint32))


class Client:
    """Connection of one browser. A slow one gets fewer frames, never older ones."""

    def __init__(self, sock: web.WebSocketResponse, transport: asyncio.Transport, screen: Screen, h264: bool) -> None:
        self._socket, self._transport, self._screen = sock, transport, screen
        self._encoder: H264Encoder | JpegEncoder = H264Encoder() if h264 else JpegEncoder()
        self._work = asyncio.Event()
        # The newest picture may be there already, and stay.
        self._work.set()
        self._messages: list[dict[str, Any]] = []
        self._sent: dict[int, float] = {}
        """Times at which the frames under way were sent, on the monotonic clock [s], by number."""
        self._shown: deque[float] = deque(maxlen=60)
        self._last = 0
        self._blurred = False
        """True if the browser shows a frame of the video, in which small coloured text is not as sharp as in an
        image."""
        self._asked_at = time.monotonic()
        self._question: int | None = None
        """Number of the newest frame under way when the browser was last asked; None if it has answered."""
        self._arrived = 0
        """Number of the newest frame under way when the last answered question was sent."""
        self._is_in_doubt = False
        """True if frames were lost, and no frame was shown since."""
        self._taken, self._second = 0, 0.0
        """Number of messages in the present second, and the start of that second on the monotonic clock [s]."""
        self.round_trip = 0.0
        """Time from sending a frame until it is on the browser's screen [s], smoothed."""

    @property
    def frame_rate(self) -> float:
        """Number of frames that the browser showed in the last second."""
        now = time.monotonic()
        return float(sum(now - moment < 1.0 for moment in self._shown))

    def wake(self) -> None:
        """Wake the sender: there is something to send."""
        self._work.set()

    def tell(self, message: dict[str, Any]) -> None:
        """Send a message that is not a frame. It replaces waiting messages of the same kind, except for downloads."""
        kind = message["type"]
        if kind != "download":
            self._messages = [other for other in self._messages if other["type"] != kind]
        self._messages.append(message)
        self._work.set()

    async def close(self) -> None:
        with suppress(ConnectionError):
            await self._socket.close(code=1001, message=b"the viewer was closed")

    async def run(self, receive: Callable[[dict[str, Any]], None]) -> None:
        """Send frames and handle messages until the browser leaves; `receive` is called with its input."""
        sending = asyncio.create_task(self._send())
        sending.add_done_callback(self._cut)
        try:
            async for message in self._socket:
                await self._slow_down()
                if message.type == WSMsgType.TEXT:
                    self._handle(message.data, receive)
        finally:
            sending.cancel()
            with suppress(asyncio.CancelledError, Exception):
                await sending
            self._encoder.close()

    def _cut(self, sending: "asyncio.Task[None]") -> None:
        """Disconnect the browser when sending to it has ended; it reconnects by itself."""
        if sending.cancelled():
            return
        self._transport.abort()
        error = sending.exception()
        if not isinstance(error, ConnectionError | TimeoutError):
            print(f"contact-viewer: a browser's pictures failed ({type(error).__name__}: {error})", file=sys.stderr)

    async def _slow_down(self) -> None:
        """Wait if the browser sends more messages than input of the user can cause."""
        now = time.monotonic()
        if now - self._second >= 1.0:
            self._taken, self._second = 0, now
        self._taken += 1
        if self._taken > _MOST_MESSAGES:
            await asyncio.sleep(self._second + 1.0 - now)

    def _handle(self, text: str, receive: Callable[[dict[str, Any]], None]) -> None:
        try:
            message = json.loads(text)
        except (ValueError, RecursionError):
            return
        if not isinstance(message, dict):
            return
        kind = message.get("type")
        if kind == "shown":
            self._note_shown(message.get("number"))
        elif kind == "here":
            self._note_answer(message.get("number"))
        elif kind == "restart":
            # The browser's decoder lost the thread, or knows another codec only.
            self._begin_again(message.get("codec") != "jpeg")
        else:
            receive(message)

    def _begin_again(self, h264: bool) -> None:
        """Drop the frames under way, and send the newest frame whole."""
        self._encoder.close()
        self._encoder = H264Encoder() if h264 else JpegEncoder()
        self._sent.clear()
        self._last = self._arrived = 0
        self._work.set()

    def _note_shown(self, number: object) -> None:
        moment = self._sent.get(number) if isinstance(number, int) else None
        if moment is None:
            return
        self._sent = {key: value for key, value in self._sent.items() if isinstance(number, int) and key > number}
        self._is_in_doubt = False
        now = time.monotonic()
        self.round_trip += (now - moment - self.round_trip) * (0.2 if self.round_trip else 1.0)
        self._shown.append(now)
        self._work.set()

    def _note_answer(self, number: object) -> None:
        """Note a browser's answer: it has received all frames sent before the question. Frames that it had received by
        its last answer, and still does not show, are lost."""
        if self._question is None:
            return
        self._note_shown(number)
        if self._sent and min(self._sent) <= self._arrived:
            # Lost twice: perhaps its decoder never shows what it takes.
            h264 = isinstance(self._encoder, H264Encoder) and not self._is_in_doubt
            self._is_in_doubt = True
            self._begin_again(h264)
        else:
            self._arrived = self._question
        self._question = None
        # The time of the next one is known now.
        self._work.set()

    async def _send(self) -> None:
        while True:
            sharp = await self._wait()
            async with asyncio.timeout(_LONGEST_SEND):
                while self._messages:
                    await self._socket.send_str(json.dumps(self._messages.pop(0)))
                if self._question is None and time.monotonic() >= self._asked_at + _ASK:
                    self._asked_at, self._question = time.monotonic(), max(self._sent, default=0)
                    await self._socket.send_str('{"type": "ask"}')
                if len(self._sent) < _IN_FLIGHT and (self._screen.number != self._last or sharp):
                    await self._send_picture(sharp)

    async def _send_picture(self, sharp: bool) -> None:
        number, picture = self._screen.newest()
        if picture is None:
            return
        self._last, encoder = number, self._encoder
        encode = JpegEncoder(SHARP).encode if sharp else encoder.encode
        kind, data = await asyncio.to_thread(encode, picture)
        if encoder is not self._encoder:
            return
        self._blurred = kind != JPEG
        self._sent[number] = time.monotonic()
        await self._socket.send_bytes(_HEADER.pack(kind, picture.shape[1], picture.shape[0], number) + data)
        # Another one may have come meanwhile.
        self._work.set()

    async def _wait(self) -> bool:
        """Wait until there is something to send; return True if it is the same frame again, sharp, after a while."""
        ask = None if self._question is not None else max(0.0, self._asked_at + _ASK - time.monotonic())
        still = None
        if self._blurred and not self._sent:
            still = min(max(_STILL, _MISSED * self._screen.interval), _LONGEST_STILL)
        due = min((each for each in (ask, still) if each is not None), default=None)
        with suppress(TimeoutError):
            async with asyncio.timeout(due):
                await self._work.wait()
        stayed = not self._work.is_set() and due == still
        self._work.clear()
        return stayed
