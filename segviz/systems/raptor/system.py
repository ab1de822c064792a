"""RAPTOR: layers of soft clusters, rebuilt as the conversation goes on (arXiv 2401.18059)."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from datetime import date
from itertools import accumulate, pairwise, zip_longest
from typing import ClassVar

import numpy as np
from threadpoolctl import threadpool_limits

from segviz.construct import Annotate, Arrival, Declared, Services, param
from segviz.construct.annotate import Annotation
from segviz.retrieval import MemoryView, Retrieval, estimated_tokens
from segviz.systems.common.annotation import annotator, prepared, write
from segviz.systems.common.published import departures_of
from segviz.systems.common.retrieval import (
    as_retrieval,
    best_first,
    chosen_relevance,
    from_the_top,
    stage,
)
from segviz.systems.common.structure_editor import Draft
from segviz.systems.raptor.mixture import Floats, best_fit, fit, memberships, principal
from segviz.text.dates import undated
from segviz.tree import Step, Structure, Vector
from segviz.tree.invariants import Invariant, Violation, children_are_one_below, leaves_are_units


def layers_shrink(s: Structure) -> Iterator[Violation]:
    """Checks that each layer of RAPTOR is smaller than the one below it.

    All nodes below the top layer must have parents, except the units since the last rebuild.
    """
    nodes = np.flatnonzero(s.active)
    sizes = np.bincount(s.level[nodes])
    for level, (below, above) in enumerate(pairwise(sizes.tolist()), start=1):
        built = sum(bool(s.parents[leaf]) for leaf in s.leaves) if level == 1 else below
        if not 0 < above < built:
            yield Violation("layers", -1, f"fewer than {built} nodes on level {level}", f"{above}")
    waiting = False
    for node in nodes[s.level[nodes] < len(sizes) - 1].tolist():
        if s.level[node] > 0 and not s.parents[node]:
            yield Violation("layers", node, "a parent below the top layer", "none")
        if s.level[node] == 0:
            if waiting and s.parents[node]:
                yield Violation("layers", node, "no parent after a unit without one", "a parent")
            waiting = waiting or not s.parents[node]


@dataclass(frozen=True)
class Raptor(Declared):
    """Similar units are summarised together, the summaries again, until few are left.

    With a ``threshold`` below .5 clusters are soft: a node may have several parents. At the default
    of SegTreeMem, .5, each has one at most. The method has no insertion, so all layers above the
    units are rebuilt at the end of every session. A cluster with the same members as before keeps
    its node; the others are removed. Its own retrieval ranks all nodes together until a token
    budget is used up, or walks down from the top with the best few of each layer.

    Source: RAPTOR, Sarthi et al. 2024, arXiv 2401.18059, and its published code; settings of
        SegTreeMem (arXiv 2606.04555), App. E. Departs from the source as listed in ``departures``.
    """

    name: ClassVar[str] = "raptor"
    label: ClassVar[str] = "RAPTOR (clusters, PCA variant)"
    online: ClassVar[bool] = False
    invariants: ClassVar[tuple[Invariant, ...]] = (
        leaves_are_units,
        children_are_one_below,
        layers_shrink,
    )
    fidelity: ClassVar[str] = "adapted"
    relevance: ClassVar[str] = "dense"  # cosine, §3
    departures: ClassVar[tuple[str, ...]] = departures_of(__package__, "raptor")

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
    small: int = param(8, "Nodes of a layer that becomes one cluster.", (2, 50), source="ours")
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
        """Yields one Step per unit, lazily; the last of each session rebuilds the layers."""
        built = _RaptorBuilder(self, services)
        for arrival, after in zip_longest(arrivals, arrivals[1:]):
            closes = after is None or after.session != arrival.session
            yield built.insert(arrival, closes)

    def retrieve(self, question: str, view: MemoryView) -> Retrieval:
        """Ranks all nodes together, or walks down the layers, by ``view.relevance``."""
        scores = chosen_relevance(question, view)
        structure = view.structure
        if self.retrieval == "traversal":
            return from_the_top(structure, scores, self.width)
        order = best_first(np.flatnonzero(structure.active).tolist(), scores)
        # §3, collapsed tree: nodes of all layers compete until the next text does not fit.
        paid = accumulate(estimated_tokens(structure.text[node]) for node in order)
        kept = order[: sum(tokens <= self.budget for tokens in paid)]
        note = f"{len(kept)} of {len(order)} nodes fit into {self.budget} tokens."
        stages = (stage("all layers", note, order, scores, kept[: view.k]),)
        return as_retrieval(kept, scores, stages)


_Upper = dict[tuple[int, tuple[int, ...]], int]
"""Ids of the nodes above the units, by level and children."""


class _RaptorBuilder:
    """Builder of RAPTOR's layers over the units so far."""

    def __init__(self, rules: Raptor, services: Services) -> None:
        self._rules = rules
        self._annotate = prepared(rules.annotate, services)
        self._draft = Draft(services.embedder)
        self._leaves: list[int] = []
        self._upper: _Upper = {}
        self._summaries: dict[_Key, Annotation] = {}  # by the texts summarised

    def insert(self, arrival: Arrival, closes_session: bool) -> Step:
        """Adds one unit; if it closes its session, rebuilds all layers above the units."""
        draft = self._draft
        self._leaves.append(draft.leaf(arrival, arrival.vector))
        note = f"Unit {arrival.index} waits for the end of its session."
        if not closes_session:
            return draft.step(arrival.unit, note)
        known, before = len(self._summaries), self._upper
        self._upper = self._build(before)
        gone = [node for key, node in before.items() if key not in self._upper]
        fresh = len(self._upper.keys() - before.keys())
        # From high to low level, so that a node has no parent left when it is removed.
        for node in reversed(gone):
            draft.remove(node)
        layers = max((level for level, _ in self._upper), default=0)
        note = (
            f"Unit {arrival.index} ends a session. Summaries taken away: {len(gone)}, kept: "
            f"{len(before) - len(gone)}, new: {fresh}; layers: {layers}."
        )
        return draft.step(arrival.unit, note, len(self._summaries) - known, len(self._leaves))

    def _build(self, before: _Upper) -> _Upper:
        """Returns all layers above the units; a cluster known from ``before`` keeps its node."""
        draft, layer = self._draft, self._leaves
        upper: _Upper = {}
        for level in range(1, self._rules.layers + 1):
            # §3: clustering is repeated until it becomes infeasible.
            if len(layer) <= self._rules.dimensions + 1:
                break
            places: Groups = [tuple(range(len(layer)))]
            if len(layer) > self._rules.small:
                tokens = [estimated_tokens(draft.text[node]) for node in layer]
                places = clusters(draft.vectors(layer), tokens, self._rules)
            groups = [tuple(layer[i] for i in group) for group in places]
            if len(groups) >= len(layer):
                break
            texts = self._written([[draft.annotation(node) for node in group] for group in groups])
            vectors = draft.embedder.embed([undated(each.text) for each in texts])
            for group, text, vector in zip(groups, texts, vectors, strict=True):
                node = before.get((level, group))
                if node is None:
                    node = draft.add(level, group, text, vector=vector)
                upper[level, group] = node
            layer = [upper[level, group] for group in groups]
        return upper

    def _written(self, groups: Sequence[Sequence[Annotation]]) -> list[Annotation]:
        """Returns a summary of each group; groups of equal texts are summarised once in a build."""
        keys = [tuple((child.text, child.days) for child in group) for group in groups]
        missing: dict[_Key, Sequence[Annotation]] = {}
        for key, group in zip(keys, groups, strict=True):
            if key not in self._summaries:
                missing.setdefault(key, group)
        written = write(self._annotate, list(missing.values()))
        self._summaries.update(zip(missing, written, strict=True))
        return [self._summaries[key] for key in keys]


Groups = list[tuple[int, ...]]
_Key = tuple[tuple[str, tuple[date, ...]], ...]  # texts and days of a group


def clusters(vectors: Vector, tokens: Sequence[int], rule: Raptor) -> Groups:
    """Returns groups of positions into ``vectors`` (n, d); every position is in at least one.

    Clusters all points first, then each group found. A group whose texts together exceed
    ``rule.input_tokens`` is split again, now without overlap; otherwise the number of groups could
    double with every split. It is split in two where the mixture would leave it whole. Groups are
    ordered by their members, without duplicates.
    """
    # BLAS threads wait for each other longer than products of this size take. With one thread
    # 689 units on two cores are six times as fast, with the same tree. NumPy cannot limit threads
    # after its import, hence threadpoolctl.
    points = vectors.astype(np.float64)
    apart = replace(rule, threshold=1.0)  # each point in its likeliest cluster alone
    rng = np.random.default_rng(rule.seed)
    groups: set[tuple[int, ...]] = set()
    with threadpool_limits(limits=1, user_api="blas"):
        # A stack, the first group on top: the order fixes the use of the random numbers.
        pending = _two_stages(points, list(range(len(points))), rule, rng)[::-1]
        while pending:
            members = pending.pop()
            if len(members) == 1 or sum(tokens[i] for i in members) <= rule.input_tokens:
                groups.add(tuple(members))
                continue
            parts = _two_stages(points, members, apart, rng)
            if max(map(len, parts)) == len(members):
                # In two by the likelier component, else in the middle.
                mixture = fit(principal(points[members], 1), 2, rng)
                parts = [[members[i] for i in group] for group in memberships(mixture.shares, 1.0)]
                if len(parts) == 1:
                    middle = len(members) // 2
                    parts = [members[:middle], members[middle:]]
            pending += parts
    return sorted(groups)


def _two_stages(
    points: Floats, members: list[int], rule: Raptor, rng: np.random.Generator
) -> list[list[int]]:
    """Clusters the points at ``members``, then each cluster again (RAPTOR's code)."""
    return [
        small
        for group in _cut(points, members, rule, rng)
        for small in _cut(points, group, rule, rng)
    ]


def _cut(
    points: Floats, members: list[int], rule: Raptor, rng: np.random.Generator
) -> list[list[int]]:
    """Clusters the points at ``members`` by one mixture; a few points stay one cluster.

    At most one component per two points: with one each the likelihood would have no bound.
    """
    if len(members) <= rule.dimensions + 1:
        return [members]
    reduced = principal(points[members], rule.dimensions)
    most = min(rule.components - 1, len(members) // 2)
    mixture = best_fit(reduced, most, rng, rule.patience)
    return [[members[i] for i in group] for group in memberships(mixture.shares, rule.threshold)]
