"""Many browser sessions at once: no cross-talk, no error, memory that stays flat, no long waits.

Run ``python -m tests.benchmarks.sessions [SESSIONS [SECONDS]]`` from the project's root
(default 20 and 600). Every session types a conversation with a mark of its own; a third of them
step and play, a third ask, a third build other systems. A mark of another session on the page, a
script error or a server error counts; so does the server's memory in the second half of the time.
Before that the sessions rest, and one of them asks by itself, then beside a visitor who sweeps all
settings over and over (conv-47 from SEGVIZ_DATA, else the sample). Needs Chromium.
"""

import random
import subprocess
import sys
import time
from collections.abc import Callable
from contextlib import suppress
from urllib.parse import urlencode

import numpy as np
from playwright.sync_api import BrowserContext, Page
from playwright.sync_api import TimeoutError as NotClickable

from tests.benchmarks.latency import IDLE, WATCH, WORDS, Processor, Wire, changes, settle, slider
from tests.benchmarks.report import chromium, numbers, real_data, resident, table
from tests.serving import start


def mark(number: int) -> str:
    """A word only this session says."""
    return f"zebra{number:03d}qx"


def conversation(number: int, turns: int = 60) -> str:
    """Pasted text whose every turn holds the session's mark."""
    topics = ("the boat", "a bakery", "the thesis", "an allotment", "the choir")
    return "\n".join(
        f"{'Ada' if i % 2 else 'Ben'}: {mark(number)} says {i} about {topics[i // 12]}"
        for i in range(turns)
    )


def paste(page: Page, address: str, number: int) -> None:
    """Opens the app and pastes the session's own conversation, which is built."""
    page.goto(address)
    settle(page)
    page.locator(".st-key-memory-panel summary").first.click()
    page.get_by_text("Paste", exact=True).click()
    settle(page)
    page.locator(".st-key-paste textarea").fill(conversation(number))
    page.locator(".st-key-paste textarea").press("Control+Enter")
    settle(page)


def ask(page: Page, words: str) -> None:
    """Asks a question of one's own on Ask, and waits for the evidence."""
    page.get_by_role("link", name="Ask").first.click()
    settle(page)
    asked = page.get_by_role("combobox", name="Question")
    asked.fill(words)
    asked.press("Enter")
    settle(page)


def act(page: Page, number: int, chance: random.Random) -> bool:
    """Does one thing a user of this session's kind might do; returns whether it was to be had."""
    with suppress(NotClickable):  # disabled, or being drawn again just then
        if number % 3 == 0:
            key = chance.choice(["go-chevron_left", "go-skip_previous", "go-skip_next", "play"])
            page.locator(f".st-key-{key} button").first.click(timeout=300)
        elif number % 3 == 1:
            asked = page.get_by_role("combobox", name="Question")
            asked.fill(f"{mark(number)} and the {chance.choice(WORDS)}?", timeout=300)
            asked.press("Enter", timeout=300)
        else:
            box = page.locator(".st-key-system [role=combobox], .st-key-system input").first
            box.click(timeout=300)
            chance.choice(page.get_by_role("option").all()).click(timeout=300)
        return True
    return False


def waits(context: BrowserContext, address: str, pid: int) -> tuple[list[float], list[float]]:
    """Milliseconds from a change of α to its evidence: alone, and beside a sweep."""
    real = real_data("locomo", "locomo5.json")
    link = {"path": str(real), "conversation": "conv-47"} if real.is_file() else {}
    heavy, light = context.new_page(), context.new_page()
    wire, processor = Wire(light), Processor(light, pid)
    for page, name in ((light, "ask"), (heavy, "sweep")):
        page.goto(f"{address}/{name}?{urlencode(link if page is heavy else {'question': 0})}")
        settle(page)
    light.evaluate(WATCH)
    slide = slider(light)

    def slide_beside(number: int) -> None:
        if heavy.locator(IDLE).count():  # the last sweep has ended, or none has begun
            heavy.locator(".st-key-sweep-k input[type=range]").press("ArrowRight")
            heavy.wait_for_timeout(400)
            with suppress(NotClickable):
                heavy.locator(".st-key-run-sweep button").click(timeout=1500)
            heavy.wait_for_timeout(600)
        slide(number)

    def settled(slide: Callable[[int], None]) -> list[float]:
        return [seen["settled"] for seen in changes(light, wire, processor, 24, "alpha", slide)]

    found = settled(slide), settled(slide_beside)
    heavy.close()
    light.close()
    return found


def main() -> int:
    """Runs the sessions and prints what was seen."""
    count, seconds = numbers(20, 600)
    process, address = start(subprocess.PIPE)
    faults: list[str] = []
    memory: list[float] = []
    chance = random.Random(0)
    try:
        with chromium() as browser:
            pages = []
            for number in range(count):
                page = browser.new_context().new_page()
                page.on("pageerror", lambda error, n=number: faults.append(f"{n}: {error}"))
                paste(page, address, number)
                if number % 3 == 2:
                    page.locator(".st-key-built-as summary").first.click()
                    settle(page)
                if number % 3 == 1:
                    ask(page, f"{mark(number)}?")
                pages.append(page)
            alone, beside = waits(browser.new_context(), address, process.pid)
            end, rounds, acts = time.monotonic() + seconds, 0, [0, 0, 0]
            while time.monotonic() < end:
                for number, page in enumerate(pages):
                    acts[number % 3] += act(page, number, chance)
                for number, page in enumerate(pages):
                    page.wait_for_timeout(20)
                    text = page.locator('[data-testid="stApp"]').inner_text()
                    others = [n for n in range(count) if n != number and mark(n) in text]
                    if others:
                        faults.append(f"{number} shows the words of {others}")
                    if "Traceback" in text or page.get_by_test_id("stException").count():
                        faults.append(f"{number} shows a traceback")
                rounds += 1
                memory.append(resident(process.pid))
    finally:
        process.terminate()
        errors = (process.communicate()[1] or b"").count(b"Traceback")
    quarters = [np.mean(part) for part in np.array_split(memory, 4)]
    ratio = np.median(beside) / np.median(alone)
    rows = [
        ("sessions, rounds of acts", f"{count}, {rounds} in {seconds} s"),
        ("steps, questions, systems", ", ".join(map(str, acts))),
        ("faults on pages, tracebacks in the log", f"{len(faults)}, {errors}"),
        ("server memory by quarters", ", ".join(f"{part:.0f}" for part in quarters) + " MB"),
        ("from α to its evidence, alone", "{:.0f} ms, {:.0f} at most".format(*middle(alone))),
        ("beside a sweep", "{:.0f} ms, {:.0f} at most".format(*middle(beside))),
        ("ratio of the medians", f"{ratio:.2f}"),
    ]
    print(table(("", ">measured"), rows))
    for fault in faults[:10]:
        print("  ", fault)
    return bool(faults or errors)


def middle(times: list[float]) -> tuple[float, float]:
    """Median and maximum."""
    return float(np.median(times)), max(times)


if __name__ == "__main__":
    sys.exit(main())
