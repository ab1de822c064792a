"""The papers' numbers: complete, in range, and consistent with each other."""

import math

import pytest

from segviz.evaluation.published import (
    CAVEATS,
    REPORTED,
    SOURCES,
    printed_layers,
    printed_ratio,
    printed_shapes,
)
from segviz.systems import SYSTEMS
from segviz.tree.shape import Layer


def reported(data: str = "", metric: str = "", system: str = ""):
    """The rows that agree with everything named."""
    wanted = {"data": data, "metric": metric, "system": system}
    return [
        row
        for row in REPORTED
        if all(not value or getattr(row, name) == value for name, value in wanted.items())
    ]


SHARES = ("accuracy", "pass@1", "pass@8", "f1-percent", "bleu", "rouge", "reassigned")
HIGHEST = {"judge": 1, "f1": 1, **dict.fromkeys((*SHARES, "follow-up-rate"), 100)}


def test_every_row_names_a_known_source_and_lies_in_its_range():
    for row in REPORTED:
        assert row.source in SOURCES
        assert 0 <= row.value <= HIGHEST.get(row.metric, math.inf)
        assert (row.low is None) == (row.high is None)
        if row.low is not None:
            assert row.low < row.value < row.high
    assert set(CAVEATS) <= {(row.source, row.table) for row in REPORTED}


def test_no_number_is_given_twice():
    keys = [(r.source, r.table, r.data, r.metric, r.system, r.variant) for r in REPORTED]
    assert len(set(keys)) == len(keys)


def test_table_4_is_whole():
    systems = {"bm25", "dense", "A-MEM", "Mem0", "HippoRAG", "raptor", "memtree", "segment-tree"}
    for metric in ("judge", "f1"):
        for data in ("LoCoMo", "LongMemEval-MAB", "RealMem"):
            rows = [r for r in reported(data, metric) if r.table == "Table 4"]
            assert {r.system for r in rows} == systems
            assert len(rows) == 9


@pytest.mark.parametrize(
    ("data", "losses"),
    [
        ("LoCoMo", {"clustering": 0.020, "segment-tree": 0.101}),
        ("LongMemEval-MAB", {"clustering": 0.019, "segment-tree": 0.107}),
        ("RealMem", {"clustering": 0.051, "segment-tree": 0.144}),
    ],
)
def test_table_3_gives_the_differences_of_its_rows(data, losses):
    """The paper prints 0.111 for SegTreeMem on LoCoMo, where its rows differ by 0.101."""
    orders = ["original order", "30 % of turn pairs swapped"]
    for system, loss in losses.items():
        rows = [r for r in reported(data, "judge", system) if r.table == "Table 3"]
        original, permuted = rows
        assert [row.variant for row in rows] == orders
        assert original.value - permuted.value == pytest.approx(loss)


def test_systems_of_ours_go_by_our_names():
    ours = {row.system for row in REPORTED} & set(SYSTEMS)
    assert {"segment-tree", "clustering", "memtree", "raptor", "bm25", "dense"} <= ours
    labels = {row.system for row in REPORTED} - set(SYSTEMS)
    assert not {label for label in labels if label.lower() in SYSTEMS}


def test_table_5_agrees_with_itself():
    """Nodes other than leaves, times their children, make all nodes but the root."""
    for row in [*printed_shapes("segment-tree", ""), *printed_shapes("memtree", "")]:
        inner = row["nodes"] - row["leaves"]
        assert row["mean depth"] <= row["max depth"]
        assert inner * row["branching"] == pytest.approx(row["nodes"] - 1, rel=0.13), row["memory"]


def test_ratios_of_levels_are_those_of_the_printed_counts():
    ((first, counts),) = printed_layers("h-mem", "LoCoMo").items()
    assert (first.source, first.table, counts["relations"]) == ("h-mem", "Table 7", 3670.8)

    def ratio(level, kind, *below, counts=counts):
        return printed_ratio(counts, Layer(level, kind, 1, 0, 0, 1.0, below, 1.0))

    assert ratio(2, "summary", (1, "event")) == pytest.approx(563.7 / 995.1)
    assert ratio(4, "summary", (3, "summary")) == pytest.approx(100.9 / 419.7)
    assert ratio(1, "event", (0, "")) == pytest.approx(995.1 / 596.5)
    assert ratio(0, "") is None
    assert ratio(2, "scene", (1, "event")) is None
    (themes,) = printed_layers("xmemory", "LoCoMo").values()
    assert ratio(3, "theme", (2, "semantic"), counts=themes) == pytest.approx(1 / 4.48, rel=0.01)


def test_published_rows_go_with_their_own_system_and_data():
    (row,) = printed_shapes("raptor", "LoCoMo")
    assert (row["memory"], row["kind"]) == ("RAPTOR, LoCoMo", "published")
    assert "calls/leaf" not in row
    assert row["nodes/leaf"] == row["nodes"] / row["leaves"]
    assert len(printed_shapes("raptor", "WhatsApp export")) == 3
    assert [row.data for row in printed_layers("h-mem", "LongMemEval")] == ["LongMemEval-S"]
    assert printed_shapes("h-mem", "LoCoMo") == []
    assert printed_layers("memforest", "LoCoMo") == {}
