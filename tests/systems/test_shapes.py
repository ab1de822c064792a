"""Offline defaults give the shapes the papers report, on five LoCoMo conversations."""

from __future__ import annotations

import numpy as np
import pytest

import segviz
from segviz.tree.shape import shape
from tests.data import real_data

pytestmark = pytest.mark.slow


@pytest.fixture(scope="module")
def locomo():
    return segviz.load(real_data("locomo", "locomo5.json"))


def test_clusters_are_five_to_forty_per_cent_of_the_units(locomo):
    for conversation in locomo:
        s = segviz.build(conversation, "clustering").structure
        assert 0.05 <= (s.level == 1).sum() / len(s.leaves) <= 0.40


@pytest.mark.parametrize(
    ("settings", "ranges"),
    [
        # With the paper's own thresholds, and offline quotes of 80 words, it goes too deep.
        ({}, ((1.5, 1.8), (7, 8), (3.5, 5.5), (2.1, 2.8))),
        # The shorter a topic's quote, the less it attracts.
        (
            {"base": 0.35, "annotate": {"name": "extractive", "max_words": 10}},
            ((1.6, 1.75), (5.5, 8), (3.6, 4.1), (2.35, 2.6)),
        ),
    ],
)
def test_memtree_is_near_table_5(locomo, settings, ranges):
    """SegTreeMem Table 5, LoCoMo: 1.69 nodes per leaf, max depth 5.9, mean 3.82, branching 2.45,
    the contentless root included."""
    rows = []
    for conversation in locomo:
        s = segviz.build(conversation, "memtree", **settings).structure
        inner, found = int((s.level > 0).sum()) + 1, shape(s)
        leaves = len(s.leaves)
        rows.append(
            ((len(s) + 1) / leaves, found.max_depth + 1, found.mean_depth + 1, len(s) / inner)
        )
    for mean, (low, high) in zip(np.mean(rows, axis=0), ranges, strict=True):
        assert low <= mean <= high


def test_raptor_has_broad_layers(locomo):
    """SegTreeMem Table 5, LoCoMo: 290 nodes over 281 leaves, branching 34, depth 2.2; other
    data sets 12 to 22 and 4.4 to 5.2."""
    s = segviz.build(locomo["conv-30"], "raptor").structure
    found = shape(s)
    assert found.nodes_per_leaf <= 1.2
    assert 8 <= found.branching <= 40
    assert 2 <= found.max_depth <= 5
