"""Editable structure for systems, which records its changes as events.

Spans above level 0 are the hulls of the children's spans; the editor keeps them up to date.
"""

from __future__ import annotations

import heapq
from collections.abc import Iterable, Sequence
from itertools import pairwise

import numpy as np
from numpy.typing import NDArray

from segviz.construct import Annotate
from segviz.construct.annotate import OF_MODEL, TITLE, Annotation
from segviz.construct.tasks.words import content
from segviz.conversation import Unit
from segviz.embedding import Embedder
from segviz.systems.common.annotation import write
from segviz.text.dates import undated
from segviz.tree import (
    Add,
    Cost,
    Decision,
    Event,
    Facts,
    Link,
    Relate,
    Replayer,
    Retire,
    Revise,
    Scalar,
    Step,
    Structure,
    Unlink,
    Vector,
)

_OF_TEXT = (TITLE, *OF_MODEL)
"""Facts of a node about its text."""


class Draft(Replayer):
    """Structure under construction; ``changes`` returns the changes since the last call as events.

    Edges, relations and new nodes are applied as events of the replayer at once. Revisions are
    made in its columns and become one event a node. Beside the columns the draft has the children
    and parents of each node, and all vectors as one matrix.
    """

    def __init__(
        self,
        embedder: Embedder,
        structure: Structure | None = None,
        units: Iterable[Unit] = (),
    ) -> None:
        """Starts as ``structure``, whose leaves are ``units``; ``embedder`` embeds its texts."""
        super().__init__(structure)
        self.embedder = embedder
        self._annotations: dict[int, Annotation] = {}  # of texts that may have a title or origin
        self.children = [list(children) for children in structure.children] if structure else []
        self.parents = [list(parents) for parents in structure.parents] if structure else []
        self._matrix: Vector = np.zeros((64, 0), dtype=np.float32)
        if structure:
            self._matrix = structure.vector.copy()
        self._known = len(self)  # nodes that the events so far have added
        self._revised: dict[int, set[str]] = {}  # changed nodes, with "level" and "facts" if new
        self._stretched: set[int] = set()
        self._applied: list[Event] = []
        days = {unit.index: unit.days for unit in units}
        for node, (start, _) in enumerate(self.span):
            if self.level[node] == 0 and start in days:
                self._annotations[node] = Annotation(self.text[node], days=days[start])

    # --- reading ---------------------------------------------------------------------

    def vectors(self, nodes: Sequence[int]) -> Vector:
        """Returns the embeddings of these nodes' texts, float32 (len(nodes), d)."""
        return np.asarray(self._matrix[list(nodes)])

    def cosines(self, vector: Vector, nodes: Sequence[int]) -> list[float]:
        """Returns the cosine of ``vector`` with each of ``nodes``, to nine digits: exact ties."""
        return [round(float(x), 9) for x in self.vectors(nodes) @ vector]

    def nearest(
        self, vector: Vector, nodes: Sequence[int], least: float, count: int
    ) -> list[tuple[int, float]]:
        """Returns the ``count`` nodes most similar to ``vector``, with their cosine, best first.

        Cosines below ``least`` are left out; a tie goes to the node listed first.
        """
        # One product over all rows is cheaper than copying the rows of many nodes.
        scores = np.round((self._matrix[: len(self)] @ vector).astype(np.float64), 9)[list(nodes)]
        near = np.flatnonzero(scores >= least)
        order = near[np.argsort(-scores[near], kind="stable")][:count]
        return [(nodes[i], float(scores[i])) for i in order.tolist()]

    def of_kind(self, kind: str) -> list[int]:
        """Returns the active nodes of ``kind``, oldest first."""
        return [n for n in range(len(self)) if self.kind[n] == kind and self.active[n]]

    def upwards(self, node: int, kind: str = "") -> list[int]:
        """Returns a node and its ancestors along first parents, of one ``kind`` if given."""
        path = [node]
        while above := [p for p in self.parents[path[-1]] if kind in ("", self.kind[p])]:
            path.append(above[0])
        return path

    def annotation(self, node: int) -> Annotation:
        """Returns the text of a node with the title and origin that its annotator gave.

        A text by no annotator, such as an extracted fact, has the days of the leaves below it.
        """
        known = self._annotations.get(node)
        if known is not None:
            return known
        return Annotation(self.text[node]).over(list(map(self.annotation, self.children[node])))

    # --- changing --------------------------------------------------------------------

    def apply(self, event: Event) -> None:
        """Applies an event; it is one of the next ``changes``."""
        super().apply(event)
        match event:
            case Add(node, vector=vector):
                self.children.append([])
                self.parents.append([])
                if node >= len(self._matrix) or not self._matrix.shape[1]:
                    # Rows double, so that adding n nodes copies O(n) rows in all.
                    grown = np.zeros((max(64, 2 * node), len(vector)), dtype=np.float32)
                    if self._matrix.shape[1]:
                        grown[:node] = self._matrix[:node]
                    self._matrix = grown
                self._matrix[node] = vector
            case Link(parent, child):
                self.children[parent].append(child)
                self.parents[child].append(parent)
                self._stretched.add(parent)
            case Unlink(parent, child):
                self.children[parent].remove(child)
                self.parents[child].remove(parent)
                self._stretched.add(parent)
        self._applied.append(event)

    def leaf(self, unit: Unit, vector: Vector) -> int:
        """Adds a level-0 node for a unit, with its vector; returns the node."""
        node = len(self)
        self.apply(Add(node, 0, (unit.index, unit.index + 1), unit.text, vector))
        self._annotations[node] = Annotation(unit.text, days=unit.days)
        return node

    def add(
        self,
        level: int,
        children: Iterable[int],
        text: str | Annotation,
        kind: str = "",
        facts: Facts | None = None,
        vector: Vector | None = None,
    ) -> int:
        """Adds a node above level 0 over ``children``; without a ``vector`` embeds its text."""
        given = text if isinstance(text, Annotation) else Annotation(text)
        if vector is None:
            vector = self.embedder.embed([undated(given.text)])[0]
        node, known = len(self), {**given.facts, **(facts or {})}
        self.apply(Add(node, level, (0, 0), given.text, vector, kind, known))
        if given is text:
            self._annotations[node] = given
        for child in children:
            self.link(node, child)
        return node

    def link(self, parent: int, child: int) -> None:
        """Makes ``child`` the last child of ``parent``."""
        self.apply(Link(parent, child))

    def unlink(self, parent: int, child: int) -> None:
        """Removes ``child`` from the children of ``parent``."""
        self.apply(Unlink(parent, child))

    def arrange(self, parent: int, children: Sequence[int]) -> None:
        """Gives ``parent`` exactly these children in this order, with the fewest edge changes."""
        old = list(self.children[parent])
        same = 0
        while same < min(len(old), len(children)) and old[same] == children[same]:
            same += 1
        # A link always appends, so everything behind the first difference is linked anew.
        for child in old[same:]:
            self.unlink(parent, child)
        for child in children[same:]:
            self.link(parent, child)

    def relate(
        self, source: int, target: int, label: str, weight: float, facts: Facts | None = None
    ) -> None:
        """Sets the weight and the facts of a relation; weight 0 removes it."""
        self.apply(Relate(source, target, label, weight, facts or {}))

    def note(self, node: int, **facts: Scalar) -> None:
        """Sets the named facts of a node; its other facts stay."""
        self.facts[node] = {**self.facts[node], **facts}
        self._revised.setdefault(node, set()).add("facts")

    def raise_to(self, node: int, level: int) -> None:
        """Moves a node to another level."""
        self.level[node] = level
        self._revised.setdefault(node, set()).add("level")

    def rewrite(self, nodes: Sequence[int], texts: Sequence[str | Annotation]) -> None:
        """Replaces the texts of ``nodes``, with their titles and origins; embeds them together."""
        if not nodes:
            return
        given = [text if isinstance(text, Annotation) else Annotation(text) for text in texts]
        vectors = self.embedder.embed([undated(each.text) for each in given])
        for node, each, vector in zip(nodes, given, vectors, strict=True):
            self.text[node], self._annotations[node] = each.text, each
            self.vector[node] = self._matrix[node] = vector
            self._revised.setdefault(node, set())
            # Title and origin of the former text go with it.
            other = {name: v for name, v in self.facts[node].items() if name not in _OF_TEXT}
            if each.facts or len(other) < len(self.facts[node]):
                self.facts[node] = {**other, **each.facts}
                self._revised[node].add("facts")

    def write(self, nodes: Iterable[int], annotate: Annotate) -> int:
        """Annotates nodes from their children's texts, low to high; returns the texts written."""
        written, rows = 0, sorted(nodes)
        for level in sorted({self.level[node] for node in rows}):
            row = [node for node in rows if self.level[node] == level]
            groups = [[self.annotation(child) for child in self.children[node]] for node in row]
            self.rewrite(row, write(annotate, groups))
            written += sum(len(group) > 1 for group in groups)
        return written

    def remove(self, node: int) -> None:
        """Removes a node with its edges and relations."""
        for parent in list(self.parents[node]):
            self.unlink(parent, node)
        for child in list(self.children[node]):
            self.unlink(node, child)
        for key in [key for key in self.relations if node in key[:2]]:
            self.relate(*key, 0.0)
        self.apply(Retire(node))

    # --- handing over ----------------------------------------------------------------

    def changes(self) -> tuple[Event, ...]:
        """Returns the changes since the last call as events.

        Their order is: added nodes in their present state, then edges and relations in the order
        they were made, revisions, and retirements.
        """
        self._stretch()
        # Nodes come first, because edges refer to them; retirements last, because a retired node
        # must have lost its edges.
        added = [
            Add(
                n,
                self.level[n],
                self.span[n],
                self.text[n],
                self.vector[n],
                self.kind[n],
                self.facts[n],
            )
            for n in range(self._known, len(self))
        ]
        joined = [event for event in self._applied if not isinstance(event, Add | Retire)]
        revised = [
            Revise(
                n,
                self.span[n],
                self.text[n],
                self.vector[n],
                self.level[n] if "level" in self._revised[n] else None,
                self.facts[n] if "facts" in self._revised[n] else None,
            )
            for n in sorted(self._revised)
            if n < self._known and self.active[n]
        ]
        retired = [event for event in self._applied if isinstance(event, Retire)]
        self._known, self._revised, self._applied = len(self), {}, []
        return (*added, *joined, *revised, *retired)

    def step(
        self,
        unit: Unit,
        note: str,
        written: int = 0,
        inspected: int = 0,
        decision: Decision | None = None,
    ) -> Step:
        """Returns the changes since the last call as the step of ``unit``, with its cost."""
        events = self.changes()
        touched = {getattr(event, "node", None) for event in events} - {None}
        cost = Cost(annotated=written, inspected=inspected, modified=len(touched))
        return Step(unit, note, decision, events, cost)

    def _stretch(self) -> None:
        """Recomputes spans as hulls of the children, up from the nodes that changed."""
        pending = [(self.level[n], n) for n in self._stretched if self.active[n]]
        self._stretched = set()
        # The heap is ordered by level, so every child is up to date before its parent.
        heapq.heapify(pending)
        while pending:
            _, node = heapq.heappop(pending)
            spans = [self.span[child] for child in self.children[node]]
            if not spans:
                continue
            hull = (min(start for start, _ in spans), max(stop for _, stop in spans))
            if hull != self.span[node]:
                self.span[node] = hull
                self._revised.setdefault(node, set())
                for parent in self.parents[node]:
                    heapq.heappush(pending, (self.level[parent], parent))


def sources(text: str, leaves: Sequence[int], draft: Draft) -> list[int]:
    """Returns those of ``leaves`` that share most content words with a text, all on a tie."""
    shared = [len(content(text) & content(draft.text[leaf])) for leaf in leaves]
    return [leaf for leaf, words in zip(leaves, shared, strict=True) if words == max(shared)]


def centroid(vectors: NDArray[np.floating]) -> NDArray[np.floating]:
    """Returns the mean of vectors, scaled to length 1; zero if they cancel out."""
    mean = vectors.mean(axis=0)
    norm = float(np.linalg.norm(mean))
    return np.asarray(mean / norm if norm else mean)


def even_parts(items: Sequence[int], most: int) -> list[Sequence[int]]:
    """Splits items into consecutive parts of at most ``most``, as equal in size as possible."""
    count = -(-len(items) // most)
    cuts = [round(i * len(items) / count) for i in range(count + 1)]
    return [items[a:b] for a, b in pairwise(cuts)]
