"""Checks the form of a model's text before it becomes memory.

It cannot check whether a text is true; the screen shows the turns next to it.
"""

from __future__ import annotations

import re
import unicodedata
from collections.abc import Sequence

_THOUGHTS = re.compile(r"\A\s*<think(?:ing)?>.*?</think(?:ing)?>", re.DOTALL)
_THINKS = re.compile(r"\A\s*<think(?:ing)?>")
# A chat template may have written the opening tag.
_THOUGHT = re.compile(r"\A.*</think(?:ing)?>", re.DOTALL)

_TITLE = re.compile(r"\A\W*title\W*[:：][^\n]*\n*", re.I)
_INTRODUCTION = re.compile(
    r"\A\W*+(?:(?:sure|certainly|absolutely|of course|okay)\s*[!,.]"
    r"|(?:here(?:'s|’s| is| are)|below is|this is)\b[^\n]{0,60}\b(?:summary|title)\b"
    r"|(?:i'm sorry|i’m sorry|i am sorry|as an ai|i can(?:no|'|’)t)\b"
    r"|[^\n]{1,120}[:：][ \t]*\n)|\A[^\n]{1,120}[:：][ \t]*\n",
    re.I,
)
_ITEM = re.compile(
    r"^[^\S\n]*+(?:[-*•]\s|\(?\d{1,2}[.):]\s|(?:part|message|segment)\s+\d+\s*(?:[:.–—-]|$))",
    re.I | re.M,
)
_MESSAGE = re.compile(r"^[^\s:][^:\n]{0,40}: .*", re.M)  # a line that begins with its speaker
_QUOTED = re.compile(r"“[^“”]*+”|\"[^\"]*+\"")
_SELF = re.compile(r"\b(?:I|I[’'](?:m|ve|d|ll)|my|me|myself)\b|\bMy\b")
_MINE = 2  # words of the first person that make a text one in the first person
_RUN = 6  # consecutive words that are in a message too are copied
_COPIED = 0.6  # most of a summary's words that may be copied
_SHINGLE = 12  # letters
_DISTINCT = 0.7  # least share of distinct shingles; a text repeated three times has .33
_STUTTER = re.compile(r"\b(\w+)(?:\W+\1\b){3}", re.I)
_PLAIN = 0.85  # least share of letters, digits and blanks
_LEAST_WORDS, _LEAST_LETTERS = 3, 12  # a text has at least so many words, or so many letters
_MOST_WORDS, _MOST_CHARACTERS = 2, 16  # for each word asked for


def spoken(reply: str) -> tuple[str, bool]:
    """Returns a reply without the reasoning before it; and True if that has no end."""
    text = _THOUGHTS.sub("", reply, count=1)
    if _THINKS.match(text):
        return "", True
    return _THOUGHT.sub("", text, count=1).strip(), False


def tokens_for(words: int) -> int:
    """Returns the token limit for a title and a text of ``words`` words, in any script."""
    return 4 * words + 40


def checked(reply: str, cut: bool, words: int, source: str) -> tuple[str, str]:
    """Returns a reply without reasoning, and why it cannot become memory, "" if it can.

    Args:
        reply: the whole reply.
        cut: True if it ended at the token limit.
        words: the requested maximum of words.
        source: the texts to be summarised.
    """
    text, thinks = spoken(reply)
    if thinks or (cut and not text):
        return text, "it was reasoning without an end"
    return text, "it was cut off" if cut else unusable(text, words, source)


def unusable(text: str, words: int, source: str = "") -> str:
    """Returns the reason why a text cannot become memory; "" if it can.

    Args:
        text: the reply, without reasoning.
        words: the requested maximum of words.
        source: the texts to be summarised.
    """
    body = _TITLE.sub("", text, count=1).strip()
    letters = [sign for sign in body.casefold() if unicodedata.category(sign)[0] in "LMN"]
    if len(body.split()) < _LEAST_WORDS and len(letters) < _LEAST_LETTERS:
        return "it was too short"
    if _INTRODUCTION.match(body):
        return "it began with an introduction"
    if len(letters) + sum(map(str.isspace, body)) < _PLAIN * len(body):
        return "too few of its signs were letters"
    if len(_ITEM.findall(body)) > 1:
        return "it was a list"
    if _copied(body, source):
        return "it copied the messages"
    if len(_SELF.findall(_QUOTED.sub("", body))) >= _MINE:
        return "it spoke in the first person"
    # Of a text that repeats itself many runs of letters are equal.
    runs = [tuple(letters[i : i + _SHINGLE]) for i in range(len(letters) - _SHINGLE + 1)]
    loops = len(runs) > 5 * _SHINGLE and len(set(runs)) < _DISTINCT * len(runs)
    if loops or _STUTTER.search(body):
        return "it repeated itself"
    if len(body.split()) > _MOST_WORDS * words or len(body) > _MOST_CHARACTERS * words:
        return f"it was longer than the {words} words asked for"
    return ""


def _copied(text: str, source: str) -> bool:
    """Returns True if a text has two whole messages, or is mostly runs of words of messages."""
    if len({*_MESSAGE.findall(text)} & {*_MESSAGE.findall(source)}) > 1:
        return True
    message_runs = {run for line in _MESSAGE.findall(source) for run in _runs(line.split())}
    words = text.split()
    starts = [place for place, run in enumerate(_runs(words)) if run in message_runs]
    copied = {place for start in starts for place in range(start, start + _RUN)}
    return len(copied) > _COPIED * len(words)


def _runs(words: Sequence[str]) -> list[tuple[str, ...]]:
    """Returns all runs of ``_RUN`` consecutive words in a list of words."""
    return [tuple(words[start : start + _RUN]) for start in range(len(words) - _RUN + 1)]
