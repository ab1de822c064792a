"""Words of the screen, one for each meaning; a test lists the synonyms that are not used."""

from __future__ import annotations

GAINS, LOSES = "gains", "loses"
"""Verbs for a setting or a system that has more or less evidence of a question than another."""
