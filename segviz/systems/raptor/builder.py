"""Builds RAPTOR's layers over time: units arrive, and what lies above is built again."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from segviz.construct import Annotate, Arrival
from segviz.embedding import Embedder
from segviz.retrieval import estimated_tokens
from segviz.systems.common.annotation import write
from segviz.systems.raptor.mixture import Groups, Rule, clusters
from segviz.tree import Add, Cost, Event, Link, Retire, Step, Unlink, Vector


@dataclass(frozen=True, slots=True, eq=False)
class _Node:
    node: int
    level: int
    start: int
    stop: int
    text: str
    vector: Vector
    children: tuple[int, ...] = ()


class RaptorBuilder:
    """Keeps the units and builds the layers over them, again at the end of each session."""

    def __init__(
        self, annotate: Annotate, embedder: Embedder, rule: Rule, layers: int, small: int
    ) -> None:
        """``layers``: most above the units; ``small``: a layer of so few becomes one node."""
        self._annotate = annotate
        self._embedder = embedder
        self._rule = rule
        self._layers = layers
        self._small = small
        self._size = 0
        self._leaves: list[_Node] = []
        self._upper: list[_Node] = []
        self._summaries: dict[tuple[str, ...], str] = {}

    def insert(self, arrival: Arrival, closes_session: bool) -> Step:
        """Adds one unit, and rebuild when it is the last of its session."""
        span = (arrival.index, arrival.index + 1)
        leaf = _Node(self._new(), 0, *span, arrival.text, arrival.vector)
        self._leaves.append(leaf)
        events: list[Event] = [Add(leaf.node, 0, span, leaf.text, leaf.vector)]
        note = f"Unit {arrival.index} waits for the end of its session."
        if not closes_session:
            return Step(arrival.unit, note, None, tuple(events), Cost(modified=1))
        known = len(self._summaries)
        before = {(node.level, node.children): node for node in self._upper}
        self._upper = self._build(before)
        gone = [node for key, node in before.items() if node not in self._upper]
        fresh = [node for node in self._upper if (node.level, node.children) not in before]
        events += [Unlink(node.node, child) for node in gone for child in node.children]
        events += [Retire(node.node) for node in gone]
        events += [
            Add(node.node, node.level, (node.start, node.stop), node.text, node.vector)
            for node in fresh
        ]
        events += [Link(node.node, child) for node in fresh for child in node.children]
        kept = len(before) - len(gone)
        layers = max((node.level for node in self._upper), default=0)
        note = (
            f"Unit {arrival.index} ends a session. Summaries taken away: {len(gone)}, kept: "
            f"{kept}, new: {len(fresh)}; layers: {layers}."
        )
        cost = Cost(
            annotated=len(self._summaries) - known,
            inspected=len(self._leaves),
            modified=1 + len(gone) + len(fresh),
        )
        return Step(arrival.unit, note, None, tuple(events), cost)

    def _build(self, before: dict[tuple[int, tuple[int, ...]], _Node]) -> list[_Node]:
        """All layers above the units; a cluster known from ``before`` keeps its node."""
        upper: list[_Node] = []
        layer = self._leaves
        for level in range(1, self._layers + 1):
            if len(layer) <= self._rule.dimensions + 1:
                break
            groups = self._groups(layer)
            if len(groups) >= len(layer):
                break
            texts = self._written([tuple(layer[i].text for i in group) for group in groups])
            vectors = self._embedder.embed(texts)
            following = []
            for group, text, vector in zip(groups, texts, vectors, strict=True):
                members = [layer[i] for i in group]
                children = tuple(member.node for member in members)
                node = before.get((level, children))
                if node is None:
                    start = min(member.start for member in members)
                    stop = max(member.stop for member in members)
                    node = _Node(self._new(), level, start, stop, text, vector, children)
                following.append(node)
            upper += following
            layer = following
        return upper

    def _groups(self, layer: Sequence[_Node]) -> Groups:
        if len(layer) <= self._small:
            return [tuple(range(len(layer)))]
        vectors = np.stack([node.vector for node in layer])
        return clusters(vectors, [estimated_tokens(node.text) for node in layer], self._rule)

    def _written(self, groups: list[tuple[str, ...]]) -> list[str]:
        """Summaries, each distinct list of texts asked for once in the whole build."""
        missing = [group for group in dict.fromkeys(groups) if group not in self._summaries]
        self._summaries.update(zip(missing, write(self._annotate, missing), strict=True))
        return [self._summaries[group] for group in groups]

    def _new(self) -> int:
        self._size += 1
        return self._size - 1
