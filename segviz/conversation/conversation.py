"""Defines Conversation: sessions and questions, with its units by rule; and a reordered one."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, fields, replace
from datetime import datetime
from functools import cached_property
from typing import Any

import numpy as np

from segviz.conversation import units as unit_rules
from segviz.conversation.times import seconds
from segviz.conversation.turns import Question, Session, StoredText, Turn
from segviz.conversation.units import Unit


@dataclass(frozen=True)
class Conversation:
    """A chronological conversation with its questions.

    ``id`` names the conversation in its file. ``speakers`` are those that the file declares (a, b,
    …). ``source_format`` is the name of the loader that read the file. ``observations`` are facts
    that the data set derived from the turns, as LoCoMo does.
    """

    id: str
    speakers: tuple[str, ...]
    sessions: tuple[Session, ...]
    questions: tuple[Question, ...] = ()
    source_format: str = "segviz"
    observations: tuple[StoredText, ...] = ()

    def __repr__(self) -> str:
        """Returns the id and the numbers of sessions, turns and questions, in one line."""
        sizes = f"{len(self.sessions)} sessions, {len(self.turns)} turns"
        return f"Conversation({self.id!r}: {sizes}, {len(self.questions)} questions)"

    @cached_property
    def turns(self) -> tuple[Turn, ...]:
        """All turns of all sessions, in order."""
        return tuple(turn for session in self.sessions for turn in session.turns)

    @cached_property
    def period(self) -> tuple[datetime, datetime] | None:
        """The earliest and the latest time of a turn; None if no turn has a time."""
        times = [time for session in self.sessions for time in session.times if time]
        return (min(times, key=seconds), max(times, key=seconds)) if times else None

    @cached_property
    def _turn_by_id(self) -> dict[str, Turn]:
        return {turn.id: turn for turn in self.turns}

    def turn(self, turn_id: str) -> Turn:
        """Returns the turn with this id; KeyError if the conversation has no such turn."""
        try:
            return self._turn_by_id[turn_id]
        except KeyError:
            raise KeyError(f"{self.id} has no turn {turn_id!r}") from None

    def date_of(self, unit: Unit) -> str:
        """Returns the date of a unit: that of its first turn, else the session's as written."""
        session, first = self.sessions[unit.session], self.turn(unit.turn_ids[0])
        if first.time is None and unit.time == session.start:
            return session.raw_date
        return f"{unit.time:%Y-%m-%d %H:%M}" if unit.time else ""

    def question(self, index: int) -> Question:
        """Returns the question with this index; ValueError lists the existing indices."""
        known = {question.index: question for question in self.questions}
        if index not in known:
            there = f"0 to {max(known)}" if known else "none at all"
            raise ValueError(f"there is no question {index}; {self.id} has {there}")
        return known[index]

    def units(self, rule: str = "exchange") -> tuple[Unit, ...]:
        """Divides the conversation into units by one of ``UNIT_RULES``; ValueError lists these."""
        if rule not in self._units_by_rule:
            self._units_by_rule[rule] = unit_rules.cut(self.sessions, self.speakers, rule)
        return self._units_by_rule[rule]

    def placed(self, unit: Unit, rule: str) -> tuple[str, ...]:
        """Returns the turns that were at a unit's place before :class:`Reordered` moved units."""
        return unit.turn_ids

    @cached_property
    def _units_by_rule(self) -> dict[str, tuple[Unit, ...]]:
        # Cached by rule: pages ask for the units often, and cutting 100,000 turns takes half
        # a second.
        return {}

    def dropped(self, rule: str) -> tuple[str, ...]:
        """Returns the turns with content that no unit has; only the rule ``paper`` drops any."""
        if rule not in self._dropped:
            inside = {turn_id for unit in self.units(rule) for turn_id in unit.turn_ids}
            lost = (t.id for t in self.turns if t.content and t.id not in inside)
            self._dropped[rule] = tuple(lost)
        return self._dropped[rule]

    @cached_property
    def _dropped(self) -> dict[str, tuple[str, ...]]:
        return {}


def with_typed_turns(conversation: Conversation, typed: Sequence[tuple[str, str]]) -> Conversation:
    """Returns a conversation with (speaker, text) turns in a new session ``live`` at its end.

    The turns have the ids ``L1``, ``L2`` …; without any the conversation is the same.
    """
    if not typed:
        return conversation
    turns = tuple(Turn(f"L{i}", who, text) for i, (who, text) in enumerate(typed, start=1))
    session = Session("live", None, "typed just now", turns)
    speakers = tuple(dict.fromkeys((*conversation.speakers, *(who for who, _ in typed))))
    return replace(conversation, speakers=speakers, sessions=(*conversation.sessions, session))


def swapped(count: int, share: float, seed: int) -> list[int]:
    """Returns the original index at each of ``count`` places after ⌊share · count / 2⌋ swaps."""
    if not 0 <= share <= 1:
        raise ValueError(f"share is {share}; it must lie between 0 and 1")
    order = list(range(count))
    places = np.random.default_rng(seed).permutation(count).tolist()
    pairs = int(share * count / 2 + 1e-9)
    for left, right in zip(places[: 2 * pairs : 2], places[1 : 2 * pairs : 2], strict=True):
        order[left], order[right] = order[right], order[left]
    return order


@dataclass(frozen=True)
class Reordered(Conversation):
    """A conversation whose units are in another order.

    Text and turn ids of a unit move; index, session and date stay with the place. Units move after
    the division, so that both orders have the same units.
    """

    share: float = 0.0
    seed: int = 0

    def units(self, rule: str = "exchange") -> tuple[Unit, ...]:
        """Returns the units of ``rule``, swapped by :func:`swapped`."""
        plain = super().units(rule)
        order = swapped(len(plain), self.share, self.seed)
        return tuple(
            replace(place, turn_ids=plain[i].turn_ids, text=plain[i].text)
            for place, i in zip(plain, order, strict=True)
        )

    def placed(self, unit: Unit, rule: str) -> tuple[str, ...]:
        """Returns the ids of the turns that were at the unit's place before units moved."""
        return super().units(rule)[unit.index].turn_ids


def reordered(conversation: Conversation, share: float, seed: int) -> Reordered:
    """Returns ``conversation`` with a random ``share`` of its units swapped in pairs."""
    same: dict[str, Any] = {f.name: getattr(conversation, f.name) for f in fields(Conversation)}
    return Reordered(**same, share=share, seed=seed)
