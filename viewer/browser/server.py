"""Serve the page, the frames and the files of one window to browsers that know its token."""

import asyncio
import hmac
import logging
import os
import secrets
import socket
import tempfile
import threading
from collections.abc import Awaitable, Callable
from concurrent.futures import Future, ThreadPoolExecutor
from contextlib import suppress
from pathlib import Path, PurePosixPath
from typing import Any
from urllib.parse import SplitResult, quote, urlsplit

from aiohttp import WSCloseCode, web
from aiohttp.http_exceptions import HttpProcessingError

from ..errors import SceneError
from ..scene_files.preflight import DROPPED
from .client import Client, Screen
from .inbox import Inbox

PORT = 8090
_PORTS = 100
"""Number of ports that are tried from `PORT` on if no port was requested."""
_WAITING = 1024
"""Largest number of connections that wait to be accepted."""
_MOST_UNVERIFIED = 64
"""Largest number of open connections that have not shown the token; a further one ends the oldest."""
_TIME_TO_SHOW = 10.0
"""Time within which a connection has to show the token [s]."""
_PAUSE = 0.2
"""Time until the next attempt to accept a connection if the last one failed [s]."""
_LOOPBACK = ("127.0.0.1", "localhost", "::1")
_MAX_CLIENTS = 16
_MAX_MESSAGE = 1 << 20
"""Size limit of a browser's message [bytes]; the longest messages are pasted texts."""
_MAX_UPLOAD = 512 << 20
"""Size limit of a file dropped on a page [bytes], and of all dropped files together."""
Handler = Callable[[web.Request], Awaitable[web.StreamResponse]]
_log = logging.getLogger(__name__)
# A request that no browser sends is answered, not logged: anybody can send thousands, and its text may hold the token.
_log.addFilter(
    lambda record: (
        record.exc_info is None or not isinstance(record.exc_info[1], HttpProcessingError | web.RequestPayloadError)
    )
)


class Server:
    """Server in a thread. The drawing thread shows frames on `screen` and pops messages from `inbox`."""

    def __init__(self, host: str = "127.0.0.1", port: int | None = None) -> None:
        self.host, self._wanted = host, port
        self.port = 0
        self.token = secrets.token_urlsafe(24)
        self.screen = Screen()
        self.inbox = Inbox()
        """Messages of the browsers."""
        self.wake = threading.Event()
        """Event that is set when there is a message in the inbox."""
        self.clients: list[Client] = []
        self._uploads = tempfile.TemporaryDirectory(prefix="contact-viewer-")
        Path(self._uploads.name, DROPPED).touch()
        self._uploaded = 0
        self._downloads: dict[str, Path] = {}
        self._loop: asyncio.AbstractEventLoop | None = None
        self._thread: threading.Thread | None = None

    @property
    def url(self) -> str:
        """Address of the page, with the token."""
        name = f"[{self.host}]" if ":" in self.host else self.host
        return f"http://{name}:{self.port}/?token={self.token}"

    def start(self) -> None:
        """Bind the port and begin to serve. Raises SceneError if the port cannot be bound."""
        listener = _bind(self.host, self._wanted)
        self.port = listener.getsockname()[1]
        ready: Future[None] = Future()
        self._thread = threading.Thread(target=lambda: asyncio.run(self._serve(listener, ready)), daemon=True)
        self._thread.start()
        ready.result()

    def close(self) -> None:
        """Notify all browsers, and stop. Calling it twice is safe."""
        if self._loop is not None and self._thread is not None:
            self._loop.call_soon_threadsafe(self._stop.set)
            self._thread.join(5.0)
            self._loop = None
        self._uploads.cleanup()

    def announce(self) -> None:
        """Announce a new frame to the clients."""
        self._call(lambda client: client.wake())

    def tell_all(self, message: dict[str, Any]) -> None:
        """Send a message that is not a frame to every browser."""
        self._call(lambda client: client.tell(message))

    def tell(self, client: Client, message: dict[str, Any]) -> None:
        """Send a message that is not a frame to one browser."""
        self._call(lambda each: each.tell(message) if each is client else None)

    def offer(self, path: Path) -> None:
        """Let every browser download a file."""
        name = secrets.token_urlsafe(12)
        self._downloads[name] = path
        self.tell_all({"type": "download", "address": f"/files/{name}", "name": path.name})

    def _call(self, action: Callable[[Client], None]) -> None:
        """Call `action` with every browser's client, on the server's thread."""

        def call() -> None:
            for client in self.clients:
                action(client)

        if self._loop is not None:
            self._loop.call_soon_threadsafe(call)

    async def _serve(self, listener: socket.socket, ready: "Future[None]") -> None:
        try:
            self._loop = asyncio.get_running_loop()
            self._stop = asyncio.Event()
            # For encoding: no more at once than there are processors.
            workers = max(2, os.cpu_count() or 1)
            self._loop.set_default_executor(ThreadPoolExecutor(workers, thread_name_prefix="contact-viewer-encode"))
            application = web.Application(middlewares=[self._check], client_max_size=_MAX_UPLOAD)
            application.router.add_get("/", self._page)
            application.router.add_get("/viewer.js", self._script)
            application.router.add_get("/stream", self._stream)
            application.router.add_get("/files/{name}", self._download)
            application.router.add_post("/upload", self._upload)
            runner = web.AppRunner(application, access_log=None, logger=_log, shutdown_timeout=1.0)
            await runner.setup()
            assert runner.server is not None
            self._acceptor = Acceptor(listener, runner.server)
        except BaseException as error:
            ready.set_exception(error)
            raise
        ready.set_result(None)
        await self._stop.wait()
        self._acceptor.close()
        # A browser that hangs does not answer: nobody waits for it.
        if goodbyes := [asyncio.create_task(client.close()) for client in self.clients]:
            await asyncio.wait(goodbyes, timeout=1.0)
        await runner.cleanup()

    @web.middleware
    async def _check(self, request: web.Request, handler: Handler) -> web.StreamResponse:
        """Refuse requests without the token, from a page of another server, or under a foreign host name."""
        if not (self._is_host_ours(request) and _is_origin_ours(request)):
            raise web.HTTPForbidden
        given = request.query.get("token")
        # The cookies of all ports of a machine are one set.
        cookie = f"contact_viewer_{self.port}"
        shown = request.cookies.get(cookie, "") if given is None else given
        if not hmac.compare_digest(shown.encode("utf-8", "replace"), self.token.encode()):
            raise web.HTTPForbidden
        self._acceptor.keep(request.transport)
        response = await handler(request)
        if given is not None and not response.prepared:
            response.set_cookie(cookie, self.token, httponly=True, samesite="Strict")
        if not response.prepared:
            response.headers["Cache-Control"] = "no-store"
            response.headers["X-Content-Type-Options"] = "nosniff"
            response.headers["Referrer-Policy"] = "no-referrer"
            # A page may hold this one, as a notebook does, only if it knows the token.
            holders = "'self'" if given is None else "*"
            response.headers["Content-Security-Policy"] = (
                "default-src 'none'; script-src 'self'; connect-src 'self'; img-src 'self' blob: data:; "
                f"style-src 'unsafe-inline'; frame-ancestors {holders}"
            )
        return response

    def _is_host_ours(self, request: web.Request) -> bool:
        """Return False for a foreign host name that points at this machine. The port is not checked."""
        name = _address_of(f"//{request.headers.get('Host', '')}").hostname
        return name in (*_LOOPBACK, self.host) or self.host in ("0.0.0.0", "::")

    async def _page(self, request: web.Request) -> web.StreamResponse:
        page = _page_file("index.html", "text/html")
        if "token" in request.query and page.text is not None:
            # Inside another page there may be no cookies.
            page.text = page.text.replace("viewer.js", f"viewer.js?token={self.token}")
        return page

    async def _script(self, request: web.Request) -> web.StreamResponse:
        return _page_file("viewer.js", "text/javascript")

    async def _stream(self, request: web.Request) -> web.StreamResponse:
        sock = web.WebSocketResponse(max_msg_size=_MAX_MESSAGE, heartbeat=20.0, compress=False)
        await sock.prepare(request)
        if len(self.clients) >= _MAX_CLIENTS or request.transport is None:
            await sock.close(code=WSCloseCode.TRY_AGAIN_LATER)
            return sock
        client = Client(sock, request.transport, self.screen, request.query.get("codec") != "jpeg")
        self.clients.append(client)
        self._receive({"type": "joined"})
        try:
            await client.run(lambda message: self._receive(message | {"client": client}))
        finally:
            self.clients.remove(client)
            self._receive({"type": "blur" if not self.clients else "left"})
        return sock

    def _receive(self, message: dict[str, Any]) -> None:
        if message.get("type") == "open":
            # A page names a file that it uploaded, nothing else.
            path = self._upload_path(str(message.get("name", "")))
            if path is None or not os.path.isfile(path):
                return
            message = {"type": "open", "path": str(path)}
        self.inbox.add(message)
        self.wake.set()

    async def _download(self, request: web.Request) -> web.StreamResponse:
        path = self._downloads.get(request.match_info["name"])
        if path is None or not path.is_file():
            raise web.HTTPNotFound
        name = quote(path.name, errors="replace")
        return web.FileResponse(path, headers={"Content-Disposition": f"attachment; filename*=UTF-8''{name}"})

    async def _upload(self, request: web.Request) -> web.StreamResponse:
        path = self._upload_path(request.query.get("name", ""))
        if path is None:
            raise web.HTTPBadRequest(text="a file's name, without .. and not absolute")
        if self._uploaded + (request.content_length or 0) > _MAX_UPLOAD:
            raise web.HTTPRequestEntityTooLarge(max_size=_MAX_UPLOAD, actual_size=self._uploaded)
        try:
            path.parent.mkdir(parents=True, exist_ok=True)
            with path.open("wb") as file:
                async for piece in request.content.iter_chunked(1 << 16):
                    self._uploaded += len(piece)
                    if self._uploaded > _MAX_UPLOAD:
                        raise web.HTTPRequestEntityTooLarge(max_size=_MAX_UPLOAD, actual_size=self._uploaded)
                    file.write(piece)
        except OSError as error:
            raise web.HTTPBadRequest(text=error.strerror or "cannot be saved") from None
        return web.Response(text="saved")

    def _upload_path(self, name: str) -> Path | None:
        """Return the path of an uploaded file, in this session's own folder; None if the name leads elsewhere."""
        parts = PurePosixPath(name).parts
        if not parts or name.startswith("/") or len(name) > 1000:
            return None
        if any(part in (".", "..") or "\\" in part or not part.isprintable() for part in parts):
            return None
        return Path(self._uploads.name, *parts)


def _is_origin_ours(request: web.Request) -> bool:
    """Return True if a request comes from a page of this server, or from no page. Browsers send the page's origin."""
    origin = request.headers.get("Origin")
    if origin is None:
        return request.path != "/stream" and request.method == "GET"
    return _address_of(origin).netloc == request.headers.get("Host")


def _address_of(text: str) -> SplitResult:
    """Return the parts of an address; missing ones are empty."""
    try:
        return urlsplit(text)
    except ValueError:
        return urlsplit("")


def _page_file(name: str, kind: str) -> web.Response:
    text = (Path(__file__).parent / "page" / name).read_text("utf-8")
    return web.Response(text=text, content_type=kind)


def _bind(host: str, wanted: int | None) -> socket.socket:
    """Return a listening socket on the wanted port, or on the first free one from `PORT` on."""
    family = socket.AF_INET6 if ":" in host else socket.AF_INET
    reason = ""
    for port in [wanted] if wanted is not None else range(PORT, PORT + _PORTS):
        listener = socket.socket(family, socket.SOCK_STREAM)
        listener.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
        try:
            listener.bind((host, port))
            listener.listen(_WAITING)
            return listener
        except OSError as error:
            reason = error.strerror or str(error)
            listener.close()
    ports = str(wanted) if wanted is not None else f"{PORT} to {PORT + _PORTS - 1}"
    raise SceneError(f"cannot serve on {host} port {ports}: {reason}")


class Acceptor:
    """Acceptor of connections, in the running event loop. It drops connections that do not show the token, so that they
    leave room for others."""

    def __init__(self, listener: socket.socket, protocol: Callable[[], asyncio.BaseProtocol]) -> None:
        self._listener, self._protocol = listener, protocol
        self._unverified: dict[asyncio.Transport, asyncio.TimerHandle] = {}
        """Timers that drop connections without the token, oldest first."""
        listener.setblocking(False)
        self._accepting = asyncio.create_task(self._accept())

    def keep(self, transport: asyncio.Transport | None) -> None:
        """Keep a connection that has shown the token."""
        if transport is not None and (end := self._unverified.pop(transport, None)) is not None:
            end.cancel()

    def close(self) -> None:
        self._accepting.cancel()
        self._listener.close()
        for end in self._unverified.values():
            end.cancel()

    async def _accept(self) -> None:
        loop = asyncio.get_running_loop()
        while True:
            try:
                accepted, _ = await loop.sock_accept(self._listener)
            except OSError:
                # No file descriptor is left: some will be closed.
                await asyncio.sleep(_PAUSE)
                continue
            with suppress(OSError):
                transport, _ = await loop.connect_accepted_socket(self._protocol, accepted)
                self._unverified = {each: end for each, end in self._unverified.items() if not each.is_closing()}
                while len(self._unverified) >= _MOST_UNVERIFIED:
                    oldest = next(iter(self._unverified))
                    self._unverified.pop(oldest).cancel()
                    oldest.abort()
                self._unverified[transport] = loop.call_later(_TIME_TO_SHOW, transport.abort)
