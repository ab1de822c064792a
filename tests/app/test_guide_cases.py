"""The paper's cases on Guide: stops where their conversation is open, a line where it is not."""

import json

import pytest

from segviz.evaluation.cases import CONVERSATION
from segviz.view.bookmark import Bookmark, encode
from tests.app.conftest import clean, grow, keyed, page, texts
from tests.app.test_address import address


@pytest.fixture
def with_a_case(tmp_path, monkeypatch, small_file):
    """The app opens on the small conversation, which asks Q2 last."""
    (sample,) = json.loads(small_file.read_text())
    asked = {"question": "What is the name of John's cousin's dog?", "answer": "Clara"}
    sample["qa"].append({**asked, "evidence": ["D2:7"], "category": 4})
    path = tmp_path / "case.json"
    path.write_text(json.dumps([sample]))
    monkeypatch.setenv("SEGVIZ_FILE", str(path))


def opened(app, name: str):
    app.session_state[f"case-{name}"] = True
    return clean(app.run())


@pytest.mark.usefixtures("small")
def test_without_the_conversation_there_is_one_line_about_it():
    app = clean(page("guide").run())
    assert f"The five questions are about {CONVERSATION} of LoCoMo" in texts(app)
    labels = [one.label for one in app.expander if one.label.startswith(("Q", "C."))]
    assert labels == [
        "C.3.1 · Every exchange changes the topic",
        "C.3.2 · One topic returns after long gaps",
    ]


@pytest.mark.usefixtures("with_a_case")
def test_a_case_says_what_the_paper_saw_and_what_is_seen_here():
    app = opened(page("guide").run(), "Q2")
    shown = texts(app)
    assert "Gold answer: Clara" in shown
    assert "Paper, App. C.4, Q2" in shown
    assert "**Dense, no propagation.** 1 gold leaf" in shown
    assert "which is not open" not in shown


@pytest.mark.usefixtures("with_a_case")
def test_its_button_opens_ask_on_that_question_and_setting():
    app = clean(grow().run())
    app.session_state["page-wanted"] = "guide"
    app = opened(clean(app.run()), "Q2")
    app.button(key="tour-Q2-2").click().run()
    clean(app)
    assert "**2 of 2**" in texts(app)
    assert "Q2, hybrid, no propagation. 1 gold leaf" in texts(app)
    assert address(app)["question"] == "4"
    assert address(app)["relevance"] == "hybrid"
    assert address(app)["policy"] == "none"


def test_the_topic_switching_sample_shows_what_its_tree_is_like():
    app = page("guide", linked=True)
    for name, value in encode(Bookmark(sample="topic-switching")).items():
        app.query_params[name] = value
    shown = texts(opened(app.run(), "C.3.1"))
    assert "This tree does not cascade" in shown
    link = next(one.proto for one in app.get("page_link") if "cosine" in one.proto.label)
    cascading = page("guide", linked=True)
    for part in link.query_string.split("&"):
        name, value = part.split("=")
        cascading.query_params[name] = value
    shown = texts(opened(cascading.run(), "C.3.1"))
    assert "This tree cascades" in shown
    assert "40 leaves make 820 nodes" in shown
    assert keyed(cascading.button, "tour-C.3.1")
