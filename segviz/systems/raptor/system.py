"""RAPTOR: layers of soft clusters, rebuilt as the conversation goes on (arXiv 2401.18059)."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import ClassVar

import numpy as np

from segviz.construct import Annotate, Arrival, Declared, Retrieval, Services, View, param
from segviz.construct.annotate import Extractive
from segviz.retrieval import taken
from segviz.systems.common.annotation import prepared
from segviz.systems.common.retrieval import (
    as_retrieval,
    best_first,
    chosen_relevance,
    from_the_top,
    stage,
)
from segviz.systems.raptor.builder import RaptorBuilder
from segviz.systems.raptor.mixture import Rule
from segviz.tree import Step


@dataclass(frozen=True)
class Raptor(Declared):
    """Similar units are summarised together, the summaries again, until few are left.

    Clusters are soft: a node may have several parents. The method knows no insertion, so
    at the end of every session all layers above the units are built again; a cluster with
    the same members as before keeps its node, the others are taken away. Its own retrieval
    ranks all nodes together until a token budget is used up, or walks down from the top
    keeping the best few of each layer.

    Source: RAPTOR, Sarthi et al. 2024, arXiv 2401.18059, and its published code; settings
    of SegTreeMem (arXiv 2606.04555), App. E.
    Departs from the source (PCA variant): principal components in place of UMAP, and a
    diagonal Gaussian mixture written out here in place of a full one, both seeded; a point
    with no share above the threshold goes to its likeliest cluster (in the code it is
    lost); points are told apart by position (in the code by vector, so that equal texts
    swap labels); a mixture has at most one component for two nodes, a layer of ``small``
    nodes or fewer becomes one cluster, and building stops when a layer would not shrink
    (the code can go from n to n − 1 layer by layer); a cluster too long to summarise is cut
    again without overlap, in two where the mixture leaves it whole (there the code does not
    return); the leaves are the conversation's units; tokens are estimated from characters;
    rebuilding per session is ours.
    """

    name: ClassVar[str] = "raptor"
    label: ClassVar[str] = "RAPTOR (clusters, PCA variant)"
    online: ClassVar[bool] = False
    invariants: ClassVar[str] = "raptor"
    fidelity: ClassVar[str] = "adapted"
    relevance: ClassVar[str] = "dense"  # cosine, §3
    departures: ClassVar[tuple[str, ...]] = (
        "Seeded PCA and a diagonal mixture in place of UMAP and a full one.",
        "No unit is left without a cluster.",
        "Rebuilt at the end of every session; the source is built once.",
        "Tokens are estimated from characters.",
        "The search for the number of clusters ends after five counts that do not lower BIC; with "
        "patience 0 it tries all, as the code does.",
        "Dimensions, share and longest input are SegTreeMem's, other sizes the code's. Clusters "
        "longer than that input are cut again by a mixture, into more than are needed: hence "
        "fewer children than published, and more of them at 5,000 tokens.",
    )

    dimensions: int = param(
        3, "Dimensions kept.", (1, 64), source="SegTreeMem, App. E, 3; code, 10"
    )
    threshold: float = param(
        0.5,
        "Share above which a node belongs to a cluster.",
        (0, 1),
        source="SegTreeMem, App. E, 0.5; code, 0.1",
    )
    layers: int = param(5, "Most layers above the units.", (1, 20), source="code, 5")
    small: int = param(8, "A layer of so few nodes becomes one cluster.", (2, 50), source="ours")
    components: int = param(
        50, "Fewer clusters than this per mixture.", (2, 200), source="code, 50"
    )
    patience: int = param(
        5,
        "Numbers of clusters without a lower BIC that end the search; 0: all are tried.",
        (0, 200),
        source="code, all; 5 is ours, for time",
    )
    input_tokens: int = param(
        3500,
        "Longest text summarised at once, in tokens.",
        (100, 100_000),
        source="code and SegTreeMem, App. E, 3500",
    )
    retrieval: str = param(
        "collapsed",
        "Rank all nodes together, or walk down the layers.",
        choices=("collapsed", "traversal"),
        source="RAPTOR §3, collapsed or tree traversal",
    )
    budget: int = param(
        3500,
        "Tokens returned by collapsed retrieval.",
        (50, 100_000),
        source="code, 3500; RAPTOR §3, 2000",
    )
    width: int = param(5, "Nodes kept per layer when walking down.", (1, 100), source="code, 5")
    seed: int = param(0, "Seed of the mixtures.", (0, 2**31 - 1), source="ours")
    annotate: Annotate = param(
        help="Writes the summary of a cluster.",
        registry="annotate",
        factory=Extractive,
        source="RAPTOR §3; offline extracts are ours",
    )

    def steps(self, arrivals: Sequence[Arrival], services: Services) -> Iterator[Step]:
        """One Step per unit, lazily; the last of each session rebuilds the layers."""
        rule = Rule(
            self.dimensions,
            self.threshold,
            self.components,
            self.patience,
            self.input_tokens,
            self.seed,
        )
        built = RaptorBuilder(
            prepared(self.annotate, services), services.embedder, rule, self.layers, self.small
        )
        for position, arrival in enumerate(arrivals):
            closes = (
                position + 1 == len(arrivals) or arrivals[position + 1].session != arrival.session
            )
            yield built.insert(arrival, closes)

    def retrieve(self, question: str, view: View) -> Retrieval:
        """Evidence by the relevance of the question, the cosine unless another is chosen."""
        scores = chosen_relevance(question, view)
        structure = view.structure
        if self.retrieval == "traversal":
            return from_the_top(structure, scores, self.width)
        order = best_first(np.flatnonzero(structure.active).tolist(), scores)
        kept = taken(order, structure.text, len(order) or 1, self.budget)
        note = f"{len(kept)} of {len(order)} nodes fit into {self.budget} tokens."
        stages = (stage("all layers", note, order, scores, kept[: view.k]),)
        return as_retrieval(kept, scores, stages)
