"""What a change on Ask costs: the functions of segviz that a rerun enters.

Run ``python -m tests.benchmarks.rerun [--names]`` from the project's root; it needs Playwright and
a Chromium (SEGVIZ_CHROMIUM names one that is not found). This process serves the app, and a
browser opens Ask on the bundled sample. There α is dragged in the header of the canvas and comes
to rest, and then R is pressed, which runs the app again with nothing changed.

Functions, methods and properties of the package are counted, each once however often it is called.
Lambdas, comprehensions and generator expressions belong to the function around them. Each action
happens twice and the second is counted, without what only a first one computes.
``--names`` prints each function with its number of calls.
"""

import sys
import threading
import time
from collections import Counter
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path
from types import FrameType
from typing import Any

import uvicorn
from streamlit import App

import segviz
from segviz.ui.security import RIM
from tests.benchmarks.latency import settle
from tests.benchmarks.report import chromium, table
from tests.data import ROOT
from tests.serving import free_port

PACKAGE = Path(segviz.__file__).parent


def counter(calls: Counter[tuple[str, str]]) -> Callable[[FrameType, str, Any], None]:
    """A profile function that counts calls by file and name of the function."""
    folder = str(PACKAGE)

    def count(frame: FrameType, event: str, _: Any) -> None:
        code = frame.f_code
        if event == "call" and code.co_filename.startswith(folder) and code.co_name[0] != "<":
            calls[code.co_filename, code.co_qualname] += 1

    return count


@contextmanager
def served() -> Iterator[str]:
    """Serves the app from a thread of this process and gives its address."""
    port = free_port()
    app = App(ROOT / "app.py", **RIM)
    server = uvicorn.Server(uvicorn.Config(app, port=port, log_config=None))
    thread = threading.Thread(target=server.run, daemon=True)
    thread.start()
    while not server.started:
        time.sleep(0.1)
    yield f"http://127.0.0.1:{port}"
    server.should_exit = True
    thread.join(10)


def drag(page: Any) -> None:
    """Drags α to the right from where it is, and lets it go."""
    slider = page.locator(".st-key-ask-tree input.alpha")
    box, share = slider.bounding_box(), slider.evaluate("it => it.value / it.max")
    x, y = box["x"] + share * box["width"], box["y"] + box["height"] / 2
    page.mouse.move(x, y)
    page.mouse.down()
    page.mouse.move(x + 12, y)  # at once: on a busy machine a slow drag rests on its way
    page.mouse.up()


def again(page: Any) -> None:
    """Runs the app with nothing changed."""
    page.mouse.click(2, 2)  # out of the canvas, which has keys of its own
    page.keyboard.press("r")


def main() -> None:
    calls: Counter[tuple[str, str]] = Counter()
    rows = []
    with served() as address, chromium() as browser:
        threading.setprofile(counter(calls))  # every run of the script is a new thread
        page = browser.new_page(viewport={"width": 1400, "height": 1000})
        page.goto(f"{address}/ask")
        page.locator(".st-key-ask-tree input.alpha").wait_for(timeout=120_000)
        for name, act, most in (("α moved", drag, (200, 45)), ("nothing changed", again, (120, 0))):
            for _ in range(2):
                page.wait_for_timeout(1000)
                settle(page)
                calls.clear()
                act(page)
                page.wait_for_timeout(1000)
                settle(page)
            modules = {file for file, _ in calls}
            settings = calls[str(PACKAGE / "ui" / "settings.py"), "read_settings"]
            counts = len(calls), most[0], len(modules), most[1] or "", sum(calls.values()), settings
            rows.append((name, *(f"{n:,}" if isinstance(n, int) else n for n in counts)))
            if "--names" in sys.argv:
                for (file, function), n in sorted(calls.items()):
                    print(f"{n:>8,} {Path(file).relative_to(PACKAGE)} {function}")
    head = ("", ">functions", ">at most", ">modules", ">at most", ">calls", ">read_settings")
    print(table(head, rows))


if __name__ == "__main__":
    main()
