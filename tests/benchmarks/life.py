"""Memory over a long life: 500 page loads, then 50 sessions that build, and what stays of them.

Run ``python -m tests.benchmarks.life [LOADS [SESSIONS]]`` from the project's root. A load is a
visitor's first run, over the websocket the page would open; a session pastes a conversation
nobody else has, which is built, and leaves (Chromium). Streamlit keeps a session that left for
two minutes, lest a reload lose it, and at most 128 of them; so memory grows up to that number, and
a leak is what grows beyond it.
"""

from __future__ import annotations

import asyncio
import subprocess
import sys
import time

from streamlit.proto.BackMsg_pb2 import BackMsg
from streamlit.proto.ForwardMsg_pb2 import ForwardMsg
from tornado.websocket import websocket_connect

from tests.benchmarks.report import chromium, numbers, resident, table
from tests.benchmarks.sessions import paste
from tests.serving import start

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
    with chromium() as browser:
        for number in range(first, first + count):
            context = browser.new_context()
            paste(context.new_page(), address, number)
            context.close()


def main() -> int:
    count, visitors = numbers(500, 50)
    process, address = start(subprocess.PIPE)
    rows: list[tuple[str, str]] = []

    def note(what: str) -> None:
        rows.append((what, f"{resident(process.pid):.0f}"))
        print(*rows[-1], file=sys.stderr, flush=True)

    def forget() -> None:
        time.sleep(KEPT_SECONDS)
        loads(address, 2)  # when one leaves, those that are over are dropped
        time.sleep(3)
        note("two minutes later")

    try:
        loads(address, 1)
        note("one load")
        for fifth in range(1, 6):
            loads(address, count // 5)
            note(f"{count // 5 * fifth} loads")
        forget()
        for fifth in range(1, 6):
            sessions(address, visitors // 5 * fifth, visitors // 5)
            note(f"and {visitors // 5 * fifth} sessions that build")
        forget()
    finally:
        process.terminate()
        errors = (process.communicate()[1] or b"").count(b"Traceback")
    print(table(("", ">MB"), rows))
    print(f"\nTracebacks in the server's log: {errors}")
    return bool(errors)


if __name__ == "__main__":
    sys.exit(main())
