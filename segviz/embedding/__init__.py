"""Embeds texts as vectors, offline by default.

``wordllama``  static token embeddings from the wordllama wheel (256-d), without network or key.
``hashing``    words and character trigrams hashed to 256 dimensions. It needs no package and
               replaces wordllama where that has no wheel; the app says so.
``neural:…``   a sentence encoder run by sentence-transformers, if installed.

Vectors are float32 of length 1; an empty text gives zeros. :class:`Cached` stores vectors by
content, so a text is embedded once per model. May import ``tree``. Public face: the names in
``__all__``.
"""

from __future__ import annotations

import hashlib
import json
import re
from collections.abc import Callable, Iterable, Sequence
from functools import cache, cached_property, lru_cache
from heapq import heapify, heappop, heappush
from importlib import metadata, resources
from importlib.util import find_spec
from itertools import chain, islice
from pathlib import Path
from threading import Lock
from typing import Any, Protocol, runtime_checkable

import numpy as np
from numpy.typing import NDArray

from segviz.handover import built_in, calling, check_vectors
from segviz.text.words import EXAMINED, has_sign, other_script, tokens
from segviz.tree import Vector

__all__ = [
    "EMBEDDERS",
    "NEURAL",
    "Cached",
    "Embedder",
    "HashingEmbedder",
    "KnowsWords",
    "SentenceTransformerEmbedder",
    "WordLlamaEmbedder",
    "as_embedder",
    "background_lines",
    "background_mean",
    "embedder_key",
    "get_embedder",
    "known_scripts",
    "script_note",
    "word_vectors",
]

_SPACE = "\N{LOWER ONE EIGHTH BLOCK}"  # how the tokenizer writes a space


class Embedder(Protocol):
    """Model that turns texts into vectors.

    ``name`` identifies model and version. Caches use it as their key, so models that give different
    vectors must have different names.
    """

    @property
    def name(self) -> str:
        """Stable identity of the model."""
        ...

    def embed(self, texts: Sequence[str]) -> Vector:
        """Returns a vector per text, float32 (len(texts), d), of length 1; 0 for an empty text."""
        ...


@runtime_checkable
class KnowsWords(Protocol):
    """Embedder whose vector of a text is a mean over its words."""

    def words(self, words: Sequence[str]) -> Vector:
        """Returns what each word adds to a text's vector, float32 (len(words), d), not scaled."""
        ...


def unit_rows(rows: NDArray[Any]) -> NDArray[Any]:
    """Scales rows to length 1; rows of length 0 stay 0."""
    norms = np.sqrt(np.add.reduce(rows * rows, axis=1, keepdims=True))
    return np.asarray(np.divide(rows, norms, out=np.zeros(rows.shape, rows.dtype), where=norms > 0))


class BytePairs:
    """Byte-pair encoding by a file of the package ``tokenizers``, which is not needed to read it.

    It does what the file of wordllama says: a ``▁`` before a text and for each space, bytes for
    characters outside the vocabulary, and no token for the beginning.

    Source: Sennrich et al. 2016; bytes as in SentencePiece (Kudo and Richardson 2018).
    """

    def __init__(self, file: Path) -> None:
        """Reads vocabulary and merges of the file."""
        content = json.loads(file.read_bytes())
        self._ids: dict[str, int] = content["model"]["vocab"]
        # By the line of the file, "left right"; no token has a space.
        self._ranks = {pair: rank for rank, pair in enumerate(content["model"]["merges"])}
        special = [re.escape(token["content"]) for token in content["added_tokens"]]
        self._special = re.compile(f"({'|'.join(special)})")

    def ids(self, text: str) -> list[int]:
        """Returns the token ids of a text; a special token in it is not cut."""
        ids = []
        for place, part in enumerate(self._special.split(text)):
            if place % 2:
                ids.append(self._ids[part])
            elif part:
                ids += [self._ids[token] for token in self._merged(_SPACE + part)]
        return ids

    def _merged(self, text: str) -> list[str]:
        """Returns the tokens of a text after all merges: lowest rank first, then leftmost."""
        parts: list[str] = []
        for sign in text.replace(" ", _SPACE):
            known = sign in self._ids
            parts += [sign] if known else [f"<0x{b:02X}>" for b in sign.encode("utf-8", "replace")]
        # A merge keeps the left part's place and empties the right one's; ``before`` and ``after``
        # link the places in use. An entry of the heap whose pair has changed is skipped.
        before, after = list(range(-1, len(parts))), list(range(1, len(parts) + 1))
        parts.append("")

        def rank(left: int) -> int | None:
            return self._ranks.get(f"{parts[left]} {parts[after[left]]}")

        ranks = ((rank(place), place) for place in range(len(parts) - 1))
        heap = [(number, place) for number, place in ranks if number is not None]
        heapify(heap)
        while heap:
            number, left = heappop(heap)
            if not parts[left] or rank(left) != number:
                continue
            right = after[left]
            parts[left] += parts[right]
            parts[right] = ""
            after[left] = after[right]
            before[after[left]] = left
            for place in (before[left], left):
                if place >= 0 and (new := rank(place)) is not None:
                    heappush(heap, (new, place))
        return [part for part in parts if part]


class WordLlamaEmbedder:
    """wordllama ``l2_supercat`` (Miller 2024), the 256 dimensions shipped in its wheel.

    The package's own loading would import pydantic and requests, set up the root logger and look
    for files on the network. So this class reads the two files of the wheel directly.

    Its vectors separate texts in Latin script. The mean cosine of unrelated turns is .03 in
    English, .50 in Chinese, .54 in Russian, .59 in Japanese, .75 in Arabic and .79 in Thai.
    """

    dimensions = 256
    scripts = frozenset(("LATIN",))

    def __init__(self) -> None:
        """Loads the tokenizer (about 50 ms), vectors on use; ImportError without the package."""
        package = find_spec("wordllama")
        if package is None or not package.submodule_search_locations:
            raise ImportError("wordllama is not installed")
        folder = Path(package.submodule_search_locations[0])
        words = folder / "tokenizers" / "l2_supercat_tokenizer_config.json"
        self._tokenizer = BytePairs(words)
        weights = folder / "weights" / "l2_supercat_256.safetensors"
        with weights.open("rb") as file:
            head = json.loads(file.read(int.from_bytes(file.read(8), "little")))
            first = file.tell() + head["embedding.weight"]["data_offsets"][0]
        shape = tuple(head["embedding.weight"]["shape"])
        self._stored = np.asarray(np.memmap(weights, "<f2", "r", first, shape))
        self._vectors: Vector = np.empty(shape, dtype=np.float32)
        self._read: set[int] = set()
        self._version = metadata.version("wordllama")

    @property
    def name(self) -> str:
        """Name of the model with the version of its package."""
        return f"wordllama-l2_supercat-256@{self._version}"

    def embed(self, texts: Sequence[str]) -> Vector:
        """Returns a vector per text, float32 (n, 256), of length 1; zeros without tokens."""
        means = np.zeros((len(texts), self.dimensions), dtype=np.float32)
        for row, text in zip(means, texts, strict=True):
            row += self._mean(text[:EXAMINED])
        return unit_rows(means).round(5)

    def _mean(self, text: str) -> Vector | float:
        """Returns the mean of a text's token vectors, as the package's own ``embed`` does.

        That pads a batch in a thread pool: slow for few texts, and a vector depends on the others.
        """
        if not text.strip():
            return 0.0
        tokens = self._tokens(text)
        rows = self._vectors.take(tokens, axis=0, mode="clip")
        mean: Vector = np.add.reduce(rows, axis=0) / np.float32(len(tokens))
        return mean

    def _tokens(self, text: str) -> NDArray[np.intp]:
        """Returns the token ids of a text, joined from cached ids of its lines and words.

        The result is exact, because no token of this vocabulary has a space between two letters, or
        a line end and a letter. A text that may contain a special token, or starts with an empty
        line, is tokenized whole.
        """
        if "<" in text or _SPACE in text or text.startswith("\n"):
            return self._widened(self._encode(text))
        first, *others = text.split("\n")
        return np.concatenate([self._line(first), *[self._line("\n" + line) for line in others]])

    @cached_property
    def _line(self) -> Callable[[str], NDArray[np.intp]]:
        # An annotation quotes lines that were embedded before.
        @lru_cache(maxsize=4_096)
        def tokens(line: str) -> NDArray[np.intp]:
            words = line.split(" ")
            parts = [line] if "" in words else words
            ids = list(chain.from_iterable(map(self._encode, parts)))
            # The tokenizer adds a space before a text; it is no part of a continued line.
            return self._widened(ids[1:] if line.startswith("\n") else ids)

        return tokens

    @cached_property
    def _encode(self) -> Callable[[str], list[int]]:
        return lru_cache(maxsize=50_000)(self._tokenizer.ids)

    def _widened(self, ids: Sequence[int]) -> NDArray[np.intp]:
        """Returns token ids as an array, after reading their vectors from the file if needed."""
        if not self._read.issuperset(ids):
            new = list(set(ids) - self._read)
            self._vectors[new] = self._stored[new]
            self._read.update(new)
        return np.array(ids, dtype=np.intp)

    def words(self, words: Sequence[str]) -> Vector:
        """Returns the sum of each word's token vectors, float32 (len(words), 256), not scaled."""
        rows = np.zeros((len(words), self.dimensions), dtype=np.float32)
        for row, word in zip(rows, words, strict=True):
            row += self._word(word)
        return rows

    @cached_property
    def _word(self) -> Callable[[str], Vector]:
        """Cached function from a word to the sum of its token vectors."""

        @lru_cache(maxsize=100_000)
        def vector(word: str) -> Vector:
            pieces = self._vectors.take(self._widened(self._encode(word)), axis=0, mode="clip")
            return np.asarray(np.add.reduce(pieces, axis=0))

        return vector

    def forget_texts(self) -> None:
        """Empties the caches of words and lines, which only save time."""
        for cached in ("_line", "_encode", "_word"):
            vars(self).pop(cached, None)


class HashingEmbedder:
    """Embedder that hashes words and their character trigrams to signed counts.

    In scripts without blanks, words are pairs of characters, hashed with both characters. The
    embedder compares spelling only, and needs no other package.

    Source: Weinberger et al. 2009.
    """

    dimensions = 256
    name = "hashing-256@2"

    def embed(self, texts: Sequence[str]) -> Vector:
        """Returns a vector per text, float32 (n, 256), of length 1; zeros for one without words."""
        matrix = np.zeros((len(texts), self.dimensions), dtype=np.float32)
        for row, text in zip(matrix, texts, strict=True):
            for word in tokens(text[:EXAMINED]):
                for feature, weight in _features(word):
                    row[feature] += weight
        return unit_rows(np.sign(matrix) * np.sqrt(np.abs(matrix)))


@lru_cache(maxsize=50_000)
def _features(word: str) -> tuple[tuple[int, float], ...]:
    """Returns the word, and its trigrams or two characters, as (dimension, signed weight) pairs."""
    padded = f"<{word}>"
    parts = list(word) if has_sign(word) else [padded[i : i + 3] for i in range(len(padded) - 2)]
    grams = [(word, 1.0), *((part, 1 / 3) for part in parts)]
    features = []
    for gram, weight in grams:
        digest = hashlib.blake2b(gram.encode("utf-8", "replace"), digest_size=8).digest()
        number = int.from_bytes(digest, "little")
        features.append((number % HashingEmbedder.dimensions, weight if number >> 63 else -weight))
    return tuple(features)


class SentenceTransformerEmbedder:
    """Neural sentence encoder, run in this process by ``sentence-transformers`` (extra ``neural``).

    Package and model are loaded with the first text. ``model`` is a folder, or the name of a model
    on the hub, which the package downloads if needed.

    Source: Reimers and Gurevych 2019.
    """

    def __init__(self, model: str) -> None:
        """Stores the folder or name; ImportError says how to install a missing package."""
        if find_spec("sentence_transformers") is None:
            raise ImportError(
                f"the embedder neural:{model} needs the package sentence-transformers; install "
                "segviz with the extra 'neural'"
            )
        self.model = model

    @property
    def name(self) -> str:
        """Name of the model on the hub, or of its folder with a digest of its files."""
        folder = Path(self.model)
        if not folder.is_dir():
            return f"neural:{self.model}"
        # Size and first MiB of each file tell models apart without reading gigabytes.
        digest = hashlib.sha256()
        for file in sorted([*folder.glob("*.json"), *folder.glob("*.safetensors")]):
            digest.update(f"{file.name} {file.stat().st_size} ".encode())
            with file.open("rb") as opened:
                digest.update(opened.read(1 << 20))
        return f"neural:{folder.resolve().name}@{digest.hexdigest()[:12]}"

    @cached_property
    def _encoder(self) -> Any:
        from sentence_transformers import SentenceTransformer  # several seconds

        return SentenceTransformer(self.model, device="cpu")

    def embed(self, texts: Sequence[str]) -> Vector:
        """Returns a vector per text, float32 (n, d), of length 1; zeros for an empty text.

        The model truncates texts at its own limit.
        """
        given = [text[:EXAMINED] for text in texts] or [""]
        rows = np.array(self._encoder.encode(given, show_progress_bar=False), dtype=np.float32)
        rows[[not text.strip() for text in given]] = 0.0
        return unit_rows(rows[: len(texts)])


class Cached:
    """Embedder that caches the ``limit`` last used vectors of another, by name and text."""

    def __init__(self, inner: Embedder, limit: int = 200_000) -> None:
        """Wraps ``inner``; ``limit`` is the most texts in the cache (1 kB each at 256-d)."""
        self.inner = inner
        self.limit = limit
        self.hits = 0
        self.misses = 0
        self._rows: dict[bytes, Vector] = {}

    @property
    def name(self) -> str:
        """Name of the wrapped model."""
        return self.inner.name

    def forget_texts(self) -> None:
        """Empties the wrapped model's caches of texts; vectors by hash stay in this cache."""
        forget = getattr(self.inner, "forget_texts", None)
        if forget is not None:
            forget()

    def _made(self, texts: list[str]) -> Vector:
        """Returns new vectors of the wrapped model, checked unless the model is part of segviz."""
        if built_in(self.inner):
            return self.inner.embed(texts)
        with calling(self.inner):
            rows = check_vectors(self.inner.embed(list(texts)), len(texts), self.inner)
            width, before = rows.shape[1], next(iter(self._rows.values()), None)
            if before is not None and len(before) != width:
                raise ValueError(f"{width} numbers a vector, {len(before)} before")
            return rows

    def embed(self, texts: Sequence[str]) -> Vector:
        """Returns the wrapped model's vectors, computing those of new texts only.

        The array is read-only if a text is new, because the cache shares its rows.
        """
        if not texts:
            return self._made([])
        name = self.inner.name
        contents = (f"{name}\0{text}".encode("utf-8", "surrogatepass") for text in texts)
        keys = [hashlib.sha256(content).digest() for content in contents]
        vectors: dict[bytes, Vector] = {}
        missing: dict[bytes, str] = {}
        for key, text in zip(keys, texts, strict=True):
            row = self._rows.pop(key, None)
            if row is None:
                missing.setdefault(key, text)
            else:
                vectors[key] = self._rows[key] = row  # moves to the end: removed last
        self.hits += len(texts) - len(missing)
        self.misses += len(missing)
        if missing:
            vectors.update(zip(missing, self._made(list(missing.values())), strict=True))
        rows = np.array([vectors[key] for key in keys])
        if missing:
            # The cache stores views of the returned rows, so that each vector exists once.
            rows.flags.writeable = False
            self._rows.update(pair for pair in zip(keys, rows, strict=True) if pair[0] in missing)
            for key in list(islice(self._rows, max(0, len(self._rows) - self.limit))):
                self._rows.pop(key, None)
        return rows


EMBEDDERS: dict[str, Callable[[], Embedder]] = {
    "wordllama": WordLlamaEmbedder,
    "hashing": HashingEmbedder,
}
"""Name to factory. Factories load lazily, so listing costs nothing."""

NEURAL = "neural:"
"""Prefix of the folder or name of a model for :class:`SentenceTransformerEmbedder`."""

_LOADING = Lock()


def _shared(name: str) -> Cached:
    with _LOADING:  # the app starts two threads, which must share one embedder
        return _loaded(name)


@cache
def _loaded(name: str) -> Cached:
    if name.startswith(NEURAL):
        return Cached(SentenceTransformerEmbedder(name.removeprefix(NEURAL)))
    return Cached(EMBEDDERS[name]())


def get_embedder(name: str = "auto") -> Cached:
    """Returns the shared, cached embedder of this name.

    Args:
        name: ``auto`` is wordllama, or hashing if wordllama is not installed. ``neural:MODEL`` is a
            sentence-transformers model, a folder or a name on the hub.

    Raises:
        ValueError: the name is unknown; lists the legal names.
    """
    if name == "auto":
        try:
            return _shared("wordllama")
        except ImportError:
            return _shared("hashing")
    if name not in EMBEDDERS and not name.startswith(NEURAL):
        raise ValueError(
            f"unknown embedder {name!r}; choose auto, {', '.join(EMBEDDERS)} or {NEURAL}MODEL"
        )
    return _shared(name)


def as_embedder(embedder: str | Embedder) -> Embedder:
    """Returns the embedder with a name, or the given embedder.

    An embedder from outside segviz is wrapped in :class:`Cached`, which checks its vectors.

    Raises:
        ValueError: The name is unknown, or the object has no name and no method ``embed``.
    """
    if isinstance(embedder, str):
        return get_embedder(embedder)
    named, embeds = getattr(embedder, "name", None), getattr(embedder, "embed", None)
    if not isinstance(named, str) or not callable(embeds):
        raise ValueError(f"{embedder!r:.80} is no embedder; expected a text name, a method embed")
    return embedder if built_in(embedder) else Cached(embedder)


def embedder_key(embedder: Embedder) -> str | None:
    """Returns the name by which :func:`get_embedder` gives this embedder; None without one."""
    inner = embedder.inner if isinstance(embedder, Cached) else embedder
    if isinstance(inner, SentenceTransformerEmbedder):
        return NEURAL + inner.model
    for name in EMBEDDERS:
        try:
            if get_embedder(name).name == embedder.name:
                return name
        except ImportError:
            continue
    return None


def known_scripts(embedder: Embedder) -> frozenset[str]:
    """Returns the scripts an embedder was made for; empty if it was made for all."""
    inner = getattr(embedder, "inner", embedder)
    known: frozenset[str] = getattr(inner, "scripts", frozenset())
    return known if inner is embedder else known_scripts(inner)


def script_note(embedder: Embedder, texts: Iterable[str]) -> str:
    """Returns a note if most letters of the first 200 texts are not of the embedder's scripts."""
    known = known_scripts(embedder)
    script = other_script(" ".join(islice(texts, 200)), known) if known else ""
    name = {"CJK": "Chinese"}.get(script, script.title())
    plain = embedder.name.partition("-")[0]
    return script and (
        f"Most of the text is in {name} script, which {plain} was not made for: units are compared "
        "around the conversation's own mean, and shared words tell more than meaning."
    )


def word_vectors(embedder: Embedder | None = None) -> KnowsWords | None:
    """Returns the embedder of words in ``embedder``, else wordllama; None without either."""
    inner = embedder.inner if isinstance(embedder, Cached) else embedder
    if isinstance(inner, KnowsWords):
        return inner
    try:
        usual = _shared("wordllama").inner
    except ImportError:
        return None
    return usual if isinstance(usual, KnowsWords) else None


@cache
def background_lines() -> tuple[str, ...]:
    """Returns the everyday messages of ``background.txt``, written for this package."""
    path = resources.files("segviz.embedding").joinpath("background.txt")
    return tuple(line for line in path.read_text(encoding="utf-8").split("\n") if line)


def background_mean(embedder: Embedder) -> Vector:
    """Returns the mean vector, float32 (d,), of the background lines under an embedder.

    Subtracting it removes what static embeddings of chat share, which raises every cosine.
    """
    mean = embedder.embed(background_lines()).mean(axis=0, dtype=np.float64)
    return np.asarray(mean, dtype=np.float32)
