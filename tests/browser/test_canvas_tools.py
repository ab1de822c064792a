"""Overview, search, help, path and zoom of the canvas, by mouse and by keyboard."""

from __future__ import annotations

import json

import numpy as np
import pytest

KEY = "grow-tree"
UNITS = 161
WHOLE = f"0,{UNITS}"


@pytest.fixture
def grow(app):
    app.open()
    app.until(KEY, "scale", WHOLE)
    return app


def part(app, selector):
    return app.tree(KEY).locator(selector)


def shown(app):
    """The visible range of units."""
    return [float(x) for x in app.attribute(KEY, "scale").split(",")]


def rests(app):
    app.still(KEY)


def drag(app, selector, begin, end):
    """Drags along an element, from one share of its width to another; the strip shows itself
    when the view is zoomed."""
    if not part(app, selector).is_visible():
        for _ in range(3):
            part(app, '[aria-label="Zoom in"]').click()
        rests(app)
    box = part(app, selector).bounding_box()
    y = box["y"] + box["height"] / 2
    app.page.mouse.move(box["x"] + begin * box["width"], y)
    app.page.mouse.down()
    for i in range(1, 6):
        app.page.mouse.move(box["x"] + (begin + (end - begin) * i / 5) * box["width"], y)
    app.page.mouse.up()
    rests(app)


class TestOverview:
    def test_its_frame_lies_over_what_is_shown_and_is_moved_by_a_drag_or_a_click(self, grow):
        # It stands under the plot, once there is more than the view shows.
        assert not part(grow, ".map").is_visible()
        part(grow, "canvas.over").focus()
        grow.page.keyboard.press("+")
        grow.page.keyboard.press("+")
        rests(grow)
        left, width, *_ = map(float, grow.attribute(KEY, "plot").split(","))
        canvas, strip = (part(grow, name).bounding_box() for name in ("canvas.over", ".map"))
        assert strip["x"] == pytest.approx(canvas["x"] + left, abs=1)
        assert strip["width"] == pytest.approx(width, abs=1)
        first, last = (unit / UNITS for unit in shown(grow))
        frame = part(grow, ".map .frame").bounding_box()
        assert frame["x"] - strip["x"] == pytest.approx(first * width, abs=2)
        assert frame["width"] == pytest.approx((last - first) * width, abs=3)
        middle, half = (first + last) / 2, (last - first) / 2
        drag(grow, ".map", middle, middle + 0.1)
        moved = [(first + 0.1) * UNITS, (last + 0.1) * UNITS]
        assert shown(grow) == pytest.approx(moved, abs=1)
        drag(grow, ".map", middle + 0.1, 1.4)
        assert shown(grow) == pytest.approx([(1 - 2 * half) * UNITS, UNITS], abs=1)
        part(grow, ".map").click(position={"x": 0.4 * width, "y": 10})
        rests(grow)
        wanted = [(0.4 - half) * UNITS, (0.4 + half) * UNITS]
        assert shown(grow) == pytest.approx(wanted, abs=1)


class TestSearch:
    def find(self, app, query):
        part(app, "canvas.over").focus()
        app.page.keyboard.press("/")
        app.page.keyboard.type(query)

    def hits(self, memory, query):
        structure = memory.structure.collapsed
        active = np.flatnonzero(structure.active).tolist()
        found = [i for i in active if query in structure.text[i].lower()]
        return sorted(found, key=lambda i: (structure.start[i], structure.stop[i], i))

    def test_it_finds_and_walks_all_hits(self, grow, memory):
        expected = self.hits(memory, "oven")
        assert len(expected) > 3
        self.find(grow, "OVEN")
        grow.until(KEY, "hits", str(len(expected)))
        assert part(grow, ".find .tally").inner_text() == f"{len(expected)} found"
        for i, node in enumerate(expected[:3]):
            grow.page.keyboard.press("Enter")
            grow.until(KEY, "hit", str(node))
            assert grow.attribute(KEY, "focus") == str(node)
            assert part(grow, ".find .tally").inner_text() == f"{i + 1} of {len(expected)}"
            assert "oven" in part(grow, ".read").inner_text().lower()
        grow.page.keyboard.press("Shift+Enter")
        grow.until(KEY, "hit", str(expected[1]))
        part(grow, '.find button[aria-label^="Next"]').click()
        grow.until(KEY, "hit", str(expected[2]))
        # Backwards from the first to the last, which is out of view.
        drag(grow, ".map", 0.0, 0.1)
        part(grow, "canvas.over").focus()
        grow.page.keyboard.press("/")
        for last in (expected[1], expected[0], expected[-1]):
            grow.page.keyboard.press("Shift+Enter")
            grow.until(KEY, "hit", str(last))
        rests(grow)
        start, stop = shown(grow)
        assert start < memory.structure.stop[last]
        assert memory.structure.start[last] < stop
        # Escape clears, and the arrows go on from the hit.
        hit = int(grow.attribute(KEY, "hit"))
        grow.page.keyboard.press("Escape")
        grow.until(KEY, "hits", "0")
        assert part(grow, ".find input").input_value() == ""
        grow.page.keyboard.press("ArrowUp")
        parents = memory.structure.collapsed.parents[hit]
        grow.until(KEY, "focus", str(parents[0] if parents else hit))
        # What is nowhere says so.
        part(grow, ".find input").fill("zeppelin mooring")
        grow.until(KEY, "query", "zeppelin mooring")
        assert part(grow, ".find .tally").inner_text() == "none"
        assert part(grow, '.find button[aria-label^="Next"]').is_disabled()

    def test_hits_are_listed_with_their_context_and_a_click_goes_to_one(self, grow, memory):
        expected = self.hits(memory, "oven")
        self.find(grow, "oven")
        grow.until(KEY, "hits", str(len(expected)))
        grow.settle()  # Python's answer
        listed = part(grow, ".hits .entry")
        assert listed.count() == len(expected)
        assert part(grow, ".hits mark").count() == len(expected)
        listed.nth(2).click()
        assert part(grow, ".find .tally").inner_text() == f"3 of {len(expected)}"
        grow.until(KEY, "focus", str(expected[2]))

    def test_python_finds_what_the_browser_was_not_sent(self, app, tmp_path):
        said = ["words " * 200 + "and at the very end a Lighthouse", "yes", "no", "a lighthouse"]
        turns = [
            {"speaker": "AB"[i % 2], "text": text} for i, text in enumerate([*said, "so", "?"])
        ]
        document = {"speaker_a": "A", "speaker_b": "B", "sample_id": "far", "session_1": turns}
        (tmp_path / "far.json").write_text(json.dumps(document))
        app.open(f"?path={tmp_path / 'far.json'}")
        app.until(KEY, "scale", "0,3")
        self.find(app, "lighthouse")
        labels = app.tree(KEY).evaluate("(r) => r.parentNode.segvizTree.scene.data.labels")
        sent = [text for text in labels if "lighthouse" in text.lower()]
        assert sent
        app.until(KEY, "hits", lambda hits: int(hits) > len(sent))  # Python's have arrived
        app.page.keyboard.press("Enter")
        app.until(KEY, "focus", "0")
        assert "at the very end a Lighthouse" in part(app, ".read").inner_text()


class TestZoom:
    def test_escape_shows_all_and_keys_zoom_pan_and_fit(self, grow, memory):
        part(grow, '[aria-label="Zoom in"]').click()
        rests(grow)
        assert grow.attribute(KEY, "scale") != WHOLE
        part(grow, "canvas.over").focus()
        grow.page.keyboard.press("Escape")
        grow.until(KEY, "scale", WHOLE)
        grow.page.keyboard.press("+")
        rests(grow)
        start, stop = shown(grow)
        assert stop - start == pytest.approx(UNITS / 1.6)
        grow.page.keyboard.press("Shift+ArrowRight")
        rests(grow)
        assert shown(grow)[0] == pytest.approx(start + 0.2 * (stop - start))
        grow.page.keyboard.press("Home")
        grow.until(KEY, "focus", "0")
        grow.page.keyboard.press("+")  # at the node one is at
        rests(grow)
        assert shown(grow)[0] == pytest.approx(0, abs=0.5)
        grow.page.keyboard.press("ArrowUp")
        node = int(grow.attribute(KEY, "focus"))
        grow.page.keyboard.press("f")
        rests(grow)
        start, stop = shown(grow)
        assert start <= memory.structure.start[node]
        assert memory.structure.stop[node] <= stop
        grow.page.keyboard.press("0")
        grow.until(KEY, "scale", WHOLE)

    def test_zoom_and_search_survive_a_step(self, grow):
        drag(grow, ".map", 0.1, 0.4)
        before = shown(grow)
        part(grow, ".find input").fill("oven")
        grow.page.locator(".st-key-go-chevron_left button").first.click()
        grow.until(KEY, "step", str(UNITS - 1))
        grow.settle()
        assert shown(grow) == pytest.approx(before)
        assert grow.attribute(KEY, "query") == "oven"

    def test_what_the_page_sends_meanwhile_undoes_no_step(self, grow):
        """A search is sent a fifth of a second after the last letter, with what the slider of
        steps shows; a step back is answered just then."""
        for back, wait in enumerate((150, 200), 1):
            part(grow, ".find input").fill(f"oven {back}")
            grow.page.wait_for_timeout(wait)
            grow.page.locator(".st-key-go-chevron_left button").first.click()
            grow.until(KEY, "step", str(UNITS - back))
            grow.settle()
            assert grow.attribute(KEY, "step") == str(UNITS - back)


def test_find_by_meaning_lists_the_nodes_most_relevant_under_the_relevance_in_force(app, memory):
    app.open("ask?question=3&relevance=dense")
    app.until("ask-tree", "scale", WHOLE)
    tree = app.tree("ask-tree")
    tree.locator(".find input").fill("something baked")
    tree.get_by_role("button", name="by meaning").click()
    question = memory.conversation.questions[3]
    wanted = memory.ask(question, relevance="dense").similar("something baked", 20)
    app.until("ask-tree", "found", ",".join(map(str, wanted)))
    assert tree.locator(".find .tally").inner_text() == "20 found"
    assert tree.locator(".hits .entry").count() == len(wanted) == 20
    tree.locator(".hits .entry").first.click()
    app.until("ask-tree", "hit", str(wanted[0]))


# Pixels of a colour on the lower canvas, under the strip of the axis.
BARS = """(root, [r, g, b]) => {
  const { axisTop, axisHeight, left, width } = root.parentNode.segvizTree.sight.geom;
  const ctx = root.querySelector("canvas.base").getContext("2d");
  const box = [left, axisTop + 16, width, axisHeight - 16].map((n) => n * devicePixelRatio | 0);
  const { data } = ctx.getImageData(...box);
  let count = 0;
  for (let i = 0; i < data.length; i += 4) {
    const near = [r, g, b].every((c, j) => Math.abs(data[i + j] - (0.6 * c + 0.4 * 255)) < 30);
    count += near;
  }
  return count;
}"""


def test_pinned_searches_stay_as_coloured_layers_with_counts(app):
    app.open("ask?question=3")
    app.until("ask-tree", "scale", WHOLE)
    tree = app.tree("ask-tree")
    green = [0, 143, 104]
    assert not tree.evaluate(BARS, green)
    counts = []
    for word in ("boat", "oven"):
        tree.locator(".find input").fill(word)
        app.settle()
        counts.append(app.attribute("ask-tree", "hits"))
        tree.get_by_role("button", name="Pin as layer").click()
        app.until("ask-tree", "hits", "0")
    chips = tree.locator(".pins button")
    assert [chip.inner_text().split() for chip in chips.all()] == [
        ["●", "boat", counts[0], "×"],
        ["▼", "oven", counts[1], "×"],
    ]
    app.still("ask-tree")
    assert tree.evaluate(BARS, green)
    tree.locator("input.alpha").fill("0.5")  # the layers stay while something else changes
    app.until("ask-tree", "settled", "true")
    assert chips.count() == 2
    chips.first.click()
    app.still("ask-tree")
    assert chips.count() == 1
    assert not tree.evaluate(BARS, green)


def test_the_path_selects_ancestors(grow, memory):
    part(grow, "canvas.over").focus()
    for key in ("Home", "Enter"):
        grow.page.keyboard.press(key)
    grow.settle()
    path = [0]
    while above := memory.structure.collapsed.parents[path[0]]:
        path.insert(0, above[0])
    grow.until(KEY, "path", " ".join(map(str, path)))
    crumbs = part(grow, ".crumbs button")
    assert crumbs.count() == len(path)
    crumbs.nth(1).click()
    grow.settle()
    grow.until(KEY, "selected", str(path[1]))
    assert f"node {path[1]}" in grow.text()
    grow.until(KEY, "path", " ".join(map(str, path[:2])))


def test_help_opens_and_gives_the_keyboard_back(grow, memory):
    part(grow, "canvas.over").focus()
    grow.page.keyboard.press("?")
    panel = part(grow, ".help")
    assert panel.is_visible()
    for word in ("find text", "zoom in", "Double click", "Esc"):
        assert word in panel.inner_text()
    grow.page.keyboard.press("Escape")
    assert not panel.is_visible()
    grow.page.keyboard.press("End")  # the tree has the keyboard
    grow.until(KEY, "focus", str(memory.structure.leaves[-1]))
    part(grow, 'button[aria-label="Keys and mouse"]').click()
    assert panel.is_visible()
    part(grow, '.help [aria-label="Close"]').click()
    assert not panel.is_visible()
    # Keys on the tree are not the app's.
    part(grow, "canvas.over").focus()
    grow.page.keyboard.press("c")  # Streamlit's "clear cache"
    grow.page.wait_for_timeout(300)
    assert not grow.page.get_by_role("dialog").count()


def test_reduced_motion_does_not_slide(grow):
    grow.page.emulate_media(reduced_motion="reduce")
    seen = part(grow, '[aria-label="Zoom in"]').evaluate(
        "(b) => { b.click(); return b.closest('.segviz').parentNode.segvizTree.sight.slide; }"
    )
    assert seen is None
    grow.still(KEY)
    assert shown(grow)[1] - shown(grow)[0] == pytest.approx(UNITS / 1.6)
