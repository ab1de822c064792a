"""Cuts texts into sentences, stems and names, for the offline tasks."""

from __future__ import annotations

import re
from functools import lru_cache

import snowballstemmer

_BREAK = re.compile(r"(?<=[.!?…])[\"')\]]*\s+(?=[\"'(\[]?\w)")
_SPEAKER = re.compile(r"^([^\n:]{1,60}): (?=\S)")
_WORD = re.compile(r"\w+", re.UNICODE)
_SPAN = re.compile(r"[^\W\d_][\w’'-]*(?:\s+[^\W\d_][\w’'-]*)*")
_QUOTED = re.compile(r"[\"“]([^\"“”\n]{2,60})[\"”]")
_COMMON = frozenset(
    "a about after again all also am an and any anything are as at be because been before but "
    "by can could did do does doing for from get gets getting go goes going gonna good got had "
    "has have having he hello her here hey hi him his hope how i if in into is it its just keep "
    "know let like lot make makes many me more much my myself next no not now of off oh ok okay "
    "on one or our out over pretty really same see she should since so some something sounds "
    "still such sure than thank thanks that the their them then there these they thing things "
    "think this those though through time to too two up us very want was way we well were what "
    "when where which while who whose why will with wonderful would wow yeah yes yet you your "
    "yours absolutely amazing awesome cool congrats definitely exactly glad great haha happy "
    "love nice right m s t re ve ll d don didn doesn isn wasn won couldn im image photo take "
    "care bye".split()
)
_NO_NAME = frozenset(
    "i i'm i’m i've i’ve i'd i’d i'll i’ll monday tuesday wednesday thursday friday saturday "
    "sunday january february march april may june july august september october november december "
    "english ok okay".split()
)
_STEMMER = snowballstemmer.stemmer("english")


def lines(text: str) -> list[tuple[str, str]]:
    """(speaker, words) of each line; the speaker is "" where a line names none and goes on
    with the last one inside a turn."""
    result: list[tuple[str, str]] = []
    speaker = ""
    for line in text.split("\n"):
        spoken = _SPEAKER.match(line)
        if spoken:
            speaker, line = spoken.group(1), line[spoken.end() :]
        if line.strip():
            result.append((speaker, line.strip()))
    return result


def sentences(words: str) -> list[str]:
    """Returns the sentences of a line, stripped; without those that hold no word."""
    return [piece.strip() for piece in _BREAK.split(words) if _WORD.search(piece)]


@lru_cache(maxsize=100_000)
def stem(word: str) -> str:
    """Returns the Snowball stem of a lower-case word."""
    stemmed: str = _STEMMER.stemWord(word)
    return stemmed


@lru_cache(maxsize=50_000)
def content(text: str) -> frozenset[str]:
    """Stems of the words that carry meaning."""
    return frozenset(stem(w) for w in _WORD.findall(text.lower()) if w not in _COMMON)


@lru_cache(maxsize=50_000)
def normalised(text: str) -> str:
    """Lower-case words separated by single blanks: equal where texts differ in form alone."""
    return " ".join(_WORD.findall(text.lower()))


def names(sentence: str) -> list[str]:
    """Runs of capitalised words, and quoted titles.

    A single word at the beginning of the sentence does not count, since every sentence
    begins with a capital.
    """
    found: list[str] = []
    for stretch in _SPAN.finditer(sentence):
        words = stretch.group().split()
        run: list[str] = []
        opens = stretch.start() == 0
        for position, word in enumerate([*words, ""]):
            plain = word.removesuffix("'s").removesuffix("’s")
            if plain[:1].isupper() and plain.lower() not in _NO_NAME:
                initial = opens and position == 0
                if not (initial and plain.lower() in _COMMON):
                    run.append(plain)
                if plain != word:
                    _keep(run, found, opens and position + 1 == len(run))
                    run = []
                continue
            _keep(run, found, opens and position == len(run))
            run = []
    return list(dict.fromkeys((*found, *(m.strip() for m in _QUOTED.findall(sentence)))))


def _keep(run: list[str], found: list[str], initial: bool) -> None:
    if run and not (initial and len(run) == 1):
        found.append(" ".join(run))


def quoted(sentence: str) -> list[str]:
    """Returns the texts in quotation marks."""
    return [m.strip() for m in _QUOTED.findall(sentence)]
