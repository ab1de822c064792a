"""Memories of the bundled samples, built once in a process and shared by all its tests."""

from __future__ import annotations

from functools import cache
from typing import Any

import segviz
from segviz.conversation import TITLES, Conversation, sample_path
from segviz.memory import Memory

SAMPLE = next(iter(TITLES))


@cache
def sample(name: str = SAMPLE) -> Conversation:
    """The conversation of a bundled sample."""
    return segviz.load(sample_path(name))[0]


@cache
def built(
    system: str = "segment-tree", name: str = SAMPLE, unit: str = "exchange", **settings: Any
) -> Memory:
    """A memory of a sample; for tests that leave it as it is."""
    return segviz.build(sample(name), system, unit, **settings)
