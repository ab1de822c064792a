"""A Streamlit server on this machine, as tests and benchmarks start one."""

import os
import subprocess
import sys
import time
from pathlib import Path
from urllib.request import urlopen

from segviz.cli.serve import free_port
from tests.data import ROOT


def start(
    errors: int = subprocess.DEVNULL,
    script: str = "app.py",
    home: Path = ROOT,
    python: str | Path = sys.executable,
) -> tuple[subprocess.Popen[bytes], str]:
    """Runs a script, by default the app, and gives the process and its address once it answers;
    ``errors`` is where its log goes. It is run in ``home``, from which it can import."""
    port = free_port(first=8700)
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
