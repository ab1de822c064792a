import math

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as hs
from hypothesis.extra import numpy as hnp

import segviz
from segviz.embedding import HashingEmbedder
from segviz.retrieval import RELEVANCE, initial_scores
from segviz.retrieval.relevance import Contextual, Hybrid, Lexical, Softmax
from segviz.retrieval.relevance.dense import sharpened
from segviz.retrieval.relevance.lexical import tokens
from tests.trees import chat, grown

EMBEDDER = HashingEmbedder()


def structure(*texts):
    turns = [("AB"[i % 2], text) for i, text in enumerate(texts)]
    return segviz.build(chat([turns]), unit="turn", embedder=EMBEDDER).structure


def literal_bm25(question, texts, k1, b):
    """Robertson's formula with Lucene's idf, written out over word lists."""
    documents = [tokens(text) for text in texts]
    # The index counts a text without words as one empty mark.
    lengths = [len(d) or 1 for d in documents]
    mean = sum(lengths) / len(lengths)
    scores = []
    for document, length in zip(documents, lengths, strict=True):
        total = 0.0
        for word in tokens(question):
            df = sum(word in d for d in documents)
            if not df:
                continue
            idf = math.log(1 + (len(documents) - df + 0.5) / (df + 0.5))
            tf = document.count(word)
            total += idf * tf / (tf + k1 * (1 - b + b * length / mean))
        scores.append(total)
    return scores


@pytest.mark.parametrize("name", list(RELEVANCE))
def test_every_model_scores_finitely_and_each_question_for_itself(name):
    s = structure("red boat sails", "blue dog barks", "", "green bread rises")
    score = RELEVANCE[name]().prepare(s, EMBEDDER)
    questions = ["boat", "which dog barks", "", "unknown words entirely", "bread and boat"]
    found = score(questions)
    assert np.isfinite(found).all()
    np.testing.assert_allclose(found, np.vstack([score([q]) for q in questions]), atol=1e-12)
    assert score([]).shape == (0, len(s))
    leaves = list(s.leaves)
    assert leaves[int(np.argmax(found[1, leaves]))] == leaves[1]
    assert RELEVANCE[name]().prepare(grown([], []), EMBEDDER)(["x"]).shape == (1, 0)


def test_lexical_equals_the_formula():
    s = structure("red boats and a red boat", "the dog saw boats", "bread", "dogs, dogs!")
    for k1, b in ((1.5, 0.75), (0.9, 0.4)):
        score = Lexical(k1, b).prepare(s, EMBEDDER)
        for question in ("red boat", "dog and bread", "What about boats?"):
            expected = literal_bm25(question, s.text, k1, b)
            np.testing.assert_allclose(score([question])[0], expected, rtol=1e-5)
    with pytest.raises(ValueError, match="b is 2"):
        Lexical(b=2)


def test_words_are_stemmed_and_the_commonest_dropped():
    assert tokens("The boats were Sailing, it is!") == ["boat", "sail"]


def test_codes_are_kept_as_they_are():
    """A pasted image of many short lines has ten thousands, and each stem takes a while."""
    assert tokens("x9ings disk_names 1990s") == ["x9ings", "disk_names", "1990s"]


class TestSharpened:
    """Shares after r / Σ r are the softmax of standardised scores over the temperature."""

    def literal(self, s, question, weights, temperature):
        total = np.zeros(len(s))
        for name, weight in weights.items():
            raw = RELEVANCE[name]().prepare(s, EMBEDDER)([question])[0]
            total += weight * (raw - raw.mean()) / raw.std()
        weights = np.exp(total / temperature)
        return weights / weights.sum()

    @pytest.mark.parametrize(
        "model", [*(Hybrid(0.5, t) for t in (0.5, 1, 2)), *(Softmax(t) for t in (0.2, 0.5, 3))]
    )
    def test_equals_the_softmax(self, model):
        s = structure("red boat sails", "blue dog barks", "green bread rises")
        found = model.prepare(s, EMBEDDER)(["the red dog"])
        weights = {"lexical": 1, "dense": 0.5} if isinstance(model, Hybrid) else {"dense": 1}
        expected = self.literal(s, "the red dog", weights, model.temperature)
        np.testing.assert_allclose(initial_scores(found)[0], expected)

    @given(hnp.arrays(float, (2, 5), elements=hs.floats(-1e6, 1e6)), hs.floats(0.1, 10))
    def test_never_zero_never_above_one_and_in_order(self, scores, temperature):
        found = sharpened(scores, temperature)
        assert (found > 0).all()
        assert (found.max(axis=1) == 1).all()
        for before, after in zip(scores, found, strict=True):
            assert (np.diff(after[np.argsort(before)]) >= 0).all()

    def test_temperatures_out_of_range_are_refused(self):
        for model in (Contextual, Softmax, Hybrid):
            with pytest.raises(ValueError, match="temperature is 0"):
                model(temperature=0)


def test_initial_scores_of_many_questions_are_independent():
    raw = np.array([[1.0, 3.0, -2.0], [0.0, 0.0, 0.0]])
    active = np.array([True, True, False])
    assert initial_scores(raw, active).tolist() == [[0.25, 0.75, 0], [0.5, 0.5, 0]]
    assert initial_scores(raw[0]).tolist() == [0.25, 0.75, 0]
    assert initial_scores(np.zeros(0)).tolist() == []
