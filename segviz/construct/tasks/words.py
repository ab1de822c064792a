"""Splits texts into sentences, words, stems and names, for the offline tasks."""

from __future__ import annotations

import math
import re
import tomllib
from collections import Counter
from collections.abc import Callable, Iterator
from functools import cache, lru_cache
from importlib.resources import files
from threading import Lock
from typing import Any

import numpy as np

from segviz.conversation.turns import SPEAKER
from segviz.embedding import KnowsWords, background_lines, word_vectors
from segviz.text.words import cut, spans, tokens

ENGLISH: dict[str, Any] = tomllib.loads(
    files("segviz.construct.tasks").joinpath("english.toml").read_text("utf-8")
)


def english(name: str) -> frozenset[str]:
    """Returns the words of the list ``name`` in ``english.toml``."""
    return frozenset(ENGLISH[name].split())


_ABBREVIATED = "".join(rf"(?<!\b{each}\.)" for each in english("abbreviations"))
BREAK = re.compile(
    rf"(?<=[.!?…]){_ABBREVIATED}(?<!\b[A-HJ-ZÀ-ÖØ-ÞΑ-ΩЁА-Я]\.)(?!(?<=\bI\.)\s+[A-Z]\.)"
    r"[\"')\]]*+\s++(?=[\"'(\[]?\w)|(?<=[。！？])\s*+(?=\S)"
    r"|(?<!\s)\s++(?=[¿¡])|(?:(?<!\s)\s++)?+(?=\[image: )"
)
"""Ends of sentences: before a blank, after CJK marks, before Spanish ones and captions.

A dot after an English abbreviation or an initial ends none; "I." is an initial only before another
one ("I. M. Pei"). A run of blanks is tried once, at its start, so that the time grows with the text
alone.
"""

LEAST_CONTENT = 2
"""Fewest content words of a line that has content, without the names of the speakers."""

_SPAN = re.compile(r"[^\W\d_][\w’'-]*(?:\s+[^\W\d_][\w’'-]*)*")
_QUOTED = re.compile(r"[\"“]([^\"“”\n]{2,60})[\"”]")
_COMMON = english("common")
_NO_NAME = english("no_name")
_OWNED = frozenset(("my", "our"))
_DETERMINERS = _OWNED | frozenset("a an the your his her their its this these those some".split())
_BEFORE_NOUNS = english("before_nouns")
_NO_NOUN = english("no_noun")
FUNCTION_WORDS = _DETERMINERS | frozenset("i you he she we they of to in and is was with".split())
"""A few of the most frequent English words; a text with none of them is not English."""

_OBJECTS = _DETERMINERS | frozenset("me you him her it us them".split())
_DOES = english("verbs")
_WORDS = re.compile(r"[\w’'-]+|[^\s\w]")


def words_of(text: str) -> list[str]:
    """Returns the words of a text in any script, in lower case, in order."""
    return tokens(text)


def word_spans(text: str) -> Iterator[int]:
    """Yields the position after each word of a text."""
    return (stop for _, stop in spans(text))


@cache
def everyday_words() -> Counter[str]:
    """Returns how often every word occurs in the packaged everyday messages."""
    return Counter(word for line in background_lines() for word in words_of(line))


@cache
def _usual() -> tuple[Counter[str], int, KnowsWords | None]:
    """Returns everyday words with their counts, the sum of these, and static vectors of words."""
    return everyday_words(), everyday_words().total(), word_vectors()


_LONG_VECTOR, _LONGEST = 20.0, 1.25


@lru_cache(maxsize=100_000)
def salience(word: str) -> float:
    """Returns a lower-case word's weight: about 0 for "you", 0.3 for "great", 1 for a rare noun.

    It is the length of the word's static vector (20 counts as 1, at most 1.25) times its rarity in
    everyday messages, log(N / (n + ½)) / log(N / ½) for n of N words. Without static vectors,
    rarity alone.
    """
    counts, total, vectors = _usual()
    rarity = math.log(total / (counts[word] + 0.5)) / math.log(total / 0.5)
    if vectors is None:
        return max(0.0, rarity)
    length = float(np.linalg.norm(vectors.words([word])[0])) / _LONG_VECTOR
    return max(0.0, rarity) * min(length, _LONGEST)


def lines(text: str) -> list[tuple[str, str]]:
    """Returns (speaker, words) of each line; a line without a name continues the last speaker."""
    result: list[tuple[str, str]] = []
    speaker = ""
    for line in text.split("\n"):
        spoken = SPEAKER.match(line)
        if spoken:
            speaker, line = spoken.group(1), line[spoken.end() :]
        if line.strip():
            result.append((speaker, cut(line).strip()))
    return result


def sentences(words: str) -> list[str]:
    """Returns the sentences of a line, stripped, without those that have no word."""
    return [piece.strip() for piece in BREAK.split(words) if any(spans(piece))]


_STEMMING = Lock()  # the stemmer holds the word it is at, and visitors build at the same time


@cache
def _stemmer() -> Callable[[str], str]:
    import snowballstemmer  # imported late: it loads thirty languages

    stemmed: Callable[[str], str] = snowballstemmer.stemmer("english").stemWord
    return stemmed


@lru_cache(maxsize=100_000)
def stem(word: str) -> str:
    """Returns the Snowball stem of a lower-case English word; of a code or number, itself."""
    # A pasted key or image has ten thousands of codes, and stems take as many times 50 µs.
    if not word.isalpha():
        return word
    with _STEMMING:
        return _stemmer()(word)


@lru_cache(maxsize=50_000)
def content(text: str) -> frozenset[str]:
    """Returns the stems of a text's words, without the commonest English words."""
    return frozenset(stem(w) for w in tokens(text) if w not in _COMMON)


@lru_cache(maxsize=50_000)
def normalised(text: str) -> str:
    """Returns a text's words in lower case, with single blanks and no punctuation."""
    return " ".join(tokens(text))


def names(sentence: str) -> list[str]:
    """Returns quoted titles and runs of capitals, but a single one at the start of a sentence."""
    runs: list[str] = []
    for stretch in _SPAN.finditer(sentence):
        words = stretch.group().split()
        run: list[str] = []
        opens = stretch.start() == 0
        for position, word in enumerate([*words, ""]):
            plain = word.removesuffix("'s").removesuffix("’s")
            if plain[:1].isupper() and plain.lower() not in _NO_NAME:
                initial = opens and position == 0
                if not (initial and plain.lower() in _COMMON | _DOES):
                    run.append(plain)
                if plain != word:
                    _keep(run, runs, opens and position + 1 == len(run))
                    run = []
                continue
            _keep(run, runs, opens and position == len(run))
            run = []
    return list(dict.fromkeys((*runs, *(m.strip() for m in _QUOTED.findall(sentence)))))


def _keep(run: list[str], runs: list[str], initial: bool) -> None:
    if run and not (initial and len(run) == 1):
        runs.append(" ".join(run))


def things(sentence: str) -> list[tuple[int, str, bool]]:
    """Returns a sentence's nouns, each with its position, and True after "my" or "our".

    A noun has at most three words and follows a determiner, a preposition or one of some verbs
    ("bought", "playing"). No parser is used: leading words of the list ``no_noun`` are left out,
    and a noun ends at a very common word, an adverb in -ly, or a word that is or looks like a verb.
    """
    tokens = [(m.start(), m.group().replace("’", "'")) for m in _WORDS.finditer(sentence)]
    nouns = []
    for i, (_, lead) in enumerate(tokens):
        known = lead.lower()
        if known not in _DETERMINERS and known not in _BEFORE_NOUNS:
            continue
        # Adjectives and the like after the determiner are no part of the noun.
        start = i + 1
        while start < len(tokens) and tokens[start][1] in _NO_NOUN:
            start += 1
        # The noun goes on until a word cannot be a noun; a possessive ends it.
        noun: list[str] = []
        for _, word in tokens[start : start + 3]:
            bare = word.removesuffix("'s")
            if not _noun(bare, bool(noun), known in _DETERMINERS):
                break
            noun.append(bare)
            if bare != word:
                break
        # A participle with an object ("playing her guitar") is a verb.
        following = tokens[start + len(noun)][1] if start + len(noun) < len(tokens) else ""
        acts = noun[-1:] and noun[-1].endswith("ing") and following in _OBJECTS
        if noun and not (acts and known not in _DETERMINERS):
            nouns.append((tokens[start][0], " ".join(noun), known in _OWNED))
    return nouns


def _noun(word: str, follows: bool, determined: bool) -> bool:
    """Returns True if a word may be a noun or part of one.

    ``follows`` is True if it follows another part of the noun, ``determined`` if the noun has a
    determiner ("the", "my").
    """
    if not word.isascii() or not word.islower() or len(word) < 3 or word in _COMMON:
        return False
    if word in _NO_NOUN or word in _DOES or word.endswith(("ly", "n't", "'d", "'ll", "'re", "'ve")):
        return False
    does = word.endswith("ed") or stem(word) in _DOES
    return not (does and not determined) and not (follows and (does or word.endswith("ing")))


def quoted(sentence: str) -> list[str]:
    """Returns the parts of a sentence that are in quotation marks."""
    return [m.strip() for m in _QUOTED.findall(sentence)]
