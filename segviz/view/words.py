"""Words of the screen: one for each meaning, and the synonyms that are not used beside it."""

from __future__ import annotations

from typing import Final

GAINS, LOSES = "gains", "loses"
"""Verbs for a setting or a system that has more or less evidence of a question than another."""

SYNONYMS: Final = {
    "enters": ("replaced",),
    GAINS: ("rescue", "rescues", "rescued", "win", "wins", "won", "gained"),
    LOSES: ("lost",),
    "answered": ("stated now", "no longer stated"),
    "modified": ("touched",),
    "own retrieval": ("native", "natively", "Native", "retrieval as usual"),
    "if all nodes scored alike": ("even share", "even shares"),
}
"""Word to what no text of pages, exports and charts says in its place (a test reads them)."""
