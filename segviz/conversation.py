"""Layer 1: what a conversation is, whatever file it came from.

Loaders produce these records; every later stage reads them. All are frozen.

=============  =====================================================================
record         meaning
=============  =====================================================================
Turn           one message; ``id`` is unique inside its conversation ("D3:12")
Session        a dated block of turns, in the order they were spoken
Question       a dataset question with its gold evidence (ids of turns)
Conversation   sessions + questions; ``turns`` is the flat chronological tuple
Corpus         what one file held: conversations and the report of loading them
Entry          a conversation as a list of them shows it, known without reading it
=============  =====================================================================

Text is data, never markup: nothing here is escaped, and every sink must show it
literally.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field, replace
from datetime import datetime
from functools import cached_property
from typing import Literal, overload

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


Kind = Literal["repaired", "skipped"]


@dataclass(frozen=True, slots=True)
class Finding:
    """One thing the loader had to mend or leave out, and where it stood in the file."""

    kind: Kind
    where: str
    what: str


@dataclass(frozen=True, slots=True)
class LoadReport:
    """What became of a file. ``kept`` counts turns; findings are in file order."""

    name: str
    source_format: str
    kept: int
    findings: tuple[Finding, ...] = ()

    @property
    def repaired(self) -> tuple[Finding, ...]:
        """Records that were kept after a mend."""
        return tuple(f for f in self.findings if f.kind == "repaired")

    @property
    def skipped(self) -> tuple[Finding, ...]:
        """Records that were left out."""
        return tuple(f for f in self.findings if f.kind == "skipped")

    def __str__(self) -> str:
        """One line for people: ``name: 689 turns kept, 2 repaired, 0 skipped (LoCoMo)``."""
        return (
            f"{self.name}: {self.kept} turns kept, {len(self.repaired)} repaired, "
            f"{len(self.skipped)} skipped ({self.source_format})"
        )


@dataclass(frozen=True, slots=True)
class Entry:
    """A conversation as a list of them shows it.

    ``sessions`` and ``turns`` are None where only reading the conversation would tell;
    ``about`` is a line of the file's own on it (a question, a title), possibly "".
    """

    id: str
    sessions: int | None
    turns: int | None
    about: str = ""


@dataclass(frozen=True)
class Corpus(Sequence[Conversation]):
    """The conversations of one file; index by position or by id.

    ``conversations`` may read each one when it is asked for (``segviz.loaders.lazy``), so
    lists of conversations are made from ``entries``, which never reads any.
    """

    conversations: Sequence[Conversation]
    report: LoadReport = field(default=LoadReport("", "", 0))

    def __len__(self) -> int:
        """Number of conversations."""
        return len(self.conversations)

    def __iter__(self) -> Iterator[Conversation]:
        """Conversations in file order."""
        return iter(self.conversations)

    @property
    def entries(self) -> tuple[Entry, ...]:
        """One per conversation, in file order; costs no reading."""
        return tuple(Entry(c.id, len(c.sessions), len(c.turns)) for c in self.conversations)

    @property
    def ids(self) -> tuple[str, ...]:
        """Conversation ids in file order; repeated ids carry a ``#2`` suffix."""
        return tuple(entry.id for entry in self.entries)

    def report_of(self, position: int) -> LoadReport:
        """What became of one conversation; here the file was read whole: the file's report."""
        return self.report

    @overload
    def __getitem__(self, key: int | str) -> Conversation: ...
    @overload
    def __getitem__(self, key: slice) -> tuple[Conversation, ...]: ...
    def __getitem__(self, key: int | str | slice) -> Conversation | tuple[Conversation, ...]:
        """By position or id. KeyError lists the first ids there are."""
        if isinstance(key, slice):
            return tuple(self.conversations[key])
        if isinstance(key, int):
            return self.conversations[key]
        ids = self.ids
        if key not in ids:
            more = f" … ({len(ids)} in all)" if len(ids) > 20 else ""
            raise KeyError(f"no conversation {key!r}; the file holds {', '.join(ids[:20])}{more}")
        return self.conversations[ids.index(key)]


def distinct(names: Sequence[str]) -> list[str]:
    """The names, repeated ones with ``#2``, ``#3`` … unless that is a name itself."""
    seen: Counter[str] = Counter()
    taken = set(names)
    result = []
    for name in names:
        seen[name] += 1
        count = seen[name]
        fresh = name if count == 1 else f"{name}#{count}"
        while count > 1 and fresh in taken:
            count += 1
            fresh = f"{name}#{count}"
        seen[name] = count
        taken.add(fresh)
        result.append(fresh)
    return result


def with_distinct_ids(conversations: Sequence[Conversation]) -> tuple[Conversation, ...]:
    """Suffix repeated ids with ``#2``, ``#3`` … so that each can be addressed."""
    return tuple(
        conversation if conversation.id == name else replace(conversation, id=name)
        for conversation, name in zip(
            conversations, distinct([each.id for each in conversations]), strict=True
        )
    )
