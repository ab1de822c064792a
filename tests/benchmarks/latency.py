"""From a change on the full Ask page to its answer on the screen: α, and a new question.

Run ``python -m tests.benchmarks.latency [CHANGES]`` from the project's root (default 25);
it needs Playwright and a Chromium (SEGVIZ_CHROMIUM names one that is not found). The app
runs as its users start it, in a tab of 1400 by 1000 pixels, on conv-47 (SEGVIZ_DATA or
../shared/data) and on a synthetic memory of about a thousand nodes. Each change is made
with the keyboard; a script in the page looks at every frame until the change can be seen.

========= ===============================================================================
shown     the canvas has the new α: what the browser paints by itself
settled   the canvas and its list of the evidence have Python's scores: the answer is there
page      nothing on the page is still being computed
server    processor time of the app, which a busy machine does not stretch
browser   processor time of the page's main thread, likewise
message   bytes that came over the wire
========= ===============================================================================

Nothing is asserted: times belong to a machine.
"""

import tempfile
from collections.abc import Callable
from contextlib import suppress
from pathlib import Path
from typing import Any
from urllib.parse import urlencode

import numpy as np

import segviz
from tests.benchmarks.report import chromium, numbers, real_data, table, worked
from tests.benchmarks.synthetic import conversation
from tests.serving import start

IDLE = '[data-testid="stApp"][data-test-script-state="notRunning"]'
BUDGET = 300
TURNS = 1_550
"""Of the synthetic conversation: about a thousand nodes."""

WATCH = """() => {
  const found = (query, root = document) => {
    const here = root.querySelector(query);
    if (here) return here;
    for (const host of root.querySelectorAll("*")) {
      const inside = host.shadowRoot && found(query, host.shadowRoot);
      if (inside) return inside;
    }
    return null;
  };
  // Looked for again only where it has gone: the search itself costs time.
  let kept = null;
  const tree = () => {
    if (!kept?.isConnected) kept = found(".segviz", document.querySelector(".st-key-ask-tree"));
    return kept;
  };
  const idle = () => document.querySelector('[data-testid="stApp"]').dataset.testScriptState;
  window.watch = (kind) => {
    const before = { alpha: tree().dataset.alpha, top: tree().dataset.top,
      painted: tree().dataset.painted };
    const seen = { began: null, shown: null, settled: null, page: null };
    let ran = false;
    window.addEventListener("keydown", () => { seen.began ??= performance.now(); },
      { capture: true, once: true });
    const look = (now) => {
      if (seen.began !== null) {
        const { alpha, top, settled, painted } = tree()?.dataset ?? {};
        const mark = (name, yes) => {
          if (yes && seen[name] === null) seen[name] = now - seen.began;
        };
        const changed = kind === "alpha" ? alpha !== before.alpha
          : top !== before.top && painted !== before.painted;
        mark("shown", changed);
        mark("settled", changed && settled === "true");
        ran ||= idle() !== "notRunning";
        mark("page", seen.settled !== null && ran && idle() === "notRunning");
        if (seen.page !== null || now - seen.began > 5000) {
          window.seen = seen;
          return;
        }
      }
      requestAnimationFrame(look);
    };
    window.seen = null;
    requestAnimationFrame(look);
  };
}"""


def memories(folder: Path) -> dict[str, dict[str, str]]:
    """What is opened, as the parameters of a link, by what it is called."""
    found: dict[str, dict[str, str]] = {}
    real = real_data("locomo", "locomo5.json")
    if real.is_file():
        found["conv-47"] = {"path": str(real), "conversation": "conv-47", "question": "114"}
    memory = segviz.build(conversation(TURNS))
    saved = folder / "synthetic.json.gz"
    memory.save(saved)
    text = "What did Nora say about the tomatoes?"
    found[f"synthetic, {len(memory.structure)} nodes"] = {"path": str(saved), "text": text}
    return found


def settle(page: Any) -> None:
    """Wait until the script has run."""
    for _ in range(3):
        page.wait_for_selector(IDLE, timeout=120_000)
        page.wait_for_timeout(150)


def slider(page: Any) -> Callable[[int], None]:
    """Moves α by the keyboard, six steps up and six down."""
    alpha = page.locator(".st-key-ask-tree input.alpha")

    def slide(number: int) -> None:
        alpha.focus()
        alpha.press("PageUp" if number % 12 < 6 else "PageDown")

    return slide


class Wire:
    """Counts what the server sends over the page's socket."""

    def __init__(self, page: Any) -> None:
        self.received = 0
        page.on("websocket", lambda socket: socket.on("framereceived", self._frame))

    def _frame(self, payload: Any) -> None:
        self.received += len(payload)


class Processor:
    """Milliseconds that the app and the page's main thread have worked."""

    def __init__(self, page: Any, server: int) -> None:
        self.session = page.context.new_cdp_session(page)
        self.session.send("Performance.enable", {"timeDomain": "threadTicks"})
        self.server = server

    def __call__(self) -> dict[str, float]:
        metrics = self.session.send("Performance.getMetrics")["metrics"]
        spent = {metric["name"]: 1000 * metric["value"] for metric in metrics}
        found = {"browser": spent["TaskDuration"]}
        with suppress(FileNotFoundError):  # Linux alone tells
            found["server"] = 1000 * worked(self.server)
        return found


def changes(
    page: Any, wire: Wire, processor: Processor, count: int, kind: str, act: Any
) -> list[dict[str, float]]:
    """Make ``count`` changes and time each."""
    times = []
    for number in range(count):
        settle(page)
        before, worked = wire.received, processor()
        page.evaluate("(kind) => watch(kind)", kind)
        act(number)
        page.wait_for_function("window.seen !== null", timeout=20_000)
        seen = page.evaluate("window.seen")
        settle(page)
        spent = {name: now - worked[name] for name, now in processor().items()}
        if seen["settled"] is not None:
            times.append(seen | spent | {"message": wire.received - before})
    return times


def report(name: str, times: list[dict[str, float]]) -> None:
    """A table with a row for each point that was reached."""
    rows = []
    for point in ("shown", "settled", "page"):
        values = [seen[point] for seen in times if seen[point] is not None]
        if not values:
            continue
        p50, p95 = np.percentile(values, [50, 95])
        budget = f"{BUDGET} ms" if point == "settled" else ""
        rows.append((point, f"{p50:.0f} ms", f"{p95:.0f} ms", budget))
    for part in ("server", "browser"):
        spent = [seen[part] for seen in times if part in seen]
        if spent:
            rows.append((f"{part}, processor", f"{np.median(spent):.0f} ms", "", ""))
    if times:
        size = np.median([seen["message"] for seen in times])
        rows.append(("message", f"{size / 1000:.0f} kB", "", ""))
    print(f"\n{name}, {len(times)} times:\n\n{table(('', '>p50', '>p95', '>budget'), rows)}")


def main() -> None:
    (count,) = numbers(25)
    with tempfile.TemporaryDirectory() as folder, chromium() as browser:
        opened = memories(Path(folder))
        process, address = start()
        try:
            for name, link in opened.items():
                page = browser.new_page(viewport={"width": 1400, "height": 1000})
                wire, processor = Wire(page), Processor(page, process.pid)
                page.goto(f"{address}/ask?{urlencode(link)}")
                settle(page)
                page.evaluate(WATCH)
                total = page.locator(".st-key-ask-tree .segviz").get_attribute("data-total")
                print(f"\n{name}: {total} nodes")
                slides = changes(page, wire, processor, count, "alpha", slider(page))
                report("α by keyboard", slides)
                settle(page)
                asked = page.locator(".st-key-asking [data-testid=stSelectbox] input").first

                def type_question(number: int, asked: Any = asked) -> None:
                    asked.fill(f"What about the {WORDS[number % len(WORDS)]} ({number})?")
                    asked.press("Enter")

                type_question(0)
                report(
                    "a new question",
                    changes(page, wire, processor, count, "question", type_question),
                )
                page.close()
        finally:
            process.terminate()
            process.wait(20)


WORDS = "garden music bread sailing work travel health school painting football dogs".split()


if __name__ == "__main__":
    main()
