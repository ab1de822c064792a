"""Measures the texts of inner nodes: contentless lines, and what their turns do not have.

A line is *contentless* if it has fewer than two content words, without the names of the speakers.
Function words, interjections, praise and the "image" or "photo" of a caption are not content words
(:func:`segviz.construct.tasks.words.content`). Source: ours.

:func:`unsourced` lists numbers and names. It is no check of truth: a text may work out a date, and
a text without such words may be wrong.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Sequence
from datetime import timedelta

import numpy as np

from segviz.construct.annotate import PROMPT
from segviz.construct.tasks.words import LEAST_CONTENT, content, lines
from segviz.conversation import Unit
from segviz.tree import Structure
from segviz.tree.structure import once_per_structure


def contentless_lines(structure: Structure, speakers: Sequence[str]) -> dict[int, float]:
    """Returns the share of contentless lines on each level above 0.

    The lines of all nodes of a level are pooled. A chain of nodes with one text counts once, on its
    lowest level. Names of ``speakers`` are no content. Levels ascend, shares are in [0, 1]; a level
    without lines is left out.
    """
    return {
        level: empty / every for level, (empty, every) in line_counts(structure, speakers).items()
    }


def contentless_share(structure: Structure, speakers: Sequence[str]) -> float | None:
    """Returns the share of contentless lines over all levels above 0; None without such lines."""
    counts = line_counts(structure, speakers).values()
    empty, every = (sum(column) for column in zip(*counts, strict=True)) if counts else (0, 0)
    return empty / every if every else None


@once_per_structure(tuple)
def line_counts(structure: Structure, speakers: Sequence[str]) -> dict[int, tuple[int, int]]:
    """Returns the numbers of contentless lines and of all lines on each level above 0.

    O(n) for n nodes the first time, then cached with the structure.
    """
    shown, silent = structure.collapsed, content(" ".join(speakers))
    counts: dict[int, tuple[int, int]] = {}
    inner = np.flatnonzero(shown.active & (shown.level > 0))
    for node in inner[np.argsort(shown.level[inner], kind="stable")].tolist():
        contents = [content(words) - silent for _, words in lines(shown.text[node])]
        level = int(shown.level[node])
        empty, every = counts.get(level, (0, 0))
        empty += sum(len(words) < LEAST_CONTENT for words in contents)
        if contents:
            counts[level] = empty, every + len(contents)
    return counts


# --- numbers and names without a source -------------------------------------------------------

_NUMBER = re.compile(r"\d+(?:[.,:]\d+)*")
_NAME = re.compile(r"(?<=[\w,;] )[^\W\d_][\w’'-]*")  # not the first word of a sentence
_WORD = re.compile(r"[^\W_][\w’'-]*")
_OWNER = re.compile(r"['’]s?\Z")
_ONES = (
    "zero one two three four five six seven eight nine ten eleven twelve thirteen fourteen fifteen "
    "sixteen seventeen eighteen nineteen"
).split()
_TENS = "twenty thirty forty fifty sixty seventy eighty ninety".split()
_COUNTS = {word: number for number, word in enumerate(_ONES)} | {
    word: 10 * number for number, word in enumerate(_TENS, start=2)
}
_NEAR = range(-7, 8)  # days from which "yesterday" or "next Friday" makes a date


def unsourced(text: str, units: Iterable[Unit]) -> list[str]:
    """Lists the numbers and names in a text that neither its units nor dates near them have.

    A name is a word with a capital letter inside a sentence. Numbers may be spelled in words in a
    unit. A number or name in the list is worked out from others, or invented.

    Args:
        text: a summary.
        units: the units it covers.
    """
    # The numbers and words of the units, and of the dates near theirs.
    numbers, words = set[str](), set[str]()
    for unit in units:
        numbers |= {*map(_digits, _NUMBER.findall(unit.text)), *_spelled(unit.text)}
        words |= {*map(_bare, _WORD.findall(unit.text))}
        for day in (unit.time + timedelta(days) for days in _NEAR) if unit.time else ():
            numbers |= {str(day.day), str(day.year)}
            words |= {f"{day:%B}".casefold(), f"{day:%A}".casefold()}
    names = [name for name in _NAME.findall(text) if name[0].isupper() and len(_bare(name)) > 1]
    lacking = [number for number in _NUMBER.findall(text) if _digits(number) not in numbers]
    lacking += [_OWNER.sub("", name) for name in names if _bare(name) not in words]
    return list(dict.fromkeys(lacking))


def unsourced_texts(structure: Structure, units: Sequence[Unit]) -> dict[int, list[str]]:
    """Returns, by node, the result of :func:`unsourced` for every text of a model that has any.

    An offline text in the place of a model's counts, too: it may quote the model's texts below it.
    """
    nodes = np.flatnonzero(structure.active).tolist()
    lists = {
        node: unsourced(structure.text[node], [units[index] for index in structure.coverage(node)])
        for node in nodes
        if PROMPT in structure.facts[node]
    }
    return {node: lacking for node, lacking in lists.items() if lacking}


def _digits(number: str) -> str:
    return re.sub(r"\D", "", number).lstrip("0") or "0"


def _bare(word: str) -> str:
    return _OWNER.sub("", word.casefold())


def _spelled(text: str) -> Iterator[str]:
    """Yields the numbers that a text spells in English words, in digits: "twenty-six" is 26."""
    value = 0
    for word in re.findall(r"[a-z]+", text.casefold()):
        if word in _COUNTS:
            yield str(_COUNTS[word])
            value += _COUNTS[word]
        elif word == "hundred":
            value += (value % 100 or 1) * 100 - value % 100
        elif word == "thousand":
            value = (value or 1) * 1000
        elif word != "and":
            value = 0
        yield str(value)
