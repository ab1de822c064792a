"""A tree of topics: inserting a unit by its walk from the root, and taking one out."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field

import numpy as np

from segviz.construct import Annotate, Arrival, View
from segviz.construct.compatibility import cosines
from segviz.embedding import Embedder
from segviz.systems.common.annotation import shortened, write
from segviz.systems.common.flat import leaf_to_delete
from segviz.tree import (
    Add,
    Cost,
    Decision,
    Event,
    Judgement,
    Link,
    Retire,
    Revise,
    Span,
    Step,
    Unlink,
    Vector,
)


@dataclass(slots=True, eq=False)
class Topic:
    """A node: a unit's leaf while it has no children, a topic afterwards."""

    node: int
    start: int
    stop: int
    text: str
    vector: Vector
    level: int = 0
    children: list[Topic] = field(default_factory=list)

    @property
    def span(self) -> Span:
        """Half-open hull of the units below."""
        return self.start, self.stop


@dataclass(slots=True)
class _Walk:
    """A unit's way down: the topics entered, the leaf that must become one (or None), and
    per depth how the best child fared; ``compared`` counts all children looked at."""

    path: list[Topic] = field(default_factory=list)
    found: Topic | None = None
    judged: list[Judgement] = field(default_factory=list)
    compared: int = 0


class MemTreeBuilder:
    """Builds the tree of topics; ``insert`` is one unit's walk (MemTree §3.1)."""

    def __init__(
        self,
        annotate: Annotate,
        embedder: Embedder,
        thresholds: Sequence[float],
        brevity: int,
    ) -> None:
        """``thresholds[d]`` is what a child of a node at depth d must reach; nothing is
        put deeper than their number. ``brevity``: words less per child beyond two."""
        self._annotate = annotate
        self._embedder = embedder
        self._thresholds = thresholds
        self._brevity = brevity
        self._size = 0
        self._top: list[Topic] = []  # the children of the contentless root

    def insert(self, arrival: Arrival) -> Step:
        """Adds one unit."""
        walk = self._walk(arrival.vector)
        path, found = walk.path, walk.found
        leaf = Topic(self._new(), arrival.index, arrival.index + 1, arrival.text, arrival.vector)
        events: list[Event] = [Add(leaf.node, 0, leaf.span, leaf.text, leaf.vector)]
        chosen = found or (path[-1] if path else None)
        before = [len(topic.children) for topic in path]
        fresh: Topic | None = None
        if found is not None:
            fresh = Topic(
                self._new(), found.start, found.stop, found.text, found.vector, 1, [found]
            )
            siblings = self._children(path)
            siblings[siblings.index(found)] = fresh
            path.append(fresh)
            before.append(1)
        self._children(path).append(leaf)
        self._merge(path, before, arrival)
        if found is not None and fresh is not None:
            events.append(Add(fresh.node, fresh.level, fresh.span, fresh.text, fresh.vector))
            for upper in path[-2:-1]:
                events += [Unlink(upper.node, found.node), Link(upper.node, fresh.node)]
            events.append(Link(fresh.node, found.node))
        if path:
            events.append(Link(path[-1].node, leaf.node))
        events += [
            Revise(t.node, t.span, t.text, t.vector, t.level)
            for t in reversed(path)
            if t is not fresh
        ]
        decision = Decision(
            tuple(reversed(walk.judged)), None if chosen is None else chosen.node, _why(walk)
        )
        cost = Cost(annotated=len(path), inspected=walk.compared, modified=1 + len(path))
        note = _note(arrival.index, path, found)
        return Step(arrival.unit, note, decision if walk.judged else None, tuple(events), cost)

    def _walk(self, vector: Vector) -> _Walk:
        walk = _Walk()
        for depth, threshold in enumerate(self._thresholds):
            children = self._children(walk.path)
            if not children:
                break
            # The older of two equal children: children may stand in another order than
            # they arrived in, spans do not.
            scores = cosines(vector, np.stack([child.vector for child in children]))
            best = min(range(len(children)), key=lambda i: (-scores[i], children[i].start))
            child, score = children[best], float(scores[best])
            walk.judged.append(Judgement(child.node, score, threshold))
            walk.compared += len(children)
            if score < threshold:
                break
            if not child.children:
                # A new topic would hold leaves two below this depth.
                if depth + 2 <= len(self._thresholds):
                    walk.found = child
                break
            walk.path.append(child)
        return walk

    def _children(self, path: Sequence[Topic]) -> list[Topic]:
        return path[-1].children if path else self._top

    def _new(self) -> int:
        self._size += 1
        return self._size - 1

    def _merge(self, path: Sequence[Topic], before: Sequence[int], arrival: Arrival) -> None:
        """Merges the unit into the text of every topic on the path; each merge stands alone,
        so those of one length are asked for together. ``before``: children before the unit."""
        by_words: dict[int, list[Topic]] = {}
        for topic, count in zip(path, before, strict=True):
            by_words.setdefault(self._brevity * max(0, count - 2), []).append(topic)
        for less, topics in by_words.items():
            annotate = shortened(self._annotate, less)
            texts = write(annotate, [[topic.text, arrival.text] for topic in topics])
            for topic, text in zip(topics, texts, strict=True):
                topic.text = text
        if path:
            vectors = self._embedder.embed([topic.text for topic in path])
            for topic, vector in zip(path, vectors, strict=True):
                topic.vector = vector
        for topic in reversed(path):
            topic.stop = arrival.index + 1
            topic.level = 1 + max(child.level for child in topic.children)


def _why(walk: _Walk) -> str:
    if not walk.judged:
        return "The tree is empty."
    last = walk.judged[-1]
    score, threshold = last.score or 0.0, last.threshold or 0.0
    place = f"At depth {len(walk.judged) - 1} the most similar child, node {last.node},"
    similar, needed = last.numbers
    if score < threshold:
        return f"{place} has {similar} and stays below {needed}."
    reached = f"{place} reaches {needed} with {similar}"
    if walk.found is not None:
        return f"{reached} and is a unit, so that it becomes a topic."
    return f"{reached}, but the greatest depth is reached."


def _note(index: int, path: Sequence[Topic], found: Topic | None) -> str:
    if found is not None:
        return f"Unit {index} and node {found.node} form the topic {path[-1].node}."
    if path:
        return f"Unit {index} joins the topic {path[-1].node}."
    return f"Unit {index} stands at the top for itself."


@dataclass(slots=True)
class _Row:
    """What is known of a node while the nodes above a deletion are rewritten."""

    level: int
    start: int
    stop: int
    text: str
    vector: Vector


def prune(arguments: Mapping[str, int], view: View, annotate: Annotate) -> tuple[list[Event], Cost]:
    """Returns the events that delete a unit's leaf from a forest with one parent each.

    A topic left with one child gives its place to it. Texts, spans and levels above are
    made anew from the children, from below upwards. ValueError when no leaf holds the unit.
    """
    s = view.structure
    leaf = leaf_to_delete(arguments, view)
    above = [leaf]
    while s.parents[above[-1]]:
        above.append(s.parents[above[-1]][0])
    if len(above) == 1:
        return [Retire(leaf)], Cost(modified=1)
    parent = above[1]
    events: list[Event] = [Unlink(parent, leaf), Retire(leaf)]
    children = {node: [c for c in s.children[node] if c != leaf] for node in above[1:]}
    retired = 1
    if len(children[parent]) == 1:
        (only,) = children[parent]
        events.append(Unlink(parent, only))
        if len(above) > 2:
            upper = above[2]
            events.append(Unlink(upper, parent))
            children[upper] = [c for c in children[upper] if c != parent] + [only]
            events.append(Link(upper, only))
        events.append(Retire(parent))
        retired += 1
        above.pop(1)
    rows = {
        node: _Row(
            int(s.level[node]), int(s.start[node]), int(s.stop[node]), s.text[node], s.vector[node]
        )
        for lower in above[1:]
        for node in children[lower]
    }
    for node in above[1:]:
        below = sorted((rows[child] for child in children[node]), key=lambda row: row.start)
        text = write(annotate, [[row.text for row in below]])[0]
        vector = view.services.embedder.embed([text])[0]
        span = (below[0].start, max(row.stop for row in below))
        level = 1 + max(row.level for row in below)
        rows[node] = _Row(level, *span, text, vector)
        events.append(Revise(node, span, text, vector, level))
    rewritten = len(above) - 1
    return events, Cost(annotated=rewritten, modified=retired + rewritten)
