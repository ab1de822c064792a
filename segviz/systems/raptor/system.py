"""RAPTOR: layers of soft clusters, rebuilt as the conversation goes on (arXiv 2401.18059)."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from itertools import zip_longest
from typing import ClassVar

import numpy as np

from segviz.construct import Annotate, Arrival, Declared, Retrieval, Services, View, param
from segviz.retrieval import estimated_tokens, taken
from segviz.systems.common.annotation import annotator, prepared, write
from segviz.systems.common.draft import Draft
from segviz.systems.common.retrieval import (
    as_retrieval,
    best_first,
    chosen_relevance,
    from_the_top,
    stage,
)
from segviz.systems.raptor.mixture import Groups, clusters
from segviz.tree import Cost, Step


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
    Departs from the source as listed in ``departures``.
    """

    name: ClassVar[str] = "raptor"
    label: ClassVar[str] = "RAPTOR (clusters, PCA variant)"
    online: ClassVar[bool] = False
    invariants: ClassVar[str] = "raptor"
    fidelity: ClassVar[str] = "adapted"
    relevance: ClassVar[str] = "dense"  # cosine, §3
    departures: ClassVar[tuple[str, ...]] = (
        "Principal components stand in for UMAP, and a diagonal Gaussian mixture for a full one, "
        "both seeded.",
        "A point with no share above the threshold goes to its likeliest cluster (the code loses "
        "it); points are told apart by position, not by vector.",
        "A mixture has at most one component for two nodes, a small layer becomes one cluster, and "
        "building stops when a layer would not shrink (the code can go from n to n - 1).",
        "Leaves are the conversation's units; all above is built again at the end of each session, "
        "where the source is built once.",
        "Tokens are estimated from characters.",
        "The search for the number of clusters ends after five counts that do not lower BIC; with "
        "patience 0 it tries all, as the code does.",
        "Dimensions, share and longest input are SegTreeMem's, other sizes the code's. Clusters "
        "longer than that input are cut again by a mixture without overlap (there the code does "
        "not return), into more than are needed: hence fewer children than published, and more of "
        "them at 5,000 tokens.",
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
    annotate: Annotate = annotator("Writes the summary of a cluster.", "RAPTOR §3")

    def steps(self, arrivals: Sequence[Arrival], services: Services) -> Iterator[Step]:
        """One Step per unit, lazily; the last of each session rebuilds the layers."""
        built = _Builder(self, services)
        for arrival, after in zip_longest(arrivals, arrivals[1:]):
            closes = after is None or after.session != arrival.session
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


_Upper = dict[tuple[int, tuple[int, ...]], int]
"""The nodes above the units by level and children."""


class _Builder:
    """The units and the layers over them."""

    def __init__(self, rules: Raptor, services: Services) -> None:
        self._rules = rules
        self._annotate = prepared(rules.annotate, services)
        self._draft = Draft(services.embedder)
        self._leaves: list[int] = []
        self._upper: _Upper = {}
        self._summaries: dict[tuple[str, ...], str] = {}

    def insert(self, arrival: Arrival, closes_session: bool) -> Step:
        """Adds one unit, and rebuild when it is the last of its session."""
        draft = self._draft
        self._leaves.append(draft.leaf(arrival, arrival.vector))
        note = f"Unit {arrival.index} waits for the end of its session."
        if not closes_session:
            return Step(arrival.unit, note, None, draft.take(), Cost(modified=1))
        known, before = len(self._summaries), self._upper
        self._upper = self._build(before)
        gone = [node for key, node in before.items() if key not in self._upper]
        fresh = len(self._upper.keys() - before.keys())
        for node in reversed(gone):
            draft.remove(node)
        layers = max((level for level, _ in self._upper), default=0)
        note = (
            f"Unit {arrival.index} ends a session. Summaries taken away: {len(gone)}, kept: "
            f"{len(before) - len(gone)}, new: {fresh}; layers: {layers}."
        )
        cost = Cost(
            annotated=len(self._summaries) - known,
            inspected=len(self._leaves),
            modified=1 + len(gone) + fresh,
        )
        return Step(arrival.unit, note, None, draft.take(), cost)

    def _build(self, before: _Upper) -> _Upper:
        """All layers above the units; a cluster known from ``before`` keeps its node."""
        draft, layer = self._draft, self._leaves
        upper: _Upper = {}
        for level in range(1, self._rules.layers + 1):
            if len(layer) <= self._rules.dimensions + 1:
                break
            groups = [tuple(layer[i] for i in group) for group in self._groups(layer)]
            if len(groups) >= len(layer):
                break
            texts = self._written([tuple(draft.text[node] for node in group) for group in groups])
            vectors = draft.embedder.embed(texts)
            for group, text, vector in zip(groups, texts, vectors, strict=True):
                node = before.get((level, group))
                if node is None:
                    node = draft.add(level, group, text, vector=vector)
                upper[level, group] = node
            layer = [upper[level, group] for group in groups]
        return upper

    def _groups(self, layer: Sequence[int]) -> Groups:
        if len(layer) <= self._rules.small:
            return [tuple(range(len(layer)))]
        tokens = [estimated_tokens(self._draft.text[node]) for node in layer]
        return clusters(self._draft.vectors(layer), tokens, self._rules)

    def _written(self, groups: list[tuple[str, ...]]) -> list[str]:
        """Summaries, each distinct list of texts asked for once in the whole build."""
        missing = [group for group in dict.fromkeys(groups) if group not in self._summaries]
        self._summaries.update(zip(missing, write(self._annotate, missing), strict=True))
        return [self._summaries[group] for group in groups]
