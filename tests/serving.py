"""A Streamlit server on this machine, as tests and benchmarks start one."""

import os
import socket
import subprocess
import sys
import time
from pathlib import Path
from urllib.request import urlopen

from tests.data import ROOT


def free_port() -> int:
    """A port that nobody listens on."""
    with socket.create_server(("127.0.0.1", 0)) as listening:
        return listening.getsockname()[1]


def start(
    errors: int = subprocess.DEVNULL,
    script: str = "app.py",
    home: Path = ROOT,
    python: str | Path = sys.executable,
) -> tuple[subprocess.Popen[bytes], str]:
    """Runs a script, by default the app, and gives the process and its address once it answers;
    ``errors`` is where its log goes. It is run in ``home``, from which it can import."""
    port = free_port()
    process = subprocess.Popen(
        [
            *(python, "-m", "streamlit", "run", script),
            *("--server.headless", "true", "--server.port", str(port)),
            *("--server.address", "127.0.0.1", "--server.fileWatcherType", "none"),
            *("--browser.gatherUsageStats", "false"),
        ],
        cwd=home,
        env={**os.environ, "PYTHONPATH": str(home)},
        stdout=subprocess.DEVNULL,
        stderr=errors,
    )
    address = f"http://127.0.0.1:{port}"
    for _ in range(300):
        try:
            urlopen(f"{address}/_stcore/health", timeout=1).close()
            return process, address
        except OSError:
            time.sleep(0.1)
    process.kill()
    sys.exit("the app did not start")
