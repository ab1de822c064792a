"""Tables whose cells wrap: literal texts, numbers below each other, nothing cut."""

from __future__ import annotations

from streamlit.testing.v1 import AppTest


def _page() -> None:
    from segviz.ui.widgets.tables import table

    table(
        [
            {"place": "level 1", "says": "![x](http://a.test) *b*", "score": 0.5, "n": 9},
            {"place": "event or entity", "says": "<b>$x$</b>", "score": -1.25, "n": 1200},
            {"place": None, "says": "", "score": float("nan"), "empty": None},
        ],
        about="A table",
        digits={"score": 3},
    )


def shown():
    app = AppTest.from_function(_page, default_timeout=180).run()
    assert not app.exception
    return app.table[0].value


def test_texts_lose_every_mark():
    texts = shown()["says"].tolist()
    for text, read in zip(texts, ["![x](http://a.test) *b*", "<b>$x$</b>", ""], strict=True):
        assert text.replace("\\", "") == read
    assert "\\!\\[x\\]\\(http" in texts[0]
    assert "\\<b\\>" in texts[1]


def test_numbers_have_their_decimals_and_one_width():
    found = shown()
    assert [text.strip("\u2007") for text in found["score"]] == ["0.500", "\u22121.250", ""]
    assert [text.strip("\u2007") for text in found["n"]] == ["9", "1,200", ""]
    assert len({len(text) for text in found["n"][:2]}) == 1


def test_short_names_stay_on_one_line_and_empty_columns_are_left_out():
    found = shown()
    assert found["place"].tolist() == ["level\u00a01", "event or entity", ""]
    assert "empty" not in found.columns


def test_no_row_is_no_fault():
    def page() -> None:
        from segviz.ui.widgets.tables import table

        table([], about="Nothing")

    assert not AppTest.from_function(page, default_timeout=180).run().exception


def test_nodes_are_named_by_their_number():
    def page() -> None:
        from segviz.ui.widgets.tables import table

        table([{"node": 25566, "units": 1200}, {"node": 7, "units": 3}], about="Nodes")

    found = AppTest.from_function(page, default_timeout=180).run().table[0].value
    assert found["node"].tolist() == ["25566", "\u2007\u2007\u2007\u20077"]
    assert found["units"].tolist() == ["1,200", "\u2007\u2007\u2007\u20073"]
