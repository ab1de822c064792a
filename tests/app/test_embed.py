"""The canvas in somebody else's Streamlit app."""

from __future__ import annotations

import pytest
from streamlit.testing.v1 import AppTest

from tests.app.conftest import on_canvas
from tests.serving import start


def page():
    import streamlit as st

    from segviz.ui.embed import memory_view
    from tests.memories import built

    memory = st.session_state.setdefault("memory", built())
    node = memory_view(memory, step=st.session_state.get("step"), key="tree")
    if node is not None:
        st.write(",".join(memory.turn_ids(node)))


def test_a_host_page_learns_what_is_selected():
    app = AppTest.from_function(page, default_timeout=60).run()
    assert not app.exception
    drawn = on_canvas(app)
    assert (drawn["selected"], len(app.markdown)) == (None, 0)
    identity = drawn["identity"]
    app.session_state["tree-selected"] = (identity, 4)  # what a click on node 4 sets
    app.run()
    memory = app.session_state["memory"]
    assert on_canvas(app)["selected"] == int(memory.structure.collapsed.chain[4])
    assert app.markdown[0].value == ",".join(memory.turn_ids(4))
    app.session_state["step"] = 2
    app.run()
    assert on_canvas(app)["total_units"] >= 2
    app.session_state["tree-selected"] = ("another memory", 4)
    app.run()
    assert on_canvas(app)["selected"] is None
    app.session_state["step"] = 10**6
    app.run()
    assert "this memory has steps 0 to" in app.exception[0].message


@pytest.fixture(scope="module")
def host(tmp_path_factory):
    script = tmp_path_factory.mktemp("host") / "host.py"
    script.write_text(
        "import streamlit as st, segviz\n"
        "from segviz.conversation import sample_path\n"
        "from segviz.ui.embed import memory_view\n"
        "@st.cache_resource\n"
        "def made(): return segviz.build(segviz.load(sample_path('ines-theo'))[0])\n"
        "node = memory_view(made())\n"
        "st.text('selected: ' + str(node))\n"
    )
    process, address = start(script=str(script))
    yield address
    process.terminate()
    process.wait(20)


def test_a_click_in_a_browser_reaches_the_host_page(chromium, host):
    page = chromium.new_page(viewport={"width": 1200, "height": 800})
    page.goto(host)
    page.get_by_text("selected: None").wait_for(timeout=60_000)
    canvas = page.locator(".segviz canvas.over")
    canvas.wait_for()
    page.wait_for_timeout(1_000)
    box = canvas.bounding_box()
    canvas.click(position={"x": box["width"] / 2, "y": box["height"] / 3})
    page.locator("text=/selected: [0-9]+/").wait_for(timeout=20_000)
    node = page.locator("text=/selected: [0-9]+/").inner_text().split()[-1]
    assert page.locator(".segviz").get_attribute("data-selected") == node
    page.close()
