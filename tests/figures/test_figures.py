"""The data of the charts, not their pixels."""

import json
from dataclasses import replace

import numpy as np
import pytest

import segviz
from segviz.embedding import HashingEmbedder
from segviz.figures.cost import (
    POINTS,
    cost_figure,
    cost_rows,
    cost_sentence,
    dollars,
    series,
    total_sentence,
)
from segviz.llm import Price
from tests.trees import chat

COLOURS = {"accent": "#c2410c", "neutral": "#777777"}


def panels(figure):
    """The line of each panel by its title."""
    titles = [note.text.replace("<br>", " ") for note in figure.layout.annotations]
    return dict(zip(titles, figure.data, strict=True))


class TestCost:
    def memory(self, turns):
        talk = chat([[("AB"[i % 2], f"line {i} of talk") for i in range(turns)]])
        return segviz.build(talk, unit="turn", embedder=HashingEmbedder())

    def test_series_are_the_steps_costs(self):
        steps = self.memory(12).steps
        values = series(steps)
        assert values["modified"].tolist() == [s.cost.modified for s in steps]
        assert values["inspected"].tolist() == [s.cost.inspected for s in steps]

    def test_the_table_twin_has_every_step_and_no_column_of_nothing(self):
        steps = self.memory(12).steps
        rows = cost_rows(steps, np.zeros(12))
        assert [row["step"] for row in rows] == list(range(1, 13))
        assert [row["modified"] for row in rows] == [s.cost.modified for s in steps]
        assert not {"calls", "US dollars"} & set(rows[0])
        assert cost_rows(steps, np.ones(12))[0]["US dollars"] == 1

    def test_long_series_are_averaged_in_equal_blocks(self):
        steps = tuple(self.memory(12).steps) * 50
        figure = cost_figure(steps, **COLOURS)
        drawn = panels(figure)["modified"]
        assert len(drawn.y) == 200 <= POINTS  # blocks of three
        assert np.sum(drawn.y) * 3 == pytest.approx(sum(s.cost.modified for s in steps))
        assert len(json.dumps(figure.to_plotly_json(), default=str)) < 200_000

    def with_costs(self, **changes):
        steps = self.memory(8).steps
        return [replace(s, cost=replace(s.cost, **changes)) for s in steps]

    def test_times_of_cached_and_opened_steps_are_not_shown(self):
        steps = list(self.memory(8).steps)
        steps[2] = replace(steps[2], cost=replace(steps[2].cost, cached=1))
        assert np.isnan(series(steps)["ms"]).tolist() == [i == 2 for i in range(8)]
        assert "1 of 8 steps" in cost_sentence(steps)
        assert np.isfinite(panels(cost_figure(steps * 50, **COLOURS))["ms"].y).all()  # blocks
        assert "ms" not in panels(cost_figure(self.with_costs(cached=1), **COLOURS))
        assert "not saved" in cost_sentence(self.with_costs(seconds=0.0))

    def test_calls_tokens_and_money(self):
        steps = self.with_costs(calls=2, tokens=100, output=10)
        assert dollars(steps, None) is None
        spent = dollars(steps, Price(1.0, 2.0))
        assert spent.tolist() == pytest.approx([(90 * 1 + 10 * 2) / 1e6] * 8)
        names = set(panels(cost_figure(steps, spent=spent, **COLOURS)))
        assert {"calls", "tokens", "US dollars"} <= names
        assert "US dollars" not in panels(cost_figure(steps, **COLOURS))
        assert "16 model calls, 800 tokens" in total_sentence(steps, spent)
        assert "$0.0009" in total_sentence(steps, spent)
        assert "$" not in total_sentence(steps, None)

    def test_unknown_token_counts_make_the_cost_unknown_and_offline_costs_nothing(self):
        assert dollars(self.with_costs(calls=1), Price(1, 1)) is None
        offline = self.memory(5).steps
        assert dollars(offline, None).tolist() == [0] * 5
        assert "$" not in total_sentence(offline, dollars(offline, None))
