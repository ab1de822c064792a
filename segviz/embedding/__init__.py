"""Texts to vectors, offline by default.

``protocols``   what an embedder promises
``embedders``   wordllama, the hashing fallback, a cache by content; ``get_embedder``; everyday
                language, whose mean similarity should not count

May import ``tree``. Public face: the names below.
"""

from segviz.embedding.embedders import (
    EMBEDDERS,
    NEURAL,
    Cached,
    HashingEmbedder,
    SentenceTransformerEmbedder,
    WordLlamaEmbedder,
    background_lines,
    background_mean,
    embedder_key,
    get_embedder,
    word_vectors,
)
from segviz.embedding.protocols import Charges, Embedder, KnowsWords

__all__ = [
    "EMBEDDERS",
    "NEURAL",
    "Cached",
    "Charges",
    "Embedder",
    "HashingEmbedder",
    "KnowsWords",
    "SentenceTransformerEmbedder",
    "WordLlamaEmbedder",
    "background_lines",
    "background_mean",
    "embedder_key",
    "get_embedder",
    "word_vectors",
]
