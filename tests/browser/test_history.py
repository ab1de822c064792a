"""Back and Forward walk pages and questions, each with the settings it had."""

from urllib.parse import parse_qs, urlparse

import pytest

from segviz.conversation import TITLES
from tests.browser.conftest import SIZE, App

KEY = "ask-tree"


@pytest.fixture
def tab(chromium, server):
    """A tab of its own: a browser counts no more than 50 entries of a tab."""
    context = chromium.new_context(viewport=SIZE)
    context.set_default_timeout(90_000)
    yield App(context.new_page(), server)
    context.close()


def entries(app):
    return app.page.evaluate("history.length")


def at(app):
    """Page, question and α that the address names; those of Ask stand on the page, too."""
    address = urlparse(app.page.url)
    said = parse_qs(address.query)
    question, alpha = said["question"][0], float(said["alpha"][0])
    if address.path == "/ask":
        app.until(KEY, "alpha", lambda shown: float(shown) == alpha)
    return address.path, question, alpha


def move_alpha(app, times):
    for _ in range(times):
        control = app.tree(KEY).locator("input.alpha")
        control.focus()
        control.press("ArrowRight")
        app.settle()


def pick(app, place):
    app.page.locator("[class*=st-key-question-box] input").first.click()
    app.page.get_by_role("option").nth(place).click()
    app.settle()


def turn_to(app, page):
    app.page.get_by_role("link", name=page, exact=True).first.click()
    app.settle()


def go(app, steps):
    asked = app.reruns
    app.page.evaluate("(steps) => history.go(steps)", steps)
    while app.reruns == asked:  # each of these entries is another view
        app.page.wait_for_timeout(20)
    app.settle()


def test_settings_change_the_entry_questions_and_pages_are_new_ones(app):
    app.open("ask?question=1&policy=both&alpha=0.2")
    begun = entries(app)
    move_alpha(app, 4)
    assert (entries(app), at(app)) == (begun, ("/ask", "1", 0.24))
    pick(app, 2)
    move_alpha(app, 2)
    assert (entries(app), at(app)) == (begun + 1, ("/ask", "2", 0.26))
    turn_to(app, "Sweep")
    assert (entries(app), at(app)) == (begun + 2, ("/sweep", "2", 0.26))
    walk = [(-1, "/ask", "2", 0.26), (-1, "/ask", "1", 0.24), (1, "/ask", "2", 0.26)]
    for steps, *there in walk:
        go(app, steps)
        assert at(app) == tuple(there)
    app.page.reload()
    app.settle()
    assert at(app) == ("/ask", "2", 0.26)
    go(app, 1)
    assert (entries(app), at(app)) == (begun + 2, ("/sweep", "2", 0.26))


def test_back_at_once_leads_to_every_question(app):
    """Also while Python still answers the last one."""
    app.open("ask?question=1&policy=both&alpha=0.2")
    for place in (2, 3, 4):
        pick(app, place)
    for _ in range(3):
        app.page.evaluate("history.back()")
        app.page.wait_for_timeout(120)
    app.settle()
    assert at(app) == ("/ask", "1", 0.2)
    go(app, 3)
    assert at(app) == ("/ask", "4", 0.2)


@pytest.mark.parametrize("by_click", [False, True])
def test_back_returns_to_a_sweep_as_it_was_in_one_step(app, by_click):
    app.open(f"{'ask' if by_click else 'sweep'}?question=1&policy=both&alpha=0.2")
    if by_click:
        turn_to(app, "Sweep")
    slider = app.page.locator(".st-key-sweep-k input, .st-key-sweep-k [role=slider]").first
    slider.focus()
    slider.press("ArrowRight")
    app.settle()
    app.choose("sweep-relevance", "lexical")
    kept = "sweep-relevance=lexical&sweep-k=11"
    assert app.page.url.endswith(kept)
    turn_to(app, "Compare")
    turn_to(app, "Sweep")
    assert app.page.url.endswith(kept)
    begun = entries(app)
    turn_to(app, "Ask")
    assert entries(app) == begun + 1
    assert "sweep" not in app.page.url.partition("?")[2]
    for _ in range(2):
        go(app, -1)
        assert app.page.url.endswith(kept)
        assert at(app)[0] == "/sweep"
        assert slider.input_value() == "11"
        go(app, 1)
        assert at(app)[0] == "/ask"


def test_back_opens_the_conversation_before(app):
    app.open("?sample=ines-theo&unit=turn")
    app.open_memory()
    app.choose("sample", TITLES["topic-switching"])
    assert "sample=topic-switching" in app.page.url
    go(app, -1)
    assert parse_qs(urlparse(app.page.url).query) == {"sample": ["ines-theo"], "unit": ["turn"]}
    assert "Step 316 / 316" in app.text()
