import functools
import subprocess
import sys
import timeit
from importlib.util import find_spec
from pathlib import Path

import numpy as np
import pytest
from hypothesis import example, given
from hypothesis import strategies as st

from segviz.embedding import (
    EMBEDDERS,
    Cached,
    HashingEmbedder,
    background_lines,
    background_mean,
    get_embedder,
)
from tests.data import ROOT

TEXTS = ["The boat is called Alzira.", "bread", "", "Ünïcödé — 12 €", "a" * 50_000, "\n\t "]


@pytest.fixture(params=list(EMBEDDERS))
def embedder(request):
    if request.param == "wordllama":
        pytest.importorskip("wordllama", reason="no wordllama wheel for this platform")
    return EMBEDDERS[request.param]()


class TestEveryEmbedder:
    def test_shape_type_and_length(self, embedder):
        rows = embedder.embed(TEXTS)
        assert rows.shape == (len(TEXTS), 256)
        assert rows.dtype == np.float32
        lengths = np.linalg.norm(rows, axis=1)
        for text, length in zip(TEXTS, lengths, strict=True):
            assert length == pytest.approx(1.0 if text.strip() else 0.0, abs=1e-3)

    def test_no_text(self, embedder):
        assert embedder.embed([]).shape == (0, 256)

    def test_a_vector_depends_on_its_text_alone(self, embedder):
        together = embedder.embed(TEXTS)
        alone = np.vstack([embedder.embed([text]) for text in TEXTS])
        assert together.tobytes() == alone.tobytes()

    def test_similar_texts_are_closer(self, embedder):
        a, b, c = embedder.embed(
            ["the dog ran in the park", "dogs run in parks", "quarterly tax accounting rules"]
        )
        assert a @ b > a @ c


class Counting:
    name = "counting"

    def __init__(self):
        self.asked = []

    def embed(self, texts):
        self.asked.append(list(texts))
        return np.eye(4, dtype=np.float32)[[len(text) for text in texts]]


class TestCache:
    def test_each_text_is_embedded_once(self):
        inner = Counting()
        cached = Cached(inner)
        first = cached.embed(["a", "bb", "a"])
        again = cached.embed(["bb", "ccc"])
        assert inner.asked == [["a", "bb"], ["ccc"]]
        assert first.argmax(axis=1).tolist() == [1, 2, 1]
        assert again.argmax(axis=1).tolist() == [2, 3]
        assert (cached.hits, cached.misses) == (2, 3)

    def test_results_equal_the_inner_model(self):
        texts = ["one", "two", "three"]
        cached = Cached(HashingEmbedder())
        cached.embed(texts[:1])
        assert cached.embed(texts).tobytes() == HashingEmbedder().embed(texts).tobytes()

    def test_writing_into_a_result_does_not_spoil_the_cache(self):
        cached = Cached(Counting())
        with pytest.raises(ValueError, match="read-only"):
            cached.embed(["a"])[0, 0] = 99
        cached.embed(["a"])[0, 0] = 99
        assert cached.embed(["a"])[0, 0] == 0

    def test_the_least_recently_used_is_forgotten(self):
        inner = Counting()
        cached = Cached(inner, limit=2)
        for texts in (["a", "bb"], ["a", "a"], ["ccc"], ["a"], ["bb"]):
            cached.embed(texts)
        assert inner.asked == [["a", "bb"], ["ccc"], ["bb"]]


WORDWISE = st.lists(
    st.sampled_from(
        [*"ab\n\t\u00a0\u2581<>/\u0301漢😀.\u2028\ufeff\0", " ", " a", " the", "<s>", "</s>"]
    )
    | st.characters(codec="utf-8")
).map("".join)


@given(WORDWISE)
@example("\n a\n\nb \na  b")
@example("a\n b\n\n a\n")
def test_tokens_word_by_word_are_those_of_the_whole_text(text):
    model = get_embedder("wordllama").inner
    whole = package_tokenizer().encode(text, add_special_tokens=False).ids
    assert model._tokenizer.ids(text) == whole
    assert not text.strip() or model._tokens(text).tolist() == whole


@functools.cache
def package_tokenizer():
    """What the package reads of the same file."""
    tokenizers = pytest.importorskip("tokenizers")
    (folder,) = find_spec("wordllama").submodule_search_locations
    file = Path(folder) / "tokenizers" / "l2_supercat_tokenizer_config.json"
    return tokenizers.Tokenizer.from_file(str(file))


def test_a_long_word_takes_time_in_proportion_to_its_length():
    ids = get_embedder("wordllama").inner._tokenizer.ids
    short, long = (
        min(timeit.repeat(lambda n=n: ids("ab" * n), number=1, repeat=3)) for n in (2000, 20_000)
    )
    assert long < 40 * short


def test_unknown_name_lists_the_legal_ones():
    with pytest.raises(ValueError, match="wordllama, hashing"):
        get_embedder("word2vec")


def test_auto_falls_back_to_hashing_where_wordllama_is_missing(monkeypatch):
    def missing():
        raise ImportError("no wheel")

    monkeypatch.setitem(EMBEDDERS, "wordllama", missing)
    from segviz import embedding as embed

    embed._loaded.cache_clear()
    assert get_embedder("auto").name.startswith("hashing")
    embed._loaded.cache_clear()


def test_background_is_other_text_and_moves_the_mean():
    lines = background_lines()
    assert len(lines) > 300
    assert len(set(lines)) == len(lines)
    mean = background_mean(HashingEmbedder())
    expected = HashingEmbedder().embed(lines).mean(axis=0)
    np.testing.assert_allclose(mean, expected, atol=1e-6)
    assert np.linalg.norm(mean) > 0.05


def test_loading_wordllama_leaves_the_root_logger_alone():
    script = (
        "import logging; from segviz.embedding import get_embedder; get_embedder().embed(['x']);"
        "root = logging.getLogger(); print(len(root.handlers), root.level)"
    )
    done = subprocess.run(
        [sys.executable, "-c", script], capture_output=True, text=True, check=True, cwd=ROOT
    )
    assert done.stdout.split() == ["0", "30"]
