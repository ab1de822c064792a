"""The inspector in a browser: from node to node, to the step that wrote one, side by side."""

from segviz.tree.inspect import nearest, written


def tab(app, name):
    app.page.get_by_role("radio", name=name, exact=True).click()
    return app.settle()


def test_from_node_to_node(app, memory):
    parent = next(n for n, c in enumerate(memory.structure.collapsed.children) if len(c) > 2)
    app.open(f"?node={parent}")
    tab(app, "Above and below")
    child = memory.structure.collapsed.children[parent][1]
    app.page.locator(f".st-key-node-kin .entry[data-node='{child}']").click()
    app.settle()
    assert f"node {child}" in app.text()
    tab(app, "Similar")
    like = [entry.get_attribute("data-node") for entry in app.page.locator(".entry").all()]
    assert [int(n) for n in like] == [n for n, _ in nearest(memory.structure.collapsed, child)]
    assert f"node={child}" in app.page.url


def test_from_ask_to_the_step_that_wrote_a_node(app, memory):
    root = memory.structure.collapsed.roots[0]
    app.open(f"ask?question=3&policy=both&alpha=0.2&relevance=hybrid&node={root}")
    tab(app, "History")
    step = list(written(memory.steps, root))[-2].step
    app.page.locator(".st-key-node-history .more").nth(1).click()
    app.tree("grow-tree")
    app.settle()
    assert f"Step {step}" in app.text()
    assert f"node {root}" in app.text()
    # Going on from there stays on the page.
    app.page.locator(".st-key-go-chevron_left button").first.click()
    app.settle()
    assert f"Step {step - 1}" in app.text()


def test_the_page_stays_where_it_is_when_the_panel_of_another_node_opens(app):
    app.open("ask?node=0")  # the page chooses a question, which leaves the node
    assert app.page.locator(".st-key-node-text").count() == 1  # it is not in the list
    tab(app, "Similar")
    main = app.page.get_by_test_id("stMain")
    main.evaluate("(one) => one.scrollTo(0, 0)")
    for row in range(3):
        node = app.evidence().nth(row).get_attribute("data-node")
        app.evidence().nth(row).click()
        app.until("ask-tree", "selected", node)
        app.settle()
        app.page.wait_for_timeout(300)  # in which a page would slide
        assert main.evaluate("(one) => one.scrollTop") == 0
    assert app.page.locator(".st-key-nearest-scope").is_visible()
