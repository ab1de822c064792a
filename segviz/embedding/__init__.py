"""Texts to vectors, offline by default.

``protocols``   what an embedder promises
``embedders``   wordllama, the hashing fallback, a cache by content; ``get_embedder``
``background``  everyday language, whose mean similarity should not count

May import ``tree``. Public face: the names below.
"""

from segviz.embedding.background import background_lines, background_mean
from segviz.embedding.embedders import (
    EMBEDDERS,
    Cached,
    HashingEmbedder,
    WordLlamaEmbedder,
    get_embedder,
)
from segviz.embedding.protocols import Charges, Embedder

__all__ = [
    "EMBEDDERS",
    "Cached",
    "Charges",
    "Embedder",
    "HashingEmbedder",
    "WordLlamaEmbedder",
    "background_lines",
    "background_mean",
    "get_embedder",
]
