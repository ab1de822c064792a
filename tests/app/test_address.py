"""The page's address names the view, and an opened link restores it."""

from __future__ import annotations

from dataclasses import replace

import pytest
from streamlit.elements.lib import policies

from segviz.retrieval import RetrievalSettings
from segviz.view.bookmark import Bookmark, decode, encode
from segviz.view.story import Stop
from tests.app.conftest import clean, grow, keyed, page, texts

LINK = Bookmark(
    sample="topic-switching",
    unit="turn",
    settings={"compatibility": "cosine", "compatibility.threshold": 0.35, "refresh": "lazy"},
    question=3,
    retrieval=RetrievalSettings(
        policy="both",
        alpha=0.3,
        horizon=1,
        k=7,
        relevance="dense",
        levels=(0, 1),
        literal=True,
        budget=600,
    ),
    node=5,
    view="Outline",
    colour="level",
    labels="words",
    pins=(5, 9),
)


def opened(link, app=None):
    app = grow() if app is None else app
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
    assert app.selectbox(key="sample").value == "topic-switching"
    assert app.selectbox(key="unit").value == "turn"
    assert app.selectbox(key="segment-tree.compatibility").value == "cosine"
    key = "segment-tree.compatibility.cosine.threshold"
    assert app.session_state[key] == 0.35
    assert app.session_state["policy"] == "both"
    assert app.session_state["selected"][1] == 5
    assert app.session_state["colour"] == "level"
    assert app.segmented_control(key="grow-view").value == "Outline"
    assert "Pinned: nodes 5 and 9" in texts(app)
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


def test_no_widget_has_a_default_besides_what_a_link_sets(monkeypatch):
    """Streamlit warns of the first such widget in its log, once per process."""
    found = []
    real = policies.check_session_state_rules

    def check(default_value, key, writes_allowed=True):
        if default_value is not None and policies.get_session_state().is_new_state_value(key):
            found.append(key)
        real(default_value, key, writes_allowed)

    monkeypatch.setattr(policies, "check_session_state_rules", check)
    for link in (
        LINK,
        replace(LINK, text="a boat?"),
        Bookmark(path="a.json", retrieval=RetrievalSettings(step=3), step=2),
    ):
        for app in (grow(), page("ask", linked=True)):
            opened(encode(link), app)
    assert found == []


def test_what_of_a_link_cannot_be_followed_is_told():
    """Operations, which links held before, and a pin on a node that is not there."""
    app = opened({"done": "compress,rebuild.99999", "pins": "3,99999"})
    told = [text.value for text in app.text if "99999" in text.value]
    assert told[0].endswith("links hold no operations; save the memory as a session file instead")
    assert told[1] == "pins: there is no node 99999 in this memory"
    assert address(clean(app.run())) == {"sample": "ines-theo", "pins": "3"}


def test_operations_stay_out_of_the_address():
    app = opened({})
    app.selectbox(key="operation").set_value("compress").run()
    clean(app.button(key="operate").click().run())
    assert address(clean(app.run())) == {"sample": "ines-theo"}


STORY = (
    Stop("grow", "It *grows*.", {"step": "4"}),
    Stop("grow", "Then this.", {"step": "9", "node": "2"}),
)


def step_of(app):
    (step,) = keyed(app.slider, "step-")
    return step.value


def test_a_story_is_told_from_stop_to_stop_and_kept_in_the_address():
    app = opened(encode(Bookmark(sample="topic-switching", story=STORY)))
    assert "**1 of 2**" in texts(app)
    assert "It *grows*." in [text.value for text in app.text]
    assert step_of(app) == 4
    assert app.button(key="story-Back").disabled
    clean(app.button(key="story-Next").click().run())
    assert "Then this." in texts(app)
    assert (step_of(app), app.session_state["selected"][1]) == (9, 2)
    link = address(app)
    assert link["sample"] == "topic-switching"
    bookmark, problems = decode(link)
    assert (bookmark.story, bookmark.stop, bookmark.node, problems) == (STORY, 2, 2, [])
    # What was looked at since counts, not what the stop says.
    again = opened(link | {"step": "12"})
    assert "**2 of 2**" in texts(again)
    assert step_of(again) == 12
    assert again.button(key="story-Next").disabled
    clean(again.button(key="story-end").click().run())
    assert "story" not in address(again)
    assert "Then this." not in texts(again)


def test_slices_in_a_link_are_kept():
    slices = {"dates": (0, 1, 2, 7)}
    app = opened(encode(Bookmark(slices=slices, slice="dates")))
    bookmark, _ = decode(address(app))
    assert (bookmark.slices, bookmark.slice) == (slices, "dates")
