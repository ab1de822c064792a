"""From the command to the painted demo: ``segviz`` started, opened, its tree on the screen.

Run ``python -m tests.benchmarks.startup`` from the project's root; it needs Playwright and a
Chromium (SEGVIZ_CHROMIUM names one that is not found). The browser is already open, as
people's is; each run is a new server process. The first run compiles the modules, as installing a
package does, and warms the disk; it is shown but not counted. Beside it: a page with one line of
text, served by Streamlit on the same machine. Nothing is asserted here.
"""

import os
import socket
import subprocess
import sys
import tempfile
from pathlib import Path
from time import perf_counter, sleep
from typing import Any

import numpy as np
from playwright.sync_api import TimeoutError as Late

from tests.benchmarks.report import Line, chromium, show, tab
from tests.serving import free_port

RUNS = 5
BUDGET = 2.5  # times the page of one line
PATIENCE = 60_000

# Asked at every frame: Playwright looks for a selector in ever longer steps, in the end of half a
# second. Components live in a shadow tree.
PAINTED = """() => {
  const seek = (root) => root.querySelector(".segviz[data-painted]:not([data-nodes='0'])")
    || [...root.querySelectorAll("*")].some((one) => one.shadowRoot && seek(one.shadowRoot));
  return Boolean(seek(document));
}"""
SAID = "() => document.body?.textContent.includes('nothing but a line')"


def answers(port: int) -> bool:
    """Whether something listens there."""
    with socket.socket() as probe:
        return probe.connect_ex(("127.0.0.1", port)) == 0


def seconds(page: Any, command: list[str], port: int, until: str, compiled: Path) -> float:
    """Time from starting the server to the condition in the page."""
    # Modules are compiled once, wherever the environment or an installer left them uncompiled.
    environment = {**os.environ, "PYTHONPYCACHEPREFIX": str(compiled)}
    environment.pop("PYTHONDONTWRITEBYTECODE", None)
    began = perf_counter()
    server = subprocess.Popen(
        command, env=environment, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL
    )
    try:
        while not answers(port):
            if server.poll() is not None:
                sys.exit(f"the server ended with {server.returncode}: {' '.join(command)}")
            sleep(0.02)
        page.goto(f"http://127.0.0.1:{port}/", wait_until="commit", timeout=PATIENCE)
        page.wait_for_function(until, polling="raf", timeout=PATIENCE)
        return perf_counter() - began
    except Late as error:
        what = "demo" if until == PAINTED else "line"
        seen = page.inner_text("body")[:300]
        sys.exit(f"the page of {' '.join(command)} showed no {what}: {error}; it reads {seen!r}")
    finally:
        page.goto("about:blank")
        server.terminate()
        server.wait(timeout=30)


def ours(port: int) -> list[str]:
    return [sys.executable, "-m", "segviz", "--port", str(port), "--no-browser"]


def bare(port: int, script: Path) -> list[str]:
    plain = ["--server.headless=true", f"--server.port={port}", "--browser.gatherUsageStats=false"]
    return [sys.executable, "-m", "streamlit", "run", str(script), *plain]


def main() -> None:
    with tempfile.TemporaryDirectory() as folder, chromium() as browser:
        script, compiled = Path(folder) / "line.py", Path(folder) / "compiled"
        script.write_text("import streamlit as st\nst.text('nothing but a line')\n", "utf-8")
        page = tab(browser, 900)
        demo, line = [], []
        for _ in range(RUNS + 1):
            port = free_port()
            demo.append(seconds(page, ours(port), port, PAINTED, compiled))
            port = free_port()
            line.append(seconds(page, bare(port, script), port, SAID, compiled))
    middle, other = np.median(demo[1:]), np.median(line[1:])
    what = (
        f"`segviz` started to demo painted, median of {RUNS} ({min(demo[1:]):.2f} to "
        f"{max(demo[1:]):.2f}; first run {demo[0]:.2f})"
    )
    alternative = "a page of one line by Streamlit"
    show([Line(what, 1, float(middle), "s", float(other), alternative, BUDGET, relative=True)])


if __name__ == "__main__":
    main()
