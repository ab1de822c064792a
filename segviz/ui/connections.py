"""Connections whose request has not arrived whole, which no middleware sees.

A client that sends the headers of a request byte by byte, on many connections, would keep a public
server from answering anybody: it can open only so many files. Each connection waits for a limited
time; of those that wait, an address and all have a limited number, the oldest beyond which is
closed. A browser, or a proxy, sends its headers at once and is never the oldest for long.
"""

from __future__ import annotations

from asyncio import AbstractEventLoop, BaseTransport, Protocol, Transport, get_running_loop
from collections.abc import Callable
from contextvars import ContextVar
from typing import Any, cast

HEADERS = 10.0
"""Seconds in which the headers of a request arrive; an idle connection is closed earlier."""

WAITING, ALL_WAITING = 100, 400
"""Most connections of one address, and of all, that wait for the headers of a request."""


class Connection(Protocol):
    """A connection between its socket and the server's protocol for HTTP.

    A websocket replaces it, once its headers have arrived.
    """

    def __init__(self, http: Protocol, waiting: dict[Connection, str]) -> None:
        """Wraps a protocol; ``waiting`` has the connections that wait, by age, with addresses."""
        self._http, self._waiting = http, waiting

    def connection_made(self, transport: BaseTransport) -> None:
        """Begins to wait."""
        self._transport = cast(Transport, transport)
        self._address = str((transport.get_extra_info("peername") or ("",))[0])
        self._http.connection_made(transport)
        self.wait()

    def wait(self) -> None:
        """Waits for a request, and closes the oldest that wait beyond the limits."""
        if self._transport.is_closing():
            return
        self._timer = get_running_loop().call_later(HEADERS, self.abort)
        self._waiting[self] = self._address
        of_address = [one for one, where in self._waiting.items() if where == self._address]
        if len(of_address) > WAITING:
            of_address[0].abort()
        elif len(self._waiting) > ALL_WAITING:
            next(iter(self._waiting)).abort()

    def arrived(self) -> None:
        """Waits no more."""
        self._timer.cancel()
        self._waiting.pop(self, None)

    def abort(self) -> None:
        """Closes it at once, even if nobody reads what was sent."""
        self.arrived()
        self._transport.abort()

    def data_received(self, data: bytes) -> None:
        """Passes bytes on; a request that begins with them knows its connection."""
        token = _of_request.set(self)
        self._http.data_received(data)
        _of_request.reset(token)

    def eof_received(self) -> bool | None:
        """Passes it on."""
        return self._http.eof_received()

    def connection_lost(self, exc: Exception | None) -> None:
        """Forgets the connection."""
        self.arrived()
        self._http.connection_lost(exc)

    def pause_writing(self) -> None:
        """Passes it on."""
        self._http.pause_writing()

    def resume_writing(self) -> None:
        """Passes it on."""
        self._http.resume_writing()


_of_request: ContextVar[Connection | None] = ContextVar("connection", default=None)


def of_request() -> Connection | None:
    """Returns the connection of the request that runs; None where they are not watched."""
    return _of_request.get()


def watch(loop: AbstractEventLoop) -> None:
    """Watches the connections of the servers that a loop creates from now on."""
    create: Callable[..., Any] = loop.create_server
    waiting: dict[Connection, str] = {}

    async def create_server(protocol: Callable[[], Protocol], *args: Any, **options: Any) -> Any:
        return await create(lambda: Connection(protocol(), waiting), *args, **options)

    loop.create_server = create_server  # type: ignore[method-assign, assignment]
