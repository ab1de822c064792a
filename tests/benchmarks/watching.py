"""An agent that writes 20 turns a second, watched in a browser; and more turns than fit in memory.

Run ``python -m tests.benchmarks.watching [TURNS [PER_SECOND]]`` from the project's root (default
1,000 and 20); the first part needs Playwright and a Chromium (SEGVIZ_CHROMIUM names one that is
not found). ``segviz watch`` and a tab of 1400 by 1000 pixels show a file into which
``segviz.Watch`` writes; in the second half the server is killed and started again. A turn is on
the page once the canvas says so many units, looked for in every frame. Then a file of 28,000 turns
is read as fast as it goes, without a browser. Nothing is asserted: times belong to a machine.
"""

import json
import os
import signal
import subprocess
import sys
import tempfile
import time
from datetime import datetime
from pathlib import Path

import numpy as np

from segviz.memory import Watch, Watched
from tests.benchmarks.report import chromium, numbers, resident, tab, table
from tests.benchmarks.synthetic import conversation
from tests.data import ROOT

LARGE = 28_000

# When the canvas first said so many units, and the milliseconds of every update and frame of it.
SEEN = """() => {
  const seen = (window.seen = { units: [], load: [], draw: [] });
  let last = 0, painted = "", load = "";
  const look = () => {
    requestAnimationFrame(look);
    const root = [...document.querySelectorAll('[data-testid="stBidiComponentIsolated"]')]
      .map(({ shadowRoot }) => shadowRoot?.querySelector(".segviz"))
      .find((each) => each?.dataset.total);
    if (!root) return;
    const said = root.querySelector("[role=img]").getAttribute("aria-label") ?? "";
    const units = Number(/over (\\d+) of/.exec(said)?.[1] ?? 0);
    if (units > last) seen.units.push([Date.now(), last = units]);
    if (root.dataset.loadMs !== load) seen.load.push(Number(load = root.dataset.loadMs));
    if (root.dataset.painted !== painted) seen.draw.push(Number(root.dataset.drawMs));
    painted = root.dataset.painted;
  };
  look();
}"""


def serve(path: Path, port: int = 0) -> tuple[subprocess.Popen[str], str]:
    """``segviz watch`` in a process group of its own, and the address it names."""
    command = "import sys; from segviz.cli import main; sys.exit(main())"
    options = ["watch", str(path), "--no-browser", *(["--port", str(port)] if port else [])]
    process = subprocess.Popen(
        [sys.executable, "-c", command, *options],
        cwd=ROOT,
        stdout=subprocess.PIPE,
        stderr=subprocess.DEVNULL,
        text=True,
        start_new_session=True,
    )
    return process, process.stdout.readline().split()[3]


def kill(process: subprocess.Popen[str]) -> None:
    """Ends a server and all it started, at once."""
    os.killpg(process.pid, signal.SIGKILL)
    process.wait(20)
    process.stdout.close()


WRITER = """
import sys, time
from segviz.memory import Watch
from tests.benchmarks.synthetic import conversation
path, count, rate, first = sys.argv[1], int(sys.argv[2]), float(sys.argv[3]), int(sys.argv[4])
watch, turns = Watch(path), conversation(first + count).turns[first:]
began = time.monotonic()
for i, turn in enumerate(turns, start=1):
    watch({"role": turn.speaker, "content": turn.text})
    time.sleep(max(0.0, began + i / rate - time.monotonic()))
"""


def writes(path: Path, count: int, rate: float, first: int = 0) -> subprocess.Popen[bytes]:
    """An agent in a process of its own: so many turns, so many per second."""
    given = map(str, (path, count, rate, first))
    return subprocess.Popen([sys.executable, "-c", WRITER, *given], cwd=ROOT)


def waits(path: Path, units: list[list[int]], first: int = 0) -> list[float]:
    """Seconds from the writing of every turn from ``first`` on until it was on the page."""
    written = [json.loads(line)["timestamp"] for line in path.read_text().splitlines()]
    found, at = [], 0
    for number, when in enumerate(written, start=1):
        while at < len(units) and units[at][1] < number:
            at += 1
        if number > first:
            shown = units[at][0] / 1000 if at < len(units) else float("inf")
            found.append(shown - datetime.fromisoformat(when).timestamp())
    return found


def percentiles(values: list[float], form: str = "{:.2f}") -> str:
    return ", ".join(form.format(np.percentile(values, each)) for each in (50, 95, 100))


def live(count: int, rate: float) -> list[tuple[str, str]]:
    rows = []
    with tempfile.TemporaryDirectory() as folder, chromium() as browser:
        path = Path(folder, "agent.jsonl")
        Watch(path)("user", "The first turn")
        process, address = serve(path)
        page = tab(browser, 1000)
        inside = page.context.new_cdp_session(page)
        inside.send("HeapProfiler.enable")
        inside.send("Performance.enable")
        heaps = []

        def weigh() -> None:
            inside.send("HeapProfiler.collectGarbage")
            metrics = {
                m["name"]: m["value"] for m in inside.send("Performance.getMetrics")["metrics"]
            }
            heaps.append(metrics["JSHeapUsedSize"] / 1e6)

        page.goto(address)
        page.locator(".st-key-grow-tree .segviz").wait_for()
        page.evaluate(SEEN)
        page.wait_for_timeout(3_000)
        weigh()
        for half in range(2):
            agent = writes(path, count // 2, rate, half * (count // 2))
            page.wait_for_timeout(5_000)
            if half:
                kill(process)
                began = time.monotonic()
                process, _ = serve(path, int(address.rpartition(":")[2]))
                again = time.monotonic() - began
            while agent.poll() is None:
                page.wait_for_timeout(5_000)
                weigh()
            page.wait_for_timeout(3_000)
        seen = page.evaluate("() => window.seen")
        late = waits(path, seen["units"])
        rows += [
            ("turn written to turn on the page, s", percentiles(late[1 : count // 2])),
            ("the same, the server killed meanwhile, s", percentiles(late[count // 2 :])),
            ("pictures", f"{len(seen['units']):,}"),
            ("script of an update of the canvas, ms", percentiles(seen["load"], "{:.1f}")),
            ("script of a frame of the canvas, ms", percentiles(seen["draw"], "{:.1f}")),
            ("page's memory, first and last, MB", f"{heaps[0]:.0f}, {heaps[-1]:.0f}"),
            ("killed to serving again, s", f"{again:.1f}"),
        ]
        kill(process)
    return rows


def large() -> list[tuple[str, str]]:
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder, "agent.jsonl")
        with path.open("w") as stream:
            for turn in conversation(LARGE).turns:
                stream.write(json.dumps({"role": turn.speaker, "content": turn.text}) + "\n")
        before = resident(os.getpid())
        watched = Watched(path)
        began = time.monotonic()
        while watched.poll():
            pass
        took = time.monotonic() - began
        grown = resident(os.getpid()) - before
        times = []
        for number in range(20):
            Watch(path)("user", f"One more, number {number}")
            began = time.monotonic()
            watched.poll()
            read = time.monotonic()
            assert watched.memory is not None
            times.append((read - began, time.monotonic() - read))
        one, shown = np.median(times, axis=0) * 1000
    return [
        (f"{LARGE:,} turns, turns per second (also after a restart)", f"{LARGE / took:,.0f}"),
        ("memory per turn, kB", f"{grown * 1000 / LARGE:.1f}"),
        ("one turn more then: read, made a memory, ms", f"{one:.0f}, {shown:.0f}"),
    ]


def main() -> int:
    count, rate = numbers(1_000, 20)
    rows = [*live(count, rate), *large()]
    print(f"{count:,} turns at {rate} a second; median, 95th percentile, most.\n")
    print(table(("", ">measured"), rows))
    return 0


if __name__ == "__main__":
    sys.exit(main())
