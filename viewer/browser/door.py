"""Accepts connections, and gives up those of strangers: who never shows the token cannot take the room of others."""

import asyncio
import socket
from collections.abc import Callable
from contextlib import suppress

_STRANGERS = 64
"""Connections that may be open before their first request with the token; another one ends the oldest."""
_TIME_TO_SHOW = 10.0
"""Longest until that request [s]."""
_PAUSE = 0.2
"""Until the next one is accepted if the machine could not [s]."""


class Door:
    """Accepts on a listening socket for a protocol, in the loop that runs."""

    def __init__(self, listener: socket.socket, protocol: Callable[[], asyncio.BaseProtocol]) -> None:
        self._listener, self._protocol = listener, protocol
        self._strangers: dict[asyncio.Transport, asyncio.TimerHandle] = {}
        """When each is given up, oldest first."""
        listener.setblocking(False)
        self._accepting = asyncio.create_task(self._accept())

    def welcome(self, transport: asyncio.Transport | None) -> None:
        """Who is connected by this has shown the token."""
        if transport is not None and (end := self._strangers.pop(transport, None)) is not None:
            end.cancel()

    def close(self) -> None:
        self._accepting.cancel()
        self._listener.close()
        for end in self._strangers.values():
            end.cancel()

    async def _accept(self) -> None:
        loop = asyncio.get_running_loop()
        while True:
            try:
                accepted, _ = await loop.sock_accept(self._listener)
            except OSError:
                # No descriptor is left: some will be given back.
                await asyncio.sleep(_PAUSE)
                continue
            with suppress(OSError):
                transport, _ = await loop.connect_accepted_socket(self._protocol, accepted)
                self._strangers = {each: end for each, end in self._strangers.items() if not each.is_closing()}
                while len(self._strangers) >= _STRANGERS:
                    oldest = next(iter(self._strangers))
                    self._strangers.pop(oldest).cancel()
                    oldest.abort()
                self._strangers[transport] = loop.call_later(_TIME_TO_SHOW, transport.abort)
