"""The doors to the canvas: widget, component of other Streamlit apps, exported page."""

from __future__ import annotations

import base64
import json
import re
import sys

import pytest
from streamlit.testing.v1 import AppTest

import segviz
from segviz.conversation import sample_path
from segviz.export.html import html_page
from segviz.export.live import LiveView
from segviz.frontend.message import pack
from segviz.retrieval import RetrievalSettings
from segviz.view.coloring import Live

ASKED = "How many gears?"
MOVED = {"policy": "both", "alpha": 0.4, "horizon": 3, "drawing": "mirrored", "sequence": 7}


def in_page(page: str) -> bytes:
    """The message of the canvas in an exported page."""
    data = page.split('<script type="application/json">')[1].split("</script>")[0]
    return base64.b64decode(json.loads(data)["message"])


@pytest.mark.parametrize("question", [ASKED, None])
def test_a_live_view_and_the_exported_page_send_the_canvas_the_same_message(memory, question):
    live = LiveView(memory, question)
    assert pack(live.payload) == in_page(html_page(live.view))


def test_a_live_view_follows_clicks_and_sliders(memory):
    live = LiveView(memory, ASKED)
    setting = RetrievalSettings(policy="both", alpha=0.4, horizon=3)
    moved = live.selecting(3).setting(Live(setting, sequence=7))
    assert (moved.node, moved.settings.policy, moved.settings.alpha) == (3, "both", 0.4)
    expected = memory.ask(ASKED, live.view.result.settings, policy="both", alpha=0.4, horizon=3)
    assert moved.view.result.final.tolist() == expected.final.tolist()
    assert moved.payload["live"]["sequence"] == 7
    assert moved.selecting(None).node is None


def test_without_a_question_a_setting_changes_nothing(memory):
    live = LiveView(memory)
    assert live.setting(Live(RetrievalSettings())) is live


@pytest.fixture
def widget(memory):
    pytest.importorskip("anywidget")
    return segviz.widget(memory, ASKED)


def test_a_widget_checks_its_settings_as_show_does(memory):
    for given in ({"policy": "bogus"}, {"policy": "both"}, {"k": 5}, {"step": -1}):
        with pytest.raises(ValueError, match=next(iter(given))) as shown:
            segviz.show(memory, **given)
        with pytest.raises(ValueError, match=f"^{re.escape(str(shown.value))}$"):
            segviz.widget(memory, **given)


@pytest.mark.parametrize("question", [None, ASKED])
def test_a_widget_shows_the_memory_after_a_step(memory, question):
    pytest.importorskip("anywidget")
    drawn = segviz.widget(memory, question, step=3).view.view
    shown = segviz.show(memory, question, step=3).view
    assert len(drawn.structure) == len(shown.structure) < len(memory.structure)
    assert drawn.bookmark == shown.bookmark


def test_a_widget_hears_the_selected_node_and_the_setting(widget, memory):
    before = widget.message
    widget._hear({"name": "selected", "value": [5, 1]})
    assert widget.view.node == 5
    assert widget.message == pack({**widget.view.payload, "clicks": 1})
    widget._hear({"name": "setting", "value": MOVED})
    assert widget.view.settings.alpha == 0.4
    assert widget.view.view.result.settings.horizon == 3
    assert widget.message == pack({**widget.view.payload, "clicks": 1}) != before
    widget._hear({"name": "selected", "value": [-1, 2]})
    assert widget.view.node is None


@pytest.mark.parametrize(
    "value", [None, "x", 1e300, 5, [5, "x"], {"alpha": "9"}, {**MOVED, "alpha": 2}]
)
@pytest.mark.parametrize("name", ["selected", "setting", None, "query"])
def test_a_widget_ignores_what_no_canvas_sends(widget, name, value):
    shown = widget.view
    widget._hear({"name": name, "value": value})
    assert widget.view is shown


def test_without_anywidget_the_error_names_the_extra(memory, monkeypatch):
    monkeypatch.setitem(sys.modules, "anywidget", None)
    segviz.notebook._widget_class.cache_clear()
    with pytest.raises(ImportError, match="extra 'notebook'"):
        segviz.widget(memory)


def app() -> None:
    """Another Streamlit app, which draws the tree and reads what was chosen in it."""
    import streamlit as st

    import segviz
    from segviz.conversation import sample_path
    from segviz.ui.component import memory_tree

    @st.cache_resource
    def memory():
        return segviz.build(segviz.load(sample_path("recurrence"))[0], embedder="hashing")

    chosen = memory_tree(memory(), number=0, key="tree")
    st.write(f"node {chosen.node}, {chosen.settings}")


def test_another_app_draws_the_tree_of_the_page():
    test = AppTest.from_function(app).run()
    assert not test.exception
    memory = segviz.build(segviz.load(sample_path("recurrence"))[0], embedder="hashing")
    live = LiveView(memory, number=0)
    expected = pack({**live.payload, "found": None, "by_meaning": False, "clicks": 0})
    assert expected in [bytes(part.proto.bytes) for part in test.get("bidi_component")]
    assert test.markdown[0].value == f"node None, {live.view.result.settings}"


FAKE = """<!doctype html><div id="cell"></div><script type="module">
const CODE = "data:text/javascript;base64,%s";
const { default: widget } = await import(CODE);
const bytes = Uint8Array.from(atob("%s"), (c) => c.charCodeAt(0));
const known = { message: new DataView(bytes.buffer), height: "auto", style: %s };
window.sent = [];
widget.render({ el: document.getElementById("cell"), model: {
  get: (name) => known[name], on: () => {}, send: (value) => window.sent.push(value) } });
window.drawn = true;
</script>"""


@pytest.mark.browser
def test_the_widget_draws_and_tells_python_of_clicks_and_sliders(widget, chromium):
    tell = [base64.b64encode(each).decode() for each in (widget._esm.encode(), widget.message)]
    page = chromium.new_page(viewport={"width": 700, "height": 720})
    page.set_content(FAKE % (*tell, json.dumps(widget.style)))
    page.wait_for_function("() => window.drawn")
    hold = page.locator(".segviz .hold").bounding_box()
    assert hold["x"] + hold["width"] <= 700
    page.locator(".segviz canvas.over").click(position={"x": 300, "y": 60})
    page.locator(".segviz input[type=range]").first.press("ArrowRight")
    page.wait_for_function("() => new Set(window.sent.map((one) => one.name)).size > 1")
    sent = page.evaluate("() => window.sent")
    page.close()
    for one in sent:
        widget._hear(one)
    assert {one["name"] for one in sent} >= {"selected", "setting"}
    assert widget.view.node is not None
    assert widget.view.settings.alpha == next(
        one["value"]["alpha"] for one in reversed(sent) if one["name"] == "setting"
    )
