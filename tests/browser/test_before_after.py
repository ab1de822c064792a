"""Ask tells before from after at a glance, on every screen, and while somebody presents."""

import re

import pytest

from segviz.evaluation.evaluation import rescue
from segviz.retrieval import OPENING, PRESETS
from tests.memories import built

KEY = "ask-tree"

# Notes the size of every text that is painted on a canvas from now on.
NOTE_PAINTED = """() => {
  const { prototype } = CanvasRenderingContext2D;
  const { fillText } = prototype;
  window.painted = [];
  prototype.fillText = function (text, ...more) {
    const { a, b } = this.getTransform();
    const scale = Math.hypot(a, b) / devicePixelRatio;
    window.painted.push([text, scale * parseFloat(/[\\d.]+px/.exec(this.font)[0])]);
    return fillText.call(this, text, ...more);
  };
}"""

# The visible texts below 12 pixels: of the page and its shadow trees, of drawings, of canvases.
SMALL = """() => {
  const sizes = [...window.painted];
  const walk = (root) => {
    for (const element of root.querySelectorAll(":not(style, script)")) {
      if (element.shadowRoot) walk(element.shadowRoot);
      const said = [...element.childNodes].some((n) => n.nodeType === 3 && n.data.trim());
      if (!said || !element.checkVisibility()) continue;
      const { a, b } = element.closest("text")?.getScreenCTM() ?? { a: 1, b: 0 };
      const zoom = element.closest("text") ? Math.hypot(a, b) : element.currentCSSZoom;
      sizes.push([element.textContent, zoom * parseFloat(getComputedStyle(element).fontSize)]);
    }
  };
  walk(document.querySelector('[data-testid="stApp"]'));
  return sizes.filter(([, size]) => size < 11.99);
}"""

SIZES = """(part) => [...part.querySelectorAll("*")]
  .map((element) => parseFloat(getComputedStyle(element).fontSize))"""

# Pixels of the page at the middle of a node of the lower half.
MIDDLE = """(root, node) => {
  const { scene: { tree }, sight: { view, geom } } = root.parentNode.segvizTree;
  const over = root.querySelector("canvas.over");
  const box = over.getBoundingClientRect();
  const zoom = box.width / over.clientWidth;
  const middle = (tree.start[node] + tree.stop[node]) / 2;
  const x = geom.left + ((middle - view.x0) / (view.x1 - view.x0)) * geom.width;
  const [near, high] = [geom.rows.offset, geom.rows.height].map((at) => at[tree.level[node]]);
  const y = geom.axisTop + geom.axisHeight + near + high / 2;
  return [box.x + x * zoom, box.y + y * zoom];
}"""


@pytest.fixture
def found(memory):
    return rescue(memory, memory.conversation.questions)


@pytest.fixture
def ask(app, found):
    app.open(f"ask?question={found.place}")
    app.tree(KEY)
    return app


@pytest.mark.parametrize("page", ["guide", "ask"])
def test_a_dot_of_the_atlas_plays_its_change_and_a_click_closes_it_and_asks(app, memory, page):
    # A setting under which a question wins.
    app.open(f"{page}?policy=top-down&alpha=0.1&horizon=2&relevance=dense")
    app.page.get_by_role("button", name="Question atlas").click()
    app.settle()
    atlas = app.page.locator(".st-key-fates-dots .atlas")
    won, last = atlas.locator(".g0 .dot"), atlas.locator(".dot").last
    last.hover()
    quiet = atlas.locator(".verdict").inner_text()
    won.first.hover()
    question, verdict = (atlas.locator(f".{n}").inner_text() for n in ("question", "verdict"))
    assert verdict != quiet
    assert verdict.startswith(("Gains ", "Gold: "))
    assert atlas.locator("path.gold").count() > 0
    ranks = atlas.locator(".side:last-child .node:not(.out) b").all_inner_texts()
    assert ranks == [str(rank) for rank in range(1, 11)]
    won.first.focus()  # the keyboard does what the pointer does
    app.page.keyboard.press("ArrowRight")
    assert atlas.locator(".question").inner_text() != question
    app.page.keyboard.press("ArrowLeft")
    assert atlas.locator(".question").inner_text() == question
    assert min(atlas.evaluate(SIZES)) >= 12
    won.first.click()
    app.page.wait_for_url("**/ask?*question=*")
    app.settle()
    assert app.page.get_by_test_id("stPopoverBody").locator("visible=true").count() == 0
    assert app.tree(KEY).locator(".verdict").inner_text() == verdict
    place = int(re.search(r"question=(\d+)", app.page.url)[1])
    assert memory.conversation.questions[place].text == question.strip("\u2068\u2069")


def test_tree_levels_evidence_and_verdict_are_on_the_first_screen(ask):
    ask.page.set_viewport_size({"width": 1280, "height": 720})
    ask.settle()
    rows = (".st-key-asking", f".st-key-{KEY} .head-row")
    tall = [ask.page.locator(row).bounding_box()["height"] for row in rows]
    assert sum(tall) <= 720 / 4
    for part in (".stage", ".verdict", ".evidence li:nth-child(8)"):
        box = ask.tree(KEY).locator(part).bounding_box()
        assert box["y"] + box["height"] <= 720
    ask.page.set_viewport_size({"width": 390, "height": 844})
    ask.settle()
    assert ask.tree(KEY).locator(".stage").bounding_box()["y"] <= 300


def test_the_open_row_alone_has_the_text_of_the_selected_node(ask, memory):
    row = ask.evidence().first
    node = int(row.get_attribute("data-node"))
    row.click()
    ask.until(KEY, "selected", str(node))
    ask.settle()
    opened = ask.tree(KEY).locator(".evidence .opened .text").inner_text()
    assert opened.split() == memory.structure.text[node].split()
    assert ask.tree(KEY).locator(".read .text").inner_text() == ""
    assert ask.page.locator(".st-key-inspect").is_visible()
    assert ask.page.locator(".st-key-node-text").count() == 0


def test_on_a_phone_the_tree_of_grow_begins_in_the_first_300_pixels(app):
    app.page.set_viewport_size({"width": 390, "height": 844})
    app.open()
    assert app.tree("grow-tree").locator(".stage").bounding_box()["y"] <= 300


# Pixels that the upper canvas paints in the middle of the axis: over its words, and beside them.
ON_THE_AXIS = """(root) => {
  const { written, geom } = root.parentNode.segvizTree.sight;
  const ctx = root.querySelector("canvas.over").getContext("2d");
  const painted = (...box) =>
    ctx.getImageData(...box.map((n) => Math.round(n * devicePixelRatio))).data
      .filter((value, i) => i % 4 === 3 && value).length;
  const over = written.map(({ x, y, w, h }) => painted(x + 2, y + 1, w - 4, h - 2));
  const all = painted(geom.left, geom.axisTop + 12, geom.width, geom.axisHeight - 12);
  return [over.length, over.reduce((a, b) => a + b), all];
}"""


MARK = """(root, node) => {
  const { left, top } = root.querySelector("canvas.over").getBoundingClientRect();
  const { x, y } = root.parentNode.segvizTree.sight.marks[0].get(node);
  return [left + x, top + y];
}"""


def test_lines_across_the_axis_pass_behind_its_words(ask):
    words, over, all_of_it = ask.tree(KEY).evaluate(ON_THE_AXIS)
    assert words >= 4
    assert all_of_it > 0
    assert over == 0


def test_a_node_that_repeats_a_better_text_is_folded_into_its_row(ask):
    ask.open("ask?texts=extracts")  # written texts do not repeat each other
    memory = built()
    found = memory.ask(*asked(memory, ask))
    rows = [int(each.get_attribute("data-node")) for each in ask.evidence().all()]
    hidden = [node for node in found.after if node not in rows]
    head = ask.tree(KEY).locator(".evidence .head").inner_text()
    assert hidden
    assert f"{len(rows)} different texts" in head
    ask.tree(KEY).locator(".evidence .also").first.click()
    shown = ask.tree(KEY).locator(f'.evidence li li .entry[data-node="{hidden[0]}"]')
    shown.wait_for()
    # Clicked in the tree it is shown, too.
    ask.tree(KEY).locator(".evidence .also").first.click()
    shown.wait_for(state="hidden")
    ask.page.mouse.click(*ask.tree(KEY).evaluate(MARK, hidden[0]))
    ask.until(KEY, "selected", str(hidden[0]))
    shown.wait_for()


def test_the_transcript_goes_to_the_session_that_is_shown_alone(ask, memory):
    runs = ask.tree(KEY).evaluate("(root) => root.parentNode.segvizTree.scene.runs")
    (run,) = (run for run in runs if run["session"] == 13)
    left, width, top, height = map(float, ask.attribute(KEY, "plot").split(","))
    box = ask.tree(KEY).locator("canvas.over").bounding_box()
    middle = (run["start"] + run["stop"]) / 2 / len(memory.units)
    at = (box["x"] + left + width * middle, box["y"] + top + height - 8)
    first = memory.conversation.sessions[13].turns[0].id
    turn = ask.page.locator(f'.st-key-ask-transcript [data-turn="{first}"]')
    ask.page.mouse.click(*at)
    ask.until(KEY, "alone", "session:13")
    ask.settle()
    frame = ask.page.locator(".st-key-ask-transcript .transcript").bounding_box()
    assert frame["y"] <= turn.bounding_box()["y"] <= frame["y"] + frame["height"]
    ask.page.mouse.click(*at)
    ask.settle()
    assert "at the best node" in ask.text()


def asked(memory, app):
    place = int(re.search(r"question=(\d+)", app.page.url)[1])
    return memory.conversation.questions[place], PRESETS[OPENING]


def test_k_different_texts_are_listed_on_request_and_follow_the_slider(ask, memory):
    ask.page.locator(".st-key-more-settings button").first.click()
    ask.page.get_by_text("Skip repeated texts").click()
    ask.settle()
    question, settings = asked(memory, ask)
    for alpha in (settings.alpha, 0.9):
        ask.tree(KEY).locator("input.alpha").fill(str(alpha))
        ask.until(KEY, "settled", "true")
        ask.settle()
        found = memory.ask(question, settings, alpha=alpha, deduplicate=True)
        assert ask.retrieved() == list(found.after)
        assert ask.evidence().count() == len(found.after) == settings.k
        ranks = ask.tree(KEY).locator(".evidence li:not(.out) > .entry .rank").all_inner_texts()
        assert ranks == [str(item.rank_after) for item in found.evidence]
    assert "deduplicate=yes" in ask.page.url


@pytest.mark.parametrize(
    "path", ["", "ask", "ask?beside=best+evidence", "sweep", "compare", "guide"]
)
def test_no_text_is_smaller_than_twelve_pixels(app, path):
    app.open(path)
    if path == "sweep":  # the canvas is in a fold
        app.page.get_by_text("Question atlas", exact=True).last.click()
        app.settle()
    app.page.evaluate(NOTE_PAINTED)
    for width, height in ((1400, 900), (1280, 720), (1024, 768), (390, 844)):
        app.page.set_viewport_size({"width": width, "height": height})
        app.settle()
        assert app.page.evaluate(SMALL) == []
    assert bool(app.page.evaluate("() => window.painted.length")) == (path != "guide")


def test_presenting_hides_the_controls_enlarges_the_rest_and_ends_with_escape(ask, memory):
    page, leaf = ask.page, memory.structure.collapsed.leaves[40]
    hidden = [
        page.locator(where) for where in ("[data-testid=stSidebar]", f".st-key-{KEY} .head-row")
    ]
    wide = ask.tree(KEY).locator(".stage").bounding_box()["width"]
    page.locator("body").press("p")
    ask.settle()
    assert not any(part.is_visible() for part in hidden)
    assert ask.tree(KEY).locator(".verdict").is_visible()
    assert ask.tree(KEY).locator(".stage").bounding_box()["width"] > 1.6 * wide
    ask.still(KEY)
    page.mouse.click(*ask.tree(KEY).evaluate(MIDDLE, leaf))
    ask.until(KEY, "selected", str(leaf))
    ask.settle()
    page.keyboard.press("Escape")
    ask.settle()
    assert all(part.is_visible() for part in hidden)


def test_arrow_keys_walk_the_tour_while_presenting(app):
    app.open("")
    app.page.get_by_role("button", name="Take the tour").click()
    app.settle()
    app.page.locator("body").press("p")
    bar = app.page.locator(".st-key-tour-bar")
    for key, place in (("ArrowRight", "2 of"), ("ArrowLeft", "1 of")):
        app.page.locator("body").press(key)
        app.settle()
        assert bar.inner_text().startswith(place)
    app.page.locator("body").press("Escape")
