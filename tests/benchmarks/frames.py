"""Script time per frame while the tree is panned and zoomed, at 1k, 20k and 100k nodes.

Run ``python -m tests.benchmarks.frames`` from the project's root; it needs Playwright and a
Chromium (SEGVIZ_CHROMIUM names one that is not found). The component runs as in the app,
with a stand-in for Streamlit, in both pictures: sessions of Grow and mirrored scores of
Ask. Every frame follows one event of the mouse: a drag of the tree by some pixels, or a
turn of the wheel with Ctrl. A frame's time is all its scripts: event, layout, painting of
boxes, marks and overview; the browser's compositing is not in it. A motion returns to where
it began and is repeated; of the repetitions of a frame the shortest counts, as what else the
machine does can only make it longer. The alternative is a pyvis page of 1,000 nodes,
measured the same way in the same run. Nothing is asserted.
"""

from __future__ import annotations

from typing import Any

import numpy as np

from segviz.figures.node_link import node_link_html
from segviz.frontend.message import pack
from segviz.retrieval import RetrievalSettings
from segviz.tree import Structure
from segviz.view.look import Live
from tests.benchmarks.drag import empty, mount
from tests.benchmarks.report import Line, chromium, show, tab
from tests.benchmarks.synthetic import balanced
from tests.scenes import tree_message

CYCLE = 40  # frames until a motion is back where it began
CYCLES = 5
SIZES = ((1_000, 16.0), (20_000, 33.0), (100_000, 100.0))
PYVIS_NODES = 1_000
SHARE = 95  # percentile

MOVES = """async ([kind, frames]) => {
  const root = document.querySelector(".segviz");
  const canvas = root.querySelector("canvas.over");
  const box = canvas.getBoundingClientRect();
  const shown = () => new Promise((done) => requestAnimationFrame(() => setTimeout(done)));
  const at = (x, more) => ({ bubbles: true, cancelable: true, pointerId: 1, button: 0,
    buttons: 1, clientX: box.left + x, clientY: box.top + 60, ...more });
  canvas.setPointerCapture = () => {};
  const times = [];
  let x = box.width / 2;
  const turn = (deltaY) => canvas.dispatchEvent(
    new WheelEvent("wheel", at(box.width * 0.4, { ctrlKey: true, deltaY })));
  if (kind === "pan") {
    for (let i = 0; i < 4; i++) { turn(-60); await shown(); }
    canvas.dispatchEvent(new PointerEvent("pointerdown", at(x)));
  }
  for (let i = 0; i < frames; i++) {
    const began = performance.now();
    if (kind === "pan") {
      x += (i % 40 < 20 ? -1 : 1) * 12;
      canvas.dispatchEvent(new PointerEvent("pointermove", at(x)));
    } else turn(i % 40 < 20 ? -40 : 40);
    const event = performance.now() - began;
    const before = Number(root.dataset.painted);
    await shown();
    const painted = Number(root.dataset.painted) > before;
    times.push(painted ? event + Number(root.dataset.drawMs) : null);
  }
  canvas.dispatchEvent(new PointerEvent("pointerup", at(x)));
  return times;
}"""
PYVIS = """async ([kind, frames]) => {
  const shown = () => new Promise((done) => requestAnimationFrame(() => setTimeout(done)));
  let began = 0;
  const times = [];
  let spent = null;
  network.on("beforeDrawing", () => { began = performance.now(); });
  network.on("afterDrawing", () => { spent = performance.now() - began; });
  const { x, y } = network.getViewPosition();
  const scale = network.getScale();
  for (let i = 0; i < frames; i++) {
    const way = Math.min(i % 40, 40 - (i % 40));
    network.moveTo(kind === "pan"
      ? { position: { x: x + (way * 12) / scale, y }, scale }
      : { position: { x, y }, scale: scale * 1.25 ** way });
    await shown();
    times.push(spent);
    spent = null;
  }
  return times;
}"""


def high(times: list[float | None]) -> float:
    """The 95th percentile over one cycle, of each frame's shortest repetition."""
    cycles = np.array([np.nan if t is None else t for t in times]).reshape(CYCLES, CYCLE)
    painted = cycles[:, ~np.isnan(cycles).all(axis=0)]
    assert painted.shape[1] > CYCLE / 2, "the events did not repaint"
    return float(np.percentile(np.nanmin(painted, axis=0), SHARE))


def message(structure: Structure, picture: str) -> bytes:
    """The payload of one picture: 30 sessions, or scores of which few are high."""
    units = int(structure.stop.max())
    options: dict[str, Any] = {}
    if picture == "scores":
        raw = np.random.default_rng(0).exponential(size=len(structure)) ** 3
        initial = raw / raw.sum()
        top = np.argsort(-initial)[:10].tolist()
        options = {
            "initial": initial,
            "final": initial,
            "before": top,
            "after": top,
            "peaked": True,
            "live": Live(RetrievalSettings(policy="both")),
        }
    return pack(
        tree_message(
            structure,
            unit_sessions=[unit * 30 // units for unit in range(units)],
            session_labels=[f"S{i + 1}" for i in range(30)],
            identity="frames",
            selected=len(structure) - 2,  # with all that lies below it marked
            stage=480,
            **options,
        )
    )


def measured(page: Any, size: int, picture: str) -> tuple[int, dict[str, float]]:
    """Number of nodes, and the 95th percentile of panning and zooming."""
    structure = balanced(size)
    empty(page)
    mount(page, message(structure, picture))
    page.wait_for_timeout(500)
    times = {kind: page.evaluate(MOVES, [kind, CYCLE * CYCLES]) for kind in ("zoom", "pan")}
    return len(structure), {kind: high(found) for kind, found in times.items()}


def measured_pyvis(page: Any, size: int = PYVIS_NODES) -> dict[str, float]:
    """The same of a pyvis page."""
    structure = balanced(size)
    html, _ = node_link_html(
        structure,
        ["#557799"] * len(structure),
        background="#ffffff",
        foreground="#31333f",
        height=480,
        ramp=("#eeeeee", "#112255"),
        accent="#b43a09",
        selected=None,
    )
    page.set_content(html)
    page.wait_for_function("typeof network !== 'undefined'")
    page.wait_for_timeout(1500)
    return {kind: high(page.evaluate(PYVIS, [kind, CYCLE * CYCLES])) for kind in ("zoom", "pan")}


def main() -> None:
    print(f"{SHARE}th percentile of {CYCLE} frames, 1400 pixels wide, script time alone")
    lines = []
    with chromium() as browser:
        page = tab(browser, 700)
        other = measured_pyvis(page)
        for picture in ("sessions", "scores"):
            for size, budget in SIZES:
                nodes, found = measured(page, size, picture)
                lines += [
                    Line(
                        f"{kind}, {picture}",
                        nodes,
                        time,
                        "ms",
                        other[kind],
                        f"pyvis, {PYVIS_NODES:,} nodes",
                        budget,
                    )
                    for kind, time in found.items()
                ]
    show(lines)


if __name__ == "__main__":
    main()
