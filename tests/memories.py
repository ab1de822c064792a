"""Memories of the bundled samples, built once in a process and shared by all its tests."""

from dataclasses import replace
from functools import cache
from typing import Any

import segviz
from segviz.conversation import TITLES, Conversation, sample_path
from segviz.memory import Memory

SAMPLE = next(iter(TITLES))
KINDS = ("segment-tree", "raptor", "h-mem", "bm25")
"""A system of each kind: growing along a path, rebuilt, with a graph of facts, flat."""


@cache
def sample(name: str = SAMPLE, sessions: int | None = None) -> Conversation:
    """The conversation of a bundled sample; or its first sessions, with what they answer."""
    whole = segviz.load(sample_path(name))[0]
    if sessions is None:
        return whole
    begun = whole.sessions[:sessions]
    known = {turn.id for session in begun for turn in session.turns}
    asked = [one for one in whole.questions if one.evidence and known.issuperset(one.evidence)]
    numbered = tuple(replace(one, index=index) for index, one in enumerate(asked))
    return replace(whole, sessions=begun, questions=numbered)


@cache
def built(
    system: str = "segment-tree",
    name: str = SAMPLE,
    unit: str = "exchange",
    sessions: int | None = None,
    **settings: Any,
) -> Memory:
    """A memory of a sample; for tests that leave it as it is."""
    return segviz.build(sample(name, sessions), system, unit, **settings)
