"""MemTree: an online tree of topics (arXiv 2410.14052).

A node without children is a unit's leaf; with children it is a topic.
"""

from __future__ import annotations

import math
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field
from typing import ClassVar

import numpy as np

from segviz.construct import Annotate, Arrival, Declared, Services, param
from segviz.construct.annotate import Annotation
from segviz.construct.compatibility import cosines
from segviz.retrieval import MemoryView, Retrieval
from segviz.systems.common.annotation import annotator, prepared, shortened, write
from segviz.systems.common.published import Paper, departures_of, paper
from segviz.systems.common.retrieval import (
    as_retrieval,
    best_first,
    chosen_relevance,
    from_the_top,
    question_cosines,
    stage,
)
from segviz.systems.common.structure_editor import Draft
from segviz.tree import Decision, Judgement, Step, Structure, Vector
from segviz.tree.invariants import Invariant, Violation, leaves_are_units, one_parent


def topics_branch(s: Structure) -> Iterator[Violation]:
    """Checks that a topic has two children or more and that its level is its height (§3.1)."""
    for node in np.flatnonzero(s.active & (s.level > 0)).tolist():
        children = s.children[node]
        if len(children) < 2:
            yield Violation("topics", node, "two children or more", f"{len(children)}")
        height = 1 + max((int(s.level[child]) for child in children), default=-1)
        if s.level[node] != height:
            yield Violation("topics", node, f"level {height}", f"level {s.level[node]}")


@dataclass(frozen=True)
class MemTree(Declared):
    """A unit walks down from the root to the most similar node and stops where nothing is similar.

    At each node the similarity of the most similar child is compared with a threshold that grows
    with depth. If it is lower, the unit becomes a child of the node. Else the walk continues into
    that child; a leaf reached this way becomes a topic over itself and the new unit. Then the text
    of every node on the path is merged with the new unit's, into a text that is the shorter the
    more children the node has. Its own retrieval
    ranks all nodes together and drops those too far from the question, or walks down from the top
    with the best few of each level.

    Source: MemTree, arXiv 2410.14052, §3.1, §3.2, App. A.1; settings of SegTreeMem (arXiv
        2606.04555), App. E. Departs from the source as listed in ``departures``.
    """

    name: ClassVar[str] = "memtree"
    label: ClassVar[str] = "MemTree (topics, online)"
    online: ClassVar[bool] = True
    invariants: ClassVar[tuple[Invariant, ...]] = (one_parent, leaves_are_units, topics_branch)
    fidelity: ClassVar[str] = "faithful"
    published: ClassVar[Paper] = paper("segviz.systems.memtree")
    relevance: ClassVar[str] = "dense"  # cosine, §3.2
    departures: ClassVar[tuple[str, ...]] = departures_of(__package__, "memtree")

    base: float = param(
        0.4,
        "Threshold at the root, θ₀.",
        (-1, 2),
        source="MemTree App. A.1.3, 0.4; SegTreeMem, App. E, 0.45",
    )
    rate: float = param(
        0.5,
        "How fast the threshold grows with depth, r.",
        (0, 5),
        source="MemTree App. A.1.3, 0.5; SegTreeMem, App. E, 1",
    )
    max_depth: int = param(
        8, "Greatest depth D, the root at 0.", (1, 64), source="SegTreeMem, App. E, 8"
    )
    brevity: int = param(
        5,
        "Words by which a merged text shrinks for each child beyond two.",
        (0, 40),
        source="MemTree App. A.1, a more concise text for more children; 5 is ours",
    )
    retrieval: str = param(
        "collapsed",
        "Rank all nodes together, or walk down from the top.",
        choices=("collapsed", "traversal"),
        source="MemTree §3.2, collapsed; App. A.3.5, traversal",
    )
    least: float = param(
        0.1,
        "Least cosine with the question in collapsed retrieval.",
        (-1, 1),
        source="MemTree §3.2 without a value; SegTreeMem, App. E, 0.1",
    )
    width: int = param(
        10,
        "Nodes kept per level when walking down.",
        (1, 100),
        source="MemTree App. A.3.5; 10 is ours",
    )
    annotate: Annotate = annotator("Merges the text of a topic with a new unit's.", "MemTree §3.1")

    def threshold(self, depth: int) -> float:
        """Returns θ(d): the cosine a child of a node at ``depth`` must reach (root: 0).

        Source: MemTree §3.1 and App. A.1.3.
        """
        return self.base * math.exp(self.rate * depth / self.max_depth)

    def steps(self, arrivals: Sequence[Arrival], services: Services) -> Iterator[Step]:
        """Yields one Step per unit, lazily."""
        tree = _MemTreeBuilder(self, services)
        for arrival in arrivals:
            yield tree.insert(arrival)

    def retrieve(self, question: str, view: MemoryView) -> Retrieval:
        """Ranks all nodes together, or walks down from the top, by ``view.relevance``."""
        scores = chosen_relevance(question, view)
        if self.retrieval == "traversal":
            return from_the_top(view.structure, scores, self.width)
        # §3.2, collapsed tree retrieval: all nodes are one set, filtered by a threshold.
        nodes = best_first(np.flatnonzero(view.structure.active).tolist(), scores)
        near = question_cosines(question, view)
        kept = [node for node in nodes if near[node] >= self.least]
        note = f"{len(kept)} of them have a cosine of at least {self.least:.2f} with the question."
        stages = (
            stage("all nodes", f"{len(nodes)} nodes are ranked together.", nodes, scores, kept),
            stage("threshold", note, nodes, near, kept[: view.k]),
        )
        return as_retrieval(kept, scores, stages)


@dataclass(slots=True)
class _Walk:
    """Walk of a new unit down MemTree's tree, along the topics in ``path``.

    ``leaf`` must become a topic; ``judged`` has the most similar child at each depth, ``compared``
    is the number of children compared.
    """

    path: list[int] = field(default_factory=list)
    leaf: int | None = None
    judged: list[Judgement] = field(default_factory=list)
    compared: int = 0


class _MemTreeBuilder:
    """Builder of a tree of topics; ``insert`` adds one unit (MemTree §3.1, Algorithm 1)."""

    def __init__(self, rules: MemTree, services: Services) -> None:
        # One threshold per depth; their number limits the depth of the tree.
        self._thresholds = [rules.threshold(depth) for depth in range(rules.max_depth)]
        self._brevity = rules.brevity
        self._annotate = prepared(rules.annotate, services)
        self._draft = Draft(services.embedder)
        self._top: list[int] = []  # the children of the contentless root

    def insert(self, arrival: Arrival) -> Step:
        """Adds one unit to the tree and returns the step."""
        draft, walk = self._draft, self._walk(arrival.vector)
        path, old = walk.path, walk.leaf  # ``old``: a leaf that becomes a topic
        chosen = path[-1] if old is None and path else old
        leaf = draft.leaf(arrival, arrival.vector)
        before = [len(draft.children[topic]) for topic in path]
        # Algorithm 1, lines 5-8: a leaf at the end of the walk is expanded into a parent.
        if old is not None:
            above = list(draft.parents[old])
            topic = draft.add(1, (), draft.annotation(old), vector=draft.vectors([old])[0])
            for upper in above:
                draft.unlink(upper, old)
                draft.link(upper, topic)
            draft.link(topic, old)
            if not above:
                self._top[self._top.index(old)] = topic
            path.append(topic)
            before.append(1)
        if path:
            # Algorithm 1, line 16: the new leaf.
            draft.link(path[-1], leaf)
        else:
            self._top.append(leaf)
        # Algorithm 1, lines 12-13, for the whole path at once: the merges do not depend on each
        # other.
        self._merge(path, before, Annotation(arrival.text, days=arrival.days))
        decision = Decision(tuple(reversed(walk.judged)), chosen, _why(walk))
        note, why = _note(arrival.index, path, old), decision if walk.judged else None
        return draft.step(arrival.unit, note, len(path), walk.compared, why)

    def _walk(self, vector: Vector) -> _Walk:
        """Walks from the root to the most similar children until none is similar enough."""
        draft, walk = self._draft, _Walk()
        for depth, threshold in enumerate(self._thresholds):
            children = draft.children[walk.path[-1]] if walk.path else self._top
            if not children:
                break
            # Algorithm 1, lines 9-10. Of equal children the older wins, by span: the order of
            # children may differ from the order of arrival.
            scores = cosines(vector, draft.vectors(children))
            best = min(range(len(children)), key=lambda i: (-scores[i], draft.span[children[i]]))
            child, score = children[best], float(scores[best])
            walk.judged.append(Judgement(child, score, threshold))
            walk.compared += len(children)
            if score < threshold:  # Algorithm 1, line 11
                break
            if not draft.children[child]:
                # A new topic puts leaves two below this depth.
                if depth + 2 <= len(self._thresholds):
                    walk.leaf = child
                break
            walk.path.append(child)
        return walk

    def _merge(self, path: Sequence[int], before: Sequence[int], text: Annotation) -> None:
        """Merges a unit's ``text`` into those of the topics on the path; updates their levels.

        ``before`` has each topic's number of children before the unit was added.
        """
        draft = self._draft
        by_words: dict[int, list[int]] = {}
        for topic, count in zip(path, before, strict=True):
            # App. A.1.2: the more entries a text sums up, the more concise it becomes.
            by_words.setdefault(self._brevity * max(0, count - 2), []).append(topic)
        texts: dict[int, Annotation] = {}
        for less, topics in by_words.items():
            annotate = shortened(self._annotate, less)
            written = write(annotate, [[draft.annotation(n), text] for n in topics])
            texts |= zip(topics, written, strict=True)
        draft.rewrite(path, [texts[topic] for topic in path])
        for topic in reversed(path):  # from below upwards
            level = 1 + max(draft.level[child] for child in draft.children[topic])
            if level != draft.level[topic]:
                draft.raise_to(topic, level)


def _why(walk: _Walk) -> str:
    """Says why a walk ended: nothing similar, a unit, or the greatest depth."""
    if not walk.judged:
        return "The tree is empty."
    last = walk.judged[-1]
    score, threshold = last.score or 0.0, last.threshold or 0.0
    place = f"At depth {len(walk.judged) - 1} the most similar child, node {last.node},"
    similar, needed = last.numbers
    if score < threshold:
        return f"{place} has {similar} and stays below {needed}."
    reached = f"{place} reaches {needed} with {similar}"
    if walk.leaf is not None:
        return f"{reached} and is a unit, so that it becomes a topic."
    return f"{reached}, but the greatest depth is reached."


def _note(index: int, path: Sequence[int], leaf: int | None) -> str:
    """Returns the note of a step: the topic that a unit joins or forms with a ``leaf``."""
    if leaf is not None:
        return f"Unit {index} and node {leaf} form the topic {path[-1]}."
    if path:
        return f"Unit {index} joins the topic {path[-1]}."
    return f"Unit {index} becomes a leaf at the top."
