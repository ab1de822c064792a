"""The outline in the app: by keyboard, for screen readers, and linked with the other views."""

from segviz.retrieval import OPENING, PRESETS


def row(app, node):
    return app.page.locator(f"li.place[data-node='{node}']").first


def focused(app):
    """Node of the row the keyboard is on."""
    return app.page.evaluate(
        """() => {
          let here = document.activeElement;
          while (here?.shadowRoot) here = here.shadowRoot.activeElement;
          return Number(here?.dataset.node ?? -1);
        }"""
    )


def press(app, *keys):
    for key in keys:
        app.page.keyboard.press(key)


def test_a_walk_by_keyboard(app, memory):
    structure = memory.structure.collapsed
    root = structure.roots[0]
    first, *_, last = structure.children[root]
    app.open(f"?view=Outline&node={root}")
    row(app, root).focus()
    press(app, "ArrowRight")
    assert focused(app) == first
    press(app, "ArrowRight", "ArrowRight")
    below = structure.children[first][0]
    assert focused(app) == below
    press(app, "ArrowLeft")
    assert focused(app) == first
    press(app, "ArrowLeft", "End")
    assert row(app, first).get_attribute("aria-expanded") == "false"
    assert app.page.locator(f"li.place[data-node='{below}']").count() == 0
    assert focused(app) == last
    press(app, "Home")
    assert focused(app) == root
    press(app, "g")
    assert focused(app) == root
    assert not app.page.get_by_role("dialog").count()  # letters are not the app's here
    press(app, "End", "Enter")
    app.settle()
    assert f"node {last}" in app.text()
    assert f"node={last}" in app.page.url
    assert row(app, last).get_attribute("aria-selected") == "true"
    assert focused(app) == last  # the rerun leaves the keyboard where it was
    assert "view=Outline" in app.page.url


def test_what_screen_readers_are_told(app, memory):
    structure = memory.structure.collapsed
    root = structure.roots[0]
    app.open("ask?view=Outline&question=0")
    tree = app.page.get_by_role("tree", name="Outline of ines-theo")
    assert tree.count() == 1
    stops = app.page.locator("li.place[tabindex='0']")
    assert stops.count() == 1
    children = structure.children[root]
    item = row(app, children[1])
    wanted = {"aria-level": "2", "aria-setsize": str(len(children)), "aria-posinset": "2"}
    wanted |= {"aria-expanded": "false", "aria-selected": "false", "role": "treeitem"}
    assert {name: item.get_attribute(name) for name in wanted} == wanted
    result = memory.ask(memory.conversation.questions[0].text, PRESETS[OPENING])
    said = item.get_attribute("aria-label")
    count = int(result.structure.active.sum())
    assert f"initial ×{result.initial[children[1]] * count:.2f} rank " in said
    assert f"propagated ×{result.final[children[1]] * count:.2f} rank " in said


def test_retrieved_and_gold_are_found(app, memory):
    app.open("ask?view=Outline&question=3")
    question = memory.conversation.questions[3]
    result = memory.ask(question.text, PRESETS[OPENING])
    units = {turn: unit.index for unit in memory.units for turn in unit.turn_ids}
    gold = {
        leaf
        for leaf in memory.structure.collapsed.leaves
        if memory.structure.collapsed.start[leaf] in {units[turn] for turn in question.evidence}
    }
    app.page.get_by_role("button", name="Open to retrieved").click()
    app.page.get_by_role("button", name="Open to gold").click()
    marked = app.page.locator("li.place:has(> .row .mark.retrieved)").all()
    assert {int(item.get_attribute("data-node")) for item in marked} == set(result.after)
    marked = app.page.locator("li.place:has(> .row .mark.gold)").all()
    assert {int(item.get_attribute("data-node")) for item in marked} == gold
    best = result.after[0]
    assert row(app, best).locator("> .row .rank").all_inner_texts()[1] == "#1"
    app.page.get_by_role("button", name="Close all").click()
    assert app.page.locator("li.place").count() == 1


def test_the_selection_goes_along_between_the_views(app, memory):
    leaf = memory.structure.collapsed.leaves[70]
    app.open(f"?node={leaf}")
    app.tree("grow-tree")
    app.page.get_by_text("Outline", exact=True).click()
    app.settle()
    chosen = app.page.locator("li.place[aria-selected='true']")
    assert chosen.get_attribute("data-node") == str(leaf)
    tree, here = app.page.locator(".tree").bounding_box(), chosen.bounding_box()
    assert tree["y"] <= here["y"] <= tree["y"] + tree["height"]
    chosen.focus()
    press(app, "ArrowDown")
    following = focused(app)
    assert following != leaf
    press(app, "Enter")
    app.settle()
    app.page.get_by_text("Time axis", exact=True).click()
    app.until("grow-tree", "selected", str(following))
    # What was open is still open after a look at the canvas.
    shown = app.page.get_by_text("Outline", exact=True)
    shown.click()
    app.settle()
    assert row(app, leaf).count() == 1
