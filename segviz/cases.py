"""The five questions of SegTreeMem App. C.4, and what becomes of them here."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

CONVERSATION = "conv-47"


@dataclass(frozen=True)
class Case:
    """One case: the index of its question in the conversation, what it is about, what the
    paper reports, what segviz retrieves offline, and the settings to compare, as fields
    of a bookmark."""

    name: str
    question: int
    about: str
    paper: str
    here: str
    settings: tuple[tuple[str, Mapping[str, Any]], ...]


CASES: tuple[Case, ...] = ()
