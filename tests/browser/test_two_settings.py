"""Ask with the same tree twice, each with a setting of its own."""

from __future__ import annotations

import json

import pytest

from segviz.retrieval import PRESETS

FIRST, SECOND = "ask-tree", "second-tree"


@pytest.fixture
def two(app):
    """The question of the data set with index 7 under the paper's setting and the best evidence."""
    app.open("ask?question=7&policy=top-down&relevance=dense")
    app.page.locator(".st-key-second-setting button").first.click()
    app.page.get_by_role("radio", name="best evidence").first.check(force=True)
    app.settle()
    app.page.keyboard.press("Escape")
    app.tree(SECOND)
    return app.settle()


def retrieved(app, key):
    return [int(node) for node in app.attribute(key, "top").split(",")]


def test_each_tree_has_what_its_setting_retrieves(two, memory):
    question = memory.conversation.questions[7].text
    for key, preset in ((FIRST, "paper, top-down"), (SECOND, "best evidence")):
        result = memory.ask(question, PRESETS[preset])
        assert retrieved(two, key) == list(result.after)
        assert two.tree(key).locator(".verdict").is_visible()


def test_a_link_draws_both_trees_again(two):
    shown = [retrieved(two, key) for key in (FIRST, SECOND)]
    link = two.page.url
    assert "beside=best+evidence" in link
    two.page.goto("about:blank")
    two.page.goto(link)
    two.settle()
    assert [retrieved(two, key) for key in (FIRST, SECOND)] == shown


def test_zoom_and_selection_are_shared(two):
    node = retrieved(two, FIRST)[0]
    two.tree(FIRST).locator(f".evidence [data-node='{node}']").click()
    two.settle()
    assert [two.attribute(key, "selected") for key in (FIRST, SECOND)] == [str(node)] * 2
    whole = two.attribute(SECOND, "scale")
    two.tree(SECOND).get_by_role("button", name="Zoom in").click()
    two.until(SECOND, "scale", whole.__ne__)
    two.until(FIRST, "scale", two.attribute(SECOND, "scale"))


def test_pointing_at_a_row_reads_the_node_in_both_trees(two):
    node = retrieved(two, SECOND)[0]
    two.tree(SECOND).locator(f".evidence [data-node='{node}']").hover()
    read = two.tree(FIRST).locator(".read .head")
    read.wait_for()
    assert read.inner_text() == two.tree(SECOND).locator(".read .head").inner_text()


def test_a_slider_of_the_second_tree_changes_the_second_alone(two, memory):
    first = retrieved(two, FIRST)
    two.tree(SECOND).locator("input.alpha").fill("0.5")
    two.until(SECOND, "settled", "true")
    two.settle()
    question = memory.conversation.questions[7].text
    result = memory.ask(question, relevance="contextual", alpha=0.5)
    assert retrieved(two, SECOND) == list(result.after)
    assert retrieved(two, FIRST) == first
    assert json.loads(two.attribute(FIRST, "alpha")) == 0.1


def test_nothing_beside_ends_it(two):
    two.page.locator(".st-key-second-setting button").first.click()
    two.page.get_by_role("radio", name="nothing").first.check(force=True)
    two.settle()
    assert two.page.locator(f".st-key-{SECOND}").count() == 0
    assert "beside" not in two.page.url
