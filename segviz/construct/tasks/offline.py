"""The tasks without a model: rules and similarity, deterministic."""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime
from typing import ClassVar

from segviz.construct.tasks import extract, question
from segviz.construct.tasks.records import MOST_FACTS, Boundary, Extraction, SubQuestion
from segviz.construct.tasks.words import normalised

_SHIFT = re.compile(
    r"\b(?:by the way|anyway|anyways|speaking of|on another note|changing the subject|"
    r"moving on|oh, and|before i forget)\b",
    re.I,
)
_SHARP = re.compile(
    r"\b(?:not|no|never|n't|\d+|monday|tuesday|wednesday|thursday|friday|saturday|sunday|"
    r"yesterday|today|tomorrow)\b|n[’']t\b",
    re.I,
)


@dataclass(frozen=True)
class Offline:
    """Rules in place of a language model: sentences as facts, capitals as names, cue words.

    Source: ours. Far below what a model extracts; it shows the mechanics of a system, not
    its answers' quality.
    """

    name: ClassVar[str] = "offline"

    # Cosine under which a message is off the subject of the last few.
    _apart: ClassVar[float] = 0.10

    def extract(
        self, text: str, when: datetime | None, known: Sequence[str] = (), most: int = MOST_FACTS
    ) -> Extraction:
        """See :func:`segviz.construct.tasks.extract.extract`."""
        return extract.extract(text, when, known, most)

    def boundary(self, before: Sequence[str], new: str, likeness: float) -> Boundary:
        """Ends at a phrase that changes the subject, or where the message is unlike."""
        phrase = _SHIFT.search(new)
        if phrase:
            return Boundary(True, f"“{phrase.group().lower()}” changes the subject")
        if likeness < self._apart:
            return Boundary(True, f"likeness {likeness:.2f} is below {self._apart:.2f}")
        return Boundary(False, f"likeness {likeness:.2f} reaches {self._apart:.2f}")

    def same(self, one: str, other: str) -> bool:
        """Equal words, or (as the caller found them alike) equal numbers, days and
        negations."""
        if normalised(one) == normalised(other):
            return True
        return sorted(_SHARP.findall(one.lower())) == sorted(_SHARP.findall(other.lower()))

    def plan(self, text: str, now: datetime | None) -> tuple[SubQuestion, ...]:
        """See :func:`segviz.construct.tasks.question.plan`."""
        return question.plan(text, now)

    def order(self, text: str, texts: Sequence[str], scores: Sequence[float]) -> list[int]:
        """By score; the earlier on a tie."""
        return sorted(range(len(texts)), key=lambda i: (-scores[i], i))

    def uncertainty(
        self, text: str, context: Sequence[str], weights: Mapping[str, float] | None = None
    ) -> float:
        """See :func:`segviz.construct.tasks.question.uncertainty`."""
        return question.uncertainty(text, context, weights)

    def missing(self, text: str, evidence: Sequence[str]) -> str | None:
        """See :func:`segviz.construct.tasks.question.missing`."""
        return question.missing(text, evidence)
