"""How pictures reach a browser, at its socket: at its own pace, and again whatever was lost on the way."""

import asyncio
import json
import time
from collections.abc import AsyncIterator, Awaitable, Callable, Iterator
from contextlib import asynccontextmanager
from typing import Any

import numpy as np
import pytest
from aiohttp import ClientSession, ClientWebSocketResponse, WSMessage, WSMsgType
from contact_viewer.browser.client import Client, Screen
from contact_viewer.browser.encoders import DELTA, JPEG, KEY, H264Encoder
from contact_viewer.browser.server import Server

from .driver import leave, wait

ASK = 0.2
"""Between two questions [s]; shorter than in a real window."""


@pytest.fixture
def server(monkeypatch: pytest.MonkeyPatch) -> Iterator[Server]:
    monkeypatch.setattr("contact_viewer.browser.client._ASK", ASK)
    server = Server()
    server.start()
    yield server
    server.close()


class Stream:
    """A browser's end of the connection."""

    def __init__(self, stream: ClientWebSocketResponse) -> None:
        self.socket = stream
        self.answers = False
        """True if questions are answered, with the picture that was reported last."""
        self.reported = 0

    async def say(self, **message: Any) -> None:
        await self.socket.send_json(message)

    async def report(self, number: int) -> None:
        self.reported = number
        await self.say(type="shown", number=number)

    async def picture(self, seconds: float = 20.0) -> tuple[int, int]:
        """Kind and number of the next one."""
        async with asyncio.timeout(seconds):
            while True:
                message = await self.socket.receive()
                if message.type is WSMsgType.BINARY:
                    return message.data[0], int.from_bytes(message.data[8:12], "little")
                assert message.type is WSMsgType.TEXT, message
                if self.answers and json.loads(message.data)["type"] == "ask":
                    await self.say(type="here", number=self.reported)


@asynccontextmanager
async def connect(server: Server, codec: str) -> AsyncIterator[Stream]:
    address = f"http://127.0.0.1:{server.port}"
    link = f"{address}/stream?codec={codec}&token={server.token}"
    async with ClientSession() as session, session.ws_connect(link, headers={"Origin": address}) as stream:
        yield Stream(stream)


def show(server: Server, shade: int) -> None:
    assert server.screen.show(np.full((64, 64, 3), shade, np.uint8))
    server.announce()


def watch(server: Server, codec: str, look: Callable[[Stream], Awaitable[None]]) -> None:
    async def run() -> None:
        async with connect(server, codec) as stream:
            await look(stream)

    asyncio.run(run())


@pytest.mark.parametrize(("codec", "kind"), [("h264", KEY), ("jpeg", JPEG)])
def test_pictures_that_a_page_lost_are_sent_again_whole(server: Server, codec: str, kind: int) -> None:
    """It says nothing of them, but answers: they have arrived, and are not on its screen."""
    show(server, 10)

    async def look(stream: Stream) -> None:
        stream.answers = True
        assert await stream.picture() == (kind, 1)
        await stream.report(1)
        for shade in (20, 30):
            show(server, shade)
            await stream.picture()
        # It shows neither, and the picture stays.
        assert await stream.picture() == (kind, 3)

    watch(server, codec, look)


def test_a_report_that_was_lost_is_made_up_for_by_an_answer(server: Server) -> None:
    show(server, 10)

    async def look(stream: Stream) -> None:
        assert await stream.picture() == (KEY, 1)
        for shade in (20, 30):
            show(server, shade)
            await stream.picture()
            stream.reported = server.screen.number
            if shade == 20:
                stream.answers = True
                show(server, 25)
                # Nothing was lost, so there is nothing to begin again with.
                assert await stream.picture() == (DELTA, 3)
                stream.reported = 3

    watch(server, "h264", look)


def test_a_decoder_that_never_shows_anything_gets_single_pictures(server: Server) -> None:
    show(server, 10)

    async def look(stream: Stream) -> None:
        stream.answers = True
        assert [await stream.picture() for _ in range(3)] == [(KEY, 1), (KEY, 1), (JPEG, 1)]

    watch(server, "h264", look)


def test_a_slow_page_is_not_sent_more(server: Server) -> None:
    """What has not arrived cannot be lost: nothing is added to a link that is busy with it."""
    show(server, 10)

    async def look(stream: Stream) -> None:
        await stream.picture()
        show(server, 20)
        await stream.picture()
        show(server, 30)
        with pytest.raises(TimeoutError):
            await stream.picture(5 * ASK)

    watch(server, "h264", look)


def test_an_error_of_the_encoder_lets_the_page_come_again(
    server: Server, monkeypatch: pytest.MonkeyPatch, capfd: pytest.CaptureFixture[str]
) -> None:
    encode = H264Encoder.encode

    def fail(*_: object) -> tuple[int, bytes]:
        raise MemoryError("no room")

    monkeypatch.setattr(H264Encoder, "encode", fail)
    show(server, 10)

    async def closed(stream: Stream) -> None:
        async with asyncio.timeout(60):
            message: WSMessage = await stream.socket.receive()
        assert message.type in (WSMsgType.CLOSED, WSMsgType.CLOSE, WSMsgType.ERROR)

    watch(server, "h264", closed)
    wait(lambda: not server.clients)
    assert capfd.readouterr().err == "contact-viewer: a browser's pictures failed (MemoryError: no room)\n"
    monkeypatch.setattr(H264Encoder, "encode", encode)

    async def works(stream: Stream) -> None:
        assert await stream.picture() == (KEY, 1)

    watch(server, "h264", works)


def test_a_download_is_told_however_much_else_is(server: Server) -> None:
    """A slow browser gets the newest of all else."""
    screen = Screen()

    async def waiting() -> list[dict[str, Any]]:
        client = Client(None, None, screen, False)  # type: ignore[arg-type]
        client.tell({"type": "download", "name": "a"})
        for k in range(1000):
            client.tell({"type": "cursor", "shape": str(k)})
        client.tell({"type": "download", "name": "b"})
        return client._messages

    assert asyncio.run(waiting()) == [
        {"type": "download", "name": "a"},
        {"type": "cursor", "shape": "999"},
        {"type": "download", "name": "b"},
    ]


class Leaving:
    """A socket of a browser that reports a picture and, some turns of the loop later, leaves."""

    def __init__(self, turns: int) -> None:
        self._turns = turns
        self.sent = asyncio.Event()

    async def send_bytes(self, data: bytes) -> None:
        self.sent.set()

    async def send_str(self, text: str) -> None:
        pass

    async def __aiter__(self) -> AsyncIterator[WSMessage]:
        await self.sent.wait()
        # Now the client waits until the picture has stayed for a while.
        yield WSMessage(WSMsgType.TEXT, '{"type": "shown", "number": 1}', None)
        await asyncio.sleep(0.01)
        yield WSMessage(WSMsgType.TEXT, '{"type": "restart"}', None)
        for _ in range(self._turns):
            await asyncio.sleep(0)


@pytest.mark.parametrize("turns", range(6))
def test_a_browser_that_leaves_at_any_moment_is_gone(turns: int) -> None:
    async def run() -> None:
        screen = Screen()
        screen.show(np.zeros((64, 64, 3), np.uint8))
        client = Client(Leaving(turns), None, screen, True)  # type: ignore[arg-type]
        running = asyncio.create_task(client.run(lambda message: None))
        done, _ = await asyncio.wait([running], timeout=60)
        assert done

    asyncio.run(run())


def test_a_flood_of_messages_is_slowed_down(server: Server, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("contact_viewer.browser.client._MOST_MESSAGES", 10)

    def taken() -> int:
        return sum(message["type"] == "key" for message in server.inbox._messages)

    async def look(stream: Stream) -> None:
        began = time.monotonic()
        for k in range(200):
            await stream.say(type="key", code=f"F{k}", down=True)
        async with asyncio.timeout(60):
            while not taken():
                await asyncio.sleep(0.01)
        await asyncio.sleep(0.5)
        count, seconds = taken(), int(time.monotonic() - began)
        assert 0 < count <= 10 * (2 + seconds)
        leave(stream.socket)

    watch(server, "jpeg", look)
