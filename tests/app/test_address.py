"""The page's address names the view, and an opened link restores it."""

from dataclasses import replace
from urllib.parse import parse_qs

import pytest

from segviz.retrieval import OPENING, PRESETS, RetrievalSettings
from segviz.view.bookmark import Bookmark, decode, encode
from tests.app.conftest import (
    ask_own,
    clean,
    grow,
    keyed,
    on_canvas,
    open_path,
    page,
    settings,
    talk_file,
    texts,
    unfolded,
)

OPENED = PRESETS[OPENING]
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
    axis="clock",
    pins=(5, 9),
)


def opened(link, app=None):
    app = grow() if app is None else app
    for name, value in (parse_qs(link) if isinstance(link, str) else link).items():
        app.query_params[name] = value
    return clean(app.run())


def address(app):
    """What the browser is told to write."""
    return app.session_state["address-written"]["link"]


# --- links -------------------------------------------------------------------------------------

SMALL = "sample=recurrence&"
SWEPT = (
    "sweep-policies=top-down,neighbours&sweep-relevance=dense&sweep-k=5"
    "&sweep-cell=neighbours,0.5,2&sweep-atlas-A=top-down, α 0.3, H 1&sweep-atlas-B=top-down"
    "&measured-by=quoted&adversarial=no"
)
COMPARED = (
    "compared-systems=memtree,bm25&compare-relevance=lexical&compare-k=3&compare-atlas-A=BM25"
    "&measured-by=recall&adversarial=no&text=Who owns it?"
)
VARIED = (
    "swept-over=construction&varied-system=memtree&varied-parameter=rate&varied-values=0.2, 0.6"
)
LINKS = {
    "nothing": ("ask", "", Bookmark()),
    "everything": (
        "grow",
        "sample=topic-switching&unit=turn&compatibility=cosine&compatibility.threshold=0.35"
        "&refresh=lazy&question=3&policy=both&alpha=0.3&horizon=1&k=7&relevance=dense&levels=0,1"
        "&distinct=no&budget=600&node=5&view=Outline&colour=level&labels=words&axis=clock&pins=5,9",
        LINK,
    ),
    "sweep": (
        "sweep",
        SMALL + SWEPT,
        Bookmark(sample="recurrence", sweep_cell=("neighbours", 0.5, 2)),
    ),
    "construction": ("sweep", SMALL + VARIED, Bookmark(sample="recurrence")),
    "compare": ("compare", SMALL + COMPARED, Bookmark(sample="recurrence", text="Who owns it?")),
}


@pytest.mark.parametrize("name", LINKS)
def test_a_link_opens_its_view_and_is_written_again(name):
    at, link, view = LINKS[name]
    app = opened(link, page(at, linked=True))
    wanted = view if view.sample else replace(view, sample="ines-theo")
    said = {key: values[-1] for key, values in parse_qs(link).items()}
    wanted = replace(wanted, controls=decode(said)[0].controls)
    assert app.session_state["shown"] == wanted
    assert "Part of the link" not in texts(app)
    if name == "sweep":
        assert app.multiselect(key="sweep-policies").value == ["top-down", "neighbours"]
        assert "**neighbours, α 0.5, H 2, relevance dense**" in texts(app)
        sides = {box.label: box.value for box in app.selectbox if box.label in "AB"}
        assert sides == {"A": "top-down, α 0.3, H 1", "B": "top-down"}
        assert app.selectbox(key="measured-by").value == "quoted"
        assert not app.toggle(key="adversarial").value
        assert "Here K is 5 nodes" in app.selectbox(key="measured-by").help
    elif name == "compare":
        assert app.multiselect(key="compared-systems").value == ["memtree", "bm25"]
        assert app.selectbox(key="compare-relevance").value == "lexical"
        assert app.slider(key="compare-k").value == 3
        assert app.selectbox(key="measured-by").value == "recall"
    elif name == "construction":
        assert app.selectbox(key="varied-parameter").value == "rate"
        assert app.text_input(key="varied-values").value == "0.2, 0.6"
    else:
        assert address(app) == encode(wanted)
    if name in ("everything", "sweep", "compare"):
        again = opened(address(app), page(at, linked=True))
        assert (again.session_state["shown"], address(again)) == (wanted, address(app))


@pytest.mark.parametrize("name", ["grow", "sweep", "compare"])
def test_hostile_values_of_a_link_give_way_to_defaults_and_are_said_literally(name):
    picture = "![x](https://example.org/x.png)"
    link = {
        **{"sample": "recurrence", "system": "<b>mind</b>", "alpha": "7", "view": "<b>"},
        **{picture: "1", "unit": "turn"},
        **{"measured-by": "<b>", "sweep-relevance": "<b>", "swept-over": "both", "sweep-k": "0"},
        **{"sweep-atlas-A": "<b>", "compare-atlas-B": picture, "sweep-policies": "both,<b>"},
        **{"compared-systems": "mind", "compare-k": "many", "adversarial": "maybe"},
        **{"pins": "3,99999", "sweep-cell": "both,nan,2"},
    }
    app = opened(link, page(name, linked=True))
    said = {text.value.partition("=")[0] for text in app.text if "=" in text.value[:20]}
    assert {"system", "alpha", "sweep-cell"} <= said
    assert any(text.value.startswith(repr(picture)) for text in app.text)
    assert "pins: there is no node 99999" in texts(app)
    for shown in (*app.markdown, *app.caption, *app.warning, *app.info):
        assert "example.org" not in shown.value
    if name == "sweep":
        assert app.slider(key="sweep-k").value == 10
        assert app.multiselect(key="sweep-policies").value == ["both"]
        assert app.selectbox(key="measured-by").value == "in_evidence"
    if name == "compare":
        assert app.multiselect(key="compared-systems").value[0] == "segment-tree"
        assert app.slider(key="compare-k").value == 10
    assert {"sample", "unit", "pins"} <= {*address(app)}
    assert not {*address(app)} & {"system", "alpha", "view", picture}
    app.button(key="dismiss-link").click().run()
    assert "Part of the link" not in texts(clean(app))


def test_an_emptied_choice_stays_empty():
    app = opened({"sample": "recurrence", "compared-systems": "none"}, page("compare", linked=True))
    assert app.multiselect(key="compared-systems").value == []
    assert address(app)["compared-systems"] == "none"


def test_what_is_not_there_is_said_and_as_by_default():
    app = page("ask", linked=True)
    app.query_params["k"] = ["3", "7"]
    app = opened({"question": "999", "node": "99999"}, app)
    said = {text.value.partition(":")[0] for text in app.text}
    assert {"question", "node"} <= said
    assert any(text.value.startswith("'k' is given 2 times") for text in app.text)
    assert not any("'go'" in text.value for text in app.text)
    assert address(app) == {"sample": "ines-theo", "k": "7"}


def test_a_larger_k_than_the_box_offers_is_shown_as_it_is():
    app = opened({"k": "40"}, page("ask", linked=True))
    assert [box.value for box in app.selectbox if box.label == "K"] == [40]
    assert settings(app).k == 40


def test_values_of_a_parameter_from_a_link_bring_no_picture():
    link = VARIED.replace("0.2, 0.6", "![x](https://example.org/x.png)")
    app = opened(link, page("sweep", linked=True))
    assert "![x]" not in app.warning[0].value


# --- writing it ----------------------------------------------------------------------------------


def test_an_older_address_does_not_undo_a_change():
    """The browser may send the address it had before the last run wrote another."""
    app = opened({"system": "memtree"})
    app.selectbox(key="system").set_value("clustering").run()
    app.query_params["system"] = "memtree"
    clean(app.run())
    assert app.selectbox(key="system").value == "clustering"


@pytest.mark.parametrize("how", ["Back", "another page"])
def test_where_back_leads_and_the_link_of_another_page_are_followed(how):
    app = opened({"unit": "turn", "refresh": "lazy", "sweep-cell": "both,0.5,2", "k": "3"})
    app.query_params.clear()
    if how == "Back":
        app.session_state["went"] = {"sample": ["topic-switching"]}
    else:
        app.session_state["page-open"] = "guide"
        app.query_params["sample"] = "topic-switching"
    clean(app.run())
    assert app.selectbox(key="sample").value == "topic-switching"
    assert app.selectbox(key="unit").value == "exchange"
    assert address(app) == {"sample": "topic-switching"}


def test_a_conversation_that_is_not_there_is_waited_for(small_file):
    app = opened({"conversation": "small", "k": "7"})
    assert any("'small' is not in the open file" in text.value for text in app.text)
    open_path(app, small_file)
    assert settings(app).k == 7
    assert "is not in the open file" not in texts(app)


# --- what is asked -------------------------------------------------------------------------------


def test_a_question_stays_as_long_as_its_conversation():
    app = opened({"text": "  "}, page("ask", linked=True))  # blanks ask nothing

    def asked():
        return keyed(app.selectbox, "question-box-")[0].value

    assert asked() == 0
    for question in ("Who owns the boat?", 3):
        if isinstance(question, str):
            ask_own(app, question)
        else:
            keyed(app.selectbox, "question-box-")[0].set_value(question).run()
        app.selectbox(key="system").set_value("memtree" if question == 3 else "bm25").run()
        assert asked() == question
    app.selectbox(key="unit").set_value("turn").run()
    assert asked() == 3
    assert address(clean(app)).items() >= {"system": "memtree", "unit": "turn"}.items()
    app.selectbox(key="sample").set_value("recurrence").run()
    assert asked() == 0


def test_compare_asks_what_was_asked_on_ask():
    app = clean(unfolded(page("ask")).run())
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
    # Both pages say where they differ.
    told = texts(app).replace("\\", "")
    assert "Asked by relevance dense with K 10, on Ask by hybrid with K 10." in told
    app.session_state["page"] = "ask"
    app.session_state["more-settings"] = True
    assert "K 10; Compare asks by dense, K 10" in texts(clean(app.run())).replace("\\", "")


def test_without_questions_of_its_own_a_conversation_is_compared_by_a_typed_one(
    tmp_path, monkeypatch
):
    path = talk_file(tmp_path, [f"The boat leaks {i} times." for i in range(6)])
    monkeypatch.setenv("SEGVIZ_FILE", str(path))
    app = clean(unfolded(page("compare")).run())
    assert "This conversation has no questions" in texts(app)
    ask_own(app, "What leaks?")
    assert "by at least one system" in texts(clean(app))
    assert len(on_canvas(clean(page("ask").run()))["level"]) > 3  # before any is
    assert "All questions" not in [one.value for one in app.subheader]


RESCUED = "this one gains most"


def test_ask_says_why_it_opens_on_a_question():
    app = grow()
    app.session_state["page-wanted"] = "ask"
    clean(app.run())
    assert any(RESCUED in each.value for each in app.caption)
    link = address(app)
    app.session_state["page-wanted"] = "ask"
    (box,) = keyed(app.selectbox, "question-box-")
    box.set_value(0 if link["question"] != "0" else 1).run()
    assert RESCUED not in texts(clean(app))
    again = grow()
    again.session_state["page-wanted"] = "ask"
    assert RESCUED not in texts(opened(link, again))


# --- the tour ------------------------------------------------------------------------------------


def test_the_tour_leads_from_view_to_view():
    app = clean(grow().run())
    app.session_state["page-wanted"] = "guide"
    app.run()
    app.button(key="tour").click().run()
    assert "**1 of 5**" in texts(clean(app))
    assert address(app)["step"] == str(161 // 6)
    for number in range(2, 6):
        app.button(key="tour-Next").click().run()
        assert f"**{number} of 5**" in texts(clean(app))
    assert app.button(key="tour-Next").disabled
    assert "is answered." in texts(app)
    (memory,) = app.session_state["memories"].values()
    rescued = int(address(app)["node"])
    asked = memory.conversation.questions[int(address(app)["question"])]
    result = memory.ask(asked, settings(app))
    assert rescued in set(result.after) - set(result.before)
    app.button(key="tour-end").click().run()
    assert "of 5**" not in texts(clean(app))
