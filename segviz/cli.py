"""The ``segviz`` command: start the app on a free port and open the browser."""

from __future__ import annotations

import argparse
import os
import socket
import subprocess
import sys
import threading
import time
import urllib.error
import urllib.request
import webbrowser
from collections.abc import Sequence
from pathlib import Path

from segviz.theme import flags

FIRST_PORT = 8501
PORTS_TRIED = 50
READY_SECONDS = 60


def free_port(host: str = "127.0.0.1", first: int = FIRST_PORT) -> int:
    """The first port from ``first`` on that nothing listens on."""
    for port in range(first, first + PORTS_TRIED):
        with socket.socket() as probe:
            try:
                probe.bind((host, port))
            except OSError:
                continue
            return port
    raise OSError(
        f"no free port between {first} and {first + PORTS_TRIED - 1}; give one with --port"
    )


def _parser() -> argparse.ArgumentParser:
    parser = argparse.ArgumentParser(
        prog="segviz",
        description="Watch a conversation become a memory tree and ask it questions.",
    )
    parser.add_argument("file", nargs="?", help="conversation to open (default: the sample)")
    parser.add_argument("--port", type=int, help="port to listen on (default: the next free one)")
    parser.add_argument(
        "--host", default="127.0.0.1", help="address to listen on (default: %(default)s)"
    )
    parser.add_argument("--no-browser", action="store_true", help="do not open a browser")
    return parser


def _open_when_ready(url: str) -> None:
    """Open the browser as soon as the server answers."""
    for _ in range(READY_SECONDS * 10):
        try:
            with urllib.request.urlopen(f"{url}/_stcore/health", timeout=1):
                webbrowser.open(url)
                return
        except (urllib.error.URLError, OSError):
            time.sleep(0.1)


def main(arguments: Sequence[str] | None = None) -> int:
    """Run the command; the exit code is 0, or 2 when the request itself is wrong."""
    options = _parser().parse_args(arguments)
    environment = dict(os.environ)
    if options.file is not None:
        path = Path(options.file).expanduser().resolve()
        if not path.is_file():
            print(f"segviz: there is no file {options.file!r}", file=sys.stderr)
            return 2
        environment["SEGVIZ_FILE"] = str(path)
    try:
        port = options.port or free_port(options.host)
    except OSError as error:
        print(f"segviz: {error}", file=sys.stderr)
        return 2
    url = f"http://{options.host}:{port}"
    print(f"segviz runs at {url} (stop with Ctrl+C)", flush=True)
    if not options.no_browser:
        threading.Thread(target=_open_when_ready, args=(url,), daemon=True).start()
    script = Path(__file__).resolve().parent / "ui" / "main.py"
    command = [
        sys.executable,
        "-m",
        "streamlit",
        "run",
        str(script),
        f"--server.port={port}",
        f"--server.address={options.host}",
        *flags(),
    ]
    process = subprocess.Popen(command, env=environment, stdout=subprocess.DEVNULL)
    try:
        return process.wait()
    except KeyboardInterrupt:
        process.wait()
        return 0
