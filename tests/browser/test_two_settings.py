"""Ask with the same tree twice, each with a setting of its own."""

from dataclasses import replace
from datetime import timedelta

import pytest

from segviz.retrieval import OPENING, PRESETS

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
        joined = replace(PRESETS[preset], literal=False)
        assert retrieved(two, key) == list(memory.ask(question, joined).after)
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


def test_the_now_line_asks_the_memory_as_it_was_and_beside_it_another_moment(app, memory):
    app.open("ask?question=7")
    question, total = memory.conversation.questions[7].text, len(memory.steps)
    left, width, top, _ = map(float, app.attribute(FIRST, "plot").split(","))
    stage = app.tree(FIRST).locator("canvas.over").bounding_box()
    mouse, y = app.page.mouse, stage["y"] + top + 6
    mouse.move(stage["x"] + left + width, y)
    mouse.down()
    mouse.move(stage["x"] + left + width * 0.7, y, steps=4)
    mouse.move(stage["x"] + left + width * 0.5, y, steps=4)
    mouse.up()
    app.settle()
    step = round(total / 2)
    assert f"asked={step}" in app.page.url or f"asked={step + 1}" in app.page.url
    step = int(app.page.url.partition("asked=")[2].partition("&")[0])
    asked = memory.ask(question, PRESETS[OPENING], step=step)
    assert retrieved(app, FIRST) == list(asked.after)
    # A date that is typed does the same; gold that was not said by then is counted.
    day = f"{memory.conversation.sessions[0].start + timedelta(days=1):%Y-%m-%d}"
    app.page.get_by_role("button", name="Setting").first.click()
    box = app.page.get_by_role("textbox", name="or as it was before the date").first
    box.fill(day)
    box.press("Enter")
    app.settle()
    assert f"asked={memory.as_of(day)}" in app.page.url
    later = len(memory.conversation.questions[7].evidence)  # all of it
    app.page.keyboard.press("Escape")
    verdict = app.tree(FIRST).locator(".verdict").inner_text()
    assert f"{later} gold not said yet" in verdict
    # The other moment, and what changed until now.
    app.open(f"ask?question=7&beside={step}")
    assert retrieved(app, SECOND) == list(asked.after)
    found = memory.changes(step, total)
    app.page.get_by_text(f"{len(found.added)} added").wait_for()


def test_the_axis_by_clock_keeps_the_nodes_and_their_order(app, memory):
    app.open("ask?question=7")
    before = retrieved(app, FIRST)
    app.tree(FIRST).locator("button.more").click()
    clock = app.tree(FIRST).get_by_role("button", name="Draw time by clock")
    clock.click()
    app.settle()
    assert retrieved(app, FIRST) == before
    assert clock.get_attribute("aria-pressed") == "true"
    # The link keeps it.
    assert "axis=clock" in app.page.url
    app.page.reload()
    app.settle()
    axis = "(root) => root.parentNode.segvizTree.scene.axis !== null"
    assert app.tree(FIRST).evaluate(axis)
    assert "axis=clock" in app.page.url


def test_two_builds_point_at_the_same_units_and_select_in_both(app):
    app.open(
        "?step=107&compatibility=cosine&compatibility.threshold=0.1&beside=system%3Dsegment-tree"
    )
    new, old = "grow-tree", SECOND
    assert [app.attribute(key, "step") for key in (new, old)] == ["107", "107"]
    # Both trees are on the first screen, and their axes are in line.
    for key in (new, old):
        box = app.tree(key).locator(".stage").bounding_box()
        assert box["y"] + 200 <= app.page.viewport_size["height"]
    plots = [app.attribute(key, "plot").split(",")[:2] for key in (new, old)]
    assert plots[0] == plots[1]
    # The first node that only one build has: a click lights it there, and what holds it here.
    app.page.locator(".st-key-only-in-one [data-node]").first.click()
    app.settle()
    assert all(app.attribute(key, "selected") for key in (new, old))
    # An early leaf is in both: pointing at it in one tree points at it in the other.
    left, width, top, _ = map(float, app.attribute(old, "plot").split(","))
    stage = app.tree(old).locator("canvas.over").bounding_box()
    app.page.mouse.move(stage["x"] + left + width / 322, stage["y"] + top - 6)
    read = [app.tree(key).locator(".read .head") for key in (new, old)]
    read[0].wait_for()
    assert read[0].inner_text() == read[1].inner_text()
