"""Non-temporal control: units clustered by similarity, regardless of time."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import ClassVar

import numpy as np
from numpy.typing import NDArray

from segviz.construct import Annotate, Arrival, Declared, Services, param
from segviz.construct.compatibility import cosines
from segviz.embedding import Embedder
from segviz.retrieval import PRESETS, RetrievalSettings
from segviz.systems.common.annotation import annotator, prepared, write
from segviz.systems.common.published import departures_of
from segviz.systems.common.structure_editor import Draft
from segviz.tree import Decision, Judgement, Step, Structure, Vector, told_apart
from segviz.tree.invariants import (
    Invariant,
    Violation,
    leaves_are_chronological,
    levels_are_even,
    one_parent,
    one_root,
)

# A unit is compared with hundreds of clusters; its step records the nearest ones.
_SHOWN = 8  # ours


def three_levels(s: Structure) -> Iterator[Violation]:
    """Checks the levels: root, clusters, units; the root on level 2 (SegTreeMem App. F)."""
    for root in s.roots:
        if s.level[root] != 2:
            yield Violation("three levels", root, "the root on level 2", f"{s.level[root]}")


@dataclass(frozen=True)
class Clustering(Declared):
    """Root, clusters, units: each unit joins the cluster with the most similar mean.

    A cluster is represented by the mean embedding of its units when units are assigned, and by the
    embedding of its annotation when questions are asked. A unit below the threshold for every
    cluster opens a new one. Units never change their cluster. The cluster and the root are
    annotated again at every step. This is the control of the paper's order experiment: everything
    as in the segment tree, except the update rule.

    Source: SegTreeMem, arXiv 2606.04555, App. F. Departs from the source as listed in
        ``departures``.
    """

    name: ClassVar[str] = "clustering"
    label: ClassVar[str] = "Similarity clusters (non-temporal)"
    online: ClassVar[bool] = True
    invariants: ClassVar[tuple[Invariant, ...]] = (
        one_parent,
        one_root,
        levels_are_even,
        leaves_are_chronological,
        three_levels,
    )
    fidelity: ClassVar[str] = "faithful"
    departures: ClassVar[tuple[str, ...]] = departures_of(__package__, "clustering")
    paper_retrieval: ClassVar[RetrievalSettings] = PRESETS["paper, top-down"]

    threshold: float = param(
        0.54,
        "Least cosine with a cluster's mean at which a unit joins it.",
        (-1, 1.01),
        source="SegTreeMem, App. F, 0.45 with text-embedding-3-small; 0.54 is ours, for the "
        "offline embedder",
    )
    annotate: Annotate = annotator("Writes the text of clusters and root.", "SegTreeMem, App. F")

    def steps(self, arrivals: Sequence[Arrival], services: Services) -> Iterator[Step]:
        """Yields one Step per unit, lazily."""
        gathered = _ClusterBuilder(prepared(self.annotate, services), services.embedder)
        for arrival in arrivals:
            yield gathered.insert(arrival, self.threshold)


class _ClusterBuilder:
    """Builder of the clusters: their nodes, and the sum of the vectors of each cluster's units."""

    def __init__(self, annotate: Annotate, embedder: Embedder) -> None:
        self._annotate = annotate
        self._draft = Draft(embedder)
        self._clusters: list[int] = []
        self._root = -1
        self._sums: NDArray[np.float64] = np.zeros((0, 0))  # of the units' vectors, by cluster

    def insert(self, arrival: Arrival, threshold: float) -> Step:
        """Adds a unit to the most similar cluster, or opens one; returns the step."""
        draft = self._draft
        decision, position = self._decide(arrival.vector, threshold)
        compared = len(self._clusters)
        leaf = draft.leaf(arrival, arrival.vector)
        where = "founds" if position is None else "joins"
        if position is None:
            position = self._open(arrival)
        cluster = self._clusters[position]
        draft.link(cluster, leaf)
        # The sum stands for the mean: both have the same direction, so the same cosine.
        self._sums[position] += arrival.vector
        members = [draft.annotation(unit) for unit in draft.children[cluster]]
        text = write(self._annotate, [members])[0]
        topics = [text if node == cluster else draft.annotation(node) for node in self._clusters]
        # Only the cluster and the root changed; both are annotated at every step (App. F).
        draft.rewrite([cluster, self._root], [text, write(self._annotate, [topics])[0]])
        written = (len(members) > 1) + (len(topics) > 1)
        note = f"Unit {arrival.index} {where} cluster {cluster}."
        return draft.step(arrival.unit, note, written, compared, decision)

    def _open(self, arrival: Arrival) -> int:
        """Adds a cluster without units below the root; returns its position."""
        draft, position = self._draft, len(self._clusters)
        if position == len(self._sums):
            # Rows double, so that adding n clusters copies O(n) rows in all.
            grown = np.zeros((max(16, 2 * position), len(arrival.vector)))
            grown[:position] = self._sums[:, : len(arrival.vector)] if position else 0.0
            self._sums = grown
        self._clusters.append(draft.add(1, (), arrival.text, vector=arrival.vector))
        if self._root < 0:
            self._root = draft.add(2, (), arrival.text, vector=arrival.vector)
        draft.link(self._root, self._clusters[-1])
        return position

    def _decide(self, vector: Vector, threshold: float) -> tuple[Decision | None, int | None]:
        """Returns the decision on a unit and the position of its cluster, None to open one."""
        count = len(self._clusters)
        if not count:
            return None, None
        scores = cosines(vector.astype(np.float64), self._sums[:count])
        order = np.argsort(-scores, kind="stable")[:_SHOWN].tolist()
        judged = tuple(Judgement(self._clusters[i], float(scores[i]), threshold) for i in order)
        best = order[0]
        node, score = self._clusters[best], float(scores[best])
        among = "the only cluster" if count == 1 else f"the nearest of {count} clusters"
        similar, needed = told_apart(score, threshold)
        if score >= threshold:
            why = f"Cluster {node} is {among}: {similar} reaches {needed}."
            return Decision(judged, node, why), best
        why = f"Cluster {node}, {among}, stays below {needed} with {similar}."
        return Decision(judged, None, why), None
