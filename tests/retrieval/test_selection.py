import re
from dataclasses import replace

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from segviz.retrieval import (
    cut,
    cut_texts,
    distinct,
    estimated_tokens,
    ranking,
    ranks,
    select,
    top_k,
)
from segviz.retrieval.selection import level_distribution, repeats
from segviz.text.words import quotes
from tests.trees import best_nodes, grown, toy

scores_11 = st.lists(st.sampled_from([0.0, 0.1, 0.2, 0.3]), min_size=11, max_size=11)
level_sets = st.none() | st.sets(st.integers(0, 2), min_size=1)


def literal_ranking(scores, structure, levels):
    """Sort by (score down, id up), drop what is not active and other levels."""
    nodes = sorted(range(len(scores)), key=lambda v: (-scores[v], v))
    return [
        node
        for node in nodes
        if structure.active[node] and (levels is None or structure.level[node] in levels)
    ]


@given(scores_11, level_sets, st.booleans())
def test_ranking_equals_the_literal_form(values, levels, literal):
    scores, structure = np.array(values), toy() if literal else toy().collapsed
    found = ranking(scores, structure, levels).tolist()
    assert found == literal_ranking(scores, structure, levels)
    assert best_nodes(scores, structure, k=9, levels=levels) == found[:9]


@given(st.integers(0, 10**6), level_sets, st.booleans())
def test_ranks_are_places_in_the_ranking(seed, levels, literal):
    rng = np.random.default_rng(seed)
    structure = chains(rng) if literal else chains(rng).collapsed
    scores = rng.choice([0.0, 0.1, 0.2, rng.random()], size=len(structure))
    order = ranking(scores, structure, levels).tolist()
    expected = [order.index(n) + 1 if n in order else 0 for n in range(len(structure))]
    assert ranks(range(len(structure)), scores, structure, levels) == expected


def chains(rng):
    """Forty leaves, each under a chain of up to five nodes, all chains under one root."""
    nodes = [(0, i, i + 1) for i in range(40)]
    edges, tops = [], []
    for leaf in range(40):
        top = leaf
        for level in range(1, int(rng.integers(1, 6))):
            edges.append((len(nodes), top))
            top = len(nodes)
            nodes.append((level, leaf, leaf + 1))
        tops.append(top)
    nodes.append((6, 0, 40))
    return grown(nodes, [*edges, *((len(nodes) - 1, top) for top in tops)])


def test_scores_that_are_no_numbers_come_last():
    scores = np.full(11, np.nan)
    scores[[4, 5]] = 0.5
    assert top_k(scores, toy(), 3) == [4, 5, 0]


def literal_budget(order, texts, budget):
    """The nodes before which less than the budget is spent."""
    cost = [-(-len(texts[node]) // 4) for node in order]
    return [node for place, node in enumerate(order) if sum(cost[:place]) < budget]


texts_11 = st.lists(st.text("ab 雨", max_size=30), min_size=11, max_size=11)


@given(scores_11, texts_11, level_sets, st.integers(1, 60))
def test_a_budget_takes_texts_in_order_and_cuts_the_last(values, texts, levels, budget):
    s = toy()
    s = type(s)(s.level, s.start, s.stop, tuple(texts), s.vector, s.active, s.edges)
    found = best_nodes(np.array(values), s, levels=levels, budget=budget)
    order = literal_ranking(np.array(values), s, levels)
    assert found == literal_budget(order, texts, budget)
    read = cut_texts([texts[node] for node in found], budget)
    whole = [texts[node] for node in found]
    assert sum(map(estimated_tokens, read)) <= budget
    assert read[:-1] == whole[:-1]
    assert found  # never empty, however long the first text is
    assert whole[-1].startswith(read[-1])
    if read[-1] != whole[-1]:
        # No whole word of the last text could be added.
        word = re.match(r"\s*\S*", whole[-1][len(read[-1]) :])[0]
        left = budget - sum(map(estimated_tokens, read[:-1]))
        assert len(read[-1] + word) > 4 * left


def test_a_text_is_cut_after_a_whole_word_unless_the_first_is_too_long():
    assert cut("red bicycle", 1) == "red "
    assert cut("red bicycle", 2) == "red"
    assert cut("red bicycle", 3) == "red bicycle"
    assert cut("telescope of", 2) == "telescop"


def test_k_does_not_count_beside_a_budget():
    assert select([0, 1, 2], ["a", "b", "c"], 1, 100) == [0, 1, 2]
    with pytest.raises(ValueError, match="k is 0"):
        select([0], ["a"], 0, 100)


quoting = st.lists(
    st.sampled_from(["red bread", "red bread oven", "bread", "sea", "", "Sea "]),
    min_size=11,
    max_size=11,
)


@given(scores_11, quoting, level_sets, st.integers(1, 11))
def test_skipping_repeats_returns_k_nodes_that_no_better_one_repeats(values, texts, levels, k):
    s = replace(toy(), text=tuple(texts))
    text = [" ".join(each.lower().split()) or node for node, each in enumerate(texts)]
    repeats = {(each, each) for each in text}  # a text, and one that has or quotes it
    for low in range(11):
        above = low
        while s.parents[above] and quotes(texts[s.parents[above][0]], texts[low]):
            (above,) = s.parents[above]
            repeats.add((text[low], text[above]))
    expected = []
    for node in ranking(np.array(values), s, levels).tolist():
        if not any((text[node], text[better]) in repeats for better in expected):
            expected.append(node)
    limits = {"k": k, "levels": levels, "deduplicate": True}
    assert best_nodes(np.array(values), s, **limits) == expected[:k]


def test_repeats_are_nodes_of_the_same_text_and_ancestors_that_quote():
    (parent,) = toy().parents[0]
    texts = ["Ann: the red bread", "sea", "SEA  ", *[""] * 8]
    texts[parent] = "Ann and the red bread"
    s = replace(toy(), text=tuple(texts))
    found = repeats(s)
    assert found.first[:5].tolist() == [0, 1, 1, 3, 4]
    assert found.pairs.tolist() == [[0, parent]]
    assert list(distinct([parent, 0, 2, 1, 3, 4], s)) == [parent, 2, 3, 4]
    assert list(distinct([0, parent, 1], s)) == [0, parent, 1]  # the parent says more


@pytest.mark.parametrize("budget", [0, -3, 1.5, True, "9"])
def test_a_bad_budget_is_refused(budget):
    with pytest.raises(ValueError, match=r"budget is .* whole number, at least 1"):
        best_nodes(np.ones(11), toy(), budget=budget)


def test_tokens_are_a_quarter_of_the_characters_rounded_up():
    assert [estimated_tokens("x" * n) for n in (0, 1, 4, 5, 8)] == [0, 1, 1, 2, 2]


def test_level_distribution_lists_every_level():
    assert level_distribution(toy(), [0, 1, 8]) == {0: 2, 1: 1, 2: 0}
