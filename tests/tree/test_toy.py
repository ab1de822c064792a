"""The seven-leaf tree is sound, and its numbers are those one gets by hand."""

from fractions import Fraction
from html import unescape

import numpy as np
import pytest

from segviz.figures.toy import numbered_tree, share_rows
from segviz.retrieval import POLICIES, initial_scores, propagate, spread
from segviz.systems import SYSTEMS
from segviz.tree.invariants import check
from segviz.tree.toy import toy_relevance, toy_structure
from segviz.view.palette import RAMPS


def test_it_is_a_segment_tree_of_seven_leaves():
    structure = toy_structure()
    assert check(structure, SYSTEMS["segment-tree"].invariants) == []
    assert (len(structure.leaves), len(structure)) == (7, 13)
    assert structure.collapsed.chain[11] == 9  # a single child
    assert len(toy_relevance()) == len(structure)


def test_top_down_by_hand():
    """Leaf 2 after two hops with α = 1/2: from itself, its parent and its grandparent."""
    structure = toy_structure()
    relevance = [Fraction(str(r)) for r in toy_relevance().tolist()]
    total = sum(relevance)
    own, parent, grandparent = (relevance[node] / total for node in (2, 7, 10))
    half = Fraction(1, 2)
    expected = (own + half * parent / 3 + half**2 * grandparent / 2 / 3) / (1 + half + half**2)
    result = propagate(
        initial_scores(toy_relevance()), structure.edges, "top-down", 0.5, 2, structure
    )
    assert result.final[2] == pytest.approx(float(expected), abs=1e-15)


@pytest.mark.parametrize("policy", POLICIES)
def test_every_share_is_written(policy):
    structure = toy_structure()
    matrix = spread(np.eye(13), structure.edges, policy, 1, structure)[1].T
    written = np.zeros((13, 13))
    for row in share_rows(matrix):
        share = Fraction(row["gives"].replace("all", "1"))
        for taker in map(int, row["to each of"].split(", ")):
            written[taker, int(row["node"])] = float(share)
    assert written == pytest.approx(matrix, abs=1e-12)


def test_the_tree_figure_shows_every_node_and_number():
    structure = toy_structure()
    initial = initial_scores(toy_relevance())
    figure = numbered_tree(
        structure,
        initial,
        initial[::-1],
        ramp=RAMPS["light"]["score"],
        borders=("#aaaaaa", "#000000"),
    )
    assert len(figure.layout.shapes) == 13
    for node, note in enumerate(figure.layout.annotations):
        *words, scores, number = unescape(note.text).split("<br>")
        assert " ".join(words) == structure.text[node]
        assert scores == f"{initial[node]:.3f} → <b>{initial[12 - node]:.3f}</b>"
        assert number == f"node {node}"
