"""A tree of topics: inserting a unit by its walk from the root, and taking one out.

A node is a unit's leaf while it has no children, a topic afterwards.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field

from segviz.construct import Annotate, Arrival
from segviz.construct.compatibility import cosines
from segviz.embedding import Embedder
from segviz.systems.common.annotation import shortened, write
from segviz.systems.common.draft import Draft
from segviz.tree import Cost, Decision, Judgement, Step, Vector


@dataclass(slots=True)
class _Walk:
    """A unit's way down: the topics entered, the leaf that must become one (or None), and
    per depth how the best child fared; ``compared`` counts all children looked at."""

    path: list[int] = field(default_factory=list)
    found: int | None = None
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
        self._draft = Draft(embedder)
        self._thresholds = thresholds
        self._brevity = brevity
        self._top: list[int] = []  # the children of the contentless root

    def insert(self, arrival: Arrival) -> Step:
        """Adds one unit."""
        draft, walk = self._draft, self._walk(arrival.vector)
        path, found = walk.path, walk.found
        chosen = path[-1] if found is None and path else found
        leaf = draft.leaf(arrival, arrival.vector)
        before = [len(draft.children[topic]) for topic in path]
        if found is not None:
            path.append(self._topic_over(found))
            before.append(1)
        if path:
            draft.link(path[-1], leaf)
        else:
            self._top.append(leaf)
        self._merge(path, before, arrival.text)
        decision = Decision(tuple(reversed(walk.judged)), chosen, _why(walk))
        cost = Cost(annotated=len(path), inspected=walk.compared, modified=1 + len(path))
        note = _note(arrival.index, path, found)
        return Step(arrival.unit, note, decision if walk.judged else None, draft.take(), cost)

    def _topic_over(self, leaf: int) -> int:
        """Puts a new topic with the leaf's text in its place, the leaf below it."""
        draft, above = self._draft, list(self._draft.parents[leaf])
        topic = draft.add(1, (), draft.text[leaf], vector=draft.vectors([leaf])[0])
        for upper in above:
            draft.unlink(upper, leaf)
            draft.link(upper, topic)
        draft.link(topic, leaf)
        if not above:
            self._top[self._top.index(leaf)] = topic
        return topic

    def _walk(self, vector: Vector) -> _Walk:
        draft, walk = self._draft, _Walk()
        for depth, threshold in enumerate(self._thresholds):
            children = draft.children[walk.path[-1]] if walk.path else self._top
            if not children:
                break
            # The older of two equal children: children may stand in another order than
            # they arrived in, spans do not.
            scores = cosines(vector, draft.vectors(children))
            best = min(range(len(children)), key=lambda i: (-scores[i], draft.span[children[i]]))
            child, score = children[best], float(scores[best])
            walk.judged.append(Judgement(child, score, threshold))
            walk.compared += len(children)
            if score < threshold:
                break
            if not draft.children[child]:
                # A new topic would hold leaves two below this depth.
                if depth + 2 <= len(self._thresholds):
                    walk.found = child
                break
            walk.path.append(child)
        return walk

    def _merge(self, path: Sequence[int], before: Sequence[int], said: str) -> None:
        """Merges a unit's text into that of every topic on the path; each merge stands alone,
        so those of one length are asked for together. ``before``: children before the unit."""
        draft = self._draft
        by_words: dict[int, list[int]] = {}
        for topic, count in zip(path, before, strict=True):
            by_words.setdefault(self._brevity * max(0, count - 2), []).append(topic)
        texts: dict[int, str] = {}
        for less, topics in by_words.items():
            annotate = shortened(self._annotate, less)
            written = write(annotate, [[draft.text[topic], said] for topic in topics])
            texts |= zip(topics, written, strict=True)
        draft.rewrite(path, [texts[topic] for topic in path])
        _settle_levels(draft, path[::-1])


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


def _note(index: int, path: Sequence[int], found: int | None) -> str:
    if found is not None:
        return f"Unit {index} and node {found} form the topic {path[-1]}."
    if path:
        return f"Unit {index} joins the topic {path[-1]}."
    return f"Unit {index} stands at the top for itself."


def prune(draft: Draft, leaf: int, annotate: Annotate) -> int:
    """Takes a leaf out; returns the number of texts written.

    A topic left with one child gives its place to it. Texts and levels above are made anew from
    the children, from below upwards.
    """
    above = [*draft.parents[leaf]]
    while above and draft.parents[above[-1]]:
        above.append(draft.parents[above[-1]][0])
    draft.remove(leaf)
    if above and len(draft.children[above[0]]) == 1:
        topic = above.pop(0)
        only = draft.children[topic][0]
        draft.remove(topic)
        if above:
            draft.link(above[0], only)
    for node in above:
        below = sorted(draft.children[node], key=draft.coverage)
        draft.rewrite([node], write(annotate, [[draft.text[child] for child in below]]))
    _settle_levels(draft, above)
    return len(above)


def _settle_levels(draft: Draft, nodes: Sequence[int]) -> None:
    """Puts nodes, from below upwards, one level above the highest of their children."""
    for node in nodes:
        level = 1 + max(draft.level[child] for child in draft.children[node])
        if level != draft.level[node]:
            draft.raise_to(node, level)
