"""Builds RAPTOR's layers over time: units arrive, and what lies above is built again."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from segviz.construct import Annotate, Arrival
from segviz.embedding import Embedder
from segviz.retrieval import estimated_tokens
from segviz.systems.common.annotation import write
from segviz.systems.common.draft import Draft
from segviz.systems.raptor.mixture import Groups, Rule, clusters
from segviz.tree import Cost, Step


class RaptorBuilder:
    """Keeps the units and builds the layers over them, again at the end of each session."""

    def __init__(
        self, annotate: Annotate, embedder: Embedder, rule: Rule, layers: int, small: int
    ) -> None:
        """``layers``: most above the units; ``small``: a layer of so few becomes one node."""
        self._annotate = annotate
        self._embedder = embedder
        self._draft = Draft(embedder)
        self._rule = rule
        self._layers = layers
        self._small = small
        self._leaves: list[int] = []
        self._upper: dict[tuple[int, tuple[int, ...]], int] = {}  # by level and children
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

    def _build(
        self, before: Mapping[tuple[int, tuple[int, ...]], int]
    ) -> dict[tuple[int, tuple[int, ...]], int]:
        """All layers above the units; a cluster known from ``before`` keeps its node."""
        draft, layer = self._draft, self._leaves
        upper: dict[tuple[int, tuple[int, ...]], int] = {}
        for level in range(1, self._layers + 1):
            if len(layer) <= self._rule.dimensions + 1:
                break
            groups = [tuple(layer[i] for i in group) for group in self._groups(layer)]
            if len(groups) >= len(layer):
                break
            texts = self._written([tuple(draft.text[node] for node in group) for group in groups])
            vectors = self._embedder.embed(texts)
            for group, text, vector in zip(groups, texts, vectors, strict=True):
                node = before.get((level, group))
                if node is None:
                    node = draft.add(level, group, text, vector=vector)
                upper[level, group] = node
            layer = [upper[level, group] for group in groups]
        return upper

    def _groups(self, layer: Sequence[int]) -> Groups:
        if len(layer) <= self._small:
            return [tuple(range(len(layer)))]
        tokens = [estimated_tokens(self._draft.text[node]) for node in layer]
        return clusters(self._draft.vectors(layer), tokens, self._rule)

    def _written(self, groups: list[tuple[str, ...]]) -> list[str]:
        """Summaries, each distinct list of texts asked for once in the whole build."""
        missing = [group for group in dict.fromkeys(groups) if group not in self._summaries]
        self._summaries.update(zip(missing, write(self._annotate, missing), strict=True))
        return [self._summaries[group] for group in groups]
