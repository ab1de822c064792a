"""Decides whether a text states an answer: all content words, numbers and dates in any form.

"twenty-six" is 26, and "1 May 2023" is "May 1st" or "2023-05-01". A day without a year matches
every year. "The Sunday before 25 May 2023" is also stated by the day that it names. An answer that
is a list has parts, and each gold turn of its question gives some of them (:func:`parts_given`).
"""

from __future__ import annotations

import re
from collections.abc import Collection, Sequence
from datetime import timedelta

from segviz.text.dates import MONTH_NAMES, days_in, month_of, resolve
from segviz.text.words import FUNCTION_WORDS, all_tokens, content_tokens, nfkc_lower

_DIGITS = "one two three four five six seven eight nine".split()
_TEENS = "ten eleven twelve thirteen fourteen fifteen sixteen seventeen eighteen nineteen".split()
_TENS = "twenty thirty forty fifty sixty seventy eighty ninety".split()
_VALUES = {word: value for value, word in enumerate(["zero", *_DIGITS, *_TEENS])} | {
    word: 10 * value for value, word in enumerate(_TENS, start=2)
}
_SCALES = {None: 1, "hundred": 100, "thousand": 1_000}
_SPELLED = re.compile(
    rf"\b(?:({'|'.join(_TENS)})(?:[ -]({'|'.join(_DIGITS)}))?|(zero|{'|'.join(_DIGITS + _TEENS)})"
    r"|a(?= (?:hundred|thousand)\b))(?:[ -](hundred|thousand))?\b"
)
_BETWEEN = re.compile(r"[;\n]|,(?!\d)|\band\b|&")  # parts of a list; "1,500" is one
_DATED = re.compile(r"\A(day_\d{4})_\d{4}\Z")
_ORDINAL = re.compile(r"\b(\d+)(?:st|nd|rd|th)\b")

Words = frozenset[str]
Part = tuple[Words, ...]
"""Part of an answer: alternative sets of words, each of which states it."""


def stated_words(text: str) -> Words:
    """Returns the words that a text states: its tokens, numbers as digits, and its dates."""
    whole = nfkc_lower(text)
    dates = set[str]()
    for _, (year, month, day) in days_in(whole):
        # A date states its day with and without the year, its month, its day and its year.
        dates |= {_day(month, day), f"{_day(month, day)}_{year or ''}", str(day)}
        dates |= {MONTH_NAMES[month - 1].lower(), str(year or day)}
    words = all_tokens(_in_digits(whole))
    return words | {month_of(word) for word in words} | dates


def answer_parts(answer: str) -> tuple[Part, ...]:
    """Splits an answer that is a list at commas, semicolons, line breaks, "and" and "&".

    Commas within a date or number do not split, and pieces of function words are dropped. A word of
    a date is as in :func:`stated_words`, with the year if the answer has it.

    Args:
        answer: the answer. One that is no list has one part, one without words has none.
    """
    whole = nfkc_lower(answer)
    # A comma after "2 June," is between parts.
    dates = [range(start, stop - (whole[stop - 1] == ",")) for (start, stop), _ in days_in(whole)]
    pieces, end = list[str](), 0
    for mark in _BETWEEN.finditer(whole):
        if not any(mark.start() in date for date in dates):
            pieces.append(whole[end : mark.start()])
            end = mark.end()
    pieces.append(whole[end:])
    several = [piece for piece in pieces if all_tokens(piece) - FUNCTION_WORDS]
    return tuple(part for piece in several or [whole] if (part := _ways(piece)))


def _ways(piece: str) -> Part:
    """Returns the alternative sets of words that state a piece of an answer in lower case."""
    ways = [piece]
    # "the Sunday before 25 May 2023" names a day, which another text may state by its date.
    named = resolve(piece, None)
    if named and named[0][1] - named[0][0] == timedelta(days=1):
        (day, _), words = named
        ways.append(piece.replace(words, f"{day:%Y-%m-%d}", 1))
    return tuple(dict.fromkeys(needed for way in ways if (needed := _needed(way))))


def parts_given(answer: str, turns: Sequence[str]) -> list[tuple[Part, ...]]:
    """Returns the parts of an answer that each gold turn of its question gives.

    A part is given by the first turn that states it. A part that no turn states, because they say
    it in other words, is given by every turn that states no part, or by all turns if each states
    one. A turn left without a part gives those that it states, or else the whole answer. So every
    part is given by a turn, and a single turn gives the whole answer.

    Args:
        answer: the answer.
        turns: texts of the gold turns, in the order of the question.
    """
    parts = answer_parts(answer)
    words_of = [stated_words(turn) if parts else frozenset() for turn in turns]
    states_of = [[part for part in parts if stated(words, [part])] for words in words_of]
    known = {part for mine in states_of for part in mine}
    unknown = tuple(part for part in parts if part not in known)
    given, before = list[tuple[Part, ...]](), set[Part]()
    for mine in states_of:
        first = tuple(part for part in mine if part not in before)
        before.update(mine)
        if not mine or all(states_of):
            first += unknown
        given.append(first or tuple(mine) or parts)
    return given


def _needed(answer: str) -> Words:
    """Returns the words of an answer in lower case, its dates and numbers in one form."""
    dates, rest, end = set[str](), [], 0
    for (start, stop), (year, month, day) in days_in(answer):
        dates.add(_day(month, day) + (f"_{year}" if year else ""))
        rest.append(answer[end:start])
        end = stop
    words = content_tokens(_in_digits(" ".join([*rest, answer[end:]])))
    # "on" is a word of an answer only where it has no other.
    words = words - FUNCTION_WORDS if dates else words
    return frozenset(dates) | {month_of(word) for word in words}


def stated(words: Collection[str], parts: Collection[Part]) -> bool:
    """Returns True if a text of these :func:`stated_words` states all ``parts``, at least one."""

    def has(way: Words) -> bool:
        # A date of the answer may be in the text without its year.
        return all(word in words or _DATED.sub(r"\1_", word) in words for word in way)

    return bool(parts) and all(any(map(has, part)) for part in parts)


def states(text: str, answer: str) -> bool:
    """Returns True if a text has all content words of an answer, numbers and dates in any form."""
    return stated(stated_words(text), answer_parts(answer))


def _day(month: int, day: int) -> str:
    return f"day_{month:02}{day:02}"


def _in_digits(text: str) -> str:
    """Writes the numbers of a text in lower case with digits: "twenty-six" is 26, "1st" is 1."""

    def digits(match: re.Match[str]) -> str:
        tens, ones, alone, scale = match.groups()
        number = _VALUES[tens] + _VALUES.get(ones, 0) if tens else _VALUES.get(alone, 1)
        return str(number * _SCALES[scale])

    return _ORDINAL.sub(r"\1", _SPELLED.sub(digits, text))
