"""Who may reach a served window, and what a page may ask of it."""

import asyncio
import http.client
import socket
from collections.abc import Iterator
from contextlib import ExitStack, suppress
from pathlib import Path
from urllib.parse import quote

import numpy as np
import psutil
import pytest
from aiohttp import ClientSession, WSMsgType, WSServerHandshakeError
from contact_viewer.browser.server import Server
from contact_viewer.errors import SceneError
from contact_viewer.scene_files.safe_open import open_safely

from .driver import serve, wait

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


@pytest.mark.parametrize(
    "lines",
    [
        b"Host: [\r\n",
        b"Host: \xff\xfe\r\n",
        b"Host: 127.0.0.1\r\nOrigin: http://[\r\n",
        b"Host: 127.0.0.1\r\nOrigin: http://\xe2\x84\x80\r\n",
        b"Host: 127.0.0.1\r\nCookie: contact_viewer_%d=\xff\xed\xa0\x80\r\n",
        b"Host: 127.0.0.1\r\nCookie: contact_viewer_%d=\r\n",
    ],
)
def test_headers_that_are_none_are_refused_without_a_word(
    server: Server, lines: bytes, capfd: pytest.CaptureFixture[str]
) -> None:
    with socket.create_connection(("127.0.0.1", server.port), 10) as link:
        link.sendall(b"GET / HTTP/1.1\r\nConnection: close\r\n" + lines.replace(b"%d", b"%d" % server.port) + b"\r\n")
        answer = b"".join(iter(lambda: link.recv(4096), b""))
    assert answer.startswith(b"HTTP/1.1 403 ")
    assert answer.endswith(b"\r\n\r\n403: Forbidden")
    assert capfd.readouterr().err == ""


MALFORMED = {
    "no HTTP": b"\x16\x03\x01\x02\x00\x01\xff\r\n\r\n",
    "another version": b"GET / HTTP/9.9\r\nHost: {host}\r\n\r\n",
    "a long line": b"GET /" + b"a" * 20_000 + b" HTTP/1.1\r\nHost: {host}\r\n\r\n",
    "a length that is none": b"POST /upload HTTP/1.1\r\nHost: {host}\r\nContent-Length: -1\r\n\r\n",
    "a chunk that is none": b"POST /upload HTTP/1.1\r\nHost: {host}\r\nTransfer-Encoding: chunked\r\n\r\nZZ\r\n",
    "no gzip": b"POST /upload HTTP/1.1\r\nHost: {host}\r\nContent-Encoding: gzip\r\nContent-Length: 3\r\n\r\nabc",
    "an address that is none": b"GET http://[::1/ HTTP/1.1\r\nHost: {host}\r\n\r\n",
    "the token and a byte": b"GET /?token={token}&x=\xe9 HTTP/1.1\r\nHost: {host}\r\n\r\n",
    "a header with a byte": b"GET /?token={token} HTTP/1.1\r\nHost: {host}\r\n\xe9: {token}\r\n\r\n",
}
"""What no browser sends."""


def test_malformed_requests_leave_no_traceback_and_no_token_on_the_terminal(
    tmp_path: Path, capfd: pytest.CaptureFixture[str]
) -> None:
    with serve("slope", "--paused", folder=tmp_path) as served:
        host, _, port = served.address.rpartition("/")[2].partition(":")
        for request in MALFORMED.values():
            with socket.create_connection((host, int(port)), timeout=10) as connection:
                connection.sendall(request.replace(b"{host}", host.encode()).replace(b"{token}", served.token.encode()))
                assert connection.recv(100).partition(b" ")[2][:3] in (b"400", b"403"), request
        assert capfd.readouterr().err == ""


def test_no_page_of_this_machine_can_hold_ours_without_the_token(server: Server) -> None:
    """One of another port is of the same site: the browser adds our cookie to what it asks for."""
    assert ask(server, "/?token=", cookie(server))[0] == 403
    assert "frame-ancestors 'self'" in ask(server, "/", cookie(server))[1]["Content-Security-Policy"]


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
    "name",
    [
        *("../a.xml", "/etc/a.xml", "a/../../b.xml", "..", "", ".", "a\\..\\b", "a\0b", "x" * 2000, "a/./../../b"),
        *("x" * 300, "a\nb.xml", "\x1b[2J.xml", "a/" * 499 + "b" * 300),
    ],
)
def test_a_dropped_file_cannot_leave_its_folder(server: Server, name: str, capfd: pytest.CaptureFixture[str]) -> None:
    assert ask(server, f"/upload?name={quote(name, safe='')}", origin(server), "POST", b"x")[0] == 400
    server._receive({"type": "open", "name": name})
    assert not server.inbox
    assert capfd.readouterr().err == ""


def test_a_file_in_place_of_a_folder_is_refused(server: Server) -> None:
    assert ask(server, "/upload?name=a", origin(server), "POST", b"x")[0] == 200
    assert ask(server, "/upload?name=a%2Fb.xml", origin(server), "POST", b"x")[0] == 400


def test_a_dropped_file_is_kept_under_its_name_and_opened_by_it(server: Server) -> None:
    assert ask(server, "/upload?name=robot%2Fscene.xml", origin(server), "POST", b"<mujoco/>")[0] == 200
    server._receive({"type": "open", "name": "robot/scene.xml"})
    path = Path(server.inbox.pop()[-1]["path"])
    assert path.read_bytes() == b"<mujoco/>"
    server.close()
    assert not path.exists()


@pytest.mark.parametrize("name", ["/etc/passwd", "../../etc/passwd", "never-uploaded.xml", None, 3, ""])
def test_a_page_opens_nothing_but_what_it_dropped(server: Server, name: object) -> None:
    server._receive({"type": "open", "name": name})
    assert not server.inbox


@pytest.mark.parametrize(
    "scene",
    [
        '<mujoco><include file="{name}"/></mujoco>',
        '<mujoco><asset><mesh name="m" file="{name}"/></asset></mujoco>',
        '<mujoco><compiler texturedir="{folder}"/><asset><texture name="t" type="2d" file="{last}"/></asset></mujoco>',
        '<mujoco><asset><model name="m" file="{name}"/></asset></mujoco>',
        '<mujoco><asset><hfield name="h" file="../../../../../../../../..{name}" size="1 1 1 1"/></asset></mujoco>',
        '<mujoco><include file="{name}"/></mujoco><',
    ],
    ids=["include", "mesh", "folder", "model", "dots", "broken"],
)
def test_a_dropped_scene_does_not_say_which_files_the_server_has(server: Server, tmp_path: Path, scene: str) -> None:
    (tmp_path / "there").write_text("no scene")
    (tmp_path / "place").mkdir()
    said = set()
    for last in ("there", "empty", "place"):
        name = tmp_path / last
        text = scene.replace("{name}", str(name)).replace("{folder}", str(tmp_path)).replace("{last}", last)
        assert ask(server, "/upload?name=scene.xml", origin(server), "POST", text.encode())[0] == 200
        server._receive({"type": "open", "name": "scene.xml"})
        with pytest.raises(SceneError) as refused:
            open_safely(Path(server.inbox.pop()[-1]["path"]), isolated=True)
        said.add(str(refused.value).replace(last, "NAME"))
    (line,) = said
    assert "was not dropped with it" in line or "broken XML" in line


def test_only_offered_files_can_be_downloaded(server: Server, tmp_path: Path) -> None:
    path = tmp_path / 'a "strange" näme.csv'
    path.write_text("1,2")
    server.offer(path)
    (key,) = server._downloads
    status, headers, body = ask(server, f"/files/{key}", cookie(server))
    assert (status, body) == (200, b"1,2")
    assert headers["Content-Disposition"] == f"attachment; filename*=UTF-8''{quote(path.name)}"
    assert ask(server, f"/files/{path.name.encode().hex()}", cookie(server))[0] == 404
    assert ask(server, "/files/..%2F..%2Fetc%2Fpasswd", cookie(server))[0] == 404


def test_too_much_is_refused(server: Server, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("contact_viewer.browser.server._MAX_UPLOAD", 1000)
    assert ask(server, "/upload?name=a", origin(server), "POST", b"x" * 900)[0] == 200
    assert ask(server, "/upload?name=b", origin(server), "POST", b"x" * 200)[0] == 413


def test_what_no_page_sends_does_not_end_a_stream(server: Server, capfd: pytest.CaptureFixture[str]) -> None:
    long = "9" * 4000
    nonsense: list[str | bytes] = [
        *("", "{", "[" * 100_000, "[]", "null", "NaN", '"text"', "\0", '{"type": null}', '{"type": ["move"]}', "{}"),
        *('{"type": "move", "x": NaN, "y": Infinity}', f'{{"type": "move", "x": {long}}}', '{"type": "move", "x": {}}'),
        *(f'{{"type": "wheel", "dy": {long}}}', f'{{"type": "wheel", "dy": {long}, "dx": -1e999}}'),
        *('{"type": "key", "code": null, "key": 5}', '{"type": "key", "code": [], "down": "yes"}'),
        *('{"type": "open"}', '{"type": "open", "name": "%s"}' % ("x" * 900), '{"type": "open", "name": "\\ud800"}'),
        *('{"type": "open", "path": "/etc/passwd"}', '{"type": "shown", "number": 1e999}', '{"type": "here"}'),
        *(
            '{"type": "text", "text": {"a": 1}}',
            '{"type": "clipboard", "text": "\\ud800"}',
            '{"type": "size", "width": -1}',
        ),
        *(b"", b"\x00" * 1000, bytes(range(256)) * 100),
    ]

    async def talk() -> None:
        async with (
            ClientSession() as session,
            session.ws_connect(f"http://127.0.0.1:{server.port}/stream?codec=jpeg", headers=origin(server)) as stream,
        ):
            for each in nonsense:
                await (stream.send_str(each) if isinstance(each, str) else stream.send_bytes(each))
            await stream.send_json({"type": "last"})
            wait(
                lambda: any(message["type"] == "last" for message in list(server.inbox._messages) if "type" in message)
            )
            assert server.screen.show(np.zeros((64, 64, 3), np.uint8))
            server.announce()
            assert (await stream.receive(10)).type is WSMsgType.BINARY

    asyncio.run(talk())
    assert not any(message.get("type") == "open" for message in server.inbox._messages)
    assert capfd.readouterr().err == ""


@pytest.mark.parametrize("length", [(1 << 20) + 1, 64 << 20])
def test_a_message_that_is_too_long_ends_the_stream(server: Server, length: int) -> None:
    async def talk() -> int | None:
        async with (
            ClientSession() as session,
            session.ws_connect(f"http://127.0.0.1:{server.port}/stream?codec=jpeg", headers=origin(server)) as stream,
        ):
            with suppress(ConnectionError):
                await stream.send_str("x" * length)
            return (await stream.receive(10)).type

    assert asyncio.run(talk()) in (WSMsgType.CLOSE, WSMsgType.CLOSED, WSMsgType.ERROR)
    wait(lambda: not server.clients)


def test_unverified_connections_cannot_take_the_room_of_others(server: Server) -> None:
    """Hundreds of connections that never say who they are, or say it slowly."""
    process = psutil.Process()
    before = process.num_fds()
    with ExitStack() as stack:
        for k in range(400):
            link = stack.enter_context(socket.create_connection(("127.0.0.1", server.port), 10))
            link.sendall(b"GET / HTTP/1.1\r\nHost: 127.0.0.1\r\nX-Slow: " + b"x" * (k % 50))
            if k % 100 == 0:
                assert ask(server, "/", cookie(server))[0] == 200
        assert ask(server, "/", cookie(server))[0] == 200
        assert len(server._acceptor._unverified) <= 64
    wait(lambda: process.num_fds() <= before + 2)


def test_a_connection_has_some_seconds_to_show_the_token(server: Server, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("contact_viewer.browser.server._TIME_TO_SHOW", 0.3)
    with socket.create_connection(("127.0.0.1", server.port), 10) as silent:
        silent.sendall(b"GET / HTTP/1.1\r\n")
        connection = http.client.HTTPConnection("127.0.0.1", server.port, timeout=10)
        connection.request("GET", "/", headers=cookie(server))
        connection.getresponse().read()
        with suppress(ConnectionResetError):
            assert silent.recv(100) == b""
    # A connection that has shown it may pause.
    connection.request("GET", "/", headers=cookie(server))
    assert connection.getresponse().status == 200
    connection.close()


def test_one_viewer_too_many_is_told_to_wait(server: Server, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("contact_viewer.browser.server._MAX_CLIENTS", 1)

    async def connect() -> int | None:
        address = f"http://127.0.0.1:{server.port}/stream?codec=jpeg"
        async with ClientSession() as session, session.ws_connect(address, headers=origin(server)) as first:
            async with session.ws_connect(address, headers=origin(server)) as second:
                await second.receive(10)
                code = second.close_code
            await first.close()
            wait(lambda: not server.clients)
            async with session.ws_connect(address, headers=origin(server)):
                wait(lambda: server.clients)
                return code

    assert asyncio.run(connect()) == 1013


def test_a_browser_that_hangs_does_not_keep_the_server_open(server: Server) -> None:
    with socket.create_connection(("127.0.0.1", server.port), 10) as link:
        lines = {"Host": f"127.0.0.1:{server.port}", "Connection": "Upgrade", "Upgrade": "websocket"}
        lines |= {"Sec-WebSocket-Version": "13", "Sec-WebSocket-Key": "AAAAAAAAAAAAAAAAAAAAAA=="} | origin(server)
        head = "".join(f"{name}: {value}\r\n" for name, value in lines.items())
        link.sendall(f"GET /stream HTTP/1.1\r\n{head}\r\n".encode())
        assert link.recv(100).startswith(b"HTTP/1.1 101 ")
        wait(lambda: server.clients)
        thread = server._thread
        assert thread is not None
        server.close()
        assert not thread.is_alive()


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
                if shade < 2:
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
    assert numbers == [1, 2, 20, 21]


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
