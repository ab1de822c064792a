"""Makes the pictures of the README: ``python .assets/make.py [NAME …]`` from the project's root.

``growth``   growth.webp: a tree growing step by step, then α moving on a question
``ask``      ask.png: the Ask page of the app; ``compare``  compare.png: the Compare page

Needs the test extra, Pillow, and a Chromium (SEGVIZ_CHROMIUM names one that is not found). The
frames of the animation are pages of ``segviz.show``, drawn by the canvas of the app.
"""

from __future__ import annotations

import io
import os
import shutil
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path
from typing import Any
from urllib.parse import urlencode

from PIL import Image
from playwright.sync_api import Page, sync_playwright

import segviz
from segviz.conversation import sample_texts

HERE = Path(__file__).parent
SAMPLE = HERE.parent / "sample_data" / "ines-theo.json"
QUESTION = 1
SETTING: dict[str, Any] = {"policy": "both", "horizon": 2}
SIZE = (1000, 560)
IDLE = '[data-testid="stApp"][data-test-script-state="notRunning"]'
STEPS = (*range(2, 40, 2), *range(40, 161, 5), 161)
ALPHAS = tuple(i / 20 for i in range(20))


def frame(page: Page, shown: segviz.notebook.Shown) -> Image.Image:
    """The heading and the canvas of a page, on a sheet of SIZE."""
    page.set_content(shown.html)
    page.wait_for_selector(".segviz[data-painted]", state="attached")
    page.wait_for_timeout(250)
    sheet = Image.new("RGB", SIZE, "white")
    top = 0
    for selector in ("h1", ".segviz"):
        taken = page.locator(selector).first.screenshot()
        part = Image.open(io.BytesIO(taken)).convert("RGB")
        sheet.paste(part, (20, top + 6))
        top += part.height + 10
    return sheet


def growth(page: Page) -> None:
    """The animation; frames are in milliseconds."""
    page.set_viewport_size({"width": SIZE[0], "height": 900})
    memory = segviz.build(segviz.load(SAMPLE)[0]).with_texts(sample_texts(SAMPLE.stem))
    frames = [(frame(page, segviz.show(memory, step=step)), 130) for step in STEPS]
    frames[-1] = (frames[-1][0], 1200)
    for alpha in ALPHAS:
        shown = segviz.show(memory, number=QUESTION, alpha=alpha, **SETTING)
        frames.append((frame(page, shown), 200 if 0 < alpha < ALPHAS[-1] else 1500))
    pictures, times = zip(*frames, strict=True)
    pictures[0].save(
        HERE / "growth.webp",
        save_all=True,
        append_images=pictures[1:],
        duration=list(times),
        loop=0,
        quality=70,
        method=6,
    )


def of_the_app(name: str, path: str, settings: dict[str, str]) -> Callable[[Page], None]:
    """Takes a picture of a page of the running app, at ``heading``."""

    def take(page: Page) -> None:
        command = [sys.executable, "-m", "segviz", "--no-browser"]
        with subprocess.Popen(command, stdout=subprocess.PIPE, text=True) as server:
            assert server.stdout is not None
            try:
                address = server.stdout.readline().split()[3]
                page.set_viewport_size({"width": 1400, "height": 1000})
                # The first run of a server knows its pages only when it ends; so the page comes
                # second.
                for url in (address, f"{address}/{path}?{urlencode(settings)}"):
                    page.goto(url)
                    page.wait_for_selector(".segviz[data-painted]", state="attached")
                    page.wait_for_selector(IDLE)
                    page.wait_for_timeout(3000)
                (HERE / name).write_bytes(page.screenshot())
                page.goto("about:blank")
            finally:  # or a failure would wait for the server for ever
                server.terminate()

    return take


PICTURES: dict[str, Callable[[Page], None]] = {
    "growth": growth,
    "ask": of_the_app("ask.png", "ask", {}),
    "compare": of_the_app("compare.png", "compare", {}),
}


def main() -> None:
    """Make the pictures that were asked for, or all."""
    path = os.environ.get("SEGVIZ_CHROMIUM") or shutil.which("chromium") or shutil.which("chrome")
    if path is None:
        sys.exit("no Chromium found; install one or set SEGVIZ_CHROMIUM")
    with sync_playwright() as playwright:
        browser = playwright.chromium.launch(
            executable_path=path, args=["--no-sandbox", "--disable-gpu"]
        )
        for name in sys.argv[1:] or PICTURES:
            PICTURES[name](browser.new_page(color_scheme="light"))
        browser.close()


if __name__ == "__main__":
    main()
