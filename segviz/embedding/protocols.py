"""What an embedder promises."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Protocol, runtime_checkable

from segviz.tree import Vector


class Embedder(Protocol):
    """Turns texts into vectors.

    ``name`` identifies model and version; caches are keyed by it, so it must change
    whenever the vectors would.
    """

    @property
    def name(self) -> str:
        """Stable identity of the model."""
        ...

    def embed(self, texts: Sequence[str]) -> Vector:
        """float32 (len(texts), d), unit length; an empty text gives a zero row."""
        ...


@runtime_checkable
class Charges(Protocol):
    """An embedder that is paid by the token.

    ``calls`` counts the requests really sent so far.
    """

    calls: int

    def charged(self, texts: Sequence[str]) -> int:
        """Tokens charged for embedding these texts, whenever that was."""
        ...


@runtime_checkable
class KnowsWords(Protocol):
    """An embedder whose vector of a text is a mean over its words."""

    def words(self, words: Sequence[str]) -> Vector:
        """float32 (len(words), d): what each word adds to a text; not of unit length."""
        ...
