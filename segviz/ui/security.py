"""Request filtering, path rules, limits of a public server, and the page shown after an error.

A server on the loopback address answers to the names of this machine alone: a page of another
site, whose name was made to lead here (DNS rebinding), could otherwise control the app. Beyond
loopback the server answers to any IP address and to allowed names. Visitors can then open only
the files, and ask only the model servers, that the ``segviz`` command was given. A public server
(``segviz --public``) answers under any name. :data:`RIM` is what ``app.py`` hands to
Streamlit.
"""

from __future__ import annotations

import os
import re
from asyncio import get_running_loop, timeout
from collections import Counter
from collections.abc import AsyncIterator, Sequence
from contextlib import asynccontextmanager
from fnmatch import fnmatchcase
from importlib import import_module
from ipaddress import ip_address, ip_network
from pathlib import Path
from threading import Thread
from time import monotonic
from typing import Any
from urllib.parse import urlsplit

import streamlit as st
from starlette.middleware import Middleware
from starlette.types import ASGIApp, Message, Receive, Scope, Send

from segviz.files import free_memory
from segviz.ui import connections

# Environment variables with which the ``segviz`` command configures its server.
HOSTS = "SEGVIZ_ALLOW_HOSTS"  # further host names that are answered, separated by commas
FOLDER = "SEGVIZ_ALLOW_PATHS"  # folder whose files visitors may open
FILE = "SEGVIZ_FILE"  # file to open at the start
JOIN = "SEGVIZ_JOIN"  # set if all conversations of a file are opened as one
WATCH = "SEGVIZ_WATCH"  # file that grows
MODELS = "SEGVIZ_ALLOW_MODELS"  # addresses of model servers, separated by commas
PUBLIC = "SEGVIZ_PUBLIC"  # anything but "" and "0" for a public server

UPLOAD_MB, UPLOADS_MB, ALL_MB = 20, 100, 1_000
"""Largest upload to a public server, and most that a visit or a client, and all, send in an hour,
in megabytes."""

SOCKETS = 20
"""Most connections of one client to a public server, so that no one client takes all visits."""

REQUESTS, PATIENCE = 100, 300.0
"""Most requests of one client that a public server answers at once, and the seconds that one of
them may take, so that a body or a reader that creeps holds no connection."""

LINGER = 30.0
"""Seconds for which a closed connection counts; Streamlit keeps its session as long."""

RESERVE = 300_000_000
"""Bytes of memory that a public server leaves free; with less it takes nothing more."""

_HOST = re.compile(r"(\[[0-9a-fA-F:.]+\]|[\w.-]+)(?::[0-9]{0,5})?")
_HERE = ("localhost", "127.0.0.1", "::1")
_REFUSED = b"segviz is not open under this name. It can be, when it is started with --allow-host.\n"
_CLOSED = "/_stcore/metrics"
_BODY = UPLOAD_MB * 1_000_000 + 10_000  # with the frame of a form around the file
_UPLOAD = re.compile(r".*/_stcore/upload_file/([^/]+)/[^/]+")
_HOUR = 3_600.0
_FULL = b"segviz takes no more from you now. Try again in an hour, or run it on your own machine.\n"


def public() -> bool:
    """Returns whether the server is open to everybody."""
    return os.environ.get(PUBLIC, "") not in ("", "0")


def has_room() -> bool:
    """Returns whether the machine has more than ``RESERVE`` bytes of memory left."""
    free = free_memory()
    return free is None or free > RESERVE


def model_servers() -> tuple[str, ...] | None:
    """Returns the addresses at which visitors may ask models.

    None allows any address, because only this machine reaches the app.
    """
    if not beyond_loopback():
        return None
    return tuple(filter(None, map(str.strip, os.environ.get(MODELS, "").split(","))))


def shown_error(error: object) -> str:
    """Returns the words of an error.

    Beyond loopback it leaves out what a model server answered, which may quote its settings or the
    account of the host.
    """
    text, reason = str(error), str(getattr(error, "reason", ""))
    return text.replace(reason, reason.partition(": ")[0]) if beyond_loopback() else text


def beyond_loopback() -> bool:
    """Returns whether other machines can reach the server."""
    if public():
        return True
    address = st.get_option("server.address") or ""
    try:
        return address != "localhost" and not ip_address(address).is_loopback
    except ValueError:
        return True  # every address of this machine, a name of it, or a socket behind a server


def answers_to(host: str) -> bool:
    """Returns whether requests for this host (``name:port`` of their header) are answered."""
    match = _HOST.fullmatch(host)
    name = match[1].strip("[]").rstrip(".").lower() if match else ""
    if public():
        return bool(name)  # it may stand behind any proxy, and has nothing that others may not see
    given = [*os.environ.get(HOSTS, "").split(","), *st.get_option("server.allowedHosts")]
    given.append(st.get_option("server.address") or "")
    if name in _HERE or (name and any(fnmatchcase(name, known.lower()) for known in given)):
        return True
    try:
        ip_address(name)
    except ValueError:
        return False
    return beyond_loopback()  # no site can have an address for its name


class _TooMuch(Exception):
    """A body is larger than a client may send."""


def client_of(scope: Scope) -> str:
    """Returns the network address of whoever sends a request, behind proxies as well.

    The last global address in ``X-Forwarded-For`` and the connection itself: a proxy adds what it
    saw at the end, so a client behind it cannot choose that, and one without a proxy is seen
    directly. Of IPv6 the first half is taken, which belongs to one client. Without a global
    address it is that of the connection.
    """
    near = (scope.get("client") or ("",))[0]
    hops = [value for name, value in scope.get("headers", ()) if name == b"x-forwarded-for"]
    for hop in (near, *reversed(b",".join(hops).decode("latin-1").split(","))):
        try:
            address = ip_address(hop.strip())
        except ValueError:
            continue
        if address.is_global:
            return str(ip_network((address, 64), strict=False) if address.version == 6 else address)
    return near


class HostCheck:
    """Middleware that refuses requests and sockets for another host before anything reads them.

    It also closes the metrics. On a public server it counts the bytes of bodies as they arrive,
    and the sockets and requests of each client, and refuses what is beyond the limits.
    """

    def __init__(self, app: ASGIApp) -> None:
        """Wraps the app."""
        self._app = app
        self._sockets: Counter[str] = Counter()
        self._requests: Counter[str] = Counter()
        self._received: Counter[str] = Counter()  # bytes of this hour
        self._hour = 0

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Passes on what is for this server; refuses the rest."""
        kind, connection = scope["type"], connections.of_request()
        if connection:
            connection.arrived()
        refused = None if kind == "lifespan" else self._refusal(scope)
        if kind == "websocket" and refused is not None:
            await receive()
            await send({"type": "websocket.close", "code": 1008})
        elif refused is not None:
            await _refuse(refused, send)
        elif kind == "lifespan" or not public():
            await self._app(scope, receive, send)
        elif kind == "websocket":
            # A proxy may name another host than the page has, and no cookie makes a socket of
            # another site worth refusing. Streamlit would ask for the address of this machine.
            others = [pair for pair in scope.get("headers", ()) if pair[0] != b"origin"]
            client = client_of(scope)
            self._sockets[client] += 1
            try:
                await self._app({**scope, "headers": others}, receive, send)
            finally:
                get_running_loop().call_later(LINGER, _less, self._sockets, client)
        else:
            client = client_of(scope)
            self._requests[client] += 1
            try:
                async with timeout(PATIENCE):
                    await self._limited(scope, receive, send)
            except TimeoutError:
                if connection:
                    connection.abort()
            finally:
                _less(self._requests, client)
        if connection and kind == "http":
            connection.wait()

    async def _limited(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Passes on a request of a public server, and counts its body while it arrives."""
        upload = _UPLOAD.fullmatch(scope["path"])
        owners = [f"client {client_of(scope)}", *([f"visit {upload[1]}"] if upload else ()), "all"]
        size, answers = 0, False

        async def counted() -> Message:
            nonlocal size
            message = await receive()
            arrived = len(message.get("body", b""))
            size += arrived
            if arrived and not (self._takes(owners, arrived) and size <= _BODY):
                raise _TooMuch
            return message

        async def answered(message: Message) -> None:
            nonlocal answers
            answers = True
            await send(message)

        try:
            await self._app(scope, counted, answered)
        except _TooMuch:
            if not answers:
                await _refuse((413, _FULL), send)

    def _takes(self, owners: Sequence[str], arrived: int) -> bool:
        """Counts bytes for each owner; returns whether all are within their limit of the hour."""
        hour = int(monotonic() // _HOUR)
        if hour != self._hour:
            self._hour, self._received = hour, Counter()
        for owner in owners:
            self._received[owner] += arrived
        most = dict.fromkeys(owners, UPLOADS_MB * 1000000) | {"all": ALL_MB * 1_000_000}
        return all(self._received[owner] <= most[owner] for owner in owners)

    def _refusal(self, scope: Scope) -> tuple[int, bytes] | None:
        """Returns status and body of a refusal; None for what is passed on."""
        headers: dict[bytes, list[str]] = {}
        for name, value in scope.get("headers", ()):
            headers.setdefault(name, []).append(value.decode("latin-1"))
        hosts = headers.get(b"host", [])
        if len(hosts) != 1 or not answers_to(hosts[0]):
            return 403, _REFUSED
        if scope["type"] == "websocket":
            if public() and self._sockets.get(client_of(scope), 0) >= SOCKETS:
                return 503, b""
            (origin,) = headers.get(b"origin", [None])[:1]
            open_to = origin is None or public() or _of_one_site(origin, hosts[0])
            return None if open_to else (403, _REFUSED)
        if scope["path"].endswith(_CLOSED):
            return 404, b""
        if public() and self._requests[client_of(scope)] >= REQUESTS:
            return 503, b""
        return _unread(scope, headers.get(b"content-length", [""])[0]) if public() else None


def _less(counts: Counter[str], client: str) -> None:
    """Counts one less, and forgets the client with the last one."""
    counts[client] -= 1
    if not counts[client]:
        del counts[client]


async def _refuse(refusal: tuple[int, bytes], send: Send) -> None:
    """Sends status and text of a refusal, and closes the connection."""
    status, body = refusal
    headers = [(b"content-type", b"text/plain"), (b"connection", b"close")]
    await send({"type": "http.response.start", "status": status, "headers": headers})
    await send({"type": "http.response.body", "body": body})


def _unread(scope: Scope, length: str) -> tuple[int, bytes] | None:
    """Returns the refusal of an upload that is not even read; None for all other requests."""
    if scope["method"] != "PUT" or not _UPLOAD.fullmatch(scope["path"]):
        return None
    if not length.isdecimal():
        return 411, b""
    if int(length) > _BODY:
        return 413, b""
    return None if has_room() else (503, b"")


def _of_one_site(origin: str, host: str) -> bool:
    """Returns whether a socket's page is of its own host or of this machine.

    For any other origin Streamlit would ask an outside server for the address of this machine.
    """
    try:
        site = urlsplit(origin)
        known = site.netloc == host or site.hostname in _HERE
    except ValueError:
        return False
    return known or not st.get_option("server.enableCORS")


def paths_limited() -> bool:
    """Returns whether visitors may open only some files of this machine."""
    return beyond_loopback() or FOLDER in os.environ


def names_paths() -> bool:
    """Returns whether there is any path that a visitor may open."""
    return not public() or FOLDER in os.environ or FILE in os.environ


def may_open(path: str) -> bool:
    """Returns whether a path of a visitor or a link may be opened, symbolic links followed."""
    if not paths_limited():
        return True
    try:
        real = Path(path).expanduser().resolve()
        file, folder = os.environ.get(FILE), os.environ.get(FOLDER)
        if file and real == Path(file).resolve():
            return True
        return folder is not None and real.is_relative_to(Path(folder).resolve())
    except (OSError, ValueError, RuntimeError):
        return False


def show_failure(error: Exception) -> bool:
    """Draws the page shown after an error.

    Returns True, which suppresses Streamlit's own error box and its offer of a web search.
    """
    st.subheader("This did not work")
    message = "" if beyond_loopback() else f": {str(error)[:500]}"
    st.text(f"{type(error).__name__}{message}")
    st.text(
        "This is a fault of segviz. Nothing was sent anywhere; the terminal that runs segviz shows "
        "where it happened. Files and saved memories are as they were."
    )

    def start_over() -> None:
        st.session_state.clear()
        st.query_params.clear()

    with st.container(horizontal=True):
        # Several parts of a page may fail in one run.
        again, over = f"failure-{'again'}-{id(error)}", f"failure-{'over'}-{id(error)}"
        st.button("Try again", key=again)
        st.button("Start over with the sample", key=over, on_click=start_over)
    return True


def _prepare() -> None:
    """Imports the app while the browser loads, then loads the embedder."""
    import_module("segviz.ui.main")
    import_module("segviz.embedding").get_embedder()


@asynccontextmanager
async def _while_the_browser_loads(app: Any) -> AsyncIterator[None]:
    if public():
        connections.watch(get_running_loop())
    Thread(target=_prepare, daemon=True).start()
    yield


RIM: dict[str, Any] = {
    "lifespan": _while_the_browser_loads,
    "middleware": [Middleware(HostCheck)],
    "on_script_error": show_failure,
}
