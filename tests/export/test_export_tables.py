"""CSV, read back."""

from __future__ import annotations

import csv
import io

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

import segviz
from segviz.export import nodes_csv, ranks_csv, sweep_csv
from segviz.export.tables import cell, table
from segviz.export.text import legal
from segviz.retrieval import ranking
from tests.export.views import HOSTILE, ask_view, dag, forest, grow_view, holding, nothing


def read(text: str) -> list[dict[str, str]]:
    return list(csv.DictReader(io.StringIO(text, newline=""), strict=True))


def plain(written: str) -> str:
    """A text without the apostrophe that keeps it from being a formula."""
    return written[1:] if written[:1] == "'" and cell(written[1:])[1:2] == "'" else written


@pytest.mark.parametrize("text", [t for t in HOSTILE if legal(t).strip()[:1] in tuple("=+-@＝")])
def test_a_formula_becomes_a_text(text):
    assert cell(text).startswith("\"'")


@pytest.mark.parametrize("text", ["a=b", "1-2", "it's", "", "mail@example", "(=1)"])
def test_other_texts_stay(text):
    assert cell(text) == f'"{text}"'


@pytest.mark.parametrize(
    ("number", "written"),
    [(-1, "-1"), (-0.5, "-0.5"), (0.1, "0.1"), (None, ""), (float("nan"), "")],
)
def test_numbers_stay_numbers(number, written):
    assert cell(number) == written


@given(st.lists(st.text(), min_size=1, max_size=4))
def test_any_text_comes_back(texts):
    (row,) = csv.reader(io.StringIO(table(texts, []), newline=""), strict=True)
    assert [plain(found) for found in row] == [plain(legal(text)) for text in texts]
    for found in row:
        assert not found.lstrip(" \n\u00a0\u3000\ufeff\u200b\u200e\u200f").startswith(
            ("=", "+", "-", "@", "\t", "\r", "＝")
        )


@given(st.floats(allow_nan=False), st.integers())
def test_any_number_comes_back_exactly(real, whole):
    (row,) = csv.reader(io.StringIO(table([], [[real, whole]])[2:]))
    assert (float(row[0]), int(row[1])) == (real, whole)


def test_nodes_hold_every_column(memory):
    for structure in (memory.structure, forest(), dag()):
        rows = read(nodes_csv(holding(memory, structure)))
        assert [int(row["node"]) for row in rows] == list(range(len(structure)))
        for name in ("level", "start", "stop", "active"):
            assert [int(row[name]) for row in rows] == getattr(structure, name).tolist()
        for node, row in enumerate(rows):
            assert tuple(map(int, row["parents"].split())) == structure.parents[node]
            assert tuple(map(int, row["children"].split())) == structure.children[node]
            assert plain(row["text"]) == legal(structure.text[node])
            assert row["kind"] == structure.kind[node]
            depth = -1 if row["depth"] == "" else int(row["depth"])
            assert depth == structure.depth[node]


def test_nodes_name_the_ends_of_their_span(memory):
    for node, row in enumerate(read(nodes_csv(grow_view(memory)))):
        turns = memory.turn_ids(node)
        assert (row["first_turn"], row["last_turn"]) == (turns[0], turns[-1])
        held = {memory.units[u].session + 1 for u in memory.structure.coverage(node)}
        assert (int(row["first_session"]), int(row["last_session"])) == (min(held), max(held))


def test_nothing_is_a_line_of_names():
    assert read(nodes_csv(nothing())) == []
    assert nodes_csv(nothing()).count("\r\n") == 1


def test_hostile_nodes_come_back_literally(hostile):
    rows = read(nodes_csv(grow_view(hostile)))
    assert [plain(row["text"]) for row in rows] == [legal(t) for t in hostile.structure.text]


def slow_ranks(scores, structure, levels):
    """Rank of each competing node, the obvious way."""
    competing = [
        node
        for node in range(len(structure))
        if structure.active[node] and (levels is None or structure.level[node] in levels)
    ]
    competing.sort(key=lambda node: (-scores[node], node))
    return {node: rank for rank, node in enumerate(competing, start=1)}


@pytest.mark.parametrize("literal", [True, False])
@pytest.mark.parametrize("levels", [None, (0, 1), ()])
def test_ranks_equal_a_slow_count(memory, literal, levels):
    view = ask_view(
        memory,
        "How many gears?",
        literal=literal,
        levels=levels,
        policy="both",
        alpha=0.5,
        k=3,
    )
    result, structure = view.result, view.structure
    rows = read(ranks_csv(view))
    before = slow_ranks(result.initial, structure, levels)
    after = slow_ranks(result.final, structure, levels)
    assert len(rows) == len(after)
    for row in rows:
        node = int(row["node"])
        assert int(row["rank_initial"]) == before[node]
        assert int(row["rank_final"]) == after[node]
        assert float(row["initial"]) == result.initial[node]
        assert float(row["final"]) == result.final[node]
        assert float(row["change"]) == result.final[node] - result.initial[node]
    retrieved = {int(row["node"]): int(row["retrieved"]) for row in rows if row["retrieved"]}
    assert retrieved == {item.node: item.rank_after for item in result.evidence}
    order = ranking(result.final, structure, levels)
    assert [int(row["node"]) for row in rows] == order.tolist()


def test_ranks_mark_gold(memory):
    question = memory.conversation.questions[0]
    assert question.evidence
    view = ask_view(memory, question.text, literal=True)
    view = type(view)(memory, view.structure, type(view.bookmark)(), view.result)
    for row in read(ranks_csv(view)):
        held = [t for t in memory.turn_ids(int(row["node"])) if t in question.evidence]
        assert sorted(row["gold"].split()) == sorted(held)


def test_ranks_without_a_question_are_refused(memory):
    with pytest.raises(ValueError, match="Ask"):
        ranks_csv(grow_view(memory))


def test_a_sweep_comes_back(memory):
    found = segviz.sweep(
        memory, memory.conversation.questions, policies=["both"], alphas=[0.1, 0.5], horizons=[1, 2]
    )
    rows = read(sweep_csv(found))
    assert len(rows) == 1 + len(found.cells)
    for row, one in zip(rows, (found.baseline, *found.cells), strict=True):
        assert (row["policy"], float(row["alpha"]), int(row["horizon"])) == (
            one.policy,
            one.alpha,
            one.horizon,
        )
        assert float(row["recall"]) == one.recall.value
        assert int(row["questions"]) == one.recall.n
        shares = [float(row[name]) for name in row if name.startswith("share_level_")]
        assert np.allclose(shares, [one.levels[level] for level in sorted(one.levels)])
