"""Colours, labels and the legend of the canvas: changed in the browser, kept by Python."""

import pytest

GROW, ASK = "grow-tree", "ask-tree"

# Chooses as a person does, and tells what the picture is two frames later and how often
# Python has sent anything until then.
CHOOSE = """async (root, [part, value]) => {
  const state = root.parentNode.segvizTree;
  const select = root.querySelector(`select.${part}`);
  const before = [state.calls, root.querySelector("canvas.base").toDataURL()];
  select.value = value;
  select.dispatchEvent(new Event("change"));
  for (let i = 0; i < 2; i++) await new Promise(requestAnimationFrame);
  const after = [state.calls, root.querySelector("canvas.base").toDataURL()];
  return [after[0] - before[0], after[1] !== before[1], root.dataset[part]];
}"""


@pytest.fixture
def grow(app):
    app.open()
    app.tree(GROW)
    return app


@pytest.fixture
def ask(app):
    app.open("ask?question=0&policy=top-down")
    app.tree(ASK)
    return app


def choose(app, key, part, value):
    """Pick an option of the tool row and wait for Python."""
    app.tree(key).locator(f"select.{part}").select_option(value)
    return app.settle()


def picture(app, key):
    return app.tree(key).locator("canvas.base").evaluate("(canvas) => canvas.toDataURL()")


def legend(app, key):
    return app.tree(key).locator(".legend")


def words(app, key):
    """What the legend says, without the marks that keep foreign text's direction its own."""
    return legend(app, key).inner_text().translate({0x2068: None, 0x2069: None})


def middle_of_session(app, key, session):
    """Where the band of a session lies on the axis, in pixels of the page."""
    box = app.tree(key).locator("canvas.over").bounding_box()
    left, width, top, height = map(float, app.attribute(key, "plot").split(","))
    x0, x1 = map(float, app.attribute(key, "scale").split(","))
    units = app.tree(key).evaluate(
        "(root, wanted) => root.parentNode.segvizTree.scene.runs.find((r) => r.session === wanted)",
        session,
    )
    centre = (units["start"] + units["stop"]) / 2
    x = box["x"] + left + width * (centre - x0) / (x1 - x0)
    return x, box["y"] + top + height / 2


class TestColour:
    def test_the_picture_changes_before_python_knows(self, ask):
        assert "square-root scale" in words(ask, ASK)  # scores name their scale
        for part, value, shown in (
            ("colour", "level", "level,level"),
            ("colour", "change", "change,change"),
            ("labels", "none", "none"),
            ("labels", "score", "score"),
        ):
            assert ask.tree(ASK).evaluate(CHOOSE, [part, value]) == [0, True, shown]
            ask.settle()
            assert ask.attribute(ASK, part) == shown
        assert "falls" in words(ask, ASK)

    def test_the_choice_outlives_sliders_pages_and_steps(self, ask):
        choose(ask, ASK, "colour", "level")
        choose(ask, ASK, "labels", "node")
        alpha = ask.tree(ASK).locator("input.alpha")
        alpha.focus()
        for _ in range(5):
            alpha.press("ArrowRight")
        ask.until(ASK, "settled", "true")
        ask.settle()
        assert ask.attribute(ASK, "alpha") == "0.15"
        assert ask.attribute(ASK, "colour") == "level,level"
        ask.page.get_by_role("link", name="Grow").first.click()
        ask.until(GROW, "colour", "level")
        assert ask.attribute(GROW, "labels") == "node"
        slider = ask.page.locator('[data-testid="stSlider"] input[type="range"]').first
        slider.focus()
        slider.press("ArrowLeft")
        ask.until(GROW, "step", "160")
        assert ask.attribute(GROW, "colour") == "level"
        assert ask.tree(GROW).locator("select.colour").input_value() == "level"


class TestAlone:
    def test_by_mouse_and_by_keyboard(self, grow):
        choose(grow, GROW, "colour", "level")
        whole = picture(grow, GROW)
        button = legend(grow, GROW).get_by_role("button", name="L1 ")
        count = int(button.locator("b").inner_text())
        level_1 = grow.tree(GROW).evaluate(
            "(root) => root.parentNode.segvizTree.scene.tree.byLevel[1].length"
        )
        assert count == level_1
        button.click()
        grow.until(GROW, "alone", "level:1")
        assert button.get_attribute("aria-pressed") == "true"
        assert picture(grow, GROW) != whole
        button.click()
        grow.until(GROW, "alone", "")
        assert picture(grow, GROW) == whole
        # By keyboard.
        grow.tree(GROW).locator("select.labels").focus()
        grow.page.keyboard.press("Tab")
        grow.page.keyboard.press("Tab")
        grow.page.keyboard.press("Enter")
        grow.until(GROW, "alone", "level:1")
        focused = "(root) => root.parentNode.activeElement.dataset.key"
        assert grow.tree(GROW).evaluate(focused) == "level:1"  # the press keeps the focus
        grow.page.keyboard.press("Escape")
        grow.until(GROW, "alone", "")
        assert grow.tree(GROW).evaluate(focused) == "level:1"
        grow.page.keyboard.press("Space")
        grow.until(GROW, "alone", "level:1")
        grow.tree(GROW).locator("canvas.over").focus()
        grow.page.keyboard.press("Escape")
        grow.until(GROW, "alone", "")

    def test_a_session_on_the_axis(self, ask):
        choose(ask, ASK, "colour", "coherence")
        ask.page.mouse.click(*middle_of_session(ask, ASK, 4))
        ask.until(ASK, "alone", "session:4")
        assert "only S5" in words(ask, ASK)
        assert ask.attribute(ASK, "selected") == ""
        choose(ask, ASK, "colour", "gold")  # a session is one in all colours
        ask.until(ASK, "alone", "session:4")
        ask.page.mouse.click(*middle_of_session(ask, ASK, 4))
        ask.until(ASK, "alone", "")
        # Another colour ends it.
        legend(ask, ASK).get_by_role("button", name="missed ").click()
        assert ask.attribute(ASK, "alone").startswith("gold:")
        choose(ask, ASK, "colour", "level")
        ask.until(ASK, "alone", "")
