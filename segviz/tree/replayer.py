"""Applies events to a structure, one by one, over mutable columns."""

from __future__ import annotations

from collections.abc import Collection, Iterable, Iterator
from itertools import chain

import numpy as np

from segviz.tree.events import (
    Add,
    Event,
    Facts,
    Link,
    Relate,
    Retire,
    Revise,
    Span,
    Step,
    Unlink,
    Vector,
)
from segviz.tree.structure import IntArray, Structure, sealed


class ReplayError(ValueError):
    """Error of events that do not describe a structure; the message names the step and event."""


class Replayer:
    """Mutable columns of a structure to which events are applied.

    Lists grow by one entry per node. ``edges`` and ``relations`` are dicts, because events remove
    rows by key and the order of insertion must remain. ``degree`` counts the edges and relations at
    each node, so that Retire can be checked in O(1).
    """

    def __init__(self, structure: Structure | None = None) -> None:
        """Starts with the columns of ``structure``; empty without one."""
        self.level: list[int] = []
        self.span: list[Span] = []
        self.text: list[str] = []
        self.vector: list[Vector] = []
        self.active: list[bool] = []
        self.kind: list[str] = []
        self.facts: list[Facts] = []
        self.edges: dict[tuple[int, int], None] = {}
        self.relations: dict[tuple[int, int, str], Relate] = {}
        self.degree: list[int] = []
        if structure is None:
            return
        edges = structure.edges
        self.level, self.active = structure.level.tolist(), structure.active.tolist()
        self.span = list(zip(structure.start.tolist(), structure.stop.tolist(), strict=True))
        self.text, self.vector = list(structure.text), list(structure.vector)
        self.kind, self.facts = list(structure.kind), list(structure.facts)
        self.edges = dict.fromkeys(zip(edges[:, 0].tolist(), edges[:, 1].tolist(), strict=True))
        self.relations = {(r.source, r.target, r.label): r for r in structure.relations}
        self.degree = np.bincount(edges.ravel(), minlength=len(structure)).tolist()
        for source, target, _ in self.relations:
            self._count(source, target, 1)

    def __len__(self) -> int:
        """Returns the number of nodes ever added."""
        return len(self.level)

    def take(self, number: int, step: Step) -> None:
        """Applies the events of step ``number``; ReplayError names the step."""
        for event in step.events:
            try:
                self.apply(event)
            except ReplayError as error:
                raise ReplayError(f"step {number}: {error}") from None

    def apply(self, event: Event) -> None:
        """Applies one event; ReplayError says why it is impossible."""
        match event:
            case Add():
                self._add(event)
            case Revise():
                self._revise(event)
            case Link():
                self._require(event.parent)
                self._require(event.child)
                if (event.parent, event.child) in self.edges:
                    raise ReplayError(f"{event}: the edge is already there")
                self.edges[event.parent, event.child] = None
                self._count(event.parent, event.child, 1)
            case Unlink():
                if (event.parent, event.child) not in self.edges:
                    raise ReplayError(f"{event}: there is no such edge")
                del self.edges[event.parent, event.child]
                self._count(event.parent, event.child, -1)
            case Retire():
                self._require(event.node)
                if self.degree[event.node]:
                    raise ReplayError(f"{event}: the node still has edges; unlink them first")
                # The row stays, so that ids and the rows of other columns remain valid.
                self.active[event.node] = False
            case Relate():
                self._relate(event)

    def _add(self, event: Add) -> None:
        if event.node != len(self.level):
            raise ReplayError(f"Add({event.node}): expected node {len(self.level)}; ids are dense")
        # Ids are dense, so the columns grow together and a node's id is its row.
        self.level.append(event.level)
        self.span.append(event.span)
        self.text.append(event.text)
        self.vector.append(event.vector)
        self.active.append(True)
        self.kind.append(event.kind)
        self.facts.append(event.facts)
        self.degree.append(0)

    def _revise(self, event: Revise) -> None:
        """Replaces span, text and vector of a node; level and facts where they are given."""
        node = event.node
        self._require(node)
        self.span[node] = event.span
        self.text[node] = event.text
        self.vector[node] = event.vector
        if event.level is not None:
            self.level[node] = event.level
        if event.facts is not None:
            self.facts[node] = event.facts

    def _relate(self, event: Relate) -> None:
        key = (event.source, event.target, event.label)
        # A second Relate with the same key replaces the first; weight 0 removes the relation.
        known = key in self.relations
        if event.weight:
            self._require(event.source)
            self._require(event.target)
            self.relations[key] = event
            self._count(event.source, event.target, 0 if known else 1)  # degrees of both ends
        elif known:
            del self.relations[key]
            self._count(event.source, event.target, -1)
        else:
            raise ReplayError(f"{event}: there is no such relation to remove")

    def _count(self, parent: int, child: int, change: int) -> None:
        self.degree[parent] += change
        self.degree[child] += change

    def _require(self, node: int) -> None:
        if not (0 <= node < len(self.level) and self.active[node]):
            raise ReplayError(f"node {node} is not in the structure")

    def freeze(self) -> Structure:
        """Returns the structure at this moment, independent of further events."""
        spans = _pairs(self.span)
        vectors = np.array(self.vector, dtype=np.float32)  # np.stack takes three times as long
        return Structure(
            level=sealed(np.array(self.level, dtype=np.int32)),
            start=sealed(spans[:, 0].copy()),
            stop=sealed(spans[:, 1].copy()),
            text=tuple(self.text),
            vector=sealed(vectors if self.vector else vectors.reshape(0, 0)),
            active=sealed(np.array(self.active, dtype=np.bool_)),
            edges=sealed(_pairs(self.edges)),
            kind=tuple(self.kind),
            facts=tuple(self.facts),
            relations=tuple(self.relations.values()),
        )


def _pairs(pairs: Collection[tuple[int, int]]) -> IntArray:
    flat = np.fromiter(chain.from_iterable(pairs), dtype=np.int32, count=2 * len(pairs))
    return flat.reshape(-1, 2)


def history(steps: Iterable[Step]) -> Iterator[Structure]:
    """Yields the structure after each step; raises ReplayError as :func:`replay` does."""
    fold = Replayer()
    for number, step in enumerate(steps):
        fold.take(number, step)
        yield fold.freeze()
