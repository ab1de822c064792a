"""Script time per frame while α is dragged, from a thousand nodes to a million.

Run ``python -m tests.benchmarks.drag`` from the project's root; it needs Playwright and a
Chromium (SEGVIZ_CHROMIUM names one that is not found). The component runs as in the app,
with a stand-in for Streamlit: it is handed the packed payload and its triggers are
collected. Script time is what one animation frame takes: propagation, retrieval, what is said
about it, and painting of boxes, marks, level histogram and α path; the browser's compositing
is not in it. After each drag the last
setting goes to Python and its answer back to the component, which reports whether its own
scores are Python's, by their checksum. Nothing is asserted here.
"""

from __future__ import annotations

import base64
from time import perf_counter
from typing import Any

import numpy as np

from segviz.frontend import script, stylesheet
from segviz.frontend.message import pack
from segviz.retrieval import RetrievalSettings, propagate, top_k
from segviz.tree import Structure
from segviz.view.live import DRAWINGS, Live, read_setting
from tests.benchmarks.report import chromium, table
from tests.conftest import LAUNCH
from tests.scenes import tree_message

FRAMES = 60
REPEATS = 5  # of each frame the shortest counts: what else the machine does makes it longer
BRANCHING = 6
HEAD = (
    *(">nodes", "drawing", ">p50", ">p95", ">budget", "scores as Python's"),
    *(">message", ">made in", ">taken in"),
)
SIZES = ((1_000, 16), (20_000, 16), (100_000, 33), (1_000_000, 50))
POLICY = "both"  # the most transitions
HORIZON = 5
PAGE = """<!doctype html><html><head><style>
:root { --st-text-color: #31333f; --st-background-color: #ffffff; --st-border-color: #ddd;
  --st-font: sans-serif; } body { margin: 20px; } %s
</style></head><body><div id="host"></div></body></html>"""
DRAG = """async (frames) => {
  const input = document.querySelector("input.alpha");
  const root = document.querySelector(".segviz");
  const shown = () => new Promise((done) => requestAnimationFrame(() => setTimeout(done)));
  const times = [];
  for (let i = 0; i < frames; i++) {
    input.value = 0.05 + (0.9 * i) / frames;
    input.dispatchEvent(new Event("input", { bubbles: true }));
    await shown();
    times.push(Number(root.dataset.drawMs));
  }
  return times;
}"""
MOUNT = """(encoded) => {
  const bytes = Uint8Array.from(atob(encoded), (c) => c.charCodeAt(0));
  component({ data: bytes, parentElement: document.getElementById("host"),
    setTriggerValue: (name, value) => { if (name === "setting") sent = value; } });
  return Number(document.querySelector(".segviz").dataset.loadMs);
}"""


def grown(size: int) -> Structure:
    """A balanced tree of about ``size`` nodes, oldest leaves first."""
    leaves = max(BRANCHING, round(size * (BRANCHING - 1) / BRANCHING))
    level, start, stop = [0] * leaves, list(range(leaves)), list(range(1, leaves + 1))
    edges: list[tuple[int, int]] = []
    row = list(range(leaves))
    while len(row) > 1:
        above = []
        for first in range(0, len(row), BRANCHING):
            children = row[first : first + BRANCHING]
            node = len(level)
            level.append(level[children[0]] + 1)
            start.append(start[children[0]])
            stop.append(stop[children[-1]])
            edges += [(node, child) for child in children]
            above.append(node)
        row = above
    n = len(level)
    return Structure(
        level=np.array(level, dtype=np.int32),
        start=np.array(start, dtype=np.int32),
        stop=np.array(stop, dtype=np.int32),
        text=("",) * n,
        vector=np.zeros((n, 0), dtype=np.float32),
        active=np.ones(n, dtype=np.bool_),
        edges=np.array(edges, dtype=np.int32),
    )


def answer(structure: Structure, initial: Any, live: Live) -> bytes:
    """What Python sends for a setting."""
    setting = live.settings
    final = propagate(
        initial, structure.edges, setting.policy, setting.alpha, setting.horizon, structure
    ).final
    units = int(structure.stop.max())
    payload = tree_message(
        structure,
        unit_sessions=[unit * 30 // units for unit in range(units)],
        session_labels=[f"S{i + 1}" for i in range(30)],
        identity="drag",
        initial=initial,
        final=final,
        before=top_k(initial, structure, setting.k),
        after=top_k(final, structure, setting.k),
        peaked=True,
        live=live,
        stage=480,
    )
    return pack(payload)


def measure(page: Any, size: int, budget: int, drawing: str) -> tuple[str, ...]:
    """One row of the table."""
    structure = grown(size)
    raw = np.random.default_rng(0).exponential(size=len(structure)) ** 3
    initial = raw / raw.sum()
    live = Live(RetrievalSettings(policy=POLICY, alpha=0.05, horizon=HORIZON), drawing)
    page.set_content(PAGE % stylesheet("canvas"))
    page.evaluate(
        """async (source) => {
          const url = URL.createObjectURL(new Blob([source], { type: "text/javascript" }));
          globalThis.component = (await import(url)).default;
          globalThis.sent = null;
        }""",
        script("canvas"),
    )
    began = perf_counter()
    message = answer(structure, initial, live)
    python = 1000 * (perf_counter() - began)
    load = page.evaluate(MOUNT, base64.b64encode(message).decode())
    page.wait_for_selector(".path[data-ready=true]")
    page.wait_for_timeout(300)
    times = np.min([page.evaluate(DRAG, FRAMES) for _ in range(REPEATS)], axis=0)
    page.wait_for_timeout(500)  # longer than a control rests before it is reported
    setting = read_setting(page.evaluate("sent"))
    assert setting is not None
    settled = answer(structure, initial, setting)
    page.evaluate(MOUNT, base64.b64encode(settled).decode())
    page.wait_for_timeout(300)
    apart = page.locator(".segviz").get_attribute("data-apart")
    p50, p95 = np.percentile(times, [50, 95])
    return (
        f"{len(structure):,}",
        drawing,
        f"{p50:.1f} ms",
        f"{p95:.1f} ms",
        f"{budget} ms {'met' if p95 <= budget else 'MISSED'}",
        "all" if apart == "false" else "NOT ALL",
        f"{len(message) / 1e6:.2f} MB",
        f"{python:.0f} ms",
        f"{load:.0f} ms",
    )


def main() -> None:
    from playwright.sync_api import sync_playwright

    print(f"{FRAMES} frames of an α drag, policy {POLICY}, H {HORIZON}, 1400 pixels wide:\n")
    with sync_playwright() as playwright:
        browser = playwright.chromium.launch(executable_path=chromium(), args=LAUNCH)
        page = browser.new_page(viewport={"width": 1400, "height": 1100})
        page.on("pageerror", lambda error: print(f"script error: {error}"))
        rows = [
            measure(page, size, budget, drawing) for size, budget in SIZES for drawing in DRAWINGS
        ]
        browser.close()
    print(table(HEAD, rows))


if __name__ == "__main__":
    main()
