"""A question that stands at a moment of the conversation, on the pages."""

import json

import pytest
from streamlit.testing.v1 import AppTest

import segviz
from segviz.retrieval import OPENING, PRESETS
from segviz.ui.inspector import changes
from tests.app.conftest import ask_own, clean, labelled, messages, on_canvas, page, texts
from tests.app.test_address import address, opened

TOTAL = 12
ASKED = [
    {"question": "What made the bread rise?", "evidence": ["D2:1", "D3:7"], "asked_at": "D2:5"},
    {"question": "Which colour?", "evidence": ["D1:1"], "asked_at": "D1:1"},
    {"question": "Where does Clara study?", "evidence": ["D2:7"]},
    {"question": "Which _*gears*_?", "evidence": ["D1:1"], "asked_at": "**D9:1**"},
]


@pytest.fixture(scope="module")
def moments_file(small_file, tmp_path_factory):
    """The small conversation with questions at several moments; one turn has a hostile id."""
    (sample,) = json.loads(small_file.read_text())
    sample["conversation"]["session_3"][0]["dia_id"] = "**D9:1**"
    path = tmp_path_factory.mktemp("moments") / "moments.json"
    path.write_text(json.dumps([{**sample, "qa": ASKED}]))
    return path


@pytest.fixture(autouse=True)
def moments(monkeypatch, moments_file):
    monkeypatch.setenv("SEGVIZ_FILE", str(moments_file))


def ask_page() -> AppTest:
    app = page("ask", linked=True)
    app.session_state["more-settings"] = True  # open
    return app


def step(app):
    return next(each for each in app.slider if each.label == "Memory after step")


def said(app) -> str:
    return next((each.value.replace("\\", "") for each in app.info), "")


def pick(app, index):
    app.selectbox[[box.label for box in app.selectbox].index("Question")].set_value(index)
    return clean(app.run())


def retrieved(app) -> list[int]:
    return on_canvas(app)["top_final"]


ENDS = " The axis ends there."


def known_until(day: int) -> str:
    return f" The last turn it knows is of {day:02d} May 2024."


AT_ITS_MOMENT = (
    "Asked after step 6 of 12, before D2:5; what came later is not known." + known_until(14) + ENDS
)


def test_it_is_asked_at_its_moment_and_the_page_says_so(moments_file):
    app = clean(ask_page().run())
    assert (step(app).value, step(app).max) == (6, TOTAL)
    assert said(app) == AT_ITS_MOMENT
    assert "1 not in the memory yet at this moment (D3:7)" in texts(app)
    assert on_canvas(app)["gold_later"] == 1
    assert "asked" not in address(app)
    conversation = segviz.load(moments_file)[0]
    memory = segviz.build(conversation)
    assert retrieved(app) == list(memory.ask(conversation.questions[0], PRESETS[OPENING]).after)


def test_the_step_can_be_moved_until_another_question_is_picked():
    app = clean(ask_page().run())
    clean(step(app).set_value(3).run())
    belongs = " The question belongs before D2:5, after step 6."
    later = "what came later is not known." + known_until(7) + belongs + ENDS
    assert said(app) == f"Asked after step 3 of 12; {later}"
    clean(labelled(app.selectbox, "K").set_value(4).run())
    assert (step(app).value, address(app)["asked"]) == (3, "3")
    clean(step(app).set_value(TOTAL).run())
    assert said(app).startswith("Asked after step 12 of 12; that is all of it. The question")
    assert address(app)["asked"] == "12"
    pick(app, 2)
    assert (step(app).value, said(app)) == (TOTAL, "")
    pick(app, 0)
    assert (step(app).value, said(app)) == (6, AT_ITS_MOMENT)
    assert "asked" not in address(app)


def test_without_a_moment_the_step_stays_from_question_to_question():
    app = pick(clean(ask_page().run()), 2)
    clean(step(app).set_value(5).run())
    asked = "Asked after step 5 of 12; what came later is not known."
    assert said(app) == asked + known_until(14) + ENDS
    ask_own(app, "Who is Clara?")
    assert step(app).value == 5
    pick(app, 0)
    assert step(app).value == 6
    pick(app, 2)
    assert step(app).value == TOTAL


@pytest.mark.parametrize(
    ("link", "value"),
    [
        ({"question": "1"}, 0),
        ({"question": "0", "asked": "9"}, 9),
        ({"question": "0", "asked": "99"}, 12),
        ({"text": "Who?", "asked": "4"}, 4),
    ],
)
def test_a_link_opens_at_the_moment_unless_it_names_a_step(link, value, moments_file):
    app = opened(link, ask_page())
    assert step(app).value == value
    assert said(app).startswith(f"Asked after step {value} of 12")
    assert address(app).get("asked") == (str(value) if "asked" in link else None)
    app.session_state["went"] = {"path": [str(moments_file)]}
    assert step(clean(app.run())).value == 6  # of the first question


def test_the_name_of_a_turn_is_no_markup():
    app = pick(clean(ask_page().run()), 3)
    assert r"\*\*D9:1\*\*" in app.info[0].value.replace(r"\:", ":")


def test_compare_asks_at_the_moment_too(moments_file):
    app = clean(page("compare").run())
    told = texts(app).replace("\\", "")
    assert "Asked before D2:5; what came later is not known." in told


def test_the_axis_ends_at_the_moment_and_one_click_asks_at_the_end_or_goes_back():
    app = clean(ask_page().run())
    (memory,) = app.session_state["memories"].values()
    assert on_canvas(app)["total_units"] == memory.at(6).collapsed.stop.max() < len(memory.units)
    clean(app.button(key="ask-at").click().run())
    assert (step(app).value, on_canvas(app)["total_units"]) == (TOTAL, len(memory.units))
    assert app.button(key="ask-at").label == "Ask at its moment"
    clean(app.button(key="ask-at").click().run())
    assert (step(app).value, "asked" in address(app)) == (6, False)


def date_box(app):
    return next(each for each in app.text_input if "before the date" in each.label)


def test_the_moment_can_be_a_date():
    app = pick(clean(ask_page().run()), 2)
    memory = segviz.build(app.session_state["last"].corpus[0])
    day = memory.units[7].time.date()
    clean(date_box(app).set_value(f"{day}").run())
    assert (step(app).value, address(app)["asked"]) == (memory.as_of(day), str(memory.as_of(day)))
    clean(date_box(app).set_value("some day").run())
    assert "is no time" in texts(app)
    assert step(app).value == memory.as_of(day)


def test_the_line_on_the_axis_moves_the_moment():
    app = pick(clean(ask_page().run()), 2)
    assert on_canvas(app)["now"] == TOTAL
    clean(step(app).set_value(5).run())
    assert on_canvas(app)["now"] == 5


def test_another_moment_beside_shows_what_changed(monkeypatch):
    app = clean(opened({"question": "2", "beside": "6"}, ask_page()))
    memory = segviz.build(app.session_state["last"].corpus[0])
    found = memory.changes(6, TOTAL)
    assert f"{len(found.added)} added" in texts(app)
    assert "after 14 May 2024 (step 6)" in texts(app)
    assert address(app)["beside"] == "6"
    # Of many nodes the first are listed.
    monkeypatch.setattr(changes, "_NODES", 2)
    (listed,) = [one["groups"] for one in messages(app.run()) if "only" in str(one.get("label"))]
    assert [(one["title"], len(one["items"])) for one in listed] == [
        (f"Added, 2 of {len(found.added)}", 2)
    ]
    labelled(app.radio, "Draw a second tree").set_value("nothing").run()
    assert "What changed" not in texts(clean(app))
    labelled(app.radio, "Draw a second tree").set_value("another moment").run()
    assert "What changed" in texts(clean(app))
