"""Three tasks a visitor has, with the keyboard alone, in as few presses as clicks would take.

1. From the start, find a question that propagation rescues, and say which node gave the score:
   at most 4. ("Ask it something"; the gold entry that came in; its flow names the giver.)
2. On Ask, see at which α a missed gold turn enters: at most 1. (Near misses say it at once.)
3. Send a colleague exactly this view: at most 2. ("Export"; "Copy to clipboard".)
"""

import re
from urllib.parse import parse_qsl, urlparse

import pytest

from segviz.view.bookmark import decode

KEY = "ask-tree"

# The element that has the focus, in whatever shadow tree.
FOCUSED = """() => {
  let at = document.activeElement;
  while (at?.shadowRoot?.activeElement) at = at.shadowRoot.activeElement;
  return at;
}"""


@pytest.fixture
def press(app):
    """Walks to what is to be pressed by Tab, presses Enter, and counts the presses."""

    def press(target):
        for _ in range(400):
            app.page.keyboard.press("Tab")
            # Looked for each time: what is drawn again is another element.
            if target.evaluate(f"(wanted) => ({FOCUSED})() === wanted"):
                break
        else:
            pytest.fail("Tab does not reach it")
        app.page.keyboard.press("Enter")
        press.count += 1
        app.settle()

    press.count = 0
    return press


def test_which_node_gave_a_rescued_turn_its_score(press, app, memory):
    app.open()
    press(app.page.locator(".st-key-welcome").get_by_role("button", name="Ask it something"))
    app.evidence().first.wait_for()
    entry = app.evidence().filter(has=app.page.locator(".move.new"))
    rescued = entry.filter(has=app.page.locator(".gold")).first
    node = int(rescued.get_attribute("data-node"))
    press(rescued)
    assert press.count <= 4
    # It is so, and the giver that is named first is the one that gave most.
    link = dict(parse_qsl(urlparse(app.page.url).query))
    question = memory.conversation.questions[int(link.get("question", 0))]
    settings = decode(link)[0].retrieval
    shown = tuple(app.attribute(KEY, name) for name in ("policy", "alpha", "horizon"))
    assert shown == (settings.policy, f"{settings.alpha:g}", str(settings.horizon))
    result = memory.ask(question.text, settings)
    assert node in memory.gold(question, result.structure).by_node
    assert node in set(result.after) - set(result.before)
    ledger = result.explain(node)
    best = max((e for e in ledger.received if e.hop == 1), key=lambda entry: entry.amount)
    named = app.tree(KEY).evaluate(
        "(root, node) => root.parentNode.segvizTree.scene.data.names[node]", best.source
    )
    first = app.tree(KEY).locator(".flow li").first.inner_text()
    assert f"{100 * best.amount / ledger.total:.1f} %" in first
    assert named
    assert named in first


def test_at_which_alpha_a_missed_gold_turn_enters(app, memory):
    app.open("ask?question=5&policy=neighbours&alpha=0.1&horizon=3&relevance=hybrid")
    app.tree(KEY).locator(".path[data-ready=true]").wait_for()
    app.tree(KEY).locator(".misses summary").click()
    misses = app.tree(KEY).locator(".misses li").filter(has=app.page.locator(".gold.missed"))
    said = misses.filter(has_text="α ≥").first.inner_text()
    node = int(misses.filter(has_text="α ≥").locator("button").get_attribute("data-at")[4:])
    enters = round(100 * float(re.search(r"α ≥ (\.\d+)", said)[1]))
    question = memory.conversation.questions[5].text
    how = {"policy": "neighbours", "horizon": 3, "relevance": "hybrid"}
    retrieved = [
        node in memory.ask(question, **how, alpha=alpha / 100).after
        for alpha in range(10, enters + 1)
    ]
    assert retrieved == [False] * (enters - 10) + [True]


def test_a_colleague_sees_exactly_this_view(press, app):
    view = "ask?question=7&policy=both&alpha=0.4&horizon=3&node=12&colour=level"
    app.open(view)
    app.page.context.grant_permissions(["clipboard-read", "clipboard-write"])
    press(app.page.get_by_role("button", name="Export").first)
    app.page.locator(".st-key-export-menu button").nth(3).wait_for()  # what loads late is there
    code = app.page.locator(".st-key-export-menu").get_by_test_id("stCode")
    press(code.locator("button[aria-label='Copy to clipboard']"))
    link = app.page.evaluate("() => navigator.clipboard.readText()")
    names = ("policy", "alpha", "horizon", "selected", "colour", "top", "total", "labels")
    shown = [app.attribute(KEY, name) for name in names]
    app.page.evaluate("() => { localStorage.clear(); sessionStorage.clear(); }")
    app.page.goto("about:blank")
    app.page.goto(link)
    app.settle()
    assert [app.attribute(KEY, name) for name in names] == shown
    assert press.count <= 2
