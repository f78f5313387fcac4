"""Who may reach a served window, and what a page may ask of it."""

import asyncio
import http.client
import socket
from collections.abc import Iterator
from pathlib import Path
from urllib.parse import quote

import numpy as np
import pytest
from aiohttp import ClientSession, WSMsgType, WSServerHandshakeError
from contact_viewer.browser.server import Server
from contact_viewer.errors import SceneError

Headers = dict[str, str]


@pytest.fixture
def server() -> Iterator[Server]:
    server = Server()
    server.start()
    yield server
    server.close()


def ask(
    server: Server, path: str, headers: Headers | None = None, method: str = "GET", body: bytes | None = None
) -> tuple[int, Headers, bytes]:
    """Status, headers and body of an answer."""
    connection = http.client.HTTPConnection("127.0.0.1", server.port, timeout=10)
    connection.request(method, path, body, headers or {})
    answer = connection.getresponse()
    result = answer.status, dict(answer.getheaders()), answer.read()
    connection.close()
    return result


def cookie(server: Server) -> Headers:
    return {"Cookie": f"contact_viewer_{server.port}={server.token}"}


def origin(server: Server) -> Headers:
    return {"Origin": f"http://127.0.0.1:{server.port}"} | cookie(server)


@pytest.mark.parametrize("path", ["/", "/viewer.js", "/stream", "/files/x", "/upload", "/../server.py", "/nothing"])
@pytest.mark.parametrize("query", ["", "?token=", "?token=wrong", "?token=é"])
def test_without_the_token_there_is_403_and_nothing_else(server: Server, path: str, query: str) -> None:
    status, headers, body = ask(server, path + quote(query, safe="?="))
    assert status == 403
    assert body == b"403: Forbidden"
    assert "Set-Cookie" not in headers


def test_the_token_opens_the_page_and_leaves_a_strict_cookie(server: Server) -> None:
    status, headers, body = ask(server, f"/?token={server.token}")
    assert status == 200
    assert b"<canvas>" in body
    kept = headers["Set-Cookie"]
    assert "HttpOnly" in kept
    assert "SameSite=Strict" in kept
    assert ask(server, "/", cookie(server))[0] == 200
    assert len(server.token) * 6 >= 128


def test_the_page_names_no_other_host(server: Server) -> None:
    page, script = (ask(server, path, cookie(server)) for path in ("/", "/viewer.js"))
    for _, headers, body in (page, script):
        assert b"http://" not in body
        assert b"https://" not in body
        assert "default-src 'none'" in headers["Content-Security-Policy"]


@pytest.mark.parametrize(
    "host", ["evil.example", "evil.example:{port}", "127.0.0.1.evil.example", "192.168.1.1:{port}", ""]
)
def test_another_name_for_this_machine_is_refused(server: Server, host: str) -> None:
    headers = {"Host": host.format(port=server.port)} | cookie(server)
    assert ask(server, "/", headers)[0] == 403


def test_a_tunnel_may_have_another_port(server: Server) -> None:
    assert ask(server, "/", {"Host": "localhost:9999"} | cookie(server))[0] == 200


@pytest.mark.parametrize("foreign", ["http://evil.example", "null", "http://127.0.0.1:1", "http://localhost"])
def test_a_foreign_page_is_refused(server: Server, foreign: str) -> None:
    headers = {"Origin": foreign} | cookie(server)
    assert ask(server, "/", headers)[0] == 403
    assert ask(server, "/upload?name=a.xml", headers, "POST", b"x")[0] == 403


def test_a_form_of_a_page_without_origin_cannot_upload(server: Server) -> None:
    assert ask(server, "/upload?name=a.xml", cookie(server), "POST", b"x")[0] == 403


@pytest.mark.parametrize("foreign", [None, "http://evil.example"])
def test_a_stream_needs_our_own_page(server: Server, foreign: str | None) -> None:
    async def connect() -> int:
        headers = cookie(server) | ({"Origin": foreign} if foreign else {})
        async with ClientSession() as session:
            try:
                async with session.ws_connect(f"http://127.0.0.1:{server.port}/stream", headers=headers):
                    return 101
            except WSServerHandshakeError as error:
                return error.status

    assert asyncio.run(connect()) == 403


@pytest.mark.parametrize(
    "name", ["../a.xml", "/etc/a.xml", "a/../../b.xml", "..", "", ".", "a\\..\\b", "a\0b", "x" * 2000, "a/./../../b"]
)
def test_a_dropped_file_cannot_leave_its_folder(server: Server, name: str) -> None:
    status, _, _ = ask(server, f"/upload?name={quote(name, safe='')}", origin(server), "POST", b"x")
    assert status == 400


def test_a_dropped_file_is_kept_under_its_name_and_opened_by_it(server: Server) -> None:
    assert ask(server, "/upload?name=robot%2Fscene.xml", origin(server), "POST", b"<mujoco/>")[0] == 200
    server._receive({"type": "open", "name": "robot/scene.xml"})
    path = Path(server.inbox.take()[-1]["path"])
    assert path.read_bytes() == b"<mujoco/>"
    server.close()
    assert not path.exists()


@pytest.mark.parametrize("name", ["/etc/passwd", "../../etc/passwd", "never-uploaded.xml", None, 3, ""])
def test_a_page_opens_nothing_but_what_it_dropped(server: Server, name: object) -> None:
    server._receive({"type": "open", "name": name})
    assert not server.inbox


def test_only_offered_files_can_be_downloaded(server: Server, tmp_path: Path) -> None:
    path = tmp_path / 'a "strange" näme.csv'
    path.write_text("1,2")
    server.offer(path)
    (key,) = server._downloads
    status, headers, body = ask(server, f"/files/{key}", cookie(server))
    assert (status, body) == (200, b"1,2")
    assert "attachment" in headers["Content-Disposition"]
    assert ask(server, f"/files/{path.name.encode().hex()}", cookie(server))[0] == 404
    assert ask(server, "/files/..%2F..%2Fetc%2Fpasswd", cookie(server))[0] == 404


def test_too_much_is_refused(server: Server, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("contact_viewer.browser.server._MAX_UPLOAD", 1000)
    assert ask(server, "/upload?name=a", origin(server), "POST", b"x" * 900)[0] == 200
    assert ask(server, "/upload?name=b", origin(server), "POST", b"x" * 200)[0] == 413


def test_a_stream_takes_pictures_at_the_pace_of_who_looks(server: Server) -> None:
    """A browser that does not say that it shows them gets two pictures, and then the newest."""

    def show(shade: int) -> None:
        assert server.screen.show(np.full((64, 64, 3), shade, np.uint8))
        server.announce()

    async def watch() -> list[int]:
        numbers = []
        async with (
            ClientSession() as session,
            session.ws_connect(f"http://127.0.0.1:{server.port}/stream?codec=jpeg", headers=origin(server)) as stream,
        ):
            for shade in range(20):
                show(10 * shade)
                await asyncio.sleep(0.02)
            for _ in range(2):
                numbers.append(int.from_bytes((await stream.receive()).data[8:12], "little"))
            with pytest.raises(asyncio.TimeoutError):
                await stream.receive(0.3)
            await stream.send_json({"type": "shown", "number": numbers[-1]})
            numbers.append(int.from_bytes((await stream.receive()).data[8:12], "little"))
            # Nonsense changes nothing.
            for text in ("[]", "{", '{"type": 3}', '{"type": "shown", "number": "x"}', "[" * 100_000):
                await stream.send_str(text)
            await stream.send_json({"type": "shown", "number": numbers[-1]})
            show(255)
            message = await stream.receive()
            assert message.type == WSMsgType.BINARY
            numbers.append(int.from_bytes(message.data[8:12], "little"))
        return numbers

    numbers = asyncio.run(watch())
    assert numbers[2:] == [20, 21]
    assert numbers[0] < numbers[1] < 20


def test_the_same_picture_is_not_sent_twice(server: Server) -> None:
    black = np.zeros((4, 4, 3), np.uint8)
    assert server.screen.show(black)
    assert not server.screen.show(black.copy())


def test_a_port_in_use_is_said_and_another_free_one_is_found() -> None:
    with socket.socket() as taken:
        taken.bind(("127.0.0.1", 0))
        taken.listen()
        port = taken.getsockname()[1]
        with pytest.raises(SceneError, match=f"port {port}"):
            Server(port=port).start()
    first, second = Server(), Server()
    first.start()
    second.start()
    assert first.port != second.port
    assert first.token != second.token
    first.close()
    second.close()
