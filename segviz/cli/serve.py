"""``segviz`` without a command: starts the app on a free port and opens the browser."""

from __future__ import annotations

import argparse
import errno
import json
import os
import signal
import socket
import subprocess
import sys
import threading
import time
import webbrowser
from collections.abc import Iterator
from contextlib import closing, suppress
from ipaddress import ip_address
from pathlib import Path
from typing import IO, Any

from segviz.cli.command import FAILED, UsageError, command
from segviz.cli.console import Console, OutputError, flush_output

SETTINGS: dict[str, Any] = {
    "browser.gatherUsageStats": False,
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
    "theme.light.primaryColor": "#b43a09",
    "theme.dark.primaryColor": "#ff9457",
}
"""What Streamlit runs with: the theme, no telemetry, no file watcher. ``.streamlit/config.toml``
says the same, which a test holds."""

FIRST_PORT = 8501
PORTS_TRIED = 50
GRACE_SECONDS = 10
"""How long a server that does not announce itself must answer to be taken for ours."""


def flags() -> Iterator[str]:
    """The settings as Streamlit command-line flags."""
    for name, value in SETTINGS.items():
        # Of a repeated flag Streamlit keeps the last alone; a list travels as JSON.
        yield f"--{name}={value if isinstance(value, str) else json.dumps(value)}"


def is_free(host: str, port: int) -> bool:
    """Whether the server could listen there, tried as Streamlit will do it. UsageError where the
    address or the right to use the port is what is missing."""
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


def free_port(host: str = "127.0.0.1", first: int = FIRST_PORT) -> int:
    """The first port from ``first`` on that nothing listens on."""
    last = min(first + PORTS_TRIED - 1, 65535)
    for port in range(first, last + 1):
        if is_free(host, port):
            return port
    raise UsageError(f"no free port between {first} and {last}; give one with --port")


def _port(given: str) -> int:
    if not (given.isascii() and given.isdigit() and 1 <= int(given[:9]) <= 65535):
        raise argparse.ArgumentTypeError(f"{given!r} is not a port; choose one from 1 to 65535")
    return int(given)


def _arguments(parser: argparse.ArgumentParser) -> None:
    parser.add_argument(
        "file",
        nargs="?",
        help="conversation to open (default: the sample); one that is called like a command is "
        "./build",
    )
    server_arguments(parser)


class _Version(argparse.Action):
    def __call__(self, parser: argparse.ArgumentParser, *given: Any) -> None:
        from importlib import metadata  # takes as long as all other imports of the command

        Console().line(f"segviz {metadata.version('segviz')}")
        parser.exit()


def server_arguments(parser: argparse.ArgumentParser) -> None:
    """The options of everything that starts the app."""
    parser.add_argument("--port", type=_port, help="port to listen on (default: the next free one)")
    parser.add_argument(
        "--host", default="127.0.0.1", help="address to listen on (default: %(default)s)"
    )
    parser.add_argument(
        "--allow-host",
        action="append",
        default=[],
        metavar="NAME",
        help="answer under this name, too (* stands for any part of it); repeat it for more. The "
        "names of this machine to itself are always answered, and beyond it any address",
    )
    parser.add_argument(
        "--allow-paths",
        metavar="FOLDER",
        help="let visitors open files below this folder and no others (default: any file where "
        "only this machine can reach the app, else none)",
    )
    parser.add_argument("--no-browser", action="store_true", help="do not open a browser")
    about = "show program's version number and exit"
    parser.add_argument("--version", action=_Version, nargs=0, help=about)


def url_of(host: str, port: int) -> str:
    """The address of the app; IPv6 addresses stand in brackets."""
    return f"http://[{host}]:{port}" if ":" in host else f"http://{host}:{port}"


class Server:
    """One Streamlit process; its output tells apart our server from another on the port."""

    def __init__(self, host: str, port: int, environment: dict[str, str]) -> None:
        script = str(Path(__file__).resolve().parent.parent / "ui" / "run" / "app.py")
        command = [sys.executable, "-m", "streamlit", "run", script, *flags()]
        command += [f"--server.port={port}", f"--server.address={host}"]
        # The welcome message, with the URL in it, comes once the port is bound.
        command += ["--logger.hideWelcomeMessage=false"]
        self.process = subprocess.Popen(command, env=environment, stdout=subprocess.PIPE)
        self._host, self._port = {"0.0.0.0": "127.0.0.1", "::": "::1"}.get(host, host), port
        self.url = url_of(self._host, port)
        self._announced = False
        threading.Thread(target=self._listen, args=(self.process.stdout,), daemon=True).start()

    def _listen(self, output: IO[bytes]) -> None:
        with output:
            for line in output:
                self._announced = self._announced or b"://" in line

    def wait_until_ready(self) -> bool:
        """True once this very server answers, False when it ended before."""
        since = time.monotonic()
        while self.process.poll() is None:
            if not self._answers():
                since = time.monotonic()
            elif self._announced or time.monotonic() - since > GRACE_SECONDS:
                return self.process.poll() is None
            time.sleep(0.1)
        return False

    def wait(self) -> int:
        """The exit code. Polls: with threads about, a signal need not interrupt a blocking
        wait of the main thread, and its handler would never run."""
        while (code := self.process.poll()) is None:
            time.sleep(0.1)
        return code

    def _answers(self) -> bool:
        from http.client import HTTPConnection, HTTPException  # while the server begins

        try:
            server = HTTPConnection(self._host, self._port, timeout=1)
            with closing(server):
                server.request("GET", "/_stcore/health")
                return server.getresponse().status == 200
        except (OSError, HTTPException):
            return False


class _Signals:
    """SIGINT and SIGTERM go on to the server; the second one ends it at once."""

    count = 0
    server: Server | None = None

    def __call__(self, number: int, frame: object) -> None:
        self.count += 1
        self.forward()

    def forward(self) -> None:
        if self.count and self.server is not None:
            (self.server.process.kill if self.count > 1 else self.server.process.terminate)()


def _serve(
    options: argparse.Namespace, environment: dict[str, str], signals: _Signals, console: Console
) -> int:
    host: str = options.host
    port = options.port or free_port(host)
    while not signals.count:
        if not is_free(host, port):  # taken, from the start or while a server of ours came up
            if options.port:
                raise UsageError(f"port {port} is taken; choose another, or leave --port away")
            port = free_port(host, port + 1)
        _warn(options, console)
        server = signals.server = Server(host, port, environment)
        signals.forward()  # what came before there was a server
        ready = server.wait_until_ready()
        if ready:
            with suppress(OutputError):  # nobody reads it, but the app is wanted
                console.line(f"segviz runs at {url_of(host, port)} (stop with Ctrl+C)")
                flush_output()
        if ready and not options.no_browser:
            threading.Thread(target=webbrowser.open, args=(server.url,), daemon=True).start()
        code = server.wait()
        if not signals.count and (ready or not code or is_free(host, port)):
            return code if code >= 0 else 128 - code
    return 0


def _warn(options: argparse.Namespace, console: Console) -> None:
    """Say who can reach the app, where that is more than this machine."""
    host: str = options.host
    with suppress(ValueError):
        if ip_address(host).is_loopback:
            return
    if host != "localhost":
        below = f"below {options.allow_paths}" if options.allow_paths else "none"
        console.note(
            f"segviz: whoever can reach {host} can use this app without a password, and have it "
            f"call the models whose keys it finds; files of this machine it opens: {below}"
        )


def _run(options: argparse.Namespace, console: Console) -> int:
    if options.file is None:
        return serve(options, {}, console)
    from segviz.cli.source import path_of  # not before: it brings the loaders along

    return serve(options, {"SEGVIZ_FILE": str(path_of(options.file).resolve())}, console)


def serve(options: argparse.Namespace, chosen: dict[str, str], console: Console) -> int:
    """Start the app with the ``chosen`` variables; 0 after Ctrl+C or SIGTERM, else the server's
    code."""
    signals = _Signals()
    former = {n: signal.signal(n, signals) for n in (signal.SIGINT, signal.SIGTERM)}
    try:
        if options.allow_host:
            chosen["SEGVIZ_ALLOW_HOSTS"] = ",".join(options.allow_host)
        if options.allow_paths is not None:
            from segviz.cli.source import path_of

            folder = path_of(options.allow_paths).resolve()
            if not folder.is_dir():
                raise UsageError(f"{options.allow_paths!r} is no folder; give one to --allow-paths")
            chosen["SEGVIZ_ALLOW_PATHS"] = str(folder)
        return _serve(options, {**os.environ, **chosen}, signals, console)
    finally:
        for number, handler in former.items():
            signal.signal(number, handler)


COMMAND = command(
    "serve", _arguments, _run, exits=((FAILED, "the server failed (any other code is its own)"),)
)
