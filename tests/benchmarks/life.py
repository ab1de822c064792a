"""Memory over a long life: 500 page loads, then 50 sessions that build, and what stays of them.

Run ``python -m tests.benchmarks.life [LOADS [SESSIONS]]`` from the project's root. A load is a
visitor's first run, over the websocket the page would open; a session pastes a conversation
nobody else has, builds it, asks it and leaves (Chromium). Streamlit keeps a session that left for
two minutes, lest a reload lose it, and at most 128 of them; so memory is read after these have
gone, and a leak is what grows from one half of the loads to the next.
"""

from __future__ import annotations

import asyncio
import subprocess
import sys
import time

from playwright.sync_api import sync_playwright
from streamlit.proto.BackMsg_pb2 import BackMsg
from streamlit.proto.ForwardMsg_pb2 import ForwardMsg
from tornado.websocket import websocket_connect

from tests.benchmarks.latency import start
from tests.benchmarks.report import chromium, table
from tests.benchmarks.sessions import paste, resident
from tests.conftest import LAUNCH

KEPT_SECONDS = 125
"""After so long Streamlit has forgotten a session that left."""


async def load(address: str) -> None:
    """One visitor: the script runs once, and the connection closes."""
    socket = await websocket_connect(
        f"ws{address.removeprefix('http')}/_stcore/stream", subprotocols=["streamlit"]
    )
    asked = BackMsg()
    asked.rerun_script.query_string = ""
    await socket.write_message(asked.SerializeToString(), binary=True)
    while (message := await socket.read_message()) is not None:
        if ForwardMsg.FromString(message).HasField("script_finished"):
            break
    socket.close()


def loads(address: str, count: int) -> None:
    """So many visitors, one after the other."""

    async def all_of_them() -> None:
        for _ in range(count):
            await load(address)

    asyncio.run(all_of_them())


def sessions(address: str, first: int, count: int) -> None:
    """Visitors with conversations of their own, each in a fresh browser profile."""
    with sync_playwright() as playwright:
        browser = playwright.chromium.launch(executable_path=chromium(), args=LAUNCH)
        for number in range(first, first + count):
            context = browser.new_context()
            paste(context.new_page(), address, number)
            context.close()
        browser.close()


def main() -> int:
    given = [int(argument) for argument in sys.argv[1:3]]
    count, visitors = [*given, *(500, 50)[len(given) :]]
    process, address = start(subprocess.PIPE)
    rows: list[tuple[str, ...]] = []

    def note(what: str, began: float) -> None:
        at_once = resident(process.pid)
        time.sleep(KEPT_SECONDS)
        loads(address, 2)  # when one leaves, those that are over are dropped
        time.sleep(3)
        row = what, f"{time.monotonic() - began - KEPT_SECONDS:.0f}", f"{at_once:.0f}"
        rows.append((*row, f"{resident(process.pid):.0f}"))
        print(rows[-1], file=sys.stderr, flush=True)

    try:
        began = time.monotonic()
        loads(address, 1)
        note("started, loaded once", began)
        for half in (1, 2):
            began = time.monotonic()
            loads(address, count // 2)
            note(f"{count // 2 * half} loads", began)
        for half in (1, 2):
            began = time.monotonic()
            sessions(address, visitors // 2 * half, visitors // 2)
            note(f"and {visitors // 2 * half} sessions that build", began)
    finally:
        process.terminate()
        errors = (process.communicate()[1] or b"").count(b"Traceback")
    print(table(("", ">seconds", ">MB", ">MB, 2 min later"), rows))
    print(f"tracebacks in the server's log: {errors}")
    return bool(errors)


if __name__ == "__main__":
    sys.exit(main())
