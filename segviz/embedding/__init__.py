"""Texts to vectors, offline by default.

``wordllama``  static token embeddings carried in the wheel (256-d), no network, no key.
``hashing``    character and word n-grams hashed to 256 dimensions; needs nothing at all
               and is used, visibly, where wordllama has no wheel.
``neural:…``   a sentence encoder run by sentence-transformers, where that is installed.

Every vector is unit length (an empty text gives zeros), float32. :class:`Cached` keeps
vectors by content, so a text is embedded once per model. May import ``tree``. Public face: the
names in ``__all__``.
"""

from __future__ import annotations

import hashlib
import json
import re
from collections.abc import Callable, Sequence
from functools import cache, cached_property, lru_cache
from importlib import metadata, resources
from importlib.util import find_spec
from itertools import chain, islice
from pathlib import Path
from threading import Lock
from typing import Any, Protocol, runtime_checkable

import numpy as np
from numpy.typing import NDArray

from segviz.handover import calling, check_vectors, own
from segviz.tree import Vector

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
    "as_embedder",
    "background_lines",
    "background_mean",
    "embedder_key",
    "get_embedder",
    "word_vectors",
]

# Longer texts are cut before embedding: a static mean over more than this many characters
# no longer changes, and one pasted book would stall the tokenizer.
MAX_CHARACTERS = 20_000

_SPACE = "\N{LOWER ONE EIGHTH BLOCK}"  # how the tokenizer writes a space


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


def unit_rows(rows: NDArray[Any]) -> NDArray[Any]:
    """The rows scaled to length 1; those of length 0 as they are."""
    norms = np.sqrt(np.add.reduce(rows * rows, axis=1, keepdims=True))
    return np.asarray(np.divide(rows, norms, out=np.zeros(rows.shape, rows.dtype), where=norms > 0))


class WordLlamaEmbedder:
    """wordllama ``l2_supercat`` (Miller 2024), the 256 dimensions shipped in its wheel.

    Departs from the package's own loading, which would import pydantic and requests, set up the
    root logger and look for files on the network: the two files of its wheel are read as they are.
    """

    dimensions = 256

    def __init__(self) -> None:
        """Load the tokenizer (about 0.1 s); ImportError where the package is missing. The
        vectors of tokens, half floats, are read and widened when they are first used."""
        package = find_spec("wordllama")
        if package is None or not package.submodule_search_locations:
            raise ImportError("wordllama is not installed")
        from tokenizers import Tokenizer

        folder = Path(package.submodule_search_locations[0])
        words = folder / "tokenizers" / "l2_supercat_tokenizer_config.json"
        self._tokenizer = Tokenizer.from_file(str(words))
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
        """Model and package version."""
        return f"wordllama-l2_supercat-256@{self._version}"

    def embed(self, texts: Sequence[str]) -> Vector:
        """float32 (len(texts), 256), unit rows; zeros for a text without tokens."""
        means = np.zeros((len(texts), self.dimensions), dtype=np.float32)
        for row, text in zip(means, texts, strict=True):
            row += self._mean(text[:MAX_CHARACTERS])
        return unit_rows(means).round(5)

    def _mean(self, text: str) -> Vector | float:
        """Mean of the token vectors, as the package's own ``embed`` has it.

        Done text by text: the package pads a batch to its longest text and wakes a pool of threads
        for it, which takes several times as long for the few texts of a step. And a vector must
        depend on the text alone: prefix-stability and byte-identical saves rest on it.
        """
        if not text.strip():
            return 0.0
        tokens = self._tokens(text)
        rows = self._vectors.take(tokens, axis=0, mode="clip")
        mean: Vector = np.add.reduce(rows, axis=0) / np.float32(len(tokens))
        return mean

    def _tokens(self, text: str) -> NDArray[np.intp]:
        """The tokens of a text, which are those of its lines and of their words one by one: no
        token of this vocabulary holds a space between two letters, or a line's end and a letter.
        Texts with what may be a special token, or no word before the first end of a line, are
        given to the tokenizer whole.
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
            # The tokenizer puts a space before a text, which the end of a line is not part of.
            return self._widened(ids[1:] if line.startswith("\n") else ids)

        return tokens

    @cached_property
    def _encode(self) -> Callable[[str], list[int]]:
        @lru_cache(maxsize=50_000)
        def tokens(text: str) -> list[int]:
            ids: list[int] = self._tokenizer.encode(text, add_special_tokens=False).ids
            return ids

        return tokens

    def _widened(self, ids: Sequence[int]) -> NDArray[np.intp]:
        """Rows of the vectors, read if they were not."""
        if not self._read.issuperset(ids):
            new = list(set(ids) - self._read)
            self._vectors[new] = self._stored[new]
            self._read.update(new)
        return np.array(ids, dtype=np.intp)

    def words(self, words: Sequence[str]) -> Vector:
        """float32 (len(words), 256): the vector each word adds to a text, the sum of those of its
        pieces, not of unit length; zeros for a word without pieces."""
        rows = np.zeros((len(words), self.dimensions), dtype=np.float32)
        for row, word in zip(rows, words, strict=True):
            row += self._word(word)
        return rows

    @cached_property
    def _word(self) -> Callable[[str], Vector]:
        @lru_cache(maxsize=100_000)
        def vector(word: str) -> Vector:
            pieces = self._vectors.take(self._widened(self._encode(word)), axis=0, mode="clip")
            return np.asarray(np.add.reduce(pieces, axis=0))

        return vector

    def forget_texts(self) -> None:
        """Forgets the words and lines that were read last, which only save time."""
        for cached in ("_line", "_encode", "_word"):
            vars(self).pop(cached, None)


class HashingEmbedder:
    """Words and character trigrams hashed to signed counts (Weinberger et al. 2009).

    Knows no meaning beyond shared spelling; kept as the fallback that always works.
    """

    dimensions = 256
    name = "hashing-256@1"

    _word = re.compile(r"\w+", re.UNICODE)

    def embed(self, texts: Sequence[str]) -> Vector:
        """float32 (len(texts), 256), unit rows; zeros for a text without words."""
        matrix = np.zeros((len(texts), self.dimensions), dtype=np.float32)
        for row, text in zip(matrix, texts, strict=True):
            for word in self._word.findall(text[:MAX_CHARACTERS].lower()):
                for feature, weight in _features(word):
                    row[feature] += weight
        return unit_rows(np.sign(matrix) * np.sqrt(np.abs(matrix)))


@lru_cache(maxsize=50_000)
def _features(word: str) -> tuple[tuple[int, float], ...]:
    """Hashed features of one word: the word itself (weight 1) and its trigrams (1/3)."""
    padded = f"<{word}>"
    grams = [(word, 1.0), *((padded[i : i + 3], 1 / 3) for i in range(len(padded) - 2))]
    features = []
    for gram, weight in grams:
        digest = hashlib.blake2b(gram.encode("utf-8", "replace"), digest_size=8).digest()
        number = int.from_bytes(digest, "little")
        features.append((number % HashingEmbedder.dimensions, weight if number >> 63 else -weight))
    return tuple(features)


class SentenceTransformerEmbedder:
    """A neural sentence encoder run in this process by the package ``sentence-transformers``
    (Reimers and Gurevych 2019): the extra ``neural``.

    The package and the model are loaded with the first text. A folder is read as it is; a name is
    one of the hub's, which the package downloads when it is not on this machine.
    """

    def __init__(self, model: str) -> None:
        """``model`` is a folder or a name. ImportError says how to install the package."""
        if find_spec("sentence_transformers") is None:
            raise ImportError(
                f"the embedder neural:{model} needs the package sentence-transformers; install "
                "segviz with the extra 'neural'"
            )
        self.model = model

    @property
    def name(self) -> str:
        """The model's name, or that of its folder with a digest of its weights."""
        folder = Path(self.model)
        if not folder.is_dir():
            return f"neural:{self.model}"
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
        """float32 (len(texts), d), unit rows; zeros for an empty text. The model cuts texts at
        its own limit."""
        given = [text[:MAX_CHARACTERS] for text in texts] or [""]
        rows = np.array(self._encoder.encode(given, show_progress_bar=False), dtype=np.float32)
        rows[[not text.strip() for text in given]] = 0.0
        return unit_rows(rows[: len(texts)])


class Cached:
    """Remembers vectors by content: sha-256 of the model's name and the text.

    Bounded: beyond ``limit`` texts the least recently used are forgotten.
    """

    def __init__(self, inner: Embedder, limit: int = 200_000) -> None:
        """Wraps ``inner``; ``limit`` is the number of texts kept (1 kB each at 256-d)."""
        self.inner = inner
        self.limit = limit
        self.hits = 0
        self.misses = 0
        self._rows: dict[bytes, Vector] = {}

    @property
    def name(self) -> str:
        """The wrapped model's name."""
        return self.inner.name

    def forget_texts(self) -> None:
        """Has the wrapped model forget texts it keeps; vectors and hashes of texts stay."""
        forget = getattr(self.inner, "forget_texts", None)
        if forget is not None:
            forget()

    def _key(self, text: str) -> bytes:
        content = f"{self.inner.name}\0{text}".encode("utf-8", "surrogatepass")
        return hashlib.sha256(content).digest()

    def _made(self, texts: list[str]) -> Vector:
        if own(self.inner):
            return self.inner.embed(texts)
        with calling(self.inner):
            rows = check_vectors(self.inner.embed(list(texts)), len(texts), self.inner)
            for known in islice(self._rows.values(), 1):
                if rows.shape[1] != len(known):
                    raise ValueError(f"{rows.shape[1]} numbers a vector, {len(known)} before")
            return rows

    def embed(self, texts: Sequence[str]) -> Vector:
        """As the wrapped model, read-only where a text is new; each distinct new text is
        embedded once."""
        if not texts:
            return self._made([])
        keys = [self._key(text) for text in texts]
        found: dict[bytes, Vector] = {}
        missing: dict[bytes, str] = {}
        for key, text in zip(keys, texts, strict=True):
            row = self._rows.pop(key, None)
            if row is None:
                missing.setdefault(key, text)
            else:
                found[key] = self._rows[key] = row  # last used, last forgotten
        self.hits += len(texts) - len(missing)
        self.misses += len(missing)
        if missing:
            found.update(zip(missing, self._made(list(missing.values())), strict=True))
        rows = np.array([found[key] for key in keys])
        if missing:
            # Kept are rows of what is given, so that a vector is held once.
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
"""Before the folder or name of a model for :class:`SentenceTransformerEmbedder`."""

_LOADING = Lock()


def _shared(name: str) -> Cached:
    with _LOADING:  # the app begins in two threads, which are to share one
        return _loaded(name)


@cache
def _loaded(name: str) -> Cached:
    if name.startswith(NEURAL):
        return Cached(SentenceTransformerEmbedder(name.removeprefix(NEURAL)))
    return Cached(EMBEDDERS[name]())


def get_embedder(name: str = "auto") -> Cached:
    """Returns the shared, cached embedder of this name.

    ``auto`` is wordllama, or hashing where wordllama is not installed (compare the
    returned ``name`` to say so on screen); ``neural:MODEL`` a sentence-transformers model, a
    folder or a name of the hub. ValueError lists the legal names.
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
    """Returns the embedder of a name, or the given one; one from outside segviz in a cache, which
    checks what it makes."""
    if isinstance(embedder, str):
        return get_embedder(embedder)
    return embedder if own(embedder) else Cached(embedder)


def embedder_key(embedder: Embedder) -> str | None:
    """The name :func:`get_embedder` makes this embedder from; None for one that it cannot make."""
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


def word_vectors(embedder: Embedder | None = None) -> KnowsWords | None:
    """What gives single words their vectors: ``embedder`` itself where it is made of such
    vectors, else the one that is installed, else None."""
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
    """Returns everyday messages, one per line of ``background.txt``: they were written for this
    and never come from a conversation under study."""
    path = resources.files("segviz.embedding").joinpath("background.txt")
    return tuple(line for line in path.read_text(encoding="utf-8").split("\n") if line)


def background_mean(embedder: Embedder) -> Vector:
    """Mean vector (d,) float32 of the background lines under this embedder.

    Static embeddings of chat share a large part (greetings, first person, question marks), which
    keeps every cosine high. Subtracting the mean of other everyday text removes it, and what a
    similarity is does not depend on what a conversation says later.
    """
    mean = embedder.embed(background_lines()).mean(axis=0, dtype=np.float64)
    return np.asarray(mean, dtype=np.float32)
