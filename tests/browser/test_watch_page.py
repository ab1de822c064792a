"""A scripted agent, watched in a real browser through a kill and a restart of the server."""

import pytest

from segviz.memory import Watch, Watched
from tests.benchmarks.watching import SEEN, kill, serve, waits, writes
from tests.browser.conftest import SIZE, App

pytestmark = pytest.mark.slow

RATE = 40
LATE = 5.0
"""Seconds within which a turn must be there, whatever else the machine does; where it does nothing
else it takes less than one (``python -m tests.benchmarks watching``)."""


@pytest.fixture
def watched(chromium, tmp_path):
    path = tmp_path / "agent.jsonl"
    Watch(path)("user", "The first turn <img src=x onerror=alert(1)>")
    process, address = serve(path)
    context = chromium.new_context(viewport=SIZE)
    context.set_default_timeout(60_000)
    app = App(context.new_page(), address)
    app.page.goto(address)
    app.tree("grow-tree").wait_for()
    running = {"process": process, "port": int(address.rpartition(":")[2])}
    yield path, app, running
    context.close()
    kill(running["process"])


def seen(app, count):
    """What the page has noted once it has drawn so many units."""
    app.page.wait_for_function("(count) => window.seen.units.at(-1)?.[1] >= count", arg=count)
    return app.page.evaluate("() => window.seen")


def test_an_agent_is_followed_through_a_kill(watched):
    path, app, running = watched
    app.page.evaluate(SEEN)
    assert writes(path, 100, RATE).wait(120) == 0
    first = seen(app, 101)
    assert max(waits(path, first["units"], first=1)) < LATE
    assert len(first["units"]) > 3  # it grew, again and again

    agent = writes(path, 60, RATE, 100)
    app.page.wait_for_timeout(500)
    assert app.errors == []
    kill(running["process"])
    assert agent.wait(120) == 0  # it went on meanwhile
    running["process"], _ = serve(path, running["port"])
    seen(app, 161)  # connected again
    app.errors.clear()  # what the page said of a server that was gone

    assert writes(path, 40, RATE, 160).wait(120) == 0
    assert max(waits(path, seen(app, 201)["units"], first=161)) < LATE
    assert (app.errors, app.dialogs, app.outside) == ([], [], [])

    after = Watched(path)
    while after.poll():
        pass
    assert (after.turns, after.skipped) == (201, 0)
    assert not after.memory.check()
