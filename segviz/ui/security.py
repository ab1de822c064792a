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
from collections import OrderedDict
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from fnmatch import fnmatchcase
from importlib import import_module
from ipaddress import ip_address
from pathlib import Path
from threading import Thread
from typing import Any
from urllib.parse import urlsplit

import streamlit as st
from starlette.middleware import Middleware
from starlette.types import ASGIApp, Receive, Scope, Send

from segviz.files import free_memory

# Environment variables with which the ``segviz`` command configures its server.
HOSTS = "SEGVIZ_ALLOW_HOSTS"  # further host names that are answered, separated by commas
FOLDER = "SEGVIZ_ALLOW_PATHS"  # folder whose files visitors may open
FILE = "SEGVIZ_FILE"  # file to open at the start
WATCH = "SEGVIZ_WATCH"  # file that grows
MODELS = "SEGVIZ_ALLOW_MODELS"  # addresses of model servers, separated by commas
PUBLIC = "SEGVIZ_PUBLIC"  # anything but "" and "0" for a public server

UPLOAD_MB, UPLOADS_MB = 20, 100
"""Largest upload to a public server, and largest sum of a visit's uploads, in megabytes."""

RESERVE = 300_000_000
"""Bytes of memory that a public server leaves free; with less it takes nothing more."""

_HOST = re.compile(r"(\[[0-9a-fA-F:.]+\]|[\w.-]+)(?::[0-9]{0,5})?")
_HERE = ("localhost", "127.0.0.1", "::1")
_REFUSED = b"segviz is not open under this name. It can be, when it is started with --allow-host.\n"
_CLOSED = "/_stcore/metrics"
_UPLOAD = re.compile(r".*/_stcore/upload_file/([^/]+)/[^/]+")
_SESSIONS_COUNTED = 1_000


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


class HostCheck:
    """Middleware that refuses requests and sockets for another host before anything reads them.

    It also closes the metrics, and limits the uploads to a public server.
    """

    def __init__(self, app: ASGIApp) -> None:
        """Wraps the app."""
        self._app = app
        self._uploaded: OrderedDict[str, int] = OrderedDict()

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Passes on what is for this server; refuses the rest."""
        kind = scope["type"]
        refused = None if kind == "lifespan" else self._refusal(scope)
        if refused is None:
            if kind == "websocket" and public():
                # A proxy may name another host than the page has, and no cookie makes a socket of
                # another site worth refusing. Streamlit would ask for the address of this machine.
                others = [pair for pair in scope.get("headers", ()) if pair[0] != b"origin"]
                scope = {**scope, "headers": others}
            await self._app(scope, receive, send)
        elif kind == "websocket":
            await receive()
            await send({"type": "websocket.close", "code": 1008})
        else:
            status, body = refused
            headers = [(b"content-type", b"text/plain"), (b"connection", b"close")]
            await send({"type": "http.response.start", "status": status, "headers": headers})
            await send({"type": "http.response.body", "body": body})

    def _refusal(self, scope: Scope) -> tuple[int, bytes] | None:
        """Returns status and body of a refusal; None for what is passed on."""
        headers: dict[bytes, list[str]] = {}
        for name, value in scope.get("headers", ()):
            headers.setdefault(name, []).append(value.decode("latin-1"))
        hosts = headers.get(b"host", [])
        if len(hosts) != 1 or not answers_to(hosts[0]):
            return 403, _REFUSED
        if scope["type"] == "websocket":
            (origin,) = headers.get(b"origin", [None])[:1]
            open_to = origin is None or public() or _of_one_site(origin, hosts[0])
            return None if open_to else (403, _REFUSED)
        if scope["path"].endswith(_CLOSED):
            return 404, b""
        upload = _UPLOAD.fullmatch(scope["path"]) if scope["method"] == "PUT" else None
        if upload is None or not public():
            return None
        return self._too_much(upload[1], headers.get(b"content-length", [""])[0])

    def _too_much(self, visit: str, length: str) -> tuple[int, bytes] | None:
        """Returns the refusal of an upload; None if the visit may send so many bytes."""
        if not length.isdecimal():
            return 411, b""
        uploaded = self._uploaded.pop(visit, 0) + int(length)
        if int(length) > UPLOAD_MB * 1_000_000 or uploaded > UPLOADS_MB * 1_000_000:
            return 413, b""
        if not has_room():
            return 503, b""
        self._uploaded[visit] = uploaded
        while len(self._uploaded) > _SESSIONS_COUNTED:
            self._uploaded.popitem(last=False)
        return None


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
    """Imports the modules of all pages while the browser loads, then loads the embedder."""
    for name in ("segviz.ui.main", *(f"segviz.ui.pages.{page}.page" for page in _PAGES)):
        import_module(name)
    import_module("segviz.embedding").get_embedder()


_PAGES = ("grow", "ask", "sweep", "compare", "guide")


@asynccontextmanager
async def _while_the_browser_loads(app: Any) -> AsyncIterator[None]:
    Thread(target=_prepare, daemon=True).start()
    yield


RIM: dict[str, Any] = {
    "lifespan": _while_the_browser_loads,
    "middleware": [Middleware(HostCheck)],
    "on_script_error": show_failure,
}
