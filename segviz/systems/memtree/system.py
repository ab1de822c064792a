"""MemTree: an online tree of topics (arXiv 2410.14052)."""

from __future__ import annotations

import math
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import ClassVar

import numpy as np

from segviz.construct import (
    Annotate,
    Arrival,
    Declared,
    Operation,
    Retrieval,
    Services,
    View,
    param,
)
from segviz.construct.annotate import Extractive
from segviz.systems.common.annotation import prepared
from segviz.systems.common.flat import DELETE, deletion
from segviz.systems.common.retrieval import (
    as_retrieval,
    best_first,
    chosen_relevance,
    from_the_top,
    question_cosines,
    stage,
)
from segviz.systems.memtree.builder import MemTreeBuilder, prune
from segviz.tree import Step


@dataclass(frozen=True)
class MemTree(Declared):
    """A unit walks down from the root to whatever is most similar, and stops where nothing is.

    At each node the most similar child is compared with a threshold that grows with depth.
    Below it, the unit becomes a child there; above it, the walk goes on into that child,
    and a leaf reached this way becomes a topic holding itself and the new unit. Then the
    text of every node on the path is merged with the new unit's, more briefly the more
    children it has. Its own retrieval ranks all nodes together and drops those too far
    from the question, or walks down from the top keeping the best few of each level.

    Source: MemTree, arXiv 2410.14052, §3.1, §3.2, App. A.1; settings of SegTreeMem (arXiv
    2606.04555), App. E.
    Departs from the source: the contentless root is no node, so depths are one less than
    the paper's; the threshold is App. A.1.3's θ₀·exp(r·d/D) with D fixed (§3.1's θ₀·exp(λd)
    passes 1 at depth 2, and a growing D would change past decisions); the walk ends when
    a leaf becomes a topic, as in §3.1 (Algorithm 1 would compare the unit with the leaf's
    copy, for equal texts without end), and at depth D; every node on the path is merged,
    as in the text (Algorithm 1 leaves out the last); a leaf stays the node of its unit and
    the topic is put above it, in place of a copy; level is height above the lowest leaf,
    because leaves lie at every depth. Deleting a unit is ours: a topic left with one child
    is replaced by it, and the texts above are written anew from their children's.
    """

    name: ClassVar[str] = "memtree"
    label: ClassVar[str] = "MemTree (topics, online)"
    online: ClassVar[bool] = True
    invariants: ClassVar[str] = "memtree"
    fidelity: ClassVar[str] = "faithful"
    relevance: ClassVar[str] = "dense"  # cosine, §3.2
    departures: ClassVar[tuple[str, ...]] = (
        "The contentless root is no node: depths are one less than the paper's.",
        "Threshold after App. A.1.3 with the greatest depth fixed.",
        "The walk stops when a leaf becomes a topic (§3.1, not Algorithm 1).",
        "Deleting a unit is ours.",
    )

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
    annotate: Annotate = param(
        help="Merges the text of a topic with a new unit's.",
        registry="annotate",
        factory=Extractive,
        source="MemTree §3.1; offline extracts are ours",
    )

    def threshold(self, depth: int) -> float:
        """θ(d): the cosine a child of a node at ``depth`` must reach (root: 0)."""
        return self.base * math.exp(self.rate * depth / self.max_depth)

    def steps(self, arrivals: Sequence[Arrival], services: Services) -> Iterator[Step]:
        """One Step per unit, lazily."""
        thresholds = tuple(self.threshold(depth) for depth in range(self.max_depth))
        annotate = prepared(self.annotate, services)
        tree = MemTreeBuilder(annotate, services.embedder, thresholds, self.brevity)
        for arrival in arrivals:
            yield tree.insert(arrival)

    def retrieve(self, question: str, view: View) -> Retrieval:
        """Evidence by the relevance of the question, the cosine unless another is chosen."""
        scores = chosen_relevance(question, view)
        if self.retrieval == "traversal":
            return from_the_top(view.structure, scores, self.width)
        nodes = best_first(np.flatnonzero(view.structure.active).tolist(), scores)
        near = question_cosines(question, view)
        kept = [node for node in nodes if near[node] >= self.least]
        stages = (
            stage("all nodes", f"{len(nodes)} nodes are ranked together.", nodes, scores, kept),
            stage(
                "threshold",
                f"{len(kept)} of them have a cosine of at least {self.least:.2f} with the "
                "question.",
                nodes,
                near,
                kept[: view.k],
            ),
        )
        return as_retrieval(kept, scores, stages)

    def operations(self) -> Mapping[str, Operation]:
        """Deleting a unit."""
        return {"delete": DELETE}

    def operate(self, name: str, arguments: Mapping[str, int], view: View) -> Step:
        """Returns the step of a deletion."""
        annotate = prepared(self.annotate, view.services)
        return deletion(arguments, view, lambda draft, leaf: prune(draft, leaf, annotate))
