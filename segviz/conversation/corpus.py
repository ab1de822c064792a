"""Layer 1: what one file held: its conversations, and what became of its records.

=============  =====================================================================
record         meaning
=============  =====================================================================
Corpus         the conversations of a file and the report of loading them
LoadReport     how many turns were kept, what was mended, what left out
Finding        one thing that was mended or left out, and where it stood
Entry          a conversation as a list of them shows it, known without reading it
=============  =====================================================================
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field, replace
from typing import Literal, overload

from segviz.conversation.conversation import Conversation

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
