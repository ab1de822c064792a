"""Compares two texts by their words: token F1 and BLEU-1. Pure functions.

Normalisation of two answers (SQuAD, Rajpurkar et al. 2016): lower case, no punctuation,
no articles, split at white space. As in SQuAD, punctuation is deleted and not replaced, so
``3.5`` becomes ``35`` and ``1,000`` becomes ``1000``. Beyond SQuAD the text is first brought to
Unicode NFKC, scripts without white space are cut into pairs of signs, and punctuation of every
script counts, not only ASCII's.
"""

from __future__ import annotations

import math
import string
import unicodedata
from collections import Counter

from segviz.text.words import nfkc_lower, tokens

_ARTICLES = frozenset(("a", "an", "the"))


def normalised(text: str) -> list[str]:
    """Returns the tokens of an answer in SQuAD's normal form; see the module text."""
    letters = "".join(
        char
        for char in nfkc_lower(text)
        if char not in string.punctuation and not unicodedata.category(char).startswith("P")
    )
    words = letters.split()
    if not letters.isascii():
        words = [piece for word in words for piece in (tokens(word) or [word])]
    return [word for word in words if word not in _ARTICLES]


def token_f1(predicted: str, gold: str) -> float:
    """Returns the harmonic mean of precision and recall over tokens, counting repeated tokens.

    F1 is in [0, 1]; 1.0 for two answers without a token, 0.0 if only one has none.

    Source: SQuAD.
    """
    given, wanted = normalised(predicted), normalised(gold)
    if not given or not wanted:
        return float(given == wanted)
    shared = sum((Counter(given) & Counter(wanted)).values())
    return 2 * shared / (len(given) + len(wanted))


def bleu1(predicted: str, gold: str) -> float:
    """Returns clipped unigram precision times the brevity penalty exp(1 − gold/predicted length).

    Normal form, arguments and edge cases are those of :func:`token_f1`.

    Source: Papineni et al. 2002.
    """
    given, wanted = normalised(predicted), normalised(gold)
    if not given or not wanted:
        return float(given == wanted)
    precision = sum((Counter(given) & Counter(wanted)).values()) / len(given)
    return precision * min(1.0, math.exp(1 - len(wanted) / len(given)))
