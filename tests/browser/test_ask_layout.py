"""What Ask has on its first screen: few controls and numbers, wide sliders, badges in place."""

import json

import pytest

from segviz.export import FORMATS, View
from segviz.view.bookmark import Bookmark
from tests.browser.amount import NOTES_PAINT, counted
from tests.data import real_data

KEY = "ask-tree"

# What is wrong with the badges of a canvas, by a slow reading of its own: each must stand over the
# part of its node that is seen, in the middle of a narrow box, no two numbers on each other.
MISPLACED = """(root) => {
  const { sight: { marks, geom, view }, scene: { data, answer } } = root.parentNode.segvizTree;
  const place = (unit) => geom.left
    + (Math.min(view.x1, Math.max(view.x0, unit)) - view.x0) / (view.x1 - view.x0) * geom.width;
  const wrong = [];
  const all = marks.map((half) => [...half.values()]);
  all.forEach((half, at) => half.forEach(({ mark, x, y, dot }, i) => {
    const [from, to] = [place(data.start[mark.node]), place(data.stop[mark.node])];
    const note = (fault) => wrong.push([fault, at, mark.node, x, from, to]);
    if (x < from - 0.51 || x > to + 0.51) note("outside its node");
    if (to - from < 40 && Math.abs(x - (from + to) / 2) > 0.51) note("not in the middle");
    const changes = answer?.entered.includes(mark.node) || answer?.left.includes(mark.node);
    const gold = data.gold_turns[data.origin[mark.node] ?? mark.node];
    if (!dot && !changes && !gold) note("a number too many");
    const wide = (one) => 7 * String(one.mark.rank).length + 8;
    for (const other of half.slice(i + 1)) if (!dot && !other.dot
      && Math.abs(other.x - x) < (wide(other) + wide({ mark })) / 2 && Math.abs(other.y - y) < 15)
      note(`on ${other.mark.node}`);
    const twin = all[1 - at]?.find((one) => one.mark.node === mark.node);
    if (twin && Math.abs(twin.x - x) > 0.01) note("moves in time");
  }));
  return [wrong, all.flat().length];
}"""

BADGES = """(root) => {
  const { left, top } = root.querySelector("canvas.over").getBoundingClientRect();
  return root.parentNode.segvizTree.sight.marks.flatMap((half) => [...half.values()]
    .filter(({ dot }) => !dot).map(({ mark, x, y }) => [mark.node, left + x, top + y]));
}"""
DIAMONDS = """(root) => {
  const { left, top } = root.querySelector("canvas.over").getBoundingClientRect();
  const { diamonds } = root.parentNode.segvizTree.sight;
  return diamonds.map(({ node, x, y }) => [node, left + x, top + y]);
}"""


@pytest.fixture(scope="module")
def counting(chromium, server):
    """A tab that notes what canvases paint."""
    context = chromium.new_context(viewport={"width": 1400, "height": 900})
    context.add_init_script(NOTES_PAINT)
    from tests.browser.conftest import App

    yield App(context.new_page(), server)
    context.close()


@pytest.mark.parametrize(("width", "height"), [(1400, 900), (1280, 720)])
def test_few_controls_few_numbers_and_the_whole_list_on_the_first_screen(counting, width, height):
    counting.page.set_viewport_size({"width": width, "height": height})
    counting.open("ask?question=25&policy=both&alpha=0.7&horizon=2&relevance=hybrid&levels=0")
    found = counted(counting.page)
    assert len(found["controls"]) <= 30, found["controls"]
    assert len(found["numbers"]) <= 70, found["numbers"]
    tree = counting.tree(KEY)
    assert tree.locator("input.alpha").bounding_box()["width"] >= 300
    assert tree.locator("input.horizon").bounding_box()["width"] >= 160
    stage = tree.locator(".stage").bounding_box()
    assert tree.locator("input.alpha").bounding_box()["y"] < stage["y"]
    shown = tree.locator(".evidence ol").first.bounding_box()
    assert shown["y"] + shown["height"] <= height
    last = tree.locator(".evidence > ol > li").last.bounding_box()
    assert last["y"] + last["height"] <= shown["y"] + shown["height"] + 1


@pytest.mark.parametrize("conversation", ["", "conv-26", "conv-30", "conv-47"])
def test_the_opening_question_has_few_controls_and_numbers(counting, conversation):
    counting.page.set_viewport_size({"width": 1400, "height": 900})
    path = conversation and f"?path={real_data('locomo', 'locomo5.json')}"
    counting.open(f"ask{path}&conversation={conversation}" if conversation else "ask")
    found = counted(counting.page)
    assert len(found["controls"]) <= 30, found["controls"]
    assert len(found["numbers"]) <= 70, found["numbers"]


# The texts of the folds of the sidebar that are seen, with what style sheets write after them.
FOLDS = """(side) => [...side.querySelectorAll("summary p")]
  .filter((one) => !one.closest("[inert]"))
  .map((one) => one.textContent + getComputedStyle(one, "::after").content)"""


def test_the_sidebar_is_one_line_and_a_click_shows_the_rest(app, memory):
    app.open("ask")
    side = app.page.get_by_test_id("stSidebar")
    nodes = int(memory.structure.collapsed.active.sum())
    assert side.evaluate(FOLDS) == [f'Memory"ines-theo · 316 turns · {nodes} nodes"']
    assert not side.get_by_text("written", exact=True).is_visible()
    app.open_memory()
    assert len(side.evaluate(FOLDS)) > 3
    side.get_by_text("extracts", exact=True).click()
    app.settle()
    assert side.get_by_text("extracts", exact=True).is_visible()  # it stays open
    assert "texts=extracts" in app.page.url


def test_setting_says_all_that_is_in_force(app):
    app.open("ask?question=4&budget=400&deduplicate=yes&expand=2&relevance=contextual:beside=0")
    label = app.page.locator(".st-key-more-settings button p")
    assert label.evaluate("(one) => getComputedStyle(one, '::after').content").count(",") >= 3
    cut = (
        "(one) => one.scrollWidth > one.clientWidth + 1 || one.scrollHeight > one.clientHeight + 1"
    )
    assert not label.evaluate(cut)
    outer = app.page.locator(".st-key-more-settings button").first.bounding_box()
    inner = label.bounding_box()
    assert outer["y"] <= inner["y"]
    assert inner["y"] + inner["height"] <= outer["y"] + outer["height"]


@pytest.mark.parametrize("view", ["Outline", "Node-link"])
def test_alpha_and_h_are_wide_and_above_every_other_view(app, view):
    app.open(f"ask?view={view}")
    drawing = app.page.locator(
        ".st-key-ask-outline, iframe[title], [data-testid=stIFrame]"
    ).first.bounding_box()
    for key, least in (("alpha", 300), ("horizon", 160)):
        slider = app.page.locator(f"[class*=st-key-setting-{key}] [data-testid=stSlider]").first
        box = slider.bounding_box()
        assert box["width"] >= least
        assert box["y"] + box["height"] <= drawing["y"]


@pytest.mark.parametrize("size", [(1400, 900), (1280, 720), (1920, 1080), (390, 844)])
def test_no_verdict_is_cut(app, size):
    app.page.set_viewport_size({"width": size[0], "height": size[1]})
    for link in (
        "question=0",
        "question=2&beside=best+evidence",
        "text=Who+is+Des%3F",
    ):
        app.open(f"ask?{link}")
        cut = app.page.locator(".segviz .verdict >> visible=true").evaluate_all(
            "(all) => all.filter((one) => one.scrollWidth > one.clientWidth + 1"
            " || one.scrollHeight > one.clientHeight + 1).map((one) => one.textContent)"
        )
        assert cut == []


QUESTIONS = [
    *(("sample=ines-theo", place) for place in (0, 3, 7, 21)),
    *(("sample=noor-caleb", place) for place in (1, 4, 9)),
    *(("locomo", place) for place in (2, 30, 77)),
]


@pytest.mark.parametrize(("link", "place"), QUESTIONS)
def test_badges_stand_where_their_node_is_and_a_click_selects_it(app, link, place):
    if link == "locomo":
        link = f"path={real_data('locomo', 'locomo5.json')}&conversation=conv-47"
    app.open(f"ask?{link}&question={place}")
    app.still(KEY)
    wrong, count = app.tree(KEY).evaluate(MISPLACED)
    assert wrong == []
    assert count >= 10
    numbers, diamonds = app.tree(KEY).evaluate(BADGES), app.tree(KEY).evaluate(DIAMONDS)
    assert diamonds
    for node, x, y in numbers[:3] + diamonds[:2]:
        app.page.mouse.click(x, y)
        app.until(KEY, "selected", str(node))
    app.settle()


def test_an_answer_to_a_click_does_not_undo_the_next_one(app):
    app.open("ask?sample=noor-caleb&question=4")
    app.still(KEY)
    first, second = app.tree(KEY).evaluate(BADGES)[:2]
    app.tree(KEY).evaluate(
        """(root) => new MutationObserver(() => {
          const { selected, seen = "" } = root.dataset;
          if (seen.split(" ").at(-1) !== selected) root.dataset.seen = `${seen} ${selected}`.trim();
        }).observe(root, { attributeFilter: ["data-selected"] })"""
    )
    clicked = [first, second, first, second, first]
    for node, x, y in clicked:
        app.page.mouse.click(x, y)
        app.until(KEY, "selected", str(node))
        app.page.wait_for_timeout(120)
    app.settle()
    assert app.attribute(KEY, "seen").split() == [str(node) for node, _, _ in clicked]
    assert f"node={first[0]}" in app.page.url


def test_badges_of_beside_compare_and_the_exported_page_stand_where_their_node_is(
    app, memory, tmp_path
):
    app.open("ask?question=2&beside=best+evidence")
    for key in (KEY, "second-tree"):
        app.still(key)
        wrong, count = app.tree(key).evaluate(MISPLACED)
        assert (wrong, count >= 10) == ([], True)
    app.open("compare?sample=ines-theo")
    trees = app.page.locator(".segviz:has(canvas.over)")
    trees.first.wait_for()
    found = trees.evaluate_all(f"(all) => all.map({MISPLACED})")
    assert [wrong for wrong, _ in found] == [[]] * len(found)
    assert sum(count for _, count in found) >= 20
    question = memory.conversation.questions[0]
    result = memory.ask(question, policy="both", alpha=0.3, relevance="hybrid")
    page = tmp_path / "page.html"
    page.write_text(FORMATS["html"].make(View(memory, result.structure, Bookmark(), result)))
    app.page.goto(page.as_uri())
    root = app.page.locator("#tree .segviz")
    root.wait_for()
    wrong, count = root.evaluate(MISPLACED)
    assert (wrong, count >= 10) == ([], True)


def test_nothing_moves_in_time_when_propagation_is_switched_on(app):
    places = """(root) => JSON.stringify(root.parentNode.segvizTree.sight.marks.flatMap((half) =>
      [...half.values()].map(({ mark, x }) => [mark.node, Math.round(100 * x)])))"""
    app.open("ask?question=3&policy=both&alpha=0&horizon=2&relevance=hybrid")
    app.still(KEY)
    before = dict(json.loads(app.tree(KEY).evaluate(places)))
    app.tree(KEY).locator("input.alpha").fill("0.6")
    app.until(KEY, "settled", "true")
    app.settle()
    after = dict(json.loads(app.tree(KEY).evaluate(places)))
    both = before.keys() & after.keys()
    assert len(both) >= 8
    assert {node: before[node] for node in both} == {node: after[node] for node in both}


def test_a_search_hit_is_selected_everywhere_and_a_new_question_clears_it(app):
    app.open("ask?question=3")
    app.page.locator(".st-key-more-settings button").first.focus()
    app.page.keyboard.press("/")  # wherever no text field has the focus
    app.page.keyboard.type("pacemaker")
    app.until(KEY, "hits", lambda hits: int(hits or 0) > 1)
    app.settle()
    app.page.keyboard.press("Enter")
    first = app.attribute(KEY, "found").split(",")[0]
    app.until(KEY, "selected", first)
    app.settle()
    app.tree(KEY).locator(".hits .entry").nth(1).click()
    second = app.attribute(KEY, "found").split(",")[1]
    app.until(KEY, "selected", second)
    app.settle()
    assert app.attribute(KEY, "path").split()[-1] == second
    assert f"node={second}" in app.page.url
    assert app.page.locator(".st-key-inspect").is_visible()
    app.ask_own("Who is Elin?")
    assert app.attribute(KEY, "selected") == ""
    assert "node=" not in app.page.url


@pytest.mark.parametrize("sample", ["ines-theo", "noor-caleb"])
def test_titles_are_read_on_every_level_at_1400_pixels(app, sample):
    app.page.set_viewport_size({"width": 1400, "height": 900})
    app.open(f"ask?sample={sample}&question=0")
    app.still(KEY)
    titled, all_of_it = app.tree(KEY).evaluate("""(root) => {
      const { sight: { labels: [written] }, scene: { tree } } = root.parentNode.segvizTree;
      const on = (nodes) => [3, 2, 1].map((level) =>
        nodes.filter((node) => tree.level[node] === level).length);
      return [on(written.map(({ node }) => node)), on(tree.byLevel.flat())];
    }""")
    shares = [few / many for few, many in zip(titled, all_of_it, strict=True)]
    assert [share >= least for share, least in zip(shares, (0.9, 2 / 3, 0.5), strict=True)] == [
        True
    ] * 3
