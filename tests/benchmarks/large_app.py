"""The app on very large input, in a real browser: what each action takes, and peak memory.

Run ``python -m tests.benchmarks.large_app [turns|turn|file …] [--turns N] [--unit RULE]`` from
the project's root; it needs Playwright and a Chromium (SEGVIZ_CHROMIUM names one that is not
found). Three files are made up in a temporary folder, each opened by its path in a server of
its own:

``turns``  one conversation of 100,000 turns
``turn``   one turn of 5 MB among three hundred
``file``   280 MB of instances as in ``tests.benchmarks.large``

Times run from the click to the painted answer. The pictures stay in the folder named at the
end. Targets: the first instance of 280 MB within 5 s and 600 MB; 100,000 turns stay usable,
with a few seconds per click.
"""

from __future__ import annotations

import argparse
import os
import sys
import tempfile
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field, replace
from pathlib import Path
from time import monotonic, sleep
from typing import Any

from segviz.cli.serve import Server, free_port
from segviz.conversation import Question
from segviz.export import locomo_json
from tests.benchmarks import large, synthetic
from tests.benchmarks.latency import IDLE
from tests.benchmarks.report import chromium, resident, worked

SHOWN = ((1400, "light"), (1400, "dark"), (1024, "light"), (1024, "dark"))
WAIT = 1_800_000


def write(path: Path, count: int, characters: int = 0) -> None:
    """One conversation of ``count`` turns with two questions; the turn in its middle has so
    many ``characters`` where any are given."""
    made = synthetic.conversation(count)
    middle, last = made.turns[count // 2].id, made.turns[-1].id
    words = " ".join(turn.text for turn in made.turns[:1000])
    long = (words * (characters // len(words) + 1))[:characters]
    sessions = tuple(
        replace(
            session,
            turns=tuple(
                replace(turn, text=long) if long and turn.id == middle else turn
                for turn in session.turns
            ),
        )
        for session in made.sessions
    )
    asked = (
        Question(0, "Who told Ada about the telescope?", "Mei", 1, (middle, last)),
        Question(1, "What happened to the boiler in Lisbon?", "It broke", 4, (last,)),
    )
    path.write_text(locomo_json([replace(made, sessions=sessions, questions=asked)]))


@contextmanager
def serving() -> Iterator[Server]:
    """The app as its users start it."""
    environment = {k: v for k, v in os.environ.items() if k != "SEGVIZ_FILE"}
    server = Server("127.0.0.1", free_port("127.0.0.1", 8850), environment)
    try:
        if not server.wait_until_ready():
            sys.exit("the app did not start")
        yield server
    finally:
        server.process.terminate()
        server.process.wait(20)


@dataclass
class Visit:
    """A browser tab; every action is timed, and sizes of what it was sent are noted."""

    page: Any
    server: Server
    folder: Path
    name: str
    received: int = 0
    faults: list[str] = field(default_factory=list)

    def __post_init__(self) -> None:
        """Listen."""
        self.page.set_default_timeout(WAIT)
        self.page.on("pageerror", lambda error: self.faults.append(str(error)))
        self.page.on("websocket", self._listen)

    def _listen(self, socket: Any) -> None:
        def note(frame: Any) -> None:
            self.received += len(frame)

        socket.on("framereceived", note)

    def timed(self, what: str, act: Callable[[], object], until: Callable[[], object]) -> None:
        """Print how long it takes from ``act`` until ``until`` returns and the page rests."""
        self.received, pid = 0, self.server.process.pid
        began, before = monotonic(), worked(pid)
        act()
        until()
        seen = monotonic() - began
        self.rest()
        done = monotonic() - began - 0.15
        print(
            f"  {what:<38}{seen:7.2f} s seen {done:7.2f} s at rest"
            f"{worked(pid) - before:7.2f} s of the server's processor"
            f"{self.received / 1e6:7.2f} MB sent, holds {resident(pid):5.0f} MB",
            flush=True,
        )

    def rest(self) -> None:
        """Until the script has ended and not begun again."""
        for _ in range(2):
            self.page.wait_for_selector(IDLE)
            self.page.wait_for_timeout(75)

    def tree(self, key: str, name: str) -> str:
        """A data attribute of a canvas."""
        return self.page.locator(f".st-key-{key} .segviz").get_attribute(f"data-{name}") or ""

    def until(self, key: str, test: Callable[[Callable[[str], str]], bool]) -> None:
        """Wait until the attributes of a canvas are as wished."""
        self.page.locator(f".st-key-{key} .segviz[data-painted]").wait_for()
        end = monotonic() + WAIT / 1000
        while not test(lambda name: self.tree(key, name)):
            if monotonic() > end:
                sys.exit(f"{self.name}: {key} never came to be as expected")
            sleep(0.02)

    def drawn(self, key: str) -> None:
        """Say what the canvas says of itself."""
        label = self.page.locator(f".st-key-{key} .segviz .unseen").first.get_attribute(
            "aria-label"
        )
        print(
            f"  {key}: {self.tree(key, 'nodes')} boxes drawn in {self.tree(key, 'draw-ms')} ms,"
            f" taken in {self.tree(key, 'load-ms')} ms; {label}"
        )

    def picture(self, what: str) -> None:
        """The whole page, wide and narrow, light and dark."""
        for width, scheme in SHOWN:
            self.page.emulate_media(color_scheme=scheme)
            self.page.set_viewport_size({"width": width, "height": 1000})
            self.rest()
            height = self.page.evaluate(
                "document.querySelector('[data-testid=\"stMainBlockContainer\"]').scrollHeight"
            )
            self.page.set_viewport_size({"width": width, "height": min(height + 80, 4000)})
            self.rest()
            self.page.wait_for_timeout(300)
            self.page.screenshot(path=self.folder / f"{self.name}-{what}-{width}-{scheme}.png")
        self.page.emulate_media(color_scheme="light")
        self.page.set_viewport_size({"width": 1400, "height": 1000})
        self.rest()

    def button(self, key: str) -> Any:
        """A keyed button."""
        return self.page.locator(f".st-key-{key} button:visible").first


def grow(visit: Visit, path: Path, unit: str) -> None:
    """Open by path, build if it must be asked for, walk about on Grow."""
    page = visit.page
    link = f"{visit.server.url}/?path={path}" + ("" if unit == "exchange" else f"&unit={unit}")
    canvas = page.locator(".st-key-grow-tree .segviz[data-painted]")
    build = page.locator(".st-key-build button")
    sample = page.locator(".st-key-grow-tree .segviz[data-painted]")
    visit.timed("the sample, server cold", lambda: page.goto(visit.server.url), sample.wait_for)
    visit.timed("open by path", lambda: page.goto(link), canvas.or_(build).first.wait_for)
    print(f"  peak so far {resident(visit.server.process.pid, 'VmHWM'):.0f} MB")
    if build.count():
        visit.timed("build", build.click, canvas.wait_for)
    visit.drawn("grow-tree")
    last = int(visit.tree("grow-tree", "step"))

    def at(step: int) -> Callable[[], None]:
        return lambda: visit.until("grow-tree", lambda has: has("step") == str(step))

    visit.timed("one step back", visit.button("go-chevron_left").click, at(last - 1))
    visit.timed("first step", visit.button("go-skip_previous").click, at(1))
    visit.timed("last step", visit.button("go-skip_next").click, at(last))
    click(visit, "grow-tree")
    for tab in ("Above and below", "Similar", "History", "Text"):
        visit.timed(
            f"tab {tab}",
            page.get_by_role("tab", name=tab, exact=True).click,
            page.locator(f'[role=tab][aria-selected=true]:has-text("{tab}")').wait_for,
        )
    visit.picture("grow")
    visit.timed("clear selection", visit.button("clear-selection").click, at(last))
    visit.picture("grow-transcript")
    panel = page.locator(".st-key-shape-panel summary")
    visit.timed(
        "shape and cost",
        panel.click,
        page.locator(".st-key-shape-panel table, .st-key-shape-panel canvas").first.wait_for,
    )
    visit.timed("shape and cost, closed", panel.click, lambda: None)
    visit.timed(
        "export menu", visit.button("exports").click, page.get_by_text("Link to this view").wait_for
    )
    page.keyboard.press("Escape")
    node_link(visit)


def node_link(visit: Visit) -> None:
    """The other view and back."""
    page = visit.page
    visit.timed(
        "node-link view",
        page.get_by_text("Node-link", exact=True).click,
        page.frame_locator("iframe").first.locator("canvas").wait_for,
    )
    visit.timed(
        "time axis again",
        page.get_by_text("Time axis", exact=True).click,
        page.locator(".segviz[data-painted]").first.wait_for,
    )


def click(visit: Visit, key: str) -> None:
    """Select what lies left of the drawing's middle, as low as there is a node."""
    canvas = visit.page.locator(f".st-key-{key} canvas.over")
    box = canvas.bounding_box()
    x, y = box["width"] * 0.43, box["height"]
    while not visit.tree(key, "hover") and y > 20:
        y -= 10
        canvas.hover(position={"x": x, "y": y})
        visit.page.wait_for_timeout(100)
    visit.timed(
        "click on a node",
        lambda: canvas.click(position={"x": x, "y": y}),
        visit.page.locator(".st-key-clear-selection").first.wait_for,
    )
    print(f"  selected: node {visit.tree(key, 'selected')}")


def ask(visit: Visit) -> None:
    """Ask: a data set's question or one's own, then move a slider."""
    page = visit.page

    def answered() -> None:
        page.locator(".st-key-ask-tree .evidence .entry").first.wait_for()
        visit.until("ask-tree", lambda has: has("settled") == "true")

    visit.timed("page Ask", page.get_by_role("link", name="Ask").first.click, answered)
    visit.drawn("ask-tree")
    alpha = page.locator(".st-key-ask-tree input.alpha")

    def moved() -> None:
        alpha.focus()
        alpha.press("ArrowRight")

    for _ in range(2):
        before = visit.tree("ask-tree", "alpha")
        visit.timed(
            "α one step",
            moved,
            lambda before=before: visit.until(
                "ask-tree", lambda has: has("alpha") != before and has("settled") == "true"
            ),
        )
    print(f"  a frame of the drag: {visit.tree('ask-tree', 'draw-ms')} ms")

    def more() -> None:
        page.locator(".st-key-setting-k-0 input").first.click()
        page.get_by_role("option", name="K 11", exact=True).click()

    shown = page.locator(".st-key-ask-tree .evidence li:not(.out)")
    visit.timed("K + 1", more, shown.nth(10).wait_for)
    visit.picture("ask")
    entry = page.locator(".st-key-ask-tree .evidence .entry").first
    node = entry.get_attribute("data-node")
    visit.timed(
        "pick evidence",
        entry.click,
        lambda: visit.until("ask-tree", lambda has: has("selected") == node),
    )
    box = page.locator(".st-key-asking [data-testid=stSelectbox] input").first

    def typed() -> None:
        box.fill("What was better in March?")
        box.press("Enter")

    visit.timed("own question", typed, answered)
    visit.picture("ask-own")


def others(visit: Visit) -> None:
    """The other pages open."""
    for page in ("Sweep", "Compare", "Guide"):
        visit.timed(
            f"page {page}",
            visit.page.get_by_role("link", name=page).first.click,
            lambda page=page: visit.page.wait_for_url(f"**/{page.lower()}**"),
        )
        visit.picture(page.lower())


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    kinds = ("turns", "turn", "file")
    parser.add_argument("kinds", nargs="*", metavar="KIND", help=", ".join(kinds))
    parser.add_argument("--turns", type=int, default=100_000)
    parser.add_argument("--characters", type=int, default=5_000_000)
    parser.add_argument("--megabytes", type=int, default=280)
    parser.add_argument("--unit", default="exchange", help="rule of the leaves")
    given = parser.parse_args()
    pictures = Path(tempfile.mkdtemp(prefix="segviz-large-"))
    with tempfile.TemporaryDirectory() as folder, chromium() as browser:
        for kind in given.kinds or kinds:
            path = Path(folder) / f"{kind}.json"
            if kind == "turns":
                write(path, given.turns)
            elif kind == "turn":
                write(path, 300, given.characters)
            else:
                large.write(path, given.megabytes * 1024**2)
            print(f"\n{kind}: {path.stat().st_size / 1024**2:.1f} MB")
            with serving() as server:
                context = browser.new_context(viewport={"width": 1400, "height": 1000})
                visit = Visit(context.new_page(), server, pictures, kind)
                grow(visit, path, given.unit)
                ask(visit)
                others(visit)
                peak = resident(server.process.pid, "VmHWM")
                print(f"  peak {peak:.0f} MB, script errors {visit.faults}")
                context.close()
    print(f"\npictures: {pictures}")


if __name__ == "__main__":
    main()
