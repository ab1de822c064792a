"""The records every format is read into: turns, sessions, questions.

Loaders produce them; every later stage reads them. All are frozen.

Text is data, never markup: nothing here is escaped, and every sink must show it
literally.
"""

from __future__ import annotations

from dataclasses import dataclass, field
from datetime import datetime

CATEGORY_NAMES = {
    1: "multi-hop",
    2: "temporal",
    3: "open-domain",
    4: "single-hop",
    5: "adversarial",
}
"""LoCoMo's numeric ids by the meaning its own evaluation code gives them.

Papers permute these names, so every view shows the number beside the name."""


@dataclass(frozen=True, slots=True)
class Turn:
    """One message. ``caption`` describes a shared image and is part of the content.

    ``extra`` holds what else the file says of it, by name: texts, numbers and truth values
    that segviz does not use. It is not compared and not saved with a memory.
    """

    id: str
    speaker: str
    text: str
    caption: str | None = None
    extra: tuple[tuple[str, str | float | bool], ...] = field(default=(), compare=False)

    @property
    def content(self) -> str:
        """What was communicated: the text, with the image caption in brackets."""
        words = self.text.strip()
        if not self.caption:
            return words
        return f"{words} [image: {self.caption}]".strip()


@dataclass(frozen=True, slots=True)
class Session:
    """A dated block of turns. ``start`` is None where ``raw_date`` could not be read."""

    id: str
    start: datetime | None
    raw_date: str
    turns: tuple[Turn, ...]


@dataclass(frozen=True, slots=True)
class Question:
    """A dataset question.

    ``answer`` is None where the dataset gives none (LoCoMo category 5, whose
    ``adversarial`` field holds the tempting *wrong* answer). ``evidence`` holds ids
    that exist in the conversation; what could not be resolved is kept verbatim in
    ``unresolved``.
    """

    index: int
    text: str
    answer: str | None
    category: int | None
    evidence: tuple[str, ...]
    unresolved: tuple[str, ...] = ()
    adversarial: str | None = None

    @property
    def category_label(self) -> str:
        """Number and name, e.g. ``"2 temporal"``; the number is what files agree on."""
        if self.category is None:
            return "no category"
        return f"{self.category} {CATEGORY_NAMES.get(self.category, 'other')}"
