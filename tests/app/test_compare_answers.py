"""The answers of Compare over the wire: cost first, graded, paused, kept."""

import re

import pytest
from streamlit.testing.v1 import AppTest

from tests.app.conftest import clean, page, tables, talk_file, texts, unfolded, with_server
from tests.llm.server import enum, status, texts_under

QUESTIONS = [
    {"question": "Which boat?", "answer": "red boat", "evidence": ["D1:1"], "category": 4},
    {"question": "Which plane?", "adversarial_answer": "a glider", "category": 5},
    {"question": "Which car?", "evidence": ["D1:2"], "category": 4},
    {"question": "Which line?", "answer": "three", "evidence": ["D1:4"], "category": 1},
]


@pytest.fixture
def app(tmp_path, server, monkeypatch):
    def answer(request):
        if not enum(request):
            return "red boat"
        return "3" if "red boat" in texts_under(request, "Reference") else "0"

    server.answer = answer
    path = talk_file(tmp_path, [f"line {i} about red boats" for i in range(12)], qa=QUESTIONS)
    monkeypatch.setenv("SEGVIZ_FILE", str(path))
    app = unfolded(page("compare"))
    app.session_state["answers"] = True
    return clean(app.run())


def with_models(app: AppTest, server) -> AppTest:
    with_server(app, server).text_input(key="model-grade-Another server").set_value("judge").run()
    return clean(app)


def test_without_a_model_a_line_says_how_to_get_one(app, server):
    assert "to have the questions answered" in texts(app)
    assert server.requests == []


def test_calls_are_told_first_and_answers_are_graded_on_a_click(app, server):
    with_models(app, server)
    assert server.chats == []
    told = {
        model: int(calls)
        for model, calls in re.findall(r"(\S+) \w+: about (\d+) calls", texts(app))
    }
    app.button(key="answer-all").click().run()
    sent = [request["model"] for request in server.chats]
    assert sent.count("test-model") == told["test-model"]  # the same evidence is sent once
    assert 0 < sent.count("judge") <= told["judge"]
    (found,) = (t for t in tables(clean(app)) if "gold answer" in t.columns)
    assert list(found["gold answer"]) == ["red boat", "Not mentioned.", "three"]
    first = found.columns[3]
    assert list(found[first]) == ["3: red boat", "0: red boat", "0: red boat"]
    (by_category,) = (t for t in tables(app) if "5 adversarial" in t.columns)
    assert by_category["4 single-hop"][0].startswith("1.000")
    (stages,) = [line for line in texts(app).split("\n") if line.startswith("Stages of gold")]
    assert "0% of" not in stages
    assert "100% of" not in stages  # what was read for a wrong answer counts apart
    sent = len(server.chats)
    app.run()
    assert len(server.chats) == sent


def test_a_judge_that_gives_one_grade_is_called_of_no_use(app, server):
    with_models(app, server)
    server.answer = lambda request: "1" if enum(request) else "red boat"
    app.button(key="answer-all").click().run()
    assert "The judge gave the grade 1 to all" in texts(clean(app))


def test_without_a_grading_model_overlap_is_shown(app, server):
    with_server(app, server).button(key="answer-all").click().run()
    assert {request["model"] for request in server.chats} == {"test-model"}
    assert "–: red boat" in str([t.to_dict() for t in tables(clean(app))])


def test_a_server_that_fails_pauses_and_the_next_click_asks_the_rest(app, server):
    with_models(app, server)
    server.fault = lambda request: status(401) if len(server.chats) > 2 else None
    app.button(key="answer-all").click().run()
    assert "Paused after" in texts(clean(app))
    answered = [str(request["messages"]) for request in server.chats[:2]]
    server.fault = lambda request: None
    before = len(server.chats)
    app.run()
    app.button(key="answer-all").click().run()
    assert not {str(request["messages"]) for request in server.chats[before:]} & {*answered}
    assert any("gold answer" in table.columns for table in tables(clean(app)))
