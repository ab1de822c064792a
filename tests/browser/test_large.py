"""Large input in a real browser."""

import pytest

from segviz.conversation import TITLES, sample_path
from tests.benchmarks.synthetic import write
from tests.browser.conftest import App

TURNS, LONG = 4_200, 1_000_000


@pytest.fixture(scope="module")
def large(tmp_path_factory):
    """So many turns that a build waits for a click; the middle one is very long."""
    path = tmp_path_factory.mktemp("large") / "large.json"
    write(path, TURNS, LONG)
    return path


def upload(app: App, path) -> None:
    app.page.locator('.st-key-upload input[type="file"]').set_input_files(path)


def begin(app: App) -> None:
    """Press Build."""
    button = app.page.locator(".st-key-build button")
    button.wait_for()
    app.settle()
    button.click()


def test_thousands_of_turns_and_one_of_a_megabyte(app, large):
    received = []
    app.page.on("websocket", lambda ws: ws.on("framereceived", lambda f: received.append(len(f))))
    app.open(f"?path={large}")
    begin(app)
    app.page.locator(".st-key-grow-tree .segviz[data-painted]").wait_for(timeout=120_000)
    app.settle()
    last = int(app.attribute("grow-tree", "step"))
    assert last > 2_000
    assert 0 < int(app.attribute("grow-tree", "nodes")) <= int(app.attribute("grow-tree", "total"))
    app.page.locator(".st-key-go-chevron_left button").first.click()
    app.until("grow-tree", "step", str(last - 1))
    canvas = app.tree("grow-tree").locator("canvas.over")
    box = canvas.bounding_box()
    canvas.click(position={"x": box["width"] * 0.4, "y": box["height"] * 0.75})
    app.page.locator(".st-key-clear-selection").first.wait_for()
    app.settle()
    assert f"node {app.attribute('grow-tree', 'selected')}" in app.text()
    app.page.get_by_role("link", name="Ask").first.click()
    app.until("ask-tree", "settled", "true")
    app.settle()
    # No message held the long turn, though it is a leaf among the others.
    assert max(received) < LONG
    node = app.evidence().first.get_attribute("data-node")
    app.evidence().first.click()
    app.until("ask-tree", "selected", node)


def test_a_file_dropped_while_another_is_being_built(app, large):
    app.open()
    app.open_memory()
    app.page.get_by_text("Upload", exact=True).first.click()
    app.settle()
    upload(app, large)
    begin(app)
    app.page.get_by_text("Building the memory:").first.wait_for()
    upload(app, sample_path(list(TITLES)[1]))
    app.page.get_by_text("Noor, Caleb").first.wait_for(state="attached")
    app.settle()
    app.tree("grow-tree")
    assert "Building the memory" not in app.text()
    # What was done of the first is kept.
    upload(app, large)
    app.page.get_by_text("Paused after").first.wait_for()
    app.settle()
    assert app.page.get_by_role("button", name="Resume").is_visible()
