"""The non-temporal tree against a literal restatement of SegTreeMem App. F; flat baselines."""

import random
from dataclasses import replace

import numpy as np
import pytest

from segviz.retrieval.relevance import RELEVANCE
from segviz.systems.clustering import Clustering
from segviz.tree import Retire, Step, history
from tests.retrieval.test_relevance import literal_bm25
from tests.systems.common import Letters, bracket, build, run
from tests.trees import small_chat


def literal(texts, threshold):
    """Members of each cluster, comparing with the mean of the members' embeddings."""
    clusters = []
    for i, text in enumerate(texts):
        e = Letters().embed([text])[0].astype(float)
        scores = []
        for members in clusters:
            mean = Letters().embed([texts[m] for m in members]).astype(float).mean(axis=0)
            lengths = np.linalg.norm(mean) * np.linalg.norm(e)
            scores.append(round(float(mean @ e) / lengths, 7) if lengths else 0.0)
        if scores and max(scores) >= threshold:
            clusters[scores.index(max(scores))].append(i)
        else:
            clusters.append([i])
    return clusters


WORDS = ["a", "b", "c", "ab", "bc", "aab", "abcd", "x"]


@pytest.mark.parametrize("threshold", [-1, 0.12345, 0.54321, 0.87654, 1.01])
def test_against_the_literal_rule(threshold):
    rng = random.Random(606)
    for _ in range(15):
        texts = [rng.choice(WORDS) for _ in range(rng.randrange(1, 18))]
        steps = run(Clustering(threshold=threshold, annotate=bracket), texts)
        for heard, s in enumerate(history(steps), start=1):
            (root,) = s.roots
            found = [[int(s.start[leaf]) for leaf in s.children[c]] for c in s.children[root]]
            assert found == literal(texts[:heard], threshold)
        for cluster, members in zip(s.children[root], found, strict=True):
            own = [texts[m] for m in members]
            assert s.text[cluster] == (bracket(own) if len(own) > 1 else own[0])
            assert np.array_equal(s.vector[cluster], Letters().embed([s.text[cluster]])[0])


def test_the_decision_shows_the_nearest_clusters_best_first():
    steps = run(Clustering(threshold=0.9, annotate=bracket), ["a", "b", "c", "aab"])
    decision = steps[3].decision
    assert [round(c.score, 3) for c in decision.candidates] == [0.894, 0.447, 0.0]
    assert decision.chosen is None
    assert "stays below 0.90" in decision.why
    assert run(Clustering(threshold=0.8), ["a", "b", "c", "aab"])[3].decision.chosen == 1


@pytest.fixture(scope="module")
def bm25():
    return build("bm25", small_chat())


@pytest.mark.parametrize(
    "question", ["red bicycle gears", "Did the sourdough bread rise?", "zzz", ""]
)
def test_bm25_is_the_formula_and_its_words_add_up(bm25, question):
    expected = np.array(literal_bm25(question, [u.text for u in bm25.units], 1.5, 0.75))
    recall = bm25.model.retrieve(question, bm25.view())
    assert np.allclose(recall.scores, expected, atol=1e-6)
    assert set(recall.ranked) == set(np.flatnonzero(expected > 0).tolist())
    *words, total = recall.stages
    assert total.name == "sum over words"
    summed = np.zeros(len(bm25.structure))
    for stage in words:
        summed[list(stage.nodes)] += stage.scores
    assert np.allclose(summed, recall.scores, atol=1e-6)


def test_dense_puts_a_units_own_text_first():
    memory = build("dense", small_chat())
    for unit in memory.units:
        assert memory.ask(unit.text, method="native", k=1).after == (unit.index,)


def test_retired_texts_do_not_count_in_any_relevance():
    """Word frequencies and standardisation are those of the nodes that are left."""
    memory = build("dense", small_chat())
    gone = Step(memory.units[-1], "", None, (Retire(0),), operation="delete")
    less = replace(memory, steps=(*memory.steps, gone))
    told = small_chat()
    first = replace(told.sessions[0], turns=told.sessions[0].turns[1:])
    without = build("dense", replace(told, sessions=(first, told.sessions[1])))
    for relevance in RELEVANCE:
        mine = less.scorer(relevance)(["red bicycle bread"])[0]
        theirs = without.scorer(relevance)(["red bicycle bread"])[0]
        assert mine[0] == 0
        assert np.allclose(mine[1:], theirs, atol=1e-6)
