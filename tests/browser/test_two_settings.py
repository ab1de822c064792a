"""Ask with the same tree twice, each with a setting of its own."""

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


def test_each_tree_has_a_setting_of_its_own_and_shares_zoom_selection_and_pointer(two, memory):
    question = memory.conversation.questions[7].text
    for key, preset in ((FIRST, "paper, top-down"), (SECOND, "best evidence")):
        assert retrieved(two, key) == list(memory.ask(question, PRESETS[preset]).after)
        assert two.tree(key).locator(".verdict").is_visible()
    first, second = (retrieved(two, key) for key in (FIRST, SECOND))
    # What is pointed at is read in both.
    two.tree(SECOND).locator(f".evidence [data-node='{second[0]}']").hover()
    read = two.tree(FIRST).locator(".read .head")
    read.wait_for()
    assert read.inner_text() == two.tree(SECOND).locator(".read .head").inner_text()
    two.tree(FIRST).locator(f".evidence [data-node='{first[0]}']").click()
    two.settle()
    assert [two.attribute(key, "selected") for key in (FIRST, SECOND)] == [str(first[0])] * 2
    whole = two.attribute(SECOND, "scale")
    two.tree(SECOND).locator(".tools .more").click()
    two.tree(SECOND).get_by_role("button", name="Zoom in").click()
    two.until(SECOND, "scale", whole.__ne__)
    two.until(FIRST, "scale", two.attribute(SECOND, "scale"))
    # A slider moves its own.
    two.tree(SECOND).locator("input.alpha").fill("0.5")
    two.until(SECOND, "settled", "true")
    two.settle()
    result = memory.ask(question, relevance="contextual", alpha=0.5)
    assert (retrieved(two, FIRST), retrieved(two, SECOND)) == (first, list(result.after))
    assert float(two.attribute(FIRST, "alpha")) == 0.1


def test_lists_begin_on_the_first_screen_and_a_phone_has_one_tree_below_the_other(two):
    boxes = [two.tree(key).locator(".stage") for key in (FIRST, SECOND)]
    two.page.set_viewport_size({"width": 1280, "height": 720})
    two.settle()
    for key in (FIRST, SECOND):
        rows = two.tree(key).locator(".evidence li > .entry >> visible=true")
        row = rows.nth(3).bounding_box()
        assert row["y"] + row["height"] <= 720
    assert boxes[0].bounding_box()["y"] == boxes[1].bounding_box()["y"]
    two.page.set_viewport_size({"width": 390, "height": 844})
    two.settle()
    first, second = (box.bounding_box() for box in boxes)
    assert first["y"] <= 300
    assert second["y"] > first["y"] + first["height"]
    two.page.get_by_role("button", name="Beside").first.wait_for()


def test_a_link_draws_both_trees_again_and_nothing_beside_ends_it(two):
    shown = [retrieved(two, key) for key in (FIRST, SECOND)]
    link = two.page.url
    two.page.goto("about:blank")
    two.page.goto(link)
    two.settle()
    assert [retrieved(two, key) for key in (FIRST, SECOND)] == shown
    two.page.locator(".st-key-second-setting button").first.click()
    two.page.get_by_role("radio", name="nothing").first.check(force=True)
    two.settle()
    assert two.page.locator(f".st-key-{SECOND}").count() == 0
    assert "beside" not in two.page.url
