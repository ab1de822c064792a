"""Client of an embedding model behind an OpenAI-compatible API."""

from __future__ import annotations

import re
import threading
from collections.abc import Iterator, Sequence

import numpy as np

from segviz.llm.cache import ModelCache, content_key
from segviz.llm.client import Body, Client, Fault, RequestError, clean
from segviz.llm.endpoint import Endpoint
from segviz.llm.protocols import ModelError
from segviz.llm.usage import Metered
from segviz.text.words import EXAMINED
from segviz.tree import Vector
from segviz.waiting import in_parallel

BATCH_TEXTS = 256
BATCH_CHARACTERS = 200_000

_SHORTEST = 500
_TOO_MUCH = re.compile(r"too (long|large|many|big)|maximum|exceed|context length|batch", re.I)
_PROBE = "text"


class OpenAIEmbedder(Client):
    """Embedding model of a server with the OpenAI API; each text is sent once, then cached."""

    charges = True

    def __init__(
        self,
        endpoint: Endpoint,
        cache: ModelCache | None = None,
        *,
        total: Metered | None = None,
    ) -> None:
        """Prepares a client; sends nothing yet.

        Args:
            endpoint: the server and its embedding model.
            cache: store of vectors; None keeps them in memory.
            total: counters to which the client's counts are added.
        """
        if not endpoint.embedding_model:
            raise ValueError(
                "embedding_model is empty; name one the server has, such as text-embedding-3-small"
            )
        super().__init__(endpoint, cache, total)
        self._dimensions: int | None = None
        self._batch_texts = BATCH_TEXTS
        self._lock = threading.Lock()

    @property
    def name(self) -> str:
        """Name of this embedder: embedding model and host of its server."""
        return f"openai:{self.endpoint.embedding_model}@{self.endpoint.host}"

    def embed(self, texts: Sequence[str]) -> Vector:
        """Returns a vector per text, float32 (len(texts), d), of length 1; 0 for an empty text.

        If all texts so far are empty, one harmless word is sent to learn d. Raises ModelError if
        the server fails after a limited number of retries; finished batches stay cached.
        """
        sent = [clean(text)[:EXAMINED] if text.strip() else "" for text in texts]
        rows = self._rows([text for text in dict.fromkeys(sent) if text])
        if texts and self._dimensions is None:
            self._rows([_PROBE])
        matrix = np.zeros((len(texts), self._dimensions or 0), dtype=np.float32)
        for row, text in zip(matrix, sent, strict=True):
            if text:
                row[:] = rows[text]
        return matrix

    def _rows(self, texts: Sequence[str]) -> dict[str, Vector]:
        """Returns the vectors of distinct texts with words, from the cache or the server."""
        model = self.endpoint.embedding_model
        identity = f"{model} {self.loaded(model).fingerprint}"
        keys = {text: content_key("embedding", identity, text) for text in texts}
        rows = self._stored(keys)

        def fetch(batch: list[str]) -> dict[str, Vector]:
            fresh = dict(zip(batch, self._fetch(batch), strict=True))
            self.cache.keep_embeddings({keys[text]: row for text, row in fresh.items()})
            # If another process has stored other vectors, use those: a rebuild will find them.
            return fresh | self._stored({text: keys[text] for text in batch})

        # Batches are cut from all texts, not only the missing ones: a repeated call after an
        # interruption sends exactly the unfinished batches, at the same charge.
        cut = [[t for t in batch if t not in rows] for batch in self._batches(texts)]
        for fresh in in_parallel(fetch, [b for b in cut if b], self.endpoint.concurrency):
            rows |= fresh
        return rows

    def _stored(self, keys: dict[str, bytes]) -> dict[str, Vector]:
        """Returns the stored vectors by text; ``keys`` maps a text to its key in the cache."""
        vectors = self.cache.embeddings(list(keys.values()))
        rows = {text: vectors[key] for text, key in keys.items() if key in vectors}
        if not all(self._fits(row) for row in rows.values()):
            raise ModelError(
                f"The cache holds vectors of {self.name} with different numbers of "
                "dimensions: the model changed under the same name. Use a new cache file."
            )
        return rows

    def _batches(self, texts: Sequence[str]) -> Iterator[list[str]]:
        """Divides texts into requests with a bounded number of texts and of characters."""
        batch: list[str] = []
        characters = 0
        for text in texts:
            full = len(batch) >= self._batch_texts or characters + len(text) > BATCH_CHARACTERS
            if batch and full:
                yield batch
                batch, characters = [], 0
            batch.append(text)
            characters += len(text)
        if batch:
            yield batch

    def _fetch(self, texts: list[str]) -> list[Vector]:
        """Requests the vectors of texts.

        Of a batch that is too large the halves are sent, of a text that is too long its first half.
        """
        try:
            return self._ask(
                "embeddings",
                lambda _: {
                    "model": self.endpoint.embedding_model,
                    "input": texts,
                    "encoding_format": "float",
                },
                lambda reply: self._read(reply, texts),
            )
        except RequestError as error:
            if error.status not in (400, 413, 422) or not _TOO_MUCH.search(error.answer):
                raise
            if len(texts) == 1 and len(texts[0]) < 2 * _SHORTEST:
                raise
            limits_count = "batch" in error.answer.lower()
        if len(texts) == 1:
            return self._fetch([texts[0][: len(texts[0]) // 2]])
        half = len(texts) // 2
        if limits_count:  # the server limits the number of texts: later batches keep to it
            self._batch_texts = min(self._batch_texts, half)
        return self._fetch(texts[:half]) + self._fetch(texts[half:])

    def _read(self, reply: Body, texts: Sequence[str]) -> list[Vector]:
        """Returns the vectors in a server's reply, in the order of ``texts``; or raises a Fault."""
        self.count_tokens(reply, output=False)
        count, data = len(texts), reply.get("data")
        if not isinstance(data, list) or not all(isinstance(item, dict) for item in data):
            raise Fault("the reply lacked its vectors (data)", "body")
        if len(data) != count:
            raise Fault(f"{count} texts were sent, {len(data)} vectors came", "vectors")
        places = [item.get("index", place) for place, item in enumerate(data)]
        if any(type(place) is not int for place in places) or sorted(places) != [*range(count)]:
            raise Fault("the vectors were numbered wrongly", "body")
        rows: list[Vector] = [_unit(item.get("embedding")) for item in data]
        sizes = {len(row) for row in rows}
        if len(sizes) != 1 or not self._fits(rows[0]):
            expected = self._dimensions or "one number of them"
            raise Fault(
                f"the vectors have {sorted(sizes)} dimensions, {expected} expected", "vectors"
            )
        return [rows[places.index(place)] for place in range(count)]

    def _fits(self, row: Vector) -> bool:
        """Returns True if a vector has as many dimensions as the first vector of this client."""
        with self._lock:
            if self._dimensions is None:
                self._dimensions = len(row)
            return len(row) == self._dimensions


def _unit(values: object) -> Vector:
    """Returns a server's vector scaled to length 1, float32 (d,); raises a Fault if it is none."""
    try:
        row = np.asarray(values, dtype=np.float64)
    except (TypeError, ValueError, OverflowError):
        row = np.zeros(0)
    if row.ndim == 2:
        raise Fault("a vector per token came, not one of the text; set pooling", "vectors")
    if row.ndim != 1 or not row.size or not np.isfinite(row).all():
        raise Fault("a vector was empty or not made of numbers", "vectors")
    with np.errstate(over="ignore"):
        norm = float(np.linalg.norm(row))
    if row.any() and not 1e-100 < norm < 1e100:
        what = f"a vector's numbers are too large or too small (up to {np.abs(row).max():g})"
        raise Fault(what, "vectors")
    return np.asarray(row / (norm or 1.0), dtype=np.float32)
