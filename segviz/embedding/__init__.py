"""Texts to vectors, offline by default.

``embedders``   what an embedder promises; wordllama, the hashing fallback, a cache by content;
                ``get_embedder``; everyday language, whose mean similarity should not count

May import ``tree``. Public face: the names below.
"""

from segviz.embedding.embedders import (
    EMBEDDERS,
    NEURAL,
    Cached,
    Charges,
    Embedder,
    HashingEmbedder,
    KnowsWords,
    SentenceTransformerEmbedder,
    WordLlamaEmbedder,
    background_lines,
    background_mean,
    embedder_key,
    get_embedder,
    word_vectors,
)

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
