"""Splits texts into the words by which they are compared.

A text is split at everything that is not a letter or digit; deleting a dash would join words.
Numbers stay whole and function words are left out.
"""

from __future__ import annotations

import re
import unicodedata

QUOTED = 0.6
"""Share of a turn's content words that one text must contain to quote it."""

_WORD = re.compile(r"\d+(?:[.,:]\d+)+|\w+")
_FUNCTION_WORDS = frozenset(
    "a an and are as at be been but by did do does for from had has have he her his i in is it "
    "its of on or s she so t that the their them then there they this to was we were with".split()
)


def nfkc_lower(text: str) -> str:
    """Returns a text in Unicode NFKC and lower case."""
    return unicodedata.normalize("NFKC", text).lower()


def all_tokens(text: str) -> frozenset[str]:
    """Returns the distinct words of a text, numbers whole and without thousands commas."""
    return frozenset(word.replace(",", "") for word in _WORD.findall(nfkc_lower(text)))


def content_tokens(text: str) -> frozenset[str]:
    """Returns the distinct words without function words.

    A text of function words only keeps them all ("he did").
    """
    words = all_tokens(text)
    return words - _FUNCTION_WORDS or words


def quotes(text: str, quoted: str, share: float = QUOTED) -> bool:
    """Returns True if a text has at least a ``share`` of the content words of another."""
    wanted = content_tokens(quoted)
    return bool(wanted) and len(wanted & all_tokens(text)) >= share * len(wanted) - 1e-9
