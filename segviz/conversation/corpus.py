"""Defines Corpus, the conversations of one file, and its loading report; finds bundled samples."""

from __future__ import annotations

import tomllib
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
class AuditReport:
    """Outcome of matching an audit's entries with the questions of a file.

    ``matched`` entries dispute a question of the file, ``unmatched`` ones none; ``questions``
    counts the disputed questions. ``unresolved`` counts corrected evidence that names no turn.
    ``findings`` are the first hundred unusable entries.
    """

    name: str
    matched: int
    unmatched: int
    questions: int
    unresolved: int
    findings: tuple[Finding, ...] = ()

    def __str__(self) -> str:
        """Returns the counts in one line."""
        lost = f"; corrected evidence that names no turn: {self.unresolved}" * bool(self.unresolved)
        entries = f"{self.matched} of {self.matched + self.unmatched} entries"
        return f"{self.name}: {entries} have a question here; disputed: {self.questions}{lost}"


@dataclass(frozen=True, slots=True)
class LoadReport:
    """Outcome of loading a file.

    ``kept`` counts the turns read. ``findings`` are the first hundred repaired or skipped records;
    ``counts`` maps "repaired" and "skipped" to the number of all such records. For a table or
    records ``headers`` are the columns, and ``columns`` maps a meaning, such as ``speaker``, to a
    column. ``lacks`` names missing information (times, speakers). ``audit`` describes an audit that
    was opened with the file.
    """

    name: str
    source_format: str
    kept: int
    findings: tuple[Finding, ...] = ()
    counts: Mapping[Kind, int] = field(default_factory=dict)
    headers: tuple[str, ...] = ()
    columns: Mapping[str, str] = field(default_factory=dict)
    lacks: tuple[str, ...] = ()
    audit: AuditReport | None = None

    def count(self, kind: Kind) -> int:
        """Returns the number of all records of a kind, ``repaired`` or ``skipped``."""
        return self.counts.get(kind, sum(f.kind == kind for f in self.findings))

    @property
    def repaired(self) -> tuple[Finding, ...]:
        """Records in ``findings`` that were repaired."""
        return tuple(f for f in self.findings if f.kind == "repaired")

    @property
    def skipped(self) -> tuple[Finding, ...]:
        """Records in ``findings`` that were skipped."""
        return tuple(f for f in self.findings if f.kind == "skipped")

    def __str__(self) -> str:
        """Returns ``name: 689 turns kept, 2 repaired, 0 skipped (LoCoMo)``."""
        lacks = f"; the file has no {' and no '.join(self.lacks)}" if self.lacks else ""
        return (
            f"{self.name}: {self.kept} turns kept, {self.count('repaired')} repaired, "
            f"{self.count('skipped')} skipped ({self.source_format}){lacks}"
        )


@dataclass(frozen=True, slots=True)
class Entry:
    """Row of a list of conversations.

    ``sessions`` and ``turns`` are counts, None if the conversation must be read to know them.
    ``about`` is a line from the file that describes the conversation (a question, a title), or "".
    """

    id: str
    sessions: int | None
    turns: int | None
    about: str = ""


@dataclass(frozen=True, repr=False)
class Corpus(Sequence[Conversation]):
    """Conversations of one file; index by position or by id.

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
        """List entries of the conversations, in file order; they are not read for it."""
        return tuple(Entry(c.id, len(c.sessions), len(c.turns)) for c in self.conversations)

    @property
    def ids(self) -> tuple[str, ...]:
        """Conversation ids in file order; repeated ids carry a ``#2`` suffix."""
        return tuple(entry.id for entry in self.entries)

    def report_of(self, position: int) -> LoadReport:
        """Returns the report of a conversation; of the whole file unless it is read lazily."""
        return self.report

    @overload
    def __getitem__(self, key: int | str) -> Conversation: ...
    @overload
    def __getitem__(self, key: slice) -> tuple[Conversation, ...]: ...
    def __getitem__(self, key: int | str | slice) -> Conversation | tuple[Conversation, ...]:
        """Returns a conversation by position or id; KeyError lists the first ids."""
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
    """Adds ``#2``, ``#3`` … to repeated names, skipping suffixed names that exist in ``names``."""
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
    """Adds ``#2``, ``#3`` … to repeated ids, so that each conversation can be addressed."""
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


WRITTEN = {"ines-theo": "ines-theo-texts", "noor-caleb": "noor-caleb-texts"}
"""Samples with titles and texts for the inner nodes of their tree, written by hand."""

STORES = {"ines-theo": "ines-theo-facts"}
"""Samples with a bundled store of facts, written by hand as a fact-extracting memory would."""


def sample_path(name: str) -> Path:
    """Returns the file of a bundled sample, memory or store; ValueError lists the known names."""
    names = (*TITLES, *WRITTEN.values(), *STORES.values())
    if name not in names:
        known = ", ".join(names)
        raise ValueError(f"unknown sample {name!r}; choose one of {known}")
    package = Path(__file__).resolve().parent.parent
    # In a wheel the folder is inside the package, in the source tree next to it.
    places = (package / "sample_data", package.parent / "sample_data")
    folder = next((place for place in places if place.is_dir()), places[-1])
    return folder / f"{name}.{'toml' if name in WRITTEN.values() else 'json'}"


def sample_texts(name: str, unit: str = "exchange") -> dict[tuple[int, int], tuple[str, str]]:
    """Returns the written texts of a sample: title and text by span of units.

    Args:
        name: name of the sample; one without written texts has none.
        unit: the unit rule; texts are written for units by exchange.

    Returns:
        What ``Memory.with_texts`` takes.
    """
    if name not in WRITTEN or unit != "exchange":
        return {}
    entries = tomllib.loads(sample_path(WRITTEN[name]).read_text(encoding="utf-8"))
    spans = [tuple(map(int, key.split("-"))) for key in entries]
    pairs = [(entry["title"], entry["text"]) for entry in entries.values()]
    return {(start, stop): pair for (start, stop), pair in zip(spans, pairs, strict=True)}
