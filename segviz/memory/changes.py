"""Compares a memory at two moments, or two builds: nodes added, rewritten, retired, evidence.

A same-text chain is one node, as everywhere. Texts that a lazy system postponed are written for
both, as for a question. ``superseded`` finds stored texts that a later one may replace.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Hashable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from functools import cached_property
from typing import Any, Literal, Protocol

import numpy as np

from segviz.conversation import Question, Unit, seconds
from segviz.retrieval import Result
from segviz.text.dates import read_time
from segviz.text.words import content_tokens
from segviz.tree import Step, Structure

Kind = Literal["added", "rewritten", "retired", "superseded"]
"""Ways in which a node changes. ``superseded``: the store says that its text is no longer true."""


class _MemoryInTime(Protocol):
    """Parts of a ``Memory`` that are used here; its module imports this one."""

    @property
    def units(self) -> Sequence[Unit]: ...

    @property
    def steps(self) -> Sequence[Step]: ...

    @property
    def structure(self) -> Structure: ...

    @property
    def speakers(self) -> Sequence[str]: ...

    @property
    def has_frontier(self) -> bool: ...

    @property
    def ended(self) -> tuple[Superseded, ...]: ...

    def settled(self, step: int) -> Structure: ...

    def turn_ids(self, node: int) -> tuple[str, ...]: ...

    def ask(self, question: str | Question, settings: Any, **changes: Any) -> Result: ...


LIKE = 0.7
"""Cosine from which two texts may be about one thing."""
SHARED = 2
"""Content words that they share, names of speakers left out."""


@dataclass(frozen=True, slots=True)
class Superseded:
    """Stored text that may be out of date.

    ``newer`` is a later text about the same thing, "" if there is none. ``turns`` and
    ``newer_turns`` are the source turns of the two, ``likeness`` is their cosine. ``ended`` is the
    time from which, as the store itself says, the text is no longer true; "" if it says nothing.
    ``node`` and ``newer_node`` are the nodes, -1 for none. ``named`` is True if the store itself
    names the later text.
    """

    text: str
    turns: tuple[str, ...]
    newer: str = ""
    newer_turns: tuple[str, ...] = ()
    likeness: float = 0.0
    ended: str = ""
    node: int = -1
    newer_node: int = -1
    named: bool = False

    def __str__(self) -> str:
        """Returns when the text ended and what came after it, as one sentence."""
        time = read_time(self.ended)
        parts = ["no longer true" + (f" from {time:%d %b %Y}" if time else "")]
        if self.newer:
            what = "replaced by" if self.named else "a later text about the same"
            parts.append(f"{what}: {self.newer}")
        return "; ".join(parts)


@dataclass(frozen=True, slots=True)
class Change:
    """Change of one node between two moments.

    ``before`` and ``after`` are its text at the two moments, "" where it is not there. For a
    superseded text, ``after`` is the later text about the same thing, "" if none is found, and
    ``ended`` the time from which the store calls it untrue.
    """

    kind: Kind
    node: int
    level: int
    span: tuple[int, int]
    before: str
    after: str
    ended: str = ""


@dataclass(frozen=True, eq=False)
class Changes:
    """Changes of a memory between two moments, or from another build to this one.

    ``steps`` are the numbers of steps, ``times`` the times in seconds since 1970, as written;
    infinite at the ends of the conversation and where it has no times. ``earlier`` is the memory
    of the first moment, None if it is the same one. Nodes of one memory are the same if their ids
    are, nodes of two builds if they cover the same units.
    """

    memory: _MemoryInTime = field(repr=False)
    steps: tuple[int, int]
    times: tuple[float, float]
    earlier: _MemoryInTime | None = field(default=None, repr=False)

    def __repr__(self) -> str:
        """Returns the steps and the number of changes of each kind."""
        counts = {kind: len(self.of(kind)) for kind in _KINDS}
        return f"Changes({self.steps[0]} to {self.steps[1]}: {counts})"

    @cached_property
    def structures(self) -> tuple[Structure, Structure]:
        """The structure at each of the moments, a same-text chain as one node."""
        first, last = self.steps
        before = (self.earlier or self.memory).settled(first)
        return before.collapsed, self.memory.settled(last).collapsed

    @cached_property
    def twins(self) -> Mapping[int, int]:
        """Maps each node of the later structure to the same node of the earlier one, if any."""
        first, last = self.structures
        old, new = (np.flatnonzero(each.retrievable).tolist() for each in (first, last))
        if self.earlier is None:  # ids are never reused
            return {node: node for node in sorted({*old} & {*new})}
        # Only the nodes of temporal trees cover their whole span. Of several nodes over the same
        # units the lowest are matched first.
        spans = self.earlier.has_frontier and self.memory.has_frontier

        def by_units(structure: Structure, nodes: Sequence[int]) -> dict[Hashable, int]:
            seen: Counter[Hashable] = Counter()
            node_of: dict[Hashable, int] = {}
            for node in sorted(nodes, key=lambda node: (int(structure.level[node]), node)):
                span = int(structure.start[node]), int(structure.stop[node])
                units = span if spans else structure.coverage(node)
                seen[units] += 1
                node_of[units, seen[units]] = node
            return node_of

        before, after = by_units(first, old), by_units(last, new)
        return {after[units]: before[units] for units in after if units in before}

    @property
    def boundaries(self) -> tuple[tuple[int, ...], tuple[int, ...]]:
        """Units that begin a node of level 1 in the earlier structure alone, and in the later."""
        first, last = (
            {*each.start[each.retrievable & (each.level <= 1) & (each.top >= 1)].tolist()}
            for each in self.structures
        )
        return tuple(sorted(first - last)), tuple(sorted(last - first))

    @property
    def added(self) -> tuple[Change, ...]:
        """Nodes that are only there at the later moment."""
        return self.of("added")

    @property
    def rewritten(self) -> tuple[Change, ...]:
        """Nodes that are there at both moments, with different texts."""
        return self.of("rewritten")

    @property
    def retired(self) -> tuple[Change, ...]:
        """Nodes that are only there at the earlier moment."""
        return self.of("retired")

    @property
    def superseded(self) -> tuple[Change, ...]:
        """Stored texts that became untrue in between, by the times that the store gives."""
        return self.of("superseded")

    def of(self, kind: Kind) -> tuple[Change, ...]:
        """Returns the changes of one kind, oldest node first."""
        return tuple(change for change in self.rows if change.kind == kind)

    @cached_property
    def rows(self) -> tuple[Change, ...]:
        """All changes: by kind, oldest node first."""
        rows = [*self._of_nodes(), *self._ended()]
        return tuple(sorted(rows, key=lambda change: (_KINDS.index(change.kind), change.node)))

    def _of_nodes(self) -> Iterator[Change]:
        """Yields the nodes whose text or presence differs between the two structures."""
        first, last = self.structures
        for node in np.flatnonzero(last.retrievable).tolist():
            twin = self.twins.get(node)
            before, after = "" if twin is None else first.text[twin], last.text[node]
            if twin is None or before != after:
                yield _change("added" if twin is None else "rewritten", last, node, before, after)
        kept = {*self.twins.values()}
        for node in np.flatnonzero(first.retrievable).tolist():
            if node not in kept:
                yield _change("retired", first, node, first.text[node], "")

    def _ended(self) -> Iterator[Change]:
        """Yields the texts that the store calls untrue from a time between the two moments."""
        (begin, end), there = self.times, len(self.structures[1])
        for each in () if self.earlier else self.memory.ended:
            time = read_time(each.ended)
            over = time is not None and begin < seconds(time.replace(tzinfo=None)) <= end
            if not over or each.node >= there:  # a text may be stored after it ended
                continue
            structure = self.memory.structure
            span = int(structure.start[each.node]), int(structure.stop[each.node])
            level = int(structure.level[each.node])
            yield Change("superseded", each.node, level, span, each.text, each.newer, each.ended)

    def evidence(
        self, question: str | Question, settings: Any = None, **changes: Any
    ) -> EvidenceChange:
        """Asks a question at both moments; the other arguments are those of ``segviz.ask``."""
        first, last = (
            memory.ask(question, settings, **{**changes, "step": step})
            for memory, step in zip(
                (self.earlier or self.memory, self.memory), self.steps, strict=True
            )
        )
        return EvidenceChange(first, last, self.twins)


def _change(kind: Kind, there: Structure, node: int, before: str, after: str) -> Change:
    """Returns the change of a node that is ``there``."""
    span = int(there.start[node]), int(there.stop[node])
    return Change(kind, node, int(there.level[node]), span, before, after)


_KINDS: tuple[Kind, ...] = ("added", "rewritten", "retired", "superseded")


@dataclass(frozen=True, slots=True, eq=False)
class EvidenceChange:
    """Evidence for one question at two moments, and the nodes that differ.

    ``twins`` maps nodes of the later structure to the same nodes of the earlier one. A node whose
    text was rewritten in between is in ``rewritten`` if both moments retrieve it.
    """

    before: Result
    after: Result
    twins: Mapping[int, int]

    @property
    def entered(self) -> tuple[int, ...]:
        """Nodes that only the later moment retrieves, best first."""
        return tuple(node for node in self.after.after if node not in self._common)

    @property
    def left(self) -> tuple[int, ...]:
        """Nodes that only the earlier moment retrieves, best first."""
        common = {*self._common.values()}
        return tuple(node for node in self.before.after if node not in common)

    @property
    def rewritten(self) -> tuple[int, ...]:
        """Nodes that both moments retrieve, with different texts, best first."""
        old, new = self.before.structure.text, self.after.structure.text
        return tuple(node for node, twin in self._common.items() if old[twin] != new[node])

    def retrieves(self, change: Change) -> bool:
        """Returns whether one of the two moments retrieves the node of a change."""
        if change.kind == "retired":
            return change.node in self.before.after
        return change.node in self.after.after or self.twins.get(change.node) in self.before.after

    @property
    def _common(self) -> dict[int, int]:
        """Maps the nodes that both moments retrieve to their twins, best first."""
        pairs = ((node, self.twins.get(node)) for node in self.after.after)
        return {
            node: twin for node, twin in pairs if twin is not None and twin in self.before.after
        }


def superseded(memory: _MemoryInTime, *, stored: bool = False) -> tuple[Superseded, ...]:
    """Returns stored texts that a later one about the same thing may have replaced.

    Two texts are about one thing if the cosine of their vectors is at least 0.7 and they share two
    content words, names of speakers not counted. A text is later if its last source turn is in a
    later session; for a text that the store marks as ended, a later unit is enough. Each text is
    listed once, with the later text of highest cosine. A pair may agree, and a contradiction in
    other words is not found. Texts that the store itself marks as ended come first, also those
    without a later text; if the store names the later text, that is it.

    Args:
        memory: the memory.
        stored: only the texts that the store itself marks as ended. This takes time in proportion
            to their number, all take time in proportion to the square of the number of texts.
    """
    structure, units = memory.structure, memory.units
    marked = [n for n, facts in enumerate(structure.facts) if {"ended", "newer"} & facts.keys()]
    of_units = {int(p) for p, child in structure.edges.tolist() if structure.ghost[child]}
    if stored and not marked:
        return ()
    # Without a conversation, the leaves of a table are the texts.
    nodes = sorted({*marked, *(of_units or (structure.leaves if marked else ()))})
    node_of = {str(structure.facts[node].get("id")): node for node in nodes}
    place_of = {node: place for place, node in enumerate(nodes)}
    stop = structure.stop[nodes]
    session = np.array([units[unit - 1].session for unit in stop.tolist()])
    names = {word for who in memory.speakers for word in content_tokens(who)}
    words = [content_tokens(structure.text[node]) - names for node in nodes]
    vectors = structure.vector[nodes]
    # Every text is compared with later ones; the likest of them may replace it.
    stale = []
    for node in marked if stored else nodes:
        place = place_of[node]
        facts = structure.facts[node]
        ended = str(facts.get("ended") or "").removesuffix("T00:00:00")
        old = Superseded(structure.text[node], memory.turn_ids(node), ended=ended, node=node)
        cosines = vectors @ vectors[place]
        later = stop > stop[place] if node in marked else session > session[place]
        alike = np.flatnonzero((cosines >= LIKE) & later).tolist()
        alike = [at for at in alike if len(words[at] & words[place]) >= SHARED]
        named = node_of.get(str(facts.get("newer", "")))
        if named is not None or alike:
            best = max(alike, key=lambda at: float(cosines[at])) if named is None else -1
            new = nodes[best] if named is None else named
            old = replace(
                old,
                newer=structure.text[new],
                newer_turns=memory.turn_ids(new),
                likeness=round(float(structure.vector[node] @ structure.vector[new]), 4),
                newer_node=new,
                named=named is not None,
            )
        if old.newer or old.ended:
            stale.append(old)
    return tuple(sorted(stale, key=lambda each: (not each.ended, -each.likeness)))
