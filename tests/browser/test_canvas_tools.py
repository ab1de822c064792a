"""Overview, search, help, path and zoom of the canvas, by mouse and by keyboard."""

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


def test_the_overview_shows_itself_when_zoomed_and_a_drag_or_a_click_moves_the_view(grow):
    assert not part(grow, ".map").is_visible()
    drag(grow, ".map", 0.5, 0.6)
    first, last = shown(grow)
    half = (last - first) / 2
    strip, frame = (part(grow, at).bounding_box() for at in (".map", ".map .frame"))
    width = strip["width"]
    assert frame["x"] - strip["x"] == pytest.approx(first / UNITS * width, abs=2)
    assert frame["width"] == pytest.approx((last - first) / UNITS * width, abs=3)
    drag(grow, ".map", (first + half) / UNITS, 1.4)
    assert shown(grow) == pytest.approx([UNITS - 2 * half, UNITS], abs=1)
    part(grow, ".map").click(position={"x": 0.4 * width, "y": 10})
    rests(grow)
    assert shown(grow) == pytest.approx([0.4 * UNITS - half, 0.4 * UNITS + half], abs=1)


class TestSearch:
    def find(self, app, query):
        part(app, "canvas.over").focus()
        app.page.keyboard.press("/")
        app.page.keyboard.type(query)

    def hits(self, memory, query):
        structure = memory.structure.collapsed
        active = np.flatnonzero(structure.active).tolist()
        found = [i for i in active if query in structure.text[i].lower()]
        places = structure.level, structure.start, structure.stop
        return sorted(found, key=lambda i: (*(int(place[i]) for place in places), i))

    def test_hits_are_listed_and_walked_and_escape_clears_them(self, grow, memory):
        expected = self.hits(memory, "oven")
        assert len(expected) > 3
        self.find(grow, "OVEN")
        grow.until(KEY, "hits", str(len(expected)))
        grow.settle()  # Python's answer
        assert part(grow, ".find .tally").inner_text() == f"{len(expected)} found"
        listed = part(grow, ".hits .entry")
        assert listed.count() == part(grow, ".hits mark").count() == len(expected)
        for key, place in (("Enter", 0), ("Enter", 1)):
            grow.page.keyboard.press(key)
            grow.until(KEY, "hit", str(expected[place]))
            assert grow.attribute(KEY, "focus") == str(expected[place])
        listed.nth(2).click()
        grow.until(KEY, "focus", str(expected[2]))
        assert part(grow, ".find .tally").inner_text() == f"3 of {len(expected)}"
        assert "oven" in part(grow, ".read").inner_text().lower()
        # Backwards to the last, which is out of view.
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
        grow.page.keyboard.press("Escape")
        grow.until(KEY, "hits", "0")
        grow.page.keyboard.press("ArrowUp")
        parents = memory.structure.collapsed.parents[last]
        grow.until(KEY, "focus", str(parents[0] if parents else last))

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
    def test_keys_zoom_pan_fit_and_show_all(self, grow, memory):
        part(grow, "canvas.over").focus()
        grow.page.keyboard.press("+")
        rests(grow)
        start, stop = shown(grow)
        assert stop - start == pytest.approx(UNITS / 1.6)
        grow.page.keyboard.press("Shift+ArrowRight")
        rests(grow)
        assert shown(grow)[0] == pytest.approx(start + 0.2 * (stop - start))
        for key in ("Home", "ArrowUp", "f"):
            grow.page.keyboard.press(key)
        rests(grow)
        node = int(grow.attribute(KEY, "focus"))
        start, stop = shown(grow)
        assert start <= memory.structure.start[node]
        assert memory.structure.stop[node] <= stop
        for key in ("0", "+", "Escape"):
            grow.page.keyboard.press(key)
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
    tree.locator(".hits .more").get_by_text("by meaning").wait_for()  # no text has these words
    tree.get_by_role("button", name="by meaning").click()
    question = memory.conversation.questions[3]
    wanted = memory.ask(question, relevance="dense").similar("something baked", 20)
    app.until("ask-tree", "found", ",".join(map(str, wanted)))
    assert tree.locator(".find .tally").inner_text() == "20 found"
    assert tree.locator(".hits .entry").count() == len(wanted) == 20
    leaves = sum(memory.structure.level[node] == 0 for node in wanted)
    assert tree.locator(".hits .more").inner_text() == f"{leaves} leaves and {20 - leaves} above"
    tree.locator(".hits .entry").first.click()
    app.until("ask-tree", "hit", str(wanted[0]))


PINNED = """(root) => { const { hits } = root.dataset;
  root.querySelector("[title^='Keep these hits']").click(); return hits; }"""


def test_pinned_searches_stay_as_coloured_layers_with_counts(app):
    app.open("ask?question=3")
    app.until("ask-tree", "scale", WHOLE)
    tree = app.tree("ask-tree")
    counts = []
    for word in ("boat", "oven"):
        tree.locator(".find input").fill(word)
        app.until("ask-tree", "hits", lambda hits: hits != "0")
        # In one look: Python's answer may come between two.
        counts.append(tree.evaluate(PINNED))
        app.until("ask-tree", "hits", "0")
    chips = tree.locator(".pins button")
    assert [chip.inner_text().split() for chip in chips.all()] == [
        ["●", "boat", counts[0], "×"],
        ["▼", "oven", counts[1], "×"],
    ]
    tree.locator("input.alpha").fill("0.5")  # the layers stay while something else changes
    app.until("ask-tree", "settled", "true")
    assert chips.count() == 2
    chips.first.click()
    app.still("ask-tree")
    assert chips.count() == 1


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
