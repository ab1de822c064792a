"""Words of the screen: one for each meaning, and the synonyms that are not used beside it."""

from __future__ import annotations

from typing import Final

GAINS, LOSES = "gains", "loses"
"""What a setting, or a system, does with evidence against another, question by question."""

SYNONYMS: Final = {
    "enters": ("replaced",),
    GAINS: ("rescue", "rescues", "rescued", "win", "wins", "won"),
    "modified": ("touched",),
    "own retrieval": ("native retrieval", "retrieval as usual"),
}
"""Word to what no text of pages, exports and charts says in its place (a test reads them)."""
