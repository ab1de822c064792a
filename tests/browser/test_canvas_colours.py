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
    select = app.tree(key).locator(f"select.{part}")
    if not select.is_visible():  # on Ask it is in the panel of rare tools
        app.tree(key).locator(".tools .more").click()
    select.select_option(value)
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
        assert "square-root scale" in legend(ask, ASK).inner_html()  # scores name their scale
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


# How many of the nodes in each level have a title of which the first two words, or all, are read.
READABLE = """(root) => {
  const { scene: { data }, sight: { labels } } = root.parentNode.segvizTree;
  const words = (text) =>
    text.replace(/[\\u2068\\u2069,;:.…]/g, "").split(/\\s+/).slice(0, 2).join(" ");
  const written = new Map(labels.flat().map(({ node, lines }) => [node, words(lines.join(" "))]));
  const count = {};
  data.names.forEach((name, node) => {
    if (!(data.level[node] > 0)) return;
    const [all, read] = count[data.level[node]] ?? [0, 0];
    count[data.level[node]] = [all + 1, read + Number(written.get(node) === words(name))];
  });
  return count;
}"""


# Title and text of the node under the pointer.
UNDER = """(root) => {
  const { scene: { data }, attention: { under } } = root.parentNode.segvizTree;
  return [data.level[under] ? data.names[under] : "", data.labels[under]];
}"""


class TestTitles:
    def test_most_boxes_have_theirs_and_a_taller_drawing_more(self, grow):
        app = grow
        app.page.set_viewport_size({"width": 1400, "height": 900})
        app.still(GROW)
        tree = app.tree(GROW)
        size = tree.evaluate("(root) => root.parentNode.segvizTree.scene.theme.font.split('px')[0]")
        assert float(size) >= 12
        read = {level: seen / count for level, (count, seen) in tree.evaluate(READABLE).items()}
        assert read["3"] >= 0.9
        assert read["2"] >= 2 / 3
        assert read["1"] >= 1 / 2
        high = tree.bounding_box()["height"]
        taller = tree.get_by_role("button", name="A taller drawing")
        taller.click()
        app.settle()
        assert tree.bounding_box()["height"] > 1.5 * high
        assert taller.get_attribute("aria-pressed") == "true"
        more = {level: seen / count for level, (count, seen) in tree.evaluate(READABLE).items()}
        assert all(more[level] >= read[level] for level in read)

    def test_pointing_shows_a_card_with_the_whole_text_inside_of_the_canvas(self, grow):
        tree = grow.tree(GROW)
        stage = tree.locator(".stage").bounding_box()
        card = tree.locator(".card")
        assert not card.is_visible()
        for share in (0.1, 0.5, 0.97):
            left, width, top, _ = map(float, grow.attribute(GROW, "plot").split(","))
            grow.page.mouse.move(stage["x"] + left + share * width, stage["y"] + top - 230)
            card.wait_for()
            title, text = tree.evaluate(UNDER)
            shown = " ".join(card.inner_text().replace("\u2068", "").replace("\u2069", "").split())
            assert shown.startswith(title)
            assert " ".join(text.split()) in shown
            assert not text.endswith("…")
            box = card.bounding_box()
            assert box["x"] >= stage["x"]
            assert box["x"] + box["width"] <= stage["x"] + stage["width"]
            assert box["y"] >= stage["y"]
            assert box["y"] + box["height"] <= stage["y"] + stage["height"]
        grow.page.mouse.move(0, 0)
        card.wait_for(state="hidden")
