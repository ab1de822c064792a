"""Rows of a table as charts: every number is drawn once, where its columns say."""

import pytest

from segviz.evaluation import Mean
from segviz.evaluation.compare import Chart
from segviz.figures.charts import rows_figure

HOW = {"colours": ("#b43a09", "#0072b2"), "neutral": "#777777"}
ROWS = [
    {
        "k": k,
        "system": system,
        "recall": Mean(0.1 * k + i, 0.05 * k + i, 0.2 * k + i, 9),
        "nodes": 10 * k,
        "nodes, paper": 12 * k,
        "level 0": 0.1 * k,
        "level 1": 1 - 0.1 * k,
    }
    for i, system in enumerate(("tree", "flat"))
    for k in (1, 2, 3)
]


def test_a_panel_for_each_column_and_a_series_for_each_value():
    figure = rows_figure(ROWS, Chart("k", ("recall", "nodes"), "system"), **HOW)
    drawn = {(one.name, one.xaxis): (list(one.x), list(one.y)) for one in figure.data}
    assert [title.text for title in figure.layout.annotations] == ["recall", "nodes"]
    assert drawn["tree", "x"] == ([1, 2, 3], pytest.approx([0.1, 0.2, 0.3]))
    assert drawn["flat", "x"] == ([1, 2, 3], pytest.approx([1.1, 1.2, 1.3]))
    assert drawn["tree", "x2"] == ([1, 2, 3], [10, 20, 30])
    assert drawn["printed in the paper", "x2"] == ([1, 2, 3], [12, 24, 36])
    assert ("printed in the paper", "x") not in drawn
    assert [one.name for one in figure.data if one.showlegend] == [
        "tree", "flat", "printed in the paper",
    ]  # fmt: skip
    assert figure.data[0].line.dash != figure.data[1].line.dash
    assert figure.data[0].marker.symbol != figure.data[1].marker.symbol


def test_dots_have_their_interval_and_stand_apart():
    figure = rows_figure(ROWS, Chart("k", ("recall",), "system", kind="dots"), **HOW)
    tree, flat = figure.data
    assert list(figure.layout.yaxis.ticktext) == ["1", "2", "3"]
    assert list(tree.error_x.array) == pytest.approx([0.1, 0.2, 0.3])
    assert list(tree.error_x.arrayminus) == pytest.approx([0.05, 0.1, 0.15])
    for a, b, tick in zip(tree.y, flat.y, figure.layout.yaxis.tickvals, strict=True):
        assert a < tick < b
        assert b - a < 0.5


def test_stacked_columns_and_a_line_of_means_over_panels():
    chart = Chart("k", ("level ", "recall"), panel="system", kind="stack")
    figure = rows_figure(ROWS, chart, **HOW)
    bars = [one for one in figure.data if one.type == "bar"]
    assert [(bar.name, bar.xaxis) for bar in bars] == [
        ("level 0", "x3"), ("level 1", "x3"), ("level 0", "x4"), ("level 1", "x4"),
    ]  # fmt: skip
    assert [a + b for a, b in zip(bars[0].y, bars[1].y, strict=True)] == pytest.approx([1, 1, 1])
    assert [one.name for one in figure.data if one.type == "scatter"] == ["recall", "recall"]
    assert figure.layout.barmode == "stack"


def test_only_some_rows_and_a_level_across():
    chart = Chart("k", ("nodes",), only=("system", "flat"), level="nodes, paper")
    figure = rows_figure(ROWS, chart, **HOW)
    assert [list(one.x) for one in figure.data] == [[1, 2, 3], [1, 2, 3]]
    assert figure.layout.shapes[0].y0 == 12
    (line,) = figure.layout.shapes
    assert (line.name, line.showlegend) == ("nodes, paper", True)


def test_what_hardly_changes_is_drawn_flat():
    rows = [{"k": k, "kept": 44 + 0.1 * k, "written": 10 * k} for k in (1, 2, 3)]
    figure = rows_figure(rows, Chart("k", ("kept", "written")), **HOW)
    low, high = figure.layout.yaxis.range
    assert low < 40
    assert high > 48
    assert figure.layout.yaxis2.range is None
