"""The page's address names the view, and an opened link restores it."""

from __future__ import annotations

from dataclasses import replace

import pytest
from streamlit.elements.lib import policies

from segviz.retrieval import RetrievalSettings
from segviz.view.bookmark import Bookmark, decode, encode
from segviz.view.story import Stop
from tests.app.conftest import (
    ask_own,
    clean,
    grow,
    keyed,
    labelled,
    open_path,
    page,
    talk_file,
    texts,
)

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


@pytest.fixture
def doubled(monkeypatch):
    """Widgets that have a default besides what a link sets; Streamlit warns of the first in its
    log, once per process."""
    found = []
    real = policies.check_session_state_rules

    def check(default_value, key, writes_allowed=True):
        if default_value is not None and policies.get_session_state().is_new_state_value(key):
            found.append(key)
        real(default_value, key, writes_allowed)

    monkeypatch.setattr(policies, "check_session_state_rules", check)
    return found


def test_no_widget_has_a_default_besides_what_a_link_sets(doubled):
    for link in (
        LINK,
        replace(LINK, text="a boat?"),
        Bookmark(path="a.json", retrieval=RetrievalSettings(step=3), step=2),
    ):
        for app in (grow(), page("ask", linked=True)):
            opened(encode(link), app)
    assert doubled == []


def test_what_of_a_link_cannot_be_followed_is_told():
    """Operations, which links held before, and a pin on a node that is not there."""
    app = opened({"done": "compress,rebuild.99999", "pins": "3,99999"})
    told = [text.value for text in app.text if "99999" in text.value]
    assert told[0].startswith("done=")
    assert told[1] == "pins: there is no node 99999 in this memory"
    assert address(clean(app.run())) == {"sample": "ines-theo", "pins": "3"}


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


# --- what is chosen on Sweep and Compare ---------------------------------------------------------

SWEPT = {
    "sweep-policies": "top-down,neighbours",
    "sweep-relevance": "dense",
    "sweep-k": "5",
    "sweep-cell": "neighbours,0.5,2",
    "sweep-atlas-A": "top-down, α 0.3, H 1",
    "sweep-atlas-B": "top-down",
    "measured-by": "quoted",
    "adversarial": "no",
}
COMPARED = {
    "compared-systems": "memtree,bm25",
    "compare-relevance": "lexical",
    "compare-k": "3",
    "compare-units": "12",
    "compare-turns": "4-5",
    "compare-atlas-A": "BM25",
    "all-turns": "yes",
    "measured-by": "recall",
    "adversarial": "no",
    "text": "Who owns the boat?",
}
VARIED = {
    "swept-over": "construction",
    "varied-system": "memtree",
    "varied-parameter": "rate",
    "varied-values": "0.2, 0.6",
}


@pytest.mark.parametrize(
    ("name", "link"), [("sweep", SWEPT), ("compare", COMPARED), ("sweep", VARIED)]
)
def test_a_link_opens_sweep_and_compare_as_they_were(name, link, doubled):
    app = opened(link, page(name, linked=True))
    assert doubled == []
    assert address(app) == {"sample": "ines-theo", **link}
    assert address(clean(app.run())) == {"sample": "ines-theo", **link}
    assert not [text for text in app.text if "a view" in text.value]
    if link is SWEPT:
        assert app.multiselect(key="sweep-policies").value == ["top-down", "neighbours"]
        assert app.subheader[0].value == "neighbours, α 0.5, H 2, relevance dense"
        sides = {box.label: box.value for box in app.selectbox if box.label in "AB"}
        assert sides == {"A": "top-down, α 0.3, H 1", "B": "top-down"}
        assert labelled(app.selectbox, "Measured by").value == "quoted"
        assert not labelled(app.toggle, "Count category 5").value
        assert "Here K is 5 nodes" in labelled(app.selectbox, "Measured by").help
    elif link is COMPARED:
        assert app.multiselect(key="compared-systems").value == ["memtree", "bm25"]
        assert "relevance lexical, K 3, N 12 units." in texts(app)
        assert labelled(app.selectbox, "Measured by").value == "recall"
        assert keyed(app.selectbox, "question-box-")[0].value == "Who owns the boat?"
    else:
        assert app.text_input(key="varied-values-memtree-rate").value == "0.2, 0.6"


@pytest.mark.parametrize("name", ["sweep", "compare"])
def test_choices_at_their_defaults_stay_out_of_the_link(name):
    app = opened({}, page(name, linked=True))
    assert address(app) == {"sample": "ines-theo"}
    app.slider(key=f"{'sweep' if name == 'sweep' else 'compare'}-k").set_value(7).run()
    assert address(clean(app)) == {"sample": "ines-theo", f"{name}-k": "7"}
    app.slider(key=f"{name}-k").set_value(10).run()
    assert address(clean(app)) == {"sample": "ines-theo"}


@pytest.mark.parametrize("name", ["sweep", "compare"])
def test_choices_that_are_not_on_offer_give_way_to_the_default(name):
    """Each is fit for a link, and means nothing here."""
    stale = {
        **{"measured-by": "<b>", "sweep-relevance": "contextual:dates=0", "swept-over": "both"},
        **{"sweep-atlas-A": "<b>", "compare-atlas-B": "![x](https://example.org/x.png)"},
        **{"compare-relevance": "contextual:dates=0", "compare-turns": "90000", "sweep-k": "0"},
    }
    app = opened(stale, page(name, linked=True))
    assert labelled(app.selectbox, "Measured by").value == "reached"
    told = [text.value for text in app.text if "expected" in text.value]
    assert [one.partition("=")[0] for one in told] == ["swept-over", "sweep-k"]
    assert "example.org" not in texts(app)
    assert set(address(app)) & {"measured-by", f"{name}-relevance", f"{name}-atlas-A"} == set()


def test_values_of_a_parameter_from_a_link_bring_no_picture():
    values = "![x](https://example.org/x.png)"
    app = opened({**VARIED, "varied-values": values}, page("sweep", linked=True))
    assert "![x]" not in app.warning[0].value


def test_a_link_in_the_app_ends_what_was_chosen():
    app = opened(SWEPT, page("sweep", linked=True))
    app.query_params.clear()
    app.query_params["go"] = "1"
    clean(app.run())
    assert app.slider(key="sweep-k").value == 10
    assert address(app) == {"sample": "ines-theo"}


# --- what is asked -------------------------------------------------------------------------------


@pytest.mark.parametrize("name", ["ask", "compare"])
def test_a_question_stays_as_long_as_its_conversation(name):
    app = clean(page(name, linked=True).run())

    def asked():
        return keyed(app.selectbox, "question-box-")[0].value

    for question in ("Who owns the boat?", 3):
        if isinstance(question, str):
            ask_own(app, question)
        else:
            keyed(app.selectbox, "question-box-")[0].set_value(question).run()
        app.selectbox(key="unit").set_value("turn").run()
        assert asked() == question
        app.selectbox(key="system").set_value("memtree").run()
        assert asked() == question
        assert address(clean(app))["system"] == "memtree"
        app.selectbox(key="unit").set_value("exchange").run()
        app.selectbox(key="system").set_value("segment-tree").run()
        app.selectbox(key="sample").set_value("recurrence").run()
        assert asked() == 0
        assert address(clean(app)) == {"sample": "recurrence"}
        app.selectbox(key="sample").set_value("ines-theo").run()


def test_compare_asks_what_was_asked_on_ask():
    app = clean(page("ask").run())
    app.session_state["page"] = "compare"
    ask_own(app, "Who owns the boat?")
    assert keyed(clean(app).selectbox, "question-box-")[0].value == "Who owns the boat?"
    assert "No turn is gold: the question is your own." in texts(app)
    assert "gold turns found" not in texts(app)
    assert not any("gold, returned" in each.value for each in app.caption)
    app.session_state["page"] = "ask"
    clean(app.run())
    keyed(app.selectbox, "question-box-")[0].set_value(3).run()
    app.session_state["page"] = "compare"
    assert keyed(clean(app.run()).selectbox, "question-box-")[0].value == 3
    assert "gold turns found" in texts(app)


def test_without_questions_of_its_own_a_conversation_is_compared_by_a_typed_one(tmp_path):
    path = talk_file(tmp_path, [f"The boat leaks {i} times." for i in range(6)])
    app = open_path(page("compare").run(), path)
    assert "comes without questions: type one of your own" in texts(app)
    ask_own(app, "What leaks?")
    assert "by at least one system" in texts(clean(app))
    assert "All questions" not in [one.value for one in app.subheader]


@pytest.mark.parametrize("name", ["ask", "compare"])
def test_a_text_of_blanks_asks_nothing(name):
    app = opened({"text": "  "}, page(name, linked=True))
    assert keyed(app.selectbox, "question-box-")[0].value == 0
    assert address(app) == {"sample": "ines-theo"}


RESCUED = "Opened on the question this setting helps most."


def test_ask_says_why_it_opens_on_a_question():
    app = grow()
    app.session_state["page-wanted"] = "ask"
    clean(app.run())
    assert any(each.value.startswith(RESCUED) for each in app.caption)
    link = address(app)
    app.session_state["page-wanted"] = "ask"
    (box,) = keyed(app.selectbox, "question-box-")
    box.set_value(0 if link["question"] != "0" else 1).run()
    assert RESCUED not in texts(clean(app))
    again = grow()
    again.session_state["page-wanted"] = "ask"
    assert RESCUED not in texts(opened(link, again))
