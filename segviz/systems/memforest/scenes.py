"""MemForest's scenes: similar facts of one domain of life, close in time."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from segviz.construct import Declared, param
from segviz.conversation import DAY
from segviz.systems.common.structure_editor import Draft, centroid
from segviz.systems.memforest.trees import Forest
from segviz.tree import Judgement, Vector, as_number


@dataclass(frozen=True)
class SceneParameters(Declared):
    """Parameters of MemForest's scenes."""

    scene_k: int = param(10, "Most children in a scene's tree.", (3, 32), source="code, 10")
    buffer: int = param(24, "Facts that wait for the first scenes.", (1, 500), source="code, 24")
    seeds: int = param(30, "First scenes, at most.", (1, 500), source="code, 30")
    full: int = param(60, "Facts of a scene, at most.", (2, 1000), source="code, 60")
    spawn: float = param(
        0.40,
        "Least similarity that joins a scene of the same domain.",
        (-1, 1),
        source="code, .58; .40 is ours, for the offline embedder",
    )
    second: float = param(
        0.52,
        "Similarity that joins a half-full scene, or a second one.",
        (-1, 1),
        source="code, .70; .52 is ours, for the offline embedder",
    )
    merge: float = param(
        0.88, "Similarity at which two scenes become one.", (0, 1), source="code, .88"
    )
    nearness: float = param(
        0.08, "Bonus in similarity for a scene of the same time.", (0, 1), source="code, .08"
    )
    near_days: float = param(
        45.0, "Days over which that bonus falls to 0.", (1, 3650), source="code, 45"
    )


class Scenes:
    """Scenes of a forest: assigns facts to their trees."""

    def __init__(self, draft: Draft, forest: Forest, routing: SceneParameters) -> None:
        self._draft = draft
        self._forest = forest
        self._routing = routing
        self._centres: dict[int, Vector] = {}  # by root of the scene
        self.begin_step()

    def begin_step(self) -> None:
        """Forgets the judgements made for the previous unit."""
        self.judged: list[Judgement] = []
        self.events: list[str] = []
        self.inspected = 0

    def route(self, fact: int, facts: Sequence[int]) -> None:
        """Assigns the last of ``facts`` to a scene; the first ``buffer`` wait for each other."""
        if self._forest.trees("scene"):
            self._nearest(fact)
        # The first scenes need enough facts to choose seeds from; until then facts wait.
        elif len(facts) >= self._routing.buffer:
            self._first(facts)

    def _nearest(self, fact: int) -> None:
        """Adds a fact to the most similar scene, perhaps a second one, or opens one."""
        draft = self._draft
        domain = str(draft.facts[fact]["domain"])
        scored = self._scored(fact, domain)
        self.inspected += len(scored)
        routing = self._routing
        sizes = {root: int(as_number(draft.facts[root], "items")) for _, root in scored}
        if scored:
            score, root = scored[0]
            # A half-full scene is harder to join, so that scenes stay focused.
            limit = routing.second if sizes[root] >= routing.full // 2 else routing.spawn
            self.judged.append(Judgement(root, score, limit, f"scene for fact {fact}"))
            if score >= limit and sizes[root] < routing.full:
                self._join(root, fact)
                # A fact may belong to two scenes, but only to a second one that is very similar.
                for more, other in scored[1:2]:
                    if more >= routing.second and sizes[other] < routing.full:
                        self._join(other, fact)
                self._unite(root, domain)
                return
        self._open(fact, domain)

    def _join(self, root: int, fact: int) -> None:
        self._forest.insert(root, fact)
        self._centres.pop(root, None)

    def _centre(self, root: int) -> Vector:
        """Returns the mean direction of a scene's facts."""
        if root not in self._centres:
            self._centres[root] = centroid(self._draft.vectors(self._forest.items(root)))
        return self._centres[root]

    def _open(self, fact: int, domain: str) -> None:
        scope, label, k = f"{domain} {fact}", f"scene: {domain}", self._routing.scene_k
        self._forest.plant("scene", scope, label, k, fact, domain=domain)

    def _first(self, facts: Sequence[int]) -> None:
        """Opens a scene for each of some dissimilar facts, and assigns all other facts."""
        vectors = self._draft.vectors(facts)
        seeds = [0]
        nearest = vectors @ vectors[0]
        while len(seeds) < min(self._routing.seeds, len(facts)):
            # Farthest-first traversal: the next seed is the fact least similar to all seeds so far.
            farthest = int(np.argmin(np.round(nearest, 9)))
            if nearest[farthest] >= self._routing.spawn:
                break
            seeds.append(farthest)
            nearest = np.maximum(nearest, vectors @ vectors[farthest])
        for i in seeds:
            self._open(facts[i], str(self._draft.facts[facts[i]]["domain"]))
        for i, fact in enumerate(facts):
            if i not in seeds:
                self._nearest(fact)
        count = len(self._forest.trees("scene"))
        self.events.append(f"{len(facts)} buffered facts make the first {count} scenes")

    def _scored(self, fact: int, domain: str) -> list[tuple[float, int]]:
        """Returns the scenes of a domain by similarity and nearness in time, best first."""
        draft, routing = self._draft, self._routing
        roots = self._of_domain(domain)
        if not roots:
            return []
        cosines = np.stack([self._centre(root) for root in roots]) @ draft.vectors([fact])[0]
        when = as_number(draft.facts[fact], "from")
        scored = []
        for root, similarity in zip(roots, cosines.tolist(), strict=True):
            start, stop = as_number(draft.facts[root], "from"), as_number(draft.facts[root], "to")
            gap = max(start - when, when - stop, 0.0) / DAY
            near = routing.nearness * (1 - min(gap / routing.near_days, 1.0))
            scored.append((round(similarity + near, 9), root))
        return sorted(scored, key=lambda pair: (-pair[0], pair[1]))

    def _of_domain(self, domain: str) -> list[int]:
        facts = self._draft.facts
        return [root for root in self._forest.trees("scene") if facts[root]["domain"] == domain]

    def _unite(self, root: int, domain: str) -> None:
        """Merges a scene with another of its domain that has become similar enough."""
        draft, forest = self._draft, self._forest
        others = [other for other in self._of_domain(domain) if other != root]
        if not others:
            return
        cosines = np.stack([self._centre(other) for other in others]) @ self._centre(root)
        for other, similarity in zip(others, np.round(cosines, 9).tolist(), strict=True):
            total = as_number(draft.facts[root], "items") + as_number(draft.facts[other], "items")
            if similarity >= self._routing.merge and total <= self._routing.full:
                for fact in forest.fell(other):
                    if not forest.holds(root, fact):
                        self._join(root, fact)
                self.events.append(f"scene {other} joined scene {root} at {similarity:.2f}")
                return
