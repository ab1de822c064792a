"""Defines Corpus, the conversations of one file, and the report of loading them; finds the bundled
conversations.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Literal, overload

from segviz.conversation.conversation import Conversation

Kind = Literal["repaired", "skipped"]


@dataclass(frozen=True, slots=True)
class Finding:
    """A record the loader repaired or skipped: ``where`` in the file, and ``what`` was wrong."""

    kind: Kind
    where: str
    what: str


@dataclass(frozen=True, slots=True)
class LoadReport:
    """The outcome of loading a file. ``kept`` counts turns. ``findings`` are the
    first hundred where there are more; ``counts`` are of all, by kind. Of a table or of records
    ``headers`` are the columns and ``columns`` what they were taken for, by meaning. ``lacks``
    names what the file does not tell: times, speakers."""

    name: str
    source_format: str
    kept: int
    findings: tuple[Finding, ...] = ()
    counts: Mapping[Kind, int] = field(default_factory=dict)
    headers: tuple[str, ...] = ()
    columns: Mapping[str, str] = field(default_factory=dict)
    lacks: tuple[str, ...] = ()

    def count(self, kind: Kind) -> int:
        """How many records were repaired, or skipped, listed or not."""
        return self.counts.get(kind, sum(f.kind == kind for f in self.findings))

    @property
    def repaired(self) -> tuple[Finding, ...]:
        """The listed records that were kept after a repair."""
        return tuple(f for f in self.findings if f.kind == "repaired")

    @property
    def skipped(self) -> tuple[Finding, ...]:
        """The listed records that were skipped."""
        return tuple(f for f in self.findings if f.kind == "skipped")

    def __str__(self) -> str:
        """One readable line: ``name: 689 turns kept, 2 repaired, 0 skipped (LoCoMo)``."""
        lacks = f"; the file has no {' and no '.join(self.lacks)}" if self.lacks else ""
        return (
            f"{self.name}: {self.kept} turns kept, {self.count('repaired')} repaired, "
            f"{self.count('skipped')} skipped ({self.source_format}){lacks}"
        )


@dataclass(frozen=True, slots=True)
class Entry:
    """A conversation as a row of a list.

    ``sessions`` and ``turns`` are counts, None where they are unknown until the conversation
    is read; ``about`` is the file's own line about it (a question, a title), possibly "".
    """

    id: str
    sessions: int | None
    turns: int | None
    about: str = ""


@dataclass(frozen=True, repr=False)
class Corpus(Sequence[Conversation]):
    """The conversations of one file; index by position or by id.

    ``conversations`` may be read on access (``segviz.loaders.lazy``); ``entries`` lists them
    without reading any.
    """

    conversations: Sequence[Conversation]
    report: LoadReport = field(default=LoadReport("", "", 0))

    def __repr__(self) -> str:
        entries = self.entries
        turns = sum(entry.turns or 0 for entry in entries)
        ids = ", ".join(repr(entry.id)[:40] for entry in entries[:5])
        more = ", …" if len(entries) > 5 else ""
        return f"{type(self).__name__}({len(entries)} conversations, {turns} turns: {ids}{more})"

    def __len__(self) -> int:
        return len(self.conversations)

    @property
    def entries(self) -> tuple[Entry, ...]:
        """One per conversation, in file order; costs no reading."""
        return tuple(Entry(c.id, len(c.sessions), len(c.turns)) for c in self.conversations)

    @property
    def ids(self) -> tuple[str, ...]:
        """Conversation ids in file order; repeated ids carry a ``#2`` suffix."""
        return tuple(entry.id for entry in self.entries)

    def report_of(self, position: int) -> LoadReport:
        """The report of one conversation; the file's own where the file was read as a whole."""
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
    """The names with ``#2``, ``#3`` … behind repeated ones; a suffixed name that is itself
    among ``names`` is skipped."""
    seen: Counter[str] = Counter()
    taken = set(names)
    result = []
    for name in names:
        fresh = name
        seen[name] += 1
        while seen[name] > 1 and (fresh := f"{name}#{seen[name]}") in taken:
            seen[name] += 1
        taken.add(fresh)
        result.append(fresh)
    return result


def with_distinct_ids(conversations: Sequence[Conversation]) -> tuple[Conversation, ...]:
    """Suffix repeated ids with ``#2``, ``#3`` … so that each can be addressed."""
    names = distinct([each.id for each in conversations])
    return tuple(
        conversation if conversation.id == name else replace(conversation, id=name)
        for conversation, name in zip(conversations, names, strict=True)
    )


TITLES = {
    "ines-theo": "Ines and Theo: a boat, a bakery, a dog",
    "noor-caleb": "Noor and Caleb: an allotment, a thesis, a podcast",
    "topic-switching": "Adversarial: the topic switches at every exchange",
    "recurrence": "Adversarial: one topic returns after long gaps",
}


def sample_path(name: str) -> Path:
    """The file of a bundled sample. ValueError lists the known names."""
    if name not in TITLES:
        raise ValueError(f"unknown sample {name!r}; choose one of {', '.join(TITLES)}")
    package = Path(__file__).resolve().parent.parent
    # In a wheel the folder lies inside the package, in the source tree beside it.
    places = (package / "sample_data", package.parent / "sample_data")
    folder = next((place for place in places if place.is_dir()), places[-1])
    return folder / f"{name}.json"
