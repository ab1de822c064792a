"""The five real LoCoMo conversations: invariants after every step, leaf counts, shape."""

from __future__ import annotations

import pytest

import segviz
from segviz.invariants import check
from segviz.structure import history
from tests.data import real_data

CONVERSATIONS = ("conv-26", "conv-30", "conv-43", "conv-47", "conv-49")
PAPER_LEAVES = {"conv-26": 204, "conv-30": 177, "conv-43": 326, "conv-47": 329, "conv-49": 240}


@pytest.fixture(scope="module")
def locomo():
    return segviz.load(real_data("locomo", "locomo5.json"))


@pytest.mark.parametrize("unit", ["exchange", "turn", "paper"])
@pytest.mark.parametrize("name", CONVERSATIONS)
def test_clean_after_every_step(locomo, name, unit):
    memory = segviz.build(locomo[name], unit=unit)
    leaves = 0
    for structure in history(memory.steps):
        leaves += 1
        assert check(structure, "segment-tree") == []
        assert len(structure.leaves) == leaves
    expected = PAPER_LEAVES[name] if unit == "paper" else len(locomo[name].units(unit))
    assert leaves == expected


@pytest.mark.parametrize("name", CONVERSATIONS)
def test_calibrated_trees_neither_cascade_nor_collapse_into_a_star(locomo, name):
    structure = segviz.build(locomo[name]).structure
    assert 2 <= structure.level.max() <= 6
    assert max(len(children) for children in structure.children) <= 60
