"""Many browser sessions at once: no cross-talk, no error, memory that stays flat.

Run ``python -m tests.benchmarks.sessions [SESSIONS [SECONDS]]`` from the project's root
(default 20 and 120). Every session types a conversation with a mark of its own, then steps,
plays and asks at random. A mark of another session on the page, a script error or a server
error counts; so does the server's memory after the first round. Needs Chromium.
"""

from __future__ import annotations

import os
import random
import subprocess
import sys
import time
from contextlib import suppress
from pathlib import Path

from playwright.sync_api import Page, sync_playwright
from playwright.sync_api import TimeoutError as NotClickable

from tests.benchmarks.report import chromium
from tests.conftest import LAUNCH

ROOT = Path(__file__).resolve().parents[2]
IDLE = '[data-testid="stApp"][data-test-script-state="notRunning"]'


def resident(pid: int) -> float:
    """Resident memory of a process in MB."""
    for line in Path(f"/proc/{pid}/status").read_text().splitlines():
        if line.startswith("VmRSS"):
            return int(line.split()[1]) / 1024
    return float("nan")


def start() -> tuple[subprocess.Popen[str], str]:
    """The app as its users start it, and its address."""
    process = subprocess.Popen(
        [sys.executable, "-m", "streamlit", "run", "app.py", "--server.port", "8790"],
        cwd=ROOT,
        env={**os.environ, "PYTHONPATH": str(ROOT)},
        stdout=subprocess.DEVNULL,
        stderr=subprocess.PIPE,
        text=True,
    )
    return process, "http://127.0.0.1:8790"


def settle(page: Page) -> None:
    """Wait until the script has run."""
    page.wait_for_selector(IDLE, timeout=120_000)
    page.wait_for_timeout(50)


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


def act(page: Page, chance: random.Random) -> None:
    """One thing a user might do on Grow."""
    key = chance.choice(["go-chevron_left", "go-skip_previous", "go-skip_next", "play", "play"])
    button = page.locator(f".st-key-{key} button").first
    with suppress(NotClickable):  # disabled, or being drawn again just then
        button.click(timeout=300)


def main() -> int:
    """Run the sessions and print what was seen."""
    given = [int(argument) for argument in sys.argv[1:3]]
    count, seconds = [*given, *(20, 120)[len(given) :]]
    process, address = start()
    faults: list[str] = []
    memory: list[float] = []
    chance = random.Random(0)
    try:
        with sync_playwright() as playwright:
            browser = playwright.chromium.launch(executable_path=chromium(), args=LAUNCH)
            pages = []
            for number in range(count):
                page = browser.new_context().new_page()
                page.on("pageerror", lambda error, n=number: faults.append(f"{n}: {error}"))
                for _ in range(100):
                    try:
                        page.goto(address)
                        break
                    except Exception:
                        time.sleep(0.3)
                settle(page)
                page.get_by_text("Paste", exact=True).click()
                settle(page)
                page.locator(".st-key-paste textarea").fill(conversation(number))
                page.locator(".st-key-paste textarea").press("Control+Enter")
                settle(page)
                pages.append(page)
            memory.append(resident(process.pid))
            end, rounds = time.monotonic() + seconds, 0
            while time.monotonic() < end:
                for page in pages:
                    act(page, chance)
                for number, page in enumerate(pages):
                    page.wait_for_timeout(20)
                    text = page.locator('[data-testid="stApp"]').inner_text()
                    others = [n for n in range(count) if n != number and mark(n) in text]
                    if others:
                        faults.append(f"{number} shows the words of {others}")
                    if "Traceback" in text:
                        faults.append(f"{number} shows a traceback")
                rounds += 1
                memory.append(resident(process.pid))
            browser.close()
    finally:
        process.terminate()
        errors = (process.communicate()[1] or "").count("Traceback")
    first, last = memory[1] if len(memory) > 1 else memory[0], memory[-1]
    print(f"{count} sessions, {rounds} rounds in {seconds} s")
    print(f"faults: {len(faults)}, tracebacks in the server's log: {errors}")
    for fault in faults[:10]:
        print("  ", fault)
    print(
        f"server memory: {memory[0]:.0f} MB when all were open, {first:.0f} MB after the first "
        f"round, {last:.0f} MB at the end ({last / first:.2f} times)"
    )
    return bool(faults or errors)


if __name__ == "__main__":
    sys.exit(main())
