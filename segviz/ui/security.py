"""What stands between the app and the outside: whose requests are answered, which files may be
named, and what is shown when something fails.

A server on the loopback address answers to the names of this machine alone: a page of another
site, whose name was made to lead here (DNS rebinding), would else drive the app. Beyond
loopback every address may ask, names must be allowed, and paths are closed but for what the
``segviz`` command was given. :data:`RIM` is what ``app.py`` hands to Streamlit.
"""

from __future__ import annotations

import os
import re
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from fnmatch import fnmatchcase
from importlib import import_module
from ipaddress import ip_address
from pathlib import Path
from threading import Thread
from typing import Any

import streamlit as st
from starlette.middleware import Middleware
from starlette.types import ASGIApp, Receive, Scope, Send

HOSTS, FOLDER, FILE = "SEGVIZ_ALLOW_HOSTS", "SEGVIZ_ALLOW_PATHS", "SEGVIZ_FILE"
WATCH = "SEGVIZ_WATCH"
"""Environment variables by which the ``segviz`` command tells its server: names, comma between; a
folder; a file; a file that grows."""

_HOST = re.compile(r"(\[[0-9a-fA-F:.]+\]|[\w.-]+)(?::[0-9]{0,5})?")
_HERE = ("localhost", "127.0.0.1", "::1")
_REFUSED = b"segviz is not open under this name. It can be, when it is started with --allow-host.\n"


def beyond_loopback() -> bool:
    """Whether other machines can reach the server."""
    address = st.get_option("server.address") or ""
    try:
        return address != "localhost" and not ip_address(address).is_loopback
    except ValueError:
        return True  # every address of this machine, a name of it, or a socket behind a server


def answers_to(host: str) -> bool:
    """Whether requests for this host (``name:port``, as their header has it) are answered."""
    found = _HOST.fullmatch(host)
    name = found[1].strip("[]").rstrip(".").lower() if found else ""
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
    """Refuses requests and sockets that are for another host, before anything reads them."""

    def __init__(self, app: ASGIApp) -> None:
        """Around the app."""
        self._app = app

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Pass on what is for this server."""
        hosts = [
            value.decode("latin-1") for name, value in scope.get("headers", ()) if name == b"host"
        ]
        if scope["type"] == "lifespan" or (len(hosts) == 1 and answers_to(hosts[0])):
            await self._app(scope, receive, send)
        elif scope["type"] == "websocket":
            await receive()
            await send({"type": "websocket.close", "code": 1008})
        else:
            headers = [(b"content-type", b"text/plain"), (b"connection", b"close")]
            await send({"type": "http.response.start", "status": 403, "headers": headers})
            await send({"type": "http.response.body", "body": _REFUSED})


def paths_limited() -> bool:
    """Whether visitors may open only some files of this machine."""
    return beyond_loopback() or FOLDER in os.environ


def may_open(path: str) -> bool:
    """Whether a path that a visitor or a link names may be opened; what links lead to counts."""
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
    """Draws what is shown in place of a page that failed; True, so that Streamlit's own box,
    which offers to search the web for the error, is not."""
    st.subheader("This did not work")
    told = "" if beyond_loopback() else f": {str(error)[:500]}"
    st.text(f"{type(error).__name__}{told}")
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
    """Imports what the first page would wait for, while the browser loads, then the other pages."""
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
