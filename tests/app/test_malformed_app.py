"""Malformed input through the app; tests/malformed_inputs holds the inputs, and the tests of
loaders read every one of them.

Here some are opened by path, by upload and by pasting. Refused, the sidebar says so with what was
found and what to do, and what was open stays. Read, it stands in the load report and in the
transcript. Afterwards the page goes on: a step back, a question. Below, by number, what a kind
asks of the pages besides.
"""

import re

import pytest
from streamlit.testing.v1 import AppTest

from segviz import loaders
from segviz.loaders import LoadError, parse
from segviz.loaders.budget import Budget
from segviz.ui.sidebar import source
from segviz.ui.widgets.lists import SENT
from tests import malformed_inputs
from tests.app.conftest import ask_own, clean, on_canvas, page, read_message, texts
from tests.malformed_inputs.inputs import ANN

PASTED, UPLOADED = (4, 5, 16), (8, 35, 36, 40)


@pytest.fixture
def app(small) -> AppTest:
    return clean(page("grow").run())


def turn_to(app: AppTest, name: str) -> AppTest:
    app.session_state["page"] = name
    return clean(app.run())


def give(app: AppTest, given: malformed_inputs.Input, folder, way: str = "") -> AppTest:
    """Hand the input over as a user would."""
    way = way or _way(given.number)
    app.segmented_control(key="source").set_value(way).run()
    if way == "Upload":
        app.file_uploader[0].set_value((given.name, given.data, "application/json")).run()
    elif way == "Paste":
        app.text_area(key="paste").set_value(given.data.decode()).run()
    else:
        path = folder / given.name
        path.write_bytes(given.data)
        app.text_input(key="path").set_value(str(path)).run()
    return clean(app)


def _way(number: int) -> str:
    return "Paste" if number in PASTED else "Upload" if number in UPLOADED else "Path"


def report(app: AppTest) -> tuple[str, list[tuple[str, ...]]]:
    """Title and rows of the load report."""
    (panel,) = (e for e in app.expander if e.label.startswith("Load report"))
    said = "\n\n".join(re.sub(r"\\(.)", r"\1", str(each.value)) for each in panel.caption)
    found = (
        re.fullmatch(r"(Repaired|Skipped) \((.*?)\): (.*)", each) for each in said.split("\n\n")
    )
    return panel.label, [(match[1].lower(), match[2], match[3]) for match in found if match]


def transcript(app: AppTest) -> list[dict[str, object]]:
    """The turns that the transcript was sent, and the headings between them."""
    sent = (read_message(m.proto.bytes) for m in app.get("bidi_component"))
    return next(data["rows"] for data in sent if "rows" in data)


def turns(app: AppTest) -> list[dict[str, object]]:
    return [row for row in transcript(app) if "id" in row]


def refused(app: AppTest, given: malformed_inputs.Input, before: object) -> None:
    assert "**Not opened.** The previous conversation is still here." in texts(app)
    with pytest.raises(LoadError) as caught:
        parse(given.data, given.name)
    assert any(caught.value.what in text.value and given.where in text.value for text in app.text)
    assert app.session_state["last"].corpus is before


def read(app: AppTest, given: malformed_inputs.Input) -> None:
    assert "Not opened" not in texts(app)
    title, rows = report(app)
    kinds = [kind for kind, *_ in given.findings]
    news = "".join(
        f", {kinds.count(kind)} {kind}" for kind in ("repaired", "skipped") if kind in kinds
    )
    assert title == f"Load report of the file: {given.kept:,} kept{news}"
    assert sorted(row[:2] for row in rows) == sorted(given.findings)
    if given.said is not None:
        shown = turns(app)
        assert [row["speaker"] for row in shown] == [speaker for speaker, _ in given.said]
        for row, (_, text) in zip(shown, given.said, strict=True):
            assert row["text"] == text[:SENT]
            assert row.get("length", len(text)) == len(text)


def usable(app: AppTest) -> None:
    """A step back, where there is one, and a question."""
    if app.slider:
        app.button(key="go-chevron_left").click().run()
        assert clean(app).slider[0].value == app.slider[0].max - 1
    turn_to(app, "ask")
    ask_own(app, "hello?")
    assert on_canvas(clean(app))["words"] is not None


@pytest.mark.parametrize("number", [4, 10, 35], ids="N{:02}".format)
def test_an_input_is_refused_or_shown(app, tmp_path, number):
    first = app.session_state["last"].corpus
    for given in malformed_inputs.of(number):
        before = app.session_state["last"].corpus
        give(app, given, tmp_path)
        if not given.read:
            refused(app, given, before)
        else:
            read(app, given)
    if app.session_state["last"].corpus is not first:
        usable(app)


def test_n24_every_page_takes_a_single_leaf(app, tmp_path):
    give(app, malformed_inputs.of(24)[0], tmp_path)
    assert "This conversation has a single leaf" in texts(app)
    for name in ("ask", "sweep", "compare", "grow"):
        turn_to(app, name)


def test_n27_an_upload_above_the_limit_is_refused_with_the_other_way(app, tmp_path, monkeypatch):
    """The browser refuses first; this is what a request past it meets."""
    large = malformed_inputs.of(27)[0]
    before = app.session_state["last"].corpus
    monkeypatch.setattr(source, "upload_budget", lambda: Budget(1000))
    shown = texts(give(app, large, tmp_path, "Upload"))
    assert "At most 200 MB" in shown
    assert "A larger file is read where it is: choose Path." in shown
    assert "more than the 1000 bytes that are read at once" in shown
    assert "give its path on the machine that runs segviz" in shown
    assert app.session_state["last"].corpus is before
    usable(app)


def test_a_refused_upload_is_not_read_again_at_every_click(app, tmp_path, monkeypatch):
    calls = []
    parse = loaders.parse
    monkeypatch.setattr(loaders, "parse", lambda *a, **k: calls.append(1) or parse(*a, **k))
    give(app, malformed_inputs.of(3)[0], tmp_path, "Upload")
    usable(app)
    assert "**Not opened.**" in texts(app)
    assert len(calls) == 1


def test_a_long_load_report_is_sent_in_part(app, tmp_path):
    given = malformed_inputs.Input(0, "many", [ANN, *[{**ANN, "text": 5}] * 700], "chat.json")
    title, rows = report(give(app, given, tmp_path, "Path"))
    assert title.endswith("701 kept, 700 repaired")
    assert len(rows) == 100
    assert "The first 100 of 700" in texts(app)
