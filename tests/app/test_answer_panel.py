"""The answer panel over the wire: what is sent when, and what is shown of it."""

import re

import pytest
from streamlit.testing.v1 import AppTest

from tests.app.conftest import KEY, clean, open_path, talk_file, texts, with_server
from tests.llm.server import enum, say, status, texts_under


def _page() -> None:
    """The panel alone, under the first question of the conversation."""
    import streamlit as st

    from segviz.ui.pages.ask.answer import answer_panel
    from segviz.ui.settings import AnswerState
    from segviz.ui.sidebar.sidebar import sidebar

    session = sidebar()
    if session is not None:
        index = st.number_input("question", 0, 3, key="which")
        levels = None if st.toggle("any level", value=True, key="any") else ()
        question = session.conversation.questions[index]
        k = st.number_input("k", 1, 60, 10, key="excerpts")
        result = session.memory.ask(question.text, levels=levels, k=k)
        answer_panel(AnswerState(session, question, result.settings, None, result))


QUESTIONS = [
    {"question": "Which boat?", "answer": "red boat", "evidence": ["D1:1"], "category": 4},
    {
        "question": "Which plane?",
        "adversarial_answer": "a glider",
        "evidence": ["D1:1"],
        "category": 5,
    },
    {"question": "Which car?", "evidence": ["D1:2"], "category": 4},
    {"question": "Which line?", "answer": "3", "evidence": ["D1:4"], "category": 4},
]


@pytest.fixture
def app(tmp_path, server, monkeypatch):
    server.answer = lambda request: "2" if enum(request) else "a *red* <b>boat</b>"
    path = talk_file(tmp_path, [f"line {i} about red boats" for i in range(12)], qa=QUESTIONS)
    monkeypatch.setenv("SEGVIZ_FILE", str(path))
    return clean(AppTest.from_function(_page, default_timeout=180).run())


def has(app: AppTest, key: str) -> bool:
    return any(button.key == key for button in app.button)


def test_without_a_model_one_line_says_how_to_get_one(app, server):
    assert "Choose a chat model under Models in the sidebar" in texts(app)
    assert not has(app, "answer")


def test_an_answer_is_asked_for_by_a_button_and_shown_literally_with_its_overlap(app, server):
    with_server(app, server)
    assert server.requests == []
    assert server.url in texts(app)
    app.button(key="answer").click().run()
    assert len(server.requests) == 1
    assert server.authorizations == [f"Bearer {KEY}"]
    assert [t.value for t in clean(app).text if "boat" in t.value] == ["a *red* <b>boat</b>"]
    # SQuAD deletes the marks: "red bboatb", of which one word is shared.
    assert "Token F1 0.50, BLEU-1 0.50 against the gold answer" in texts(app)
    assert KEY not in texts(app)


def with_judge(app, server):
    """The app with a model that answers and another that grades."""
    with_server(app, server).text_input(key="model-grade-Another server").set_value("judge").run()
    return clean(app)


def test_the_grade_comes_on_request_and_stays(app, server):
    with_judge(app, server).button(key="answer").click().run()
    assert "Graded" not in texts(app)
    app.button(key="judge").click().run()
    assert "Graded **2** of 3 by judge (counts as correct)" in texts(clean(app))
    sent = len(server.requests)
    app.number_input(key="which").set_value(3).run()
    assert has(clean(app), "answer")
    app.number_input(key="which").set_value(0).run()
    assert "Graded **2** of 3" in texts(clean(app))
    assert len(server.requests) == sent == 2


def test_where_nothing_can_be_graded_the_panel_says_why(app, server):
    """Not by the model that answered; by rule where "not mentioned" is right; without a gold
    answer; without evidence."""
    with_server(app, server)
    said = ("No model is chosen to grade it", "The model did not give it", "no gold answer")
    for question, why in enumerate(said):
        app.number_input(key="which").set_value(question).run()
        app.button(key="answer").click().run()
        assert why in texts(clean(app))
        assert not has(app, "judge")
    app.toggle(key="any").set_value(False).run()
    assert "nothing to answer from" in texts(clean(app))


def test_a_failing_server_is_explained_and_can_be_tried_again(app, server):
    with_server(app, server)
    server.script(status(401))
    app.button(key="answer").click().run()
    assert "There is no answer." in texts(clean(app))
    assert "401" in texts(app)
    assert KEY not in texts(app)
    server.script()
    app.button(key="answer").click().run()
    assert "<b>boat</b>" in texts(clean(app))


def test_a_grade_outside_the_rubric_is_explained(app, server):
    with_judge(app, server).button(key="answer").click().run()
    server.script(*[say("7 of 3")] * 10)
    app.button(key="judge").click().run()
    assert "gave no grade from 0 to 3" in texts(clean(app))
    assert "'7 of 3'" in texts(app)


def test_a_model_name_is_no_markup(app, server):
    with_server(app, server, "a*b*[c](http://x)")
    label = app.button(key="answer").label
    assert label == r"Answer with a\*b\*\[c\]\(http\:\/\/x\)"


def test_what_the_model_reads_is_shown_in_two_orders_and_can_be_copied(app):
    (panel,) = [each for each in app.expander if each.label.startswith("What the model reads")]
    assert "excerpts, about" in panel.label
    assert "of them twice" in panel.label
    app.session_state["model-reads"] = True
    app.session_state["copy-context"] = True
    clean(app.run())
    (code,) = app.code
    assert "Which boat?" in code.value
    assert "line 3 about red boats" in code.value
    (order,) = [each for each in app.segmented_control if each.label == "Order"]
    clean(order.set_value("by rank").run())


def test_excerpts_for_which_the_prompt_has_no_room_are_counted(app, server, tmp_path):
    long = [f"line {i} about red boats" + " that sail" * 30 for i in range(120)]
    with_server(open_path(app, talk_file(tmp_path, long, qa=QUESTIONS)), server)
    app.number_input(key="excerpts").set_value(60).run()
    app.session_state["model-reads"] = True
    clean(app.run())
    (label,) = [each.label for each in app.expander if each.label.startswith("What the model")]
    read, found = re.findall(r"(\d+) of (\d+) excerpts", label)[0]
    assert f"no room for the {int(found) - int(read)} lowest-ranked excerpts" in texts(app)
    assert f"Sends the question and {read} excerpts" in texts(app)
    app.button(key="answer").click().run()
    (sent,) = server.asked
    assert len(texts_under(sent, "Messages")) + len(texts_under(sent, "Summary")) == int(read)
