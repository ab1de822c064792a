"""Layer 1: what a conversation is, whatever file it came from.

Loaders produce these records; every later stage reads them. All are frozen.

=============  =====================================================================
record         meaning
=============  =====================================================================
Turn           one message; ``id`` is unique inside its conversation ("D3:12")
Session        a dated block of turns, in the order they were spoken
Question       a dataset question with its gold evidence (ids of turns)
Conversation   sessions + questions; ``turns`` is the flat chronological tuple
=============  =====================================================================

Text is data, never markup: nothing here is escaped, and every sink must show it
literally.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field, replace
from datetime import datetime
from functools import cached_property

from segviz import units as unit_rules
from segviz.units import Unit

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


@dataclass(frozen=True)
class Conversation:
    """A chronological conversation with its questions."""

    id: str
    speakers: tuple[str, ...]
    sessions: tuple[Session, ...]
    questions: tuple[Question, ...] = ()
    source_format: str = "segviz"

    @cached_property
    def turns(self) -> tuple[Turn, ...]:
        """All turns of all sessions, in order."""
        return tuple(turn for session in self.sessions for turn in session.turns)

    @cached_property
    def _turn_by_id(self) -> dict[str, Turn]:
        return {turn.id: turn for turn in self.turns}

    def turn(self, turn_id: str) -> Turn:
        """The turn with this id; KeyError names the conversation when there is none."""
        try:
            return self._turn_by_id[turn_id]
        except KeyError:
            raise KeyError(f"{self.id} has no turn {turn_id!r}") from None

    def units(self, rule: str = "exchange") -> tuple[Unit, ...]:
        """Cut the conversation into leaves by one of ``segviz.units.UNIT_RULES``.

        Raises ValueError naming the legal rules when ``rule`` is unknown.
        """
        if rule not in self._cuts:
            self._cuts[rule] = unit_rules.cut(self.sessions, self.speakers, rule)
        return self._cuts[rule]

    @cached_property
    def _cuts(self) -> dict[str, tuple[Unit, ...]]:
        # By rule: pages ask for the units again and again, and a cut of 100,000 turns
        # takes half a second.
        return {}

    def dropped(self, rule: str) -> tuple[str, ...]:
        """Ids of turns that no unit of this rule holds (the cost of ``paper``).

        Turns with nothing in them (no text, no caption) are never a leaf and are
        not counted here.
        """
        if rule not in self._lost:
            held = {turn_id for unit in self.units(rule) for turn_id in unit.turn_ids}
            self._lost[rule] = tuple(t.id for t in self.turns if t.content and t.id not in held)
        return self._lost[rule]

    @cached_property
    def _lost(self) -> dict[str, tuple[str, ...]]:
        return {}


def with_typed_turns(conversation: Conversation, typed: Sequence[tuple[str, str]]) -> Conversation:
    """The conversation continued by (speaker, text) turns in a session of their own.

    Turn ids are ``L1``, ``L2`` …, the session's is ``live``. Speakers not met before join
    the list. No turns: the conversation itself.
    """
    if not typed:
        return conversation
    turns = tuple(Turn(f"L{i}", who, text) for i, (who, text) in enumerate(typed, start=1))
    session = Session("live", None, "typed just now", turns)
    speakers = tuple(dict.fromkeys((*conversation.speakers, *(who for who, _ in typed))))
    return replace(conversation, speakers=speakers, sessions=(*conversation.sessions, session))
