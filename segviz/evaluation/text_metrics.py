"""Compares texts by their words: token F1, BLEU-1, content words. Pure functions.

Normalisation of two answers (SQuAD, Rajpurkar et al. 2016): lower case, no punctuation,
no articles, split at white space. As there, punctuation is deleted and not replaced, so
``3.5`` becomes ``35`` and ``1,000`` becomes ``1000``. Beyond SQuAD the text is first
brought to Unicode NFKC, and punctuation of every script counts, not only ASCII's.

Content words compare an answer with running text, where deleting a dash would glue words
together: a text is split at everything that is not a letter or digit, numbers are kept whole and
function words left out.
"""

from __future__ import annotations

import math
import re
import string
import unicodedata
from collections import Counter

_ARTICLES = frozenset(("a", "an", "the"))
_WORD = re.compile(r"\d+(?:[.,:]\d+)+|\w+")
_FUNCTION_WORDS = frozenset(
    "a an and are as at be been but by did do does for from had has have he her his i in is it "
    "its of on or s she so t that the their them then there they this to was we were with".split()
)


def _nfkc_lower(text: str) -> str:
    return unicodedata.normalize("NFKC", text).lower()


def normalised(text: str) -> list[str]:
    """Tokens of an answer in SQuAD's normal form; see the module text."""
    kept = "".join(
        char
        for char in _nfkc_lower(text)
        if char not in string.punctuation and not unicodedata.category(char).startswith("P")
    )
    return [word for word in kept.split() if word not in _ARTICLES]


def all_tokens(text: str) -> frozenset[str]:
    """Distinct words of a text, numbers whole and without thousands commas."""
    return frozenset(word.replace(",", "") for word in _WORD.findall(_nfkc_lower(text)))


def content_tokens(text: str) -> frozenset[str]:
    """The distinct words without function words; a text of function words only keeps them
    all ("he did")."""
    words = all_tokens(text)
    return words - _FUNCTION_WORDS or words


def token_f1(predicted: str, gold: str) -> float:
    """Harmonic mean of precision and recall over tokens, repeated tokens counted.

    1.0 for two answers without a token, 0.0 where only one has none. Source: SQuAD.
    """
    found, wanted = normalised(predicted), normalised(gold)
    if not found or not wanted:
        return float(found == wanted)
    shared = sum((Counter(found) & Counter(wanted)).values())
    return 2 * shared / (len(found) + len(wanted))


def bleu1(predicted: str, gold: str) -> float:
    """Clipped unigram precision times the brevity penalty exp(1 − gold/predicted length).

    Same normal form and edge cases as :func:`token_f1`. Source: Papineni et al. 2002.
    """
    found, wanted = normalised(predicted), normalised(gold)
    if not found or not wanted:
        return float(found == wanted)
    precision = sum((Counter(found) & Counter(wanted)).values()) / len(found)
    return precision * min(1.0, math.exp(1 - len(wanted) / len(found)))
