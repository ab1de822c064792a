"""Tables whose cells wrap: literal texts, numbers below each other, nothing cut."""

import math

import pytest
from streamlit.testing.v1 import AppTest

from segviz.evaluation.aggregate import Mean
from segviz.ui.widgets.captions import spread
from tests.app.conftest import tables

ROWS = [
    {"place": "level 1", "says": "![x](http://a.test) *b*", "score": 0.5, "n": 9},
    {"place": "event or entity", "says": "<b>$x$</b>", "score": -1.25, "n": 1200},
    {"place": None, "says": "", "score": float("nan"), "empty": None},
]


def _page(rows) -> None:
    from segviz.ui.widgets.charts import table

    table(rows, about='A "table"', digits={"score": 3})


def shown(rows=ROWS):
    app = AppTest.from_function(_page, kwargs={"rows": rows}, default_timeout=180).run()
    assert not app.exception
    return tables(app)[0]


def test_texts_are_literal_numbers_have_their_decimals_and_empty_columns_are_left_out():
    found = shown()
    assert found["says"].tolist() == ["![x](http://a.test) *b*", "<b>$x$</b>", ""]
    assert found["score"].tolist() == ["0.500", "\u22121.250", ""]
    assert found["n"].tolist() == ["9", "1,200", ""]
    assert found["place"].tolist() == ["level 1", "event or entity", ""]
    assert "empty" not in found.columns
    assert shown([]).empty


@pytest.mark.parametrize(
    ("mean", "shown"),
    [
        (Mean(-0.5, -0.75, 0.25, 4), "\u22120.500 [\u22120.750,\xa00.250]"),
        (Mean(0.5, math.nan, math.nan, 1), "0.500"),
        (Mean(math.nan, math.nan, math.nan, 0), ""),
    ],
)
def test_a_mean_has_its_interval_if_it_is_known(mean, shown):
    assert spread(mean) == shown


def test_nodes_are_named_by_their_number():
    found = shown([{"node": 25566, "units": 1200}, {"node": 7, "units": 3}])
    assert found["node"].tolist() == ["25566", "7"]
    assert found["units"].tolist() == ["1,200", "3"]
