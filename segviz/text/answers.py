"""Decides whether a text states an answer: all content words, numbers and dates in any form.

"twenty-six" is 26, and "1 May 2023" is "May 1st" or "2023-05-01". A day without a year matches
every year. "The Sunday before 25 May 2023" is also stated by the day that it names.
"""

from __future__ import annotations

import re
from collections.abc import Collection
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
_DATED = re.compile(r"(day_\d{4})_\d{4}")
_ORDINAL = re.compile(r"\b(\d+)(?:st|nd|rd|th)\b")

Words = frozenset[str]


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


def answer_words(answer: str) -> tuple[Words, ...]:
    """Returns the alternative sets of words that state an answer; () for an answer without words.

    A word of a date is as in :func:`stated_words`, with the year if the answer has it.
    """
    whole = nfkc_lower(answer)
    ways = [whole]
    # "the Sunday before 25 May 2023" names a day, which another text may state by its date.
    named = resolve(whole, None)
    if named and named[0][1] - named[0][0] == timedelta(days=1):
        (day, _), words = named
        ways.append(whole.replace(words, f"{day:%Y-%m-%d}", 1))
    return tuple(dict.fromkeys(needed for way in ways if (needed := _needed(way))))


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


def stated(words: Collection[str], ways: Collection[Words]) -> bool:
    """Returns True if a text of these :func:`stated_words` states an answer.

    Args:
        words: what the text states.
        ways: the :func:`answer_words` of the answer.
    """
    return any(all(word in words or _any_year(word) in words for word in way) for way in ways)


def states(text: str, answer: str) -> bool:
    """Returns True if a text has all content words of an answer, numbers and dates in any form."""
    return stated(stated_words(text), answer_words(answer))


def _any_year(word: str) -> str:
    """Returns the word that a text has for the date ``word`` without a year; else ``word``."""
    dated = _DATED.fullmatch(word)
    return f"{dated[1]}_" if dated else word


def _day(month: int, day: int) -> str:
    return f"day_{month:02}{day:02}"


def _in_digits(text: str) -> str:
    """Writes the numbers of a text in lower case with digits: "twenty-six" is 26, "1st" is 1."""

    def digits(match: re.Match[str]) -> str:
        tens, ones, alone, scale = match.groups()
        number = _VALUES[tens] + _VALUES.get(ones, 0) if tens else _VALUES.get(alone, 1)
        return str(number * _SCALES[scale])

    return _ORDINAL.sub(r"\1", _SPELLED.sub(digits, text))
