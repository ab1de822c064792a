"""``segviz`` without a command: starts the app on a free port and opens the browser."""

from __future__ import annotations

import errno
import json
import os
import re
import signal
import socket
import subprocess
import sys
import threading
import time
import webbrowser
from collections import deque
from collections.abc import Iterator
from contextlib import closing, suppress
from ipaddress import ip_address
from pathlib import Path
from typing import Any

import click

from segviz.cli.command import EXITS, Options, UsageError, command, option, together, user_errors
from segviz.cli.console import Console, OutputError
from segviz.version import __version__

SETTINGS: dict[str, Any] = {
    "browser.gatherUsageStats": False,
    # Listening on all addresses, Streamlit would ask a server of others for the one out there.
    "browser.serverAddress": "localhost",
    "client.toolbarMode": "viewer",
    # Its links would send the error, which may quote the file, to a search engine.
    "client.showErrorLinks": "false",
    # Streamlit sends a large message once and refers to it by hash afterwards. Runs cut
    # short by rapid clicks bring the two ends out of step, and the page dies with
    # "Cached ForwardMsg MISS"; a size that no message reaches turns the references off.
    "global.minCachedMessageSize": 1_000_000_000,
    # No bare expression is meant for the page; without this Streamlit rewrites the script.
    "runner.magicEnabled": False,
    # Streamlit would walk all that a large memory is made of after every change.
    "runner.postScriptGC": False,
    # Else every machine around could open the files of this one.
    "server.address": "127.0.0.1",
    "server.headless": True,
    "server.fileWatcherType": "none",
    "theme.baseRadius": "4px",
    "theme.baseFontSize": 15,
    "theme.headingFontSizes": ["26px", "20px", "16px", "15px", "14px", "13px"],
    "theme.light.primaryColor": "#4a5666",
    # Notes and code are quiet; the accent is for the data.
    "theme.light.blueBackgroundColor": "#f5f4f1",
    "theme.light.blueTextColor": "#2f2d2b",
    "theme.light.codeTextColor": "#2f2d2b",
    "theme.light.linkColor": "#244fb4",
    "theme.dark.primaryColor": "#a9b5c4",
    "theme.dark.blueBackgroundColor": "#211f1d",
    "theme.dark.blueTextColor": "#edebe8",
    "theme.dark.codeTextColor": "#edebe8",
    "theme.dark.linkColor": "#85b8f8",
}
"""Settings of Streamlit: the theme, no telemetry, no file watcher. A test checks that
``.streamlit/config.toml`` has the same."""

PUBLIC_SETTINGS: dict[str, Any] = {
    # Behind a proxy, or in the frame of another site, the page has another origin and no cookie.
    # Both checks protect what a cookie lets a visitor do; here no cookie lets anybody do anything.
    "server.enableCORS": False,
    "server.enableXsrfProtection": False,
    "server.maxUploadSize": 20,
    "server.maxMessageSize": 40,
    "server.disconnectedSessionTTL": 30,
}
"""Settings of Streamlit that a public server (``--public``) has in addition."""


def flags(public: bool = False) -> Iterator[str]:
    """Yields ``SETTINGS`` as flags of Streamlit's command; ``public`` adds ``PUBLIC_SETTINGS``."""
    for name, value in {**SETTINGS, **(PUBLIC_SETTINGS if public else {})}.items():
        # Of a repeated flag Streamlit keeps the last alone; a list travels as JSON.
        yield f"--{name}={value if isinstance(value, str) else json.dumps(value)}"


def is_free(host: str, port: int) -> bool:
    """Returns True if the server can listen on this port of ``host``.

    Raises:
        UsageError: the address is not of this machine, or the port is not allowed.
    """
    family = socket.AF_INET6 if ":" in host else socket.AF_INET
    try:
        if not host.strip():
            raise OSError("it is empty")
        with socket.socket(family) as probe:
            if os.name != "nt":  # a port of a server stopped just now counts as free
                probe.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
            if family == socket.AF_INET6:
                probe.setsockopt(socket.IPPROTO_IPV6, socket.IPV6_V6ONLY, 0)
            probe.bind((host, port))
    except (OSError, UnicodeError) as error:
        if getattr(error, "errno", None) == errno.EADDRINUSE:
            return False
        if isinstance(error, PermissionError):
            raise UsageError(f"port {port} is not allowed here; choose one above 1023") from None
        why = getattr(error, "strerror", None) or error
        raise UsageError(
            f"cannot listen on {host!r} ({why}); give an address of this machine, as 127.0.0.1"
        ) from None
    return True


_PORT, _PATH = click.IntRange(1, 65535), click.Path()
server_options = together(
    option("--port", "Port to listen on.", "the next free one", type=_PORT, metavar="PORT"),
    option("--host", "Address to listen on.", "127.0.0.1, with --public 0.0.0.0"),
    option(
        "--allow-host",
        "Answer under this name, too (* stands for any part of it); repeat it for more. The names "
        "of this machine to itself are always answered, and beyond it any address.",
        multiple=True,
        metavar="NAME",
    ),
    option(
        "--allow-paths",
        "Let visitors open files below this folder and no others.",
        "any file where only this machine can reach the app, else none",
        type=_PATH,
        metavar="FOLDER",
    ),
    option(
        "--allow-model",
        "Let visitors use the models at this address, such as http://localhost:11434/v1; repeat it "
        "for more.",
        "any address where only this machine can reach the app, else none",
        multiple=True,
        metavar="URL",
    ),
    option(
        "--public",
        "Serve everybody: listen on all addresses, answer under any name, open samples and uploads "
        "only, and limit what a visitor uses. The same as SEGVIZ_PUBLIC=1.",
        is_flag=True,
    ),
    option("--no-browser", "Do not open a browser.", is_flag=True),
    click.version_option(__version__, message="segviz %(version)s"),
)
"""Options of all commands that start the app."""


def url_of(host: str, port: int) -> str:
    """Returns the URL of the app, with brackets around an IPv6 address."""
    return f"http://[{host}]:{port}" if ":" in host else f"http://{host}:{port}"


def start_streamlit(
    host: str, port: int | None, environment: dict[str, str]
) -> subprocess.Popen[bytes]:
    """Starts Streamlit on a given port or, without one, on the first that Streamlit finds free."""
    script = str(Path(__file__).resolve().parent.parent / "ui" / "run" / "app.py")
    # With -P no module in the folder of the caller comes before a library.
    command = [sys.executable, "-P", "-m", "streamlit", "run", script]
    command += flags(environment.get("SEGVIZ_PUBLIC") == "1")
    # The welcome message, with the port in it, comes once the server listens.
    command += [f"--server.address={host}", "--logger.hideWelcomeMessage=false"]
    command += [] if port is None else [f"--server.port={port}"]
    return subprocess.Popen(command, env=environment, stdout=subprocess.PIPE)


def _answers(host: str, port: int) -> bool:
    """Waits for the first answer of a server that listens; returns False if it ends before."""
    from http.client import HTTPConnection, HTTPException  # while the server begins

    try:
        with closing(HTTPConnection(host, port)) as connection:
            connection.request("GET", "/_stcore/health")
            return connection.getresponse().status == 200
    except (OSError, HTTPException):
        return False


def _serve(options: Options, environment: dict[str, str], console: Console) -> int:
    """Runs the server until it ends; returns its code, or 0 after Ctrl+C or SIGTERM."""
    host: str = options.host
    if not is_free(host, options.port or 0):
        raise UsageError(f"port {options.port} is taken; choose another, or leave --port away")
    if not options.public:
        _warn(options, console)
    received: list[int] = []
    server = start_streamlit(host, options.port, environment)

    def stop(number: int, frame: object) -> None:
        received.append(number)
        (server.kill if len(received) > 1 else server.terminate)()

    former = {number: signal.signal(number, stop) for number in (signal.SIGINT, signal.SIGTERM)}
    try:
        # Read the port, then say where the app is and open it.
        output = iter(server.stdout or ())
        announced = (re.search(rb"://localhost:(\d+)", line) for line in output)
        port = next((int(match[1]) for match in announced if match), 0)
        local = {"0.0.0.0": "127.0.0.1", "::": "::1"}.get(host, host)
        if port and _answers(local, port):
            with suppress(OutputError):  # nobody reads it, but the app is wanted
                console.line(f"segviz runs at {url_of(host, port)} (stop with Ctrl+C)")
                console.flush()
            if not (options.no_browser or options.public):
                url = url_of(local, port)
                threading.Thread(target=webbrowser.open, args=(url,), daemon=True).start()
        # Reads the rest, or the server would wait at a full pipe.
        threading.Thread(target=deque, args=(output, 0), daemon=True).start()
        # Polls: while there are threads, a signal may not interrupt a blocking wait, so that its
        # handler would never run.
        while (code := server.poll()) is None:
            time.sleep(0.1)
    finally:
        for number, handler in former.items():
            signal.signal(number, handler)
    if received:
        return 0
    return code if code >= 0 else 128 - code


def _warn(options: Options, console: Console) -> None:
    """Prints a note if other machines can reach the app."""
    host: str = options.host
    with suppress(ValueError):
        if ip_address(host).is_loopback:
            return
    if host != "localhost":
        below = f"below {options.allow_paths}" if options.allow_paths else "none"
        console.note(
            f"segviz: whoever can reach {host} can use this app without a password; models it "
            f"calls: {', '.join(options.allow_model) or 'none'}; files of this machine it opens: "
            f"{below}"
        )


def start(options: Options, chosen: dict[str, str], console: Console) -> int:
    """Starts the app with the environment variables ``chosen``, and waits for its end.

    Returns 0 after Ctrl+C or SIGTERM, else the server's code.
    """
    options.public = options.public or os.environ.get("SEGVIZ_PUBLIC", "") not in ("", "0")
    if options.host is None:
        options.host = "0.0.0.0" if options.public else "127.0.0.1"
    if options.public:
        chosen["SEGVIZ_PUBLIC"] = "1"
    if options.allow_model:
        from segviz.llm import Endpoint  # not before: it takes time to import

        with user_errors():
            addresses = [Endpoint(url).base_url for url in options.allow_model]
        chosen["SEGVIZ_ALLOW_MODELS"] = ",".join(addresses)
    if options.allow_host:
        chosen["SEGVIZ_ALLOW_HOSTS"] = ",".join(options.allow_host)
    if options.allow_paths is not None:
        from segviz.cli.source import path_of

        folder = path_of(options.allow_paths).resolve()
        if not folder.is_dir():
            raise UsageError(f"{options.allow_paths!r} is no folder; give one to --allow-paths")
        chosen["SEGVIZ_ALLOW_PATHS"] = str(folder)
    return _serve(options, {**os.environ, **chosen}, console)


@command
@click.argument("file", required=False, type=click.Path())
@option("--join", "Open all conversations of FILE as one, in the order of time.", is_flag=True)
@server_options
def serve(options: Options, console: Console) -> int:
    """Starts the app on a free port of this machine and opens it in the browser.

    Watch a conversation become a memory tree, ask it questions, see why each piece of evidence
    came back. Ctrl+C stops it. FILE is the conversation to open instead of the sample; one that is
    called like a command is ./build. The commands below do the same work without a browser.

    Examples:
        segviz
        segviz talk.json --port 8600
        segviz --public
    """
    if options.file is None:
        if options.join:
            raise UsageError("--join opens the conversations of a FILE; name it")
        return start(options, {}, console)
    from segviz.cli.source import path_of  # not before: it brings the loaders along

    chosen = {"SEGVIZ_FILE": str(path_of(options.file).resolve())}
    return start(options, chosen | ({"SEGVIZ_JOIN": "1"} if options.join else {}), console)


def _commands(formatter: click.HelpFormatter) -> None:
    """Lists the commands and their exit codes in the help."""
    from segviz.cli import COMMANDS  # which hold this command too

    with formatter.section("Commands (segviz COMMAND --help tells more)"):
        formatter.write_dl(list(COMMANDS.items()))
    with formatter.section("Exit codes of all commands"):
        formatter.write_dl(EXITS)


serve.more = _commands
