"""The five real LoCoMo conversations: invariants after every step, leaf counts, shape."""

from __future__ import annotations

import numpy as np
import pytest

import segviz
from segviz.tree import history
from segviz.tree.invariants import check
from segviz.tree.shape import boundary_f1, diagnose, random_f1, session_starts, shape
from tests.data import real_data

CONVERSATIONS = ("conv-26", "conv-30", "conv-43", "conv-47", "conv-49")
PAPER_LEAVES = {"conv-26": 204, "conv-30": 177, "conv-43": 326, "conv-47": 329, "conv-49": 240}


@pytest.fixture(scope="module")
def locomo():
    return segviz.load(real_data("locomo", "locomo5.json"))


@pytest.mark.parametrize("unit", ["exchange", "turn", "paper"])
@pytest.mark.parametrize("name", CONVERSATIONS)
@pytest.mark.slow
def test_clean_after_every_step(locomo, name, unit):
    memory = segviz.build(locomo[name], unit=unit)
    leaves = 0
    for structure in history(memory.steps):
        leaves += 1
        assert check(structure, "segment-tree") == []
        assert len(structure.leaves) == leaves
    expected = PAPER_LEAVES[name] if unit == "paper" else len(locomo[name].units(unit))
    assert leaves == expected


def measured(conversation):
    memory = segviz.build(conversation)
    starts = session_starts(unit.session for unit in memory.units)
    agreement = boundary_f1(memory.structure, starts), random_f1(memory.structure, starts)
    return shape(memory.structure), agreement


# Averages over LoCoMo, single-child nodes left out: the neighbourhood of the paper's Table 5.
RANGES = {
    "nodes_per_leaf": (1.15, 1.35),
    "max_depth": (3.0, 4.5),
    "mean_depth": (2.7, 3.6),
    "branching": (4.0, 9.0),
}


def test_calibrated_shape_on_locomo_lies_in_the_papers_neighbourhood(locomo):
    rows = [measured(locomo[name]) for name in CONVERSATIONS]
    for name, (low, high) in RANGES.items():
        mean = np.mean([getattr(found, name) for found, _ in rows])
        assert low <= mean <= high, (name, mean)
    assert max(found.widest for found, _ in rows) <= 60
    assert all(diagnose(found) == [] for found, _ in rows)
    ours, chance = np.mean([agreement for _, agreement in rows], axis=0)
    assert ours > 2 * chance


@pytest.mark.parametrize(
    "parts",
    [("longmemeval", "s_gpt4_4edbafa2.json"), ("realmem", "Kenta_Tanaka.json")],
    ids=["LongMemEval", "RealMem"],
)
def test_calibrated_shape_holds_where_nothing_was_tuned(parts):
    found, (ours, chance) = measured(segviz.load(real_data(*parts))[0])
    for name, (low, high) in RANGES.items():
        assert low / 2 <= getattr(found, name) <= high * 2, name
    assert found.widest <= 60
    assert diagnose(found) == []
    assert ours > 2 * chance
