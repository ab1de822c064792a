"""Cuts texts of every script into words: one tokenizer for relevance, annotation and measures.

A word is a run of letters, digits, combining marks and underscores. Scripts that set no blanks
between words (Han, Kana, Thai, Lao, Myanmar, Khmer), and Hangul, whose words end in particles,
are cut into pairs of neighbouring signs instead: 打印机 is 打印, 印机. Two texts that share a word
share its pairs. Of a longer run of signs (an image, a key) only the first ``LONGEST`` are read.
``frontend/src/shared/words.js`` does the same in the browser.
"""

from __future__ import annotations

import re
import unicodedata
from collections import Counter
from collections.abc import Collection, Iterator
from itertools import pairwise

QUOTED = 0.6
"""Share of a turn's content words that one text must contain to quote it."""

LONGEST = 256
"""Longest word, in signs; no language has one, but images and keys pasted into a message do."""

EXAMINED = 20_000
"""Characters of a text that are embedded, quoted from and named after: the mean of more words no
longer changes, and a file pasted into a message would delay everything."""

HAN = "\u3005-\u3007\u3400-\u4dbf\u4e00-\u9fff\uf900-\ufaff\U00020000-\U0003ffff"
HIRAGANA = "\u3041-\u309f"
KATAKANA = "\u30a1-\u30fa\u30fc-\u30ff\u31f0-\u31ff\uff66-\uff9f"
_HANGUL = "\u1100-\u11ff\u3130-\u318f\uac00-\ud7a3"
_THAI_LAO = "\u0e01-\u0e3a\u0e40-\u0e4e\u0e50-\u0e59\u0e81-\u0edf"
_BURMESE_KHMER = "\u1000-\u1049\u1050-\u109f\u1780-\u17d3\u17e0-\u17e9"
UNSPACED_ALPHABETS = _THAI_LAO + _BURMESE_KHMER
"""Signs of alphabets that set no blanks between words, for a character class."""

_RUNS = (HAN, HIRAGANA, KATAKANA, _HANGUL, _THAI_LAO, _BURMESE_KHMER)
"""Scripts whose words are cut into pairs of signs; both signs of a pair are of one script."""

_SIGNS = "".join(_RUNS)
# Signs written above, below or behind a letter, which \w does not know: vowels of India, accents.
_MARKS = "".join(chr(i) for i in range(0x300, 0x1B00) if unicodedata.category(chr(i))[0] == "M")
_OTHER = "".join(re.findall(f"[^{_SIGNS}]", _MARKS))
_WORD = rf"[^\W{_SIGNS}]+(?:[{_OTHER}]+[^\W{_SIGNS}]*)*"
_TOKEN = "|".join([*(f"[{run}]+" for run in _RUNS), _WORD])
_NUMBER = r"\d+(?:[.,:]\d+)+|"
_ANY = {whole: re.compile(_NUMBER * whole + _TOKEN) for whole in (False, True)}
_ASCII = {whole: re.compile(_NUMBER * whole + r"\w+") for whole in (False, True)}
_HAS_SIGN = re.compile(f"[{_SIGNS}]")
_SIGN = re.compile(f"[^{_MARKS}][{_MARKS}]*|[{_MARKS}]+")
_IN_LONG = rf"[^\s{_SIGNS}.,:;!?\"'()<>{{}}\[\]&]"
_LONG = re.compile(f"(?<!{_IN_LONG})({_IN_LONG}{{{LONGEST}}}){_IN_LONG}++")
PIECE = rf"[{_SIGNS}]|{_WORD}"
"""Pattern of a word, or of one sign where words are cut into pairs."""

FUNCTION_WORDS = frozenset(
    "a an and are as at be been but by did do does for from had has have he her his i in is it "
    "its of on or s she so t that the their them then there they this to was we were with".split()
)


_CLUSTER = re.compile(
    f"[\u0e40-\u0e44\u0ec0-\u0ec4]?[{UNSPACED_ALPHABETS}]"
    f"(?:[{_MARKS}\u0e30\u0e32\u0e33\u0e45\u0eb0\u0eb2\u0eb3]|\u17d2[{_BURMESE_KHMER}])*"
)
"""Letter of such an alphabet with the vowels and marks before, around and after it."""


def clusters(run: str) -> list[str]:
    """Splits a run of Thai, Lao, Burmese or Khmer into letters with their vowels and marks."""
    return _CLUSTER.findall(run)


def cut(text: str) -> str:
    """Returns a text with blanks in place of what a word has beyond ``LONGEST`` signs."""
    if len(text) <= LONGEST:
        return text
    return _LONG.sub(lambda run: run[1].ljust(len(run[0])), text)


def spans(text: str, numbers: bool = False) -> Iterator[tuple[int, int]]:
    """Yields the ends of each token; pairs of signs overlap. ``numbers``: 3.5 and 10:30 are one."""
    text = cut(text)
    for run in (_ASCII if text.isascii() else _ANY)[numbers].finditer(text):
        start, stop = run.span()
        signs = [*_SIGN.finditer(text, start, stop)] if _HAS_SIGN.match(text, start) else []
        if len(signs) < 2:
            yield start, stop
        for one, other in pairwise(signs):
            yield one.start(), other.end()


def tokens(text: str, numbers: bool = False) -> list[str]:
    """Returns the tokens of a text in lower case, in order; see :func:`spans`."""
    text = cut(text.lower())
    if text.isascii():
        return _ASCII[numbers].findall(text)
    return [text[start:stop] for start, stop in spans(text, numbers)]


def count_words(text: str) -> int:
    """Counts the words of a text by blanks, or by pairs of signs in scripts without blanks."""
    pieces = text.split()
    if text.isascii():
        return len(pieces)
    return sum(len(tokens(piece)) if _HAS_SIGN.search(piece) else 1 for piece in pieces)


def other_script(text: str, known: Collection[str]) -> str:
    """Returns the commonest script outside ``known`` if over half of the letters are, else "".

    A script is the first word of a letter's Unicode name: LATIN, CJK, THAI.
    """
    if text.isascii():
        return ""
    letters: Counter[str] = Counter()
    for sign, count in Counter(text).items():
        letters[unicodedata.name(sign, "?").split()[0]] += count * sign.isalpha()
    others = Counter({script: n for script, n in letters.items() if script not in known})
    return others.most_common(1)[0][0] if others.total() * 2 > letters.total() else ""


def has_sign(text: str) -> bool:
    """Returns True if a text begins with a character of a script that is cut into pairs."""
    return _HAS_SIGN.match(text) is not None


def nfkc_lower(text: str) -> str:
    """Returns a text in Unicode NFKC and lower case."""
    return unicodedata.normalize("NFKC", text).lower()


def all_tokens(text: str) -> frozenset[str]:
    """Returns the distinct tokens of a text, numbers whole and without thousands commas."""
    return frozenset(word.replace(",", "") for word in tokens(nfkc_lower(text), numbers=True))


def content_tokens(text: str) -> frozenset[str]:
    """Returns the distinct tokens of a text without function words, unless there are only these."""
    words = all_tokens(text)
    return words - FUNCTION_WORDS or words


def quotes(text: str, quoted: str) -> bool:
    """Returns True if ``text`` has the share ``QUOTED`` of the content words of ``quoted``."""
    wanted = content_tokens(quoted)
    return bool(wanted) and len(wanted & all_tokens(text)) >= QUOTED * len(wanted) - 1e-9
