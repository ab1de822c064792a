"""The non-temporal control: units clustered by similarity, whatever their time."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field
from typing import ClassVar

import numpy as np
from numpy.typing import NDArray

from segviz.construct import Annotate, Arrival, Services, check_ranges, param
from segviz.construct.annotate import Extractive
from segviz.construct.compatibility import cosines
from segviz.embedding import Embedder
from segviz.systems.common.annotation import prepared, write
from segviz.tree import (
    Add,
    Cost,
    Decision,
    Event,
    Judgement,
    Link,
    Revise,
    Step,
    Vector,
    told_apart,
)

# Clusters are compared by the hundred; a step keeps the nearest of them.
_SHOWN = 8  # ours


@dataclass(frozen=True)
class Clustering:
    """Root, clusters, units: each unit joins the cluster whose mean it is most similar to.

    A cluster is represented by the mean embedding of its units when units are assigned,
    and by the embedding of its annotation when questions are asked. A unit below the
    threshold for every cluster founds one of its own. Nothing is ever moved. The cluster
    and the root are annotated again at every step. This is the control of the paper's
    order experiment: everything as in the segment tree, except the update rule.

    Source: SegTreeMem, arXiv 2606.04555, App. F.
    Departs from the source: the paper leaves the root implied and no rule of it creates
    further levels, so there are exactly three; similarities that differ by less than
    1e-9 count as equal and the older cluster wins. The threshold's default was set on five
    LoCoMo conversations (exchange units, wordllama) so that clusters are 5 to 40 % of the
    units; at the paper's 0.45 they are 3 to 14 %.
    """

    name: ClassVar[str] = "clustering"
    label: ClassVar[str] = "Similarity clusters (non-temporal)"
    online: ClassVar[bool] = True
    invariants: ClassVar[str] = "clustering"
    fidelity: ClassVar[str] = "faithful"
    departures: ClassVar[tuple[str, ...]] = (
        "Exactly three levels; the paper implies the root and no others.",
        "The threshold's default is set for the offline embedder (paper: 0.45 with "
        "text-embedding-3-small).",
    )

    threshold: float = param(
        0.54,
        "Least cosine with a cluster's mean at which a unit joins it.",
        (-1, 1.01),
        source="SegTreeMem, App. F, 0.45 with text-embedding-3-small; 0.54 is ours, for the "
        "offline embedder",
    )
    annotate: Annotate = param(
        help="Writes the text of clusters and root.",
        registry="annotate",
        factory=Extractive,
        source="SegTreeMem, App. F; offline extracts are ours",
    )

    def __post_init__(self) -> None:
        """Refuses values outside the declared ranges."""
        check_ranges(self)

    def steps(self, arrivals: Sequence[Arrival], services: Services) -> Iterator[Step]:
        """One Step per unit, lazily."""
        gathered = _ClusterBuilder(prepared(self.annotate, services), services.embedder)
        for arrival in arrivals:
            yield gathered.insert(arrival, self.threshold)


@dataclass(slots=True, eq=False)
class _Cluster:
    node: int
    start: int
    texts: list[str] = field(default_factory=list)
    text: str = ""


class _ClusterBuilder:
    """The clusters of a build: their nodes, texts and sums of unit vectors."""

    def __init__(self, annotate: Annotate, embedder: Embedder) -> None:
        self._annotate = annotate
        self._embedder = embedder
        self._size = 0
        self._root = -1
        self._clusters: list[_Cluster] = []
        self._sums: NDArray[np.float64] = np.zeros((0, 0))

    def insert(self, arrival: Arrival, threshold: float) -> Step:
        leaf = self._new()
        span = (arrival.index, arrival.index + 1)
        events: list[Event] = [Add(leaf, 0, span, arrival.text, arrival.vector)]
        decision, position = self._decide(arrival.vector, threshold)
        compared = len(self._clusters)
        fresh = position is None
        if position is None:
            position = self._found(arrival)
        cluster = self._clusters[position]
        cluster.texts.append(arrival.text)
        self._sums[position] += arrival.vector
        cluster.text = write(self._annotate, [cluster.texts])[0]
        first = self._root < 0
        if first:
            self._root = self._new()
        overview = write(self._annotate, [[c.text for c in self._clusters]])[0]
        vectors = self._embedder.embed([cluster.text, overview])
        own = (cluster.start, arrival.index + 1)
        whole = (self._clusters[0].start, arrival.index + 1)
        if fresh:
            events.append(Add(cluster.node, 1, own, cluster.text, vectors[0]))
        if first:
            events.append(Add(self._root, 2, whole, overview, vectors[1]))
        if fresh:
            events.append(Link(self._root, cluster.node))
        events.append(Link(cluster.node, leaf))
        if not fresh:
            events.append(Revise(cluster.node, own, cluster.text, vectors[0]))
        if not first:
            events.append(Revise(self._root, whole, overview, vectors[1]))
        cost = Cost(
            annotated=(len(cluster.texts) > 1) + (len(self._clusters) > 1),
            inspected=compared,
            modified=3,
        )
        where = f"founds cluster {cluster.node}" if fresh else f"joins cluster {cluster.node}"
        return Step(arrival.unit, f"Unit {arrival.index} {where}.", decision, tuple(events), cost)

    def _new(self) -> int:
        self._size += 1
        return self._size - 1

    def _found(self, arrival: Arrival) -> int:
        """A new empty cluster; its position."""
        width = len(arrival.vector)
        position = len(self._clusters)
        if position == len(self._sums):
            grown = np.zeros((max(16, 2 * position), width))
            grown[:position] = self._sums[:, :width] if position else 0.0
            self._sums = grown
        self._clusters.append(_Cluster(self._new(), arrival.index))
        return position

    def _decide(self, vector: Vector, threshold: float) -> tuple[Decision | None, int | None]:
        """Returns the nearest cluster, if it is near enough. A sum has its mean's direction."""
        count = len(self._clusters)
        if not count:
            return None, None
        scores = cosines(vector.astype(np.float64), self._sums[:count])
        order = np.argsort(-scores, kind="stable")[:_SHOWN].tolist()
        judged = tuple(
            Judgement(self._clusters[i].node, float(scores[i]), threshold) for i in order
        )
        best = order[0]
        node, score = self._clusters[best].node, float(scores[best])
        among = "the only cluster" if count == 1 else f"the nearest of {count} clusters"
        similar, needed = told_apart(score, threshold)
        if score >= threshold:
            why = f"Cluster {node} is {among}: {similar} reaches {needed}."
            return Decision(judged, node, why), best
        why = f"Cluster {node}, {among}, stays below {needed} with {similar}."
        return Decision(judged, None, why), None
