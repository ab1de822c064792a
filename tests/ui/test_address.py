"""The page's address names the view, and an opened link restores it."""

from __future__ import annotations

import pytest

from segviz.bookmark import Bookmark, encode
from tests.ui.test_pages import clean, grow

LINK = Bookmark(
    sample="noor-caleb",
    unit="turn",
    settings={"compatibility": "cosine", "compatibility.threshold": 0.35, "refresh": "lazy"},
    question=3,
    policy="both",
    alpha=0.3,
    horizon=1,
    k=7,
    relevance="dense",
    levels=(0, 1),
    distinct=False,
    budget=600,
    method="adaptive",
    node=5,
)


def opened(link, page=None):
    app = grow()
    for name, value in link.items():
        app.query_params[name] = value
    return clean(app.run())


def address(app):
    values = app.query_params.items()
    return {name: v if isinstance(v, str) else v[0] for name, v in values}


def test_the_default_view_needs_no_more_than_the_sample():
    assert address(opened({})) == {"sample": "ines-theo"}


def test_a_link_restores_everything_and_is_written_again():
    app = opened(encode(LINK))
    assert app.selectbox(key="sample").value == "noor-caleb"
    assert app.selectbox(key="unit").value == "turn"
    assert app.selectbox(key="segment-tree.compatibility").value == "cosine"
    key = "segment-tree.compatibility.cosine.threshold"
    assert app.number_input(key=key).value == 0.35
    assert app.session_state["policy"] == "both"
    assert app.session_state["selected"][1] == 5
    assert address(app) == encode(LINK)


def test_a_change_is_written():
    app = opened({})
    app.selectbox(key="unit").set_value("turn").run()
    assert address(clean(app)) == {"sample": "ines-theo", "unit": "turn"}
    app.button(key="go-chevron_left").click().run()
    assert address(clean(app))["step"] == f"{app.slider[0].max - 1:.0f}"


def test_an_older_address_does_not_undo_a_change():
    """The browser may send the address it had before the last run wrote another."""
    app = opened({"unit": "turn"})
    app.selectbox(key="unit").set_value("exchange").run()
    app.query_params["unit"] = "turn"
    clean(app.run())
    assert app.selectbox(key="unit").value == "exchange"


def test_a_link_inside_the_app_is_followed_at_any_time():
    app = opened({"unit": "turn", "segment-tree.refresh": "lazy"})
    app.query_params.clear()
    app.query_params["go"] = "1"
    app.query_params["sample"] = "topic-switching"
    clean(app.run())
    assert app.selectbox(key="sample").value == "topic-switching"
    assert app.selectbox(key="unit").value == "exchange"
    assert address(app) == {"sample": "topic-switching"}


def test_what_cannot_be_followed_is_said_literally():
    app = opened({"system": "<b>mind</b>", "alpha": "7", "unit": "turn"})
    shown = [text.value for text in app.text]
    assert any("system='<b>mind</b>': expected one of" in text for text in shown)
    assert app.selectbox(key="unit").value == "turn"
    app.button(key="dismiss-link").click().run()
    assert not any("expected one of" in text.value for text in clean(app).text)


def test_a_conversation_that_is_not_there_is_waited_for():
    app = opened({"conversation": "conv-99", "k": "7"})
    assert any("'conv-99' is not in the open file" in text.value for text in app.text)
    assert app.session_state["k"] == 7


@pytest.mark.parametrize("path", ["//server/share/a.json", "\\\\server\\share\\a.json"])
def test_a_link_cannot_reach_another_machine(path):
    app = opened({"path": path})
    assert any("files of this machine only" in text.value for text in app.text)
    assert app.segmented_control(key="source").value == "Sample"
