"""Sends one browser the newest picture as fast as it can show them, and takes what it reports."""

import asyncio
import json
import struct
import time
from collections import deque
from collections.abc import Callable
from contextlib import suppress
from typing import Any

from aiohttp import WSMsgType, web

from .encoders import JPEG, SHARP, Encoder, H264Encoder, JpegEncoder
from .screen import Screen

_IN_FLIGHT = 2
"""Pictures that may be under way: the next one is taken only when an older one is on the browser's screen."""
_HEADER = struct.Struct("<BxHHxxI")
"""Kind of the data, width, height, number."""
_STILL, _LONGEST_STILL, _MISSED = 0.25, 1.0, 4
"""A picture that stays for so long [s], and longer than so many took to come before, is sent once more, sharp."""
_TOLD = 64
"""Messages that may wait for a slow browser."""


class Client:
    """One browser. A slow one gets fewer pictures, never older ones."""

    def __init__(self, sock: web.WebSocketResponse, screen: Screen, h264: bool) -> None:
        self._socket, self._screen = sock, screen
        self._encoder: Encoder = H264Encoder() if h264 else JpegEncoder()
        self._work = asyncio.Event()
        # The newest picture may be there already, and stay.
        self._work.set()
        self._messages: deque[dict[str, Any]] = deque(maxlen=_TOLD)
        self._sent: dict[int, float] = {}
        """When each picture that is under way was sent, by number."""
        self._shown: deque[float] = deque(maxlen=60)
        self._last = 0
        self._blurred = False
        """True if the browser's picture is a video's: small coloured text is not as sharp in it as it could be."""
        self.round_trip = 0.0
        """From sending a picture until it is on the browser's screen [s], smoothed."""

    @property
    def frame_rate(self) -> float:
        """Pictures a second that the browser showed of late."""
        now = time.monotonic()
        return float(sum(now - moment < 1.0 for moment in self._shown))

    def wake(self) -> None:
        """There is something to send."""
        self._work.set()

    def tell(self, message: dict[str, Any]) -> None:
        """Send something else than a picture."""
        self._messages.append(message)
        self._work.set()

    async def close(self) -> None:
        with suppress(ConnectionError):
            await self._socket.close(code=1001, message=b"the viewer was closed")

    async def run(self, receive: Callable[[dict[str, Any]], None]) -> None:
        """Until the browser leaves."""
        sending = asyncio.create_task(self._send())
        try:
            async for message in self._socket:
                if message.type == WSMsgType.TEXT:
                    self._take(message.data, receive)
        finally:
            sending.cancel()
            with suppress(asyncio.CancelledError, ConnectionError):
                await sending
            self._encoder.close()

    def _take(self, text: str, receive: Callable[[dict[str, Any]], None]) -> None:
        try:
            message = json.loads(text)
        except (ValueError, RecursionError):
            return
        if not isinstance(message, dict):
            return
        kind = message.get("type")
        if kind == "shown":
            self._note_shown(message.get("number"))
        elif kind == "restart":
            # The browser's decoder lost the thread, or knows another codec only.
            self._encoder.close()
            self._encoder = JpegEncoder() if message.get("codec") == "jpeg" else H264Encoder()
            self._sent.clear()
            self._last = 0
            self._work.set()
        else:
            receive(message)

    def _note_shown(self, number: object) -> None:
        moment = self._sent.get(number) if isinstance(number, int) else None
        if moment is None:
            return
        self._sent = {key: value for key, value in self._sent.items() if isinstance(number, int) and key > number}
        now = time.monotonic()
        self.round_trip += (now - moment - self.round_trip) * (0.2 if self.round_trip else 1.0)
        self._shown.append(now)
        self._work.set()

    async def _send(self) -> None:
        while True:
            sharp = not await self._wait()
            while self._messages:
                await self._socket.send_str(json.dumps(self._messages.popleft()))
            if len(self._sent) >= _IN_FLIGHT or (self._screen.number == self._last and not sharp):
                continue
            number, picture = self._screen.newest()
            if picture is None:
                continue
            self._last, encoder = number, self._encoder
            encode = JpegEncoder(SHARP).encode if sharp else encoder.encode
            kind, data = await asyncio.to_thread(encode, picture)
            if encoder is not self._encoder:
                continue
            self._blurred = kind != JPEG
            self._sent[number] = time.monotonic()
            await self._socket.send_bytes(_HEADER.pack(kind, picture.shape[1], picture.shape[0], number) + data)
            # Another one may have come meanwhile.
            self._work.set()

    async def _wait(self) -> bool:
        """Until there is something to send; False if the picture has been still for a while, and could be sharper."""
        with suppress(asyncio.TimeoutError):
            still = min(max(_STILL, _MISSED * self._screen.interval), _LONGEST_STILL)
            await asyncio.wait_for(self._work.wait(), still if self._blurred and not self._sent else None)
        worked = self._work.is_set()
        self._work.clear()
        return worked
