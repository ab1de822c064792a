"""Script time per frame while α is dragged, from a thousand nodes to a million.

Run ``python -m tests.benchmarks.drag`` from the project's root; it needs Playwright and a
Chromium (SEGVIZ_CHROMIUM names one that is not found). The component runs as in the app,
with a stand-in for Streamlit, and is handed the packed payload. Script time is what one
animation frame takes: propagation, retrieval, what is said about it, and painting of boxes, marks,
level histogram and α path; the browser's compositing is not in it. Nothing is asserted here.
"""

import base64
from time import perf_counter
from typing import Any

import numpy as np

from segviz.frontend import script, stylesheet
from segviz.frontend.message import pack
from segviz.retrieval import RetrievalSettings, propagate, top_k
from segviz.tree import Structure
from segviz.view.coloring import DRAWINGS, Live
from tests.benchmarks.report import chromium, tab, table
from tests.benchmarks.synthetic import balanced
from tests.scenes import tree_message

FRAMES = 60
REPEATS = 5  # of each frame the shortest counts: what else the machine does makes it longer
BRANCHING = 6
HEAD = (">nodes", "drawing", ">p50", ">p95", ">budget", ">message", ">made in", ">taken in")
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
    setTriggerValue: () => {} });
  return Number(document.querySelector(".segviz").dataset.loadMs);
}"""


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


def empty(page: Any) -> None:
    """A page with the component loaded and nothing mounted."""
    page.set_content(PAGE % stylesheet("canvas"))
    page.evaluate(
        """async (source) => {
          const url = URL.createObjectURL(new Blob([source], { type: "text/javascript" }));
          globalThis.component = (await import(url)).default;
        }""",
        script("canvas"),
    )


def mount(page: Any, message: bytes) -> Any:
    """Hands the component a message; how long it took to take it in, milliseconds."""
    return page.evaluate(MOUNT, base64.b64encode(message).decode())


def measure(page: Any, size: int, budget: int, drawing: str) -> tuple[str, ...]:
    """One row of the table."""
    structure = balanced(size, BRANCHING)
    raw = np.random.default_rng(0).exponential(size=len(structure)) ** 3
    initial = raw / raw.sum()
    live = Live(RetrievalSettings(policy=POLICY, alpha=0.05, horizon=HORIZON), drawing)
    empty(page)
    began = perf_counter()
    message = answer(structure, initial, live)
    python = 1000 * (perf_counter() - began)
    load = mount(page, message)
    page.wait_for_selector(".path[data-ready=true]")
    page.wait_for_timeout(300)
    times = np.min([page.evaluate(DRAG, FRAMES) for _ in range(REPEATS)], axis=0)
    p50, p95 = np.percentile(times, [50, 95])
    return (
        f"{len(structure):,}",
        drawing,
        f"{p50:.1f} ms",
        f"{p95:.1f} ms",
        f"{budget} ms {'met' if p95 <= budget else 'MISSED'}",
        f"{len(message) / 1e6:.2f} MB",
        f"{python:.0f} ms",
        f"{load:.0f} ms",
    )


def main() -> None:
    print(f"{FRAMES} frames of an α drag, policy {POLICY}, H {HORIZON}, 1400 pixels wide:\n")
    with chromium() as browser:
        page = tab(browser, 1100)
        rows = [
            measure(page, size, budget, drawing) for size, budget in SIZES for drawing in DRAWINGS
        ]
    print(table(HEAD, rows))


if __name__ == "__main__":
    main()
